//! What an instruction does to floating-point values, by its text: asked for once an instruction, and only in runs that follow
//! values.

use crate::exec::image::Image;
use crate::exec::op::{Op, Slot};
use crate::num::half::{bf16_to_f32, f16_to_f32};
use crate::ptx::ty::Ty;
use crate::report::Class;

/// How a register holds floating-point numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    F16,
    Bf16,
    F16x2,
    Bf16x2,
    F32,
    F32x2,
    F64,
}

impl Format {
    fn of(ty: Ty) -> Option<Format> {
        Some(match ty {
            Ty::F16 => Format::F16,
            Ty::BF16 => Format::Bf16,
            Ty::F16x2 => Format::F16x2,
            Ty::BF16x2 => Format::Bf16x2,
            Ty::F32 | Ty::TF32 => Format::F32,
            Ty::F32x2 => Format::F32x2,
            Ty::F64 => Format::F64,
            _ => return None,
        })
    }

    /// Numbers in one register.
    pub fn parts(self) -> u32 {
        if matches!(self, Format::F16x2 | Format::Bf16x2 | Format::F32x2) { 2 } else { 1 }
    }

    /// A lane of its row has 8 bytes instead of 4.
    pub fn is_wide(self) -> bool {
        matches!(self, Format::F32x2 | Format::F64)
    }

    /// One of the numbers.
    pub fn value(self, raw: u64, part: u32) -> f64 {
        match self {
            Format::F16 | Format::F16x2 => f64::from(f16_to_f32((raw >> (16 * part)) as u16)),
            Format::Bf16 | Format::Bf16x2 => f64::from(bf16_to_f32((raw >> (16 * part)) as u16)),
            Format::F32 | Format::F32x2 => f64::from(f32::from_bits((raw >> (32 * part)) as u32)),
            Format::F64 => f64::from_bits(raw),
        }
    }

    /// As CUDA calls a conversion to it.
    pub fn conversion(self) -> &'static str {
        match self {
            Format::F16 | Format::F16x2 => "half",
            Format::Bf16 | Format::Bf16x2 => "bfloat16",
            Format::F32 | Format::F32x2 => "float",
            Format::F64 => "double",
        }
    }
}

/// What becomes of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Does {
    Nothing,
    /// Results of this format, out of operands of that one.
    Compute(Format, Format),
    /// A matrix product with results of this format.
    Product(Format),
    /// From memory to registers, so many bytes each.
    Load(Option<Format>, u64),
    Store(Option<Format>, u64),
    /// An atomic on memory.
    Update(Option<Format>, u64),
    /// Lanes take other lanes' values.
    Shuffle,
    /// Bits go from one register to the next, whatever is done to them on the way.
    Pass,
}

/// One instruction.
#[derive(Debug)]
pub struct Plan {
    pub does: Does,
    /// What it takes, in the order of its text; of a store the data alone.
    pub operands: Vec<Slot>,
    pub results: Vec<Slot>,
    /// Without modifiers.
    pub opcode: String,
}

impl Plan {
    pub fn of(image: &Image, pc: u32) -> Plan {
        let (op, info) = (&image.code[pc as usize], &image.infos[pc as usize]);
        let text = image.text(pc);
        let text =
            text.strip_prefix('@').and_then(|rest| rest.split_once(' ')).map_or(text, |(_, rest)| rest).trim_start();
        let word = text.split_whitespace().next().unwrap_or_default();
        let opcode = word.split('.').next().unwrap_or_default();
        let types: Vec<Ty> = word.split('.').skip(1).filter_map(Ty::parse).collect();
        let last = types.last().copied();
        let format = last.and_then(Format::of);
        let bytes = u64::from(last.map_or(4, Ty::bits) / 8).max(1);
        // One of several that stand for one instruction of PTX: only the last one gives the result.
        let follows = image.infos.get(pc as usize + 1);
        let partial = follows.is_some_and(|next| next.text == info.text && next.ptx_line == info.ptx_line);
        let does = match opcode {
            // Arguments and results of functions lie among the registers.
            "ld" | "st" if info.class == Class::Move => Does::Pass,
            "ld" | "ldu" => Does::Load(format, bytes),
            "st" => Does::Store(format, bytes),
            "atom" | "red" => Does::Update(format, bytes),
            "shfl" => Does::Shuffle,
            "mma" | "wgmma" | "wmma" if info.class == Class::Matrix => match types.first() {
                Some(Ty::F16) => Does::Product(Format::F16x2),
                Some(Ty::F32) => Does::Product(Format::F32),
                Some(Ty::F64) => Does::Product(Format::F64),
                _ => Does::Nothing,
            },
            "setp" | "set" | "testp" | "bra" | "call" | "ret" | "exit" | "bar" | "barrier" => Does::Nothing,
            _ if partial || op.list_len > 0 => Does::Pass,
            "cvt" => match (types.first().copied().and_then(Format::of), format) {
                (Some(to), Some(from)) => Does::Compute(to, from),
                // Whole numbers are all finite.
                (Some(to), None) if types.len() > 1 => Does::Compute(to, Format::F32),
                _ => Does::Pass,
            },
            _ => format.map_or(Does::Pass, |format| Does::Compute(format, format)),
        };
        let (mut operands, results) = slots(image, op, pc, does, opcode);
        if opcode == "cvt" && types.len() > 1 && format.is_none() {
            operands.clear();
        }
        let room = frame_bytes(image, pc);
        let fits = |slot: &Slot| slot.is_pool() || u64::from(slot.0) + 128 <= room;
        Plan {
            does,
            operands: operands.into_iter().filter(fits).collect(),
            results: results.into_iter().filter(fits).collect(),
            opcode: opcode.to_owned(),
        }
    }
}

/// Registers that are read for their values, and those that are written.
fn slots(image: &Image, op: &Op, pc: u32, does: Does, opcode: &str) -> (Vec<Slot>, Vec<Slot>) {
    let info = &image.infos[pc as usize];
    let one = |slot: Slot| (!slot.is_none()).then_some(slot);
    match does {
        Does::Nothing => (Vec::new(), Vec::new()),
        Does::Compute(..) => {
            // The third operand of a selection is a predicate.
            let third = one(op.c).filter(|_| matches!(opcode, "fma" | "mad"));
            (one(op.a).into_iter().chain(one(op.b)).chain(third).collect(), one(op.d).into_iter().collect())
        }
        Does::Load(..) if op.list_len > 0 => (Vec::new(), image.list(op).to_vec()),
        Does::Load(..) => (Vec::new(), one(op.d).into_iter().collect()),
        Does::Store(..) if op.list_len > 0 => (image.list(op).to_vec(), Vec::new()),
        Does::Store(..) => (one(op.b).into_iter().collect(), Vec::new()),
        Does::Update(..) => (one(op.b).into_iter().collect(), Vec::new()),
        Does::Shuffle => (one(op.a).into_iter().collect(), one(op.d).into_iter().collect()),
        Does::Product(_) | Does::Pass => {
            let data = info.reads.iter().copied().filter(|slot| *slot != op.guard);
            (data.collect(), info.writes.to_vec())
        }
    }
}

/// Size of a frame of the function that an instruction is in.
pub fn frame_bytes(image: &Image, pc: u32) -> u64 {
    let of = image.functions.iter().filter(|function| function.first_pc <= pc).max_by_key(|function| function.first_pc);
    of.map_or(0, |function| u64::from(function.frame_bytes))
}
