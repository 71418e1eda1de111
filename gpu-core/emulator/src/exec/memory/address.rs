//! The addresses of one warp-wide access, as a few runs where they have a pattern and lane by lane where not.

use crate::exec::cx::Cx;
use crate::exec::lanes::Word;
#[cfg(target_arch = "x86_64")]
use crate::exec::lanes::{BASE, WIDEST};
use crate::exec::op::Op;

/// The addresses of one warp-wide access.
#[derive(Clone, Copy)]
pub struct Addresses {
    /// Inactive lanes repeat the first active one.
    pub at: [u64; 32],
    pub mask: u32,
    pub low: u64,
    pub high: u64,
    /// All lanes active and each `bytes` behind the one before.
    pub contiguous: bool,
}

impl Addresses {
    /// Moves all addresses down, to make them relative to a window.
    #[inline(always)]
    pub fn rebase(&mut self, base: u64) {
        if base != 0 {
            self.low -= base;
            self.high -= base;
            for at in &mut self.at {
                *at -= base;
            }
        }
    }
}

/// All 32 lanes active, and every group of `32 / count` lanes `step` bytes apart: one row of a tile, rows of 16 or 8
/// threads, one address for all, a column. Or the first `width` lanes active, one behind the other: what is left of a
/// reduction, the end of an array. Such an access is checked and counted by its runs instead of its lanes.
#[derive(Clone, Copy, Debug)]
pub struct Runs {
    /// 1, 2 or 4.
    pub count: usize,
    /// Lanes of one group.
    pub width: usize,
    pub step: u64,
    /// First address of each group; beyond `count`, that of the last one.
    pub starts: [u64; 4],
    pub low: u64,
    pub high: u64,
}

/// Larger steps are left to the general path, so that sums of them cannot overflow.
const MAX_STEP: u64 = 1 << 20;

impl Runs {
    /// All lanes of the warp.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.count > 1 || self.width == 32
    }

    #[inline(always)]
    pub fn starts(&self) -> &[u64] {
        &self.starts[..self.count]
    }

    /// Address of one lane.
    #[inline(always)]
    pub fn at(&self, lane: usize) -> u64 {
        // `count` is a power of two, so that 32 / count is 1 << shift.
        let shift = 5 - self.count.trailing_zeros();
        self.starts[(lane >> shift) & 3].wrapping_add((lane & ((1 << shift) - 1)) as u64 * self.step)
    }

    /// The same so many bytes on.
    #[inline(always)]
    pub fn moved(&self, by: u64) -> Runs {
        Runs {
            starts: self.starts.map(|start| start.wrapping_add(by)),
            low: self.low.wrapping_add(by),
            high: self.high.wrapping_add(by),
            ..*self
        }
    }

    /// Moves all addresses down, to make them relative to a window.
    #[inline(always)]
    pub fn rebase(&mut self, base: u64) {
        for start in &mut self.starts {
            *start -= base;
        }
        self.low -= base;
        self.high -= base;
    }

    /// The same lane by lane.
    #[inline(never)]
    pub fn spread(&self, bytes: u64) -> Addresses {
        Addresses {
            at: std::array::from_fn(|lane| self.at(if self.is_full() || lane < self.width { lane } else { 0 })),
            mask: if self.is_full() { u32::MAX } else { (1 << self.width) - 1 },
            low: self.low,
            high: self.high,
            contiguous: self.count == 1 && self.width == 32 && self.step == bytes,
        }
    }
}

/// How addresses are held in registers.
pub trait AddressWord: Word {
    /// The largest address that such a register can hold (and no run may pass).
    const LIMIT: u64;

    fn widen(self) -> u64;

    /// Adds an offset in the register's own width: 32-bit addresses wrap at 32 bits.
    fn plus(self, offset: u64) -> u64;

    /// Whether in each quarter of the lanes every address is `step` (below 2^31) behind the one before.
    ///
    /// # Safety
    /// `row` must be a row; the machine must have what `FORM` is for.
    unsafe fn quarters<const FORM: u8>(row: *const [Self::Raw; 32], step: u64) -> bool;

    /// Whether the addresses of the lanes of `mask` are so far from `first` as `offsets` says.
    ///
    /// # Safety
    /// As [`AddressWord::quarters`].
    unsafe fn follows<const FORM: u8>(row: *const [Self::Raw; 32], first: u64, offsets: &[i32; 32], mask: u32) -> bool;
}

impl AddressWord for u32 {
    const LIMIT: u64 = u32::MAX as u64;

    #[inline(always)]
    fn widen(self) -> u64 {
        self.into()
    }

