//! Shared memory in which no two threads of a block meet between two barriers. Most kernels use it like that: each thread
//! fills its place, all meet, each reads any. Where the code shows that for the shape of the blocks at hand, no access to
//! shared memory is in a race, and none needs to be remembered.
//!
//! A block's life is cut by the barriers that all of its threads come to. Between two of them a thread can make those
//! accesses that control can come to from the first barrier without another one. The places that each thread of a block
//! may access there are found by running what computes them, for each of its threads: instructions that depend on the
//! number of the thread and on values of the launch alone. If there is a write among the accesses, no other thread may be
//! where it goes.
//!
//! All threads must have left the last barrier from the same instruction: a block whose threads come to one barrier from
//! several is watched from then on ([`crate::exec::sched::block::Block::arrive`]).

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use crate::analysis::launch_constants::is_of_launch;
use crate::analysis::launch_constants::{Kernel, Same};
use crate::analysis::thread_private::structure::{Reached, Structure, Way, is_guarded};
use crate::exec::cx::{Cx, lanes};
use crate::exec::image::Image;
use crate::exec::op::Slot;
use crate::exec::opcode::opcode;
use crate::exec::sched::frame::take_bank;
use crate::request::Launch;

/// Kernels with more barriers, or more accesses to shared memory, are not looked at.
const MOST_BARRIERS: usize = 256;
const MOST_ACCESSES: usize = 1024;
/// Places of all threads that are compared, at most.
const MOST_PLACES: usize = 1 << 20;
/// Instructions looked at for all barriers and branches together.
const MOST_WORK: usize = 1 << 22;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    /// Of these it need not be known where they go: they are in no race with each other.
    Atomic,
}

/// An access to shared memory.
#[derive(Clone, Debug)]
struct Access {
    pc: u32,
    bytes: u32,
    kind: Kind,
    /// Where it goes depends on the thread alone.
    known: bool,
    /// Ways out of branches that all threads have gone that come there, and its own guard: those that depend on the thread
    /// alone.
    ways: Vec<Way>,
}

/// What of a kernel does not depend on the launch.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Instructions that give the same for a thread in all blocks, in an order in which they can run.
    values: Vec<u32>,
    /// Arguments are among what they depend on.
    takes_arguments: bool,
    accesses: Vec<Access>,
    /// The accesses between two barriers, where there is a write among them, by their numbers.
    intervals: Vec<Vec<usize>>,
}

/// What a launch was found to be like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Separate {
    /// A bit for each byte of shared memory that no thread can access; empty where that is not known.
    pub untouched: Vec<u64>,
}

/// What that depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    grid: [u32; 3],
    block: [u32; 3],
    params: Vec<u8>,
    shared_bytes: u32,
}

/// What was found of the last launch of a kernel: the next one mostly is like it.
#[derive(Debug, Default)]
pub struct Last(Mutex<Option<Box<Of>>>);

/// A launch, and what was found of it.
type Of = (Key, Option<Arc<Separate>>);

impl Clone for Last {
    fn clone(&self) -> Last {
        Last::default()
    }
}

impl Last {
    /// What was found of the last launch; None where threads may meet, or nothing was looked for.
    pub fn last(&self) -> Option<Arc<Separate>> {
        let last = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        last.as_deref().and_then(|(_, found)| found.clone())
    }

    fn get(&self, key: Key, find: impl FnOnce() -> Option<Separate>) -> Option<Arc<Separate>> {
        let mut last = self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        match last.as_deref() {
            Some((known, found)) if *known == key => found.clone(),
            _ => {
                let found = find().map(Arc::new);
                *last = Some(Box::new((key, found.clone())));
                found
            }
        }
    }
}

impl Key {
    fn of(plan: &Plan, launch: &Launch, shared_bytes: u32) -> Key {
        let params = if plan.takes_arguments { launch.params.clone() } else { Vec::new() };
        Key { grid: launch.grid, block: launch.block, params, shared_bytes }
    }
}

