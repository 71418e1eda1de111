//! Outputs against the oracle: which elements are wrong, and what the pattern of the wrong ones says.

use super::bits;
use super::draws::{self, Drawn};
use super::metric::{self, Allowed};
use super::tensors::{self, Output, Unwritten};
use crate::device::Argument;
use crate::oracle::Expected;
use crate::oracle::guess::Guess;
use crate::spec::{Metric, OutputRule, Resolved, Spec};
use crate::verdict::{Mismatch, OutputReport};

/// Rows of the first-mismatch table.
pub(super) const TABLE_ROWS: usize = 10;
/// Elements looked at to recognise a pattern.
pub(super) const PATTERN_SAMPLE: usize = 1 << 16;
/// A wrong result this close to the right one is a matter of rounding, not of indices.
const NEARLY_RIGHT: f64 = 1e-2;
/// The same of one element: sums that cancel to next to nothing are off by more of what is left.
const NEAR_ITSELF: f64 = 0.1;

/// What the comparison of all outputs found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// In index order, at most ten.
    pub mismatches: Vec<Mismatch>,
    pub mismatch_count: u64,
    pub element_count: u64,
    /// In units of the tolerance.
    pub worst_error_ratio: f64,
    /// What was measured of each output.
    pub outputs: Vec<OutputReport>,
    /// Hint keys that the pattern of wrong elements suggests, most telling first.
    pub patterns: Vec<&'static str>,
    /// Where all wrong elements of a matrix lie, when that is only a part of it: `rows 64 to 69`.
    pub region: Option<String>,
    /// The corner of the first output that alone is right, in rows and columns; a vector is one row.
    pub right_corner: Option<[usize; 2]>,
    /// Wrong elements that nobody wrote.
    pub never_written: u64,
    /// Who wrote the first wrong element, or what is nearest to it.
    pub clue: Option<String>,
    /// Elements of the first output that were written and are wrong; ascending, and only so many.
    pub wrong: Vec<usize>,
    /// What does not hold of the outputs although each of their elements would do.
    pub violated: Option<String>,
    /// In which rhythm elements were left out.
    pub gaps: Option<String>,
    /// Where a short index would go round, and all is wrong from there on.
    pub narrow: Option<&'static str>,
    /// A mistake that would give just these numbers.
    pub guess: Option<Guess>,
}

impl Comparison {
    /// A mistake that gives just these numbers is no matter of rounding, unless it is one itself.
    pub(super) fn drop_precision(&mut self) {
        if self.guess.as_ref().is_some_and(|guess| guess.key != Some("precision")) {
            self.patterns.retain(|pattern| *pattern != "precision");
        }
    }
}

/// Compares every output of a case. `expected` is in the order of the outputs; `drawn` has what many runs gave, where
/// an output is judged by them; `unwritten` what the device knows of elements that nobody wrote.
pub fn compare(
    case: &Resolved,
    arguments: &[Argument],
    expected: &[Expected],
    spec: &Spec,
    drawn: Option<&[Drawn]>,
    unwritten: Unwritten<'_>,
) -> Comparison {
    let mut result = Comparison::default();
    let outputs = tensors::outputs_of(case, arguments, unwritten);
    for (number, (output, expected)) in outputs.iter().zip(expected).enumerate() {
        let rule = spec.rule(output.name);
        let drawn = drawn.and_then(|drawn| drawn.get(number));
        let (indices, wrong) = match (&output.view, &expected.stored) {
            (Some((view, stored)), Some(want)) if view.layout.is_exact => {
                let parts = tensors::written_parts(case, view, arguments);
                let exact = bits::Exact { output, view, got: stored, want, expected, parts: &parts, unwritten };
                bits::compare(&exact, &rule, &mut result)
            }
            _ => {
                if let Some((view, _)) = &output.view {
                    bits::note_unwritten(&tensors::written_parts(case, view, arguments), unwritten, &mut result);
                }
                compare_values(output, expected, &rule, drawn, &mut result)
            }
        };
        if number == 0 {
            result.wrong = indices;
            result.right_corner = wrong.right_corner(&output.shape, output.elements());
        }
    }
    if result.never_written > 0 && result.never_written == result.element_count {
        result.patterns.insert(0, "nothing_written");
    }
    result
}

