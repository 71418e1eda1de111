//! The transfer of loads and stores between memory and registers, and what its size and kind need.

use std::mem::MaybeUninit;

use super::access::{Access, AddressWord, Prepared, Runs};
use super::quick::{Quick, Shape};
#[cfg(target_arch = "x86_64")]
use super::runs::{load_pairs_in_runs, store_pairs_in_runs};
use super::runs::{load_run, load_runs, store_run, store_runs};
use super::strong::{copy_whole, is_in_parts};
use crate::exec::cx::{Cx, lanes};
#[cfg(target_arch = "x86_64")]
use crate::exec::lanes::WIDE;
use crate::exec::lanes::{BASE, Body, Word, blend, exec, exec_widest, is_spare};
use crate::exec::op::{Exec, Flow, Op, Slot};
use crate::memory::space::Window;
use crate::report::AccessKind;

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

/// Finds and checks an access of `bytes` a lane.
///
/// # Safety
/// As [`Exec`].
#[inline(always)]
unsafe fn prepare<A: AddressWord>(
    cx: &mut Cx<'_>,
    op: &Op,
    bytes: usize,
    kind: AccessKind,
    access: &mut Access,
) -> Prepared {
    // SAFETY: passed on.
    unsafe {
        match bytes {
            1 => cx.prepare::<A, 1>(op, kind, access),
            2 => cx.prepare::<A, 2>(op, kind, access),
            4 => cx.prepare::<A, 4>(op, kind, access),
            8 => cx.prepare::<A, 8>(op, kind, access),
            16 => cx.prepare::<A, 16>(op, kind, access),
            _ => cx.prepare::<A, 32>(op, kind, access),
        }
    }
}

/// Finds, checks and counts a common access of `bytes` a lane.
///
/// # Safety
/// As [`Exec`]; the machine must have what `FORM` is for.
#[inline(always)]
unsafe fn quick<const FORM: u8, A: AddressWord, const WRITE: bool>(
    cx: &mut Cx<'_>,
    op: &Op,
    bytes: usize,
    found: &mut MaybeUninit<Runs>,
) -> Quick {
    // SAFETY: passed on.
    unsafe {
        match bytes {
            1 => cx.quick::<FORM, A, 1, WRITE>(op, found),
            2 => cx.quick::<FORM, A, 2, WRITE>(op, found),
            4 => cx.quick::<FORM, A, 4, WRITE>(op, found),
            8 => cx.quick::<FORM, A, 8, WRITE>(op, found),
            16 => cx.quick::<FORM, A, 16, WRITE>(op, found),
            _ => cx.quick::<FORM, A, 32, WRITE>(op, found),
        }
    }
}

/// Checks and counts an access of `bytes` a lane that lies as the last one of its instruction did; gives its runs, relative to lane 0.
///
/// # Safety
/// As [`Exec`]; the machine must have what `FORM` is for.
#[inline(always)]
unsafe fn followed<const FORM: u8, A: AddressWord, const WRITE: bool>(
    cx: &mut Cx<'_>,
    op: &Op,
    bytes: usize,
) -> Option<(Quick, *const Runs)> {
    // SAFETY: passed on.
    unsafe {
        let followed = cx.follow::<FORM, A>(op, bytes as u64)?;
        let quick = match bytes {
            1 => cx.accept::<FORM, 1, WRITE>(op, &followed),
            2 => cx.accept::<FORM, 2, WRITE>(op, &followed),
            4 => cx.accept::<FORM, 4, WRITE>(op, &followed),
            8 => cx.accept::<FORM, 8, WRITE>(op, &followed),
            16 => cx.accept::<FORM, 16, WRITE>(op, &followed),
            _ => cx.accept::<FORM, 32, WRITE>(op, &followed),
        };
        Some((quick, &raw const (*followed.pattern).runs))
    }
}

/// Runs an access lane by lane; out of line, so that the common access stays short, and in one form: what gains from wide
/// registers is `prepare`, which has its own.
///
/// # Safety
/// As [`Exec`].
#[inline(never)]
pub(crate) unsafe fn by_lanes<B: Body>(cx: &mut Cx<'_>, op: &Op) -> Flow {
    // SAFETY: passed on.
    unsafe { B::run::<BASE>(cx, op) }
}

