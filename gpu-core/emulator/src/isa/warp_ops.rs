//! Operations across the lanes of a warp.

use super::{Row, Ty};
use crate::build::emit::{Decoded, Emit, Inst};
use crate::check::repeats::Told;
use crate::exec::cx::{Cx, lanes};
use crate::exec::fault::{Detail, text_of};
#[cfg(target_arch = "x86_64")]
use crate::exec::lanes::WIDEST;
use crate::exec::lanes::{Bits, Body, Word, exec_widest, mask_of};
use crate::exec::op::{Flow, Op, Slot, Taint};
use crate::exec::warp::Wait;
use crate::ptx::tree::Operand;
use crate::report::{Class, FaultKind};

pub const ROWS: &[Row] = &[
    Row { opcode: "shfl", class: Class::Warp, decode: shfl, examples: &[] },
    Row { opcode: "vote", class: Class::Warp, decode: vote, examples: &[] },
    Row { opcode: "match", class: Class::Warp, decode: matches, examples: &[] },
    Row { opcode: "activemask", class: Class::Warp, decode: activemask, examples: &[] },
    Row { opcode: "redux", class: Class::Warp, decode: redux, examples: &[] },
    Row { opcode: "elect", class: Class::Warp, decode: elect, examples: &[] },
];

impl Cx<'_> {
    /// Waits until all live lanes of `members` are at this instruction (`anywhere`: at any warp barrier with these
    /// members). None: they are, and `mask` covers them.
    pub fn gather(&mut self, members: u32, anywhere: bool) -> Option<Flow> {
        let pc = self.pc;
        if self.mask & !members != 0 {
            let lane = (self.mask & !members).trailing_zeros() as usize;
            let count = (self.mask & !members).count_ones();
            if self.repeats(Told::alone(FaultKind::MaskMisuse, pc), count) {
                return None;
            }
            let message = format!(
                "{} executes a warp operation whose member mask {members:#010x} does not name its lane {lane}",
                text_of(&self.thread(lane))
            );
            self.fault(FaultKind::MaskMisuse, pc, Some(lane), count, message, Detail::default());
            return None;
        }
        let need = members & self.warp.live;
        if need & !self.mask == 0 {
            return None;
        }
        let current = self.warp.current;
        let frame = self.warp.splits[current].frame;
        let waits = Wait::Sync { members };
        let code = &self.grid.image.code;
        let run = code[pc as usize].run as usize;
        let matching = |split: &crate::exec::warp::Split| {
            split.wait == waits
                && if anywhere {
                    code[split.pc as usize].run as usize == run
                } else {
                    split.pc == pc && split.frame == frame
                }
        };
        let together =
            self.warp.splits.iter().filter(|split| matching(split)).fold(self.mask, |m, split| m | split.mask);
        if need & !together != 0 {
            if self.mask != self.active {
                let next = pc + 1;
                return Some(self.diverge(self.mask, pc, next, next));
            }
            return Some(self.suspend(pc, waits));
        }
        let wake: Vec<usize> = (0..self.warp.splits.len())
            .filter(|&index| index != current && matching(&self.warp.splits[index]))
            .collect();
        for index in wake {
            let split = &mut self.warp.splits[index];
            split.wait = Wait::Ready;
            split.pc += 1;
        }
        self.mask = together;
        None
    }

    /// The member mask of an instruction. Lanes may name different groups, as tiles of a warp do: each group then comes
    /// back to the instruction alone.
    ///
    /// # Safety
    /// `slot` must come from the decoder.
    pub unsafe fn members(&mut self, slot: Slot) -> Result<u32, Flow> {
        let first = self.mask.trailing_zeros() as usize & 31;
        // SAFETY: passed on.
        let row = unsafe { &*self.row::<u32>(slot) };
        let members = row[first];
        if slot.is_pool() {
            return Ok(members);
        }
        let same = lanes(self.mask).fold(0, |same, lane| same | u32::from(row[lane] == members) << lane);
        if same == self.mask {
            return Ok(members);
        }
        let (pc, next) = (self.pc, self.pc + 1);
        let others = if self.mask == self.active { pc } else { next };
        if others == next {
            // Lanes that the guard switches off go on; those it does not come back here together.
            let all = self.mask;
            return Err(self.diverge(all, pc, next, next));
        }
        Err(self.diverge(same, pc, others, next))
    }
}

