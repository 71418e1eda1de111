//! Where the accesses of a warp go: windows, arrays, bounds and alignment.
//!
//! Accesses whose addresses form runs are found, counted and checked by their runs ([`super::quick`]); all others here,
//! lane by lane, over pointers that one range check has covered.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

pub use super::address::{AddressWord, Addresses, Runs, addresses, gathered};
pub use super::bad_access::{space_of, verb};
pub use super::transfer::{As, STRONG, load, load_one, load_param, store, store_one, window_code, window_from};
use crate::exec::cx::{Cx, lanes};
use crate::exec::op::{Flow, Op};
use crate::memory::space::{WINDOW, Window, window_base, window_of};
use crate::report::AccessKind;

/// A range of memory that one array occupies.
#[derive(Debug)]
pub struct Region {
    pub base: u64,
    pub end: u64,
    pub pointer: *mut u8,
    /// One bit per byte: written. Null when the region is always initialised.
    pub init: *const AtomicU64,
    pub init_words: usize,
    /// Set while every byte of it is known to be written, which saves looking at the bits. Null as `init`.
    pub all_written: *const AtomicBool,
    pub name: String,
    pub read_only: bool,
    pub freed: bool,
    /// Index of its race shadow, and of the region.
    pub shadow: u32,
    /// The kernel only reads it, as far as can be told: no read of it is in a race.
    pub only_read: AtomicBool,
    /// Every thread has parts of its own, as far as can be told: no access to them is in a race ([`crate::analysis::thread_private`]).
    pub owned: AtomicBool,
    /// Nothing but atomics that all blocks see go there, as far as can be told: none of them is in a race.
    pub only_atomic: AtomicBool,
    /// Memory of the program that the emulator runs in, whose threads may be at it.
    pub of_host: bool,
}

/// Where an access may go: lane pointers are `pointer + (address - base) + lane * stride`.
#[derive(Clone, Copy)]
pub struct Reach {
    pub pointer: *mut u8,
    pub base: u64,
    pub stride: usize,
    pub init: *const AtomicU64,
    pub init_words: usize,
    /// Index of the race shadow (global memory).
    pub shadow: u32,
    pub window: Window,
    /// [`Region::only_read`].
    pub only_read: bool,
    /// [`Region::owned`].
    pub owned: bool,
    /// Nothing is to be learnt from the init bits: there are none, or all are set.
    pub all_written: bool,
}

impl Region {
    /// True when no byte of it can be uninitialised.
    #[inline(always)]
    pub fn is_all_written(&self) -> bool {
        // SAFETY: points into the allocation, which the launch holds.
        self.init.is_null() || unsafe { &*self.all_written }.load(Ordering::Relaxed)
    }

    /// True while reads of it need not be watched for races.
    #[inline(always)]
    pub fn is_only_read(&self) -> bool {
        self.only_read.load(Ordering::Relaxed)
    }

    /// True while accesses to it by those who own its parts need not be watched for races.
    #[inline(always)]
    pub fn is_owned(&self) -> bool {
        self.owned.load(Ordering::Relaxed)
    }

    /// Makes `bytes` from `offset` count as never written.
    pub fn unwrite(&self, offset: u64, bytes: u64) {
        if self.init.is_null() {
            return;
        }
        // SAFETY: both point into the allocation, which the launch holds.
        unsafe {
            (*self.all_written).store(false, Ordering::Relaxed);
            crate::memory::clear_bits(std::slice::from_raw_parts(self.init, self.init_words), offset, bytes);
        }
    }
}

impl Reach {
    /// All of an array in global memory.
    #[inline(always)]
    pub fn of(region: &Region) -> Reach {
        Reach {
            pointer: region.pointer,
            base: region.base,
            stride: 0,
            init: region.init,
            init_words: region.init_words,
            shadow: region.shadow,
            window: Window::Global,
            only_read: region.is_only_read(),
            owned: region.is_owned(),
            all_written: region.is_all_written(),
        }
    }

    /// # Safety
    /// `address` must have been checked against the region.
    #[inline(always)]
    pub unsafe fn lane(&self, address: u64, lane: usize) -> *mut u8 {
        // SAFETY: the range check covered every lane's address.
        unsafe { self.pointer.add((address - self.base) as usize + lane * self.stride) }
    }

    /// First init bit of an access.
    #[inline(always)]
    pub fn init_bit(&self, address: u64, lane: usize) -> u64 {
        address - self.base + (lane * self.stride) as u64
    }

