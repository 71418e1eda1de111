//! Parts that panels share: code editor, lesson text, plots.

pub mod formula;
pub mod highlight;
pub mod lesson_text;
pub mod quiz;
