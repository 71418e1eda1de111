//! Copies by `cp.async` that no wait has covered yet, and the groups of each thread.

use crate::exec::cx::{Cx, lanes, watch};
use crate::memory::for_words;
use crate::report::StepCopy;

#[derive(Debug, Default)]
pub struct Copies {
    /// Those of each warp, in their order.
    warps: Vec<Vec<Pending>>,
    /// Of all warps.
    count: usize,
    /// This block copied something.
    used: bool,
    /// One bit per byte of shared memory that a copy is still filling.
    bits: Vec<u64>,
    /// The open group of each thread.
    groups: Vec<[u32; 32]>,
    /// Room for those that a wait covered.
    over: Vec<Pending>,
}

/// What lanes of a warp copy by one instruction, in groups of the same number.
#[derive(Clone, Copy, Debug)]
struct Pending {
    mask: u32,
    group: u32,
    bytes: u32,
    pc: u32,
    addresses: [u32; 32],
    /// [`crate::exec::memory::access::Addresses::contiguous`].
    contiguous: bool,
}

/// Copies of a warp that no pipeline has.
const MANY: usize = 64;

impl Pending {
    /// Calls `visit` with address and bytes of what lanes of `mask` copy; neighbours are put together.
    fn runs(&self, mask: u32, mut visit: impl FnMut(u64, u64)) {
        if self.contiguous && mask == u32::MAX {
            return visit(self.addresses[0].into(), 32 * u64::from(self.bytes));
        }
        let (mut low, mut end) = (0, 0);
        for lane in lanes(mask) {
            let at = u64::from(self.addresses[lane]);
            if at != end || end == low {
                if end > low {
                    visit(low, end - low);
                }
                low = at;
            }
            end = at + u64::from(self.bytes);
        }
        if end > low {
            visit(low, end - low);
        }
    }
}

impl Copies {
    /// A new block starts.
    pub fn reset(&mut self) {
        if !self.used {
            return;
        }
        self.used = false;
        if self.count > 0 {
            self.warps.iter_mut().for_each(Vec::clear);
            self.bits.iter_mut().for_each(|word| *word = 0);
            self.count = 0;
        }
        self.groups.fill([0; 32]);
    }

    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn start(&mut self, warp: usize, new: Pending, shared_bytes: usize, warps: usize) {
        if !self.used {
            self.used = true;
            self.bits.resize(shared_bytes.div_ceil(64), 0);
            self.groups.resize(warps, [0; 32]);
            self.warps.resize_with(warps, Vec::new);
        }
        let bits = &mut self.bits;
        new.runs(new.mask, |low, bytes| for_words(low, bytes, |word, mask| bits[word] |= mask));
        let mut left = new.mask;
        let (groups, list) = (&self.groups[warp], &mut self.warps[warp]);
        while left != 0 {
            let group = groups[left.trailing_zeros() as usize & 31];
            let mask = left & (0..32).fold(0, |same, lane| same | u32::from(groups[lane] == group) << lane);
            // A loop that never waits fills the same places again and again: the last copy ends after all before it.
            let again = |old: &&mut Pending| (old.mask, old.bytes, old.addresses) == (mask, new.bytes, new.addresses);
            match if list.len() < MANY { None } else { list.iter_mut().find(again) } {
                Some(old) => (old.group, old.pc) = (group, new.pc),
                None => {
                    list.push(Pending { mask, group, ..new });
                    self.count += 1;
                }
            }
            left &= !mask;
        }
    }

    /// Closes the open groups of lanes of a warp.
    pub fn commit(&mut self, warp: u32, mask: u32) {
        if let Some(groups) = self.groups.get_mut(warp as usize)
            && self.used
        {
            for (lane, group) in groups.iter_mut().enumerate() {
                *group += mask >> lane & 1;
            }
        }
    }

