//! Several copies in one call.

use std::ffi::c_void;

use crate::abi::*;
use crate::copy;

/// The legacy default stream, by its two names; the CUDA manual does not allow it here.
const LEGACY: [Handle; 2] = [0, 1];

unsafe fn copies(
    to: *const CUdeviceptr,
    from: *const CUdeviceptr,
    bytes: *const usize,
    count: usize,
    attributes: *const c_void,
    indices: *const usize,
    attribute_count: usize,
    failed: *mut usize,
    stream: Handle,
) -> Answer {
    unsafe { put_optional(failed, usize::MAX) };
    if to.is_null() || from.is_null() || bytes.is_null() || count == 0 || LEGACY.contains(&stream) {
        return Err(INVALID_VALUE);
    }
    if attribute_count == 0 || attributes.is_null() || indices.is_null() || unsafe { *indices } != 0 {
        return Err(INVALID_VALUE);
    }
    for index in 0..count {
        let (to, from, bytes) = unsafe { (*to.add(index), *from.add(index), *bytes.add(index)) };
        copy::unified(to, from, bytes, stream).inspect_err(|_| unsafe { put_optional(failed, index) })?;
    }
    Ok(())
}

api_with_streams! {
    fn cuMemcpyBatchAsync(
        to: *const CUdeviceptr, from: *const CUdeviceptr, bytes: *const usize, count: usize, attributes: *const c_void,
        indices: *const usize, attribute_count: usize, failed: *mut usize, stream: Handle,
    ) {
        copies(to, from, bytes, count, attributes, indices, attribute_count, failed, stream)
    }
    fn cuMemcpyBatchAsync_v2(
        to: *const CUdeviceptr, from: *const CUdeviceptr, bytes: *const usize, count: usize, attributes: *const c_void,
        indices: *const usize, attribute_count: usize, stream: Handle,
    ) {
        copies(to, from, bytes, count, attributes, indices, attribute_count, std::ptr::null_mut(), stream)
    }
}
