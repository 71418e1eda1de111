//! Parts that panels share: code editor, lesson text, plots.

pub mod code_editor;
pub mod figure;
pub mod focus;
pub mod formula;
pub mod highlight;
pub mod lesson_text;
pub mod plot_kit;
pub mod quiz;
pub mod rate_bars;
pub mod roofline;
pub mod scaling_plot;
pub mod sentence;
pub mod sides;
pub mod sideways;
pub mod svg;
pub mod tick;
pub mod timing_plot;