    #[inline(always)]
    fn plus(self, offset: u64) -> u64 {
        u64::from(self.wrapping_add(offset as u32))
    }

    #[inline(always)]
    unsafe fn quarters<const FORM: u8>(row: *const [u32; 32], step: u64) -> bool {
        #[cfg(target_arch = "x86_64")]
        if FORM != BASE {
            use std::arch::x86_64::*;
            // SAFETY: the caller gives a row, and AVX2 is there.
            unsafe {
                let row = row.cast::<i32>();
                let rise =
                    _mm256_mullo_epi32(_mm256_set1_epi32(step as i32), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
                let mut off = _mm256_setzero_si256();
                for part in 0..4 {
                    let want = _mm256_add_epi32(_mm256_set1_epi32(*row.add(8 * part)), rise);
                    let have = _mm256_loadu_si256(row.add(8 * part).cast());
                    off = _mm256_or_si256(off, _mm256_xor_si256(want, have));
                }
                return _mm256_testz_si256(off, off) == 1;
            }
        }
        // SAFETY: the caller gives a row.
        let row = unsafe { &*row };
        let mut off = 0;
        for lane in 0..32 {
            off |= row[lane] ^ row[lane & !7].wrapping_add((lane & 7) as u32 * step as u32);
        }
        off == 0
    }

    #[inline(always)]
    unsafe fn follows<const FORM: u8>(row: *const [u32; 32], first: u64, offsets: &[i32; 32], mask: u32) -> bool {
        #[cfg(target_arch = "x86_64")]
        if FORM == WIDEST {
            use std::arch::x86_64::*;
            // SAFETY: the caller gives a row, and AVX-512 is there.
            unsafe {
                let (row, offsets) = (row.cast::<i32>(), offsets.as_ptr());
                let first = _mm512_set1_epi32(first as i32);
                let mut off = 0;
                for part in 0..2 {
                    let want = _mm512_add_epi32(first, _mm512_loadu_si512(offsets.add(16 * part).cast()));
                    let have = _mm512_loadu_si512(row.add(16 * part).cast());
                    off |= u32::from(_mm512_cmpneq_epi32_mask(have, want)) << (16 * part);
                }
                return off & mask == 0;
            }
        }
        #[cfg(target_arch = "x86_64")]
        if FORM != BASE {
            use std::arch::x86_64::*;
            // SAFETY: the caller gives a row, and AVX2 is there.
            unsafe {
                let (row, offsets) = (row.cast::<i32>(), offsets.as_ptr());
                let first = _mm256_set1_epi32(first as i32);
                let mut off = [_mm256_setzero_si256(); 4];
                for (part, off) in off.iter_mut().enumerate() {
                    let want = _mm256_add_epi32(first, _mm256_loadu_si256(offsets.add(8 * part).cast()));
                    *off = _mm256_xor_si256(_mm256_loadu_si256(row.add(8 * part).cast()), want);
                }
                if mask == u32::MAX {
                    let any = _mm256_or_si256(_mm256_or_si256(off[0], off[1]), _mm256_or_si256(off[2], off[3]));
                    return _mm256_testz_si256(any, any) == 1;
                }
                let zero = _mm256_setzero_si256();
                let mut on = 0;
                for (part, off) in off.into_iter().enumerate() {
                    let same = _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(off, zero)));
                    on |= (same as u32) << (8 * part);
                }
                return mask & !on == 0;
            }
        }
        // SAFETY: the caller gives a row.
        let row = unsafe { &*row };
        let mut off = 0;
        for lane in 0..32 {
            let want = (first as u32).wrapping_add(offsets[lane] as u32);
            off |= (row[lane] ^ want) & (mask >> lane & 1).wrapping_neg();
        }
        off == 0
    }
}

impl AddressWord for u64 {
    const LIMIT: u64 = i64::MAX as u64;

    #[inline(always)]
    fn widen(self) -> u64 {
        self
    }

    #[inline(always)]
    fn plus(self, offset: u64) -> u64 {
        self.wrapping_add(offset)
    }

