//! The error that ends a process's use of the device.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::lock;
use crate::abi::*;

/// The first error of asynchronous work. It belongs to the process: on hardware no call works after it, in no context,
/// old or new (seen on an H200).
#[derive(Default)]
pub struct Failure(Mutex<Option<(CUresult, Instant)>>);

/// A GPU takes longer than the host to get from a launch to the next call, so that call never has the launch's error;
/// the emulator, which may be done in microseconds, waits this long before it tells calls that do not wait.
const SURFACES_AFTER: Duration = Duration::from_millis(20);

impl Failure {
    pub fn set(&self, code: CUresult) {
        lock(&self.0).get_or_insert_with(|| (code, Instant::now() + SURFACES_AFTER));
    }

    /// The error as of now; from here on every call has it.
    pub fn seen(&self) -> Answer {
        match lock(&self.0).as_mut() {
            Some((code, surfaces)) => {
                *surfaces = Instant::now();
                Err(*code)
            }
            None => Ok(()),
        }
    }

    pub fn known(&self) -> Answer {
        match *lock(&self.0) {
            Some((code, surfaces)) if Instant::now() >= surfaces => Err(code),
            _ => Ok(()),
        }
    }

    /// For work that is about to run: nothing runs after a failure.
    pub fn happened(&self) -> bool {
        lock(&self.0).is_some()
    }
}
