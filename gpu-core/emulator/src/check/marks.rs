//! The marks of registers with undefined values.

use std::collections::HashMap;

use crate::exec::op::Slot;
use crate::exec::warp::Poison;

/// Marks by frame and register. Few registers have any, and nearly all that an instruction names have none: a filter tells
/// that without looking them up.
#[derive(Debug, Default)]
pub struct Marks {
    all: HashMap<(u32, u32), Poison>,
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
        self.all.insert(key, mark);
    }

    pub fn remove(&mut self, key: (u32, u32)) {
        self.all.remove(&key);
        if self.all.is_empty() {
            self.filter = [0; 4];
        }
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub fn clear(&mut self) {
        self.all.clear();
        self.filter = [0; 4];
    }
}
