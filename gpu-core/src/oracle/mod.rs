//! Float64 references by name, on the CPU, written apart from every kernel.
//!
//! To add one: write `oracle/<name>.rs` with a `pub(super) static ORACLE`, and add it to [`ORACLES`]. The tests
//! below walk that list.

mod copy;
mod dot;
mod embedding;
mod execution_probe;
mod gather;
pub mod guess;
mod matmul;
mod matmul_bt;
mod matmul_nvfp4;
mod matrix_add;
mod normalise;
mod one_hot;
mod saxpy;
mod softmax;
mod sum;
mod transpose;
mod vector_add;

/// Every oracle, sorted by name.
pub static ORACLES: [&Oracle; 18] = [
    &copy::ORACLE,
    &dot::ORACLE,
    &embedding::ORACLE,
    &execution_probe::ORACLE,
    &gather::ORACLE,
    &matmul::ORACLE,
    &matmul_bt::ORACLE,
    &matmul_bt::TF32,
    &matmul::CALL,
    &matmul_nvfp4::ORACLE,
    &matrix_add::ORACLE,
    &normalise::ORACLE,
    &one_hot::ORACLE,
    &saxpy::ORACLE,
    &softmax::ORACLE,
    &sum::ORACLE,
    &transpose::ORACLE,
    &vector_add::ORACLE,
];

/// Oracles of which some output is for the hardware to choose.
static OPEN: [Open; 1] =
    [Open { oracle: "execution_probe", output: execution_probe::CHOSEN, property: execution_probe::property }];

/// An output that two right kernels need not agree in, nor one kernel with itself in another run.
struct Open {
    oracle: &'static str,
    /// Its number among the outputs.
    output: usize,
    /// What must hold of the outputs together instead: a sentence about what does not.
    property: fn(&Signature, &[Vec<f64>]) -> Option<String>,
}

fn open(oracle: &str) -> Option<&'static Open> {
    OPEN.iter().find(|open| open.oracle == oracle)
}

/// Whether the hardware chooses the values of an output, so that nothing can be compared with them.
pub fn is_chosen_by_hardware(oracle: &str, output: usize) -> bool {
    open(oracle).is_some_and(|open| open.output == output)
}

/// What is wrong with outputs each of whose values would do, if anything.
pub fn violated(oracle: &str, signature: &Signature, outputs: impl FnOnce() -> Vec<Vec<f64>>) -> Option<String> {
    open(oracle).and_then(|open| (open.property)(signature, &outputs()))
}

/// The oracle called `name`.
pub fn find(name: &str) -> Option<&'static Oracle> {
    ORACLES.iter().copied().find(|oracle| oracle.name == name)
}

/// A float64 reference.
#[derive(Debug)]
pub struct Oracle {
    pub name: &'static str,
    /// Inputs, outputs and scalars that it wants, for authors: `a[m,k], b[k,n] -> c[m,n]`.
    pub signature: &'static str,
    /// One sentence saying what does not fit, if anything.
    check: fn(&Signature) -> Result<(), String>,
    compute: fn(&Signature, &[Vec<f64>]) -> Vec<Expected>,
}

impl Oracle {
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
        self.check(signature)?;
        let lengths_fit = inputs.len() == signature.inputs.len()
            && inputs.iter().zip(&signature.inputs).all(|(data, tensor)| data.len() == tensor.elements());
        if !lengths_fit {
            return Err(format!("the oracle `{}` was given inputs that do not fit their shapes", self.name));
        }
        Ok((self.compute)(signature, inputs))
    }
}

/// A named array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorShape {
    pub name: String,
    pub shape: Vec<usize>,
}

impl TensorShape {
    pub fn new(name: &str, shape: &[usize]) -> Self {
        Self { name: name.to_owned(), shape: shape.to_vec() }
    }

    pub fn elements(&self) -> usize {
        self.shape.iter().product()
    }
}

/// What an oracle is given: inputs (`in` and `inout` buffers) and outputs (`out` and `inout`) in parameter order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Signature {
    pub inputs: Vec<TensorShape>,
    pub outputs: Vec<TensorShape>,
    pub scalars: Vec<(String, f64)>,
}

impl Signature {
    fn counts(&self, inputs: usize, outputs: usize) -> Result<(), String> {
        if self.inputs.len() == inputs && self.outputs.len() == outputs {
            return Ok(());
        }
        Err(format!(
            "it wants {inputs} input and {outputs} output buffer(s), the spec has {} and {}",
            self.inputs.len(),
            self.outputs.len()
        ))
    }

    /// All inputs and outputs have one shape.
    fn all_alike(&self) -> Result<(), String> {
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

    fn scalar(&self, name: &str) -> Result<f64, String> {
        self.scalars
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| *value)
            .ok_or_else(|| format!("a scalar parameter called `{name}` is missing"))
    }
}

