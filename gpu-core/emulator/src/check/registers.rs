//! `setmaxnreg`: the warps of a block share the registers that it was launched with. Who asks for more waits until others give
//! some back; where all that is asked for together is more than there is, somebody waits for ever.

use crate::exec::cx::Cx;
use crate::exec::fault::{Detail, text_of};
use crate::report::FaultKind;

/// What a warp last asked for with `setmaxnreg`.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    pub warp: u32,
    /// Registers of each of its threads.
    pub count: u32,
    pub pc: u32,
    /// It asked for more, not less.
    pub more: bool,
}

impl Cx<'_> {
    /// This warp is to have `count` registers a thread from here on.
    pub fn note_share(&mut self, count: u32, more: bool) {
        let share = Share { warp: self.warp.index, count, pc: self.pc, more };
        match self.block.shares.iter_mut().find(|known| known.warp == share.warp) {
            Some(known) => *known = share,
            None => self.block.shares.push(share),
        }
    }

    /// The block ends: whether all of its warps can have had what they asked for last, at one time.
    pub fn check_shares(&mut self) {
        let shares = std::mem::take(&mut self.block.shares);
        let Some(most) = self.grid.image.kernels[self.grid.kernel().kernel].register_limit else { return };
        let Some(last) = shares.iter().rev().find(|share| share.more).copied() else { return };
        let warps = self.block.threads.div_ceil(32);
        let asked: u32 = shares.iter().map(|share| share.count).sum();
        // Warps that never asked keep what they were launched with.
        let rest = warps - shares.len() as u32;
        if asked + rest * most <= warps * most {
            return;
        }
        let takers = shares.iter().filter(|share| share.more);
        let (mut count, mut taken) = (0, 0);
        takers.for_each(|share| (count, taken) = (count + 1, taken + share.count));
        let left = ((warps - rest) * most).saturating_sub(asked - taken);
        let fits = left / count / 8 * 8;
        let advice = if fits > most {
            format!("take {fits} at most, or have other warps give more back")
        } else {
            "have other warps give registers back with setmaxnreg.dec first".to_owned()
        };
        let by = self.thread_of(last.warp * 32);
        let message = format!(
            "{} asks for {} registers a thread with setmaxnreg.inc, and waits for ever: the {warps} warps of its block are \
             launched with {most} a thread at most, {} together, and with this they ask for {}; {advice}",
            text_of(&by),
            last.count,
            warps * most * 32,
            (asked + rest * most) * 32
        );
        self.fault_of(FaultKind::Deadlock, last.pc, Some(by), 1, message, Detail::default());
    }
}
