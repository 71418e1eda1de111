//! Wrong products of matrices by tiles: sums that are added again and again, tiles that are put together from the wrong parts.

use super::matmul::{Sizes, TILES, part_of_the_sum};
use super::tree::lost;
use super::{Case, Element, Guess, all};

/// What numbers of threads that are no power of two come down to when they are halved.
const PARTS: [usize; 6] = [3, 5, 7, 9, 15, 25];

pub(super) fn guess(a: &[f64], b: &[f64], sample: &[Element], sizes: &Sizes, names: [&str; 2]) -> Option<String> {
    let Sizes { n, k, .. } = *sizes;
    // Zeros prove nothing: many tiles hold them beyond a matrix.
    if sample.iter().all(|element| element.got == 0.0) {
        return None;
    }
    let product = |index: usize, i: usize| a[index / n * k + i] * b[i * n + index % n];
    let weighted =
        |weight: &dyn Fn(usize) -> f64| all(sample, |index| Some((0..k).map(|i| weight(i) * product(index, i)).sum()));
    for tile in TILES.into_iter().filter(|tile| *tile < k) {
        let rounds = k.div_ceil(tile);
        if weighted(&|i| (rounds - i / tile) as f64) {
            return Some(format!(
                "the sum so far is added to the result after each tile of {tile}, so that the first products are in it {rounds} times: \
                 store it once, after the last tile"
            ));
        }
    }
    for parts in PARTS {
        let kept = lost(parts);
        if kept.iter().take(k).any(|times| *times != 1) && weighted(&|i| f64::from(kept[i % parts])) {
            let [few, more, many] = [4, 8, 16].map(|times| times * parts);
            return Some(format!(
                "as if {few}, {more} or {many} threads shared each sum and a tree that halves their number put it together: it is for \
                 powers of two, and loses what has no partner"
            ));
        }
    }
    stored(a, b, sample, sizes, names).or_else(|| quarters(a, b, sample, sizes, names))
}

/// A matrix as a kernel sees it: by row and column, zeros outside.
type Seen<'s> = &'s dyn Fn(usize, usize) -> f64;

fn product(sample: &[Element], sizes: &Sizes, whole: usize, a: Seen<'_>, b: Seen<'_>) -> bool {
    let places = sizes.k.next_multiple_of(whole);
    all(sample, |index| Some((0..places).map(|i| a(index / sizes.n, i) * b(i, index % sizes.n)).sum()))
}

fn inside(array: &[f64], rows: usize, columns: usize) -> impl Fn(usize, usize) -> f64 {
    move |row, column| if row < rows && column < columns { array[row * columns + column] } else { 0.0 }
}

/// Tiles of another shape than square, filled element by element: the element's number is taken apart by the wrong width.
fn stored(a: &[f64], b: &[f64], sample: &[Element], sizes: &Sizes, names: [&str; 2]) -> Option<String> {
    let (a, b) = (inside(a, sizes.m, sizes.k), inside(b, sizes.k, sizes.n));
    for (tile, depth) in [(64, 16), (64, 8), (32, 8), (32, 16), (128, 8), (128, 16), (64, 32)] {
        // Place [d][j] of B's tile holds the element of the number that was stored there by [e % depth][e / depth].
        let b_seen = |i: usize, column: usize| {
            let e = column % tile * depth + i % depth;
            b(i / depth * depth + e / tile, column / tile * tile + e % tile)
        };
        // And [j][d] of A's by [e % tile][e / tile].
        let a_seen = |row: usize, i: usize| {
            let e = i % depth * tile + row % tile;
            a(row / tile * tile + e / depth, i / depth * depth + e % depth)
        };
        for (name, fits) in [
            (names[1], product(sample, sizes, depth, &a, &b_seen)),
            (names[0], product(sample, sizes, depth, &a_seen, &b)),
        ] {
            if fits {
                return Some(format!(
                    "the parts of each tile of {name}, {tile} by {depth}, stand in the wrong places: as if the number e of an element were \
                     taken apart by the width of the other tile when it is stored, [e % {depth}][e / {depth}] where \
                     [e / {tile}][e % {tile}] belongs, or the other way round"
                ));
            }
        }
    }
    None
}

/// Halves and quarters of tiles that have changed places.
fn quarters(a: &[f64], b: &[f64], sample: &[Element], sizes: &Sizes, names: [&str; 2]) -> Option<String> {
    let (of_a, of_b) = ([sizes.m, sizes.k], [sizes.k, sizes.n]);
    let (a, b) = (inside(a, sizes.m, sizes.k), inside(b, sizes.k, sizes.n));
    for half in [4, 8, 16, 32] {
        let edge = 2 * half;
        let crossed = |row: usize, column: usize| {
            let (low, right) = (row / half % 2, column / half % 2);
            if low == right { (row, column) } else { (row ^ half, column ^ half) }
        };
        let at = |seen: Seen<'_>, (row, column): (usize, usize)| seen(row, column);
        // Where one half is right, nothing was exchanged: the other is a copy of it.
        let both = |half_of: &dyn Fn(usize) -> usize| {
            [0, 1].into_iter().all(|side| sample.iter().any(|element| half_of(element.index) / half % 2 == side))
        };
        let (upper_and_lower, left_and_right) = (both(&|index| index / sizes.n), both(&|index| index % sizes.n));
        // What is exchanged with nothing is gone, and something else lost it.
        let tall = |[rows, _]: [usize; 2]| rows > half;
        let wide = |[_, columns]: [usize; 2]| columns > half;
        let tries: [(&str, bool, &str); 6] = [
            (
                names[0],
                tall(of_a) && wide(of_a) && product(sample, sizes, edge, &|r, c| at(&a, crossed(r, c)), &b),
                "the upper right and the lower left quarter",
            ),
            (
                names[1],
                tall(of_b) && wide(of_b) && product(sample, sizes, edge, &a, &|r, c| at(&b, crossed(r, c))),
                "the upper right and the lower left quarter",
            ),
            (
                names[0],
                tall(of_a) && upper_and_lower && product(sample, sizes, edge, &|r, c| a(r ^ half, c), &b),
                "the upper and the lower half",
            ),
            (
                names[1],
                wide(of_b) && left_and_right && product(sample, sizes, edge, &a, &|r, c| b(r, c ^ half)),
                "the left and the right half",
            ),
            (
                names[0],
                wide(of_a) && product(sample, sizes, edge, &|r, c| a(r, c ^ half), &b),
                "the left and the right half",
            ),
            (
                names[1],
                tall(of_b) && product(sample, sizes, edge, &a, &|r, c| b(r ^ half, c)),
                "the upper and the lower half",
            ),
        ];
        if let Some((name, _, which)) = tries.into_iter().find(|(_, fits, _)| *fits) {
            return Some(format!("{which} of each {edge} x {edge} part of {name} are exchanged"));
        }
    }
    None
}

