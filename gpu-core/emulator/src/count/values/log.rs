//! Where infinities and NaN came into being, and what holds them now.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use super::arguments::{self, Decides};
use super::report::{Nonfinite, NonfiniteKind};
use crate::exec::image::Image;

/// Events that are told apart at one instruction, and in all; later ones count for the first there.
const MOST_EACH: usize = 4096;
const MOST: usize = 1 << 16;
/// Places of memory that are followed.
const MOST_PLACES: usize = 1 << 22;
/// Registers that are followed, of all warps: those of warps that ended are forgotten beyond it.
const MOST_REGISTERS: usize = 1 << 16;

/// A row of a warp's registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Register {
    pub block: u64,
    pub warp: u32,
    pub frame: u32,
    pub slot: u32,
}

/// An address in a memory that somebody shares; `owner` is the block, or the thread for its own stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    pub space: u8,
    pub owner: u64,
    pub address: u64,
}

/// An event with the one whose value it was made of.
#[derive(Clone, Debug)]
struct Event {
    what: Nonfinite,
    parent: Option<u32>,
}

#[derive(Debug, Default)]
pub struct Log {
    events: Vec<Event>,
    /// Of the launch that runs: events by instruction and thread, and the first and the number of an instruction's.
    by_thread: HashMap<(u32, u64), u32>,
    by_instruction: HashMap<u32, (u32, usize)>,
    registers: HashMap<Register, [u32; 32]>,
    memory: HashMap<Place, u32>,
    deciding: HashMap<u32, Arc<[Decides]>>,
}

/// Numbers of events count from 1 in what holds them: 0 is none.
pub const NONE: u32 = 0;

impl Log {
    pub fn begin_launch(&mut self) {
        self.by_thread.clear();
        self.by_instruction.clear();
        self.registers.clear();
        self.deciding.clear();
        // Shared memory and stacks go with their launch.
        self.memory.retain(|place, _| place.space == 0);
    }

    /// Whether nothing was found so far.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    pub fn register(&self, register: &Register, lane: usize) -> u32 {
        self.registers.get(register).map_or(NONE, |row| row[lane])
    }

    pub fn row(&self, register: &Register) -> Option<&[u32; 32]> {
        self.registers.get(register)
    }

    pub fn set_register(&mut self, register: Register, lane: usize, event: u32) {
        if event == NONE {
            if let Some(row) = self.registers.get_mut(&register) {
                row[lane] = NONE;
            }
            return;
        }
        if self.registers.len() > MOST_REGISTERS {
            self.registers.retain(|known, _| known.block == register.block);
        }
        self.registers.entry(register).or_insert([NONE; 32])[lane] = event;
    }

    pub fn memory(&self, place: &Place) -> u32 {
        self.memory.get(place).copied().unwrap_or(NONE)
    }

    pub fn set_memory(&mut self, place: Place, event: u32) {
        if event == NONE {
            if !self.memory.is_empty() {
                self.memory.remove(&place);
            }
        } else if self.memory.len() < MOST_PLACES {
            self.memory.insert(place, event);
        }
    }

    /// Registers that alone decide what an instruction gives.
    pub fn deciding(&mut self, image: &Image, pc: u32) -> Arc<[Decides]> {
        self.deciding.entry(pc).or_insert_with(|| arguments::deciding(image, pc).into()).clone()
    }

    /// The event of an instruction in a thread, which is made once.
    pub fn event(&mut self, pc: u32, thread: u64, parent: u32, make: impl FnOnce() -> Nonfinite) -> u32 {
        if let Some(known) = self.by_thread.get(&(pc, thread)).copied() {
            self.of_instruction(pc);
            return known;
        }
        let (first, count) = self.by_instruction.get(&pc).copied().unwrap_or((NONE, 0));
        self.of_instruction(pc);
        if first != NONE && (count >= MOST_EACH || self.events.len() >= MOST) {
            return first;
        }
        let parent = (parent != NONE).then_some(parent);
        self.events.push(Event { what: Nonfinite { occurrences: 0, ..make() }, parent });
        let number = self.events.len() as u32;
        self.by_thread.insert((pc, thread), number);
        let entry = self.by_instruction.entry(pc).or_insert((number, 0));
        entry.1 += 1;
        if first == NONE {
            self.events[number as usize - 1].what.occurrences = 1;
        }
        number
    }

    /// Counts once more what happened at an instruction.
    fn of_instruction(&mut self, pc: u32) {
        if let Some((first, _)) = self.by_instruction.get(&pc) {
            self.events[*first as usize - 1].what.occurrences += 1;
        }
    }

    /// From where it all began to the event itself.
    fn chain(&self, event: u32) -> Vec<Nonfinite> {
        let mut chain = Vec::new();
        let mut at = Some(event);
        while let Some(number) = at {
            let Some(event) = self.events.get((number as usize).wrapping_sub(1)) else { break };
            chain.push(event.what.clone());
            // An event is made after the one that it comes from.
            at = event.parent.filter(|parent| *parent < number);
        }
        chain.reverse();
        chain
    }
}

/// Follows infinities and NaN through the launches that it is given to ([`crate::Options::nonfinite`]), which run slowly and in
/// one thread of the host.
#[derive(Clone, Debug, Default)]
pub struct NonfiniteLog(Arc<Mutex<Log>>);

impl NonfiniteLog {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Log> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// How the value came about that these bytes of global memory hold: from the first infinity or NaN on its way to the last that
    /// was made of it. Empty where they hold none, or nobody followed it.
    pub fn chain(&self, address: u64, bytes: u64) -> Vec<Nonfinite> {
        let log = self.lock();
        let places = (address..address + bytes.max(1)).map(|address| Place { space: 0, owner: 0, address });
        places
            .map(|place| log.memory(&place))
            .find(|event| *event != NONE)
            .map_or_else(Vec::new, |event| log.chain(event))
    }

    /// The first one in time that an instruction made.
    pub fn first(&self) -> Option<Nonfinite> {
        let log = self.lock();
        let computed = |event: &&Event| event.what.kind == NonfiniteKind::Computed;
        log.events.iter().find(computed).map(|event| event.what.clone())
    }

    /// Names the launch of all events that have no name yet.
    pub fn name_launch(&self, name: &crate::report::LaunchName) {
        for event in self.lock().events.iter_mut().filter(|event| event.what.launch.is_none()) {
            event.what.launch = Some(name.clone());
        }
    }
}
