//! Sums of one host thread. What a kernel only adds to, and never learns what it holds, each host thread adds up in a copy
//! of its own, as if its atomics came one after the other just before the launch ends: which they may, for nobody can tell
//! their order. Otherwise the cores would take the same cache lines away from each other with every atomic.
//!
//! Only what may be put together in any order and still gives the same bits: sums, minima and logic of integers, and of
//! these one kind in an array. Of two kinds the order counts, and blocks may keep it by meeting at a barrier of the grid.

use std::alloc::{Layout, alloc, dealloc};
use std::ptr::NonNull;

use super::{Code, OPERATIONS, unpack};
use crate::exec::cx::{Cx, lanes};
use crate::exec::grid::Grid;
use crate::exec::memory::access::Region;
use crate::exec::memory::updates::STRIPE;
use crate::exec::memory::words::{Lie, Words};
use crate::exec::op::{Op, SumKind};
use crate::isa::Ty;

/// Bytes of the copies of all host threads; arrays for which that leaves no room have none.
const MOST: u64 = 64 << 20;

/// Which of the operations that [`Sums`] knows an atomic is, if it is one, and gives nothing back.
pub fn kind_of_sum(op: &Op) -> Option<SumKind> {
    let code = unpack(op.list_len);
    (code.word != 0 && code.vector == 1 && op.d.is_none() && knows(code)).then_some((code.operation, code.ty))
}

#[inline(always)]
fn knows(code: Code) -> bool {
    let integer = matches!(code.ty, Ty::U32 | Ty::S32 | Ty::B32 | Ty::U64 | Ty::S64 | Ty::B64);
    // Not `inc`, `dec`, `cas` and `exch`, which lie between.
    integer && !matches!(code.operation, 3..=6)
}

#[inline(always)]
fn is_same(a: Code, b: Code) -> bool {
    a.operation == b.operation && a.ty == b.ty
}

/// The copies of one host thread.
#[derive(Default)]
pub struct Sums {
    /// By the numbers of the arrays.
    copies: Vec<Option<Copy>>,
    bytes: u64,
    last: Option<Place>,
}

/// Where the last atomic went: most go to the same piece again.
#[derive(Clone, Copy)]
struct Place {
    number: u32,
    code: Code,
    /// `STRIPE` bytes, which have begun.
    stripe: u64,
    /// The copy, from address 0 on.
    origin: *mut u8,
}

// SAFETY: it points into a copy, which goes along.
unsafe impl Send for Place {}

/// A copy of one array, of which a piece begins to hold something when the first atomic comes there.
struct Copy {
    code: Code,
    memory: NonNull<u8>,
    layout: Layout,
    /// Which pieces do: `STRIPE` bytes by the addresses of the array.
    begun: Vec<bool>,
}

// SAFETY: it owns its memory as a vector does.
unsafe impl Send for Copy {}

impl Drop for Copy {
    fn drop(&mut self) {
        // SAFETY: made in `Copy::new` with this layout.
        unsafe { dealloc(self.memory.as_ptr(), self.layout) }
    }
}

impl Copy {
    fn new(code: Code, region: &Region) -> Option<Copy> {
        let layout = Layout::from_size_align((region.end - region.base) as usize, 64).ok()?;
        // SAFETY: an array that an atomic goes to is not empty.
        let memory = NonNull::new(unsafe { alloc(layout) })?;
        let pieces = region.end.div_ceil(STRIPE) - region.base / STRIPE;
        Some(Copy { code, memory, layout, begun: vec![false; pieces as usize] })
    }

    #[inline(always)]
    fn is_of(&self, code: Code) -> bool {
        is_same(self.code, code)
    }

    /// The bytes of a piece as offsets in the array.
    fn piece(region: &Region, piece: usize) -> std::ops::Range<usize> {
        let first = (region.base / STRIPE + piece as u64) * STRIPE;
        let range = first.max(region.base)..(first + STRIPE).min(region.end);
        (range.start - region.base) as usize..(range.end - region.base) as usize
    }

    #[cold]
    #[inline(never)]
    fn begin(&mut self, region: &Region, piece: usize) {
        let range = Copy::piece(region, piece);
        let neutral = neutral(self.code);
        for at in range.clone().step_by(8) {
            let bytes = neutral.to_le_bytes();
            let count = bytes.len().min(range.end - at);
            // SAFETY: inside the copy.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.memory.as_ptr().add(at), count) };
        }
        self.begun[piece] = true;
    }

    /// Puts into memory what was added up, and begins anew.
    fn settle(&mut self, grid: &Grid<'_>, region: &Region) {
        for piece in 0..self.begun.len() {
            if !std::mem::take(&mut self.begun[piece]) {
                continue;
            }
            let range = Copy::piece(region, piece);
            let low = region.base + range.start as u64;
            let _held = grid.updates.hold(low, low);
            std::sync::atomic::fence(crate::exec::order::BEFORE_STORE);
            // SAFETY: both hold the piece; all who update the array hold the lock first, and the copy is this thread's.
            unsafe {
                let (into, from) = (region.pointer.add(range.start), self.memory.as_ptr().add(range.start));
                merge(self.code, into, from, range.len());
            }
        }
    }
}

impl Sums {
    /// The copy for a code, made if need be. None: the array has none, or by an address that nobody could tell another
    /// operation comes to it, which is to find what was added up.
    #[inline(always)]
    fn copy(&mut self, grid: &Grid<'_>, number: u32, code: Code) -> Option<&mut Copy> {
        let known = self.copies.get(number as usize).and_then(Option::as_ref).is_some_and(|copy| copy.is_of(code));
        if !known && !self.prepare(grid, number as usize, code) {
            return None;
        }
        self.copies[number as usize].as_mut()
    }

