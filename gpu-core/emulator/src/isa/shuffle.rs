//! `shfl.sync`: each lane takes the value of another.

use super::warp_ops::member_operand;
use super::{Row, Ty};
use crate::check::repeats::Told;
use crate::decode::emit::{Decoded, Emit, Inst};
use crate::exec::cx::{Cx, lanes};
use crate::exec::fault::{Detail, text_of};
use crate::exec::lanes::{Bits, Body, exec_widest};
#[cfg(target_arch = "x86_64")]
use crate::exec::lanes::{WIDE, WIDEST};
use crate::exec::op::{Flow, Op, Slot, Taint};
use crate::exec::template::Native;
use crate::ptx::tree::Operand;
use crate::report::{Class, FaultKind};

pub const ROWS: &[Row] = &[Row { opcode: "shfl", class: Class::Warp, decode: shfl, examples: &[] }];

fn shfl(e: &mut Emit<'_>, i: &mut Inst<'_>) -> Decoded<()> {
    let sync = i.take("sync");
    let mode = match i.take_any(&["up", "down", "bfly", "idx"]) {
        Some("up") => 0,
        Some("down") => 1,
        Some("bfly") => 2,
        Some(_) => 3,
        None => return i.unsupported(),
    };
    i.ty()?;
    let mut op = e.op(exec_widest::<Shuffle>());
    op.e = member_operand(e, i, sync, 4)?;
    op.a = e.src(&i.operands[1], Ty::B32)?;
    op.b = e.src(&i.operands[2], Ty::B32)?;
    op.c = e.src(&i.operands[3], Ty::B32)?;
    op.imm = mode;
    op.list = Slot::NONE.0;
    match &i.operands[0] {
        Operand::Pair(d, p) => {
            op.d = e.dst(d, Ty::B32)?;
            op.list = e.pred_dst(p)?.0;
        }
        d => op.d = e.dst(d, Ty::B32)?,
    }
    e.push(op, Taint::Shuffle);
    e.native(Native::Shuffle);
    Ok(())
}

/// Source lane of each lane, and whether it was in range (PTX ISA, `shfl.sync`).
///
/// # Safety
/// As [`crate::exec::op::Exec`].
pub unsafe fn sources(cx: &Cx<'_>, op: &Op) -> ([u8; 32], u32) {
    // SAFETY: slots of a decoded instruction.
    unsafe { sources_of(op.imm, &*cx.row::<u32>(op.b), &*cx.row::<u32>(op.c)) }
}

/// The same by what it does (0 to 3: up, down, bfly, idx) and its two numbers in each lane.
pub fn sources_of(mode: i64, b: &[u32; 32], c: &[u32; 32]) -> ([u8; 32], u32) {
    // Signed, since `up` goes below lane 0. Each with a loop of its own, which the compiler does several lanes at a time.
    match mode {
        0 => each_source(b, c, |lane, amount, _, highest| (lane - amount, lane - amount >= highest)),
        1 => each_source(b, c, |lane, amount, _, highest| (lane + amount, lane + amount <= highest)),
        2 => each_source(b, c, |lane, amount, _, highest| (lane ^ amount, lane ^ amount <= highest)),
        _ => each_source(b, c, |lane, amount, segment, highest| {
            let source = lane & segment | amount & !segment;
            (source, source <= highest)
        }),
    }
}

/// Of a lane, the amount, the mask of its segment and the highest lane (of `up` the lowest): the source, and whether it is in
/// range.
#[inline(always)]
fn each_source(b: &[u32; 32], c: &[u32; 32], of: impl Fn(i32, i32, i32, i32) -> (i32, bool)) -> ([u8; 32], u32) {
    let (mut from, mut inside) = ([0u8; 32], [0u8; 32]);
    for lane in 0..32 {
        let (amount, clamp, segment) = (b[lane] & 31, c[lane] & 31, c[lane] >> 8 & 31);
        let own = lane as i32;
        let highest = own & segment as i32 | (clamp & !segment) as i32;
        let (source, is_inside) = of(own, amount as i32, segment as i32, highest);
        from[lane] = if is_inside { source & 31 } else { own } as u8;
        inside[lane] = u8::from(is_inside);
    }
    (from, (0..32).fold(0, |valid, lane| valid | u32::from(inside[lane]) << lane))
}

struct Shuffle;

