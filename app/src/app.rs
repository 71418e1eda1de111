//! The window: eframe glue that drains events, then draws.