/// The same where the second matrix is given transposed, as products of tensor cores have it.
pub(super) fn of_transposed(case: &Case<'_>, sample: &[Element]) -> Option<Guess> {
    const MOST_WORK: usize = 1 << 22;
    let [a, b] = case.inputs else { return None };
    let [left, right] = &case.signature.inputs[..] else { return None };
    let (m, k, n) = (left.shape[0], left.shape[1], right.shape[0]);
    let zeros = sample.iter().all(|element| element.got == 0.0);
    if zeros || sample.len() * k * 32 > MOST_WORK {
        return None;
    }
    let columns: Vec<f64> = (0..k * n).map(|at| b[at % n * k + at / n]).collect();
    let (sizes, names) = (Sizes { m, n, k }, [left.name.as_str(), right.name.as_str()]);
    let part = (k >= 3).then(|| part_of_the_sum(a, &columns, sample, &sizes)).flatten();
    part.or_else(|| quarters(a, &columns, sample, &sizes, names)).map(Guess::from)
}

#[cfg(test)]
mod tests {
    use super::super::super::{Signature, TensorShape};
    use super::super::tests::{numbers, words};
    use super::super::tree::lost;

    fn say(
        [m, n, k]: [usize; 3],
        got: impl Fn(&dyn Fn(usize, usize) -> f64, &dyn Fn(usize, usize) -> f64, usize, usize) -> f64,
    ) -> String {
        let (a, b) = (numbers(m * k, 3), numbers(k * n, 4));
        let tensor = TensorShape::new;
        let signature = Signature {
            inputs: vec![tensor("A", &[m, k]), tensor("B", &[k, n])],
            outputs: vec![tensor("C", &[m, n])],
            ..Signature::default()
        };
        let (left, right) = (super::inside(&a, m, k), super::inside(&b, k, n));
        let got: Vec<f64> = (0..m * n).map(|at| got(&left, &right, at / n, at % n)).collect();
        words("matmul", &signature, &[a.clone(), b.clone()], &got).unwrap_or_default()
    }

    #[test]
    fn sums_that_are_added_again_and_trees_are_recognised() {
        let again = say([9, 11, 40], |a, b, r, c| (0..40).map(|i| (3 - i / 16) as f64 * a(r, i) * b(i, c)).sum());
        assert!(again.contains("after each tile of 16") && again.contains("3 times"), "{again}");
        let tree =
            say([9, 11, 70], |a, b, r, c| (0..70).map(|i| f64::from(lost(48)[i % 48]) * a(r, i) * b(i, c)).sum());
        assert!(tree.contains("48 threads shared each sum"), "{tree}");
    }

    #[test]
    fn tiles_put_together_wrongly_are_recognised() {
        let quarter = |row: usize, column: usize| {
            if row / 8 % 2 == column / 8 % 2 { (row, column) } else { (row ^ 8, column ^ 8) }
        };
        let crossed = say([16, 8, 16], |a, b, r, c| {
            (0..16)
                .map(|i| {
                    let (row, column) = quarter(r, i);
                    a(row, column) * b(i, c)
                })
                .sum()
        });
        assert!(crossed.contains("upper right and the lower left quarter of each 16 x 16 part of A"), "{crossed}");
        let halves = say([16, 32, 16], |a, b, r, c| (0..16).map(|i| a(r, i) * b(i, c ^ 16)).sum());
        assert!(
            halves.contains("left and the right half of each 32 x 32 part of B") || halves.contains("C[0][0] holds"),
            "{halves}"
        );
        let stored = say([64, 64, 32], |a, b, r, c| {
            (0..32)
                .map(|i| {
                    let e = c % 64 * 16 + i % 16;
                    a(r, i) * b(i / 16 * 16 + e / 64, e % 64)
                })
                .sum()
        });
        assert!(stored.contains("each tile of B, 64 by 16"), "{stored}");
    }

    #[test]
    fn tiles_brought_by_the_other_coordinate_are_recognised() {
        let both = say([9, 11, 40], |a, b, r, c| {
            (0..48).map(|i| a(r, i / 16 * 16 + r % 16) * b(i / 16 * 16 + c % 16, c)).sum()
        });
        assert!(both.contains("both tiles are brought by the other coordinate"), "{both}");
    }
}
