//! The weights file: safetensors, whose header says every extent.

use crate::cache::CacheFormat;
use crate::decode::Decoder;
use crate::matrix::Matrix;
use gpu_core::spec::Dtype;
use serde_json::{Map, Value};
use std::str::FromStr;

const EMBEDDED: &[u8] = include_bytes!("../../../assets/small-model/model.safetensors");

/// The model's extents.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    pub vocabulary: usize,
    pub width: usize,
    pub layers: usize,
    pub query_heads: usize,
    pub key_heads: usize,
    pub head_dim: usize,
    pub hidden: usize,
    /// Tokens that it was trained with, at most.
    pub context: usize,
    pub rope_base: f32,
    pub norm_epsilon: f32,
}

#[derive(Clone, Debug)]
pub struct Layer {
    pub attention_norm: Vec<f32>,
    pub query: Matrix,
    pub key: Matrix,
    pub value: Matrix,
    pub output: Matrix,
    pub hidden_norm: Vec<f32>,
    pub gate: Matrix,
    pub up: Matrix,
    pub down: Matrix,
    /// Largest magnitude of a key (after rotation) and of a value that training saw at its end.
    pub k_largest: f32,
    pub v_largest: f32,
}

#[derive(Clone, Debug)]
pub struct Model {
    pub shape: Shape,
    /// A row for each token; also the output matrix.
    pub embedding: Matrix,
    pub layers: Vec<Layer>,
    pub final_norm: Vec<f32>,
}

impl Model {
    /// The model of the course.
    ///
    /// # Errors
    /// As [`Model::parse`]; a test holds that there are none.
    pub fn embedded() -> Result<Self, String> {
        Self::parse(EMBEDDED)
    }

    /// Reads a weights file (`assets/small-model/README.md`).
    ///
    /// # Errors
    /// One sentence: what is missing or has another shape than the header says.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let file = File::read(bytes)?;
        let notes = file.header.get("__metadata__").and_then(Value::as_object);
        let notes = notes.ok_or("the weights file has no `__metadata__`")?;
        let shape = Shape {
            vocabulary: number(notes, "vocabulary")?,
            width: number(notes, "width")?,
            layers: number(notes, "layers")?,
            query_heads: number(notes, "query_heads")?,
            key_heads: number(notes, "key_heads")?,
            head_dim: number(notes, "head_dim")?,
            hidden: number(notes, "hidden")?,
            context: number(notes, "context")?,
            rope_base: number(notes, "rope_base")?,
            norm_epsilon: number(notes, "norm_epsilon")?,
        };
        if shape.key_heads == 0
            || !shape.query_heads.is_multiple_of(shape.key_heads)
            || !shape.head_dim.is_multiple_of(2)
        {
            return Err(format!("these heads cannot share keys, or cannot be rotated: {shape:?}"));
        }
        let k_largest: Vec<f32> = list(notes, "k_largest", shape.layers)?;
        let v_largest: Vec<f32> = list(notes, "v_largest", shape.layers)?;
        let matrix = |name: &str, outputs: usize, inputs: usize| -> Result<Matrix, String> {
            Ok(Matrix { outputs, inputs, values: file.tensor(name, &[outputs, inputs])? })
        };
        let (queries, keys) = (shape.query_heads * shape.head_dim, shape.key_heads * shape.head_dim);
        let layer = |index: usize| -> Result<Layer, String> {
            let name = |part: &str| format!("layers.{index}.{part}");
            Ok(Layer {
                attention_norm: file.tensor(&name("attention_norm"), &[shape.width])?,
                query: matrix(&name("query"), queries, shape.width)?,
                key: matrix(&name("key"), keys, shape.width)?,
                value: matrix(&name("value"), keys, shape.width)?,
                output: matrix(&name("output"), shape.width, queries)?,
                hidden_norm: file.tensor(&name("hidden_norm"), &[shape.width])?,
                gate: matrix(&name("gate"), shape.hidden, shape.width)?,
                up: matrix(&name("up"), shape.hidden, shape.width)?,
                down: matrix(&name("down"), shape.width, shape.hidden)?,
                k_largest: k_largest[index],
                v_largest: v_largest[index],
            })
        };
        Ok(Model {
            shape,
            embedding: matrix("embedding", shape.vocabulary, shape.width)?,
            layers: (0..shape.layers).map(layer).collect::<Result<_, _>>()?,
            final_norm: file.tensor("final_norm", &[shape.width])?,
        })
    }

    /// Takes the largest keys and values that a text makes for those of training, for a model whose file does not have them. A
    /// cache leaves room for twice as much.
    pub fn calibrate(&mut self, tokens: &[u32]) {
        let mut decoder = Decoder::new(self, CacheFormat::Bf16);
        for token in tokens.iter().take(self.shape.context) {
            decoder.step_on_cpu(*token);
        }
        let pools = &decoder.cache.layers;
        let found: Vec<(f32, f32)> = pools.iter().map(|pools| (pools.k.largest(), pools.v.largest())).collect();
        for (layer, (k, v)) in self.layers.iter_mut().zip(found) {
            (layer.k_largest, layer.v_largest) = (k, v);
        }
    }

    pub fn parameters(&self) -> usize {
        let layer = |layer: &Layer| {
            let matrices = [&layer.query, &layer.key, &layer.value, &layer.output, &layer.gate, &layer.up, &layer.down];
            matrices.iter().map(|matrix| matrix.values.len()).sum::<usize>() + 2 * self.shape.width
        };
        self.embedding.values.len() + self.final_norm.len() + self.layers.iter().map(layer).sum::<usize>()
    }
}