/// The member mask operand, or all lanes for the forms without `.sync`.
fn member_operand(e: &mut Emit<'_>, i: &Inst<'_>, sync: bool, at: usize) -> Decoded<Slot> {
    if !sync {
        return Err(format!("`{}` without `.sync` was removed with sm_70", i.opcode));
    }
    i.expect(at + 1)?;
    e.src(&i.operands[at], Ty::B32)
}

fn shfl(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let sync = i.take("sync");
    let mode = match i.take_any(&["up", "down", "bfly", "idx"]) {
        Some("up") => 0,
        Some("down") => 1,
        Some("bfly") => 2,
        Some(_) => 3,
        None => return i.unsupported(),
    };
    i.ty()?;
    let mut op = e.op(exec_widest::<Shuffle>());
    op.e = member_operand(e, i, sync, 4)?;
    op.a = e.src(&i.operands[1], Ty::B32)?;
    op.b = e.src(&i.operands[2], Ty::B32)?;
    op.c = e.src(&i.operands[3], Ty::B32)?;
    op.imm = mode;
    op.list = Slot::NONE.0;
    match &i.operands[0] {
        Operand::Pair(d, p) => {
            op.d = e.dst(d, Ty::B32)?;
            op.list = e.pred_dst(p)?.0;
        }
        d => op.d = e.dst(d, Ty::B32)?,
    }
    e.push(op, Taint::Shuffle);
    Ok(())
}

/// Source lane of each lane, and whether it was in range (PTX ISA, `shfl.sync`).
///
/// # Safety
/// As [`crate::exec::op::Exec`].
pub unsafe fn sources(cx: &Cx<'_>, op: &Op) -> ([u8; 32], u32) {
    let mut from = [0u8; 32];
    let mut valid = 0;
    // SAFETY: slots of a decoded instruction.
    let (b, c) = unsafe { (&*cx.row::<u32>(op.b), &*cx.row::<u32>(op.c)) };
    for lane in 0..32u32 {
        let amount = b[lane as usize] & 31;
        let clamp = c[lane as usize] & 31;
        let segment = c[lane as usize] >> 8 & 31;
        let highest = (lane & segment) | (clamp & !segment);
        let lowest = lane & segment;
        let (source, inside) = match op.imm {
            0 => {
                let source = lane as i32 - amount as i32;
                (source, source >= highest as i32)
            }
            1 => {
                let source = (lane + amount) as i32;
                (source, source <= highest as i32)
            }
            2 => {
                let source = (lane ^ amount) as i32;
                (source, source <= highest as i32)
            }
            _ => {
                let source = (lowest | (amount & !segment)) as i32;
                (source, source <= highest as i32)
            }
        };
        from[lane as usize] = if inside { (source & 31) as u8 } else { lane as u8 };
        valid |= u32::from(inside) << lane;
    }
    (from, valid)
}

struct Shuffle;

impl Body for Shuffle {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        // SAFETY: slots of a decoded instruction; source lanes are below 32.
        unsafe {
            // Tiles of a warp that are all here shuffle at once.
            let masks = &*cx.row::<u32>(op.e);
            let complete = |lane: usize| masks[lane] >> lane & 1 != 0 && masks[lane] & cx.warp.live & !cx.mask == 0;
            if op.e.is_pool() || !lanes(cx.mask).all(complete) {
                let members = match cx.members(op.e) {
                    Ok(members) => members,
                    Err(flow) => return flow,
                };
                if let Some(flow) = cx.gather(members, false) {
                    return flow;
                }
            }
            let (out, valid, missing) = exchanged::<FORM>(cx, op);
            let to = cx.row_mut::<u32>(op.d);
            crate::exec::lanes::blend(cx.mask, to, &out);
            if op.list != Slot::NONE.0 {
                cx.set_pred(Slot(op.list), valid);
            }
            if missing & cx.mask != 0 {
                report_inactive(cx, missing & cx.mask, &sources(cx, op).0);
            }
        }
        Flow::Next
    }
}

