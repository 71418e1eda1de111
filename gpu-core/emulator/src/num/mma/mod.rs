//! The matrix units, after published bit-accurate models (MMA-Sim; Fasi et al., "Numerical behavior of NVIDIA tensor
//! cores"; FTTN).
//!
//! A floating-point unit takes a group of products exactly, aligns them and the accumulator to the largest exponent,
//! cuts each toward zero to `fraction_bits`, adds, and rounds once: toward zero to f32, to nearest even to f16. Longer
//! inner dimensions are chains of groups. f64 is a chain of fma, integers are exact.
//!
//! | architecture | fraction bits | group (16-bit, tf32, 8-bit elements) |
//! |---|---|---|
//! | sm_75 | 24 | 8, -, - (4 for m8n8k4) |
//! | sm_80 to sm_88 | 24 | 8, 4, - |
//! | sm_89 | 24; FP8: 13 and a 13-bit result | 8, 4, 16 |
//! | sm_90 mma | 25 | all of k; FP8 is unpacked to f16 (see [`Order::HalfWords`]) |
//! | sm_90a wgmma | 25; FP8: 13 and a 13-bit result | all of k |
//! | sm_100 and later | 25 | all of k; FP8 on sm_100 as on sm_90 |
//! | NVFP4, MXFP4 | 35 | sums of 16, see [`scaled`] |
//!
//! `tests/num/models.rs` holds the rows to what MMA-Sim computes, where it has them. Departures from it: a product with zero
//! takes no part in the alignment (as on an H200), and an accumulator of zero has an exponent far below the normal numbers
//! (after Khattak and Mikaitis, "Accurate models of NVIDIA tensor cores"; as on an H100).

mod catalogue;
pub mod descriptor;
pub(crate) mod dot;
#[cfg(target_arch = "x86_64")]
pub(crate) mod dot_avx2;
mod element;
pub mod form;
pub mod integer;
#[cfg(target_arch = "x86_64")]
pub mod lanewise;
pub mod rows;
pub mod scaled;
pub mod sparse;
pub mod warp;
pub mod warpgroup;

pub use dot::{add_scales, b_index, chain_f64, dot_tile, quad_tile};
pub use element::{ABSENT, Element, Operand};

/// What the accumulator is, and how a sum is rounded into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accumulator {
    /// f32, rounded toward zero.
    F32,
    /// f32 with 13 fraction bits, rounded toward zero (FP8 on Ada and in Hopper's wgmma).
    F32Short,
    /// f16, rounded to nearest even.
    F16,
}

/// In which order elements of the inner dimension meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Groups of this many consecutive elements, starting from the accumulator.
    Chain(usize),
    /// FP8 `mma` where the hardware has no such unit (sm_90, sm_100): the assembler unpacks to f16 the lower, then the
    /// upper two bytes of each register, chains two f16 steps from zero and adds the accumulator with an ordinary
    /// addition. Found in the machine code of `mma.m16n8k32.e4m3`. The number says how many elements of k lie in a half
    /// register: two, or the four that two stored ones stand for in a sparse A.
    HalfWords(usize),
    /// `mma.m8n8k4` of f16 on sm_80 and later, a software call: f32 fma over the four products, then an addition.
    Quad,
}

/// Which instruction family uses the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// `mma`, `wmma`.
    Warp,
    /// `wgmma`.
    WarpGroup,
}

/// How one floating-point matrix operation computes on one architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Model {
    pub fraction_bits: u32,
    pub order: Order,
    pub accumulator: Accumulator,
    /// Exponent of an accumulator that is zero: products below it are cut as if they were added to something of that size.
    pub zero_exponent: i32,
}

impl Model {
    /// The model for `arch` (75, 80, …, 121). `k` is the number of products summed for one result, without the zeros of
    /// sparse operands; `f16_result` says that C and D are f16.
    pub fn for_arch(arch: u32, unit: Unit, element: Element, k: usize, f16_result: bool) -> Model {
        let fp8 = matches!(element, Element::E4m3 | Element::E5m2);
        let result = if f16_result { Accumulator::F16 } else { Accumulator::F32 };
        let short = if f16_result { Accumulator::F16 } else { Accumulator::F32Short };
        let fraction_bits = if arch < 90 { 24 } else { 25 };
        let zero_exponent = if f16_result { -20 } else { -132 } - i32::from(arch >= 90);
        let chain =
            |n: usize| Model { fraction_bits, order: Order::Chain(n.min(k)), accumulator: result, zero_exponent };
        match (arch, element) {
            (_, Element::F16) if k == 4 && arch >= 80 => Model { order: Order::Quad, ..chain(4) },
            (89, _) if fp8 => Model { fraction_bits: 13, accumulator: short, ..chain(16) },
            (90, _) if fp8 && unit == Unit::WarpGroup => Model { fraction_bits: 13, accumulator: short, ..chain(k) },
            (90..=110, _) if fp8 => Model { order: Order::HalfWords(2), ..chain(k) },
            (..=89, Element::Tf32) => chain(4),
            (..=89, _) => chain(8),
            _ => chain(k),
        }
    }

    /// The model for operands expanded from 2:4 sparsity, where half of each group is absent.
    pub fn expanded(self) -> Model {
        match self.order {
            Order::Chain(group) => Model { order: Order::Chain(2 * group), ..self },
            Order::HalfWords(span) => Model { order: Order::HalfWords(2 * span), ..self },
            Order::Quad => self,
        }
    }
}

/// As `vec![0; length]`, but not as memory that is asked for as zeros: of a few hundred bytes, that takes allocators much longer
/// than all else that happens to it.
fn zeros<T: Copy + Default>(length: usize) -> Vec<T> {
    const PART: usize = 32;
    let mut all = Vec::with_capacity(length.next_multiple_of(PART));
    while all.len() < length {
        all.extend_from_slice(&[T::default(); PART]);
    }
    all.truncate(length);
    all
}
