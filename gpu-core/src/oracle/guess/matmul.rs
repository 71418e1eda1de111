//! Wrong products of matrices: sums that are cut short, operands that are read in another order.

use super::{CLOSE, Case, Element, Guess, LEAST, all, factors, tiles};

/// Widths of tiles of which one product may be left out.
pub(super) const TILES: [usize; 4] = [4, 8, 16, 32];
/// Multiply-adds that trying all formulas may take, beyond which nothing is guessed: a moment's work.
const MOST_WORK: usize = 1 << 24;

pub(super) struct Sizes {
    pub m: usize,
    pub n: usize,
    pub k: usize,
}

pub(super) fn guess(case: &Case<'_>, sample: &[Element]) -> Option<Guess> {
    let [a, b] = case.inputs else { return None };
    let [left, right] = &case.signature.inputs[..] else { return None };
    let (m, k, n) = (left.shape[0], left.shape[1], right.shape[1]);
    if sample.len() * k * 32 > MOST_WORK {
        return None;
    }
    let sizes = Sizes { m, n, k };
    let names = [left.name.as_str(), right.name.as_str()];
    // Zeros are what many formulas give where factors are zero: of them only what can be said of zeros is asked.
    if sample.iter().filter(|element| element.got.abs() > CLOSE * element.magnitude).count() < LEAST {
        return factors::of_zeros(a, b, sample, &sizes).map(|words| Guess::from(words.to_owned()));
    }
    let part = || part_of_the_sum(a, b, sample, &sizes).map(|words| Guess { words, key: Some("cut_sums") });
    let other = || other_operands(a, b, sample, &sizes, names).map(Guess::from);
    let altered = || factors::guess(a, b, sample, &sizes, names).map(Guess::from);
    let turned = || turned_tiles(a, b, sample, &sizes, names).map(Guess::from);
    // One product or two: whether the first, the last or every second one is missing cannot be told apart.
    let narrow = || factors::narrow(case, a, b, sample, &sizes, names);
    if k < 3 {
        return other().or_else(altered).or_else(turned).or_else(narrow);
    }
    let stored = || tiles::guess(a, b, sample, &sizes, names).map(Guess::from);
    let first = whole_sum(case, sample, &sizes).map(Guess::from).or_else(part).or_else(other);
    first.or_else(altered).or_else(turned).or_else(stored).or_else(narrow)
}

/// Sums that were right until something was done to them.
fn whole_sum(case: &Case<'_>, sample: &[Element], sizes: &Sizes) -> Option<String> {
    let want = &case.expected.values;
    if sizes.k > 1 && all(sample, |index| Some(want[index] / sizes.k as f64)) {
        return Some(format!("every sum was divided by its {} products", sizes.k));
    }
    carried(want, sample, sizes)
}

/// Distances from one element of a thread to its next, along a row or down a column.
const STRIDES: [usize; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];

/// Sums that go on from one element to the next.
fn carried(want: &[f64], sample: &[Element], sizes: &Sizes) -> Option<String> {
    let Sizes { m, n, .. } = *sizes;
    let words = |from: String| format!("the sum goes on from one {from}: it must be set to zero for each of them");
    // Through the whole matrix, row by row or column by column.
    let by_rows: Vec<usize> = (0..m * n).collect();
    let by_columns: Vec<usize> = (0..m * n).map(|at| at % m * n + at / m).collect();
    for order in [by_rows, by_columns] {
        let (mut running, mut sum) = (vec![0.0; want.len()], 0.0);
        for index in order {
            sum += want[index];
            running[index] = sum;
        }
        if all(sample, |index| running.get(index).copied()) {
            return Some(words("element to the next".to_owned()));
        }
    }
    for stride in STRIDES {
        let apart = if stride == 1 { String::new() } else { format!(" of the thread, {stride} further") };
        let along = |index: usize| Some((0..=index % n / stride).map(|back| want[index - back * stride]).sum());
        if all(sample, along) {
            return Some(words(format!("element of a row to the next{apart}")));
        }
        let down = |index: usize| Some((0..=index / n / stride).map(|back| want[index - back * stride * n]).sum());
        if all(sample, down) {
            return Some(words(format!("element of a column to the next{apart}")));
        }
    }
    None
}

