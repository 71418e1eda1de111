//! Who runs when: host threads, blocks, warps, and the groups of their lanes.

pub mod block;
pub mod crew;
pub mod ends;
pub mod frame;
pub mod schedule;
pub mod waiting;
pub mod warp;
pub mod worker;
