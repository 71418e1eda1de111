use super::{Expected, Oracle, want_rank, want_shape};

/// An array of records as an array for each field: `y[field][record] = x[record][field]`.
pub(super) static ORACLE: Oracle = Oracle {
    name: "aos_to_soa",
    signature: "records[n,fields] -> y[fields,n], or one output y[n] for each field",
    check: |signature| {
        signature.counts_between(1, 1, 1, usize::MAX)?;
        want_rank(&signature.inputs[0], 2)?;
        let (records, fields) = (signature.inputs[0].shape[0], signature.inputs[0].shape[1]);
        if signature.outputs.len() == 1 && fields > 1 {
            return want_shape(&signature.outputs[0], &[fields, records]);
        }
        if signature.outputs.len() != fields {
            return Err(format!("{} outputs for {fields} fields", signature.outputs.len()));
        }
        signature.outputs.iter().try_for_each(|output| want_shape(output, &[records]))
    },
    compute: |signature, inputs, _| {
        let fields = signature.inputs[0].columns();
        let field = |field: usize| inputs[0].iter().skip(field).step_by(fields).copied();
        match signature.outputs.len() {
            1 => vec![Expected::plain((0..fields).flat_map(field).collect())],
            _ => (0..fields).map(|of| Expected::plain(field(of).collect())).collect(),
        }
    },
    sample: Some(|signature, inputs, output, elements| {
        let (records, fields) = (signature.inputs[0].shape[0], signature.inputs[0].shape[1]);
        let place = |element: &usize| match signature.outputs.len() {
            1 => element % records * fields + element / records,
            _ => element * fields + output,
        };
        Expected::plain(elements.iter().map(|element| inputs[0].at(place(element))).collect())
    }),
    ..Oracle::NONE
};
