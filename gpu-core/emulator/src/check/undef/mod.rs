//! Uninitialised values: where they are in registers, what becomes of them, and where their use is told.

pub mod ahead;
pub mod followed;
pub mod gates;
pub mod marks;
pub mod origin;
pub mod shuffled;
pub mod taint;
pub mod undefined;
pub mod undefined_bits;
