//! Calls of a thread whose own values are gone already: destructors of a C++ program's globals free memory after the main
//! thread's values were dropped, and so do those of a POSIX thread's keys.
#![cfg(target_os = "linux")]

mod common;

use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};

use common::*;

unsafe extern "C" {
    fn cuCtxGetCurrent(context: *mut Handle) -> u32;
    fn cuMemsetD8_v2(to: u64, value: u8, count: usize) -> u32;
    fn pthread_key_create(key: *mut u32, destructor: Option<unsafe extern "C" fn(*mut c_void)>) -> i32;
    fn pthread_setspecific(key: u32, value: *const c_void) -> i32;
}

/// What the calls of the destructor answered; 999 until it ran.
static ANSWERS: [AtomicU32; 3] = [AtomicU32::new(999), AtomicU32::new(999), AtomicU32::new(999)];

unsafe extern "C" fn release(memory: *mut c_void) {
    let mut context: Handle = 0;
    // SAFETY: the pointer is valid for a write, and the memory is the test's.
    let codes =
        unsafe { [cuCtxGetCurrent(&mut context), cuMemsetD8_v2(memory as u64, 1, 16), cuMemFree_v2(memory as u64)] };
    for (answer, code) in ANSWERS.iter().zip(codes) {
        answer.store(if context == 0 { 998 } else { code }, Ordering::SeqCst);
    }
}

#[test]
fn memory_is_freed_after_a_threads_values_are_gone() {
    let context = context();
    let memory = alloc(16);
    std::thread::spawn(move || {
        let mut key = 0;
        // SAFETY: the pointers are valid; destructors of keys run after those of the thread's own values.
        unsafe {
            assert_eq!(cuCtxSetCurrent(context), 0);
            assert_eq!(pthread_key_create(&mut key, Some(release)), 0);
            assert_eq!(pthread_setspecific(key, memory as *const c_void), 0);
        }
    })
    .join()
    .expect("the thread ends");
    assert_eq!(ANSWERS.each_ref().map(|answer| answer.load(Ordering::SeqCst)), [0, 0, 0]);
    // SAFETY: a null pointer would be allowed too.
    assert_ne!(unsafe { cuMemFree_v2(memory) }, 0, "freed by then");
}
