//! What one worker counts, by instruction and by memory access, and the sums of it.

use crate::exec::image::Image;
use crate::exec::op::CONDITIONAL;
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

/// Counts of one worker: of the instructions that its kernel reaches, for a module may have very many others.
#[derive(Debug)]
pub struct Counts {
    /// The first of those instructions, and of their sites.
    first: usize,
    first_site: usize,
    /// Executions of each instruction, and lanes that did not take part.
    executed: Vec<u64>,
    absent: Vec<u64>,
    /// The same of instructions that ran one after the other, kept for the first of them: it stands for all that follow it
    /// straight on. Where such a stretch was left early, they are taken back from there on.
    stretches: Vec<u64>,
    stretches_absent: Vec<u64>,
    divergent: Vec<u64>,
    /// By site and space: a generic access may go to several. The first is that of instructions that have none.
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

/// An execution by the lanes of `mask`.
///
/// # Safety
/// `at` must be inside both tables.
#[inline(always)]
unsafe fn one_more(executed: &mut [u64], absent: &mut [u64], at: usize, mask: u32) {
    // SAFETY: as the caller says.
    unsafe {
        let count = executed.get_unchecked_mut(at);
        *count = count.wrapping_add(1);
        if mask != u32::MAX {
            let absent = absent.get_unchecked_mut(at);
            *absent = absent.wrapping_add(u64::from((!mask).count_ones()));
        }
    }
}

/// The opposite of [`one_more`].
fn one_less(executed: &mut [u64], absent: &mut [u64], at: usize, mask: u32) {
    executed[at] = executed[at].wrapping_sub(1);
    absent[at] = absent[at].wrapping_sub(u64::from((!mask).count_ones()));
}

impl Counts {
    /// The tables as if they began with the module's first instruction; they stay where they are.
    pub fn tallies(&mut self) -> Tallies {
        let first = self.first;
        let table = |counts: &mut Vec<u64>| counts.as_mut_ptr().wrapping_sub(first);
        Tallies {
            executed: table(&mut self.executed),
            absent: table(&mut self.absent),
            stretches: table(&mut self.stretches),
            stretches_absent: table(&mut self.stretches_absent),
            divergent: table(&mut self.divergent),
        }
    }

    /// Requests of an instruction by space.
    pub fn requests(&mut self, site: u32) -> [u64; 4] {
        self.site(site).map(|site| site.requests)
    }

    /// What an instruction asked for since `before`, in parts, was one request of each space.
    pub fn is_one_request(&mut self, site: u32, before: [u64; 4]) {
        for (site, before) in self.site(site).iter_mut().zip(before) {
            site.requests = site.requests.min(before + 1);
        }
    }

    pub fn new(image: &Image, function: usize) -> Counts {
        let (reach, sites) = (&image.functions[function].reach, image.sites_of(function));
        let count = reach.len();
        Counts {
            first: reach.start as usize,
            first_site: sites.start,
            executed: vec![0; count],
            absent: vec![0; count],
            stretches: vec![0; count],
            stretches_absent: vec![0; count],
            divergent: vec![0; count],
            sites: vec![[Site::default(); 4]; 1 + sites.len()],
            barriers: vec![0; count],
            copied: vec![0; count],
        }
    }

    /// What an instruction of the kernel has in the tables.
    #[inline(always)]
    fn at(&self, pc: u32) -> usize {
        (pc as usize).wrapping_sub(self.first)
    }

    /// Counts of a site by space.
    #[inline(always)]
    pub fn site(&mut self, site: u32) -> &mut [Site; 4] {
        let at = (site as usize).wrapping_sub(self.first_site).wrapping_add(1);
        let at = if at < self.sites.len() { at } else { 0 };
        &mut self.sites[at]
    }

    #[inline(always)]
    pub fn instruction(&mut self, pc: u32, mask: u32) {
        let at = self.at(pc);
        // SAFETY: what runs is code that the kernel reaches, which these tables are as long as.
        unsafe { one_more(&mut self.executed, &mut self.absent, at, mask) }
    }

    /// An instruction that was counted, alone or in a stretch, waits and will be counted again.
    pub fn again(&mut self, pc: u32, mask: u32) {
        let at = self.at(pc);
        one_less(&mut self.executed, &mut self.absent, at, mask);
    }

    /// Counts the instruction and all that follow it straight on ([`Op::straight`]).
    #[inline(always)]
    pub fn stretch(&mut self, pc: u32, mask: u32) {
        let at = self.at(pc);
        // SAFETY: as for `instruction`.
        unsafe { one_more(&mut self.stretches, &mut self.stretches_absent, at, mask) }
    }

    /// A stretch was left before `pc`, one of its instructions.
    pub fn cut(&mut self, pc: u32, mask: u32) {
        let at = self.at(pc);
        one_less(&mut self.stretches, &mut self.stretches_absent, at, mask);
    }

    pub fn divergent(&mut self, pc: u32) {
        let at = self.at(pc);
        self.divergent[at] += 1;
    }

    pub fn barrier(&mut self, pc: u32) {
        let at = self.at(pc);
        self.barriers[at] += 1;
    }

    pub fn async_bytes(&mut self, pc: u32, bytes: u64) {
        let at = self.at(pc);
        self.copied[at] += bytes;
    }

    /// Adds accesses of one site.
    pub fn add(&mut self, site: u32, more: &Site) {
        self.site(site)[more.space as usize - 1].add(more);
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
        for (at, &single) in self.executed.iter().enumerate() {
            let pc = self.first + at;
            before = before.wrapping_add(self.stretches[at]);
            before_absent = before_absent.wrapping_add(self.stretches_absent[at]);
            let (executed, absent) = (single.wrapping_add(before), self.absent[at].wrapping_add(before_absent));
            if matches!(image.code[pc].straight, 0 | 1 | CONDITIONAL) {
                (before, before_absent) = (0, 0);
            }
            if executed == 0 {
                continue;
            }
            let active = 32 * executed - absent;
            let class = image.infos[pc].class;
            let conditional = class == Class::Branch && !image.code[pc].guard.is_pool();
            let (divergent, barriers, copied) = (self.divergent[at], self.barriers[at], self.copied[at]);
            let by_engine =
                copied > 0 && !["cp.async.ca.", "cp.async.cg."].iter().any(|of| image.text(pc as u32).contains(of));
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
                c.bulk_copy_bytes += if by_engine { copied } else { 0 };
                if class == Class::Matrix && multiply_adds > 0 {
                    c.matrix_instructions += executed;
                    c.matrix_multiply_adds += executed * multiply_adds;
                }
            });
        }
        for (site, spaces) in self.sites.iter().skip(1).enumerate() {
            for counts in spaces.iter().filter(|counts| counts.requests > 0) {
                let pc = image.sites[self.first_site + site].pc as usize;
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
