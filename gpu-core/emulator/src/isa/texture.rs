//! Textures: `tex`, `tld4` and `txq` of texture objects (the unified mode; CUDA C++ knows no other).
//!
//! What is read is planned in `texture/plan.rs`, filtered in `num/filter.rs`. `tests/textures.rs` holds both to what an
//! H200 gave.

use std::sync::Arc;

use super::memory::NC;
use super::{Row, Ty};
use crate::decode::emit::{Decoded, Emit, Inst};
use crate::exec::cx::{Cx, lanes, watch};
use crate::exec::fault::{Detail, text_of};
use crate::exec::memory::access::{Addresses, Found, Reach};
use crate::exec::op::{Flow, Op, Slot, Taint};
use crate::memory::space::Window;
use crate::num::{filter, half};
use crate::ptx::tree::Operand;
use crate::report::{AccessKind, Class, FaultKind, Space};
use crate::texture::plan::{Coordinates, Request, Texel};
use crate::texture::{TexelArray, TextureObject};

pub const ROWS: &[Row] = &[
    Row { opcode: "tex", class: Class::Global, decode: tex, examples: &[] },
    Row { opcode: "tld4", class: Class::Global, decode: tld4, examples: &[] },
    Row { opcode: "txq", class: Class::Global, decode: txq, examples: &[] },
];

// `Op::imm`: axes with coordinates in the low two bits, then these.
const LAYERED: i64 = 1 << 2;
const CUBE: i64 = 1 << 3;
/// Coordinates are numbers of texels.
const TEXELS: i64 = 1 << 4;
const LEVEL: i64 = 1 << 5;
const GRADIENTS: i64 = 1 << 6;
const OFFSETS: i64 = 1 << 7;
const GATHER: i64 = 1 << 8;
/// Results are f16, alone or in pairs.
const NARROW: i64 = 1 << 9;
const PACKED: i64 = 1 << 10;
/// The channel that is gathered, from this bit.
const CHANNEL_AT: u32 = 11;

/// The shape that a texture or surface instruction names.
#[derive(Clone, Copy)]
pub(super) struct Geometry {
    pub axes: usize,
    pub layered: bool,
    pub cube: bool,
}

pub(super) fn geometry(i: &mut Inst<'_>, names: &[&'static str]) -> Decoded<Geometry> {
    if i.take_any(&["2dms", "a2dms"]).is_some() {
        return Err("textures with several samples a texel are not emulated: CUDA cannot make one".to_owned());
    }
    let Some(name) = i.take_any(names) else { return i.unsupported() };
    let (layered, shape) = match name.strip_prefix('a') {
        Some(shape) => (true, shape),
        None => (false, name),
    };
    let axes = match shape {
        "1d" => 1,
        "2d" => 2,
        _ => 3,
    };
    Ok(Geometry { axes, layered, cube: shape == "cube" })
}

impl Geometry {
    fn flags(self) -> i64 {
        self.axes as i64 | if self.layered { LAYERED } else { 0 } | if self.cube { CUBE } else { 0 }
    }

    /// Numbers in the braces: 3 stands as 4.
    fn written(self) -> usize {
        match self.axes + usize::from(self.layered) {
            3 => 4,
            count => count,
        }
    }
}

/// Object and coordinates of `[object, {coordinates}]`: the object's slot, then layer and coordinates in `slots`.
pub(super) fn place(
    e: &mut Emit<'_>,
    operand: &Operand<'_>,
    shape: Geometry,
    ty: Ty,
    slots: &mut Vec<Slot>,
) -> Decoded<Slot> {
    let Operand::Address { base, offset: 0, more } = operand else {
        return Err("an object and coordinates in brackets are wanted".to_owned());
    };
    let object = object(e, base)?;
    let [coordinates] = &more[..] else {
        return Err("textures with samplers of their own are not emulated; a texture object has one inside".to_owned());
    };
    let list = vector(coordinates);
    if list.len() != shape.written() {
        return Err(format!("coordinates of this shape are {} numbers, not {}", shape.written(), list.len()));
    }
    let mut list = list.iter();
    if let Some(layer) = list.next().filter(|_| shape.layered) {
        slots.push(e.src(layer, Ty::U32)?);
    }
    let from = usize::from(shape.layered);
    for coordinate in &vector(coordinates)[from..from + shape.axes] {
        slots.push(e.src(coordinate, ty)?);
    }
    Ok(object)
}

