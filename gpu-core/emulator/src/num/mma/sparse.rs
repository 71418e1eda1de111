//! 2:4 structured sparsity: expanding a compressed A operand.
//!
//! Metadata holds, for each pair of stored elements, two 2-bit positions inside a group of four (16- and 8-bit
//! elements), or one 4-bit field that says which of two wide elements is present (tf32: 0b0100 the first, 0b1110 the
//! second), or, for 4-bit elements, positions of pairs.

/// How stored elements map to positions of the dense row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// Two of four elements: 2-bit positions (f16, bf16, 8-bit elements).
    TwoOfFour,
    /// One of two elements: 4-bit fields 0b0100 or 0b1110 (tf32).
    OneOfTwo,
    /// Two of four *pairs* of adjacent 4-bit elements.
    PairsTwoOfFour,
}

impl Pattern {
    /// Dense elements described by 4 metadata bits.
    pub const fn span(self) -> usize {
        match self {
            Pattern::TwoOfFour => 4,
            Pattern::OneOfTwo => 2,
            Pattern::PairsTwoOfFour => 8,
        }
    }
}

/// Places the stored elements of one row. `metadata` yields the row's 4-bit fields in order of k; positions not stored
/// keep the value of `dense`. Returns the index of a field whose result is undefined: equal positions, or, with
/// `ordered` (`mma.sp::ordered_metadata`), positions not ascending. Where all that is stored is zero, no field is wrong:
/// CUTLASS's compressor writes 0 there.
pub fn expand<T: Copy>(
    pattern: Pattern,
    ordered: bool,
    stored: &[T],
    mut metadata: impl FnMut(usize) -> u32,
    is_zero: impl Fn(T) -> bool,
    dense: &mut [T],
) -> Result<(), usize> {
    let each = stored.len() * pattern.span() / dense.len();
    for (group, own) in stored.chunks_exact(each).enumerate() {
        let field = metadata(group) & 15;
        let (first, second) = ((field & 3) as usize, (field >> 2) as usize);
        let base = group * pattern.span();
        let undefined = first == second || (ordered && first > second);
        let nothing = own.iter().all(|element| is_zero(*element));
        match pattern {
            Pattern::TwoOfFour => {
                if undefined && !nothing {
                    return Err(group);
                }
                dense[base + first] = own[0];
                dense[base + second] = own[1];
            }
            Pattern::OneOfTwo => {
                let position = match field {
                    0b0100 => 0,
                    0b1110 => 1,
                    _ if nothing => 0,
                    _ => return Err(group),
                };
                dense[base + position] = own[0];
            }
            Pattern::PairsTwoOfFour => {
                if undefined && !nothing {
                    return Err(group);
                }
                for half in 0..2 {
                    dense[base + 2 * first + half] = own[half];
                    dense[base + 2 * second + half] = own[2 + half];
                }
            }
        }
    }
    Ok(())
}
