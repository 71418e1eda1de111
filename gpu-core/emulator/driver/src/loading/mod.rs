//! From what a program hands over as code to modules and their kernels.

mod cubin;
mod fatbin;
mod image;
mod jit;
pub mod kernels;
mod link;
pub mod linker;
pub mod module;
