use super::{Expected, Oracle, want_rank, want_shape};

/// `y[j][i] = x[i][j]`.
pub(super) static ORACLE: Oracle = Oracle {
    name: "transpose",
    signature: "x[m,n] -> y[n,m]",
    check: |signature| {
        signature.counts(1, 1)?;
        want_rank(&signature.inputs[0], 2)?;
        let shape = &signature.inputs[0].shape;
        want_shape(&signature.outputs[0], &[shape[1], shape[0]])
    },
    compute: |signature, inputs, _| {
        let (rows, columns) = (signature.inputs[0].shape[0], signature.inputs[0].shape[1]);
        let mut values = Vec::with_capacity(rows * columns);
        for column in 0..columns {
            values.extend((0..rows).map(|row| inputs[0][row * columns + column]));
        }
        vec![Expected::plain(values)]
    },
    ..Oracle::NONE
};
