//! `mma` and `wmma.mma`: every shape and type of sm_75 to sm_121a, sparse and block-scaled forms included.
//!
//! The arithmetic and the fragments are in [`crate::num::mma`] and [`crate::num::fragment`]; here operands become
//! registers.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::{Row, Ty};
use crate::build::emit::{Decoded, Emit, Inst};
use crate::exec::cx::Cx;
use crate::exec::fault::{Detail, text_of};
use crate::exec::lanes::blend;
use crate::exec::op::{Flow, Op, Slot, Taint};
use crate::num::mma::form::{Form, Input, Output};
use crate::num::mma::warp::{Extra, Plan};
use crate::ptx::tree::Operand;
use crate::report::{Class, FaultKind};

pub const ROWS: &[Row] = &[
    Row { opcode: "mma", class: Class::Matrix, decode: mma, examples: &[] },
    Row { opcode: "wmma", class: Class::Matrix, decode: wmma, examples: &[] },
    Row { opcode: "ldmatrix", class: Class::Shared, decode: super::matrix_memory::ldmatrix, examples: &[] },
    Row { opcode: "stmatrix", class: Class::Shared, decode: super::matrix_memory::stmatrix, examples: &[] },
    Row { opcode: "movmatrix", class: Class::Warp, decode: super::matrix_memory::movmatrix, examples: &[] },
    Row { opcode: "wgmma", class: Class::Matrix, decode: super::wgmma::wgmma, examples: &[] },
];

/// The registers in braces of an operand, or the one register that stands without.
pub fn registers<'a>(operand: &'a Operand<'a>, count: usize, name: &str) -> Decoded<&'a [Operand<'a>]> {
    let list = match operand {
        Operand::Vector(list) => list.as_slice(),
        single => std::slice::from_ref(single),
    };
    if list.len() == count {
        Ok(list)
    } else {
        Err(format!("{name} of this form has {count} registers, not {}", list.len()))
    }
}

/// Keeps one value of a kind for each key, for as long as the program runs: there are only as many as PTX has forms.
pub fn intern<K: Eq + std::hash::Hash, V>(
    table: &'static OnceLock<Mutex<HashMap<K, &'static V>>>,
    key: K,
    make: impl FnOnce() -> V,
) -> &'static V {
    let mut known = table.get_or_init(Default::default).lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(key).or_insert_with(|| Box::leak(Box::new(make())))
}

fn plan_of(form: Form, arch: u32) -> &'static Plan {
    static PLANS: OnceLock<Mutex<HashMap<(Form, u32), &'static Plan>>> = OnceLock::new();
    intern(&PLANS, (form, arch), || Plan::new(form, arch))
}

fn wmma(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    match i.take_any(&["load", "store", "mma"]) {
        Some("load") => super::matrix_memory::wmma_load(e, i),
        Some("store") => super::matrix_memory::wmma_store(e, i),
        Some(_) => mma(e, i),
        None => i.unsupported(),
    }
}

/// Type of a register of A or B, and of C or D.
fn register_types(form: &Form) -> (Ty, Ty, Ty) {
    let of = |output: Output| match output {
        Output::F64 => Ty::B64,
        _ => Ty::B32,
    };
    (if form.a == Input::F64 { Ty::B64 } else { Ty::B32 }, of(form.c), of(form.d))
}

fn mma(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    // Every part of the opcode belongs to the form.
    i.take_where(|_| true);
    let form = Form::parse(i.opcode)?;
    form.check(e.arch.number, e.arch.specific).map_err(|why| format!("`{}`: {why}", i.opcode))?;
    let extra = usize::from(form.sparse.is_some()) * 2 + form.scale.map_or(0, |_| 4);
    i.expect(4 + extra)?;
    let [na, nb, nc, nd] = form.registers();
    let (ab, c_ty, d_ty) = register_types(&form);
    let mut slots = Vec::new();
    for operand in registers(&i.operands[1], na, "A")? {
        slots.push(e.src(operand, ab)?);
    }
    for operand in registers(&i.operands[2], nb, "B")? {
        slots.push(e.src(operand, ab)?);
    }
    for operand in registers(&i.operands[3], nc, "C")? {
        slots.push(e.src(operand, c_ty)?);
    }
    let mut rest = i.operands[4..].iter();
    if form.sparse.is_some() {
        for operand in rest.by_ref().take(2) {
            slots.push(e.src(operand, Ty::B32)?);
        }
    }
    while let (Some(data), Some(selectors)) = (rest.next(), rest.next()) {
        slots.push(e.src(registers(data, 1, "a scale")?.first().unwrap_or(data), Ty::B32)?);
        for selector in registers(selectors, 2, "a scale selector")? {
            slots.push(e.src(selector, Ty::U16)?);
        }
    }
    for operand in registers(&i.operands[0], nd, "D")? {
        slots.push(e.dst(operand, d_ty)?);
    }
    let mut op = e.op(if form.a == Input::F64 { run_f64 } else { run });
    op.imm = std::ptr::from_ref(plan_of(form, e.arch.number)) as i64;
    (op.list, op.list_len) = e.list(&slots);
    // For the counters: `isa::multiply_adds`. `m8n8k4` of f16 is four products.
    op.d = Slot((form.m * form.n * form.k * if form.is_quad() { 4 } else { 1 }) as u32);
    e.push(op, Taint::Compute);
    Ok(())
}

