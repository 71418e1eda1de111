//! Host memory that copies go from and to: ordinary, or pinned.

use super::driver::{failed, is_abandoned};
use super::{DeviceMemory, Stream};
use crate::device::RunError;
use cudarc::driver::{CudaContext, result};
use std::ops::Range;
use std::sync::Arc;

/// A piece of the host's memory.
pub(crate) struct HostMemory {
    kind: Kind,
}

enum Kind {
    Ordinary(Vec<u8>),
    Pinned {
        address: *mut u8,
        bytes: usize,
        // Keeps the context alive as long as its memory.
        context: Arc<CudaContext>,
    },
}

impl HostMemory {
    /// Holds a copy of `from`, or zeros.
    pub fn new(context: &Arc<CudaContext>, bytes: usize, pinned: bool, from: Option<&[u8]>) -> Result<Self, RunError> {
        let mut memory = if pinned {
            context.bind_to_thread().map_err(|error| failed("binding the context", error))?;
            // SAFETY: the context is bound; the pointer is freed once, in `drop`.
            let address = unsafe { result::malloc_host(bytes.max(1), 0) }
                .map_err(|error| failed(&format!("pinning {bytes} bytes of host memory"), error))?
                .cast::<u8>();
            // SAFETY: so many bytes were just allocated; now they are initialised as well.
            unsafe { address.write_bytes(0, bytes) };
            Self { kind: Kind::Pinned { address, bytes, context: context.clone() } }
        } else {
            Self { kind: Kind::Ordinary(vec![0; bytes]) }
        };
        if let Some(from) = from {
            memory.bytes_mut().copy_from_slice(from);
        }
        Ok(memory)
    }

    pub fn bytes(&self) -> &[u8] {
        match &self.kind {
            Kind::Ordinary(bytes) => bytes,
            // SAFETY: allocated and initialised in `new`, freed in `drop`; nobody else has the address.
            Kind::Pinned { address, bytes, .. } => unsafe { std::slice::from_raw_parts(*address, *bytes) },
        }
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.kind {
            Kind::Ordinary(bytes) => bytes,
            // SAFETY: as in `bytes`, and `self` is borrowed exclusively.
            Kind::Pinned { address, bytes, .. } => unsafe { std::slice::from_raw_parts_mut(*address, *bytes) },
        }
    }

    /// Queues a copy to the device. The caller waits for the stream before it touches or drops either.
    pub fn queue_to(&self, stream: &Stream, to: &DeviceMemory) -> Result<(), RunError> {
        assert!(self.bytes().len() <= to.bytes(), "a copy inside the allocation");
        // SAFETY: both ranges are allocations of at least this size, and live until the stream was waited for.
        unsafe { result::memcpy_htod_async(to.address(), self.bytes(), stream.raw()) }
            .map_err(|error| failed("copying to the GPU", error))
    }

    /// Queues a copy of some bytes to the same place in an allocation on the device; see [`queue_to`](Self::queue_to).
    pub fn queue_range_to(&self, stream: &Stream, to: &DeviceMemory, range: Range<usize>) -> Result<(), RunError> {
        assert!(range.end <= to.bytes(), "a copy inside the allocation");
        let address = to.address() + range.start as u64;
        // SAFETY: as in `queue_to`; slicing checks the host's side of the range.
        unsafe { result::memcpy_htod_async(address, &self.bytes()[range], stream.raw()) }
            .map_err(|error| failed("copying to the GPU", error))
    }

    /// Queues a copy of some bytes from the same place on the device; see [`queue_to`](Self::queue_to).
    pub fn queue_range_from(
        &mut self,
        stream: &Stream,
        from: &DeviceMemory,
        range: Range<usize>,
    ) -> Result<(), RunError> {
        assert!(range.end <= from.bytes(), "a copy inside the allocation");
        let address = from.address() + range.start as u64;
        // SAFETY: as in `queue_range_to`.
        unsafe { result::memcpy_dtoh_async(&mut self.bytes_mut()[range], address, stream.raw()) }
            .map_err(|error| failed("copying from the GPU", error))
    }

    /// Queues a copy from the device; see [`queue_to`](Self::queue_to).
    pub fn queue_from(&mut self, stream: &Stream, from: &DeviceMemory) -> Result<(), RunError> {
        assert!(self.bytes().len() <= from.bytes(), "a copy inside the allocation");
        // SAFETY: as in `queue_to`.
        unsafe { result::memcpy_dtoh_async(self.bytes_mut(), from.address(), stream.raw()) }
            .map_err(|error| failed("copying from the GPU", error))
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        let Kind::Pinned { address, context, .. } = &self.kind else { return };
        if !is_abandoned() && context.bind_to_thread().is_ok() {
            // SAFETY: allocated in `new`, freed nowhere else.
            let _ = unsafe { result::free_host((*address).cast()) };
        }
    }
}
