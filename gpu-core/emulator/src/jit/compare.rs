//! Templates of comparisons, and of what takes one of two values.

use dynasmrt::{DynasmApi, DynasmLabelApi, dynasm};

use super::emit::Emitter;
use super::lanes::{T0, T1, T2, T3, in_memory, three};
use crate::exec::op::Op;
use crate::exec::template::Relation;

impl Emitter<'_> {
    /// Takes the signs of eight lanes in `T2`, or of four of 64 bits, into the mask in `eax`, lowest ones first.
    fn collect(&mut self, part: i32, bits: u32) {
        // `vmovmskps eax, ymm14`, or `vmovmskpd`, and `ecx`: the assembler finds that the operands differ in size, as they should.
        const { assert!(T2 == 14) };
        let (kind, lanes) = if bits == 64 { (0x7d, 4) } else { (0x7c, 8) };
        let to = if part == 0 { 0xc6u8 } else { 0xce };
        self.ops.extend([0xc4, 0xc1, kind, 0x50, to]);
        if part > 0 {
            dynasm!(self.ops; .arch x64; shl ecx, (lanes * part) as i8; or eax, ecx);
        }
    }

    /// Of integers. False: there is no such comparison.
    pub(crate) fn set_int(&mut self, op: &Op, (bits, signed, relation): (u32, bool, Relation)) -> bool {
        let same = matches!(relation, Relation::Eq | Relation::Ne);
        let ordered = matches!(relation, Relation::Lt | Relation::Le | Relation::Gt | Relation::Ge);
        if !same && !ordered {
            return false;
        }
        let negated = match bits {
            64 => self.compare64(op, signed, relation),
            _ => self.compare32(op, bits == 16, signed, relation),
        };
        self.predicate(op, negated);
        true
    }

    /// Gives whether the mask in `eax` says of which lanes it is not so.
    fn compare32(&mut self, op: &Op, low_half: bool, signed: bool, relation: Relation) -> bool {
        let (a, b) = (self.row(op.a), self.row(op.b));
        self.widen();
        for part in 0..4 {
            let mut x = self.loaded(a, part, T0);
            let mut y = None;
            if low_half {
                // What is above does not count.
                let right = self.loaded(b, part, T1);
                dynasm!(self.ops; .arch x64; vpslld Ry(T0), Ry(x), 16; vpslld Ry(T1), Ry(right), 16);
                (x, y) = (T0, Some(T1));
            }
            match (relation, signed, y) {
                (Relation::Eq | Relation::Ne, _, None) => three!(self, vpcmpeqd, T2, x, b, part),
                (Relation::Eq | Relation::Ne, _, Some(y)) => {
                    dynasm!(self.ops; .arch x64; vpcmpeqd Ry(T2), Ry(x), Ry(y));
                }
                (Relation::Gt | Relation::Le, true, None) => three!(self, vpcmpgtd, T2, x, b, part),
                (Relation::Gt | Relation::Le, true, Some(y)) => {
                    dynasm!(self.ops; .arch x64; vpcmpgtd Ry(T2), Ry(x), Ry(y));
                }
                (_, true, _) => {
                    let y = y.unwrap_or_else(|| self.loaded(b, part, T1));
                    dynasm!(self.ops; .arch x64; vpcmpgtd Ry(T2), Ry(y), Ry(x));
                }
                (_, false, _) => {
                    let y = y.unwrap_or_else(|| self.loaded(b, part, T1));
                    match relation {
                        Relation::Ge | Relation::Lt => dynasm!(self.ops; .arch x64; vpmaxud Ry(T2), Ry(x), Ry(y)),
                        _ => dynasm!(self.ops; .arch x64; vpminud Ry(T2), Ry(x), Ry(y)),
                    }
                    dynasm!(self.ops; .arch x64; vpcmpeqd Ry(T2), Ry(T2), Ry(x));
                }
            }
            self.collect(part, 32);
        }
        // Of signed ones, greater is there; of unsigned ones, not less and not greater.
        match relation {
            Relation::Ne => true,
            Relation::Lt | Relation::Gt => !signed,
            Relation::Le | Relation::Ge => signed,
            _ => false,
        }
    }

    fn compare64(&mut self, op: &Op, signed: bool, relation: Relation) -> bool {
        let (a, b) = (in_memory(op.a), in_memory(op.b));
        let same = matches!(relation, Relation::Eq | Relation::Ne);
        self.widen();
        if !signed && !same {
            // Only signed ones have an order.
            let signs = self.constant64([1 << 63; 4]);
            dynasm!(self.ops; .arch x64; vmovups Ry(T3), [=>signs]);
        }
        for part in 0..8 {
            let x = self.loaded(a, part, T0);
            if same {
                three!(self, vpcmpeqq, T2, x, b, part);
            } else {
                let y = self.loaded(b, part, T1);
                if !signed {
                    dynasm!(self.ops; .arch x64; vpxor Ry(T0), Ry(x), Ry(T3); vpxor Ry(T1), Ry(y), Ry(T3));
                }
                match relation {
                    Relation::Gt | Relation::Le => dynasm!(self.ops; .arch x64; vpcmpgtq Ry(T2), Ry(T0), Ry(T1)),
                    _ => dynasm!(self.ops; .arch x64; vpcmpgtq Ry(T2), Ry(T1), Ry(T0)),
                }
            }
            self.collect(part, 64);
        }
        matches!(relation, Relation::Ne | Relation::Le | Relation::Ge)
    }

    pub(crate) fn set_float(&mut self, op: &Op, relation: Relation) {
        let (a, b) = (self.row(op.a), self.row(op.b));
        self.widen();
        for part in 0..4 {
            let x = self.loaded(a, part, T0);
            match relation {
                Relation::Eq => three!(self, vcmpeqps, T2, x, b, part),
                Relation::Ne => three!(self, vcmpneq_oqps, T2, x, b, part),
                Relation::Lt => three!(self, vcmplt_oqps, T2, x, b, part),
                Relation::Le => three!(self, vcmple_oqps, T2, x, b, part),
                Relation::Gt => three!(self, vcmpgt_oqps, T2, x, b, part),
                Relation::Ge => three!(self, vcmpge_oqps, T2, x, b, part),
                Relation::Equ => three!(self, vcmpeq_uqps, T2, x, b, part),
                Relation::Neu => three!(self, vcmpneqps, T2, x, b, part),
                Relation::Ltu => three!(self, vcmpnge_uqps, T2, x, b, part),
                Relation::Leu => three!(self, vcmpngt_uqps, T2, x, b, part),
                Relation::Gtu => three!(self, vcmpnle_uqps, T2, x, b, part),
                Relation::Geu => three!(self, vcmpnlt_uqps, T2, x, b, part),
                Relation::Num => three!(self, vcmpordps, T2, x, b, part),
                Relation::Nan => three!(self, vcmpunordps, T2, x, b, part),
            }
            self.collect(part, 32);
        }
        self.predicate(op, false);
    }

    pub(crate) fn select64(&mut self, op: &Op) {
        let (a, b) = if op.imm == 0 { (op.a, op.b) } else { (op.b, op.a) };
        let (a, b) = (in_memory(a), in_memory(b));
        self.widen();
        self.predicate_everywhere(op.c);
        for part in 0..8 {
            let bits = self.constant64(std::array::from_fn(|lane| 1 << (4 * part as usize + lane)));
            dynasm!(self.ops; .arch x64
                ; vmovups Ry(T1), [=>bits]
                ; vpand Ry(T2), Ry(T3), Ry(T1)
                ; vpcmpeqq Ry(T2), Ry(T2), Ry(T1)
            );
            self.loaded(a, part, T1);
            self.loaded(b, part, T0);
            dynasm!(self.ops; .arch x64; vblendvps Ry(T0), Ry(T0), Ry(T1), Ry(T2));
            self.store(op.d, part, T0);
        }
        self.wrote(op.d, 256, None);
    }
}
