//! As [`super::deal`], for machines with AVX2 but without AVX-512: eight lanes at a time.

use std::arch::x86_64::*;

/// 32 lanes of a register.
type Row = [u32; 32];

/// Loads pairs of words of which eight lie at each of `parts`: `rows` are the registers of their first and second words.
///
/// # Safety
/// There must be 16 words at each part, `rows` must be rows; the machine must have AVX2.
#[inline]
#[target_feature(enable = "avx2")]
pub unsafe fn load_pairs_of(parts: [*mut u32; 4], rows: [*mut Row; 2]) {
    for (index, part) in parts.into_iter().enumerate() {
        // SAFETY: as the caller says.
        unsafe {
            let (a, b) = (_mm256_loadu_ps(part.cast()), _mm256_loadu_ps(part.add(8).cast()));
            // In the order 0, 1, 4, 5, 2, 3, 6, 7.
            let (even, odd) = (_mm256_shuffle_ps::<0x88>(a, b), _mm256_shuffle_ps::<0xdd>(a, b));
            put(rows[0], index, _mm256_permute4x64_epi64::<0xd8>(_mm256_castps_si256(even)));
            put(rows[1], index, _mm256_permute4x64_epi64::<0xd8>(_mm256_castps_si256(odd)));
        }
    }
}

/// Loads 32 times four words.
///
/// # Safety
/// As [`load_pairs_of`], with 128 words.
#[inline]
#[target_feature(enable = "avx2")]
pub unsafe fn load_quads(from: *const u32, rows: [*mut Row; 4]) {
    for index in 0..4 {
        // SAFETY: as the caller says.
        unsafe {
            // The words of one lane, and of the fourth one behind it.
            let two = |lane: usize| {
                let at = |lane: usize| _mm_loadu_si128(from.add(32 * index + 4 * lane).cast());
                _mm256_setr_m128i(at(lane), at(lane + 4))
            };
            let (a, b, c, d) = (two(0), two(1), two(2), two(3));
            let (low, high) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
            let (other_low, other_high) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
            put(rows[0], index, _mm256_unpacklo_epi64(low, other_low));
            put(rows[1], index, _mm256_unpackhi_epi64(low, other_low));
            put(rows[2], index, _mm256_unpacklo_epi64(high, other_high));
            put(rows[3], index, _mm256_unpackhi_epi64(high, other_high));
        }
    }
}

/// The opposite of [`load_pairs_of`]; where parts overlap, what is stored to the last one stays.
///
/// # Safety
/// As [`load_pairs_of`].
#[inline]
#[target_feature(enable = "avx2")]
pub unsafe fn store_pairs_of(parts: [*mut u32; 4], rows: [*const Row; 2]) {
    for (index, part) in parts.into_iter().enumerate() {
        // SAFETY: as the caller says.
        unsafe {
            let (a, b) = (get(rows[0], index), get(rows[1], index));
            let (low, high) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
            _mm256_storeu_si256(part.cast(), _mm256_permute2x128_si256::<0x20>(low, high));
            _mm256_storeu_si256(part.add(8).cast(), _mm256_permute2x128_si256::<0x31>(low, high));
        }
    }
}

/// The opposite of [`load_quads`].
///
/// # Safety
/// As [`load_quads`].
#[inline]
#[target_feature(enable = "avx2")]
pub unsafe fn store_quads(to: *mut u32, rows: [*const Row; 4]) {
    for index in 0..4 {
        // SAFETY: as the caller says.
        unsafe {
            let (a, b, c, d) = (get(rows[0], index), get(rows[1], index), get(rows[2], index), get(rows[3], index));
            let (low, high) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
            let (other_low, other_high) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
            // Of two lanes each, and of those four behind them.
            let first = (_mm256_unpacklo_epi64(low, other_low), _mm256_unpackhi_epi64(low, other_low));
            let second = (_mm256_unpacklo_epi64(high, other_high), _mm256_unpackhi_epi64(high, other_high));
            for (place, (a, b)) in [first, second].into_iter().enumerate() {
                let place = to.add(32 * index + 8 * place);
                _mm256_storeu_si256(place.cast(), _mm256_permute2x128_si256::<0x20>(a, b));
                _mm256_storeu_si256(place.add(16).cast(), _mm256_permute2x128_si256::<0x31>(a, b));
            }
        }
    }
}

/// Sets eight lanes of a row.
///
/// # Safety
/// `row` must be a row; `index` must be less than 4.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn put(row: *mut Row, index: usize, lanes: __m256i) {
    // SAFETY: as the caller says.
    unsafe { _mm256_storeu_si256(row.cast::<u32>().add(8 * index).cast(), lanes) }
}

/// Eight lanes of a row.
///
/// # Safety
/// As [`put`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn get(row: *const Row, index: usize) -> __m256i {
    // SAFETY: as the caller says.
    unsafe { _mm256_loadu_si256(row.cast::<u32>().add(8 * index).cast()) }
}
