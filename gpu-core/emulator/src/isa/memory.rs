//! Loads, stores, prefetches and fences.

use super::{Row, Ty};
use crate::decode::emit::{Decoded, Emit, Entity, Inst};
use crate::exec::cx::{Cx, lanes};
use crate::exec::image::ParamArea;
use crate::exec::lanes::copy as copy_words;
use crate::exec::memory::access::{As, STRONG, load, load_one, load_param, store, store_one, window_code};
pub use crate::exec::memory::flags::*;
use crate::exec::memory::used::{list_end, load_used};
use crate::exec::op::{Exec, Flow, Op, Slot, Taint};
use crate::exec::template::Native;
use crate::memory::space::Window;
use crate::ptx::tree::Operand;
use crate::report::Class;

pub const ROWS: &[Row] = &[
    Row { opcode: "ld", class: Class::Global, decode: ld, examples: &[] },
    Row { opcode: "ldu", class: Class::Global, decode: ld, examples: &[] },
    Row { opcode: "st", class: Class::Global, decode: st, examples: &[] },
    Row { opcode: "prefetch", class: Class::Other, decode: hint, examples: &[] },
    Row { opcode: "prefetchu", class: Class::Other, decode: hint, examples: &[] },
    Row { opcode: "applypriority", class: Class::Other, decode: hint, examples: &[] },
    Row { opcode: "discard", class: Class::Other, decode: hint, examples: &[] },
    Row { opcode: "createpolicy", class: Class::Other, decode: policy, examples: &[] },
];

/// The state space; generic when none is named.
pub fn space(i: &mut Inst<'_>) -> Window {
    match i.take_any(&[
        "global",
        "shared",
        "shared::cta",
        "shared::cluster",
        "local",
        "const",
        "param",
        "param::entry",
        "param::func",
    ]) {
        Some("global") => Window::Global,
        Some("local") => Window::Local,
        Some("const") => Window::Const,
        Some("param" | "param::entry" | "param::func") => Window::Param,
        Some(_) => Window::Shared,
        None => Window::Generic,
    }
}

/// The class of an access to a window.
pub fn class_of(window: Window) -> Class {
    match window {
        Window::Shared => Class::Shared,
        Window::Local => Class::Local,
        Window::Const | Window::Param => Class::Const,
        Window::Global | Window::Generic => Class::Global,
    }
}

/// Consumes ordering, scope, cache and eviction modifiers; gives [`STRONG`], [`ACQUIRE`], [`RELEASE`].
pub fn ordering(i: &mut Inst<'_>) -> u32 {
    let mut flags = 0;
    for (name, flag) in [
        ("volatile", STRONG | VOLATILE),
        ("relaxed", STRONG),
        ("mmio", STRONG),
        ("acquire", STRONG | ACQUIRE),
        ("release", STRONG | RELEASE),
        ("acq_rel", STRONG | ACQUIRE | RELEASE),
        ("sc", STRONG | ACQUIRE | RELEASE),
        ("weak", 0),
        ("cta", CTA),
        ("nc", NC),
    ] {
        if i.take(name) {
            flags |= flag;
        }
    }
    i.take_where(|part| {
        matches!(part, "cluster" | "gpu" | "sys" | "ca" | "cg" | "cs" | "cv" | "lu" | "wb" | "wt" | "unified")
            || part.starts_with("L1::")
            || part.starts_with("L2::")
    });
    flags
}

/// Where an address operand points: slot of the base, whether it is 64 bits wide, offset, and the window when the
/// symbol decides it.
pub struct Place {
    pub base: Slot,
    pub wide: bool,
    pub offset: i64,
}

