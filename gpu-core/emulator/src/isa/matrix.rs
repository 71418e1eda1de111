//! `mma` and `wmma.mma`: every shape and type of sm_75 to sm_121a, sparse and block-scaled forms included.
//!
//! The arithmetic and the fragments are in [`crate::num::mma`] and [`crate::num::fragment`]; here operands become
//! registers.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::{Row, Ty, example};
use crate::check::repeats::Told;
use crate::decode::emit::{Decoded, Emit, Inst};
use crate::exec::cx::Cx;
use crate::exec::fault::{Detail, text_of};
use crate::exec::lanes::blend;
use crate::exec::op::{Flow, Op, Slot, Taint};
use crate::num::mma::form::{Form, Input, Output};
use crate::num::mma::warp::{Extra, Plan};
use crate::ptx::tree::Operand;
use crate::report::{Class, FaultKind};

pub const ROWS: &[Row] = &[
    Row {
        opcode: "mma",
        class: Class::Matrix,
        decode: mma,
        examples: &[
            // Sixteen products of 1 and 2, and a half.
            example(
                "{.reg .b32 %e<3>; mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%d,%e0,%e1,%e2}, {%a,%a,%a,%a}, {%b,%b}, {%c,%c,%c,%c};}",
                &[(32, 0x3c00_3c00), (32, 0x4000_4000), (32, 0x3f00_0000)],
                (32, 0x4202_0000),
            ),
            example(
                "{.reg .b32 %e; mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%d,%e}, {%a,%a,%a,%a}, {%b,%b}, {%c,%c};}",
                &[(32, 0x3c00_3c00), (32, 0x4000_4000), (32, 0x3800_3800)],
                (32, 0x5010_5010),
            ),
            example(
                "{.reg .b32 %e<3>; mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%d,%e0,%e1,%e2}, {%a,%a}, {%b}, {%c,%c,%c,%c};}",
                &[(32, 0x3f80_3f80), (32, 0x4000_4000), (32, 0)],
                (32, 0x4180_0000),
            ),
            // tf32 ignores the lower 13 bits.
            example(
                "{.reg .b32 %e<3>; mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {%d,%e0,%e1,%e2}, {%a,%a}, {%b}, {%c,%c,%c,%c};}",
                &[(32, 0x3f80_1fff), (32, 0x4000_0000), (32, 0)],
                (32, 0x4100_0000),
            ),
            example(
                "{.reg .b32 %e<3>; mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%d,%e0,%e1,%e2}, {%a,%a,%a,%a}, {%b,%b}, {%c,%c,%c,%c};}",
                &[(32, 0x3838_3838), (32, 0x4040_4040), (32, 0)],
                (32, 0x4280_0000),
            ),
            example(
                "{.reg .b32 %e<3>; mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%d,%e0,%e1,%e2}, {%a,%a,%a,%a}, {%b,%b}, {%c,%c,%c,%c};}",
                &[(32, 0xffff_ffff), (32, 0x0202_0202), (32, 5)],
                (32, 0xffff_ffc5),
            ),
            example(
                "{.reg .b32 %e; mma.sync.aligned.m8n8k32.row.col.satfinite.s32.u4.s4.s32 {%d,%e}, {%a}, {%b}, {%c,%c};}",
                &[(32, 0xffff_ffff), (32, 0x7777_7777), (32, 0x7fff_fff0)],
                (32, 0x7fff_ffff),
            ),
            example(
                "{.reg .b32 %e<3>; mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.xor.popc {%d,%e0,%e1,%e2}, {%a,%a}, {%b}, {%c,%c,%c,%c};}",
                &[(32, 0x0000_00ff), (32, 0x0000_000f), (32, 1)],
                (32, 17),
            ),
            example(
                "{.reg .b64 %e; mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d,%e}, {%a}, {%b}, {%c,%c};}",
                &[(64, 0x3ff0_0000_0000_0000), (64, 0x4000_0000_0000_0000), (64, 0x3ff0_0000_0000_0000)],
                (64, 0x4022_0000_0000_0000),
            ),
            // Metadata 0b0100 everywhere: the stored pair stands in front. Eight of sixteen products remain.
            example(
                "{.reg .b32 %e<3>, %m; mov.b32 %m, 0x44444444; mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%d,%e0,%e1,%e2}, {%a,%a}, {%b,%b}, {%c,%c,%c,%c}, %m, 0x3;}",
                &[(32, 0x3c00_3c00), (32, 0x4000_4000), (32, 0)],
                (32, 0x4180_0000),
            ),
            // In byte containers an e2m1 1.0 (code 2) lies in bits 2 to 5.
            example(
                "{.reg .b32 %e<3>; mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e3m2.f32 {%d,%e0,%e1,%e2}, {%a,%a,%a,%a}, {%b,%b}, {%c,%c,%c,%c};}",
                &[(32, 0x0808_0808), (32, 0x1010_1010), (32, 0)],
                (32, 0x4280_0000),
            ),
            // Scales 2^1 and 2^2.
            example(
                "{.reg .b32 %e<3>, %s, %t; mov.b32 %s, 0x80808080; mov.b32 %t, 0x81818181; mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e4m3.f32.ue8m0 {%d,%e0,%e1,%e2}, {%a,%a,%a,%a}, {%b,%b}, {%c,%c,%c,%c}, {%s}, {2, 1}, {%t}, {3, 1};}",
                &[(32, 0x3838_3838), (32, 0x4040_4040), (32, 0)],
                (32, 0x4400_0000),
            ),
            // e2m1 1 and 2, scales 2 and 2: 64 * 2 * 4.
            example(
                "{.reg .b32 %e<3>, %s; mov.b32 %s, 0x40404040; mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3 {%d,%e0,%e1,%e2}, {%a,%a,%a,%a}, {%b,%b}, {%c,%c,%c,%c}, {%s}, {0, 0}, {%s}, {0, 0};}",
                &[(32, 0x2222_2222), (32, 0x4444_4444), (32, 0)],
                (32, 0x4400_0000),
            ),
        ],
    },
    Row {
        opcode: "wmma",
        class: Class::Matrix,
        decode: wmma,
        examples: &[
            example(
                "{.reg .b32 %e<7>; wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%d,%e0,%e1,%e2,%e3,%e4,%e5,%e6}, {%a,%a,%a,%a,%a,%a,%a,%a}, {%b,%b,%b,%b,%b,%b,%b,%b}, {%c,%c,%c,%c,%c,%c,%c,%c};}",
                &[(32, 0x3c00_3c00), (32, 0x4000_4000), (32, 0x3f00_0000)],
                (32, 0x4202_0000),
            ),
            example(
                "{.reg .b32 %e<7>; wmma.mma.sync.aligned.row.col.m16n16k16.s32.u8.u8.s32 {%d,%e0,%e1,%e2,%e3,%e4,%e5,%e6}, {%a,%a}, {%b,%b}, {%c,%c,%c,%c,%c,%c,%c,%c};}",
                &[(32, 0xffff_ffff), (32, 0x0202_0202), (32, 5)],
                (32, 8165),
            ),
        ],
    },
    Row {
        opcode: "ldmatrix",
        class: Class::Shared,
        decode: super::matrix_memory::ldmatrix,
        examples: &[example(
            "{.reg .b32 %s, %l; .shared .align 16 .b8 rows[512]; mov.u32 %l, %laneid; shl.b32 %l, %l, 4; mov.u32 %s, rows; add.u32 %s, %s, %l; \
             st.shared.v4.b32 [%s], {%a,%a,%a,%a}; bar.warp.sync -1; ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%d}, [%s];}",
            &[(32, 0x0007_0007)],
            (32, 0x0007_0007),
        )],
    },
    Row {
        opcode: "stmatrix",
        class: Class::Shared,
        decode: super::matrix_memory::stmatrix,
        examples: &[example(
            "{.reg .b32 %s, %l; .shared .align 16 .b8 rows[512]; mov.u32 %l, %laneid; shl.b32 %l, %l, 4; mov.u32 %s, rows; add.u32 %s, %s, %l; \
             stmatrix.sync.aligned.m8n8.x4.shared.b16 [%s], {%a,%a,%a,%a}; bar.warp.sync -1; ld.shared.b32 %d, [%s+12];}",
            &[(32, 0x0007_0009)],
            (32, 0x0007_0009),
        )],
    },
    Row {
        opcode: "movmatrix",
        class: Class::Warp,
        decode: super::matrix_memory::movmatrix,
        examples: &[example("movmatrix.sync.aligned.m8n8.trans.b16 %d, %a;", &[(32, 0x0007_0007)], (32, 0x0007_0007))],
    },
    // Its examples need a warpgroup and sm_90a: see tests/matrix.rs.
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
    /// A form, its architecture, and whether it is computed in lanes.
    type Key = (Form, u32, bool);
    static PLANS: OnceLock<Mutex<HashMap<Key, &'static Plan>>> = OnceLock::new();
    intern(&PLANS, (form, arch, crate::exec::lanes::chosen().matrix_lanes), || Plan::new(form, arch))
}

