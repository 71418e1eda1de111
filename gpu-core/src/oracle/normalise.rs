use super::{Expected, Oracle, want_rank, want_shape};

/// Columns shifted by a mean and divided by a standard deviation of their own, as image channels or table columns
/// are before training.
pub(super) static ORACLE: Oracle = Oracle {
    name: "normalise",
    signature: "x[m,n], mean[n], std[n] -> y[m,n] = (x - mean) / std",
    check: |signature| {
        signature.counts(3, 1)?;
        want_rank(&signature.inputs[0], 2)?;
        let columns = signature.inputs[0].shape[1];
        want_shape(&signature.inputs[1], &[columns])?;
        want_shape(&signature.inputs[2], &[columns])?;
        want_shape(&signature.outputs[0], &signature.inputs[0].shape)
    },
    compute: |_, inputs, _| {
        let (mean, std) = (&inputs[1], &inputs[2]);
        let each = |work: fn(f64, f64, f64) -> f64| -> Vec<f64> {
            inputs[0].iter().enumerate().map(|(i, x)| work(*x, mean[i % mean.len()], std[i % std.len()])).collect()
        };
        vec![Expected::new(
            each(|x, mean, std| (x - mean) / std),
            each(|x, mean, std| (x.abs() + mean.abs()) / std.abs()),
        )]
    },
    ..Oracle::NONE
};
