//! Parts that panels share: code editor, lesson text, plots.

pub mod highlight;
