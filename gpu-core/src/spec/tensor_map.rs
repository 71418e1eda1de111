//! Tensor maps (`CUtensorMap`) as kernel parameters: what the bulk tensor copies of sm_90 and later describe a tensor
//! with. The rules are those of `cuTensorMapEncodeTiled` (CUDA Driver API, "Tensor Map Object Management").

use super::read::{read_expression, read_expressions};
use super::toml_reader::{Item, Reader, Section, join};
use super::{Dtype, Expr, ResolvedBuffer, Size};
use ptx_emulator::{Interleave, Swizzle, TensorMap, TensorType};
use serde::{Deserialize, Serialize};

/// Bytes of a `CUtensorMap`, and the alignment that its declaration in `lab.cuh` has.
pub const TENSOR_MAP_BYTES: usize = 128;
pub const TENSOR_MAP_ALIGN: usize = 64;
/// What a row's distance must be a multiple of.
const STRIDE_UNIT_BYTES: u64 = 16;

/// Elements of less than a byte, in a buffer of u8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Narrow {
    /// Two a byte, also in shared memory.
    U4,
    /// Sixteen in 8 bytes, which a copy puts into 16 of shared memory, as `mma` with formats of four bits wants them.
    U4Unpacked,
    /// Sixteen in 12 bytes, likewise.
    U6Unpacked,
}

impl Narrow {
    /// As `elements` of a spec names them.
    const NAMES: [(&'static str, Narrow); 3] =
        [("u4", Narrow::U4), ("u4_unpacked", Narrow::U4Unpacked), ("u6_unpacked", Narrow::U6Unpacked)];

    fn element(self) -> TensorType {
        match self {
            Narrow::U4 => TensorType::U4Align8,
            Narrow::U4Unpacked => TensorType::U4Align16,
            Narrow::U6Unpacked => TensorType::U6Align16,
        }
    }
}

/// Bytes that a miss of the second-level cache fetches.
const L2_BYTES: [u32; 4] = [0, 64, 128, 256];

/// A view of a buffer and the box that one copy moves, outermost dimension first as everywhere in a spec.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MapSpec {
    /// Name of the buffer parameter.
    pub of: String,
    /// Extents of the view; None: the buffer's own shape.
    pub shape: Option<Vec<Expr>>,
    /// Elements from one index to the next, for every dimension but the innermost; None: densely packed.
    pub strides: Option<Vec<Expr>>,
    pub tile: Vec<Expr>,
    /// 0, 32, 64 or 128.
    pub swizzle_bytes: u32,
    /// Elements outside the tensor read as NaN, not zero.
    pub nan_fill: bool,
    /// Loads round floats to tf32, whose fraction has 10 bits; stores take them as they are.
    pub rounds_to_tf32: bool,
    /// What a byte holds two of, or four of three; None: the buffer's own elements.
    pub narrow: Option<Narrow>,
    /// Every how many elements of each dimension one is copied; None: all are.
    pub element_strides: Option<Vec<Expr>>,
    pub l2_promotion_bytes: u32,
}

/// A tensor map in numbers, innermost dimension first as CUDA wants it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedMap {
    pub name: String,
    /// Index of the parameter that the map describes.
    pub buffer: usize,
    pub dtype: Dtype,
    pub sizes: Vec<u64>,
    /// For dimensions 1 and up.
    pub strides_bytes: Vec<u64>,
    pub tile: Vec<u32>,
    pub swizzle: Swizzle,
    pub nan_fill: bool,
    pub rounds_to_tf32: bool,
    pub narrow: Option<Narrow>,
    pub element_strides: Vec<u32>,
    pub l2_promotion_bytes: u32,
}

impl ResolvedMap {
    /// Whether the copy engine can address this tensor at all: rows must lie a multiple of 16 bytes apart. If not, a
    /// kernel is given 128 zero bytes, and must not use them.
    pub fn is_usable(&self) -> bool {
        self.strides_bytes.iter().all(|stride| stride % STRIDE_UNIT_BYTES == 0)
    }

    /// The element type by CUDA's numbering; types without arithmetic in a copy go by their width.
    pub fn element(&self) -> TensorType {
        if let Some(narrow) = self.narrow {
            return narrow.element();
        }
        match self.dtype {
            Dtype::F64 => TensorType::F64,
            Dtype::F32 if self.rounds_to_tf32 => TensorType::TF32,
            Dtype::F32 => TensorType::F32,
            Dtype::F16 => TensorType::F16,
            Dtype::Bf16 => TensorType::BF16,
            Dtype::I64 => TensorType::S64,
            Dtype::U64 => TensorType::U64,
            Dtype::I32 => TensorType::S32,
            Dtype::U32 => TensorType::U32,
            Dtype::I16 | Dtype::U16 => TensorType::U16,
            Dtype::E4m3 | Dtype::E5m2 | Dtype::I8 | Dtype::U8 | Dtype::Bool => TensorType::U8,
        }
    }

