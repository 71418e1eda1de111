//! Tensor maps (`CUtensorMap`). NVIDIA does not publish the 128 bytes, so the emulator owns their encoding; the rules
//! for the arguments are those of the CUDA Driver API manual, section "Tensor Map Object Management". What only im2col
//! maps have is in `tensor_map_im2col.rs`.

use std::ffi::c_void;

use ptx_emulator::{Interleave, Piece, Swizzle, TensorMap, TensorType};

use super::tensor_map_im2col::{self as im2col, Corners};
use crate::abi::*;
use crate::process::device;
use crate::work;

pub const MAX_RANK: u32 = 5;
const MAX_DIMENSION: u64 = 1 << 32;
const MAX_STRIDE_BYTES: u64 = 1 << 40;
const MAX_BOX: u32 = 256;
const MAX_ELEMENT_STRIDE: u32 = 8;
/// Elements of a row in the formats that are unpacked to 16-byte pieces.
const UNPACKED_ROW: u64 = 128;

const INTERLEAVE_32B: u32 = 2;
pub const SWIZZLE_64B: u32 = 2;
pub const SWIZZLE_128B: u32 = 3;
pub const SWIZZLE_ATOM_32B: u32 = 4;
const SWIZZLE_ATOM_64B: u32 = 6;
const MAX_PROMOTION: u32 = 3;
const FILL_NAN: u32 = 1;

/// Arguments of `cuTensorMapEncodeTiled`, read from the caller's arrays.
#[derive(Clone, Debug)]
pub struct Tiled {
    pub dtype: u32,
    pub address: u64,
    pub dims: Vec<u64>,
    pub strides: Vec<u64>,
    pub box_dims: Vec<u32>,
    pub element_strides: Vec<u32>,
    pub interleave: u32,
    pub swizzle: u32,
    pub promotion: u32,
    pub fill: u32,
}

/// Why a map is not made: a broken rule, or something that the emulator cannot run.
#[derive(Debug, PartialEq, Eq)]
pub enum Refusal {
    Invalid(String),
    Unsupported(String),
}

fn is_float(element: TensorType) -> bool {
    use TensorType::*;
    matches!(element, F16 | F32 | F64 | BF16 | F32Ftz | TF32 | TF32Ftz)
}

impl Tiled {
    /// Checks every rule of the manual, in its order, and gives the emulator's map.
    pub fn map(&self) -> Result<TensorMap, Refusal> {
        let invalid = |text: String| Err(Refusal::Invalid(text));
        let Some(element) = TensorType::from_cuda(self.dtype) else {
            return invalid(format!("{} is no CUtensorMapDataType", self.dtype));
        };
        let unpacked = matches!(element, TensorType::U4Align16 | TensorType::U6Align16);
        let rank = self.dims.len();
        if self.interleave > INTERLEAVE_32B || self.swizzle > SWIZZLE_ATOM_64B {
            return invalid(format!("interleave {} or swizzle {} does not exist", self.interleave, self.swizzle));
        }
        if self.interleave != 0 && rank < 3 {
            return invalid(format!("interleaved layouts need at least 3 dimensions, not {rank}"));
        }
        let address_align = if unpacked || self.interleave == INTERLEAVE_32B { 32 } else { 16 };
        if !self.address.is_multiple_of(address_align) {
            return invalid(format!("globalAddress {:#x} is no multiple of {address_align}", self.address));
        }
        for (axis, size) in self.dims.iter().enumerate() {
            if *size == 0 || *size > MAX_DIMENSION {
                return invalid(format!("globalDim[{axis}] is {size}; 1 to 2^32 are allowed"));
            }
        }
        let dim_unit = if unpacked {
            UNPACKED_ROW
        } else if element == TensorType::U4Align8 {
            2
        } else {
            1
        };
        if !self.dims[0].is_multiple_of(dim_unit) {
            return invalid(format!("globalDim[0] is {}; this data type needs a multiple of {dim_unit}", self.dims[0]));
        }
        // The manual derives each stride from the one before, but views with permuted or zero-padded dimensions are
        // encoded by programs in use, so only alignment and size are held against a stride.
        for (axis, stride) in self.strides.iter().enumerate() {
            if !stride.is_multiple_of(address_align) || *stride >= MAX_STRIDE_BYTES {
                return invalid(format!(
                    "globalStrides[{axis}] is {stride}; a multiple of {address_align} below 2^40 is wanted"
                ));
            }
        }
        for (axis, size) in self.box_dims.iter().enumerate() {
            if *size == 0 || *size > MAX_BOX {
                return invalid(format!("boxDim[{axis}] is {size}; 1 to {MAX_BOX} are allowed"));
            }
        }
        if unpacked && u64::from(self.box_dims[0]) != UNPACKED_ROW {
            return invalid(format!("boxDim[0] is {}; this data type needs {UNPACKED_ROW}", self.box_dims[0]));
        }
        // As it lies in shared memory.
        let Piece { elements, inner, .. } = element.piece();
        let row_bits = u64::from(self.box_dims[0]) * inner * 8 / elements;
        if !row_bits.is_multiple_of(128) {
            return invalid(format!("a box row of {} bytes is no multiple of 16", row_bits as f64 / 8.0));
        }
        for (axis, step) in self.element_strides.iter().enumerate() {
            if *step == 0 || *step > MAX_ELEMENT_STRIDE {
                return invalid(format!("elementStrides[{axis}] is {step}; 1 to {MAX_ELEMENT_STRIDE} are allowed"));
            }
        }
        let span_bytes = match self.swizzle {
            0 => u64::MAX,
            1 => 32,
            2 => 64,
            _ => 128,
        };
        if self.interleave == 0 && row_bits / 8 > span_bytes {
            return invalid(format!("a box row of {} bytes is longer than its swizzle of {span_bytes}", row_bits / 8));
        }
        // The manual has interleaving by 32 bytes with CU_TENSOR_MAP_SWIZZLE_32B alone; a driver takes all (seen on an H100).
        if element == TensorType::U6Align16 && self.interleave != 0 {
            return invalid("16U6_ALIGN16B has no interleaved layout".to_owned());
        }
        let swizzles: &[u32] = match element {
            TensorType::U6Align16 => &[0, SWIZZLE_128B, SWIZZLE_ATOM_32B, SWIZZLE_ATOM_64B],
            TensorType::U4Align16 => &[0, SWIZZLE_128B, SWIZZLE_ATOM_32B],
            _ => &[0, 1, 2, 3, 4, 5, 6],
        };
        if !swizzles.contains(&self.swizzle) {
            return invalid(format!("this data type has no swizzle {}", self.swizzle));
        }
        if self.promotion > MAX_PROMOTION {
            return invalid(format!("{} is no CUtensorMapL2promotion", self.promotion));
        }
        if self.fill > FILL_NAN || self.fill == FILL_NAN && !is_float(element) {
            return invalid(format!("oobFill {} does not suit the data type", self.fill));
        }
        self.supported(element)
    }