impl Plan {
    /// None where nothing is to be found, or looking would cost more than it may save.
    pub fn of(image: &Image, function: usize) -> Option<Plan> {
        let structure = image.structure(function)?;
        let entry = &image.functions[function];
        let code = image.code_of(entry);
        let mut barriers = Vec::new();
        let mut accesses = Vec::new();
        let (mut generic, mut makes_generic) = (false, false);
        for pc in code.clone() {
            match role(image, pc) {
                Role::Other => {}
                Role::Barrier => barriers.push(pc as u32),
                Role::Shared(kind) => accesses.push(Access {
                    pc: pc as u32,
                    bytes: image.sites.get(image.code[pc].site as usize)?.bytes,
                    kind,
                    known: false,
                    ways: Vec::new(),
                }),
                Role::Generic => {
                    let access = structure.accesses.iter().map(|(access, _)| access);
                    let through = access.into_iter().find(|access| access.pc as usize == pc)?.through.as_ref()?;
                    generic |= !through.is_empty();
                    if through.is_empty() {
                        return None;
                    }
                }
                Role::MakesGeneric => makes_generic = true,
                Role::Unknown => return None,
            }
        }
        let work = code.len() * (barriers.len() + 2 * structure.branches.len() + 1);
        let fits = accesses.len() <= MOST_ACCESSES && barriers.len() <= MOST_BARRIERS && work <= MOST_WORK;
        if accesses.is_empty() || generic && makes_generic || !fits {
            return None;
        }
        let kernel = Kernel {
            infos: &image.infos,
            texts: &image.texts,
            sites: &image.sites,
            first_pc: code.start as u32,
            param_bytes: image.kernels[entry.kernel].param_bytes,
            undefined: &entry.undefined,
        };
        let givers = Givers::new(structure);
        let reaches = |slot: Slot, from: u32, to: u32| givers.comes_alone(slot, from, to);
        let same = Same::of(&image.code[code], &kernel, &is_of_thread, Some(&reaches));
        let is_known = |slot: Slot, pc: u32| {
            !slot.is_none() && slot.is_pool() || same.giver(slot).is_some_and(|from| givers.comes_alone(slot, from, pc))
        };
        for access in &mut accesses {
            let op = &image.code[access.pc as usize];
            // Others go to more than what the registers of their lanes say.
            let plain = matches!(opcode(image.text(access.pc)).split('.').next(), Some("ld" | "ldu" | "st"));
            access.known = plain && access.bytes > 0 && is_known(op.a, access.pc);
            if is_guarded(op) && is_known(op.guard, access.pc) {
                access.ways.push(Way { branch: access.pc, taken: true });
            }
        }
        add_ways(&mut accesses, structure, &|branch| is_known(image.code[branch as usize].guard, branch));
        let intervals = intervals(&accesses, structure, &barriers)?;
        let values = needed(image, same.instructions, &accesses);
        let takes_arguments = values.iter().any(|pc| image.code[*pc as usize].site != 0);
        Some(Plan { values, takes_arguments, accesses, intervals })
    }
}

/// Which of several instructions that write a register a reader has its value from.
struct Givers<'s> {
    structure: &'s Structure,
    /// For each writer of such a register, what comes behind it before another one.
    known: RefCell<HashMap<Slot, Vec<(u32, Reached)>>>,
    work: Cell<usize>,
}

impl Givers<'_> {
    fn new(structure: &Structure) -> Givers<'_> {
        Givers { structure, known: RefCell::default(), work: Cell::new(0) }
    }

    /// Whether the instruction at `to` finds in a register what the one at `from` wrote, whichever way was gone.
    fn comes_alone(&self, slot: Slot, from: u32, to: u32) -> bool {
        let writers = self.structure.writers(slot);
        match writers {
            [] => return false,
            [only] => return *only == from,
            _ => {}
        }
        if !self.known.borrow().contains_key(&slot) {
            let work = self.work.get() + writers.len() * self.structure.instructions();
            if work > MOST_WORK {
                return false;
            }
            self.work.set(work);
            let behind = |writer: &u32| (*writer, self.structure.reach(self.structure.after(*writer), writers, None));
            self.known.borrow_mut().insert(slot, writers.iter().map(behind).collect());
        }
        let known = self.known.borrow();
        known.get(&slot).is_some_and(|all| all.iter().all(|(writer, behind)| behind.has(to) == (*writer == from)))
    }
}

/// Those of the instructions that places and ways depend on.
fn needed(image: &Image, instructions: Vec<u32>, accesses: &[Access]) -> Vec<u32> {
    let addresses = accesses.iter().filter(|access| access.known).map(|access| image.code[access.pc as usize].a);
    let ways = accesses.iter().flat_map(|access| &access.ways).map(|way| image.code[way.branch as usize].guard);
    let mut wanted: HashSet<Slot> = addresses.chain(ways).collect();
    let mut wants = |pc: &u32| {
        let info = &image.infos[*pc as usize];
        let found = info.writes.iter().any(|slot| wanted.contains(slot));
        if found {
            wanted.extend(&info.reads);
        }
        found
    };
    let mut those: Vec<u32> = instructions.into_iter().rev().filter(|pc| wants(pc)).collect();
    those.reverse();
    those
}

/// Ways that all threads have gone that come to an access, where `is_known` of the condition.
fn add_ways(accesses: &mut [Access], structure: &Structure, is_known: &dyn Fn(u32) -> bool) {
    for branch in structure.branches.iter().copied().filter(|branch| is_known(*branch)) {
        for taken in [true, false] {
            let way = Way { branch, taken };
            let others = structure.reach(&[structure.first()], &[], Some(way));
            accesses.iter_mut().filter(|access| !others.has(access.pc)).for_each(|access| access.ways.push(way));
        }
    }
}

