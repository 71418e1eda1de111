use super::{Expected, Oracle, want_rank, want_shape};

/// Elements by index. An index outside the source gives NaN: specs fill indices within range.
pub(super) static ORACLE: Oracle = Oracle {
    name: "gather",
    signature: "x[n], indices[t] -> y[t] = x[indices]",
    check: |signature| {
        signature.counts(2, 1)?;
        want_rank(&signature.inputs[0], 1)?;
        want_rank(&signature.inputs[1], 1)?;
        want_shape(&signature.outputs[0], &signature.inputs[1].shape)
    },
    compute: |_, inputs, _| {
        let pick = |index: &f64| {
            let found = if *index >= 0.0 { inputs[0].get(*index as usize) } else { None };
            found.copied().unwrap_or(f64::NAN)
        };
        vec![Expected::plain(inputs[1].iter().map(pick).collect())]
    },
    ..Oracle::NONE
};
