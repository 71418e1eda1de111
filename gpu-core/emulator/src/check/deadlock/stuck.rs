//! Nothing can go on: who waits where, and for what.

use std::collections::BTreeMap;

use crate::exec::cx::Cx;
use crate::exec::fault::Detail;
use crate::exec::grid::Grid;
use crate::exec::opcode::opcode;
use crate::exec::sched::block::{Block, Missed};
use crate::exec::sched::warp::{NONE, Split, Wait};
use crate::report::{Class, Fault, FaultKind};

/// Where the first live group of some blocks stands.
pub fn running_place(grid: &Grid<'_>, blocks: &[Box<Block>]) -> (Option<u32>, String) {
    for block in blocks {
        let splits = block.warps.iter().flatten().flat_map(|warp| &warp.splits);
        if let Some(split) = splits.into_iter().find(|split| split.wait == Wait::Ready && split.pc != NONE) {
            let [x, y, z] = block.id;
            return (Some(split.pc), format!("block ({x},{y},{z}) was at {}", grid.image.place(split.pc)));
        }
    }
    if blocks.iter().all(|block| block.live_threads == 0) {
        return (None, "a block had just ended".to_owned());
    }
    (None, "all threads were waiting".to_owned())
}

/// Who waits where, in words: "warp 0 (threads 0-31) at line 12 for barrier 0".
fn waiting(grid: &Grid<'_>, block: &Block) -> Vec<(u32, String)> {
    let mut out = Vec::new();
    for warp in block.warps.iter().flatten() {
        for split in &warp.splits {
            if split.pc == NONE {
                continue;
            }
            let pc = stands_at(grid, split);
            let what = match split.wait {
                Wait::Barrier { id, .. } => {
                    let barrier = &block.barriers[id as usize];
                    let needed = barrier.expected.unwrap_or(block.live_threads);
                    format!("for barrier {id}, where {} of {needed} threads have come", barrier.arrived)
                }
                Wait::Sync { members } => format!("for lanes {members:#010x} of its warp"),
                Wait::Together => "for the rest of its warp at this barrier".to_owned(),
                Wait::Warpgroup(_) => "for the other warps of its warpgroup to issue the same wgmma".to_owned(),
                Wait::Cluster { .. } => "for the cluster barrier".to_owned(),
                Wait::Ready => "polling".to_owned(),
            };
            let lanes = split.mask;
            out.push((
                pc,
                format!(
                    "block ({},{},{}) warp {} lanes {lanes:#010x} at {} {what}",
                    block.id[0],
                    block.id[1],
                    block.id[2],
                    warp.index,
                    grid.image.place(pc)
                ),
            ));
        }
    }
    out
}

/// The instruction at which a group waits: those that waited go on behind it.
fn stands_at(grid: &Grid<'_>, split: &Split) -> u32 {
    let before = split.pc.wrapping_sub(1);
    let barrier = grid.image.infos.get(before as usize).is_some_and(|info| info.class == Class::Barrier);
    match split.wait {
        Wait::Barrier { .. } | Wait::Cluster { .. } | Wait::Ready if barrier => before,
        _ => split.pc,
    }
}

fn first_waiter(grid: &Grid<'_>, block: &Block, pc: u32) -> Option<(u32, u32)> {
    block.warps.iter().flatten().find_map(|warp| {
        let split = warp.splits.iter().find(|split| stands_at(grid, split) == pc)?;
        Some((warp.index, split.mask.trailing_zeros()))
    })
}

