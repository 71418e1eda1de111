//! Loads and stores: addresses of a warp, bounds and alignment, and the transfer itself.
//!
//! The common shape, all lanes active and neighbours in memory, is one range check and one copy. Everything else goes
//! lane by lane over pointers that one range check has covered.

use std::sync::atomic::AtomicU64;

use super::cx::{Cx, lanes};
use super::fault::{Detail, text_of};
use super::lanes::{Body, Word, exec};
use super::op::{Exec, Flow, Op};
use super::space::{WINDOW, Window, window_base, window_of};
use crate::report::{AccessKind, AllocationRef, FaultKind, Space};

/// A range of memory that one array occupies.
#[derive(Clone, Debug)]
pub struct Region {
    pub base: u64,
    pub end: u64,
    pub pointer: *mut u8,
    /// One bit per byte: written. Null when the region is always initialised.
    pub init: *const AtomicU64,
    pub init_words: usize,
    pub name: String,
    pub read_only: bool,
    pub freed: bool,
    /// Index of its race shadow.
    pub shadow: u32,
}

/// The addresses of one warp-wide access.
#[derive(Clone, Copy)]
pub struct Addresses {
    /// Inactive lanes repeat the first active one.
    pub at: [u64; 32],
    pub mask: u32,
    pub low: u64,
    pub high: u64,
    /// All lanes active and each `bytes` behind the one before.
    pub contiguous: bool,
}

/// Where an access may go: lane pointers are `pointer + (address - base) + lane * stride`.
#[derive(Clone, Copy)]
pub struct Reach {
    pub pointer: *mut u8,
    pub base: u64,
    pub stride: usize,
    pub init: *const AtomicU64,
    pub init_words: usize,
    /// Bytes of one lane's part in the init bits (local memory), else 0.
    pub shadow: u32,
    pub window: Window,
}

impl Reach {
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

/// How addresses are held in registers.
pub trait AddressWord: Word {
    /// Adds an offset in the register's own width: 32-bit addresses wrap at 32 bits.
    fn plus(self, offset: u64) -> u64;
}

impl AddressWord for u32 {
    #[inline(always)]
    fn plus(self, offset: u64) -> u64 {
        u64::from(self.wrapping_add(offset as u32))
    }
}

impl AddressWord for u64 {
    #[inline(always)]
    fn plus(self, offset: u64) -> u64 {
        self.wrapping_add(offset)
    }
}

/// Gathers the addresses of an access of `bytes` per lane.
///
/// # Safety
/// As [`Exec`].
#[inline(always)]
pub unsafe fn addresses<A: AddressWord>(cx: &Cx<'_>, op: &Op, bytes: u64) -> Addresses {
    let mut at = [0u64; 32];
    let mask = cx.mask;
    // SAFETY: slots of a decoded instruction.
    unsafe {
        let base = cx.row::<A>(op.a);
        let offset = op.imm as u64;
        for lane in 0..32 {
            at[lane] = A::from_raw((*base)[lane]).plus(offset);
        }
    }
    if mask == u32::MAX {
        let first = at[0];
        let mut off = 0;
        for lane in 0..32 {
            off |= at[lane] ^ first.wrapping_add(lane as u64 * bytes);
        }
        if off == 0 && first <= u64::MAX - 32 * bytes {
            return Addresses { at, mask, low: first, high: first + 31 * bytes, contiguous: true };
        }
    } else {
        let first = at[mask.trailing_zeros() as usize & 31];
        for lane in 0..32 {
            at[lane] = if mask >> lane & 1 != 0 { at[lane] } else { first };
        }
    }
    let (mut low, mut high) = (at[0], at[0]);
    for lane in 1..32 {
        low = low.min(at[lane]);
        high = high.max(at[lane]);
    }
    Addresses { at, mask, low, high, contiguous: false }
}

/// What finding the memory of an access gave.
pub enum Found {
    Yes(Reach),
    /// Lanes lie in different arrays or windows: run them one by one.
    Mixed,
    /// A fault was reported.
    Fault,
}

impl Cx<'_> {
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

