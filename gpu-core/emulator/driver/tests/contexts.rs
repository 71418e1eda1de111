//! Whose things are whose: contexts that go, and captures that forbid what others do. Codes are those of an H200's
//! driver. All in one test, for a capture that is global ends by what any thread does.

mod common;

use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};

use common::*;

unsafe extern "C" {
    fn cuCtxGetCurrent(context: *mut Handle) -> u32;
    fn cuCtxPushCurrent_v2(context: Handle) -> u32;
    fn cuCtxPopCurrent_v2(context: *mut Handle) -> u32;
    fn cuCtxSetFlags(flags: u32) -> u32;
    fn cuCtxGetId(context: Handle, id: *mut u64) -> u32;
    fn cuCtxEnablePeerAccess(peer: Handle, flags: u32) -> u32;
    fn cuDevicePrimaryCtxReset_v2(device: i32) -> u32;
    fn cuDevicePrimaryCtxGetState(device: i32, flags: *mut u32, active: *mut i32) -> u32;
    fn cuStreamCreate(stream: *mut Handle, flags: u32) -> u32;
    fn cuStreamQuery(stream: Handle) -> u32;
    fn cuStreamGetCtx(stream: Handle, context: *mut Handle) -> u32;
    fn cuStreamGetCtx_v2(stream: Handle, context: *mut Handle, green: *mut Handle) -> u32;
    fn cuStreamAddCallback(
        stream: Handle,
        callback: Option<unsafe extern "C" fn(Handle, u32, *mut c_void)>,
        data: *mut c_void,
        flags: u32,
    ) -> u32;
    fn cuStreamBeginCapture_v2(stream: Handle, mode: u32) -> u32;
    fn cuStreamEndCapture(stream: Handle, graph: *mut Handle) -> u32;
    fn cuStreamSynchronize(stream: Handle) -> u32;
    fn cuThreadExchangeStreamCaptureMode(mode: *mut u32) -> u32;
    fn cuEventCreate(event: *mut Handle, flags: u32) -> u32;
    fn cuEventRecord(event: Handle, stream: Handle) -> u32;
    fn cuEventQuery(event: Handle) -> u32;
    fn cuMemsetD8Async(to: u64, value: u8, count: usize, stream: Handle) -> u32;
    fn cuGetProcAddress_v2(
        symbol: *const c_char,
        address: *mut *const c_void,
        version: i32,
        flags: u64,
        status: *mut u32,
    ) -> u32;
    fn cuStreamGetId(stream: Handle, id: *mut u64) -> u32;
    fn cuStreamGetId_ptsz(stream: Handle, id: *mut u64) -> u32;
}

const PTX: &str =
    ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry noop() { ret; }\n.visible .global .u32 g;\n";

fn stream() -> Handle {
    let mut stream = 0;
    // SAFETY: the pointer is valid for a write.
    assert_eq!(unsafe { cuStreamCreate(&mut stream, 0) }, 0);
    stream
}

fn event() -> Handle {
    let mut event = 0;
    // SAFETY: the pointer is valid for a write.
    assert_eq!(unsafe { cuEventCreate(&mut event, 0) }, 0);
    event
}

