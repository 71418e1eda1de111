//! An index that is kept in a type which is too short for it: everything is right up to where the type goes round, and nothing
//! behind it.

use super::compare::Comparison;
use crate::spec::ResolvedBuffer;

/// What else speaks for a short index. Without any of it, a loop or a block that ends there leaves the same behind.
pub(super) struct Seen<'a> {
    /// Threads were seen to write what others write too, as where an index goes round.
    pub is_race: bool,
    pub ptx: &'a str,
}

impl Seen<'_> {
    /// Whether some whole number is cut to 8 or 16 bits and used as one of 32 or 64.
    fn cuts(&self, bits: u32) -> bool {
        let (all, widens) = match bits {
            8 => (", 255;", ["cvt.u32.u8", "cvt.s32.s8", "cvt.u64.u8", "cvt.s64.s8"]),
            _ => (", 65535;", ["cvt.u32.u16", "cvt.s32.s16", "cvt.u64.u16", "cvt.s64.s16"]),
        };
        let mut lines = self.ptx.lines().map(str::trim);
        lines.any(|line| {
            line.starts_with("and.b") && line.ends_with(all) || widens.iter().any(|one| line.starts_with(one))
        })
    }
}

/// Whether the words leave no other reason.
pub(super) fn is_certain(words: &str) -> bool {
    !words.contains("ended there")
}

