use super::{Expected, Oracle};

/// Each element, moved into an interval. A NaN stays NaN; `fminf(fmaxf(x, low), high)` would make it `low`.
pub(super) static ORACLE: Oracle = Oracle {
    name: "clamp",
    signature: "x[...], scalars low, high -> y[...] = low below low, high above high, else x; NaN stays NaN",
    check: |signature| {
        signature.counts(1, 1)?;
        signature.scalar("low")?;
        signature.scalar("high")?;
        signature.all_alike()
    },
    compute: |signature, inputs, _| {
        let bound = |name| signature.scalar(name).unwrap_or(f64::NAN);
        let (low, high) = (bound("low"), bound("high"));
        let clamped = |x: &f64| {
            if *x < low {
                low
            } else if *x > high {
                high
            } else {
                *x
            }
        };
        let values: Vec<f64> = inputs[0].iter().map(clamped).collect();
        vec![Expected::plain(values)]
    },
    ..Oracle::NONE
};