    #[inline(always)]
    unsafe fn quarters<const FORM: u8>(row: *const [u64; 32], step: u64) -> bool {
        #[cfg(target_arch = "x86_64")]
        if FORM == WIDEST {
            use std::arch::x86_64::*;
            // SAFETY: the caller gives a row, and AVX-512 is there.
            unsafe {
                let row = row.cast::<i64>();
                let rise = _mm512_mul_epu32(_mm512_set1_epi64(step as i64), _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
                let mut off = _mm512_setzero_si512();
                for part in 0..4 {
                    let want = _mm512_add_epi64(_mm512_set1_epi64(*row.add(8 * part)), rise);
                    let have = _mm512_loadu_si512(row.add(8 * part).cast());
                    off = _mm512_or_si512(off, _mm512_xor_si512(want, have));
                }
                return _mm512_test_epi64_mask(off, off) == 0;
            }
        }
        #[cfg(target_arch = "x86_64")]
        if FORM != BASE {
            use std::arch::x86_64::*;
            // SAFETY: the caller gives a row, and AVX2 is there.
            unsafe {
                let row = row.cast::<i64>();
                let rise = _mm256_mul_epu32(_mm256_set1_epi64x(step as i64), _mm256_setr_epi64x(0, 1, 2, 3));
                let half = _mm256_set1_epi64x(4 * step as i64);
                let mut off = _mm256_setzero_si256();
                for part in 0..4 {
                    let low = _mm256_add_epi64(_mm256_set1_epi64x(*row.add(8 * part)), rise);
                    let high = _mm256_add_epi64(low, half);
                    off = _mm256_or_si256(off, _mm256_xor_si256(low, _mm256_loadu_si256(row.add(8 * part).cast())));
                    off =
                        _mm256_or_si256(off, _mm256_xor_si256(high, _mm256_loadu_si256(row.add(8 * part + 4).cast())));
                }
                return _mm256_testz_si256(off, off) == 1;
            }
        }
        // SAFETY: the caller gives a row.
        let row = unsafe { &*row };
        let mut off = 0;
        for lane in 0..32 {
            off |= row[lane] ^ row[lane & !7].wrapping_add((lane & 7) as u64 * step);
        }
        off == 0
    }

    #[inline(always)]
    unsafe fn follows<const FORM: u8>(row: *const [u64; 32], first: u64, offsets: &[i32; 32], mask: u32) -> bool {
        #[cfg(target_arch = "x86_64")]
        if FORM == WIDEST {
            use std::arch::x86_64::*;
            // SAFETY: the caller gives a row, and AVX-512 is there.
            unsafe {
                let (row, offsets) = (row.cast::<i64>(), offsets.as_ptr());
                let first = _mm512_set1_epi64(first as i64);
                let mut off = [_mm512_setzero_si512(); 4];
                for part in 0..4 {
                    let offsets = _mm512_cvtepi32_epi64(_mm256_loadu_si256(offsets.add(8 * part).cast()));
                    let have = _mm512_loadu_si512(row.add(8 * part).cast());
                    off[part] = _mm512_xor_si512(have, _mm512_add_epi64(first, offsets));
                }
                if mask == u32::MAX {
                    let any = _mm512_or_si512(_mm512_or_si512(off[0], off[1]), _mm512_or_si512(off[2], off[3]));
                    return _mm512_test_epi64_mask(any, any) == 0;
                }
                let mut lanes = 0;
                for part in 0..4 {
                    lanes |= u32::from(_mm512_test_epi64_mask(off[part], off[part])) << (8 * part);
                }
                return lanes & mask == 0;
            }
        }
        #[cfg(target_arch = "x86_64")]
        if FORM != BASE {
            use std::arch::x86_64::*;
            // SAFETY: the caller gives a row, and AVX2 is there.
            unsafe {
                let (row, offsets) = (row.cast::<i64>(), offsets.as_ptr());
                let first = _mm256_set1_epi64x(first as i64);
                let off = |part: usize| {
                    let offsets = _mm256_cvtepi32_epi64(_mm_loadu_si128(offsets.add(4 * part).cast()));
                    let have = _mm256_loadu_si256(row.add(4 * part).cast());
                    _mm256_xor_si256(have, _mm256_add_epi64(first, offsets))
                };
                if mask == u32::MAX {
                    let mut any = off(0);
                    for part in 1..8 {
                        any = _mm256_or_si256(any, off(part));
                    }
                    return _mm256_testz_si256(any, any) == 1;
                }
                let zero = _mm256_setzero_si256();
                let mut on = 0;
                for part in 0..8 {
                    let same = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(off(part), zero)));
                    on |= (same as u32) << (4 * part);
                }
                return mask & !on == 0;
            }
        }
        // SAFETY: the caller gives a row.
        let row = unsafe { &*row };
        let mut off = 0;
        for lane in 0..32 {
            let want = first.wrapping_add(offsets[lane] as u64);
            off |= (row[lane] ^ want) & (u64::from(mask >> lane) & 1).wrapping_neg();
        }
        off == 0
    }
}