pub struct Load<E, A, const V: usize>(std::marker::PhantomData<(E, A)>);

impl<E: Element, A: AddressWord, const V: usize> Body for Load<E, A, V> {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        let mut found = MaybeUninit::uninit();
        // SAFETY: slots of a decoded instruction; pointers were range-checked for all lanes; `found` is set where the
        // shape says so.
        unsafe {
            if const { is_spare(FORM) } || op.e.0 & STRONG != 0 {
                return by_lanes::<LoadLanes<E, A, V>>(cx, op);
            }
            let bytes = size_of::<E>() * V;
            let followed = if V <= 4 { followed::<FORM, A, false>(cx, op, bytes) } else { None };
            let (Quick { pointer, shape }, runs) = match followed {
                Some((quick, runs)) => (quick, runs),
                None => {
                    #[cfg(target_arch = "x86_64")]
                    if const { super::recalled::recalls::<FORM>(V) }
                        && let Some(flow) = super::recalled::load_recalled::<FORM, E, A, V>(cx, op)
                    {
                        return flow;
                    }
                    (quick::<FORM, A, false>(cx, op, bytes, &mut found), found.as_ptr())
                }
            };
            if shape == Shape::Other {
                #[cfg(target_arch = "x86_64")]
                if const { super::recalled::recalls::<FORM>(V) } {
                    super::recalled::note_anew::<A>(cx, op, bytes as u64, AccessKind::Read);
                }
                return by_lanes::<LoadLanes<E, A, V>>(cx, op);
            }
            let slots: &[Slot] = if V == 1 { &[op.d] } else { &cx.image().list(op)[..V] };
            #[cfg(target_arch = "x86_64")]
            if const { deals::<FORM, E>(V) || deals_wide::<FORM, E>(V) }
                && shape == Shape::Dense
                && !slots.contains(&Slot::NONE)
            {
                let row = |index: usize| cx.regs.add(slots[index].0 as usize).cast();
                match (FORM, V) {
                    (WIDE, 2) => super::deal_wide::load_pairs_of(parts_of_row(pointer), [row(0), row(1)]),
                    (WIDE, _) => super::deal_wide::load_quads(pointer.cast(), [row(0), row(1), row(2), row(3)]),
                    (_, 2) => super::deal::load_pairs(pointer.cast(), [row(0), row(1)]),
                    _ => super::deal::load_quads(pointer.cast(), [row(0), row(1), row(2), row(3)]),
                }
                return Flow::Next;
            }
            #[cfg(target_arch = "x86_64")]
            if const { V == 2 && (deals::<FORM, E>(V) || deals_wide::<FORM, E>(V)) }
                && shape == Shape::Runs
                && !slots.contains(&Slot::NONE)
            {
                let rows = [cx.row_mut::<u32>(slots[0]), cx.row_mut::<u32>(slots[1])];
                if load_pairs_in_runs::<FORM>(pointer, &*runs, rows) {
                    return Flow::Next;
                }
            }
            for (index, slot) in slots.iter().enumerate() {
                if slot.is_none() {
                    continue;
                }
                let row = cx.row_mut::<E::Row>(*slot);
                match shape {
                    Shape::Dense => load_run::<E, V, 32>(pointer.cast(), index, row, 0),
                    Shape::Same => *row = [pointer.cast::<E>().add(index).read_unaligned().load().to_raw(); 32],
                    #[cfg(target_arch = "x86_64")]
                    Shape::First if const { is_word::<FORM, E>(V) } => {
                        super::deal::copy_first(pointer.cast(), row.cast(), cx.mask);
                    }
                    Shape::First => {
                        for lane in 0..cx.mask.trailing_ones() as usize {
                            (*row)[lane & 31] =
                                pointer.cast::<E>().add(lane * V + index).read_unaligned().load().to_raw();
                        }
                    }
                    _ => load_runs::<E, V>(pointer, &*runs, index, row),
                }
            }
        }
        Flow::Next
    }
}

