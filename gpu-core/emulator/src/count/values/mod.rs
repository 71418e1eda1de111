//! Values that are no finite numbers, from the instruction that made the first one to the memory that they end in.
//!
//! Only in runs that ask for it ([`crate::Options::nonfinite`]): they take every instruction by itself, on one thread of the host,
//! and look at what it wrote. All other runs have none of this in their loop.

mod arguments;
mod log;
mod plan;
mod report;
mod watch;
mod words;

use std::collections::HashMap;
use std::sync::Arc;

use crate::exec::cx::{Cx, lanes, watch as watch_bit};
use crate::exec::memory::access::Addresses;
use crate::exec::op::{Flow, Op, Slot};
use crate::memory::space::Window;
use log::{Log, NONE, Place, Register};
use plan::{Does, Format, Plan};

pub use log::NonfiniteLog;
pub use report::{Argument, Nonfinite, NonfiniteKind};
pub(crate) use watch::instructions as watched_instructions;

/// What one host thread keeps for it.
#[derive(Debug, Default)]
pub struct Watcher {
    plans: HashMap<u32, Arc<Plan>>,
    touched: Touched,
}

/// Where the running instruction went in memory.
#[derive(Clone, Debug)]
struct Touched {
    window: Window,
    at: [u64; 32],
    lanes: u32,
}

impl Default for Touched {
    fn default() -> Touched {
        Touched { window: Window::Generic, at: [0; 32], lanes: 0 }
    }
}

/// An operand before the instruction ran, which may have overwritten it.
struct Taken {
    slot: Slot,
    lanes: [u64; 32],
}

impl Cx<'_> {
    /// Runs an instruction, and in runs that follow values looks at what it did.
    ///
    /// # Safety
    /// As [`crate::exec::op::Exec`].
    #[inline(always)]
    pub unsafe fn step<const OBSERVED: bool>(&mut self, op: &Op) -> Flow {
        // SAFETY: as the caller says.
        unsafe { if OBSERVED { self.run_observed(op) } else { (op.run)(self, op) } }
    }

    #[cold]
    #[inline(never)]
    unsafe fn run_observed(&mut self, op: &Op) -> Flow {
        if self.grid.options.nonfinite.is_none() && self.watch & watch_bit::TRACE == 0 {
            // SAFETY: as the caller says.
            return unsafe { (op.run)(self, op) };
        }
        let (pc, mask, frame) = (self.pc, self.mask, self.warp.splits[self.warp.current].frame);
        let image = self.image();
        let watcher = &mut self.worker.values;
        let plan = watcher.plans.entry(pc).or_insert_with(|| Arc::new(Plan::of(image, pc))).clone();
        watcher.touched.lanes = 0;
        let wide = match plan.does {
            Does::Compute(_, from) => from.is_wide(),
            Does::Store(_, bytes) | Does::Update(_, bytes) => bytes == 8,
            _ => false,
        };
        let takes = !matches!(plan.does, Does::Pass | Does::Product(_));
        let operands = plan.operands.iter().filter(|_| takes);
        let before: Vec<Taken> = operands.map(|slot| self.taken(*slot, wide)).collect();
        // SAFETY: as the caller says.
        let flow = unsafe { (op.run)(self, op) };
        if matches!(flow, Flow::Next | Flow::Yield) && self.worker.trace.is_some() {
            self.watch(pc, mask, &plan, &before);
        }
        if matches!(flow, Flow::Next | Flow::Yield)
            && plan.does != Does::Nothing
            && let Some(log) = &self.grid.options.nonfinite
        {
            let mut log = log.lock();
            Observed { cx: self, pc, mask, frame, plan: &plan, before: &before, log: &mut log }.look();
        }
        flow
    }

    /// The addresses of an access of the running instruction; of several the first that each lane makes.
    pub fn note_touched(&mut self, window: Window, at: &Addresses) {
        let touched = &mut self.worker.values.touched;
        for lane in lanes(at.mask & !touched.lanes) {
            touched.at[lane] = at.at[lane];
        }
        touched.lanes |= at.mask;
        touched.window = window;
    }

    fn taken(&self, slot: Slot, wide: bool) -> Taken {
        let lanes = std::array::from_fn(|lane| self.raw(slot, lane, wide));
        Taken { slot, lanes }
    }

    /// What a lane of a register holds.
    fn raw(&self, slot: Slot, lane: usize, wide: bool) -> u64 {
        // SAFETY: plans name slots of the current frame or the pool, as wide as their instruction says.
        unsafe { if wide { self.lane::<u64>(slot, lane) } else { u64::from(self.lane::<u32>(slot, lane)) } }
    }
}

