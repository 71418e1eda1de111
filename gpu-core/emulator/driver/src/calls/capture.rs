//! Calls that record what streams are given into a graph.

use crate::abi::*;
use crate::graph::{GRAPHS, Graph};
use crate::process::lock;
use crate::work::capture::{Ended, MODE_GLOBAL, exchange_mode};
use crate::work::stream::Stream;
use crate::work::{self, order};

fn new_graph() -> Handle {
    order::need();
    GRAPHS.add(std::sync::Arc::new(Graph::default()))
}

/// Ends the capture in the stream where it began; every stream that joined it must have been waited for.
fn end(stream: &Stream) -> Result<Handle, CUresult> {
    let Ended { capture, tail, others, wrong_thread } = stream.end_capture()?;
    let graph = GRAPHS.get(capture.graph)?;
    let unjoined = others.iter().any(|other| !graph.reaches(other, &tail));
    let code = match (capture.is_invalid(), unjoined) {
        (true, _) => STREAM_CAPTURE_INVALIDATED,
        (false, _) if wrong_thread => STREAM_CAPTURE_WRONG_THREAD,
        (false, false) => return Ok(capture.graph),
        (false, true) => STREAM_CAPTURE_UNJOINED,
    };
    let _ = GRAPHS.remove(capture.graph);
    Err(code)
}

unsafe fn capture_info(
    stream: Handle,
    status: *mut u32,
    id: *mut u64,
    graph: *mut Handle,
    dependencies: *mut *const Handle,
    count: *mut usize,
) -> Answer {
    let (_, stream) = work::stream(stream)?;
    let mut slot = lock(&stream.capture);
    unsafe {
        put(status, slot.as_ref().map_or(0, |joined| 1 + u32::from(joined.capture.is_invalid())))?;
        if let Some(joined) = slot.as_mut() {
            joined.shown = joined.tail.clone();
            put_optional(id, joined.capture.id);
            put_optional(graph, joined.capture.graph);
            put_optional(dependencies, joined.shown.as_ptr());
            put_optional(count, joined.shown.len());
        }
    }
    Ok(())
}

unsafe fn update_dependencies(stream: Handle, dependencies: *const Handle, count: usize, flags: u32) -> Answer {
    /// `CU_STREAM_SET_CAPTURE_DEPENDENCIES`; 0 adds.
    const SET: u32 = 1;
    let (_, stream) = work::stream(stream)?;
    if stream.capture().is_none() {
        return Err(ILLEGAL_STATE);
    }
    if flags > SET || dependencies.is_null() && count > 0 {
        return Err(INVALID_VALUE);
    }
    let nodes = if count == 0 { &[][..] } else { unsafe { std::slice::from_raw_parts(dependencies, count) } };
    stream.come_after(nodes, flags == SET);
    Ok(())
}

api_with_streams! {
    fn cuStreamBeginCapture(stream: Handle) {
        let (_, target) = work::stream(stream)?;
        if stream < 2 {
            return Err(STREAM_CAPTURE_UNSUPPORTED);
        }
        target.begin_capture(MODE_GLOBAL, new_graph, Vec::new())
    }
    fn cuStreamBeginCapture_v2(stream: Handle, mode: u32) {
        let (_, target) = work::stream(stream)?;
        if stream < 2 {
            return Err(STREAM_CAPTURE_UNSUPPORTED);
        }
        target.begin_capture(mode, new_graph, Vec::new())
    }
    fn cuStreamBeginCaptureToGraph(stream: Handle, graph: Handle, dependencies: *const Handle, _edges: *const u64, count: usize, mode: u32) {
        let (_, target) = work::stream(stream)?;
        if stream < 2 {
            return Err(STREAM_CAPTURE_UNSUPPORTED);
        }
        GRAPHS.get(graph)?;
        let tail = match (dependencies.is_null(), count) {
            (_, 0) => Vec::new(),
            (true, _) => return Err(INVALID_VALUE),
            (false, _) => std::slice::from_raw_parts(dependencies, count).to_vec(),
        };
        target.begin_capture(mode, || graph, tail)
    }
    fn cuStreamEndCapture(stream: Handle, graph: *mut Handle) {
        let (_, stream) = work::stream(stream)?;
        match end(&stream) {
            Ok(captured) if graph.is_null() => GRAPHS.remove(captured).map(drop),
            Ok(captured) => put(graph, captured),
            Err(code) => {
                put_optional(graph, 0);
                Err(code)
            }
        }
    }
    fn cuStreamIsCapturing(stream: Handle, status: *mut u32) {
        let (_, stream) = work::stream(stream)?;
        put(status, stream.capture().map_or(0, |capture| 1 + u32::from(capture.is_invalid())))
    }
    fn cuStreamGetCaptureInfo(stream: Handle, status: *mut u32, id: *mut u64) {
        capture_info(stream, status, id, std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut())
    }
    fn cuStreamGetCaptureInfo_v2(stream: Handle, status: *mut u32, id: *mut u64, graph: *mut Handle, dependencies: *mut *const Handle, count: *mut usize) {
        capture_info(stream, status, id, graph, dependencies, count)
    }
    fn cuStreamGetCaptureInfo_v3(stream: Handle, status: *mut u32, id: *mut u64, graph: *mut Handle, dependencies: *mut *const Handle, edges: *mut *const u64, count: *mut usize) {
        // NULL stands for edges without data.
        put_optional(edges, std::ptr::null());
        capture_info(stream, status, id, graph, dependencies, count)
    }
    fn cuStreamUpdateCaptureDependencies(stream: Handle, dependencies: *const Handle, count: usize, flags: u32) {
        update_dependencies(stream, dependencies, count, flags)
    }
    fn cuStreamUpdateCaptureDependencies_v2(stream: Handle, dependencies: *const Handle, _edges: *const u64, count: usize, flags: u32) {
        update_dependencies(stream, dependencies, count, flags)
    }
    fn cuThreadExchangeStreamCaptureMode(mode: *mut u32) {
        let wanted = *mode.as_ref().ok_or(INVALID_VALUE)?;
        put(mode, exchange_mode(wanted)?)
    }
}
