//! Who touched shared memory last: the shadow of a block's shared memory, a write and a read cell for every 4 bytes (for
//! every byte where a kernel accesses less).

/// Clocks of shared shadows have 28 bits.
pub const MAX_TIME: u32 = (1 << 28) - 1;

// A cell: clock 28 | site 14 | thread 10 | other thread 10 | flags 2.
pub const CLOCK: u32 = 36;
pub const SITE: u32 = 22;
pub const SITES: u32 = (1 << 14) - 1;
pub const THREAD: u32 = 12;
pub const OTHER: u32 = 2;
pub const THREADS: u64 = 0x3ff;
pub const THREAD_MASK: u64 = THREADS << THREAD;
/// Of a write cell: atomic. Of a read cell: the other thread counts too.
pub const FLAG: u64 = 1;

pub fn site_of(cell: u64) -> u32 {
    (cell >> SITE) as u32 & SITES
}

pub fn thread_of(cell: u64) -> u32 {
    (cell >> THREAD & THREADS) as u32
}

pub fn other_of(cell: u64) -> u32 {
    (cell >> OTHER & THREADS) as u32
}

pub fn clock_of(cell: u64) -> u32 {
    (cell >> CLOCK) as u32
}

/// A cell of one thread.
pub fn stamp(clock: u32, site: u32, thread: u32) -> u64 {
    let site = if site <= SITES { site } else { 0 };
    u64::from(clock.min(MAX_TIME)) << CLOCK | u64::from(site) << SITE | u64::from(thread) << THREAD
}

/// Shadow of a block's shared memory.
#[derive(Debug, Default)]
pub struct SharedShadow {
    pub writes: Vec<u64>,
    pub reads: Vec<u64>,
    /// log2 of the bytes of a cell.
    pub shift: u32,
    pub bytes: u32,
}

impl SharedShadow {
    pub fn new(bytes: u32) -> SharedShadow {
        let cells = (bytes as usize).div_ceil(4);
        SharedShadow { writes: vec![0; cells], reads: vec![0; cells], shift: 2, bytes }
    }

    pub fn clear(&mut self) {
        self.writes.fill(0);
        self.reads.fill(0);
    }

    /// Goes down to one cell per byte, when something smaller than 4 bytes is accessed.
    #[cold]
    pub fn refine(&mut self) {
        let spread = |cells: &Vec<u64>| cells.iter().flat_map(|cell| [*cell; 4]).collect();
        self.writes = spread(&self.writes);
        self.reads = spread(&self.reads);
        self.shift = 0;
    }

    /// The cells of `[low, low + bytes)`; none when races are not watched.
    pub fn cells(&self, low: u64, bytes: u64) -> std::ops::Range<usize> {
        let end = ((low + bytes).min(u64::from(self.bytes)) + (1 << self.shift) - 1) >> self.shift;
        (low >> self.shift) as usize..end.max(low >> self.shift) as usize
    }

    /// Forgets a range: an asynchronous copy has written it anew.
    pub fn forget(&mut self, low: u64, bytes: u64) {
        let cells = self.cells(low, bytes);
        self.writes[cells.clone()].fill(0);
        self.reads[cells].fill(0);
    }

    /// Atomics of all lanes of a warp, where nobody wrote plainly or read since all was in order. False: look closer; nothing
    /// was changed.
    ///
    /// # Safety
    /// The machine must have AVX-512; all cells must be there.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f,avx512dq,avx512vl")]
    pub unsafe fn update_widest(&mut self, at: &[u64; 32], shift: u32, stamp: u64, floor: u64) -> bool {
        use std::arch::x86_64::*;
        let shift = _mm_cvtsi32_si128(shift as i32);
        let (limit, flag) = (_mm512_set1_epi64(floor as i64), _mm512_set1_epi64(FLAG as i64));
        let mut cells = [_mm512_setzero_si512(); 4];
        let mut unclear = 0;
        for part in 0..4 {
            // SAFETY: as the caller says: eight addresses, and cells that are there.
            unsafe {
                cells[part] = _mm512_srl_epi64(_mm512_loadu_si512(at.as_ptr().add(8 * part).cast()), shift);
                let write = _mm512_i64gather_epi64::<8>(cells[part], self.writes.as_ptr().cast());
                let read = _mm512_i64gather_epi64::<8>(cells[part], self.reads.as_ptr().cast());
                let plain = _mm512_mask_testn_epi64_mask(_mm512_cmpgt_epu64_mask(write, limit), write, flag);
                unclear |= plain | _mm512_cmpgt_epu64_mask(read, limit);
            }
        }
        if unclear != 0 {
            return false;
        }
        let lane = _mm512_slli_epi64::<THREAD>(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7));
        for part in 0..4 {
            let first = (stamp + ((8 * part as u64) << THREAD)) | FLAG;
            let own = _mm512_add_epi64(_mm512_set1_epi64(first as i64), lane);
            // SAFETY: as above. Of lanes at one place the last one stays.
            unsafe { _mm512_i64scatter_epi64::<8>(self.writes.as_mut_ptr().cast(), cells[part], own) };
        }
        true
    }
}
