//! Wrong sums of one array: one number, so that only what nothing else gives is said.

use super::tree::lost;
use super::{CLOSE, Case, Guess};

/// Blocks that are no power of two and that people choose.
const BLOCKS: [usize; 12] = [24, 48, 96, 100, 192, 200, 320, 384, 500, 640, 768, 1000];

pub(super) fn guess(case: &Case<'_>) -> Option<Guess> {
    let ([x], [got]) = (case.inputs, case.got) else { return None };
    let is = |value: f64| (got - value).abs() <= CLOSE * case.expected.magnitude(0);
    let whole: f64 = x.iter().map(|value| value.trunc()).sum();
    let bits = f64::from((*got as f32).to_bits() as i32);
    if whole.abs() < f64::from(i32::MAX) && whole != 0.0 && bits == whole && *got != case.expected.values[0] {
        let words = format!(
            "the total is a whole number, {whole}, and its bits stand where a float belongs: each element is cut to an `int` and \
             added as one, through a pointer that was cast"
        );
        return Some(Guess { words, key: Some("whole_number") });
    }
    // Few elements are cut to few different sums.
    if x.len() >= 8 && is(whole) {
        let words = "the elements are cut to whole numbers before they are added".to_owned();
        return Some(Guess { words, key: Some("whole_number") });
    }
    let block = BLOCKS.into_iter().filter(|block| x.len() >= *block).find(|block| {
        let parts = lost(*block);
        is(x.iter().enumerate().map(|(at, value)| value * f64::from(parts[at % block])).sum())
    })?;
    Some(Guess {
        words: format!(
            "as if {block} parts were added by a tree that halves their number: it is for powers of two, and from a part that has no \
             partner on some are lost"
        ),
        key: None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::{Signature, TensorShape};
    use super::super::tests::{numbers, words};
    use super::super::tree::lost;

    fn say(n: usize, got: impl Fn(&[f64]) -> f64) -> String {
        let x = numbers(n, 9);
        let signature = Signature {
            inputs: vec![TensorShape::new("x", &[n])],
            outputs: vec![TensorShape::new("y", &[1])],
            ..Signature::default()
        };
        let got = got(&x);
        words("sum", &signature, &[x], &[got]).unwrap_or_default()
    }

    #[test]
    fn totals_of_whole_numbers_and_trees_are_recognised() {
        let bits = |x: &[f64]| x.iter().map(|value| value.trunc()).sum::<f64>() as i32;
        assert!(say(31, |x| f64::from(f32::from_bits(bits(x) as u32))).contains("the total is a whole number"));
        assert!(say(257, |x| x.iter().map(|value| value.trunc()).sum()).contains("cut to whole numbers"));
        let tree = |x: &[f64]| x.iter().enumerate().map(|(at, value)| value * f64::from(lost(100)[at % 100])).sum();
        assert!(say(1000, tree).contains("as if 100 parts were added by a tree"));
        assert!(say(257, |x| 32.0 * x.iter().sum::<f64>()).contains("exactly 32 times"));
        assert_eq!(say(257, |x| 0.9 * x.iter().sum::<f64>()), "");
    }
}