/// Some of the products are missing.
pub(super) fn part_of_the_sum(a: &[f64], b: &[f64], sample: &[Element], sizes: &Sizes) -> Option<String> {
    let Sizes { n, k, .. } = *sizes;
    let product = |index: usize, i: usize| a[index / n * k + i] * b[i * n + index % n];
    let products = |index: usize| (0..k).map(move |i| product(index, i));
    let first = sample.first()?;
    // Where the first element says that the sum was cut, the others must agree.
    let cuts = |sums: Vec<f64>| -> Vec<usize> {
        sums.iter().enumerate().filter(|(_, sum)| first.is(**sum)).map(|(count, _)| count).collect()
    };
    let running = |values: &mut dyn Iterator<Item = f64>| {
        let mut sums = vec![0.0];
        values.for_each(|value| sums.push(sums.last().copied().unwrap_or(0.0) + value));
        sums
    };
    for count in cuts(running(&mut products(first.index))) {
        if (1..k).contains(&count) && all(sample, |index| Some(products(index).take(count).sum())) {
            return Some(match k - count {
                missing if count == 1 && missing > 1 => format!("only the first of the {k} products is in each sum"),
                1 => "the last product of each sum is missing".to_owned(),
                missing => {
                    let rest = [2, 4, 8, 16, 32, 64].iter().any(|step| count % step == 0 && missing < *step);
                    let why =
                        if rest { ", as where a loop takes several at a time and nobody takes the rest" } else { "" };
                    format!(
                        "only the first {count} of the {k} products of each sum are in it; the last {missing} are missing{why}"
                    )
                }
            });
        }
    }
    for count in cuts(running(&mut products(first.index).collect::<Vec<_>>().into_iter().rev())) {
        if (1..k).contains(&count) && all(sample, |index| Some(products(index).skip(k - count).sum())) {
            return Some(match (count, k - count) {
                (1, _) => {
                    "each is the last product alone: `=` where `+=` is meant, or a sum that is set to zero again \
                           in the loop"
                        .to_owned()
                }
                (_, 1) => "the first product of each sum is missing".to_owned(),
                _ => format!(
                    "only the last {count} of the {k} products of each sum are in it: it was set to zero again on the \
                     way, or began too late"
                ),
            });
        }
    }
    let whole = |index: usize| products(index).sum::<f64>();
    for (again, which) in [(k - 1, "last"), (0, "first")] {
        if all(sample, |index| Some(whole(index) + product(index, again))) {
            return Some(format!("the {which} product of each sum is added twice"));
        }
    }
    for step in [2, 4, 8, 16, 32] {
        let own = |index: usize| products(index).skip(index % n % step).step_by(step).sum();
        if k > step && n > 1 && all(sample, |index| Some(own(index))) {
            return Some(format!(
                "only one in {step} products is in each sum, from the column's own number on: a sum is shared out among \
                 {step} threads, and their parts are not added up"
            ));
        }
    }
    for step in [2, 4, 8] {
        if k > step && all(sample, |index| Some(products(index).step_by(step).sum())) {
            return Some(format!(
                "only one in {step} products is in each sum: as if the loop along k went in steps of {step}, or a reduction over \
                 the lanes of a warp left out its last steps"
            ));
        }
    }
    for tile in TILES {
        for (left_out, which) in [(tile - 1, "last"), (0, "first")] {
            let kept = |i: usize| i % tile != left_out;
            if k > tile && all(sample, |index| Some((0..k).filter(|i| kept(*i)).map(|i| product(index, i)).sum())) {
                return Some(format!("the {which} product of every {tile} is missing in each sum"));
            }
        }
    }
    None
}

