use super::{Expected, Oracle};

/// `y = alpha * x + y`, in place or into an own output.
pub(super) static ORACLE: Oracle = Oracle {
    name: "saxpy",
    signature: "x[...], y[...], scalar alpha -> out[...] = alpha * x + y (y may be the `inout` buffer)",
    check: |signature| {
        signature.counts(2, 1)?;
        signature.scalar("alpha")?;
        signature.all_alike()
    },
    compute: |signature, inputs, _| {
        let alpha = signature.scalar("alpha").unwrap_or(f64::NAN);
        let pairs = || inputs[0].iter().zip(&inputs[1]);
        vec![Expected::new(
            pairs().map(|(x, y)| alpha * x + y).collect(),
            pairs().map(|(x, y)| (alpha * x).abs() + y.abs()).collect(),
        )]
    },
    ..Oracle::NONE
};
