//! Where an uninitialised value came from, as a fault tells it.

use crate::report::{AllocationRef, Space, ThreadId};

/// Where an uninitialised value came from.
#[derive(Clone, Debug)]
pub struct Origin {
    pub pc: u32,
    pub lane: usize,
    pub space: Option<Space>,
    pub address: u64,
    pub bytes: u32,
    pub allocation: Option<AllocationRef>,
    /// Who read it, where that was another thread than the one of `lane`.
    pub thread: Option<ThreadId>,
    /// What is said of a shuffle that it came from.
    pub shuffled: Option<String>,
    pub reported: bool,
}
