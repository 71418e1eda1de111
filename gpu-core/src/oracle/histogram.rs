use super::{Expected, Oracle, want_rank};

/// How many whole numbers fall into each bin. What is in none is not counted.
pub(super) static ORACLE: Oracle = Oracle {
    name: "histogram",
    signature: "x[...] of whole numbers, optional scalar bin_width (else 1) -> counts[bins], counts[b] = how many x are \
                in [b * bin_width, (b + 1) * bin_width)",
    check: |signature| {
        signature.counts(1, 1)?;
        want_rank(&signature.outputs[0], 1)?;
        let width = signature.optional_scalar("bin_width").unwrap_or(1.0);
        if width >= 1.0 { Ok(()) } else { Err(format!("the scalar `bin_width` is {width}; it must be at least 1")) }
    },
    compute: |signature, inputs, _| {
        let width = signature.optional_scalar("bin_width").unwrap_or(1.0);
        let mut counts = vec![0.0; signature.outputs[0].elements()];
        for x in &inputs[0] {
            let bin = (x / width).floor();
            if bin >= 0.0
                && let Some(count) = counts.get_mut(bin as usize)
            {
                *count += 1.0;
            }
        }
        vec![Expected::plain(counts)]
    },
    ..Oracle::NONE
};
