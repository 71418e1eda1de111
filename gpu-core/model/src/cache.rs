//! A paged cache of keys and values, in the bytes that a kernel reads.
//!
//! Pages of [`PAGE_SIZE`] tokens are dealt out in no order, as they are in an engine after some requests: a kernel that
//! ignores the page table reads others. What no token was written to holds garbage for the same reason.

use crate::weights::Model;
use gpu_core::formats::{Axis, Format, Given, Layout, Packing, Part, ScaleType, Stored};
use gpu_core::spec::Dtype;

/// Tokens of a page.
pub const PAGE_SIZE: usize = 16;
/// Elements that share a scale in INT4.
const INT4_GROUP: usize = 32;
/// In memory that holds no token: a large number in each of the formats.
const GARBAGE: u8 = 0x55;

/// How keys, or values, are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SideFormat {
    Fp16,
    Bf16,
    /// Codes of a byte, one scale for the whole cache of a layer.
    E4m3,
    /// Codes of four bits, an e4m3 scale for 16, one scale for the whole cache of a layer.
    Nvfp4,
    /// Whole numbers from -7 to 7, an fp16 scale for 32.
    Int4,
}

impl SideFormat {
    /// Bytes of codes and of scales for one head of one token.
    pub fn bytes(self, depth: usize) -> (usize, usize) {
        match self {
            SideFormat::Fp16 | SideFormat::Bf16 => (2 * depth, 0),
            SideFormat::E4m3 => (depth, 0),
            SideFormat::Nvfp4 => (depth / 2, depth / 16),
            SideFormat::Int4 => (depth / 2, 2 * depth / INT4_GROUP),
        }
    }

    fn whole_number_type(self) -> Option<Dtype> {
        match self {
            SideFormat::Fp16 => Some(Dtype::F16),
            SideFormat::Bf16 => Some(Dtype::Bf16),
            SideFormat::E4m3 | SideFormat::Nvfp4 | SideFormat::Int4 => None,
        }
    }

    /// The scale of the whole for a largest magnitude, with room for twice as much: a cache cannot be scaled again when a
    /// larger value comes.
    fn tensor_scale(self, largest: f32) -> f32 {
        let room = 2.0 * largest.max(f32::MIN_POSITIVE);
        match self {
            // The scales of INT4's groups reach far enough on their own.
            SideFormat::Fp16 | SideFormat::Bf16 | SideFormat::Int4 => 1.0,
            SideFormat::E4m3 => room / 448.0,
            SideFormat::Nvfp4 => room / (6.0 * 448.0),
        }
    }
}

/// The formats that `lockstep decode --cache` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheFormat {
    Fp16,
    Bf16,
    Fp8,
    K8v4,
    Nvfp4,
    Int4,
}

impl CacheFormat {
    pub const ALL: [CacheFormat; 6] = [
        CacheFormat::Fp16,
        CacheFormat::Bf16,
        CacheFormat::Fp8,
        CacheFormat::K8v4,
        CacheFormat::Nvfp4,
        CacheFormat::Int4,
    ];

    pub fn name(self) -> &'static str {
        match self {
            CacheFormat::Fp16 => "fp16",
            CacheFormat::Bf16 => "bf16",
            CacheFormat::Fp8 => "fp8",
            CacheFormat::K8v4 => "k8v4",
            CacheFormat::Nvfp4 => "nvfp4",
            CacheFormat::Int4 => "int4",
        }
    }

    /// Formats of keys and of values.
    pub fn sides(self) -> (SideFormat, SideFormat) {
        match self {
            CacheFormat::Fp16 => (SideFormat::Fp16, SideFormat::Fp16),
            CacheFormat::Bf16 => (SideFormat::Bf16, SideFormat::Bf16),
            CacheFormat::Fp8 => (SideFormat::E4m3, SideFormat::E4m3),
            CacheFormat::K8v4 => (SideFormat::E4m3, SideFormat::Nvfp4),
            CacheFormat::Nvfp4 => (SideFormat::Nvfp4, SideFormat::Nvfp4),
            CacheFormat::Int4 => (SideFormat::Int4, SideFormat::Int4),
        }
    }

    /// Bytes that one token takes in all layers, keys and values, scales of groups included.
    pub fn bytes_per_token(self, model: &Model) -> usize {
        let (k, v) = self.sides();
        let of = |side: SideFormat| side.bytes(model.shape.head_dim);
        let ((k, k_scales), (v, v_scales)) = (of(k), of(v));
        model.shape.layers * model.shape.key_heads * (k + k_scales + v + v_scales)
    }
}

