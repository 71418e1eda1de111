//! Matrices between memory and registers: `ldmatrix`, `stmatrix` and `movmatrix`. `wmma.load` and `wmma.store` are in
//! `fragment_memory.rs`.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};

use super::Ty;
use super::matrix::{intern, registers, row, whole_warp};
use super::memory::{place, space};
use crate::decode::emit::{Decoded, Emit, Inst};
use crate::exec::cx::{Cx, lanes};
#[cfg(target_arch = "x86_64")]
use crate::exec::lanes::is_spare;
use crate::exec::lanes::{Body, blend, blend_as, exec_widest};
use crate::exec::memory::access::{AddressWord, Addresses, Found, addresses, window_code, window_from};
#[cfg(target_arch = "x86_64")]
use crate::exec::memory::recalled::recalled;
use crate::exec::op::{Flow, Op, Slot, Taint};
use crate::memory::space::Window;
use crate::num::mma::rows::{RowsForm, transpose};
use crate::num::mma::warp::Row as Registers;
use crate::report::AccessKind;

fn rows_form(form: RowsForm) -> &'static RowsForm {
    static FORMS: OnceLock<Mutex<HashMap<RowsForm, &'static RowsForm>>> = OnceLock::new();
    intern(&FORMS, form, || form)
}

pub fn ldmatrix(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    rows(e, i, false)
}

pub fn stmatrix(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    rows(e, i, true)
}

fn rows(e: &mut Emit<'_>, i: &mut Inst<'_>, store: bool) -> Decoded<()> {
    let window = space(i);
    i.take_where(|_| true);
    if !matches!(window, Window::Shared | Window::Generic) {
        return Err(format!("`{}` works on shared memory only", i.opcode));
    }
    let form = RowsForm::parse(i.opcode)?;
    form.check(e.arch.number, e.arch.specific, store).map_err(|why| format!("`{}`: {why}", i.opcode))?;
    i.expect(2)?;
    let (memory, vector) = if store { (0, 1) } else { (1, 0) };
    let place = place(e, &i.operands[memory], window)?;
    let mut slots = Vec::new();
    for operand in registers(&i.operands[vector], form.registers(), "this form")? {
        slots.push(if store { e.src(operand, Ty::B32)? } else { e.dst(operand, Ty::B32)? });
    }
    let mut op = e.op(match (store, place.wide) {
        (false, false) => exec_widest::<LoadRows<u32>>(),
        (false, true) => exec_widest::<LoadRows<u64>>(),
        (true, false) => exec_widest::<StoreRows<u32>>(),
        (true, true) => exec_widest::<StoreRows<u64>>(),
    });
    op.a = place.base;
    op.imm = place.offset;
    op.e = Slot(window_code(window));
    // The form travels as a pair of slots that are never read as such.
    let pointer = std::ptr::from_ref(rows_form(form)) as u64;
    op.c = Slot(pointer as u32);
    op.d = Slot((pointer >> 32) as u32);
    (op.list, op.list_len) = e.list(&slots);
    op.site = e.site(place.wide, 16);
    e.push(op, Taint::Memory);
    Ok(())
}

/// # Safety
/// `op` must come from [`rows`].
unsafe fn form_of(op: &Op) -> &'static RowsForm {
    let pointer = u64::from(op.c.0) | u64::from(op.d.0) << 32;
    // SAFETY: `rows` put the address of an interned form there.
    unsafe { &*(pointer as usize as *const RowsForm) }
}

/// Finds the rows that the first lanes point to. The mask is cut to those lanes.
unsafe fn reach_rows<A: AddressWord>(
    cx: &mut Cx<'_>,
    op: &Op,
    form: &RowsForm,
    kind: AccessKind,
) -> Option<(crate::exec::memory::access::Reach, Addresses)> {
    let window = window_from(op.e.0);
    let all = cx.mask;
    cx.mask &= u32::MAX >> (32 - form.rows());
    // SAFETY: passed on.
    let mut at = unsafe { addresses::<A>(cx, op, 16) };
    let found = match form.bytes() {
        8 => cx.reach::<8>(op, window, &mut at, 16, kind),
        12 => cx.reach::<12>(op, window, &mut at, 16, kind),
        _ => cx.reach::<16>(op, window, &mut at, 16, kind),
    };
    cx.mask = all;
    match found {
        Found::Yes(reach) => Some((reach, at)),
        Found::Mixed => {
            super::matrix::report_undefined(cx, "the rows of one matrix instruction lie in different arrays");
            None
        }
        Found::Fault => None,
    }
}