    /// What the rules allow and the emulator can run.
    fn supported(&self, element: TensorType) -> Result<TensorMap, Refusal> {
        let unsupported = |what: &str| Err(Refusal::Unsupported(format!("{what} are not supported by the emulator")));
        let (Some(swizzle), Some(interleave)) =
            (Swizzle::from_cuda(self.swizzle), Interleave::from_cuda(self.interleave))
        else {
            return unsupported("swizzles and layouts that this emulator does not know");
        };
        if element == TensorType::U4Align16 && interleave != Interleave::None {
            return unsupported("interleaved tensors of unpacked elements");
        }
        // The first step is ignored without interleaving, and a box counts elements before the step, rounded up.
        let mut element_strides = self.element_strides.clone();
        if interleave == Interleave::None {
            element_strides[0] = 1;
        }
        let tile = self.box_dims.iter().zip(&element_strides).map(|(size, step)| size.div_ceil(*step)).collect();
        Ok(TensorMap {
            address: self.address,
            element,
            sizes: self.dims.clone(),
            strides: self.strides.clone(),
            tile,
            element_strides,
            interleave,
            swizzle,
            nan_fill: self.fill == FILL_NAN,
            im2col: None,
        })
    }
}

fn code(refusal: Refusal) -> CUresult {
    match refusal {
        Refusal::Invalid(text) => {
            explain(format!("tensor map: {text}"));
            INVALID_VALUE
        }
        Refusal::Unsupported(text) => {
            explain(text);
            NOT_SUPPORTED
        }
    }
}

/// What every encoder asks first: a context, a chip with tensor copies, and a place for the map.
fn ready(map: *mut [u8; 128]) -> Answer {
    work::current_unchecked()?;
    if device::current().major < 9 {
        explain("tensor maps need compute capability 9.0 or higher (LOCKSTEP_ARCH=sm_90 or later)");
        return Err(NOT_SUPPORTED);
    }
    // The manual wants 64-byte alignment; a driver takes any address (seen on an H200), and programs rely on it.
    if map.is_null() {
        explain("tensor map: there is no place for the descriptor");
        return Err(INVALID_VALUE);
    }
    Ok(())
}

fn encode(out: *mut [u8; 128], map: &TensorMap) -> Answer {
    // As an H100 answers.
    if map.swizzle as u32 >= SWIZZLE_ATOM_32B && device::current().major < 10 {
        explain("tensor map: swizzles with atoms of 32 or 64 bytes need compute capability 10.0 or higher");
        return Err(INVALID_VALUE);
    }
    let bytes = map.encode().map_err(|error| code(Refusal::Invalid(error.to_string())))?;
    unsafe { put(out, bytes) }
}

