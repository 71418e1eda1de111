//! PTX types.

/// A PTX type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    U8,
    U16,
    U32,
    U64,
    U128,
    S8,
    S16,
    S32,
    S64,
    B8,
    B16,
    B32,
    B64,
    B128,
    F16,
    F16x2,
    BF16,
    BF16x2,
    F32,
    F32x2,
    F64,
    TF32,
    U16x2,
    S16x2,
    Pred,
}

impl Ty {
    pub fn parse(name: &str) -> Option<Ty> {
        Some(match name {
            "u8" => Ty::U8,
            "u16" => Ty::U16,
            "u32" => Ty::U32,
            "u64" => Ty::U64,
            "u128" => Ty::U128,
            "s8" => Ty::S8,
            "s16" => Ty::S16,
            "s32" => Ty::S32,
            "s64" => Ty::S64,
            "b8" => Ty::B8,
            "b16" => Ty::B16,
            "b32" => Ty::B32,
            "b64" => Ty::B64,
            "b128" => Ty::B128,
            "f16" => Ty::F16,
            "f16x2" => Ty::F16x2,
            "bf16" => Ty::BF16,
            "bf16x2" => Ty::BF16x2,
            "f32" => Ty::F32,
            "f32x2" => Ty::F32x2,
            "f64" => Ty::F64,
            "tf32" => Ty::TF32,
            "u16x2" => Ty::U16x2,
            "s16x2" => Ty::S16x2,
            "pred" => Ty::Pred,
            _ => return None,
        })
    }

    pub fn bits(self) -> u32 {
        match self {
            Ty::Pred => 1,
            Ty::U8 | Ty::S8 | Ty::B8 => 8,
            Ty::U16 | Ty::S16 | Ty::B16 | Ty::F16 | Ty::BF16 => 16,
            Ty::U32 | Ty::S32 | Ty::B32 | Ty::F32 | Ty::TF32 => 32,
            Ty::F16x2 | Ty::BF16x2 | Ty::U16x2 | Ty::S16x2 => 32,
            Ty::U64 | Ty::S64 | Ty::B64 | Ty::F64 | Ty::F32x2 => 64,
            Ty::U128 | Ty::B128 => 128,
        }
    }

    pub fn signed(self) -> bool {
        matches!(self, Ty::S8 | Ty::S16 | Ty::S32 | Ty::S64)
    }
}
