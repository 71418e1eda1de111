//! Float64 references by name, on the CPU, written apart from every kernel.
//!
//! To add one: write `oracle/<name>.rs` with a `pub(super) static ORACLE`, and add it to [`ORACLES`]. The tests
//! below walk that list.

mod aos_to_soa;
mod attention;
mod clamp;
mod copy;
mod dot;
mod embedding;
mod execution_probe;
mod gather;
pub mod guess;
mod histogram;
mod matmul;
mod matmul_bt;
mod matmul_nvfp4;
mod matrix_add;
mod normalise;
mod one_hot;
mod quantized;
mod row_sums;
mod rows;
mod sample;
mod saxpy;
mod scan;
mod signature;
mod softmax;
mod sum;
mod transpose;
mod vector_add;
mod work;

pub use sample::Source;
pub use signature::{Signature, TensorShape};
pub use work::Watch;

use crate::formats::Stored;
use guess::Guesses;
use signature::{want_rank, want_shape};
use work::in_bands;

/// Every oracle, sorted by name.
pub static ORACLES: [&Oracle; 35] = [
    &aos_to_soa::ORACLE,
    &rows::ARGMAX,
    &attention::ORACLE,
    &attention::DECODE,
    &clamp::ORACLE,
    &copy::ORACLE,
    &quantized::DEQUANTIZE,
    &dot::ORACLE,
    &embedding::ORACLE,
    &execution_probe::ORACLE,
    &gather::ORACLE,
    &histogram::ORACLE,
    &rows::LAYER_NORM,
    &rows::LOGSUMEXP,
    &matmul::ORACLE,
    &matmul_bt::ORACLE,
    &matmul_bt::TF32,
    &matmul::CALL,
    &matmul_nvfp4::ORACLE,
    &quantized::MATMUL,
    &matrix_add::ORACLE,
    &normalise::ORACLE,
    &one_hot::ORACLE,
    &quantized::QUANTIZE,
    &rows::RMS_NORM,
    &rows::STATS,
    &row_sums::ORACLE,
    &saxpy::ORACLE,
    &scan::INCLUSIVE,
    &scan::EXCLUSIVE,
    &softmax::ORACLE,
    &softmax::MERGE,
    &sum::ORACLE,
    &transpose::ORACLE,
    &vector_add::ORACLE,
];

/// An output that two right kernels need not agree in, nor one kernel with itself in another run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Open {
    /// Its number among the outputs.
    output: usize,
    /// What must hold of the outputs together instead: a sentence about what does not.
    property: fn(&Signature, &[Vec<f64>]) -> Option<String>,
}

/// The oracle called `name`.
pub fn find(name: &str) -> Option<&'static Oracle> {
    ORACLES.iter().copied().find(|oracle| oracle.name == name)
}

/// A product that the vendor's library does too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LibraryProduct {
    /// The second operand has its rows along the summed dimension.
    pub b_is_transposed: bool,
    /// f32 operands may be rounded to tf32.
    pub in_tf32: bool,
}

