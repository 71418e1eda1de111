//! Results that are right but for one thing done to all of them: a factor, a constant, a factor for each row.

use super::{CLOSE, Case, Element, Guess, all, is_every};

/// Factors that say what happened, and what to say.
const FACTORS: [(f64, &str, Option<&str>); 4] = [
    (2.0, "every result is twice as large as it should be: it was added twice", Some("doubled")),
    (0.5, "every result is half of what it should be", None),
    (
        32.0,
        "every result is exactly 32 times what it should be: as if all 32 lanes of a warp added what the warp has only once",
        None,
    ),
    (1.0 / 32.0, "every result is a 32nd of what it should be: as if one lane stood for all 32 of its warp", None),
];

/// Threads of a block, any of which may do what one of them should.
const BLOCKS: [f64; 5] = [64.0, 128.0, 256.0, 512.0, 1024.0];

/// A factor for all. One element is enough where it is all there is: no other mistake hits one of these by chance.
pub(super) fn factor(case: &Case<'_>, sample: &[Element]) -> Option<Guess> {
    let want = |index: usize| case.expected.values[index];
    let shows = |element: &Element| want(element.index).abs() > 100.0 * CLOSE * element.magnitude;
    let fits = |factor: f64| {
        let room = |element: &Element| CLOSE * element.magnitude * factor.max(1.0);
        sample.iter().any(shows)
            && sample.iter().all(|element| (element.got - factor * want(element.index)).abs() <= room(element))
    };
    // Of powers of two, such as scales, half are twice another by chance: of them nearly all have to be wrong, and there have to be
    // different ones among them.
    let is_power = |index: usize| want(index) != 0.0 && want(index).abs().log2().fract() == 0.0;
    let differ = sample.iter().any(|element| want(element.index) != want(sample[0].index));
    if sample.iter().all(|element| is_power(element.index)) && case.got.len() > 1 && !(is_every(case) && differ) {
        return None;
    }
    if let Some((_, words, key)) = FACTORS.into_iter().find(|(factor, ..)| fits(*factor)) {
        // It is said of every result, and some are right.
        return Some(match is_every(case) {
            true => Guess { words: words.to_owned(), key },
            false => Guess { words: words.replace("every result", "every wrong result"), key },
        });
    }
    let block = BLOCKS.into_iter().find(|block| fits(*block))?;
    let words = format!(
        "every result is exactly {block} times what it should be: as if all {block} threads of a block added what the block has only once"
    );
    Some(Guess { words, key: None })
}

/// The same number too much everywhere.
pub(super) fn constant(case: &Case<'_>, sample: &[Element]) -> Option<String> {
    let want = |index: usize| case.expected.values[index];
    let first = sample.first()?;
    let more = first.got - want(first.index);
    // What rounds to a constant is a constant: of products of tiles it is a whole number.
    let more = if (more - more.round()).abs() < 1e-3 { more.round() } else { more };
    let differs = sample.iter().any(|element| (want(element.index) - want(first.index)).abs() > 1e-3 * first.magnitude);
    if more == 0.0 || !is_every(case) || !differs || !all(sample, |index| Some(want(index) + more)) {
        return None;
    }
    let (sign, by) = if more > 0.0 { ("large", more) } else { ("small", -more) };
    Some(format!(
        "every result is too {sign} by the same number, {by}: as if something took part that belongs to no element, such as ones \
         where a tile is filled up beyond the matrix (zeros belong there)"
    ))
}

