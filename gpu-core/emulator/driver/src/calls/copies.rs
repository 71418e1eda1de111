//! Calls that copy and fill.

use std::ffi::c_void;

use crate::abi::*;
use crate::graph::{self, Operation};
use crate::memory::copy::{Block, Fill, Place, known_place};
use crate::process::ranges::host_range;
use crate::work::stream::Work;
use crate::work::{self, CONTEXTS};

/// Queues a copy. Pageable host memory is read before this returns and written before it returns, as CUDA's
/// documentation on API synchronization behaviour says; pinned memory is touched when the copy's turn comes.
pub fn copy(block: Block, stream: Handle, wait: bool) -> Answer {
    let (context, stream) = work::stream(stream)?;
    block.check()?;
    if stream.capture().is_some() {
        return graph::submit(&stream, &context, Operation::Copy(block)).map(drop);
    }
    let pageable = |place: Place| matches!(place, Place::Host(address) if host_range(address).is_none());
    let work: Work = if pageable(block.from) && !wait {
        let mut data = vec![0u8; block.bytes()];
        let (pitch, layer) = (block.width, block.width * block.height);
        let staging = Place::Host(data.as_mut_ptr() as usize);
        Block { to: staging, to_pitch: pitch, to_layer: layer, ..block }.copy()?;
        Box::new(move |_| {
            let from = Place::Host(data.as_ptr() as usize);
            Block { from, from_pitch: pitch, from_layer: layer, ..block }.run()
        })
    } else {
        Box::new(move |_| block.run())
    };
    let ticket = stream.enqueue(&context, Some(work));
    if wait || pageable(block.to) {
        ticket.wait();
        context.check()?;
    }
    Ok(())
}

/// Queues a copy between any two places.
pub fn unified(to: CUdeviceptr, from: CUdeviceptr, bytes: usize, stream: Handle) -> Answer {
    copy(Block::line(Place::unified(to), Place::unified(from), bytes), stream, false)
}

fn submit(fill: Fill, stream: Handle, wait: bool) -> Answer {
    let (context, stream) = work::stream(stream)?;
    fill.check()?;
    let capturing = stream.capture().is_some();
    let ticket = graph::submit(&stream, &context, Operation::Fill(fill))?;
    if wait && !capturing {
        ticket.wait();
        context.check()?;
    }
    Ok(())
}

fn fill(to: CUdeviceptr, value: u32, element_bytes: usize, count: usize, stream: Handle, wait: bool) -> Answer {
    work::stream(stream)?;
    let to = known_place(to, count)?;
    submit(Fill { to, pitch: 0, value, element_bytes, width: count, height: 1 }, stream, wait)
}

fn fill_rows(
    to: CUdeviceptr,
    pitch: usize,
    value: u32,
    element_bytes: usize,
    (width, height): (usize, usize),
    stream: Handle,
    wait: bool,
) -> Answer {
    work::stream(stream)?;
    let to = known_place(to, width.min(height))?;
    submit(Fill { to, pitch, value, element_bytes, width, height }, stream, wait)
}

