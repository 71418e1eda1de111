//! Compile CUDA C++ with NVRTC, run it on a GPU or on the emulator, judge it and time it. Draws nothing.

pub mod bench;
pub mod compile;
pub mod counter_check;
pub mod cuda;
pub mod device;
pub mod emulator_device;
pub mod fast_paths;
pub mod formats;
pub mod instruction_check;
pub mod job;
pub mod judge;
pub mod library;
pub mod ncu;
pub mod oracle;
pub mod profile;
pub mod spec;
pub mod verdict;
pub mod worker;

/// The emulator's reports, so that callers need one crate only.
pub use ptx_emulator as emulator;
