//! Runs PTX text on the CPU, counts what the hardware would count, and says what is wrong with a kernel.
//! Knows nothing of the course.

mod report;

pub use report::*;
