//! A decoded instruction.

use super::cx::Cx;
use crate::exec::template::Native;
use crate::report::Class;

/// Where an operand lives: a byte offset into the frame's registers, or with [`Slot::POOL`] set into the pool of
/// constants. One row holds the 32 lanes of a register: 4 bytes a lane for up to 32 bits, 8 and 16 for 64 and 128;
/// a predicate is one u32 mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot(pub u32);

impl Slot {
    pub const POOL: u32 = 1 << 31;
    /// An operand that is not there.
    pub const NONE: Slot = Slot(u32::MAX);

    pub fn is_none(self) -> bool {
        self == Slot::NONE
    }

    pub fn is_pool(self) -> bool {
        self.0 & Slot::POOL != 0
    }
}

/// What the interpreter does after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// On to the next instruction.
    Next,
    /// On at `Cx::pc`, which the instruction set.
    Goto,
    /// The running group of lanes ended, waits or gave way; `Cx` has stored its state. Pick another.
    Switch,
    /// On to the next instruction, but other groups, warps and blocks first: this one polls memory.
    Yield,
}

/// Runs one instruction for the lanes of `Cx::mask`.
///
/// # Safety
/// `op` must come from the image that `Cx` runs, so that its slots lie in the current frame or in the pool.
pub type Exec = unsafe fn(&mut Cx<'_>, &Op) -> Flow;

/// A decoded instruction: one cache line.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Op {
    pub run: Exec,
    /// Address offset, target, immediate, or packed modifiers.
    pub imm: i64,
    pub d: Slot,
    pub a: Slot,
    pub b: Slot,
    pub c: Slot,
    pub e: Slot,
    /// Predicate that guards it (a constant all-ones one when there is no guard), xor-ed with `guard_flip`.
    pub guard: Slot,
    pub guard_flip: u32,
    /// Number of the memory access in the image, for shadows and counters; 0 for other instructions.
    pub site: u32,
    /// First index into the image's slot lists, and how many, for vectors and argument lists.
    pub list: u32,
    pub list_len: u32,
    /// Instructions from this one on that run one after the other in all lanes of the group, unless one says otherwise: none
    /// has a guard, and only the last may be a branch. 0 for one with a guard, [`CONDITIONAL`] for a branch that has one.
    pub straight: u32,
    /// Instructions right behind this one, still of the same stretch, that give values of the launch.
    pub skip: u8,
    /// It gives the same in all warps of a launch ([`FunctionImage::of_launch`]).
    ///
    /// [`FunctionImage::of_launch`]: super::image::FunctionImage::of_launch
    pub of_launch: bool,
    /// What machine code can be made of it.
    pub native: Native,
}

pub const CONDITIONAL: u32 = u32::MAX;

/// What the register checks need to know of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Taint {
    /// The result depends on the sources.
    #[default]
    Compute,
    /// Moves bits unchanged.
    Copy,
    /// `d = c ? a : b`: only the chosen source counts.
    Select,
    /// Needs its sources now: branch, vote, barrier number.
    Use,
    /// Each lane takes the value of another lane.
    Shuffle,
    /// Passes areas of the frame to a function.
    Call,
    /// Loads or stores: `a` is the address; the rest is data.
    Memory,
}

/// The part of an instruction that running it does not need.
#[derive(Clone, Debug)]
pub struct OpInfo {
    /// Index into the image's instruction texts.
    pub text: u32,
    pub source: Option<u32>,
    pub class: Class,
    pub taint: Taint,
    pub reads: Box<[Slot]>,
    pub writes: Box<[Slot]>,
    pub ptx_line: u32,
    /// A bit for each of the first of `reads` that no way from here on asks for again.
    pub last: u16,
    /// A bit for each register that it names: see [`crate::check::undef::marks::bit`].
    pub names: u32,
    /// Something reads what it writes.
    pub result_used: bool,
    /// It puts bits elsewhere, as it found them or joined with others, so that undefined ones may be followed.
    pub moves: bool,
    /// The same, and no plain move.
    pub bitwise: bool,
}
