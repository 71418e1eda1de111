//! Counters as Nsight Compute defines them, gathered per instruction and summed at the end.
//!
//! Global and local memory: a request is one warp instruction with an active lane; sectors are the distinct 32-byte
//! pieces it touches. Shared memory: accesses of up to 64 bits a lane take one pass over the warp, 128 bits two passes
//! of half-warps; a pass needs as many wavefronts as the fullest of the 32 banks has different 4-byte words, and bank
//! conflicts are wavefronts beyond what the words of the pass would need if spread evenly (compared with an H200).

mod tables;
pub use tables::{Counts, Site, Tallies};
pub mod trace;
pub mod values;

use crate::exec::cx::{Cx, lanes};
use crate::exec::memory::access::{Addresses, Runs};
use crate::exec::op::Op;
use crate::memory::space::Window;
use crate::report::AccessKind;

/// Distinct 32-byte sectors of a warp access. Inactive lanes repeat the first active one.
#[inline(always)]
pub fn sectors(at: &Addresses, bytes: u64) -> u64 {
    let first = at.low / 32;
    let last = (at.high + bytes - 1) / 32;
    if at.contiguous || first == last || at.low == at.high {
        return last - first + 1;
    }
    // Aligned accesses stay inside one sector, and going up (or staying) each new one differs from the one before.
    let (mut across, mut down, mut steps) = (0, 0, 1);
    for lane in 0..32 {
        across |= at.at[lane] / 32 ^ (at.at[lane] + bytes - 1) / 32;
    }
    for lane in 1..32 {
        down |= u64::from(at.at[lane] < at.at[lane - 1]);
        steps += u64::from(at.at[lane] / 32 != at.at[lane - 1] / 32);
    }
    if across == 0 && down == 0 {
        return steps;
    }
    if last - first < 64 {
        let mut seen = 0u64;
        for lane in 0..32 {
            let from = at.at[lane] / 32 - first;
            let to = (at.at[lane] + bytes - 1) / 32 - first;
            seen |= 1 << from | 1 << to;
        }
        return u64::from(seen.count_ones());
    }
    if across == 0 && last - first < 1 << 32 {
        return sectors_apart(at, first);
    }
    sectors_far(at, bytes)
}

/// Sectors of an aligned access in runs; None when the lanes must be looked at.
#[inline(always)]
fn sectors_of_runs<const BYTES: u64>(runs: &Runs) -> Option<u64> {
    if runs.count == 1 {
        return Some(if runs.step > 32 { 32 } else { (runs.high + BYTES - 1) / 32 - runs.low / 32 + 1 });
    }
    let span = (runs.width as u64 - 1) * runs.step + BYTES - 1;
    // Sectors `open..next` are known to be touched; groups mostly go up or repeat.
    let (mut count, mut open, mut next) = (0, 0, 0);
    for start in runs.starts() {
        let (first, last) = (start / 32, (start + span) / 32);
        if count > 0 && first < open {
            return None;
        }
        if count == 0 || first > next {
            open = first;
            next = first;
        }
        count += (last + 1).saturating_sub(next);
        next = next.max(last + 1);
    }
    Some(count)
}

/// Wavefronts and bank conflicts of a shared access in runs; None when the lanes must be looked at.
#[inline(always)]
fn wavefronts_of_runs<const BYTES: u64>(runs: &Runs) -> Option<(u64, u64)> {
    let words = |a: u64, b: u64| b.abs_diff(a) / 4;
    match (runs.count, runs.step) {
        // One word (or two, or four, side by side) for all lanes.
        (1, 0) => Some((if BYTES > 8 { 2 } else { 1 }, 0)),
        // Neighbours fill all banks the same number of times.
        (1, step) if step == BYTES && BYTES <= 4 => Some((1, 0)),
        (1, step) if step == BYTES && runs.is_full() => Some((BYTES / 4, 0)),
        // Columns: as many lanes meet in a bank as the step has factors of two.
        (1, step) if BYTES == 4 && step % 4 == 0 && runs.is_full() => {
            let ways = 1 << (step / 4).trailing_zeros().min(5);
            Some((ways, ways - 1))
        }
        (2, 0) if BYTES == 4 => {
            let distance = words(runs.starts[0], runs.starts[1]);
            let clash = distance != 0 && distance.is_multiple_of(32);
            Some(if clash { (2, 1) } else { (1, 0) })
        }
        // Two rows of 16 words: free side by side, or where they share words and together pass no bank twice.
        (2, 4) if BYTES == 4 => {
            let distance = words(runs.starts[0], runs.starts[1]);
            let clash = distance > 16 && distance % 32 != 16;
            Some(if clash { (2, 1) } else { (1, 0) })
        }
        _ => None,
    }
}