/// All lanes of the warp must be here. False: some are not, and it was reported.
pub fn whole_warp(cx: &mut Cx<'_>, name: &str) -> Result<(), Flow> {
    if let Some(flow) = cx.gather(u32::MAX, false) {
        return Err(flow);
    }
    if cx.mask != u32::MAX && cx.grid.options.checks.barrier {
        let missing = !cx.mask;
        let lane = cx.mask.trailing_zeros() as usize & 31;
        let why = if cx.warp.lanes != u32::MAX { "its warp has fewer than 32 threads" } else { "others have ended" };
        let message = format!(
            "{} executes {name} with {} of 32 lanes ({why}): the result is undefined",
            text_of(&cx.thread(lane)),
            32 - missing.count_ones()
        );
        let pc = cx.pc;
        cx.fault(FaultKind::MaskMisuse, pc, Some(lane), 1, message, Detail::default());
    }
    Ok(())
}

/// A row of 32-bit registers.
///
/// # Safety
/// `slot` must come from the decoder, for a 32-bit register or a constant, and the row must not be written while the
/// reference lives.
pub unsafe fn row<'r>(cx: &Cx<'_>, slot: Slot) -> &'r [u32; 32] {
    // SAFETY: passed on.
    unsafe { &*cx.row::<u32>(slot) }
}

unsafe fn run(cx: &mut Cx<'_>, op: &Op) -> Flow {
    // SAFETY: `imm` holds a plan that lives for ever; slots of a decoded instruction.
    unsafe {
        let plan = &*(op.imm as usize as *const Plan);
        let form = &plan.form;
        if let Err(flow) = whole_warp(cx, if form.wmma { "wmma.mma" } else { "mma" }) {
            return flow;
        }
        let slots = cx.image().list(op);
        let [na, nb, nc, nd] = form.registers();
        let mut rows = [&[0u32; 32]; 32];
        for (to, slot) in rows.iter_mut().zip(&slots[..na + nb + nc]) {
            *to = row(cx, *slot);
        }
        let mut rest = &slots[na + nb + nc..slots.len() - nd];
        let mut extra = Extra::default();
        if form.sparse.is_some() {
            extra.metadata = Some((row(cx, rest[0]), row(cx, rest[1])[0] as usize));
            rest = &rest[2..];
        }
        if form.scale.is_some() {
            let scale = |at: usize| {
                let selector = |slot: Slot| (row(cx, slot)[0] & 0xffff) as usize;
                (row(cx, rest[at]), selector(rest[at + 1]), selector(rest[at + 2]))
            };
            extra.scales = Some([scale(0), scale(3)]);
        }
        let mut d = [[0u32; 32]; 8];
        let (a, b, c) = (&rows[..na], &rows[na..na + nb], &rows[na + nb..na + nb + nc]);
        if let Err(undefined) = plan.run(a, b, c, extra, &mut d[..nd]) {
            report_undefined(cx, &undefined.to_string());
            return Flow::Next;
        }
        for (from, slot) in d.iter().zip(&slots[slots.len() - nd..]) {
            let to = cx.row_mut::<u32>(*slot);
            blend(cx.mask, to, from);
        }
    }
    Flow::Next
}

unsafe fn run_f64(cx: &mut Cx<'_>, op: &Op) -> Flow {
    // SAFETY: `imm` holds a plan that lives for ever; slots of a decoded instruction.
    unsafe {
        let plan = &*(op.imm as usize as *const Plan);
        let form = &plan.form;
        if let Err(flow) = whole_warp(cx, "mma") {
            return flow;
        }
        let slots = cx.image().list(op);
        let [na, nb, nc, nd] = form.registers();
        let mut rows = [&[0u64; 32]; 32];
        for (to, slot) in rows.iter_mut().zip(&slots[..na + nb + nc]) {
            *to = &*cx.row::<u64>(*slot);
        }
        let mut d = [[0u64; 32]; 8];
        let (a, b, c) = (&rows[..na], &rows[na..na + nb], &rows[na + nb..na + nb + nc]);
        plan.run_f64(a, b, c, &mut d[..nd]);
        for (from, slot) in d.iter().zip(&slots[na + nb + nc..]) {
            let to = cx.row_mut::<u64>(*slot);
            blend(cx.mask, to, from);
        }
    }
    Flow::Next
}

/// Operands that give no defined result.
pub fn report_undefined(cx: &mut Cx<'_>, why: &str) {
    let lane = cx.mask.trailing_zeros() as usize & 31;
    let message = format!("{}: {why}; the result is undefined", text_of(&cx.thread(lane)));
    let pc = cx.pc;
    cx.fault(FaultKind::UndefinedResult, pc, Some(lane), 1, message, Detail::default());
}
