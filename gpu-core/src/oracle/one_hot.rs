use super::{Expected, Oracle, want_rank};

/// A row per label with a single 1.
pub(super) static ORACLE: Oracle = Oracle {
    name: "one_hot",
    signature: "labels[n] -> y[n,classes], 1 where the column is the label, else 0",
    check: |signature| {
        signature.counts(1, 1)?;
        want_rank(&signature.inputs[0], 1)?;
        want_rank(&signature.outputs[0], 2)?;
        if signature.outputs[0].shape[0] == signature.inputs[0].shape[0] {
            return Ok(());
        }
        Err(format!("`{}` must have one row per label", signature.outputs[0].name))
    },
    compute: |signature, inputs, _| {
        let classes = signature.outputs[0].shape[1];
        let row = |label: &f64| {
            let label = *label;
            (0..classes).map(move |class| if class as f64 == label { 1.0 } else { 0.0 })
        };
        vec![Expected::plain(inputs[0].iter().flat_map(row).collect())]
    },
    ..Oracle::NONE
};
