//! What a trace says about a pipeline: batches of asynchronous copies, the stage of shared memory that each fills, and
//! when it is waited for, read and filled again. Times are steps of the traced block, in the order in which its warps ran:
//! an emulator has no seconds.

use crate::viz::model;
use gpu_core::emulator::{AccessKind, Class, Space, Trace};
use std::collections::BTreeMap;

/// What a step of a warp is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    Copy,
    Wait,
    Read,
    Compute,
    Other,
}

/// One step of the block, in order.
#[derive(Clone, Copy, Debug)]
pub struct Beat {
    /// Row of the warp.
    pub warp: usize,
    pub work: Work,
}

/// Copies that are waited for together: one commit of every warp, or one phase of an mbarrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Batch {
    pub stage: usize,
    pub bytes: u64,
    /// Beats of the first and the last copy.
    pub issued: (usize, usize),
    /// Beat of the wait behind which it may be read; None where the trace has none.
    pub waited: Option<usize>,
    /// Beats of the first and the last read.
    pub read: Option<(usize, usize)>,
    /// Beat at which the stage is filled again, or the number of beats.
    pub refilled: usize,
    /// Instruction of its first copy.
    pub instruction: u32,
    range: (u64, u64),
}

impl Batch {
    /// Steps that the block ran between the last copy and the wait for it: the work that hides the latency.
    pub fn hidden(&self) -> Option<usize> {
        Some(self.waited?.saturating_sub(self.issued.1 + 1))
    }
}

#[derive(Clone, Debug, Default)]
pub struct Pipeline {
    /// Of the block, by number.
    pub block: [u32; 3],
    pub warps: Vec<u32>,
    pub beats: Vec<Beat>,
    pub batches: Vec<Batch>,
    /// First byte and number of bytes of each stage in shared memory.
    pub stages: Vec<(u64, u64)>,
}

/// How a warp's copies are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    /// Number of the commit.
    Group(usize),
    /// Address and phase.
    Phase(u64, u64),
}

