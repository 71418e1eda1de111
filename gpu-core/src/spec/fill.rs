//! What inputs hold: the `fill` of a parameter, read and resolved.

use super::read::read_expression;
use super::toml_reader::{Item, Reader, Section, join};
use super::{Dtype, Expr, Fill, Param, Size, Spec};
use crate::formats::Format;
use std::sync::Arc;

/// [`Fill`] in numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum ResolvedFill {
    Normal {
        mean: f64,
        std: f64,
    },
    Uniform {
        low: f64,
        high: f64,
    },
    Integers {
        low: i64,
        high: i64,
    },
    Constant {
        value: f64,
    },
    Index,
    Outliers {
        std: f64,
        channels: u64,
        factor: f64,
    },
    Permutation,
    Pages {
        pages: i64,
    },
    Lengths {
        low: i64,
        high: i64,
    },
    PrefixSums {
        total: i64,
    },
    Mask {
        density: f64,
    },
    OneHot,
    StudentT {
        df: f64,
        scale: f64,
    },
    Ties {
        format: TieFormat,
    },
    Special {
        is_normal: bool,
        inf: f64,
        nan: f64,
        zero: f64,
    },
    /// Repeats when the buffer is longer.
    File {
        values: Arc<Vec<f64>>,
    },
}

impl ResolvedFill {
    /// Whether an element depends on where it lies or on the others, so that a part may not be repeated.
    pub fn is_of_the_whole(&self) -> bool {
        matches!(
            self,
            ResolvedFill::Index
                | ResolvedFill::Permutation
                | ResolvedFill::Pages { .. }
                | ResolvedFill::Lengths { .. }
                | ResolvedFill::PrefixSums { .. }
                | ResolvedFill::OneHot
        )
    }
}

/// A format that values lie half way between the numbers of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum TieFormat {
    F16,
    Bf16,
    Codes(Format),
}

const KINDS: [&str; 16] = [
    "normal",
    "uniform",
    "integers",
    "constant",
    "index",
    "outliers",
    "permutation",
    "pages",
    "lengths",
    "prefix_sums",
    "mask",
    "one_hot",
    "student_t",
    "ties",
    "special",
    "file",
];
/// Those that need no further keys.
const SHORT: [&str; 5] = ["normal", "uniform", "index", "permutation", "one_hot"];

/// Outer None: a problem; inner None: no fill given.
pub(super) fn read_fill(r: &mut Reader<'_>, section: &mut Section<'_>) -> Option<Option<Fill>> {
    let Some(item) = r.item(section, "fill", None) else { return Some(None) };
    let at = join(&section.at, "fill");
    // `fill = "normal"` is short for the kind with its usual values.
    if item.as_str().is_some() {
        let kind = r.choice(item, &at, "a fill by name", &SHORT.map(|name| (name, name)))?;
        return Some(Some(match kind {
            "normal" => Fill::Normal { mean: 0.0, std: 1.0 },
            "uniform" => Fill::Uniform { low: 0.0, high: 1.0 },
            "index" => Fill::Index,
            "permutation" => Fill::Permutation,
            _ => Fill::OneHot,
        }));
    }
    let mut fill = r.as_section(item, &at)?;
    let kind = r.item(&mut fill, "kind", Some("a fill"))?;
    let kind = r.choice(kind, &join(&at, "kind"), "a fill", &KINDS.map(|name| (name, name)))?;
    let result = read_kind(r, &mut fill, kind)?;
    if let Some((expected, found)) = out_of_range(&result) {
        r.problem(&at, fill.span.clone(), expected, found);
    }
    r.finish(fill);
    Some(Some(result))
}

