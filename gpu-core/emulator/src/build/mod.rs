//! Tree to image: names become addresses, registers become rows, instructions go through the table.

pub mod emit;
pub mod flow;
pub mod module;
