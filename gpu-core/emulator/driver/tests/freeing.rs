//! What frees memory waits for the work that may use it, wherever that runs.

#[macro_use]
mod common;

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

use common::*;

unsafe extern "C" {
    fn cuLaunchHostFunc(stream: Handle, function: Option<unsafe extern "C" fn(*mut c_void)>, data: *mut c_void) -> u32;
    fn cuStreamCreate(stream: *mut Handle, flags: u32) -> u32;
    fn cuStreamDestroy_v2(stream: Handle) -> u32;
    fn cuMemAllocHost_v2(pointer: *mut *mut c_void, bytes: usize) -> u32;
    fn cuMemFreeHost(pointer: *mut c_void) -> u32;
    fn cuMemHostRegister_v2(pointer: *mut c_void, bytes: usize, flags: u32) -> u32;
    fn cuMemHostUnregister(pointer: *mut c_void) -> u32;
}

/// `CU_STREAM_NON_BLOCKING`.
const NON_BLOCKING: u32 = 1;

/// Takes a while, as a kernel would that uses memory.
unsafe extern "C" fn work(done: *mut c_void) {
    std::thread::sleep(std::time::Duration::from_millis(150));
    // SAFETY: the flag outlives the work, which is waited for.
    unsafe { &*done.cast::<AtomicBool>() }.store(true, Ordering::SeqCst);
}

/// Whether what `free` frees is still there while work of `stream` runs; `between` comes before it.
fn is_kept_for(stream: Handle, between: impl FnOnce(), free: impl FnOnce() -> u32) -> bool {
    let done = Box::leak(Box::new(AtomicBool::new(false)));
    ok!(cuLaunchHostFunc(stream, Some(work), std::ptr::from_ref(done).cast_mut().cast()));
    between();
    assert_eq!(free(), 0);
    done.load(Ordering::SeqCst)
}

#[test]
fn memory_is_kept_while_work_may_use_it() {
    let context = context();
    let nothing = || ();
    let other = || {
        let mut other = 0;
        ok!(cuCtxCreate_v2(&mut other, 0, 0));
    };
    let pinned = || {
        let mut pinned = std::ptr::null_mut();
        ok!(cuMemAllocHost_v2(&mut pinned, 64));
        pinned
    };
    let stream = |flags| {
        let mut stream = 0;
        ok!(cuStreamCreate(&mut stream, flags));
        stream
    };
    let mut page = vec![0u64; 512];
    let page = page.as_mut_ptr().cast::<c_void>();
    // SAFETY: memory that nothing else uses.
    let free = |memory: u64| move || unsafe { cuMemFree_v2(memory) };
    // SAFETY: as above.
    let free_host = |memory: *mut c_void| move || unsafe { cuMemFreeHost(memory) };
    assert!(is_kept_for(0, nothing, free(alloc(64))), "the default stream");
    assert!(is_kept_for(0, nothing, free_host(pinned())), "pinned memory");
    ok!(cuMemHostRegister_v2(page, 4096, 0));
    // SAFETY: registered just now.
    assert!(is_kept_for(0, nothing, || unsafe { cuMemHostUnregister(page) }), "registered memory");
    let gone = stream(NON_BLOCKING);
    assert!(is_kept_for(gone, || ok!(cuStreamDestroy_v2(gone)), free(alloc(64))), "a stream that is destroyed");
    assert!(is_kept_for(stream(0), || ok!(cuCtxSetCurrent(0)), free(alloc(64))), "no context is current");
    ok!(cuCtxSetCurrent(context));
    assert!(is_kept_for(0, || ok!(cuCtxSetCurrent(0)), free(alloc(64))), "its context is not current");
    ok!(cuCtxSetCurrent(context));
    assert!(is_kept_for(0, other, free(alloc(64))), "another context is current");
}
