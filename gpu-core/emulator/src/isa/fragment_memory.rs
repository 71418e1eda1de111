//! Fragments of the matrix units between memory and registers: `wmma.load` and `wmma.store`.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::{Mutex, OnceLock};

use super::Ty;
use super::matrix::{intern, registers, whole_warp};
use super::memory::{class_of, place, space};
use crate::decode::emit::{Decoded, Emit, Inst};
use crate::exec::cx::{Cx, lanes};
use crate::exec::lanes::{Body, blend, exec_widest};
use crate::exec::memory::access::{AddressWord, Found, addresses, gathered, window_code, window_from};
use crate::exec::op::{Flow, Op, Slot, Taint};
use crate::memory::space::Window;
use crate::num::fragment::{self, Accumulator};
use crate::num::mma::form::{Input, Kind as MmaKind};
use crate::report::AccessKind;

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
        // Elements of a row, or of a column.
        let length = match (part, row) {
            ('a', true) | ('b', false) => k,
            ('a', false) => m,
            (_, true) => n,
            (_, false) => m,
        };
        Transfer { element_bits: bits, default_stride: length as u32, registers, steps }
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
        (false, false) => exec_widest::<LoadFragment<u32>>(),
        (false, true) => exec_widest::<LoadFragment<u64>>(),
        (true, false) => exec_widest::<StoreFragment<u32>>(),
        (true, true) => exec_widest::<StoreFragment<u64>>(),
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

/// # Safety
/// `op` must come from [`wmma_transfer`].
unsafe fn transfer_of(op: &Op) -> &'static Transfer {
    let pointer = u64::from(op.c.0) | u64::from(op.d.0) << 32;
    // SAFETY: `wmma_transfer` put the address of an interned transfer there.
    unsafe { &*(pointer as usize as *const Transfer) }
}

struct LoadFragment<A>(PhantomData<A>);

impl<A: AddressWord> Body for LoadFragment<A> {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        // SAFETY: passed on.
        unsafe { run_transfer::<A, false>(cx, op) }
    }
}

struct StoreFragment<A>(PhantomData<A>);

impl<A: AddressWord> Body for StoreFragment<A> {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        // SAFETY: passed on.
        unsafe { run_transfer::<A, true>(cx, op) }
    }
}

#[inline(always)]
unsafe fn run_transfer<A: AddressWord, const STORE: bool>(cx: &mut Cx<'_>, op: &Op) -> Flow {
    if let Err(flow) = whole_warp(cx, if STORE { "wmma.store" } else { "wmma.load" }) {
        return flow;
    }
    // SAFETY: passed on.
    unsafe { move_by_steps::<A, STORE>(cx, op) }
}

/// Moves a fragment step by step, each as an access of its own.
#[inline(never)]
unsafe fn move_by_steps<A: AddressWord, const STORE: bool>(cx: &mut Cx<'_>, op: &Op) -> Flow {
    // SAFETY: slots of a decoded instruction; pointers were range-checked; `c` and `d` hold an interned transfer.
    unsafe {
        let transfer = transfer_of(op);
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
