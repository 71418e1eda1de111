//! What waits for work: calls that free memory, streams that only wait for an event of another one, and events that launches
//! record.

#[macro_use]
mod common;

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

use common::*;

unsafe extern "C" {
    fn cuLaunchHostFunc(stream: Handle, function: Option<unsafe extern "C" fn(*mut c_void)>, data: *mut c_void) -> u32;
    fn cuStreamCreate(stream: *mut Handle, flags: u32) -> u32;
    fn cuStreamDestroy_v2(stream: Handle) -> u32;
    fn cuStreamQuery(stream: Handle) -> u32;
    fn cuStreamSynchronize(stream: Handle) -> u32;
    fn cuStreamWaitEvent(stream: Handle, event: Handle, flags: u32) -> u32;
    fn cuEventCreate(event: *mut Handle, flags: u32) -> u32;
    fn cuEventRecord(event: Handle, stream: Handle) -> u32;
    fn cuEventQuery(event: Handle) -> u32;
    fn cuLaunchKernelEx(
        config: *const Config,
        function: Handle,
        arguments: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) -> u32;
    fn cuMemAllocHost_v2(pointer: *mut *mut c_void, bytes: usize) -> u32;
    fn cuMemFreeHost(pointer: *mut c_void) -> u32;
    fn cuMemHostRegister_v2(pointer: *mut c_void, bytes: usize, flags: u32) -> u32;
    fn cuMemHostUnregister(pointer: *mut c_void) -> u32;
}

#[repr(C)]
struct Attribute {
    id: u32,
    pad: u32,
    event: Handle,
    rest: [u64; 7],
}

#[repr(C)]
struct Config {
    sizes: [u32; 7],
    stream: Handle,
    attributes: *const Attribute,
    count: u32,
}

/// `CU_STREAM_NON_BLOCKING`.
const NON_BLOCKING: u32 = 1;

/// Takes a while, as a kernel would that uses memory.
unsafe extern "C" fn work(done: *mut c_void) {
    std::thread::sleep(std::time::Duration::from_millis(150));
    // SAFETY: the flag outlives the work, which is waited for.
    unsafe { &*done.cast::<AtomicBool>() }.store(true, Ordering::SeqCst);
}

/// `CUDA_ERROR_INVALID_VALUE`.
const INVALID_VALUE: u32 = 1;
/// `CUDA_ERROR_NOT_READY`.
const NOT_READY: u32 = 600;

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

/// A wait for an event is work of the stream: it is not idle before the event's work is done.
#[test]
fn a_stream_that_only_waits_is_not_idle() {
    context();
    let (mut works, mut waits, mut event) = (0, 0, 0);
    ok!(cuStreamCreate(&mut works, NON_BLOCKING));
    ok!(cuStreamCreate(&mut waits, NON_BLOCKING));
    ok!(cuEventCreate(&mut event, 0));
    let ways: [(&str, &dyn Fn() -> u32); 2] = [
        // SAFETY: handles that were made above.
        ("the stream", &|| unsafe { cuStreamSynchronize(waits) }),
        // SAFETY: no pointers.
        ("the context", &|| unsafe { cuCtxSynchronize() }),
    ];
    for (what, wait) in ways {
        let begin = || {
            ok!(cuEventRecord(event, works));
            ok!(cuStreamWaitEvent(waits, event, 0));
            fails!(NOT_READY, cuStreamQuery(waits));
        };
        assert!(is_kept_for(works, begin, wait), "{what}");
        ok!(cuStreamQuery(waits));
    }
}

/// Launches record the events that their attributes name.
#[test]
fn launches_record_events() {
    const PROGRAMMATIC: u32 = 7;
    const COMPLETION: u32 = 12;
    const DISABLE_TIMING: u32 = 2;
    context();
    let module = load(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }");
    let kernel = function(module, "k");
    let mut stream = 0;
    ok!(cuStreamCreate(&mut stream, NON_BLOCKING));
    for (id, flags, code) in [
        (PROGRAMMATIC, DISABLE_TIMING, 0),
        (COMPLETION, DISABLE_TIMING, 0),
        (PROGRAMMATIC, 0, INVALID_VALUE),
        (COMPLETION, 0, INVALID_VALUE),
    ] {
        let mut event = 0;
        ok!(cuEventCreate(&mut event, flags));
        let attributes = [Attribute { id, pad: 0, event, rest: [0; 7] }];
        let config = Config { sizes: [1, 1, 1, 1, 1, 1, 0], stream, attributes: attributes.as_ptr(), count: 1 };
        let begin = || fails!(code, cuLaunchKernelEx(&config, kernel, std::ptr::null_mut(), std::ptr::null_mut()));
        let expected = if code == 0 { NOT_READY } else { 0 };
        let query = || fails!(expected, cuEventQuery(event));
        // SAFETY: a handle that was made above.
        assert!(is_kept_for(stream, || (begin(), query()).0, || unsafe { cuStreamSynchronize(stream) }));
        ok!(cuEventQuery(event));
    }
}