fn wmma(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    match i.take_any(&["load", "store", "mma"]) {
        Some("load") => super::fragment_memory::wmma_load(e, i),
        Some("store") => super::fragment_memory::wmma_store(e, i),
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
    form.check(e.arch.number, e.arch.specific, e.arch.exact).map_err(|why| format!("`{}`: {why}", i.opcode))?;
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
            // CUTLASS writes braces around the metadata.
            slots.push(e.src(registers(operand, 1, "the metadata")?.first().unwrap_or(operand), Ty::B32)?);
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
    let pc = cx.pc;
    if cx.mask != u32::MAX && cx.grid.options.checks.barrier && !cx.repeats(Told::alone(FaultKind::MaskMisuse, pc), 1) {
        let missing = !cx.mask;
        let lane = cx.mask.trailing_zeros() as usize & 31;
        let why = if cx.warp.lanes != u32::MAX { "its warp has fewer than 32 threads" } else { "others have ended" };
        let message = format!(
            "{} executes {name} with {} of 32 lanes ({why}): the result is undefined",
            text_of(&cx.thread(lane)),
            32 - missing.count_ones()
        );
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

/// The plan of a product; None for other instructions, and for products of f64.
pub fn plan(op: &Op) -> Option<&'static Plan> {
    // SAFETY: `imm` of a product holds a plan that lives for ever.
    (op.run as usize == run as crate::exec::op::Exec as usize).then(|| unsafe { &*(op.imm as usize as *const Plan) })
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
    let pc = cx.pc;
    if cx.repeats(Told::alone(FaultKind::UndefinedResult, pc), 1) {
        return;
    }
    let lane = cx.mask.trailing_zeros() as usize & 31;
    let message = format!("{}: {why}; the result is undefined", text_of(&cx.thread(lane)));
    cx.fault(FaultKind::UndefinedResult, pc, Some(lane), 1, message, Detail::default());
}
