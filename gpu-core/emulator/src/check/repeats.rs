//! What was told already is counted, not told again: writing a message costs a thousand times what the access did that it
//! is about, and a loop may make the same mistake in every round.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use crate::exec::cx::Cx;
use crate::exec::fault::Identity;
use crate::exec::grid::Grid;
use crate::exec::image::Image;
use crate::report::{FaultKind, SourceLine};

/// What makes two faults one: where it happened, and where the other side was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Told {
    pub kind: FaultKind,
    pub pc: u32,
    pub other: Other,
    /// The site of a read that is judged at the end ([`super::race::Deferred`]).
    pub deferred: Option<u32>,
}

/// The other side of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Other {
    None,
    /// Somebody, nobody knows where.
    Nowhere,
    At(u32),
}

impl Told {
    /// A fault with no other side.
    pub fn alone(kind: FaultKind, pc: u32) -> Told {
        Told { kind, pc, other: Other::None, deferred: None }
    }

    /// A fault whose other side was at `other`.
    pub fn beside(kind: FaultKind, pc: u32, other: u32) -> Told {
        Told { other: Other::At(other), ..Told::alone(kind, pc) }
    }

    /// The source line of the other side, and its call; None without one.
    fn other_position(&self, image: &Image) -> Option<(Option<SourceLine>, Option<SourceLine>)> {
        match self.other {
            Other::None => None,
            Other::Nowhere => Some((None, None)),
            Other::At(pc) => Some((image.source(pc), image.inlined_at(pc))),
        }
    }
}

/// How often each fault came again, on one host thread.
#[derive(Debug, Default)]
pub struct Repeats {
    list: Vec<(Told, u64)>,
    places: HashMap<Told, usize>,
    /// Place of the last one, which is mostly the next one as well.
    last: usize,
    /// Slow steps since the last look at the clock.
    slow: u32,
    /// Faults met again that [`Grid::repeated`] does not know of yet.
    again: u64,
}

impl Repeats {
    /// Whether such a fault was told; then it is counted.
    fn count(&mut self, told: Told, count: u32) -> bool {
        if self.list.get(self.last).is_none_or(|known| known.0 != told) {
            let Some(place) = self.places.get(&told) else {
                self.last = self.list.len();
                self.places.insert(told, self.last);
                self.list.push((told, 0));
                return false;
            };
            self.last = *place;
        }
        self.list[self.last].1 += u64::from(count.max(1));
        true
    }
}

/// Slow steps between two looks at the clock, about a millisecond: an instruction that is all conflicts takes as long as a
/// thousand others, and by the number of instructions a time limit would be noticed late.
const SLOW_STEPS: u32 = 1024;

impl Cx<'_> {
    /// Whether this worker told of such a fault before, which `count` threads now met again. False: tell it, now.
    #[cold]
    #[inline(never)]
    pub fn repeats(&mut self, told: Told, count: u32) -> bool {
        self.pass_slowly(1);
        let repeats = &mut self.worker.repeats;
        let known = repeats.count(told, count);
        repeats.again += u64::from(known);
        known
    }

    /// Something was done that takes as long as several instructions; now and then looks at the stop flag and the clock.
    #[cold]
    #[inline(never)]
    pub fn pass_slowly(&mut self, steps: u32) {
        let slow = &mut self.worker.repeats.slow;
        *slow += steps;
        if *slow < SLOW_STEPS {
            return;
        }
        *slow = 0;
        let (grid, pc, id) = (self.grid, self.pc, self.block.id);
        grid.repeated.fetch_add(std::mem::take(&mut self.worker.repeats.again), Ordering::Relaxed);
        let place = || {
            let [x, y, z] = id;
            (Some(pc), format!("block ({x},{y},{z}) was at {}", grid.image.place(pc)))
        };
        if !grid.may_go_on(place) {
            // A fault that ends the launch, so that the next instruction looks up.
            self.attention = true;
        }
    }
}

impl Grid<'_> {
    /// Adds what was not told again to what was told.
    pub fn count_repeats(&self, repeats: &Repeats) {
        for (told, more) in repeats.list.iter().filter(|(_, more)| *more > 0) {
            let other = told.other_position(self.image);
            let other = other.as_ref().map(|(source, call)| (source.as_ref(), call.as_ref()));
            if let Some(site) = told.deferred {
                self.deferred.count(site, other, *more);
                continue;
            }
            let (source, call) = (self.image.source(told.pc), self.image.inlined_at(told.pc));
            let identity = Identity {
                kind: told.kind,
                position: (source.as_ref(), call.as_ref()),
                instruction: self.image.text(told.pc),
                array: None,
                other,
            };
            let mut faults = self.faults.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            // What was one too many for the list is in none.
            if let Some(fault) = identity.find_again(&mut faults) {
                fault.occurrences += *more;
            }
        }
    }
}
