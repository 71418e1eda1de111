//! Matrix products on the CPU, and a clock for them. See `README.md`.

mod ceiling;
mod library;
mod loops;
mod measure;
mod variants;

pub use ceiling::ceiling_gflops;
pub use measure::{Measured, Rule, measure, physical_description};
pub use variants::{Variant, ladder, orders};
