//! Host threads that help with one launch.
//!
//! A helper that the system starts only when the work is done is not waited for: where other programs keep the cores
//! busy that takes milliseconds, more than many launches do.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

/// Lets helpers in while the work goes on.
#[derive(Default)]
struct Gate {
    state: Mutex<State>,
    left: Condvar,
}

#[derive(Default)]
struct State {
    closed: bool,
    inside: usize,
    panicked: bool,
}

impl Gate {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// False when the work is over.
    fn enter(&self) -> bool {
        let mut state = self.state();
        state.inside += usize::from(!state.closed);
        !state.closed
    }

    fn leave(&self, panicked: bool) {
        let mut state = self.state();
        state.inside -= 1;
        state.panicked |= panicked;
        self.left.notify_all();
    }

    /// Lets nobody in any more and waits until all are out. True when one of them panicked.
    fn close(&self) -> bool {
        let mut state = self.state();
        state.closed = true;
        while state.inside > 0 {
            state = self.left.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        state.panicked
    }
}

/// Work that a helper may do while the gate is open.
struct Task(*const (dyn Fn() + Sync));

// SAFETY: what it points to may be shared between threads.
unsafe impl Send for Task {}

impl Task {
    /// # Safety
    /// Only inside the gate.
    unsafe fn run(&self) {
        // SAFETY: as the caller says: `work_together` keeps the work alive until the gate is closed.
        unsafe { (*self.0)() }
    }
}

/// Does `work` on this thread and on up to `helpers` others at the same time; calls `missing` for each that the system
/// refuses. False when one of them panicked.
pub fn work_together(helpers: usize, work: &(dyn Fn() + Sync), missing: impl Fn()) -> bool {
    let gate = Arc::new(Gate::default());
    for _ in 0..helpers {
        // SAFETY: only the lifetime changes; the pointer is used inside the gate only, and this function does not return
        // before the gate is closed.
        let task =
            Task(unsafe { std::mem::transmute::<*const (dyn Fn() + Sync + '_), *const (dyn Fn() + Sync)>(work) });
        let own = Arc::clone(&gate);
        let helper = std::thread::Builder::new().name("emulator".to_owned()).spawn(move || {
            let task = task;
            if own.enter() {
                // SAFETY: inside the gate.
                let done = catch_unwind(AssertUnwindSafe(|| unsafe { task.run() }));
                own.leave(done.is_err());
            }
        });
        if helper.is_err() {
            missing();
        }
    }
    let own = catch_unwind(AssertUnwindSafe(work));
    !gate.close() && own.is_ok()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::work_together;

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
}
