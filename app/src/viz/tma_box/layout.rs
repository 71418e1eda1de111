//! The arithmetic of a two-dimensional box: pieces of 16 bytes, edges, swizzle (PTX ISA, "Tensor swizzling modes").

use gpu_core::emulator::TensorBox;

pub const CHUNK_BYTES: i64 = 16;
pub const SWIZZLES: [i64; 4] = [0, 32, 64, 128];
/// More pieces than any picture shows.
const MOST_PIECES: i64 = 4096;

/// One copy of a box of a row-major matrix. Rows, columns and starts are in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoxCopy {
    pub rows: i64,
    pub columns: i64,
    pub box_rows: i64,
    pub box_columns: i64,
    pub row: i64,
    pub column: i64,
    pub element_bytes: i64,
    /// 0, 32, 64 or 128 bytes.
    pub swizzle: i64,
}

impl Default for BoxCopy {
    fn default() -> Self {
        // The box hangs over the right and the lower edge.
        Self { rows: 14, columns: 40, box_rows: 8, box_columns: 32, row: 8, column: 16, element_bytes: 4, swizzle: 128 }
    }
}

/// How much of a piece has no element of the tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    Nothing,
    Part,
    Whole,
}

/// Sixteen bytes of the box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Row of the tensor, and piece of 16 bytes within it; may be outside.
    pub row: i64,
    pub chunk: i64,
    /// Bytes from the start of the box in shared memory, unswizzled and as they really are.
    pub plain: i64,
    pub offset: i64,
    pub outside: Outside,
}

impl BoxCopy {
    /// A box of the learner's run; of more than two dimensions the innermost two, elements under a byte as bytes.
    pub fn of(tensor: &TensorBox) -> Self {
        let at = |list: &[i64], index: usize, none: i64| list.get(index).copied().unwrap_or(none);
        let sizes: Vec<i64> = tensor.sizes.iter().map(|size| i64::try_from(*size).unwrap_or(i64::MAX)).collect();
        let extents: Vec<i64> = tensor.extents.iter().map(|extent| i64::from(*extent)).collect();
        let per_byte = i64::from(8 / tensor.element_bits.clamp(1, 8));
        Self {
            rows: at(&sizes, 1, 1),
            columns: at(&sizes, 0, 1) / per_byte,
            box_rows: at(&extents, 1, 1),
            box_columns: at(&extents, 0, 1) / per_byte,
            row: at(&tensor.start, 1, 0),
            column: at(&tensor.start, 0, 0) / per_byte,
            element_bytes: i64::from(tensor.element_bits / 8).max(1),
            swizzle: i64::from(tensor.swizzle_bytes),
        }
    }

    pub fn column_chunk(&self) -> i64 {
        (self.column * self.element_bytes).div_euclid(CHUNK_BYTES)
    }

    /// Pieces of a row of the tensor, the last one perhaps not full.
    pub fn tensor_chunks(&self) -> i64 {
        (self.columns * self.element_bytes + CHUNK_BYTES - 1) / CHUNK_BYTES
    }

    pub fn box_chunks(&self) -> i64 {
        ((self.box_columns * self.element_bytes + CHUNK_BYTES - 1) / CHUNK_BYTES).max(1)
    }

    /// Bytes from one row of the box to the next in shared memory: a row narrower than the swizzle leaves a gap.
    fn pitch(&self) -> i64 {
        (self.box_chunks() * CHUNK_BYTES).max(self.swizzle)
    }

    pub fn shared_bytes(&self) -> i64 {
        self.pitch() * self.box_rows
    }

    pub fn holds(&self, row: i64, chunk: i64) -> bool {
        (self.row..self.row + self.box_rows).contains(&row)
            && (self.column_chunk()..self.column_chunk() + self.box_chunks()).contains(&chunk)
    }

    /// The bits of the row's number go over those of the piece's number: 7 and up over 4 and up.
    pub fn swizzled(&self, offset: i64) -> i64 {
        let mask = match self.swizzle {
            32 => 0x10,
            64 => 0x30,
            128 => 0x70,
            _ => 0,
        };
        offset ^ (offset >> 3 & mask)
    }

    fn outside(&self, row: i64, chunk: i64) -> Outside {
        let (from, to) = (chunk * CHUNK_BYTES, (chunk + 1) * CHUNK_BYTES);
        let end = self.columns * self.element_bytes;
        match () {
            () if !(0..self.rows).contains(&row) || from >= end || to <= 0 => Outside::Whole,
            () if to > end || from < 0 => Outside::Part,
            () => Outside::Nothing,
        }
    }

    /// In the order of the box, row by row.
    pub fn pieces(&self) -> Vec<Piece> {
        let chunks = self.box_chunks();
        let rows = self.box_rows.min(MOST_PIECES / chunks).max(1);
        let first = self.column_chunk();
        let piece = |row: i64, chunk: i64| {
            let plain = row * self.pitch() + chunk * CHUNK_BYTES;
            let (row, chunk) = (self.row + row, first + chunk);
            Piece { row, chunk, plain, offset: self.swizzled(plain), outside: self.outside(row, chunk) }
        };
        (0..rows)
            .flat_map(|row| (0..chunks).map(move |chunk| (row, chunk)))
            .map(|(row, chunk)| piece(row, chunk))
            .collect()
    }

