//! GGUF, the file format of llama.cpp: extents, tokenizer and weights of a model with Llama's layers. Four storage formats are
//! read: F32, F16, Q8_0 and Q4_1. Read by hand: the crates for it read metadata alone, or bring a framework.

use crate::matrix::Matrix;
use crate::tokenizer::Tokenizer;
use crate::weights::{Layer, Model, Shape};
use gpu_core::spec::Dtype;
use std::collections::BTreeMap;

/// Tokens that a cache has room for at most, whatever the model was trained with: it is copied for every launch.
const MOST_CONTEXT: usize = 1024;
/// Before [`Model::calibrate`] has seen keys and values.
const UNKNOWN_LARGEST: f32 = 8.0;
/// Entries of a list, bytes of a string, extents of a tensor: more is a damaged file.
const MOST_LENGTH: u64 = 1 << 28;

/// A value of the header, as far as anything here asks for it.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Whole(u64),
    Float(f64),
    Text(String),
    Texts(Vec<String>),
    Other,
}

struct Tensor {
    /// Fastest first, as GGUF has it: `[inputs, outputs]` of a matrix.
    extents: Vec<u64>,
    kind: u32,
    offset: u64,
}

/// Reads bytes in order.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: u64) -> Result<&'a [u8], String> {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let end = self.at.checked_add(count).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or_else(|| format!("the GGUF file ends early, after {} bytes", self.bytes.len()))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn word<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let mut word = [0; N];
        word.copy_from_slice(self.take(N as u64)?);
        Ok(word)
    }

    fn u32(&mut self) -> Result<u32, String> {
        Ok(u32::from_le_bytes(self.word()?))
    }

    fn u64(&mut self) -> Result<u64, String> {
        Ok(u64::from_le_bytes(self.word()?))
    }

    fn length(&mut self) -> Result<u64, String> {
        let length = self.u64()?;
        if length > MOST_LENGTH {
            Err(format!("the GGUF file says a length of {length}, which is damaged"))
        } else {
            Ok(length)
        }
    }

    fn text(&mut self) -> Result<String, String> {
        let length = self.length()?;
        Ok(String::from_utf8_lossy(self.take(length)?).into_owned())
    }

    fn value(&mut self, kind: u32) -> Result<Value, String> {
        Ok(match kind {
            0 | 7 => Value::Whole(u64::from(self.word::<1>()?[0])),
            1 => Value::Float(f64::from(i8::from_le_bytes(self.word()?))),
            2 => Value::Whole(u64::from(u16::from_le_bytes(self.word()?))),
            3 => Value::Float(f64::from(i16::from_le_bytes(self.word()?))),
            4 => Value::Whole(u64::from(self.u32()?)),
            5 => Value::Float(f64::from(i32::from_le_bytes(self.word()?))),
            6 => Value::Float(f64::from(f32::from_le_bytes(self.word()?))),
            8 => Value::Text(self.text()?),
            9 => {
                let (kind, count) = (self.u32()?, self.length()?);
                if kind == 9 {
                    return Err("the GGUF file has lists of lists, which nothing here needs".to_owned());
                }
                let mut texts = Vec::new();
                for _ in 0..count {
                    if let Value::Text(text) = self.value(kind)? {
                        texts.push(text);
                    }
                }
                if kind == 8 { Value::Texts(texts) } else { Value::Other }
            }
            10 => Value::Whole(self.u64()?),
            11 => Value::Float(i64::from_le_bytes(self.word()?) as f64),
            12 => Value::Float(f64::from_le_bytes(self.word()?)),
            _ => return Err(format!("the GGUF file has a value of kind {kind}, which is not known")),
        })
    }
}

/// A file, taken apart.
struct File<'a> {
    notes: BTreeMap<String, Value>,
    tensors: BTreeMap<String, Tensor>,
    numbers: &'a [u8],
}

