//! Counters as Nsight Compute defines them, gathered per instruction and summed at the end.
//!
//! Global and local memory: a request is one warp instruction with an active lane; sectors are the distinct 32-byte
//! pieces it touches. Shared memory: accesses of up to 64 bits a lane take one pass over the warp, 128 bits two passes
//! of half-warps; a pass needs as many wavefronts as the fullest of the 32 banks has different 4-byte words, and bank
//! conflicts are wavefronts beyond what the words of the pass would need if spread evenly (compared with an H200).

#[cfg(target_arch = "x86_64")]
mod apart;
pub mod fragments;
#[cfg(target_arch = "x86_64")]
pub use apart::are_distinct;
pub mod trace;

use crate::exec::access::{Addresses, Runs};
use crate::exec::cx::{Cx, lanes};
use crate::exec::image::Image;
use crate::exec::op::{CONDITIONAL, Op};
use crate::exec::space::Window;
use crate::report::{AccessKind, Class, Counters, LineCounters, SharedTraffic, SourceLine, Traffic};

/// Counts of one memory instruction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Site {
    pub requests: u64,
    /// Sectors or wavefronts.
    pub cost: u64,
    pub conflicts: u64,
    pub bytes: u64,
    /// 0 unseen, 1 global, 2 shared, 3 local, 4 constant.
    pub space: u8,
    pub kind: Option<AccessKind>,
}

impl Site {
    fn add(&mut self, more: &Site) {
        self.requests += more.requests;
        self.cost += more.cost;
        self.conflicts += more.conflicts;
        self.bytes += more.bytes;
        self.space = self.space.max(more.space);
        self.kind = self.kind.or(more.kind);
    }
}

/// Counts of one worker.
#[derive(Debug)]
pub struct Counts {
    /// Executions of each instruction, and lanes that did not take part.
    executed: Vec<u64>,
    absent: Vec<u64>,
    /// The same of instructions that ran one after the other, kept for the first of them: it stands for all that follow it
    /// straight on. Where such a stretch was left early, they are taken back from there on.
    stretches: Vec<u64>,
    stretches_absent: Vec<u64>,
    divergent: Vec<u64>,
    /// By site and space: a generic access may go to several.
    sites: Vec<[Site; 4]>,
    barriers: Vec<u64>,
    copied: Vec<u64>,
}

/// Tables of [`Counts`] that machine code adds to, by instruction.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Tallies {
    pub executed: *mut u64,
    pub absent: *mut u64,
    pub stretches: *mut u64,
    pub stretches_absent: *mut u64,
    pub divergent: *mut u64,
}

impl Counts {
    /// The tables; they stay where they are.
    pub fn tallies(&mut self) -> Tallies {
        Tallies {
            executed: self.executed.as_mut_ptr(),
            absent: self.absent.as_mut_ptr(),
            stretches: self.stretches.as_mut_ptr(),
            stretches_absent: self.stretches_absent.as_mut_ptr(),
            divergent: self.divergent.as_mut_ptr(),
        }
    }

    /// Requests of an instruction by space.
    pub fn requests(&self, site: u32) -> [u64; 4] {
        self.sites[site as usize].map(|site| site.requests)
    }

    /// What an instruction asked for since `before`, in parts, was one request of each space.
    pub fn is_one_request(&mut self, site: u32, before: [u64; 4]) {
        for (site, before) in self.sites[site as usize].iter_mut().zip(before) {
            site.requests = site.requests.min(before + 1);
        }
    }

    pub fn new(image: &Image) -> Counts {
        let count = image.code.len();
        Counts {
            executed: vec![0; count],
            absent: vec![0; count],
            stretches: vec![0; count],
            stretches_absent: vec![0; count],
            divergent: vec![0; count],
            sites: vec![[Site::default(); 4]; image.sites.len()],
            barriers: vec![0; count],
            copied: vec![0; count],
        }
    }

    #[inline(always)]
    pub fn instruction(&mut self, pc: u32, mask: u32) {
        // SAFETY: program counters lie inside the code, which these tables are as long as.
        unsafe {
            let count = self.executed.get_unchecked_mut(pc as usize);
            *count = count.wrapping_add(1);
            if mask != u32::MAX {
                let absent = self.absent.get_unchecked_mut(pc as usize);
                *absent = absent.wrapping_add(u64::from((!mask).count_ones()));
            }
        }
    }

    /// An instruction that was counted, alone or in a stretch, waits and will be counted again.
    pub fn again(&mut self, pc: u32, mask: u32) {
        let (count, absent) = (&mut self.executed[pc as usize], &mut self.absent[pc as usize]);
        *count = count.wrapping_sub(1);
        *absent = absent.wrapping_sub(u64::from((!mask).count_ones()));
    }

    /// Counts the instruction and all that follow it straight on ([`Op::straight`]).
    #[inline(always)]
    pub fn stretch(&mut self, pc: u32, mask: u32) {
        // SAFETY: as for `instruction`.
        unsafe {
            let count = self.stretches.get_unchecked_mut(pc as usize);
            *count = count.wrapping_add(1);
            if mask != u32::MAX {
                let absent = self.stretches_absent.get_unchecked_mut(pc as usize);
                *absent = absent.wrapping_add(u64::from((!mask).count_ones()));
            }
        }
    }

    /// A stretch was left before `pc`, one of its instructions.
    pub fn cut(&mut self, pc: u32, mask: u32) {
        let (count, absent) = (&mut self.stretches[pc as usize], &mut self.stretches_absent[pc as usize]);
        *count = count.wrapping_sub(1);
        *absent = absent.wrapping_sub(u64::from((!mask).count_ones()));
    }