/// Who waits at the first barrier, and why the rest does not come: `16 of the 256 threads of block (0,0,0) wait at the
/// barrier at line 18, thread (0,0,0) first; the other 240 have ended`.
fn at_barriers(grid: &Grid<'_>, block: &Block) -> Option<String> {
    struct Place {
        pc: u32,
        line: String,
        barrier: bool,
        threads: u32,
        first: u32,
        /// How many threads the barrier is for, where the instruction says so.
        wanted: Option<u32>,
    }
    let mut places: Vec<Place> = Vec::new();
    for warp in block.warps.iter().flatten() {
        for split in warp.splits.iter().filter(|split| split.pc != NONE) {
            let pc = stands_at(grid, split);
            let threads = split.mask.count_ones();
            let wanted = match split.wait {
                Wait::Barrier { id, .. } => block.barriers[id as usize].expected,
                _ => None,
            };
            let barrier = matches!(split.wait, Wait::Together | Wait::Barrier { .. });
            let first = warp.index * 32 + split.mask.trailing_zeros();
            match places.iter_mut().find(|known| known.pc == pc && known.barrier == barrier) {
                Some(known) => known.threads += threads,
                None => places.push(Place { pc, line: grid.image.place(pc), barrier, threads, first, wanted }),
            }
        }
    }
    let at = places.iter().position(|place| place.barrier)?;
    let Place { pc, line, threads: count, first, wanted, .. } = places.remove(at);
    let all: u32 = block.warps.iter().flatten().map(|warp| warp.lanes.count_ones()).sum();
    let thread = grid.thread(block.id, first);
    let [bx, by, bz] = thread.block;
    let [x, y, z] = thread.thread;
    let mut rest: Vec<String> = places
        .iter()
        .take(3)
        .map(|other| {
            let where_ = match (other.barrier, other.line == line) {
                (true, true) => "wait at another barrier of",
                (true, false) => "wait at the one at",
                (false, _) => "are at",
            };
            format!("{} {where_} {}", other.threads, other.line)
        })
        .collect();
    let mut gone = all.saturating_sub(count + places.iter().map(|place| place.threads).sum::<u32>());
    // Those of a warp that only wait for the rest of it behind a branch.
    let mut held: BTreeMap<u32, u32> = BTreeMap::new();
    for (pc, lanes) in block.warps.iter().flatten().flat_map(|warp| warp.held()) {
        *held.entry(pc).or_default() += lanes.count_ones();
        gone = gone.saturating_sub(lanes.count_ones());
    }
    for (pc, threads) in held.iter().take(3) {
        let place = if *pc == NONE { "the end of a function".to_owned() } else { grid.image.place(*pc) };
        rest.push(format!("{threads} are at {place}, where they wait for the rest of their warp"));
    }
    if gone > 0 {
        rest.push(format!("{gone} have ended and will never come"));
    }
    let others = if rest.is_empty() { String::new() } else { format!("; of the others {}", rest.join(", ")) };
    let wants = wanted.map_or(String::new(), |wanted| format!(", which is for {wanted} threads"));
    let inside = if wanted.is_some() { String::new() } else { condition(grid, pc) };
    Some(format!(
        "{count} of the {all} threads of block ({bx},{by},{bz}) wait at the barrier at {line}{wants}, thread \
         ({x},{y},{z}) first{others}{inside}"
    ))
}

/// The condition that a barrier stands in, in words: the nearest branch before it that leads past it.
pub fn condition(grid: &Grid<'_>, pc: u32) -> String {
    let image = grid.image;
    let Some(function) = image.functions.iter().rfind(|function| function.first_pc <= pc) else { return String::new() };
    let passes = |at: &u32| {
        let (op, text) = (&image.code[*at as usize], image.text(*at));
        text.starts_with('@') && opcode(text).starts_with("bra") && op.imm as u32 > pc && image.source(*at).is_some()
    };
    match (function.first_pc..pc).rev().find(passes) {
        Some(at) => format!(
            "; the barrier stands inside the condition or loop of {}, and every thread of the block has to come to it",
            image.place(at)
        ),
        None => String::new(),
    }
}

