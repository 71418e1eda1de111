//! Allocating and freeing in the order of a stream.

use crate::abi::*;
use crate::graph::{self, Operation};
use crate::pool::alloc_async;
use crate::state::{self, driver, lock};

api_with_streams! {
    fn cuMemAllocAsync(pointer: *mut CUdeviceptr, bytes: usize, stream: Handle) {
        let pool = *lock(&driver().current_pool);
        alloc_async(pointer, bytes, pool, stream)
    }
    fn cuMemAllocFromPoolAsync(pointer: *mut CUdeviceptr, bytes: usize, pool: Handle, stream: Handle) {
        driver().pools.get(pool)?;
        alloc_async(pointer, bytes, pool, stream)
    }
    fn cuMemFreeAsync(pointer: CUdeviceptr, stream: Handle) {
        let (context, stream) = state::stream(stream)?;
        if pointer == 0 {
            return Ok(());
        }
        let of_a_graph = graph::memory_range(pointer).is_some_and(|(start, _)| start == pointer);
        if let Some(capture) = stream.capture() {
            let operation = Operation::Free(pointer);
            // Only memory of a graph can be freed by one.
            graph::check_free(&capture.graph, &operation)?;
            return stream.submit(&context, operation).map(drop);
        }
        // Memory of a graph may be freed behind a launch that has not yet allocated it, but not before there is one.
        let booked = graph::forget_outstanding(pointer);
        if !(if of_a_graph { booked } else { lock(&driver().device).contains_key(&pointer) }) {
            return Err(INVALID_VALUE);
        }
        stream.submit(&context, Operation::Free(pointer)).map(drop)
    }
}