    pub fn init_bits(&self) -> &[AtomicU64] {
        if self.init.is_null() {
            return &[];
        }
        // SAFETY: `init` and `init_words` describe one live slice of the memory, block or warp that runs.
        unsafe { std::slice::from_raw_parts(self.init, self.init_words) }
    }
}

/// What finding the memory of an access gave.
pub enum Found {
    Yes(Reach),
    /// Lanes lie in different arrays or windows: run them one by one.
    Mixed,
    /// A fault was reported.
    Fault,
}

/// Asks for memory that will be used soon.
#[inline(always)]
pub fn prefetch(place: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch faults at no address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(place.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

/// How [`Cx::prepare`] left an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prepared {
    /// Checked; `Access::all` and `Access::reach` are set.
    Lanes,
    Mixed,
    Fault,
}

/// Room for what [`Cx::prepare`] finds; which parts are set, [`Prepared`] tells.
pub struct Access {
    pub all: MaybeUninit<Addresses>,
    pub reach: MaybeUninit<Reach>,
}

impl Access {
    #[inline(always)]
    pub fn new() -> Access {
        Access { all: MaybeUninit::uninit(), reach: MaybeUninit::uninit() }
    }
}

impl Cx<'_> {
    /// Finds and checks a load or store of `BYTES` a lane, aligned to its size.
    ///
    /// # Safety
    /// As [`crate::exec::op::Exec`].
    #[inline(always)]
    pub unsafe fn prepare<A: AddressWord, const BYTES: u64>(
        &mut self,
        op: &Op,
        kind: AccessKind,
        out: &mut Access,
    ) -> Prepared {
        // SAFETY: passed on; the wide forms are chosen only where the machine has the features.
        unsafe {
            #[cfg(target_arch = "x86_64")]
            if self.widest {
                return self.prepare_widest::<A, BYTES>(op, kind, out);
            } else if crate::exec::lanes::wide() {
                return self.prepare_wide::<A, BYTES>(op, kind, out);
            }
            self.prepare_base::<A, BYTES>(op, kind, out)
        }
    }

    #[inline(never)]
    unsafe fn prepare_base<A: AddressWord, const BYTES: u64>(
        &mut self,
        op: &Op,
        kind: AccessKind,
        out: &mut Access,
    ) -> Prepared {
        // SAFETY: passed on.
        unsafe { self.prepare_inner::<A, BYTES>(op, kind, out) }
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(never)]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn prepare_wide<A: AddressWord, const BYTES: u64>(
        &mut self,
        op: &Op,
        kind: AccessKind,
        out: &mut Access,
    ) -> Prepared {
        // SAFETY: passed on.
        unsafe { self.prepare_inner::<A, BYTES>(op, kind, out) }
    }

    /// Shadows are rows of 64-bit words, of which AVX-512 takes twice as many at once.
    #[cfg(target_arch = "x86_64")]
    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn prepare_widest<A: AddressWord, const BYTES: u64>(
        &mut self,
        op: &Op,
        kind: AccessKind,
        out: &mut Access,
    ) -> Prepared {
        // SAFETY: passed on.
        unsafe { self.prepare_inner::<A, BYTES>(op, kind, out) }
    }

    #[inline(always)]
    unsafe fn prepare_inner<A: AddressWord, const BYTES: u64>(
        &mut self,
        op: &Op,
        kind: AccessKind,
        out: &mut Access,
    ) -> Prepared {
        let window = window_from(op.e.0);
        // SAFETY: passed on.
        let all = out.all.write(unsafe { addresses::<A>(self, op, BYTES) });
        match self.reach_inner::<BYTES>(op, window, all, BYTES, kind) {
            Found::Yes(reach) => {
                out.reach.write(reach);
                Prepared::Lanes
            }
            Found::Mixed => Prepared::Mixed,
            Found::Fault => Prepared::Fault,
        }
    }

    /// Bounds, alignment, counters and checks of one access; gives where to transfer.
    #[inline(never)]
    pub fn reach<const BYTES: u64>(
        &mut self,
        op: &Op,
        window: Window,
        addresses: &mut Addresses,
        align: u64,
        kind: AccessKind,
    ) -> Found {
        self.reach_inner::<BYTES>(op, window, addresses, align, kind)
    }

    #[inline(always)]
    fn reach_inner<const BYTES: u64>(
        &mut self,
        op: &Op,
        window: Window,
        addresses: &mut Addresses,
        align: u64,
        kind: AccessKind,
    ) -> Found {
        let mut window = window;
        if window == Window::Generic {
            window = window_of(addresses.low);
            if (addresses.low ^ addresses.high) >= WINDOW && window_of(addresses.high) != window {
                self.worker.parts = parts(addresses, |address| window_of(address) as u64);
                return Found::Mixed;
            }
            addresses.rebase(window_base(window));
        }
        if window == Window::Shared && addresses.low >= 1 << 24 {
            addresses.rebase(self.own_base(addresses.low, addresses.high));
        }
        let Some(reach) = self.find::<BYTES>(op, window, addresses.low, addresses.high) else {
            return self.not_found(op, window, addresses, BYTES, kind);
        };
        let mut low_bits = addresses.low;
        for lane in 0..32 {
            low_bits |= addresses.at[lane];
        }
        if low_bits & (align - 1) != 0 {
            self.misaligned(op, window, addresses, BYTES, align, kind);
            return Found::Fault;
        }
        if kind != AccessKind::Read && self.is_read_only(op, &reach) {
            return self.read_only(addresses, BYTES, kind);
        }
        if self.watch != 0 {
            self.audit::<BYTES>(op, &reach, addresses, kind);
        }
        Found::Yes(reach)
    }

    /// `__constant__` memory, just found.
    #[inline(always)]
    fn is_read_only(&self, op: &Op, reach: &Reach) -> bool {
        reach.window == Window::Global && self.grid.regions[self.worker.hit[op.site as usize & 63] as usize].read_only
    }

    /// The one array that holds all bytes from `low` to those at `high`.
    #[inline(always)]
    fn find<const BYTES: u64>(&mut self, op: &Op, window: Window, low: u64, high: u64) -> Option<Reach> {
        match window {
            Window::Global | Window::Const => self.find_global::<BYTES>(op, low, high),
            Window::Shared => self.find_shared::<BYTES>(op, low, high),
            Window::Local => self.find_local::<BYTES>(high),
            _ => self.find_param::<BYTES>(high),
        }
    }

    /// The array in global memory that begins at or before `address`, which need not reach it; `cell` remembers it.
    #[inline(always)]
    pub fn region(&mut self, cell: usize, address: u64) -> Option<&Region> {
        // The cell may hold the number of a shared array, of which there may be more than of these.
        if let Some(region) = self.grid.regions.get(self.worker.hit[cell] as usize)
            && address >= region.base
            && address < region.end
        {
            return Some(region);
        }
        self.other_region(cell, address)
    }

    #[inline(never)]
    fn other_region(&mut self, cell: usize, address: u64) -> Option<&Region> {
        let index = self.grid.regions.partition_point(|region| region.base <= address).checked_sub(1)?;
        self.worker.hit[cell] = index as u32;
        Some(&self.grid.regions[index])
    }

    #[inline(always)]
    fn find_global<const BYTES: u64>(&mut self, op: &Op, low: u64, high: u64) -> Option<Reach> {
        let region = self.region(op.site as usize & 63, low)?;
        if high.checked_add(BYTES)? > region.end || region.freed {
            return None;
        }
        Some(Reach::of(region))
    }

    /// Whether bytes `low` to `end` of shared memory lie in one array; `cell` remembers which.
    #[inline(always)]
    pub fn shared_array(&mut self, cell: usize, low: u64, end: u64) -> bool {
        let arrays = &self.grid.shared_arrays;
        let inside = |index: usize| {
            arrays.get(index).is_some_and(|array| {
                low >= u64::from(array.base) && end <= u64::from(array.base) + u64::from(array.bytes)
            })
        };
        if inside(self.worker.hit[cell] as usize) {
            return true;
        }
        let found = (0..arrays.len()).find(|&index| inside(index));
        self.worker.hit[cell] = found.map_or(self.worker.hit[cell], |index| index as u32);
        found.is_some()
    }

    /// Shared memory of the own block.
    #[inline(always)]
    pub fn shared_reach(&mut self) -> Reach {
        Reach {
            pointer: self.block.shared_pointer(),
            base: 0,
            stride: 0,
            init: self.block.shared_init.as_ptr(),
            init_words: self.block.shared_init.len(),
            shadow: 0,
            window: Window::Shared,
            only_read: false,
            owned: false,
            all_written: self.block.state.written.load(Ordering::Relaxed),
        }
    }

    #[inline(always)]
    fn find_shared<const BYTES: u64>(&mut self, op: &Op, low: u64, high: u64) -> Option<Reach> {
        if low >= 1 << 24 {
            return self.find_cluster::<BYTES>(low, high);
        }
        // The sum of 64-bit addresses may begin anew at 0, where an array is.
        let end = high.checked_add(BYTES)?;
        self.shared_array(op.site as usize & 63, low, end).then(|| self.shared_reach())
    }

    /// What `mapa` added to addresses of the own block; 0 when they are of another or plain.
    #[cold]
    fn own_base(&self, low: u64, high: u64) -> u64 {
        let base = u64::from(self.block.cluster_rank + 1) << 24;
        if low & !0xff_ffff != base || high & !0xff_ffff != base { 0 } else { base }
    }

    /// Shared memory of a block of the cluster, by an address that `mapa` made.
    #[inline(never)]
    fn find_cluster<const BYTES: u64>(&mut self, low: u64, high: u64) -> Option<Reach> {
        let first = low;
        let rank = first >> 24;
        if high >> 24 != rank {
            return None;
        }
        let base = rank << 24;
        let arrays = &self.grid.shared_arrays;
        let (low, high) = (first - base, high - base + BYTES);
        arrays
            .iter()
            .find(|array| low >= u64::from(array.base) && high <= u64::from(array.base) + u64::from(array.bytes))?;
        let (home, _) = self.shared_home(first)?;
        // SAFETY: peers of a cluster are run by this worker alone, and only one warp of it runs.
        let block = unsafe { &mut *home };
        Some(Reach {
            pointer: block.shared_pointer(),
            base,
            stride: 0,
            init: block.shared_init.as_ptr(),
            init_words: block.shared_init.len(),
            shadow: 0,
            window: Window::Shared,
            only_read: false,
            owned: false,
            all_written: false,
        })
    }

    #[inline(always)]
    fn find_local<const BYTES: u64>(&mut self, high: u64) -> Option<Reach> {
        let frame = self.warp.splits[self.warp.current].frame;
        let top = u64::from(self.warp.frame(frame).local_top);
        if high.checked_add(BYTES)? > top {
            return None;
        }
        Some(Reach {
            pointer: self.warp.local.as_mut_ptr().cast(),
            base: 0,
            stride: self.warp.local_stride as usize,
            init: self.warp.local_init.as_ptr(),
            init_words: self.warp.local_init.len(),
            shadow: 0,
            window: Window::Local,
            only_read: false,
            owned: false,
            all_written: false,
        })
    }

    #[inline(always)]
    fn find_param<const BYTES: u64>(&mut self, high: u64) -> Option<Reach> {
        if high.checked_add(BYTES)? > self.grid.launch.params.len() as u64 {
            return None;
        }
        Some(Reach {
            pointer: self.grid.params.as_ptr().cast_mut().cast(),
            base: 0,
            stride: 0,
            init: std::ptr::null(),
            init_words: 0,
            shadow: 0,
            window: Window::Param,
            only_read: false,
            owned: false,
            all_written: true,
        })
    }

    /// Runs an instruction array by array, for accesses that go to several at once. It stays one request.
    ///
    /// # Safety
    /// As [`Exec`].
    #[cold]
    #[inline(never)]
    pub unsafe fn one_by_one(&mut self, op: &Op) -> Flow {
        let mask = self.mask;
        let mut parts = std::mem::take(&mut self.worker.parts);
        // An instruction may have asked for some of its lanes alone.
        let asked = parts.iter().fold(0, |asked, part| asked | part);
        parts.push(mask & !asked);
        let before = self.worker.counts.requests(op.site);
        for part in parts.into_iter().filter(|part| part & mask != 0) {
            self.mask = part & mask;
            // SAFETY: passed on.
            unsafe { (op.run)(self, op) };
            if self.grid.aborted.load(std::sync::atomic::Ordering::Relaxed) {
                break;
            }
        }
        self.worker.counts.is_one_request(op.site, before);
        self.mask = mask;
        Flow::Next
    }
}

/// The lanes of an access by where they go, as `place` tells.
pub fn parts(at: &Addresses, place: impl Fn(u64) -> u64) -> Vec<u32> {
    let mut parts = Vec::new();
    let mut left = at.mask;
    while left != 0 {
        let first = place(at.at[left.trailing_zeros() as usize & 31]);
        let part = lanes(left).filter(|&lane| place(at.at[lane]) == first).fold(0, |some, lane| some | 1 << lane);
        parts.push(part);
        left &= !part;
    }
    parts
}
