//! Tensor maps: what `cuTensorMapEncodeTiled` describes. NVIDIA does not publish the 128 bytes, so this encoding is
//! the emulator's own; [`TensorMap::encode`] writes it and the tensor copies read it.

pub mod layout;
pub mod rows;

use thiserror::Error;

use crate::tensor::layout::{Interleave, Swizzle};

/// Element types, in the order of `CUtensorMapDataType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TensorType {
    U8,
    U16,
    U32,
    S32,
    U64,
    S64,
    F16,
    F32,
    F64,
    BF16,
    F32Ftz,
    TF32,
    TF32Ftz,
    /// Two 4-bit elements a byte, packed in shared memory as well.
    U4Align8,
    U4Align16,
    U6Align16,
}

impl TensorType {
    /// From `CUtensorMapDataType`.
    pub fn from_cuda(value: u32) -> Option<TensorType> {
        use TensorType::*;
        [U8, U16, U32, S32, U64, S64, F16, F32, F64, BF16, F32Ftz, TF32, TF32Ftz, U4Align8, U4Align16, U6Align16]
            .get(value as usize)
            .copied()
    }

    /// Bits of one element in global memory.
    pub fn bits(self) -> u64 {
        match self {
            TensorType::U4Align8 | TensorType::U4Align16 => 4,
            TensorType::U6Align16 => 6,
            TensorType::U8 => 8,
            TensorType::U16 | TensorType::F16 | TensorType::BF16 => 16,
            TensorType::U32 | TensorType::S32 | TensorType::F32 | TensorType::F32Ftz => 32,
            TensorType::TF32 | TensorType::TF32Ftz => 32,
            TensorType::U64 | TensorType::S64 | TensorType::F64 => 64,
        }
    }
}

/// What goes at once between a tensor and a box of it: so many elements, from so many bytes there, to so many here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    pub elements: u64,
    /// Bytes in global memory.
    pub outer: u64,
    /// Bytes in shared memory, padding included.
    pub inner: u64,
}

impl TensorType {
    /// Sixteen elements of the types that are unpacked to 16 bytes (PTX ISA, "Sub-byte types": `.b4x16_p64`, `.b6x16_p32`);
    /// one of the others, or two of 4 bits.
    pub fn piece(self) -> Piece {
        match self {
            TensorType::U4Align16 | TensorType::U6Align16 => Piece { elements: 16, outer: 2 * self.bits(), inner: 16 },
            TensorType::U4Align8 => Piece { elements: 2, outer: 1, inner: 1 },
            _ => Piece { elements: 1, outer: self.bits() / 8, inner: self.bits() / 8 },
        }
    }

    /// Elements of dimension 0 that a box of an unpacked type has, and that it begins at a multiple of. None: as the others.
    pub fn unpacked_row(self) -> Option<u64> {
        matches!(self, TensorType::U4Align16 | TensorType::U6Align16).then_some(128)
    }
}

/// What `cuTensorMapEncodeIm2col` and its wide form add: the box in which a filter's first element may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Im2col {
    /// First place along W, H and D.
    pub lower: Vec<i16>,
    /// Last place along W, H and D, counted from the last pixel.
    pub upper: Vec<i16>,
    /// For `im2col::w` and `im2col::w::128`.
    pub wide: bool,
}

/// A tensor map, innermost dimension first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMap {
    pub address: u64,
    pub element: TensorType,
    /// Elements along each dimension.
    pub sizes: Vec<u64>,
    /// Bytes from one index to the next, for dimensions 1 and up.
    pub strides: Vec<u64>,
    /// Elements of the box that one copy moves; for im2col channels, pixels, and ones. Interleaved: see [`Interleave`].
    pub tile: Vec<u32>,
    /// Step between the elements taken along each dimension.
    pub element_strides: Vec<u32>,
    pub interleave: Interleave,
    pub swizzle: Swizzle,
    /// Out-of-bounds elements read as NaN instead of zero.
    pub nan_fill: bool,
    /// None for a tiled map.
    pub im2col: Option<Im2col>,
}

/// Why a tensor map cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct TensorMapError(String);

