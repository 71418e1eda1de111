use super::rows::{log_sum_exp, without_last};
use super::{Expected, Oracle, Signature, in_bands, want_shape};

/// Softmax along the last axis, with the row's maximum subtracted.
pub(super) static ORACLE: Oracle = Oracle {
    name: "softmax",
    signature: "x[...,n] -> y[...,n] = exp(x) / sum of exp(x) along the last axis; optional second output lse[...] = \
                log(sum of exp(x))",
    check: |signature| {
        signature.counts_between(1, 1, 1, 2)?;
        let shape = &signature.inputs[0].shape;
        want_shape(&signature.outputs[0], shape)?;
        signature.outputs.get(1).map_or(Ok(()), |lse| want_shape(lse, &without_last(shape)))
    },
    compute: |signature, inputs, watch| {
        let columns = signature.inputs[0].columns().max(1);
        let mut values = inputs[0].clone();
        in_bands(&mut values, columns, watch, |_, band| {
            for row in band.chunks_exact_mut(columns) {
                let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                row.iter_mut().for_each(|x| *x = (*x - most).exp());
                let sum: f64 = row.iter().sum();
                row.iter_mut().for_each(|x| *x /= sum);
            }
        });
        let mut outputs = vec![Expected::plain(values)];
        if signature.outputs.len() > 1 {
            outputs.push(Expected::of_logs(inputs[0].chunks_exact(columns).map(log_sum_exp).collect()));
        }
        outputs
    },
    sample: Some(|signature, inputs, output, elements| {
        let columns = signature.inputs[0].columns().max(1);
        let lse = |row: usize| log_sum_exp(&inputs[0].range(row * columns..(row + 1) * columns));
        if output == 1 {
            return Expected::of_logs(elements.iter().map(|row| lse(*row)).collect());
        }
        // Elements come row by row, as a rule.
        let mut last = (usize::MAX, 0.0);
        let of = |element: &usize| {
            let row = element / columns;
            if last.0 != row {
                last = (row, lse(row));
            }
            (inputs[0].at(*element) - last.1).exp()
        };
        Expected::plain(elements.iter().map(of).collect())
    }),
    rivals: &["softmax"],
    ..Oracle::NONE
};

/// Partial results of online softmax put together: of each part its maximum, its sum of `exp(x - maximum)` and its
/// weighted, not yet divided, sum of values.
pub(super) static MERGE: Oracle = Oracle {
    name: "softmax_merge",
    signature: "max[parts,rows], sum[parts,rows], optional values[parts,rows,d] (each sum of exp(x - max) * v, not \
                divided) -> any of lse[rows], max_out[rows], sum_out[rows], out[rows,d] (divided) by name",
    check: check_merge,
    compute: |signature, inputs, _| {
        let (parts, rows) = (signature.inputs[0].shape[0], signature.inputs[0].shape[1]);
        let depth = signature.inputs.get(2).map_or(0, |values| values.columns());
        let most = |row: usize| (0..parts).map(|part| inputs[0][part * rows + row]).fold(f64::NEG_INFINITY, f64::max);
        let weight = |part: usize, row: usize| {
            let own = inputs[0][part * rows + row];
            // An empty part has no maximum and counts for nothing.
            if own == f64::NEG_INFINITY { 0.0 } else { (own - most(row)).exp() }
        };
        let sum = |row: usize| (0..parts).map(|part| weight(part, row) * inputs[1][part * rows + row]).sum::<f64>();
        let each = |value: &dyn Fn(usize) -> f64| (0..rows).map(value).collect::<Vec<f64>>();
        // Of each part and row: what its values count for.
        let shares: Vec<f64> = {
            let sums = each(&sum);
            (0..parts * rows).map(|at| weight(at / rows, at % rows) / sums[at % rows]).collect()
        };
        let of = |name: &str| match name {
            "lse" => Expected::of_logs(each(&|row| most(row) + sum(row).ln())),
            "max_out" => Expected::plain(each(&most)),
            "sum_out" => Expected::plain(each(&sum)),
            _ => {
                let term =
                    |part: usize, at: usize| shares[part * rows + at / depth] * inputs[2][part * rows * depth + at];
                let total = |part_of: &dyn Fn(f64) -> f64| {
                    (0..rows * depth)
                        .map(|at| (0..parts).map(|part| part_of(term(part, at))).sum())
                        .collect::<Vec<f64>>()
                };
                Expected::new(total(&|x| x), total(&f64::abs))
            }
        };
        signature.outputs.iter().map(|output| of(&output.name)).collect()
    },
    ..Oracle::NONE
};

fn check_merge(signature: &Signature) -> Result<(), String> {
    signature.counts_between(2, 3, 1, 4)?;
    super::want_rank(&signature.inputs[0], 2)?;
    let (parts, rows) = (signature.inputs[0].shape[0], signature.inputs[0].shape[1]);
    want_shape(&signature.inputs[1], &[parts, rows])?;
    let depth = signature.inputs.get(2).map(|values| values.columns());
    if let (Some(values), Some(depth)) = (signature.inputs.get(2), depth) {
        want_shape(values, &[parts, rows, depth])?;
    }
    for output in &signature.outputs {
        match (output.name.as_str(), depth) {
            ("lse" | "max_out" | "sum_out", _) => want_shape(output, &[rows])?,
            ("out", Some(depth)) => want_shape(output, &[rows, depth])?,
            ("out", None) => return Err("an output `out` needs the input `values`".to_owned()),
            (other, _) => return Err(format!("an output `{other}`; it must be lse, max_out, sum_out or out")),
        }
    }
    Ok(())
}
