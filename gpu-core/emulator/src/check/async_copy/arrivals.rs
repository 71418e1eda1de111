//! Arrivals at an mbarrier that count towards the next phase although nothing says that the one before is over. On a GPU such an
//! arrival may as well come first: then it ends that phase, and somebody waits in vain, or reads what is not there yet.
//!
//! Whoever waited for a phase knows that it is over, and so does everybody who comes behind that wait: in a ring of buffers
//! all arrivals of a round are ordered behind all those of the round before. Who just arrives twice, or with more
//! threads than `mbarrier.init` counted, is not.

use crate::check::repeats::Told;
use crate::exec::cx::{Cx, lanes};
use crate::exec::fault::{Detail, text_of};
use crate::report::{FaultKind, Space};

/// How the phase before an arrival ended.
#[derive(Debug)]
pub struct Before {
    pub phase: u64,
    pub count: u32,
    /// What its arrivals published.
    pub released: [u32; 32],
    /// Lanes of the arriving warp that arrived in it.
    pub lanes: u32,
    /// Where the mbarrier was initialised.
    pub init: u32,
}

impl Cx<'_> {
    /// An arrival of the lanes of `mask` at an mbarrier of their block, in the phase behind `before`.
    pub fn check_arrivals(&mut self, offset: u32, mask: u32, before: &Before) {
        let own = self.warp.index as usize;
        let first = mask.trailing_zeros() as usize & 31;
        // Where they know of their own warp, all of them know the same.
        let unknown = if before.lanes == 0 || self.warp.heard(own) >= before.released[own] {
            if self.knows_end(first, before) { 0 } else { mask }
        } else {
            lanes(mask).filter(|&lane| !self.knows_end(lane, before)).fold(0, |some, lane| some | 1 << lane)
        };
        let (lane, lanes_that, pc) = (unknown.trailing_zeros() as usize & 31, unknown.count_ones(), self.pc);
        if unknown == 0 || self.repeats(Told::alone(FaultKind::BarrierPhase, pc), lanes_that) {
            return;
        }
        let Before { phase, count, init, .. } = before;
        let message = format!(
            "{} arrives at the mbarrier{} although nothing says that phase {phase} is over: it counts in that phase or in the \
             next one, as it comes; the mbarrier is made for {count} arrivals a phase at {}, so either more threads arrive or \
             this one has to wait for the phase first",
            text_of(&self.thread(lane)),
            self.shared_name(offset),
            self.image().place(*init)
        );
        let detail = Detail { space: Some(Space::Shared), address: Some(offset.into()), bytes: 8, ..Detail::default() };
        self.fault(FaultKind::BarrierPhase, pc, Some(lane), lanes_that, message, detail);
    }

    /// Whether all arrivals of that phase are ordered before what `lane` does now.
    fn knows_end(&self, lane: usize, before: &Before) -> bool {
        let own = self.warp.index as usize;
        let clock = before.released[own];
        let met = |from: usize| self.warp.met(from as u32, clock, lane as u32);
        let others = before.lanes & !(1 << lane);
        if others != 0 && self.warp.heard(own) < clock && !lanes(others).all(met) {
            return false;
        }
        // Of its own block a warp may have learned by way of another one of the cluster.
        let (block, base) = (self.block.index, self.block.base_time);
        let learned = |warp: usize, clock: u32| {
            self.peers.len() > 1
                && self
                    .grid
                    .syncs
                    .ordered(block, u64::MAX, warp, clock.saturating_sub(base), block, || self.grid.over())
        };
        let others = before.released.iter().enumerate().filter(|(warp, _)| *warp != own);
        others.into_iter().all(|(warp, &clock)| self.warp.heard(warp) >= clock || learned(warp, clock))
    }
}