impl Body for Shuffle {
    #[inline(always)]
    unsafe fn run<const FORM: u8>(cx: &mut Cx<'_>, op: &Op) -> Flow {
        // SAFETY: slots of a decoded instruction; source lanes are below 32.
        unsafe {
            // Tiles of a warp that are all here shuffle at once.
            let masks = &*cx.row::<u32>(op.e);
            if op.e.is_pool() || !complete(masks, cx.mask, cx.warp.live & !cx.mask) {
                let members = match cx.members::<FORM>(op.e) {
                    Ok(members) => members,
                    Err(flow) => return flow,
                };
                if let Some(flow) = cx.gather(members, false) {
                    return flow;
                }
            }
            let (mut out, valid, missing) = exchanged::<FORM>(cx, op);
            if missing & cx.mask != 0 {
                keep_own(cx, op, &mut out);
            }
            let to = cx.row_mut::<u32>(op.d);
            crate::exec::lanes::blend(cx.mask, to, &out);
            if op.list != Slot::NONE.0 {
                cx.set_pred(Slot(op.list), valid);
            }
            if missing & cx.mask != 0 {
                report_inactive(cx, op, missing & cx.mask, &sources(cx, op).0);
            }
        }
        Flow::Next
    }
}

/// Whether each lane of `mask` is in the group that it names, and no lane of `absent`.
#[inline(always)]
fn complete(groups: &[u32; 32], mask: u32, absent: u32) -> bool {
    let mut off = 0;
    for lane in 0..32 {
        let wrong = groups[lane] & absent | !groups[lane] & 1 << lane;
        off |= wrong.mix(0, mask, lane);
    }
    off == 0
}

/// What each lane gets, whether its source was in range, and whether that lane is missing.
///
/// # Safety
/// As [`crate::exec::op::Exec`]; the machine must have what `FORM` is for.
#[inline(always)]
unsafe fn exchanged<const FORM: u8>(cx: &Cx<'_>, op: &Op) -> ([u32; 32], u32, u32) {
    #[cfg(target_arch = "x86_64")]
    if FORM == WIDEST {
        // SAFETY: as the caller says.
        return unsafe { exchanged_widest(cx, op) };
    }
    #[cfg(target_arch = "x86_64")]
    if FORM == WIDE {
        // SAFETY: as the caller says.
        return unsafe { exchanged_wide(cx, op) };
    }
    // SAFETY: slots of a decoded instruction; source lanes are below 32.
    unsafe {
        let (from, valid) = sources(cx, op);
        let a = *cx.row::<u32>(op.a);
        let mut out = [0u32; 32];
        let mut missing = 0;
        for lane in 0..32 {
            out[lane] = a[from[lane] as usize];
            missing |= u32::from(cx.mask >> from[lane] & 1 == 0) << lane;
        }
        (out, valid, missing)
    }
}

/// The same by permutations of whole registers.
///
/// # Safety
/// As [`exchanged`]; the machine must have AVX-512.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn exchanged_widest(cx: &Cx<'_>, op: &Op) -> ([u32; 32], u32, u32) {
    use std::arch::x86_64::*;
    // SAFETY: slots of a decoded instruction: rows of 32 lanes.
    unsafe {
        let part =
            |slot: Slot, half: usize| _mm512_loadu_si512(cx.row::<u32>(slot).cast::<u32>().add(16 * half).cast());
        let (low, high) = (part(op.a, 0), part(op.a, 1));
        let lane_0 = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        let all = _mm512_set1_epi32(31);
        let here = _mm512_set1_epi32(cx.mask as i32);
        let mut out = [0u32; 32];
        let (mut valid, mut missing) = (0, 0);
        for half in 0..2 {
            let lane = _mm512_or_si512(lane_0, _mm512_set1_epi32(16 * half as i32));
            let (b, c) = (part(op.b, half), part(op.c, half));
            let (amount, clamp) = (_mm512_and_si512(b, all), _mm512_and_si512(c, all));
            let segment = _mm512_and_si512(_mm512_srli_epi32::<8>(c), all);
            let lowest = _mm512_and_si512(lane, segment);
            let highest = _mm512_or_si512(lowest, _mm512_andnot_si512(segment, clamp));
            let source = match op.imm {
                0 => _mm512_sub_epi32(lane, amount),
                1 => _mm512_add_epi32(lane, amount),
                2 => _mm512_xor_si512(lane, amount),
                _ => _mm512_or_si512(lowest, _mm512_andnot_si512(segment, amount)),
            };
            let inside = match op.imm {
                0 => _mm512_cmpge_epi32_mask(source, highest),
                _ => _mm512_cmple_epi32_mask(source, highest),
            };
            let from = _mm512_and_si512(_mm512_mask_mov_epi32(lane, inside, source), all);
            let value = _mm512_permutex2var_epi32(low, from, high);
            _mm512_storeu_si512(out.as_mut_ptr().add(16 * half).cast(), value);
            let absent = _mm512_testn_epi32_mask(_mm512_srlv_epi32(here, from), _mm512_set1_epi32(1));
            valid |= u32::from(inside) << (16 * half);
            missing |= u32::from(absent) << (16 * half);
        }
        (out, valid, missing)
    }
}