/// An instruction that has just run.
struct Observed<'c, 'r> {
    cx: &'c Cx<'r>,
    pc: u32,
    mask: u32,
    frame: u32,
    plan: &'c Plan,
    before: &'c [Taken],
    log: &'c mut Log,
}

impl Observed<'_, '_> {
    fn look(&mut self) {
        match self.plan.does {
            Does::Nothing => {}
            Does::Compute(to, from) => self.computed(to, from),
            Does::Product(to) => self.product(to),
            Does::Load(format, bytes) => self.loaded(format, bytes),
            Does::Store(format, bytes) => self.stored(format, bytes),
            Does::Update(format, bytes) => self.updated(format, bytes),
            Does::Shuffle => self.shuffled(),
            Does::Pass => self.passed(),
        }
    }

    fn register(&self, slot: Slot) -> Register {
        Register { block: self.cx.block.index, warp: self.cx.warp.index, frame: self.frame, slot: slot.0 }
    }

    fn place(&self, lane: usize, offset: u64) -> Place {
        let touched = &self.cx.worker.values.touched;
        let address = touched.at[lane] + offset;
        let block = self.cx.block.index;
        match touched.window {
            Window::Shared => Place { space: 1, owner: block, address: address & 0xff_ffff },
            Window::Local => Place { space: 2, owner: block << 10 | u64::from(self.thread(lane)), address },
            _ => Place { space: 0, owner: 0, address },
        }
    }

    fn thread(&self, lane: usize) -> u32 {
        self.cx.warp.index * 32 + lane as u32
    }

    /// The event of what this instruction did in a lane.
    fn event(
        &mut self,
        kind: NonfiniteKind,
        value: f64,
        lane: usize,
        parent: u32,
        expression: impl FnOnce() -> String,
        operands: &[f64],
    ) -> u32 {
        let (cx, pc) = (self.cx, self.pc);
        let thread = cx.block.index << 10 | u64::from(self.thread(lane));
        let image = cx.image();
        let deciding = self.log.deciding(image, pc);
        self.log.event(pc, thread, parent, || {
            let room = plan::frame_bytes(image, pc);
            let deciding = deciding.iter();
            let held = deciding.filter(|found| u64::from(found.slot.0) + if found.wide { 256 } else { 128 } <= room);
            let arguments = held.map(|found| {
                let format = if found.wide { Format::F64 } else { Format::F32 };
                Argument { value: format.value(cx.raw(found.slot, lane, found.wide), 0), by_log2_e: found.by_log2_e }
            });
            Nonfinite {
                kind,
                value,
                expression: expression(),
                operands: operands.to_vec(),
                arguments: arguments.collect(),
                instruction: image.text(pc).to_owned(),
                source: image.source(pc),
                inlined_at: image.inlined_at(pc),
                launch: None,
                thread: cx.thread(lane),
                occurrences: 1,
            }
        })
    }

    fn computed(&mut self, to: Format, from: Format) {
        let plan = self.plan;
        // Two numbers into the halves of one register.
        let packs = to.parts() == 2 && from.parts() == 1 && self.before.len() == 2;
        for slot in &plan.results {
            let register = self.register(*slot);
            for lane in lanes(self.mask) {
                let raw = self.cx.raw(*slot, lane, to.is_wide());
                let mut event = NONE;
                for part in 0..to.parts() {
                    let value = to.value(raw, part);
                    if !value.is_finite() && event == NONE {
                        event = self.cause(value, lane, part, from, packs);
                    }
                }
                if event == NONE && !self.log.is_empty() && to.value(raw, 0) == 0.0 {
                    event = self.swallowed(lane, from);
                }
                if event != NONE || !self.log.is_empty() {
                    self.log.set_register(register, lane, event);
                }
            }
        }
    }

    /// A zero that an infinity led to, such as 5 / inf, still says so.
    fn swallowed(&self, lane: usize, from: Format) -> u32 {
        let leads = |taken: &&Taken| {
            let value = from.value(taken.lanes[lane], 0);
            !taken.slot.is_pool() && (!value.is_finite() || value == 0.0)
        };
        let marks = self.before.iter().filter(leads).map(|taken| self.log.register(&self.register(taken.slot), lane));
        marks.into_iter().find(|event| *event != NONE).unwrap_or(NONE)
    }

