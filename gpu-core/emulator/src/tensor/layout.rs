//! How tensors lie in global memory and their boxes in shared memory, apart from sizes and strides.

/// How the pieces of a row are permuted in shared memory, in the order of `CUtensorMapSwizzle`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Swizzle {
    None,
    B32,
    B64,
    B128,
    /// 32 bytes stay together.
    B128Atom32,
    /// The same, and every second row has the halves of each 16 bytes swapped.
    B128Atom32Flip8,
    /// 64 bytes stay together.
    B128Atom64,
}

use Swizzle::{B128, B128Atom32, B128Atom32Flip8, B128Atom64};

/// In the order of `.swizzle_atomicity` (PTX ISA, "tensormap.replace").
const ATOMS_OF_128: [Swizzle; 4] = [B128, B128Atom32, B128Atom32Flip8, B128Atom64];

impl Swizzle {
    /// From `CUtensorMapSwizzle`.
    pub fn from_cuda(value: u32) -> Option<Swizzle> {
        [Swizzle::None, Swizzle::B32, Swizzle::B64, B128, B128Atom32, B128Atom32Flip8, B128Atom64]
            .get(value as usize)
            .copied()
    }

    /// From `.swizzle_mode` and `.swizzle_atomicity`, the fields of `tensormap.replace`.
    pub(crate) fn from_fields(mode: u8, atomicity: u8) -> Option<Swizzle> {
        match (mode, atomicity) {
            (3, atomicity) => ATOMS_OF_128.get(usize::from(atomicity)).copied(),
            (mode, 0) if mode < 3 => Swizzle::from_cuda(mode.into()),
            _ => None,
        }
    }

    /// The opposite of [`Swizzle::from_fields`].
    pub(crate) fn fields(self) -> (u8, u8) {
        match ATOMS_OF_128.iter().position(|atom| *atom == self) {
            Some(atomicity) => (3, atomicity as u8),
            None => (self as u8, 0),
        }
    }

    /// Bytes that the pattern permutes among one another: a row of a box has at most as many. 0 without a pattern.
    pub fn span(self) -> u64 {
        match self {
            Swizzle::None => 0,
            Swizzle::B32 => 32,
            Swizzle::B64 => 64,
            B128 | B128Atom32 | B128Atom32Flip8 | B128Atom64 => 128,
        }
    }

    /// The shared-memory offset of a byte: the number of its 16 bytes in the row (address bits 4 to 6, fewer for narrower
    /// swizzles) is xor-ed with that of the row (bits 7 to 9); with larger atoms it is their number. No GPU here has had
    /// those: they follow the driver's manual.
    pub fn apply(self, address: u64) -> u64 {
        let row = address >> 7;
        match self {
            Swizzle::None => address,
            Swizzle::B32 => address ^ (row & 1) << 4,
            Swizzle::B64 => address ^ (row & 3) << 4,
            B128 => address ^ (row & 7) << 4,
            B128Atom32 => address ^ (row & 3) << 5,
            B128Atom32Flip8 => address ^ (row & 3) << 5 ^ (row & 1) << 3,
            B128Atom64 => address ^ (row & 1) << 6,
        }
    }
}

/// Whether channels are split into slices of 16 or 32 bytes, each of which has all pixels one after the other
/// (`NC/8HWC8`, `NC/16HWC16`), in the order of `CUtensorMapInterleave`.
///
/// What an H100 does (driver 580.159.04, 2026-11-25; 107 loads and stores, tiled and im2col, are a test): dimension 0 goes
/// along the pixels of a row, its coordinates, sizes and steps counting slices of pixels, not elements; the last but one
/// dimension goes from slice to slice, and a box has one of them whatever its size there; box rows follow each other without
/// a gap, whatever the swizzle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Interleave {
    #[default]
    None,
    B16,
    B32,
}

impl Interleave {
    /// From `CUtensorMapInterleave`, which `tensormap.replace` counts alike.
    pub fn from_cuda(value: u32) -> Option<Interleave> {
        [Interleave::None, Interleave::B16, Interleave::B32].get(value as usize).copied()
    }

    /// Bytes of one pixel in a slice; 0 where channels are not split.
    pub fn bytes(self) -> u64 {
        [0, 16, 32][self as usize]
    }
}
