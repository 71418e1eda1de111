//! What is wrong with a kernel beyond bounds: races, uninitialised values, copies not waited for.

pub mod async_copy;
pub mod audit;
pub mod cluster;
pub mod deadlock;
mod products;
pub mod race;
pub mod registers;
pub mod repeats;
pub mod undef;
