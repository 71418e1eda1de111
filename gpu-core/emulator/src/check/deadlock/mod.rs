//! Nothing can go on: proved, and told.

pub mod frozen;
pub mod patience;
pub mod stuck;
