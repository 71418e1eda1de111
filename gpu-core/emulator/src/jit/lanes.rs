//! Templates of what is done to each lane alone.

use std::mem::offset_of;

use dynasmrt::{DynasmApi, DynasmLabelApi, dynasm};

use super::emit::{Emitter, Row, register};
use crate::exec::cx::Cx;
use crate::exec::grid::Tids;
use crate::exec::op::{Op, Slot};
use crate::exec::sched::block::Block;
use crate::exec::sched::warp::Warp;
use crate::exec::template::Native;

/// Registers for the instruction at hand.
pub(crate) const T0: u8 = 12;
pub(crate) const T1: u8 = 13;
pub(crate) const T2: u8 = 14;
pub(crate) const T3: u8 = 15;

/// A vector instruction of three operands, of which the last may be in memory: eight lanes (or four) of a row.
macro_rules! three {
    ($self:ident, $name:ident, $to:expr, $one:expr, $row:expr, $part:expr) => {
        match $row {
            crate::jit::emit::Row::Group(group) => {
                let two = crate::jit::emit::register(group, $part);
                dynasm!($self.ops; .arch x64; $name Ry($to), Ry($one), Ry(two))
            }
            crate::jit::emit::Row::Frame(at) => dynasm!($self.ops; .arch x64; $name Ry($to), Ry($one), [r12 + at + 32 * $part]),
            crate::jit::emit::Row::Pool(at) => dynasm!($self.ops; .arch x64; $name Ry($to), Ry($one), [r13 + at + 32 * $part]),
        }
    };
}
pub(crate) use three;

/// A vector instruction that reads half as many bytes as it writes.
macro_rules! widening {
    ($self:ident, $name:ident, $to:expr, $row:expr, $part:expr) => {
        match $row {
            Row::Pool(at) => dynasm!($self.ops; .arch x64; $name Ry($to), [r13 + at + 16 * $part]),
            Row::Frame(at) => dynasm!($self.ops; .arch x64; $name Ry($to), [r12 + at + 16 * $part]),
            Row::Group(_) => {}
        }
    };
}

/// The row in memory, where all of them are.
pub(crate) fn in_memory(slot: Slot) -> Row {
    let at = (slot.0 & !Slot::POOL) as i32;
    if slot.is_pool() { Row::Pool(at) } else { Row::Frame(at) }
}

