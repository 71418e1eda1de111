//! Tree to image: names become addresses, registers become rows, instructions go through the table.

mod constants;
pub mod emit;
mod inst;
pub mod module;
mod names;
pub(crate) mod variables;
