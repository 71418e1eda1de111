//! `ex2` and `tanh` of f16 and bf16: each has 65536 arguments, whose results are computed once, when the first module with
//! such an instruction is loaded. To compute two for each lane anew takes a hundred times as long as to look them up.

use std::marker::PhantomData;
use std::sync::OnceLock;

use super::Ty;
use crate::exec::cx::Cx;
use crate::exec::lanes::{Body, blend, exec_widest};
use crate::exec::op::{Exec, Flow, Op};
use crate::num::approx;

type Results = [u16; 1 << 16];

trait Table {
    fn results() -> &'static Results;
}

macro_rules! table {
    ($name:ident, $function:expr) => {
        struct $name;
        impl Table for $name {
            fn results() -> &'static Results {
                static RESULTS: OnceLock<Box<Results>> = OnceLock::new();
                RESULTS.get_or_init(|| {
                    let all: Box<[u16]> = (0..=u16::MAX).map($function).collect();
                    all.try_into().expect("one for each argument")
                })
            }
        }
    };
}

table!(Ex2F16, approx::ex2_f16);
table!(Ex2Bf16, approx::ex2_bf16);
table!(TanhF16, approx::tanh_f16);
table!(TanhBf16, approx::tanh_bf16);

/// Of the low halves, or of both.
struct LookUp<T, const PAIRS: bool>(PhantomData<T>);

impl<T: Table, const PAIRS: bool> Body for LookUp<T, PAIRS> {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        let results = T::results();
        let look = |half: u32| u32::from(results[half as usize & 0xffff]);
        // SAFETY: slots of a decoded instruction.
        unsafe {
            let a = cx.row::<u32>(op.a);
            let mut out = [0; 32];
            for lane in 0..32 {
                let pair = (*a)[lane];
                out[lane] = look(pair) | if PAIRS { look(pair >> 16) << 16 } else { 0 };
            }
            blend(cx.mask, cx.row_mut::<u32>(op.d), &out);
        }
        Flow::Next
    }
}

fn look_up<T: Table, const PAIRS: bool>() -> Exec {
    T::results();
    exec_widest::<LookUp<T, PAIRS>>()
}

/// `what` of a type of 16 bits, or of two of them.
pub fn find(what: &str, ty: Ty) -> Option<Exec> {
    Some(match (what, ty) {
        ("ex2", Ty::F16) => look_up::<Ex2F16, false>(),
        ("ex2", Ty::BF16) => look_up::<Ex2Bf16, false>(),
        ("ex2", Ty::F16x2) => look_up::<Ex2F16, true>(),
        ("ex2", Ty::BF16x2) => look_up::<Ex2Bf16, true>(),
        ("tanh", Ty::F16) => look_up::<TanhF16, false>(),
        ("tanh", Ty::BF16) => look_up::<TanhBf16, false>(),
        ("tanh", Ty::F16x2) => look_up::<TanhF16, true>(),
        ("tanh", Ty::BF16x2) => look_up::<TanhBf16, true>(),
        _ => return None,
    })
}
