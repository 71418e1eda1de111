//! Compile CUDA C++ with NVRTC, run it on a GPU or on the emulator, judge it and time it. Draws nothing.

pub mod arch;
pub mod bench;
mod bench_report;
pub mod choice;
mod clock;
pub mod compile;
pub mod counter_check;
pub mod cuda;
pub mod device;
pub mod devices;
pub mod emulator_device;
pub mod entries;
pub mod fast_paths;
pub mod formats;
pub mod instruction_check;
pub mod job;
pub mod judge;
pub mod library;
mod measured;
pub mod ncu;
pub mod oracle;
pub mod profile;
pub mod spec;
pub mod verdict;
mod words;
pub mod worker;

/// The emulator's reports, so that callers need one crate only.
pub use ptx_emulator as emulator;