    /// The same, for machines with AVX2.
    ///
    /// # Safety
    /// [`super::lanes::wide`] must hold.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn reach_wide<const BYTES: u64>(
        &mut self,
        op: &Op,
        window: Window,
        addresses: &mut Addresses,
        kind: AccessKind,
    ) -> Found {
        self.reach_inner::<BYTES>(op, window, addresses, BYTES, kind)
    }

    /// Picks the form; loads and stores are aligned to their size.
    #[inline(always)]
    fn reach_form<const WIDE: bool, const BYTES: u64>(
        &mut self,
        op: &Op,
        window: Window,
        addresses: &mut Addresses,
        kind: AccessKind,
    ) -> Found {
        #[cfg(target_arch = "x86_64")]
        if WIDE {
            // SAFETY: the wide forms are chosen only where the machine has the features.
            return unsafe { self.reach_wide::<BYTES>(op, window, addresses, kind) };
        }
        self.reach::<BYTES>(op, window, addresses, BYTES, kind)
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
                return Found::Mixed;
            }
            let base = window_base(window);
            if base != 0 {
                addresses.low -= base;
                addresses.high -= base;
                for lane in 0..32 {
                    addresses.at[lane] -= base;
                }
            }
        }
        let found = match window {
            Window::Global | Window::Const => self.find_global::<BYTES>(op, addresses),
            Window::Shared => self.find_shared::<BYTES>(op, addresses),
            Window::Local => self.find_local::<BYTES>(addresses),
            _ => self.find_param::<BYTES>(addresses),
        };
        let Some(reach) = found else {
            return self.not_found(op, window, addresses, BYTES, kind);
        };
        let mut low_bits = addresses.low;
        if !addresses.contiguous {
            for lane in 0..32 {
                low_bits |= addresses.at[lane];
            }
        }
        if low_bits & (align - 1) != 0 {
            self.misaligned(op, window, addresses, BYTES, align, kind);
            return Found::Fault;
        }
        if kind != AccessKind::Read
            && reach.window == Window::Global
            && self.grid.regions[self.worker.hit[op.site as usize & 63] as usize].read_only
        {
            return self.read_only(addresses, BYTES, kind);
        }
        if self.watch != 0 {
            self.audit::<BYTES>(op, &reach, addresses, kind);
        }
        Found::Yes(reach)
    }

    #[inline(always)]
    fn find_global<const BYTES: u64>(&mut self, op: &Op, addresses: &Addresses) -> Option<Reach> {
        let cell = op.site as usize & 63;
        let regions = &self.grid.regions;
        let mut region = regions.get(self.worker.hit[cell] as usize)?;
        if addresses.low < region.base || addresses.low >= region.end {
            let at = regions.partition_point(|region| region.base <= addresses.low);
            let index = at.checked_sub(1)?;
            self.worker.hit[cell] = index as u32;
            region = &regions[index];
        }
        if addresses.low < region.base || addresses.high.checked_add(BYTES)? > region.end || region.freed {
            return None;
        }
        Some(Reach {
            pointer: region.pointer,
            base: region.base,
            stride: 0,
            init: region.init,
            init_words: region.init_words,
            shadow: region.shadow,
            window: Window::Global,
        })
    }

    #[inline(always)]
    fn find_shared<const BYTES: u64>(&mut self, op: &Op, addresses: &mut Addresses) -> Option<Reach> {
        if addresses.low >= 1 << 24 && !self.is_own(addresses) {
            return self.find_cluster::<BYTES>(addresses);
        }
        let arrays = &self.grid.shared_arrays;
        let cell = op.site as usize & 63;
        let inside = |index: usize| {
            arrays.get(index).is_some_and(|array| {
                addresses.low >= u64::from(array.base)
                    && addresses.high + BYTES <= u64::from(array.base) + u64::from(array.bytes)
            })
        };
        let hit = self.worker.hit[cell] as usize;
        if !inside(hit) {
            let index = (0..arrays.len()).find(|&index| inside(index))?;
            self.worker.hit[cell] = index as u32;
        }
        Some(Reach {
            pointer: self.block.shared_pointer(),
            base: 0,
            stride: 0,
            init: self.block.shared_init.as_ptr(),
            init_words: self.block.shared_init.len(),
            shadow: 0,
            window: Window::Shared,
        })
    }

    /// Turns addresses that `mapa` made for the own block into plain ones.
    #[cold]
    fn is_own(&self, addresses: &mut Addresses) -> bool {
        let base = u64::from(self.block.cluster_rank + 1) << 24;
        if addresses.low & !0xff_ffff != base || addresses.high & !0xff_ffff != base {
            return false;
        }
        addresses.low -= base;
        addresses.high -= base;
        for at in &mut addresses.at {
            *at -= base;
        }
        true
    }

    /// Shared memory of a block of the cluster, by an address that `mapa` made.
    #[inline(never)]
    fn find_cluster<const BYTES: u64>(&mut self, addresses: &Addresses) -> Option<Reach> {
        let rank = addresses.low >> 24;
        if addresses.high >> 24 != rank {
            return None;
        }
        let base = rank << 24;
        let arrays = &self.grid.shared_arrays;
        let (low, high) = (addresses.low - base, addresses.high - base + BYTES);
        arrays
            .iter()
            .find(|array| low >= u64::from(array.base) && high <= u64::from(array.base) + u64::from(array.bytes))?;
        let (home, _) = self.shared_home(addresses.low)?;
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
        })
    }

    #[inline(always)]
    fn find_local<const BYTES: u64>(&mut self, addresses: &Addresses) -> Option<Reach> {
        let frame = self.warp.splits[self.warp.current].frame;
        let top = u64::from(self.warp.frame(frame).local_top);
        if addresses.high.checked_add(BYTES)? > top {
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
        })
    }

    #[inline(always)]
    fn find_param<const BYTES: u64>(&mut self, addresses: &Addresses) -> Option<Reach> {
        if addresses.high.checked_add(BYTES)? > self.grid.launch.params.len() as u64 {
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
        })
    }

    /// The array that holds `[address, address + bytes)` of a window, or the nearest one.
    pub fn locate(&self, window: Window, address: u64, bytes: u64) -> (bool, Option<AllocationRef>) {
        let mut best: Option<(u64, AllocationRef, bool)> = None;
        // Places in other blocks of the cluster are named by their offset there.
        let peer = window == Window::Shared && (1..=self.peers.len() as u64).contains(&(address >> 24));
        let address = if peer { address & 0xff_ffff } else { address };
        let mut offer = |name: &str, base: u64, size: u64| {
            let inside = address >= base && address.saturating_add(bytes) <= base + size;
            let distance =
                if address < base { base - address } else { address.saturating_add(bytes).saturating_sub(base + size) };
            if best.as_ref().is_none_or(|found| distance < found.0) {
                let offset = address.wrapping_sub(base) as i64;
                best = Some((distance, AllocationRef { name: name.to_owned(), base, bytes: size, offset }, inside));
            }
        };
        match window {
            Window::Shared => {
                for array in &self.grid.shared_arrays {
                    offer(&array.name, u64::from(array.base), u64::from(array.bytes));
                }
            }
            Window::Local => {
                let frame = self.warp.splits[self.warp.current].frame;
                offer("the thread's stack", 0, u64::from(self.warp.frame(frame).local_top));
            }
            Window::Param => offer("kernel parameters", 0, self.grid.launch.params.len() as u64),
            _ => {
                for region in self.grid.regions.iter().filter(|region| !region.freed) {
                    offer(&region.name, region.base, region.end - region.base);
                }
            }
        }
        match best {
            Some((_, allocation, inside)) => (inside, Some(allocation)),
            None => (false, None),
        }
    }

    #[cold]
    #[inline(never)]
    fn not_found(&mut self, op: &Op, window: Window, addresses: &Addresses, bytes: u64, kind: AccessKind) -> Found {
        let bad: Vec<usize> =
            lanes(addresses.mask).filter(|&lane| !self.locate(window, addresses.at[lane], bytes).0).collect();
        let Some(&lane) = bad.first() else { return Found::Mixed };
        let _ = op;
        let address = addresses.at[lane];
        let freed = self
            .grid
            .regions
            .iter()
            .find(|region| region.freed && address >= region.base && address < region.end)
            .filter(|_| matches!(window, Window::Global | Window::Const));
        let (_, allocation) = self.locate(window, address, bytes);
        let who = text_of(&self.thread(lane));
        let verb = verb(kind);
        let space = space_of(window);
        let (fault, message) = if let Some(region) = freed {
            (
                FaultKind::UseAfterFree,
                format!("{who} {verb} {bytes} bytes of `{}` at {address:#x} after it was freed", region.name),
            )
        } else {
            (FaultKind::OutOfBounds, out_of_bounds(&who, verb, bytes, address, space, allocation.as_ref()))
        };
        let detail = Detail {
            space: Some(space),
            access: Some(kind),
            address: Some(address),
            bytes: bytes as u32,
            allocation,
            other: None,
        };
        let pc = self.pc;
        self.fault(fault, pc, Some(lane), bad.len() as u32, message, detail);
        Found::Fault
    }

    #[cold]
    #[inline(never)]
    fn read_only(&mut self, addresses: &Addresses, bytes: u64, kind: AccessKind) -> Found {
        let lane = addresses.mask.trailing_zeros() as usize & 31;
        let address = addresses.at[lane];
        let (_, allocation) = self.locate(Window::Global, address, bytes);
        let name = allocation.as_ref().map_or("memory", |a| a.name.as_str());
        let message = format!(
            "{} {} `{name}`, which is __constant__: kernels may only read it",
            text_of(&self.thread(lane)),
            verb(kind)
        );
        let detail = Detail {
            space: Some(Space::Const),
            access: Some(kind),
            address: Some(address),
            bytes: bytes as u32,
            allocation,
            other: None,
        };
        let pc = self.pc;
        self.fault(FaultKind::OutOfBounds, pc, Some(lane), addresses.mask.count_ones(), message, detail);
        Found::Fault
    }

    #[cold]
    #[inline(never)]
    fn misaligned(
        &mut self,
        _op: &Op,
        window: Window,
        addresses: &Addresses,
        bytes: u64,
        align: u64,
        kind: AccessKind,
    ) {
        let bad: Vec<usize> = lanes(addresses.mask).filter(|&lane| addresses.at[lane] & (align - 1) != 0).collect();
        let Some(&lane) = bad.first() else { return };
        let address = addresses.at[lane];
        let (_, allocation) = self.locate(window, address, bytes);
        let place = allocation.as_ref().map_or(String::new(), |a| format!(" (`{}` byte {})", a.name, a.offset));
        let message = format!(
            "{} {} {bytes} bytes at {address:#x}{place}, which is not a multiple of {align}",
            text_of(&self.thread(lane)),
            verb(kind)
        );
        let detail = Detail {
            space: Some(space_of(window)),
            access: Some(kind),
            address: Some(address),
            bytes: bytes as u32,
            allocation,
            other: None,
        };
        let pc = self.pc;
        self.fault(FaultKind::Misaligned, pc, Some(lane), bad.len() as u32, message, detail);
    }

    /// Runs an instruction lane by lane, for accesses that go to several arrays at once.
    ///
    /// # Safety
    /// As [`Exec`].
    #[cold]
    #[inline(never)]
    pub unsafe fn one_by_one(&mut self, op: &Op) -> Flow {
        let mask = self.mask;
        for lane in lanes(mask) {
            self.mask = 1 << lane;
            // SAFETY: passed on.
            unsafe { (op.run)(self, op) };
            if self.grid.aborted.load(std::sync::atomic::Ordering::Relaxed) {
                break;
            }
        }
        self.mask = mask;
        Flow::Next
    }
}

