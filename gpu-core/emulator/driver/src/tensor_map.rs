//! Tensor maps. The descriptor is opaque, so the emulator owns its encoding.

use std::ffi::c_void;

use crate::abi::*;

api! {
    fn cuTensorMapEncodeTiled(
        map: *mut [u8; 128], dtype: u32, rank: u32, address: *mut c_void, dims: *const u64, strides: *const u64,
        box_dims: *const u32, element_strides: *const u32, interleave: u32, swizzle: u32, promotion: u32, fill: u32,
    ) {
        let _ = (dtype, rank, address, dims, strides, box_dims, element_strides, interleave, swizzle, promotion, fill);
        if map.is_null() {
            return Err(INVALID_VALUE);
        }
        explain("tensor maps are not supported by this emulator yet");
        Err(NOT_SUPPORTED)
    }
}