impl Pipeline {
    /// Reads the first traced block.
    pub fn of(trace: &Trace) -> Self {
        let Some(block) = trace.warps.first().map(|warp| warp.block) else { return Self::default() };
        let warps: Vec<_> = trace.warps.iter().filter(|warp| warp.block == block).collect();
        let mut steps: Vec<_> =
            warps.iter().enumerate().flat_map(|(row, warp)| warp.steps.iter().map(move |step| (row, step))).collect();
        steps.sort_by_key(|(_, step)| step.tick);
        let text = |instruction: u32| trace.instructions.get(instruction as usize).map_or("", |i| i.text.as_str());
        let mut beats = Vec::with_capacity(steps.len());
        let mut batches: BTreeMap<Key, Batch> = BTreeMap::new();
        let mut order: Vec<Key> = Vec::new();
        // Commits that each warp has made, and beats of its waits with the number of commits that are over behind them.
        let mut commits = vec![0usize; warps.len()];
        let mut waits: Vec<(usize, usize, usize)> = Vec::new();
        let mut phases: Vec<(usize, u64, u64)> = Vec::new();
        let mut reads: Vec<(usize, u64, u64)> = Vec::new();
        for (at, (row, step)) in steps.iter().enumerate() {
            let text = text(step.instruction);
            let mut work = match trace.instructions.get(step.instruction as usize).map(|i| i.class) {
                Some(Class::Float32 | Class::Float64 | Class::FloatNarrow | Class::Matrix | Class::Special) => {
                    Work::Compute
                }
                Some(Class::Barrier) => Work::Wait,
                _ => Work::Other,
            };
            if let Some(copy) = step.copy.as_ref().filter(|copy| copy.to_shared) {
                work = Work::Copy;
                let key = match &step.barrier {
                    Some(barrier) => Key::Phase(barrier.address, barrier.phase_before),
                    None => Key::Group(commits[*row]),
                };
                let range = (copy.shared_low, copy.shared_low + copy.shared_bytes);
                let batch = batches.entry(key).or_insert_with(|| {
                    order.push(key);
                    let instruction = step.instruction;
                    Batch {
                        stage: 0,
                        bytes: 0,
                        issued: (at, at),
                        waited: None,
                        read: None,
                        refilled: usize::MAX,
                        instruction,
                        range,
                    }
                });
                batch.bytes += copy.bytes;
                batch.issued.1 = at;
                batch.range = (batch.range.0.min(range.0), batch.range.1.max(range.1));
            } else if text.contains("commit_group") {
                commits[*row] += 1;
            } else if text.contains("cp.async.wait_all") {
                work = Work::Wait;
                waits.push((at, *row, commits[*row] + 1));
            } else if text.contains("cp.async.wait_group") {
                work = Work::Wait;
                let left: usize = last_number(text).unwrap_or(0);
                waits.push((at, *row, commits[*row].saturating_sub(left)));
            } else if let Some(barrier) = &step.barrier {
                if text.contains("_wait") {
                    work = Work::Wait;
                    phases.push((at, barrier.address, barrier.phase));
                }
            } else if let Some(access) = &step.access
                && access.space == Space::Shared
                && access.kind == AccessKind::Read
            {
                work = Work::Read;
                let low = access.addresses.iter().min().copied().unwrap_or(0) & 0xff_ffff;
                let high = access.addresses.iter().max().copied().unwrap_or(0) & 0xff_ffff;
                reads.push((at, low, high + u64::from(access.bytes)));
            }
            beats.push(Beat { warp: *row, work });
        }
        let mut found: Vec<(Key, Batch)> =
            order.into_iter().filter_map(|key| Some((key, batches.remove(&key)?))).collect();
        found.sort_by_key(|(_, batch)| batch.issued.0);
        let mut stages: Vec<(u64, u64)> = Vec::new();
        for index in 0..found.len() {
            let (key, range, issued) = (found[index].0, found[index].1.range, found[index].1.issued);
            let overlaps = |(low, high): (u64, u64)| low < range.1 && range.0 < high;
            let next =
                found[index + 1..].iter().find(|(_, later)| overlaps(later.range)).map(|(_, later)| later.issued.0);
            let refilled = next.unwrap_or(beats.len());
            // Behind the last warp's wait, which all warps pass before any of them may read what another one copied.
            let waited = match key {
                Key::Group(group) => {
                    let mut firsts: BTreeMap<usize, usize> = BTreeMap::new();
                    for (at, row, over) in &waits {
                        if *over > group && *at > issued.0 {
                            firsts.entry(*row).or_insert(*at);
                        }
                    }
                    firsts.values().max().copied()
                }
                Key::Phase(address, phase) => {
                    let over = |(at, of, now): &&(usize, u64, u64)| *of == address && *now > phase && *at > issued.0;
                    phases.iter().filter(over).map(|(at, ..)| *at).next()
                }
            };
            let within =
                |(at, low, high): &&(usize, u64, u64)| *at > issued.0 && *at < refilled && overlaps((*low, *high));
            let ats: Vec<usize> = reads.iter().filter(within).map(|(at, ..)| *at).collect();
            let stage = stages.iter().position(|(low, bytes)| overlaps((*low, low + bytes))).unwrap_or_else(|| {
                stages.push((range.0, range.1 - range.0));
                stages.len() - 1
            });
            let batch = &mut found[index].1;
            (batch.stage, batch.refilled, batch.waited) = (stage, refilled, waited);
            batch.read = ats.first().copied().zip(ats.last().copied());
        }
        let batches = found.into_iter().map(|(_, batch)| batch).collect();
        Self { block, warps: warps.iter().map(|warp| warp.warp).collect(), beats, batches, stages }
    }

    /// Batches that are on their way when `batch` is waited for, itself not counted.
    pub fn others_in_flight(&self, batch: &Batch) -> usize {
        let at = batch.waited.unwrap_or(batch.issued.1);
        let flies =
            |other: &&Batch| *other != batch && other.issued.0 < at && other.waited.is_none_or(|waited| waited > at);
        self.batches.iter().filter(flies).count()
    }
}

/// The number that ends an instruction: `cp.async.wait_group 2;`.
fn last_number(text: &str) -> Option<usize> {
    text.trim_end_matches([';', ' ', '\t']).rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Whether a trace has asynchronous copies at all.
pub fn has_copies(trace: &Trace) -> bool {
    trace.warps.iter().flat_map(|warp| &warp.steps).any(|step| step.copy.is_some())
}

/// Text of an instruction with its line, for words.
pub fn line_of(trace: &Trace, instruction: u32) -> Option<u32> {
    trace.instructions.get(instruction as usize)?.source.as_ref().map(|at| at.line)
}

/// `block 0`, `block (1, 2)`.
pub fn block_words(trace: &Trace, block: [u32; 3]) -> String {
    format!("block {}", model::coordinates(block, trace.grid))
}