pub fn verb(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "reads",
        AccessKind::Write => "writes",
        AccessKind::Atomic => "atomically updates",
        AccessKind::AsyncCopy => "copies",
    }
}

pub fn space_of(window: Window) -> Space {
    match window {
        Window::Generic => Space::Generic,
        Window::Global => Space::Global,
        Window::Const => Space::Const,
        Window::Shared => Space::Shared,
        Window::Local => Space::Local,
        Window::Param => Space::Param,
    }
}

fn space_name(space: Space) -> &'static str {
    match space {
        Space::Global => "global",
        Space::Shared => "shared",
        Space::Local => "local",
        Space::Const => "constant",
        Space::Param => "parameter",
        Space::Cluster => "cluster shared",
        Space::Generic => "generic",
    }
}

fn out_of_bounds(
    who: &str,
    verb: &str,
    bytes: u64,
    address: u64,
    space: Space,
    allocation: Option<&AllocationRef>,
) -> String {
    let name = space_name(space);
    match allocation {
        Some(a) => {
            let size = bytes as i64;
            let element = a.offset.div_euclid(size);
            let count = a.bytes / bytes;
            let where_ = if a.offset >= 0 {
                format!("{} bytes past its end", (a.offset + size - a.bytes as i64).max(0))
            } else {
                format!("{} bytes before its start", -a.offset)
            };
            let far = a.offset < -(1 << 32) || a.offset > a.bytes as i64 + (1 << 32);
            if far {
                return format!(
                    "{who} {verb} {bytes} bytes at {name} address {address:#x}, far from every array \
                     (a null or wild pointer?)"
                );
            }
            let range = if count > 0 {
                format!("valid elements are 0 to {}", count - 1)
            } else {
                "it holds no whole element".to_owned()
            };
            format!(
                "{who} {verb} `{}`[{element}] (elements of {bytes} bytes), {where_}; {range}, {} bytes in all",
                a.name, a.bytes
            )
        }
        None => format!("{who} {verb} {bytes} bytes at {name} address {address:#x}, where there is no array"),
    }
}

