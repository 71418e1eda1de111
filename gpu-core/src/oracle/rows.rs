//! Oracles of which each row of the output follows from the same row of the input.

use super::sum::compensated;
use super::{Expected, Oracle, Signature, Source, in_bands, want_shape};

/// The shape without its last axis; `[1]` of a vector.
pub(super) fn without_last(shape: &[usize]) -> Vec<usize> {
    if shape.len() < 2 { vec![1] } else { shape[..shape.len() - 1].to_vec() }
}

fn rows<'a>(signature: &Signature, inputs: &'a [Vec<f64>]) -> impl Iterator<Item = &'a [f64]> {
    inputs[0].chunks_exact(signature.inputs[0].columns().max(1))
}

/// `log(sum of exp(x))` with the maximum subtracted; -inf of a row that is -inf throughout.
pub(super) fn log_sum_exp(row: &[f64]) -> f64 {
    let most = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if most.is_infinite() {
        return if row.iter().any(|x| x.is_nan()) { f64::NAN } else { most };
    }
    most + compensated(row.iter().map(|x| (x - most).exp())).ln()
}

/// Largest element, sum, mean and variance of each row.
pub(super) static STATS: Oracle = Oracle {
    name: "row_stats",
    signature: "x[...,n] -> any of max[...], min[...], sum[...], mean[...], variance[...] (of the n, not n - 1) by name, \
                along the last axis",
    check: |signature| {
        signature.counts_between(1, 1, 1, STATISTICS.len())?;
        let shape = without_last(&signature.inputs[0].shape);
        for output in &signature.outputs {
            if statistic(&output.name).is_none() {
                let names: Vec<&str> = STATISTICS.iter().map(|(name, _)| *name).collect();
                return Err(format!("an output `{}`; it must be one of {}", output.name, names.join(", ")));
            }
            want_shape(output, &shape)?;
        }
        Ok(())
    },
    compute: |signature, inputs, _| {
        let of = |name: &str| {
            let statistic = statistic(name).unwrap_or(|_| (f64::NAN, f64::NAN));
            let (values, magnitudes) = rows(signature, inputs).map(statistic).unzip();
            Expected::new(values, magnitudes)
        };
        signature.outputs.iter().map(|output| of(&output.name)).collect()
    },
    sample: Some(|signature, inputs, output, elements| {
        let columns = signature.inputs[0].columns();
        let statistic = statistic(&signature.outputs[output].name).unwrap_or(|_| (f64::NAN, f64::NAN));
        let of = |row: &usize| statistic(&inputs[0].range(row * columns..(row + 1) * columns));
        let (values, magnitudes) = elements.iter().map(of).unzip();
        Expected::new(values, magnitudes)
    }),
    ..Oracle::NONE
};

/// A value and its magnitude.
type Statistic = fn(&[f64]) -> (f64, f64);

const STATISTICS: [(&str, Statistic); 5] = [
    ("max", |row| of_itself(row.iter().copied().fold(f64::NEG_INFINITY, f64::max))),
    ("min", |row| of_itself(row.iter().copied().fold(f64::INFINITY, f64::min))),
    ("sum", |row| (compensated(row.iter().copied()), row.iter().map(|x| x.abs()).sum())),
    ("mean", |row| {
        let count = row.len() as f64;
        (mean(row), row.iter().map(|x| x.abs()).sum::<f64>() / count)
    }),
    // What a kernel subtracts may be as large as the mean of the squares.
    ("variance", |row| (variance(row), row.iter().map(|x| x * x).sum::<f64>() / row.len() as f64)),
];

fn statistic(name: &str) -> Option<Statistic> {
    STATISTICS.iter().find(|(known, _)| *known == name).map(|(_, statistic)| *statistic)
}

fn of_itself(value: f64) -> (f64, f64) {
    (value, value.abs())
}

fn mean(row: &[f64]) -> f64 {
    compensated(row.iter().copied()) / row.len() as f64
}

/// By the mean, in two passes.
fn variance(row: &[f64]) -> f64 {
    let mean = mean(row);
    compensated(row.iter().map(|x| (x - mean).powi(2))) / row.len() as f64
}

