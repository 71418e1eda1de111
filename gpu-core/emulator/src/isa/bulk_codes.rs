//! What `Op::imm` holds for a bulk or tensor copy, and the types that one reduces in.

use super::Ty;
use crate::tensor::TensorType;

// Where data goes, in the low bits of `Op::imm`.
pub(super) const TO_SHARED: i64 = 1;
pub(super) const FROM_SHARED: i64 = 2;
pub(super) const TENSOR: i64 = 4;
pub(super) const MULTICAST: i64 = 8;
/// Reduction and its type: bits 8 and 12.
pub(super) const REDUCE: i64 = 16;
pub(super) const WIDE_SHARED: i64 = 32;
pub(super) const WIDE_BARRIER: i64 = 64;
/// Of every 16 bytes only those of the mask in `Op::e` go.
pub(super) const MASKED: i64 = 128;
/// Bytes at either end that may be outside the array; the counts are in the list.
pub(super) const IGNORE: i64 = 1 << 16;
/// The mode of a tensor copy, from this bit.
pub(super) const WALK_AT: u32 = 24;

pub(super) const TYPES: &[Ty] =
    &[Ty::U32, Ty::S32, Ty::U64, Ty::S64, Ty::F16, Ty::BF16, Ty::F32, Ty::F64, Ty::B32, Ty::B64];

pub(super) fn type_code(ty: Ty) -> i64 {
    TYPES.iter().position(|known| *known == ty).unwrap_or(0) as i64
}

pub(super) fn element_type(element: TensorType) -> Ty {
    match element {
        TensorType::S32 => Ty::S32,
        TensorType::U64 => Ty::U64,
        TensorType::S64 => Ty::S64,
        TensorType::F16 => Ty::F16,
        TensorType::BF16 => Ty::BF16,
        TensorType::F32 | TensorType::F32Ftz | TensorType::TF32 | TensorType::TF32Ftz => Ty::F32,
        TensorType::F64 => Ty::F64,
        _ => Ty::U32,
    }
}
