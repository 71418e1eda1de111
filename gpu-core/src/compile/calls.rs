//! Mathematical functions that a source calls, by line: the compiler writes them out, so that in PTX an `expf` is some
//! multiplications and a power of 2, and a report that speaks of those would speak of nothing that the learner wrote.

use super::declared::{line_of, without_directives};
use super::tokens::Kind;
use serde::{Deserialize, Serialize};

/// One call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    pub name: String,
    /// One-based.
    pub line: u32,
    /// Line in which its statement begins, which the compiler may name instead.
    pub statement: u32,
}

/// What functions of one argument give, by the name without `f` and underscores.
type Function = (&'static str, fn(f64) -> f64);

const FUNCTIONS: [Function; 17] = [
    ("exp", f64::exp),
    ("hexp", f64::exp),
    ("exp2", f64::exp2),
    ("hexp2", f64::exp2),
    ("exp10", |x| 10f64.powf(x)),
    ("expm1", f64::exp_m1),
    ("log", f64::ln),
    ("hlog", f64::ln),
    ("log2", f64::log2),
    ("log10", f64::log10),
    ("log1p", f64::ln_1p),
    ("sqrt", f64::sqrt),
    ("hsqrt", f64::sqrt),
    ("rsqrt", |x| 1.0 / x.sqrt()),
    ("hrsqrt", |x| 1.0 / x.sqrt()),
    ("sinh", f64::sinh),
    ("cosh", f64::cosh),
];

/// The name without what says of which type it is, or how exact.
fn plain(name: &str) -> &str {
    let name = name.trim_start_matches("std::").trim_start_matches("__");
    name.strip_suffix('f').filter(|short| FUNCTIONS.iter().any(|(known, _)| known == short)).unwrap_or(name)
}

impl Call {
    /// What it gives for an argument, as far as a float or a half can hold it.
    pub fn of(&self, argument: f64) -> Option<f64> {
        let (plain, exact) =
            (plain(&self.name), FUNCTIONS.iter().find(|(known, _)| *known == plain(&self.name))?.1(argument));
        let is_double = self.name == plain && !plain.starts_with('h');
        let most = if plain.starts_with('h') { 65_520.0 } else { f64::from(f32::MAX) * (1.0 + 2f64.powi(-25)) };
        Some(if !is_double && exact.abs() >= most { exact.signum() * f64::INFINITY } else { exact })
    }

    /// Whether it raises e to a power, which begins by a multiplication with the logarithm of e.
    pub fn is_of_e(&self) -> bool {
        matches!(plain(&self.name), "exp" | "hexp" | "expm1" | "sinh" | "cosh")
    }
}

/// All of a source, in its order.
pub fn calls(source: &str) -> Vec<Call> {
    let all = without_directives(source);
    let called = |at: &usize| {
        all[*at].kind == Kind::Word
            && all.get(at + 1).is_some_and(|next| next.text == "(")
            && FUNCTIONS.iter().any(|(known, _)| *known == plain(all[*at].text))
    };
    let of = |at: usize| {
        let before = (0..at).rev().find(|&i| matches!(all[i].text, ";" | "{" | "}")).map_or(0, |before| before + 1);
        Call {
            name: all[at].text.to_owned(),
            line: line_of(source, all[at].at),
            statement: line_of(source, all[before].at),
        }
    };
    (0..all.len()).filter(called).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_their_lines_and_what_they_give() {
        let source =
            "#define E expf(1)\n// expf(2)\nfloat a =\n    expf(x) + logf(y);\nfloat own = my_exp(x), b = __expf(z);\n";
        let found = calls(source);
        let shape: Vec<_> = found.iter().map(|call| (call.name.as_str(), call.line, call.statement)).collect();
        assert_eq!(shape, [("expf", 4, 3), ("logf", 4, 3), ("__expf", 5, 5)]);
        assert_eq!(found[0].of(1204.5), Some(f64::INFINITY));
        assert!(found[0].of(88.0).is_some_and(f64::is_finite));
        assert_eq!(found[1].of(0.0), Some(f64::NEG_INFINITY));
        assert!(found[1].of(-1.0).is_some_and(f64::is_nan));
        let call = |name: &str| Call { name: name.to_owned(), line: 1, statement: 1 };
        assert!(call("exp").of(100.0).is_some_and(f64::is_finite), "of a double");
        assert_eq!(call("hexp").of(12.0), Some(f64::INFINITY));
        assert!(call("hexp").of(11.0).is_some_and(f64::is_finite));
        assert_eq!(call("rsqrtf").of(0.0), Some(f64::INFINITY));
        assert!(call("expf").is_of_e() && !call("exp2f").is_of_e());
    }
}