type Notes = Map<String, Value>;

fn text<'n>(notes: &'n Notes, name: &str) -> Result<&'n str, String> {
    notes.get(name).and_then(Value::as_str).ok_or_else(|| format!("`__metadata__` has no `{name}`"))
}

fn number<T: FromStr>(notes: &Notes, name: &str) -> Result<T, String> {
    let text = text(notes, name)?;
    text.parse().map_err(|_| format!("`__metadata__` has {name} = {text}, which is no such number"))
}

fn list(notes: &Notes, name: &str, count: usize) -> Result<Vec<f32>, String> {
    let text = text(notes, name)?;
    let values: Vec<f32> =
        serde_json::from_str(text).map_err(|error| format!("`{name}` in `__metadata__`: {error}"))?;
    if values.len() == count { Ok(values) } else { Err(format!("`{name}` has {} numbers, not {count}", values.len())) }
}

/// The safetensors format: the header's length, the header in JSON, the numbers. Read by hand, because the crate of that
/// name turns on features of its dependencies for which half of the window is built again.
struct File<'a> {
    header: Notes,
    numbers: &'a [u8],
}

impl<'a> File<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, String> {
        let broken = |what: &str| format!("no safetensors file: {what}");
        let (length, rest) = bytes.split_first_chunk::<8>().ok_or_else(|| broken("it has fewer than 8 bytes"))?;
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        if length > rest.len() {
            return Err(broken("it ends inside its header"));
        }
        let (header, numbers) = rest.split_at(length);
        let header = serde_json::from_slice(header).map_err(|error| broken(&error.to_string()))?;
        Ok(File { header, numbers })
    }

    fn tensor(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, String> {
        let entry = self.header.get(name).ok_or_else(|| format!("the weights file has no tensor `{name}`"))?;
        let numbers = |key: &str| -> Vec<usize> {
            let list = entry[key].as_array().map_or(&[][..], Vec::as_slice);
            list.iter().filter_map(Value::as_u64).filter_map(|number| usize::try_from(number).ok()).collect()
        };
        if entry["dtype"] != "F16" || numbers("shape") != shape {
            return Err(format!("tensor `{name}` is {} {}, not F16 {shape:?}", entry["dtype"], entry["shape"]));
        }
        let found = match numbers("data_offsets")[..] {
            [begin, end] => self.numbers.get(begin..end),
            _ => None,
        };
        let found = found.filter(|bytes| bytes.len() == 2 * shape.iter().product::<usize>());
        let found = found.ok_or_else(|| format!("no safetensors file: tensor `{name}` is not all there"))?;
        Ok(found.chunks_exact(2).map(|pair| Dtype::F16.decode(pair) as f32).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_model_is_whole_and_small() {
        let model = Model::embedded().unwrap();
        assert_eq!(model.layers.len(), model.shape.layers);
        assert!(EMBEDDED.len() <= 3_000_000, "{} bytes", EMBEDDED.len());
        assert!((500_000..1_500_000).contains(&model.parameters()), "{}", model.parameters());
        assert!(model.shape.context >= 1024 && model.shape.head_dim == 64);
    }

    #[test]
    fn a_broken_file_is_told_what_it_lacks() {
        for cut in [0, 4, 100, EMBEDDED.len() - 1] {
            let why = Model::parse(&EMBEDDED[..cut]).unwrap_err();
            assert!(why.contains("no safetensors file"), "{cut}: {why}");
        }
        // A header that promises another width.
        let mut other = EMBEDDED.to_vec();
        let at = other.windows(12).position(|bytes| bytes == b"\"hidden\": \"1").unwrap();
        other[at + 11] = b'2';
        let why = Model::parse(&other).unwrap_err();
        assert!(why.contains("layers.0.gate") && why.contains("not F16"), "{why}");
    }
}