    /// Why a result is not finite: its operands were not, or it is the first.
    fn cause(&mut self, value: f64, lane: usize, part: u32, from: Format, packs: bool) -> u32 {
        let all = 0..self.before.len();
        let taken = match packs {
            // The first operand becomes the upper half.
            true => all.rev().nth(part as usize).into_iter().collect(),
            false => all.collect::<Vec<usize>>(),
        };
        let part = if from.parts() > part && !packs { part } else { 0 };
        let operands: Vec<f64> = taken.iter().map(|at| from.value(self.before[*at].lanes[lane], part)).collect();
        let found = match value.is_nan() {
            true => operands.iter().position(|operand| operand.is_nan()),
            // A selection hands on one of its operands as it is.
            false => operands
                .iter()
                .position(|operand| *operand == value)
                .or_else(|| operands.iter().position(|operand| !operand.is_finite())),
        };
        if let Some(at) = found {
            return self.inherited(taken[at], operands[at], lane);
        }
        let parent = operands.iter().position(|operand| operand.is_infinite());
        let parent = parent.map_or(NONE, |at| self.inherited(taken[at], operands[at], lane));
        let plan = self.plan;
        let expression = || words::expression(&plan.opcode, plan.does, &operands);
        self.event(NonfiniteKind::Computed, value, lane, parent, expression, &operands)
    }

    /// Where an operand that is not finite came from.
    fn inherited(&mut self, at: usize, value: f64, lane: usize) -> u32 {
        let slot = self.before[at].slot;
        if slot.is_pool() {
            return self.event(NonfiniteKind::Constant, value, lane, NONE, || words::number(value), &[]);
        }
        match self.log.register(&self.register(slot), lane) {
            NONE => self.event(NonfiniteKind::Given, value, lane, NONE, || words::number(value), &[]),
            known => known,
        }
    }

    /// Any lane may have a part in each result.
    fn product(&mut self, to: Format) {
        let plan = self.plan;
        let rows: Vec<Register> = plan.operands.iter().map(|slot| self.register(*slot)).collect();
        let known = rows.iter().filter_map(|row| self.log.row(row)).flatten().copied().find(|event| *event != NONE);
        for slot in &plan.results {
            let register = self.register(*slot);
            for lane in lanes(self.mask) {
                let raw = self.cx.raw(*slot, lane, to.is_wide());
                let value = (0..to.parts()).map(|part| to.value(raw, part)).find(|value| !value.is_finite());
                let event = match (value, known) {
                    (None, _) => NONE,
                    (Some(_), Some(known)) => known,
                    (Some(value), None) => {
                        let expression = || words::expression(&plan.opcode, plan.does, &[]);
                        self.event(NonfiniteKind::Computed, value, lane, NONE, expression, &[])
                    }
                };
                self.log.set_register(register, lane, event);
            }
        }
    }

    fn loaded(&mut self, format: Option<Format>, bytes: u64) {
        let touched = self.cx.worker.values.touched.lanes;
        let plan = self.plan;
        for (index, slot) in plan.results.iter().enumerate().filter(|(_, slot)| !slot.is_none()) {
            let register = self.register(*slot);
            for lane in lanes(self.mask) {
                let place = (touched >> lane & 1 != 0).then(|| self.place(lane, index as u64 * bytes));
                let mut event = place.map_or(NONE, |place| self.log.memory(&place));
                if let (NONE, Some(format)) = (event, format) {
                    let raw = self.cx.raw(*slot, lane, format.is_wide());
                    let value =
                        (0..format.parts()).map(|part| format.value(raw, part)).find(|value| !value.is_finite());
                    if let Some(value) = value {
                        let named = place.and_then(|place| self.element(&place, bytes));
                        let expression = || named.unwrap_or_else(|| "a value that was loaded".to_owned());
                        event = self.event(NonfiniteKind::Given, value, lane, NONE, expression, &[]);
                    }
                }
                if event != NONE || !self.log.is_empty() {
                    self.log.set_register(register, lane, event);
                }
            }
        }
    }

    /// `x[5]`.
    fn element(&self, place: &Place, bytes: u64) -> Option<String> {
        let (address, grid) = (place.address, self.cx.grid);
        let (name, base) = match place.space {
            0 => {
                let mut regions = grid.regions.iter().filter(|region| !region.freed);
                let region = regions.find(|region| (region.base..region.end).contains(&address))?;
                (&region.name, region.base)
            }
            1 => {
                let within =
                    |base: u32, size: u32| (u64::from(base)..u64::from(base) + u64::from(size)).contains(&address);
                let array = grid.shared_arrays.iter().find(|array| within(array.base, array.bytes))?;
                (&array.name, u64::from(array.base))
            }
            _ => return None,
        };
        Some(format!("{name}[{}]", (address - base) / bytes))
    }

