//! Where the contents of device memory are.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;

use crate::memory::POISON;

/// The bytes of an allocation, aligned for every access of up to 16 bytes of the host's, and such that large ones lie in
/// pages as large as the system has them: kernels that go through several arrays by steps touch a page of each at every
/// step.
#[derive(Debug)]
pub(crate) struct Backing {
    first: NonNull<u8>,
    layout: Layout,
}

/// Size of a large page where there are such.
const LARGE_PAGE: usize = 2 << 20;

impl Backing {
    pub(crate) fn new(bytes: usize) -> Backing {
        let align = if bytes >= LARGE_PAGE { LARGE_PAGE } else { 16 };
        let size = bytes.next_multiple_of(16).max(16);
        let layout = Layout::from_size_align(size, align).expect("an allocation fits the address space");
        // SAFETY: the size is not 0.
        let Some(first) = NonNull::new(unsafe { alloc(layout) }) else { handle_alloc_error(layout) };
        #[cfg(target_os = "linux")]
        if align == LARGE_PAGE {
            // A wish that need not be granted.
            // SAFETY: of the own memory, whose contents stay as they are.
            unsafe { libc::madvise(first.as_ptr().cast(), size / LARGE_PAGE * LARGE_PAGE, libc::MADV_HUGEPAGE) };
        }
        // SAFETY: so many bytes are there.
        unsafe { first.write_bytes(POISON, size) };
        Backing { first, layout }
    }

    pub(crate) fn pointer(&self) -> *mut u8 {
        self.first.as_ptr()
    }
}

impl Drop for Backing {
    fn drop(&mut self) {
        // SAFETY: made in `new` with this layout.
        unsafe { dealloc(self.first.as_ptr(), self.layout) };
    }
}
