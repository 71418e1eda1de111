use super::{Expected, Oracle, guess, want_shape};

/// Sum of everything, by Neumaier's compensated summation, so that 2^30 terms lose nothing that matters.
pub(super) fn compensated(terms: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0f64);
    for term in terms {
        let next = sum + term;
        lost += if sum.abs() >= term.abs() { (sum - next) + term } else { (term - next) + sum };
        sum = next;
    }
    sum + lost
}

/// `y[0]` = sum of `x`.
pub(super) static ORACLE: Oracle = Oracle {
    name: "sum",
    signature: "x[...] -> y[1] = sum of x",
    check: |signature| {
        signature.counts(1, 1)?;
        want_shape(&signature.outputs[0], &[1])
    },
    compute: |_, inputs, _| {
        vec![Expected::new(vec![compensated(inputs[0].iter().copied())], vec![inputs[0].iter().map(|x| x.abs()).sum()])]
    },
    rivals: &["sum"],
    guesses: guess::SUM,
    ..Oracle::NONE
};