impl<'a> File<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, String> {
        let mut reader = Reader { bytes, at: 0 };
        if reader.take(4).ok() != Some(b"GGUF") {
            return Err("no GGUF file: it does not begin with `GGUF`".to_owned());
        }
        let version = reader.u32()?;
        if !(2..=3).contains(&version) {
            return Err(format!("a GGUF file of version {version}; 2 and 3 can be read"));
        }
        let (tensor_count, note_count) = (reader.length()?, reader.length()?);
        let mut notes = BTreeMap::new();
        for _ in 0..note_count {
            let name = reader.text()?;
            let kind = reader.u32()?;
            notes.insert(name, reader.value(kind)?);
        }
        let mut tensors = BTreeMap::new();
        for _ in 0..tensor_count {
            let name = reader.text()?;
            let dimensions = reader.u32()?;
            let extents = (0..dimensions.min(8)).map(|_| reader.length()).collect::<Result<Vec<_>, _>>()?;
            let tensor = Tensor { extents, kind: reader.u32()?, offset: reader.u64()? };
            tensors.insert(name, tensor);
        }
        let alignment = match notes.get("general.alignment") {
            Some(Value::Whole(alignment @ 1..=4096)) => *alignment as usize,
            _ => 32,
        };
        let begin = reader.at.next_multiple_of(alignment).min(bytes.len());
        Ok(File { notes, tensors, numbers: &bytes[begin..] })
    }

    fn whole(&self, name: &str) -> Result<usize, String> {
        match self.notes.get(name) {
            Some(Value::Whole(number)) if *number < MOST_LENGTH => Ok(*number as usize),
            other => Err(format!("the GGUF file needs a whole number `{name}` (found {other:?})")),
        }
    }

    fn float(&self, name: &str) -> Result<f32, String> {
        match self.notes.get(name) {
            Some(Value::Float(number)) => Ok(*number as f32),
            other => Err(format!("the GGUF file needs a number `{name}` (found {other:?})")),
        }
    }

    fn texts(&self, name: &str) -> Result<&[String], String> {
        match self.notes.get(name) {
            Some(Value::Texts(texts)) => Ok(texts),
            _ => Err(format!("the GGUF file needs a list of texts `{name}`")),
        }
    }

    /// All numbers of a tensor, which must have these extents, fastest first.
    fn tensor(&self, name: &str, extents: &[usize]) -> Result<Vec<f32>, String> {
        let tensor = self.tensors.get(name).ok_or_else(|| format!("the GGUF file has no tensor `{name}`"))?;
        if !tensor.extents.iter().map(|extent| *extent as usize).eq(extents.iter().copied()) {
            return Err(format!("tensor `{name}` is {:?}, not {extents:?}", tensor.extents));
        }
        let count: usize = extents.iter().product();
        let (block, bytes) = match tensor.kind {
            0 => (1, 4),
            1 => (1, 2),
            3 => (32, 20),
            8 => (32, 34),
            kind => {
                return Err(format!("tensor `{name}` is stored in format {kind}; F32, F16, Q4_1 and Q8_0 can be read"));
            }
        };
        if !count.is_multiple_of(block) {
            return Err(format!("tensor `{name}` has {count} elements, which are no whole blocks of {block}"));
        }
        let begin = usize::try_from(tensor.offset).unwrap_or(usize::MAX);
        let stored = begin.checked_add(count / block * bytes).and_then(|end| self.numbers.get(begin..end));
        let stored = stored.ok_or_else(|| format!("the GGUF file ends inside tensor `{name}`"))?;
        let mut values = Vec::with_capacity(count);
        for piece in stored.chunks_exact(bytes) {
            decode(tensor.kind, piece, &mut values);
        }
        Ok(values)
    }
}

/// One block's numbers.
fn decode(kind: u32, piece: &[u8], values: &mut Vec<f32>) {
    let half = |at: usize| Dtype::F16.decode(&piece[at..at + 2]) as f32;
    match kind {
        0 => values.push(f32::from_le_bytes([piece[0], piece[1], piece[2], piece[3]])),
        1 => values.push(half(0)),
        // A scale, the least value, and 32 codes of four bits: the low halves of all bytes, then the high ones.
        3 => {
            let (scale, least) = (half(0), half(2));
            values.extend(piece[4..].iter().map(|byte| f32::from(byte & 15) * scale + least));
            values.extend(piece[4..].iter().map(|byte| f32::from(byte >> 4) * scale + least));
        }
        // A scale and 32 whole numbers.
        _ => {
            let scale = half(0);
            values.extend(piece[2..].iter().map(|byte| f32::from(byte.cast_signed()) * scale));
        }
    }
}

/// Rows of queries or keys as llama.cpp orders them (both elements that turn together side by side) to the order here (a first
/// half that turns with a second).
fn unpaired(values: &[f32], inputs: usize, head_dim: usize) -> Vec<f32> {
    let mut out = Vec::with_capacity(values.len());
    for head in values.chunks(head_dim * inputs) {
        for first in 0..2 {
            for at in 0..head_dim / 2 {
                out.extend_from_slice(&head[(2 * at + first) * inputs..][..inputs]);
            }
        }
    }
    out
}