/// Copies `count` values of a caller's array; NULL is allowed only for none.
unsafe fn array<T: Copy>(from: *const T, count: usize) -> Result<Vec<T>, CUresult> {
    match (from.is_null(), count) {
        (_, 0) => Ok(Vec::new()),
        (true, _) => Err(INVALID_VALUE),
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(from, count) }.to_vec()),
    }
}

/// What both kinds of im2col maps are made of: the lengths and distances of the tensor, and how many channels a box has.
unsafe fn im2col_tiled(
    dtype: u32,
    rank: usize,
    address: u64,
    (dims, strides, element_strides): (*const u64, *const u64, *const u32),
    channels: u32,
    [interleave, swizzle, promotion, fill]: [u32; 4],
) -> Result<Tiled, CUresult> {
    let (dims, strides, element_strides) =
        unsafe { (array(dims, rank)?, array(strides, rank - 1)?, array(element_strides, rank)?) };
    let box_dims = im2col::box_dims(channels, rank);
    Ok(Tiled { dtype, address, dims, strides, box_dims, element_strides, interleave, swizzle, promotion, fill })
}

api! {
    fn cuTensorMapEncodeTiled(
        map: *mut [u8; 128], dtype: u32, rank: u32, address: *mut c_void, dims: *const u64, strides: *const u64,
        box_dims: *const u32, element_strides: *const u32, interleave: u32, swizzle: u32, promotion: u32, fill: u32,
    ) {
        ready(map)?;
        if rank == 0 || rank > MAX_RANK {
            explain(format!("tensor map: 1 to {MAX_RANK} dimensions, not {rank}"));
            return Err(INVALID_VALUE);
        }
        let rank = rank as usize;
        let tiled = Tiled {
            dtype,
            address: address as u64,
            dims: array(dims, rank)?,
            strides: array(strides, rank - 1)?,
            box_dims: array(box_dims, rank)?,
            element_strides: array(element_strides, rank)?,
            interleave,
            swizzle,
            promotion,
            fill,
        };
        encode(map, &tiled.map().map_err(code)?)
    }
    fn cuTensorMapEncodeIm2col(
        map: *mut [u8; 128], dtype: u32, rank: u32, address: *mut c_void, dims: *const u64, strides: *const u64,
        lower: *const i32, upper: *const i32, channels: u32, pixels: u32, element_strides: *const u32,
        interleave: u32, swizzle: u32, promotion: u32, fill: u32,
    ) {
        ready(map)?;
        let rank = im2col::rank(rank)?;
        let shape = (dims, strides, element_strides);
        let tiled = im2col_tiled(dtype, rank, address as u64, shape, channels, [interleave, swizzle, promotion, fill])?;
        let corners = Corners::Box { lower: array(lower, rank - 2)?, upper: array(upper, rank - 2)? };
        encode(map, &im2col::map(&tiled, &corners, pixels).map_err(code)?)
    }
    fn cuTensorMapEncodeIm2colWide(
        map: *mut [u8; 128], dtype: u32, rank: u32, address: *mut c_void, dims: *const u64, strides: *const u64,
        lower: i32, upper: i32, channels: u32, pixels: u32, element_strides: *const u32,
        interleave: u32, mode: u32, swizzle: u32, promotion: u32, fill: u32,
    ) {
        ready(map)?;
        if device::current().major < 10 {
            explain("im2col::w tensor maps need compute capability 10.0 or higher (LOCKSTEP_ARCH=sm_100 or later)");
            return Err(NOT_SUPPORTED);
        }
        let rank = im2col::rank(rank)?;
        let shape = (dims, strides, element_strides);
        let tiled = im2col_tiled(dtype, rank, address as u64, shape, channels, [interleave, swizzle, promotion, fill])?;
        encode(map, &im2col::map(&tiled, &Corners::Wide { lower, upper, mode }, pixels).map_err(code)?)
    }
    fn cuTensorMapReplaceAddress(map: *mut [u8; 128], address: *mut c_void) {
        ready(map)?;
        let Some(known) = TensorMap::decode(&*map) else {
            explain("tensor map: the descriptor was not made by cuTensorMapEncodeTiled");
            return Err(INVALID_VALUE);
        };
        encode(map, &TensorMap { address: address as u64, ..known })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Tiled {
        Tiled {
            dtype: TensorType::F16 as u32,
            address: 4096,
            dims: vec![64, 32, 4],
            strides: vec![128, 4096],
            box_dims: vec![32, 8, 1],
            element_strides: vec![1, 1, 1],
            interleave: 0,
            swizzle: 2,
            promotion: 2,
            fill: 1,
        }
    }

    /// One row per rule of the manual: a change that breaks it.
    #[test]
    fn every_rule_is_held() {
        type Break = fn(&mut Tiled);
        let broken: &[(&str, Break)] = &[
            ("data type", |t| t.dtype = 16),
            ("interleave", |t| t.interleave = 3),
            ("swizzle", |t| t.swizzle = 7),
            ("interleave and rank", |t| {
                *t = Tiled { interleave: 1, dims: vec![64, 32], strides: vec![128], box_dims: vec![32, 8], ..t.clone() }
            }),
            ("address", |t| t.address = 4104),
            ("address, interleave 32", |t| (t.address, t.interleave, t.swizzle) = (4112, 2, 1)),
            ("address, unpacked", |t| {
                *t = Tiled {
                    dtype: 14,
                    address: 4112,
                    dims: vec![128, 2, 2],
                    box_dims: vec![128, 1, 1],
                    swizzle: 0,
                    fill: 0,
                    ..t.clone()
                }
            }),
            ("dimension 0", |t| t.dims[1] = 0),
            ("dimension", |t| t.dims[2] = (1 << 32) + 1),
            ("dimension, packed", |t| (t.dtype, t.dims[0], t.fill) = (13, 63, 0)),
            ("dimension, unpacked", |t| {
                *t = Tiled {
                    dtype: 15,
                    dims: vec![130, 2, 2],
                    box_dims: vec![128, 1, 1],
                    swizzle: 0,
                    fill: 0,
                    ..t.clone()
                }
            }),
            ("stride", |t| t.strides[0] = 136),
            ("stride, large", |t| t.strides[1] = 1 << 40),
            ("stride, interleave 32", |t| (t.strides[0], t.interleave, t.swizzle) = (144, 2, 1)),
            ("box 0", |t| t.box_dims[2] = 0),
            ("box", |t| t.box_dims[1] = 257),
            ("box row", |t| t.box_dims[0] = 12),
            ("box, unpacked", |t| {
                *t = Tiled {
                    dtype: 15,
                    dims: vec![128, 2, 2],
                    box_dims: vec![64, 1, 1],
                    swizzle: 0,
                    fill: 0,
                    ..t.clone()
                }
            }),
            ("element stride 0", |t| t.element_strides[1] = 0),
            ("element stride", |t| t.element_strides[2] = 9),
            ("swizzle 32", |t| t.swizzle = 1),
            ("swizzle 128", |t| (t.swizzle, t.box_dims[0]) = (3, 72)),
            ("box row, interleaved", |t| (t.box_dims[0], t.interleave) = (12, 1)),
            ("u6 interleaved", |t| {
                *t = Tiled {
                    dtype: 15,
                    dims: vec![128, 2, 2],
                    box_dims: vec![128, 1, 1],
                    interleave: 1,
                    swizzle: 0,
                    fill: 0,
                    ..t.clone()
                }
            }),
            ("u6 swizzle", |t| {
                *t = Tiled {
                    dtype: 15,
                    dims: vec![128, 2, 2],
                    box_dims: vec![128, 1, 1],
                    swizzle: 5,
                    fill: 0,
                    ..t.clone()
                }
            }),
            ("promotion", |t| t.promotion = 4),
            ("fill", |t| t.fill = 2),
            ("fill of integers", |t| t.dtype = 1),
        ];
        assert!(good().map().is_ok());
        for (name, change) in broken {
            let mut tiled = good();
            change(&mut tiled);
            assert!(matches!(tiled.map(), Err(Refusal::Invalid(_))), "{name}: {:?}", tiled.map());
        }
    }

    #[test]
    fn what_cannot_run_is_refused_by_name() {
        let unpacked = Tiled {
            dtype: TensorType::U4Align16 as u32,
            dims: vec![128, 32, 4],
            box_dims: vec![128, 1, 1],
            interleave: 1,
            swizzle: 0,
            fill: 0,
            ..good()
        };
        assert!(matches!(unpacked.map(), Err(Refusal::Unsupported(_))), "{unpacked:?}");
    }

    /// What a driver takes though its manual seems to have it otherwise.
    #[test]
    fn interleaved_maps_take_every_swizzle_and_long_rows() {
        for (interleave, swizzle) in [(1, 0), (1, 1), (1, 3), (2, 0), (2, 1), (2, 3)] {
            let tiled = Tiled { interleave, swizzle, box_dims: vec![256, 8, 1], ..good() };
            assert!(tiled.map().is_ok(), "{:?}", tiled.map());
        }
    }

    #[test]
    fn steps_shrink_the_box_and_the_first_is_ignored() {
        let map = Tiled { element_strides: vec![2, 3, 1], ..good() }.map().expect("valid");
        assert_eq!((map.tile, map.element_strides), (vec![32, 3, 1], vec![1, 3, 1]));
    }
}