/// Resolves `[base + offset]` for a window.
pub fn place(e: &mut Emit<'_>, operand: &Operand<'_>, window: Window) -> Decoded<Place> {
    let Operand::Address { base, offset, .. } = operand else {
        return Err("an address in brackets is wanted".to_owned());
    };
    match &**base {
        Operand::Name(name) => {
            if let Ok(reg) = e.reg(name) {
                if !matches!(reg.bits, 32 | 64) {
                    return Err(format!("`{name}` cannot hold an address"));
                }
                e.reads.push(reg.slot);
                return Ok(Place { base: reg.slot, wide: reg.bits == 64, offset: *offset });
            }
            if let Some(Entity::Variable { window: Window::Local, address, .. }) = e.find(name) {
                let slot = e.local_address(address as i64);
                e.reads.push(slot);
                return Ok(Place { base: slot, wide: true, offset: *offset });
            }
            let (own, address) = e.address_of(name)?;
            let generic = if window == Window::Generic { crate::memory::space::window_base(own) } else { 0 };
            let base = e.pool.splat(0, 64);
            Ok(Place { base, wide: true, offset: (address + generic).wrapping_add(*offset as u64) as i64 })
        }
        Operand::Int(value) => {
            let base = e.pool.splat(0, 64);
            Ok(Place { base, wide: true, offset: value.wrapping_add(*offset as u64) as i64 })
        }
        _ => Err("this address is not supported".to_owned()),
    }
}

/// What is known of a load.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Plain,
    /// It is of a named kernel parameter.
    Fixed,
    /// Some bytes are not used.
    Used,
}

/// The load of elements of `bits`, extended to a register of `register` bits.
fn load_exec(bits: u32, signed: bool, register: u32, wide: bool, vector: usize, how: How) -> Option<Exec> {
    let fixed = how == How::Fixed;
    macro_rules! pick {
        ($m:ty, $r:ty) => {
            if how == How::Used {
                match wide {
                    true => load_used::<As<$m, $r>, u64>(vector),
                    false => load_used::<As<$m, $r>, u32>(vector),
                }
            } else if fixed {
                load_param::<As<$m, $r>>(vector)
            } else if wide {
                load::<As<$m, $r>, u64>(vector)
            } else {
                load::<As<$m, $r>, u32>(vector)
            }
        };
    }
    macro_rules! one {
        ($m:ty, $r:ty) => {
            match (wide, vector) {
                (_, 1) if fixed => load_param::<As<$m, $r>>(1),
                (true, 1) => load_one::<As<$m, $r>, u64>(),
                (false, 1) => load_one::<As<$m, $r>, u32>(),
                _ => return None,
            }
        };
    }
    Some(match (bits, signed, register) {
        (8, false, 0..=32) => pick!(u8, u32),
        (8, true, 0..=32) => pick!(i8, u32),
        (16, false, 0..=32) => pick!(u16, u32),
        (16, true, 0..=32) => pick!(i16, u32),
        (32, _, 0..=32) => pick!(u32, u32),
        (8, false, 64) => one!(u8, u64),
        (8, true, 64) => one!(i8, u64),
        (16, false, 64) => one!(u16, u64),
        (16, true, 64) => one!(i16, u64),
        (32, false, 64) => one!(u32, u64),
        (32, true, 64) => one!(i32, u64),
        (64, _, 64) => pick!(u64, u64),
        (128, _, 128) => pick!(u128, u128),
        _ => return None,
    })
}

fn store_exec(bits: u32, register: u32, wide: bool, vector: usize) -> Option<Exec> {
    macro_rules! pick {
        ($m:ty, $r:ty) => {
            if wide { store::<As<$m, $r>, u64>(vector) } else { store::<As<$m, $r>, u32>(vector) }
        };
    }
    macro_rules! one {
        ($m:ty, $r:ty) => {
            match (wide, vector) {
                (true, 1) => store_one::<As<$m, $r>, u64>(),
                (false, 1) => store_one::<As<$m, $r>, u32>(),
                _ => return None,
            }
        };
    }
    Some(match (bits, register) {
        (8, 0..=32) => pick!(u8, u32),
        (16, 0..=32) => pick!(u16, u32),
        (32, 0..=32) => pick!(u32, u32),
        (8, 64) => one!(u8, u64),
        (16, 64) => one!(u16, u64),
        (32, 64) => one!(u32, u64),
        (64, 64) => pick!(u64, u64),
        (128, 128) => pick!(u128, u128),
        _ => return None,
    })
}

fn vector_of(i: &mut Inst<'_>) -> usize {
    match i.take_any(&["v2", "v4", "v8"]) {
        Some("v2") => 2,
        Some("v4") => 4,
        Some(_) => 8,
        None => 1,
    }
}

