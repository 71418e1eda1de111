//! What a machine can do at most, and how near a kernel came.

pub mod occupancy;
mod roofline;

pub use crate::words::grouped;
pub use roofline::{Floor, Peaks, bound_by, fp32_lanes, time_at_ceiling_ns};