// Where an encoded map has what. CUTLASS and Triton clear bit 21 of the second 64-bit word behind the driver's back (their
// remedy for a driver that sets it wrongly), so byte 10 holds nothing.
const ADDRESS_AT: usize = 0;
const MAGIC_AT: usize = 8;
const ELEMENT_AT: usize = 11;
const RANK_AT: usize = 12;
const SWIZZLE_AT: usize = 13;
const FILL_AT: usize = 14;
const MODE_AT: usize = 15;
const SIZES_AT: usize = 16;
const STRIDES_AT: usize = 56;
const TILE_AT: usize = 88;
const STEPS_AT: usize = 108;
const MAGIC: [u8; 2] = 0x4d54_u16.to_le_bytes();
/// Pixels of an im2col copy.
const MAX_PIXELS: u32 = 1024;
/// Where an encoded map has its corners.
const CORNERS_AT: usize = 114;

impl TensorMap {
    /// Checks the rules of `cuTensorMapEncodeTiled`.
    ///
    /// # Errors
    /// Names the first rule that is broken.
    pub fn check(&self) -> Result<(), TensorMapError> {
        let error = |text: String| Err(TensorMapError(text));
        let rank = self.sizes.len();
        if !(1..=5).contains(&rank) {
            return error(format!("a tensor map has 1 to 5 dimensions, not {rank}"));
        }
        if self.strides.len() + 1 != rank || self.tile.len() != rank || self.element_strides.len() != rank {
            return error("sizes, box and element strides have one entry per dimension, strides one fewer".to_owned());
        }
        let unit = self.interleave.bytes().max(16);
        if !self.address.is_multiple_of(unit) {
            return error(format!("the global address {:#x} is no multiple of {unit}", self.address));
        }
        if self.interleave != Interleave::None && rank < 3 {
            return error(format!("interleaved tensors have at least 3 dimensions, not {rank}"));
        }
        for (index, size) in self.sizes.iter().enumerate() {
            if *size == 0 || *size > 1 << 32 {
                return error(format!("dimension {index} has {size} elements; 1 to 2^32 are allowed"));
            }
        }
        for (index, stride) in self.strides.iter().enumerate() {
            if !stride.is_multiple_of(unit) || *stride >= 1 << 40 {
                return error(format!(
                    "stride {stride} of dimension {} must be a multiple of {unit} below 2^40",
                    index + 1
                ));
            }
        }
        for (index, size) in self.tile.iter().enumerate() {
            let most = if index == 1 && self.im2col.is_some() { MAX_PIXELS } else { 256 };
            if *size == 0 || *size > most {
                return error(format!("box dimension {index} is {size}; 1 to {most} are allowed"));
            }
        }
        for (index, step) in self.element_strides.iter().enumerate() {
            if *step == 0 || *step > 8 {
                return error(format!("element stride {index} is {step}; 1 to 8 are allowed"));
            }
        }
        if let Some(corners) = &self.im2col
            && (rank < 3 || corners.lower.len() != rank - 2 || corners.upper.len() != rank - 2)
        {
            return error("im2col maps have 3 to 5 dimensions and corners along all but two of them".to_owned());
        }
        if let Some(row) = self.element.unpacked_row()
            && (u64::from(self.tile[0]) != row
                || !self.sizes[0].is_multiple_of(row)
                || self.im2col.is_some()
                || self.interleave != Interleave::None)
        {
            return error(format!(
                "boxes of this type are tiles of {row} elements along the first dimension, not interleaved"
            ));
        }
        let row = self.row_bytes();
        // Interleaved, it counts slices, and those that steps leave out are left out here.
        if !row.is_multiple_of(16) && self.interleave == Interleave::None {
            return error(format!("a box row of {row} bytes is no multiple of 16"));
        }
        let most = self.swizzle.span();
        if self.swizzle != Swizzle::None && row > most && self.interleave == Interleave::None {
            return error(format!("a box row of {row} bytes does not fit the swizzle of {most} bytes"));
        }
        Ok(())
    }

    /// Bytes of shared memory that a row of the box takes.
    pub fn row_bytes(&self) -> u64 {
        let Piece { elements, inner, .. } = self.element.piece();
        u64::from(self.tile[0]) * inner / elements
    }

