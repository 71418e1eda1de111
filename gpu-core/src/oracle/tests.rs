//! Every oracle beside an example worked by hand, and large ones beside single elements.

use super::*;
use crate::formats::Layout;

#[test]
fn the_list_is_sorted_and_has_no_name_twice() {
    for pair in ORACLES.windows(2) {
        assert!(pair[0].name < pair[1].name, "{} before {}", pair[0].name, pair[1].name);
    }
}

/// Worked by hand: inputs and expected outputs, with their shapes.
pub(super) struct Example {
    oracle: &'static str,
    inputs: Vec<(TensorShape, Vec<f64>)>,
    scalars: Vec<(&'static str, f64)>,
    outputs: Vec<(TensorShape, Vec<f64>)>,
}

impl Example {
    pub fn of(oracle: &'static str) -> Self {
        Self { oracle, inputs: Vec::new(), scalars: Vec::new(), outputs: Vec::new() }
    }

    pub fn input(mut self, name: &str, shape: &[usize], values: &[f64]) -> Self {
        self.inputs.push((TensorShape::new(name, shape), values.to_vec()));
        self
    }

    pub fn output(mut self, name: &str, shape: &[usize], values: &[f64]) -> Self {
        self.outputs.push((TensorShape::new(name, shape), values.to_vec()));
        self
    }

    pub fn scalar(mut self, name: &'static str, value: f64) -> Self {
        self.scalars.push((name, value));
        self
    }

    /// The last output, or without one the last input, is a view.
    pub fn stored_as(mut self, layout: Layout) -> Self {
        let last = self.outputs.last_mut().or(self.inputs.last_mut());
        last.expect("an array before its layout").0.layout = Some(layout);
        self
    }

    fn signature(&self) -> Signature {
        let shapes = |all: &[(TensorShape, Vec<f64>)]| all.iter().map(|(shape, _)| shape.clone()).collect();
        Signature {
            inputs: shapes(&self.inputs),
            outputs: shapes(&self.outputs),
            scalars: self.scalars.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect(),
        }
    }
}

/// Inputs with shapes, scalars, output shape, expected output; where there are more values than the shape has, several
/// outputs of that shape.
type Short = (&'static str, Vec<(Vec<usize>, Vec<f64>)>, Vec<(&'static str, f64)>, Vec<usize>, Vec<f64>);

fn examples() -> Vec<Example> {
    let short = short_examples().into_iter().map(|(oracle, inputs, scalars, shape, expected)| Example {
        oracle,
        inputs: inputs.into_iter().map(|(shape, values)| (TensorShape::new("x", &shape), values)).collect(),
        scalars,
        outputs: expected
            .chunks(shape.iter().product())
            .map(|values| (TensorShape::new("y", &shape), values.to_vec()))
            .collect(),
    });
    short.chain(examples::all()).collect()
}

fn short_examples() -> Vec<Short> {
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
            [vec![0.0; 33], [vec![0.0; 32], vec![1.0]].concat(), (0..32).chain([0]).map(f64::from).collect()].concat(),
        ),
        ("gather", vec![(vec![3], vec![7.0, 8.0, 9.0]), (vec![2], vec![2.0, 0.0])], vec![], vec![2], vec![9.0, 7.0]),
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
            "clamp",
            vec![(vec![4], vec![-3.0, 0.5, 2.0, -1.0])],
            vec![("low", -1.0), ("high", 1.5)],
            vec![4],
            vec![-1.0, 0.5, 1.5, -1.0],
        ),
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
        ("vector_add", vec![(vec![2], vec![1.0, 2.0]), (vec![2], vec![0.5, -2.0])], vec![], vec![2], vec![1.5, 0.0]),
    ]
}

#[test]
fn every_oracle_agrees_with_an_example_worked_by_hand() {
    let examples = examples();
    for oracle in ORACLES {
        let own: Vec<&Example> = examples.iter().filter(|example| example.oracle == oracle.name).collect();
        assert!(!own.is_empty(), "no example for {}", oracle.name);
        own.into_iter().for_each(|example| agrees(oracle, example));
        let nothing = Signature::default();
        let error = oracle.compute(&nothing, &[]).expect_err("no parameters fit no oracle");
        assert!(error.contains(oracle.name) && error.contains(oracle.signature), "{error}");
    }
    for example in &examples {
        assert!(find(example.oracle).is_some(), "an example for {}, which is no oracle", example.oracle);
    }
}