fn compare_values(
    output: &Output<'_>,
    expected: &Expected,
    rule: &OutputRule,
    drawn: Option<&Drawn>,
    result: &mut Comparison,
) -> (Vec<usize>, Wrong) {
    let mut wrong_written = Vec::new();
    let (allowed, measured) = metric::judge(output, expected, rule);
    let mut wrong = Wrong::default();
    let columns = output.shape.last().map_or(1, |columns| (*columns).max(1) as usize);
    let has_gaps = output.has_gaps();
    // Of this output alone, in units of what is allowed.
    let mut worst = 0.0_f64;
    for (index, (&got, want)) in output.values.iter().zip(&expected.values).enumerate() {
        let ratio = allowed.ratio(got, *want, expected.magnitude(index));
        // Right, and no expected NaN that the poison could pass for.
        if ratio <= 1.0 && !want.is_nan() && !(has_gaps && output.is_unwritten(index)) {
            worst = worst.max(ratio);
            continue;
        }
        let never_written = output.is_unwritten(index);
        if !never_written {
            worst = worst.max(ratio);
            if ratio <= 1.0 {
                continue;
            }
            if wrong_written.len() < PATTERN_SAMPLE {
                wrong_written.push(index);
            }
        }
        wrong.note(index, columns, got, *want, never_written);
        if result.mismatches.len() < TABLE_ROWS {
            result.mismatches.push(Mismatch {
                buffer: output.name.to_owned(),
                index: output.index_of(index as u64),
                expected: *want,
                got,
                never_written,
                undefined: false,
                writer: None,
                code: output.view.as_ref().map(|(view, stored)| bits::code(view, stored, expected, index)),
            });
        }
    }
    let statistic = drawn.map(|drawn| drawn.deviation(expected));
    let of_metric = match (&rule.metric, measured.or(statistic)) {
        (Metric::Ulp { limit }, _) => worst * limit,
        (Metric::Statistical { .. }, None) => 0.0,
        (_, Some(measured)) => measured,
        _ => worst,
    };
    let report = metric::report(rule, of_metric, wrong.count);
    if measured.or(statistic).is_some() {
        worst = worst.max(metric::share_of_allowed(&rule.metric, of_metric));
    }
    if wrong.count == 0 && !report.passed {
        let cause = drawn.map_or("", |drawn| drawn.cause(expected));
        result.violated.get_or_insert(draws::sentence(&report, cause));
    }
    result.outputs.push(report);
    result.worst_error_ratio = result.worst_error_ratio.max(worst);
    result.element_count += output.elements() as u64;
    result.mismatch_count += wrong.count;
    result.never_written += wrong.never_written;
    if wrong.count > 0 {
        if result.mismatch_count == wrong.count {
            result.region = wrong.region(&output.shape);
        }
        for pattern in wrong.patterns(output, expected, &allowed) {
            if !result.patterns.contains(&pattern) {
                result.patterns.push(pattern);
            }
        }
    }
    (wrong_written, wrong)
}

/// Statistics of one buffer's wrong elements.
#[derive(Default)]
pub(super) struct Wrong {
    pub count: u64,
    pub never_written: u64,
    nan: u64,
    /// Squares of the errors and of the expected values. Beside the magnitude every wrong sum of many terms is small,
    /// for they cancel; beside what comes out of them only a rounding error is.
    error_squares: f64,
    want_squares: f64,
    /// Elements that are nearly what they should be, each beside its own value.
    near: u64,
    /// Least and largest of what they are beside what they should be.
    share: Option<(f64, f64)>,
    first: usize,
    last: usize,
    /// Least and largest column, of a matrix.
    columns: (usize, usize),
    /// The first wrong column of row 0, and the first row that is wrong in column 0.
    corner: (Option<usize>, Option<usize>),
    /// Some wrong element lies above and to the left of those two.
    is_corner_broken: bool,
}

