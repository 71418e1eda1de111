//! `c += a * b` with three loops, in the six orders that three loops have, and in blocks.
//!
//! All matrices are square, `n` by `n`, row-major, and indexed as the lesson writes it, without bounds checks, as C++ has
//! none either: what is measured is the order.

use std::sync::atomic::{AtomicBool, Ordering};

/// A product: adds `a * b` to `c`, which begins at zero. False when it was stopped before its end.
pub type Product = fn(usize, &[f32], &[f32], &mut [f32], &AtomicBool) -> bool;

/// Defines a product with its loops in a fixed order; the outermost looks whether it should stop.
macro_rules! in_order {
    ($name:ident, $x:ident, $y:ident, $z:ident, $i:ident, $j:ident, $k:ident) => {
        pub fn $name(n: usize, a: &[f32], b: &[f32], c: &mut [f32], stop: &AtomicBool) -> bool {
            assert!(a.len() == n * n && b.len() == n * n && c.len() == n * n);
            for $x in 0..n {
                if stop.load(Ordering::Relaxed) {
                    return false;
                }
                for $y in 0..n {
                    for $z in 0..n {
                        // SAFETY: i, j and k are below n, so each index is below n * n, which is each slice's length.
                        unsafe {
                            *c.get_unchecked_mut($i * n + $j) +=
                                a.get_unchecked($i * n + $k) * b.get_unchecked($k * n + $j);
                        }
                    }
                }
            }
            true
        }
    };
}

in_order!(ijk, i, j, k, i, j, k);
in_order!(ikj, i, k, j, i, j, k);
in_order!(jik, j, i, k, i, j, k);
in_order!(jki, j, k, i, i, j, k);
in_order!(kij, k, i, j, i, j, k);
in_order!(kji, k, j, i, i, j, k);

/// Edge of a block: three blocks of 64 x 64 floats are 48 KB, about a first-level cache.
const BLOCK: usize = 64;

/// The order i, k, j inside blocks, so that what was fetched is used again before it is lost.
pub fn blocked(n: usize, a: &[f32], b: &[f32], c: &mut [f32], stop: &AtomicBool) -> bool {
    let (a, b, c) = (&a[..n * n], &b[..n * n], &mut c[..n * n]);
    for i0 in (0..n).step_by(BLOCK) {
        for k0 in (0..n).step_by(BLOCK) {
            if stop.load(Ordering::Relaxed) {
                return false;
            }
            for j0 in (0..n).step_by(BLOCK) {
                let width = BLOCK.min(n - j0);
                for i in i0..(i0 + BLOCK).min(n) {
                    let row_of_c = &mut c[i * n + j0..][..width];
                    for k in k0..(k0 + BLOCK).min(n) {
                        let factor = a[i * n + k];
                        for (sum, value) in row_of_c.iter_mut().zip(&b[k * n + j0..][..width]) {
                            *sum += factor * value;
                        }
                    }
                }
            }
        }
    }
    true
}