/// An oracle gives what was worked out by hand, and element for element the same when it is asked for a sample.
fn agrees(oracle: &Oracle, example: &Example) {
    let signature = example.signature();
    let data: Vec<Vec<f64>> = example.inputs.iter().map(|(_, data)| data.clone()).collect();
    let outputs = oracle.compute(&signature, &data).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(outputs.len(), signature.outputs.len(), "{}", oracle.name);
    let sources: Vec<Source<'_>> = data.iter().map(|data| Source::Values(data.into())).collect();
    for (number, (output, (shape, want))) in outputs.iter().zip(&example.outputs).enumerate() {
        let what = format!("{} `{}`", oracle.name, shape.name);
        assert_eq!(output.values.len(), want.len(), "{what}");
        for (index, (got, want)) in output.values.iter().zip(want).enumerate() {
            let near = got == want || (got - want).abs() < 1e-9 || (got.is_nan() && want.is_nan());
            assert!(near, "{what}[{index}]: {got} is not {want}");
            let magnitude = output.magnitude(index);
            // A quantizer's is a step of its format.
            let is_bound = oracle.name == "quantize" || !got.is_finite() || magnitude >= got.abs() * (1.0 - 1e-12);
            assert!(is_bound, "{what}[{index}]: {magnitude}");
        }
        let elements: Vec<usize> = (0..want.len()).rev().collect();
        let Some(sampled) = oracle.sample(&signature, &sources, number, &elements) else { continue };
        for (at, element) in elements.into_iter().enumerate() {
            let (got, want) = (sampled.values[at], output.values[element]);
            let near = got == want || (got - want).abs() < 1e-9 || (got.is_nan() && want.is_nan());
            assert!(near, "a sample of {what}[{element}]: {got} is not {want}");
            let (got, want) = (sampled.magnitude(at), output.magnitude(element));
            let near = (got - want).abs() <= 1e-9 * want.abs() || got == want || want.is_nan();
            assert!(near, "the magnitude of a sample of {what}[{element}]: {got} is not {want}");
        }
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

#[test]
fn the_quantizer_tells_bits_and_steps() {
    let x = [2.54, -1.0, 0.0];
    let example =
        |layout| Example::of("quantize").input("x", &[1, 3], &x).output("y", &[1, 3], &[0.0; 3]).stored_as(layout);
    let signature = example(examples::int8(&[1, 3])).signature();
    let expected = &quantized::QUANTIZE.compute(&signature, &[x.to_vec()]).expect("fits")[0];
    let stored = expected.stored.as_ref().expect("bits");
    assert_eq!(stored.codes, [127, (-50_i8) as u8, 0]);
    assert_eq!(stored.scales, (2.54f32 / 127.0).to_le_bytes());
    assert!((expected.magnitude(1) - 0.02).abs() < 1e-6, "one step");
    // Scales that are given are inputs, and are used.
    let mut given = examples::int8(&[1, 3]);
    given.scales.as_mut().expect("scales").is_given = true;
    let signature = example(given).input("scales", &[1], &[0.5]).signature();
    let expected = &quantized::QUANTIZE.compute(&signature, &[x.to_vec(), vec![0.5]]).expect("fits")[0];
    assert_eq!(expected.stored.as_ref().expect("bits").codes, [5, (-2_i8) as u8, 0]);
}

#[test]
fn attention_over_many_keys_is_sampled_in_a_moment() {
    let (keys, depth) = (1 << 16, 128);
    let tensor = |name: &str, heads: usize, rows: usize| TensorShape::new(name, &[1, heads, rows, depth]);
    let signature = Signature {
        inputs: vec![tensor("q", 8, 1024), tensor("k", 2, keys), tensor("v", 2, keys)],
        outputs: vec![tensor("out", 8, 1024)],
        scalars: Vec::new(),
    };
    // Numbers that repeat, as a benchmark's do.
    let values: Vec<f64> = (0..1_u64 << 20).map(|i| ((i * 7919) % 1009) as f64 / 504.5 - 1.0).collect();
    let inputs: Vec<Source<'_>> = (0..3).map(|_| Source::Values(values.as_slice().into())).collect();
    let elements: Vec<usize> =
        (0..8).flat_map(|row| (0..64).map(move |at| (row * 1000 + 3) * depth + 2 * at)).collect();
    let started = std::time::Instant::now();
    let sampled = attention::ORACLE.sample(&signature, &inputs, 0, &elements).expect("can");
    let took = started.elapsed();
    assert_eq!(sampled.values.len(), elements.len());
    assert!(sampled.values.iter().enumerate().all(|(at, x)| x.is_finite() && x.abs() <= sampled.magnitude(at) + 1e-12));
    println!("8 rows of 65536 keys: {took:?}");
    // Room for an unoptimised build on a busy machine; the whole output would take an hour there.
    assert!(took.as_secs_f64() < 60.0, "{took:?}");
}
