//! Conditions of a graph: values by which its conditional nodes decide, and which kernels set.

use std::collections::HashMap;
use std::sync::Mutex;

/// What `cudaGraphSetConditional` may set in a launch: the conditions of the graph that the launch is a part of.
#[derive(Debug, Default)]
pub struct Conditions(Mutex<HashMap<u64, u32>>);

impl Conditions {
    fn values(&self) -> std::sync::MutexGuard<'_, HashMap<u64, u32>> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The value of a condition; None for a handle of none.
    pub fn get(&self, handle: u64) -> Option<u32> {
        self.values().get(&handle).copied()
    }

    /// Adds a condition, or gives it another value.
    pub fn put(&self, handle: u64, value: u32) {
        self.values().insert(handle, value);
    }

    /// As a kernel sets it; false for a handle of none.
    pub(crate) fn set(&self, handle: u64, value: u32) -> bool {
        self.values().get_mut(&handle).map(|old| *old = value).is_some()
    }
}
