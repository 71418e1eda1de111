//! Kernels of which some path reads a register before anything has written it. Such a register is marked from the start, and
//! following marks takes much longer than running without: `int place; if (lane == leader) place = atomicAdd(..);` would
//! slow all of a kernel, though one instruction or two name the register. So those alone are followed, as long as nothing
//! else is marked.

use super::marks::Marks;
use crate::exec::cx::Cx;
use crate::exec::image::Image;
use crate::exec::op::{Exec, Flow, Op, OpInfo, Slot, Taint};
use crate::exec::template::Native;
use crate::isa::wgmma;

/// One instruction in so many may have a gate: with more of them little would run without looking for marks.
const MOST: usize = 3;

/// Puts gates before the instructions that name registers of `undefined`; `keep` takes their numbers and what runs them.
/// False: nothing was changed, since too many instructions name them, or one of them is a guard (which decides before its
/// instruction runs), or there are instructions of `wgmma`, which know each other by what runs them.
pub fn guard(code: &mut [Op], infos: &[OpInfo], undefined: &[Slot], mut keep: impl FnMut(usize, Exec)) -> bool {
    let names = |op: &Op, info: &OpInfo| {
        let own = [op.a, op.b, op.c, op.d];
        undefined.iter().any(|slot| own.contains(slot) || info.reads.contains(slot) || info.writes.contains(slot))
    };
    let refuses = |op: &Op| undefined.contains(&op.guard) || wgmma::part(op).is_some();
    if undefined.is_empty() || code.iter().any(refuses) {
        return false;
    }
    let named = code.iter().zip(infos).filter(|(op, info)| names(op, info)).count();
    if named > code.len() / MOST {
        return false;
    }
    for (at, (op, info)) in code.iter_mut().zip(infos).enumerate() {
        if names(op, info) {
            keep(at, std::mem::replace(&mut op.run, gated));
            op.native = Native::No;
        }
    }
    true
}

/// An instruction that names a register which may have no value.
///
/// # Safety
/// As [`Exec`]; [`guard`] put it there.
unsafe fn gated(cx: &mut Cx<'_>, op: &Op) -> Flow {
    let image = cx.image();
    let run = image.exec(cx.pc);
    if !cx.tainted && cx.grid.options.checks.uninitialised {
        if cx.takes_no_mark(op) {
            // SAFETY: passed on.
            let flow = unsafe { run(cx, op) };
            // It may have read what nobody wrote: then its marks are the right ones.
            if flow != Flow::Switch && !cx.tainted {
                cx.leave_no_mark(op);
            }
            return flow;
        }
        // What follows the instruction moves the marks, and lets go where none but sleeping ones are left.
        (cx.tainted, cx.attention) = (true, true);
        cx.before_op(op);
    }
    // SAFETY: passed on.
    unsafe { run(cx, op) }
}

impl Cx<'_> {
    /// Whether the instruction that is to run takes nothing from a marked register, also by a shuffle that names one.
    fn takes_no_mark(&self, op: &Op) -> bool {
        let info = &self.image().infos[self.pc as usize];
        let frame = self.warp.splits[self.warp.current].frame;
        let marked = |slot: Slot| self.warp.poison.get((frame, slot.0)).map_or(0, |mark| mark.lanes);
        if info.taint != Taint::Shuffle {
            let own = [op.a, op.b, op.c, op.guard];
            return own.iter().chain(&info.reads).all(|slot| marked(*slot) & self.active == 0);
        }
        let marks = marked(op.a);
        [op.b, op.c, op.e, op.guard].iter().all(|slot| marked(*slot) == 0)
            && (marks == 0 || {
                // SAFETY: slots of a decoded instruction.
                let (from, _) = unsafe { crate::isa::shuffle::sources(self, op) };
                from.iter().all(|lane| marks >> (lane & 31) & 1 == 0)
            })
    }

    /// What it wrote has a value now.
    fn leave_no_mark(&mut self, op: &Op) {
        let info = &self.image().infos[self.pc_of(op) as usize];
        let Some(split) = self.warp.splits.get(self.warp.current) else { return };
        let (frame, mask) = (split.frame, self.mask);
        for slot in &info.writes {
            self.mark((frame, slot.0), None, mask);
        }
        self.drop_last(info, frame);
    }
}

impl Image {
    /// What runs the instruction at `pc`, without the gate before it.
    #[inline(always)]
    pub fn exec(&self, pc: u32) -> Exec {
        match self.gates.binary_search_by_key(&pc, |(at, _)| *at) {
            Ok(index) => self.gates[index].1,
            Err(_) => self.code[pc as usize].run,
        }
    }
}

impl Marks {
    /// Those of these registers, which only gated instructions name, do not keep a warp from running as if nothing were
    /// marked.
    pub fn let_sleep(&mut self, frame: u32, slots: &[Slot]) {
        self.asleep.clear();
        self.asleep.extend(slots.iter().map(|slot| (frame, slot.0)));
    }
}
