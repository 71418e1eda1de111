//! Tree to image: names become addresses, registers become rows, instructions go through the table.

mod constants;
mod data;
pub mod emit;
mod fences;
mod fetched;
pub mod flow;
pub(crate) mod hoisted;
mod inst;
pub mod module;
mod names;
pub mod of_launch;
mod reach;
pub(crate) mod variables;
pub mod written;
