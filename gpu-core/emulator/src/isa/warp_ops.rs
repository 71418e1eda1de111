//! Operations across the lanes of a warp; shuffles are in [`super::shuffle`].

use super::{Row, Ty};
use crate::check::repeats::Told;
use crate::decode::emit::{Decoded, Emit, Inst};
use crate::exec::cx::{Cx, lanes};
use crate::exec::fault::{Detail, text_of};
use crate::exec::lanes::{Bits, Body, Word, exec, exec_widest, mask_of};
use crate::exec::op::{Flow, Op, Slot, Taint};
use crate::exec::sched::warp::{Split, Wait};
use crate::exec::template::Native;
use crate::ptx::tree::Operand;
use crate::report::{Class, FaultKind};

pub const ROWS: &[Row] = &[
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
        let image = &self.grid.image;
        let run = image.exec(pc) as usize;
        let matching = |split: &Split| {
            split.wait == waits
                && if anywhere { image.exec(split.pc) as usize == run } else { split.pc == pc && split.frame == frame }
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
        // Those that stand here go on as one group, as on a GPU: what is written behind such a meeting counts on it, though PTX
        // does not promise it.
        let met = self.warp.join_alike(current, |split| matching(split) && split.pc == pc);
        for index in 0..self.warp.splits.len() {
            if index != self.warp.current && matching(&self.warp.splits[index]) {
                let split = &mut self.warp.splits[index];
                split.wait = Wait::Ready;
                split.pc += 1;
            }
        }
        if met != 0 {
            self.active |= met;
            // What follows in the stretch at hand is counted for those that began it.
            self.attention = true;
        }
        self.mask = together;
        None
    }

    /// The lanes that wait with those of a group that waits for members.
    pub fn gathered(&self, group: usize) -> u32 {
        let (image, splits) = (self.image(), &self.warp.splits);
        let own = &splits[group];
        // Barriers of the warp meet wherever they stand.
        let barrier = image.infos[own.pc as usize].class == Class::Barrier;
        let same = |split: &&Split| {
            let here = split.pc == own.pc && split.frame == own.frame;
            split.wait == own.wait && (here || barrier && image.exec(split.pc) as usize == image.exec(own.pc) as usize)
        };
        splits.iter().filter(same).fold(0, |mask, split| mask | split.mask)
    }

    /// The member mask of an instruction. Lanes may name different groups, as tiles of a warp do: each group then comes
    /// back to the instruction alone.
    ///
    /// # Safety
    /// `slot` must come from the decoder; the machine must have what `FORM` is for.
    #[inline(always)]
    pub unsafe fn members<const FORM: u8>(&mut self, slot: Slot) -> Result<u32, Flow> {
        let first = self.mask.trailing_zeros() as usize & 31;
        // SAFETY: passed on.
        let row = unsafe { &*self.row::<u32>(slot) };
        let members = row[first];
        if slot.is_pool() {
            return Ok(members);
        }
        let same = mask_of::<FORM>(self.mask, |lane| row[lane] == members) & self.mask;
        if same == self.mask {
            return Ok(members);
        }
        Err(self.part_by_members(same))
    }

    /// Lets the lanes of `same`, which name one group, come back to the instruction alone.
    #[cold]
    fn part_by_members(&mut self, same: u32) -> Flow {
        let (pc, next) = (self.pc, self.pc + 1);
        let others = if self.mask == self.active { pc } else { next };
        if others == next {
            // Lanes that the guard switches off go on; those it does not come back here together.
            let all = self.mask;
            return self.diverge(all, pc, next, next);
        }
        self.diverge(same, pc, others, next)
    }
}

/// The member mask operand, or all lanes for the forms without `.sync`.
pub fn member_operand(e: &mut Emit<'_>, i: &Inst<'_>, sync: bool, at: usize) -> Decoded<Slot> {
    if !sync {
        return Err(format!("`{}` without `.sync` was removed with sm_70", i.opcode));
    }
    i.expect(at + 1)?;
    e.src(&i.operands[at], Ty::B32)
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
    let mut op = e.op(exec_widest::<Vote>());
    op.e = member_operand(e, i, sync, 2)?;
    let (a, negated) = e.pred(&i.operands[1])?;
    op.a = a;
    op.imm = mode | i64::from(negated) << 8;
    op.d = if mode == 3 { e.dst(&i.operands[0], Ty::B32)? } else { e.pred_dst(&i.operands[0])? };
    e.push(op, Taint::Use);
    e.native(Native::Vote);
    Ok(())
}

struct Vote;

impl Body for Vote {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        // SAFETY: slots of a decoded instruction.
        unsafe {
            let members = match cx.members::<FORM>(op.e) {
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
            let members = match cx.members::<FORM>(op.e) {
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
    let mut op = e.op(exec_widest::<Redux>());
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

struct Redux;

impl Body for Redux {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        // SAFETY: slots of a decoded instruction.
        unsafe {
            let members = match cx.members::<FORM>(op.e) {
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
}

fn elect(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let sync = i.take("sync");
    let mut op = e.op(exec::<Elect>());
    op.e = member_operand(e, i, sync, 1)?;
    let Operand::Pair(d, p) = &i.operands[0] else { return i.unsupported() };
    op.d = if **d == Operand::Sink { Slot::NONE } else { e.dst(d, Ty::B32)? };
    op.b = e.pred_dst(p)?;
    e.push(op, Taint::Use);
    Ok(())
}

/// The lowest member is elected.
struct Elect;

impl Body for Elect {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        // SAFETY: slots of a decoded instruction.
        unsafe {
            let members = match cx.members::<FORM>(op.e) {
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
}
