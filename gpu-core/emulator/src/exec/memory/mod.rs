//! Where accesses go and how they are moved: the plain way first (`access`, `transfer`), then the fast paths.

pub mod access;
pub mod address;
pub mod arrays;
pub mod bad_access;
#[cfg(target_arch = "x86_64")]
pub mod deal;
#[cfg(target_arch = "x86_64")]
pub mod deal_wide;
pub mod flags;
#[cfg(target_arch = "x86_64")]
pub mod lay;
mod overflow;
pub mod pattern;
pub mod quick;
#[cfg(target_arch = "x86_64")]
pub mod recalled;
pub mod runs;
pub mod strong;
pub mod transfer;
pub mod used;
pub mod words;
