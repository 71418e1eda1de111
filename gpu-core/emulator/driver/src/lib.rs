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
mod absent;
mod arrays;
mod batch;
mod between;
mod boxes;
mod capture;
mod context;
mod copy;
mod cubin;
mod device;
mod event;
mod export;
mod fatbin;
mod graph;
mod image;
mod jit;
mod kernels;
mod launch;
mod link;
mod linker;
mod managed;
mod memops;
mod memory;
mod module;
mod occupancy;
mod old_launch;
mod pointers;
mod pool;
mod pool_async;
mod since;
mod state;
mod stream;
mod tensor_map;
mod tensor_map_im2col;
mod textures;
mod vmm;
mod vmm_pages;