/// Operands from other places. What lies outside an array fits nothing.
fn other_operands(a: &[f64], b: &[f64], sample: &[Element], sizes: &Sizes, names: [&str; 2]) -> Option<String> {
    let Sizes { m, n, k } = *sizes;
    let [a_name, b_name] = names;
    // Places by row, column and position in the sum.
    type Place = fn(usize, usize, usize, &Sizes) -> usize;
    let right_a: Place = |row, _, i, s| row * s.k + i;
    let right_b: Place = |_, column, i, s| i * s.n + column;
    let sum = |index: usize, place_a: Place, place_b: Place| {
        let (row, column) = (index / n, index % n);
        (0..k).try_fold(0.0, |sum, i| {
            Some(sum + a.get(place_a(row, column, i, sizes))? * b.get(place_b(row, column, i, sizes))?)
        })
    };
    let wrong_b: [(Place, String); 8] = [
        (|_, column, i, s| column * s.k + i, format!("a column of {b_name} is read as if it were a row")),
        (|_, column, i, s| column * s.n + i, format!("a row of {b_name} is read where a column is needed")),
        (
            |_, column, i, s| i * s.k + column,
            format!("rows of {b_name} are taken to be {k} long (they have {n} elements)"),
        ),
        (
            |_, column, i, s| i * s.m + column,
            format!("rows of {b_name} are taken to be {m} long (they have {n} elements)"),
        ),
        (|row, _, i, s| i * s.n + row, format!("{b_name} is read in the column of the row's number")),
        (|_, column, i, _| i + column, format!("{b_name} is read at position + column, without the length of a row")),
        (|_, column, _, _| column, format!("{b_name} is read at the column alone, always in its row 0")),
        (|_, _, i, s| i * s.n, format!("{b_name} is read in its column 0 only")),
    ];
    let wrong_a: [(Place, String); 9] = [
        (|row, _, i, s| row * s.n + i, format!("rows of {a_name} are taken to be {n} long (they have {k} elements)")),
        (|row, _, i, s| row * s.m + i, format!("rows of {a_name} are taken to be {m} long (they have {k} elements)")),
        (|row, _, i, s| i * s.m + row, format!("{a_name} is read column by column, as if it were stored that way")),
        (|row, _, i, s| i * s.k + row, format!("a column of {a_name} is read where a row is needed")),
        (|_, column, i, s| column * s.k + i, format!("{a_name} is read in the row of the column's number")),
        (|row, _, i, _| row + i, format!("{a_name} is read at row + position, without the length of a row")),
        (|_, _, i, _| i, format!("{a_name} is read at the position alone, always in its row 0")),
        (|row, _, _, s| row * s.k, format!("{a_name} is read at the beginning of its row, the same factor each time")),
        (|row, _, _, _| row, format!("{a_name} is read at the row's number, the same factor each time")),
    ];
    for (place, words) in &wrong_b {
        if all(sample, |index| sum(index, right_a, *place)) {
            return Some(format!("this comes out when {words}"));
        }
    }
    for (place, words) in &wrong_a {
        if all(sample, |index| sum(index, *place, right_b)) {
            return Some(format!("this comes out when {words}"));
        }
    }
    for (place_a, words_a) in &wrong_a {
        for (place_b, words_b) in &wrong_b {
            if all(sample, |index| sum(index, *place_a, *place_b)) {
                return Some(format!("this comes out when {words_a}, and {words_b}"));
            }
        }
    }
    // One matrix in both places, each time with the index that belongs there.
    for (array, name, other) in [(a, a_name, b_name), (b, b_name, a_name)] {
        let twice = |index: usize| {
            let (row, column) = (index / n, index % n);
            (0..k).try_fold(0.0, |sum, i| Some(sum + array.get(row * k + i)? * array.get(i * n + column)?))
        };
        if all(sample, twice) {
            return Some(format!("both factors are taken from {name}: {other} does not take part"));
        }
    }
    let elementwise = |index: usize| Some(a.get(index)? * b.get(index)?);
    if all(sample, elementwise) {
        return Some("the matrices are multiplied element by element".to_owned());
    }
    None
}