/// A texture or surface object: 64 bits in a register.
pub(super) fn object(e: &mut Emit<'_>, operand: &Operand<'_>) -> Decoded<Slot> {
    let Operand::Name(name) = operand else { return Err("an object is wanted".to_owned()) };
    if e.reg(name).is_err() {
        return Err(format!("`{name}` is no register: texture references are not emulated; use texture objects"));
    }
    e.src(operand, Ty::B64)
}

/// What stands in braces, or alone.
pub(super) fn vector<'a>(operand: &'a Operand<'a>) -> &'a [Operand<'a>] {
    match operand {
        Operand::Vector(list) => list,
        one => std::slice::from_ref(one),
    }
}

/// Result registers and the predicate behind them.
fn results(e: &mut Emit<'_>, operand: &Operand<'_>, ty: Ty, count: usize, slots: &mut Vec<Slot>) -> Decoded<Slot> {
    let (results, predicate) = match operand {
        Operand::Pair(results, predicate) => (&**results, e.pred_dst(predicate)?),
        results => (results, Slot::NONE),
    };
    let list = vector(results);
    if list.len() != count {
        return Err(format!("{count} registers in braces are wanted, not {}", list.len()));
    }
    for result in list {
        slots.push(match result {
            Operand::Sink => Slot::NONE,
            result => e.dst(result, ty)?,
        });
    }
    Ok(predicate)
}

fn tex(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let mode = match i.take_any(&["base", "level", "grad"]) {
        Some("level") => LEVEL,
        Some("grad") => GRADIENTS,
        _ => 0,
    };
    let shape = geometry(i, &["1d", "2d", "3d", "a1d", "a2d", "cube", "acube"])?;
    let vector_size = i.take_any(&["v2", "v4"]);
    let (result, coordinate) = (i.ty()?, i.ty()?);
    let (ty, count, kind) = match (vector_size, result) {
        (Some("v4"), Ty::U32 | Ty::S32 | Ty::F32) => (Ty::B32, 4, 0),
        (Some("v4"), Ty::F16) => (Ty::B16, 4, NARROW),
        (Some("v2"), Ty::F16x2) => (Ty::B32, 2, PACKED),
        _ => return i.unsupported(),
    };
    let texels = match coordinate {
        Ty::F32 => false,
        Ty::S32 if !shape.cube => true,
        _ => return i.unsupported(),
    };
    let mut operands = i.operands.iter();
    let mut next = || operands.next().ok_or("operands are missing");
    let mut slots = Vec::new();
    let (to, from) = (next()?, next()?);
    let mut op = e.op(run);
    op.a = place(e, from, shape, if texels { Ty::S32 } else { Ty::F32 }, &mut slots)?;
    if mode == LEVEL {
        slots.push(e.src(next()?, coordinate)?);
    }
    if mode == GRADIENTS {
        for _ in 0..2 {
            let list = vector(next()?);
            if list.len() < shape.axes {
                return Err(format!("a gradient of this shape is {} numbers", shape.axes));
            }
            for number in &list[..shape.axes] {
                slots.push(e.src(number, Ty::F32)?);
            }
        }
    }
    let offsets = offsets(e, operands.next(), shape, &mut slots)?;
    if operands.next().is_some() {
        return Err("comparing with a depth is not emulated: no texture object of CUDA has one".to_owned());
    }
    op.d = results(e, to, ty, count, &mut slots)?;
    op.imm = shape.flags() | mode | kind | offsets | if texels { TEXELS } else { 0 };
    finish(e, op, &slots)
}

