use super::{Expected, Oracle, sum::compensated, want_shape};

/// `y[0]` = dot product of `a` and `b`.
pub(super) static ORACLE: Oracle = Oracle {
    name: "dot",
    signature: "a[n], b[n] -> y[1] = sum of a * b",
    check: |signature| {
        signature.counts(2, 1)?;
        want_shape(&signature.inputs[1], &signature.inputs[0].shape)?;
        want_shape(&signature.outputs[0], &[1])
    },
    compute: |_, inputs, _| {
        let products = || inputs[0].iter().zip(&inputs[1]).map(|(a, b)| a * b);
        vec![Expected::new(vec![compensated(products())], vec![products().map(f64::abs).sum()])]
    },
    ..Oracle::NONE
};