/// Reads a model and its tokenizer.
///
/// # Errors
/// One sentence: what is damaged, missing, or of another architecture.
pub fn parse(bytes: &[u8]) -> Result<(Model, Tokenizer), String> {
    let file = File::read(bytes)?;
    match file.notes.get("general.architecture") {
        Some(Value::Text(name)) if name == "llama" => {}
        other => return Err(format!("this is a model of {other:?}; layers of `llama` can be run")),
    }
    let width = file.whole("llama.embedding_length")?;
    let query_heads = file.whole("llama.attention.head_count")?;
    let key_heads = file.whole("llama.attention.head_count_kv")?;
    if query_heads == 0
        || key_heads == 0
        || !query_heads.is_multiple_of(key_heads)
        || !width.is_multiple_of(2 * query_heads)
    {
        return Err(format!(
            "{query_heads} query heads and {key_heads} key heads of {width} elements do not fit together"
        ));
    }
    let tokens = file.texts("tokenizer.ggml.tokens")?;
    let shape = Shape {
        vocabulary: tokens.len(),
        width,
        layers: file.whole("llama.block_count")?,
        query_heads,
        key_heads,
        head_dim: width / query_heads,
        hidden: file.whole("llama.feed_forward_length")?,
        context: file.whole("llama.context_length")?.min(MOST_CONTEXT),
        rope_base: file.float("llama.rope.freq_base")?,
        norm_epsilon: file.float("llama.attention.layer_norm_rms_epsilon")?,
    };
    let matrix = |name: &str, outputs: usize, inputs: usize| -> Result<Matrix, String> {
        Ok(Matrix { outputs, inputs, values: file.tensor(name, &[inputs, outputs])? })
    };
    let (queries, keys) = (query_heads * shape.head_dim, key_heads * shape.head_dim);
    let layer = |index: usize| -> Result<Layer, String> {
        let name = |part: &str| format!("blk.{index}.{part}.weight");
        let turned = |part: &str, outputs: usize| -> Result<Matrix, String> {
            let matrix = matrix(&name(part), outputs, width)?;
            Ok(Matrix { values: unpaired(&matrix.values, width, shape.head_dim), ..matrix })
        };
        Ok(Layer {
            attention_norm: file.tensor(&name("attn_norm"), &[width])?,
            query: turned("attn_q", queries)?,
            key: turned("attn_k", keys)?,
            value: matrix(&name("attn_v"), keys, width)?,
            output: matrix(&name("attn_output"), width, queries)?,
            hidden_norm: file.tensor(&name("ffn_norm"), &[width])?,
            gate: matrix(&name("ffn_gate"), shape.hidden, width)?,
            up: matrix(&name("ffn_up"), shape.hidden, width)?,
            down: matrix(&name("ffn_down"), width, shape.hidden)?,
            k_largest: UNKNOWN_LARGEST,
            v_largest: UNKNOWN_LARGEST,
        })
    };
    if file.tensors.contains_key("output.weight") {
        return Err(
            "this model has an output matrix of its own; only those that use the embedding again can be run".into()
        );
    }
    let model = Model {
        shape,
        embedding: matrix("token_embd.weight", shape.vocabulary, width)?,
        layers: (0..shape.layers).map(layer).collect::<Result<_, _>>()?,
        final_norm: file.tensor("output_norm.weight", &[width])?,
    };
    Ok((model, Tokenizer::new(tokens, file.texts("tokenizer.ggml.merges")?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes a file of one layer, width 32, one head, and a vocabulary of four, with matrices in every format.
    struct Writer(Vec<u8>);

    impl Writer {
        fn text(&mut self, text: &str) {
            self.0.extend((text.len() as u64).to_le_bytes());
            self.0.extend(text.as_bytes());
        }

        fn note(&mut self, name: &str, kind: u32, value: &[u8]) {
            self.text(name);
            self.0.extend(kind.to_le_bytes());
            self.0.extend(value);
        }

        fn texts(&mut self, name: &str, texts: &[&str]) {
            self.note(name, 9, &8_u32.to_le_bytes());
            self.0.extend((texts.len() as u64).to_le_bytes());
            texts.iter().for_each(|text| self.text(text));
        }
    }

    fn half(value: f64) -> [u8; 2] {
        let mut bytes = [0; 2];
        Dtype::F16.encode(value, &mut bytes);
        bytes
    }

    fn file() -> Vec<u8> {
        // Name, extents, format.
        let tensors: [(&str, &[u64], u32); 11] = [
            ("token_embd.weight", &[32, 4], 8),
            ("blk.0.attn_norm.weight", &[32], 0),
            ("blk.0.attn_q.weight", &[32, 32], 0),
            ("blk.0.attn_k.weight", &[32, 32], 3),
            ("blk.0.attn_v.weight", &[32, 32], 1),
            ("blk.0.attn_output.weight", &[32, 32], 3),
            ("blk.0.ffn_norm.weight", &[32], 0),
            ("blk.0.ffn_gate.weight", &[32, 64], 3),
            ("blk.0.ffn_up.weight", &[32, 64], 3),
            ("blk.0.ffn_down.weight", &[64, 32], 3),
            ("output_norm.weight", &[32], 0),
        ];
        let mut writer = Writer(b"GGUF".to_vec());
        writer.0.extend(3_u32.to_le_bytes());
        writer.0.extend((tensors.len() as u64).to_le_bytes());
        writer.0.extend(11_u64.to_le_bytes());
        let llama = [5, 0, 0, 0, 0, 0, 0, 0, b'l', b'l', b'a', b'm', b'a'];
        writer.note("general.architecture", 8, &llama);
        for (name, value) in [
            ("llama.embedding_length", 32_u32),
            ("llama.attention.head_count", 1),
            ("llama.attention.head_count_kv", 1),
            ("llama.block_count", 1),
            ("llama.feed_forward_length", 64),
            ("llama.context_length", 1 << 20),
        ] {
            writer.note(name, 4, &value.to_le_bytes());
        }
        writer.note("llama.rope.freq_base", 6, &100_000_f32.to_le_bytes());
        writer.note("llama.attention.layer_norm_rms_epsilon", 6, &1e-5_f32.to_le_bytes());
        writer.texts("tokenizer.ggml.tokens", &["a", "b", "ab", "Ġ"]);
        writer.texts("tokenizer.ggml.merges", &["a b"]);
        let mut numbers = Vec::new();
        for (name, extents, kind) in tensors {
            writer.text(name);
            writer.0.extend((extents.len() as u32).to_le_bytes());
            extents.iter().for_each(|extent| writer.0.extend(extent.to_le_bytes()));
            writer.0.extend(kind.to_le_bytes());
            writer.0.extend((numbers.len() as u64).to_le_bytes());
            let count = extents.iter().product::<u64>() as usize;
            match kind {
                // Element i is i.
                0 => (0..count).for_each(|at| numbers.extend((at as f32).to_le_bytes())),
                1 => (0..count).for_each(|at| numbers.extend(half(at as f64))),
                3 => (0..count / 32).for_each(|at| {
                    numbers.extend(half(0.5));
                    numbers.extend(half(at as f64));
                    numbers.extend((0..16).map(|byte: u8| byte | (15 - byte) << 4));
                }),
                _ => (0..count / 32).for_each(|_| {
                    numbers.extend(half(0.25));
                    numbers.extend((0..32).map(|at: u8| (at.cast_signed() - 16).cast_unsigned()));
                }),
            }
            numbers.resize(numbers.len().next_multiple_of(32), 0);
        }
        writer.0.resize(writer.0.len().next_multiple_of(32), 0);
        writer.0.extend(numbers);
        writer.0
    }

    #[test]
    fn each_format_is_decoded_and_rows_are_put_in_order() {
        let (model, tokenizer) = parse(&file()).unwrap();
        assert_eq!((model.shape.head_dim, model.shape.context, model.shape.vocabulary), (32, MOST_CONTEXT, 4));
        assert_eq!(model.embedding.values[..3], [-4.0, -3.75, -3.5]);
        let layer = &model.layers[0];
        // Q4_1: code times scale and the least: 0, 0.5 …, then the high halves, 7.5, 7 …
        assert_eq!(layer.output.values[32 + 1], 1.5);
        assert_eq!(layer.output.values[16..18], [7.5, 7.0]);
        assert_eq!(layer.value.values[33], 33.0);
        // Rows 0, 2, 4 … are the first half.
        assert_eq!(layer.query.values[32], 64.0);
        assert_eq!(layer.query.values[16 * 32], 32.0);
        assert_eq!(tokenizer.encode("ab a"), [2, 3, 0]);
    }

    #[test]
    fn a_damaged_file_is_told_what_is_wrong() {
        let whole = file();
        for cut in [0, 3, 10, 60, 300, 900, whole.len() - 40] {
            let why = parse(&whole[..cut]).unwrap_err();
            assert!(why.contains("GGUF") && why.len() < 200, "{cut}: {why}");
        }
        let mut other = whole.clone();
        let at = other.windows(5).position(|bytes| bytes == b"llama").unwrap();
        other[at + 4] = b'o';
        assert!(parse(&other).unwrap_err().contains("layers of `llama`"));
        let mut huge = whole;
        huge[8..16].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(parse(&huge).unwrap_err().contains("damaged"));
    }
}
