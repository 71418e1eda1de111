//! The Lockstep program: window, terminal commands and worker entry. A library so that tests can drive every part.

pub mod app;
pub mod cli;
pub mod panels;
pub mod paths;
pub mod ready;
pub mod theme;
pub mod viz;
pub mod widgets;