/// The accesses between two barriers, where there is a write among them. None where two of them may meet as far as the
/// code tells.
fn intervals(accesses: &[Access], structure: &Structure, barriers: &[u32]) -> Option<Vec<Vec<usize>>> {
    let begins = std::iter::once(vec![structure.first()]);
    let begins = begins.chain(barriers.iter().map(|barrier| structure.after(*barrier).to_vec()));
    let mut intervals: Vec<Vec<usize>> = Vec::new();
    for begin in begins {
        let reached = structure.reach(&begin, barriers, None);
        let those: Vec<usize> = (0..accesses.len()).filter(|at| reached.has(accesses[*at].pc)).collect();
        let has = |kind: Kind| those.iter().any(|at| accesses[*at].kind == kind);
        if has(Kind::Atomic) && (has(Kind::Read) || has(Kind::Write)) {
            return None;
        }
        if has(Kind::Write) && !intervals.contains(&those) {
            if !those.iter().all(|at| accesses[*at].known) {
                return None;
            }
            intervals.push(those);
        }
    }
    Some(intervals)
}

/// What an instruction is to shared memory.
enum Role {
    Other,
    /// All threads of the block meet here.
    Barrier,
    Shared(Kind),
    /// An access by an address that may be of any memory.
    Generic,
    /// It makes such an address of one of shared memory.
    MakesGeneric,
    Unknown,
}

fn role(image: &Image, pc: usize) -> Role {
    let (op, text) = (&image.code[pc], image.text(pc as u32));
    let parts: Vec<&str> = opcode(text).trim_end_matches(';').split('.').collect();
    let has = |name: &str| parts.iter().any(|part| part.split("::").next() == Some(name));
    let ordered = ["volatile", "relaxed", "acquire", "release", "mmio"].iter().any(|name| has(name));
    let kind = match parts[0] {
        "ld" | "ldu" | "ldmatrix" => Kind::Read,
        "wmma" if has("load") => Kind::Read,
        "wmma" if has("store") => Kind::Write,
        "wmma" => return Role::Other,
        "st" if !has("async") && !has("bulk") => Kind::Write,
        "atom" | "red" if !has("async") => Kind::Atomic,
        // One barrier for all threads, or for so many.
        "bar" | "barrier" if has("warp") => return Role::Other,
        "bar" | "barrier" => {
            let whole = (has("sync") || has("red")) && !has("cluster") && !is_guarded(op);
            return if whole && operands(text) == 1 + 2 * usize::from(has("red")) {
                Role::Barrier
            } else {
                Role::Unknown
            };
        }
        "cvta" if has("shared") && !has("to") => return Role::MakesGeneric,
        "cvta" => return Role::Other,
        "cp" | "mbarrier" | "wgmma" | "mapa" | "stmatrix" | "call" | "multimem" => return Role::Unknown,
        _ => return if has("shared") { Role::Unknown } else { Role::Other },
    };
    if ["global", "local", "param", "const"].iter().any(|name| has(name)) {
        return Role::Other;
    }
    match () {
        () if !has("shared") => Role::Generic,
        () if kind != Kind::Atomic && ordered || parts.contains(&"shared::cluster") => Role::Unknown,
        () => Role::Shared(kind),
    }
}

/// Operands of an instruction.
fn operands(text: &str) -> usize {
    let list = text.split_once(opcode(text)).map_or("", |(_, list)| list).trim_matches([' ', ';']);
    if list.is_empty() { 0 } else { list.split(',').count() }
}

/// Special registers that hold the same for a thread in all blocks of a launch.
fn is_of_thread(name: &str) -> bool {
    is_of_launch(name) || matches!(name.split('.').next(), Some("%tid"))
}

/// Places of the threads of a block: of each access, by thread; none for those that do not come there.
struct Places {
    at: Vec<Vec<Option<u64>>>,
}

