//! The Lockstep program: window, terminal commands and worker entry. A library so that tests can drive every part.

#[deny(clippy::disallowed_methods)]
mod amounts;
#[deny(clippy::disallowed_methods)]
pub mod app;
#[deny(clippy::disallowed_methods)]
pub mod apply;
pub mod builtins;
#[deny(clippy::disallowed_methods)]
pub mod cheat_sheet;
mod clang_format;
pub mod cli;
#[deny(clippy::disallowed_methods)]
pub mod command;
#[cfg(windows)]
pub mod console;
#[deny(clippy::disallowed_methods)]
pub mod dock;
#[deny(clippy::disallowed_methods)]
pub mod effect;
pub mod elsewhere;
pub mod file_dialogs;
#[deny(clippy::disallowed_methods)]
pub mod fonts;
#[deny(clippy::disallowed_methods)]
mod guess;
#[deny(clippy::disallowed_methods)]
pub mod icons;
#[deny(clippy::disallowed_methods)]
pub mod instruction_words;
#[deny(clippy::disallowed_methods)]
pub mod kept;
#[deny(clippy::disallowed_methods)]
pub mod lab;
#[deny(clippy::disallowed_methods)]
pub mod listing;
#[deny(clippy::disallowed_methods)]
pub mod loadable;
pub mod measure;
#[deny(clippy::disallowed_methods)]
pub mod mystery;
#[deny(clippy::disallowed_methods)]
pub mod pane;
#[deny(clippy::disallowed_methods)]
pub mod panels;
pub mod paths;
pub mod profiled;
mod python;
#[deny(clippy::disallowed_methods)]
pub mod quick_fix;
pub mod ready;
#[deny(clippy::disallowed_methods)]
pub mod sandbox;
pub mod scripts;
pub mod services;
#[deny(clippy::disallowed_methods)]
pub mod state;
pub mod system_fonts;
pub mod theme;
#[deny(clippy::disallowed_methods)]
pub mod tour;
#[deny(clippy::disallowed_methods)]
pub mod versions;
#[deny(clippy::disallowed_methods)]
pub mod viz;
#[deny(clippy::disallowed_methods)]
pub mod widgets;
