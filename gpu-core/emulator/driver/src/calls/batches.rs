//! Several copies in one call.

use std::ffi::c_void;

use super::copies;
use crate::abi::*;
use crate::memory::boxes::{BatchCopy, copy_attributes_are_valid};

/// The legacy default stream, by its two names; the CUDA manual does not allow it here.
const LEGACY: [Handle; 2] = [0, 1];

unsafe fn lines(
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
        copies::unified(to, from, bytes, stream).inspect_err(|_| unsafe { put_optional(failed, index) })?;
    }
    Ok(())
}

/// `CUmemcpyAttributes`: an order, two hints of two words, and flags.
#[repr(C)]
struct Attributes([u32; 6]);

unsafe fn boxes(count: usize, list: *const BatchCopy, flags: u64, failed: *mut usize, stream: Handle) -> Answer {
    unsafe { put_optional(failed, usize::MAX) };
    if list.is_null() || count == 0 || flags != 0 || LEGACY.contains(&stream) {
        return Err(INVALID_VALUE);
    }
    for (index, request) in unsafe { std::slice::from_raw_parts(list, count) }.iter().enumerate() {
        let answer = request.block().and_then(|block| copies::copy(block, stream, false));
        answer.inspect_err(|_| unsafe { put_optional(failed, index) })?;
    }
    Ok(())
}

api_with_streams! {
    fn cuMemcpyWithAttributesAsync(to: CUdeviceptr, from: CUdeviceptr, bytes: usize, attributes: *const Attributes, stream: Handle) {
        let Attributes([order, .., flags]) = attributes.as_ref().ok_or(INVALID_VALUE)?;
        if LEGACY.contains(&stream) || !copy_attributes_are_valid(*order, *flags) {
            return Err(INVALID_VALUE);
        }
        copies::unified(to, from, bytes, stream)
    }
    fn cuMemcpy3DBatchAsync(count: usize, list: *const BatchCopy, failed: *mut usize, flags: u64, stream: Handle) {
        boxes(count, list, flags, failed, stream)
    }
    fn cuMemcpy3DBatchAsync_v2(count: usize, list: *const BatchCopy, flags: u64, stream: Handle) {
        boxes(count, list, flags, std::ptr::null_mut(), stream)
    }
    fn cuMemcpy3DWithAttributesAsync(request: *const BatchCopy, flags: u64, stream: Handle) {
        boxes(1, request, flags, std::ptr::null_mut(), stream)
    }
    fn cuMemcpyBatchAsync(
        to: *const CUdeviceptr, from: *const CUdeviceptr, bytes: *const usize, count: usize, attributes: *const c_void,
        indices: *const usize, attribute_count: usize, failed: *mut usize, stream: Handle,
    ) {
        lines(to, from, bytes, count, attributes, indices, attribute_count, failed, stream)
    }
    fn cuMemcpyBatchAsync_v2(
        to: *const CUdeviceptr, from: *const CUdeviceptr, bytes: *const usize, count: usize, attributes: *const c_void,
        indices: *const usize, attribute_count: usize, stream: Handle,
    ) {
        lines(to, from, bytes, count, attributes, indices, attribute_count, std::ptr::null_mut(), stream)
    }
}
