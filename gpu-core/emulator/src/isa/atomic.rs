//! `atom` and `red`.

mod operations;
mod words;

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use words::update_words_far;

use super::memory::{ordering, place, space};
use super::movement::{get_wide, set_wide};
use super::{Row, Ty};
use crate::decode::emit::{Decoded, Emit, Inst};
use crate::exec::cx::{Cx, lanes};
use crate::exec::lanes::{Body, exec_widest};
use crate::exec::memory::access::{Access, AddressWord, Addresses, Prepared, Reach, STRONG, window_code};
use crate::exec::memory::words::Words;
use crate::exec::op::{Flow, Op, Slot, Taint};
use crate::exec::order::{BEFORE_STORE, UPDATE};
use crate::memory::space::Window;
use crate::num::arith16::{Kind, Mode, lanes2};
use crate::num::{Rounding, arith32, arith64, minmax};
use crate::ptx::tree::Operand;
use crate::report::{AccessKind, Class};

pub const ROWS: &[Row] = &[
    Row { opcode: "atom", class: Class::Atomic, decode: |e, i| atom(e, i, true), examples: &[] },
    Row { opcode: "red", class: Class::Atomic, decode: |e, i| atom(e, i, false), examples: &[] },
];

const OPERATIONS: &[&str] = &["add", "min", "max", "inc", "dec", "cas", "exch", "and", "or", "xor"];

/// What `Op::list_len` holds for an atomic: operation, type, vector width.
#[derive(Clone, Copy)]
struct Code {
    operation: u32,
    ty: Ty,
    vector: usize,
    returns: bool,
    /// One of [`words::update_words`], by their size in bytes; else 0.
    word: u32,
}

const TYPES: &[Ty] = &[
    Ty::U32,
    Ty::S32,
    Ty::B32,
    Ty::U64,
    Ty::S64,
    Ty::B64,
    Ty::F32,
    Ty::F64,
    Ty::F16,
    Ty::F16x2,
    Ty::BF16,
    Ty::BF16x2,
    Ty::B16,
    Ty::B128,
    Ty::U16,
];

fn pack(code: Code) -> u32 {
    let ty = TYPES.iter().position(|ty| *ty == code.ty).unwrap_or(0) as u32;
    code.operation | ty << 4 | (code.vector as u32) << 8 | u32::from(code.returns) << 12 | code.word << 13
}

fn unpack(word: u32) -> Code {
    Code {
        operation: word & 15,
        ty: TYPES[(word >> 4 & 15) as usize % TYPES.len()],
        vector: (word >> 8 & 15) as usize,
        returns: word >> 12 & 1 != 0,
        word: word >> 13 & 15,
    }
}

