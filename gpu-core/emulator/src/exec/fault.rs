//! Turning what went wrong into a [`Fault`] with its place, thread and array.

use super::cx::Cx;
use super::grid::Grid;
use crate::report::{AccessKind, AllocationRef, Fault, FaultKind, OtherSide, Position, Space, ThreadId};

/// So many faults of one kind are told of one line and call. A compiler that unrolls a loop makes many instructions of a
/// line, and they would take the places of other faults.
const OF_A_LINE: usize = 4;

/// The array that a fault is about.
fn array_of(fault: &Fault) -> Option<&str> {
    fault.allocation.as_ref().map(|allocation| allocation.name.as_str())
}

/// What makes two faults one.
pub struct Identity<'a> {
    pub kind: FaultKind,
    pub position: Position<'a>,
    pub instruction: &'a str,
    /// The array that it is about, where there is one and it is known: the copies of an unrolled line are one fault then.
    pub array: Option<&'a str>,
    pub other: Option<Position<'a>>,
}

impl Identity<'_> {
    /// The fault that one like this is counted with: an equal one or, where enough is told of its line, the last of that
    /// line, rather one with the same other side. None: it is a fault of its own.
    pub fn find<'f>(&self, faults: &'f mut [Fault]) -> Option<&'f mut Fault> {
        self.place(faults).map(|place| &mut faults[place])
    }

    /// The same for one that was told already, of an array that is not known any more.
    pub fn find_again<'f>(&self, faults: &'f mut [Fault]) -> Option<&'f mut Fault> {
        let line = |fault: &Fault| fault.kind == self.kind && fault.position() == self.position;
        let beside = |fault: &Fault| line(fault) && fault.other_position() == self.other;
        let copy = || self.position.0.is_some().then(|| faults.iter().rposition(beside)).flatten();
        self.place(faults).or_else(copy).map(|place| &mut faults[place])
    }

    fn place(&self, faults: &[Fault]) -> Option<usize> {
        let of_line = |fault: &Fault| fault.kind == self.kind && fault.position() == self.position;
        let beside = |fault: &Fault| of_line(fault) && fault.other_position() == self.other;
        let copy = |fault: &Fault| self.array.is_some() && self.position.0.is_some() && array_of(fault) == self.array;
        let equal = |fault: &Fault| beside(fault) && (fault.instruction == self.instruction || copy(fault));
        // Without lines nobody knows what is a copy.
        let enough = self.position.0.is_some() && faults.iter().filter(|fault| of_line(fault)).count() >= OF_A_LINE;
        faults.iter().position(equal).or_else(|| {
            let last = || faults.iter().rposition(beside).or_else(|| faults.iter().rposition(of_line));
            enough.then(last).flatten()
        })
    }
}

/// The memory side of a fault.
#[derive(Clone, Debug, Default)]
pub struct Detail {
    pub space: Option<Space>,
    pub access: Option<AccessKind>,
    pub address: Option<u64>,
    pub bytes: u32,
    pub allocation: Option<AllocationRef>,
    pub other: Option<OtherSide>,
}

impl Grid<'_> {
    /// Records a fault, or counts it with one that is known ([`Identity::find`]). Of the two, the one of the lower block is
    /// told: each worker comes with the first that it met.
    pub fn report(&self, mut fault: Fault) {
        let fatal = fault.kind.ends_launch();
        let mut faults = self.faults.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let identity = Identity {
            kind: fault.kind,
            position: fault.position(),
            instruction: &fault.instruction,
            array: array_of(&fault),
            other: fault.other_position(),
        };
        let count = faults.len();
        match identity.find(&mut faults) {
            Some(known) => {
                let block = |fault: &Fault| fault.thread.map(|ThreadId { block: [x, y, z], .. }| [z, y, x]);
                let lower = block(&fault) < block(known) && fault.instruction == known.instruction;
                fault.occurrences += known.occurrences;
                match lower && fault.thread.is_some() {
                    true => *known = fault,
                    false => known.occurrences = fault.occurrences,
                }
            }
            None if count < self.options.max_faults => faults.push(fault),
            None => {}
        }
        let full = faults.len() >= self.options.max_faults;
        drop(faults);
        if fatal || full {
            self.abort();
        }
    }
}

impl Cx<'_> {
    /// Which thread a lane of this warp is.
    pub fn thread(&self, lane: usize) -> ThreadId {
        let tid = &self.grid.tids[self.warp.index as usize];
        ThreadId {
            block: self.block.id,
            thread: [tid[0][lane], tid[1][lane], tid[2][lane]],
            warp: self.warp.index,
            lane: lane as u32,
        }
    }

    /// Which thread of this block a linear thread number is.
    pub fn thread_of(&self, linear: u32) -> ThreadId {
        self.grid.thread(self.block.id, linear)
    }

    /// Reports a fault of the instruction at `pc`; `count` threads met it.
    pub fn fault(
        &mut self,
        kind: FaultKind,
        pc: u32,
        lane: Option<usize>,
        count: u32,
        message: String,
        detail: Detail,
    ) {
        let thread = lane.map(|lane| self.thread(lane));
        self.fault_of(kind, pc, thread, count, message, detail);
    }

    /// The same for a thread that need not be of this warp.
    pub fn fault_of(
        &mut self,
        kind: FaultKind,
        pc: u32,
        thread: Option<ThreadId>,
        count: u32,
        message: String,
        detail: Detail,
    ) {
        // Without checks a program goes on where it forgets to wait, as it does on a GPU.
        if kind == FaultKind::MissingAsyncWait && !self.grid.options.checks.race {
            return;
        }
        let image = self.image();
        self.grid.report(Fault {
            kind,
            message,
            kernel: self.grid.kernel_name().to_owned(),
            launch: None,
            source: image.source(pc),
            inlined_at: image.inlined_at(pc),
            instruction: image.text(pc).to_owned(),
            thread,
            space: detail.space,
            access: detail.access,
            address: detail.address,
            access_bytes: detail.bytes,
            allocation: detail.allocation,
            other: detail.other,
            occurrences: u64::from(count.max(1)),
        });
        self.attention = true;
    }
}

/// "block (0,0,0), thread (5,0,0)"
pub fn text_of(id: &ThreadId) -> String {
    let triple = |v: [u32; 3]| format!("({},{},{})", v[0], v[1], v[2]);
    format!("block {}, thread {}", triple(id.block), triple(id.thread))
}
