//! Operations that are short in all lanes but for results that nearly never come. Those are found by what the short way
//! gives, and then done the long way, lane by lane: with both in one loop it would be the long one for all.

use std::marker::PhantomData;

use crate::exec::cx::{Cx, lanes};
use crate::exec::lanes::{Body, Word, blend, conjure, exec, is_spare};
use crate::exec::op::{Exec, Flow, Op};

macro_rules! rarely {
    ($(#[$doc:meta])* $name:ident, $body:ident, $(($arg:ident, $slot:ident)),+) => {
        struct $body<$($arg,)+ D, F, R, S>(PhantomData<($($arg,)+ D, F, R, S)>);

        impl<$($arg: Word,)+ D: Word, F, R, S> Body for $body<$($arg,)+ D, F, R, S>
        where
            F: Fn($($arg),+) -> D + Copy,
            R: Fn(D) -> bool + Copy,
            S: Fn($($arg),+) -> D + Copy,
        {
            #[inline(always)]
            unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
                let (short, rare, long) = (conjure::<F>(), conjure::<R>(), conjure::<S>());
                // SAFETY: slots of a decoded instruction.
                unsafe {
                    $(let $slot = cx.row::<$arg>(op.$slot);)+
                    let mut out = [D::ZERO; 32];
                    if const { is_spare(FORM) } {
                        for lane in lanes(cx.mask) {
                            out[lane] = long($($arg::from_raw((*$slot)[lane])),+).to_raw();
                        }
                    } else {
                        let mut any = 0;
                        for lane in 0..32 {
                            let value = short($($arg::from_raw((*$slot)[lane])),+);
                            any |= u32::from(rare(value));
                            out[lane] = value.to_raw();
                        }
                        if any != 0 {
                            for lane in lanes(cx.mask) {
                                if rare(D::from_raw(out[lane])) {
                                    out[lane] = long($($arg::from_raw((*$slot)[lane])),+).to_raw();
                                }
                            }
                        }
                    }
                    blend(cx.mask, cx.row_mut::<D>(op.d), &out);
                }
                Flow::Next
            }
        }

        $(#[$doc])*
        pub fn $name<$($arg: Word,)+ D: Word, F, R, S>(_: F, _: R, _: S) -> Exec
        where
            F: Fn($($arg),+) -> D + Copy + 'static,
            R: Fn(D) -> bool + Copy + 'static,
            S: Fn($($arg),+) -> D + Copy + 'static,
        {
            exec::<$body<$($arg,)+ D, F, R, S>>()
        }
    };
}

rarely!(
    /// `d = short(a, b)` where that is not `rare`, else `long(a, b)`.
    bin_rarely, BinRarely, (A, a), (B, b));
rarely!(
    /// `d = short(a, b, c)` where that is not `rare`, else `long(a, b, c)`.
    tri_rarely, TriRarely, (A, a), (B, b), (C, c));
