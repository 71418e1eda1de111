//! Completions of work.

use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use super::order::{self, Clock};
use crate::process::lock;

/// Nanoseconds of the host clock since the library was first used.
pub fn host_now_ns() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as f64
}

/// The completion of one piece of work.
#[derive(Default)]
pub struct Ticket {
    /// End on the virtual device clock, in nanoseconds, once done.
    end_ns: Mutex<Option<f64>>,
    changed: Condvar,
    /// What is known of the order of work once it is done; None while nobody asks for that.
    pub after: OnceLock<Arc<Clock>>,
}

impl Ticket {
    pub fn finished_at(end_ns: f64) -> Arc<Ticket> {
        Arc::new(Ticket { end_ns: Mutex::new(Some(end_ns)), ..Ticket::default() })
    }

    pub fn end_ns(&self) -> Option<f64> {
        *lock(&self.end_ns)
    }

    /// Whether it is done, as the program learns it.
    pub fn is_done(&self) -> bool {
        let done = self.end_ns().is_some();
        if done {
            order::host_saw(self.after.get());
        }
        done
    }

    /// Waits as the program does.
    pub fn wait(&self) -> f64 {
        let end_ns = self.done();
        order::host_saw(self.after.get());
        end_ns
    }

    /// Waits as a stream does.
    pub fn done(&self) -> f64 {
        let mut end = lock(&self.end_ns);
        loop {
            if let Some(end) = *end {
                return end;
            }
            end = self.changed.wait(end).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub fn finish(&self, end_ns: f64) {
        *lock(&self.end_ns) = Some(end_ns);
        self.changed.notify_all();
    }
}
