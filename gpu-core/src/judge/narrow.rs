//! An index that is kept in a type which is too short for it: everything is right up to where the type goes round, and nothing
//! behind it.

use super::compare::Comparison;
use crate::spec::ResolvedBuffer;

/// The end of a sentence, where what is wrong begins just where a short index would go round.
///
/// `is_race`: threads were seen to write what others write too, as where an index goes round; else a loop or a block that
/// ends there leaves the same behind.
pub(super) fn index(shape: &ResolvedBuffer, comparison: &Comparison, is_race: bool) -> Option<&'static str> {
    const FLOAT: u64 = 1 << 24;
    const SHORT: u64 = 1 << 16;
    const BYTE: usize = 1 << 8;
    const LEAST_BEYOND: u64 = 4;
    let first = comparison.mismatches.first().filter(|first| first.buffer == shape.name)?;
    let flat = first.index.iter().zip(&shape.shape).fold(0, |flat, (at, extent)| flat * extent + at);
    if (FLOAT..FLOAT + 4).contains(&flat) {
        return Some(
            "everything before element 16,777,216 is right: as if the index were kept in a `float`, which has no odd numbers \
             from there on; keep it in an `int`",
        );
    }
    if flat == SHORT && comparison.mismatch_count == shape.elements - SHORT {
        return Some(if is_race {
            "the first 65,536 elements are right and no others: as if the index were kept in 16 bits (`unsigned short`), where \
             0 comes after 65535; keep it in an `int`"
        } else {
            "the first 65,536 elements are right and no others: as if a loop ended there, or the index were kept in 16 bits \
             (`unsigned short`), where 0 comes after 65535"
        });
    }
    let [rows, columns] = shape.shape[..] else { return None };
    let kept = [rows, columns].map(|extent| BYTE.min(extent as usize));
    // A tail that groups of four leave over begins there too.
    let beyond = rows.max(columns).saturating_sub(BYTE as u64);
    if !is_race && beyond < LEAST_BEYOND {
        return None;
    }
    (rows.max(columns) > BYTE as u64 && comparison.right_corner == Some(kept)).then_some(if is_race {
        "rows and columns from 256 on are wrong and all others right: as if an index were kept in 8 bits (`unsigned char`), where \
         0 comes after 255; keep it in an `int`"
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
            writer: None,
            code: None,
        }
    }

    fn say(shape: &[u64], first: &[u64], wrong: u64, right_corner: Option<[usize; 2]>) -> Option<&'static str> {
        let output = output(shape);
        let first = Mismatch { index: first.to_vec(), ..mismatch() };
        let comparison =
            Comparison { mismatches: vec![first], mismatch_count: wrong, right_corner, ..Comparison::default() };
        index(&output, &comparison, true)
    }

    #[test]
    fn only_the_place_where_a_type_goes_round_counts() {
        assert!(say(&[70_001], &[65_536], 4465, None).is_some_and(|words| words.contains("16 bits")));
        assert_eq!(say(&[70_001], &[65_536], 4464, None), None, "some behind it are right");
        assert_eq!(say(&[70_001], &[65_535], 4466, None), None);
        assert!(say(&[16_777_259], &[16_777_217], 21, None).is_some_and(|words| words.contains("`float`")));
        assert!(say(&[260, 257], &[0, 256], 1288, Some([256, 256])).is_some_and(|words| words.contains("8 bits")));
        assert_eq!(say(&[256, 256], &[0, 16], 9, Some([256, 256])), None, "nothing is beyond 256");
        let quiet = |shape: &[u64], wrong| {
            let mut comparison =
                Comparison { mismatch_count: wrong, right_corner: Some([1, 256]), ..Comparison::default() };
            comparison.mismatches.push(Mismatch { index: vec![0, 256], buffer: "y".to_owned(), ..mismatch() });
            index(&output(shape), &comparison, false)
        };
        assert_eq!(quiet(&[1, 259], 3), None, "a tail of groups of four");
        assert!(quiet(&[1, 300], 44).is_some_and(|words| words.contains("a loop or a block ended there")));
        assert!(say(&[300, 20], &[256, 0], 880, Some([256, 20])).is_some_and(|words| words.contains("8 bits")));
    }
}
