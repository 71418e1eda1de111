//! Several texts at once, as an engine batches requests: each matrix of the layers is read once for all of them, and one launch
//! of the attention serves all.

use crate::cache::{Cache, CacheFormat, LayerCache, PAGE_SIZE, shuffled};
use crate::decode::Decoder;
use crate::weights::Model;

/// One layer's question to the attention, for texts of the same length.
pub struct BatchQuery<'a> {
    pub layer: usize,
    /// `[texts, query heads, head_dim]`
    pub q: Vec<f32>,
    pub caches: Vec<&'a Cache>,
    /// Tokens to attend to, the newest included.
    pub length: usize,
}

/// What a kernel reads for several texts: the pages that hold tokens, one text's among the others'.
pub struct Pages {
    /// `[texts, pages of a text]`: which page of the pools holds tokens 0 to 15 of a text, the next 16, and so on.
    pub page_table: Vec<i32>,
    pub pages_per_text: usize,
    pub k_codes: Vec<u8>,
    pub k_scales: Vec<u8>,
    pub v_codes: Vec<u8>,
    pub v_scales: Vec<u8>,
}

impl BatchQuery<'_> {
    /// The pages of all texts in pools that hold nothing else. One text keeps its own pools, pages without tokens included.
    pub fn pages(&self) -> Pages {
        if let [cache] = self.caches.as_slice() {
            let pools = &cache.layers[self.layer];
            return Pages {
                page_table: cache.page_table.clone(),
                pages_per_text: cache.page_table.len(),
                k_codes: pools.k.codes.clone(),
                k_scales: pools.k.scales.clone(),
                v_codes: pools.v.codes.clone(),
                v_scales: pools.v.scales.clone(),
            };
        }
        let pages_per_text = self.length.div_ceil(PAGE_SIZE);
        let page_table = shuffled(self.caches.len() * pages_per_text);
        let gathered = |bytes: fn(&LayerCache) -> &[u8]| {
            let page_bytes = bytes(&self.caches[0].layers[self.layer]).len() / self.caches[0].page_table.len();
            let mut all = vec![0; page_table.len() * page_bytes];
            for (at, page) in page_table.iter().enumerate() {
                let cache = self.caches[at / pages_per_text];
                let from = cache.page_table[at % pages_per_text] as usize * page_bytes;
                let source = &bytes(&cache.layers[self.layer])[from..][..page_bytes];
                all[*page as usize * page_bytes..][..page_bytes].copy_from_slice(source);
            }
            all
        };
        Pages {
            k_codes: gathered(|pools| &pools.k.codes),
            k_scales: gathered(|pools| &pools.k.scales),
            v_codes: gathered(|pools| &pools.v.codes),
            v_scales: gathered(|pools| &pools.v.scales),
            page_table,
            pages_per_text,
        }
    }
}

/// Texts that grow by a token each at a time.
pub struct Batch<'m> {
    model: &'m Model,
    caches: Vec<Cache>,
}

impl<'m> Batch<'m> {
    /// `texts` is at least 1.
    pub fn new(model: &'m Model, format: CacheFormat, texts: usize) -> Self {
        Batch { model, caches: vec![Cache::new(model, format); texts.max(1)] }
    }

    /// Takes the same tokens into each text, with the attention on the CPU. Before the first [`step`](Self::step).
    pub fn prompt(&mut self, tokens: &[u32]) {
        let mut first = Decoder { model: self.model, cache: self.caches.swap_remove(0) };
        tokens.iter().for_each(|token| _ = first.step_on_cpu(*token));
        self.caches.insert(0, first.cache);
        let (first, others) = self.caches.split_at_mut(1);
        others.iter_mut().for_each(|cache| cache.clone_from(&first[0]));
    }

