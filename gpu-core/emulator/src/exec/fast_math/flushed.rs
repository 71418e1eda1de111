//! Sums, products and fused multiply-adds of f32 with `.ftz`, by AVX-512: the machine computes as if nothing were flushed, and
//! one test finds the lanes where that was not so, or where a NaN comes out. Those are done the long way.

use std::arch::x86_64::*;

use crate::exec::cx::{Cx, lanes};
use crate::exec::lanes::Body;
use crate::exec::op::{Flow, Op};
use crate::num::arith32::{self, Mode};

pub const ADD: u8 = 0;
pub const SUB: u8 = 1;
pub const MUL: u8 = 2;
pub const FMA: u8 = 3;

/// One instruction, for machines with AVX-512 only.
pub struct Flushed<const WHAT: u8>;

impl<const WHAT: u8> Body for Flushed<WHAT> {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        // SAFETY: passed on; slots of a decoded instruction.
        unsafe { flushed::<WHAT>(cx, op) };
        Flow::Next
    }
}

/// # Safety
/// As [`crate::exec::op::Exec`]; the machine must have AVX-512.
#[inline(always)]
unsafe fn flushed<const WHAT: u8>(cx: &mut Cx<'_>, op: &Op) {
    const SUBNORMAL: i32 = 0x20;
    const SUBNORMAL_OR_NAN: i32 = 0x20 | 0x81;
    // SAFETY: as the caller says; a row has 32 lanes.
    unsafe {
        let (a, b) = (cx.row::<f32>(op.a), cx.row::<f32>(op.b));
        let c = if WHAT == FMA { cx.row::<f32>(op.c) } else { a };
        let d = cx.row_mut::<f32>(op.d);
        let part = |row: *const [u32; 32], half: usize| _mm512_loadu_ps(row.cast::<f32>().add(16 * half));
        let mut odd = 0;
        let mut out = [_mm512_setzero_ps(); 2];
        for half in 0..2 {
            let (a, b) = (part(a, half), part(b, half));
            let mut found = _mm512_fpclass_ps_mask::<SUBNORMAL>(a) | _mm512_fpclass_ps_mask::<SUBNORMAL>(b);
            out[half] = match WHAT {
                ADD => _mm512_add_ps(a, b),
                SUB => _mm512_sub_ps(a, b),
                MUL => _mm512_mul_ps(a, b),
                _ => {
                    let c = part(c, half);
                    found |= _mm512_fpclass_ps_mask::<SUBNORMAL>(c);
                    _mm512_fmadd_ps(a, b, c)
                }
            };
            found |= _mm512_fpclass_ps_mask::<SUBNORMAL_OR_NAN>(out[half]);
            if WHAT >= MUL {
                // It may have been rounded up from what is flushed.
                let least = _mm512_set1_ps(f32::MIN_POSITIVE);
                found |= _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(_mm512_abs_ps(out[half]), least);
            }
            odd |= u32::from(found) << (16 * half);
        }
        let mask = cx.mask;
        if odd & mask != 0 {
            let mut rows = [[0f32; 16]; 2];
            for half in 0..2 {
                _mm512_storeu_ps(rows[half].as_mut_ptr(), out[half]);
            }
            for lane in lanes(odd & mask) {
                let [a, b, c] = [a, b, c].map(|row| f32::from_bits((*row)[lane]));
                rows[lane / 16][lane % 16] = long::<WHAT>(a, b, c);
            }
            for half in 0..2 {
                out[half] = _mm512_loadu_ps(rows[half].as_ptr());
            }
        }
        for half in 0..2 {
            let to = d.cast::<f32>().add(16 * half);
            let kept = if mask == u32::MAX {
                out[half]
            } else {
                _mm512_mask_mov_ps(_mm512_loadu_ps(to), (mask >> (16 * half)) as u16, out[half])
            };
            _mm512_storeu_ps(to, kept);
        }
    }
}

#[inline(never)]
fn long<const WHAT: u8>(a: f32, b: f32, c: f32) -> f32 {
    const FLUSHING: Mode = Mode { ftz: true, ..Mode::RN };
    match WHAT {
        ADD => arith32::add(a, b, FLUSHING),
        SUB => arith32::sub(a, b, FLUSHING),
        MUL => arith32::mul(a, b, FLUSHING),
        _ => arith32::fma(a, b, c, FLUSHING),
    }
}