/// Some elements of the output of that number, in the order asked for.
type Sample = fn(&Signature, &[Source<'_>], usize, &[usize]) -> Expected;

/// A float64 reference.
#[derive(Clone, Copy, Debug)]
pub struct Oracle {
    pub name: &'static str,
    /// Inputs, outputs and scalars that it wants, for authors: `a[m,k], b[k,n] -> c[m,n]`.
    pub signature: &'static str,
    /// One sentence saying what does not fit, if anything.
    check: fn(&Signature) -> Result<(), String>,
    compute: fn(&Signature, &[Vec<f64>], &mut Watch<'_>) -> Vec<Expected>,
    /// Some elements of the output of that number, for cases too large to compute; in the order asked for.
    sample: Option<Sample>,
    /// What cuBLASLt is timed at beside it.
    pub library: Option<LibraryProduct>,
    /// Names of the programs in `kernels/ladders/rivals.py` for the same work.
    pub rivals: &'static [&'static str],
    /// Which mistakes its wrong results are tried on.
    guesses: Guesses,
    open: Option<Open>,
    /// What only the hardware knows: a register of PTX that the kernel has to read, and what to say where it does not.
    asks: Option<(&'static str, &'static str)>,
}

/// In place of an oracle where another kernel says what is right: only guesses that fit any operation are made.
pub(crate) static ANOTHER_KERNEL: Oracle = Oracle::NONE;

impl Oracle {
    /// What an oracle need not say.
    const NONE: Oracle = Oracle {
        name: "",
        signature: "",
        check: |_| Ok(()),
        compute: |_, _, _| Vec::new(),
        sample: None,
        library: None,
        rivals: &[],
        guesses: Guesses::NONE,
        open: None,
        asks: None,
    };

    /// Why results cannot come from where they should, whatever they are: the kernel does not ask for them.
    pub fn made_up(&self, ptx: &str) -> Option<String> {
        let (register, words) = self.asks?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let read = ptx.match_indices(register).any(|(at, _)| !ptx[at + register.len()..].starts_with(is_name));
        (!read).then(|| words.to_owned())
    }

    /// Whether the parameters of a spec fit.
    ///
    /// # Errors
    /// One sentence with what this oracle wants and what it was given.
    pub fn check(&self, signature: &Signature) -> Result<(), String> {
        (self.check)(signature)
            .map_err(|message| format!("the oracle `{}` computes {}: {message}", self.name, self.signature))
    }

    /// The outputs, in the order of `signature.outputs`. Inputs are row-major, as long as their shapes say.
    ///
    /// # Errors
    /// As [`check`](Self::check), and when an input's length does not fit its shape.
    pub fn compute(&self, signature: &Signature, inputs: &[Vec<f64>]) -> Result<Vec<Expected>, String> {
        self.compute_watched(signature, inputs, &mut Watch::default())
    }

    /// [`compute`](Self::compute), saying how far it is and ending on a stop (with values that are not whole).
    ///
    /// # Errors
    /// As there.
    pub fn compute_watched(
        &self,
        signature: &Signature,
        inputs: &[Vec<f64>],
        watch: &mut Watch<'_>,
    ) -> Result<Vec<Expected>, String> {
        self.check(signature)?;
        let lengths_fit = inputs.len() == signature.inputs.len()
            && inputs.iter().zip(&signature.inputs).all(|(data, tensor)| data.len() == tensor.elements());
        if !lengths_fit {
            return Err(format!("the oracle `{}` was given inputs that do not fit their shapes", self.name));
        }
        Ok((self.compute)(signature, inputs, watch))
    }

    /// Whether [`sample`](Self::sample) can be asked.
    pub fn can_sample(&self) -> bool {
        self.sample.is_some()
    }

    /// Elements of one output alone: `inputs` may repeat after a period, and nothing is computed that is not asked for.
    /// None where this oracle cannot.
    pub fn sample(
        &self,
        signature: &Signature,
        inputs: &[Source<'_>],
        output: usize,
        elements: &[usize],
    ) -> Option<Expected> {
        Some((self.sample?)(signature, inputs, output, elements))
    }

    /// Whether the hardware chooses the values of an output, so that nothing can be compared with them.
    pub fn is_chosen_by_hardware(&self, output: usize) -> bool {
        self.open.is_some_and(|open| open.output == output)
    }

    /// What is wrong with outputs each of whose values would do, if anything.
    pub fn violated(&self, signature: &Signature, outputs: impl FnOnce() -> Vec<Vec<f64>>) -> Option<String> {
        self.open.and_then(|open| (open.property)(signature, &outputs()))
    }
}

/// One output.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    pub values: Vec<f64>,
    /// For each value the sum of the absolute values of the terms that make it up (or a bound close above): what
    /// rounding errors are proportional to. None: `|value|`.
    pub magnitudes: Option<Vec<f64>>,
    /// Of a view: the bytes that the reference stores, for those judged bit by bit.
    pub stored: Option<Stored>,
}

impl Expected {
    /// Values whose errors are proportional to themselves.
    pub fn plain(values: Vec<f64>) -> Self {
        Self { values, magnitudes: None, stored: None }
    }

    pub fn new(values: Vec<f64>, magnitudes: Vec<f64>) -> Self {
        Self { values, magnitudes: Some(magnitudes), stored: None }
    }

    /// Logarithms: as exact as their arguments are relatively, so that errors near 0 are those of a number near 1.
    fn of_logs(values: Vec<f64>) -> Self {
        let magnitudes = values.iter().map(|log| log.abs().max(1.0)).collect();
        Self::new(values, magnitudes)
    }

    /// What the relative tolerance of element `index` is relative to.
    pub fn magnitude(&self, index: usize) -> f64 {
        match &self.magnitudes {
            Some(magnitudes) => magnitudes[index],
            None => self.values[index].abs(),
        }
    }
}

#[cfg(test)]
mod examples;
#[cfg(test)]
mod tests;
