//! Sums of multiples of thread coordinates and loop counts, and what they can come to.

/// What a sum is made of: the coordinates of a thread (`tid.x` … `ctaid.z`), and from [`COUNTS`] on how often the step of a
/// loop was taken.
pub type Atom = u16;
pub const COORDINATES: usize = 6;
pub const COUNTS: Atom = COORDINATES as Atom;
/// From here on: registers whose loop is being looked at.
pub const SELVES: Atom = 1 << 15;

/// Larger numbers are not followed: no sum of them overflows.
pub const LARGE: i128 = 1 << 100;

/// `constant` and so many times each atom; as an integer, or modulo a power of two.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Affine {
    /// By atom, none of them 0.
    pub terms: Vec<(Atom, i128)>,
    pub constant: i128,
}

/// A closed range of integers.
pub type Interval = (i128, i128);

/// What is known of the threads that come to an instruction: a sum without a constant lies in an interval.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fact {
    pub terms: Vec<(Atom, i128)>,
    pub within: Interval,
}

impl Affine {
    pub fn constant(constant: i128) -> Affine {
        Affine { terms: Vec::new(), constant }
    }

    pub fn atom(atom: Atom) -> Affine {
        Affine { terms: vec![(atom, 1)], constant: 0 }
    }

    pub fn as_constant(&self) -> Option<i128> {
        self.terms.is_empty().then_some(self.constant)
    }

    pub fn factor(&self, atom: Atom) -> i128 {
        self.terms.iter().find(|(known, _)| *known == atom).map_or(0, |(_, factor)| *factor)
    }

    /// This and `times` the other; None where numbers grow too large.
    pub fn plus(&self, other: &Affine, times: i128) -> Option<Affine> {
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut own, mut theirs) = (0, 0);
        loop {
            let term = match (self.terms.get(own), other.terms.get(theirs)) {
                (Some(a), Some(b)) if a.0 == b.0 => {
                    (own, theirs) = (own + 1, theirs + 1);
                    (a.0, a.1 + scaled(b.1, times)?)
                }
                (Some(a), b) if b.is_none_or(|b| a.0 < b.0) => {
                    own += 1;
                    *a
                }
                (_, Some(b)) => {
                    theirs += 1;
                    (b.0, scaled(b.1, times)?)
                }
                _ => break,
            };
            if term.1 != 0 {
                terms.push(term);
            }
        }
        let constant = self.constant + scaled(other.constant, times)?;
        (constant.abs() < LARGE && terms.iter().all(|term| term.1.abs() < LARGE)).then_some(Affine { terms, constant })
    }

    pub fn times(&self, factor: i128) -> Option<Affine> {
        Affine::default().plus(self, factor)
    }

    /// The same modulo `1 << bits`, with numbers as near to 0 as can be.
    pub fn reduced(mut self, bits: u32) -> Affine {
        for (_, factor) in &mut self.terms {
            *factor = nearest(*factor, bits);
        }
        self.terms.retain(|term| term.1 != 0);
        self.constant = nearest(self.constant, bits);
        self
    }

    /// What it can come to where atoms lie in `ranges` and `facts` hold.
    pub fn interval(&self, ranges: &[Interval], facts: &[Fact]) -> Option<Interval> {
        let mut all = self.in_box(ranges)?;
        for fact in facts {
            let Some((atom, factor)) = fact.terms.first() else { continue };
            let times = self.factor(*atom) / factor;
            if times == 0 {
                continue;
            }
            let rest = self.plus(&Affine { terms: fact.terms.clone(), constant: 0 }, -times)?;
            let (low, high) = rest.in_box(ranges)?;
            let ends = [scaled(fact.within.0, times)?, scaled(fact.within.1, times)?];
            all.0 = all.0.max(low + ends[0].min(ends[1]));
            all.1 = all.1.min(high + ends[0].max(ends[1]));
        }
        Some(all)
    }

    fn in_box(&self, ranges: &[Interval]) -> Option<Interval> {
        let mut all = (self.constant, self.constant);
        for (atom, factor) in &self.terms {
            let (low, high) = *ranges.get(*atom as usize)?;
            let ends = [scaled(low, *factor)?, scaled(high, *factor)?];
            all = (all.0 + ends[0].min(ends[1]), all.1 + ends[0].max(ends[1]));
            if all.0 < -LARGE || all.1 > LARGE {
                return None;
            }
        }
        Some(all)
    }
}

fn scaled(value: i128, times: i128) -> Option<i128> {
    value.checked_mul(times).filter(|product| product.abs() < LARGE)
}

/// The number nearest to 0 that is the same modulo `1 << bits`.
fn nearest(value: i128, bits: u32) -> i128 {
    let whole = 1i128 << bits;
    let rest = value.rem_euclid(whole);
    if rest >= whole / 2 { rest - whole } else { rest }
}
