//! The words of the course and what surrounds them: loader, quiz, spaced review, the learner's files, and the checks
//! that keep the course true. Draws nothing and runs no kernel.

mod address;
pub mod answer;
pub mod check;
mod common_hints;
mod course;
mod declared;
mod error;
mod exercise;
mod files;
pub mod fill;
mod ladder;
mod lesson;
mod limits;
mod load;
pub mod map;
pub mod practice;
pub mod quiz;
pub mod review;
pub mod search;
mod shelves;
pub mod store;
mod unit;

pub use address::{UnknownUnit, is_slug};
pub use course::*;
pub use error::{ContentError, ContentErrors};
pub use exercise::MAIN;
pub use files::{Files, is_own_script};
pub use ladder::{Ladder, LadderRung, Rival};
pub use unit::*;