/// A memory element and the register row it goes to.
pub trait Element: Copy + 'static {
    type Row: Word;
    fn load(self) -> Self::Row;
    fn store(row: Self::Row) -> Self;
}

macro_rules! element {
    ($($mem:ty, $row:ty;)*) => {
        $(impl Element for As<$mem, $row> {
            type Row = $row;
            #[inline(always)]
            fn load(self) -> $row { self.0 as $row }
            #[inline(always)]
            fn store(row: $row) -> Self { As(row as $mem, std::marker::PhantomData) }
        })*
    };
}

/// `M` in memory, `R` in the register.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct As<M: Copy, R: Copy>(pub M, pub std::marker::PhantomData<R>);

element! {
    u8, u32; i8, u32; u16, u32; i16, u32; u32, u32;
    u8, u64; i8, u64; u16, u64; i16, u64; u32, u64; i32, u64; u64, u64;
    u64, u32; u128, u128;
}

/// Packs the window and flags of a memory instruction into `list_len`'s high half.
pub const STRONG: u32 = 1 << 16;
pub const WINDOW_SHIFT: u32 = 24;

pub fn window_code(window: Window) -> u32 {
    (window as u32) << WINDOW_SHIFT
}

#[inline(always)]
pub fn window_from(code: u32) -> Window {
    match code >> WINDOW_SHIFT {
        0 => Window::Generic,
        1 => Window::Global,
        2 => Window::Const,
        3 => Window::Shared,
        4 => Window::Local,
        _ => Window::Param,
    }
}

