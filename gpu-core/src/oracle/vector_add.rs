use super::{Expected, Oracle, guess, want_rank};

/// Element-wise sum; also behind `matrix_add`.
pub(super) fn add(a: &[f64], b: &[f64]) -> Expected {
    Expected::new(
        a.iter().zip(b).map(|(a, b)| a + b).collect(),
        a.iter().zip(b).map(|(a, b)| a.abs() + b.abs()).collect(),
    )
}

/// `c = a + b`.
pub(super) static ORACLE: Oracle = Oracle {
    name: "vector_add",
    signature: "a[n], b[n] -> c[n] = a + b",
    check: |signature| {
        signature.counts(2, 1)?;
        want_rank(&signature.outputs[0], 1)?;
        signature.all_alike()
    },
    compute: |_, inputs, _| vec![add(&inputs[0], &inputs[1])],
    rivals: &["vector_add"],
    guesses: guess::SUM_OF_TWO,
    ..Oracle::NONE
};
