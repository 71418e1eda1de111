//! Which instructions machine code can be made of. Their decoders say so ([`crate::decode::emit::Emit::native`]).

use crate::fast::Fast;

/// Instructions between a branch and the place where lanes meet, at most, of which there is code for some of the lanes: a copy
/// for each such branch.
pub const BETWEEN: usize = 64;

/// In which way machine code is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Made {
    /// For launches that count or check accesses.
    pub watched: bool,
    /// As [`Fast`] says.
    pub launch_constants: bool,
    pub block_chaining: bool,
    pub predicated_regions: bool,
}

impl Made {
    /// How many ways there are.
    pub const WAYS: usize = 16;

    pub fn of(watched: bool, fast: &Fast) -> Made {
        let Fast { launch_constants, block_chaining, predicated_regions, .. } = *fast;
        Made { watched, launch_constants, block_chaining, predicated_regions }
    }

    /// The number of this one.
    pub fn way(self) -> usize {
        let parts = [self.watched, self.launch_constants, self.block_chaining, self.predicated_regions];
        parts.into_iter().fold(0, |way, part| 2 * way + usize::from(part))
    }
}

/// What an instruction does to rows that hold all 32 lanes, where code for it can be made: `d`, `a`, `b` and `c` are those of
/// [`crate::exec::op::Op`], a number behind a name the bits of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Native {
    /// No code: its function is called.
    No,
    /// `%tid` and `%ctaid`, of the axis that `imm` is a multiple of three before.
    ThreadIndex,
    BlockIndex,
    Mov32,
    Mov64,
    Add32,
    Sub32,
    /// The low half.
    Mul32,
    /// `a * b + c`, the low half.
    Mad32,
    And32,
    Or32,
    Xor32,
    Not32,
    Shl32,
    ShrU32,
    ShrS32,
    MinS32,
    MaxS32,
    MinU32,
    MaxU32,
    /// Rounded to nearest, subnormals kept; NaN is one value.
    AddF32,
    SubF32,
    MulF32,
    FmaF32,
    /// The same with subnormals flushed.
    AddFlushed,
    SubFlushed,
    MulFlushed,
    FmaFlushed,
    Add64,
    Sub64,
    And64,
    Or64,
    Xor64,
    /// By a count of 32 bits.
    Shl64,
    ShrU64,
    /// A product of 64 bits.
    MulWideS,
    MulWideU,
    /// The same, and an addend of 64 bits.
    MadWideS,
    MadWideU,
    /// 32 bits to 64.
    WidenS,
    WidenU,
    /// 64 bits to 32.
    Narrow,
    FloatOfS32,
    FloatOfU32,
    NegS32,
    /// Of floats, where a NaN loses and -0 is below +0.
    MinF32,
    MaxF32,
    /// Rounded to nearest; what is no number is left to the function.
    AddF64,
    SubF64,
    MulF64,
    FmaF64,
    /// Of predicates; `imm` says which operands are negated.
    AndPred,
    OrPred,
    XorPred,
    NotPred,
    /// `c ? a : b`; `imm` says whether `c` is negated.
    Select32,
    Select64,
    /// Of integers; of those of 16 bits what stands above does not count.
    SetS16(Relation),
    SetU16(Relation),
    SetS32(Relation),
    SetU32(Relation),
    SetS64(Relation),
    SetU64(Relation),
    SetF32(Relation),
    /// By the sign bit; a NaN is that of all operations.
    NegF32,
    AbsF32,
    /// The high half.
    MulHighS,
    MulHighU,
    /// The low half, and that with an addend.
    Mul64,
    Mad64,
    /// Bits that are set; all in reverse order; zeros before the first one.
    Ones32,
    Reverse32,
    Leading32,
    /// `bfind`: where the highest bit is that tells, or how far to shift it up.
    FindU32,
    FindS32,
    FindShiftU32,
    FindShiftS32,
    /// The low bits, as a register of 32.
    ExtendU8,
    ExtendU16,
    ExtendS8,
    ExtendS16,
    /// `imm` says what it does and whether `a` is negated; where `e` is a number, and that of all lanes.
    Vote,
    /// `imm` says what it does; where `b`, `c` and `e` are numbers, and that of all lanes.
    Shuffle,
    /// Elements of 32 bits to registers of 32, or of 64 to registers of 64.
    Load32,
    Load64,
    /// Narrower elements to registers of 32 bits.
    LoadU8,
    LoadS8,
    LoadU16,
    LoadS16,
    Store32,
    Store64,
}

impl Native {
    /// Of comparisons of integers: their bits, whether they are signed, and what is asked.
    pub fn comparison(self) -> Option<(u32, bool, Relation)> {
        Some(match self {
            Native::SetS16(relation) => (16, true, relation),
            Native::SetU16(relation) => (16, false, relation),
            Native::SetS32(relation) => (32, true, relation),
            Native::SetU32(relation) => (32, false, relation),
            Native::SetS64(relation) => (64, true, relation),
            Native::SetU64(relation) => (64, false, relation),
            _ => return None,
        })
    }

    /// Of accesses: bytes of an element, and whether it is a load.
    pub fn access(self) -> Option<(u64, bool)> {
        Some(match self {
            Native::Load32 => (4, true),
            Native::Load64 => (8, true),
            Native::LoadU8 | Native::LoadS8 => (1, true),
            Native::LoadU16 | Native::LoadS16 => (2, true),
            Native::Store32 => (4, false),
            Native::Store64 => (8, false),
            _ => return None,
        })
    }
}

/// What a comparison asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// Of floats: or one of them is no number.
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    Num,
    Nan,
}

impl Relation {
    /// By its name in PTX.
    pub fn named(name: &str) -> Option<Relation> {
        Some(match name {
            "eq" => Relation::Eq,
            "ne" => Relation::Ne,
            "lt" | "lo" => Relation::Lt,
            "le" | "ls" => Relation::Le,
            "gt" | "hi" => Relation::Gt,
            "ge" | "hs" => Relation::Ge,
            "equ" => Relation::Equ,
            "neu" => Relation::Neu,
            "ltu" => Relation::Ltu,
            "leu" => Relation::Leu,
            "gtu" => Relation::Gtu,
            "geu" => Relation::Geu,
            "num" => Relation::Num,
            "nan" => Relation::Nan,
            _ => return None,
        })
    }
}
