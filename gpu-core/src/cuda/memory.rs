//! Device memory with guard zones on both sides.

use super::driver::{failed, is_abandoned};
use crate::device::{Corruption, CorruptionKind, RunError};
use cudarc::driver::sys::{self, CUdeviceptr};
use cudarc::driver::{CudaContext, result};
use std::sync::Arc;

/// Bytes before and after each buffer: an overrun of a few rows or of one block's threads lands here.
const GUARD_BYTES: usize = 16 << 10;
/// What guard zones are filled with.
const GUARD_BYTE: u8 = 0xC3;

/// One allocation; freed when dropped.
pub struct DeviceMemory {
    base: CUdeviceptr,
    bytes: usize,
    // Keeps the context alive as long as its memory.
    context: Arc<CudaContext>,
}

impl DeviceMemory {
    pub fn new(context: &Arc<CudaContext>, bytes: usize, what: &str) -> Result<Self, RunError> {
        context.bind_to_thread().map_err(|error| failed("binding the context", error))?;
        // SAFETY: the context is bound; the pointer is freed once, in `drop`.
        let base = unsafe { result::malloc_sync(bytes.max(1)) }
            .map_err(|error| failed(&format!("allocating {bytes} bytes for {what}"), error))?;
        Ok(Self { base, bytes, context: context.clone() })
    }

    pub fn address(&self) -> CUdeviceptr {
        self.base
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Copies host bytes to `offset`.
    pub fn write(&self, offset: usize, bytes: &[u8]) -> Result<(), RunError> {
        assert!(offset + bytes.len() <= self.bytes, "a copy inside the allocation");
        // SAFETY: the range lies inside the allocation, as just asserted; the copy is synchronous.
        unsafe { result::memcpy_htod_sync(self.base + offset as u64, bytes) }
            .map_err(|error| failed("copying inputs to the GPU", error))
    }

    /// Copies device bytes from `offset`.
    pub fn read(&self, offset: usize, out: &mut [u8]) -> Result<(), RunError> {
        assert!(offset + out.len() <= self.bytes, "a copy inside the allocation");
        // SAFETY: as for `write`.
        unsafe { result::memcpy_dtoh_sync(out, self.base + offset as u64) }
            .map_err(|error| failed("copying outputs from the GPU", error))
    }

    /// Fills a range with one byte.
    pub fn fill(&self, offset: usize, bytes: usize, value: u8) -> Result<(), RunError> {
        assert!(offset + bytes <= self.bytes, "a fill inside the allocation");
        // SAFETY: the range lies inside the allocation, as just asserted.
        unsafe { result::memset_d8_sync(self.base + offset as u64, value, bytes) }
            .map_err(|error| failed("filling memory", error))
    }

    /// Repeats the first `period` bytes over the whole range that starts at `offset`, by copies that double.
    pub fn repeat(&self, offset: usize, period: usize, bytes: usize) -> Result<(), RunError> {
        assert!(offset + bytes <= self.bytes && period > 0, "a fill inside the allocation");
        let mut done = period.min(bytes);
        while done < bytes {
            let next = done.min(bytes - done);
            let base = self.base + offset as u64;
            // SAFETY: source and destination lie inside the allocation and do not overlap: the source ends where
            // the destination begins.
            unsafe { sys::cuMemcpyDtoD_v2(base + done as u64, base, next) }
                .result()
                .map_err(|error| failed("filling memory", error))?;
            done += next;
        }
        Ok(())
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        if !is_abandoned() && self.context.bind_to_thread().is_ok() {
            // SAFETY: allocated in `new`, freed nowhere else.
            let _ = unsafe { result::free_sync(self.base) };
        }
    }
}

/// A buffer between two guard zones.
pub struct GuardedBuffer {
    memory: DeviceMemory,
    bytes: usize,
    name: String,
}

impl GuardedBuffer {
    pub fn new(context: &Arc<CudaContext>, name: &str, bytes: usize) -> Result<Self, RunError> {
        let memory = DeviceMemory::new(context, bytes + 2 * GUARD_BYTES, &format!("buffer `{name}`"))?;
        memory.fill(0, GUARD_BYTES, GUARD_BYTE)?;
        memory.fill(GUARD_BYTES + bytes, GUARD_BYTES, GUARD_BYTE)?;
        Ok(Self { memory, bytes, name: name.to_owned() })
    }

    /// Where the buffer itself begins; 256-byte aligned, as `cudaMalloc` aligns.
    pub fn address(&self) -> CUdeviceptr {
        self.memory.address() + GUARD_BYTES as u64
    }

    pub fn write(&self, bytes: &[u8]) -> Result<(), RunError> {
        self.memory.write(GUARD_BYTES, bytes)
    }

    pub fn read(&self, out: &mut [u8]) -> Result<(), RunError> {
        self.read_at(0, out)
    }

    /// Reads from a byte offset of the buffer on.
    pub fn read_at(&self, offset: usize, out: &mut [u8]) -> Result<(), RunError> {
        assert!(offset + out.len() <= self.bytes, "a read inside the buffer");
        self.memory.read(GUARD_BYTES + offset, out)
    }

    /// Writes `pattern` and repeats it to the end.
    pub fn write_repeated(&self, pattern: &[u8]) -> Result<(), RunError> {
        let first = pattern.len().min(self.bytes);
        self.memory.write(GUARD_BYTES, &pattern[..first])?;
        self.memory.repeat(GUARD_BYTES, first.max(1), self.bytes)
    }

    /// Changes in the guard zones, if any.
    pub fn check_guards(&self) -> Result<Option<Corruption>, RunError> {
        let mut zone = vec![0; GUARD_BYTES];
        let mut found: Option<Corruption> = None;
        for (at, origin) in [(0, -(GUARD_BYTES as i64)), (GUARD_BYTES + self.bytes, self.bytes as i64)] {
            self.memory.read(at, &mut zone)?;
            let (first, changed) = scan(&zone);
            if let Some(first) = first {
                let first_byte = origin + first as i64;
                match &mut found {
                    Some(corruption) => corruption.changed_bytes += changed,
                    None => {
                        found = Some(Corruption {
                            buffer: self.name.clone(),
                            kind: CorruptionKind::Guard,
                            first_byte,
                            changed_bytes: changed,
                        });
                    }
                }
            }
        }
        Ok(found)
    }
}

/// First changed byte of a guard zone and how many changed.
fn scan(zone: &[u8]) -> (Option<usize>, u64) {
    let first = zone.iter().position(|byte| *byte != GUARD_BYTE);
    (first, zone.iter().filter(|byte| **byte != GUARD_BYTE).count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guard_zone_tells_its_first_change() {
        let mut zone = vec![GUARD_BYTE; 100];
        assert_eq!(scan(&zone), (None, 0));
        zone[7] = 0;
        zone[9] = 1;
        assert_eq!(scan(&zone), (Some(7), 2));
    }
}