/// Destination or source operands of a vector access.
fn elements<'a>(e: &Emit<'_>, operand: &'a Operand<'a>, vector: usize) -> Decoded<Vec<Operand<'a>>> {
    let list = match operand {
        Operand::Vector(list) => list.clone(),
        Operand::Name(name) if vector > 1 => match e.find(name) {
            Some(Entity::VectorReg(_)) => return Err("vector registers are not supported here; use braces".to_owned()),
            _ => vec![operand.clone()],
        },
        other => vec![other.clone()],
    };
    if list.len() == vector {
        Ok(list)
    } else {
        Err(format!("{vector} registers in braces are wanted, not {}", list.len()))
    }
}

fn ld(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let ty = i.ty()?;
    load_of(e, i, ty)
}

/// The load of a type that was read already.
pub fn load_of(e: &mut Emit<'_>, i: &mut Inst<'_>, ty: Ty) -> Decoded<()> {
    let window = space(i);
    let window = window_of_named(e, window, i.operands.get(1));
    let order = ordering(i);
    let vector = vector_of(i);
    // A cache policy may follow the address.
    if i.operands.len() != 2 && i.operands.len() != 3 {
        i.expect(2)?;
    }
    e.class = class_of(window);
    let list = elements(e, &i.operands[0], vector)?;
    if window == Window::Param
        && let Some((area, offset)) = frame_area(e, &i.operands[1])
    {
        return frame_access(e, i, &list, ty, area, offset, true);
    }
    let place = place(e, &i.operands[1], window)?;
    let mut slots = Vec::new();
    let mut register = 0;
    for operand in &list {
        if *operand == Operand::Sink {
            slots.push(Slot::NONE);
            continue;
        }
        let (slot, bits) = e.dst_any(operand, ty)?;
        slots.push(slot);
        register = one_width(register, bits)?;
    }
    if register == 0 {
        register = ty.bits();
        slots[0] = e.scratch(ty.bits());
    }
    // A parameter by name: `place` has the constant 0 for a base.
    let fixed = window == Window::Param && place.wide && place.base == e.pool.splat(0, 64);
    let bytes = ty.bits() / 8 * vector as u32;
    let used = i.used_bytes.filter(|used| order & STRONG == 0 && bytes <= 32 && used.trailing_ones() < bytes);
    // Sizes that nothing is joined to have no such load.
    let used = used.filter(|_| register.max(32) == ty.bits().max(32));
    let how = match (fixed, used) {
        (true, _) => How::Fixed,
        (_, Some(_)) if matches!(window, Window::Global | Window::Shared | Window::Generic) => How::Used,
        _ => How::Plain,
    };
    let run = load_exec(ty.bits(), ty.signed(), register, place.wide, vector, how);
    let run = run.ok_or_else(|| format!("a load of {} bits into a register of {register}", ty.bits()))?;
    let mut op = e.op(run);
    op.a = place.base;
    op.imm = place.offset;
    op.d = slots[0];
    op.e = Slot(window_code(window) | order);
    if how == How::Used {
        let room = e.scratch(32);
        let end = list_end(room, used.unwrap_or(u32::MAX));
        (op.list, _) = e.list(&[&slots[..], &end].concat());
        op.list_len = vector as u32;
    } else if vector > 1 {
        (op.list, op.list_len) = e.list(&slots);
    }
    op.site = e.site(place.wide, ty.bits() / 8 * vector as u32);
    e.push(op, Taint::Memory);
    e.native(match (ty.bits(), ty.signed(), register.max(32)) {
        _ if order != 0 || !matches!(window, Window::Global | Window::Shared) => Native::No,
        (8, false, 32) => Native::LoadU8,
        (8, true, 32) => Native::LoadS8,
        (16, false, 32) => Native::LoadU16,
        (16, true, 32) => Native::LoadS16,
        (32, _, 32) => Native::Load32,
        (64, _, 64) => Native::Load64,
        _ => Native::No,
    });
    Ok(())
}

/// The registers of a vector lie in rows of the same size, for one loop goes over all of them.
fn one_width(known: u32, bits: u32) -> Decoded<u32> {
    if known != 0 && known.max(32) != bits.max(32) {
        return Err(format!("the registers of the vector have {known} and {bits} bits; use registers of one size"));
    }
    Ok(known.max(bits))
}