/// A load whose lanes are looked at one by one.
pub(crate) struct LoadLanes<E, A, const V: usize>(std::marker::PhantomData<(E, A)>);

impl<E: Element, A: AddressWord, const V: usize> Body for LoadLanes<E, A, V> {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        let mut access = Access::new();
        // SAFETY: slots of a decoded instruction; pointers were range-checked for all lanes; `prepare` set what its
        // answer says.
        unsafe {
            match prepare::<A>(cx, op, size_of::<E>() * V, AccessKind::Read, &mut access) {
                Prepared::Lanes => {}
                Prepared::Mixed => return cx.one_by_one(op),
                Prepared::Fault => return Flow::Next,
            }
            let (all, reach) = (access.all.assume_init_ref(), access.reach.assume_init_ref());
            let whole = const { is_in_parts::<E>(V) } && op.e.0 & STRONG != 0;
            let mut pieces = [[0u128; 2]; 32];
            if whole {
                for lane in lanes(all.mask) {
                    copy_whole(reach.lane(all.at[lane], lane), pieces[lane].as_mut_ptr().cast(), size_of::<E>() * V);
                }
            }
            let slots: &[Slot] = if V == 1 { &[op.d] } else { &cx.image().list(op)[..V] };
            for (index, slot) in slots.iter().enumerate() {
                if slot.is_none() {
                    continue;
                }
                let row = cx.row_mut::<E::Row>(*slot);
                let load = |lane: usize| {
                    let from = match whole {
                        true => pieces[lane].as_ptr().cast::<E>(),
                        false => reach.lane(all.at[lane], lane).cast::<E>().cast_const(),
                    };
                    (*row)[lane] = from.add(index).read_unaligned().load().to_raw();
                };
                match all.mask {
                    u32::MAX => (0..32).for_each(load),
                    some => lanes(some).for_each(load),
                }
            }
            if op.e.0 & STRONG != 0 && cx.strong_load(op, reach, all) {
                return Flow::Yield;
            }
        }
        Flow::Next
    }
}

pub struct Store<E, A, const V: usize>(std::marker::PhantomData<(E, A)>);