fn read_kind(r: &mut Reader<'_>, fill: &mut Section<'_>, kind: &str) -> Option<Fill> {
    Some(match kind {
        "normal" => Fill::Normal { mean: r.float(fill, "mean", true)?, std: r.float(fill, "std", true)? },
        "uniform" => Fill::Uniform { low: r.float(fill, "low", true)?, high: r.float(fill, "high", true)? },
        "integers" => Fill::Integers {
            low: expression(r, fill, "low", "the least value")?,
            high: expression(r, fill, "high", "the greatest value")?,
        },
        "constant" => Fill::Constant { value: r.float(fill, "value", true)? },
        "index" => Fill::Index,
        "outliers" => Fill::Outliers {
            std: r.float(fill, "std", true)?,
            channels: expression(r, fill, "channels", "how many columns are larger")?,
            factor: r.float(fill, "factor", true)?,
        },
        "permutation" => Fill::Permutation,
        "pages" => Fill::Pages { pages: expression(r, fill, "pages", "how many pages there are")? },
        "lengths" => Fill::Lengths {
            low: expression(r, fill, "low", "the least length")?,
            high: expression(r, fill, "high", "the greatest length")?,
        },
        "prefix_sums" => Fill::PrefixSums { total: expression(r, fill, "total", "the last sum")? },
        "mask" => Fill::Mask { density: r.float(fill, "density", true)? },
        "one_hot" => Fill::OneHot,
        "student_t" => Fill::StudentT { df: r.float(fill, "df", true)?, scale: r.float(fill, "scale", true)? },
        "ties" => {
            let item = r.item(fill, "format", Some("the format whose ties are meant"))?;
            Fill::Ties { format: read_tie_format(r, item, &join(&fill.at, "format"))? }
        }
        "special" => {
            let base = r.item(fill, "base", Some("\"normal\" or \"uniform\""))?;
            let choices = [("normal", true), ("uniform", false)];
            Fill::Special {
                is_normal: r.choice(base, &join(&fill.at, "base"), "what the others are", &choices)?,
                inf: r.float(fill, "inf", true)?,
                nan: r.float(fill, "nan", true)?,
                zero: r.float(fill, "zero", false).unwrap_or(0.0),
            }
        }
        _ => {
            let item = r.item(fill, "path", Some("a file of numbers in the exercise's folder"))?;
            let at = join(&fill.at, "path");
            let path = r.as_string(item, &at)?;
            let is_plain = path.split('/').all(|part| !part.is_empty() && part != ".." && !part.contains(['\\', ':']));
            if !is_plain || !path.ends_with(".csv") {
                r.problem(&at, item.span(), "a relative path to a .csv file in the exercise's folder", item.describe());
                return None;
            }
            Fill::File { path, values: Vec::new() }
        }
    })
}

fn expression(r: &mut Reader<'_>, fill: &mut Section<'_>, key: &'static str, what: &str) -> Option<Expr> {
    let item = r.item(fill, key, Some(what))?;
    read_expression(r, item, &join(&fill.at, key))
}

fn read_tie_format(r: &mut Reader<'_>, item: Item<'_>, at: &str) -> Option<TieFormat> {
    let mut choices = vec![("f16", TieFormat::F16), ("bf16", TieFormat::Bf16)];
    choices.extend(Format::ALL.map(|(name, format)| (name, TieFormat::Codes(format))));
    r.choice(item, at, "a format", &choices)
}

/// What a fill must be and is not.
fn out_of_range(fill: &Fill) -> Option<(&'static str, &'static str)> {
    let is_share = |share: f64| (0.0..=1.0).contains(&share);
    match fill {
        Fill::Normal { std, .. } | Fill::Outliers { std, .. } if *std < 0.0 => {
            Some(("a standard deviation of at least 0", "a negative one"))
        }
        Fill::Uniform { low, high } if low >= high => Some(("low < high", "an empty range")),
        Fill::Mask { density } if !is_share(*density) => Some(("a density between 0 and 1", "another")),
        Fill::StudentT { df, scale } if *df <= 0.0 || *scale < 0.0 => {
            Some(("degrees of freedom above 0 and a scale of at least 0", "others"))
        }
        Fill::Special { inf, nan, zero, .. }
            if ![inf, nan, zero].into_iter().all(|share| is_share(*share)) || inf + nan + zero > 1.0 =>
        {
            Some(("shares of inf, nan and zero between 0 and 1, together at most 1", "others"))
        }
        _ => None,
    }
}