/// Offsets in texels, behind the coordinates.
fn offsets(e: &mut Emit<'_>, operand: Option<&Operand<'_>>, shape: Geometry, slots: &mut Vec<Slot>) -> Decoded<i64> {
    let Some(operand) = operand else { return Ok(0) };
    let list = vector(operand);
    let count = if shape.cube { 0 } else { shape.axes };
    if list.len() < count || count == 0 {
        return Err(format!("offsets of this shape are {count} numbers"));
    }
    for offset in &list[..count] {
        slots.push(e.src(offset, Ty::S32)?);
    }
    Ok(OFFSETS)
}

fn tld4(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    const CHANNELS: [&str; 4] = ["r", "g", "b", "a"];
    let Some(channel) = i.take_any(&CHANNELS) else { return i.unsupported() };
    let shape = geometry(i, &["2d", "a2d", "cube", "acube"])?;
    if !i.take("v4") || !matches!(i.ty()?, Ty::U32 | Ty::S32 | Ty::F32) || i.ty()? != Ty::F32 {
        return i.unsupported();
    }
    if !(2..=3).contains(&i.operands.len()) {
        i.expect(2)?;
    }
    let mut slots = Vec::new();
    let mut op = e.op(run);
    op.a = place(e, &i.operands[1], shape, Ty::F32, &mut slots)?;
    let offsets = offsets(e, i.operands.get(2), shape, &mut slots)?;
    op.d = results(e, &i.operands[0], Ty::B32, 4, &mut slots)?;
    let channel = CHANNELS.iter().position(|name| *name == channel).unwrap_or(0) as i64;
    op.imm = shape.flags() | GATHER | offsets | channel << CHANNEL_AT;
    finish(e, op, &slots)
}

fn finish(e: &mut Emit<'_>, mut op: Op, slots: &[Slot]) -> Decoded<()> {
    (op.list, op.list_len) = e.list(slots);
    op.site = e.site(true, 0);
    e.push(op, Taint::Use);
    Ok(())
}

/// Queries that drivers answer for objects; others they refuse.
fn txq(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let level = i.take("level");
    let axis = size_query(i)?;
    i.expect(if level { 3 } else { 2 })?;
    let mut op = e.op(query);
    if level {
        op.b = e.src(&i.operands[2], Ty::U32)?;
    }
    finish_query(e, i, op, axis)
}

pub(super) fn size_query(i: &mut Inst<'_>) -> Decoded<i64> {
    let axis = i.take_any(&["width", "height", "depth"]);
    match (axis, i.take("b32")) {
        (Some("width"), true) => Ok(0),
        (Some("height"), true) => Ok(1),
        (Some("depth"), true) => Ok(2),
        _ => Err(format!("`{}`: of an object, drivers tell width, height and depth alone", i.opcode)),
    }
}

pub(super) fn finish_query(e: &mut Emit<'_>, i: &Inst<'_>, mut op: Op, axis: i64) -> Decoded<()> {
    let Operand::Address { base, offset: 0, more } = &i.operands[1] else { return i.unsupported() };
    if !more.is_empty() {
        return i.unsupported();
    }
    op.a = object(e, base)?;
    op.d = e.dst(&i.operands[0], Ty::B32)?;
    op.imm = axis;
    e.push(op, Taint::Use);
    Ok(())
}

pub(super) unsafe fn query(cx: &mut Cx<'_>, op: &Op) -> Flow {
    for lane in lanes(cx.mask) {
        // SAFETY: slots of a decoded instruction.
        let (handle, level) = unsafe {
            let level = if op.b.is_none() { 0 } else { cx.lane::<u32>(op.b, lane) };
            (cx.lane::<u64>(op.a, lane), level as usize)
        };
        let size = match cx.object(handle, lane, None) {
            Some(Some(object)) => object.texels().levels.get(level).map_or(0, |level| level.size[op.imm as usize]),
            Some(None) => 0,
            None => return Flow::Next,
        };
        // SAFETY: as above.
        unsafe { cx.set_lane::<u32>(op.d, lane, size) };
    }
    Flow::Next
}

