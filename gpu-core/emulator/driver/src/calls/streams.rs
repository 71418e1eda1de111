//! Calls on streams: making them, waiting for them, host functions and waits in them.

use std::ffi::c_void;
use std::sync::Arc;

use crate::abi::*;
use crate::graph::{HostCall, Operation, submit};
use crate::process::{self, lock, ranges};
use crate::work::event::{self, Event};
use crate::work::order;
use crate::work::stream::{STREAMS, Stream, Work, call_back};
use crate::work::{self, Context};

const NON_BLOCKING: u32 = 1;
/// `CU_EVENT_WAIT_EXTERNAL`: in a capture, the wait is a node of the graph.
const WAIT_EXTERNAL: u32 = 1;
/// `CU_HOST_TASK_SPINWAIT`, the last of its kind.
const HOST_TASK_SPINWAIT: u32 = 1;

api_with_streams! {
    fn cuStreamCreate(stream: *mut Handle, flags: u32) {
        create(stream, flags, 0)
    }
    fn cuStreamCreateWithPriority(stream: *mut Handle, flags: u32, priority: i32) {
        create(stream, flags, priority.clamp(-5, 0))
    }
    fn cuStreamDestroy(stream: Handle) {
        process::healthy()?;
        STREAMS.remove(stream).map(drop)
    }
    fn cuStreamDestroy_v2(stream: Handle) {
        process::healthy()?;
        // Work already queued still runs: its thread holds the stream.
        STREAMS.remove(stream).map(drop)
    }
    fn cuStreamSynchronize(stream: Handle) {
        let (context, stream) = work::stream(stream)?;
        stream.synchronize(&context)
    }
    fn cuStreamQuery(stream: Handle) {
        let (context, stream) = work::stream(stream)?;
        if let Some(capture) = stream.capture() {
            capture.invalidate();
            return Err(STREAM_CAPTURE_UNSUPPORTED);
        }
        if stream.last().is_done() { context.check() } else { Err(NOT_READY) }
    }
    fn cuStreamGetFlags(stream: Handle, flags: *mut u32) {
        put(flags, work::stream(stream)?.1.flags)
    }
    fn cuStreamGetPriority(stream: Handle, priority: *mut i32) {
        put(priority, work::stream(stream)?.1.priority)
    }
    fn cuStreamGetId(stream: Handle, id: *mut u64) {
        put(id, work::stream(stream)?.1.id)
    }
    fn cuStreamGetCtx(stream: Handle, context: *mut Handle) {
        let (_, stream) = work::stream(stream)?;
        put(context, work::home(&stream)?)
    }
    fn cuStreamGetCtx_v2(stream: Handle, context: *mut Handle, green: *mut Handle) {
        let (_, stream) = work::stream(stream)?;
        put(context, work::home(&stream)?)?;
        // No stream is of a green context.
        put(green, 0)
    }
    fn cuStreamGetDevice(stream: Handle, device: *mut i32) {
        work::stream(stream)?;
        put(device, 0)
    }
    fn cuStreamWaitEvent(stream: Handle, event: Handle, flags: u32) {
        if flags > WAIT_EXTERNAL {
            return Err(INVALID_VALUE);
        }
        let (context, stream) = work::stream(stream)?;
        let found = event::find(event)?;
        if flags == WAIT_EXTERNAL {
            if stream.capture().is_none() {
                return Err(ILLEGAL_STATE);
            }
            return submit(&stream, &context, Operation::WaitEvent(event)).map(drop);
        }
        wait_event(&context, &stream, &found)
    }
    fn cuStreamAddCallback(stream: Handle, callback: Option<unsafe extern "C" fn(Handle, CUresult, *mut c_void)>, data: *mut c_void, flags: u32) {
        let callback = callback.filter(|_| flags == 0).ok_or(INVALID_VALUE)?;
        let (context, target) = work::stream(stream)?;
        let data = data as usize;
        if let Some(capture) = target.capture() {
            capture.invalidate();
            return Err(STREAM_CAPTURE_UNSUPPORTED);
        }
        let work: Work = Box::new(move |_| {
            call_back(|| unsafe { callback(stream, SUCCESS, data as *mut c_void) });
            order::tell_host();
            Ok(0.0)
        });
        target.enqueue(&context, Some(work));
        Ok(())
    }
    fn cuLaunchHostFunc(stream: Handle, function: Option<unsafe extern "C" fn(*mut c_void)>, data: *mut c_void) {
        host_call(stream, function, data)
    }
    fn cuLaunchHostFunc_v2(stream: Handle, function: Option<unsafe extern "C" fn(*mut c_void)>, data: *mut c_void, mode: u32) {
        // How a thread waits for such calls, which it does without a difference here.
        if mode > HOST_TASK_SPINWAIT {
            return Err(INVALID_VALUE);
        }
        host_call(stream, function, data)
    }
    fn cuStreamAttachMemAsync(stream: Handle, pointer: CUdeviceptr, length: usize, flags: u32) {
        const GLOBAL: u32 = 1;
        const SINGLE: u32 = 4;
        work::stream(stream)?;
        let (start, range) = ranges::host_range(pointer as usize).ok_or(INVALID_VALUE)?;
        let whole = start == pointer as usize && (length == 0 || length == range.bytes);
        // Memory is visible to every stream here, which every attachment allows; the default stream takes none for itself.
        let allowed = matches!(flags, GLOBAL | 2) || flags == SINGLE && stream > 1;
        if range.managed && whole && allowed { Ok(()) } else { Err(INVALID_VALUE) }
    }
    fn cuStreamCopyAttributes(to: Handle, from: Handle) {
        let ((_, to), (_, from)) = (work::stream(to)?, work::stream(from)?);
        to.copy_attributes(&from);
        Ok(())
    }
    fn cuStreamGetAttribute(stream: Handle, attribute: u32, value: *mut [u32; 16]) {
        let (_, stream) = work::stream(stream)?;
        if value.is_null() {
            return Err(INVALID_VALUE);
        }
        put(value, stream.attribute(attribute)?)
    }
    fn cuStreamSetAttribute(stream: Handle, attribute: u32, value: *const [u32; 16]) {
        // They steer caches and scheduling, which do not change results.
        let (_, stream) = work::stream(stream)?;
        let value = value.as_ref().ok_or(INVALID_VALUE)?;
        stream.set_attribute(attribute, value)
    }
}

