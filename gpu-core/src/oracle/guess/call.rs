//! Wrong calls of a library that counts by columns: which argument is not what it should be.

use super::{Case, Element};

/// What a call says: three sizes, which matrix comes first, and three leading dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Call {
    m: usize,
    n: usize,
    k: usize,
    /// Our a first, then our b; right is the other way.
    a_first: bool,
    /// Leading dimensions of our a, our b and c.
    lda: usize,
    ldb: usize,
    ldc: usize,
}

/// Sizes of the row-major product.
struct Sizes {
    rows: usize,
    inner: usize,
    columns: usize,
}

pub(super) fn guess(case: &Case<'_>, sample: &[Element]) -> Option<String> {
    let [a, b] = case.inputs else { return None };
    let [left, right] = &case.signature.inputs[..] else { return None };
    let sizes = Sizes { rows: left.shape[0], inner: left.shape[1], columns: right.shape[1] };
    let [rows, inner, columns] = [sizes.rows, sizes.inner, sizes.columns];
    // Of equal sizes nobody can say which was meant, and of neighbours it may be the one, less one.
    if [(rows, inner), (inner, columns), (rows, columns)].iter().any(|(one, other)| one.abs_diff(*other) < 2) {
        return None;
    }
    let right = Call { m: columns, n: rows, k: inner, a_first: false, lda: inner, ldb: columns, ldc: columns };
    let of = [rows, inner, columns];
    let mut best: Option<(usize, Call)> = None;
    for index in 0..2 * 3_usize.pow(6) {
        let digit = |place: u32| of[index / 3_usize.pow(place) % 3];
        let a_first = index / 3_usize.pow(6) == 1;
        let call = Call { m: digit(0), n: digit(1), k: digit(2), a_first, lda: digit(3), ldb: digit(4), ldc: digit(5) };
        let wrong = differences(&call, &right, &sizes).len();
        if wrong == 0 || best.is_some_and(|(least, _)| least <= wrong) {
            continue;
        }
        if sample.iter().all(|element| element_of(&call, a, b, element.index).is_some_and(|value| element.is(value))) {
            best = Some((wrong, call));
        }
    }
    let (_, call) = best?;
    Some(format!("this is what comes out when {}", differences(&call, &right, &sizes).join(", and ")))
}

/// What the call leaves at a place of c's memory; None where it writes nothing or reads outside.
fn element_of(call: &Call, a: &[f64], b: &[f64], at: usize) -> Option<f64> {
    let (column, row) = (at / call.ldc, at % call.ldc);
    // With a leading dimension that is too short a later column overwrites the end of the one before it.
    let (column, row) = if row < call.m { (column, row) } else { return None };
    let column = column.min(call.n.checked_sub(1)?);
    let row = if column == at / call.ldc { row } else { at - column * call.ldc };
    if row >= call.m {
        return None;
    }
    let ((first, first_ld), (second, second_ld)) =
        if call.a_first { ((a, call.lda), (b, call.ldb)) } else { ((b, call.ldb), (a, call.lda)) };
    (0..call.k).try_fold(0.0, |sum, p| Some(sum + first.get(row + p * first_ld)? * second.get(p + column * second_ld)?))
}

/// In words, what is not as it should be.
fn differences(call: &Call, right: &Call, sizes: &Sizes) -> Vec<String> {
    let name = |size: usize| match size {
        _ if size == sizes.rows => "rows",
        _ if size == sizes.inner => "inner",
        _ => "columns",
    };
    let mut words = Vec::new();
    if call.a_first {
        words.push("a is the library's first matrix, where b must be".to_owned());
    }
    if (call.m, call.n) == (right.n, right.m) {
        words.push(
            "m and n are the rows and columns of our c, and not of the library's, which is its transpose".to_owned(),
        );
    } else {
        for (letter, got, want) in [("m", call.m, right.m), ("n", call.n, right.n)] {
            if got != want {
                words.push(format!("{letter} is `{}`, where it must be `{}`", name(got), name(want)));
            }
        }
    }
    if call.k != right.k {
        words.push(format!("k, the length of the sums, is `{}`", name(call.k)));
    }
    for (matrix, got, want) in [("a", call.lda, right.lda), ("b", call.ldb, right.ldb), ("c", call.ldc, right.ldc)] {
        if got != want {
            words.push(format!(
                "the leading dimension of {matrix} is `{}`, and one of our rows of {matrix} is `{}` long",
                name(got),
                name(want)
            ));
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::super::super::{Signature, TensorShape};
    use super::super::tests::{numbers, words};

    const ROWS: usize = 9;
    const INNER: usize = 5;
    const COLUMNS: usize = 2;

    /// Leaves what a call does to memory; what it does not write stays as it belongs, and is not wrong.
    fn say(m: usize, n: usize, k: usize, first: (char, usize), second: (char, usize), ldc: usize) -> String {
        let (a, b) = (numbers(ROWS * INNER, 5), numbers(INNER * COLUMNS, 6));
        let tensor = TensorShape::new;
        let inputs = vec![tensor("a", &[ROWS, INNER]), tensor("b", &[INNER, COLUMNS])];
        let signature = Signature { inputs, outputs: vec![tensor("c", &[ROWS, COLUMNS])], scalars: Vec::new() };
        let both = [a.clone(), b.clone()];
        let oracle = super::super::super::find("matmul_call").expect("an oracle");
        let mut got = oracle.compute(&signature, &both).expect("computes")[0].values.clone();
        let of = |(name, ld): (char, usize)| (if name == 'a' { a.clone() } else { b.clone() }, ld);
        let ((x, ldx), (y, ldy)) = (of(first), of(second));
        for column in 0..n {
            for row in 0..m {
                let at = |array: &[f64], index: usize| array.get(index).copied().unwrap_or(7.0);
                let sum = (0..k).map(|p| at(&x, row + p * ldx) * at(&y, p + column * ldy)).sum();
                if let Some(place) = got.get_mut(row + column * ldc) {
                    *place = sum;
                }
            }
        }
        words("matmul_call", &signature, &both, &got).unwrap_or_default()
    }

    #[test]
    fn the_wrong_argument_is_named() {
        let (r, i, c) = (ROWS, INNER, COLUMNS);
        assert_eq!(say(c, r, i, ('b', c), ('a', i), c), "", "the right call");
        let exchanged = say(r, c, i, ('a', r), ('b', i), r);
        assert!(exchanged.contains("a is the library's first matrix"), "{exchanged}");
        let short = say(c, r, 2, ('b', c), ('a', i), c);
        assert!(short.contains("length of the sums, is `columns`"), "{short}");
        let natural = say(r, c, i, ('b', c), ('a', i), c);
        assert!(natural.is_empty() || natural.contains("m and n"), "{natural}");
    }
}
