//! The interpreter: lanes, warps with reconvergence, blocks, the grid, memory spaces.

pub mod access;
pub mod address;
#[cfg(target_arch = "x86_64")]
pub mod apart;
pub mod arrays;
pub mod bad_access;
pub mod block;
pub mod crew;
pub mod cx;
#[cfg(target_arch = "x86_64")]
pub mod deal;
#[cfg(target_arch = "x86_64")]
pub mod deal_wide;
mod ends;
pub mod fault;
#[cfg(target_arch = "x86_64")]
pub mod flushed;
pub mod frame;
pub mod grid;
pub mod image;
pub mod lanes;
#[cfg(target_arch = "x86_64")]
pub mod lay;
pub mod local;
pub mod native;
#[cfg(target_arch = "x86_64")]
pub mod nearly;
#[cfg(target_arch = "x86_64")]
pub mod nearly_wide;
pub mod op;
pub mod order;
mod origin;
pub mod pattern;
pub mod quick;
pub mod rarely;
#[cfg(target_arch = "x86_64")]
pub mod recalled;
pub mod runs;
pub mod schedule;
pub mod space;
mod strong;
pub mod transfer;
pub mod updates;
pub mod used;
pub mod waiting;
pub mod warp;
pub mod words;
pub mod worker;
