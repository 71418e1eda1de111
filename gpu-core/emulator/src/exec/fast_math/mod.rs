//! Approximations and flushed arithmetic in vectors, held to the exact series bit by bit.

#[cfg(target_arch = "x86_64")]
pub mod flushed;
#[cfg(target_arch = "x86_64")]
pub mod nearly;
#[cfg(target_arch = "x86_64")]
pub mod nearly_wide;
pub mod rarely;
