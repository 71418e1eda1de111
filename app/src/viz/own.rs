//! Numbers of the learner's own run for pictures that otherwise draw an example: rows of scores, and the matrices of attention.

use super::values;
use egui::Ui;
use gpu_core::verdict::{Captured, CapturedBuffer};

/// An input of rows and the output of the same shape, as a softmax has them.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    pub input: &'a CapturedBuffer,
    pub output: &'a CapturedBuffer,
    /// Rows that were kept whole.
    pub count: usize,
    pub columns: usize,
    case: &'a str,
}

impl<'a> Rows<'a> {
    /// Of a run whose kernel makes a row of each row.
    pub fn of(captured: Option<&'a Captured>) -> Option<Rows<'a>> {
        let Captured { case, buffers, .. } = captured?;
        let output = buffers.iter().find(|buffer| buffer.is_output && buffer.shape.len() == 2)?;
        let alike = |buffer: &&CapturedBuffer| !buffer.is_output && buffer.shape == output.shape;
        let input = buffers.iter().find(alike)?;
        let columns = usize::try_from(output.shape[1]).ok().filter(|columns| *columns > 0)?;
        let count = input.values.len().min(output.values.len()) / columns;
        (count > 0).then_some(Rows { input, output, count, columns, case })
    }

    /// One row of both.
    pub fn row(&self, row: usize) -> (&'a [f64], &'a [f64]) {
        let range = row * self.columns..(row + 1) * self.columns;
        (&self.input.values[range.clone()], &self.output.values[range])
    }

    /// The row to take, and a button that takes it; true when it was pressed.
    pub fn ui(&self, ui: &mut Ui, row: &mut usize) -> bool {
        let mut taken = false;
        ui.horizontal_wrapped(|ui| {
            *row = (*row).min(self.count - 1);
            values::count(ui, &format!("row of your {}", self.input.name), row, 0..=self.count - 1);
            let what =
                format!("The numbers of your last check at {}, and what your kernel stored for them.", self.case);
            taken = ui.button("Take this row").on_hover_text(what).clicked();
        });
        taken
    }
}

/// A query, keys as rows of a matrix, and a score for each.
#[derive(Clone, Copy, Debug)]
pub struct Keys<'a> {
    pub query: &'a [f64],
    pub keys: &'a [f64],
    pub scores: &'a [f64],
    /// Keys that were kept whole, with their scores.
    pub count: usize,
    case: &'a str,
}

impl<'a> Keys<'a> {
    /// Of a run whose kernel multiplies one row with many.
    pub fn of(captured: Option<&'a Captured>) -> Option<Keys<'a>> {
        let Captured { case, buffers, .. } = captured?;
        let inputs = || buffers.iter().filter(|buffer| !buffer.is_output && !buffer.shape.is_empty());
        let elements = |buffer: &CapturedBuffer| buffer.shape.last().copied().unwrap_or(0) as usize;
        let rows = |buffer: &CapturedBuffer| buffer.shape[..buffer.shape.len() - 1].iter().product::<u64>() as usize;
        let query = inputs().find(|buffer| rows(buffer) == 1 && elements(buffer) > 0)?;
        let alike = |buffer: &&CapturedBuffer| buffer.name != query.name && elements(buffer) == elements(query);
        let keys = inputs().find(alike)?;
        let all = |buffer: &&CapturedBuffer| buffer.shape.iter().product::<u64>() as usize == rows(keys);
        let scores = buffers.iter().filter(|buffer| buffer.is_output).find(all)?;
        let count = (keys.values.len() / elements(keys)).min(scores.values.len());
        let query = query.values.get(..elements(query))?;
        (count > 0).then_some(Keys { query, keys: &keys.values, scores: &scores.values, count, case })
    }

    pub fn key(&self, key: usize) -> &'a [f64] {
        &self.keys[key * self.query.len()..(key + 1) * self.query.len()]
    }

    /// The key to take, and a button that takes it; true when it was pressed.
    pub fn ui(&self, ui: &mut Ui, key: &mut usize) -> bool {
        let mut taken = false;
        ui.horizontal_wrapped(|ui| {
            *key = (*key).min(self.count - 1);
            values::count(ui, "key of your run", key, 0..=self.count - 1);
            let what = format!(
                "The query and this key of your last check at {}: their lengths and the angle between them.",
                self.case
            );
            taken = ui.button("Take this key").on_hover_text(what).clicked();
        });
        taken
    }
}

/// The matrices of one head of attention: queries, keys, values and the output, each tokens by elements.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    pub inputs: [&'a [f64]; 3],
    pub output: &'a [f64],
    pub tokens: usize,
    pub elements: usize,
    pub is_causal: bool,
    case: &'a str,
}