pub fn atom(e: &mut Emit<'_>, i: &mut Inst<'_>, returns: bool) -> Decoded<()> {
    if i.take("async") {
        if returns {
            return i.unsupported();
        }
        if !super::st_async::releases(i) {
            return super::st_async::decode(e, i, true);
        }
        i.take_any(&["multimem"]);
    }
    let window = space(i);
    let order = ordering(i) | STRONG;
    i.take("noftz");
    let Some(operation) = i.take_any(OPERATIONS) else { return i.unsupported() };
    let vector = match i.take_any(&["v2", "v4", "v8"]) {
        Some("v2") => 2,
        Some("v4") => 4,
        Some(_) => 8,
        None => 1,
    };
    let ty = i.ty()?;
    if !TYPES.contains(&ty) {
        return i.unsupported();
    }
    let supported = match operation {
        "add" => !matches!(ty, Ty::B32 | Ty::B64 | Ty::B128 | Ty::B16 | Ty::U16),
        "min" | "max" => !matches!(ty, Ty::B32 | Ty::B64 | Ty::B128 | Ty::B16 | Ty::F32 | Ty::F64),
        "inc" | "dec" => ty == Ty::U32,
        "cas" => matches!(ty, Ty::B16 | Ty::B32 | Ty::B64 | Ty::B128 | Ty::U32 | Ty::U64 | Ty::S32 | Ty::U16),
        "exch" => matches!(ty, Ty::B32 | Ty::B64 | Ty::B128 | Ty::U32 | Ty::U64 | Ty::S32 | Ty::F32 | Ty::S64),
        _ => matches!(ty, Ty::B32 | Ty::B64 | Ty::U32 | Ty::U64 | Ty::S32),
    };
    if !supported {
        return i.unsupported();
    }
    let base = usize::from(returns);
    let cas = operation == "cas";
    let least = base + 2 + usize::from(cas);
    // A cache policy may come last.
    if i.operands.len() < least || i.operands.len() > least + 1 {
        i.expect(least)?;
    }
    let place = place(e, &i.operands[base], window)?;
    let mut op = e.op(if place.wide { exec_widest::<Atom<u64>>() } else { exec_widest::<Atom<u32>>() });
    op.a = place.base;
    op.imm = place.offset;
    op.e = Slot(window_code(window) | order);
    let code = Code {
        operation: OPERATIONS.iter().position(|name| *name == operation).unwrap_or(0) as u32,
        ty,
        vector,
        returns,
        word: if vector == 1 && words::is_known(operation, ty) { ty.bits() / 8 } else { 0 },
    };
    op.list_len = pack(code);
    if vector > 1 {
        let Operand::Vector(values) = &i.operands[base + 1] else { return i.unsupported() };
        if values.len() != vector {
            return i.unsupported();
        }
        let mut slots = Vec::new();
        for value in values {
            slots.push(e.src(value, ty)?);
        }
        if returns {
            let Operand::Vector(targets) = &i.operands[0] else { return i.unsupported() };
            for target in targets {
                slots.push(if *target == Operand::Sink { Slot::NONE } else { e.dst(target, ty)? });
            }
        }
        op.list = e.list(&slots).0;
    } else {
        op.b = e.src(&i.operands[base + 1], ty)?;
        if cas {
            op.c = e.src(&i.operands[base + 2], ty)?;
        }
        if returns && i.operands[0] != Operand::Sink {
            op.d = e.dst(&i.operands[0], ty)?;
        }
    }
    op.site = e.site(place.wide, ty.bits() / 8 * vector as u32);
    e.push(op, Taint::Memory);
    Ok(())
}

/// The new value of a location. `flush`: at the L2 cache, where f32 additions flush subnormals.
#[inline]
fn apply(operation: u32, ty: Ty, flush: bool, old: u128, b: u128, c: u128) -> u128 {
    let narrow = Mode::default();
    let min = minmax::Modifiers::default();
    let max = minmax::Modifiers { max: true, ..min };
    match (operation, ty) {
        (0, Ty::F32) => {
            let sum = arith32::add(
                f32::from_bits(old as u32),
                f32::from_bits(b as u32),
                arith32::Mode { ftz: flush, ..arith32::Mode::RN },
            );
            u128::from(sum.to_bits())
        }
        (0, Ty::F64) => {
            let (x, y) = (f64::from_bits(old as u64), f64::from_bits(b as u64));
            // A NaN that is there stays: bit for bit at the L2 cache, made quiet in shared memory.
            let sum = if flush && x.is_nan() { x } else { arith64::add(y, x, Rounding::Rn) };
            u128::from(sum.to_bits())
        }
        (0, Ty::F16) => u128::from(Kind::F16.add(old as u16, b as u16, narrow)),
        (0, Ty::BF16) => u128::from(Kind::Bf16.add(old as u16, b as u16, narrow)),
        (0, Ty::F16x2) => u128::from(lanes2(old as u32, b as u32, |x, y| Kind::F16.add(x, y, narrow))),
        (0, Ty::BF16x2) => u128::from(lanes2(old as u32, b as u32, |x, y| Kind::Bf16.add(x, y, narrow))),
        (0, _) if ty.bits() == 64 => u128::from((old as u64).wrapping_add(b as u64)),
        (0, _) => u128::from((old as u32).wrapping_add(b as u32)),
        (1, Ty::S32) => u128::from((old as i32).min(b as i32) as u32),
        (1, Ty::S64) => u128::from((old as i64).min(b as i64) as u64),
        (2, Ty::S32) => u128::from((old as i32).max(b as i32) as u32),
        (2, Ty::S64) => u128::from((old as i64).max(b as i64) as u64),
        (1, Ty::F16) => u128::from(minmax::f16(old as u16, b as u16, min)),
        (2, Ty::F16) => u128::from(minmax::f16(old as u16, b as u16, max)),
        (1, Ty::BF16) => u128::from(minmax::bf16(old as u16, b as u16, min)),
        (2, Ty::BF16) => u128::from(minmax::bf16(old as u16, b as u16, max)),
        (1, Ty::F16x2) => u128::from(lanes2(old as u32, b as u32, |x, y| minmax::f16(x, y, min))),
        (2, Ty::F16x2) => u128::from(lanes2(old as u32, b as u32, |x, y| minmax::f16(x, y, max))),
        (1, Ty::BF16x2) => u128::from(lanes2(old as u32, b as u32, |x, y| minmax::bf16(x, y, min))),
        (2, Ty::BF16x2) => u128::from(lanes2(old as u32, b as u32, |x, y| minmax::bf16(x, y, max))),
        (1, _) => old.min(b),
        (2, _) => old.max(b),
        (3, _) => {
            let (old, b) = (old as u32, b as u32);
            u128::from(if old >= b { 0 } else { old + 1 })
        }
        (4, _) => {
            let (old, b) = (old as u32, b as u32);
            u128::from(if old == 0 || old > b { b } else { old - 1 })
        }
        (5, _) => {
            if old == b {
                c
            } else {
                old
            }
        }
        (6, _) => b,
        (7, _) => old & b,
        (8, _) => old | b,
        _ => old ^ b,
    }
}

