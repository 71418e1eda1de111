//! What a row of the instruction table decodes with: names and registers of a function, operands, constants.

mod constants;
pub mod emit;
mod inst;
pub mod special;