impl Cx<'_> {
    /// Finds out for the block what of the launch is to be known: at its start, before any warp has begun.
    #[cold]
    pub fn decide(&mut self) {
        let (grid, Some(plan)) = (self.grid, self.grid.plan) else { return };
        let found = grid.separate.get_or_init(|| {
            let key = Key::of(plan, grid.launch, grid.shared_bytes);
            grid.kernel().separate.get(key, || self.find_separate(plan))
        });
        self.block.take_separate(found.as_deref());
    }

    /// Looks whether threads of this block meet in shared memory between two barriers, which those of all blocks of the
    /// launch then do. For a warp that has not begun.
    fn find_separate(&mut self, plan: &Plan) -> Option<Separate> {
        let threads = self.block.threads as usize;
        if plan.accesses.len() * threads > MOST_PLACES {
            return None;
        }
        let places = self.places(plan, threads);
        let whole = |at: u64, bytes: u32| at.is_multiple_of(4) && bytes.is_multiple_of(4);
        let words = (plan.accesses.iter().zip(&places.at))
            .all(|(access, places)| places.iter().flatten().all(|at| whole(*at, access.bytes)));
        let shift = if words { 2 } else { 0 };
        let cells = (self.grid.shared_bytes as usize) >> shift;
        let cells_of = |at: u64, bytes: u32| {
            // An address before the array wraps around to the largest ones.
            let end = (at.saturating_add(bytes.into()) >> shift).min(cells as u64) as usize;
            (at >> shift).min(end as u64) as usize..end
        };
        // By whom a cell was written, and in which interval.
        let mut owners = vec![(0u32, 0u32); cells];
        for (interval, those) in (1..).zip(&plan.intervals) {
            for kind in [Kind::Write, Kind::Read] {
                for at in those.iter().filter(|at| plan.accesses[**at].kind == kind) {
                    let bytes = plan.accesses[*at].bytes;
                    for (thread, place) in (0..).zip(&places.at[*at]) {
                        let Some(place) = place else { continue };
                        for owner in &mut owners[cells_of(*place, bytes)] {
                            if owner.0 == interval && owner.1 != thread {
                                return None;
                            }
                            if kind == Kind::Write {
                                *owner = (interval, thread);
                            }
                        }
                    }
                }
            }
        }
        Some(Separate { untouched: self.untouched(plan, &places) })
    }

    /// Runs what computes the places, for each warp.
    fn places(&mut self, plan: &Plan, threads: usize) -> Places {
        let (image, grid) = (self.image(), self.grid);
        let mut registers = Vec::new();
        let mut bank = take_bank(grid.kernel(), &mut registers);
        let before = (self.regs, self.mask, self.watch, self.pc);
        (self.regs, self.mask, self.watch) = (bank.rows.as_mut_ptr().cast(), u32::MAX, 0);
        let mut places = Places { at: vec![vec![None; threads]; plan.accesses.len()] };
        for warp in 0..threads.div_ceil(32) {
            self.swap_warp(warp);
            for &pc in &plan.values {
                self.pc = pc;
                let op = &image.code[pc as usize];
                // SAFETY: the op belongs to this image, and `regs` to a frame of its function. It fills rows from rows, from
                // parameters and from the numbers of threads.
                unsafe { (op.run)(self, op) };
            }
            let here = if threads - 32 * warp < 32 { (1 << (threads - 32 * warp)) - 1 } else { u32::MAX };
            for (access, places) in plan.accesses.iter().zip(&mut places.at).filter(|(access, _)| access.known) {
                let op = &image.code[access.pc as usize];
                let mut mask = here;
                for way in &access.ways {
                    let branch = &image.code[way.branch as usize];
                    // SAFETY: slots of a decoded instruction, of values that were computed.
                    let taken = unsafe { self.pred(branch.guard) } ^ branch.guard_flip;
                    mask &= if way.taken { taken } else { !taken };
                }
                for lane in lanes(mask) {
                    // SAFETY: as above; a row has 32 lanes.
                    let at = unsafe {
                        match image.sites[op.site as usize].wide {
                            true => self.lane::<u64>(op.a, lane).wrapping_add(op.imm as u64),
                            false => self.lane::<u32>(op.a, lane).wrapping_add(op.imm as u32).into(),
                        }
                    };
                    places[32 * warp + lane] = Some(at);
                }
            }
            self.swap_warp(warp);
        }
        (self.regs, self.mask, self.watch, self.pc) = before;
        places
    }

    /// Puts a warp of the block in place of the running one, or back.
    fn swap_warp(&mut self, index: usize) {
        if let Some(Some(warp)) = self.block.warps.get_mut(index) {
            std::mem::swap(&mut self.warp, warp);
        }
    }

    /// Bytes of shared memory that no access goes to.
    fn untouched(&self, plan: &Plan, places: &Places) -> Vec<u64> {
        let bytes = u64::from(self.grid.shared_bytes);
        if !plan.accesses.iter().all(|access| access.known) {
            return Vec::new();
        }
        let mut untouched = vec![u64::MAX; bytes.div_ceil(64) as usize];
        for (access, places) in plan.accesses.iter().zip(&places.at) {
            for at in places.iter().flatten() {
                for byte in *at..(at + u64::from(access.bytes)).min(bytes) {
                    untouched[(byte / 64) as usize] &= !(1 << (byte % 64));
                }
            }
        }
        untouched
    }
}
