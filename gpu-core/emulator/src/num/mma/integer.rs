//! Integer and one-bit matrix operations: exact.

/// D = A x B + C over integers already unpacked to i32; layouts as in [`super::dot_tile`]. Sums wrap, or clamp to the
/// range of s32 with `.satfinite`.
pub fn integer_tile((m, n, k): (usize, usize, usize), a: &[i32], b: &[i32], c: &[i32], saturate: bool, d: &mut [i32]) {
    for i in 0..m {
        for j in 0..n {
            // 256 products of at most 2^16 are far from the range of i64.
            let exact = (0..k)
                .fold(i64::from(c[i * n + j]), |sum, kk| sum + i64::from(a[i * k + kk]) * i64::from(b[kk * n + j]));
            d[i * n + j] =
                if saturate { exact.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32 } else { exact as i32 };
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