pub fn report_deadlock(grid: &Grid<'_>, block: &Block) {
    let places = waiting(grid, block);
    let mut pcs: Vec<u32> = places.iter().map(|place| place.0).collect();
    pcs.dedup();
    let first = pcs.first().copied();
    let other = pcs.iter().find(|pc| Some(**pc) != first).and_then(|&pc| {
        let (warp, lane) = first_waiter(grid, block, pc)?;
        Some(grid.image.other_side(Some(pc), grid.thread(block.id, warp * 32 + lane), None))
    });
    let waits: Vec<&Wait> =
        block.warps.iter().flatten().flat_map(|warp| warp.splits.iter().map(|split| &split.wait)).collect();
    // Lanes of a warp that wait at different `.sync` operations, or threads of a block at different barriers.
    let kind = if waits.iter().any(|wait| matches!(wait, Wait::Together)) {
        FaultKind::BarrierDivergence
    } else if waits.iter().any(|wait| matches!(wait, Wait::Sync { .. } | Wait::Warpgroup(_))) {
        FaultKind::MaskMisuse
    } else if waits.iter().any(|wait| match wait {
        Wait::Barrier { id, .. } => other.is_some() || block.barriers[*id as usize].expected.is_some(),
        _ => false,
    }) {
        FaultKind::BarrierDivergence
    } else {
        FaultKind::Deadlock
    };
    let words = at_barriers(grid, block).filter(|_| kind == FaultKind::BarrierDivergence);
    let message = format!("nothing can run any more: {}", words.unwrap_or_else(|| shorten(&places)));
    let mut fault = Fault {
        kind,
        message,
        kernel: grid.kernel_name().to_owned(),
        launch: None,
        source: first.and_then(|pc| grid.image.source(pc)),
        inlined_at: first.and_then(|pc| grid.image.inlined_at(pc)),
        instruction: first.map(|pc| grid.image.text(pc).to_owned()).unwrap_or_default(),
        thread: first
            .and_then(|pc| first_waiter(grid, block, pc))
            .map(|(warp, lane)| grid.thread(block.id, warp * 32 + lane)),
        space: None,
        access: None,
        address: None,
        access_bytes: 0,
        allocation: None,
        other,
        occurrences: 1,
    };
    if kind != FaultKind::Deadlock {
        // The misuse is why; that nothing can go on is what follows.
        grid.report(fault.clone());
        fault.kind = FaultKind::Deadlock;
    }
    grid.report(fault);
}

pub fn report_livelock(grid: &Grid<'_>, blocks: &[&Block]) {
    let places: Vec<(u32, String)> = blocks.iter().flat_map(|block| waiting(grid, block)).collect();
    let left = grid.waiting.left() * grid.cluster_size();
    let hint = if left > 0 {
        format!(" ({left} blocks have not started: they need a place that the waiting ones hold)")
    } else {
        String::new()
    };
    let barriers: Vec<String> = blocks.iter().flat_map(|block| open_mbarriers(grid, block)).take(4).collect();
    let lacking = if barriers.is_empty() { String::new() } else { format!("; {}", barriers.join("; ")) };
    let message = format!("all threads wait for memory that nobody writes{hint}: {}{lacking}", shorten(&places));
    grid.launch_fault(FaultKind::Deadlock, message, None, places.first().map(|place| place.0));
}

/// What the mbarriers of a block lack, those that somebody has arrived at first.
fn open_mbarriers(grid: &Grid<'_>, block: &Block) -> Vec<String> {
    let mut all: Vec<_> = block.mbarriers.iter().filter(|(_, barrier)| !barrier.gone).collect();
    all.sort_unstable_by_key(|(offset, barrier)| (!barrier.begun(), **offset));
    let [x, y, z] = block.id;
    all.iter()
        .map(|(offset, barrier)| {
            let array = grid.shared_arrays.iter().find(|a| (a.base..a.base + a.bytes.max(1)).contains(*offset));
            let name = array.map_or(String::new(), |a| {
                let index = (**offset - a.base) / 8;
                if a.bytes > 8 { format!(" `{}`[{index}]", a.name) } else { format!(" `{}`", a.name) }
            });
            let phase = barrier.phase - barrier.born;
            format!(
                "the mbarrier{name} of block ({x},{y},{z}) is in phase {phase} and {} (a wait for parity {} ends with that \
                 phase, one for parity {} is over already)",
                barrier.lacks(),
                phase & 1,
                (phase + 1) & 1
            )
        })
        .collect()
}

fn shorten(places: &[(u32, String)]) -> String {
    let shown: Vec<&str> = places.iter().take(6).map(|place| place.1.as_str()).collect();
    let more = places.len().saturating_sub(6);
    let tail = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("{}{tail}", shown.join("; "))
}

impl Cx<'_> {
    /// A barrier that some threads came to and the others ended before.
    pub fn report_missed(&mut self, missed: Missed) {
        if !self.grid.options.checks.barrier {
            return;
        }
        let total = self.block.threads;
        let first = self.thread_of(missed.first_thread);
        let [x, y, z] = first.thread;
        let message = format!(
            "only {} of the {total} threads of block ({},{},{}) reach barrier {}, thread ({x},{y},{z}) first; the \
             others ended before it{}",
            missed.arrived,
            self.block.id[0],
            self.block.id[1],
            self.block.id[2],
            missed.barrier,
            condition(self.grid, missed.pc)
        );
        self.fault_of(
            FaultKind::BarrierDivergence,
            missed.pc,
            Some(first),
            total - missed.arrived,
            message,
            Detail::default(),
        );
    }
}