    /// What makes the copy impossible, as an H200 has it.
    pub fn trouble(&self) -> Option<String> {
        let row = self.box_columns * self.element_bytes;
        if self.column * self.element_bytes % CHUNK_BYTES != 0 {
            return Some(format!(
                "This copy fails: column {} is {} bytes from the start of a row, and the innermost coordinate must be a \
                 multiple of 16 bytes.",
                self.column,
                self.column * self.element_bytes
            ));
        }
        if row % CHUNK_BYTES != 0 {
            return Some(format!("No descriptor describes this box: its rows have {row} bytes, not a multiple of 16."));
        }
        if self.swizzle > 0 && row > self.swizzle {
            return Some(format!(
                "No descriptor describes this box: its rows have {row} bytes, and a swizzle of {} allows at most that many.",
                self.swizzle
            ));
        }
        if self.columns * self.element_bytes % CHUNK_BYTES != 0 {
            return Some(
                "Rows of this tensor need padding: the distance between rows must be a multiple of 16 bytes.".into(),
            );
        }
        None
    }

    pub fn words(&self) -> String {
        let bytes = self.box_rows * self.box_columns * self.element_bytes;
        let swizzle =
            if self.swizzle == 0 { "no swizzle".to_owned() } else { format!("a swizzle of {} bytes", self.swizzle) };
        format!(
            "One copy takes a box of {} rows of {} elements from row {}, column {} of a {} x {} tensor, with {swizzle}: {bytes} \
             bytes arrive at the mbarrier, also where the box is outside the tensor.",
            self.box_rows, self.box_columns, self.row, self.column, self.rows, self.columns
        )
    }

    pub fn piece_words(&self, piece: &Piece) -> String {
        let per = CHUNK_BYTES / self.element_bytes;
        let (first, last) = (piece.chunk * per, piece.chunk * per + per - 1);
        let fill = match piece.outside {
            Outside::Nothing => "",
            Outside::Part => " The elements beyond the edge are filled with zeros.",
            Outside::Whole => " It is outside the tensor and filled with zeros.",
        };
        let moved = if piece.offset == piece.plain {
            format!("go to byte {}", piece.offset)
        } else {
            format!("go to byte {} instead of {}", piece.offset, piece.plain)
        };
        let bank = piece.offset / 4 % 32;
        format!(
            "Row {}, columns {first} to {last} {moved} of the box in shared memory, banks {bank} to {}.{fill}",
            piece.row,
            bank + 3
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_swizzle_moves_every_piece_to_a_place_of_its_own() {
        for swizzle in SWIZZLES {
            let box_columns = if swizzle == 0 { 32 } else { swizzle / 4 };
            let copy = BoxCopy { swizzle, box_columns, box_rows: 16, ..BoxCopy::default() };
            let pieces = copy.pieces();
            let places: HashSet<i64> = pieces.iter().map(|piece| piece.offset).collect();
            assert_eq!(places.len(), pieces.len(), "swizzle {swizzle}");
            assert!(places.iter().all(|place| *place < copy.shared_bytes()), "swizzle {swizzle}");
        }
    }

    /// Eight rows of 128 bytes: a column of pieces meets all banks once, and without the swizzle the same four.
    #[test]
    fn a_column_of_a_swizzled_box_meets_every_bank() {
        let banks = |swizzle| {
            let copy = BoxCopy { swizzle, ..BoxCopy::default() };
            let first = copy.column_chunk();
            let of = copy.pieces().into_iter().filter(|piece| piece.chunk == first).map(|piece| piece.offset / 4 % 32);
            of.collect::<HashSet<i64>>().len()
        };
        assert_eq!((banks(128), banks(0)), (8, 1));
    }

    #[test]
    fn edges_are_filled_and_troubles_are_named() {
        let copy = BoxCopy::default();
        let outside = copy.pieces().iter().filter(|piece| piece.outside == Outside::Whole).count();
        // Six of eight rows are inside, of whose eight pieces six.
        assert_eq!(outside, 64 - 6 * 6);
        assert_eq!(copy.trouble(), None);
        for (copy, part) in [
            (BoxCopy { column: 17, ..copy }, "multiple of 16 bytes"),
            (BoxCopy { box_columns: 33, ..copy }, "132 bytes"),
            (BoxCopy { swizzle: 64, ..copy }, "allows at most"),
        ] {
            assert!(copy.trouble().is_some_and(|why| why.contains(part)), "{copy:?}: {:?}", copy.trouble());
        }
        assert_eq!(BoxCopy { columns: 37, ..copy }.outside(0, 9), Outside::Part);
    }
}