impl Wrong {
    pub fn note(&mut self, index: usize, columns: usize, got: f64, want: f64, never_written: bool) {
        let column = index % columns;
        if self.count == 0 {
            self.first = index;
            self.columns = (column, column);
        }
        self.columns = (self.columns.0.min(column), self.columns.1.max(column));
        self.last = index;
        let row = index / columns;
        if row == 0 {
            self.corner.0.get_or_insert(column);
        }
        if column == 0 {
            self.corner.1.get_or_insert(row);
        }
        let inside = |at: usize, end: Option<usize>| end.is_none_or(|end| at < end);
        self.is_corner_broken |= inside(column, self.corner.0) && inside(row, self.corner.1);
        self.count += 1;
        self.never_written += u64::from(never_written);
        self.nan += u64::from(!never_written && got.is_nan() && !want.is_nan());
        self.error_squares += if never_written { f64::INFINITY } else { (got - want).powi(2) };
        self.want_squares += want * want;
        self.near += u64::from(!never_written && (got - want).abs() <= NEAR_ITSELF * want.abs());
        if !never_written && want != 0.0 && got.is_finite() {
            let share = got / want;
            let (least, most) = self.share.unwrap_or((share, share));
            self.share = Some((least.min(share), most.max(share)));
        }
    }

    /// Rows and columns from the first element on that are right, if all others are wrong.
    fn right_corner(&self, shape: &[u64], elements: usize) -> Option<[usize; 2]> {
        let columns = shape.last().map_or(1, |columns| (*columns).max(1) as usize);
        let rows = elements / columns;
        let right = [self.corner.1.unwrap_or(rows), self.corner.0.unwrap_or(columns)];
        let area = right[0] * right[1];
        let is_all = self.count as usize == rows * columns - area;
        (self.count > 0 && area > 0 && is_all && !self.is_corner_broken).then_some(right)
    }

