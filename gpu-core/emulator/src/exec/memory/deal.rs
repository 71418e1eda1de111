//! Vectors of 2 or 4 words a lane, side by side in memory: dealt out to registers and collected from them by AVX-512.
//! Element by element that takes as long as all the rest of the access.

use std::arch::x86_64::*;

/// 32 lanes of a register.
type Row = [u32; 32];

/// The first two words of every four.
const PAIRS: u16 = 0x3333;

/// Loads 32 pairs: `rows` are the registers of their first and second words.
///
/// # Safety
/// `from` must hold 64 words, `rows` must be rows; the machine must have AVX-512.
#[inline]
#[target_feature(enable = "avx512f")]
pub unsafe fn load_pairs(from: *const u32, rows: [*mut Row; 2]) {
    // SAFETY: as the caller says.
    unsafe {
        let from = from.cast_mut();
        load_pairs_of([from, from.add(16), from.add(32), from.add(48)], rows)
    }
}

/// Loads pairs of which eight lie at each of `parts`.
///
/// # Safety
/// As [`load_pairs`], with 16 words at each.
#[inline]
#[target_feature(enable = "avx512f")]
pub unsafe fn load_pairs_of(parts: [*mut u32; 4], rows: [*mut Row; 2]) {
    let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    let odd = _mm512_or_si512(even, _mm512_set1_epi32(1));
    for half in 0..2 {
        // SAFETY: as the caller says.
        unsafe {
            let a = _mm512_loadu_si512(parts[2 * half].cast());
            let b = _mm512_loadu_si512(parts[2 * half + 1].cast());
            put(rows[0], half, _mm512_permutex2var_epi32(a, even, b));
            put(rows[1], half, _mm512_permutex2var_epi32(a, odd, b));
        }
    }
}

/// Loads pairs that begin four words behind each other; what lies between them is not touched.
///
/// # Safety
/// As [`load_pairs`], with 126 words.
#[inline]
#[target_feature(enable = "avx512f")]
pub unsafe fn load_pairs_apart(from: *const u32, rows: [*mut Row; 2]) {
    let first = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29);
    for half in 0..2 {
        // SAFETY: as the caller says.
        unsafe {
            let part = |index: usize| _mm512_maskz_loadu_epi32(PAIRS, from.add(64 * half + 16 * index).cast());
            let low = _mm512_permutex2var_epi32(part(0), first, part(1));
            let high = _mm512_permutex2var_epi32(part(2), first, part(3));
            put(rows[0], half, _mm512_shuffle_i64x2::<0x44>(low, high));
            put(rows[1], half, _mm512_shuffle_i64x2::<0xee>(low, high));
        }
    }
}

/// Loads 32 times four words.
///
/// # Safety
/// As [`load_pairs`], with 128 words.
#[inline]
#[target_feature(enable = "avx512f")]
pub unsafe fn load_quads(from: *const u32, rows: [*mut Row; 4]) {
    // The first two words of 8 lanes each, and the other two.
    let first = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29);
    let second = _mm512_or_si512(first, _mm512_set1_epi32(2));
    for half in 0..2 {
        // SAFETY: as the caller says.
        unsafe {
            let part = |index: usize| _mm512_loadu_si512(from.add(64 * half + 16 * index).cast());
            let (a, b, c, d) = (part(0), part(1), part(2), part(3));
            let low = _mm512_permutex2var_epi32(a, first, b);
            let high = _mm512_permutex2var_epi32(c, first, d);
            put(rows[0], half, _mm512_shuffle_i64x2::<0x44>(low, high));
            put(rows[1], half, _mm512_shuffle_i64x2::<0xee>(low, high));
            let low = _mm512_permutex2var_epi32(a, second, b);
            let high = _mm512_permutex2var_epi32(c, second, d);
            put(rows[2], half, _mm512_shuffle_i64x2::<0x44>(low, high));
            put(rows[3], half, _mm512_shuffle_i64x2::<0xee>(low, high));
        }
    }
}

/// The opposite of [`load_pairs`].
///
/// # Safety
/// As [`load_pairs`].
#[inline]
#[target_feature(enable = "avx512f")]
pub unsafe fn store_pairs(to: *mut u32, rows: [*const Row; 2]) {
    // SAFETY: as the caller says.
    unsafe { store_pairs_of([to, to.add(16), to.add(32), to.add(48)], rows) }
}