/// A factor for each row: what the row is divided by is wrong.
pub(super) fn by_rows(case: &Case<'_>) -> Option<String> {
    const LEAST_ROWS: usize = 2;
    let shape = &case.signature.outputs.first()?.shape;
    let [rows, columns] = shape[..] else { return None };
    if rows < LEAST_ROWS || columns < 4 || case.got.len() != rows * columns {
        return None;
    }
    let mut factors = Vec::new();
    for row in 0..rows {
        let range = row * columns..(row + 1) * columns;
        let (got, want) = (&case.got[range.clone()], &case.expected.values[range.clone()]);
        let largest = (0..columns).max_by(|a, b| want[*a].abs().total_cmp(&want[*b].abs()))?;
        if want[largest] == 0.0 || !got.iter().all(|value| value.is_finite()) {
            return None;
        }
        let factor = got[largest] / want[largest];
        let fits = |at: usize| {
            (got[at] - factor * want[at]).abs() <= 1e-4 * factor.abs() * case.expected.magnitude(range.start + at)
        };
        // A row of one number and zeros fits any factor.
        let shows = want.iter().filter(|value| value.abs() > 1e-3 * want[largest].abs()).count() > 2;
        if !shows || !(0..columns).all(fits) {
            return None;
        }
        factors.push(factor);
    }
    let wrong = factors.iter().filter(|factor| (**factor - 1.0).abs() > 1e-3).count();
    let alike = factors.iter().all(|factor| (factor - factors[0]).abs() <= 1e-3 * factors[0].abs());
    (wrong > 0 && !alike).then(|| {
        format!(
            "each row is right up to one factor ({} in the first row that is wrong): as if what its elements are divided by, a sum or \
             a maximum, were not that of the whole row",
            factors.iter().find(|factor| (**factor - 1.0).abs() > 1e-3).map_or(0.0, |factor| (factor * 1e4).round() / 1e4)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::super::{Signature, TensorShape};
    use super::super::tests::{numbers, words};

    const N: usize = 24;

    fn say(got: impl Fn(f64, usize) -> f64) -> String {
        let (a, b) = (numbers(N, 7), numbers(N, 8));
        let tensor = |name| TensorShape::new(name, &[4, N / 4]);
        let signature =
            Signature { inputs: vec![tensor("a"), tensor("b")], outputs: vec![tensor("c")], ..Signature::default() };
        let got: Vec<f64> = (0..N).map(|at| got(a[at] + b[at], at)).collect();
        words("matrix_add", &signature, &[a, b], &got).unwrap_or_default()
    }

    #[test]
    fn factors_and_constants_are_recognised() {
        assert!(say(|sum, _| 2.0 * sum).contains("twice"));
        assert!(say(|sum, _| 32.0 * sum).contains("exactly 32 times"));
        assert!(say(|sum, _| sum / 32.0).contains("a 32nd"));
        assert!(say(|sum, _| 256.0 * sum).contains("all 256 threads of a block"));
        assert!(say(|sum, _| sum + 15.0).contains("too large by the same number, 15"));
        assert!(say(|sum, _| sum - 0.25).contains("too small by the same number, 0.25"));
        assert!(say(|sum, at| sum * [1.0, 0.7, 3.0, 0.2][at / 6]).contains("each row is right up to one factor (0.7"));
        assert!(say(|sum, at| if at < 6 { sum } else { 2.0 * sum }).contains("every wrong result is twice"));
        let of_powers = |got: &dyn Fn(f64, usize) -> f64| {
            let sums: Vec<f64> = (0..N).map(|at| 2.0_f64.powi(at as i32 % 5)).collect();
            let tensor = |name| TensorShape::new(name, &[4, N / 4]);
            let signature = Signature {
                inputs: vec![tensor("a"), tensor("b")],
                outputs: vec![tensor("c")],
                ..Signature::default()
            };
            let got: Vec<f64> = (0..N).map(|at| got(sums[at], at)).collect();
            words("matrix_add", &signature, &[0.75, 0.25].map(|part| sums.iter().map(|sum| part * sum).collect()), &got)
                .unwrap_or_default()
        };
        let some = of_powers(&|value, at| if at % 3 == 0 { 2.0 * value } else { value });
        assert!(!some.contains("twice"), "a step of a scale, by chance: {some}");
        assert!(of_powers(&|value, _| 2.0 * value).contains("every result is twice"));
        assert_eq!(say(|sum, _| 0.9 * sum), "", "one factor for all that says nothing");
    }
}
