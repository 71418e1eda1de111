//! Builds the small traces of the examples, as the emulator would have recorded them.

use gpu_core::emulator::{
    AccessKind, Class, SourceLine, Space, Step, StepAccess, StepCopy, Trace, TraceAllocation, TraceInstruction,
    WarpTrace,
};

use super::{VizInput, model};
use std::cell::RefCell;
use std::ops::Deref;
use std::rc::Rc;

/// The last value that was worked out, kept until what it was worked out from changes: an example's trace for the
/// viewer's choices, or what was read from a trace for its fingerprint.
pub struct Memo<K, V>(RefCell<Option<(K, Rc<V>)>>);

impl<K, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self(RefCell::new(None))
    }
}

impl<K: Clone + PartialEq, V> Memo<K, V> {
    pub fn get(&self, key: &K, build: impl FnOnce(&K) -> V) -> Rc<V> {
        if let Some((known, value)) = &*self.0.borrow()
            && known == key
        {
            return value.clone();
        }
        let value = Rc::new(build(key));
        *self.0.borrow_mut() = Some((key.clone(), value.clone()));
        value
    }
}

/// The trace that is drawn: the learner's run, or the example as the viewer set it.
pub enum Shown<'a> {
    Run(&'a Trace),
    Example(Rc<Trace>),
}

impl Deref for Shown<'_> {
    type Target = Trace;

    fn deref(&self) -> &Trace {
        match self {
            Shown::Run(trace) => trace,
            Shown::Example(trace) => trace,
        }
    }
}

impl<K: Clone + PartialEq> Memo<K, Trace> {
    /// The run, where there is one; otherwise the example that `record` makes of the viewer's choices.
    pub fn shown<'a>(&self, input: &VizInput<'a>, what_if: &K, record: impl FnOnce(&K) -> Trace) -> Shown<'a> {
        match input.trace {
            Some(trace) => Shown::Run(trace),
            None => Shown::Example(self.get(what_if, record)),
        }
    }
}

/// Addresses of the first global and shared array. Arrays start on 256-byte boundaries, as `cudaMalloc` gives them.
const GLOBAL_BASE: u64 = 0x7f00_0000_0000;
const ARRAY_ALIGNMENT: u64 = 256;

pub struct Builder {
    trace: Trace,
    tick: u64,
    next_global: u64,
    next_shared: u64,
}

/// A memory instruction and what it touches.
#[derive(Clone, Copy)]
pub struct Site {
    pub instruction: u32,
    pub array: u32,
    pub kind: AccessKind,
    pub bytes: u32,
}

impl Builder {
    pub fn new(kernel: &str, grid: [u32; 3], block: [u32; 3]) -> Self {
        let trace = Trace { kernel: kernel.to_owned(), grid, block, ..Trace::default() };
        Self { trace, tick: 0, next_global: GLOBAL_BASE, next_shared: 0 }
    }

    /// Adds an array and returns its index in the trace.
    pub fn array(&mut self, name: &str, space: Space, bytes: u64) -> u32 {
        let next = if space == Space::Shared { &mut self.next_shared } else { &mut self.next_global };
        let base = *next;
        *next += bytes.next_multiple_of(ARRAY_ALIGNMENT);
        self.trace.allocations.push(TraceAllocation { name: name.to_owned(), space, base, bytes });
        self.trace.allocations.len() as u32 - 1
    }

    pub fn base(&self, array: u32) -> u64 {
        self.trace.allocations[array as usize].base
    }

    /// Adds an instruction of source line `line`.
    pub fn instruction(&mut self, text: &str, line: u32, class: Class) -> u32 {
        let source = Some(SourceLine { file: "kernel.cu".to_owned(), line, column: 1 });
        self.trace.instructions.push(TraceInstruction { text: text.to_owned(), source, class });
        self.trace.instructions.len() as u32 - 1
    }

    /// Adds a memory instruction of source line `line` on `array`.
    pub fn site(&mut self, text: &str, line: u32, array: u32, kind: AccessKind, bytes: u32) -> Site {
        let class = match (kind, self.trace.allocations[array as usize].space) {
            (AccessKind::AsyncCopy, _) => Class::AsyncCopy,
            (AccessKind::Atomic, _) => Class::Atomic,
            (_, Space::Shared) => Class::Shared,
            _ => Class::Global,
        };
        Site { instruction: self.instruction(text, line, class), array, kind, bytes }
    }

    /// Adds a warp with no steps yet and returns its index in the trace.
    pub fn warp(&mut self, block: [u32; 3], warp: u32) -> usize {
        self.trace.warps.push(WarpTrace { block, warp, steps: Vec::new() });
        self.trace.warps.len() - 1
    }

    /// Lanes of a warp that are threads of the block.
    pub fn full_mask(&self, warp: usize) -> u32 {
        match model::lanes_in_warp(self.trace.block, self.trace.warps[warp].warp) {
            32 => u32::MAX,
            lanes => (1 << lanes) - 1,
        }
    }

    /// One step without memory access.
    pub fn step(&mut self, warp: usize, instruction: u32, mask: u32) {
        if mask != 0 {
            self.push(warp, Step { tick: 0, instruction, mask, access: None, copy: None, barrier: None });
        }
    }

    /// One memory access: `element` gives each active lane's element, counted from the array's start.
    pub fn access(&mut self, warp: usize, site: Site, mask: u32, element: impl Fn(u32) -> i64) {
        if mask == 0 {
            return;
        }
        let allocation = &self.trace.allocations[site.array as usize];
        let (base, space) = (allocation.base, allocation.space);
        let address = |lane| base.wrapping_add_signed(element(lane) * i64::from(site.bytes));
        let addresses = model::lanes(mask).map(address).collect();
        let access = StepAccess {
            space,
            kind: site.kind,
            bytes: site.bytes,
            allocation: Some(site.array),
            addresses,
            further: Vec::new(),
            cost: 0,
        };
        let mut step =
            Step { tick: 0, instruction: site.instruction, mask, access: Some(access), copy: None, barrier: None };
        let cost = if space == Space::Shared { model::passes(&step).len() } else { model::sectors(&step).len() };
        if let Some(access) = &mut step.access {
            access.cost = cost as u32;
        }
        self.push(warp, step);
    }

    /// One asynchronous copy into `bytes` of shared memory from `shared_low` on.
    pub fn copy(&mut self, warp: usize, instruction: u32, shared_low: u64, bytes: u64) {
        let copy = StepCopy { shared_low, shared_bytes: bytes, to_shared: true, bytes, ..StepCopy::default() };
        let mask = self.full_mask(warp);
        self.push(warp, Step { tick: 0, instruction, mask, access: None, copy: Some(Box::new(copy)), barrier: None });
    }

    fn push(&mut self, warp: usize, step: Step) {
        let step = Step { tick: self.tick, ..step };
        self.tick += 1;
        self.trace.warps[warp].steps.push(step);
    }

    pub fn finish(self) -> Trace {
        self.trace
    }
}
