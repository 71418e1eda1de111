use super::{Expected, Oracle, Signature};

/// Running sums along the last axis, each with its own element.
pub(super) static INCLUSIVE: Oracle = Oracle {
    name: "scan",
    signature: "x[...,n] -> y[...,n], y[i] = x[0] + ... + x[i] along the last axis",
    check,
    compute: |signature, inputs, _| vec![running(signature, &inputs[0], true)],
    ..Oracle::NONE
};

/// Running sums along the last axis, each of what comes before its element.
pub(super) static EXCLUSIVE: Oracle = Oracle {
    name: "scan_exclusive",
    signature: "x[...,n] -> y[...,n], y[i] = x[0] + ... + x[i - 1], and 0 first, along the last axis",
    check,
    compute: |signature, inputs, _| vec![running(signature, &inputs[0], false)],
    ..Oracle::NONE
};

fn check(signature: &Signature) -> Result<(), String> {
    signature.counts(1, 1)?;
    signature.all_alike()
}

/// Compensated, so that the millionth sum is as good as the first.
fn running(signature: &Signature, x: &[f64], is_inclusive: bool) -> Expected {
    let columns = signature.inputs[0].columns().max(1);
    let (mut values, mut magnitudes) = (Vec::with_capacity(x.len()), Vec::with_capacity(x.len()));
    for row in x.chunks_exact(columns) {
        let (mut sum, mut lost, mut size) = (0.0_f64, 0.0, 0.0);
        for term in row {
            if !is_inclusive {
                values.push(sum + lost);
                magnitudes.push(size);
            }
            let next = sum + term;
            lost += if sum.abs() >= term.abs() { (sum - next) + term } else { (term - next) + sum };
            sum = next;
            size += term.abs();
            if is_inclusive {
                values.push(sum + lost);
                magnitudes.push(size);
            }
        }
    }
    Expected::new(values, magnitudes)
}
