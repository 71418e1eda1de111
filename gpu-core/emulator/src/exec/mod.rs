//! The interpreter: lanes, warps with reconvergence, blocks, the grid, memory spaces.

pub mod cx;
pub mod fault;
pub mod grid;
pub mod image;
pub mod lanes;
pub mod memory;
pub mod op;
pub mod opcode;
pub mod options;
pub mod order;
pub mod origin;
pub mod rarely;
pub mod sched;
pub mod template;