/// Tiles whose elements were stored, or are read, in the other order, or brought by the other coordinate. Zeros lie
/// outside of the matrices.
fn turned_tiles(a: &[f64], b: &[f64], sample: &[Element], sizes: &Sizes, names: [&str; 2]) -> Option<String> {
    let Sizes { m, n, k } = *sizes;
    let [a_name, b_name] = names;
    // Where k is small, a turned tile holds little but zeros from outside: those prove nothing.
    if sample.iter().all(|element| element.got == 0.0) {
        return None;
    }
    let at = |array: &[f64], (row, column): (usize, usize), rows: usize, columns: usize| {
        if row < rows && column < columns { array[row * columns + column] } else { 0.0 }
    };
    type Place = fn(usize, usize, usize) -> (usize, usize);
    const RIGHT: Place = |row, column, _| (row, column);
    // Row and column of an element, and the edge of a tile.
    const TURNED: Place = |row, column, t| (row / t * t + column % t, column / t * t + row % t);
    let by_row: Place = |row, column, t| (row, column / t * t + row % t);
    let by_column: Place = |row, column, t| (row / t * t + column % t, column);
    let turned = |name: &str, t: usize| {
        format!(
            "each tile of {name}, {t} x {t}, is turned over: [x][y] where [y][x] is meant, when it is filled or read"
        )
    };
    for t in TILES.into_iter().filter(|t| *t < k) {
        // `start` is missing where a tile is brought.
        let first: Place = |row, column, t| (row % t, column);
        let first_of_a: Place = |row, column, t| (row, column % t);
        let sum = |index: usize, of_a: Place, of_b: Place| {
            let (row, column) = (index / n, index % n);
            let inside = |i: usize| i < k;
            let terms = (0..k.next_multiple_of(t)).map(|i| {
                let both = inside(i) || (of_a)(0, i, t).1 < k && (of_b)(i, 0, t).0 < k;
                if both { at(a, of_a(row, i, t), m, k) * at(b, of_b(i, column, t), k, n) } else { 0.0 }
            });
            Some(terms.sum())
        };
        for (of_a, of_b, name) in [(RIGHT, first, b_name), (first_of_a, RIGHT, a_name)] {
            if all(sample, |index| sum(index, of_a, of_b)) {
                return Some(format!(
                    "every round multiplies with the same tile of {name}: its index does not move along k"
                ));
            }
        }
    }
    for t in TILES {
        let sum = |index: usize, of_a: Place, of_b: Place| {
            let (row, column) = (index / n, index % n);
            // Whole tiles: beyond the matrices a turned tile may still hold something.
            let terms =
                (0..k.next_multiple_of(t)).map(|i| at(a, of_a(row, i, t), m, k) * at(b, of_b(i, column, t), k, n));
            Some(terms.sum())
        };
        for (of_a, of_b, words) in [
            (TURNED, RIGHT, turned(a_name, t)),
            (RIGHT, TURNED, turned(b_name, t)),
            (TURNED, TURNED, turned("both matrices", t)),
            (by_row, RIGHT, format!("the tile of {a_name} is brought by y along its columns, where x is needed")),
            (RIGHT, by_column, format!("the tile of {b_name} is brought by x down its rows, where y is needed")),
            (
                by_row,
                by_column,
                format!(
                    "both tiles are brought by the other coordinate: `start + y` along the columns of {a_name} and `start + x` down the \
                     rows of {b_name}, where x and y are needed"
                ),
            ),
        ] {
            if all(sample, |index| sum(index, of_a, of_b)) {
                return Some(words);
            }
        }
        let twice = |index: usize, of_b: bool| {
            let (row, column) = (index / n, index % n);
            let terms = (0..k.next_multiple_of(t)).map(|i| match of_b {
                true => at(b, (i / t * t + row % t, column / t * t + i % t), k, n) * at(b, (i, column), k, n),
                false => at(a, (row, i), m, k) * at(a, (row / t * t + i % t, i / t * t + column % t), m, k),
            });
            Some(terms.sum())
        };
        for (of_b, name, other) in [(true, b_name, a_name), (false, a_name, b_name)] {
            if all(sample, |index| twice(index, of_b)) {
                return Some(format!(
                    "both factors are read from the tile of {name}, {t} x {t}: the one of {other} does not take part"
                ));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::super::{Signature, TensorShape};
    use super::super::tests::{numbers, words};

    const M: usize = 5;
    const N: usize = 7;
    const K: usize = 20;

    fn say(got: impl Fn(&[f64], &[f64], usize, usize) -> f64) -> String {
        say_scaled(1.0, got)
    }

    fn say_scaled(scale: f64, got: impl Fn(&[f64], &[f64], usize, usize) -> f64) -> String {
        say_sized([M, N, K], scale, got)
    }

    fn say_sized([m, n, k]: [usize; 3], scale: f64, got: impl Fn(&[f64], &[f64], usize, usize) -> f64) -> String {
        let [a, b] =
            [numbers(m * k, 3), numbers(k * n, 4)].map(|all| all.iter().map(|x| x * scale).collect::<Vec<_>>());
        let got: Vec<f64> = (0..m * n).map(|index| got(&a, &b, index / n, index % n)).collect();
        let tensor = TensorShape::new;
        let inputs = vec![tensor("A", &[m, k]), tensor("B", &[k, n])];
        let signature = Signature { inputs, outputs: vec![tensor("C", &[m, n])], scalars: Vec::new() };
        words("matmul", &signature, &[a, b], &got).unwrap_or_default()
    }

    #[test]
    fn zeros_are_taken_for_no_turned_tile() {
        // With k = 3 a tile of 32 turned over would give zeros in columns 16 to 31 as well.
        let right = |a: &[f64], b: &[f64], r: usize, c: usize| sum(0..3, |i| a[r * 3 + i] * b[i * 40 + c]);
        let half = say_sized([5, 40, 3], 1.0, |a, b, r, c| if (16..32).contains(&c) { 0.0 } else { right(a, b, r, c) });
        assert_eq!(half, "all wrong ones are 0");
    }

    /// Where the first factors are zero, so is the first product: zeros are no sum that was cut behind it.
    #[test]
    fn zeros_are_taken_for_no_first_products() {
        let mut a = numbers(M * K, 3);
        (0..M).for_each(|row| a[row * K] = 0.0);
        let tensor = TensorShape::new;
        let inputs = vec![tensor("A", &[M, K]), tensor("B", &[K, N])];
        let signature = Signature { inputs, outputs: vec![tensor("C", &[M, N])], scalars: Vec::new() };
        let say = |got: &[f64]| words("matmul", &signature, &[a.clone(), numbers(K * N, 4)], got);
        assert_eq!(say(&[0.0; M * N]).as_deref(), Some("all wrong ones are 0"));
    }

    fn sum(terms: impl Iterator<Item = usize>, term: impl Fn(usize) -> f64) -> f64 {
        terms.map(term).sum()
    }

    #[test]
    fn sums_that_are_cut_are_recognised() {
        let part = |terms: fn(usize) -> bool| {
            say(|a, b, r, c| sum((0..K).filter(|i| terms(*i)), |i| a[r * K + i] * b[i * N + c]))
        };
        assert!(part(|i| i < K - 1).contains("last product of each sum is missing"));
        assert!(part(|i| i < 16).contains("first 16 of the 20") && part(|i| i < 16).contains("nobody takes the rest"));
        assert!(!part(|i| i < 13).contains("nobody takes the rest"));
        assert!(part(|i| i == K - 1).contains("`=` where `+=`"));
        assert!(part(|i| i >= 1).contains("first product of each sum"));
        assert!(part(|i| i >= 16).contains("last 4 of the 20"));
        assert!(part(|i| i % 16 != 15).contains("the last product of every 16"));
        assert!(part(|i| i % 4 == 0).contains("steps of 4"));
        assert_eq!(part(|i| i % 3 != 1), "");
        let shared_out = say(|a, b, r, c| sum((c % 4..K).step_by(4), |i| a[r * K + i] * b[i * N + c]));
        assert!(shared_out.contains("shared out among 4 threads"), "{shared_out}");
        let last_twice = say(|a, b, r, c| sum((0..K).chain([K - 1]), |i| a[r * K + i] * b[i * N + c]));
        assert!(last_twice.contains("last product of each sum is added twice"), "{last_twice}");
    }

    #[test]
    fn operands_from_elsewhere_are_recognised() {
        /// Of both operands, at a row, a column and a place along the sum.
        type Term<'t> = &'t dyn Fn(&[f64], &[f64], usize, usize, usize) -> f64;
        let all = |term: Term<'_>| say(|a, b, r, c| sum(0..K, |i| term(a, b, r, c, i)));
        assert!(all(&|a, b, r, c, i| a[r * K + i] * b[c * K + i]).contains("column of B is read as if it were a row"));
        assert!(all(&|a, b, r, c, i| a[r * N + i] * b[i * N + c]).contains("rows of A are taken to be 7 long"));
        assert!(all(&|a, b, r, c, i| a[i * M + r] * b[i * N + c]).contains("A is read column by column"));
        assert!(all(&|a, b, r, c, i| a[i * M + r] * b[c * K + i]).contains(", and a column of B"));
        assert!(all(&|a, b, r, c, i| a[r * K + i] + b[i * N + c]).contains("added where"));
        assert!(all(&|_, b, r, c, i| b[r * K + i] * b[i * N + c]).contains("both factors are taken from B"));
        assert!(all(&|a, b, r, c, i| 0.05 * a[r * K + i] * b[i * N + c]).contains("divided by its 20"));
        let swapped = all(&|a, b, r, c, i| a[(r + 1) % M * K + i] * b[i * N + c]);
        assert!(swapped.contains("C[0][0] holds what belongs to C[1][0]"), "{swapped}");
    }

    #[test]
    fn altered_factors_and_sums_are_recognised() {
        let all = |term: &dyn Fn(f64, f64) -> f64| say(|a, b, r, c| sum(0..K, |i| term(a[r * K + i], b[i * N + c])));
        assert!(all(&|x, y| (x * y).abs()).contains("products lose their signs"));
        assert!(all(&|x, y| x * y.abs()).contains("elements of B lose their signs"));
        assert!(all(&|x, _| x * x).contains("elements of A are multiplied with themselves: B does not"));
        assert!(all(&|_, y| y * y).contains("elements of B are multiplied with themselves: A does not"));
        let kept = |first: f64, keep: fn(f64, f64) -> f64| {
            say(|a, b, r, c| (0..K).map(|i| a[r * K + i] * b[i * N + c]).fold(first, keep))
        };
        for first in [0.0, f64::NEG_INFINITY] {
            assert!(kept(first, f64::max).contains("the largest of its products"));
        }
        assert!(kept(0.0, f64::min).contains("the smallest of its products"));
        let sums = say(|a, b, r, c| sum(0..K, |i| a[r * K + i]) * sum(0..K, |i| b[i * N + c]));
        assert!(sums.contains("added first"), "{sums}");
        let again = say(|a, b, r, c| sum(0..32, |i| a[r * K + i.min(K - 1)] * b[i.min(K - 1) * N + c]));
        assert!(again.contains("the tile of 16 is full"), "{again}");
        assert!(!all(&|_, _| 0.0).contains("cut to whole"), "zeros prove no cut");
        let short = |bits: u32| {
            let cut = move |x: f64| {
                let unit = 2.0_f64.powi(x.abs().log2().floor() as i32 - bits as i32);
                (x / unit).round_ties_even() * unit
            };
            say(|a, b, r, c| sum(0..K, |i| cut(a[r * K + i]) * cut(b[i * N + c])))
        };
        assert!(short(10).contains("both matrices had 11 bits (f16 or tf32)"), "{}", short(10));
        assert!(short(7).contains("8 bits (bf16)"), "{}", short(7));
        let small = say_scaled(0.01, |a, b, r, c| sum(0..K, |i| (a[r * K + i] * b[i * N + c]).trunc()));
        assert!(small.contains("nothing is added to the sums, or each product is cut to whole numbers"), "{small}");
    }

    #[test]
    fn turned_tiles_and_cut_factors_are_recognised() {
        let inside = |array: &[f64], row: usize, column: usize, rows: usize, columns: usize| {
            if row < rows && column < columns { array[row * columns + column] } else { 0.0 }
        };
        // Tiles of 4 x 4, in a product of 5 x 20 and 20 x 7.
        let a_turned =
            say(|a, b, r, c| sum(0..K, |i| inside(a, r / 4 * 4 + i % 4, i / 4 * 4 + r % 4, M, K) * b[i * N + c]));
        assert!(a_turned.contains("each tile of A, 4 x 4, is turned over"), "{a_turned}");
        let b_brought = say(|a, b, r, c| sum(0..K, |i| a[r * K + i] * inside(b, i / 4 * 4 + c % 4, c, K, N)));
        assert!(b_brought.contains("tile of B is brought by x"), "{b_brought}");
        let same = say(|a, b, r, c| sum(0..K, |i| a[r * K + i] * b[i % 16 * N + c]));
        assert!(same.contains("same tile of B"), "{same}");
        let b_twice =
            say(|_, b, r, c| sum(0..K, |i| inside(b, i / 4 * 4 + r % 4, c / 4 * 4 + i % 4, K, N) * b[i * N + c]));
        assert!(b_twice.contains("read from the tile of B, 4 x 4"), "{b_twice}");
        let a_twice =
            say(|a, _, r, c| sum(0..K, |i| a[r * K + i] * inside(a, r / 4 * 4 + i % 4, i / 4 * 4 + c % 4, M, K)));
        assert!(a_twice.contains("read from the tile of A, 4 x 4"), "{a_twice}");
        let cut = say(|a, b, r, c| sum(0..K, |i| a[r * K + i].trunc() * b[i * N + c]));
        assert!(cut.contains("elements of A are cut"), "{cut}");
    }

    #[test]
    fn a_sum_that_is_never_set_to_zero_is_recognised() {
        let from = |first: fn(usize, usize) -> usize| {
            say(|a, b, r, c| {
                let index = r * N + c;
                (first(r, c)..=index).map(|e| sum(0..K, |i| a[e / N * K + i] * b[i * N + e % N])).sum()
            })
        };
        assert!(from(|_, _| 0).contains("from one element to the next"));
        assert!(from(|r, _| r * N).contains("of a row to the next"));
        // Of the elements before it that a thread made as well.
        let of = |earlier: fn(usize, usize, usize, usize) -> bool| {
            say(|a, b, r, c| {
                let before = (0..M * N).filter(|e| earlier(e / N, e % N, r, c));
                before.map(|e| sum(0..K, |i| a[e / N * K + i] * b[i * N + e % N])).sum()
            })
        };
        assert!(of(|r, c, row, column| c == column && r <= row).contains("of a column to the next:"));
        assert!(of(|r, c, row, column| (c, r) <= (column, row)).contains("from one element to the next"));
        let two = of(|r, c, row, column| r == row && c <= column && (column - c).is_multiple_of(2));
        assert!(two.contains("of a row to the next of the thread, 2 further"), "{two}");
        let four = of(|r, c, row, column| c == column && r <= row && (row - r).is_multiple_of(4));
        assert!(four.contains("of a column to the next of the thread, 4 further"), "{four}");
    }
}
