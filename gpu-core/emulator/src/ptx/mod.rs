//! The front end: PTX text to a tree. It names no instruction; what an opcode means is the table's business
//! (`crate::isa`). Both dialects of NVRTC are read: typed registers up to sm_90, untyped from sm_100.

mod declarations;
mod expression;
pub mod lexer;
pub mod parser;
pub mod pieces;
mod statements;
pub mod tree;
pub mod ty;
