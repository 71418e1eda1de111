//! What a process has of CUDA: the device, its memory, handles, the addresses that are known, the error that ended it all.

pub mod device;
mod failure;
mod handles;
pub mod ranges;

pub use handles::{Registry, lock, was_issued};

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

use ptx_emulator::Memory;

use crate::abi::*;
use failure::Failure;

/// What there is one of.
pub struct Driver {
    pub failure: Failure,
    pub memory: Mutex<Memory>,
    pub memory_limit_bytes: u64,
}

/// The process that `cuInit` was called in; 0 before.
static INITIALISED: AtomicU32 = AtomicU32::new(0);

/// Marks `cuInit` as done.
///
/// # Errors
/// `CUDA_ERROR_NOT_INITIALIZED` in a process that was forked from one that used CUDA, whose threads it has not.
pub fn initialise() -> Answer {
    let process = std::process::id();
    driver();
    match INITIALISED.compare_exchange(0, process, Ordering::AcqRel, Ordering::Acquire) {
        Err(other) if other != process => Err(NOT_INITIALIZED),
        _ => Ok(()),
    }
}

/// The driver, or `NOT_INITIALIZED` before `cuInit`.
pub fn initialised() -> Result<&'static Driver, CUresult> {
    if INITIALISED.load(Ordering::Acquire) == std::process::id() { Ok(driver()) } else { Err(NOT_INITIALIZED) }
}

pub fn driver() -> &'static Driver {
    static DRIVER: OnceLock<Driver> = OnceLock::new();
    DRIVER.get_or_init(|| {
        let memory_limit_bytes = device::memory_bytes();
        Driver { failure: Failure::default(), memory: Mutex::new(Memory::new(memory_limit_bytes)), memory_limit_bytes }
    })
}

/// The driver, when no work has failed: after that, few calls do anything.
pub fn healthy() -> Result<&'static Driver, CUresult> {
    let driver = initialised()?;
    driver.failure.known()?;
    Ok(driver)
}

/// Whether races and the like are looked for.
pub fn checked() -> bool {
    std::env::var("LOCKSTEP_CHECKS").is_ok_and(|value| !matches!(value.as_str(), "" | "0"))
}
