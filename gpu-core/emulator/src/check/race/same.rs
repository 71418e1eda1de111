//! Writes of one instruction by several threads to one place, which are no race where all write the same.

use crate::exec::cx::Cx;
use crate::exec::memory::access::Addresses;
use crate::exec::op::Op;

/// Bytes of the widest store.
const MOST_BYTES: usize = 64;

/// The lane that is met as number `index` where two to the power of `turn` lanes stand in a row and columns go first; with
/// `5 - turn`, the number of a lane.
#[inline(always)]
pub(crate) fn in_turn(index: usize, turn: usize) -> usize {
    (index << turn | index >> (5 - turn)) & 31
}

impl Cx<'_> {
    /// Whether a lane's `cp.async` copies the same to the same place as that of an earlier lane.
    pub(crate) fn same_copy(&self, op: &Op, at: &Addresses, lane: usize, thread: u32) -> bool {
        let partner = thread as usize % 32;
        if thread / 32 != self.warp.index || at.mask >> partner & 1 == 0 || partner >= lane || op.b.is_none() {
            return false;
        }
        // SAFETY: slots of a decoded instruction.
        let same_source = unsafe { self.lane::<u64>(op.b, lane) == self.lane::<u64>(op.b, partner) };
        let sized = op.list_len & 4 != 0;
        // SAFETY: as above; with that bit the slot holds the lanes' numbers of bytes.
        let same_size = !sized || unsafe { self.lane::<u32>(op.d, lane) == self.lane::<u32>(op.d, partner) };
        same_source && same_size && at.at[partner] == at.at[lane]
    }

    /// Whether a lane stores what is there already, or what a lane of this instruction stores that was met before it; `turn`
    /// says in what order ([`in_turn`]).
    pub(crate) fn same_value(
        &self,
        op: &Op,
        at: &Addresses,
        (lane, turn): (usize, usize),
        thread: u32,
        bytes: u64,
    ) -> bool {
        let slots = if op.list_len > 1 { self.image().list(op) } else { &[op.b] };
        let each = (bytes as usize / slots.len()).max(1);
        let register = self.grid.image.sites.get(op.site as usize).map_or(0, |site| u32::from(site.register));
        let bits = register.max(each as u32 * 8).clamp(32, 128);
        // SAFETY: matrix stores set it for as long as their accesses are checked.
        let rows = unsafe { self.rows.as_ref() };
        let value = |lane: usize| {
            let mut value = [0; MOST_BYTES];
            if let Some(rows) = rows {
                value[..16].copy_from_slice(&rows[lane]);
                return value;
            }
            for (slot, part) in slots.iter().zip(value.chunks_exact_mut(each)) {
                // SAFETY: slots of a decoded store.
                let bytes = unsafe { crate::isa::movement::get_wide(self, *slot, lane, bits) }.to_le_bytes();
                part.copy_from_slice(&bytes[..each]);
            }
            value
        };
        let own = value(lane);
        let same_warp = thread / 32 == self.warp.index;
        let partner = thread as usize % 32;
        let before = || in_turn(partner, 5 - turn) < in_turn(lane, 5 - turn);
        let bytes = bytes as usize;
        let (mine, theirs) = (at.at[lane], at.at[partner]);
        let apart = mine.abs_diff(theirs) as usize;
        if same_warp && at.mask >> partner & 1 != 0 && apart < bytes && before() {
            // Of two that lie over each other by a part, that part counts.
            let other = value(partner);
            let (first, second) = if mine <= theirs { (&own, &other) } else { (&other, &own) };
            let same = first[apart..bytes] == second[..bytes - apart];
            if same || apart == 0 {
                return same;
            }
        }
        let mut now = [0; MOST_BYTES];
        let Some(now) = now.get_mut(..bytes) else { return false };
        let address = at.at[lane];
        let generic = if address >> 32 == 0 { crate::memory::space::SHARED_BASE + address } else { address };
        self.peek(generic, lane, now).is_some() && *now == own[..bytes]
    }
}