    /// A map that is not interleaved and moves the same: a pixel's part of a slice is a row, with a dimension of its own before
    /// the others.
    pub(crate) fn spread(mut self) -> TensorMap {
        let bytes = self.interleave.bytes();
        if bytes > 0 {
            let elements = bytes * 8 / self.element.bits();
            let slices = self.sizes.len() - 2;
            if self.im2col.is_none() {
                self.tile[slices] = 1;
            } else {
                self.tile.swap(0, 1);
                self.tile[1] = 1;
            }
            self.tile.insert(0, elements as u32);
            self.sizes.insert(0, elements);
            self.strides.insert(0, bytes);
            self.element_strides.insert(0, 1);
        }
        self
    }

    /// The same map with `bytes` added to its address.
    pub fn moved_by(&self, bytes: u64) -> TensorMap {
        TensorMap { address: self.address + bytes, ..self.clone() }
    }

    /// The 128 bytes that a kernel is given.
    ///
    /// # Errors
    /// As [`TensorMap::check`].
    pub fn encode(&self) -> Result<[u8; 128], TensorMapError> {
        self.check()?;
        let mut out = [0; 128];
        put(&mut out, ADDRESS_AT, &self.address.to_le_bytes());
        put(&mut out, MAGIC_AT, &MAGIC);
        out[ELEMENT_AT] = self.element as u8;
        out[RANK_AT] = self.sizes.len() as u8;
        let (mode, atomicity) = self.swizzle.fields();
        out[SWIZZLE_AT] = mode | atomicity << 4;
        out[FILL_AT] = u8::from(self.nan_fill);
        for (index, size) in self.sizes.iter().enumerate() {
            put(&mut out, SIZES_AT + 8 * index, &size.to_le_bytes());
        }
        for (index, stride) in self.strides.iter().enumerate() {
            put(&mut out, STRIDES_AT + 8 * index, &stride.to_le_bytes());
        }
        for (index, size) in self.tile.iter().enumerate() {
            put(&mut out, TILE_AT + 4 * index, &size.to_le_bytes());
        }
        for (index, step) in self.element_strides.iter().enumerate() {
            out[STEPS_AT + index] = *step as u8;
        }
        out[MODE_AT] = (self.interleave as u8) << 4;
        if let Some(corners) = &self.im2col {
            out[MODE_AT] |= 1 + u8::from(corners.wide);
            for (index, corner) in corners.lower.iter().chain(&corners.upper).enumerate() {
                put(&mut out, CORNERS_AT + 2 * index, &corner.to_le_bytes());
            }
        }
        Ok(out)
    }

    /// Reads what [`TensorMap::encode`] wrote; None for anything else.
    pub fn decode(bytes: &[u8; 128]) -> Option<TensorMap> {
        let word = |at: usize| {
            let mut raw = [0; 8];
            raw.copy_from_slice(&bytes[at..at + 8]);
            u64::from_le_bytes(raw)
        };
        let half = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let rank = usize::from(bytes[RANK_AT]);
        if bytes[MAGIC_AT..][..2] != MAGIC || !(1..=5).contains(&rank) {
            return None;
        }
        let mode = bytes[MODE_AT] & 15;
        let im2col = (mode != 0 && rank > 2).then(|| {
            let corner = |index: usize| {
                let at = CORNERS_AT + 2 * index;
                i16::from_le_bytes([bytes[at], bytes[at + 1]])
            };
            let axes = rank - 2;
            let (lower, upper) = ((0..axes).map(corner).collect(), (axes..2 * axes).map(corner).collect());
            Im2col { lower, upper, wide: mode == 2 }
        });
        let map = TensorMap {
            address: word(ADDRESS_AT),
            element: TensorType::from_cuda(bytes[ELEMENT_AT].into())?,
            sizes: (0..rank).map(|index| word(SIZES_AT + 8 * index)).collect(),
            strides: (0..rank - 1).map(|index| word(STRIDES_AT + 8 * index)).collect(),
            tile: (0..rank).map(|index| half(TILE_AT + 4 * index)).collect(),
            element_strides: (0..rank).map(|index| bytes[STEPS_AT + index].into()).collect(),
            interleave: Interleave::from_cuda((bytes[MODE_AT] >> 4).into())?,
            swizzle: Swizzle::from_fields(bytes[SWIZZLE_AT] & 15, bytes[SWIZZLE_AT] >> 4)?,
            nan_fill: bytes[FILL_AT] != 0,
            im2col,
        };
        map.check().is_ok().then_some(map)
    }
}