pub struct Load<E, A, const V: usize>(std::marker::PhantomData<(E, A)>);

impl<E: Element, A: AddressWord, const V: usize> Body for Load<E, A, V> {
    #[inline(always)]
    unsafe fn run<const WIDE: bool>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        // SAFETY: slots of a decoded instruction; pointers were range-checked for all lanes.
        unsafe {
            let bytes = (size_of::<E>() * V) as u64;
            let mut addresses = addresses::<A>(cx, op, bytes);
            let window = window_from(op.e.0);
            let found = match size_of::<E>() * V {
                1 => cx.reach_form::<WIDE, 1>(op, window, &mut addresses, AccessKind::Read),
                2 => cx.reach_form::<WIDE, 2>(op, window, &mut addresses, AccessKind::Read),
                4 => cx.reach_form::<WIDE, 4>(op, window, &mut addresses, AccessKind::Read),
                8 => cx.reach_form::<WIDE, 8>(op, window, &mut addresses, AccessKind::Read),
                16 => cx.reach_form::<WIDE, 16>(op, window, &mut addresses, AccessKind::Read),
                _ => cx.reach_form::<WIDE, 32>(op, window, &mut addresses, AccessKind::Read),
            };
            let reach = match found {
                Found::Yes(reach) => reach,
                Found::Mixed => return cx.one_by_one(op),
                Found::Fault => return Flow::Next,
            };
            let slots: &[super::op::Slot] = if V == 1 { &[op.d] } else { cx.image().list(op) };
            let mask = addresses.mask;
            if addresses.contiguous && reach.stride == 0 {
                let from = reach.lane(addresses.low, 0).cast::<E>().cast_const();
                for (index, slot) in slots.iter().enumerate().take(V) {
                    if slot.is_none() {
                        continue;
                    }
                    let row = cx.row_mut::<E::Row>(*slot);
                    for lane in 0..32 {
                        (*row)[lane] = from.add(lane * V + index).read_unaligned().load().to_raw();
                    }
                }
            } else if addresses.low == addresses.high && reach.stride == 0 {
                let from = reach.lane(addresses.low, 0).cast::<E>().cast_const();
                for (index, slot) in slots.iter().enumerate().take(V) {
                    if slot.is_none() {
                        continue;
                    }
                    let value = from.add(index).read_unaligned().load().to_raw();
                    super::lanes::blend(mask, cx.row_mut::<E::Row>(*slot), &[value; 32]);
                }
            } else {
                // Inactive lanes hold the address of an active one: all 32 may be read.
                for (index, slot) in slots.iter().enumerate().take(V) {
                    if slot.is_none() {
                        continue;
                    }
                    let mut out = [E::Row::ZERO; 32];
                    for lane in 0..32 {
                        let from = reach.lane(addresses.at[lane], lane).cast::<E>().cast_const();
                        out[lane] = from.add(index).read_unaligned().load().to_raw();
                    }
                    super::lanes::blend(mask, cx.row_mut::<E::Row>(*slot), &out);
                }
            }
            if op.e.0 & STRONG != 0 && cx.strong_load(op, &reach, &addresses) {
                return Flow::Yield;
            }
        }
        Flow::Next
    }
}

