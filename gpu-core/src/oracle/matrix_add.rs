use super::{Oracle, guess, vector_add::add, want_rank};

/// `c = a + b` for matrices.
pub(super) static ORACLE: Oracle = Oracle {
    name: "matrix_add",
    signature: "a[m,n], b[m,n] -> c[m,n] = a + b",
    check: |signature| {
        signature.counts(2, 1)?;
        want_rank(&signature.outputs[0], 2)?;
        signature.all_alike()
    },
    compute: |_, inputs, _| vec![add(&inputs[0], &inputs[1])],
    guesses: guess::SUM_OF_TWO,
    ..Oracle::NONE
};
