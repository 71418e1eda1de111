//! How surprised the model is by a text, with its keys and values stored in a format: all tokens of a window at once, the
//! attention by matrix products on the CPU.

use crate::cache::{CacheFormat, through};
use crate::matrix::product;
use crate::weights::Model;

/// A measurement over a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Perplexity {
    /// Bytes that were predicted.
    pub bytes: usize,
    /// Mean of -ln(probability) over them.
    pub nats_per_byte: f64,
}

impl Perplexity {
    /// `exp` of the mean: from how many equally likely bytes the model chooses, so to speak.
    pub fn value(&self) -> f64 {
        self.nats_per_byte.exp()
    }
}

/// Windows of `context` bytes with no overlap, each predicted from its own beginning.
pub fn perplexity(model: &Model, format: CacheFormat, text: &[u8], context: usize) -> Perplexity {
    let mut total = 0.0;
    let mut count = 0;
    let mut start = 0;
    while start + 1 < text.len() {
        let end = (start + context + 1).min(text.len());
        let window = &text[start..end];
        let logits = window_logits(model, format, &window[..window.len() - 1]);
        for (row, next) in logits.chunks(model.shape.vocabulary).zip(&window[1..]) {
            total -= log_probability(row, usize::from(*next));
            count += 1;
        }
        start += context;
    }
    Perplexity { bytes: count, nats_per_byte: total / count.max(1) as f64 }
}

fn log_probability(logits: &[f32], of: usize) -> f64 {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f64 = logits.iter().map(|logit| f64::from(logit - largest).exp()).sum();
    f64::from(logits[of] - largest) - sum.ln()
}

/// Scores after each token of a window.
fn window_logits(model: &Model, format: CacheFormat, tokens: &[u8]) -> Vec<f32> {
    let shape = &model.shape;
    let (k_format, v_format) = format.sides();
    let depth = shape.head_dim;
    let numbers: Vec<u32> = tokens.iter().map(|byte| u32::from(*byte)).collect();
    let mut x = model.embed(&numbers);
    for (index, layer) in model.layers.iter().enumerate() {
        let made = model.project(index, &x, 0..tokens.len());
        let stored = |rows: &[f32], format, largest| -> Vec<f32> {
            rows.chunks(depth).flat_map(|row| through(format, largest, row)).collect()
        };
        let k = stored(&made.k, k_format, layer.k_largest);
        let v = stored(&made.v, v_format, layer.v_largest);
        let mut attended = vec![0.0; made.q.len()];
        for head in 0..shape.query_heads {
            let key_head = head / (shape.query_heads / shape.key_heads);
            let (q_row, k_row) = (shape.query_heads * depth, shape.key_heads * depth);
            let q = &made.q[head * depth..];
            let (k, v) = (&k[key_head * depth..], &v[key_head * depth..]);
            let mut scores = product(q, q_row, (k, 1, k_row), tokens.len(), depth, tokens.len());
            for (at, row) in scores.chunks_mut(tokens.len()).enumerate() {
                causal_softmax(row, at + 1, 1.0 / (depth as f32).sqrt());
            }
            let out = product(&scores, tokens.len(), (v, k_row, 1), tokens.len(), tokens.len(), depth);
            for (at, row) in out.chunks(depth).enumerate() {
                attended[at * q_row + head * depth..][..depth].copy_from_slice(row);
            }
        }
        model.finish(index, &mut x, &attended);
    }
    model.logits(&x)
}

/// Weights of the first `seen` elements; the others are 0.
fn causal_softmax(row: &mut [f32], seen: usize, scale: f32) {
    let (row, hidden) = row.split_at_mut(seen);
    hidden.fill(0.0);
    let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    row.iter_mut().for_each(|score| *score = ((*score - largest) * scale).exp());
    let sum: f32 = row.iter().sum();
    row.iter_mut().for_each(|weight| *weight /= sum);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Decoder, HELD_OUT};

    #[test]
    fn a_window_and_single_steps_score_alike() {
        let model = Model::embedded().unwrap();
        let tokens = &HELD_OUT[..48];
        for format in CacheFormat::ALL {
            let window = window_logits(&model, format, tokens);
            let mut decoder = Decoder::new(&model, format);
            for (token, row) in tokens.iter().zip(window.chunks(model.shape.vocabulary)) {
                let stepped = decoder.step_on_cpu(*token);
                // A code may round the other way where sums differ in their last bits: that is a step of its format.
                let most = if format == CacheFormat::Fp16 { 0.02 } else { 0.6 };
                let worst = stepped.iter().zip(row).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                assert!(worst < most, "{format:?}: {worst}");
            }
        }
    }

    #[test]
    fn held_out_text_is_as_surprising_as_pytorch_measured() {
        let record: serde_json::Value =
            serde_json::from_str(include_str!("../../../assets/small-model/training.json")).unwrap();
        let expected = record["held_out_nats_per_byte"].as_f64().unwrap();
        let context = record["recipe"]["context"].as_u64().unwrap() as usize;
        let model = Model::embedded().unwrap();
        let got = perplexity(&model, CacheFormat::Fp16, HELD_OUT, context);
        assert!((got.nats_per_byte - expected).abs() < 0.003, "{} {expected}", got.nats_per_byte);
    }
}