impl Cx<'_> {
    /// The object of a number; no object for 0, which a GPU lets pass (all reads of it are 0). None: a fault was reported.
    pub(super) fn object(
        &mut self,
        handle: u64,
        lane: usize,
        surface: Option<bool>,
    ) -> Option<Option<Arc<TextureObject>>> {
        let found = self.grid.objects.get(handle).filter(|object| match surface {
            Some(surface) => matches!(***object, TextureObject::Surface(_)) == surface,
            None => true,
        });
        if let Some(object) = found {
            return Some(Some(Arc::clone(object)));
        }
        let what = if surface == Some(true) { "surface" } else { "texture" };
        let kind = if handle == 0 { FaultKind::UndefinedResult } else { FaultKind::OutOfBounds };
        if handle != 0 || self.grid.options.checks.uninitialised {
            let text = format!("{} uses {handle:#x} as a {what} object, which it is not", text_of(&self.thread(lane)));
            let pc = self.pc;
            self.fault(kind, pc, Some(lane), 1, text, Detail { space: Some(Space::Global), ..Detail::default() });
        }
        (handle == 0).then_some(None)
    }

    /// Checks texels of the lanes in `mask` and hands their memory to `each`; false after a fault. `flags` are those of
    /// loads ([`NC`]).
    pub(super) fn texels(
        &mut self,
        op: &Op,
        at: &[u64; 32],
        mut mask: u32,
        bytes: u32,
        (kind, flags): (AccessKind, u32),
        mut each: impl FnMut(usize, *mut u8),
    ) -> bool {
        let plain = Op { e: Slot(flags), ..op.clone() };
        while mask != 0 {
            let first = mask.trailing_zeros() as usize;
            let regions = &self.grid.regions;
            let index = regions.partition_point(|region| region.base <= at[first]);
            let region = index.checked_sub(1).map(|index| &regions[index]).filter(|region| !region.freed);
            let holds = |lane: usize| {
                region.is_some_and(|region| at[lane] >= region.base && at[lane] + u64::from(bytes) <= region.end)
            };
            let here = lanes(mask).filter(|lane| holds(*lane)).fold(0, |all, lane| all | 1 << lane);
            let low = at[first];
            let of = |mask: u32| Addresses {
                at: std::array::from_fn(|lane| if mask >> lane & 1 != 0 { at[lane] } else { low }),
                mask,
                low: lanes(mask).map(|lane| at[lane]).min().unwrap_or(low),
                high: lanes(mask).map(|lane| at[lane]).max().unwrap_or(low),
                contiguous: false,
            };
            let Some(region) = region.filter(|_| here >> first & 1 != 0) else {
                let wrong = of(1 << first);
                if matches!(self.not_found(op, Window::Global, &wrong, bytes.into(), kind), Found::Fault) {
                    return false;
                }
                mask &= !(1 << first);
                continue;
            };
            let (reach, all) = (Reach::of(region), of(here));
            match bytes {
                1 => self.audit_texels::<1>(op, &plain, &reach, &all, kind),
                2 => self.audit_texels::<2>(op, &plain, &reach, &all, kind),
                4 => self.audit_texels::<4>(op, &plain, &reach, &all, kind),
                8 => self.audit_texels::<8>(op, &plain, &reach, &all, kind),
                _ => self.audit_texels::<16>(op, &plain, &reach, &all, kind),
            }
            for lane in lanes(here) {
                each(lane, reach.pointer.wrapping_add((at[lane] - reach.base) as usize));
            }
            mask &= !here;
        }
        true
    }

    /// What `audit` does, but for counting: sectors of textures and surfaces are not those of loads and stores. `op` is the
    /// instruction, which is known by its place in the code; `plain` has the flags of a load in its stead.
    fn audit_texels<const BYTES: u64>(&mut self, op: &Op, plain: &Op, reach: &Reach, at: &Addresses, kind: AccessKind) {
        if self.watch & watch::INIT != 0 && !reach.all_written {
            self.check_init::<BYTES>(op, reach, at, kind);
        }
        if self.watch & watch::RACE != 0 {
            self.race_global::<BYTES>(plain, reach, at, kind);
        }
        if self.block.state.guarded {
            self.check_outgoing(at, BYTES, kind);
        }
        if self.watch & watch::TRACE != 0 {
            self.worker.last_cost = 0;
            self.trace_access(Window::Global, at, BYTES as u32, kind, at.low);
        }
    }
}