/// What a context made is of no use in another, and goes with it.
fn contexts_keep_their_own(first: Handle) {
    let (theirs, mark, memory) = (stream(), event(), alloc(64));
    let noop = function(load(PTX), "noop");
    let (mut second, mut found, mut ids) = (0, 0, [0, 0]);
    // SAFETY: pointers to locals; handles that are gone are found out.
    unsafe {
        for flags in [0x100, 3] {
            assert_eq!(cuCtxCreate_v2(&mut second, flags, 0), 1);
        }
        assert_eq!(cuCtxCreate_v2(&mut second, 0, 0), 0);
        assert_eq!((cuCtxGetId(first, &mut ids[0]), cuCtxGetId(0, &mut ids[1])), (0, 0));
        assert_ne!(ids[0], ids[1]);
        assert_eq!((cuCtxEnablePeerAccess(first, 0), cuCtxEnablePeerAccess(first, 1)), (217, 1));
        assert_eq!((cuCtxSetFlags(0x1000), cuCtxSetFlags(3), cuCtxSetFlags(4)), (1, 1, 0));
        assert_eq!(launch(noop, [1; 3], [1; 3], &mut []), 400, "a kernel of another context");
        assert_eq!(cuEventRecord(mark, 0), 400, "an event of another context");
        assert_eq!((cuStreamGetCtx(theirs, &mut found), found), (0, first));
        let mut green = 9;
        assert_eq!((cuStreamGetCtx_v2(theirs, &mut found, &mut green), found, green), (0, first, 0));
        assert_eq!(cuStreamGetCtx_v2(theirs, &mut found, null_mut()), 1);
        let (own, own_mark, own_memory) = (stream(), event(), alloc(64));
        let own_noop = function(load(PTX), "noop");
        assert_eq!(cuCtxDestroy_v2(second), 0);
        assert_eq!((cuCtxGetCurrent(&mut found), found), (0, first));
        assert_eq!((cuStreamQuery(own), cuEventQuery(own_mark)), (709, 709));
        assert_eq!((launch(own_noop, [1; 3], [1; 3], &mut []), cuMemFree_v2(own_memory)), (400, 1));
        // One that is gone can be made current, and then nothing works.
        assert_eq!((cuCtxDestroy_v2(second), cuCtxDestroy_v2(0), cuCtxPushCurrent_v2(0)), (709, 1, 1));
        assert_eq!((cuCtxSetCurrent(second), cuMemAlloc_v2(&mut 0, 16)), (0, 709));
        assert_eq!((cuCtxPopCurrent_v2(null_mut()), cuCtxPopCurrent_v2(null_mut())), (0, 201));
        assert_eq!(cuCtxSetCurrent(first), 0);
        assert_eq!((cuMemFree_v2(memory), cuEventRecord(mark, theirs)), (0, 0));
    }
}

/// The primary context has one handle for ever.
fn the_primary_context_comes_back(first: Handle) {
    let (mut flags, mut active, mut again) = (9, 9, 0);
    // SAFETY: pointers to locals.
    unsafe {
        assert_eq!(cuDevicePrimaryCtxReset_v2(0), 0);
        assert_eq!((cuMemAlloc_v2(&mut 0, 16), cuCtxSynchronize()), (709, 709));
        assert_eq!((cuDevicePrimaryCtxGetState(0, &mut flags, &mut active), active), (0, 0));
        assert_eq!((cuDevicePrimaryCtxRetain(&mut again, 0), again), (0, first));
    }
    alloc(16);
}

