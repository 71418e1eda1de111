//! The marks of registers with undefined values.

use std::collections::HashMap;

use super::undefined::Quick;
use crate::exec::op::Slot;
use crate::exec::sched::warp::Poison;

/// Places for marks that are found at once.
const NEAR: usize = 64;

/// Marks by frame and register. Few registers have any, and nearly all that an instruction names have none: a filter tells
/// that without looking them up.
#[derive(Debug, Default)]
pub struct Marks {
    /// By the hash of the register: the first one of each. Made for the first mark of all.
    near: Vec<Option<Near>>,
    /// A bit for each place there that is taken.
    taken: u64,
    /// Those whose place another one has.
    others: HashMap<(u32, u32), Poison, Quick>,
    /// Registers whose marks are looked up by those instructions alone that name them: see [`super::gates`].
    pub(crate) asleep: Vec<(u32, u32)>,
    /// How many others are marked.
    awake: usize,
    /// A bit for the hash of each register that was marked since there were none.
    filter: [u64; 4],
}

#[derive(Debug)]
struct Near {
    key: (u32, u32),
    mark: Poison,
}

#[inline(always)]
fn place(slot: u32) -> (usize, u64) {
    let hash = slot.wrapping_mul(0x9e37_79b9) >> 24;
    ((hash >> 6) as usize, 1 << (hash & 63))
}

#[inline(always)]
fn near(slot: u32) -> usize {
    (slot.wrapping_mul(0x9e37_79b9) >> 26) as usize % NEAR
}

/// The bit of a register among those that instructions name: 32 of them, for a module may have a million instructions.
#[inline(always)]
pub fn bit(slot: Slot) -> u32 {
    1 << (near(slot.0) % 32)
}

impl Marks {
    /// False where none of the registers of these bits has a mark, in whatever frame.
    #[inline(always)]
    pub fn may_have_any(&self, bits: u32) -> bool {
        (self.taken | self.taken >> 32) as u32 & bits != 0 || !self.others.is_empty()
    }

    /// False where the register has no mark, in whatever frame.
    #[inline(always)]
    pub fn may_have(&self, slot: Slot) -> bool {
        let (word, bit) = place(slot.0);
        self.filter[word & 3] & bit != 0
    }

    #[inline(always)]
    pub fn get(&self, key: (u32, u32)) -> Option<&Poison> {
        if !self.may_have(Slot(key.1)) {
            return None;
        }
        match self.near.get(near(key.1)) {
            Some(Some(near)) if near.key == key => Some(&near.mark),
            _ if self.others.is_empty() => None,
            _ => self.others.get(&key),
        }
    }

    #[inline(always)]
    pub fn get_mut(&mut self, key: (u32, u32)) -> Option<&mut Poison> {
        match self.near.get_mut(near(key.1)) {
            Some(Some(near)) if near.key == key => Some(&mut near.mark),
            _ if self.others.is_empty() => None,
            _ => self.others.get_mut(&key),
        }
    }

    /// Marks a register that has no mark.
    pub fn insert(&mut self, key: (u32, u32), mark: Poison) {
        if self.near.is_empty() {
            self.near.resize_with(NEAR, || None);
        }
        let (word, bit) = place(key.1);
        self.filter[word & 3] |= bit;
        let at = near(key.1);
        if self.taken >> at & 1 == 0 {
            self.taken |= 1 << at;
            self.near[at] = Some(Near { key, mark });
        } else {
            self.others.insert(key, mark);
        }
        if self.asleep.is_empty() || !self.asleep.contains(&key) {
            self.awake += 1;
        }
    }

    /// Takes the mark of a register that has one.
    pub fn remove(&mut self, key: (u32, u32)) {
        let at = near(key.1);
        if self.near.get(at).is_some_and(|near| near.as_ref().is_some_and(|near| near.key == key)) {
            self.near[at] = None;
            self.taken &= !(1 << at);
        } else {
            self.others.remove(&key);
        }
        if self.asleep.is_empty() || !self.asleep.contains(&key) {
            self.awake -= 1;
        }
        if self.taken == 0 && self.others.is_empty() {
            self.filter = [0; 4];
        }
    }

    /// Whether every instruction must look for marks.
    #[inline(always)]
    pub fn are_awake(&self) -> bool {
        self.awake != 0
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = (u32, u32)> {
        self.near.iter().flatten().map(|near| near.key).chain(self.others.keys().copied())
    }

    #[inline(always)]
    pub fn clear(&mut self) {
        if self.taken != 0 || !self.others.is_empty() || !self.asleep.is_empty() {
            self.clear_all();
        }
    }

    #[inline(never)]
    fn clear_all(&mut self) {
        while self.taken != 0 {
            self.near[self.taken.trailing_zeros() as usize % NEAR] = None;
            self.taken &= self.taken - 1;
        }
        self.others.clear();
        self.asleep.clear();
        self.awake = 0;
        self.filter = [0; 4];
    }
}
