//! A unit's address: its folder; a day's is `week1/day4-first-kernel`, typed in full or as `week1/day4`, `1.4`, `first-kernel`.

use crate::unit::Unit;
use std::fmt;

/// No unit has this address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownUnit {
    pub asked: String,
    /// Full addresses that come nearest, best first, at most three.
    pub nearest: Vec<String>,
}

impl fmt::Display for UnknownUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no day, lab, page or problem `{}`", self.asked)?;
        match self.nearest.as_slice() {
            [] => write!(f, "; `lockstep list` shows all"),
            [one] => write!(f, "; did you mean `{one}`?"),
            many => write!(f, "; did you mean one of {}?", many.join(", ")),
        }
    }
}

impl std::error::Error for UnknownUnit {}

/// True when what was typed means this unit.
pub(crate) fn matches(asked: &str, unit: &Unit) -> bool {
    let asked = asked.trim().trim_matches('/').to_ascii_lowercase();
    let asked = asked.strip_prefix("curriculum/").or_else(|| asked.strip_prefix("kernels/")).unwrap_or(&asked);
    let by_number = |(week, day)| {
        asked == format!("week{week}/day{day}") || asked == format!("w{week}d{day}") || asked == format!("{week}.{day}")
    };
    asked == unit.address || asked == unit.id || unit.day().is_some_and(by_number)
}

/// Edit distance (Levenshtein), for suggestions.
pub(crate) fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let substitute = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = substitute.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_counts_edits() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("week1/day4", "week1/day5"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
