//! A module made ready to run: decoded code, constant rows, functions and variables.

use std::sync::Arc;

use super::cx::Cx;
use super::op::{Exec, Op, OpInfo, Slot};
use crate::analysis::barrier_intervals::{Last, Plan};
use crate::analysis::mod_ref::{Written, written_arguments};
use crate::analysis::thread_private::Structure;
use crate::check::deadlock::frozen::{Range, deciding_registers};
use crate::described::KernelInfo;
use crate::exec::memory::flags::FETCH;
use crate::exec::template::Made;
use crate::jit::Code;
use crate::report::{AccessKind, OtherSide, SourceLine, ThreadId};

/// 128 bytes of the constant pool, aligned for vector loads.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(128))]
pub struct PoolRow(pub [u32; 32]);

/// A `__device__` or `__constant__` variable. Its address is fixed when the module is loaded.
#[derive(Clone, Debug)]
pub struct GlobalVariable {
    /// For messages.
    pub name: String,
    /// In the PTX.
    pub symbol: String,
    pub address: u64,
    pub bytes: u64,
    pub init: Vec<u8>,
    pub read_only: bool,
    pub managed: bool,
}

/// A `__shared__` variable; the dynamic one has `bytes` 0 here and gets its size from the launch.
#[derive(Clone, Debug)]
pub struct SharedVariable {
    pub name: String,
    pub offset: u32,
    pub bytes: u32,
    pub dynamic: bool,
}

/// A parameter or result of a device function: rows of 4-byte words in the frame, `words` of them from `slot`.
#[derive(Clone, Copy, Debug)]
pub struct ParamArea {
    pub slot: Slot,
    pub bytes: u32,
}

/// A function that has a body.
#[derive(Clone, Debug)]
pub struct FunctionImage {
    pub name: String,
    pub entry: bool,
    pub first_pc: u32,
    /// Registers, predicates and parameter areas of one frame.
    pub frame_bytes: u32,
    /// Stack of one thread in this frame.
    pub local_bytes: u32,
    pub params: Vec<ParamArea>,
    pub results: Vec<ParamArea>,
    /// Registers that may be read before they are written, with their bytes a lane (0 for a predicate).
    pub undefined: Vec<Slot>,
    /// Only instructions behind a gate of [`crate::check::undef::gates`] name those.
    pub gated: bool,
    /// Instructions whose results are the same in all warps of a launch, in an order in which they can run (of kernels).
    pub of_launch: Vec<u32>,
    /// Variables in shared memory that it or a function it calls uses (of kernels).
    pub shared: Vec<SharedVariable>,
    /// From the first to the last program counter of what it and the functions that it may call consist of.
    pub reach: std::ops::Range<u32>,
    /// Deepest stack of the call tree in bytes a thread; None when it recurses or calls through pointers.
    pub stack_bytes: Option<u32>,
    /// What it or a function that it may call needs.
    pub needs: Needs,
    /// `.reqnctapercluster`.
    pub cluster: Option<[u32; 3]>,
    /// Index into `Image::kernels` of an entry.
    pub kernel: usize,
    /// [`Image::written_arguments`], made when first asked for.
    pub(crate) written: std::sync::OnceLock<Option<Written>>,
    /// [`Image::structure`], made when first asked for.
    pub(crate) structure: std::sync::OnceLock<Option<Box<Structure>>>,
    /// [`Image::plan`], made when first asked for, and what was last found by it.
    pub(crate) plan: std::sync::OnceLock<Option<Box<Plan>>>,
    pub(crate) separate: Last,
    /// What was last found of whose parts of arrays are whose.
    pub(crate) owned: crate::analysis::thread_private::Last,
    /// [`Image::machine_code`], made when first asked for.
    pub(crate) machine: [std::sync::OnceLock<Option<std::sync::Arc<Code>>>; Made::WAYS],
    /// [`Image::deciding_registers`], made when first asked for.
    pub(crate) deciding: std::sync::OnceLock<Vec<Range>>,
}

/// What a call site passes.
#[derive(Clone, Debug)]
pub struct CallSite {
    /// Function index, a built-in function, or None for a call through a register.
    pub target: CallTarget,
    pub arguments: Vec<ParamArea>,
    pub results: Vec<ParamArea>,
}

