//! The interpreter: lanes, warps with reconvergence, blocks, the grid, memory spaces.

pub mod access;
pub mod address;
pub mod bad_access;
pub mod block;
pub mod crew;
pub mod cx;
#[cfg(target_arch = "x86_64")]
pub mod deal;
pub mod fault;
pub mod grid;
pub mod image;
pub mod lanes;
pub mod op;
pub mod order;
pub mod pattern;
pub mod quick;
pub mod rarely;
pub mod schedule;
pub mod space;
pub mod transfer;
pub mod updates;
pub mod waiting;
pub mod warp;
pub mod worker;
