use super::{Expected, Oracle, in_bands};

/// Softmax along the last axis, with the row's maximum subtracted.
pub(super) static ORACLE: Oracle = Oracle {
    name: "softmax",
    signature: "x[...,n] -> y[...,n] = exp(x) / sum of exp(x) along the last axis",
    check: |signature| {
        signature.counts(1, 1)?;
        signature.all_alike()
    },
    compute: |signature, inputs, watch| {
        let columns = signature.inputs[0].shape.last().copied().unwrap_or(1);
        let mut values = inputs[0].clone();
        in_bands(&mut values, columns, watch, |_, band| {
            for row in band.chunks_exact_mut(columns) {
                let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                row.iter_mut().for_each(|x| *x = (*x - most).exp());
                let sum: f64 = row.iter().sum();
                row.iter_mut().for_each(|x| *x /= sum);
            }
        });
        vec![Expected::plain(values)]
    },
    ..Oracle::NONE
};
