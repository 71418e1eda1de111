//! The addresses of one warp-wide access, as a few runs where they have a pattern and lane by lane where not.

use super::cx::Cx;
use super::lanes::Word;
use super::op::Op;

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
/// threads, one address for all, a column. Such an access is checked and counted by its runs instead of its lanes.
#[derive(Clone, Copy, Debug)]
pub struct Runs {
    /// 1, 2 or 4.
    pub count: usize,
    pub step: u64,
    /// First address of each group; beyond `count`, that of the last one.
    pub starts: [u64; 4],
    pub low: u64,
    pub high: u64,
}

/// Larger steps are left to the general path, so that sums of them cannot overflow.
const MAX_STEP: u64 = 1 << 20;

impl Runs {
    /// Lanes of one group.
    #[inline(always)]
    pub fn lanes(&self) -> usize {
        32 >> self.count.trailing_zeros()
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
        self.starts[(lane >> shift) & 3] + (lane & ((1 << shift) - 1)) as u64 * self.step
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
            at: std::array::from_fn(|lane| self.at(lane)),
            mask: u32::MAX,
            low: self.low,
            high: self.high,
            contiguous: self.count == 1 && self.step == bytes,
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

    /// Whether each group of `32 / groups` lanes (1 or 4 groups) goes up by `step`.
    ///
    /// # Safety
    /// `row` must be a row; with `WIDE`, [`super::lanes::wide`] must hold.
    unsafe fn steps<const WIDE: bool, const GROUPS: usize>(row: *const [Self::Raw; 32], step: u64) -> bool;
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
    unsafe fn steps<const WIDE: bool, const GROUPS: usize>(row: *const [u32; 32], step: u64) -> bool {
        #[cfg(target_arch = "x86_64")]
        if WIDE {
            use std::arch::x86_64::*;
            // SAFETY: the caller gives a row, and AVX2 is there.
            unsafe {
                let row = row.cast::<u32>();
                let steps = _mm256_set1_epi32(step as i32);
                let rise = _mm256_mullo_epi32(steps, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
                let mut want = _mm256_add_epi32(_mm256_set1_epi32(*row as i32), rise);
                let mut off = _mm256_xor_si256(want, _mm256_loadu_si256(row.cast()));
                for part in 1..4 {
                    want = if GROUPS == 1 {
                        _mm256_add_epi32(want, _mm256_slli_epi32(steps, 3))
                    } else {
                        _mm256_add_epi32(_mm256_set1_epi32(*row.add(8 * part) as i32), rise)
                    };
                    let have = _mm256_loadu_si256(row.add(8 * part).cast());
                    off = _mm256_or_si256(off, _mm256_xor_si256(want, have));
                }
                return _mm256_testz_si256(off, off) == 1;
            }
        }
        // SAFETY: the caller gives a row.
        let row = unsafe { &*row };
        let lanes = 32 / GROUPS;
        let mut off = 0;
        for lane in 0..32 {
            let first = row[lane / lanes * lanes];
            off |= row[lane] ^ first.wrapping_add((lane % lanes) as u32 * step as u32);
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
    unsafe fn steps<const WIDE: bool, const GROUPS: usize>(row: *const [u64; 32], step: u64) -> bool {
        #[cfg(target_arch = "x86_64")]
        if WIDE {
            use std::arch::x86_64::*;
            // SAFETY: the caller gives a row, and AVX2 is there.
            unsafe {
                let row = row.cast::<u64>();
                let steps = _mm256_set1_epi64x(step as i64);
                let rise = _mm256_mul_epu32(steps, _mm256_setr_epi64x(0, 1, 2, 3));
                let four = _mm256_slli_epi64(steps, 2);
                let mut want = _mm256_add_epi64(_mm256_set1_epi64x(*row as i64), rise);
                let mut off = _mm256_xor_si256(want, _mm256_loadu_si256(row.cast()));
                for part in 1..8 {
                    want = if GROUPS == 1 || part % 2 == 1 {
                        _mm256_add_epi64(want, four)
                    } else {
                        _mm256_add_epi64(_mm256_set1_epi64x(*row.add(4 * part) as i64), rise)
                    };
                    let have = _mm256_loadu_si256(row.add(4 * part).cast());
                    off = _mm256_or_si256(off, _mm256_xor_si256(want, have));
                }
                return _mm256_testz_si256(off, off) == 1;
            }
        }
        // SAFETY: the caller gives a row.
        let row = unsafe { &*row };
        let lanes = 32 / GROUPS;
        let mut off = 0;
        for lane in 0..32 {
            let first = row[lane / lanes * lanes];
            off |= row[lane] ^ first.wrapping_add((lane % lanes) as u64 * step);
        }
        off == 0
    }
}

/// The runs of an access by all 32 lanes; None when it has no such pattern.
///
/// # Safety
/// As [`super::op::Exec`]; with `WIDE`, [`super::lanes::wide`] must hold.
#[inline(always)]
pub unsafe fn runs<const WIDE: bool, A: AddressWord, const BYTES: u64>(cx: &Cx<'_>, op: &Op) -> Option<Runs> {
    let offset = op.imm as u64;
    // SAFETY: slots of a decoded instruction.
    unsafe {
        let row = cx.row::<A>(op.a);
        let at = |lane: usize| A::from_raw((*row)[lane]);
        let step = at(1).widen().wrapping_sub(at(0).widen());
        if step > MAX_STEP {
            return None;
        }
        let start = at(0).plus(offset);
        if A::steps::<WIDE, 1>(row, step) {
            if start > A::LIMIT - 32 * MAX_STEP {
                return None;
            }
            return Some(Runs { count: 1, step, starts: [start; 4], low: start, high: start + 31 * step });
        }
        if (step != BYTES && step != 0) || !A::steps::<WIDE, 4>(row, step) {
            return None;
        }
        let mut starts = [start, at(8).plus(offset), at(16).plus(offset), at(24).plus(offset)];
        let low = starts[0].min(starts[1]).min(starts[2].min(starts[3]));
        let high = starts[0].max(starts[1]).max(starts[2].max(starts[3]));
        if high > A::LIMIT - 32 * MAX_STEP {
            return None;
        }
        let high = high + 7 * step;
        let half = 8 * step;
        if starts[0] + half == starts[1] && starts[2] + half == starts[3] {
            starts = [starts[0], starts[2], starts[2], starts[2]];
            return Some(Runs { count: 2, step, starts, low, high });
        }
        Some(Runs { count: 4, step, starts, low, high })
    }
}

/// Gathers the addresses of an access of `bytes` per lane.
///
/// # Safety
/// As [`super::op::Exec`].
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
