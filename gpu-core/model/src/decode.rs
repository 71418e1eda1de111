//! Token by token: project, append to the cache, attend (by whoever is asked), finish the layer.

use crate::attend::attend;
use crate::cache::{Cache, CacheFormat};
use crate::weights::Model;

/// One layer's question to the attention.
pub struct Query<'a> {
    pub layer: usize,
    /// `[query heads, head_dim]`
    pub q: &'a [f32],
    pub cache: &'a Cache,
    /// Tokens to attend to, the newest included.
    pub length: usize,
}

pub struct Decoder<'m> {
    pub model: &'m Model,
    pub cache: Cache,
}

impl<'m> Decoder<'m> {
    pub fn new(model: &'m Model, format: CacheFormat) -> Self {
        Decoder { model, cache: Cache::new(model, format) }
    }

    /// Takes a token in and gives the scores of all tokens to come after it. `attention` answers
    /// `out[query heads, head_dim]` for each layer in turn.
    ///
    /// # Errors
    /// The attention's.
    pub fn step<E>(
        &mut self,
        token: u8,
        attention: &mut dyn FnMut(&Query<'_>) -> Result<Vec<f32>, E>,
    ) -> Result<Vec<f32>, E> {
        let mut x = self.model.embed(&[token]);
        let length = self.cache.length + 1;
        for layer in 0..self.model.shape.layers {
            let made = self.model.project(layer, &x, self.cache.length);
            self.cache.append(layer, &made.k, &made.v);
            let attended = attention(&Query { layer, q: &made.q, cache: &self.cache, length })?;
            self.model.finish(layer, &mut x, &attended);
        }
        self.cache.length = length;
        Ok(self.model.logits(&x))
    }

    /// As [`step`](Self::step), with the attention on the CPU.
    pub fn step_on_cpu(&mut self, token: u8) -> Vec<f32> {
        let shape = self.model.shape;
        let answer: Result<Vec<f32>, std::convert::Infallible> =
            self.step(token, &mut |query| Ok(attend(&shape, query.cache, query.layer, query.q, query.length)));
        match answer {
            Ok(logits) => logits,
            Err(never) => match never {},
        }
    }
}

/// The most probable token; the first of equal ones.
pub fn largest(logits: &[f32]) -> u8 {
    let mut best = 0;
    for (token, logit) in logits.iter().enumerate() {
        if *logit > logits[best] {
            best = token;
        }
    }
    best as u8
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
            bytes.push(next);
            next = largest(&decoder.step_on_cpu(next));
        }
        String::from_utf8_lossy(&bytes).into_owned()
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
