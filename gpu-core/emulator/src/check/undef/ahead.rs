//! What a stretch of instructions that only compute does to marks as a whole: which registers each of its results comes from.
//! Found once for a stretch, it says in a few steps what going through it one by one would.

use std::collections::HashMap;

use super::marks::Computed;
use crate::exec::cx::{Cx, lanes};
use crate::exec::op::{OpInfo, Slot, Taint};

/// Stretches that one worker remembers.
const PLACES: usize = 64;
/// A stretch is looked at as a whole when it was met so often.
const OFTEN: u8 = 3;

/// What one worker knows of stretches, by their first instructions.
#[derive(Debug, Default)]
pub struct Ahead(Vec<Place>);

#[derive(Debug, Default)]
struct Place {
    first: u32,
    count: u32,
    met: u8,
    whole: Option<Box<Whole>>,
}

/// What a stretch does to the marks that there are where it begins.
#[derive(Debug)]
struct Whole {
    /// With a mark on one of these, what happens depends on values.
    deciding: Vec<Slot>,
    results: Vec<(Slot, From)>,
    /// What was marked before is so no more.
    cleared: Vec<Slot>,
    /// No register that is looked at here was set before.
    in_order: bool,
}

/// What a register holds, in terms of what registers held at first.
#[derive(Clone, Debug, PartialEq)]
enum From {
    Copied(Slot),
    /// In the order in which they are asked for: the first that is marked says where the value came from.
    Computed(Vec<Slot>),
}

impl From {
    fn sources(&self) -> &[Slot] {
        match self {
            From::Copied(slot) => std::slice::from_ref(slot),
            From::Computed(slots) => slots,
        }
    }
}

impl Whole {
    fn of(infos: &[OpInfo]) -> Whole {
        // None: with no mark, whatever it was.
        let mut now: HashMap<Slot, Option<From>> = HashMap::new();
        let mut deciding: Vec<Slot> = Vec::new();
        let add = |all: &mut Vec<Slot>, more: &[Slot]| {
            for slot in more {
                if !all.contains(slot) {
                    all.push(*slot);
                }
            }
        };
        for info in infos {
            let holds = |slot: &Slot| now.get(slot).cloned().unwrap_or(Some(From::Copied(*slot)));
            let mut sources = Vec::new();
            for from in info.reads.iter().filter_map(&holds) {
                add(&mut sources, from.sources());
            }
            let result = match info.taint {
                Taint::Copy if info.reads.len() <= 1 => info.reads.first().and_then(holds),
                Taint::Compute if !info.moves && info.writes.len() == 1 => {
                    (!sources.is_empty()).then_some(From::Computed(sources))
                }
                _ => {
                    add(&mut deciding, &sources);
                    None
                }
            };
            for slot in &info.writes {
                now.insert(*slot, result.clone());
            }
            for at in lanes(info.last.into()) {
                now.insert(info.reads[at], None);
            }
        }
        let mut results: Vec<(Slot, From)> =
            now.iter().filter_map(|(slot, from)| Some((*slot, from.clone()?))).collect();
        results.retain(|(slot, from)| *from != From::Copied(*slot));
        results.sort_by_key(|(slot, _)| slot.0);
        let cleared = now.iter().filter(|(_, from)| from.is_none()).map(|(slot, _)| *slot).collect();
        let set_before = |at: usize, slot: &Slot| results[..at].iter().any(|(set, _)| set == slot);
        let in_order =
            results.iter().enumerate().all(|(at, (_, from))| !from.sources().iter().any(|slot| set_before(at, slot)));
        Whole { deciding, results, cleared, in_order }
    }
}

impl Cx<'_> {
    /// Moves the marks for all of a stretch at once. False: nothing was done.
    #[inline(always)]
    pub(crate) fn follow_whole(&mut self, pc: u32, infos: &[OpInfo], frame: u32) -> bool {
        if !self.grid.options.fast.taint_summaries {
            return false;
        }
        let places = &mut self.worker.stretches.0;
        if places.is_empty() {
            places.resize_with(PLACES, Place::default);
        }
        let place = &mut places[pc as usize % PLACES];
        let count = infos.len() as u32;
        if (place.first, place.count) != (pc, count) {
            *place = Place { first: pc, count, ..Place::default() };
        }
        if place.met < OFTEN {
            place.met += 1;
            return false;
        }
        let whole = place.whole.take().unwrap_or_else(|| Box::new(Whole::of(infos)));
        let done = whole.in_order && self.move_all(&whole, frame);
        self.worker.stretches.0[pc as usize % PLACES].whole = Some(whole);
        done
    }

    #[inline(always)]
    fn move_all(&mut self, whole: &Whole, frame: u32) -> bool {
        let mask = self.active;
        let is_marked = |slot: &Slot| self.warp.poison.get((frame, slot.0)).is_some_and(|mark| mark.lanes & mask != 0);
        if whole.deciding.iter().any(is_marked) {
            return false;
        }
        for (slot, from) in &whole.results {
            match from {
                From::Copied(from) => {
                    let mark = self.warp.poison.get((frame, from.0)).cloned().and_then(|mark| mark.within(mask));
                    self.mark((frame, slot.0), mark, mask);
                }
                From::Computed(from) => {
                    let mut sum = Computed::default();
                    for slot in from {
                        if let Some(mark) = self.warp.poison.get((frame, slot.0)) {
                            sum.add(mark, mask);
                        }
                    }
                    self.warp.poison.compute((frame, slot.0), sum, mask);
                }
            }
        }
        for slot in &whole.cleared {
            self.warp.poison.compute((frame, slot.0), Computed::default(), mask);
        }
        true
    }
}
