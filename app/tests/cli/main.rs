//! The terminal's commands, and what needs no window: one program, because each one that links all of Lockstep takes as
//! long to link as ten of these files take to compile.

mod blackwell_ladder;
mod blocking;
mod builtins;
mod circles;
#[path = "../cli_support/mod.rs"]
mod cli_support;
mod decode;
mod dependencies;
mod dev;
mod exec;
mod export_pytorch;
mod json;
mod kernels;
#[path = "../lab_support/mod.rs"]
mod lab_support;
mod ladders;
mod nonfinite;
mod others;
mod packaging;
mod run;
mod run_words;
mod usage;
