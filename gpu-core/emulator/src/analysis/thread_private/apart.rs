//! Whether two instructions can meet in memory in two different threads.

use super::affine::{Affine, COORDINATES, Fact, Interval};

/// Most steps of a search.
const STEPS: u32 = 4096;

/// An access: where, how many bytes, in which threads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// As an integer.
    pub address: Affine,
    pub bytes: u32,
    pub writes: bool,
    /// That hold in the threads that come there.
    pub facts: Vec<Fact>,
}

/// A number that two places differ by: one coordinate of two threads, or the steps of a loop.
struct Digit {
    factor: i128,
    low: i128,
    high: i128,
    /// Its coordinate; none for loops.
    coordinate: Option<usize>,
}

struct Search<'p> {
    digits: Vec<Digit>,
    /// What the digits from each one on can add.
    rest: Vec<Interval>,
    /// How far the places may be from each other to overlap.
    overlap: Interval,
    facts: Vec<(&'p Fact, i128)>,
    steps: u32,
}

/// True: no byte is touched by both in two threads. `ranges` says what atoms can be.
///
/// Both places are the same multiples of the coordinates, so that how far they are from each other depends on differences
/// alone: a few digits, the largest first, of which each leaves few choices.
pub fn are_apart(a: &Place, b: &Place, ranges: &[Interval]) -> bool {
    let shift = a.address.constant - b.address.constant;
    let mut digits = Vec::new();
    let mut facts = Vec::new();
    for fact in &a.facts {
        if let Some(other) = b.facts.iter().find(|other| other.terms == fact.terms) {
            let wide = fact.within.1.max(other.within.1) - fact.within.0.min(other.within.0);
            facts.push((fact, wide));
        }
    }
    for coordinate in 0..COORDINATES {
        let atom = coordinate as u16;
        let (low, high) = ranges[coordinate];
        let mut most = high - low;
        for (fact, wide) in &facts {
            if let [(only, factor)] = fact.terms[..]
                && only == atom
            {
                most = most.min(wide / factor.abs());
            }
        }
        if most == 0 {
            continue;
        }
        let factor = a.address.factor(atom);
        if factor != b.address.factor(atom) || factor == 0 {
            return false;
        }
        digits.push(Digit { factor, low: -most, high: most, coordinate: Some(coordinate) });
    }
    let loops = |place: &Place, sign: i128| -> Vec<(i128, Interval)> {
        let terms = place.address.terms.iter().filter(|term| term.0 as usize >= COORDINATES);
        terms.map(|(atom, factor)| (sign * factor, ranges[*atom as usize])).collect()
    };
    let mut theirs = loops(b, -1);
    for (factor, (low, high)) in loops(a, 1) {
        // Steps of one size in both are one digit.
        let both = theirs.iter().position(|(other, _)| *other == -factor).map(|at| theirs.swap_remove(at));
        let (more, less) = both.map_or((0, 0), |(_, (low, high))| (low, high));
        digits.push(Digit { factor, low: low - less, high: high - more, coordinate: None });
    }
    digits.extend(theirs.into_iter().map(|(factor, (low, high))| Digit { factor, low, high, coordinate: None }));
    digits.sort_by_key(|digit| std::cmp::Reverse(digit.factor.abs()));
    let mut rest = vec![(0, 0)];
    for digit in digits.iter().rev() {
        let ends = [digit.factor * digit.low, digit.factor * digit.high];
        let (low, high) = rest[rest.len() - 1];
        rest.push((low + ends[0].min(ends[1]), high + ends[0].max(ends[1])));
    }
    rest.reverse();
    let overlap = (1 - i128::from(a.bytes) - shift, i128::from(b.bytes) - 1 - shift);
    let mut search = Search { digits, rest, overlap, facts, steps: STEPS };
    search.none_from(0, 0, &mut [0; COORDINATES])
}

impl Search<'_> {
    /// True: no choice of the digits from `at` on makes two threads meet, where those before come to `sum`.
    fn none_from(&mut self, at: usize, sum: i128, threads: &mut [i128; COORDINATES]) -> bool {
        if self.steps == 0 {
            return false;
        }
        self.steps -= 1;
        let Some(digit) = self.digits.get(at) else {
            let same = threads.iter().all(|difference| *difference == 0);
            let between =
                |terms: &[(u16, i128)]| terms.iter().map(|(atom, f)| f * threads[*atom as usize]).sum::<i128>();
            return same || self.facts.iter().any(|(fact, wide)| between(&fact.terms).abs() > *wide);
        };
        let (factor, coordinate) = (digit.factor, digit.coordinate);
        let (below, above) = self.rest[at + 1];
        let ends = (self.overlap.0 - sum - above, self.overlap.1 - sum - below);
        let (first, last) = if factor > 0 { ends } else { (-ends.1, -ends.0) };
        let low = digit.low.max(first.div_euclid(factor.abs()) + i128::from(first.rem_euclid(factor.abs()) != 0));
        let high = digit.high.min(last.div_euclid(factor.abs()));
        let mut value = low;
        while value <= high {
            if let Some(coordinate) = coordinate {
                threads[coordinate] = value;
            }
            if !self.none_from(at + 1, sum + factor * value, threads) {
                return false;
            }
            value += 1;
        }
        if let Some(coordinate) = coordinate {
            threads[coordinate] = 0;
        }
        true
    }
}
