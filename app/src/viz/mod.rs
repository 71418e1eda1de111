//! Visualizations: one file each, one trait, one list.
