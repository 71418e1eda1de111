//! What a wrong output is instead: a mistake that would give just these numbers, in words.
//!
//! Each guess is a formula for one element. It is made only when it gives every wrong element that is looked at, and
//! at least [`LEAST`] of them: numbers drawn at random do not agree by accident. Where an element was never written
//! nothing is guessed; that says enough by itself.

mod call;
mod factors;
mod matmul;
mod probe;
mod sum;
mod tiles;
mod tree;
mod whole;

use super::{Expected, Oracle, Signature};

/// Wrong elements that a guess is tried on, spread over all of them, and the fewest that prove anything.
pub const SAMPLE: usize = 48;
const LEAST: usize = 3;
/// Allowed error, in units of an element's magnitude: kernels add in `float`, and in any order.
const CLOSE: f64 = 2e-5;
/// Wrong elements that are no longer counted one by one.
const ENOUGH: usize = 1 << 16;
/// Of right values, how many a wrong one may meet by chance where its place is guessed from it, on average.
const MOST_BY_CHANCE: f64 = 0.2;

/// A mistake that would give just these numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guess {
    /// The end of a sentence.
    pub words: String,
    /// The hint that answers to it, where there is one: one of [`crate::verdict::HINT_KEYS`].
    pub key: Option<&'static str>,
}

impl From<String> for Guess {
    fn from(words: String) -> Self {
        Self { words, key: None }
    }
}

/// What a guess is made from.
pub struct Case<'a> {
    pub signature: &'a Signature,
    /// Row-major, as the kernel was given them.
    pub inputs: &'a [Vec<f64>],
    pub expected: &'a Expected,
    /// The first output, as the kernel left it.
    pub got: &'a [f64],
    /// Every output, and what belongs there.
    pub outputs: &'a [Vec<f64>],
    pub all_expected: &'a [Expected],
    /// Elements of it that were written, and are wrong; ascending.
    pub wrong: &'a [usize],
    /// The output that the first wrong element is of.
    pub named: &'a str,
    /// Its values are decoded from codes, of which there are few: half of them are twice another by chance.
    pub is_coded: bool,
}

/// One of the sampled elements.
pub(super) struct Element {
    index: usize,
    got: f64,
    magnitude: f64,
}

impl Element {
    fn is(&self, value: f64) -> bool {
        (self.got - value).abs() <= CLOSE * self.magnitude
    }
}