/// The beginning of a sentence, where what is wrong begins just where a short index would go round.
pub(super) fn index(shape: &ResolvedBuffer, comparison: &Comparison, seen: &Seen<'_>) -> Option<&'static str> {
    const FLOAT: u64 = 1 << 24;
    const SHORT: u64 = 1 << 16;
    const BYTE: usize = 1 << 8;
    const LEAST_BEYOND: u64 = 4;
    let first = comparison.mismatches.first().filter(|first| first.buffer == shape.name)?;
    let flat = first.index.iter().zip(&shape.shape).fold(0, |flat, (at, extent)| flat * extent + at);
    // The even ones are right: where all beyond are wrong, a loop or a grid ended there.
    if (FLOAT + 1..FLOAT + 4).contains(&flat) && comparison.mismatch_count < shape.elements - flat {
        return Some(
            "everything before element 16,777,216 is right: as if the index were kept in a `float`, which has no odd numbers \
             from there on; keep it in an `int`",
        );
    }
    if flat == SHORT && comparison.mismatch_count == shape.elements - SHORT {
        return Some(if seen.is_race || seen.cuts(16) {
            "the first 65,536 elements are right and no others: as if the index were kept in 16 bits (`unsigned short`), where \
             0 comes after 65535; keep it in an `int`"
        } else {
            "the first 65,536 elements are right and no others: as if a loop ended there, or the index were kept in 16 bits \
             (`unsigned short`), where 0 comes after 65535"
        });
    }
    // Of a vector a block of 256 threads, or a thread's number alone, does the same.
    if seen.cuts(8)
        && shape.shape.len() == 1
        && flat == BYTE as u64
        && comparison.mismatch_count == shape.elements - BYTE as u64
    {
        return Some(
            "the first 256 elements are right and no others: as if the index were kept in 8 bits (`unsigned char`), where 0 comes \
             after 255; keep it in an `int`",
        );
    }
    // A tile's own number is often one of 8 bits, so that this alone decides.
    let is_byte = seen.is_race;
    let [rows, columns] = shape.shape[..] else { return None };
    let kept = [rows, columns].map(|extent| BYTE.min(extent as usize));
    // A tail that groups of four leave over begins there too.
    let beyond = rows.max(columns).saturating_sub(BYTE as u64);
    if !is_byte && beyond < LEAST_BEYOND {
        return None;
    }
    (rows.max(columns) > BYTE as u64 && comparison.right_corner == Some(kept)).then_some(if is_byte {
        "rows and columns from 256 on are wrong, all others are right, and several threads write the same ones: as if the first \
         block did everybody's work (is `blockIdx` in the index?), or as if an index were kept in 8 bits (`unsigned char`), \
         where 0 comes after 255"
    } else {
        "rows and columns from 256 on are wrong and all others right: as if a loop or a block ended there, or an index were kept \
         in 8 bits (`unsigned char`), where 0 comes after 255"
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Dtype, Role};
    use crate::verdict::Mismatch;

    fn output(shape: &[u64]) -> ResolvedBuffer {
        ResolvedBuffer {
            name: "y".to_owned(),
            dtype: Dtype::F32,
            shape: shape.to_vec(),
            elements: shape.iter().product(),
            role: Role::Out,
            max_bytes: None,
            fill: None,
        }
    }

    fn mismatch() -> Mismatch {
        Mismatch {
            buffer: "y".to_owned(),
            index: Vec::new(),
            expected: 1.0,
            got: 0.0,
            never_written: true,
            undefined: false,
            writer: None,
            code: None,
        }
    }

    fn say(shape: &[u64], first: &[u64], wrong: u64, right_corner: Option<[usize; 2]>) -> Option<&'static str> {
        let output = output(shape);
        let first = Mismatch { index: first.to_vec(), ..mismatch() };
        let comparison =
            Comparison { mismatches: vec![first], mismatch_count: wrong, right_corner, ..Comparison::default() };
        index(&output, &comparison, &Seen { is_race: true, ptx: "" })
    }

    #[test]
    fn only_the_place_where_a_type_goes_round_counts() {
        assert!(say(&[70_001], &[65_536], 4465, None).is_some_and(|words| words.contains("16 bits")));
        assert_eq!(say(&[70_001], &[65_536], 4464, None), None, "some behind it are right");
        assert_eq!(say(&[70_001], &[65_535], 4466, None), None);
        assert!(say(&[16_777_259], &[16_777_217], 21, None).is_some_and(|words| words.contains("`float`")));
        assert_eq!(say(&[16_777_259], &[16_777_216], 43, None), None, "a grid of whole blocks ended there");
        assert!(say(&[260, 257], &[0, 256], 1288, Some([256, 256])).is_some_and(|words| words.contains("8 bits")));
        assert_eq!(say(&[256, 256], &[0, 16], 9, Some([256, 256])), None, "nothing is beyond 256");
        let quiet = |shape: &[u64], wrong| {
            let mut comparison =
                Comparison { mismatch_count: wrong, right_corner: Some([1, 256]), ..Comparison::default() };
            comparison.mismatches.push(Mismatch { index: vec![0, 256], buffer: "y".to_owned(), ..mismatch() });
            index(&output(shape), &comparison, &Seen { is_race: false, ptx: "" })
        };
        assert_eq!(quiet(&[1, 259], 3), None, "a tail of groups of four");
        assert!(quiet(&[1, 300], 44).is_some_and(|words| words.contains("a loop or a block ended there")));
        assert!(say(&[300, 20], &[256, 0], 880, Some([256, 20])).is_some_and(|words| words.contains("8 bits")));
        let cut = |ptx: &'static str, first: u64, all: u64| {
            let mut comparison = Comparison { mismatch_count: all - first, ..Comparison::default() };
            comparison.mismatches.push(Mismatch { index: vec![first], ..mismatch() });
            index(&output(&[all]), &comparison, &Seen { is_race: false, ptx })
        };
        let byte = "and.b32 %r2, %r1, 255;";
        assert!(cut(byte, 256, 1000).is_some_and(|words| words.contains("8 bits") && is_certain(words)));
        assert_eq!(cut("", 256, 1000), None, "a block of 256 threads does the same");
        assert_eq!(cut("setp.gt.s32 %p1, %r1, 255;", 256, 1000), None, "a comparison");
        assert_eq!(cut(byte, 255, 1000), None);
        let short = cut("cvt.u32.u16 %r3, %rs1;", 65_536, 70_000).expect("16 bits");
        assert!(is_certain(short) && !is_certain(cut("", 65_536, 70_000).expect("it may be")), "{short}");
    }
}