impl Emitter<'_> {
    /// Code for an instruction that does the same to each lane. False: there is none, and nothing was changed.
    pub fn lanes(&mut self, pc: u32, op: &Op, native: Native) -> bool {
        match native {
            Native::AddFlushed | Native::SubFlushed | Native::MulFlushed | Native::FmaFlushed => self.flush(true),
            Native::AddF32 | Native::SubF32 | Native::MulF32 | Native::FmaF32 | Native::SetF32(_) => self.flush(false),
            Native::MinF32 | Native::MaxF32 | Native::FloatOfU32 | Native::NegF32 | Native::AbsF32 => self.flush(false),
            Native::AddF64 | Native::SubF64 | Native::MulF64 | Native::FmaF64 => self.flush(false),
            _ => {}
        }
        if let Some(comparison) = native.comparison() {
            return self.set_int(op, comparison);
        }
        match native {
            Native::Shuffle => return self.shuffle(op),
            Native::ThreadIndex | Native::BlockIndex => self.index(op, native),
            Native::Mov32 => self.mov32(op),
            Native::Select32 => self.select32(op),
            Native::Select64 => self.select64(op),
            Native::SetF32(relation) => self.set_float(op, relation),
            Native::Vote => self.vote(op),
            Native::Mul64 | Native::Mad64 => self.product64(op),
            Native::Mov64 | Native::Add64 | Native::Sub64 | Native::And64 | Native::Or64 | Native::Xor64 => {
                self.two64(op, native);
            }
            Native::MinF32 | Native::MaxF32 => self.extreme(pc, op, native),
            Native::AndPred | Native::OrPred | Native::XorPred | Native::NotPred => self.predicates(op, native),
            Native::AddFlushed | Native::SubFlushed | Native::MulFlushed | Native::FmaFlushed => {
                self.flushed(pc, op, native);
            }
            Native::Shl64 | Native::ShrU64 => self.shift64(op, native),
            Native::MulWideS | Native::MulWideU | Native::MadWideS | Native::MadWideU => self.wide_product(op, native),
            Native::WidenS | Native::WidenU => self.extended(op, native),
            Native::Narrow => self.narrow(op),
            Native::AddF64 | Native::SubF64 | Native::MulF64 | Native::FmaF64 => self.float64(pc, op, native),
            _ => self.each32(op, native),
        }
        true
    }

    /// Eight lanes of a row in a register: that of its group, or `temporary`.
    pub(crate) fn loaded(&mut self, row: Row, part: i32, temporary: u8) -> u8 {
        match row {
            Row::Group(group) => return register(group, part),
            Row::Frame(at) => dynasm!(self.ops; .arch x64; vmovups Ry(temporary), [r12 + at + 32 * part]),
            Row::Pool(at) => dynasm!(self.ops; .arch x64; vmovups Ry(temporary), [r13 + at + 32 * part]),
        }
        temporary
    }

    pub(crate) fn store(&mut self, slot: Slot, part: i32, from: u8) {
        if !self.within.is_empty() {
            return self.keep(part, from);
        }
        dynasm!(self.ops; .arch x64; vmovups [r12 + slot.0 as i32 + 32 * part], Ry(from));
    }

    fn index(&mut self, op: &Op, native: Native) {
        let axis = (op.imm % 3) as i32;
        let group = self.group();
        if native == Native::ThreadIndex {
            dynasm!(self.ops; .arch x64
                ; mov rax, [rbx + offset_of!(Cx<'static>, warp) as i32]
                ; mov eax, [rax + offset_of!(Warp, index) as i32]
                ; imul rax, rax, size_of::<Tids>() as i32
                ; add rax, [rbx + offset_of!(Cx<'static>, tids) as i32]
            );
        } else {
            dynasm!(self.ops; .arch x64; mov rax, [rbx + offset_of!(Cx<'static>, block) as i32]);
        }
        for part in 0..4 {
            let to = register(group, part);
            match native {
                Native::ThreadIndex => dynasm!(self.ops; .arch x64; vmovups Ry(to), [rax + 128 * axis + 32 * part]),
                _ => dynasm!(self.ops; .arch x64; vpbroadcastd Ry(to), [rax + offset_of!(Block, id) as i32 + 4 * axis]),
            }
            self.store(op.d, part, to);
        }
        self.wrote(op.d, 128, Some(group));
    }

    fn mov32(&mut self, op: &Op) {
        let a = self.row(op.a);
        let group = self.group();
        for part in 0..4 {
            let to = register(group, part);
            let from = self.loaded(a, part, to);
            if from != to {
                dynasm!(self.ops; .arch x64; vmovaps Ry(to), Ry(from));
            }
            self.store(op.d, part, to);
        }
        self.wrote(op.d, 128, Some(group));
    }

    /// One, two or three rows of 32 bits make one. Eight lanes are read before they are written, so that the result's group
    /// may be one of the operands'.
    fn each32(&mut self, op: &Op, native: Native) {
        let a = self.row(op.a);
        let b = if op.b.is_none() { a } else { self.row(op.b) };
        let c = if op.c.is_none() { a } else { self.row(op.c) };
        let group = self.group();
        for part in 0..4 {
            let to = register(group, part);
            self.eight(native, [a, b, c], part, to);
            self.store(op.d, part, to);
        }
        self.wrote(op.d, 128, Some(group));
    }

    fn eight(&mut self, native: Native, [a, b, c]: [Row; 3], part: i32, to: u8) {
        let x = self.loaded(a, part, T0);
        match native {
            Native::Add32 => three!(self, vpaddd, to, x, b, part),
            Native::Sub32 => three!(self, vpsubd, to, x, b, part),
            Native::Mul32 => three!(self, vpmulld, to, x, b, part),
            Native::Mad32 => {
                three!(self, vpmulld, T0, x, b, part);
                three!(self, vpaddd, to, T0, c, part);
            }
            Native::And32 => three!(self, vpand, to, x, b, part),
            Native::Or32 => three!(self, vpor, to, x, b, part),
            Native::Xor32 => three!(self, vpxor, to, x, b, part),
            Native::Not32 => dynasm!(self.ops; .arch x64
                ; vpcmpeqd Ry(T1), Ry(T1), Ry(T1)
                ; vpxor Ry(to), Ry(x), Ry(T1)
            ),
            Native::NegS32 => dynasm!(self.ops; .arch x64
                ; vpxor Ry(T1), Ry(T1), Ry(T1)
                ; vpsubd Ry(to), Ry(T1), Ry(x)
            ),
            Native::FloatOfS32 => dynasm!(self.ops; .arch x64; vcvtdq2ps Ry(to), Ry(x)),
            Native::FloatOfU32 => {
                // Both halves are exact, and so is the upper one times 2^16: the sum is rounded once.
                let [low, scale] = [[0xffff; 8], [65536f32.to_bits(); 8]].map(|words| self.constant(words));
                dynasm!(self.ops; .arch x64
                    ; vpsrld Ry(T1), Ry(x), 16
                    ; vpand Ry(T2), Ry(x), [=>low]
                    ; vcvtdq2ps Ry(T1), Ry(T1)
                    ; vcvtdq2ps Ry(T2), Ry(T2)
                    ; vmulps Ry(T1), Ry(T1), [=>scale]
                    ; vaddps Ry(to), Ry(T1), Ry(T2)
                );
            }
            Native::Shl32 => three!(self, vpsllvd, to, x, b, part),
            Native::ShrU32 => three!(self, vpsrlvd, to, x, b, part),
            Native::ShrS32 => three!(self, vpsravd, to, x, b, part),
            Native::MinS32 => three!(self, vpminsd, to, x, b, part),
            Native::MaxS32 => three!(self, vpmaxsd, to, x, b, part),
            Native::MinU32 => three!(self, vpminud, to, x, b, part),
            Native::MaxU32 => three!(self, vpmaxud, to, x, b, part),
            Native::MulHighS | Native::MulHighU => {
                let y = self.loaded(b, part, T1);
                self.high_product(native == Native::MulHighS, x, y, to);
            }
            Native::Ones32 | Native::Reverse32 | Native::Leading32 => self.bits_of(native, x, to),
            Native::FindU32 | Native::FindS32 | Native::FindShiftU32 | Native::FindShiftS32 => {
                self.bits_of(native, x, to)
            }
            Native::ExtendU8 | Native::ExtendU16 | Native::ExtendS8 | Native::ExtendS16 => self.extend(native, x, to),
            Native::NegF32 | Native::AbsF32 => self.sign(native, x),
            Native::AddF32 => three!(self, vaddps, T0, x, b, part),
            Native::SubF32 => three!(self, vsubps, T0, x, b, part),
            Native::MulF32 => three!(self, vmulps, T0, x, b, part),
            _ => {
                let y = self.loaded(b, part, T1);
                if x != T0 {
                    dynasm!(self.ops; .arch x64; vmovaps Ry(T0), Ry(x));
                }
                three!(self, vfmadd213ps, T0, y, c, part);
            }
        }
        use Native::{AbsF32, AddF32, FmaF32, MulF32, NegF32, SubF32};
        if matches!(native, AddF32 | SubF32 | MulF32 | FmaF32 | NegF32 | AbsF32) {
            let nan = self.nan();
            dynasm!(self.ops; .arch x64
                ; vcmpunordps Ry(T1), Ry(T0), Ry(T0)
                ; vblendvps Ry(to), Ry(T0), [=>nan], Ry(T1)
            );
        }
    }

    /// As the machine does it, but that a GPU flushes also what is rounded up to the least normal number: then nothing is
    /// written here.
    fn flushed(&mut self, pc: u32, op: &Op, native: Native) {
        let (from, back) = (self.ops.new_dynamic_label(), self.ops.new_dynamic_label());
        let rows = [op.a, op.b, op.c].map(|slot| if slot.is_none() { Row::Pool(0) } else { self.row(slot) });
        let group = self.group();
        // Nothing that is asked for again may be overwritten yet.
        let apart = |row: Row, slot: Slot| if row == Row::Group(group) { in_memory(slot) } else { row };
        let [a, b, c] = [apart(rows[0], op.a), apart(rows[1], op.b), apart(rows[2], op.c)];
        let exact = matches!(native, Native::AddFlushed | Native::SubFlushed);
        let (nan, least) = (self.nan(), self.constant([2 * f32::MIN_POSITIVE.to_bits(); 8]));
        for part in 0..4 {
            let to = register(group, part);
            let x = self.loaded(a, part, T0);
            match native {
                Native::AddFlushed => three!(self, vaddps, T0, x, b, part),
                Native::SubFlushed => three!(self, vsubps, T0, x, b, part),
                Native::MulFlushed => three!(self, vmulps, T0, x, b, part),
                _ => {
                    let y = self.loaded(b, part, T1);
                    if x != T0 {
                        dynasm!(self.ops; .arch x64; vmovaps Ry(T0), Ry(x));
                    }
                    three!(self, vfmadd213ps, T0, y, c, part);
                }
            }
            dynasm!(self.ops; .arch x64
                ; vcmpunordps Ry(T1), Ry(T0), Ry(T0)
                ; vblendvps Ry(to), Ry(T0), [=>nan], Ry(T1)
            );
            if !exact {
                // Without the sign.
                let found = if part == 0 { T3 } else { T2 };
                dynasm!(self.ops; .arch x64; vpaddd Ry(T1), Ry(T0), Ry(T0); vpcmpeqd Ry(found), Ry(T1), [=>least]);
                if part > 0 {
                    dynasm!(self.ops; .arch x64; vpor Ry(T3), Ry(T3), Ry(T2));
                }
            } else {
                self.store(op.d, part, to);
            }
        }
        if !exact {
            dynasm!(self.ops; .arch x64; vptest Ry(T3), Ry(T3); jnz =>from);
            for part in 0..4 {
                self.store(op.d, part, register(group, part));
            }
        }
        self.wrote(op.d, 128, Some(group));
        if !exact {
            dynasm!(self.ops; .arch x64; =>back);
            self.apart(pc, from, back);
        }
    }

    /// Where neither is a NaN; else nothing is written here.
    fn extreme(&mut self, pc: u32, op: &Op, native: Native) {
        let (from, back) = (self.ops.new_dynamic_label(), self.ops.new_dynamic_label());
        let rows = [op.a, op.b].map(|slot| self.row(slot));
        let group = self.group();
        let apart = |row: Row, slot: Slot| if row == Row::Group(group) { in_memory(slot) } else { row };
        let [a, b] = [apart(rows[0], op.a), apart(rows[1], op.b)];
        for part in 0..4 {
            let (to, x, y) = (register(group, part), self.loaded(a, part, T0), self.loaded(b, part, T1));
            let odd = if part == 0 { T3 } else { T2 };
            dynasm!(self.ops; .arch x64; vcmpunordps Ry(odd), Ry(x), Ry(y));
            if part > 0 {
                dynasm!(self.ops; .arch x64; vpor Ry(T3), Ry(T3), Ry(T2));
            }
            // Of what is equal, zeros alone may differ in bits.
            dynasm!(self.ops; .arch x64; vcmpeqps Ry(T2), Ry(x), Ry(y));
            if native == Native::MaxF32 {
                dynasm!(self.ops; .arch x64; vmaxps Ry(to), Ry(x), Ry(y); vpand Ry(T0), Ry(x), Ry(y));
            } else {
                dynasm!(self.ops; .arch x64; vminps Ry(to), Ry(x), Ry(y); vpor Ry(T0), Ry(x), Ry(y));
            }
            dynasm!(self.ops; .arch x64; vblendvps Ry(to), Ry(to), Ry(T0), Ry(T2));
        }
        dynasm!(self.ops; .arch x64; vptest Ry(T3), Ry(T3); jnz =>from);
        for part in 0..4 {
            self.store(op.d, part, register(group, part));
        }
        self.wrote(op.d, 128, Some(group));
        dynasm!(self.ops; .arch x64; =>back);
        self.apart(pc, from, back);
    }

    fn predicates(&mut self, op: &Op, native: Native) {
        for (slot, first, bit) in [(op.a, true, 1), (op.b, false, 2)] {
            match (in_memory(slot), first) {
                _ if slot.is_none() => continue,
                (Row::Pool(at), true) => dynasm!(self.ops; .arch x64; mov eax, [r13 + at]),
                (Row::Pool(at), false) => dynasm!(self.ops; .arch x64; mov ecx, [r13 + at]),
                (Row::Frame(at), true) => dynasm!(self.ops; .arch x64; mov eax, [r12 + at]),
                (Row::Frame(at), false) => dynasm!(self.ops; .arch x64; mov ecx, [r12 + at]),
                (Row::Group(_), _) => {}
            }
            match (op.imm & bit != 0, first) {
                (true, true) => dynasm!(self.ops; .arch x64; not eax),
                (true, false) => dynasm!(self.ops; .arch x64; not ecx),
                _ => {}
            }
        }
        match native {
            Native::AndPred => dynasm!(self.ops; .arch x64; and eax, ecx),
            Native::OrPred => dynasm!(self.ops; .arch x64; or eax, ecx),
            Native::XorPred => dynasm!(self.ops; .arch x64; xor eax, ecx),
            _ => dynasm!(self.ops; .arch x64; not eax),
        }
        self.predicate(op, false);
    }

    fn select32(&mut self, op: &Op) {
        let (a, b) = if op.imm == 0 { (op.a, op.b) } else { (op.b, op.a) };
        let (a, b) = (self.row(a), self.row(b));
        let group = self.group();
        self.predicate_everywhere(op.c);
        for part in 0..4 {
            let (to, bits) = (register(group, part), self.bits(part));
            dynasm!(self.ops; .arch x64
                ; vmovups Ry(T1), [=>bits]
                ; vpand Ry(T2), Ry(T3), Ry(T1)
                ; vpcmpeqd Ry(T2), Ry(T2), Ry(T1)
            );
            let y = self.loaded(b, part, T0);
            match a {
                Row::Group(group) => {
                    dynasm!(self.ops; .arch x64; vblendvps Ry(to), Ry(y), Ry(register(group, part)), Ry(T2));
                }
                Row::Frame(at) => {
                    dynasm!(self.ops; .arch x64; vblendvps Ry(to), Ry(y), [r12 + at + 32 * part], Ry(T2));
                }
                Row::Pool(at) => {
                    dynasm!(self.ops; .arch x64; vblendvps Ry(to), Ry(y), [r13 + at + 32 * part], Ry(T2));
                }
            }
            self.store(op.d, part, to);
        }
        self.wrote(op.d, 128, Some(group));
    }

    pub(crate) fn predicate_everywhere(&mut self, slot: Slot) {
        match in_memory(slot) {
            Row::Pool(at) => dynasm!(self.ops; .arch x64; vpbroadcastd Ry(T3), [r13 + at]),
            Row::Frame(at) => dynasm!(self.ops; .arch x64; vpbroadcastd Ry(T3), [r12 + at]),
            Row::Group(_) => {}
        }
    }

    pub(crate) fn predicate(&mut self, op: &Op, negated: bool) {
        if negated {
            dynasm!(self.ops; .arch x64; not eax);
        }
        if !self.within.is_empty() {
            dynasm!(self.ops
                ; .arch x64
                ; mov ecx, [r12 + op.d.0 as i32]
                ; xor eax, ecx
                ; and eax, [rbx + offset_of!(Cx<'static>, active) as i32]
                ; xor eax, ecx
            );
        }
        dynasm!(self.ops; .arch x64; mov [r12 + op.d.0 as i32], eax);
        self.wrote(op.d, 4, None);
    }

    fn two64(&mut self, op: &Op, native: Native) {
        let a = in_memory(op.a);
        self.widen();
        for part in 0..8 {
            let x = self.loaded(a, part, T0);
            if native != Native::Mov64 {
                let b = in_memory(op.b);
                match native {
                    Native::Add64 => three!(self, vpaddq, T0, x, b, part),
                    Native::Sub64 => three!(self, vpsubq, T0, x, b, part),
                    Native::And64 => three!(self, vpand, T0, x, b, part),
                    Native::Or64 => three!(self, vpor, T0, x, b, part),
                    _ => three!(self, vpxor, T0, x, b, part),
                }
            }
            self.store(op.d, part, T0);
        }
        self.wrote(op.d, 256, None);
    }

    fn shift64(&mut self, op: &Op, native: Native) {
        let (a, b) = (in_memory(op.a), in_memory(op.b));
        self.widen();
        for part in 0..8 {
            widening!(self, vpmovzxdq, T1, b, part);
            let x = self.loaded(a, part, T0);
            match native {
                Native::Shl64 => dynasm!(self.ops; .arch x64; vpsllvq Ry(T0), Ry(x), Ry(T1)),
                _ => dynasm!(self.ops; .arch x64; vpsrlvq Ry(T0), Ry(x), Ry(T1)),
            }
            self.store(op.d, part, T0);
        }
        self.wrote(op.d, 256, None);
    }

    fn wide_product(&mut self, op: &Op, native: Native) {
        let (a, b) = (in_memory(op.a), in_memory(op.b));
        self.widen();
        for part in 0..8 {
            if matches!(native, Native::MulWideS | Native::MadWideS) {
                widening!(self, vpmovsxdq, T0, a, part);
                widening!(self, vpmovsxdq, T1, b, part);
                dynasm!(self.ops; .arch x64; vpmuldq Ry(T0), Ry(T0), Ry(T1));
            } else {
                widening!(self, vpmovzxdq, T0, a, part);
                widening!(self, vpmovzxdq, T1, b, part);
                dynasm!(self.ops; .arch x64; vpmuludq Ry(T0), Ry(T0), Ry(T1));
            }
            if matches!(native, Native::MadWideS | Native::MadWideU) {
                let c = in_memory(op.c);
                three!(self, vpaddq, T0, T0, c, part);
            }
            self.store(op.d, part, T0);
        }
        self.wrote(op.d, 256, None);
    }

    fn extended(&mut self, op: &Op, native: Native) {
        let a = in_memory(op.a);
        self.widen();
        for part in 0..8 {
            if native == Native::WidenS {
                widening!(self, vpmovsxdq, T0, a, part);
            } else {
                widening!(self, vpmovzxdq, T0, a, part);
            }
            self.store(op.d, part, T0);
        }
        self.wrote(op.d, 256, None);
    }

    fn narrow(&mut self, op: &Op) {
        let a = in_memory(op.a);
        let group = self.group();
        for part in 0..4 {
            let to = register(group, part);
            self.loaded(a, 2 * part, T0);
            self.loaded(a, 2 * part + 1, T1);
            // The even words of both; pairs of them lie in the order 0, 2, 1, 3 then.
            dynasm!(self.ops; .arch x64
                ; vpshufd Ry(T0), Ry(T0), 0x88u8 as i8
                ; vpshufd Ry(T1), Ry(T1), 0x88u8 as i8
                ; vpunpcklqdq Ry(T0), Ry(T0), Ry(T1)
                ; vpermq Ry(to), Ry(T0), 0xd8u8 as i8
            );
            self.store(op.d, part, to);
        }
        self.wrote(op.d, 128, Some(group));
    }

    /// Results that are no numbers take their bits from the operands in a way of their own: then nothing is written here.
    fn float64(&mut self, pc: u32, op: &Op, native: Native) {
        let (a, b) = (in_memory(op.a), in_memory(op.b));
        let (from, back) = (self.ops.new_dynamic_label(), self.ops.new_dynamic_label());
        // Eight registers that no group may hold meanwhile.
        let groups = [self.group(), self.group()];
        let to = |part: i32| register(groups[(part / 4) as usize], part % 4);
        for part in 0..8 {
            let x = self.loaded(a, part, T0);
            match native {
                Native::AddF64 => three!(self, vaddpd, to(part), x, b, part),
                Native::SubF64 => three!(self, vsubpd, to(part), x, b, part),
                Native::MulF64 => three!(self, vmulpd, to(part), x, b, part),
                _ => {
                    self.loaded(b, part, T1);
                    self.loaded(in_memory(op.c), part, T2);
                    // `vfmadd213pd ymm12, ymm13, ymm14`, which the assembler takes for that of singles.
                    const { assert!(T0 == 12 && T1 == 13 && T2 == 14) };
                    self.ops.extend([0xc4u8, 0x42, 0x95, 0xa8, 0xe6]);
                    dynasm!(self.ops; .arch x64; vmovaps Ry(to(part)), Ry(T0));
                }
            }
        }
        for pair in 0..4 {
            let into = if pair == 0 { T2 } else { T1 };
            dynasm!(self.ops; .arch x64; vcmpunordpd Ry(into), Ry(to(2 * pair)), Ry(to(2 * pair + 1)));
            if pair > 0 {
                dynasm!(self.ops; .arch x64; vpor Ry(T2), Ry(T2), Ry(T1));
            }
        }
        dynasm!(self.ops; .arch x64; vptest Ry(T2), Ry(T2); jnz =>from);
        for part in 0..8 {
            self.store(op.d, part, to(part));
        }
        self.wrote(op.d, 256, None);
        dynasm!(self.ops; .arch x64; =>back);
        self.apart(pc, from, back);
    }
}
