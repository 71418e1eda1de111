//! Integer and one-bit matrix operations: exact.

/// D = A x B + C over integers already unpacked to i32: `a` m x k, `b` k x n, `c` and `d` m x n, all row by row. Sums
/// wrap, or clamp to the range of s32 with `.satfinite`.
pub fn integer_tile(dims: (usize, usize, usize), a: &[i32], b: &[i32], c: &[i32], saturate: bool, d: &mut [i32]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor was just found to have AVX2.
        return unsafe { tile_avx2(dims, a, b, c, saturate, d) };
    }
    tile_portable(dims, a, b, c, saturate, d);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn tile_avx2(dims: (usize, usize, usize), a: &[i32], b: &[i32], c: &[i32], saturate: bool, d: &mut [i32]) {
    tile_portable(dims, a, b, c, saturate, d);
}

#[inline(always)]
fn tile_portable((m, n, k): (usize, usize, usize), a: &[i32], b: &[i32], c: &[i32], saturate: bool, d: &mut [i32]) {
    const WIDTH: usize = 8;
    for i in 0..m {
        let a_row = &a[i * k..(i + 1) * k];
        for j in (0..n).step_by(WIDTH) {
            // 128 products of at most 2^16 fit in 32 bits.
            let mut sum = [0i32; WIDTH];
            for (&x, row) in a_row.iter().zip(b.chunks_exact(n)) {
                for (sum, &y) in sum.iter_mut().zip(&row[j..j + WIDTH]) {
                    *sum = sum.wrapping_add(x.wrapping_mul(y));
                }
            }
            for (x, sum) in sum.into_iter().enumerate() {
                let at = i * n + j + x;
                d[at] = if saturate { c[at].saturating_add(sum) } else { c[at].wrapping_add(sum) };
            }
        }
    }
}

/// The bit operation of a one-bit `mma`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BitOp {
    And,
    Xor,
}

/// D = popc(A op B) + C. `a` holds m rows of `words` 32-bit words, `b` n columns of `words` words; sums wrap.
pub fn bit_tile(op: BitOp, (m, n, words): (usize, usize, usize), a: &[u32], b: &[u32], c: &[i32], d: &mut [i32]) {
    for i in 0..m {
        for j in 0..n {
            let pairs = a[i * words..][..words].iter().zip(&b[j * words..][..words]);
            let ones: u32 = pairs.map(|(x, y)| if op == BitOp::And { x & y } else { x ^ y }.count_ones()).sum();
            d[i * n + j] = c[i * n + j].wrapping_add(ones as i32);
        }
    }
}
