//! Tests of parts that the interface does not show. They are a program of their own, for a crate with tests inside is
//! compiled a second time for them, and this one takes minutes.

mod address;
mod catalogue;
mod crew;
#[cfg(target_arch = "x86_64")]
mod deal;
mod device;
#[cfg(target_arch = "x86_64")]
mod dot;
#[cfg(target_arch = "x86_64")]
mod half_lanes;
mod history;
mod legal;
mod legal_memory;
mod marks;
mod memory;
mod own;
mod printf;
mod race_pages;
mod sync;
mod tensor;
mod tensor_rows;
mod work_time;
mod written;