    /// Lanes of a warp wait until at most `keep` of their groups are open; None: for everything. What they waited for is
    /// in `over` then, with the lanes that did.
    fn wait(&mut self, warp: usize, mask: u32, keep: Option<u32>) {
        self.over.clear();
        let Some(groups) = self.groups.get(warp) else { return };
        let (bits, over, count) = (&mut self.bits, &mut self.over, &mut self.count);
        self.warps[warp].retain_mut(|copy| {
            let mut done = copy.mask & mask;
            if let Some(keep) = keep {
                let until = copy.group.saturating_add(keep);
                done &= (0..32).fold(0, |over, lane| over | u32::from(until < groups[lane]) << lane);
            }
            if done == 0 {
                return true;
            }
            copy.runs(done, |low, bytes_there| for_words(low, bytes_there, |word, mask| bits[word] &= !mask));
            over.push(Pending { mask: done, ..*copy });
            copy.mask &= !done;
            *count -= usize::from(copy.mask == 0);
            copy.mask != 0
        });
    }

    /// Whether any byte of a range is being filled.
    #[inline(always)]
    pub fn fill(&self, address: u64, bytes: u64) -> bool {
        // Mostly in one word, or in few.
        let (first, end) = (address / 64, address + bytes);
        match self.bits.get(first as usize) {
            Some(word) if end <= 64 * (first + 1) && bytes > 0 => {
                word >> (address % 64) & u64::MAX >> (64 - bytes) != 0
            }
            _ => self.fill_words(address, bytes),
        }
    }

    #[inline(never)]
    fn fill_words(&self, address: u64, bytes: u64) -> bool {
        let mut any = 0;
        for_words(address, bytes, |word, mask| any |= self.bits[word] & mask);
        any != 0
    }

    /// By which thread of the block a byte of a range is being filled, and where the copy stands.
    pub fn overlap(&self, address: u64, bytes: u64) -> Option<(u32, u32)> {
        if !self.fill(address, bytes) {
            return None;
        }
        self.warps.iter().enumerate().find_map(|(warp, copies)| {
            copies.iter().find_map(|copy| {
                let lane = lanes(copy.mask).find(|&lane| {
                    let at = u64::from(copy.addresses[lane]);
                    at < address + bytes && address < at + u64::from(copy.bytes)
                })?;
                Some((warp as u32 * 32 + lane as u32, copy.pc))
            })
        })
    }
}

impl Cx<'_> {
    /// Lanes wait until at most `keep` of their groups are open; None: for everything. Their copies count as written now.
    pub fn wait_copies(&mut self, mask: u32, keep: Option<u32>) {
        let warp = self.warp.index;
        self.block.copies.wait(warp as usize, mask, keep);
        self.block.refresh_guard();
        if self.watch & watch::RACE == 0 {
            return;
        }
        let image = self.image();
        let clock = self.warp.clock;
        let block = &mut *self.block;
        let shadow = &mut block.shared_shadow;
        for copy in &block.copies.over {
            let site = image.code[copy.pc as usize].site;
            let first = crate::check::race::shadow::stamp(clock, site, warp * 32);
            shadow.note(first, true);
            shadow.fill_lanes(&copy.addresses, copy.mask, copy.bytes, copy.contiguous, first);
        }
    }

    /// Lanes begin to fill what they point to; `contiguous` as [`crate::exec::memory::access::Addresses::contiguous`].
    #[inline(always)]
    pub fn start_copy(&mut self, addresses: [u32; 32], mask: u32, contiguous: bool, bytes: u32) {
        if self.watch == 0 {
            // Nobody asks.
            return;
        }
        let new = Pending { mask, group: 0, bytes, pc: self.pc, addresses, contiguous };
        let shared = self.block.shared.len() * 16;
        let warps = self.block.threads.div_ceil(32) as usize;
        self.block.copies.start(self.warp.index as usize, new, shared, warps);
        self.block.state.guarded = true;
        if self.worker.trace.is_some() {
            self.trace_fill(&addresses, mask, bytes);
        }
    }

    #[cold]
    fn trace_fill(&mut self, addresses: &[u32; 32], mask: u32, bytes: u32) {
        let places = || lanes(mask).map(|lane| u64::from(addresses[lane] & 0xff_ffff));
        let (Some(low), Some(high)) = (places().min(), places().max()) else { return };
        let moved = u64::from(bytes) * u64::from(mask.count_ones());
        let shared_bytes = high - low + u64::from(bytes);
        let lane = mask.trailing_zeros();
        let copy =
            StepCopy { shared_low: low, shared_bytes, to_shared: true, bytes: moved, lane, ..StepCopy::default() };
        self.trace_copy(copy, 0);
    }
}
