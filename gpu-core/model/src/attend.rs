//! Attention of one query over the cache, in f64: what a kernel's result is compared with.

use crate::cache::Cache;
use crate::weights::Shape;

/// `out[query heads, head_dim]` of one layer, over the first `length` tokens as they are stored.
pub fn attend(shape: &Shape, cache: &Cache, layer: usize, q: &[f32], length: usize) -> Vec<f32> {
    let depth = shape.head_dim;
    let group = shape.query_heads / shape.key_heads;
    let pools = &cache.layers[layer];
    let mut out = Vec::with_capacity(q.len());
    for (head, q) in q.chunks(depth).enumerate() {
        let row = |token: usize| cache.row(token, head / group);
        let dot = |k: &[f32]| q.iter().zip(k).map(|(q, k)| f64::from(*q) * f64::from(*k)).sum::<f64>();
        let scores: Vec<f64> = (0..length).map(|token| dot(pools.k.row(row(token))) / (depth as f64).sqrt()).collect();
        let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut sums = vec![0.0_f64; depth];
        let mut total = 0.0;
        for (token, score) in scores.iter().enumerate() {
            let weight = (score - largest).exp();
            total += weight;
            sums.iter_mut().zip(pools.v.row(row(token))).for_each(|(sum, v)| *sum += weight * f64::from(*v));
        }
        out.extend(sums.iter().map(|sum| (sum / total) as f32));
    }
    out
}
