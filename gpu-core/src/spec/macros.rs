//! Whole-number constants of a kernel's text, so that a launch directive can say `block = BLOCK` and stay true to the
//! kernel's own `#define BLOCK 256` or `constexpr int BLOCK = 256;`.

use super::{Parsed, Size};
use std::collections::BTreeMap;

/// The constants that stand for a whole number, with the last definition of each: `#define BLOCK 256`,
/// `#define TILE (16 * EDGE)` and `constexpr int TILE = 2 * EDGE;`. Those that the compiler's options define
/// (`-DBLOCK=64`) win: kernels guard such defaults with `#ifndef`.
pub(crate) fn integers<'a>(source: &'a str, options: &'a [String]) -> BTreeMap<&'a str, String> {
    let given: Vec<(&str, &str)> =
        options.iter().filter_map(|option| option.strip_prefix("-D")?.split_once('=')).collect();
    let mut known: BTreeMap<&str, String> = BTreeMap::new();
    for (name, value) in &given {
        known.extend(number(value, &known).map(|value| (*name, value)));
    }
    for (name, value) in source.lines().filter_map(definition) {
        if !given.iter().any(|(given, _)| *given == name) {
            known.extend(number(value, &known).map(|value| (name, value)));
        }
    }
    known
}

/// A constant's text as a plain number; None where it is anything else, such as a type or a call.
fn number(text: &str, known: &BTreeMap<&str, String>) -> Option<String> {
    let text = text.trim();
    if text.starts_with('-') {
        return None;
    }
    let value = Parsed::new(&expand(text, known)).ok()?.eval(&Size::new()).ok()?;
    u64::try_from(value).ok().map(|value| value.to_string())
}

/// Name and value of a line that defines a constant.
fn definition(line: &str) -> Option<(&str, &str)> {
    let line = line.split("//").next()?.trim();
    if let Some(rest) = line.strip_prefix('#') {
        let rest = rest.trim_start().strip_prefix("define")?;
        let rest = rest.starts_with(char::is_whitespace).then(|| rest.trim_start())?;
        // `F(x)` is a function.
        let (name, value) = rest.split_once(char::is_whitespace)?;
        return is_name(name).then_some((name, value));
    }
    let (declared, value) = line.strip_suffix(';')?.split_once('=')?;
    let mut words: Vec<&str> = declared.split_whitespace().collect();
    let name = words.pop().filter(|name| is_name(name))?;
    let is_constant = words.contains(&"constexpr") || words.contains(&"const");
    let known = ["constexpr", "const", "static", "inline", "int", "unsigned", "size_t", "long", "auto", "__device__"];
    (is_constant && words.iter().all(|word| known.contains(word))).then_some((name, value))
}

fn is_name(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') && !word.starts_with(|c: char| c.is_ascii_digit())
}

/// Replaces every word that is such a constant.
pub(crate) fn expand(text: &str, constants: &BTreeMap<&str, String>) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_word) {
        let end = rest[start..].find(|c| !is_word(c)).map_or(rest.len(), |length| start + length);
        let word = &rest[start..end];
        out.push_str(&rest[..start]);
        out.push_str(constants.get(word).map_or(word, String::as_str));
        rest = &rest[end..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_numbers_count() {
        let source = "#define BLOCK 128\n  # define  N 4 // four\n#define F(x) x\n#define T float\n#defineX 3\n#define Q\n\
                      #define M -1\n#define R 2.5\n";
        let constants = integers(source, &[]);
        assert_eq!(constants, BTreeMap::from([("BLOCK", "128".to_owned()), ("N", "4".to_owned())]));
        assert_eq!(expand("ceil_div(n, N * BLOCK_x), BLOCK", &constants), "ceil_div(n, 4 * BLOCK_x), 128");
        assert_eq!(expand("", &constants), "");
    }

    #[test]
    fn constants_may_be_computed_and_declared() {
        let source = "#define EDGE 8\n#define TILE (16 * EDGE)\nconstexpr int HALF = TILE / 2;\n\
                      static constexpr unsigned K = 4; // four\nint x = 3;\nconst int row = blockIdx.y * TILE;\n";
        let constants = integers(source, &[]);
        let expected = [("EDGE", "8"), ("HALF", "64"), ("K", "4"), ("TILE", "128")];
        assert_eq!(constants, expected.map(|(name, value)| (name, value.to_owned())).into());
        let options = ["-DEDGE=2".to_owned()];
        let varied = integers(source, &options);
        assert_eq!(varied["TILE"], "32", "what follows from an option follows");
    }
}
