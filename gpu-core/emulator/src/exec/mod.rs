//! The interpreter: lanes, warps with reconvergence, blocks, the grid, memory spaces.

pub mod access;
pub mod address;
#[cfg(target_arch = "x86_64")]
pub mod apart;
pub mod bad_access;
pub mod block;
pub mod crew;
pub mod cx;
#[cfg(target_arch = "x86_64")]
pub mod deal;
#[cfg(target_arch = "x86_64")]
pub mod deal_wide;
pub mod fault;
#[cfg(target_arch = "x86_64")]
pub mod flushed;
pub mod grid;
pub mod image;
pub mod lanes;
#[cfg(target_arch = "x86_64")]
pub mod lay;
#[cfg(target_arch = "x86_64")]
pub mod nearly;
#[cfg(target_arch = "x86_64")]
pub mod nearly_wide;
pub mod op;
pub mod order;
pub mod pattern;
pub mod quick;
pub mod rarely;
#[cfg(target_arch = "x86_64")]
mod recalled;
pub mod runs;
pub mod schedule;
pub mod space;
mod strong;
pub mod transfer;
pub mod updates;
pub mod waiting;
pub mod warp;
pub mod words;
pub mod worker;
