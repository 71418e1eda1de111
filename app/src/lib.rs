//! The Lockstep program: window, terminal commands and worker entry. A library so that tests can drive every part.

pub mod app;
pub mod apply;
pub mod cli;
pub mod command;
pub mod effect;
pub mod lab;
pub mod panels;
pub mod paths;
pub mod ready;
pub mod services;
pub mod state;
pub mod theme;
pub mod viz;
pub mod widgets;