impl<E: Element, A: AddressWord, const V: usize> Body for Store<E, A, V> {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        let mut found = MaybeUninit::uninit();
        // SAFETY: slots of a decoded instruction; pointers were range-checked for all lanes; `found` is set where the
        // shape says so.
        unsafe {
            if const { is_spare(FORM) } || op.e.0 & STRONG != 0 {
                return by_lanes::<StoreLanes<E, A, V>>(cx, op);
            }
            let bytes = size_of::<E>() * V;
            let followed = if V <= 4 { followed::<FORM, A, true>(cx, op, bytes) } else { None };
            let (Quick { pointer, shape }, runs) = match followed {
                Some((quick, runs)) => (quick, runs),
                None => {
                    #[cfg(target_arch = "x86_64")]
                    if const { super::recalled::recalls::<FORM>(V) }
                        && let Some(flow) = super::recalled::store_recalled::<FORM, E, A, V>(cx, op)
                    {
                        return flow;
                    }
                    (quick::<FORM, A, true>(cx, op, bytes, &mut found), found.as_ptr())
                }
            };
            if shape == Shape::Other {
                #[cfg(target_arch = "x86_64")]
                if const { super::recalled::recalls::<FORM>(V) } {
                    super::recalled::note_anew::<A>(cx, op, bytes as u64, AccessKind::Write);
                }
                return by_lanes::<StoreLanes<E, A, V>>(cx, op);
            }
            let slots: &[Slot] = if V == 1 { &[op.b] } else { &cx.image().list(op)[..V] };
            #[cfg(target_arch = "x86_64")]
            if const { deals::<FORM, E>(V) || deals_wide::<FORM, E>(V) } && shape == Shape::Dense {
                let row = |index: usize| cx.row::<u32>(slots[index]);
                match (FORM, V) {
                    (WIDE, 2) => super::deal_wide::store_pairs_of(parts_of_row(pointer), [row(0), row(1)]),
                    (WIDE, _) => super::deal_wide::store_quads(pointer.cast(), [row(0), row(1), row(2), row(3)]),
                    (_, 2) => super::deal::store_pairs(pointer.cast(), [row(0), row(1)]),
                    _ => super::deal::store_quads(pointer.cast(), [row(0), row(1), row(2), row(3)]),
                }
                cx.worker.writes += 1;
                return Flow::Next;
            }
            #[cfg(target_arch = "x86_64")]
            if const { V == 2 && (deals::<FORM, E>(V) || deals_wide::<FORM, E>(V)) } && shape == Shape::Runs {
                let rows = [cx.row::<u32>(slots[0]), cx.row::<u32>(slots[1])];
                if store_pairs_in_runs::<FORM>(pointer, &*runs, rows) {
                    cx.worker.writes += 1;
                    return Flow::Next;
                }
            }
            for (index, slot) in slots.iter().enumerate() {
                let row = cx.row::<E::Row>(*slot);
                match shape {
                    Shape::Dense => store_run::<E, V, 32>(pointer.cast(), index, row, 0),
                    #[cfg(target_arch = "x86_64")]
                    Shape::First if const { is_word::<FORM, E>(V) } => {
                        super::deal::copy_first(row.cast(), pointer.cast(), cx.mask);
                    }
                    Shape::First => {
                        for lane in 0..cx.mask.trailing_ones() as usize {
                            let value = E::store(E::Row::from_raw((*row)[lane & 31]));
                            pointer.cast::<E>().add(lane * V + index).write_unaligned(value);
                        }
                    }
                    // The last lane's value stays.
                    Shape::Same => {
                        let value = E::store(E::Row::from_raw((*row)[31]));
                        pointer.cast::<E>().add(index).write_unaligned(value);
                    }
                    _ => store_runs::<E, V>(pointer, &*runs, index, row),
                }
            }
        }
        cx.worker.writes += 1;
        Flow::Next
    }
}

/// A store whose lanes are looked at one by one.
struct StoreLanes<E, A, const V: usize>(std::marker::PhantomData<(E, A)>);

impl<E: Element, A: AddressWord, const V: usize> Body for StoreLanes<E, A, V> {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        let mut access = Access::new();
        // SAFETY: slots of a decoded instruction; pointers were range-checked for all lanes; `prepare` set what its
        // answer says.
        unsafe {
            match prepare::<A>(cx, op, size_of::<E>() * V, AccessKind::Write, &mut access) {
                Prepared::Lanes => {}
                Prepared::Mixed => return cx.one_by_one(op),
                Prepared::Fault => return Flow::Next,
            }
            let (all, reach) = (access.all.assume_init_ref(), access.reach.assume_init_ref());
            // Before the value is there: who sees it on another host thread must find what it publishes.
            if op.e.0 & STRONG != 0 {
                cx.strong_store(op, reach, all);
            }
            let whole = const { is_in_parts::<E>(V) } && op.e.0 & STRONG != 0;
            let slots: &[Slot] = if V == 1 { &[op.b] } else { &cx.image().list(op)[..V] };
            for lane in lanes(all.mask) {
                let place = reach.lane(all.at[lane], lane);
                let mut piece = [0u128; 2];
                let to = if whole { piece.as_mut_ptr().cast() } else { place.cast::<E>() };
                for (index, slot) in slots.iter().enumerate() {
                    to.add(index).write_unaligned(E::store(cx.lane::<E::Row>(*slot, lane)));
                }
                if whole {
                    copy_whole(piece.as_ptr().cast(), place, size_of::<E>() * V);
                }
            }
        }
        cx.worker.writes += 1;
        Flow::Next
    }
}

/// A load of a kernel parameter at a place that the instruction names: the same for all lanes, initialised, and in no
/// race, so that it is one copy.
struct LoadParam<E, const V: usize>(std::marker::PhantomData<E>);

