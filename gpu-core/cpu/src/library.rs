//! What a library makes of the same product: SIMD kernels over packed blocks, and all cores.

use std::sync::atomic::{AtomicBool, Ordering};

/// Rows that a core takes at a time: few enough that a stop is soon seen, and that no core idles long at the end.
const BAND: usize = 64;

/// `matrixmultiply` on bands of rows, one core for each band until none is left.
pub fn product(n: usize, a: &[f32], b: &[f32], c: &mut [f32], stop: &AtomicBool) -> bool {
    let (a, b, c) = (&a[..n * n], &b[..n * n], &mut c[..n * n]);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let bands = std::sync::Mutex::new(c.chunks_mut(BAND * n.max(1)).enumerate());
    std::thread::scope(|scope| {
        let work = || {
            while !stop.load(Ordering::Relaxed) {
                let next = bands.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
                let Some((index, band)) = next else { return };
                let rows = band.len() / n;
                let first = index * BAND * n;
                // SAFETY: `a` is read from row `index * BAND` on, `rows` rows of n; `b` is n by n; `band` is this
                // thread's own piece of c, rows by n. All strides are those of row-major storage.
                unsafe {
                    matrixmultiply::sgemm(
                        rows,
                        n,
                        n,
                        1.0,
                        a[first..].as_ptr(),
                        n as isize,
                        1,
                        b.as_ptr(),
                        n as isize,
                        1,
                        1.0,
                        band.as_mut_ptr(),
                        n as isize,
                        1,
                    );
                }
            }
        };
        for _ in 1..cores.min(n.div_ceil(BAND).max(1)) {
            scope.spawn(work);
        }
        work();
    });
    !stop.load(Ordering::Relaxed)
}
