//! Where the contents of device memory are.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::memory::POISON;

/// The bytes of an allocation, aligned for every access of up to 16 bytes of the host's, and such that large ones lie in
/// pages as large as the system has them: kernels that go through several arrays by steps touch a page of each at every
/// step.
#[derive(Debug)]
pub(crate) struct Backing {
    memory: NonNull<u8>,
    layout: Layout,
    /// Bytes before the first one.
    skip: usize,
}

/// Where large allocations begin in their first page, one after the other: places that are the same number of bytes into
/// two arrays would share a place of the caches otherwise, and kernels go through arrays side by side.
const SKIPS: usize = 8;
const SKIP: usize = 4096 + 576;

/// Size of a large page where there are such.
const LARGE_PAGE: usize = 2 << 20;

impl Backing {
    pub(crate) fn new(bytes: usize) -> Backing {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let (align, skip) = match bytes {
            LARGE_PAGE.. => (LARGE_PAGE, COUNT.fetch_add(1, Ordering::Relaxed) % SKIPS * SKIP),
            _ => (16, 0),
        };
        let size = (bytes + skip).next_multiple_of(16).max(16);
        let layout = Layout::from_size_align(size, align).expect("an allocation fits the address space");
        // SAFETY: the size is not 0.
        let Some(memory) = NonNull::new(unsafe { alloc(layout) }) else { handle_alloc_error(layout) };
        #[cfg(target_os = "linux")]
        if align == LARGE_PAGE {
            // A wish that need not be granted.
            // SAFETY: of the own memory, whose contents stay as they are.
            unsafe { libc::madvise(memory.as_ptr().cast(), size / LARGE_PAGE * LARGE_PAGE, libc::MADV_HUGEPAGE) };
        }
        // SAFETY: so many bytes are there.
        unsafe { memory.write_bytes(POISON, size) };
        Backing { memory, layout, skip }
    }

    pub(crate) fn pointer(&self) -> *mut u8 {
        // SAFETY: so many bytes lie before the first one, and no fewer behind it than were asked for.
        unsafe { self.memory.as_ptr().add(self.skip) }
    }
}

impl Drop for Backing {
    fn drop(&mut self) {
        // SAFETY: made in `new` with this layout.
        unsafe { dealloc(self.memory.as_ptr(), self.layout) };
    }
}
