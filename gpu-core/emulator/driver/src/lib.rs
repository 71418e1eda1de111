//! The CUDA driver API over the PTX emulator.
//!
//! Built as `liblockstep_cuda.so`, this answers the entry points of `libcuda.so.1`, so that a program that only
//! knows the driver API runs with no GPU. One emulated device is presented; `LOCKSTEP_ARCH` (for example
//! `sm_90`) chooses its compute capability, and `LOCKSTEP_CHECKS=1` turns races, uninitialised reads and barrier
//! misuse into launch failures that are described on standard error.
//!
//! Streams run on threads of their own, in order, as on a device. Event times are those of a virtual clock on
//! which streams overlap: two kernels on two streams take the time of the longer one, however few cores there are.
//!
//! Imports go down this list: `export`, `calls`, `graph`, `launch`, `loading`, `memory`, `work`, `process`, `abi`
//! (`../tests/rooms.rs`). A stream knows nothing of what it does: the calls hand it closures, or a graph nodes.
//!
//! Parameter names and error codes follow the CUDA Driver API reference manual.

#![allow(non_snake_case)]
#![allow(
    clippy::missing_safety_doc,
    reason = "each entry point has the contract of the CUDA function it is named after"
)]
#![allow(clippy::too_many_arguments, reason = "signatures are CUDA's")]
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "every entry point trusts its caller's pointers as the CUDA manual allows"
)]

#[macro_use]
mod abi;
mod calls;
mod export;
mod graph;
mod launch;
mod loading;
mod memory;
mod process;
mod work;