/// The runs of an access by all 32 lanes; None when it has no such pattern.
///
/// # Safety
/// As [`crate::exec::op::Exec`]; the machine must have what `FORM` is for.
#[inline(always)]
pub unsafe fn runs<const FORM: u8, A: AddressWord, const BYTES: u64>(cx: &Cx<'_>, op: &Op) -> Option<Runs> {
    let offset = op.imm as u64;
    // SAFETY: slots of a decoded instruction.
    unsafe {
        let row = cx.row::<A>(op.a);
        let at = |lane: usize| A::from_raw((*row)[lane]);
        let step = at(1).widen().wrapping_sub(at(0).widen());
        if step > MAX_STEP || !A::quarters::<FORM>(row, step) {
            return None;
        }
        let starts = [at(0).plus(offset), at(8).plus(offset), at(16).plus(offset), at(24).plus(offset)];
        let quarter = 8 * step;
        let on = |from: usize| starts[from].wrapping_add(quarter) == starts[from + 1];
        let most = A::LIMIT - 32 * MAX_STEP;
        if on(0) && on(1) && on(2) {
            let start = starts[0];
            let high = start.wrapping_add(31 * step);
            return (start <= most).then_some(Runs { count: 1, width: 32, step, starts: [start; 4], low: start, high });
        }
        let low = starts[0].min(starts[1]).min(starts[2].min(starts[3]));
        let high = starts[0].max(starts[1]).max(starts[2].max(starts[3]));
        if (step != BYTES && step != 0) || high > most {
            return None;
        }
        let high = high + 7 * step;
        if on(0) && on(2) {
            let starts = [starts[0], starts[2], starts[2], starts[2]];
            return Some(Runs { count: 2, width: 16, step, starts, low, high });
        }
        Some(Runs { count: 4, width: 8, step, starts, low, high })
    }
}

/// The run of an access by the first lanes only; None when it has no such pattern.
///
/// # Safety
/// As [`crate::exec::op::Exec`].
#[inline(always)]
pub unsafe fn first_lanes<A: AddressWord, const BYTES: u64>(cx: &Cx<'_>, op: &Op) -> Option<Runs> {
    let width = cx.mask.trailing_ones() as usize;
    if cx.mask >> width != 0 || width == 0 {
        return None;
    }
    // SAFETY: slots of a decoded instruction.
    let row = unsafe { &*cx.row::<A>(op.a) };
    let first = A::from_raw(row[0]).widen();
    let mut off = 0;
    for lane in 0..32 {
        let keep = (u64::from(cx.mask >> lane) & 1).wrapping_neg();
        off |= (A::from_raw(row[lane]).widen() ^ (first.wrapping_add(lane as u64 * BYTES))) & keep;
    }
    let low = A::from_raw(row[0]).plus(op.imm as u64);
    if off != 0 || low > A::LIMIT - 32 * MAX_STEP {
        return None;
    }
    let high = low + (width as u64 - 1) * BYTES;
    Some(Runs { count: 1, width, step: BYTES, starts: [low; 4], low, high })
}

/// Gathers the addresses of an access of `bytes` per lane.
///
/// # Safety
/// As [`crate::exec::op::Exec`].
#[inline(always)]
pub unsafe fn addresses<A: AddressWord>(cx: &Cx<'_>, op: &Op, bytes: u64) -> Addresses {
    let mut at = [0u64; 32];
    let mask = cx.mask;
    let offset = op.imm as u64;
    // SAFETY: slots of a decoded instruction.
    let base = unsafe { &*cx.row::<A>(op.a) };
    let first = A::from_raw(base[mask.trailing_zeros() as usize & 31]).plus(offset);
    for lane in 0..32 {
        let own = A::from_raw(base[lane]).plus(offset);
        let keep = (u64::from(mask >> lane) & 1).wrapping_neg();
        at[lane] = first ^ ((own ^ first) & keep);
    }
    gathered(at, mask, bytes)
}

/// Addresses from explicit values, of which inactive lanes repeat an active one.
#[inline(always)]
pub fn gathered(at: [u64; 32], mask: u32, bytes: u64) -> Addresses {
    let (mut low, mut high, mut off) = (u64::MAX, 0, 0);
    for lane in 0..32 {
        low = low.min(at[lane]);
        high = high.max(at[lane]);
        off |= at[lane] ^ at[0].wrapping_add(lane as u64 * bytes);
    }
    let contiguous = off == 0 && mask == u32::MAX && at[0] <= u64::MAX - 32 * bytes;
    Addresses { at, mask, low, high, contiguous }
}