/// Rows at which the lanes of `mask` point to as they did the last time ([`crate::exec::memory::lay`]): copied to `memory`, or from
/// there (`WRITE`). False: it goes the long way; nothing was done.
///
/// # Safety
/// As [`crate::exec::op::Exec`]; the machine must have what `FORM` is for.
#[cfg_attr(not(target_arch = "x86_64"), expect(clippy::extra_unused_type_parameters, reason = "there are no lays"))]
#[inline(always)]
unsafe fn rows_recalled<const FORM: u8, const WRITE: bool, A: AddressWord>(
    cx: &mut Cx<'_>,
    op: &Op,
    form: &RowsForm,
    memory: &mut [[u8; 16]; 32],
) -> bool {
    #[cfg(target_arch = "x86_64")]
    if const { !is_spare(FORM) } && form.bytes() == 16 {
        let all = cx.mask;
        cx.mask &= u32::MAX >> (32 - form.rows());
        // SAFETY: passed on; rows of all lanes that run lie in one array.
        let done = cx.mask != 0
            && unsafe {
                match recalled::<FORM, A, WRITE>(cx, op) {
                    Some((pointer, offsets)) => {
                        for (lane, row) in memory.iter_mut().enumerate().take(form.rows()) {
                            let place = pointer.add((*offsets)[lane] as usize).cast::<[u8; 16]>();
                            match WRITE {
                                true if cx.mask >> lane & 1 != 0 => place.write_unaligned(*row),
                                true => {}
                                false => *row = place.read_unaligned(),
                            }
                        }
                        true
                    }
                    None => {
                        let kind = if WRITE { AccessKind::Write } else { AccessKind::Read };
                        cx.note_lay::<A>(op, 16, kind);
                        false
                    }
                }
            };
        cx.mask = all;
        return done;
    }
    let _ = (cx, op, form, memory);
    false
}

struct LoadRows<A>(std::marker::PhantomData<A>);

impl<A: AddressWord> Body for LoadRows<A> {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        // SAFETY: slots of a decoded instruction; pointers were range-checked.
        unsafe {
            if let Err(flow) = whole_warp(cx, "ldmatrix") {
                return flow;
            }
            let form = form_of(op);
            let mut memory = [[0u8; 16]; 32];
            if !rows_recalled::<FORM, false, A>(cx, op, form, &mut memory) {
                let Some((reach, at)) = reach_rows::<A>(cx, op, form, AccessKind::Read) else { return Flow::Next };
                for (lane, bytes) in memory.iter_mut().enumerate().take(form.rows()) {
                    std::ptr::copy_nonoverlapping(reach.lane(at.at[lane], lane), bytes.as_mut_ptr(), form.bytes());
                }
            }
            let mut out = [[0u32; 32]; 4];
            form.load(&memory, &mut out[..form.registers()]);
            for (from, slot) in out.iter().zip(cx.image().list(op)) {
                let to = cx.row_mut::<u32>(*slot);
                blend_as::<FORM, _>(cx.mask, to, from);
            }
        }
        Flow::Next
    }
}

struct StoreRows<A>(std::marker::PhantomData<A>);

impl<A: AddressWord> Body for StoreRows<A> {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        // SAFETY: slots of a decoded instruction; pointers were range-checked.
        unsafe {
            if let Err(flow) = whole_warp(cx, "stmatrix") {
                return flow;
            }
            let form = form_of(op);
            let slots = cx.image().list(op);
            let mut from: [&Registers; 4] = [&[0; 32]; 4];
            for (to, slot) in from.iter_mut().zip(slots) {
                *to = row(cx, *slot);
            }
            let mut memory = [[0u8; 16]; 32];
            form.store(&from[..slots.len()], &mut memory);
            if !rows_recalled::<FORM, true, A>(cx, op, form, &mut memory) {
                cx.rows = &raw const memory;
                let reached = reach_rows::<A>(cx, op, form, AccessKind::Write);
                cx.rows = std::ptr::null();
                let Some((reach, at)) = reached else { return Flow::Next };
                for lane in lanes(at.mask) {
                    std::ptr::copy_nonoverlapping(memory[lane].as_ptr(), reach.lane(at.at[lane], lane), 16);
                }
            }
            cx.worker.writes += 1;
        }
        Flow::Next
    }
}

pub fn movmatrix(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    for part in ["sync", "aligned", "m8n8", "trans", "b16"] {
        if !i.take(part) {
            return i.unsupported();
        }
    }
    e.simple1(i, run_transpose, Ty::B32, Ty::B32)
}

unsafe fn run_transpose(cx: &mut Cx<'_>, op: &Op) -> Flow {
    // SAFETY: slots of a decoded instruction.
    unsafe {
        if let Err(flow) = whole_warp(cx, "movmatrix") {
            return flow;
        }
        let out = transpose(row(cx, op.a));
        let to = cx.row_mut::<u32>(op.d);
        blend(cx.mask, to, &out);
    }
    Flow::Next
}
