//! What is wrong with a kernel beyond bounds: races, uninitialised values, copies not waited for.

pub mod audit;
pub mod proxy;
pub mod race;
pub mod race_global;
pub mod sync;
pub mod taint;