pub fn st(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    if i.take("async") {
        if !super::st_async::releases(i) {
            return super::st_async::decode(e, i, false);
        }
        i.take_any(&["multimem"]);
    }
    if i.take("bulk") {
        return super::st_async::decode_bulk(e, i);
    }
    let window = space(i);
    let window = window_of_named(e, window, i.operands.first());
    let order = ordering(i);
    let vector = vector_of(i);
    let ty = i.ty()?;
    if i.operands.len() != 2 && i.operands.len() != 3 {
        i.expect(2)?;
    }
    e.class = class_of(window);
    let list = elements(e, &i.operands[1], vector)?;
    if window == Window::Param
        && let Some((area, offset)) = frame_area(e, &i.operands[0])
    {
        return frame_access(e, i, &list, ty, area, offset, false);
    }
    let place = place(e, &i.operands[0], window)?;
    let mut slots = Vec::new();
    let mut register = 0;
    for operand in &list {
        let (slot, bits) = e.src_any(operand, ty)?;
        slots.push(slot);
        register = one_width(register, if slot.is_pool() { ty.bits() } else { bits })?;
    }
    let run = store_exec(ty.bits(), register, place.wide, vector);
    let run = run.ok_or_else(|| format!("a store of {} bits from a register of {register}", ty.bits()))?;
    let mut op = e.op(run);
    op.a = place.base;
    op.imm = place.offset;
    op.b = slots[0];
    op.e = Slot(window_code(window) | order);
    if vector > 1 {
        (op.list, op.list_len) = e.list(&slots);
    }
    op.site = e.site(place.wide, ty.bits() / 8 * vector as u32);
    e.sites[op.site as usize].register = register as u8;
    e.push(op, Taint::Memory);
    e.native(match (window, order, ty.bits(), register.max(32)) {
        (Window::Global | Window::Shared, 0, 32, 32) => Native::Store32,
        (Window::Global | Window::Shared, 0, 64, 64) => Native::Store64,
        _ => Native::No,
    });
    Ok(())
}

/// A parameter of a device function or call: it lives in the frame.
fn frame_area(e: &Emit<'_>, operand: &Operand<'_>) -> Option<(ParamArea, i64)> {
    let Operand::Address { base, offset, .. } = operand else { return None };
    match &**base {
        Operand::Name(name) => match e.find(name) {
            Some(Entity::FrameParam(area)) => Some((area, *offset)),
            _ => None,
        },
        _ => None,
    }
}

/// The window of an access that names what it goes to: local memory for a local variable, which needs no `.local`
/// (its address as it stands is no generic one), and for a parameter of a device function that lies on the stack
/// because its address is taken.
fn window_of_named(e: &Emit<'_>, window: Window, operand: Option<&Operand<'_>>) -> Window {
    let Some(Operand::Address { base, .. }) = operand else { return window };
    let local = matches!(&**base, Operand::Name(name)
        if matches!(e.find(name), Some(Entity::Variable { window: Window::Local, .. })));
    if local && matches!(window, Window::Param | Window::Generic) { Window::Local } else { window }
}

/// Copies a parameter from the frame to `offset` of the function's stack.
pub fn spill(e: &mut Emit<'_>, area: ParamArea, offset: u32) -> Decoded<()> {
    e.class = Class::Local;
    e.guard = (e.pool.pred(true), 0);
    let run = store_exec(32, 32, true, 1).ok_or("a store of 32 bits")?;
    for word in 0..area.bytes.div_ceil(4) {
        let base = e.local_address(i64::from(offset + 4 * word));
        let mut op = e.op(run);
        op.a = base;
        op.b = Slot(area.slot.0 + 128 * word);
        op.e = Slot(window_code(Window::Local));
        op.site = e.site(true, 4);
        e.reads.extend([base, op.b]);
        e.push(op, Taint::Memory);
    }
    Ok(())
}