/// The same with AVX2: eight lanes at a time, each of which looks its source up in all four quarters of the row.
///
/// # Safety
/// As [`exchanged`]; the machine must have AVX2.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn exchanged_wide(cx: &Cx<'_>, op: &Op) -> ([u32; 32], u32, u32) {
    use std::arch::x86_64::*;
    // SAFETY: slots of a decoded instruction: rows of 32 lanes.
    unsafe {
        let row = cx.row::<u32>(op.a).cast::<u32>();
        let a = [0, 1, 2, 3].map(|quarter| _mm256_loadu_si256(row.add(8 * quarter).cast()));
        let (b, c) = (cx.row::<u32>(op.b).cast::<u32>(), cx.row::<u32>(op.c).cast::<u32>());
        let all = _mm256_set1_epi32(31);
        let here = _mm256_set1_epi32(cx.mask as i32);
        let mut out = [0u32; 32];
        let (mut outside, mut present) = (0, 0);
        for quarter in 0..4 {
            let first = _mm256_set1_epi32(8 * quarter as i32);
            let lane = _mm256_or_si256(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), first);
            let amount = _mm256_and_si256(_mm256_loadu_si256(b.add(8 * quarter).cast()), all);
            let c = _mm256_loadu_si256(c.add(8 * quarter).cast());
            let segment = _mm256_and_si256(_mm256_srli_epi32::<8>(c), all);
            let lowest = _mm256_and_si256(lane, segment);
            let highest = _mm256_or_si256(lowest, _mm256_andnot_si256(segment, _mm256_and_si256(c, all)));
            let source = match op.imm {
                0 => _mm256_sub_epi32(lane, amount),
                1 => _mm256_add_epi32(lane, amount),
                2 => _mm256_xor_si256(lane, amount),
                _ => _mm256_or_si256(lowest, _mm256_andnot_si256(segment, amount)),
            };
            // All are small numbers, some below zero: compared as signed ones.
            let off = match op.imm {
                0 => _mm256_cmpgt_epi32(highest, source),
                _ => _mm256_cmpgt_epi32(source, highest),
            };
            let from = _mm256_and_si256(_mm256_blendv_epi8(source, lane, off), all);
            // A blend goes by the top bit of each word: bits 3 and 4 of the source say which quarter it is in.
            let bit_3 = _mm256_castsi256_ps(_mm256_slli_epi32::<28>(from));
            let bit_4 = _mm256_castsi256_ps(_mm256_slli_epi32::<27>(from));
            let taken = a.map(|a| _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(a, from)));
            let low = _mm256_blendv_ps(taken[0], taken[1], bit_3);
            let high = _mm256_blendv_ps(taken[2], taken[3], bit_3);
            _mm256_storeu_ps(out.as_mut_ptr().add(8 * quarter).cast(), _mm256_blendv_ps(low, high, bit_4));
            outside |= (_mm256_movemask_ps(_mm256_castsi256_ps(off)) as u32) << (8 * quarter);
            // The bit of the source becomes the top one.
            let bit = _mm256_sllv_epi32(here, _mm256_sub_epi32(all, from));
            present |= (_mm256_movemask_ps(_mm256_castsi256_ps(bit)) as u32) << (8 * quarter);
        }
        (out, !outside, !present)
    }
}

/// What a lane of a warp that is not whole gets from one that does not exist: its own value, as from one out of range. Any would
/// do, but what the warp before left in those registers is another one each time.
///
/// # Safety
/// As [`crate::exec::op::Exec`].
#[cold]
unsafe fn keep_own(cx: &Cx<'_>, op: &Op, out: &mut [u32; 32]) {
    // SAFETY: slots of a decoded instruction.
    unsafe {
        let (from, own) = (sources(cx, op).0, &*cx.row::<u32>(op.a));
        for lane in lanes(cx.mask).filter(|lane| cx.warp.lanes >> from[*lane] & 1 == 0) {
            out[lane] = own[lane];
        }
    }
}

/// Lanes got what lanes hold that do not take part. Many a reduction does not look at what those get, so it is told where it is
/// used.
#[cold]
fn report_inactive(cx: &mut Cx<'_>, op: &Op, missing: u32, from: &[u8; 32]) {
    let pc = cx.pc;
    if !cx.grid.options.checks.barrier {
        return;
    }
    let lane = missing.trailing_zeros() as usize & 31;
    let source = from[lane];
    let why = if cx.warp.lanes >> source & 1 == 0 {
        "which does not exist"
    } else if cx.warp.live >> source & 1 == 0 {
        "which has ended"
    } else {
        "which does not take part"
    };
    let said = format!("(lane {lane}) shuffles from lane {source}, {why}: the value is undefined");
    if cx.grid.options.checks.uninitialised {
        return cx.undefined_shuffle(op.d, missing, said);
    }
    if cx.repeats(Told::alone(FaultKind::MaskMisuse, pc), missing.count_ones()) {
        return;
    }
    let message = format!("{} {said}", text_of(&cx.thread(lane)));
    cx.fault(FaultKind::MaskMisuse, pc, Some(lane), missing.count_ones(), message, Detail::default());
}