fn want_shape(tensor: &TensorShape, shape: &[usize]) -> Result<(), String> {
    if tensor.shape == shape {
        return Ok(());
    }
    Err(format!("`{}` must have shape {shape:?}, the spec gives {:?}", tensor.name, tensor.shape))
}

fn want_rank(tensor: &TensorShape, rank: usize) -> Result<(), String> {
    if tensor.shape.len() == rank {
        return Ok(());
    }
    Err(format!("`{}` must have {rank} dimension(s), the spec gives {:?}", tensor.name, tensor.shape))
}

/// One output.
#[derive(Clone, Debug, PartialEq)]
pub struct Expected {
    pub values: Vec<f64>,
    /// For each value the sum of the absolute values of the terms that make it up (or a bound close above): what
    /// rounding errors are proportional to. None: `|value|`.
    pub magnitudes: Option<Vec<f64>>,
}

impl Expected {
    fn plain(values: Vec<f64>) -> Self {
        Self { values, magnitudes: None }
    }

    /// What the relative tolerance of element `index` is relative to.
    pub fn magnitude(&self, index: usize) -> f64 {
        match &self.magnitudes {
            Some(magnitudes) => magnitudes[index],
            None => self.values[index].abs(),
        }
    }
}

/// Calls `work(first_row, rows)` on disjoint bands of a row-major array, one band a core.
fn in_bands(output: &mut [f64], row_length: usize, work: impl Fn(usize, &mut [f64]) + Sync) {
    let rows = output.len() / row_length.max(1);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let band = rows.div_ceil(cores).max(1) * row_length.max(1);
    // Threads cost more than they save on small outputs.
    if output.len() <= 4096 && row_length <= 4096 {
        return work(0, output);
    }
    std::thread::scope(|scope| {
        for (index, rows) in output.chunks_mut(band).enumerate() {
            let work = &work;
            scope.spawn(move || work(index * (band / row_length.max(1)), rows));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_has_no_name_twice() {
        for pair in ORACLES.windows(2) {
            assert!(pair[0].name < pair[1].name, "{} before {}", pair[0].name, pair[1].name);
        }
    }

    /// Worked by hand: inputs with shapes, scalars, output shape, expected output.
    type Example = (&'static str, Vec<(Vec<usize>, Vec<f64>)>, Vec<(&'static str, f64)>, Vec<usize>, Vec<f64>);

    fn examples() -> Vec<Example> {
        let m23 = || (vec![2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        vec![
            ("copy", vec![(vec![2], vec![3.0, 4.0])], vec![], vec![2], vec![3.0, 4.0]),
            ("dot", vec![(vec![2], vec![3.0, 4.0]), (vec![2], vec![5.0, 6.0])], vec![], vec![1], vec![39.0]),
            (
                "embedding",
                vec![m23(), (vec![3], vec![1.0, 0.0, 1.0])],
                vec![],
                vec![3, 3],
                vec![4.0, 5.0, 6.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
            ),
            // Three outputs: multiprocessors (any), then warps and lanes.
            (
                "execution_probe",
                vec![],
                vec![],
                vec![1, 33],
                [vec![0.0; 33], [vec![0.0; 32], vec![1.0]].concat(), (0..32).chain([0]).map(f64::from).collect()]
                    .concat(),
            ),
            (
                "gather",
                vec![(vec![3], vec![7.0, 8.0, 9.0]), (vec![2], vec![2.0, 0.0])],
                vec![],
                vec![2],
                vec![9.0, 7.0],
            ),
            (
                "matmul",
                vec![m23(), (vec![3, 2], vec![1.0, 0.0, 0.0, 1.0, 1.0, 1.0])],
                vec![],
                vec![2, 2],
                vec![4.0, 5.0, 10.0, 11.0],
            ),
            (
                "matmul_bt",
                vec![m23(), (vec![2, 3], vec![1.0, 0.0, 1.0, 0.0, 1.0, 1.0])],
                vec![],
                vec![2, 2],
                vec![4.0, 5.0, 10.0, 11.0],
            ),
            (
                "matmul_bt_tf32",
                vec![m23(), (vec![2, 3], vec![1.0, 0.0, 1.0, 0.0, 1.0, 1.0])],
                vec![],
                vec![2, 2],
                vec![4.0, 5.0, 10.0, 11.0],
            ),
            (
                "matmul_call",
                vec![m23(), (vec![3, 2], vec![1.0, 0.0, 0.0, 1.0, 1.0, 1.0])],
                vec![],
                vec![2, 2],
                vec![4.0, 5.0, 10.0, 11.0],
            ),
            // A row of 1, -6 and zeros with scale 2, and one of 3, 1 and zeros with scale 4: (2 * 12 - 12 * 4) * 10.
            (
                "matmul_nvfp4",
                vec![
                    (vec![1, 8], [vec![f64::from(0xf2u8)], vec![0.0; 7]].concat()),
                    (vec![1, 8], [vec![f64::from(0x25u8)], vec![0.0; 7]].concat()),
                    (vec![1, 1], vec![2.0]),
                    (vec![1, 1], vec![4.0]),
                ],
                vec![("scale", 10.0)],
                vec![1, 1],
                vec![-240.0],
            ),
            ("matrix_add", vec![m23(), m23()], vec![], vec![2, 3], vec![2.0, 4.0, 6.0, 8.0, 10.0, 12.0]),
            (
                "normalise",
                vec![m23(), (vec![3], vec![1.0, 1.0, 0.0]), (vec![3], vec![1.0, 2.0, 3.0])],
                vec![],
                vec![2, 3],
                vec![0.0, 0.5, 1.0, 3.0, 2.0, 2.0],
            ),
            ("one_hot", vec![(vec![2], vec![2.0, 0.0])], vec![], vec![2, 3], vec![0.0, 0.0, 1.0, 1.0, 0.0, 0.0]),
            (
                "saxpy",
                vec![(vec![2], vec![1.0, 2.0]), (vec![2], vec![10.0, 20.0])],
                vec![("alpha", 3.0)],
                vec![2],
                vec![13.0, 26.0],
            ),
            ("softmax", vec![(vec![1, 2], vec![1000.0, 1000.0 + 3f64.ln()])], vec![], vec![1, 2], vec![0.25, 0.75]),
            ("sum", vec![m23()], vec![], vec![1], vec![21.0]),
            ("transpose", vec![m23()], vec![], vec![3, 2], vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0]),
            (
                "vector_add",
                vec![(vec![2], vec![1.0, 2.0]), (vec![2], vec![0.5, -2.0])],
                vec![],
                vec![2],
                vec![1.5, 0.0],
            ),
        ]
    }

    #[test]
    fn every_oracle_agrees_with_an_example_worked_by_hand() {
        let examples = examples();
        for oracle in ORACLES {
            let (_, inputs, scalars, shape, expected) = examples
                .iter()
                .find(|(name, ..)| *name == oracle.name)
                .unwrap_or_else(|| panic!("no example for {}", oracle.name));
            let signature = Signature {
                inputs: inputs.iter().map(|(shape, _)| TensorShape::new("x", shape)).collect(),
                outputs: vec![TensorShape::new("y", shape); expected.len() / shape.iter().product::<usize>()],
                scalars: scalars.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
            };
            let data: Vec<Vec<f64>> = inputs.iter().map(|(_, data)| data.clone()).collect();
            let outputs = oracle.compute(&signature, &data).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(outputs.len(), signature.outputs.len(), "{}", oracle.name);
            let mut all = 0;
            for output in &outputs {
                for (index, (got, want)) in output.values.iter().zip(&expected[all..]).enumerate() {
                    assert!((got - want).abs() < 1e-9, "{}[{index}]: {got} is not {want}", oracle.name);
                    assert!(output.magnitude(index) >= got.abs() * (1.0 - 1e-12), "{}", oracle.name);
                }
                all += output.values.len();
            }
            assert_eq!(all, expected.len(), "{}", oracle.name);
            let nothing = Signature::default();
            let error = oracle.compute(&nothing, &[]).expect_err("no parameters fit no oracle");
            assert!(error.contains(oracle.name) && error.contains(oracle.signature), "{error}");
        }
    }

    #[test]
    fn a_large_product_agrees_with_single_elements() {
        let (m, k, n) = (70, 130, 90);
        let a: Vec<f64> = (0..m * k).map(|i| ((i * 37) % 101) as f64 - 50.0).collect();
        let b: Vec<f64> = (0..k * n).map(|i| ((i * 53) % 97) as f64 - 48.0).collect();
        let signature = Signature {
            inputs: vec![TensorShape::new("a", &[m, k]), TensorShape::new("b", &[k, n])],
            outputs: vec![TensorShape::new("c", &[m, n])],
            scalars: vec![],
        };
        let expected = matmul::ORACLE.compute(&signature, &[a.clone(), b.clone()]).expect("shapes fit");
        for (i, j) in [(0, 0), (69, 89), (35, 17)] {
            let sum: f64 = (0..k).map(|x| a[i * k + x] * b[x * n + j]).sum();
            assert_eq!(expected[0].values[i * n + j], sum);
        }
    }
}
