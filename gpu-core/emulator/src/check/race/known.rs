//! Clocks by the lane, where one a warp says too much. A barrier of the block or `__syncwarp` comes behind what all lanes of a
//! warp did; an arrival at an mbarrier, or a fence, by some of them comes only behind what these did, and what the others did
//! before they last met these. One clock a warp is enough for the rest of the time, so that lanes are told apart only where
//! they differ ([`Part`]).

use crate::exec::cx::lanes;
use crate::exec::sched::warp::Warp;

/// Up to which clock each lane of a warp is known, where that is not the same for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub warp: u32,
    /// What is known of the whole warp is the least of them.
    pub clocks: [u32; 32],
    /// Where some of its lanes told of themselves alone, and the first of these.
    pub pc: u32,
    pub lane: u32,
}

/// What somebody knows of each warp of a block, or tells of it.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// The latest clock of any lane of a warp, which is that of all of them where no part says otherwise.
    pub clocks: [u32; 32],
    pub parts: Vec<Part>,
}

impl From<[u32; 32]> for Known {
    fn from(clocks: [u32; 32]) -> Known {
        Known { clocks, parts: Vec::new() }
    }
}

fn least(clocks: &[u32; 32]) -> u32 {
    clocks.iter().copied().fold(u32::MAX, u32::min)
}

fn most(clocks: &[u32; 32]) -> u32 {
    clocks.iter().copied().fold(0, u32::max)
}

fn raise(clocks: &mut [u32; 32], by: &[u32; 32]) {
    for (clock, by) in clocks.iter_mut().zip(by) {
        *clock = (*clock).max(*by);
    }
}

fn part(parts: &[Part], warp: usize) -> Option<&Part> {
    parts.iter().find(|part| part.warp as usize == warp)
}

/// Two parts about one warp, or one and what is known of all lanes alike.
fn joined(warp: usize, ours: (&[Part], u32), theirs: (&[Part], u32)) -> Option<Part> {
    let (mine, new) = (part(ours.0, warp), part(theirs.0, warp));
    let mut both = new.or(mine)?.clone();
    raise(&mut both.clocks, &mine.map_or([ours.1; 32], |part| part.clocks));
    raise(&mut both.clocks, &new.map_or([theirs.1; 32], |part| part.clocks));
    Some(both)
}

/// The warps that either of two lists tells of.
fn warps(ours: &[Part], theirs: &[Part]) -> u32 {
    ours.iter().chain(theirs).fold(0, |warps, part| warps | 1 << (part.warp & 31))
}

impl Known {
    /// Adds what `other` tells.
    pub fn join(&mut self, other: &Known) {
        let mut parts = Vec::new();
        for warp in lanes(warps(&self.parts, &other.parts)) {
            let ours = (&self.parts[..], self.clocks[warp]);
            let both = joined(warp, ours, (&other.parts, other.clocks[warp]));
            parts.extend(both.filter(|part| least(&part.clocks) != most(&part.clocks)));
        }
        self.parts = parts;
        raise(&mut self.clocks, &other.clocks);
    }

    /// The clock up to which a thread of the block is known.
    pub fn of(&self, thread: u32) -> u32 {
        let warp = thread as usize / 32;
        part(&self.parts, warp).map_or(self.clocks[warp], |part| part.clocks[thread as usize % 32])
    }

    pub fn clear(&mut self) {
        self.clocks = [0; 32];
        self.parts.clear();
    }
}

impl Warp {
    /// The clock up to which this warp knows of some lane of warp `other`, and of all of them where they were told of together.
    #[inline(always)]
    pub fn heard(&self, other: usize) -> u32 {
        let all = self.seen(other);
        if self.parts.is_empty() {
            all
        } else {
            part(&self.parts, other).map_or(all, |part| most(&part.clocks).max(all))
        }
    }

    /// Whether what a thread of the block did at `clock` is ordered before what this warp does now.
    #[inline(always)]
    pub fn knows(&self, thread: u32, clock: u32) -> bool {
        self.seen(thread as usize / 32) >= clock || !self.parts.is_empty() && self.knows_lane(thread, clock)
    }

    #[cold]
    fn knows_lane(&self, thread: u32, clock: u32) -> bool {
        part(&self.parts, thread as usize / 32).is_some_and(|part| part.clocks[thread as usize % 32] >= clock)
    }

    /// Another lane of a thread's warp arrived at an mbarrier, for itself alone, after the thread did something at `clock`, and this
    /// warp waited for that: where it arrived, and which thread.
    pub fn told_by_another(&self, thread: u32, clock: u32) -> Option<(u32, u32)> {
        let part = part(&self.parts, thread as usize / 32)?;
        (part.clocks[thread as usize % 32] < clock && most(&part.clocks) >= clock)
            .then_some((part.pc, part.warp * 32 + part.lane))
    }

    /// What lanes `mask` of this warp tell who waits for them, at `pc`: all that the warp knows of others, and of its own lanes what
    /// these did, and what the rest did before it last met one of them.
    pub fn told_by(&self, mask: u32, pc: u32) -> Known {
        let mut known = Known { clocks: self.clocks(), parts: self.parts.clone() };
        let own = self.index as usize;
        known.parts.retain(|part| part.warp as usize != own);
        for part in &mut known.parts {
            raise(&mut part.clocks, &[self.seen(part.warp as usize); 32]);
        }
        if self.live & !mask == 0 {
            return known;
        }
        let now = known.clocks[own];
        let before = part(&self.parts, own).map_or([0; 32], |part| part.clocks);
        let mut clocks = before.map(|clock| clock.max(self.seen(own)));
        // Backwards: who met somebody that met one of them later on.
        let mut met = mask;
        for (at, members) in self.meetings.iter().rev() {
            if met & members != 0 {
                lanes(members & !met).for_each(|lane| clocks[lane] = clocks[lane].max(*at));
                met |= members;
            }
        }
        // Lanes that have ended are let be, as where the others meet.
        lanes(mask | !self.live).for_each(|lane| clocks[lane] = now);
        if least(&clocks) < now {
            known.parts.push(Part { warp: self.index, clocks, pc, lane: mask.trailing_zeros() & 31 });
        }
        known
    }

    /// Learns of clocks of its block, of some warps by the lane.
    pub fn take(&mut self, known: &Known) {
        let apart = warps(&self.parts, &known.parts);
        for (warp, (seen, clock)) in self.seen.iter_mut().zip(&known.clocks).enumerate() {
            if apart >> warp & 1 == 0 {
                *seen = (*seen).max(*clock);
            }
        }
        let mine = std::mem::take(&mut self.parts);
        for warp in lanes(apart) {
            let ours = (&mine[..], self.seen(warp));
            self.parts.extend(joined(warp, ours, (&known.parts, known.clocks[warp])));
        }
        self.refresh_floor();
    }

    /// What all lanes of a warp are known up to is known of the warp; what is known of all of them needs no telling apart.
    pub(crate) fn settle_parts(&mut self) {
        let (seen, floor) = (&mut self.seen, self.floor);
        self.parts.retain(|part| {
            let seen = &mut seen[part.warp as usize & 31];
            *seen = (*seen).max(least(&part.clocks));
            most(&part.clocks) > (*seen).max(floor)
        });
    }
}
