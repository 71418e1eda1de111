use super::{Oracle, Signature, TensorShape, matmul_bt, want_rank, want_shape};

/// What the low three bits of an e2m1 element stand for (OCP Microscaling Formats 1.0, section 5.3.3); bit 3 is the sign.
const E2M1: [f64; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];

/// `c = scale * a * b^T` in NVFP4: two e2m1 elements to a byte, the even one in the low half, and a scale for every 16.
pub(super) static ORACLE: Oracle = Oracle {
    name: "matmul_nvfp4",
    signature: "a[m,k/2], b[n,k/2], a_scales[m,k/16], b_scales[n,k/16], scalar scale -> c[m,n] = scale * a * transpose(b)",
    check: |signature| {
        signature.counts(4, 1)?;
        want_rank(&signature.inputs[0], 2)?;
        want_rank(&signature.inputs[1], 2)?;
        let (a, b) = (&signature.inputs[0].shape, &signature.inputs[1].shape);
        want_shape(&signature.inputs[1], &[b[0], a[1]])?;
        want_shape(&signature.inputs[2], &[a[0], a[1] / 8])?;
        want_shape(&signature.inputs[3], &[b[0], a[1] / 8])?;
        want_shape(&signature.outputs[0], &[a[0], b[0]])?;
        signature.scalar("scale")?;
        (a[1] % 8 == 0).then_some(()).ok_or_else(|| format!("k must be a multiple of 16, the spec gives {}", a[1] * 2))
    },
    compute: |signature, inputs, watch| {
        let shape = |index: usize| {
            TensorShape::new("x", &[signature.inputs[index].shape[0], signature.inputs[index].shape[1] * 2])
        };
        let unpacked =
            Signature { inputs: vec![shape(0), shape(1)], outputs: signature.outputs.clone(), scalars: Vec::new() };
        let scale = signature.scalar("scale").unwrap_or(1.0);
        let mut expected =
            matmul_bt::compute(&unpacked, &[unpack(&inputs[0], &inputs[2]), unpack(&inputs[1], &inputs[3])], watch);
        for output in &mut expected {
            output.values.iter_mut().for_each(|value| *value *= scale);
            output.magnitudes.iter_mut().flatten().for_each(|magnitude| *magnitude *= scale.abs());
        }
        expected
    },
    ..Oracle::NONE
};

/// Elements with their scales multiplied in. A row holds whole groups of 16, so groups can be counted from the start.
fn unpack(packed: &[f64], scales: &[f64]) -> Vec<f64> {
    let element = |bits: u8| if bits & 8 == 0 { E2M1[usize::from(bits & 7)] } else { -E2M1[usize::from(bits & 7)] };
    let both = |(index, byte): (usize, &f64)| {
        let bits = *byte as u8;
        [bits & 15, bits >> 4].map(|bits| element(bits) * scales[index / 8])
    };
    packed.iter().enumerate().flat_map(both).collect()
}