impl<E: Element, const V: usize> Body for LoadParam<E, V> {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        let (at, bytes) = (op.imm as u64, size_of::<E>() * V);
        let inside = at.checked_add(bytes as u64).is_some_and(|end| end <= cx.grid.launch.params.len() as u64);
        let aligned = at.is_multiple_of(bytes as u64);
        // SAFETY: slots of a decoded instruction; the range lies inside the parameters.
        unsafe {
            if !inside || !aligned || cx.watch & crate::exec::cx::watch::TRACE != 0 {
                return by_lanes::<LoadLanes<E, u64, V>>(cx, op);
            }
            let from = cx.grid.params.as_ptr().cast::<u8>().add(at as usize).cast::<E>();
            let slots: &[Slot] = if V == 1 { &[op.d] } else { &cx.image().list(op)[..V] };
            for (index, slot) in slots.iter().enumerate() {
                if !slot.is_none() {
                    let value = from.add(index).read_unaligned().load().to_raw();
                    blend(cx.mask, cx.row_mut::<E::Row>(*slot), &[value; 32]);
                }
            }
        }
        Flow::Next
    }
}

/// A load of `V` elements from a kernel parameter, which `imm` alone places.
pub fn load_param<E: Element>(vector: usize) -> Exec {
    match vector {
        1 => exec::<LoadParam<E, 1>>(),
        2 => exec::<LoadParam<E, 2>>(),
        4 => exec::<LoadParam<E, 4>>(),
        _ => exec::<LoadParam<E, 8>>(),
    }
}

/// Whether an element is a word in memory and in a register.
#[cfg(target_arch = "x86_64")]
pub const fn is_plain_word<E: Element>() -> bool {
    size_of::<E>() == 4 && size_of::<<E::Row as Word>::Raw>() == 4
}

/// Whether vectors of `vector` such elements move as whole words by AVX-512.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub const fn deals<const FORM: u8, E: Element>(vector: usize) -> bool {
    FORM == crate::exec::lanes::WIDEST && is_plain_word::<E>() && (vector == 2 || vector == 4)
}

/// Whether they do so by AVX2.
#[cfg(target_arch = "x86_64")]
const fn deals_wide<const FORM: u8, E: Element>(vector: usize) -> bool {
    FORM == WIDE && is_plain_word::<E>() && (vector == 2 || vector == 4)
}

/// The four parts of 32 pairs of words side by side.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn parts_of_row(pointer: *mut u8) -> [*mut u32; 4] {
    std::array::from_fn(|part| pointer.wrapping_add(64 * part).cast())
}

/// Whether such elements are single words that AVX-512 moves as they are.
#[cfg(target_arch = "x86_64")]
pub const fn is_word<const FORM: u8, E: Element>(vector: usize) -> bool {
    FORM == crate::exec::lanes::WIDEST && is_plain_word::<E>() && vector == 1
}

/// The form of `B`, which moves vectors of `E`, for this machine.
fn exec_vector<E: Element, B: Body>() -> Exec {
    if const { size_of::<E>() == 4 } { exec_widest::<B>() } else { exec::<B>() }
}

/// A load of one element.
pub fn load_one<E: Element, A: AddressWord>() -> Exec {
    exec_widest::<Load<E, A, 1>>()
}

/// A store of one element.
pub fn store_one<E: Element, A: AddressWord>() -> Exec {
    exec_widest::<Store<E, A, 1>>()
}

/// A load of `V` elements.
pub fn load<E: Element, A: AddressWord>(vector: usize) -> Exec {
    match vector {
        1 => load_one::<E, A>(),
        2 => exec_vector::<E, Load<E, A, 2>>(),
        4 => exec_vector::<E, Load<E, A, 4>>(),
        _ => exec::<Load<E, A, 8>>(),
    }
}

/// A store of `V` elements.
pub fn store<E: Element, A: AddressWord>(vector: usize) -> Exec {
    match vector {
        1 => store_one::<E, A>(),
        2 => exec_vector::<E, Store<E, A, 2>>(),
        4 => exec_vector::<E, Store<E, A, 4>>(),
        _ => exec::<Store<E, A, 8>>(),
    }
}
