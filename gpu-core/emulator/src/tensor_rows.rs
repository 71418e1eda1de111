//! Which rows of a tensor a copy moves, mode by mode (PTX ISA, sections "Tiled Mode", "Im2col mode" and "im2col::w and
//! im2col::w::128 modes").

use crate::tensor::TensorMap;

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
    at: [i64; 5],
    /// Where the box begins and ends along W, H and D, both inside.
    first: [i64; 5],
    last: [i64; 5],
}

impl<'m> Rows<'m> {
    /// # Errors
    /// The end of a sentence about the copy, where the map does not suit the instruction.
    pub fn new(map: &'m TensorMap, walk: Walk, start: &'m [i64], info: &'m [i64]) -> Result<Rows<'m>, String> {
        let rank = map.sizes.len();
        let mut rows =
            Rows { map, walk, start, info, index: 0, at: [0; 5], first: [0; 5], last: [i64::from(i32::MAX); 5] };
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
                for axis in 1..rank - 1 {
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
        let mut coordinates = [0; 5];
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
                for axis in 1..rank - 1 {
                    coordinates[axis] += self.info[axis - 1];
                }
                self.advance(rank - 1);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::{Im2col, Swizzle, TensorType};

    /// N images of 3 by 4 pixels of 8 floats.
    fn images(lower: &[i16], upper: &[i16], pixels: u32, steps: u32, wide: bool) -> TensorMap {
        TensorMap {
            address: 0,
            element: TensorType::F32,
            sizes: vec![8, 4, 3, 5],
            strides: vec![32, 128, 384],
            tile: vec![8, pixels, 1, 1],
            element_strides: vec![1, steps, steps, 1],
            swizzle: Swizzle::None,
            nan_fill: false,
            im2col: Some(Im2col { lower: lower.to_vec(), upper: upper.to_vec(), wide }),
        }
    }

    /// W, H and N of each row; None outside.
    fn pixels(map: &TensorMap, walk: Walk, start: [i64; 4], info: &[i64]) -> Vec<Option<(u64, u64, u64)>> {
        let mut rows = Rows::new(map, walk, &start, info).expect("suits");
        (0..rows.count())
            .map(|_| rows.next_row())
            .map(|row| row.inside.then_some((row.address / 32 % 4, row.address / 128 % 3, row.address / 384)))
            .collect()
    }

    #[test]
    fn im2col_walks_the_box_and_then_the_next_image() {
        // A 3 by 3 filter with padding 1: as many places as pixels.
        let map = images(&[-1, -1], &[-1, -1], 14, 1, false);
        let got = pixels(&map, Walk::Im2col, [0, -1, -1, 2], &[1, 1]);
        let all: Vec<_> = (0..14).map(|i| Some((i % 4, i / 4 % 3, 2 + i / 12))).collect();
        assert_eq!(got, all);
        // The filter's first element looks one up and one left.
        let got = pixels(&map, Walk::Im2col, [0, -1, -1, 2], &[0, 0]);
        assert_eq!(got[..6], [None, None, None, None, None, Some((0, 0, 2))]);
        // Without padding: 2 places in a row, one row of them, and the last image ends.
        let map = images(&[0, 0], &[-2, -2], 5, 1, false);
        let got = pixels(&map, Walk::Im2col, [0, 1, 0, 3], &[2, 2]);
        assert_eq!(got, [Some((3, 2, 3)), Some((2, 2, 4)), Some((3, 2, 4)), None, None]);
        // Every second place.
        let map = images(&[-1, -1], &[-1, -1], 4, 2, false);
        let got = pixels(&map, Walk::Im2col, [0, -1, -1, 0], &[1, 1]);
        assert_eq!(got, [Some((0, 0, 0)), Some((2, 0, 0)), Some((0, 2, 0)), Some((2, 2, 0))]);
    }

    #[test]
    fn the_wide_modes_stay_in_their_row() {
        let map = images(&[0, 0], &[0, 0], 5, 1, true);
        let got = pixels(&map, Walk::Wide, [0, 1, 2, 1], &[1, 0]);
        let row = |w, n| Some((w, 2, n));
        assert_eq!(got, [row(1, 1), row(2, 1), row(3, 1), row(0, 2), row(1, 2), row(2, 2)]);
        let got = pixels(&map, Walk::Wide, [0, 0, 2, 1], &[0, 1]);
        assert_eq!(got, [row(1, 1), row(2, 1), row(3, 1), None, row(1, 2)]);
        let got = pixels(&map, Walk::Wide128, [0, 0, 2, 0], &[0, 0]);
        assert_eq!((got.len(), got[19], got[20]), (128, row(3, 4), None));
        assert!(Rows::new(&map, Walk::Wide128, &[0; 4], &[1, 0]).is_err());
        assert!(Rows::new(&map, Walk::Im2col, &[0; 4], &[0, 0]).is_err());
        assert!(Rows::new(&map, Walk::Tile, &[0; 4], &[]).is_err());
    }
}