/// The opposite of [`load_pairs_of`]; where parts overlap, what is stored to the last one stays.
///
/// # Safety
/// As [`load_pairs_of`].
#[inline]
#[target_feature(enable = "avx512f")]
pub unsafe fn store_pairs_of(parts: [*mut u32; 4], rows: [*const Row; 2]) {
    for half in 0..2 {
        // SAFETY: as the caller says.
        unsafe {
            let (low, high) = weave(get(rows[0], half), get(rows[1], half));
            _mm512_storeu_si512(parts[2 * half].cast(), low);
            _mm512_storeu_si512(parts[2 * half + 1].cast(), high);
        }
    }
}

/// The opposite of [`load_pairs_apart`].
///
/// # Safety
/// As [`load_pairs_apart`].
#[inline]
#[target_feature(enable = "avx512f")]
pub unsafe fn store_pairs_apart(to: *mut u32, rows: [*const Row; 2]) {
    let lower = _mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3);
    let upper = _mm512_setr_epi64(4, 4, 5, 5, 6, 6, 7, 7);
    for half in 0..2 {
        // SAFETY: as the caller says.
        unsafe {
            let (low, high) = weave(get(rows[0], half), get(rows[1], half));
            let parts = [(low, lower), (low, upper), (high, lower), (high, upper)];
            for (index, (pairs, order)) in parts.into_iter().enumerate() {
                let place = to.add(64 * half + 16 * index).cast();
                _mm512_mask_storeu_epi32(place, PAIRS, _mm512_permutexvar_epi64(order, pairs));
            }
        }
    }
}

/// The opposite of [`load_quads`].
///
/// # Safety
/// As [`load_quads`].
#[inline]
#[target_feature(enable = "avx512f")]
pub unsafe fn store_quads(to: *mut u32, rows: [*const Row; 4]) {
    let low = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    let high = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    for half in 0..2 {
        // SAFETY: as the caller says.
        unsafe {
            let first = weave(get(rows[0], half), get(rows[1], half));
            let second = weave(get(rows[2], half), get(rows[3], half));
            let parts = [
                (first.0, low, second.0),
                (first.0, high, second.0),
                (first.1, low, second.1),
                (first.1, high, second.1),
            ];
            for (index, (a, order, b)) in parts.into_iter().enumerate() {
                _mm512_storeu_si512(to.add(64 * half + 16 * index).cast(), _mm512_permutex2var_epi64(a, order, b));
            }
        }
    }
}

/// Words of `a` and `b` in turns: the lower eight of each, the upper eight.
#[inline]
#[target_feature(enable = "avx512f")]
fn weave(a: __m512i, b: __m512i) -> (__m512i, __m512i) {
    let low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    let high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    (_mm512_permutex2var_epi32(a, low, b), _mm512_permutex2var_epi32(a, high, b))
}

/// Sets 16 lanes of a row.
///
/// # Safety
/// `row` must be a row; `half` 0 or 1.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn put(row: *mut Row, half: usize, lanes: __m512i) {
    // SAFETY: as the caller says.
    unsafe { _mm512_storeu_si512(row.cast::<u32>().add(16 * half).cast(), lanes) }
}

/// 16 lanes of a row.
///
/// # Safety
/// As [`put`].
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn get(row: *const Row, half: usize) -> __m512i {
    // SAFETY: as the caller says.
    unsafe { _mm512_loadu_si512(row.cast::<u32>().add(16 * half).cast()) }
}

/// Copies the words of the lanes of `mask`.
///
/// # Safety
/// The machine must have AVX-512; the words of those lanes must be there at both places.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
pub unsafe fn copy_first(from: *const u32, to: *mut u32, mask: u32) {
    use std::arch::x86_64::*;
    for half in 0..2 {
        let lanes = (mask >> (16 * half)) as u16;
        // SAFETY: as the caller says; lanes that the mask leaves out are not touched.
        unsafe {
            let words = _mm512_maskz_loadu_epi32(lanes, from.wrapping_add(16 * half).cast());
            _mm512_mask_storeu_epi32(to.wrapping_add(16 * half).cast(), lanes, words);
        }
    }
}
