//! Objects of the program by handle.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::abi::*;

/// Locks, taking the value even if another thread panicked: every holder leaves it consistent.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Objects by handle.
pub struct Registry<T> {
    objects: Mutex<HashMap<Handle, Arc<T>>>,
    /// What CUDA says of a handle that is none.
    unknown: CUresult,
}

impl<T> Registry<T> {
    pub fn new(unknown: CUresult) -> Registry<T> {
        Registry { objects: Mutex::default(), unknown }
    }

    pub fn add(&self, object: Arc<T>) -> Handle {
        let handle = next_handle();
        self.put(handle, object);
        handle
    }

    /// Gives a handle to another object.
    pub fn put(&self, handle: Handle, object: Arc<T>) {
        lock(&self.objects).insert(handle, object);
    }

    /// The object, or what CUDA says when there is none.
    pub fn get(&self, handle: Handle) -> Result<Arc<T>, CUresult> {
        lock(&self.objects).get(&handle).cloned().ok_or(self.unknown)
    }

    pub fn remove(&self, handle: Handle) -> Result<Arc<T>, CUresult> {
        lock(&self.objects).remove(&handle).ok_or(self.unknown)
    }

    pub fn all(&self) -> Vec<(Handle, Arc<T>)> {
        lock(&self.objects).iter().map(|(handle, object)| (*handle, object.clone())).collect()
    }
}

static NEXT_HANDLE: AtomicUsize = AtomicUsize::new(1);

/// Far from small integers, which CUDA uses for its special streams.
const FIRST_HANDLE: Handle = 0x1_0000;

fn next_handle() -> Handle {
    FIRST_HANDLE + NEXT_HANDLE.fetch_add(1, Ordering::Relaxed) * 16
}

/// Whether a handle was ever given out.
pub fn was_issued(handle: Handle) -> bool {
    handle > FIRST_HANDLE
        && handle.is_multiple_of(16)
        && (handle - FIRST_HANDLE) / 16 < NEXT_HANDLE.load(Ordering::Relaxed)
}