pub struct Store<E, A, const V: usize>(std::marker::PhantomData<(E, A)>);

impl<E: Element, A: AddressWord, const V: usize> Body for Store<E, A, V> {
    #[inline(always)]
    unsafe fn run<const WIDE: bool>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        // SAFETY: slots of a decoded instruction; pointers were range-checked for all lanes.
        unsafe {
            let bytes = (size_of::<E>() * V) as u64;
            let mut addresses = addresses::<A>(cx, op, bytes);
            let window = window_from(op.e.0);
            let found = match size_of::<E>() * V {
                1 => cx.reach_form::<WIDE, 1>(op, window, &mut addresses, AccessKind::Write),
                2 => cx.reach_form::<WIDE, 2>(op, window, &mut addresses, AccessKind::Write),
                4 => cx.reach_form::<WIDE, 4>(op, window, &mut addresses, AccessKind::Write),
                8 => cx.reach_form::<WIDE, 8>(op, window, &mut addresses, AccessKind::Write),
                16 => cx.reach_form::<WIDE, 16>(op, window, &mut addresses, AccessKind::Write),
                _ => cx.reach_form::<WIDE, 32>(op, window, &mut addresses, AccessKind::Write),
            };
            let reach = match found {
                Found::Yes(reach) => reach,
                Found::Mixed => return cx.one_by_one(op),
                Found::Fault => return Flow::Next,
            };
            cx.worker.writes += 1;
            // Before the value is there: who sees it on another host thread must find what it publishes.
            if op.e.0 & STRONG != 0 {
                cx.strong_store(op, &reach, &addresses);
            }
            let slots: &[super::op::Slot] = if V == 1 { &[op.b] } else { cx.image().list(op) };
            if addresses.contiguous && reach.stride == 0 {
                let to = reach.lane(addresses.low, 0).cast::<E>();
                for (index, slot) in slots.iter().enumerate().take(V) {
                    let row = cx.row::<E::Row>(*slot);
                    for lane in 0..32 {
                        to.add(lane * V + index).write_unaligned(E::store(E::Row::from_raw((*row)[lane])));
                    }
                }
            } else {
                for lane in lanes(addresses.mask) {
                    let to = reach.lane(addresses.at[lane], lane).cast::<E>();
                    for (index, slot) in slots.iter().enumerate().take(V) {
                        to.add(index).write_unaligned(E::store(cx.lane::<E::Row>(*slot, lane)));
                    }
                }
            }
        }
        Flow::Next
    }
}

/// A load of one element.
pub fn load_one<E: Element, A: AddressWord>() -> Exec {
    exec::<Load<E, A, 1>>()
}

/// A store of one element.
pub fn store_one<E: Element, A: AddressWord>() -> Exec {
    exec::<Store<E, A, 1>>()
}

/// A load of `V` elements.
pub fn load<E: Element, A: AddressWord>(vector: usize) -> Exec {
    match vector {
        1 => exec::<Load<E, A, 1>>(),
        2 => exec::<Load<E, A, 2>>(),
        4 => exec::<Load<E, A, 4>>(),
        _ => exec::<Load<E, A, 8>>(),
    }
}

/// A store of `V` elements.
pub fn store<E: Element, A: AddressWord>(vector: usize) -> Exec {
    match vector {
        1 => exec::<Store<E, A, 1>>(),
        2 => exec::<Store<E, A, 2>>(),
        4 => exec::<Store<E, A, 4>>(),
        _ => exec::<Store<E, A, 8>>(),
    }
}
