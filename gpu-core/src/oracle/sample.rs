//! Inputs that are read element by element, for oracles that are asked for a few elements of a large case.

use crate::formats::{Layout, Stored};
use std::borrow::Cow;
use std::ops::Range;

/// The values of one input. A benchmark's inputs repeat after a period, and codes are decoded where they are read: no
/// gigabyte of numbers is made for a hundred elements.
pub enum Source<'a> {
    /// Values that repeat.
    Values(Cow<'a, [f64]>),
    /// Codes and scales, each of which repeats.
    View(&'a Layout, Cow<'a, Stored>),
}

impl<'a> Source<'a> {
    /// Inputs that are values each.
    pub fn plain(inputs: &'a [Vec<f64>]) -> Vec<Self> {
        inputs.iter().map(|values| Source::Values(values.into())).collect()
    }
}

impl Source<'_> {
    /// The value at a row-major index; NaN where there is nothing.
    pub fn at(&self, index: usize) -> f64 {
        match self {
            Source::Values(values) if values.is_empty() => f64::NAN,
            Source::Values(values) => values[index % values.len()],
            Source::View(layout, stored) => layout.value_at(stored, index),
        }
    }

    /// The values of a row, without a copy where they lie in a piece.
    pub fn range(&self, range: Range<usize>) -> Cow<'_, [f64]> {
        if let Source::Values(values) = self
            && !values.is_empty()
        {
            let start = range.start % values.len();
            if let Some(piece) = values.get(start..start + range.len()) {
                return Cow::Borrowed(piece);
            }
        }
        Cow::Owned(range.map(|index| self.at(index)).collect())
    }
}