/// `log(sum of exp(x))` along the last axis.
pub(super) static LOGSUMEXP: Oracle = Oracle {
    name: "logsumexp",
    signature: "x[...,n] -> y[...] = log(sum of exp(x)) along the last axis",
    check: |signature| {
        signature.counts(1, 1)?;
        want_shape(&signature.outputs[0], &without_last(&signature.inputs[0].shape))
    },
    compute: |signature, inputs, _| vec![Expected::of_logs(rows(signature, inputs).map(log_sum_exp).collect())],
    sample: Some(|signature, inputs, _, elements| {
        let columns = signature.inputs[0].columns();
        Expected::of_logs(
            elements.iter().map(|row| log_sum_exp(&inputs[0].range(row * columns..(row + 1) * columns))).collect(),
        )
    }),
    ..Oracle::NONE
};

/// Index of the largest element of each row, the first of equal ones.
pub(super) static ARGMAX: Oracle = Oracle {
    name: "argmax",
    signature: "x[...,n] -> index[...] of the largest along the last axis, the first of equal ones; optional second \
                output: its value",
    check: |signature| {
        signature.counts_between(1, 1, 1, 2)?;
        let shape = without_last(&signature.inputs[0].shape);
        signature.outputs.iter().try_for_each(|output| want_shape(output, &shape))
    },
    compute: |signature, inputs, _| {
        let (indices, values) = rows(signature, inputs).map(largest).unzip();
        let mut all = vec![Expected::plain(indices), Expected::plain(values)];
        all.truncate(signature.outputs.len());
        all
    },
    sample: Some(|signature, inputs, output, elements| {
        let columns = signature.inputs[0].columns();
        let of = |row: &usize| {
            let (index, value) = largest(&inputs[0].range(row * columns..(row + 1) * columns));
            if output == 0 { index } else { value }
        };
        Expected::plain(elements.iter().map(of).collect())
    }),
    ..Oracle::NONE
};

/// NaN is larger than nothing; a row of nothing else gives its first.
fn largest(row: &[f64]) -> (f64, f64) {
    let mut best = 0;
    for (index, x) in row.iter().enumerate() {
        if *x > row[best] || (row[best].is_nan() && !x.is_nan()) {
            best = index;
        }
    }
    (best as f64, row.get(best).copied().unwrap_or(f64::NAN))
}

/// Rows shifted by their mean and divided by their standard deviation.
pub(super) static LAYER_NORM: Oracle = Oracle {
    name: "layer_norm",
    signature: "x[...,n], optional weight[n] and bias[n], scalar epsilon -> y[...,n] = (x - mean) / sqrt(variance + \
                epsilon) * weight + bias along the last axis; optional further outputs mean[...], rstd[...]",
    check: |signature| check_norm(signature, &["mean", "rstd"]),
    compute: |signature, inputs, watch| norm(signature, &Source::plain(inputs), watch, true),
    sample: Some(|signature, inputs, output, elements| sample_norm(signature, inputs, output, elements, true)),
    ..Oracle::NONE
};

/// Rows divided by their root mean square.
pub(super) static RMS_NORM: Oracle = Oracle {
    name: "rms_norm",
    signature: "x[...,n], optional weight[n], scalar epsilon -> y[...,n] = x / sqrt(mean of x^2 + epsilon) * weight along \
                the last axis; optional second output rstd[...]",
    check: |signature| {
        check_norm(signature, &["rstd"])?;
        signature.input("bias").map_or(Ok(()), |_| Err("it has no `bias`".to_owned()))
    },
    compute: |signature, inputs, watch| norm(signature, &Source::plain(inputs), watch, false),
    sample: Some(|signature, inputs, output, elements| sample_norm(signature, inputs, output, elements, false)),
    ..Oracle::NONE
};

fn check_norm(signature: &Signature, further: &[&str]) -> Result<(), String> {
    signature.counts_between(1, 3, 1, 1 + further.len())?;
    signature.scalar("epsilon")?;
    let shape = &signature.inputs[0].shape;
    want_shape(&signature.outputs[0], shape)?;
    for tensor in &signature.inputs[1..] {
        if !["weight", "bias"].contains(&tensor.name.as_str()) {
            return Err(format!("`{}` is neither `weight` nor `bias`", tensor.name));
        }
        want_shape(tensor, &[signature.inputs[0].columns()])?;
    }
    for output in &signature.outputs[1..] {
        if !further.contains(&output.name.as_str()) {
            return Err(format!("an output `{}`; further ones are {}", output.name, further.join(", ")));
        }
        want_shape(output, &without_last(shape))?;
    }
    Ok(())
}