/// What an access in runs costs: sectors, or wavefronts and conflicts of shared memory. It depends on the lowest bits of
/// the first address alone, and on how the others lie to it.
pub fn cost_of_runs(window: Window, runs: &Runs, bytes: u64) -> (u64, u64) {
    let found = match bytes {
        1 => runs_cost::<1>(window, runs),
        2 => runs_cost::<2>(window, runs),
        4 => runs_cost::<4>(window, runs),
        8 => runs_cost::<8>(window, runs),
        16 => runs_cost::<16>(window, runs),
        _ => runs_cost::<32>(window, runs),
    };
    found.unwrap_or_else(|| match window {
        Window::Shared => wavefronts(&runs.spread(bytes), bytes),
        _ => (sectors(&runs.spread(bytes), bytes), 0),
    })
}

fn runs_cost<const BYTES: u64>(window: Window, runs: &Runs) -> Option<(u64, u64)> {
    match window {
        Window::Shared => wavefronts_of_runs::<BYTES>(runs),
        _ => sectors_of_runs::<BYTES>(runs).map(|sectors| (sectors, 0)),
    }
}

/// The same where each lane has one sector, less than 2^32 from the first. Not inlined: unrolled, it is long.
#[inline(never)]
fn sectors_apart(at: &Addresses, first: u64) -> u64 {
    let mut list: [u32; 32] = std::array::from_fn(|lane| (at.at[lane] / 32 - first) as u32);
    list.sort_unstable();
    1 + list.windows(2).map(|pair| u64::from(pair[0] != pair[1])).sum::<u64>()
}

#[inline(never)]
fn sectors_far(at: &Addresses, bytes: u64) -> u64 {
    let mut list = [0u64; 64];
    let mut sorted = true;
    for lane in 0..32 {
        list[2 * lane] = at.at[lane] / 32;
        list[2 * lane + 1] = (at.at[lane] + bytes - 1) / 32;
    }
    for index in 1..64 {
        sorted &= list[index - 1] <= list[index];
    }
    if !sorted {
        list.sort_unstable();
    }
    let mut count = 1;
    for index in 1..64 {
        count += u64::from(list[index] != list[index - 1]);
    }
    count
}

/// Wavefronts and bank conflicts of a shared access.
#[inline(always)]
pub fn wavefronts(at: &Addresses, bytes: u64) -> (u64, u64) {
    if at.contiguous && bytes <= 4 {
        return (1, 0);
    }
    if at.low / 4 == (at.high + bytes - 1) / 4 {
        return (1, 0);
    }
    if bytes <= 8 {
        return pass(at, at.mask, bytes);
    }
    let (mut waves, mut conflicts) = (0, 0);
    for half in [0x0000_ffff, 0xffff_0000] {
        if at.mask & half != 0 {
            let (w, c) = pass(at, at.mask & half, bytes);
            waves += w;
            conflicts += c;
        }
    }
    (waves, conflicts)
}

/// One pass over the banks.
fn pass(at: &Addresses, mask: u32, bytes: u64) -> (u64, u64) {
    // Rows of 32 words: where there are no more than 64, a bit for each says which words of a bank are accessed.
    let row = at.low / 128;
    if (at.high + bytes - 1) / 128 - row >= 64 {
        return pass_far(at, mask, bytes);
    }
    #[cfg(target_arch = "x86_64")]
    if crate::exec::lanes::wide() {
        // SAFETY: the machine has the features.
        return unsafe { pass_near_wide(at, mask, bytes, row) };
    }
    pass_near(at, mask, bytes, row)
}

/// Counting bits is one instruction here, and a dozen without.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn pass_near_wide(at: &Addresses, mask: u32, bytes: u64, row: u64) -> (u64, u64) {
    pass_near(at, mask, bytes, row)
}

#[inline(always)]
fn pass_near(at: &Addresses, mask: u32, bytes: u64, row: u64) -> (u64, u64) {
    let mut rows = [0u64; 32];
    if bytes <= 4 {
        for lane in 0..32 {
            let word = at.at[lane] / 4;
            rows[word as usize % 32] |= u64::from(mask >> lane & 1) << ((word / 32).wrapping_sub(row) & 63);
        }
    } else {
        for lane in lanes(mask) {
            for word in at.at[lane] / 4..=(at.at[lane] + bytes - 1) / 4 {
                rows[word as usize % 32] |= 1 << (word / 32 - row);
            }
        }
    }
    let (mut total, mut most) = (0, 0);
    for bank in rows {
        let words = u64::from(bank.count_ones());
        total += words;
        most = words.max(most);
    }
    (most, most - total.div_ceil(32))
}

