//! Products of packed bytes and halves, summed: dp4a and dp2a.

use crate::build::emit::{Decoded, Emit, Inst};
use crate::exec::lanes::tri;
use crate::isa::Ty;

#[inline(always)]
fn byte(word: u32, index: u32, signed: bool) -> i32 {
    let byte = (word >> (8 * index)) as u8;
    if signed { i32::from(byte as i8) } else { i32::from(byte) }
}

macro_rules! dot {
    ($count:expr, $a:expr, $b:expr, $c:expr, $element:expr) => {{
        let mut sum = $c as i32;
        for index in 0..$count {
            sum = sum.wrapping_add($element($a, $b, index));
        }
        sum as u32
    }};
}

pub(super) fn dp4a(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let (a, b) = (i.ty()?, i.ty()?);
    let run = match (a.signed(), b.signed()) {
        (false, false) => {
            tri(|a: u32, b: u32, c: u32| dot!(4, a, b, c, |a, b, k| byte(a, k, false) * byte(b, k, false)))
        }
        (true, false) => tri(|a: u32, b: u32, c: u32| dot!(4, a, b, c, |a, b, k| byte(a, k, true) * byte(b, k, false))),
        (false, true) => tri(|a: u32, b: u32, c: u32| dot!(4, a, b, c, |a, b, k| byte(a, k, false) * byte(b, k, true))),
        (true, true) => tri(|a: u32, b: u32, c: u32| dot!(4, a, b, c, |a, b, k| byte(a, k, true) * byte(b, k, true))),
    };
    e.simple3(i, run, Ty::B32, Ty::B32, Ty::B32, Ty::B32)
}

pub(super) fn dp2a(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let hi = i.take("hi");
    if !hi && !i.take("lo") {
        return i.unsupported();
    }
    let (a, b) = (i.ty()?, i.ty()?);
    #[inline(always)]
    fn half(word: u32, index: u32, signed: bool) -> i32 {
        let half = (word >> (16 * index)) as u16;
        if signed { i32::from(half as i16) } else { i32::from(half) }
    }
    macro_rules! form {
        ($sa:expr, $sb:expr, $from:expr) => {
            tri(|a: u32, b: u32, c: u32| dot!(2, a, b, c, |a, b, k| half(a, k, $sa) * byte(b, k + $from, $sb)))
        };
    }
    let run = match (a.signed(), b.signed(), hi) {
        (false, false, false) => form!(false, false, 0),
        (false, false, true) => form!(false, false, 2),
        (true, false, false) => form!(true, false, 0),
        (true, false, true) => form!(true, false, 2),
        (false, true, false) => form!(false, true, 0),
        (false, true, true) => form!(false, true, 2),
        (true, true, false) => form!(true, true, 0),
        (true, true, true) => form!(true, true, 2),
    };
    e.simple3(i, run, Ty::B32, Ty::B32, Ty::B32, Ty::B32)
}