    #[cold]
    #[inline(never)]
    fn prepare(&mut self, grid: &Grid<'_>, number: usize, code: Code) -> bool {
        let region = &grid.regions[number];
        let bytes = region.end - region.base;
        self.last = None;
        if self.copies.len() <= number {
            self.copies.resize_with(number + 1, || None);
        }
        match &mut self.copies[number] {
            Some(copy) => {
                copy.settle(grid, region);
                false
            }
            None if bytes + self.bytes > MOST / grid.workers as u64 => false,
            none => {
                *none = Copy::new(code, region);
                self.bytes += bytes;
                none.is_some()
            }
        }
    }

    /// Before memory is updated by a code: of two operations on one word the order counts.
    #[inline(always)]
    fn give_way(&mut self, grid: &Grid<'_>, number: u32, code: Code) {
        if let Some(Some(copy)) = self.copies.get_mut(number as usize)
            && !copy.is_of(code)
        {
            self.last = None;
            copy.settle(grid, &grid.regions[number as usize]);
        }
    }

    /// Puts all that was added up into memory.
    pub fn settle(&mut self, grid: &Grid<'_>) {
        self.last = None;
        for (copy, region) in self.copies.iter_mut().zip(&grid.regions) {
            if let Some(copy) = copy {
                copy.settle(grid, region);
            }
        }
    }
}

impl Cx<'_> {
    /// Where the first of some words is in this host thread's own copy. None: they are to be updated in memory.
    #[inline(always)]
    pub(super) fn own_sums(&mut self, op: &Op, code: Code, words: &Words<'_>) -> Option<*mut u8> {
        let grid = self.grid;
        let stripe = words.low / STRIPE;
        let near = stripe == words.high / STRIPE && !matches!(words.lie, Lie::Row);
        if let Some(last) = &self.worker.sums.last
            && near
            && (last.number, last.stripe) == (words.region, stripe)
            && is_same(last.code, code)
            && op.d.is_none()
        {
            return Some(last.origin.wrapping_add(words.address as usize));
        }
        let region = &grid.regions[words.region as usize];
        if !region.summed || !op.d.is_none() || !knows(code) {
            return None;
        }
        let sums = &mut self.worker.sums;
        if matches!(words.lie, Lie::Row) {
            // Mostly nobody else is there, and all of it is one step in memory.
            sums.give_way(grid, words.region, code);
            return None;
        }
        let copy = sums.copy(grid, words.region, code)?;
        let first = region.base / STRIPE;
        let mut begin = |address: u64| {
            let piece = (address / STRIPE - first) as usize;
            if !copy.begun[piece] {
                copy.begin(region, piece);
            }
        };
        match words.lie {
            Lie::Apart(_) if words.low / STRIPE != words.high / STRIPE => {
                for lane in lanes(words.mask) {
                    begin(words.at(lane, 0));
                }
            }
            _ => {
                begin(words.low);
                begin(words.high);
            }
        }
        let origin = copy.memory.as_ptr().wrapping_sub(region.base as usize);
        sums.last = near.then_some(Place { number: words.region, code, stripe, origin });
        Some(origin.wrapping_add(words.address as usize))
    }
}

/// Two words, or one, that change nothing.
fn neutral(code: Code) -> u64 {
    match (OPERATIONS[code.operation as usize], code.ty) {
        ("and", _) | ("min", Ty::U32 | Ty::U64) => u64::MAX,
        ("min", Ty::S32) => 0x7fff_ffff_7fff_ffff,
        ("min", _) => i64::MAX as u64,
        ("max", Ty::S32) => 0x8000_0000_8000_0000,
        ("max", Ty::S64) => i64::MIN as u64,
        _ => 0,
    }
}

/// Adds one row of words to another.
///
/// # Safety
/// Both must hold so many bytes, `into` as aligned words; those behind the last whole word are left out.
unsafe fn merge(code: Code, into: *mut u8, from: *const u8, bytes: usize) {
    macro_rules! each {
        ($word:ty, $f:expr) => {
            for index in 0..bytes / size_of::<$word>() {
                // SAFETY: as the caller says.
                unsafe {
                    let place = into.cast::<$word>().add(index);
                    place.write($f(place.read(), from.cast::<$word>().add(index).read()));
                }
            }
        };
    }
    match (OPERATIONS[code.operation as usize], code.ty) {
        ("add", _) if code.word == 4 => each!(u32, u32::wrapping_add),
        ("add", _) => each!(u64, u64::wrapping_add),
        ("min", Ty::U32) => each!(u32, u32::min),
        ("min", Ty::S32) => each!(i32, i32::min),
        ("min", Ty::U64) => each!(u64, u64::min),
        ("min", _) => each!(i64, i64::min),
        ("max", Ty::U32) => each!(u32, u32::max),
        ("max", Ty::S32) => each!(i32, i32::max),
        ("max", Ty::U64) => each!(u64, u64::max),
        ("max", _) => each!(i64, i64::max),
        ("and", _) if code.word == 4 => each!(u32, |old, new| old & new),
        ("and", _) => each!(u64, |old, new| old & new),
        ("or", _) if code.word == 4 => each!(u32, |old, new| old | new),
        ("or", _) => each!(u64, |old, new| old | new),
        ("xor", _) if code.word == 4 => each!(u32, |old, new| old ^ new),
        _ => each!(u64, |old, new| old ^ new),
    }
}