static WIDE: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// Updates one location; other host threads may be at it too.
unsafe fn update(pointer: *mut u8, bits: u32, f: impl Fn(u128) -> u128) -> u128 {
    // SAFETY: the caller checked range and alignment; device memory is only accessed through raw pointers.
    unsafe {
        match bits {
            16 => {
                let word = AtomicU32::from_ptr((pointer as usize & !3) as *mut u32);
                let shift = (pointer as usize & 2) * 8;
                let mut old = word.load(Ordering::Relaxed);
                loop {
                    let half = old >> shift & 0xffff;
                    let new = old & !(0xffff << shift) | (f(u128::from(half)) as u32 & 0xffff) << shift;
                    match word.compare_exchange_weak(old, new, UPDATE, Ordering::Relaxed) {
                        Ok(_) => return u128::from(half),
                        Err(now) => old = now,
                    }
                }
            }
            32 => {
                let word = AtomicU32::from_ptr(pointer.cast());
                let mut old = word.load(Ordering::Relaxed);
                loop {
                    let new = f(u128::from(old)) as u32;
                    match word.compare_exchange_weak(old, new, UPDATE, Ordering::Relaxed) {
                        Ok(_) => return u128::from(old),
                        Err(now) => old = now,
                    }
                }
            }
            64 => {
                let word = AtomicU64::from_ptr(pointer.cast());
                let mut old = word.load(Ordering::Relaxed);
                loop {
                    let new = f(u128::from(old)) as u64;
                    match word.compare_exchange_weak(old, new, UPDATE, Ordering::Relaxed) {
                        Ok(_) => return u128::from(old),
                        Err(now) => old = now,
                    }
                }
            }
            _ => {
                let _guard = WIDE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                // Loads ask no lock: what was written before must be there first.
                fence(BEFORE_STORE);
                let old = pointer.cast::<u128>().read_unaligned();
                pointer.cast::<u128>().write_unaligned(f(old));
                old
            }
        }
    }
}

/// An atomic with addresses in registers of `A`.
struct Atom<A>(std::marker::PhantomData<A>);

