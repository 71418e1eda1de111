//! One case as data: what a kernel is given and what belongs in its outputs, for programs outside of Lockstep.

use super::{inputs, tensors};
use crate::device::Argument;
use crate::oracle;
use crate::spec::{Metric, Resolved, Size, Spec};

/// A case with its numbers.
pub struct Example {
    pub resolved: Resolved,
    /// In the order of [`Resolved::params`]. Outputs hold nothing yet.
    pub arguments: Vec<Argument>,
    /// Of the outputs that a program can compare element by element. Empty for a spec without an oracle.
    pub expected: Vec<ExpectedOutput>,
}

/// What an output holds after a right run, row by row, and how far each element may be off.
pub struct ExpectedOutput {
    pub name: String,
    pub values: Vec<f64>,
    pub limits: Vec<f64>,
}

/// # Errors
/// The size does not fit the spec, or the oracle refuses it; one sentence.
pub fn example(spec: &Spec, size: &Size, seed: u64) -> Result<Example, String> {
    let told = |(key, why): (String, String)| format!("{key}: {why}");
    let mut resolved = spec.resolve(size).map_err(told)?;
    resolved.reseed(spec, inputs::scalar_seed(seed, 0)).map_err(told)?;
    let arguments = inputs::arguments(&resolved, seed);
    let Some(oracle) = spec.oracle.as_deref().and_then(oracle::find) else {
        return Ok(Example { resolved, arguments, expected: Vec::new() });
    };
    let computed = oracle.compute(&resolved.signature(), &tensors::oracle_inputs(&resolved, &arguments))?;
    let mut expected = Vec::new();
    for (output, computed) in tensors::outputs(&resolved, &arguments).iter().zip(computed) {
        let rule = spec.rule(output.name);
        let Metric::Elementwise { absolute, relative } = rule.metric else { continue };
        if output.view.is_some() {
            continue;
        }
        let limits = (0..computed.values.len()).map(|at| absolute + relative * computed.magnitude(at)).collect();
        expected.push(ExpectedOutput { name: output.name.to_owned(), limits, values: computed.values });
    }
    Ok(Example { resolved, arguments, expected })
}
