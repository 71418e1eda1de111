//! What a warp has read where others publish, and no fence followed: it orders nothing yet.

use super::sync::keys;
use crate::exec::cx::Cx;
use crate::exec::memory::access::{Addresses, Reach};
use crate::exec::memory::flags::{ACQUIRE, CTA};
use crate::exec::op::Op;
use crate::memory::space::Window;

/// Relaxed loads and atomics that are remembered until a fence.
pub const MAX_UNFENCED: usize = 64;
/// Set in the place of an atomic among those: places are those of words.
const BY_ATOMIC: u64 = 1;

impl Cx<'_> {
    /// What an acquire has read is ordered before all that follows. A relaxed atomic orders no plain access behind what
    /// other blocks did until a fence or a barrier follows it: before that, loads may still find what the first-level cache
    /// holds. Warps of one block share that cache, and locks among them without such a fence work, so that they are let be.
    pub(crate) fn meet(&mut self, op: &Op, window: Window, key: u64) {
        if let Some(clocks) = self.block.syncs.get(&key).copied() {
            self.warp.acquire(&clocks);
        }
        if op.e.0 & ACQUIRE != 0 || self.warp.unfenced.len() >= MAX_UNFENCED {
            self.learn(window, key, op.e.0 & CTA == 0);
        } else if self.is_published_elsewhere(window, key) && !self.warp.unfenced.contains(&(window, key | BY_ATOMIC)) {
            self.warp.unfenced.push((window, key | BY_ATOMIC));
            self.warp.unfenced_last = None;
        }
    }

    /// Whether this warp has read where others published something, and no fence followed.
    pub fn lacks_fence(&mut self) -> bool {
        let read = self.warp.unfenced.clone();
        read.into_iter().any(|(window, key)| {
            let key = key & !BY_ATOMIC;
            self.block.syncs.contains_key(&key) || self.is_published_elsewhere(window, key)
        })
    }

    /// Learns what relaxed atomics have met, as volatile accesses and atomics may rely on it: they pass the cache by.
    /// False: there was nothing.
    pub fn trust_atomics(&mut self) -> bool {
        let (met, rest): (Vec<_>, Vec<_>) = self.warp.unfenced.iter().partition(|(_, key)| key & BY_ATOMIC != 0);
        self.warp.unfenced = rest;
        for (window, key) in &met {
            self.learn(*window, key & !BY_ATOMIC, true);
        }
        !met.is_empty()
    }

    /// Whether another block published anything at a place.
    fn is_published_elsewhere(&mut self, window: Window, key: u64) -> bool {
        let word = match window {
            Window::Global => Some(key),
            _ if self.clustered() => self.word_key(key),
            _ => None,
        };
        word.is_some_and(|word| self.grid.syncs.has(word))
    }

    /// Remembers a load for the fence that may follow. Loops load the same places again and again.
    pub(crate) fn remember_load(&mut self, reach: &Reach, at: &Addresses) {
        if reach.window == Window::Shared && self.block.syncs.is_empty() && !self.clustered() {
            // Nothing that it can have seen was published.
            return;
        }
        let plain = at.contiguous || at.low == at.high;
        let place = plain.then_some((reach.window, at.low, at.high, at.mask));
        let (none, last) = (self.warp.unfenced.is_empty(), self.warp.unfenced_last);
        if !none && place.is_some() && place == last {
            return;
        }
        let unfenced = &mut self.warp.unfenced;
        for key in keys(reach, at) {
            if (none || !unfenced.contains(&(reach.window, key))) && unfenced.len() < MAX_UNFENCED {
                unfenced.push((reach.window, key));
            }
        }
        self.warp.unfenced_last = place;
    }

    /// What was read so far counts as acquired: a fence or a barrier follows it.
    pub fn finish_acquires(&mut self, wide: bool) {
        if self.warp.unfenced.is_empty() {
            return;
        }
        if !self.may_learn() {
            if wide {
                self.warp.unfenced.clear();
            }
            return;
        }
        let loads = std::mem::take(&mut self.warp.unfenced);
        for (window, key) in &loads {
            self.learn(*window, key & !BY_ATOMIC, wide);
        }
        if !wide {
            self.warp.unfenced = loads;
        }
    }
}