    /// The emulator's map of a tensor at `address`.
    pub fn for_emulator(&self, address: u64) -> TensorMap {
        TensorMap {
            address,
            element: self.element(),
            sizes: self.sizes.clone(),
            strides: self.strides_bytes.clone(),
            tile: self.tile.clone(),
            element_strides: self.element_strides.clone(),
            swizzle: self.swizzle,
            nan_fill: self.nan_fill,
            im2col: None,
            interleave: Interleave::None,
        }
    }
}

impl MapSpec {
    /// # Errors
    /// The key at fault and one sentence.
    pub(super) fn resolve(
        &self,
        at: &str,
        name: &str,
        size: &Size,
        buffers: &[(usize, &ResolvedBuffer)],
    ) -> Result<ResolvedMap, (String, String)> {
        let at = format!("{at}.tensor_map");
        let Some((buffer, tensor)) = buffers.iter().find(|(_, buffer)| buffer.name == self.of) else {
            return Err((format!("{at}.of"), format!("no buffer is called `{}`", self.of)));
        };
        let positive = |key: &str, axis: usize, expr: &Expr| {
            let key = format!("{at}.{key}[{axis}]");
            let value = expr.eval(size).map_err(|error| (key.clone(), error.0))?;
            // More than any buffer has: what is made of it fits 64 bits.
            let most = 1 << 40;
            let fits = |value: &u64| (1..=most).contains(value);
            u64::try_from(value).ok().filter(fits).ok_or((key, format!("{value} is not between 1 and {most}")))
        };
        let all = |key: &str, list: &[Expr]| {
            list.iter().enumerate().map(|(axis, expr)| positive(key, axis, expr)).collect::<Result<Vec<u64>, _>>()
        };
        let bits = self.narrow.map_or(8 * tensor.dtype.bytes() as u64, |narrow| narrow.element().bits());
        if self.narrow.is_some() && tensor.dtype != Dtype::U8 {
            let message =
                format!("elements of {bits} bits lie in a buffer of u8; `{}` is {}", self.of, tensor.dtype.name());
            return Err((format!("{at}.elements"), message));
        }
        // What a byte holds several of has a longer innermost dimension than its buffer.
        let in_elements = |bytes: u64| if self.narrow.is_some() { bytes * 8 / bits } else { bytes };
        let sizes = match &self.shape {
            Some(shape) => all("shape", shape)?,
            None => {
                let mut shape = tensor.shape.clone();
                if let Some(innermost) = shape.last_mut() {
                    *innermost = in_elements(*innermost);
                }
                shape
            }
        };
        let tile = all("box", &self.tile)?;
        if tile.len() != sizes.len() {
            let message = format!("{} extents for a tensor of {} dimensions", tile.len(), sizes.len());
            return Err((format!("{at}.box"), message));
        }
        let strides = match &self.strides {
            Some(strides) => all("strides", strides)?,
            None => {
                let product = |all: u64, size: &u64| all.saturating_mul(*size);
                (1..sizes.len()).map(|axis| sizes[axis..].iter().fold(1, product)).collect()
            }
        };
        if strides.len() + 1 != sizes.len() {
            let message = format!("{} strides for {} dimensions; one fewer is wanted", strides.len(), sizes.len());
            return Err((format!("{at}.strides"), message));
        }
        let reach = sizes.iter().zip(strides.iter().chain([&1]));
        let reach = reach.map(|(size, stride)| (size - 1).saturating_mul(*stride)).fold(0, u64::saturating_add);
        let elements = in_elements(tensor.elements);
        if reach >= elements {
            let message = format!("the view reaches element {reach}; `{}` has {elements}", self.of);
            return Err((format!("{at}.shape"), message));
        }
        if self.rounds_to_tf32 && tensor.dtype != Dtype::F32 {
            let message = format!("only f32 is rounded to tf32; `{}` is {}", self.of, tensor.dtype.name());
            return Err((format!("{at}.tf32"), message));
        }
        let element_strides = match &self.element_strides {
            Some(steps) => all("element_strides", steps)?,
            None => vec![1; sizes.len()],
        };
        if element_strides.len() != sizes.len() {
            let message = format!("{} steps for a tensor of {} dimensions", element_strides.len(), sizes.len());
            return Err((format!("{at}.element_strides"), message));
        }
        if let Some(odd) = strides.iter().find(|stride| !(*stride * bits).is_multiple_of(8)) {
            return Err((format!("{at}.strides"), format!("{odd} elements of {bits} bits are no whole bytes")));
        }
        let extents = |list: Vec<u64>| list.into_iter().rev().map(|extent| extent.min(u64::from(u32::MAX)) as u32);
        let map = ResolvedMap {
            name: name.to_owned(),
            buffer: *buffer,
            dtype: tensor.dtype,
            sizes: sizes.into_iter().rev().collect(),
            strides_bytes: strides.into_iter().rev().map(|stride| stride * bits / 8).collect(),
            tile: extents(tile).collect(),
            swizzle: match self.swizzle_bytes {
                32 => Swizzle::B32,
                64 => Swizzle::B64,
                128 => Swizzle::B128,
                _ => Swizzle::None,
            },
            nan_fill: self.nan_fill,
            rounds_to_tf32: self.rounds_to_tf32,
            narrow: self.narrow,
            element_strides: extents(element_strides).collect(),
            l2_promotion_bytes: self.l2_promotion_bytes,
        };
        if map.is_usable() {
            map.for_emulator(0).check().map_err(|error| (at, error.to_string()))?;
        }
        Ok(map)
    }
}

