//! The layers, but for the attention. `x` is `[tokens, width]` throughout.

use crate::matrix::rms_norm;
use crate::weights::Model;

/// What a layer attends with, for each token: `q[tokens, query heads, head_dim]`, k and v `[tokens, key heads, head_dim]`.
pub struct Projected {
    pub q: Vec<f32>,
    pub k: Vec<f32>,
    pub v: Vec<f32>,
}

impl Model {
    pub(crate) fn embed(&self, tokens: &[u32]) -> Vec<f32> {
        let width = self.shape.width;
        tokens.iter().flat_map(|token| &self.embedding.values[*token as usize * width..][..width]).copied().collect()
    }

    /// Queries, keys (both rotated) and values; `positions` are those of the tokens of `x`.
    pub(crate) fn project(&self, layer: usize, x: &[f32], positions: impl Iterator<Item = usize> + Clone) -> Projected {
        let layer = &self.layers[layer];
        let normed = rms_norm(x, &layer.attention_norm, self.shape.norm_epsilon);
        let mut q = layer.query.apply(&normed);
        let mut k = layer.key.apply(&normed);
        self.rotate(&mut q, self.shape.query_heads, positions.clone());
        self.rotate(&mut k, self.shape.key_heads, positions);
        Projected { q, k, v: layer.value.apply(&normed) }
    }

    /// Rotary positions: element i of the first half of a head turns with element i of the second.
    fn rotate(&self, rows: &mut [f32], heads: usize, positions: impl Iterator<Item = usize>) {
        let depth = self.shape.head_dim;
        let half = depth / 2;
        for (row, position) in rows.chunks_mut(heads * depth).zip(positions) {
            let turns: Vec<(f32, f32)> = (0..half)
                .map(|i| {
                    let angle = position as f32 * self.shape.rope_base.powf(-(i as f32) / half as f32);
                    angle.sin_cos()
                })
                .collect();
            for head in row.chunks_mut(depth) {
                let (first, second) = head.split_at_mut(half);
                for ((a, b), (sin, cos)) in first.iter_mut().zip(second).zip(&turns) {
                    (*a, *b) = (*a * cos - *b * sin, *b * cos + *a * sin);
                }
            }
        }
    }

    /// The rest of a layer, added to `x`: the attention's result through its output matrix, then the hidden layer.
    pub(crate) fn finish(&self, layer: usize, x: &mut [f32], attended: &[f32]) {
        let layer = &self.layers[layer];
        add(x, &layer.output.apply(attended));
        let normed = rms_norm(x, &layer.hidden_norm, self.shape.norm_epsilon);
        let mut hidden = layer.gate.apply(&normed);
        for (gate, up) in hidden.iter_mut().zip(layer.up.apply(&normed)) {
            *gate = *gate / (1.0 + (-*gate).exp()) * up;
        }
        add(x, &layer.down.apply(&hidden));
    }

    /// Scores of all tokens to come next.
    pub(crate) fn logits(&self, x: &[f32]) -> Vec<f32> {
        self.embedding.apply(&rms_norm(x, &self.final_norm, self.shape.norm_epsilon))
    }
}

fn add(x: &mut [f32], more: &[f32]) {
    x.iter_mut().zip(more).for_each(|(x, more)| *x += more);
}