/// What a function needs of a launch beside its arrays.
#[derive(Clone, Copy, Debug, Default)]
pub struct Needs {
    /// It calls `malloc` or `free`.
    pub heap: bool,
    /// It asks for the shared memory that each block has for the system's own use.
    pub reserved: bool,
    /// Blocks are to begin in the order of their numbers: it prints, or may wait for what another block does.
    pub order: bool,
}

/// A function that the emulator itself provides ([`crate::isa::builtin::BUILTINS`]).
pub type Builtin = unsafe fn(&mut Cx<'_>, &Op, &CallSite) -> super::op::Flow;

#[derive(Clone, Copy, Debug)]
pub enum CallTarget {
    Function(u32),
    Builtin(Builtin),
    Indirect,
}

/// A memory access of the code.
#[derive(Clone, Copy, Debug, Default)]
pub struct Site {
    pub pc: u32,
    /// Its address register has 64 bits.
    pub wide: bool,
    /// Bytes that one lane accesses.
    pub bytes: u32,
    /// Bits of the registers that a store takes its values from, which may be more than it stores of each; 0: just these.
    pub register: u8,
}

/// The instructions as they were written, with one space where there were several. In one piece: there may be a million.
#[derive(Debug, Default)]
pub struct Texts {
    all: String,
    ends: Vec<u32>,
}

impl Texts {
    /// The number of the text that is pushed next.
    pub fn next(&self) -> u32 {
        self.ends.len() as u32
    }

    pub fn push(&mut self, text: &str) {
        for (index, word) in text.split_whitespace().enumerate() {
            if index > 0 {
                self.all.push(' ');
            }
            self.all.push_str(word);
        }
        self.ends.push(self.all.len() as u32);
    }

    /// Empty for a number that none has.
    pub fn get(&self, number: u32) -> &str {
        let Some(end) = self.ends.get(number as usize) else { return "" };
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before as usize]);
        &self.all[start as usize..*end as usize]
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.next()).map(|number| self.get(number))
    }
}

/// A decoded module.
#[derive(Debug, Default)]
pub struct Image {
    /// Unique per load, for variables' addresses.
    pub id: u64,
    pub target: String,
    pub kernels: Vec<KernelInfo>,
    pub code: Vec<Op>,
    pub infos: Vec<OpInfo>,
    /// What runs the instructions behind a gate of [`crate::check::undef::gates`], in their order.
    pub(crate) gates: Vec<(u32, Exec)>,
    /// Loads that some lanes do not need, in their order.
    pub(crate) hoisted: Vec<crate::analysis::hoisted::Hoisted>,
    pub texts: Texts,
    pub sources: Vec<SourceLine>,
    /// For each source: where the function that it is in was called, when it was inlined.
    pub inlined_at: Vec<Option<SourceLine>>,
    pub pool: Vec<PoolRow>,
    pub lists: Vec<Slot>,
    pub calls: Vec<CallSite>,
    /// Targets of `brx.idx`, by table.
    pub branch_tables: Vec<Vec<u32>>,
    pub functions: Vec<FunctionImage>,
    pub variables: Vec<GlobalVariable>,
    /// Offset of dynamic shared memory.
    pub dynamic_shared: u32,
    /// Memory accesses; site 0 is unused.
    pub sites: Vec<Site>,
    pub uses_alloca: bool,
    pub uses_workspace: bool,
    /// Some function updates global memory by atomics, and loads what goes into results.
    pub fetches: bool,
    /// For each site the first one of the same source line, made when first asked for.
    pub(crate) line_sites: std::sync::OnceLock<Arc<[u32]>>,
    /// [`Image::fetch_sites`], made when first asked for.
    pub(crate) fetch_sites: std::sync::OnceLock<Arc<[bool]>>,
}

impl Image {
    /// For each site the first one that stands at the same source line, inlined at the same place, or itself: that is all
    /// that a report says of a read.
    pub fn line_sites(&self) -> &Arc<[u32]> {
        self.line_sites.get_or_init(|| {
            let mut first = std::collections::BTreeMap::new();
            let site_of = |(site, found): (usize, &Site)| match self.source(found.pc) {
                Some(source) => *first.entry((source, self.inlined_at(found.pc))).or_insert(site as u32),
                None => site as u32,
            };
            self.sites.iter().enumerate().map(site_of).collect()
        })
    }