/// One mistake that results are tried on, by the elements that are wrong.
pub(super) type Trial = fn(&Case<'_>, &[Element]) -> Option<Guess>;

/// Which mistakes an oracle's results are tried on, beside those that may be made with any.
#[derive(Clone, Copy, Debug)]
pub(super) struct Guesses {
    /// In place of everything else.
    whole: Option<fn(&Case<'_>) -> Option<Guess>>,
    /// Also tried where some results are no numbers.
    early: Option<Trial>,
    /// In order.
    special: &'static [Trial],
}

impl Guesses {
    pub(super) const NONE: Guesses = Guesses { whole: None, early: None, special: &[] };
}

/// Its first output says least.
pub(super) const PROBE: Guesses = Guesses { whole: Some(|case| probe::guess(case).map(Guess::from)), ..Guesses::NONE };
pub(super) const SUM_OF_TWO: Guesses = Guesses {
    early: Some(|case, sample| bits_added(case, sample).map(|words| words.to_owned().into())),
    special: &[|case, sample| added(case, sample).map(Guess::from)],
    ..Guesses::NONE
};
pub(super) const SUM: Guesses = Guesses { early: Some(|case, _| sum::guess(case)), ..Guesses::NONE };
pub(super) const MATMUL_BT: Guesses = Guesses { special: &[tiles::of_transposed], ..Guesses::NONE };
pub(super) const MATMUL: Guesses = Guesses { special: &[matmul::guess], ..Guesses::NONE };
pub(super) const MATMUL_CALL: Guesses =
    Guesses { special: &[|case, sample| call::guess(case, sample).map(Guess::from), matmul::guess], ..Guesses::NONE };

/// A mistake in words; None when no formula fits.
pub fn guess(oracle: &Oracle, case: &Case<'_>) -> Option<Guess> {
    let of = &oracle.guesses;
    if let Some(whole) = of.whole {
        return whole(case);
    }
    // What is told beside an element of one output must not be about another.
    case.signature.outputs.first().filter(|output| output.name == case.named)?;
    let sample = sample(case);
    if let Some(guess) = of.early.and_then(|early| early(case, &sample)) {
        return Some(guess);
    }
    if sample.iter().any(|element| !element.got.is_finite()) {
        return None;
    }
    if sample.len() < LEAST {
        // One number for all of many is enough; one product is not.
        let of_many = case.got.len() == sample.len() && case.inputs.iter().any(|input| input.len() > LEAST);
        return if of_many && !case.is_coded { whole::factor(case, &sample) } else { None };
    }
    let special = of.special.iter().find_map(|guess| guess(case, &sample));
    if case.is_coded {
        return special.or_else(|| zeros(case, &sample));
    }
    let moved = || moved(case, &sample).map(|words| Guess { words, key: Some("moved_output") });
    special.or_else(|| of_any(case, &sample)).or_else(moved)
}

fn sample(case: &Case<'_>) -> Vec<Element> {
    let step = case.wrong.len().div_ceil(SAMPLE).max(1);
    // The first and the last say most about ends; the step is odd, so that no regular pattern hides between.
    let step = step | 1;
    let chosen = case.wrong.iter().copied().step_by(step);
    chosen.map(|index| Element { index, got: case.got[index], magnitude: case.expected.magnitude(index) }).collect()
}

fn all(sample: &[Element], value: impl Fn(usize) -> Option<f64>) -> bool {
    sample.iter().all(|element| value(element.index).is_some_and(|value| element.is(value)))
}

/// Whether next to nothing is right: what is said of every result must not be said for a few.
fn is_every(case: &Case<'_>) -> bool {
    10 * case.wrong.len() >= 9 * case.got.len().min(ENOUGH)
}

/// Agreement of numbers that no magnitude belongs to.
fn near(got: f64, value: f64) -> bool {
    (got - value).abs() <= 1e-6 * value.abs()
}

fn zeros(case: &Case<'_>, sample: &[Element]) -> Option<Guess> {
    let is_negative = |element: &Element| case.expected.values[element.index] < 0.0;
    let words = if sample.len() >= 8 && sample.iter().all(is_negative) {
        "all wrong ones are 0 where a negative number belongs"
    } else {
        "all wrong ones are 0"
    };
    all(sample, |_| Some(0.0)).then(|| words.to_owned().into())
}

/// Guesses that need to know nothing of the operation.
fn of_any(case: &Case<'_>, sample: &[Element]) -> Option<Guess> {
    let want = |index: usize| case.expected.values[index];
    if let Some(zeros) = zeros(case, sample) {
        return Some(zeros);
    }
    if sample.iter().all(|element| element.got == sample[0].got) {
        return Some(format!("all wrong ones are the same number, {}", sample[0].got).into());
    }
    // A float of 2^24 and more is always a whole number.
    let whole = |value: f64| value == value.trunc() && value.abs() < 16_777_216.0;
    let as_bits = |index: usize| f64::from((want(index) as f32).to_bits() as i32);
    if sample.iter().all(|element| near(element.got, as_bits(element.index))) {
        let words = "each is the right result with its bits read as a whole number: a cast of a pointer, or a union";
        return Some(words.to_owned().into());
    }
    if sample.iter().all(|element| whole(element.got)) && !sample.iter().any(|element| whole(want(element.index))) {
        let words = "all results are whole numbers: a sum, a product or a factor is kept in a type for whole numbers";
        return Some(words.to_owned().into());
    }
    let sign = if case.wrong.len() == case.got.len() {
        "every result has the wrong sign"
    } else {
        "the wrong ones have the wrong sign, and nothing else is wrong: signs get lost on the way"
    };
    if all(sample, |index| Some(-want(index))) {
        return Some(sign.to_owned().into());
    }
    let rows = || whole::by_rows(case).map(Guess::from);
    whole::factor(case, sample).or_else(rows).or_else(|| whole::constant(case, sample).map(Guess::from))
}

/// Right values in wrong places.
fn moved(case: &Case<'_>, sample: &[Element]) -> Option<String> {
    const MOST: usize = 1 << 16;
    let want = &case.expected.values;
    if want.len() > MOST {
        return None;
    }
    let mut sorted: Vec<usize> = (0..want.len()).collect();
    sorted.sort_by(|a, b| want[*a].total_cmp(&want[*b]));
    let room = |element: &Element| CLOSE / 10.0 * element.magnitude;
    // Where right values are so dense that a number drawn at random meets one, or the same one is right in many places,
    // finding it elsewhere says nothing.
    const WIDER: f64 = 64.0;
    let around = |element: &Element| {
        let reach = WIDER * room(element);
        let from = sorted.partition_point(|index| want[*index] < element.got - reach);
        (sorted.partition_point(|index| want[*index] <= element.got + reach) - from) as f64
    };
    let by_chance = sample.iter().map(around).sum::<f64>() / WIDER / sample.len() as f64;
    if by_chance > MOST_BY_CHANCE || is_lattice(case, sample) {
        return shifted_places(case, sample);
    }
    // Nearest place first: the one that an index mixed up.
    let home = |element: &Element| {
        let room = room(element);
        let from = sorted.partition_point(|index| want[*index] < element.got - room);
        let fitting = sorted[from..].iter().take_while(|index| want[**index] <= element.got + room);
        fitting.copied().min_by_key(|index| index.abs_diff(element.index))
    };
    let homes: Option<Vec<usize>> = sample.iter().map(home).collect();
    let homes = homes?;
    let first = *homes.first()?;
    // What is at home was not moved.
    if homes.iter().zip(sample).any(|(home, element)| *home == element.index) {
        return None;
    }
    Some(format!(
        "the values are right and in wrong places: {} holds what belongs to {}",
        element_name(case, sample[0].index)?,
        element_name(case, first)?
    ))
}

/// Whether right values are whole numbers that lie so close together that any wrong one is right somewhere else.
fn is_lattice(case: &Case<'_>, sample: &[Element]) -> bool {
    const BY_CHANCE: f64 = 1e-3;
    let want = &case.expected.values;
    if !want.iter().all(|value| *value == value.trunc()) {
        return false;
    }
    let mut known: Vec<f64> = want.clone();
    known.sort_by(f64::total_cmp);
    known.dedup();
    let (Some(least), Some(most)) = (known.first(), known.last()) else { return true };
    let share = known.len() as f64 / (most - least + 1.0);
    share.powi(sample.len() as i32) > BY_CHANCE
}

/// Of values that are right in many places: the one distance by which all wrong ones were moved, where that is so.
fn shifted_places(case: &Case<'_>, sample: &[Element]) -> Option<String> {
    const LEAST_MOVED: usize = 12;
    let want = &case.expected.values;
    let first = sample.first().filter(|_| sample.len() >= LEAST_MOVED)?;
    let differs = sample.iter().any(|element| element.got != first.got);
    let moved_by = |home: usize| {
        let fits = |element: &Element| {
            (element.index + home)
                .checked_sub(first.index)
                .and_then(|at| want.get(at))
                .is_some_and(|want| element.is(*want))
        };
        home != first.index && sample.iter().all(fits)
    };
    let home = (0..want.len()).filter(|home| first.is(want[*home])).find(|home| moved_by(*home)).filter(|_| differs)?;
    let name = |index: usize| element_name(case, index);
    Some(format!(
        "the values are right and in wrong places: {} holds what belongs to {}",
        name(first.index)?,
        name(home)?
    ))
}

/// `y[3][17]` of the first output.
fn element_name(case: &Case<'_>, index: usize) -> Option<String> {
    let output = case.signature.outputs.first()?;
    let mut rest = index;
    let mut places: Vec<String> = Vec::new();
    for extent in output.shape.iter().rev() {
        places.push(format!("[{}]", rest % extent.max(&1)));
        rest /= extent.max(&1);
    }
    places.reverse();
    Some(format!("{}{}", output.name, places.concat()))
}

/// Sums of bit patterns: large numbers, and some that are none.
fn bits_added(case: &Case<'_>, sample: &[Element]) -> Option<&'static str> {
    let [a, b] = case.inputs else { return None };
    let bits = |value: f64| (value as f32).to_bits();
    let sum = |index: usize| f64::from(f32::from_bits(bits(a[index]).wrapping_add(bits(b[index]))));
    let finite = || sample.iter().filter(|element| element.got.is_finite());
    let fits = finite().count() >= LEAST && finite().all(|element| near(element.got, sum(element.index)));
    fits.then_some("the bits of a and b are added as whole numbers: the pointers were cast to another type")
}

/// Sums of two arrays of one shape.
fn added(case: &Case<'_>, sample: &[Element]) -> Option<String> {
    let [a, b] = case.inputs else { return None };
    let at = |array: &[f64], index: Option<usize>| index.and_then(|index| array.get(index).copied());
    let columns = case.signature.outputs.first()?.shape.last().copied().unwrap_or(1).max(1);
    let rows = a.len() / columns;
    let turned = |index: usize| Some(index % columns * rows + index / columns);
    type Formula<'f> = Box<dyn Fn(usize) -> Option<f64> + 'f>;
    let formulas: Vec<(&str, Formula<'_>)> = vec![
        ("they are differences: `-` where `+` is meant", Box::new(|i| Some(a[i] - b[i]))),
        ("they are differences: `-` where `+` is meant", Box::new(|i| Some(b[i] - a[i]))),
        ("they are products: `*` where `+` is meant", Box::new(|i| Some(a[i] * b[i]))),
        ("they are the larger of the two: a maximum where `+` is meant", Box::new(|i| Some(a[i].max(b[i])))),
        ("they are the smaller of the two: a minimum where `+` is meant", Box::new(|i| Some(a[i].min(b[i])))),
        ("they are a + a: b does not take part", Box::new(|i| Some(2.0 * a[i]))),
        ("they are b + b: a does not take part", Box::new(|i| Some(2.0 * b[i]))),
        ("they are the elements of a: b was not added", Box::new(|i| Some(a[i]))),
        ("they are the elements of b: a was not added", Box::new(|i| Some(b[i]))),
        ("they take the element of b one place too far", Box::new(|i| Some(a[i] + at(b, i.checked_add(1))?))),
        ("they take the element of b one place too early", Box::new(|i| Some(a[i] + at(b, i.checked_sub(1))?))),
        ("they take the element of a one place too far", Box::new(|i| Some(at(a, i.checked_add(1))? + b[i]))),
        ("they take the element of a one place too early", Box::new(|i| Some(at(a, i.checked_sub(1))? + b[i]))),
        (
            "they take b's element at the column alone, always of row 0",
            Box::new(|i| Some(a[i] + at(b, Some(i % columns))?)),
        ),
        (
            "they take a's element at the column alone, always of row 0",
            Box::new(|i| Some(at(a, Some(i % columns))? + b[i])),
        ),
        ("they take a as if rows and columns were exchanged", Box::new(|i| Some(at(a, turned(i))? + b[i]))),
        ("they take b as if rows and columns were exchanged", Box::new(|i| Some(a[i] + at(b, turned(i))?))),
    ];
    formulas.into_iter().find(|(_, formula)| all(sample, formula)).map(|(words, _)| words.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::TensorShape;
    use super::*;

    /// Numbers without a pattern.
    pub(super) fn numbers(count: usize, seed: u64) -> Vec<f64> {
        let mut state = seed.wrapping_mul(2_654_435_761).wrapping_add(99);
        let next = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            f64::from(((state >> 33) as u32 as f32) / (1u64 << 31) as f32 * 4.0 - 2.0)
        };
        (0..count).map(next).collect()
    }

    pub(super) fn words(oracle: &str, signature: &Signature, inputs: &[Vec<f64>], got: &[f64]) -> Option<String> {
        let oracle = super::super::find(oracle).expect("an oracle");
        let expected = oracle.compute(signature, inputs).expect("computes");
        let expected = &expected[0];
        let wrong: Vec<usize> = (0..got.len())
            .filter(|at| (got[*at] - expected.values[*at]).abs() > 1e-6 * expected.magnitude(*at))
            .collect();
        let (outputs, all_expected) = (&[got.to_vec()][..], std::slice::from_ref(expected));
        guess(
            oracle,
            &Case {
                named: &signature.outputs[0].name,
                is_coded: false,
                signature,
                inputs,
                expected,
                got,
                outputs,
                all_expected,
                wrong: &wrong,
            },
        )
        .map(|guess| guess.words)
    }

    fn vector(n: usize) -> Signature {
        let tensor = |name| TensorShape::new(name, &[n]);
        Signature { inputs: vec![tensor("a"), tensor("b")], outputs: vec![tensor("c")], scalars: Vec::new() }
    }

    /// Bytes: nearly every wrong one is right somewhere else.
    #[test]
    fn bytes_are_moved_only_where_all_moved_by_the_same() {
        let n = 600;
        let bytes = |seed| numbers(n, seed).iter().map(|value| (value * 60.0).trunc()).collect::<Vec<f64>>();
        let (a, zeros) = (bytes(3), vec![0.0; n]);
        let say = |got: &[f64]| words("vector_add", &vector(n), &[a.clone(), zeros.clone()], got).unwrap_or_default();
        let other = bytes(8);
        let chance = say(&other);
        assert!(!chance.contains("wrong places"), "{chance}");
        let moved: Vec<f64> = (0..n).map(|at| if at + 7 < n { a[at + 7] } else { a[at] }).collect();
        assert!(say(&moved).contains("c[0] holds what belongs to c[7]"), "{}", say(&moved));
    }

    #[test]
    fn a_sum_that_went_wrong_is_recognised() {
        let n = 40;
        let (a, b) = (numbers(n, 1), numbers(n, 2));
        let say = |got: &dyn Fn(usize) -> f64| {
            let got: Vec<f64> = (0..n).map(got).collect();
            words("vector_add", &vector(n), &[a.clone(), b.clone()], &got).unwrap_or_default()
        };
        assert!(say(&|i| a[i] * b[i]).contains("products"));
        assert!(say(&|i| a[i].max(b[i])).contains("larger of the two"));
        let bits = |value: f64| (value as f32).to_bits();
        let added = |i: usize| f64::from(f32::from_bits(bits(a[i]).wrapping_add(bits(b[i]))));
        assert!(say(&added).contains("bits of a and b are added"), "not whole numbers, although floats so large are");
        assert!(say(&|i| f64::from(bits(a[i] + b[i]) as i32)).contains("bits read as a whole number"));
        assert!(say(&|i| (a[i] + b[i]).abs()).contains("signs get lost"));
        assert!(say(&|i| a[i] + b[(i + 1).min(n - 1)]).contains("one place too far"));
        assert!(say(&|i| (a[i] + b[i]).trunc() + 1.0).contains("whole numbers"));
        assert!(say(&|i| -(a[i] + b[i])).contains("sign"));
        assert!(say(&|i| (a[i] + b[i]).max(0.0)).contains("0 where a negative"));
        assert!(say(&|i| a[n - 1 - i] + b[n - 1 - i]).contains("c[0] holds what belongs to c[39]"));
        assert_eq!(say(&|i| a[i] + 0.7 * b[i]), "", "a formula that nobody thought of");
        assert_eq!(say(&|i| a[i] + b[i] + if i == 3 { 1.0 } else { 0.0 }), "", "one element proves nothing");
    }
}