/// Keys, or values, of one layer: `[pages, PAGE_SIZE, key heads]` rows.
#[derive(Clone, Debug)]
pub struct Pool {
    pub format: SideFormat,
    /// One for all codes; 1 where the format has none.
    pub tensor_scale: f32,
    pub codes: Vec<u8>,
    /// Those of groups: of 16 in NVFP4, of 32 in INT4.
    pub scales: Vec<u8>,
    /// What the bytes stand for.
    values: Vec<f32>,
    depth: usize,
}

impl Pool {
    fn new(format: SideFormat, largest: f32, rows: usize, depth: usize) -> Self {
        let (codes, scales) = format.bytes(depth);
        Pool {
            format,
            tensor_scale: format.tensor_scale(largest),
            codes: vec![GARBAGE; rows * codes],
            scales: vec![GARBAGE; rows * scales],
            values: vec![f32::NAN; rows * depth],
            depth,
        }
    }

    fn write(&mut self, row: usize, values: &[f32]) {
        let (code_bytes, scale_bytes) = self.format.bytes(self.depth);
        let (codes, scales, decoded) = stored(self.format, self.tensor_scale, values);
        self.codes[row * code_bytes..][..code_bytes].copy_from_slice(&codes);
        self.scales[row * scale_bytes..][..scale_bytes].copy_from_slice(&scales);
        self.values[row * self.depth..][..self.depth].copy_from_slice(&decoded);
    }

    /// The largest magnitude of what was written.
    pub fn largest(&self) -> f32 {
        // Rows that nobody wrote hold NaN, of which `max` takes the other number.
        self.values.iter().fold(0.0, |largest, value| largest.max(value.abs()))
    }

    /// What is stored in a row, decoded.
    pub fn row(&self, row: usize) -> &[f32] {
        &self.values[row * self.depth..][..self.depth]
    }
}

/// A row as it is stored: codes, scales of groups, and what these stand for.
fn stored(format: SideFormat, tensor_scale: f32, row: &[f32]) -> (Vec<u8>, Vec<u8>, Vec<f32>) {
    if let Some(dtype) = format.whole_number_type() {
        let mut codes = vec![0; 2 * row.len()];
        codes.chunks_exact_mut(2).zip(row).for_each(|(bytes, value)| dtype.encode(f64::from(*value), bytes));
        let values = codes.chunks_exact(2).map(|bytes| dtype.decode(bytes) as f32).collect();
        return (codes, Vec::new(), values);
    }
    let part = |kind| Part { name: String::new(), kind, is_given: false };
    let (format, group, scales) = match format {
        SideFormat::Nvfp4 => (Format::Nvfp4, 16, Some(ScaleType::E4m3)),
        SideFormat::Int4 => (Format::Int4, INT4_GROUP, Some(ScaleType::F16)),
        _ => (Format::E4m3, row.len(), None),
    };
    let layout = Layout {
        format,
        shape: vec![row.len()],
        row_bytes: Layout::least_row_bytes(format, row.len()),
        packing: Packing::LowFirst,
        group,
        axis: scales.map(|_| Axis::Last),
        scales: scales.map(part),
        zero_points: None,
        tensor_scale: Some(Part { name: String::new(), kind: (), is_given: true }),
        is_exact: false,
    };
    let values: Vec<f64> = row.iter().map(|value| f64::from(*value)).collect();
    let given = Given { tensor_scale: Some(f64::from(tensor_scale)), ..Given::default() };
    let stored: Stored = layout.quantize(&values, &given).stored;
    let values = layout.decode(&stored).into_iter().map(|value| value as f32).collect();
    (stored.codes, stored.scales, values)
}

/// A row stored and read again.
pub(crate) fn through(format: SideFormat, largest: f32, row: &[f32]) -> Vec<f32> {
    stored(format, format.tensor_scale(largest), row).2
}

#[derive(Clone, Debug)]
pub struct LayerCache {
    pub k: Pool,
    pub v: Pool,
}

/// The cache of one sequence.
#[derive(Clone, Debug)]
pub struct Cache {
    pub layers: Vec<LayerCache>,
    /// Which page holds tokens 0 to 15, the next 16, and so on.
    pub page_table: Vec<i32>,
    /// Tokens so far.
    pub length: usize,
    key_heads: usize,
}