/// What a lane asks for, by the slots behind the instruction; the results' slots are what is left.
///
/// # Safety
/// Slots of a decoded instruction.
unsafe fn request(
    cx: &Cx<'_>,
    op: &Op,
    slots: &mut std::slice::Iter<'_, Slot>,
    lane: usize,
    texels: &TexelArray,
) -> Request {
    let has = |flag: i64| op.imm & flag != 0;
    let axes = (op.imm & 3) as usize;
    // SAFETY: as the caller says.
    let mut word = || unsafe { cx.lane::<u32>(*slots.next().unwrap_or(&op.a), lane) };
    let layer = has(LAYERED).then(&mut word);
    let mut three = |count: usize| -> [u32; 3] { std::array::from_fn(|axis| if axis < count { word() } else { 0 }) };
    let at = three(axes);
    let level = match (has(LEVEL), has(GRADIENTS)) {
        (true, _) if has(TEXELS) => three(1)[0] as i32,
        (true, _) => filter::level_256ths(f32::from_bits(three(1)[0])),
        (_, true) => {
            let size = texels.levels[0].size;
            let mut step = || {
                let step = three(axes);
                std::array::from_fn(|axis| f32::from_bits(step[axis]) * size[axis].max(1) as f32)
            };
            filter::gradient_256ths([step(), step()])
        }
        _ => 0,
    };
    let offsets = if has(OFFSETS) { three(axes).map(|offset| offset as i32) } else { [0; 3] };
    let coordinates = if has(TEXELS) {
        Coordinates::Texels(at.map(|at| at as i32))
    } else {
        Coordinates::Floats(at.map(f32::from_bits))
    };
    Request { axes, cube: has(CUBE), layer, coordinates, level, levelled: has(LEVEL), offsets, gather: has(GATHER) }
}

unsafe fn run(cx: &mut Cx<'_>, op: &Op) -> Flow {
    // SAFETY: passed on.
    if unsafe { by_object(cx, op, false, |cx, slots, mask, object| read(cx, op, slots, mask, object)) }
        && !op.d.is_none()
    {
        // Every texel is there: no memory of CUDA's is sparse here.
        // SAFETY: slots of a decoded instruction.
        unsafe { cx.set_pred(op.d, u32::MAX) };
    }
    Flow::Next
}

/// Calls `each` with the instruction's slots for the lanes of every object that is named; false after a fault, which `each`
/// answers with false.
///
/// # Safety
/// Slots of a decoded instruction.
pub(super) unsafe fn by_object<'r>(
    cx: &mut Cx<'r>,
    op: &Op,
    surface: bool,
    mut each: impl FnMut(&mut Cx<'r>, &[Slot], u32, Option<&TextureObject>) -> bool,
) -> bool {
    let slots = cx.image().list(op).to_vec();
    let mut left = cx.mask;
    while left != 0 {
        let first = left.trailing_zeros() as usize;
        // SAFETY: as the caller says.
        let handles = |cx: &Cx<'_>, lane: usize| unsafe { cx.lane::<u64>(op.a, lane) };
        let handle = handles(cx, first);
        let same = lanes(left).filter(|lane| handles(cx, *lane) == handle).fold(0u32, |all, lane| all | 1 << lane);
        left &= !same;
        let Some(object) = cx.object(handle, first, Some(surface)) else { return false };
        if !each(cx, &slots, same, object.as_deref()) {
            return false;
        }
    }
    true
}