impl<A: AddressWord> Body for Atom<A> {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        let code = unpack(op.list_len);
        let mut access = Access::new();
        let kind = AccessKind::Atomic;
        // SAFETY: slots of a decoded instruction; pointers were range-checked; `prepare` set what its answer says.
        unsafe {
            let prepared = match code.ty.bits() / 8 * code.vector as u32 {
                2 => cx.prepare::<A, 2>(op, kind, &mut access),
                4 => cx.prepare::<A, 4>(op, kind, &mut access),
                8 => cx.prepare::<A, 8>(op, kind, &mut access),
                16 => cx.prepare::<A, 16>(op, kind, &mut access),
                _ => cx.prepare::<A, 32>(op, kind, &mut access),
            };
            match prepared {
                Prepared::Lanes => {}
                Prepared::Mixed => return cx.one_by_one(op),
                Prepared::Fault => return Flow::Next,
            }
            let (at, reach) = (access.all.assume_init_ref(), access.reach.assume_init_ref());
            cx.release(op, reach, at);
            let mut offsets = [0; 32];
            let words = Words::of(reach, at, &mut offsets);
            let changed = match words.filter(|_| code.word != 0) {
                Some(words) => update_words_far::<FORM>(cx, op, code, &words),
                None => update_any(cx, op, code, reach, at),
            };
            cx.acquire(op, reach, at);
            finish(cx, code, changed)
        }
    }
}

/// What follows an atomic.
#[inline(always)]
fn finish(cx: &mut Cx<'_>, code: Code, changed: bool) -> Flow {
    if changed {
        cx.worker.writes += 1;
    }
    // An update that changes nothing is a poll: the compare-and-swap that fails, and the 0 that is added to look at a
    // counter. So is any compare-and-swap or exchange, which a lock spins on.
    if (matches!(code.operation, 5 | 6) || !changed && code.returns) && cx.polled() {
        return Flow::Yield;
    }
    Flow::Next
}

/// Nobody reads what an atomic gives back: it need not be put together.
pub fn forget_result(op: &mut Op) {
    if [exec_widest::<Atom<u64>>(), exec_widest::<Atom<u32>>()].into_iter().any(|run| std::ptr::fn_addr_eq(op.run, run))
    {
        op.d = Slot::NONE;
    }
}

/// Atomics of any kind, lane by lane. True when one changed memory.
///
/// # Safety
/// `reach` must hold for all of `at`.
#[inline(never)]
unsafe fn update_any(cx: &mut Cx<'_>, op: &Op, code: Code, reach: &Reach, at: &Addresses) -> bool {
    let bits = code.ty.bits();
    let slots = if code.vector > 1 {
        // Sources, then targets when there are any.
        &cx.image().lists[op.list as usize..][..code.vector * (1 + usize::from(code.returns))]
    } else {
        &[][..]
    };
    let mut changed = false;
    // The unit at the L2 cache adds f32 with subnormals flushed; in shared memory the SM adds and keeps them.
    let flush = reach.window == Window::Global;
    for lane in lanes(at.mask) {
        // SAFETY: as the caller says; slots of a decoded instruction.
        unsafe {
            let pointer = reach.lane(at.at[lane], lane);
            for element in 0..code.vector {
                let source = if code.vector > 1 { slots[element] } else { op.b };
                let b = get_wide(cx, source, lane, bits);
                let c = if code.operation == 5 { get_wide(cx, op.c, lane, bits) } else { 0 };
                let place = pointer.add(element * bits as usize / 8);
                let new = std::cell::Cell::new(0);
                let old = update(place, bits, |old| {
                    new.set(apply(code.operation, code.ty, flush, old, b, c));
                    new.get()
                });
                changed |= new.get() != old;
                let target = if code.vector > 1 && code.returns { slots[code.vector + element] } else { op.d };
                if code.returns && !target.is_none() {
                    set_wide(cx, target, lane, bits.max(32), old);
                }
            }
        }
    }
    changed
}

/// Applies one reduction to a location, as bulk reductions do.
///
/// # Safety
/// `pointer` must be valid and aligned for the type.
pub unsafe fn update_with(pointer: *mut u8, operation: u32, ty: Ty, value: u128) {
    // SAFETY: passed on.
    unsafe { update(pointer, ty.bits(), |old| apply(operation, ty, false, old, value, 0)) };
}