    pub fn divergent(&mut self, pc: u32) {
        self.divergent[pc as usize] += 1;
    }

    pub fn barrier(&mut self, pc: u32) {
        self.barriers[pc as usize] += 1;
    }

    pub fn async_bytes(&mut self, pc: u32, bytes: u64) {
        self.copied[pc as usize] += bytes;
    }

    /// Adds accesses of one site.
    pub fn add(&mut self, site: u32, more: &Site) {
        self.sites[site as usize][more.space as usize - 1].add(more);
    }

    /// Adds another worker's counts.
    pub fn merge(&mut self, other: &Counts) {
        for (list, more) in [
            (&mut self.executed, &other.executed),
            (&mut self.absent, &other.absent),
            (&mut self.stretches, &other.stretches),
            (&mut self.stretches_absent, &other.stretches_absent),
            (&mut self.divergent, &other.divergent),
            (&mut self.barriers, &other.barriers),
            (&mut self.copied, &other.copied),
        ] {
            for (a, b) in list.iter_mut().zip(more) {
                *a = a.wrapping_add(*b);
            }
        }
        for (a, b) in self.sites.iter_mut().flatten().zip(other.sites.iter().flatten()) {
            a.add(b);
        }
    }

    /// Sums for the launch and for each source line.
    pub fn finish(&self, image: &Image) -> (Counters, Vec<LineCounters>) {
        let mut total = Counters::default();
        let mut lines: std::collections::BTreeMap<SourceLine, Counters> = Default::default();
        let mut place = |pc: usize, add: &dyn Fn(&mut Counters)| {
            add(&mut total);
            if let Some(source) = image.infos[pc].source {
                let mut line = image.sources[source as usize].clone();
                line.column = 0;
                add(lines.entry(line).or_default());
            }
        };
        let (mut before, mut before_absent) = (0u64, 0u64);
        for (pc, &single) in self.executed.iter().enumerate() {
            before = before.wrapping_add(self.stretches[pc]);
            before_absent = before_absent.wrapping_add(self.stretches_absent[pc]);
            let (executed, absent) = (single.wrapping_add(before), self.absent[pc].wrapping_add(before_absent));
            if matches!(image.code[pc].straight, 0 | 1 | CONDITIONAL) {
                (before, before_absent) = (0, 0);
            }
            if executed == 0 {
                continue;
            }
            let active = 32 * executed - absent;
            let class = image.infos[pc].class;
            let conditional = class == Class::Branch && !image.code[pc].guard.is_pool();
            let (divergent, barriers, copied) = (self.divergent[pc], self.barriers[pc], self.copied[pc]);
            let multiply_adds = crate::isa::multiply_adds(&image.code[pc], class);
            place(pc, &|c| {
                c.warp_instructions += executed;
                c.thread_instructions += active;
                c.by_class[class as usize] += executed;
                if conditional {
                    c.branches += executed;
                    c.divergent_branches += divergent;
                }
                c.barriers += barriers;
                c.async_copy_bytes += copied;
                if class == Class::Matrix && multiply_adds > 0 {
                    c.matrix_instructions += executed;
                    c.matrix_multiply_adds += executed * multiply_adds;
                }
            });
        }
        for (site, spaces) in self.sites.iter().enumerate() {
            for counts in spaces.iter().filter(|counts| counts.requests > 0) {
                let pc = image.sites[site].pc as usize;
                let returns = image.infos[pc].result_used;
                place(pc, &|c| add_site(c, counts, returns));
            }
        }
        let lines = lines.into_iter().map(|(source, counters)| LineCounters { source, counters }).collect();
        (total, lines)
    }
}

fn add_site(counters: &mut Counters, site: &Site, returns: bool) {
    let plain = |traffic: &mut Traffic| {
        traffic.requests += site.requests;
        traffic.sectors += site.cost;
        traffic.bytes += site.bytes;
    };
    let shared = |traffic: &mut SharedTraffic| {
        traffic.requests += site.requests;
        traffic.wavefronts += site.cost;
        traffic.bank_conflicts += site.conflicts;
        traffic.bytes += site.bytes;
    };
    match (site.space, site.kind) {
        (1, Some(AccessKind::Read)) => plain(&mut counters.global_load),
        (1, Some(AccessKind::Atomic)) if returns => plain(&mut counters.global_atomic),
        (1, Some(AccessKind::Atomic)) => plain(&mut counters.global_reduction),
        (1, _) => plain(&mut counters.global_store),
        (2, Some(AccessKind::Read)) => shared(&mut counters.shared_load),
        (2, Some(AccessKind::Atomic)) => shared(&mut counters.shared_atomic),
        (2, _) => shared(&mut counters.shared_store),
        (3, Some(AccessKind::Read)) => plain(&mut counters.local_load),
        (3, _) => plain(&mut counters.local_store),
        _ => {}
    }
}

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
        let site = &mut self.worker.counts.sites[op.site as usize][space as usize - 1];
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

    /// An access of `bytes` a lane to local memory.
    #[inline(always)]
    pub fn count_local(&mut self, op: &Op, at: &Addresses, bytes: u64, kind: AccessKind) {
        let sectors = local_sectors(at, bytes);
        self.add_access(op, 3, (sectors, 0), bytes * u64::from(at.mask.count_ones()), kind);
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
