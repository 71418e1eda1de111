//! Waits at an mbarrier may come before the phase is over, whatever the schedule here: copies arrive at once, and warps
//! take turns. So the first `test_wait` or `try_wait` that would learn of anything new gives false, as it may on a GPU. A
//! loop asks again; who does not look at the answer has not waited.

use super::copies::{Fill, Pending, Waited};
use crate::exec::cx::{Cx, watch};
use crate::exec::image::Image;

/// A wait that was told that the phase is not over.
#[derive(Clone, Copy, Debug)]
pub struct Refused {
    /// Completed phases then.
    phases: u64,
    /// Lanes that were told so at this count of phases.
    lanes: u32,
    pub pc: u32,
}

/// What is said of a wait that nobody repeated.
pub(crate) fn look_again(image: &Image, pc: u32) -> String {
    format!(
        "; its wait at {} may give false, so look at what it gives and wait again until that is true",
        image.place(pc)
    )
}

impl Cx<'_> {
    /// Which lanes of `mask` may have come too early with their wait for a phase that is over, and for which lanes that is
    /// decided; `released` is what its arrivals publish. Once a lane passed, its warp knows of them, and the others are to
    /// be asked again.
    pub fn may_be_early(&mut self, offset: u32, phases: u64, released: &[u32; 32], mask: u32) -> (u32, u32) {
        if self.watch & watch::RACE == 0 {
            return (0, mask);
        }
        let own = self.warp.index as usize;
        let here = &*self.warp;
        let arrivals = (0..32).fold(false, |news, warp| news | (warp != own && released[warp] > here.heard(warp)));
        let fills = self.block.pending.fills.iter().filter(|fill| fill.ends_with(offset, phases));
        let news = if arrivals { mask } else { fills.fold(0, |news, fill| news | mask & !self.knowing(fill)) };
        if news == 0 {
            return (0, mask);
        }
        let (key, pc) = ((self.warp.index, offset), self.pc);
        let refused = &mut self.block.pending.refused;
        let entry = refused.entry(key).or_insert(Refused { phases, lanes: 0, pc });
        if entry.phases != phases {
            *entry = Refused { phases, lanes: 0, pc };
        }
        let passes = news & entry.lanes;
        // Those before the first one that passes, and that one.
        let decided = if arrivals && passes != 0 { mask & (passes ^ (passes - 1)) } else { mask };
        let early = news & decided & !entry.lanes;
        if early != 0 {
            *entry = Refused { lanes: entry.lanes | early, pc, ..*entry };
            // Whoever looks for polls that nothing will end: this one ends.
            self.worker.writes += 1;
        }
        (early, decided)
    }

    /// Waits of the lanes of `mask` at the own block's mbarrier passed with `phases` completed.
    pub fn passed_mbarrier(&mut self, offset: u32, phases: u64, mask: u32) {
        let warp = self.warp.index;
        let time = self.block.time;
        let none = Waited { phases, time, lanes: 0, stale: phases == 0 };
        let last = self.block.pending.waited.entry((warp, offset)).or_insert(none);
        if last.phases != phases {
            *last = none;
        }
        *last = Waited { time, lanes: last.lanes | mask, stale: last.stale || last.lanes & mask != 0, ..*last };
        let mut new = false;
        for fill in self.block.pending.fills.iter_mut().filter(|fill| fill.ends_with(offset, phases)) {
            match fill.waits.iter_mut().find(|(known, ..)| *known == warp) {
                Some((.., lanes)) => *lanes |= mask,
                None => new = true,
            }
        }
        if !new {
            return;
        }
        // From here on, what this warp publishes covers the wait.
        let time = &mut self.block.time;
        self.warp.tick(time);
        let clock = self.warp.clock;
        for fill in self.block.pending.fills.iter_mut().filter(|fill| fill.ends_with(offset, phases)) {
            if !fill.waits.iter().any(|(known, ..)| *known == warp) {
                fill.waits.push((warp, clock, mask));
            }
        }
    }

    /// Where this warp asked for the phase that a copy completes, and was told no.
    pub(crate) fn refused_for(&self, fill: &Fill) -> Option<u32> {
        let refused = self.block.pending.refused.get(&(self.warp.index, fill.barrier))?;
        (refused.phases > fill.phase).then_some(refused.pc)
    }

    /// Where this warp asked last, was told no, and did not ask again.
    pub(crate) fn refused_last(&self) -> Option<u32> {
        let Pending { refused, waited, .. } = &self.block.pending;
        let own = refused.iter().filter(|((warp, _), _)| *warp == self.warp.index);
        let open = own.filter(|(key, refused)| waited.get(key).is_none_or(|waited| waited.phases < refused.phases));
        open.map(|(_, refused)| refused.pc).max()
    }
}
