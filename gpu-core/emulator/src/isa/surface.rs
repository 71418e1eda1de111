//! Surfaces: `suld`, `sust`, `sured` and `suq` of surface objects. What lies where is in `texture/mod.rs`; what is outside was
//! measured on an H200.

use super::texture::{Geometry, by_object, finish_query, geometry, place, query, size_query, vector};
use super::{Row, Ty};
use crate::decode::emit::{Decoded, Emit, Inst};
use crate::exec::cx::{Cx, lanes};
use crate::exec::fault::{Detail, text_of};
use crate::exec::memory::access::STRONG;
use crate::exec::op::{Flow, Op, Slot, Taint};
use crate::ptx::tree::Operand;
use crate::report::{AccessKind, Class, FaultKind, Space};
use crate::texture::{TexelArray, TextureObject};

pub const ROWS: &[Row] = &[
    Row { opcode: "suld", class: Class::Global, decode: suld, examples: &[] },
    Row { opcode: "sust", class: Class::Global, decode: sust, examples: &[] },
    Row { opcode: "sured", class: Class::Atomic, decode: sured, examples: &[] },
    Row { opcode: "suq", class: Class::Global, decode: suq, examples: &[] },
];

const SHAPES: [&str; 5] = ["1d", "2d", "3d", "a1d", "a2d"];

// `Op::imm`: axes with coordinates in the low two bits, then these.
const LAYERED: i64 = 1 << 2;
/// `.p`: x counts texels, and values take the format of the texels.
const FORMATTED: i64 = 1 << 3;
const STORE: i64 = 1 << 4;
const REDUCE: i64 = 1 << 5;
/// What is outside: two bits.
const OUTSIDE_AT: u32 = 6;
/// Bits of one element.
const BITS_AT: u32 = 8;
/// Reduction and its type, as [`REDUCTIONS`] and [`TYPES`] number them.
const REDUCTION_AT: u32 = 16;
const TYPE_AT: u32 = 20;

const OUTSIDE: [&str; 3] = ["trap", "clamp", "zero"];
/// With their numbers for `update_with`.
const REDUCTIONS: [(&str, u32); 5] = [("add", 0), ("min", 1), ("max", 2), ("and", 7), ("or", 8)];
const TYPES: [Ty; 6] = [Ty::U32, Ty::S32, Ty::U64, Ty::S64, Ty::B32, Ty::B64];

fn shape(i: &mut Inst<'_>) -> Decoded<(Geometry, i64)> {
    let shape = geometry(i, &SHAPES)?;
    Ok((shape, shape.axes as i64 | if shape.layered { LAYERED } else { 0 }))
}

fn outside(i: &mut Inst<'_>) -> Decoded<i64> {
    let Some(name) = i.take_any(&OUTSIDE) else { return i.unsupported() };
    Ok((OUTSIDE.iter().position(|known| *known == name).unwrap_or(0) as i64) << OUTSIDE_AT)
}

fn suld(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    access(e, i, 0, &["ca", "cg", "cs", "cv"])
}

fn sust(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    access(e, i, STORE, &["wb", "cg", "cs", "wt"])
}

