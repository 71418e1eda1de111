//! The undefined bits of a register.

use std::hash::{BuildHasherDefault, Hasher};

use super::undefined::ones;
use crate::exec::cx::lanes;

/// Undefined bits of each lane's register; those above its width mean nothing. Mostly some lanes have no defined bit, and the
/// others no undefined one, which takes a word instead of half a kilobyte.
#[derive(Clone, Debug)]
pub enum Bits {
    /// All bits of these lanes.
    Whole(u32),
    Each(Box<[u128; 32]>),
}

impl Default for Bits {
    fn default() -> Bits {
        Bits::Whole(0)
    }
}

impl Bits {
    pub fn each(of: impl FnMut(usize) -> u128) -> Bits {
        Bits::Each(Box::new(std::array::from_fn(of)))
    }

    /// Those of a lane.
    #[inline(always)]
    pub fn of(&self, lane: usize) -> u128 {
        match self {
            Bits::Whole(lanes) if lanes >> lane & 1 != 0 => u128::MAX,
            Bits::Whole(_) => 0,
            Bits::Each(bits) => bits[lane],
        }
    }

    /// Lanes of which any of the `width` lowest bits is undefined.
    pub fn lanes(&self, width: u32) -> u32 {
        let counts = ones(width);
        match self {
            Bits::Whole(lanes) => *lanes,
            Bits::Each(bits) => {
                bits.iter().enumerate().fold(0, |mask, (lane, bits)| mask | u32::from(bits & counts != 0) << lane)
            }
        }
    }

    /// Those of the lanes of `mask` alone.
    pub fn within(mut self, mask: u32) -> Bits {
        match &mut self {
            Bits::Whole(lanes) => *lanes &= mask,
            Bits::Each(bits) => lanes(!mask).for_each(|lane| bits[lane] = 0),
        }
        self
    }

    /// These, and in the lanes of `mask` those of `other`, of which the `width` lowest count: instead of what is here, or
    /// (`also`) besides.
    pub fn with(self, other: &Bits, mask: u32, width: u32, also: bool) -> Bits {
        if let (Bits::Whole(own), Bits::Whole(others)) = (&self, other) {
            return Bits::Whole(others & mask | own & if also { u32::MAX } else { !mask });
        }
        let mut bits = match self {
            Bits::Each(bits) => bits,
            whole => Box::new(std::array::from_fn(|lane| whole.of(lane))),
        };
        for lane in lanes(mask) {
            bits[lane] = other.of(lane) & ones(width) | if also { bits[lane] } else { 0 };
        }
        Bits::Each(bits)
    }
}

/// Frames and registers are small numbers that nobody chooses to harm: they need no hash that is hard to foresee.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mixed(u64);

pub type Quick = BuildHasherDefault<Mixed>;

impl Hasher for Mixed {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32((*byte).into()));
    }

    fn write_u32(&mut self, value: u32) {
        self.0 = (self.0.rotate_left(5) ^ u64::from(value)).wrapping_mul(0x517c_c1b7_2722_0a95);
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}
