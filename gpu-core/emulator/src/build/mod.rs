//! Tree to image: names become addresses, registers become rows, instructions go through the table.

mod fences;
mod inst;
pub mod module;
mod names;
mod reach;
pub(crate) mod variables;
