//! Short ways for atomics of words. One that lies as the last one of its instruction did, at one place or in a row, is
//! followed as loads and stores are. One whose words lie anywhere in one array keeps their places as offsets in it, from
//! bounds to counters and checks: most of the long way is looking for patterns.

use super::Code;
use super::words::{update_words, update_words_far};
use crate::exec::cx::{Cx, watch};
use crate::exec::lanes::is_spare;
#[cfg(target_arch = "x86_64")]
use crate::exec::lanes::{WIDE, WIDEST};
use crate::exec::memory::access::{AddressWord, window_from};
#[cfg(target_arch = "x86_64")]
use crate::exec::memory::apart::find_apart;
use crate::exec::memory::quick::Shape;
use crate::exec::memory::words::{Lie, Words};
use crate::exec::op::Op;
use crate::isa::memory::RELEASE;
use crate::memory::space::{Window, window_base};
#[cfg(target_arch = "x86_64")]
use crate::report::AccessKind;

/// Whether an atomic is one of [`update_words`], and nothing is asked for that only the long way knows.
#[inline(always)]
fn is_plain(cx: &Cx<'_>, op: &Op, code: Code) -> bool {
    let watched = cx.watch & !(watch::COUNT | watch::INIT | watch::RACE) == 0 && !cx.worker.quiet;
    code.word != 0
        && watched
        && !cx.block.state.guarded
        && (cx.watch & watch::RACE == 0 || op.e.0 & RELEASE == 0 && !cx.orders())
}

/// An atomic that can take a short way. None: it is another; nothing was done.
///
/// # Safety
/// As [`crate::exec::op::Exec`]; the machine must have what `FORM` is for.
#[inline(always)]
pub unsafe fn update_quickly<const FORM: u8, A: AddressWord>(cx: &mut Cx<'_>, op: &Op, code: Code) -> Option<bool> {
    if const { is_spare(FORM) } || !is_plain(cx, op, code) {
        return None;
    }
    // SAFETY: passed on.
    unsafe {
        match code.word {
            4 => update_near::<FORM, A, 4>(cx, op, code),
            _ => update_near::<FORM, A, 8>(cx, op, code),
        }
    }
}

/// # Safety
/// As [`update_quickly`].
#[inline(always)]
unsafe fn update_near<const FORM: u8, A: AddressWord, const BYTES: u64>(
    cx: &mut Cx<'_>,
    op: &Op,
    code: Code,
) -> Option<bool> {
    // SAFETY: passed on; patterns live as long as the launch, and what follows one lies inside its array.
    unsafe {
        let followed = match cx.follow::<FORM, A>(op, BYTES) {
            Some(followed) => followed,
            #[cfg(target_arch = "x86_64")]
            None if FORM == WIDEST => return update_widest::<A, BYTES>(cx, op, code),
            #[cfg(target_arch = "x86_64")]
            None if FORM == WIDE => return update_wide::<A, BYTES>(cx, op, code),
            None => return None,
        };
        let (lie, span) = match (*followed.pattern).shape {
            Shape::Same => (Lie::One, 0),
            Shape::Dense => (Lie::Row, 31 * BYTES),
            _ => return None,
        };
        let (window, region) = cx.place_followed(&followed);
        if window == Window::Global && matches!(lie, Lie::Row) {
            cx.ask_for_next_row::<BYTES>(op, &followed);
        }
        let generic = window_from(op.e.0) == Window::Generic;
        let low = if generic { followed.first - window_base(window) } else { followed.first };
        let (first, high) = (followed.pointer, low + span);
        let words = Words { first, address: low, low, high, mask: cx.mask, window, region, lie, falling: false };
        let left = cx.count_followed(&followed);
        if left != 0 {
            cx.check_update::<FORM, BYTES>(op, &words, left);
        }
        let changed = match BYTES {
            4 => update_words::<FORM>(cx, op, code, &words),
            _ => update_words_far::<FORM>(cx, op, code, &words),
        };
        learn(cx, op, &words);
        Some(changed)
    }
}

/// What another block published at these places before the atomic.
#[inline(always)]
fn learn(cx: &mut Cx<'_>, op: &Op, words: &Words<'_>) {
    if cx.watch & watch::RACE != 0 && cx.orders() {
        cx.acquire_words(op, words);
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn update_widest<A: AddressWord, const BYTES: u64>(cx: &mut Cx<'_>, op: &Op, code: Code) -> Option<bool> {
    // SAFETY: passed on.
    unsafe { update_apart::<WIDEST, A, BYTES>(cx, op, code) }
}

#[cfg(target_arch = "x86_64")]
#[inline(never)]
#[target_feature(enable = "avx2,f16c,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn update_wide<A: AddressWord, const BYTES: u64>(cx: &mut Cx<'_>, op: &Op, code: Code) -> Option<bool> {
    // SAFETY: passed on.
    unsafe { update_apart::<WIDE, A, BYTES>(cx, op, code) }
}

/// An atomic on words anywhere in one array of global or shared memory. None: it is another; nothing was done.
///
/// # Safety
/// As [`crate::exec::op::Exec`]; the machine must have what `FORM` is for, AVX2 at least.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn update_apart<const FORM: u8, A: AddressWord, const BYTES: u64>(
    cx: &mut Cx<'_>,
    op: &Op,
    code: Code,
) -> Option<bool> {
    let mut offsets = [0; 32];
    // SAFETY: passed on; the words are found inside one array.
    unsafe {
        let words = find_apart::<FORM, A, BYTES, true>(cx, op, &mut offsets)?;
        if cx.mask == u32::MAX
            && let Some(runs) = words.runs(BYTES)
        {
            cx.remember(op, BYTES, words.window, &runs, AccessKind::Atomic);
        }
        if cx.watch & watch::COUNT != 0 {
            cx.count_words::<FORM, BYTES>(op, &words, AccessKind::Atomic);
        }
        if cx.watch & !watch::COUNT != 0 {
            cx.check_update::<FORM, BYTES>(op, &words, cx.watch & !watch::COUNT);
        }
        let changed = update_words_far::<FORM>(cx, op, code, &words);
        learn(cx, op, &words);
        Some(changed)
    }
}