/// The same where the words lie far apart.
#[inline(never)]
fn pass_far(at: &Addresses, mask: u32, bytes: u64) -> (u64, u64) {
    // Distinct words of each bank, kept as short lists of which only `count` are set.
    let mut words = [[std::mem::MaybeUninit::<u32>::uninit(); 32]; 32];
    let mut count = [0u8; 32];
    let mut total = 0;
    let mut most = 0;
    for lane in lanes(mask) {
        let first = (at.at[lane] / 4) as u32;
        let last = ((at.at[lane] + bytes - 1) / 4) as u32;
        for word in first..=last {
            let bank = (word % 32) as usize;
            let used = count[bank] as usize;
            // SAFETY: the first `used` words of a bank were written when they were counted.
            let known = words[bank][..used].iter().any(|seen| unsafe { seen.assume_init() } == word);
            if !known {
                if used < 32 {
                    words[bank][used].write(word);
                    count[bank] += 1;
                }
                most = most.max(used + 1);
                total += 1;
            }
        }
    }
    let least = u64::from((total as u32).div_ceil(32));
    (most as u64, most as u64 - least)
}

impl Cx<'_> {
    /// Counts an access in runs. False: its lanes must be looked at.
    #[inline(always)]
    pub fn count_runs<const BYTES: u64>(&mut self, op: &Op, window: Window, runs: &Runs, kind: AccessKind) -> bool {
        let (space, cost) = match window {
            Window::Global => (1, sectors_of_runs::<BYTES>(runs).map(|sectors| (sectors, 0))),
            Window::Shared => (2, wavefronts_of_runs::<BYTES>(runs)),
            Window::Local => return false,
            _ => return true,
        };
        let Some((cost, conflicts)) = cost else { return false };
        self.add_access(op, space, (cost, conflicts), BYTES * (runs.count * runs.width) as u64, kind);
        true
    }

    #[inline(always)]
    fn add_access(&mut self, op: &Op, space: u8, (cost, conflicts): (u64, u64), bytes: u64, kind: AccessKind) {
        let site = &mut self.worker.counts.site(op.site)[space as usize - 1];
        site.requests += 1;
        site.cost += cost;
        site.conflicts += conflicts;
        site.bytes += bytes;
        site.space = space;
        site.kind = Some(kind);
        self.worker.last_cost = cost as u32;
    }

    #[inline(always)]
    pub fn count_access<const BYTES: u64>(&mut self, op: &Op, window: Window, at: &Addresses, kind: AccessKind) {
        let (space, cost, conflicts) = match window {
            Window::Global => (1, sectors(at, BYTES), 0),
            Window::Shared => {
                let (waves, conflicts) = wavefronts(at, BYTES);
                (2, waves, conflicts)
            }
            // Local memory is interleaved by 4 bytes across lanes: equal offsets are neighbours.
            Window::Local => (3, local_sectors(at, BYTES), 0),
            _ => return,
        };
        self.add_access(op, space, (cost, conflicts), BYTES * u64::from(at.mask.count_ones()), kind);
    }
}

/// Sectors of a local access: word w of lane l lies at (w * 32 + l) * 4.
fn local_sectors(at: &Addresses, bytes: u64) -> u64 {
    if at.low == at.high {
        // The same words of each lane: those of eight lanes are a sector.
        let eights = (at.mask | at.mask >> 4) & 0x0f0f_0f0f;
        let eights = (eights | eights >> 2) & 0x0303_0303;
        let eights = (eights | eights >> 1) & 0x0101_0101;
        let words = (at.low + bytes - 1) / 4 - at.low / 4 + 1;
        return words * u64::from(eights.count_ones());
    }
    let words = |lane: usize| (at.at[lane] / 4 - at.low / 4, (at.at[lane] + bytes - 1) / 4 - at.low / 4);
    if (at.high + bytes - 1) / 4 - at.low / 4 < 64 {
        // The words of each eight lanes, from the lowest one on.
        let mut eights = [0u64; 4];
        for lane in lanes(at.mask) {
            let (first, last) = words(lane);
            eights[lane / 8] |= u64::MAX >> (63 - (last - first)) << first;
        }
        return eights.iter().map(|words| u64::from(words.count_ones())).sum();
    }
    let mut list = Vec::with_capacity(32);
    for lane in lanes(at.mask) {
        for word in at.at[lane] / 4..=(at.at[lane] + bytes - 1) / 4 {
            list.push((word * 32 + lane as u64) / 8);
        }
    }
    list.sort_unstable();
    list.dedup();
    list.len() as u64
}
