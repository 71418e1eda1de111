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
/// `ordered` (`mma.sp::ordered_metadata`), positions not ascending.
pub fn expand<T: Copy>(
    pattern: Pattern,
    ordered: bool,
    stored: &[T],
    mut metadata: impl FnMut(usize) -> u32,
    dense: &mut [T],
) -> Result<(), usize> {
    for group in 0..dense.len() / pattern.span() {
        let field = metadata(group) & 15;
        let (first, second) = ((field & 3) as usize, (field >> 2) as usize);
        let base = group * pattern.span();
        let undefined = first == second || (ordered && first > second);
        match pattern {
            Pattern::TwoOfFour => {
                if undefined {
                    return Err(group);
                }
                dense[base + first] = stored[2 * group];
                dense[base + second] = stored[2 * group + 1];
            }
            Pattern::OneOfTwo => {
                let position = match field {
                    0b0100 => 0,
                    0b1110 => 1,
                    _ => return Err(group),
                };
                dense[base + position] = stored[group];
            }
            Pattern::PairsTwoOfFour => {
                if undefined {
                    return Err(group);
                }
                for half in 0..2 {
                    dense[base + 2 * first + half] = stored[4 * group + half];
                    dense[base + 2 * second + half] = stored[4 * group + 2 + half];
                }
            }
        }
    }
    Ok(())
}