/// A fill at a size. `at` is the parameter's key.
///
/// # Errors
/// The key at fault and one sentence.
pub(super) fn resolve_fill(
    at: &str,
    size: &Size,
    dtype: Dtype,
    shape: &[u64],
    fill: Option<&Fill>,
) -> Result<ResolvedFill, (String, String)> {
    let eval = |key: &str, expr: &Expr| expr.eval(size).map_err(|error| (format!("{at}.fill.{key}"), error.0));
    let fail = |message: String| Err((format!("{at}.fill"), message));
    let (least, greatest) = dtype.integer_range().unwrap_or((i64::MIN, i64::MAX));
    let range = |low: i64, high: i64| {
        if low > high || low < least || high > greatest {
            return Err((format!("{at}.fill"), format!("{low} to {high} is not a range of {}", dtype.name())));
        }
        Ok(())
    };
    let elements: u64 = shape.iter().product();
    let columns = shape.last().copied().unwrap_or(1);
    let needs_float = |what: &str| match dtype.is_float() {
        true => Ok(()),
        false => Err((format!("{at}.fill"), format!("{what} need a floating type, not {}", dtype.name()))),
    };
    Ok(match fill {
        None if dtype.is_float() => ResolvedFill::Normal { mean: 0.0, std: 1.0 },
        None => ResolvedFill::Integers { low: 0, high: if dtype == Dtype::Bool { 1 } else { 100 } },
        Some(Fill::Normal { mean, std }) => ResolvedFill::Normal { mean: *mean, std: *std },
        Some(Fill::Uniform { low, high }) => ResolvedFill::Uniform { low: *low, high: *high },
        Some(Fill::Constant { value }) => ResolvedFill::Constant { value: *value },
        Some(Fill::Index) => ResolvedFill::Index,
        Some(Fill::Integers { low, high }) => {
            let (low, high) = (eval("low", low)?, eval("high", high)?);
            range(low, high)?;
            ResolvedFill::Integers { low, high }
        }
        Some(Fill::Outliers { std, channels, factor }) => {
            let channels = eval("channels", channels)?;
            if channels < 0 || channels as u64 > columns {
                return fail(format!("{channels} outlier channels of {columns} columns"));
            }
            ResolvedFill::Outliers { std: *std, channels: channels as u64, factor: *factor }
        }
        Some(Fill::Permutation) => {
            range(0, columns.saturating_sub(1) as i64)?;
            ResolvedFill::Permutation
        }
        Some(Fill::Pages { pages }) => {
            let pages = eval("pages", pages)?;
            if pages < 0 || (pages as u64) < elements {
                return fail(format!("{pages} pages for a table of {elements} entries: no page may be in it twice"));
            }
            range(0, (pages - 1).max(0))?;
            ResolvedFill::Pages { pages }
        }
        Some(Fill::Lengths { low, high }) => {
            let (low, high) = (eval("low", low)?, eval("high", high)?);
            range(low, high)?;
            if low < 0 {
                return fail(format!("a length of {low}"));
            }
            ResolvedFill::Lengths { low, high }
        }
        Some(Fill::PrefixSums { total }) => {
            let total = eval("total", total)?;
            range(0, total)?;
            ResolvedFill::PrefixSums { total }
        }
        Some(Fill::Mask { density }) => ResolvedFill::Mask { density: *density },
        Some(Fill::OneHot) => ResolvedFill::OneHot,
        Some(Fill::StudentT { df, scale }) => {
            needs_float("heavy tails")?;
            ResolvedFill::StudentT { df: *df, scale: *scale }
        }
        Some(Fill::Ties { format }) => {
            needs_float("ties")?;
            ResolvedFill::Ties { format: *format }
        }
        Some(Fill::Special { is_normal, inf, nan, zero }) => {
            if !matches!(dtype, Dtype::F64 | Dtype::F32 | Dtype::F16 | Dtype::Bf16) {
                return fail(format!("inf and nan need f64, f32, f16 or bf16, not {}", dtype.name()));
            }
            ResolvedFill::Special { is_normal: *is_normal, inf: *inf, nan: *nan, zero: *zero }
        }
        Some(Fill::File { values, .. }) => ResolvedFill::File { values: Arc::new(values.clone()) },
    })
}

impl Spec {
    /// Gives the fills from files their numbers; `read` returns a file's text by its path in the exercise's folder.
    ///
    /// # Errors
    /// The path and what is wrong with the file, in one sentence.
    pub fn attach_files(&mut self, mut read: impl FnMut(&str) -> Option<String>) -> Result<(), (String, String)> {
        for param in &mut self.params {
            let Param::Buffer { fill: Some(Fill::File { path, values }), .. } = param else { continue };
            let text = read(path).ok_or_else(|| (path.clone(), "there is no such file".to_owned()))?;
            *values = numbers(&text).map_err(|message| (path.clone(), message))?;
        }
        Ok(())
    }
}

/// Numbers separated by commas or white space; a line that begins with `#` is a remark.
fn numbers(text: &str) -> Result<Vec<f64>, String> {
    let mut values = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with('#')) {
        for word in line.split(|c: char| c == ',' || c.is_whitespace()).filter(|word| !word.is_empty()) {
            let value = word.parse().map_err(|_| format!("line {}: `{word}` is no number", index + 1))?;
            values.push(value);
        }
    }
    if values.is_empty() { Err("it holds no numbers".to_owned()) } else { Ok(values) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_numbers_are_read_or_told_off() {
        assert_eq!(numbers("# two rows\n1, -2.5\n3e2 4\n"), Ok(vec![1.0, -2.5, 300.0, 4.0]));
        assert!(numbers("1\n2 x").unwrap_err().contains("line 2: `x`"));
        assert!(numbers("# nothing").is_err());
    }
}