/// A field that `tensormap.replace` changes (PTX ISA, "Data Movement and Conversion Instructions: tensormap.replace").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Address,
    /// Given as one less.
    Rank,
    Box,
    Size,
    Stride,
    Step,
    Element,
    Interleave,
    Swizzle,
    Atomicity,
    Fill,
}

/// Element types in the order of `tensormap.replace`, which is not that of the driver.
const REPLACED_TYPES: [TensorType; 16] = [
    TensorType::U8,
    TensorType::U16,
    TensorType::U32,
    TensorType::S32,
    TensorType::U64,
    TensorType::S64,
    TensorType::F16,
    TensorType::F32,
    TensorType::F32Ftz,
    TensorType::F64,
    TensorType::BF16,
    TensorType::TF32,
    TensorType::TF32Ftz,
    TensorType::U4Align8,
    TensorType::U4Align16,
    TensorType::U6Align16,
];

impl Field {
    /// Changes this field of an encoded map, or of 128 zeros: a map can be made by replacing all that it needs. Fields may
    /// contradict each other until the last one is set.
    ///
    /// # Errors
    /// A sentence's end on a value that the emulator has no map for.
    pub fn replace(self, map: &mut [u8; 128], ordinal: usize, value: u64) -> Result<(), String> {
        if *map == [0; 128] {
            *map = blank();
        }
        if map[MAGIC_AT..][..2] != MAGIC {
            return Err("changes a tensor map where there is neither one nor 128 zero bytes".to_owned());
        }
        let ordinal = ordinal.min(4);
        let low = value as u32;
        let step = u32::from(map[STEPS_AT + ordinal].max(1));
        let refused = |what: &str| Err(format!("sets the {what} of a tensor map to {value}, which is not emulated"));
        match self {
            Field::Address => put(map, ADDRESS_AT, &value.to_le_bytes()),
            Field::Rank if low < 5 => map[RANK_AT] = low as u8 + 1,
            Field::Rank => return refused("rank"),
            Field::Size => put(map, SIZES_AT + 8 * ordinal, &u64::from(low).to_le_bytes()),
            Field::Stride if ordinal < 4 => put(map, STRIDES_AT + 8 * ordinal, &value.to_le_bytes()),
            Field::Stride => return refused("fifth stride"),
            // A box counts elements before the step between those taken.
            Field::Box => put(map, TILE_AT + 4 * ordinal, &low.div_ceil(step).to_le_bytes()),
            Field::Step => {
                let at = TILE_AT + 4 * ordinal;
                let taken = u32::from_le_bytes([map[at], map[at + 1], map[at + 2], map[at + 3]]);
                map[STEPS_AT + ordinal] = low.min(255) as u8;
                put(map, at, &taken.saturating_mul(step).div_ceil(low.max(1)).to_le_bytes());
            }
            Field::Element => match REPLACED_TYPES.get(low as usize) {
                Some(element) => map[ELEMENT_AT] = *element as u8,
                None => return refused("element type"),
            },
            // Whether both go together shows when the map is used.
            Field::Swizzle if low < 4 => set_half(map, SWIZZLE_AT, 0, low),
            Field::Atomicity if low < 4 => set_half(map, SWIZZLE_AT, 4, low),
            Field::Interleave if low < 3 => set_half(map, MODE_AT, 4, low),
            Field::Swizzle => return refused("swizzle"),
            Field::Fill => map[FILL_AT] = u8::from(low != 0),
            Field::Interleave => return refused("interleaving"),
            Field::Atomicity => return refused("swizzle atomicity"),
        }
        Ok(())
    }
}

/// One byte, in a box of one, with steps of one: what fields are that nobody has set.
fn blank() -> [u8; 128] {
    let mut map = [0; 128];
    put(&mut map, MAGIC_AT, &MAGIC);
    map[RANK_AT] = 1;
    for index in 0..5 {
        map[SIZES_AT + 8 * index] = 1;
        map[TILE_AT + 4 * index] = 1;
        map[STEPS_AT + index] = 1;
    }
    map
}

/// Changes four bits of a byte.
fn set_half(map: &mut [u8; 128], at: usize, shift: u32, value: u32) {
    map[at] = map[at] & !(15 << shift) | (value as u8) << shift;
}

fn put(map: &mut [u8; 128], at: usize, bytes: &[u8]) {
    map[at..at + bytes.len()].copy_from_slice(bytes);
}
