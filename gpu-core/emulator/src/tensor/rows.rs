//! Which rows of a tensor a copy moves, mode by mode (PTX ISA, sections "Tiled Mode", "Im2col mode" and "im2col::w and
//! im2col::w::128 modes").

use crate::tensor::TensorMap;
use crate::tensor::layout::Interleave;

/// How an instruction goes through a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Walk {
    Tile,
    /// `tile::gather4` and `tile::scatter4`: four rows anywhere.
    FourRows,
    /// `im2col` and `im2col_no_offs`.
    Im2col,
    /// `im2col::w`: along W alone.
    Wide,
    /// `im2col::w::128`: the same for 128 pixels.
    Wide128,
}

pub const WALKS: [Walk; 5] = [Walk::Tile, Walk::FourRows, Walk::Im2col, Walk::Wide, Walk::Wide128];

/// Pixels of `im2col::w::128`, whatever the map says.
const FIXED_PIXELS: u64 = 128;

/// Five, and one more of maps that were [spread](TensorMap::spread).
const DIMENSIONS: usize = 6;

/// One row: its place if dimension 0 began at 0, and whether the other dimensions have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorRow {
    pub address: u64,
    pub inside: bool,
}

/// The rows of one copy, in the order in which they lie in shared memory.
pub struct Rows<'m> {
    map: &'m TensorMap,
    walk: Walk,
    start: &'m [i64],
    /// Offsets along W, H and D of `im2col`; halo and offset along W of the wide modes.
    info: &'m [i64],
    index: u64,
    /// Where the walk through the pixels is.
    at: [i64; DIMENSIONS],
    /// Where the box begins and ends along W, H and D, both inside.
    first: [i64; DIMENSIONS],
    last: [i64; DIMENSIONS],
    /// The dimensions behind W, H and D: slices of channels where they are interleaved, images.
    end: usize,
}

impl<'m> Rows<'m> {
    /// Of a map that was [spread](TensorMap::spread).
    ///
    /// # Errors
    /// The end of a sentence about the copy, where the map does not suit the instruction.
    pub fn new(map: &'m TensorMap, walk: Walk, start: &'m [i64], info: &'m [i64]) -> Result<Rows<'m>, String> {
        let rank = map.sizes.len();
        let end = rank - 1 - usize::from(map.interleave != Interleave::None);
        let (zeros, last) = ([0; DIMENSIONS], [i64::from(i32::MAX); DIMENSIONS]);
        let mut rows = Rows { map, walk, start, info, index: 0, at: zeros, first: zeros, last, end };
        match (walk, &map.im2col) {
            (Walk::Tile | Walk::FourRows, None) => {}
            (Walk::Tile | Walk::FourRows, Some(_)) => {
                return Err("copies a tile by a tensor map that was encoded for im2col".to_owned());
            }
            (Walk::Im2col | Walk::Wide | Walk::Wide128, None) => {
                return Err("copies in an im2col mode by a tensor map that was encoded for tiles".to_owned());
            }
            (_, Some(corners)) => {
                if (walk == Walk::Im2col) == corners.wide {
                    return Err("mixes im2col and im2col::w between the instruction and its tensor map".to_owned());
                }
                rows.at[..rank].copy_from_slice(start);
                for axis in 1..end {
                    rows.first[axis] = i64::from(corners.lower[axis - 1]);
                    rows.last[axis] = map.sizes[axis] as i64 - 1 + i64::from(corners.upper[axis - 1]);
                }
                if corners.wide {
                    // The box and the first pixel move together.
                    for place in [&mut rows.at[1], &mut rows.first[1], &mut rows.last[1]] {
                        *place += info[1];
                    }
                }
            }
        }
        if walk == Walk::FourRows && (rank != 2 || map.tile[1] != 1) {
            return Err(
                "gathers or scatters rows by a tensor map whose box is not one row of two dimensions".to_owned()
            );
        }
        if walk == Walk::Wide128 && info[0] != 0 {
            return Err(
                "asks `im2col::w::128` for halo pixels, whose place in shared memory is not documented".to_owned()
            );
        }
        Ok(rows)
    }

    pub fn count(&self) -> u64 {
        match self.walk {
            Walk::Tile => self.map.tile[1..].iter().map(|n| u64::from(*n)).product(),
            Walk::FourRows => 4,
            Walk::Im2col => self.map.tile[1].into(),
            Walk::Wide => u64::from(self.map.tile[1]) + self.info[0] as u64,
            Walk::Wide128 => FIXED_PIXELS,
        }
    }

    pub fn next_row(&mut self) -> TensorRow {
        let map = self.map;
        let rank = map.sizes.len();
        let mut coordinates = [0; DIMENSIONS];
        match self.walk {
            Walk::Tile => {
                let mut rest = self.index;
                for axis in 1..rank {
                    let size = u64::from(map.tile[axis]);
                    coordinates[axis] = self.start[axis] + (rest % size) as i64 * i64::from(map.element_strides[axis]);
                    rest /= size;
                }
            }
            Walk::FourRows => coordinates[1] = self.start[1 + self.index as usize % 4],
            Walk::Im2col => {
                coordinates = self.at;
                for axis in 1..self.end {
                    coordinates[axis] += self.info[axis - 1];
                }
                self.advance(self.end);
            }
            Walk::Wide | Walk::Wide128 => {
                coordinates = self.at;
                self.advance(2);
            }
        }
        self.index += 1;
        let mut row = TensorRow { address: map.address, inside: true };
        for axis in 1..rank {
            let coordinate = coordinates[axis];
            row.inside &= coordinate >= 0 && (coordinate as u64) < map.sizes[axis];
            row.address = row.address.wrapping_add((coordinate as u64).wrapping_mul(map.strides[axis - 1]));
        }
        row
    }

    /// To the next pixel: along W, then along the dimensions below `end`, then to the next image.
    fn advance(&mut self, end: usize) {
        let images = self.map.sizes.len() - 1;
        for axis in 1..end {
            self.at[axis] += i64::from(self.map.element_strides[axis]);
            if self.at[axis] <= self.last[axis] {
                return;
            }
            self.at[axis] = self.first[axis];
        }
        self.at[images] += 1;
    }
}
