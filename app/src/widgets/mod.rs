//! Parts that panels share: code editor, lesson text, plots.
