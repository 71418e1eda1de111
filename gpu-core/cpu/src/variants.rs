//! What can be measured, by name.

use crate::library;
use crate::loops::{self, Product};

/// One way to multiply matrices.
#[derive(Clone, Copy)]
pub struct Variant {
    /// In plots, for example `CPU, loops ijk`.
    pub name: &'static str,
    /// Runs on more than one core.
    pub all_cores: bool,
    pub(crate) product: Product,
}

const fn one_core(name: &'static str, product: Product) -> Variant {
    Variant { name, all_cores: false, product }
}

/// The rungs of day 1, slowest idea first.
pub fn ladder() -> [Variant; 4] {
    [
        one_core("CPU, loops i-j-k", loops::ijk),
        one_core("CPU, loops i-k-j", loops::ikj),
        one_core("CPU, blocks of 64", loops::blocked),
        Variant { name: "CPU, library, all cores", all_cores: true, product: library::product },
    ]
}

/// The six orders of the three loops, by their letters from the outermost in.
pub fn orders() -> [Variant; 6] {
    [
        one_core("ijk", loops::ijk),
        one_core("ikj", loops::ikj),
        one_core("kij", loops::kij),
        one_core("jik", loops::jik),
        one_core("jki", loops::jki),
        one_core("kji", loops::kji),
    ]
}