fn access(e: &mut Emit<'_>, i: &mut Inst<'_>, kind: i64, caches: &[&'static str]) -> Decoded<()> {
    let formatted = kind == STORE && i.take("p");
    if !formatted && !i.take("b") {
        return i.unsupported();
    }
    let (shape, flags) = shape(i)?;
    i.take_any(caches);
    let count = match i.take_any(&["v2", "v4"]) {
        Some("v2") => 2,
        Some(_) => 4,
        None => 1,
    };
    let ty = i.ty()?;
    let known = if formatted { ty == Ty::B32 } else { matches!(ty, Ty::B8 | Ty::B16 | Ty::B32 | Ty::B64) };
    if !known || ty.bits() * count > 128 {
        return i.unsupported();
    }
    let outside = outside(i)?;
    i.expect(2)?;
    let (data, from) = if kind == STORE { (1, 0) } else { (0, 1) };
    let mut slots = Vec::new();
    let mut op = e.op(run);
    op.a = place(e, &i.operands[from], shape, Ty::S32, &mut slots)?;
    let list = vector(&i.operands[data]);
    if list.len() != count as usize {
        return Err(format!("{count} registers in braces are wanted, not {}", list.len()));
    }
    // 8 bits lie in registers of 16.
    let register = if ty == Ty::B8 { Ty::B16 } else { ty };
    for element in list {
        slots.push(match element {
            element if kind == STORE => e.src_any(element, register)?.0,
            Operand::Sink => Slot::NONE,
            element => e.dst_any(element, register)?.0,
        });
    }
    op.imm = flags | kind | outside | i64::from(ty.bits()) << BITS_AT | if formatted { FORMATTED } else { 0 };
    (op.list, op.list_len) = e.list(&slots);
    op.site = e.site(true, 0);
    e.push(op, Taint::Use);
    Ok(())
}

fn sured(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let formatted = i.take("p");
    if !formatted && !i.take("b") {
        return i.unsupported();
    }
    let names = REDUCTIONS.map(|reduction| reduction.0);
    let Some(name) = i.take_any(&names) else { return i.unsupported() };
    let (shape, flags) = shape(i)?;
    let ty = i.ty()?;
    let fits = match (name, ty) {
        _ if formatted => ty == Ty::B32,
        ("add", Ty::U32 | Ty::S32 | Ty::U64) => true,
        ("min" | "max", Ty::U32 | Ty::S32 | Ty::U64 | Ty::S64) => true,
        ("and" | "or", Ty::B32) => true,
        _ => false,
    };
    if !fits || shape.layered {
        return i.unsupported();
    }
    let outside = outside(i)?;
    i.expect(2)?;
    let mut slots = Vec::new();
    let mut op = e.op(run);
    op.a = place(e, &i.operands[0], shape, Ty::S32, &mut slots)?;
    slots.push(e.src(&i.operands[1], ty)?);
    let reduction = names.iter().position(|known| *known == name).unwrap_or(0) as i64;
    let code = TYPES.iter().position(|known| *known == ty).unwrap_or(0) as i64;
    op.imm = flags | REDUCE | outside | i64::from(ty.bits()) << BITS_AT | if formatted { FORMATTED } else { 0 };
    op.imm |= reduction << REDUCTION_AT | code << TYPE_AT;
    (op.list, op.list_len) = e.list(&slots);
    op.site = e.site(true, 0);
    e.push(op, Taint::Use);
    Ok(())
}

fn suq(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let axis = size_query(i)?;
    i.expect(2)?;
    let op = e.op(query);
    finish_query(e, i, op, axis)
}

unsafe fn run(cx: &mut Cx<'_>, op: &Op) -> Flow {
    // SAFETY: passed on.
    unsafe { by_object(cx, op, true, |cx, slots, mask, object| touch(cx, op, slots, mask, object)) };
    Flow::Next
}

/// Where a lane's access begins.
enum Place {
    At(u64),
    /// Loads give 0, stores do nothing.
    Nowhere,
    /// Outside, and the instruction says that this is a fault.
    Outside([i32; 3]),
}

/// The place of the coordinates; `bytes` are what the access spans along x.
fn place_of(texels: &TexelArray, op: &Op, bytes: u32, layer: Option<u32>, mut at: [i32; 3]) -> Place {
    let level = &texels.levels[0];
    let outside = OUTSIDE[(op.imm >> OUTSIDE_AT & 3) as usize % 3];
    let scale = if op.imm & FORMATTED != 0 { texels.texel_bytes() } else { 1 };
    let axes = (op.imm & 3) as usize;
    let row = level.size[0] * texels.texel_bytes();
    // Last allowed coordinate on each axis.
    let mut last = [((row - bytes.min(row)) / scale) as i32, 0, 0];
    for axis in 1..axes {
        last[axis] = level.size[axis].max(1) as i32 - 1;
    }
    let layers = level.size[2].max(1);
    let layer = match layer {
        Some(layer) if layer >= layers && outside != "clamp" => {
            return if outside == "zero" { Place::Nowhere } else { Place::Outside(at) };
        }
        // Layers are numbers without sign: negative ones are the last.
        Some(layer) => Some(layer.min(layers - 1)),
        None => None,
    };
    for axis in 0..axes {
        if (0..=last[axis]).contains(&at[axis]) {
            continue;
        }
        match outside {
            "clamp" => at[axis] = at[axis].clamp(0, last[axis]),
            "zero" => return Place::Nowhere,
            _ => return Place::Outside(at),
        }
    }
    let slice = layer.map_or(at[2] as u64, u64::from);
    Place::At(
        level.address + u64::from(at[0] as u32 * scale) + at[1] as u64 * level.row_bytes + slice * level.slice_bytes,
    )
}

/// Loads, stores or reduces for the lanes of `mask`; false after a fault.
///
/// # Safety
/// Slots of a decoded instruction.
unsafe fn touch(cx: &mut Cx<'_>, op: &Op, slots: &[Slot], mask: u32, object: Option<&TextureObject>) -> bool {
    let axes = (op.imm & 3) as usize;
    let layered = usize::from(op.imm & LAYERED != 0);
    let (places, data) = slots.split_at(axes + layered);
    let bits = (op.imm >> BITS_AT & 0xff) as u32;
    let formatted = op.imm & FORMATTED != 0;
    let (stores, reduces) = (op.imm & STORE != 0, op.imm & REDUCE != 0);
    let (mut at, mut there) = ([0; 32], 0u32);
    let mut bytes = bits / 8 * data.len() as u32;
    if let Some(object) = object {
        let texels = object.texels();
        if formatted {
            bytes = texels.texel_bytes();
        }
        for lane in lanes(mask) {
            // SAFETY: as the caller says.
            let word = |slot: &Slot| unsafe { cx.lane::<u32>(*slot, lane) };
            let layer = (layered != 0).then(|| word(&places[0]));
            let coordinates =
                std::array::from_fn(|axis| places[layered..].get(axis).map_or(0, |slot| word(slot) as i32));
            match place_of(texels, op, bytes, layer, coordinates) {
                Place::At(address) => (at[lane], there) = (address, there | 1 << lane),
                Place::Nowhere => {}
                Place::Outside(coordinates) => {
                    cx.outside_surface(lane, texels, coordinates, layer, formatted);
                    return false;
                }
            }
            let each = if formatted { texels.format.bytes() } else { bytes };
            if there >> lane & 1 != 0 && !at[lane].is_multiple_of(u64::from(each.min(16))) {
                let text = format!(
                    "{} accesses {bytes} bytes of a surface at byte {} of a row, which is no multiple of {bytes}",
                    text_of(&cx.thread(lane)),
                    coordinates[0]
                );
                let detail = Detail { space: Some(Space::Global), address: Some(at[lane]), bytes, ..Detail::default() };
                let pc = cx.pc;
                cx.fault(FaultKind::Misaligned, pc, Some(lane), 1, text, detail);
                return false;
            }
        }
        let mut values = vec![[0u8; 16]; 32];
        if stores {
            for lane in lanes(there) {
                // SAFETY: as the caller says.
                values[lane] = unsafe { stored(cx, texels, data, bits, formatted, lane) };
            }
        }
        let operands: Vec<u64> = match reduces {
            // SAFETY: as the caller says.
            true => (0..32).map(|lane| unsafe { wide(cx, data[0], bits, lane) }).collect(),
            false => Vec::new(),
        };
        let kind = match (reduces, stores) {
            (true, _) => (AccessKind::Atomic, STRONG),
            (_, true) => (AccessKind::Write, 0),
            _ => (AccessKind::Read, 0),
        };
        let operation = REDUCTIONS[(op.imm >> REDUCTION_AT & 15) as usize % REDUCTIONS.len()].1;
        let named = TYPES[(op.imm >> TYPE_AT & 15) as usize % TYPES.len()];
        let ty = match named {
            // A formatted reduction has the type of the texels.
            Ty::B32 if formatted && texels.format == crate::texture::ChannelFormat::S32 => Ty::S32,
            Ty::B32 => Ty::U32,
            ty => ty,
        };
        let span = if reduces { bits / 8 } else { bytes };
        let fine = cx.texels(op, &at, there, span, kind, |lane, pointer| {
            // SAFETY: the range was checked, and lies as the type wants it.
            unsafe {
                if reduces {
                    super::atomic::update_with(pointer, operation, ty, operands[lane].into());
                } else if stores {
                    std::ptr::copy_nonoverlapping(values[lane].as_ptr(), pointer, bytes as usize);
                } else {
                    std::ptr::copy_nonoverlapping(pointer, values[lane].as_mut_ptr(), bytes as usize);
                }
            }
        });
        if !fine {
            return false;
        }
        if stores || reduces {
            cx.worker.writes += 1;
            return true;
        }
        for lane in lanes(mask) {
            // SAFETY: as the caller says.
            unsafe { loaded(cx, data, bits, lane, &values[lane]) };
        }
    } else if !stores && !reduces {
        for lane in lanes(mask) {
            // SAFETY: as the caller says.
            unsafe { loaded(cx, data, bits, lane, &[0; 16]) };
        }
    }
    true
}

/// # Safety
/// Slots of a decoded instruction.
unsafe fn wide(cx: &Cx<'_>, slot: Slot, bits: u32, lane: usize) -> u64 {
    // SAFETY: as the caller says.
    unsafe { if bits == 64 { cx.lane::<u64>(slot, lane) } else { cx.lane::<u32>(slot, lane).into() } }
}

/// What a store writes.
///
/// # Safety
/// Slots of a decoded instruction.
unsafe fn stored(cx: &Cx<'_>, texels: &TexelArray, data: &[Slot], bits: u32, formatted: bool, lane: usize) -> [u8; 16] {
    let mut out = [0; 16];
    let size = if formatted { texels.format.bytes() } else { bits / 8 } as usize;
    for index in 0..if formatted { texels.channels as usize } else { data.len() } {
        // SAFETY: as the caller says.
        let value = data.get(index).map_or(0, |slot| unsafe { wide(cx, *slot, bits, lane) });
        let value = if formatted { u64::from(texels.format.narrow(value as u32)) } else { value };
        out[index * size..][..size].copy_from_slice(&value.to_le_bytes()[..size]);
    }
    out
}

/// Puts what a load read into its registers.
///
/// # Safety
/// Slots of a decoded instruction.
unsafe fn loaded(cx: &mut Cx<'_>, data: &[Slot], bits: u32, lane: usize, value: &[u8; 16]) {
    let size = bits as usize / 8;
    for (index, slot) in data.iter().enumerate().filter(|(_, slot)| !slot.is_none()) {
        let mut word = [0; 8];
        word[..size].copy_from_slice(&value[index * size..][..size]);
        let word = u64::from_le_bytes(word);
        // SAFETY: as the caller says.
        unsafe {
            if bits == 64 {
                cx.set_lane::<u64>(*slot, lane, word)
            } else {
                cx.set_lane::<u32>(*slot, lane, word as u32)
            }
        }
    }
}

impl Cx<'_> {
    #[cold]
    fn outside_surface(&mut self, lane: usize, texels: &TexelArray, at: [i32; 3], layer: Option<u32>, formatted: bool) {
        let level = &texels.levels[0];
        let unit = if formatted { "texels" } else { "bytes" };
        let row = level.size[0] * if formatted { 1 } else { texels.texel_bytes() };
        let layer = layer.map_or(String::new(), |layer| format!(" in layer {layer}"));
        let message = format!(
            "{} accesses a surface at x = {} {unit}, y = {}, z = {}{layer}, outside of it: its rows have {row} {unit} ({} texels of \
             {} bytes), it has {} rows and {} slices or layers",
            text_of(&self.thread(lane)),
            at[0],
            at[1],
            at[2],
            level.size[0],
            texels.texel_bytes(),
            level.size[1].max(1),
            level.size[2].max(1)
        );
        let (_, allocation) = self.locate(crate::memory::space::Window::Global, level.address, 1);
        let detail = Detail { space: Some(Space::Global), allocation, ..Detail::default() };
        let pc = self.pc;
        self.fault(FaultKind::OutOfBounds, pc, Some(lane), 1, message, detail);
    }
}