    fn stored(&mut self, format: Option<Format>, bytes: u64) {
        let touched = self.cx.worker.values.touched.lanes;
        for index in 0..self.before.len() {
            let slot = self.before[index].slot;
            for lane in lanes(self.mask & touched) {
                let mut event = self.of_data(index, lane, format);
                if event == NONE && !slot.is_pool() {
                    event = self.log.register(&self.register(slot), lane);
                }
                let place = self.place(lane, index as u64 * bytes);
                self.log.set_memory(place, event);
            }
        }
    }

    /// The event of data on its way to memory, where its type says that it is not finite.
    fn of_data(&mut self, index: usize, lane: usize, format: Option<Format>) -> u32 {
        let Some(format) = format else { return NONE };
        let raw = self.before[index].lanes[lane];
        let value = (0..format.parts()).map(|part| format.value(raw, part)).find(|value| !value.is_finite());
        value.map_or(NONE, |value| self.inherited(index, value, lane))
    }

    fn updated(&mut self, format: Option<Format>, bytes: u64) {
        let (touched, Some(format)) = (self.cx.worker.values.touched.lanes, format) else { return };
        let plan = self.plan;
        if self.before.is_empty() {
            return;
        }
        for lane in lanes(self.mask & touched) {
            let place = self.place(lane, 0);
            let mut event = self.of_data(0, lane, Some(format));
            let now = self.in_memory(&place, bytes).map(|raw| format.value(raw, 0));
            if event == NONE
                && let Some(value) = now.filter(|value| !value.is_finite())
            {
                event = self.log.memory(&place);
                if event == NONE {
                    let added = format.value(self.before[0].lanes[lane], 0);
                    let named = self.element(&place, bytes).unwrap_or_else(|| "memory".to_owned());
                    let expression = || format!("an atomic on {named} with {}", words::number(added));
                    event = self.event(NonfiniteKind::Computed, value, lane, NONE, expression, &[added]);
                }
            }
            if event != NONE {
                self.log.set_memory(place, event);
            }
        }
        for slot in &plan.results {
            let register = self.register(*slot);
            for lane in lanes(self.mask) {
                self.log.set_register(register, lane, NONE);
            }
        }
    }

    /// What memory holds, where it is one of the arrays.
    fn in_memory(&self, place: &Place, bytes: u64) -> Option<u64> {
        let mut raw = [0; 8];
        let size = bytes.min(8) as usize;
        let from: *const u8 = match place.space {
            0 => {
                let inside = |base: u64, end: u64| place.address >= base && place.address + bytes <= end;
                let mut regions = self.cx.grid.regions.iter().filter(|region| !region.freed);
                let region = regions.find(|region| inside(region.base, region.end))?;
                region.pointer.cast_const().wrapping_add((place.address - region.base) as usize)
            }
            1 if place.address + bytes <= u64::from(self.cx.grid.shared_bytes) => {
                self.cx.shared.cast_const().wrapping_add(place.address as usize)
            }
            _ => return None,
        };
        // SAFETY: inside the array, and no other thread of the host runs.
        unsafe { std::ptr::copy_nonoverlapping(from, raw.as_mut_ptr(), size) };
        Some(u64::from_le_bytes(raw))
    }

    fn shuffled(&mut self) {
        let (Some(from), Some(to)) = (self.before.first(), self.plan.results.first()) else { return };
        if from.slot.is_pool() {
            return;
        }
        let row = self.log.row(&self.register(from.slot)).copied();
        let register = self.register(*to);
        for lane in lanes(self.mask) {
            let got = self.cx.raw(*to, lane, false);
            let marked = |other: &usize| row.is_some_and(|row| row[*other] != NONE) && from.lanes[*other] == got;
            let event = (0..32).find(marked).and_then(|other| row.map(|row| row[other])).unwrap_or(NONE);
            self.log.set_register(register, lane, event);
        }
    }

    fn passed(&mut self) {
        if self.log.is_empty() {
            return;
        }
        let plan = self.plan;
        let sources: Vec<Register> = plan.operands.iter().map(|slot| self.register(*slot)).collect();
        let rows: Vec<[u32; 32]> = sources.iter().filter_map(|source| self.log.row(source).copied()).collect();
        for slot in &plan.results {
            let register = self.register(*slot);
            for lane in lanes(self.mask) {
                let event = rows.iter().map(|row| row[lane]).find(|event| *event != NONE).unwrap_or(NONE);
                self.log.set_register(register, lane, event);
            }
        }
    }
}