    /// Takes a token into each text and gives the scores of all tokens to come after it, by text. `attention` answers
    /// `out[texts, query heads, head_dim]` for each layer in turn.
    ///
    /// # Errors
    /// The attention's.
    pub fn step<E>(
        &mut self,
        tokens: &[u32],
        attention: &mut dyn FnMut(&BatchQuery<'_>) -> Result<Vec<f32>, E>,
    ) -> Result<Vec<Vec<f32>>, E> {
        let position = self.caches[0].length;
        let mut x = self.model.embed(tokens);
        for layer in 0..self.model.shape.layers {
            let made = self.model.project(layer, &x, std::iter::repeat_n(position, tokens.len()));
            let width = made.k.len() / tokens.len();
            append(&mut self.caches, layer, &made.k, &made.v, width);
            let caches = self.caches.iter().collect();
            let attended = attention(&BatchQuery { layer, q: made.q, caches, length: position + 1 })?;
            self.model.finish(layer, &mut x, &attended);
        }
        self.caches.iter_mut().for_each(|cache| cache.length = position + 1);
        let logits = self.model.logits(&x);
        Ok(logits.chunks(logits.len() / tokens.len()).map(<[f32]>::to_vec).collect())
    }
}

/// Stores a token's keys and values, `width` numbers a text, in the layer of each text's cache. Rounding them to the cache's
/// format takes longer than the layer's products, and no text's row is of concern to another's.
fn append(caches: &mut [Cache], layer: usize, k: &[f32], v: &[f32], width: usize) {
    /// Starting a thread takes as long as storing some rows.
    const LEAST_TEXTS: usize = 8;
    const MOST_THREADS: usize = 8;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = (caches.len() / LEAST_TEXTS).clamp(1, cores.min(MOST_THREADS));
    let texts = caches.len().div_ceil(threads);
    std::thread::scope(|scope| {
        let rows = k.chunks(texts * width).zip(v.chunks(texts * width));
        for (caches, (k, v)) in caches.chunks_mut(texts).zip(rows) {
            let mut store = move || {
                for (cache, (k, v)) in caches.iter_mut().zip(k.chunks(width).zip(v.chunks(width))) {
                    cache.append(layer, k, v);
                }
            };
            match threads {
                1 => store(),
                _ => _ = scope.spawn(store),
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attend::attend;
    use crate::decode::largest;
    use gpu_core::spec::Dtype;
    use std::convert::Infallible;

    #[test]
    fn texts_side_by_side_are_those_that_are_written_alone() {
        let model = Model::embedded().unwrap();
        let mut batch = Batch::new(&model, CacheFormat::K8v4, 3);
        let mut alone: Vec<Decoder<'_>> = (0..3).map(|_| Decoder::new(&model, CacheFormat::K8v4)).collect();
        let mut tokens: Vec<u32> = b"abc".iter().map(|byte| u32::from(*byte)).collect();
        for step in 0..20 {
            let expected: Vec<u32> =
                alone.iter_mut().zip(&tokens).map(|(text, token)| largest(&text.step_on_cpu(*token))).collect();
            let mut on_cpu = |query: &BatchQuery<'_>| -> Result<Vec<f32>, Infallible> {
                assert_eq!((query.caches.len(), query.length), (3, step + 1));
                let width = query.q.len() / 3;
                let one =
                    |(at, q): (usize, &[f32])| attend(&model.shape, query.caches[at], query.layer, q, query.length);
                Ok(query.q.chunks(width).enumerate().flat_map(one).collect())
            };
            let Ok(logits) = batch.step(&tokens, &mut on_cpu);
            tokens = logits.iter().map(|logits| largest(logits)).collect();
            assert_eq!(tokens, expected, "token {step}");
        }
    }

    #[test]
    fn gathered_pages_hold_each_texts_rows() {
        let model = Model::embedded().unwrap();
        let mut caches: Vec<Cache> = (0..2).map(|_| Cache::new(&model, CacheFormat::Fp16)).collect();
        let width = model.shape.key_heads * model.shape.head_dim;
        for (number, cache) in caches.iter_mut().enumerate() {
            for token in 0..40 {
                let row = vec![(number * 100 + token) as f32; width];
                cache.append(0, &row, &row);
                cache.length += 1;
            }
        }
        let pages = BatchQuery { layer: 0, q: Vec::new(), caches: caches.iter().collect(), length: 40 }.pages();
        assert_eq!((pages.pages_per_text, pages.page_table.len()), (3, 6));
        for (number, token) in [(0, 0), (0, 39), (1, 17)] {
            let page = pages.page_table[number * 3 + token / PAGE_SIZE] as usize;
            let row = (page * PAGE_SIZE + token % PAGE_SIZE) * model.shape.key_heads * model.shape.head_dim * 2;
            let value = Dtype::F16.decode(&pages.v_codes[row..row + 2]);
            assert_eq!(value, (number * 100 + token) as f64);
        }
    }
}
