//! Uninitialised values: where they are in registers, what becomes of them, and where their use is told.

pub mod gates;
pub mod look;
pub mod marks;
pub mod origin;
pub mod shuffled;
pub mod taint;
pub mod undefined;
pub mod undefined_bits;