/// What each lane gets, whether its source was in range, and whether that lane is missing.
///
/// # Safety
/// As [`crate::exec::op::Exec`]; the machine must have what `FORM` is for.
#[inline(always)]
unsafe fn exchanged<const FORM: u8>(cx: &Cx<'_>, op: &Op) -> ([u32; 32], u32, u32) {
    #[cfg(target_arch = "x86_64")]
    if FORM == WIDEST {
        // SAFETY: as the caller says.
        return unsafe { exchanged_widest(cx, op) };
    }
    // SAFETY: slots of a decoded instruction; source lanes are below 32.
    unsafe {
        let (from, valid) = sources(cx, op);
        let a = *cx.row::<u32>(op.a);
        let mut out = [0u32; 32];
        let mut missing = 0;
        for lane in 0..32 {
            out[lane] = a[from[lane] as usize];
            missing |= u32::from(cx.mask >> from[lane] & 1 == 0) << lane;
        }
        (out, valid, missing)
    }
}

/// The same by permutations of whole registers.
///
/// # Safety
/// As [`exchanged`]; the machine must have AVX-512.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn exchanged_widest(cx: &Cx<'_>, op: &Op) -> ([u32; 32], u32, u32) {
    use std::arch::x86_64::*;
    // SAFETY: slots of a decoded instruction: rows of 32 lanes.
    unsafe {
        let part =
            |slot: Slot, half: usize| _mm512_loadu_si512(cx.row::<u32>(slot).cast::<u32>().add(16 * half).cast());
        let (low, high) = (part(op.a, 0), part(op.a, 1));
        let lane_0 = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        let all = _mm512_set1_epi32(31);
        let here = _mm512_set1_epi32(cx.mask as i32);
        let mut out = [0u32; 32];
        let (mut valid, mut missing) = (0, 0);
        for half in 0..2 {
            let lane = _mm512_or_si512(lane_0, _mm512_set1_epi32(16 * half as i32));
            let (b, c) = (part(op.b, half), part(op.c, half));
            let (amount, clamp) = (_mm512_and_si512(b, all), _mm512_and_si512(c, all));
            let segment = _mm512_and_si512(_mm512_srli_epi32::<8>(c), all);
            let lowest = _mm512_and_si512(lane, segment);
            let highest = _mm512_or_si512(lowest, _mm512_andnot_si512(segment, clamp));
            let source = match op.imm {
                0 => _mm512_sub_epi32(lane, amount),
                1 => _mm512_add_epi32(lane, amount),
                2 => _mm512_xor_si512(lane, amount),
                _ => _mm512_or_si512(lowest, _mm512_andnot_si512(segment, amount)),
            };
            let inside = match op.imm {
                0 => _mm512_cmpge_epi32_mask(source, highest),
                _ => _mm512_cmple_epi32_mask(source, highest),
            };
            let from = _mm512_and_si512(_mm512_mask_mov_epi32(lane, inside, source), all);
            let value = _mm512_permutex2var_epi32(low, from, high);
            _mm512_storeu_si512(out.as_mut_ptr().add(16 * half).cast(), value);
            let absent = _mm512_testn_epi32_mask(_mm512_srlv_epi32(here, from), _mm512_set1_epi32(1));
            valid |= u32::from(inside) << (16 * half);
            missing |= u32::from(absent) << (16 * half);
        }
        (out, valid, missing)
    }
}

#[cold]
fn report_inactive(cx: &mut Cx<'_>, missing: u32, from: &[u8; 32]) {
    let pc = cx.pc;
    if !cx.grid.options.checks.barrier || cx.repeats(Told::alone(FaultKind::MaskMisuse, pc), missing.count_ones()) {
        return;
    }
    let lane = missing.trailing_zeros() as usize;
    let source = from[lane];
    let why = if cx.warp.lanes >> source & 1 == 0 {
        "which does not exist"
    } else if cx.warp.live >> source & 1 == 0 {
        "which has ended"
    } else {
        "which does not take part"
    };
    let message = format!(
        "{} (lane {lane}) shuffles from lane {source}, {why}: the value is undefined",
        text_of(&cx.thread(lane))
    );
    cx.fault(FaultKind::MaskMisuse, pc, Some(lane), missing.count_ones(), message, Detail::default());
}

fn vote(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let sync = i.take("sync");
    let mode = match i.take_any(&["all", "any", "uni", "ballot"]) {
        Some("all") => 0,
        Some("any") => 1,
        Some("uni") => 2,
        Some(_) => 3,
        None => return i.unsupported(),
    };
    i.ty()?;
    let mut op = e.op(vote_exec);
    op.e = member_operand(e, i, sync, 2)?;
    let (a, negated) = e.pred(&i.operands[1])?;
    op.a = a;
    op.imm = mode | i64::from(negated) << 8;
    op.d = if mode == 3 { e.dst(&i.operands[0], Ty::B32)? } else { e.pred_dst(&i.operands[0])? };
    e.push(op, Taint::Use);
    Ok(())
}

