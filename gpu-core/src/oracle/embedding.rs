use super::{Expected, Oracle, want_rank, want_shape};

/// Rows of a table by index. An index outside the table gives NaN: specs fill indices within range.
pub(super) static ORACLE: Oracle = Oracle {
    name: "embedding",
    signature: "table[v,d], indices[t] -> y[t,d] = table[indices]",
    check: |signature| {
        signature.counts(2, 1)?;
        want_rank(&signature.inputs[0], 2)?;
        want_rank(&signature.inputs[1], 1)?;
        want_shape(&signature.outputs[0], &[signature.inputs[1].shape[0], signature.inputs[0].shape[1]])
    },
    compute: |signature, inputs, _| {
        let width = signature.inputs[0].shape[1];
        let mut values = Vec::with_capacity(inputs[1].len() * width);
        for index in &inputs[1] {
            match inputs[0].get(*index as usize * width..).and_then(|rest| rest.get(..width)) {
                Some(row) if *index >= 0.0 => values.extend_from_slice(row),
                _ => values.resize(values.len() + width, f64::NAN),
            }
        }
        vec![Expected::plain(values)]
    },
    ..Oracle::NONE
};
