//! The marks of registers with undefined values.

use std::collections::HashMap;

use super::undefined::Quick;
use crate::exec::op::Slot;
use crate::exec::warp::Poison;

/// Marks by frame and register. Few registers have any, and nearly all that an instruction names have none: a filter tells
/// that without looking them up.
#[derive(Debug, Default)]
pub struct Marks {
    all: HashMap<(u32, u32), Poison, Quick>,
    /// Registers whose marks are looked up by those instructions alone that name them: see [`super::gates`].
    pub(super) asleep: Vec<(u32, u32)>,
    /// How many others are marked.
    awake: usize,
    /// A bit for the hash of each register that was marked since there were none.
    filter: [u64; 4],
}

#[inline(always)]
fn place(slot: u32) -> (usize, u64) {
    let hash = slot.wrapping_mul(0x9e37_79b9) >> 24;
    ((hash >> 6) as usize, 1 << (hash & 63))
}

impl Marks {
    /// False where the register has no mark, in whatever frame.
    #[inline(always)]
    pub fn may_have(&self, slot: Slot) -> bool {
        let (word, bit) = place(slot.0);
        self.filter[word & 3] & bit != 0
    }

    #[inline(always)]
    pub fn get(&self, key: (u32, u32)) -> Option<&Poison> {
        if self.may_have(Slot(key.1)) { self.all.get(&key) } else { None }
    }

    pub fn insert(&mut self, key: (u32, u32), mark: Poison) {
        let (word, bit) = place(key.1);
        self.filter[word & 3] |= bit;
        if self.all.insert(key, mark).is_none() && !self.asleep.contains(&key) {
            self.awake += 1;
        }
    }

    pub fn remove(&mut self, key: (u32, u32)) {
        if self.all.remove(&key).is_some() && !self.asleep.contains(&key) {
            self.awake -= 1;
        }
        if self.all.is_empty() {
            self.filter = [0; 4];
        }
    }

    /// Whether every instruction must look for marks.
    #[inline(always)]
    pub fn are_awake(&self) -> bool {
        self.awake != 0
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = (u32, u32)> {
        self.all.keys().copied()
    }

    pub fn clear(&mut self) {
        self.all.clear();
        self.asleep.clear();
        self.awake = 0;
        self.filter = [0; 4];
    }
}
