//! `cuTensorMapEncodeTiled` for the tensor maps of a spec.

use super::driver::failed;
use crate::device::RunError;
use crate::spec::{ResolvedMap, TENSOR_MAP_BYTES};
use cudarc::driver::DriverError;
use cudarc::driver::sys::{self, CUdeviceptr};
use ptx_emulator::TensorMap;

/// The 128 bytes of a map over the tensor at `address`; zeros when no map can describe it.
///
/// # Errors
/// [`RunError::Environment`] on a driver without tensor maps, [`RunError::BadRequest`] when it refuses this one.
pub fn encode(map: &ResolvedMap, address: CUdeviceptr) -> Result<[u8; TENSOR_MAP_BYTES], RunError> {
    if !map.is_usable() {
        return Ok([0; TENSOR_MAP_BYTES]);
    }
    encode_with(&map.for_emulator(address), &map.name, map.l2_promotion_bytes)
}

/// The 128 bytes of any tiled map.
///
/// # Errors
/// As [`encode`].
pub fn encode_tiled(map: &TensorMap, name: &str) -> Result<[u8; TENSOR_MAP_BYTES], RunError> {
    encode_with(map, name, 256)
}

fn encode_with(map: &TensorMap, name: &str, l2_bytes: u32) -> Result<[u8; TENSOR_MAP_BYTES], RunError> {
    use sys::CUtensorMapL2promotion::*;
    // SAFETY: an enumeration of the C header, in the same order and with the same representation as the emulator's,
    // which a test compares by name.
    let dtype = unsafe { std::mem::transmute::<u32, sys::CUtensorMapDataType>(map.element as u32) };
    // SAFETY: as above.
    let swizzle = unsafe { std::mem::transmute::<u32, sys::CUtensorMapSwizzle>(map.swizzle as u32) };
    let fill = if map.nan_fill {
        sys::CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA
    } else {
        sys::CUtensorMapFloatOOBfill::CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE
    };
    // The driver counts a box before the steps between elements are taken.
    let extents: Vec<u32> = map.tile.iter().zip(&map.element_strides).map(|(count, step)| count * step).collect();
    // SAFETY: all-zero bytes are a valid value of this plain structure.
    let mut encoded: sys::CUtensorMap = unsafe { std::mem::zeroed() };
    // SAFETY: every array has one entry a dimension (strides one fewer) and lives through the call; the driver
    // writes 128 bytes to an aligned `CUtensorMap`.
    let status = unsafe {
        sys::cuTensorMapEncodeTiled(
            &raw mut encoded,
            dtype,
            map.sizes.len() as u32,
            map.address as *mut std::ffi::c_void,
            map.sizes.as_ptr(),
            map.strides.as_ptr(),
            extents.as_ptr(),
            map.element_strides.as_ptr(),
            sys::CUtensorMapInterleave::CU_TENSOR_MAP_INTERLEAVE_NONE,
            swizzle,
            match l2_bytes {
                0 => CU_TENSOR_MAP_L2_PROMOTION_NONE,
                64 => CU_TENSOR_MAP_L2_PROMOTION_L2_64B,
                128 => CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                _ => CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
            },
            fill,
        )
    };
    match status {
        sys::CUresult::CUDA_SUCCESS => {}
        sys::CUresult::CUDA_ERROR_INVALID_VALUE => {
            return Err(RunError::BadRequest(format!("the driver refuses the tensor map `{name}`: {map:?}")));
        }
        error => return Err(failed("making a tensor map", DriverError(error))),
    }
    // SAFETY: both are 128 plain bytes.
    Ok(unsafe { std::mem::transmute::<sys::CUtensorMap, [u8; TENSOR_MAP_BYTES]>(encoded) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_emulator::{Swizzle, TensorType};

    #[test]
    fn numbers_agree_with_the_header() {
        use sys::CUtensorMapDataType::*;
        let types = [
            (TensorType::U8, CU_TENSOR_MAP_DATA_TYPE_UINT8),
            (TensorType::U16, CU_TENSOR_MAP_DATA_TYPE_UINT16),
            (TensorType::U32, CU_TENSOR_MAP_DATA_TYPE_UINT32),
            (TensorType::U64, CU_TENSOR_MAP_DATA_TYPE_UINT64),
            (TensorType::F32Ftz, CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ),
            (TensorType::TF32, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32),
            (TensorType::TF32Ftz, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ),
            (TensorType::S32, CU_TENSOR_MAP_DATA_TYPE_INT32),
            (TensorType::S64, CU_TENSOR_MAP_DATA_TYPE_INT64),
            (TensorType::F16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16),
            (TensorType::F32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32),
            (TensorType::F64, CU_TENSOR_MAP_DATA_TYPE_FLOAT64),
            (TensorType::BF16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16),
        ];
        for (ours, theirs) in types {
            assert_eq!(ours as u32, theirs as u32, "{ours:?}");
        }
        use sys::CUtensorMapSwizzle::*;
        let swizzles = [
            (Swizzle::None, CU_TENSOR_MAP_SWIZZLE_NONE),
            (Swizzle::B32, CU_TENSOR_MAP_SWIZZLE_32B),
            (Swizzle::B64, CU_TENSOR_MAP_SWIZZLE_64B),
            (Swizzle::B128, CU_TENSOR_MAP_SWIZZLE_128B),
        ];
        for (ours, theirs) in swizzles {
            assert_eq!(ours as u32, theirs as u32, "{ours:?}");
        }
    }
}