    /// Wrong elements at an edge, or in one tile, tell of a bound or of a tile's index.
    pub fn region(&self, shape: &[u64]) -> Option<String> {
        let [rows, columns] = shape[..] else { return None };
        let (rows, columns) = (rows as usize, columns as usize);
        let span = |what: &str, first: usize, last: usize, all: usize| {
            let is_part = first > 0 || last + 1 < all;
            is_part
                .then(|| if first == last { format!("{what} {first}") } else { format!("{what}s {first} to {last}") })
        };
        let parts = [
            span("row", self.first / columns.max(1), self.last / columns.max(1), rows),
            span("column", self.columns.0, self.columns.1, columns),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (self.count > 1 && !parts.is_empty()).then(|| parts.join(", "))
    }

    fn patterns(&self, output: &Output<'_>, expected: &Expected, allowed: &Allowed) -> Vec<&'static str> {
        let elements = output.elements();
        let mut patterns = Vec::new();
        if self.never_written == self.count {
            let is_tail = self.first > 0 && self.last + 1 == elements && self.count as usize == elements - self.first;
            if is_tail {
                patterns.push("tail_missing");
            }
            patterns.push("never_written");
            return patterns;
        }
        if self.nan > 0 {
            patterns.push("nan_output");
        }
        // A few large values that are nearly right hide many small ones that are not.
        let is_near =
            self.error_squares.sqrt() <= NEARLY_RIGHT * self.want_squares.sqrt() && 4 * self.near >= 3 * self.count;
        // Roundings differ from element to element; one factor for all is none.
        const LEAST_ALIKE: u64 = 8;
        let is_factor = self.count >= LEAST_ALIKE
            && self.share.is_some_and(|(least, most)| most - least <= 0.1 * (1.0 - f64::midpoint(least, most)).abs());
        if is_near && !is_factor && !output.is_whole() {
            patterns.push("precision");
        }
        let agrees =
            |at: usize, of: usize| allowed.ratio(output.values[at], expected.values[of], expected.magnitude(of)) <= 1.0;
        if let [rows, columns] = output.shape[..]
            && rows > 1
            && columns > 1
        {
            let (rows, columns) = (rows as usize, columns as usize);
            // Element (i, j) found where a column-major reader would look for it.
            if (0..elements.min(PATTERN_SAMPLE)).all(|of| agrees((of % columns) * rows + of / columns, of)) {
                patterns.push("transposed_output");
            }
        }
        let sample = elements.min(PATTERN_SAMPLE);
        // Three counters are in each other's place soon.
        if sample > 3 && ((1..sample).all(|at| agrees(at, at - 1)) || (1..sample).all(|at| agrees(at - 1, at))) {
            patterns.push("shifted_output");
        }
        if self.never_written > 0 {
            patterns.push("never_written");
        }
        patterns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Buffer;
    use crate::judge::tests_support::empty_spec;
    use crate::spec::{Dtype, Expr, Param, Role, Size, Tolerance};

    fn run(shape: &[i64], dtype: Dtype, want: &[f64], got: &[f64], relative: f64) -> Comparison {
        let mut spec = empty_spec("k");
        let extents = shape.iter().map(|extent| Expr(extent.to_string())).collect();
        spec.params.push(Param::Buffer {
            name: "y".to_owned(),
            dtype,
            shape: extents,
            role: Role::Out,
            fill: None,
            max_bytes: None,
        });
        let case = spec.resolve(&Size::new()).expect("resolves");
        let mut bytes = dtype.poison().repeat(got.len());
        for (out, value) in bytes.chunks_exact_mut(dtype.bytes()).zip(got) {
            // Infinity stands for an element that is left alone.
            if value.is_finite() || value.is_nan() {
                dtype.encode(*value, out);
            }
        }
        let arguments = [Argument::Buffer(Buffer { name: "y".to_owned(), dtype, role: Role::Out, bytes })];
        let expected = [Expected::plain(want.to_vec())];
        spec.tolerance = Tolerance { absolute: 0.0, relative, reason: String::new() };
        compare(&case, &arguments, &expected, &spec, None, None)
    }

    const WANT: [f64; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    const LEFT: f64 = f64::INFINITY;

    #[test]
    fn equal_outputs_have_no_mismatch() {
        let result = run(&[6], Dtype::F32, &WANT, &WANT, 0.0);
        assert_eq!((result.mismatch_count, result.worst_error_ratio, result.element_count), (0, 0.0, 6));
    }

    #[test]
    fn tolerance_is_a_limit_in_both_directions() {
        assert_eq!(run(&[1], Dtype::F64, &[100.0], &[100.9], 0.01).mismatch_count, 0);
        let over = run(&[1], Dtype::F64, &[100.0], &[100.2], 0.001);
        assert_eq!(over.mismatch_count, 1);
        assert!((over.worst_error_ratio - 2.0).abs() < 1e-9);
        assert_eq!(over.patterns, ["precision"]);
        assert_eq!(run(&[1], Dtype::I32, &[100.0], &[101.0], 0.001).mismatch_count, 1, "whole numbers are exact");
    }

    #[test]
    fn patterns_are_recognised() {
        let cases: [(&[i64], [f64; 6], &[&str]); 6] = [
            (&[6], [1.0, 2.0, 3.0, 4.0, LEFT, LEFT], &["tail_missing", "never_written"]),
            (&[6], [LEFT; 6], &["nothing_written", "never_written"]),
            (&[6], [1.0, f64::NAN, 3.0, 4.0, 5.0, 6.0], &["nan_output"]),
            (&[2, 3], [1.0, 4.0, 2.0, 5.0, 3.0, 6.0], &["transposed_output"]),
            (&[6], [9.0, 1.0, 2.0, 3.0, 4.0, 5.0], &["shifted_output"]),
            (&[6], [9.0, 8.0, 3.0, 7.0, 5.0, 6.0], &[]),
        ];
        for (shape, got, patterns) in cases {
            let result = run(shape, Dtype::F32, &WANT, &got, 1e-6);
            assert!(result.mismatch_count > 0);
            assert_eq!(result.patterns, patterns, "{got:?}");
        }
    }

    #[test]
    fn the_table_holds_the_first_ten_with_their_indices() {
        let want: Vec<f64> = (0..60).map(f64::from).collect();
        let result = run(&[3, 20], Dtype::F32, &want, &[-1.0; 60], 0.0);
        assert_eq!((result.mismatches.len(), result.mismatch_count), (10, 60));
        assert_eq!(result.mismatches[9].index, [0, 9]);
        let result = run(&[3, 20], Dtype::F32, &want, &[[0.0; 40].as_slice(), &want[40..]].concat(), 0.0);
        assert_eq!(result.mismatches[0].index, [0, 1]);
    }

    /// A byte may be what the buffer was filled with: what the device knows decides, in both directions.
    #[test]
    fn written_bytes_are_told_from_unwritten_ones_by_what_the_device_knows() {
        let poison = f64::from(Dtype::U8.poison()[0]);
        let mut spec = empty_spec("k");
        spec.params.push(Param::Buffer {
            name: "y".to_owned(),
            dtype: Dtype::U8,
            shape: vec![Expr("4".to_owned())],
            role: Role::Out,
            fill: None,
            max_bytes: None,
        });
        let case = spec.resolve(&Size::new()).expect("resolves");
        let judged = |got: [f64; 4], want: [f64; 4], unwritten: &[usize]| {
            let bytes = got.map(|value| value as u8).to_vec();
            let arguments =
                [Argument::Buffer(Buffer { name: "y".to_owned(), dtype: Dtype::U8, role: Role::Out, bytes })];
            let known = [("y".to_owned(), unwritten.to_vec())];
            let expected = [Expected::plain(want.to_vec())];
            compare(&case, &arguments, &expected, &spec, None, Some(&known))
        };
        // Written, and wrong by chance with just this value.
        let wrong = judged([1.0, poison, poison, 4.0], [1.0, 2.0, 3.0, 4.0], &[]);
        assert_eq!((wrong.mismatch_count, wrong.never_written), (2, 0), "{:?}", wrong.patterns);
        // Right, with just this value.
        assert_eq!(judged([poison; 4], [poison; 4], &[]).mismatch_count, 0);
        // Nobody wrote it, although this value belongs there.
        let missing = judged([poison; 4], [poison; 4], &[2, 3]);
        assert_eq!((missing.mismatch_count, missing.never_written), (2, 2));
        assert_eq!(missing.mismatches[0].index, [2]);
        assert_eq!(missing.patterns, ["tail_missing", "never_written"]);
    }

    /// A row of probabilities: the large one is nearly right, and all the others are not.
    #[test]
    fn small_values_that_are_far_off_are_not_nearly_right() {
        let want = [0.9, 1e-6, 2e-6, 3e-6, 4e-6, 5e-6];
        let far = run(&[6], Dtype::F32, &want, &[0.9001, 3e-6, 6e-6, 9e-6, 12e-6, 15e-6], 1e-6);
        assert_eq!(far.patterns, Vec::<&str>::new(), "three times as large");
        let near = run(&[6], Dtype::F32, &want, &want.map(|value| 1.001 * value), 1e-6);
        assert_eq!(near.patterns, ["precision"]);
    }

    #[test]
    fn the_region_of_wrong_elements_is_named() {
        let want: Vec<f64> = (0..12).map(f64::from).collect();
        let with = |wrong: &[usize]| {
            let mut got = want.clone();
            wrong.iter().for_each(|index| got[*index] = -1.0);
            run(&[3, 4], Dtype::F32, &want, &got, 0.0).region
        };
        assert_eq!(with(&[2, 3, 6, 7, 11]).as_deref(), Some("columns 2 to 3"));
        assert_eq!(with(&[8, 9, 10, 11]).as_deref(), Some("row 2"));
        assert_eq!(with(&[9, 10]).as_deref(), Some("row 2, columns 1 to 2"));
        assert_eq!(with(&[0, 11]), None, "all over the matrix");
        assert_eq!(with(&[5]), None, "one element is named anyway");
    }

    #[test]
    fn an_expected_nan_does_not_hide_a_missing_write() {
        let result = run(&[2], Dtype::F32, &[f64::NAN, 1.0], &[LEFT, 1.0], 0.0);
        assert!(result.mismatch_count == 1 && result.mismatches[0].never_written);
        assert_eq!(run(&[2], Dtype::F32, &[f64::NAN, 1.0], &[f64::NAN, 1.0], 0.0).mismatch_count, 0);
    }
}
