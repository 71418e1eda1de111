//! Memory of the race check of global memory: a shadow per allocation, kept from launch to launch.
//!
//! All bits zero mean "nothing known", so a shadow is zeroed memory that the system provides page by page when it is
//! touched, and what an earlier launch left is void by that launch's number.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::check::race::pages::{Entry, PAGE, SECTORS};

/// Bytes of a page with what belongs to it.
pub const FILLED: u64 = (SECTORS * size_of::<Entry>() + size_of::<Head>()) as u64;

/// Cells of the sectors that need them.
#[derive(Default)]
pub struct Cells {
    pub words: Vec<[u64; 8]>,
    pub bytes: Vec<[u64; 32]>,
    pub free_words: Vec<u32>,
    pub free_bytes: Vec<u32>,
    generation: u32,
}

/// What belongs to a page as a whole; on a cache line of its own, as neighbouring pages may be those of different
/// workers.
#[repr(align(64))]
pub struct Head {
    lock: AtomicBool,
    /// Counted against the limit.
    pub filled: AtomicBool,
    cells: UnsafeCell<Option<Box<Cells>>>,
}

// SAFETY: `cells` is used only by who holds the lock, or by the only worker; the rest is atomic.
unsafe impl Sync for Head {}

/// A fixed number of values that begin as all zeros.
struct Zeroed<T> {
    memory: NonNull<u8>,
    layout: Layout,
    first: NonNull<T>,
    count: usize,
}

impl<T> Zeroed<T> {
    /// # Safety
    /// All bits zero must be a value of `T`.
    unsafe fn new(count: usize) -> Zeroed<T> {
        const { assert!(align_of::<T>() <= 64) };
        // Memory of more than the usual alignment would be zeroed by hand, and touched by that.
        let bytes = count * size_of::<T>() + 64;
        let layout = Layout::from_size_align(bytes, 16).expect("an allocation fits the address space twice");
        // SAFETY: the size is not 0.
        let Some(memory) = NonNull::new(unsafe { alloc_zeroed(layout) }) else { handle_alloc_error(layout) };
        let skip = memory.align_offset(64);
        // SAFETY: 64 bytes were added for this.
        let first = unsafe { memory.add(skip) }.cast();
        Zeroed { memory, layout, first, count }
    }

    fn all(&self) -> &[T] {
        // SAFETY: `count` values lie there, zeros at least.
        unsafe { std::slice::from_raw_parts(self.first.as_ptr(), self.count) }
    }
}

impl<T> Drop for Zeroed<T> {
    fn drop(&mut self) {
        // SAFETY: made in `new` with this layout; the values are dropped once.
        unsafe {
            if std::mem::needs_drop::<T>() {
                std::ptr::slice_from_raw_parts_mut(self.first.as_ptr(), self.count).drop_in_place();
            }
            dealloc(self.memory.as_ptr(), self.layout);
        }
    }
}

// SAFETY: owns its values as a vector does.
unsafe impl<T: Send> Send for Zeroed<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Zeroed<T> {}

/// Shadow of one allocation.
pub struct Shadow {
    entries: Zeroed<Entry>,
    heads: Zeroed<Head>,
    filled: AtomicU64,
}

impl std::fmt::Debug for Shadow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Shadow({} bytes)", self.filled())
    }
}

impl Default for Shadow {
    fn default() -> Shadow {
        Shadow::new(0)
    }
}

/// One page: what is known of its sectors, and what belongs to all of them.
#[derive(Clone, Copy)]
pub struct Page<'s> {
    entries: &'s [Entry; SECTORS],
    pub head: &'s Head,
}

impl<'s> Page<'s> {
    /// What is known of sector `number` of the memory that the page is part of.
    #[inline(always)]
    pub fn entry(self, number: u64) -> &'s Entry {
        &self.entries[number as usize % SECTORS]
    }

    /// False when nobody ever touched it.
    pub fn is_filled(self) -> bool {
        self.head.filled.load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub fn lock(self) {
        while self.head.lock.swap(true, Ordering::Acquire) {
            std::hint::spin_loop();
        }
    }

    #[inline(always)]
    pub fn unlock(self) {
        self.head.lock.store(false, Ordering::Release);
    }

    /// Its cells, without those of earlier launches.
    ///
    /// # Safety
    /// The page must be locked, or there must be only one worker; and nobody may hold what an earlier call gave.
    #[allow(clippy::mut_from_ref, reason = "the lock, or being alone, makes it the only one")]
    #[inline(always)]
    pub unsafe fn cells(self, generation: u32) -> &'s mut Cells {
        // SAFETY: as the caller says.
        let cells = unsafe { &mut *self.head.cells.get() }.get_or_insert_default();
        if cells.generation != generation {
            // That of words is of use again: a program mostly launches the same kernel on the same data.
            let mut words = std::mem::take(&mut cells.words);
            words.clear();
            **cells = Cells { generation, words, ..Cells::default() };
        }
        cells
    }
}

impl Shadow {
    /// For an allocation of `bytes`.
    pub fn new(bytes: u64) -> Shadow {
        let pages = bytes.div_ceil(PAGE) as usize;
        // SAFETY: integers and atomics may be zero, and so may an empty option of a box.
        unsafe {
            Shadow { entries: Zeroed::new(pages * SECTORS), heads: Zeroed::new(pages), filled: AtomicU64::new(0) }
        }
    }

    /// Bytes of memory that it may cover.
    pub fn capacity(&self) -> u64 {
        self.heads.count as u64 * PAGE
    }

    /// Bytes that its pages take so far.
    pub fn filled(&self) -> u64 {
        self.filled.load(Ordering::Relaxed)
    }

    pub fn add_filled(&self) {
        self.filled.fetch_add(FILLED, Ordering::Relaxed);
    }

    #[inline(always)]
    pub fn page(&self, index: usize) -> Option<Page<'_>> {
        let head = self.heads.all().get(index)?;
        // SAFETY: every page has this many entries.
        let entries = unsafe { self.entries.first.add(index * SECTORS).cast::<[Entry; SECTORS]>().as_ref() };
        Some(Page { entries, head })
    }

    /// Asks for what is known of a sector; any number will do.
    #[inline(always)]
    pub fn prefetch(&self, number: u64) {
        crate::exec::memory::access::prefetch(
            self.entries.first.as_ptr().wrapping_add(number as usize).cast::<u8>().cast_const(),
        );
    }
}
