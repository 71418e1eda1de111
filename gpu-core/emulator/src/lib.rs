//! Runs PTX text on the CPU, counts what the hardware would count, and says what is wrong with a kernel.
//! Knows nothing of the course.
//!
//! [`Module::load`] parses and decodes PTX, [`Memory`] is the global memory of one emulated device, and
//! [`launch`] runs a kernel and returns an [`Outcome`] that holds faults, counters, trace and console text.

#![allow(clippy::neg_cmp_op_on_partial_ord, reason = "`!(a < b)` is PTX's unordered comparison: true for NaN")]
#![allow(clippy::precedence, reason = "bits are packed and masked as the manuals write it")]
#![allow(clippy::needless_range_loop, reason = "loops over the 32 lanes index several rows at once, and vectorise")]

mod analysis;
mod jit;
/// What `tests/order.rs` replaces.
mod atomics {
    pub use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering, fence};
}
mod build;
mod check;
mod conditions;
mod count;
mod decode;
mod described;
mod device;
mod exec;
mod fast;
mod features;
#[doc(hidden)]
pub mod inside;
mod isa;
mod launch;
mod memory;
mod module;
pub mod num;
mod ptx;
mod report;
mod request;
mod tensor;
mod texture;
mod work_time;

pub use check::race::touched::{Touched, TouchedPiece};
pub use conditions::Conditions;
pub use count::values::{Argument, Nonfinite, NonfiniteKind, NonfiniteLog};
pub use described::{KernelInfo, LoadError, LoadProblem, ParamInfo};
pub use device::{Device, REGISTERS_PER_SM};
pub use exec::options::Options;
pub use fast::Fast;
pub use isa::{ExampleKernel, examples};
pub use launch::{Outcome, launch};
pub use memory::{Memory, MemoryError};
pub use module::Module;
pub use report::*;
pub use request::{Checks, Launch};
pub use tensor::layout::{Interleave, Swizzle};
pub use tensor::{Im2col, Piece, TensorMap, TensorMapError, TensorType};
pub use texture::{AddressMode, ChannelFormat, Sampler, TexelArray, TextureLevel, TextureObject};
pub use work_time::WorkTime;