fn create(out: *mut Handle, flags: u32, priority: i32) -> Answer {
    let context = work::current()?;
    if flags > NON_BLOCKING || out.is_null() {
        return Err(INVALID_VALUE);
    }
    order::need();
    let stream = Stream::new(flags, priority, flags & NON_BLOCKING == 0, work::current_handle()?);
    if stream.blocking {
        lock(&context.blocking_streams).push(Arc::downgrade(&stream));
    }
    unsafe { put(out, STREAMS.add(stream)) }
}

fn host_call(stream: Handle, function: Option<unsafe extern "C" fn(*mut c_void)>, data: *mut c_void) -> Answer {
    let call = HostCall::new(function, data)?;
    let (context, stream) = work::stream(stream)?;
    submit(&stream, &context, Operation::Host(call)).map(drop)
}

fn wait_event(context: &Arc<Context>, stream: &Arc<Stream>, event: &Event) -> Answer {
    if let Some((capture, nodes)) = event.capture() {
        return stream.join_capture(&capture, &nodes);
    }
    if let Some(capture) = stream.capture() {
        // An event from outside the capture cannot order work inside the graph.
        capture.invalidate();
        return Err(STREAM_CAPTURE_ISOLATION);
    }
    if let Some(ticket) = event.ticket() {
        stream.wait_for(context, ticket);
    }
    Ok(())
}
