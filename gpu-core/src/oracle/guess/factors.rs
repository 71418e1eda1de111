//! Wrong products of matrices: the right operands, with something done to them or to their sums on the way.

use super::matmul::{Sizes, TILES};
use super::{Case, Element, Guess, all};

/// What can be said where all that came out is zero. Small matrices may by chance hold no product that reaches 1; then two
/// mistakes give the same zeros.
pub(super) fn of_zeros(a: &[f64], b: &[f64], sample: &[Element], sizes: &Sizes) -> Option<&'static str> {
    let Sizes { n, k, .. } = *sizes;
    let none_reaches_one = |index: usize| (0..k).all(|i| (a[index / n * k + i] * b[i * n + index % n]).abs() < 1.0);
    let zeros = sample.iter().all(|element| element.got == 0.0 && none_reaches_one(element.index));
    zeros.then_some(
        "all wrong ones are 0: nothing is added to the sums, or each product is cut to whole numbers, and none reaches 1 here",
    )
}

/// Number formats that a factor may be rounded to before it is multiplied: bits of the fraction, and their names.
const NARROW: [(u32, &str); 4] =
    [(10, "11 bits (f16 or tf32)"), (7, "8 bits (bf16)"), (3, "4 bits (FP8 e4m3)"), (2, "3 bits (FP8 e5m2)")];

/// Rounded to so many bits of fraction, to the even neighbour of two.
fn narrowed(value: f64, bits: u32) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let unit = 2.0_f64.powi(value.abs().log2().floor() as i32 - bits as i32);
    (value / unit).round_ties_even() * unit
}

/// Factors of fewer bits than a float's.
pub(super) fn narrow(
    case: &Case<'_>,
    a: &[f64],
    b: &[f64],
    sample: &[Element],
    sizes: &Sizes,
    names: [&str; 2],
) -> Option<Guess> {
    // Much nearer to such a sum than to the right one.
    const NEARER: f64 = 0.1;
    let Sizes { n, k, .. } = *sizes;
    let off = |value: &dyn Fn(usize) -> f64| {
        sample.iter().map(|element| (element.got - value(element.index)).abs()).sum::<f64>()
    };
    let right = off(&|index| case.expected.values[index]);
    let [a_name, b_name] = names;
    for (bits, format) in NARROW {
        for (of_a, of_b, which) in [(true, true, "both matrices"), (true, false, a_name), (false, true, b_name)] {
            let round = |value: f64, is: bool| if is { narrowed(value, bits) } else { value };
            let sum = |index: usize| {
                (0..k).map(|i| round(a[index / n * k + i], of_a) * round(b[i * n + index % n], of_b)).sum::<f64>()
            };
            if all(sample, |index| Some(sum(index))) && off(&sum) <= NEARER * right {
                let words = format!(
                    "as if the elements of {which} had {format}, where a float has 24, before they are multiplied"
                );
                return Some(Guess { words, key: Some("precision") });
            }
        }
    }
    None
}

pub(super) fn guess(a: &[f64], b: &[f64], sample: &[Element], sizes: &Sizes, names: [&str; 2]) -> Option<String> {
    let Sizes { n, k, .. } = *sizes;
    let left = |index: usize, i: usize| a[index / n * k + i];
    let top = |index: usize, i: usize| b[i * n + index % n];
    let sums = |term: &dyn Fn(usize, usize) -> f64| all(sample, |index| Some((0..k).map(|i| term(index, i)).sum()));
    let [a_name, b_name] = names;
    let added = |index: usize, i: usize| left(index, i) + top(index, i);
    if sums(&added) {
        return Some("the two factors are added where they should be multiplied".to_owned());
    }
    if sums(&|index, i| left(index, i).powi(2)) {
        return Some(format!("the elements of {a_name} are multiplied with themselves: {b_name} does not take part"));
    }
    if sums(&|index, i| top(index, i).powi(2)) {
        return Some(format!("the elements of {b_name} are multiplied with themselves: {a_name} does not take part"));
    }
    // Kept from a first value on: the first product, or the zero that a sum begins with.
    type Keep = fn(f64, f64) -> f64;
    for (keep, which) in [(f64::max as Keep, "largest"), (f64::min, "smallest")] {
        for first in [None, Some(0.0)] {
            let kept =
                |index: usize| first.into_iter().chain((0..k).map(|i| left(index, i) * top(index, i))).reduce(keep);
            if all(sample, kept) {
                return Some(format!(
                    "each is the {which} of its products: they are compared where they should be added up"
                ));
            }
        }
    }
    // Where all is zero, any small factor may have been cut.
    let cut_shows = sample.iter().any(|element| element.got != 0.0);
    for (of_a, of_b, which) in [(true, false, a_name), (false, true, b_name), (true, true, "both matrices")] {
        let cut = |value: f64, cut: bool| if cut { value.trunc() } else { value };
        if cut_shows && sums(&|index, i| cut(left(index, i), of_a) * cut(top(index, i), of_b)) {
            return Some(format!("this comes out when the elements of {which} are cut to whole numbers"));
        }
        let unsigned = |value: f64, lost: bool| if lost { value.abs() } else { value };
        if sums(&|index, i| unsigned(left(index, i), of_a) * unsigned(top(index, i), of_b)) {
            let which = if of_a && of_b { "products".to_owned() } else { format!("elements of {which}") };
            return Some(format!("the {which} lose their signs before they are added"));
        }
    }
    let total = |term: &dyn Fn(usize) -> f64| (0..k).map(term).sum::<f64>();
    if all(sample, |index| Some(total(&|i| left(index, i)) * total(&|i| top(index, i)))) {
        return Some("the elements are added first and the two sums multiplied; each product comes first".to_owned());
    }
    for tile in TILES.into_iter().filter(|tile| k % tile != 0) {
        let again = (k.next_multiple_of(tile) - k) as f64;
        let last = |index: usize| left(index, k - 1) * top(index, k - 1);
        if all(sample, |index| Some(total(&|i| left(index, i) * top(index, i)) + again * last(index))) {
            return Some(format!(
                "the last product is added again until the tile of {tile} is full: outside of the matrices belongs a zero"
            ));
        }
    }
    None
}
