use super::{Expected, Oracle};

/// `y = x`.
pub(super) static ORACLE: Oracle = Oracle {
    name: "copy",
    signature: "x[...] -> y[...] = x",
    check: |signature| {
        signature.counts(1, 1)?;
        signature.all_alike()
    },
    compute: |_, inputs, _| vec![Expected::plain(inputs[0].clone())],
    ..Oracle::NONE
};