/// Reads the table `tensor_map` of a parameter.
pub(super) fn read_map(r: &mut Reader<'_>, item: Item<'_>, at: &str) -> Option<MapSpec> {
    let mut section = r.as_section(item, at)?;
    let of = r.string(&mut section, "of", true);
    let shape = section
        .has("shape")
        .then(|| read_expressions(r, &mut section, "shape", "1 to 5 extents of the view", 5))
        .map_or(Some(None), |shape| shape.map(Some));
    let strides = section
        .has("strides")
        .then(|| read_expressions(r, &mut section, "strides", "element strides of all but the innermost dimension", 4))
        .map_or(Some(None), |strides| strides.map(Some));
    let tile = read_expressions(r, &mut section, "box", "1 to 5 extents of the box that one copy moves", 5);
    let element_strides = section
        .has("element_strides")
        .then(|| read_expressions(r, &mut section, "element_strides", "1 to 5 steps, one for each dimension", 5))
        .map_or(Some(None), |steps| steps.map(Some));
    let swizzle_bytes = read_bytes(r, &mut section, at, "swizzle", ([0, 32, 64, 128], 0), "0, 32, 64 or 128 bytes");
    // The usual choice for tiles: a miss fetches whole 256-byte pieces, which the neighbouring box uses.
    let l2_promotion_bytes =
        read_bytes(r, &mut section, at, "l2_promotion", (L2_BYTES, 256), "0, 64, 128 or 256 bytes");
    let narrow = match r.item(&mut section, "elements", None) {
        None => Some(None),
        Some(item) => {
            let known = item.as_str().and_then(|text| Narrow::NAMES.into_iter().find(|(name, _)| *name == text));
            if known.is_none() {
                let names = Narrow::NAMES.map(|(name, _)| format!("`{name}`")).join(", ");
                r.problem(&join(at, "elements"), item.span(), format!("one of {names}"), item.describe());
            }
            known.map(|(_, narrow)| Some(narrow))
        }
    };
    let nan_fill = r.boolean(&mut section, "nan_fill").unwrap_or(false);
    let rounds_to_tf32 = r.boolean(&mut section, "tf32").unwrap_or(false);
    r.finish(section);
    Some(MapSpec {
        of: of?,
        shape: shape?,
        strides: strides?,
        tile: tile?,
        swizzle_bytes: swizzle_bytes?,
        nan_fill,
        rounds_to_tf32,
        narrow: narrow?,
        element_strides: element_strides?,
        l2_promotion_bytes: l2_promotion_bytes?,
    })
}

/// One of a few numbers of bytes, or what is meant where the key is left out.
fn read_bytes(
    r: &mut Reader<'_>,
    section: &mut Section<'_>,
    at: &str,
    key: &'static str,
    (all, default): ([u32; 4], u32),
    expected: &str,
) -> Option<u32> {
    let Some(item) = r.item(section, key, None) else { return Some(default) };
    let at = join(at, key);
    let value = read_expression(r, item, &at).and_then(|expr| expr.eval(&Size::new()).ok());
    let known = value.and_then(|value| all.into_iter().find(|known| i64::from(*known) == value));
    if known.is_none() {
        r.problem(&at, item.span(), expected, item.describe());
    }
    known
}
