use super::{Expected, LibraryProduct, Oracle, Signature, TensorShape, Watch, guess, matmul, want_rank, want_shape};

/// `c = a * b^T`: both operands have their rows along the summed dimension, as the 8-bit matrix instructions want it.
pub(super) static ORACLE: Oracle = Oracle {
    name: "matmul_bt",
    signature: "a[m,k], b[n,k] -> c[m,n] = a * transpose(b)",
    check,
    compute,
    sample: Some(|signature, inputs, _, elements| matmul::sample(signature, inputs, elements, true)),
    library: Some(LibraryProduct { b_is_transposed: true, in_tf32: false }),
    guesses: guess::MATMUL_BT,
    ..Oracle::NONE
};

/// The same product of f32 operands where a kernel may multiply in tf32: what is expected is the exact product of the
/// operands as they are, the tolerance leaves room for tf32, and the library it is timed beside may use tf32 too.
pub(super) static TF32: Oracle = Oracle {
    name: "matmul_bt_tf32",
    signature: "a[m,k], b[n,k] -> c[m,n] = a * transpose(b), multiplied in tf32",
    library: Some(LibraryProduct { b_is_transposed: true, in_tf32: true }),
    ..ORACLE
};

pub(super) fn check(signature: &Signature) -> Result<(), String> {
    signature.counts(2, 1)?;
    want_rank(&signature.inputs[0], 2)?;
    want_rank(&signature.inputs[1], 2)?;
    let (a, b) = (&signature.inputs[0].shape, &signature.inputs[1].shape);
    want_shape(&signature.inputs[1], &[b[0], a[1]])?;
    want_shape(&signature.outputs[0], &[a[0], b[0]])
}

pub(super) fn compute(signature: &Signature, inputs: &[Vec<f64>], watch: &mut Watch<'_>) -> Vec<Expected> {
    let [columns, depth] = [signature.inputs[1].shape[0], signature.inputs[1].shape[1]];
    let mut b = vec![0.0; inputs[1].len()];
    for (column, row) in inputs[1].chunks_exact(depth.max(1)).enumerate() {
        row.iter().enumerate().for_each(|(inner, value)| b[inner * columns + column] = *value);
    }
    let untransposed = Signature {
        inputs: vec![signature.inputs[0].clone(), TensorShape::new("b", &[depth, columns])],
        outputs: signature.outputs.clone(),
        scalars: Vec::new(),
    };
    (matmul::ORACLE.compute)(&untransposed, &[inputs[0].clone(), b], watch)
}