api_with_streams! {
    fn cuMemcpy(to: CUdeviceptr, from: CUdeviceptr, bytes: usize) {
        copy(Block::line(Place::unified(to), Place::unified(from), bytes), 0, true)
    }
    fn cuMemcpyAsync(to: CUdeviceptr, from: CUdeviceptr, bytes: usize, stream: Handle) {
        copy(Block::line(Place::unified(to), Place::unified(from), bytes), stream, false)
    }
    fn cuMemcpyHtoD_v2(to: CUdeviceptr, from: *const c_void, bytes: usize) {
        copy(Block::line(known_place(to, bytes)?, Place::unified(from as u64), bytes), 0, true)
    }
    fn cuMemcpyHtoDAsync_v2(to: CUdeviceptr, from: *const c_void, bytes: usize, stream: Handle) {
        copy(Block::line(known_place(to, bytes)?, Place::unified(from as u64), bytes), stream, false)
    }
    fn cuMemcpyDtoH_v2(to: *mut c_void, from: CUdeviceptr, bytes: usize) {
        copy(Block::line(Place::unified(to as u64), known_place(from, bytes)?, bytes), 0, true)
    }
    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: CUdeviceptr, bytes: usize, stream: Handle) {
        copy(Block::line(Place::unified(to as u64), known_place(from, bytes)?, bytes), stream, false)
    }
    fn cuMemcpyDtoD_v2(to: CUdeviceptr, from: CUdeviceptr, bytes: usize) {
        copy(Block::line(known_place(to, bytes)?, known_place(from, bytes)?, bytes), 0, true)
    }
    fn cuMemcpyDtoDAsync_v2(to: CUdeviceptr, from: CUdeviceptr, bytes: usize, stream: Handle) {
        copy(Block::line(known_place(to, bytes)?, known_place(from, bytes)?, bytes), stream, false)
    }
    fn cuMemcpyPeer(to: CUdeviceptr, to_context: Handle, from: CUdeviceptr, from_context: Handle, bytes: usize) {
        CONTEXTS.get(to_context)?;
        CONTEXTS.get(from_context)?;
        copy(Block::line(Place::unified(to), Place::unified(from), bytes), 0, true)
    }
    fn cuMemcpyPeerAsync(to: CUdeviceptr, _to_context: Handle, from: CUdeviceptr, _from_context: Handle, bytes: usize, stream: Handle) {
        copy(Block::line(Place::unified(to), Place::unified(from), bytes), stream, false)
    }
    fn cuMemsetD8_v2(to: CUdeviceptr, value: u8, count: usize) {
        fill(to, u32::from(value), 1, count, 0, true)
    }
    fn cuMemsetD16_v2(to: CUdeviceptr, value: u16, count: usize) {
        fill(to, u32::from(value), 2, count, 0, true)
    }
    fn cuMemsetD32_v2(to: CUdeviceptr, value: u32, count: usize) {
        fill(to, value, 4, count, 0, true)
    }
    fn cuMemsetD8Async(to: CUdeviceptr, value: u8, count: usize, stream: Handle) {
        fill(to, u32::from(value), 1, count, stream, false)
    }
    fn cuMemsetD16Async(to: CUdeviceptr, value: u16, count: usize, stream: Handle) {
        fill(to, u32::from(value), 2, count, stream, false)
    }
    fn cuMemsetD32Async(to: CUdeviceptr, value: u32, count: usize, stream: Handle) {
        fill(to, value, 4, count, stream, false)
    }
    fn cuMemsetD2D8_v2(to: CUdeviceptr, pitch: usize, value: u8, width: usize, height: usize) {
        fill_rows(to, pitch, u32::from(value), 1, (width, height), 0, true)
    }
    fn cuMemsetD2D16_v2(to: CUdeviceptr, pitch: usize, value: u16, width: usize, height: usize) {
        fill_rows(to, pitch, u32::from(value), 2, (width, height), 0, true)
    }
    fn cuMemsetD2D32_v2(to: CUdeviceptr, pitch: usize, value: u32, width: usize, height: usize) {
        fill_rows(to, pitch, value, 4, (width, height), 0, true)
    }
    fn cuMemsetD2D8Async(to: CUdeviceptr, pitch: usize, value: u8, width: usize, height: usize, stream: Handle) {
        fill_rows(to, pitch, u32::from(value), 1, (width, height), stream, false)
    }
    fn cuMemsetD2D16Async(to: CUdeviceptr, pitch: usize, value: u16, width: usize, height: usize, stream: Handle) {
        fill_rows(to, pitch, u32::from(value), 2, (width, height), stream, false)
    }
    fn cuMemsetD2D32Async(to: CUdeviceptr, pitch: usize, value: u32, width: usize, height: usize, stream: Handle) {
        fill_rows(to, pitch, value, 4, (width, height), stream, false)
    }
}
