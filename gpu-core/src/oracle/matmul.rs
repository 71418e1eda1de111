use super::{Expected, LibraryProduct, Oracle, Signature, Source, guess, in_bands, want_rank, want_shape};

/// Rows of `b` that stay in the cache while a band of `c` is swept: 64 rows of 1024 doubles are 512 KB.
const DEPTH: usize = 64;

/// The same product, of an exercise in which a library is called that counts by columns: what goes wrong there is the
/// call, and the guesses at it are others.
pub(super) static CALL: Oracle = Oracle { name: "matmul_call", guesses: guess::MATMUL_CALL, ..ORACLE };

/// `c = a * b`. The magnitude of an element is the product of the norms of its row and column: by Cauchy and
/// Schwarz at least the sum of absolute products, and for random data at most 1.6 times that, at no cubic cost.
pub(super) static ORACLE: Oracle = Oracle {
    name: "matmul",
    signature: "a[m,k], b[k,n] -> c[m,n] = a * b",
    check: |signature| {
        signature.counts(2, 1)?;
        want_rank(&signature.inputs[0], 2)?;
        want_rank(&signature.inputs[1], 2)?;
        let (a, b) = (&signature.inputs[0].shape, &signature.inputs[1].shape);
        want_shape(&signature.inputs[1], &[a[1], b[1]])?;
        want_shape(&signature.outputs[0], &[a[0], b[1]])
    },
    compute: |signature, inputs, watch| {
        let (rows, depth) = (signature.inputs[0].shape[0], signature.inputs[0].shape[1]);
        let columns = signature.inputs[1].shape[1];
        let (a, b) = (&inputs[0], &inputs[1]);
        let mut values = vec![0.0; rows * columns];
        in_bands(&mut values, columns, watch, |first_row, band| {
            for start in (0..depth).step_by(DEPTH) {
                for (row, out) in band.chunks_exact_mut(columns.max(1)).enumerate() {
                    let a_row = &a[(first_row + row) * depth..][..depth];
                    for inner in start..(start + DEPTH).min(depth) {
                        let factor = a_row[inner];
                        for (sum, value) in out.iter_mut().zip(&b[inner * columns..][..columns]) {
                            *sum += factor * value;
                        }
                    }
                }
            }
        });
        let norm = |row: usize| a[row * depth..][..depth].iter().map(|x| x * x).sum::<f64>().sqrt();
        let row_norms: Vec<f64> = (0..rows).map(norm).collect();
        let mut column_norms = vec![0.0; columns];
        for row in b.chunks_exact(columns.max(1)) {
            for (sum, value) in column_norms.iter_mut().zip(row) {
                *sum += value * value;
            }
        }
        column_norms.iter_mut().for_each(|sum: &mut f64| *sum = sum.sqrt());
        let magnitudes = row_norms.iter().flat_map(|row| column_norms.iter().map(move |column| row * column)).collect();
        vec![Expected::new(values, magnitudes)]
    },
    sample: Some(|signature, inputs, _, elements| sample(signature, inputs, elements, false)),
    library: Some(LibraryProduct { b_is_transposed: false, in_tf32: false }),
    guesses: guess::MATMUL,
    ..Oracle::NONE
};

/// Single elements of a product, with the same magnitudes as the whole.
pub(super) fn sample(
    signature: &Signature,
    inputs: &[Source<'_>],
    elements: &[usize],
    b_is_transposed: bool,
) -> Expected {
    let depth = signature.inputs[0].columns();
    let columns = signature.outputs[0].columns();
    let element = |at: &usize| {
        let (row, column) = (at / columns, at % columns);
        let (mut sum, mut a_square, mut b_square) = (0.0, 0.0, 0.0);
        for inner in 0..depth {
            let x = inputs[0].at(row * depth + inner);
            let place = if b_is_transposed { column * depth + inner } else { inner * columns + column };
            let y = inputs[1].at(place);
            sum += x * y;
            a_square += x * x;
            b_square += y * y;
        }
        (sum, f64::sqrt(a_square * b_square))
    };
    let (values, magnitudes) = elements.iter().map(element).unzip();
    Expected::new(values, magnitudes)
}