unsafe fn vote_exec(cx: &mut Cx<'_>, op: &Op) -> Flow {
    // SAFETY: slots of a decoded instruction.
    unsafe {
        let members = match cx.members(op.e) {
            Ok(members) => members,
            Err(flow) => return flow,
        };
        if let Some(flow) = cx.gather(members, false) {
            return flow;
        }
        let votes = (cx.pred(op.a) ^ if op.imm >> 8 != 0 { u32::MAX } else { 0 }) & cx.mask;
        let truth = |value: bool| if value { u32::MAX } else { 0 };
        match op.imm & 0xff {
            0 => cx.set_pred(op.d, truth(votes == cx.mask)),
            1 => cx.set_pred(op.d, truth(votes != 0)),
            2 => cx.set_pred(op.d, truth(votes == 0 || votes == cx.mask)),
            _ => {
                let to = cx.row_mut::<u32>(op.d);
                crate::exec::lanes::blend(cx.mask, to, &[votes; 32]);
            }
        }
    }
    Flow::Next
}

fn matches(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let sync_first = i.take("sync");
    let all = match i.take_any(&["any", "all"]) {
        Some(mode) => mode == "all",
        None => return i.unsupported(),
    };
    let sync = sync_first || i.take("sync");
    let ty = i.ty()?;
    let mut op = e.op(if ty.bits() > 32 { exec_widest::<Match<u64>>() } else { exec_widest::<Match<u32>>() });
    op.e = member_operand(e, i, sync, 2)?;
    op.a = e.src(&i.operands[1], ty)?;
    op.imm = i64::from(all);
    op.b = Slot::NONE;
    match &i.operands[0] {
        Operand::Pair(..) if !all => {
            return Err("`match.any` gives no predicate: every lane has a match, itself".to_owned());
        }
        Operand::Pair(d, p) => {
            op.d = e.dst(d, Ty::B32)?;
            op.b = e.pred_dst(p)?;
        }
        d => op.d = e.dst(d, Ty::B32)?,
    }
    e.push(op, Taint::Use);
    Ok(())
}

/// `match` of values in words of `W`.
struct Match<W>(std::marker::PhantomData<W>);

impl<W: Word<Raw: PartialEq>> Body for Match<W> {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        // SAFETY: slots of a decoded instruction.
        unsafe {
            let members = match cx.members(op.e) {
                Ok(members) => members,
                Err(flow) => return flow,
            };
            if let Some(flow) = cx.gather(members, false) {
                return flow;
            }
            let row = *cx.row::<W>(op.a);
            let like = |lane: usize| mask_of::<FORM>(cx.mask, |other| row[other] == row[lane]) & cx.mask;
            let first = cx.mask.trailing_zeros() as usize & 31;
            let mut out = [0u32; 32];
            if op.imm != 0 {
                let same = like(first) == cx.mask;
                out = [if same { cx.mask } else { 0 }; 32];
                if !op.b.is_none() {
                    cx.set_pred(op.b, if same { u32::MAX } else { 0 });
                }
            } else {
                let mut left = cx.mask;
                while left != 0 {
                    let same = like(left.trailing_zeros() as usize & 31);
                    left &= !same;
                    for lane in lanes(same) {
                        out[lane] = same;
                    }
                }
            }
            let to = cx.row_mut::<u32>(op.d);
            crate::exec::lanes::blend(cx.mask, to, &out);
        }
        Flow::Next
    }
}

fn activemask(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    i.ty()?;
    i.expect(1)?;
    let mut op = e.op(activemask_exec);
    op.d = e.dst(&i.operands[0], Ty::B32)?;
    e.push(op, Taint::Compute);
    Ok(())
}

unsafe fn activemask_exec(cx: &mut Cx<'_>, op: &Op) -> Flow {
    // SAFETY: slots of a decoded instruction.
    unsafe {
        let to = cx.row_mut::<u32>(op.d);
        crate::exec::lanes::blend(cx.mask, to, &[cx.mask; 32]);
    }
    Flow::Next
}

