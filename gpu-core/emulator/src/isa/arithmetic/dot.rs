//! Products of packed bytes and halves, summed: dp4a and dp2a.

use crate::decode::emit::{Decoded, Emit, Inst};
use crate::exec::lanes::tri;
#[cfg(target_arch = "x86_64")]
use crate::exec::{cx::Cx, lanes::Body, lanes::WIDEST, lanes::blend, op::Flow, op::Op};
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
    #[cfg(target_arch = "x86_64")]
    if crate::exec::lanes::chosen().vector_forms && crate::exec::lanes::wide() {
        use crate::exec::lanes::exec_widest;
        let run = match (a.signed(), b.signed()) {
            (false, false) => exec_widest::<Bytes<false, false>>(),
            (true, false) => exec_widest::<Bytes<true, false>>(),
            (false, true) => exec_widest::<Bytes<false, true>>(),
            (true, true) => exec_widest::<Bytes<true, true>>(),
        };
        return e.simple3(i, run, Ty::B32, Ty::B32, Ty::B32, Ty::B32);
    }
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

/// dp4a with AVX2 or AVX-512: bytes as halves, of which the machine multiplies two and adds the products at once.
#[cfg(target_arch = "x86_64")]
struct Bytes<const A: bool, const B: bool>;

#[cfg(target_arch = "x86_64")]
impl<const A: bool, const B: bool> Body for Bytes<A, B> {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        // SAFETY: slots of a decoded instruction; used where there is AVX2.
        unsafe {
            match FORM {
                WIDEST => sums_of_bytes::<A, B>(cx, op),
                _ => sums_of_bytes_wide::<A, B>(cx, op),
            }
        }
        Flow::Next
    }
}

/// # Safety
/// As [`crate::exec::op::Exec`]; the machine must have AVX-512.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn sums_of_bytes<const A: bool, const B: bool>(cx: &mut Cx<'_>, op: &Op) {
    use std::arch::x86_64::*;
    // SAFETY: as the caller says; a row has 32 lanes.
    unsafe {
        let (a, b, c) = (cx.row::<u32>(op.a), cx.row::<u32>(op.b), cx.row::<u32>(op.c));
        let (d, mask) = (cx.row_mut::<u32>(op.d).cast::<i32>(), cx.mask);
        let part = |row: *const [u32; 32], half: usize| _mm512_loadu_si512(row.cast::<i32>().add(16 * half).cast());
        // The lower and the upper byte of each half.
        let halves = |word: __m512i, signed: bool| {
            if signed {
                (_mm512_srai_epi16::<8>(_mm512_slli_epi16::<8>(word)), _mm512_srai_epi16::<8>(word))
            } else {
                (_mm512_and_si512(word, _mm512_set1_epi16(0xff)), _mm512_srli_epi16::<8>(word))
            }
        };
        for half in 0..2 {
            let ((a_low, a_high), (b_low, b_high)) = (halves(part(a, half), A), halves(part(b, half), B));
            let (low, high) = (_mm512_madd_epi16(a_low, b_low), _mm512_madd_epi16(a_high, b_high));
            let sum = _mm512_add_epi32(part(c, half), _mm512_add_epi32(low, high));
            _mm512_mask_storeu_epi32(d.add(16 * half), (mask >> (16 * half)) as u16, sum);
        }
    }
}

/// The same of eight lanes at a time.
///
/// # Safety
/// As [`crate::exec::op::Exec`]; the machine must have AVX2.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn sums_of_bytes_wide<const A: bool, const B: bool>(cx: &mut Cx<'_>, op: &Op) {
    use std::arch::x86_64::*;
    let mut sums = [0u32; 32];
    // SAFETY: as the caller says; a row has 32 lanes.
    unsafe {
        let (a, b, c) = (cx.row::<u32>(op.a), cx.row::<u32>(op.b), cx.row::<u32>(op.c));
        let part = |row: *const [u32; 32], part: usize| _mm256_loadu_si256(row.cast::<u32>().add(8 * part).cast());
        let halves = |word: __m256i, signed: bool| {
            if signed {
                (_mm256_srai_epi16::<8>(_mm256_slli_epi16::<8>(word)), _mm256_srai_epi16::<8>(word))
            } else {
                (_mm256_and_si256(word, _mm256_set1_epi16(0xff)), _mm256_srli_epi16::<8>(word))
            }
        };
        for index in 0..4 {
            let ((a_low, a_high), (b_low, b_high)) = (halves(part(a, index), A), halves(part(b, index), B));
            let (low, high) = (_mm256_madd_epi16(a_low, b_low), _mm256_madd_epi16(a_high, b_high));
            let sum = _mm256_add_epi32(part(c, index), _mm256_add_epi32(low, high));
            _mm256_storeu_si256(sums.as_mut_ptr().add(8 * index).cast(), sum);
        }
        blend(cx.mask, cx.row_mut::<u32>(op.d), &sums);
    }
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
