//! Quantizers, their inverse, and products of quantized weights. What a code means is the view's to say
//! (`crate::formats`).

use super::{Expected, Oracle, Signature, TensorShape, matmul, matmul_bt, want_shape};
use crate::formats::{Given, Layout};

/// Values to codes. What a kernel's values are held against is `x` itself, in steps of the format; what its bits are held
/// against is the reference quantizer.
pub(super) static QUANTIZE: Oracle = Oracle {
    name: "quantize",
    signature: "x[...] -> y[...], a view that says format, group and scales; scales that the view is given are further \
                inputs. The magnitude of an element is the step of the format there",
    check: |signature| {
        let layout = layout_of(signature)?;
        let parts = given_names(layout);
        signature.counts(1 + parts.len(), 1)?;
        want_shape(&signature.outputs[0], &signature.inputs[0].shape)?;
        if signature.inputs[0].layout.is_some() {
            return Err(format!("`{}` is a view of codes itself", signature.inputs[0].name));
        }
        match parts.into_iter().find(|name| signature.input(name).is_none()) {
            None => Ok(()),
            Some(name) => Err(format!("the view's `{name}` is missing among the inputs")),
        }
    },
    compute: |signature, inputs, _| {
        let Ok(layout) = layout_of(signature) else { return Vec::new() };
        let part = |name: Option<&String>| name.and_then(|name| signature.input(name)).map(|at| inputs[at].as_slice());
        let of = |is_given: bool, name: &'_ String| is_given.then(|| name.clone());
        let scales = layout.scales.as_ref().and_then(|part| of(part.is_given, &part.name));
        let zeros = layout.zero_points.as_ref().and_then(|part| of(part.is_given, &part.name));
        let whole = layout.tensor_scale.as_ref().and_then(|part| of(part.is_given, &part.name));
        let given = Given {
            scales: part(scales.as_ref()),
            zero_points: part(zeros.as_ref()),
            tensor_scale: part(whole.as_ref()).and_then(|values| values.first().copied()),
        };
        let quantized = layout.quantize(&inputs[0], &given);
        vec![Expected { stored: Some(quantized.stored), ..Expected::new(inputs[0].clone(), quantized.steps) }]
    },
    ..Oracle::NONE
};

fn layout_of(signature: &Signature) -> Result<&Layout, String> {
    let output = signature.outputs.first().ok_or("an output is missing")?;
    output.layout.as_ref().ok_or_else(|| format!("`{}` must be a [[view]] that says its format", output.name))
}

/// Parts of the output's view that are inputs.
fn given_names(layout: &Layout) -> Vec<&str> {
    let scales = layout.scales.as_ref().filter(|part| part.is_given).map(|part| part.name.as_str());
    let zeros = layout.zero_points.as_ref().filter(|part| part.is_given).map(|part| part.name.as_str());
    let whole = layout.tensor_scale.as_ref().filter(|part| part.is_given).map(|part| part.name.as_str());
    [scales, zeros, whole].into_iter().flatten().collect()
}

/// Codes to values.
pub(super) static DEQUANTIZE: Oracle = Oracle {
    name: "dequantize",
    signature: "x[...], a view of codes -> y[...] = (code - zero point) * scale * tensor scale",
    check: |signature| {
        signature.counts(1, 1)?;
        if signature.inputs[0].layout.is_none() {
            return Err(format!("`{}` must be a [[view]] that says its format", signature.inputs[0].name));
        }
        want_shape(&signature.outputs[0], &signature.inputs[0].shape)
    },
    compute: |_, inputs, _| vec![Expected::plain(inputs[0].clone())],
    sample: Some(|_, inputs, _, elements| {
        Expected::plain(elements.iter().map(|element| inputs[0].at(*element)).collect())
    }),
    ..Oracle::NONE
};

/// A product with weights that are codes; `x[k]` is a matrix of one row.
pub(super) static MATMUL: Oracle = Oracle {
    name: "matmul_quantized",
    signature: "x[m,k] (or x[k]), w[n,k], a view of codes (x may be one too), optional bias[n] -> y[m,n] (or y[n]) = x * \
                transpose(w) + bias",
    check: |signature| {
        signature.counts_between(2, 3, 1, 1)?;
        if signature.inputs[1].layout.is_none() {
            return Err(format!("`{}` must be a [[view]] that says its format", signature.inputs[1].name));
        }
        if let Some(bias) = signature.inputs.get(2) {
            want_shape(bias, &[signature.inputs[1].shape.first().copied().unwrap_or(1)])?;
        }
        matmul_bt::check(&as_matrices(signature)).map_err(|message| match signature.inputs[0].shape.len() {
            1 => format!("{message} (a vector is taken as a matrix of one row)"),
            _ => message,
        })
    },
    compute: |signature, inputs, watch| {
        let mut outputs = matmul_bt::compute(&as_matrices(signature), &inputs[..2], watch);
        if let (Some(bias), Some(output)) = (inputs.get(2), outputs.first_mut()) {
            let columns = bias.len().max(1);
            output.values.iter_mut().enumerate().for_each(|(at, value)| *value += bias[at % columns]);
            let magnitudes = output.magnitudes.iter_mut().flatten().enumerate();
            magnitudes.for_each(|(at, magnitude)| *magnitude += bias[at % columns].abs());
        }
        outputs
    },
    sample: Some(|signature, inputs, _, elements| {
        let mut expected = matmul::sample(&as_matrices(signature), inputs, elements, true);
        if let Some(bias) = inputs.get(2) {
            let columns = signature.outputs[0].columns();
            let of = |element: &usize| bias.at(element % columns);
            expected.values.iter_mut().zip(elements).for_each(|(value, at)| *value += of(at));
            let magnitudes = expected.magnitudes.iter_mut().flatten();
            magnitudes.zip(elements).for_each(|(magnitude, at)| *magnitude += of(at).abs());
        }
        expected
    }),
    ..Oracle::NONE
};

/// The first two inputs and the output, each of rank 2.
fn as_matrices(signature: &Signature) -> Signature {
    let matrix = |tensor: &TensorShape| {
        let mut matrix = TensorShape { layout: None, ..tensor.clone() };
        if matrix.shape.len() == 1 {
            matrix.shape.insert(0, 1);
        }
        matrix
    };
    Signature {
        inputs: signature.inputs.iter().take(2).map(matrix).collect(),
        outputs: signature.outputs.iter().map(matrix).collect(),
        scalars: Vec::new(),
    }
}