/// One texel of each lane: where the lanes of `there` find it, and what it is, with its weight.
#[derive(Default)]
struct Part {
    at: [u64; 32],
    there: u32,
    values: [([u8; 16], u32); 32],
}

/// Reads one texture for the lanes of `mask`; false after a fault.
///
/// # Safety
/// Slots of a decoded instruction.
unsafe fn read(cx: &mut Cx<'_>, op: &Op, slots: &[Slot], mask: u32, object: Option<&TextureObject>) -> bool {
    let count = if op.imm & PACKED != 0 { 2 } else { 4 };
    let results = &slots[slots.len() - count..];
    let Some(TextureObject::Texture(texels, sampler)) = object else {
        for (lane, slot) in lanes(mask).flat_map(|lane| results.iter().map(move |slot| (lane, slot))) {
            if !slot.is_none() {
                // SAFETY: as the caller says.
                unsafe { cx.set_lane::<u32>(*slot, lane, 0) };
            }
        }
        return true;
    };
    // The first texel of each lane, the second one, and so on: as many as the lane with most of them has.
    let mut parts: Vec<Part> = Vec::new();
    let border = texels.border(sampler);
    for lane in lanes(mask) {
        // SAFETY: as the caller says.
        let request = unsafe { request(cx, op, &mut slots.iter(), lane, texels) };
        let mut number = 0;
        texels.plan(sampler, &request, &mut |texel, weight| {
            if number == parts.len() {
                parts.push(Part::default());
            }
            let part = &mut parts[number];
            part.values[lane].1 = weight;
            match texel {
                Texel::At(address) => {
                    part.at[lane] = address;
                    part.there |= 1 << lane;
                }
                Texel::Border => part.values[lane].0 = border,
                Texel::Outside => {}
            }
            number += 1;
        });
    }
    let bytes = texels.texel_bytes();
    for part in &mut parts {
        let values = &mut part.values;
        // Through the cache for what a kernel only reads.
        let fetched = cx.texels(op, &part.at, part.there, bytes, (AccessKind::Read, NC), |lane, pointer| {
            // SAFETY: the range was checked.
            unsafe { std::ptr::copy_nonoverlapping(pointer, values[lane].0.as_mut_ptr(), bytes as usize) };
        });
        if !fetched {
            return false;
        }
    }
    let mut own = Vec::with_capacity(parts.len());
    let filtered = op.imm & TEXELS == 0 && texels.filters(sampler);
    let channel = (op.imm >> CHANNEL_AT & 3) as usize;
    for lane in lanes(mask) {
        own.clear();
        own.extend(parts.iter().map(|part| part.values[lane]).filter(|value| value.1 != 0));
        let value = |index: usize| match own.get(index) {
            Some(part) if op.imm & GATHER != 0 => texels.blended(sampler, &[(part.0, 256)], channel, false),
            _ => texels.blended(sampler, &own, index, filtered),
        };
        let narrow = |index: usize| u32::from(half::f32_to_f16(f32::from_bits(value(index))));
        for (index, slot) in results.iter().enumerate().filter(|(_, slot)| !slot.is_none()) {
            let word = match op.imm & (NARROW | PACKED) {
                0 => value(index),
                NARROW => narrow(index),
                _ => narrow(2 * index) | narrow(2 * index + 1) << 16,
            };
            // SAFETY: as the caller says.
            unsafe { cx.set_lane::<u32>(*slot, lane, word) };
        }
    }
    true
}