    /// Whether a read fetches a part of a result, by the site of its line; empty where none that does may meet atomics.
    pub fn fetch_sites(&self) -> &Arc<[bool]> {
        self.fetch_sites.get_or_init(|| {
            if !self.fetches {
                return Arc::default();
            }
            let mut fetches = vec![false; self.sites.len()];
            for (site, line) in self.sites.iter().zip(&**self.line_sites()) {
                if self.code.get(site.pc as usize).is_some_and(|op| op.e.0 & FETCH != 0) {
                    fetches[*line as usize] = true;
                }
            }
            fetches.into()
        })
    }

    /// The arguments that an entry may write through; None when it may write anywhere.
    pub fn written_arguments(&self, function: usize) -> Option<&Written> {
        let entry = &self.functions[function];
        let found = entry.written.get_or_init(|| {
            let code = self.code_of(entry);
            written_arguments(self, code.start, code.end)
        });
        found.as_ref()
    }

    /// What of a kernel shows whose parts of arrays are whose; None where that is not looked for.
    pub fn structure(&self, function: usize) -> Option<&Structure> {
        self.functions[function].structure.get_or_init(|| Structure::of(self, function).map(Box::new)).as_deref()
    }

    /// What of a kernel shows whether threads of a block meet in shared memory; None where that is not looked for.
    pub fn plan(&self, function: usize) -> Option<&Plan> {
        self.functions[function].plan.get_or_init(|| Plan::of(self, function).map(Box::new)).as_deref()
    }

    /// The machine code of a function, made in one way or another; None where there is none.
    pub fn machine_code(&self, function: usize, made: Made) -> Option<&Code> {
        #[cfg(target_arch = "x86_64")]
        let make = || Code::of(self, function, made).map(std::sync::Arc::new);
        #[cfg(not(target_arch = "x86_64"))]
        let make = || None;
        self.functions[function].machine[made.way()].get_or_init(make).as_deref()
    }

    /// The registers of a function that what it does next can depend on.
    pub fn deciding_registers(&self, function: usize) -> &[Range] {
        let function = &self.functions[function];
        function.deciding.get_or_init(|| deciding_registers(self, function))
    }

    /// The memory accesses of what a function reaches, in between those of others too.
    pub fn sites_of(&self, function: usize) -> std::ops::Range<usize> {
        let reach = &self.functions[function].reach;
        // Site 0 is none, the others are numbered in the order of the code.
        let rest = self.sites.get(1..).unwrap_or_default();
        debug_assert!(rest.is_sorted_by_key(|site| site.pc));
        let before = |pc: u32| 1 + rest.partition_point(|site| site.pc < pc);
        before(reach.start)..before(reach.end)
    }

    /// The program counters of a function.
    pub fn code_of(&self, function: &FunctionImage) -> std::ops::Range<usize> {
        let later = self.functions.iter().map(|other| other.first_pc).filter(|pc| *pc > function.first_pc);
        function.first_pc as usize..later.min().map_or(self.code.len(), |pc| pc as usize)
    }

    pub fn source(&self, pc: u32) -> Option<SourceLine> {
        let info = self.infos.get(pc as usize)?;
        info.source.map(|index| self.sources[index as usize].clone())
    }

    /// Where the inlined function that an instruction is from was called.
    pub fn inlined_at(&self, pc: u32) -> Option<SourceLine> {
        let info = self.infos.get(pc as usize)?;
        info.source.and_then(|index| self.inlined_at.get(index as usize).cloned().flatten())
    }

    /// The second party of a fault; without `pc` nobody knows where it was.
    pub fn other_side(&self, pc: Option<u32>, thread: ThreadId, access: Option<AccessKind>) -> OtherSide {
        let source = pc.and_then(|pc| self.source(pc));
        OtherSide { source, inlined_at: pc.and_then(|pc| self.inlined_at(pc)), thread, access }
    }

    pub fn text(&self, pc: u32) -> &str {
        // A kernel without any instruction ends with one that has no text.
        self.infos.get(pc as usize).map_or("", |info| self.texts.get(info.text))
    }

    /// "file:line" or the PTX line, for messages.
    pub fn place(&self, pc: u32) -> String {
        match self.source(pc) {
            Some(source) => match self.inlined_at(pc) {
                Some(call) => format!("line {} (called at line {})", source.line, call.line),
                None => format!("line {}", source.line),
            },
            None => format!("PTX line {}", self.infos.get(pc as usize).map_or(0, |info| info.ptx_line)),
        }
    }

    pub fn list(&self, op: &Op) -> &[Slot] {
        &self.lists[op.list as usize..(op.list + op.list_len) as usize]
    }
}
