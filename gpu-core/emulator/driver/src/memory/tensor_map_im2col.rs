//! What `cuTensorMapEncodeIm2col` and `cuTensorMapEncodeIm2colWide` ask beyond the rules of all tensor maps (CUDA Driver
//! API manual, section "Tensor Map Object Management").

use ptx_emulator::{Im2col, TensorMap};

use crate::abi::{CUresult, INVALID_VALUE, explain};
use crate::memory::tensor_map::{MAX_RANK, Refusal, SWIZZLE_64B, SWIZZLE_128B, SWIZZLE_ATOM_32B, Tiled};

const MIN_RANK: u32 = 3;
const MAX_PIXELS: u32 = 1024;
const WIDE_MODES: u32 = 2;
/// `CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128`, which ignores the pixels of a column.
const WIDE_128: u32 = 1;

/// The box in which a filter's first element may be.
#[derive(Clone, Debug)]
pub enum Corners {
    /// Along W, H and D.
    Box { lower: Vec<i32>, upper: Vec<i32> },
    /// Along W alone.
    Wide { lower: i32, upper: i32, mode: u32 },
}

/// Checks the number of dimensions.
pub fn rank(rank: u32) -> Result<usize, CUresult> {
    if (MIN_RANK..=MAX_RANK).contains(&rank) {
        return Ok(rank as usize);
    }
    explain(format!("tensor map: im2col takes {MIN_RANK} to {MAX_RANK} dimensions, not {rank}"));
    Err(INVALID_VALUE)
}

/// The box of a tiled map that obeys the same rules: the channels of one pixel.
pub fn box_dims(channels: u32, rank: usize) -> Vec<u32> {
    let mut dims = vec![1; rank];
    dims[0] = channels;
    dims
}

/// The emulator's map of what `tiled` says of the tensor.
pub fn map(tiled: &Tiled, corners: &Corners, pixels: u32) -> Result<TensorMap, Refusal> {
    let invalid = |text: String| Err(Refusal::Invalid(text));
    let mut map = tiled.map()?;
    let axes = tiled.dims.len() - 2;
    let (lower, upper, wide) = match corners {
        Corners::Box { lower, upper } => (lower.clone(), upper.clone(), None),
        Corners::Wide { lower, upper, mode } => {
            // The other dimensions stay where the instruction says.
            let mut corners = (vec![0; axes], vec![0; axes]);
            (corners.0[0], corners.1[0]) = (*lower, *upper);
            (corners.0, corners.1, Some(*mode))
        }
    };
    // 16 bits for all dimensions together, or for the one of the wide modes.
    let half = match (wide, axes) {
        (Some(_), _) | (None, 1) => 1 << 15,
        (None, 2) => 1 << 7,
        _ => 1 << 4,
    };
    for (axis, (first, last)) in lower.iter().zip(&upper).enumerate() {
        for corner in [first, last] {
            if !(-half..half).contains(corner) {
                return invalid(format!("the box corner {corner} along dimension {} is not below {half}", axis + 1));
            }
        }
        // Interleaved tensors begin with W.
        let axis = if tiled.interleave == 0 { axis + 1 } else { axis };
        if tiled.dims[axis] as i64 + i64::from(*last) <= i64::from(*first) {
            return invalid(format!("the box along dimension {axis} from {first} to {last} is empty"));
        }
    }
    if let Some(mode) = wide {
        if mode >= WIDE_MODES {
            return invalid(format!("{mode} is no CUtensorMapIm2ColWideMode"));
        }
        if tiled.interleave != 0 || ![SWIZZLE_64B, SWIZZLE_128B, SWIZZLE_ATOM_32B].contains(&tiled.swizzle) {
            return invalid("im2col::w needs a swizzle of 64 or 128 bytes and no interleaving".to_owned());
        }
    }
    let ignored = wide == Some(WIDE_128);
    if !ignored && (pixels == 0 || pixels > MAX_PIXELS) {
        return invalid(format!("pixelsPerColumn is {pixels}; 1 to {MAX_PIXELS} are allowed"));
    }
    map.tile[1] = if ignored { 1 } else { pixels };
    let narrow = |corners: &[i32]| corners.iter().map(|corner| *corner as i16).collect();
    map.im2col = Some(Im2col { lower: narrow(&lower), upper: narrow(&upper), wide: wide.is_some() });
    Ok(map)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_emulator::TensorType;

    /// 2 images of 16 by 8 pixels of 32 channels.
    fn good() -> Tiled {
        Tiled {
            dtype: TensorType::F16 as u32,
            address: 4096,
            dims: vec![32, 8, 16, 2],
            strides: vec![64, 512, 8192],
            box_dims: box_dims(32, 4),
            element_strides: vec![1, 2, 2, 1],
            interleave: 0,
            swizzle: SWIZZLE_64B,
            promotion: 0,
            fill: 0,
        }
    }

    fn corners(lower: [i32; 2], upper: [i32; 2]) -> Corners {
        Corners::Box { lower: lower.to_vec(), upper: upper.to_vec() }
    }

    #[test]
    fn what_is_asked_stands_in_the_map() {
        let map = map(&good(), &corners([-1, -2], [-1, 3]), 1000).expect("valid");
        assert_eq!((map.tile, map.element_strides), (vec![32, 1000, 1, 1], vec![1, 2, 2, 1]));
        assert_eq!(map.im2col, Some(Im2col { lower: vec![-1, -2], upper: vec![-1, 3], wide: false }));
        let wide = super::map(&good(), &Corners::Wide { lower: -300, upper: 2, mode: WIDE_128 }, 0).expect("valid");
        assert_eq!(wide.im2col, Some(Im2col { lower: vec![-300, 0], upper: vec![2, 0], wide: true }));
    }

    #[test]
    fn every_rule_is_held() {
        let wide = |lower, upper, mode| Corners::Wide { lower, upper, mode };
        let plain = Tiled { swizzle: 0, ..good() };
        for (what, tiled, corners, pixels) in [
            ("pixels", good(), corners([0, 0], [0, 0]), 1025),
            ("no pixel", good(), corners([0, 0], [0, 0]), 0),
            ("lower corner", good(), corners([-129, 0], [0, 0]), 8),
            ("upper corner", good(), corners([0, 0], [0, 128]), 8),
            ("empty box", good(), corners([0, 0], [-8, 0]), 8),
            ("empty box, wide", good(), wide(3, -5, 0), 8),
            ("wide corner", good(), wide(-32769, 0, 0), 8),
            ("wide mode", good(), wide(0, 0, 2), 8),
            ("wide swizzle", plain, wide(0, 0, 0), 8),
            ("channels", Tiled { box_dims: box_dims(36, 4), ..good() }, corners([0, 0], [0, 0]), 8),
            ("stride", Tiled { strides: vec![64, 520, 8192], ..good() }, corners([0, 0], [0, 0]), 8),
        ] {
            assert!(matches!(map(&tiled, &corners, pixels), Err(Refusal::Invalid(_))), "{what}");
        }
        for (given, good) in [(2, false), (3, true), (5, true), (6, false)] {
            assert_eq!(rank(given).is_ok(), good);
        }
    }
}
