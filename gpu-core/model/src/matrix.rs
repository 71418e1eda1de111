//! Products with a weight matrix, and RMS norm.

/// `[outputs, inputs]`, row-major.
#[derive(Clone, Debug)]
pub struct Matrix {
    pub outputs: usize,
    pub inputs: usize,
    pub values: Vec<f32>,
}

impl Matrix {
    /// `x[rows, inputs] * transpose(self)`, `[rows, outputs]`.
    pub fn apply(&self, x: &[f32]) -> Vec<f32> {
        let rows = x.len() / self.inputs.max(1);
        if rows == 1 {
            // A product of matrices would first put this one into another order, which takes longer than to read it once.
            return self.values.chunks_exact(self.inputs).map(|row| dot(row, x)).collect();
        }
        product(x, self.inputs, (&self.values, 1, self.inputs), rows, self.inputs, self.outputs)
    }
}

/// With as many sums as a core adds at a time.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    const SUMS: usize = 32;
    let mut sums = [0.0_f32; SUMS];
    let (a, b) = (a.chunks_exact(SUMS), b.chunks_exact(SUMS));
    let rest: f32 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a.zip(b) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    rest + sums.iter().sum::<f32>()
}

/// `a[rows, inner] * b[inner, columns]`, packed and row-major. Row r of a begins at `r * a_stride`; element `(i, j)` of b is
/// at `i * b.1 + j * b.2`.
pub fn product(
    a: &[f32],
    a_stride: usize,
    b: (&[f32], usize, usize),
    rows: usize,
    inner: usize,
    columns: usize,
) -> Vec<f32> {
    let mut out = vec![0.0_f32; rows * columns];
    if rows == 0 || inner == 0 || columns == 0 {
        return out;
    }
    let (b, down, across) = b;
    assert!((rows - 1) * a_stride + inner <= a.len(), "a of {} is read beyond its end", a.len());
    assert!((inner - 1) * down + (columns - 1) * across < b.len(), "b of {} is read beyond its end", b.len());
    // SAFETY: the last element that is read of each input is inside it, as just asserted, and so are all before it; `out`
    // has rows * columns elements and nobody else has it.
    unsafe {
        matrixmultiply::sgemm(
            rows,
            inner,
            columns,
            1.0,
            a.as_ptr(),
            a_stride as isize,
            1,
            b.as_ptr(),
            down as isize,
            across as isize,
            0.0,
            out.as_mut_ptr(),
            columns as isize,
            1,
        );
    }
    out
}

/// Each row of `x` divided by the root of its mean square, times `weight`.
pub fn rms_norm(x: &[f32], weight: &[f32], epsilon: f32) -> Vec<f32> {
    let mut out = Vec::with_capacity(x.len());
    for row in x.chunks(weight.len()) {
        let mean_square = row.iter().map(|value| value * value).sum::<f32>() / row.len() as f32;
        let factor = 1.0 / (mean_square + epsilon).sqrt();
        out.extend(row.iter().zip(weight).map(|(value, weight)| value * factor * weight));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_maps_each_row() {
        let matrix = Matrix { outputs: 2, inputs: 3, values: vec![1.0, 2.0, 3.0, 0.0, -1.0, 1.0] };
        assert_eq!(matrix.apply(&[1.0, 1.0, 1.0, 2.0, 0.0, 0.5]), [6.0, 0.0, 3.5, 0.5]);
    }

    #[test]
    fn a_product_takes_its_strides() {
        // Columns 1 and 2 of rows of four; b transposed.
        let a = [9.0, 1.0, 2.0, 9.0, 9.0, 3.0, 4.0, 9.0];
        let b = [1.0, 10.0, 2.0, 20.0, 3.0, 30.0];
        assert_eq!(product(&a[1..], 4, (&b, 1, 2), 2, 2, 3), [21.0, 42.0, 63.0, 43.0, 86.0, 129.0]);
    }

    #[test]
    fn a_norm_leaves_rows_of_mean_square_one() {
        let normed = rms_norm(&[3.0, 4.0, 0.0, 2.0], &[1.0, 2.0], 0.0);
        let root = 12.5_f32.sqrt();
        let expected = [3.0 / root, 8.0 / root, 0.0, 2.0 * 2.0 / 2.0_f32.sqrt()];
        assert!(normed.iter().zip(expected).all(|(got, expected)| (got - expected).abs() < 1e-6), "{normed:?}");
    }
}
