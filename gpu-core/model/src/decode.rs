//! Token by token: project, append to the cache, attend, finish the layer.

use crate::attend::attend;
use crate::cache::{Cache, CacheFormat};
use crate::weights::Model;

pub struct Decoder<'m> {
    pub model: &'m Model,
    pub cache: Cache,
}

impl<'m> Decoder<'m> {
    pub fn new(model: &'m Model, format: CacheFormat) -> Self {
        Decoder { model, cache: Cache::new(model, format) }
    }

    /// Takes a token in and gives the scores of all tokens to come after it; the attention is the CPU's. With a kernel's:
    /// [`Batch`](crate::Batch).
    pub fn step_on_cpu(&mut self, token: impl Into<u32>) -> Vec<f32> {
        let shape = self.model.shape;
        let mut x = self.model.embed(&[token.into()]);
        let length = self.cache.length + 1;
        for layer in 0..shape.layers {
            let made = self.model.project(layer, &x, std::iter::once(self.cache.length));
            self.cache.append(layer, &made.k, &made.v);
            let attended = attend(&shape, &self.cache, layer, &made.q, length);
            self.model.finish(layer, &mut x, &attended);
        }
        self.cache.length = length;
        self.model.logits(&x)
    }
}

/// The most probable token; the first of equal ones.
pub fn largest(logits: &[f32]) -> u32 {
    let mut best = 0;
    for (token, logit) in logits.iter().enumerate() {
        if *logit > logits[best] {
            best = token;
        }
    }
    best as u32
}

/// A token drawn by the softmax of `logits / temperature`; `random` is in `[0, 1)`. At temperature 0 it is the most probable.
pub fn draw(logits: &[f32], temperature: f64, random: f64) -> u32 {
    let best = largest(logits);
    if temperature <= 0.0 {
        return best;
    }
    let most = f64::from(logits[best as usize]);
    let weights: Vec<f64> = logits.iter().map(|logit| ((f64::from(*logit) - most) / temperature).exp()).collect();
    let mut left = random * weights.iter().sum::<f64>();
    for (token, weight) in weights.iter().enumerate() {
        left -= weight;
        if left < 0.0 {
            return token as u32;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What training wrote after this prompt with PyTorch, from `training.json`.
    fn sample() -> String {
        let record: serde_json::Value =
            serde_json::from_str(include_str!("../../../assets/small-model/training.json")).unwrap();
        record["sample"].as_str().unwrap().to_owned()
    }

    fn text(format: CacheFormat, prompt: &str, tokens: usize) -> String {
        let model = Model::embedded().unwrap();
        let mut decoder = Decoder::new(&model, format);
        let mut bytes = prompt.as_bytes().to_vec();
        let mut next = 0;
        for token in prompt.bytes() {
            next = largest(&decoder.step_on_cpu(token));
        }
        for _ in 0..tokens {
            bytes.push(next as u8);
            next = largest(&decoder.step_on_cpu(next));
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    #[test]
    fn tokens_are_drawn_as_often_as_they_are_probable() {
        let logits = [0.0, 2.0_f32.ln(), f32::NEG_INFINITY, 0.0];
        let counts = (0..400).fold([0; 4], |mut counts, at| {
            counts[draw(&logits, 1.0, (f64::from(at) + 0.5) / 400.0) as usize] += 1;
            counts
        });
        assert_eq!(counts, [100, 200, 0, 100]);
        assert_eq!(draw(&logits, 0.0, 0.99), 1);
        assert_eq!(draw(&logits, 0.01, 0.99), 1);
    }

    #[test]
    fn it_writes_what_pytorch_wrote() {
        let expected = sample();
        let got = text(CacheFormat::Fp16, "A warp is ", 60);
        // Sums differ in their last bits, and where two bytes are nearly as probable the texts part.
        let same = got.bytes().zip(expected.bytes()).take_while(|(a, b)| a == b).count();
        assert!(same >= 40, "{same} bytes agree:\n{got}\n{expected}");
    }
}