/// What a row is shifted by and multiplied with.
fn of_row(row: &[f64], epsilon: f64, is_shifted: bool) -> (f64, f64) {
    let mean = if is_shifted { mean(row) } else { 0.0 };
    let square = compensated(row.iter().map(|x| (x - mean).powi(2))) / row.len() as f64;
    (mean, 1.0 / (square + epsilon).sqrt())
}

/// A normalised element and its magnitude.
fn element(x: f64, mean: f64, rstd: f64, weight: f64, bias: f64) -> (f64, f64) {
    ((x - mean) * rstd * weight + bias, (x.abs() + mean.abs()) * rstd * weight.abs() + bias.abs())
}

fn optional(signature: &Signature, inputs: &[Source<'_>], name: &str, column: usize, default: f64) -> f64 {
    signature.input(name).map_or(default, |input| inputs[input].at(column))
}

fn norm(signature: &Signature, inputs: &[Source<'_>], watch: &mut super::Watch<'_>, is_shifted: bool) -> Vec<Expected> {
    let columns = signature.inputs[0].columns().max(1);
    let epsilon = signature.optional_scalar("epsilon").unwrap_or(0.0);
    let count = signature.inputs[0].elements() / columns;
    // Values, magnitudes, mean and rstd of a row side by side.
    let width = 2 * columns + 2;
    let mut all = vec![0.0; count * width];
    in_bands(&mut all, width, watch, |first, band| {
        for (at, out) in band.chunks_exact_mut(width).enumerate() {
            let row = inputs[0].range((first + at) * columns..(first + at + 1) * columns);
            let (mean, rstd) = of_row(&row, epsilon, is_shifted);
            for (column, x) in row.iter().enumerate() {
                let weight = optional(signature, inputs, "weight", column, 1.0);
                let bias = optional(signature, inputs, "bias", column, 0.0);
                (out[column], out[columns + column]) = element(*x, mean, rstd, weight, bias);
            }
            (out[2 * columns], out[2 * columns + 1]) = (mean, rstd);
        }
    });
    let part =
        |from: usize, to: usize| all.chunks_exact(width).flat_map(|row| row[from..to].to_vec()).collect::<Vec<_>>();
    let further = |name: &str| match name {
        "mean" => {
            let magnitudes = all.chunks_exact(width).enumerate().map(|(row, _)| {
                inputs[0].range(row * columns..(row + 1) * columns).iter().map(|x| x.abs()).sum::<f64>()
                    / columns as f64
            });
            Expected::new(part(2 * columns, width - 1), magnitudes.collect())
        }
        _ => Expected::plain(part(width - 1, width)),
    };
    let mut outputs = vec![Expected::new(part(0, columns), part(columns, 2 * columns))];
    outputs.extend(signature.outputs[1..].iter().map(|output| further(&output.name)));
    outputs
}

fn sample_norm(
    signature: &Signature,
    inputs: &[Source<'_>],
    output: usize,
    elements: &[usize],
    is_shifted: bool,
) -> Expected {
    let columns = signature.inputs[0].columns().max(1);
    let epsilon = signature.optional_scalar("epsilon").unwrap_or(0.0);
    let name = signature.outputs[output].name.as_str();
    let of = |at: &usize| {
        let (row, column) = if output == 0 { (at / columns, at % columns) } else { (*at, 0) };
        let values = inputs[0].range(row * columns..(row + 1) * columns);
        let (mean, rstd) = of_row(&values, epsilon, is_shifted);
        match (output, name) {
            (0, _) => {
                let weight = optional(signature, inputs, "weight", column, 1.0);
                let bias = optional(signature, inputs, "bias", column, 0.0);
                element(values[column], mean, rstd, weight, bias)
            }
            (_, "mean") => (mean, values.iter().map(|x| x.abs()).sum::<f64>() / columns as f64),
            _ => of_itself(rstd),
        }
    };
    let (values, magnitudes) = elements.iter().map(of).unzip();
    Expected::new(values, magnitudes)
}
