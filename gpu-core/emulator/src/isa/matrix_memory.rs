//! Matrices between memory and registers: `ldmatrix`, `stmatrix`, `movmatrix`, `wmma.load` and `wmma.store`.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock};

use super::Ty;
use super::matrix::{intern, registers, row, whole_warp};
use super::memory::{class_of, place, space};
use crate::build::emit::{Decoded, Emit, Inst};
use crate::exec::access::{AddressWord, Addresses, Found, addresses, gathered, window_code, window_from};
use crate::exec::cx::{Cx, lanes};
#[cfg(target_arch = "x86_64")]
use crate::exec::lanes::is_spare;
use crate::exec::lanes::{Body, blend, blend_as, exec_widest};
use crate::exec::op::{Flow, Op, Slot, Taint};
#[cfg(target_arch = "x86_64")]
use crate::exec::recalled::recalled;
use crate::exec::space::Window;
use crate::num::fragment::{self, Accumulator};
use crate::num::mma::form::{Input, Kind as MmaKind};
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
) -> Option<(crate::exec::access::Reach, Addresses)> {
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

/// Rows at which the lanes of `mask` point to as they did the last time ([`crate::exec::lay`]): copied to `memory`, or from
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

/// One register-wide step of a `wmma` load or store: where the element group of each lane lies.
#[derive(Clone, Debug)]
struct Step {
    register: usize,
    /// Lowest bit of the group in the register.
    shift: u32,
    bytes: u32,
    /// Row and column (in the order of the leading dimension) of each lane's group, in elements.
    major: [u16; 32],
    minor: [u16; 32],
}

/// A `wmma` load or store, prepared.
#[derive(Clone, Debug)]
struct Transfer {
    element_bits: u32,
    /// Elements between rows when the instruction gives no stride.
    default_stride: u32,
    registers: usize,
    steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct TransferKey {
    part: char,
    m: usize,
    n: usize,
    k: usize,
    bits: u32,
    f16: bool,
    row: bool,
}

impl Transfer {
    fn new(key: TransferKey) -> Transfer {
        let TransferKey { part, m, n, k, bits, f16, row } = key;
        let mut steps: Vec<Step> = Vec::new();
        // (row, column) of one element of the matrix.
        let mut element: Box<dyn Fn(usize, usize, usize) -> (usize, usize)>;
        let per_register = if bits >= 32 { 1 } else { (32 / bits) as usize };
        let registers;
        let contiguous_along_column;
        match part {
            'a' => {
                let layout = fragment::Operand::wmma_a(m, k, per_register);
                registers = if f16 { 8 } else { layout.registers() };
                element = Box::new(move |lane, register, e| layout.at(lane, register, e));
                contiguous_along_column = row;
            }
            'b' => {
                let layout = fragment::Operand::wmma_b(m, n, k, per_register);
                registers = if f16 { 8 } else { layout.registers() };
                element = Box::new(move |lane, register, e| {
                    let (column, k) = layout.at(lane, register, e);
                    (k, column)
                });
                contiguous_along_column = !row;
            }
            _ => {
                let shape = Accumulator::new(m, n);
                registers = shape.per_lane() / per_register;
                element = Box::new(move |lane, register, e| shape.at(lane, register * per_register + e));
                contiguous_along_column = row != shape.transposed;
            }
        }
        // In memory, rows of a row-major matrix are `stride` apart, columns of a column-major one.
        if !row {
            let plain = element;
            element = Box::new(move |lane, register, e| {
                let (r, c) = plain(lane, register, e);
                (c, r)
            });
        }
        // Elements of one register are neighbours in memory or each on its own; sub-byte ones always are neighbours.
        let group = if contiguous_along_column || bits < 8 { per_register } else { 1 };
        for register in 0..registers {
            for first in (0..per_register).step_by(group) {
                let at = |lane: usize| element(lane, register, first);
                steps.push(Step {
                    register,
                    shift: if bits >= 32 { 0 } else { bits * first as u32 },
                    bytes: bits * group as u32 / 8,
                    major: std::array::from_fn(|lane| at(lane).0 as u16),
                    minor: std::array::from_fn(|lane| at(lane).1 as u16),
                });
            }
        }
        let (rows, columns) = match part {
            'a' => (m, k),
            'b' => (k, n),
            _ => (m, n),
        };
        Transfer { element_bits: bits, default_stride: if row { columns } else { rows } as u32, registers, steps }
    }
}

/// Which shapes have fragments of which elements: those of A and B, or those of C and D.
fn is_wmma_fragment(sum: bool, ty: &str, shape: (usize, usize, usize)) -> bool {
    let square = matches!(shape, (16, 16, 16) | (32, 8, 16) | (8, 32, 16));
    match ty {
        "f16" => square,
        "bf16" | "s8" | "u8" => square && !sum,
        "tf32" => shape == (16, 16, 8) && !sum,
        "f64" => shape == (8, 8, 4),
        "s4" | "u4" => shape == (8, 8, 32) && !sum,
        "b1" => shape == (8, 8, 128) && !sum,
        // Nothing multiplies 4-bit numbers into f32, but ptxas has the fragments.
        "f32" => sum && (square || matches!(shape, (16, 16, 8) | (8, 8, 32))),
        "s32" => sum && (square || matches!(shape, (8, 8, 32) | (8, 8, 128))),
        _ => false,
    }
}

fn wmma_transfer(e: &mut Emit<'_>, i: &mut Inst<'_>, store: bool) -> Decoded<()> {
    let window = space(i);
    let elsewhere = i.opcode.contains(".shared::cluster");
    if elsewhere || !matches!(window, Window::Generic | Window::Global | Window::Shared) {
        return Err(format!("`{}`: fragments lie in global memory or in shared memory of the own block", i.opcode));
    }
    let part = match i.take_any(&["a", "b", "c", "d"]) {
        Some("a") if !store => 'a',
        Some("b") if !store => 'b',
        Some("c") if !store => 'c',
        Some("d") if store => 'c',
        _ => return i.unsupported(),
    };
    let row = match i.take_any(&["row", "col"]) {
        Some(layout) => layout == "row",
        None => return i.unsupported(),
    };
    i.take_where(|p| matches!(p, "sync" | "aligned"));
    let [shape, ty] = i.take_where(|_| true)[..] else { return i.unsupported() };
    let dims = shape.strip_prefix('m').and_then(|s| s.split_once('n')).and_then(|(m, s)| {
        let (n, k) = s.split_once('k')?;
        Some((m.parse().ok()?, n.parse().ok()?, k.parse().ok()?))
    });
    let Some((m, n, k)) = dims else { return i.unsupported() };
    let bits = match (part, ty) {
        ('c', "f16") => 16,
        ('c', "f32" | "s32") => 32,
        ('c', "f64") | (_, "f64") => 64,
        ('c', _) => return i.unsupported(),
        _ => match Input::parse(ty) {
            Some(input) => input.container_bits(MmaKind::Plain),
            None => return i.unsupported(),
        },
    };
    let f16 = part != 'c' && ty == "f16";
    // Elements of less than a byte lie along k, row by row for A and column by column for B.
    let along_k = bits >= 8 || part == 'c' || row == (part == 'a');
    if !is_wmma_fragment(part == 'c', ty, (m, n, k)) || !along_k {
        return i.unsupported();
    }
    if e.arch.number < 80 && (matches!(ty, "bf16" | "tf32" | "f64") || (m, n, k) == (16, 16, 8)) {
        return Err(format!("`{}` needs sm_80 or higher, the module is for sm_{}", i.opcode, e.arch.number));
    }
    static TRANSFERS: OnceLock<Mutex<HashMap<TransferKey, &'static Transfer>>> = OnceLock::new();
    let key = TransferKey { part, m, n, k, bits, f16, row };
    let transfer = intern(&TRANSFERS, key, || Transfer::new(key));
    if i.operands.len() != 2 && i.operands.len() != 3 {
        i.expect(3)?;
    }
    e.class = class_of(window);
    let (memory, vector) = if store { (0, 1) } else { (1, 0) };
    let place = place(e, &i.operands[memory], window)?;
    let register = if bits == 64 { Ty::B64 } else { Ty::B32 };
    let mut slots = Vec::new();
    for operand in registers(&i.operands[vector], transfer.registers, "this fragment")? {
        slots.push(if store { e.src(operand, register)? } else { e.dst(operand, register)? });
    }
    let mut op = e.op(match (store, place.wide) {
        (false, false) => run_transfer::<u32, false>,
        (false, true) => run_transfer::<u64, false>,
        (true, false) => run_transfer::<u32, true>,
        (true, true) => run_transfer::<u64, true>,
    });
    op.a = place.base;
    op.imm = place.offset;
    op.b = match i.operands.get(2) {
        Some(stride) => e.src(stride, Ty::B32)?,
        None => e.pool.splat(u128::from(transfer.default_stride), 32),
    };
    op.e = Slot(window_code(window));
    let pointer = std::ptr::from_ref(transfer) as u64;
    op.c = Slot(pointer as u32);
    op.d = Slot((pointer >> 32) as u32);
    (op.list, op.list_len) = e.list(&slots);
    op.site = e.site(place.wide, transfer.steps.first().map_or(4, |step| step.bytes));
    e.push(op, Taint::Memory);
    Ok(())
}

pub fn wmma_load(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    wmma_transfer(e, i, false)
}

pub fn wmma_store(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    wmma_transfer(e, i, true)
}

unsafe fn run_transfer<A: AddressWord, const STORE: bool>(cx: &mut Cx<'_>, op: &Op) -> Flow {
    // SAFETY: slots of a decoded instruction; pointers were range-checked; `c` and `d` hold an interned transfer.
    unsafe {
        if let Err(flow) = whole_warp(cx, if STORE { "wmma.store" } else { "wmma.load" }) {
            return flow;
        }
        let pointer = u64::from(op.c.0) | u64::from(op.d.0) << 32;
        let transfer = &*(pointer as usize as *const Transfer);
        let base = addresses::<A>(cx, op, 1);
        let stride = *cx.row::<u32>(op.b);
        let slots = cx.image().list(op);
        let kind = if STORE { AccessKind::Write } else { AccessKind::Read };
        let mut out = vec![[0u64; 32]; if STORE { 0 } else { transfer.registers }];
        for step in &transfer.steps {
            let offset = |lane: usize| {
                let elements = u64::from(step.major[lane]) * u64::from(stride[lane]) + u64::from(step.minor[lane]);
                elements * u64::from(transfer.element_bits) / 8
            };
            let at = std::array::from_fn(|lane| base.at[lane].wrapping_add(offset(lane)));
            let bytes = u64::from(step.bytes);
            let mut at = gathered(at, cx.mask, bytes);
            let window = window_from(op.e.0);
            let mut written = [[0u8; 16]; 32];
            if STORE {
                let slot = slots[step.register];
                for (lane, written) in written.iter_mut().enumerate() {
                    let value = if transfer.element_bits == 64 {
                        (*cx.row::<u64>(slot))[lane]
                    } else {
                        u64::from((*cx.row::<u32>(slot))[lane] >> step.shift)
                    };
                    written[..step.bytes as usize].copy_from_slice(&value.to_le_bytes()[..step.bytes as usize]);
                }
                cx.rows = &raw const written;
            }
            let found = match step.bytes {
                1 => cx.reach::<1>(op, window, &mut at, 1, kind),
                2 => cx.reach::<2>(op, window, &mut at, 2, kind),
                4 => cx.reach::<4>(op, window, &mut at, 4, kind),
                _ => cx.reach::<8>(op, window, &mut at, 8, kind),
            };
            cx.rows = std::ptr::null();
            let reach = match found {
                Found::Yes(reach) => reach,
                Found::Mixed => {
                    super::matrix::report_undefined(cx, "the elements of one fragment lie in different arrays");
                    return Flow::Next;
                }
                Found::Fault => return Flow::Next,
            };
            for lane in lanes(cx.mask) {
                let memory = reach.lane(at.at[lane], lane);
                let mut bytes = [0u8; 8];
                if STORE {
                    std::ptr::copy_nonoverlapping(written[lane].as_ptr(), memory, step.bytes as usize);
                } else {
                    std::ptr::copy_nonoverlapping(memory, bytes.as_mut_ptr(), step.bytes as usize);
                    out[step.register][lane] |= u64::from_le_bytes(bytes) << step.shift;
                }
            }
        }
        if STORE {
            cx.worker.writes += 1;
        }
        for (from, slot) in out.iter().zip(slots) {
            if transfer.element_bits == 64 {
                let to = cx.row_mut::<u64>(*slot);
                blend(cx.mask, to, from);
            } else {
                let narrow: [u32; 32] = std::array::from_fn(|lane| from[lane] as u32);
                let to = cx.row_mut::<u32>(*slot);
                blend(cx.mask, to, &narrow);
            }
        }
    }
    Flow::Next
}