fn frame_access(
    e: &mut Emit<'_>,
    i: &Inst<'_>,
    list: &[Operand<'_>],
    ty: Ty,
    area: ParamArea,
    offset: i64,
    loading: bool,
) -> Decoded<()> {
    e.class = Class::Move;
    let bytes = i64::from(ty.bits() / 8);
    if offset < 0 || offset + bytes * list.len() as i64 > i64::from(area.bytes) || offset % bytes != 0 {
        return Err(format!("`{}` leaves its parameter of {} bytes", i.opcode, area.bytes));
    }
    for (index, operand) in list.iter().enumerate() {
        let at = offset + bytes * index as i64;
        let word = Slot(area.slot.0 + (at / 4) as u32 * 128);
        if *operand == Operand::Sink {
            continue;
        }
        let words: Vec<Slot> = (0..(bytes as u32).div_ceil(4)).map(|w| Slot(word.0 + w * 128)).collect();
        let (slot, bits) = if loading { e.dst_any(operand, ty)? } else { e.src_any(operand, ty)? };
        let bits = if !loading && slot.is_pool() { ty.bits() } else { bits };
        let (run, native) = match (ty.bits(), bits.max(32)) {
            (32, 32) => (copy_words::<u32>(), Native::Mov32),
            (64, 64) => (super::movement::halves(loading), Native::No),
            _ => (if loading { frame_load } else { frame_store } as Exec, Native::No),
        };
        let mut op = e.op(run);
        op.imm = i64::from(ty.bits()) | (at % 4) << 8 | i64::from(ty.signed()) << 16 | i64::from(bits) << 24;
        (op.d, op.a) = if loading { (slot, word) } else { (word, slot) };
        if loading {
            op.b = *words.last().unwrap_or(&word);
            e.reads.extend(&words);
        } else {
            e.writes.extend(&words);
        }
        if ty.bits() == 64 {
            (op.list, op.list_len) = e.list(&words);
        }
        e.push(op, Taint::Copy);
        e.native(native);
    }
    Ok(())
}

unsafe fn frame_load(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let (bits, shift, signed, register) =
        ((op.imm & 0xff) as u32, (op.imm >> 8 & 0xff) as u32 * 8, op.imm >> 16 & 1 != 0, (op.imm >> 24) as u32);
    for lane in lanes(cx.mask) {
        // SAFETY: the decoder checked that the words lie in the parameter's area.
        unsafe {
            let mut value: u128 = 0;
            for word in 0..bits.div_ceil(32) {
                let part = cx.lane::<u32>(Slot(op.a.0 + word * 128), lane);
                value |= u128::from(part) << (32 * word);
            }
            let kept = value >> shift;
            let kept = if bits == 128 {
                kept
            } else if signed {
                (((kept as u64) << (64 - bits)) as i64 >> (64 - bits)) as u64 as u128
            } else {
                kept & ((1u128 << bits) - 1)
            };
            super::movement::set_wide(cx, op.d, lane, register.max(32), kept);
        }
    }
    Flow::Next
}

unsafe fn frame_store(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let (bits, shift, register) = ((op.imm & 0xff) as u32, (op.imm >> 8 & 0xff) as u32 * 8, (op.imm >> 24) as u32);
    for lane in lanes(cx.mask) {
        // SAFETY: the decoder checked that the words lie in the parameter's area.
        unsafe {
            let value = super::movement::get_wide(cx, op.a, lane, register.max(32));
            if bits < 32 {
                let old = cx.lane::<u32>(op.d, lane);
                let mask = ((1u32 << bits) - 1) << shift;
                cx.set_lane::<u32>(op.d, lane, old & !mask | (value as u32) << shift & mask);
            } else {
                for word in 0..bits / 32 {
                    cx.set_lane::<u32>(Slot(op.d.0 + word * 128), lane, (value >> (32 * word)) as u32);
                }
            }
        }
    }
    Flow::Next
}

/// Hints have no effect here.
fn hint(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    i.take_where(|part| part != "tensor");
    let op = e.op(nothing);
    e.push(op, Taint::Copy);
    Ok(())
}

pub unsafe fn nothing(_: &mut Cx<'_>, _: &Op) -> Flow {
    Flow::Next
}

/// A cache policy is an opaque number that only hints take.
fn policy(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    i.take_where(|_| true);
    let mut op = e.op(crate::exec::lanes::un(|a: u64| a));
    op.a = e.pool.splat(0, 64);
    let Some(d) = i.operands.first() else { return i.unsupported() };
    op.d = e.dst(d, Ty::B64)?;
    e.push(op, Taint::Copy);
    Ok(())
}
