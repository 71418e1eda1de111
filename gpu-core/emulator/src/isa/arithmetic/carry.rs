//! Sums and products that chain through the carry flag.

use crate::decode::emit::{Decoded, Emit, Inst};
use crate::exec::op::{Exec, Taint};

/// The operations that chain through the carry flag.
#[derive(Clone, Copy, PartialEq)]
pub enum Carry {
    Add,
    Sub,
    Mad,
}

pub fn carry(e: &mut Emit<'_>, i: &mut Inst<'_>, what: Carry) -> Decoded<()> {
    let out = i.take("cc");
    if out { carry_out(e, i, what, true) } else { carry_form(e, i, what, true, false) }
}

pub fn carry_out(e: &mut Emit<'_>, i: &mut Inst<'_>, what: Carry, carry_in: bool) -> Decoded<()> {
    carry_form(e, i, what, carry_in, true)
}

/// The carry flag is one predicate of the function. `e` holds it; `imm` says whether it comes in and goes out.
///
/// A subtraction adds the complement, so that the flag behind it is set when nothing was borrowed: an H200 does so, seen
/// by reading the flag of `sub.cc` with `addc` (the manual only speaks of a borrow).
fn carry_form(e: &mut Emit<'_>, i: &mut Inst<'_>, what: Carry, into: bool, out: bool) -> Decoded<()> {
    let hi = what == Carry::Mad && i.take("hi");
    if what == Carry::Mad && !hi && !i.take("lo") {
        return i.unsupported();
    }
    let ty = i.ty()?;
    let flag = e.carry_flag();
    let count = if what == Carry::Mad { 4 } else { 3 };
    i.expect(count)?;
    let wide = ty.bits() == 64;
    let run: Exec = match (what, wide) {
        (Carry::Add, false) => chain::<u32, 0>,
        (Carry::Sub, false) => chain::<u32, 1>,
        (Carry::Mad, false) => chain::<u32, 2>,
        (Carry::Add, true) => chain::<u64, 0>,
        (Carry::Sub, true) => chain::<u64, 1>,
        (Carry::Mad, true) => chain::<u64, 2>,
    };
    let mut op = e.op(run);
    op.a = e.src(&i.operands[1], ty)?;
    op.b = e.src(&i.operands[2], ty)?;
    if what == Carry::Mad {
        op.c = e.src(&i.operands[3], ty)?;
    }
    op.d = e.dst(&i.operands[0], ty)?;
    op.e = flag;
    op.imm = i64::from(into) | i64::from(out) << 1 | i64::from(hi) << 2 | i64::from(ty.signed()) << 3;
    if into {
        e.reads.push(flag);
    }
    if out {
        e.writes.push(flag);
    }
    e.push(op, Taint::Compute);
    Ok(())
}

trait Limb: crate::exec::lanes::Word {
    fn product(self, other: Self, hi: bool, signed: bool) -> Self;
    fn plus(self, other: Self, carry: bool) -> (Self, bool);
    fn complement(self) -> Self;
}

macro_rules! limb {
    ($ty:ty, $signed:ty, $wide:ty, $signed_wide:ty) => {
        impl Limb for $ty {
            #[inline(always)]
            fn product(self, other: $ty, hi: bool, signed: bool) -> $ty {
                let wide = if signed {
                    (<$signed_wide>::from(self as $signed) * <$signed_wide>::from(other as $signed)) as $wide
                } else {
                    <$wide>::from(self) * <$wide>::from(other)
                };
                (if hi { wide >> <$ty>::BITS } else { wide }) as $ty
            }
            #[inline(always)]
            fn plus(self, other: $ty, carry: bool) -> ($ty, bool) {
                let (sum, first) = self.overflowing_add(other);
                let (sum, second) = sum.overflowing_add(<$ty>::from(carry));
                (sum, first | second)
            }
            #[inline(always)]
            fn complement(self) -> $ty {
                !self
            }
        }
    };
}
limb!(u32, i32, u64, i64);
limb!(u64, i64, u128, i128);

unsafe fn chain<W: Limb, const WHAT: u8>(
    cx: &mut crate::exec::cx::Cx<'_>,
    op: &crate::exec::op::Op,
) -> crate::exec::op::Flow {
    // SAFETY: slots of a decoded instruction.
    unsafe {
        let flags = cx.pred(op.e);
        let mut carries = 0;
        for lane in crate::exec::cx::lanes(cx.mask) {
            let (a, b) = (cx.lane::<W>(op.a, lane), cx.lane::<W>(op.b, lane));
            let carry = op.imm & 1 != 0 && flags >> lane & 1 != 0;
            let (value, out) = match WHAT {
                0 => a.plus(b, carry),
                1 => a.plus(b.complement(), carry || op.imm & 1 == 0),
                _ => {
                    let c = cx.lane::<W>(op.c, lane);
                    a.product(b, op.imm & 4 != 0, op.imm & 8 != 0).plus(c, carry)
                }
            };
            carries |= u32::from(out) << lane;
            cx.set_lane(op.d, lane, value);
        }
        if op.imm & 2 != 0 {
            cx.set_pred(op.e, carries);
        }
    }
    crate::exec::op::Flow::Next
}
