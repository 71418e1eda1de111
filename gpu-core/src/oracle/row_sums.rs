use super::{Expected, Oracle, sum::compensated, want_shape};

/// A sum for each row: along the last axis.
pub(super) static ORACLE: Oracle = Oracle {
    name: "row_sums",
    signature: "x[...,n] -> y[...] = sum of x along the last axis",
    check: |signature| {
        signature.counts(1, 1)?;
        let shape = &signature.inputs[0].shape;
        want_shape(&signature.outputs[0], if shape.len() == 1 { &[1] } else { &shape[..shape.len() - 1] })
    },
    compute: |signature, inputs, _| {
        let columns = signature.inputs[0].columns().max(1);
        let rows = || inputs[0].chunks_exact(columns);
        vec![Expected::new(
            rows().map(|row| compensated(row.iter().copied())).collect(),
            rows().map(|row| row.iter().map(|x| x.abs()).sum()).collect(),
        )]
    },
    sample: Some(|signature, inputs, _, elements| {
        let columns = signature.inputs[0].columns();
        let of = |row: &usize| {
            let row = inputs[0].range(row * columns..(row + 1) * columns);
            (compensated(row.iter().copied()), row.iter().map(|x| x.abs()).sum::<f64>())
        };
        let (values, magnitudes) = elements.iter().map(of).unzip();
        Expected::new(values, magnitudes)
    }),
    ..Oracle::NONE
};