fn redux(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let sync = i.take("sync");
    let Some(what) = i.take_any(&["add", "min", "max", "and", "or", "xor"]) else { return i.unsupported() };
    let abs = i.take("abs");
    let nan = i.take("NaN");
    let ty = i.ty()?;
    let mut op = e.op(redux_exec);
    op.e = member_operand(e, i, sync, 2)?;
    op.a = e.src(&i.operands[1], Ty::B32)?;
    let code = match (what, ty) {
        ("add", Ty::U32 | Ty::S32) => 0,
        ("min", Ty::U32) => 1,
        ("max", Ty::U32) => 2,
        ("min", Ty::S32) => 3,
        ("max", Ty::S32) => 4,
        ("and", Ty::B32) => 5,
        ("or", Ty::B32) => 6,
        ("xor", Ty::B32) => 7,
        ("min", Ty::F32) => 8,
        ("max", Ty::F32) => 9,
        _ => return i.unsupported(),
    };
    op.imm = code | i64::from(abs) << 8 | i64::from(nan) << 9;
    op.d = e.dst(&i.operands[0], Ty::B32)?;
    e.push(op, Taint::Use);
    Ok(())
}

/// One value of the lanes of `mask`; `none` changes no other.
#[inline(always)]
fn reduced(row: &[u32; 32], mask: u32, none: u32, f: impl Fn(u32, u32) -> u32) -> u32 {
    let mut parts = [0; 32];
    for lane in 0..32 {
        parts[lane] = row[lane].mix(none, mask, lane);
    }
    for left in [16, 8, 4, 2, 1] {
        for lane in 0..left {
            parts[lane] = f(parts[lane], parts[lane + left]);
        }
    }
    parts[0]
}

unsafe fn redux_exec(cx: &mut Cx<'_>, op: &Op) -> Flow {
    // SAFETY: slots of a decoded instruction.
    unsafe {
        let members = match cx.members(op.e) {
            Ok(members) => members,
            Err(flow) => return flow,
        };
        if let Some(flow) = cx.gather(members, false) {
            return flow;
        }
        let m = crate::num::minmax::Modifiers {
            max: op.imm & 0xff == 9,
            abs: op.imm >> 8 & 1 != 0,
            nan: op.imm >> 9 & 1 != 0,
            ..Default::default()
        };
        let row = &*cx.row::<u32>(op.a);
        let result = match op.imm & 0xff {
            0 => reduced(row, cx.mask, 0, u32::wrapping_add),
            1 => reduced(row, cx.mask, u32::MAX, u32::min),
            2 => reduced(row, cx.mask, 0, u32::max),
            3 => reduced(row, cx.mask, i32::MAX as u32, |x, y| (x as i32).min(y as i32) as u32),
            4 => reduced(row, cx.mask, i32::MIN as u32, |x, y| (x as i32).max(y as i32) as u32),
            5 => reduced(row, cx.mask, u32::MAX, |x, y| x & y),
            6 => reduced(row, cx.mask, 0, |x, y| x | y),
            7 => reduced(row, cx.mask, 0, |x, y| x ^ y),
            _ => lanes(cx.mask)
                .map(|lane| row[lane])
                .reduce(|x, y| crate::num::minmax::f32(f32::from_bits(x), f32::from_bits(y), m).to_bits())
                .unwrap_or(0),
        };
        let to = cx.row_mut::<u32>(op.d);
        crate::exec::lanes::blend(cx.mask, to, &[result; 32]);
    }
    Flow::Next
}

fn elect(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let sync = i.take("sync");
    let mut op = e.op(elect_exec);
    op.e = member_operand(e, i, sync, 1)?;
    let Operand::Pair(d, p) = &i.operands[0] else { return i.unsupported() };
    op.d = if **d == Operand::Sink { Slot::NONE } else { e.dst(d, Ty::B32)? };
    op.b = e.pred_dst(p)?;
    e.push(op, Taint::Use);
    Ok(())
}

/// The lowest member is elected.
unsafe fn elect_exec(cx: &mut Cx<'_>, op: &Op) -> Flow {
    // SAFETY: slots of a decoded instruction.
    unsafe {
        let members = match cx.members(op.e) {
            Ok(members) => members,
            Err(flow) => return flow,
        };
        if let Some(flow) = cx.gather(members, false) {
            return flow;
        }
        let leader = cx.mask.trailing_zeros();
        if !op.d.is_none() {
            let to = cx.row_mut::<u32>(op.d);
            crate::exec::lanes::blend(cx.mask, to, &[leader; 32]);
        }
        if !op.b.is_none() {
            cx.set_pred(op.b, 1u32.checked_shl(leader).unwrap_or(0));
        }
    }
    Flow::Next
}
