//! What an oracle is given and asked for: named arrays with their types, and scalars.

use crate::formats::Dtype;
use crate::formats::Layout;

/// A named array.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorShape {
    pub name: String,
    /// Of a view: the decoded shape.
    pub shape: Vec<usize>,
    /// What the kernel sees; of a view: the type of its codes.
    pub dtype: Dtype,
    /// How the values are stored, when they are codes with scales.
    pub layout: Option<Layout>,
}

impl TensorShape {
    /// An array of f32.
    pub fn new(name: &str, shape: &[usize]) -> Self {
        Self { name: name.to_owned(), shape: shape.to_vec(), dtype: Dtype::F32, layout: None }
    }

    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }

    /// Elements along the last axis; 1 of a scalar.
    pub fn columns(&self) -> usize {
        self.shape.last().copied().unwrap_or(1)
    }

    /// All but the last axis together.
    pub fn rows(&self) -> usize {
        self.shape.iter().rev().skip(1).product()
    }
}

/// What an oracle is given: inputs (`in` and `inout` buffers) and outputs (`out`, `inout` and `zeroed`) in parameter
/// order. A view stands where its codes stand; its scales are no arrays of their own.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Signature {
    pub inputs: Vec<TensorShape>,
    pub outputs: Vec<TensorShape>,
    pub scalars: Vec<(String, f64)>,
}

impl Signature {
    pub(super) fn counts(&self, inputs: usize, outputs: usize) -> Result<(), String> {
        self.counts_between(inputs, inputs, outputs, outputs)
    }

    /// For oracles with optional inputs or outputs, which come last.
    pub(super) fn counts_between(
        &self,
        least_inputs: usize,
        most_inputs: usize,
        least_outputs: usize,
        most_outputs: usize,
    ) -> Result<(), String> {
        let fits = |count: usize, least: usize, most: usize| (least..=most).contains(&count);
        if fits(self.inputs.len(), least_inputs, most_inputs) && fits(self.outputs.len(), least_outputs, most_outputs) {
            return Ok(());
        }
        let span = |least: usize, most: usize| {
            if least == most { least.to_string() } else { format!("{least} to {most}") }
        };
        Err(format!(
            "it wants {} input and {} output buffer(s), the spec has {} and {}",
            span(least_inputs, most_inputs),
            span(least_outputs, most_outputs),
            self.inputs.len(),
            self.outputs.len()
        ))
    }

    /// All inputs and outputs have one shape.
    pub(super) fn all_alike(&self) -> Result<(), String> {
        let mut all = self.inputs.iter().chain(&self.outputs);
        let Some(first) = all.next() else { return Ok(()) };
        match all.find(|tensor| tensor.shape != first.shape) {
            None => Ok(()),
            Some(other) => Err(format!(
                "`{}` has shape {:?} and `{}` has {:?}; they must be alike",
                first.name, first.shape, other.name, other.shape
            )),
        }
    }

    pub(super) fn scalar(&self, name: &str) -> Result<f64, String> {
        self.optional_scalar(name).ok_or_else(|| format!("a scalar parameter called `{name}` is missing"))
    }

    pub(super) fn optional_scalar(&self, name: &str) -> Option<f64> {
        self.scalars.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }

    /// Number of the input called `name`, for optional inputs that are told apart by name.
    pub(super) fn input(&self, name: &str) -> Option<usize> {
        self.inputs.iter().position(|tensor| tensor.name == name)
    }
}

pub(super) fn want_shape(tensor: &TensorShape, shape: &[usize]) -> Result<(), String> {
    if tensor.shape == shape {
        return Ok(());
    }
    Err(format!("`{}` must have shape {shape:?}, the spec gives {:?}", tensor.name, tensor.shape))
}

pub(super) fn want_rank(tensor: &TensorShape, rank: usize) -> Result<(), String> {
    if tensor.shape.len() == rank {
        return Ok(());
    }
    Err(format!("`{}` must have {rank} dimension(s), the spec gives {:?}", tensor.name, tensor.shape))
}
