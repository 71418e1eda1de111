//! Sizes of language models and of their caches, for the calculator and the decode timeline.

use gpu_core::formats::Format;

/// A decoder-only transformer with grouped-query attention and a gated feed-forward part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    pub name: &'static str,
    pub layers: usize,
    pub width: usize,
    pub query_heads: usize,
    pub key_heads: usize,
    pub head_dim: usize,
    pub feed_forward: usize,
    pub vocabulary: usize,
    /// The embedding is the last product's matrix too.
    pub is_tied: bool,
}

pub const SHAPES: [Shape; 3] = [
    Shape {
        name: "Llama 3.1 8B",
        layers: 32,
        width: 4096,
        query_heads: 32,
        key_heads: 8,
        head_dim: 128,
        feed_forward: 14_336,
        vocabulary: 128_256,
        is_tied: false,
    },
    Shape {
        name: "Llama 3.1 70B",
        layers: 80,
        width: 8192,
        query_heads: 64,
        key_heads: 8,
        head_dim: 128,
        feed_forward: 28_672,
        vocabulary: 128_256,
        is_tied: false,
    },
    Shape {
        name: "SmolLM2 135M",
        layers: 30,
        width: 576,
        query_heads: 9,
        key_heads: 3,
        head_dim: 64,
        feed_forward: 1536,
        vocabulary: 49_152,
        is_tied: true,
    },
];

/// How keys or values are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    Bf16,
    /// One of the judge's formats with a scale of so many bits for each group.
    Small {
        format: Format,
        group: usize,
        scale_bits: usize,
    },
}

/// All that the pictures offer, with their names.
pub const STORES: [(&str, Store); 6] = [
    ("bf16", Store::Bf16),
    // One scale a head, which is nothing beside its elements.
    ("e4m3", Store::Small { format: Format::E4m3, group: 0, scale_bits: 0 }),
    ("INT8 g128", Store::Small { format: Format::Int8, group: 128, scale_bits: 16 }),
    ("NVFP4", Store::Small { format: Format::Nvfp4, group: 16, scale_bits: 8 }),
    ("MXFP4", Store::Small { format: Format::Mxfp4, group: 32, scale_bits: 8 }),
    ("INT4 g128", Store::Small { format: Format::Int4, group: 128, scale_bits: 16 }),
];

impl Store {
    /// Bits an element, its share of a scale included.
    pub fn bits(self) -> f64 {
        match self {
            Store::Bf16 => 16.0,
            Store::Small { format, group: 0, .. } => format.element().bits() as f64,
            Store::Small { format, group, scale_bits } => {
                format.element().bits() as f64 + scale_bits as f64 / group as f64
            }
        }
    }
}

impl Shape {
    /// Parameters of the two projections around attention, in one layer.
    pub fn projections(&self) -> f64 {
        let heads = 2 * self.query_heads + 2 * self.key_heads;
        (self.width * heads * self.head_dim) as f64
    }

    pub fn feed_forward_parameters(&self) -> f64 {
        3.0 * (self.width * self.feed_forward) as f64
    }

    pub fn vocabulary_parameters(&self) -> f64 {
        (self.width * self.vocabulary) as f64
    }

    /// All parameters but the norms', which are few.
    pub fn parameters(&self) -> f64 {
        let layers = self.layers as f64 * (self.projections() + self.feed_forward_parameters());
        layers + self.vocabulary_parameters() * if self.is_tied { 1.0 } else { 2.0 }
    }

    /// Bytes that one token adds to the cache, in all layers.
    pub fn cache_bytes_a_token(&self, k: Store, v: Store) -> f64 {
        (self.layers * self.key_heads * self.head_dim) as f64 * (k.bits() + v.bits()) / 8.0
    }
}

/// A memory size as people say it: `18.4 GB`.
pub fn bytes(value: f64) -> String {
    crate::widgets::plot_kit::si(value, "B")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_models_have_the_parameters_of_their_names() {
        for (shape, wanted) in SHAPES.iter().zip([8.03e9, 70.55e9, 134.5e6]) {
            let miss = (shape.parameters() / wanted - 1.0).abs();
            assert!(miss < 0.002, "{}: {:.4e}", shape.name, shape.parameters());
        }
    }

    #[test]
    fn a_cache_of_e4m3_keys_and_nvfp4_values_is_smaller_by_two_and_a_half() {
        let [.., small] = SHAPES;
        assert_eq!(small.cache_bytes_a_token(Store::Bf16, Store::Bf16), 23_040.0);
        let ratio =
            small.cache_bytes_a_token(Store::Bf16, Store::Bf16) / small.cache_bytes_a_token(STORES[1].1, STORES[3].1);
        assert!((ratio - 4.0 / 1.5625).abs() < 1e-12, "{ratio}");
    }
}
