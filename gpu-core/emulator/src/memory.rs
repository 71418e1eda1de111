//! Global memory of one emulated device.

use thiserror::Error;

use crate::module::Module;

/// What is wrong with a request to device memory.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MemoryError {
    #[error("out of device memory: {bytes} bytes asked for, {available} of {limit} left")]
    OutOfMemory { bytes: u64, available: u64, limit: u64 },
    #[error("no allocation holds bytes {address:#x} to {end:#x}; copy inside one allocation")]
    OutOfBounds { address: u64, end: u64 },
    #[error("{address:#x} is not the start of a live allocation, so it cannot be freed")]
    NotAllocated { address: u64 },
}

/// Global memory of one emulated device: allocations with guard gaps between them.
#[derive(Debug)]
pub struct Memory {
    limit: u64,
}

impl Memory {
    /// An empty memory that refuses allocations beyond `limit_bytes` in total.
    pub fn new(limit_bytes: u64) -> Memory {
        Memory { limit: limit_bytes }
    }

    /// Reserves `bytes`, 256-byte aligned, poisoned and marked as never written. `name` is how faults call it.
    ///
    /// # Errors
    /// When the limit would be passed.
    pub fn alloc(&mut self, name: &str, bytes: u64) -> Result<u64, MemoryError> {
        let _ = name;
        Err(MemoryError::OutOfMemory { bytes, available: self.limit, limit: self.limit })
    }

    /// Copies host data in and marks it as written.
    ///
    /// # Errors
    /// When the range leaves its allocation.
    pub fn write(&mut self, address: u64, data: &[u8]) -> Result<(), MemoryError> {
        Err(MemoryError::OutOfBounds { address, end: address.wrapping_add(data.len() as u64) })
    }

    /// Copies device data out.
    ///
    /// # Errors
    /// When the range leaves its allocation.
    pub fn read(&self, address: u64, out: &mut [u8]) -> Result<(), MemoryError> {
        Err(MemoryError::OutOfBounds { address, end: address.wrapping_add(out.len() as u64) })
    }

    /// First byte of the range that nobody ever wrote.
    pub fn initialised(&self, address: u64, bytes: u64) -> Option<u64> {
        let _ = bytes;
        Some(address)
    }

    /// Gives an allocation back; later accesses to it are faults.
    ///
    /// # Errors
    /// When `address` is not the start of a live allocation.
    pub fn free(&mut self, address: u64) -> Result<(), MemoryError> {
        Err(MemoryError::NotAllocated { address })
    }

    /// Address and size of a `__device__` or `__constant__` variable.
    pub fn symbol(&mut self, module: &Module, name: &str) -> Option<(u64, u64)> {
        let _ = (module, name);
        None
    }
}