impl<'a> Head<'a> {
    /// The first head of a run whose buffers are called as the course calls them.
    pub fn of(captured: Option<&'a Captured>) -> Option<Head<'a>> {
        let captured = captured?;
        let find = |names: [&str; 3], is_output: bool| {
            let named = |buffer: &&CapturedBuffer| {
                buffer.is_output == is_output && buffer.shape.len() >= 2 && names.contains(&buffer.name.as_str())
            };
            captured.buffers.iter().find(named)
        };
        let [q, k, v] =
            [["q", "query", "queries"], ["k", "key", "keys"], ["v", "value", "values"]].map(|of| find(of, false));
        let (q, k, v, output) = (q?, k?, v?, find(["o", "out", "output"], true)?);
        let last = |buffer: &CapturedBuffer, back: usize| buffer.shape[buffer.shape.len() - back] as usize;
        let (tokens, elements) = (last(q, 2), last(q, 1));
        let same = [k, v, output].iter().all(|buffer| last(buffer, 2) == tokens && last(buffer, 1) == elements);
        let whole = |buffer: &'a CapturedBuffer| buffer.values.get(..tokens * elements);
        if !same || elements == 0 {
            return None;
        }
        let causal = captured.sizes.iter().find(|(name, _)| name == "causal");
        Some(Head {
            inputs: [whole(q)?, whole(k)?, whole(v)?],
            output: whole(output)?,
            tokens,
            elements,
            is_causal: causal.is_some_and(|(_, value)| *value != 0),
            case: &captured.case,
        })
    }
}

impl Head<'_> {
    /// Score of a query and a key, scaled.
    pub fn score(&self, query: usize, key: usize) -> f64 {
        let row = |matrix: usize, at: usize| &self.inputs[matrix][at * self.elements..(at + 1) * self.elements];
        let dot: f64 = row(0, query).iter().zip(row(1, key)).map(|(a, b)| a * b).sum();
        dot / (self.elements as f64).sqrt()
    }

    /// A button that takes the numbers; true when it was pressed.
    pub fn ui(&self, ui: &mut Ui) -> bool {
        let what = format!(
            "The first head of your last check at {}: {} tokens of {} elements.",
            self.case, self.tokens, self.elements
        );
        ui.button("Take the numbers of my run").on_hover_text(what).clicked()
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// Three rows of four scores whose softmax has been stored, but for row 1, which is all 0.5.
    pub fn rows() -> Captured {
        let x: Vec<f64> = (0..12).map(f64::from).collect();
        let mut y: Vec<f64> = x.chunks(4).flat_map(super::super::running::softmax).collect();
        y[4..8].fill(0.5);
        let buffer = |name: &str, is_output, values| CapturedBuffer {
            name: name.to_owned(),
            shape: vec![3, 4],
            is_output,
            values,
        };
        let buffers = vec![buffer("x", false, x), buffer("y", true, y)];
        Captured { case: "rows = 3, columns = 4".to_owned(), sizes: Vec::new(), buffers }
    }

    #[test]
    fn rows_belong_together() {
        let captured = rows();
        let found = Rows::of(Some(&captured)).expect("x and y");
        assert_eq!((found.count, found.columns), (3, 4));
        assert_eq!(found.row(1), (&[4.0, 5.0, 6.0, 7.0][..], &[0.5; 4][..]));
        let mut cut = captured.clone();
        cut.buffers[1].values.truncate(7);
        assert_eq!(Rows::of(Some(&cut)).map(|rows| rows.count), Some(1), "what was not kept whole is left out");
        cut.buffers[1].shape = vec![12];
        assert!(Rows::of(Some(&cut)).is_none());
        assert!(Rows::of(None).is_none());
    }

    /// Five tokens of six elements, causal; the output holds the values as they are.
    pub fn head() -> Captured {
        let numbers = |seed| super::super::values::normals(seed, 30);
        let buffer = |name: &str, is_output, seed| CapturedBuffer {
            name: name.to_owned(),
            shape: vec![1, 1, 5, 6],
            is_output,
            values: numbers(seed),
        };
        let buffers = vec![buffer("q", false, 1), buffer("k", false, 2), buffer("v", false, 3), buffer("o", true, 3)];
        Captured { case: "keys = 5".to_owned(), sizes: vec![("causal".to_owned(), 1)], buffers }
    }

    /// A query of three elements, two keys, and their scores, of which the second is wrong.
    pub fn keys() -> Captured {
        let buffer = |name: &str, shape: [u64; 2], is_output, values: &[f64]| CapturedBuffer {
            name: name.to_owned(),
            shape: shape.to_vec(),
            is_output,
            values: values.to_vec(),
        };
        let buffers = vec![
            buffer("q", [1, 3], false, &[3.0, 0.0, 4.0]),
            buffer("keys", [2, 3], false, &[0.0, 1.0, 0.0, 6.0, 0.0, 8.0]),
            buffer("scores", [1, 2], true, &[0.0, 49.0]),
        ];
        Captured { case: "n = 2, d = 3".to_owned(), sizes: Vec::new(), buffers }
    }

    #[test]
    fn a_query_has_its_keys() {
        let captured = keys();
        let found = Keys::of(Some(&captured)).expect("q, keys and scores");
        assert_eq!((found.count, found.key(1), found.scores[1]), (2, &[6.0, 0.0, 8.0][..], 49.0));
        assert!(Keys::of(Some(&rows())).is_none());
    }

    #[test]
    fn a_head_is_found_by_its_names() {
        let buffer = |name: &str, is_output| CapturedBuffer {
            name: name.to_owned(),
            shape: vec![2, 3, 4],
            is_output,
            values: (0..24).map(f64::from).collect(),
        };
        let buffers = vec![buffer("q", false), buffer("k", false), buffer("v", false), buffer("o", true)];
        let mut captured = Captured { case: String::new(), sizes: vec![("causal".to_owned(), 1)], buffers };
        let head = Head::of(Some(&captured)).expect("all four");
        assert_eq!((head.tokens, head.elements, head.output.len(), head.is_causal), (3, 4, 12, true));
        captured.buffers.pop();
        assert!(Head::of(Some(&captured)).is_none());
    }
}
