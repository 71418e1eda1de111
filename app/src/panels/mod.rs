//! One file per region of the screen.
