//! Lesson text.
pub mod document;
