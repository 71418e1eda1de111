//! Whole-number macros of a kernel's text, so that a launch directive can say `block = BLOCK` and stay true to the
//! kernel's own `#define BLOCK 256`.

use std::collections::BTreeMap;

/// The macros that stand for a whole number (`#define BLOCK 256`), with the last definition of each. Those that
/// the compiler's options define (`-DBLOCK=64`) win: kernels guard such defaults with `#ifndef`.
pub(super) fn integers<'a>(source: &'a str, options: &'a [String]) -> BTreeMap<&'a str, &'a str> {
    let given = options.iter().filter_map(|option| {
        let (name, value) = option.strip_prefix("-D")?.split_once('=')?;
        value.parse::<u64>().is_ok().then_some((name, value))
    });
    source.lines().filter_map(definition).chain(given).collect()
}

fn definition(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define")?;
    if !rest.starts_with(char::is_whitespace) {
        return None;
    }
    let mut words = rest.split("//").next()?.split_whitespace();
    let (name, value) = (words.next()?, words.next()?);
    (words.next().is_none() && value.parse::<u64>().is_ok()).then_some((name, value))
}

/// Replaces every word that is such a macro.
pub(super) fn expand(text: &str, macros: &BTreeMap<&str, &str>) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_word) {
        let end = rest[start..].find(|c| !is_word(c)).map_or(rest.len(), |length| start + length);
        let word = &rest[start..end];
        out.push_str(&rest[..start]);
        out.push_str(macros.get(word).copied().unwrap_or(word));
        rest = &rest[end..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_number_macros_count() {
        let source =
            "#define BLOCK 128\n  # define  N 4 // four\n#define F(x) x\n#define E 2 + 3\n#defineX 3\n#define Q\n";
        let macros = integers(source, &[]);
        assert_eq!(macros, BTreeMap::from([("BLOCK", "128"), ("N", "4")]));
        assert_eq!(expand("ceil_div(n, N * BLOCK_x), BLOCK", &macros), "ceil_div(n, 4 * BLOCK_x), 128");
        assert_eq!(expand("", &macros), "");
    }
}
