//! The words of the course and what surrounds them: loader, quiz, spaced review, the learner's files, and the checks
//! that keep the course true. Draws nothing and runs no kernel.

mod address;
pub mod answer;
pub mod check;
mod course;
mod error;
mod exercise;
mod files;
pub mod fill;
mod hints;
mod ladder;
mod limits;
mod load;
pub mod map;
mod names;
pub mod practice;
pub mod quiz;
pub mod review;
mod rivals;
pub mod search;
pub mod store;
mod unit;

pub use address::UnknownUnit;
pub use course::*;
pub use error::{ContentError, ContentErrors};
pub use exercise::*;
pub use files::{Files, is_own_script};
pub use hints::{Hints, TriggeredHint};
pub use ladder::{Ladder, Rival, Rung};
pub use limits::{of as beyond_limits, of_formula};
pub use names::is_slug;
pub use unit::*;
