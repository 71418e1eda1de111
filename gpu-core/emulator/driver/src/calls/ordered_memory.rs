//! Calls that allocate and free in the order of a stream.

use std::sync::atomic::Ordering;

use crate::abi::*;
use crate::graph::{self, GRAPHS, Operation, submit};
use crate::memory::allocation;
use crate::memory::of_graphs;
use crate::memory::pool::{CURRENT_POOL, POOLS};
use crate::process::{lock, ranges};
use crate::work;

fn alloc_async(out: *mut CUdeviceptr, bytes: usize, pool: Handle, stream: Handle) -> Answer {
    let (context, stream) = work::stream(stream)?;
    if out.is_null() {
        return Err(INVALID_VALUE);
    }
    if bytes == 0 {
        // As a driver does, which gives no memory and no error.
        return unsafe { put(out, 0) };
    }
    if let Ok(limited) = POOLS.get(pool)
        && limited.most_bytes > 0
        && limited.used.load(Ordering::Relaxed).saturating_add(bytes as u64) > limited.most_bytes
    {
        return Err(OUT_OF_MEMORY);
    }
    if stream.capture().is_some() {
        let address = of_graphs::reserve(bytes)?;
        submit(&stream, &context, Operation::Alloc(address))?;
        return unsafe { put(out, address.start) };
    }
    let address = allocation::allocate(bytes, Some(pool), 0)?;
    unsafe { put(out, address) }
}

api_with_streams! {
    fn cuMemAllocAsync(pointer: *mut CUdeviceptr, bytes: usize, stream: Handle) {
        let pool = *lock(&CURRENT_POOL);
        alloc_async(pointer, bytes, pool, stream)
    }
    fn cuMemAllocFromPoolAsync(pointer: *mut CUdeviceptr, bytes: usize, pool: Handle, stream: Handle) {
        POOLS.get(pool)?;
        alloc_async(pointer, bytes, pool, stream)
    }
    fn cuMemFreeAsync(pointer: CUdeviceptr, stream: Handle) {
        let (context, stream) = work::stream(stream)?;
        if pointer == 0 {
            return Ok(());
        }
        let of_a_graph = of_graphs::range(pointer).is_some_and(|(start, _)| start == pointer);
        if let Some(capture) = stream.capture() {
            let operation = Operation::Free(pointer);
            // Only memory of a graph can be freed by one.
            graph::check_free(&*GRAPHS.get(capture.graph)?, &operation)?;
            return submit(&stream, &context, operation).map(drop);
        }
        // Memory of a graph may be freed behind a launch that has not yet allocated it, but not before there is one.
        let booked = of_graphs::forget_outstanding(pointer);
        if !(if of_a_graph { booked } else { lock(&ranges::DEVICE).contains_key(&pointer) }) {
            return Err(INVALID_VALUE);
        }
        submit(&stream, &context, Operation::Free(pointer)).map(drop)
    }
}
