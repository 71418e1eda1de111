use std::sync::atomic::{AtomicUsize, Ordering};

use ptx_emulator::inside::exec::crew::work_together;

#[test]
fn helpers_work_on_what_the_caller_borrows_and_are_out_when_it_returns() {
    for round in 0..200 {
        let (begun, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = || {
            begun.fetch_add(1, Ordering::SeqCst);
            if round % 2 == 0 {
                std::thread::yield_now();
            }
            ended.fetch_add(1, Ordering::SeqCst);
        };
        assert!(work_together(3, &work, || ()));
        let count = begun.load(Ordering::SeqCst);
        assert!((1..=4).contains(&count));
        assert_eq!(count, ended.load(Ordering::SeqCst));
    }
}

#[test]
fn a_panic_is_told() {
    let calls = AtomicUsize::new(0);
    let work = || {
        if calls.fetch_add(1, Ordering::SeqCst) == 0 {
            panic!("on purpose");
        }
    };
    assert!(!work_together(2, &work, || ()));
}