/// While a capture goes on, calls that may touch other work are forbidden, and end it.
fn captures_forbid(context: Handle) {
    let (own, mark, memory) = (stream(), event(), alloc(64));
    let allocate = || {
        let mut pointer = 0;
        // SAFETY: the pointer is valid for a write.
        unsafe { cuMemAlloc_v2(&mut pointer, 16) }
    };
    let elsewhere = |call: &(dyn Fn() -> u32 + Sync)| {
        std::thread::scope(|threads| {
            let run = || {
                // SAFETY: a handle of this test.
                assert_eq!(unsafe { cuCtxSetCurrent(context) }, 0);
                call()
            };
            threads.spawn(run).join().expect("no panic")
        })
    };
    let end = || {
        let mut graph = 0;
        // SAFETY: the pointer is valid for a write.
        unsafe { cuStreamEndCapture(own, &mut graph) }
    };
    let (global, thread_local, relaxed) = (0, 1, 2);
    // SAFETY: handles and pointers of this function.
    unsafe {
        assert_eq!(end(), 401, "there is none");
        for (mode, here, there) in [(global, 900, 900), (thread_local, 900, 0), (relaxed, 0, 0)] {
            let ended = |code: u32| if code == 0 { 0 } else { 901 };
            assert_eq!((cuStreamBeginCapture_v2(own, mode), cuStreamBeginCapture_v2(own, mode)), (0, 401));
            assert_eq!((allocate(), end()), (here, ended(here)), "mode {mode}");
            assert_eq!(cuStreamBeginCapture_v2(own, mode), 0);
            assert_eq!((elsewhere(&allocate), end()), (there, ended(there)), "mode {mode}, another thread");
            // The default stream would have to wait for the capture.
            assert_eq!(cuStreamBeginCapture_v2(own, mode), 0);
            assert_eq!((cuMemsetD8Async(memory, 0, 16, 0), end()), (906, 901), "mode {mode}, default stream");
        }
        for call in [&|| cuEventQuery(mark), &|| cuCtxSynchronize(), &|| cuMemFree_v2(memory)] as [&dyn Fn() -> u32; 3]
        {
            assert_eq!((cuStreamBeginCapture_v2(own, global), call(), end()), (0, 900, 901));
        }
        // A thread that does not care.
        let mut mode = relaxed;
        assert_eq!((cuThreadExchangeStreamCaptureMode(&mut mode), mode), (0, global));
        assert_eq!(cuStreamBeginCapture_v2(own, relaxed), 0);
        assert_eq!((allocate(), end()), (0, 0));
        assert_eq!((cuThreadExchangeStreamCaptureMode(&mut mode), mode), (0, relaxed));
        // Ended by another thread.
        assert_eq!(cuStreamBeginCapture_v2(own, thread_local), 0);
        assert_eq!((elsewhere(&|| end()), end()), (908, 401));
    }
}

/// Host functions may not call CUDA.
fn callbacks_may_not_call(own: Handle) {
    unsafe extern "C" fn call(_stream: Handle, _code: u32, seen: *mut c_void) {
        // SAFETY: the test gave a pointer to a number that lives until the stream is done.
        unsafe { seen.cast::<u32>().write(cuCtxSynchronize()) };
    }
    let mut seen = 0u32;
    // SAFETY: the number outlives the stream's work.
    unsafe {
        assert_eq!(cuStreamAddCallback(own, Some(call), (&raw mut seen).cast(), 1), 1, "no flags");
        assert_eq!(cuStreamAddCallback(own, Some(call), (&raw mut seen).cast(), 0), 0);
        assert_eq!((cuStreamSynchronize(own), seen), (0, 800));
    }
}

/// Programs compiled for it have a default stream for each thread.
fn stream_zero_can_be_the_threads_own() {
    let (mut legacy, mut own, mut asked) = (0, 0, 0);
    let (mut address, mut status) = (null(), 9);
    // SAFETY: pointers to locals; the entry point has the type of its namesake.
    unsafe {
        assert_eq!((cuStreamGetId(1, &mut legacy), cuStreamGetId(2, &mut own)), (0, 0));
        assert_ne!(legacy, own);
        assert_eq!((cuStreamGetId(0, &mut asked), asked), (0, legacy));
        assert_eq!((cuStreamGetId_ptsz(0, &mut asked), asked), (0, own));
        let name = c"cuStreamGetId".as_ptr();
        assert_eq!(cuGetProcAddress_v2(name, &mut address, 13000, 2, &mut status), 0);
        let found: unsafe extern "C" fn(Handle, *mut u64) -> u32 = std::mem::transmute(address);
        asked = 0;
        assert_eq!((found(0, &mut asked), asked), (0, own));
        assert_eq!(cuGetProcAddress_v2(name, &mut address, 13000, 4, &mut status), 1);
    }
}

#[test]
fn things_belong_to_contexts() {
    let first = context();
    contexts_keep_their_own(first);
    captures_forbid(first);
    callbacks_may_not_call(stream());
    stream_zero_can_be_the_threads_own();
    the_primary_context_comes_back(first);
}