impl Cache {
    pub fn new(model: &Model, format: CacheFormat) -> Self {
        let shape = &model.shape;
        let pages = shape.context.div_ceil(PAGE_SIZE);
        let rows = pages * PAGE_SIZE * shape.key_heads;
        let (k, v) = format.sides();
        let layers = model.layers.iter().map(|layer| LayerCache {
            k: Pool::new(k, layer.k_largest, rows, shape.head_dim),
            v: Pool::new(v, layer.v_largest, rows, shape.head_dim),
        });
        Cache { layers: layers.collect(), page_table: shuffled(pages), length: 0, key_heads: shape.key_heads }
    }

    /// Row of a pool that holds a token's key head.
    pub fn row(&self, token: usize, key_head: usize) -> usize {
        let page = self.page_table[token / PAGE_SIZE] as usize;
        (page * PAGE_SIZE + token % PAGE_SIZE) * self.key_heads + key_head
    }

    /// Stores the key and value (`[key heads, head_dim]`) of token `length` in a layer.
    pub(crate) fn append(&mut self, layer: usize, k: &[f32], v: &[f32]) {
        for head in 0..self.key_heads {
            let row = self.row(self.length, head);
            let pools = &mut self.layers[layer];
            for (pool, values) in [(&mut pools.k, k), (&mut pools.v, v)] {
                let depth = pool.depth;
                pool.write(row, &values[head * depth..][..depth]);
            }
        }
    }
}

/// All pages in an order that has no neighbours in it.
pub(crate) fn shuffled(pages: usize) -> Vec<i32> {
    // A stride of about 0.6 of all and prime to them comes to each page once.
    let is_prime_to = |stride: usize| (2..=stride).all(|d| !stride.is_multiple_of(d) || !pages.is_multiple_of(d));
    let stride = (pages * 5 / 8..pages.max(2)).find(|stride| *stride > 0 && is_prime_to(*stride)).unwrap_or(1);
    (0..pages).map(|page| ((page * stride + pages / 3) % pages) as i32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_page_is_dealt_out_once() {
        for pages in [1, 2, 3, 8, 64, 100] {
            let mut sorted = shuffled(pages);
            sorted.sort_unstable();
            assert_eq!(sorted, (0..pages as i32).collect::<Vec<_>>());
        }
        let table = shuffled(64);
        assert!(table.windows(2).all(|pair| (pair[0] - pair[1]).abs() != 1), "{table:?}");
    }

    #[test]
    fn a_row_comes_back_within_its_format() {
        let row: Vec<f32> = (0..64).map(|i| ((i * 37 % 64) as f32 - 31.5) / 17.0).collect();
        // Relative to the largest of a group: half a step of each format.
        for (format, most) in [
            (SideFormat::Fp16, 5e-4),
            (SideFormat::Bf16, 4e-3),
            (SideFormat::E4m3, 0.036),
            (SideFormat::Nvfp4, 0.2),
            (SideFormat::Int4, 0.08),
        ] {
            let back = through(format, 2.0, &row);
            let worst = row.iter().zip(&back).map(|(a, b)| (a - b).abs() / 2.0).fold(0.0, f32::max);
            assert!(worst <= most && worst > 0.0, "{format:?}: {worst}");
        }
    }

    #[test]
    fn a_token_is_found_where_the_table_says() {
        let model = Model::embedded().unwrap();
        let mut cache = Cache::new(&model, CacheFormat::Fp16);
        let width = model.shape.key_heads * model.shape.head_dim;
        for token in 0..40 {
            let row: Vec<f32> = (0..width).map(|i| (token * width + i) as f32 / 8.0).collect();
            cache.append(0, &row, &row);
            cache.length += 1;
        }
        let first = |token: usize, head: usize| cache.layers[0].v.row(cache.row(token, head))[0];
        assert_eq!(first(17, 1), (17 * width + model.shape.head_dim) as f32 / 8.0);
        assert!(first(40, 0).is_nan(), "nothing was written there");
    }

    #[test]
    fn bytes_of_a_token_are_those_of_the_formats() {
        let model = Model::embedded().unwrap();
        let of = |format: CacheFormat| format.bytes_per_token(&model) as f64;
        assert_eq!(of(CacheFormat::Fp16) / of(CacheFormat::Fp8), 2.0);
        assert_eq!(of(CacheFormat::Fp16) / of(CacheFormat::K8v4), 4.0 / 1.5625);
        // Two bytes for 32 are as many as one for 16.
        assert_eq!(of(CacheFormat::Int4), of(CacheFormat::Nvfp4));
    }
}
