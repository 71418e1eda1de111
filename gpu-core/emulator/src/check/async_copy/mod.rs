//! Copies that go on by themselves, and what waits for them.

pub mod arrivals;
pub mod copies;
pub mod copies_out;
pub mod copy_reports;
pub mod early;
pub mod shown;
pub mod wgmma;
