//! `__constant__` memory: which variables nothing sets, and values for them. On a GPU the host fills it with
//! `cudaMemcpyToSymbol`; here there is no host program, so the values go where the variable is declared.

use super::declared::line_of;
use super::resources::demangle;
use super::tokens::{Kind, Token, tokens};
use crate::spec::{Dtype, Expr, Size, macros};

/// Variables in constant memory that the kernels read and that have no value, as the learner wrote their names.
pub fn unset(ptx: &str) -> Vec<String> {
    let declared = ptx.lines().filter_map(|line| {
        let line = line.trim();
        let line = line.strip_prefix(".visible ").or_else(|| line.strip_prefix(".weak ")).unwrap_or(line);
        let rest = line.strip_prefix(".const ")?.trim_end_matches(';');
        if rest.contains('=') {
            return None;
        }
        rest.split_whitespace().last()?.split('[').next()
    });
    let is_read = |name: &str| {
        let whole = |at: usize| {
            let part = |c: Option<char>| c.is_some_and(|c| c == '_' || c == '$' || c.is_ascii_alphanumeric());
            !part(ptx[..at].chars().next_back()) && !part(ptx[at + name.len()..].chars().next())
        };
        ptx.match_indices(name).filter(|(at, _)| whole(*at)).count() > 1
    };
    declared.filter(|name| is_read(name)).map(demangle).collect()
}

/// `source` with `values` where the `__constant__` variable `name` is declared. Lines keep their numbers.
///
/// # Errors
/// One sentence: no such variable, or one that has values already.
pub fn set(source: &str, name: &str, values: &[String]) -> Result<String, String> {
    let all: Vec<Token<'_>> = tokens(source).into_iter().filter(|token| token.kind != Kind::Space).collect();
    let mut known = Vec::new();
    for (at, token) in all.iter().enumerate() {
        if token.text != "__constant__" {
            continue;
        }
        // Up to the semicolon: the declarators of one declaration.
        let end = (at..all.len()).find(|&i| matches!(all[i].text, ";" | "{" | "(")).unwrap_or(all.len());
        let Some(found) = (at..end).find(|&i| all[i].text == name) else {
            known.extend(
                (at..end)
                    .find(|&i| all.get(i + 1).is_some_and(|next| matches!(next.text, "[" | ";" | "=" | ",")))
                    .map(|i| all[i].text.to_owned()),
            );
            continue;
        };
        let mut after = found + 1;
        while all.get(after).is_some_and(|token| token.text == "[") {
            after = (after..all.len()).find(|&i| all[i].text == "]").map_or(all.len(), |close| close + 1);
        }
        let Some(next) = all.get(after) else { break };
        if matches!(next.text, "=" | "{") {
            return Err(format!("`{name}` has its values where it is declared, so it cannot be set"));
        }
        if let Some(count) =
            count(source, &all[at..end], found - at, after - at).filter(|count| *count != values.len() as u64)
        {
            let line = line_of(source, all[found].at);
            let (has, gives) = (elements(count), elements(values.len() as u64));
            return Err(format!(
                "`{name}` (line {line}) has {has}, and {gives} are given for it: give all of them, a 0 for those that are 0"
            )
            .replace("1 element are", "1 element is"));
        }
        let list = values.join(", ");
        return Ok(format!("{} = {{{list}}}{}", &source[..next.at], &source[next.at..]));
    }
    let known = if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) };
    Err(format!("the kernel has no `__constant__` variable `{name}` to set: {known}"))
}

fn elements(count: u64) -> String {
    if count == 1 { "1 element".to_owned() } else { format!("{count} elements") }
}

/// Elements of the variable that is declared at a token; None where its type or an extent is not known.
fn count(source: &str, declaration: &[Token<'_>], name: usize, after: usize) -> Option<u64> {
    let words: Vec<&str> = declaration[..name]
        .iter()
        .map(|token| token.text)
        .filter(|word| !matches!(*word, "__constant__" | "const" | "static" | "__device__" | "extern" | "volatile"))
        .take_while(|word| !matches!(*word, "," | "["))
        .collect();
    // The names before it in one declaration come behind the type.
    (1..=words.len()).rev().find_map(|count| Dtype::of_cpp(&words[..count].join(" ")))?;
    let defined = macros::integers(source, &[]);
    let mut product = 1_u64;
    let mut at = name + 1;
    while at < after {
        let close = (at..after).find(|&i| declaration[i].text == "]")?;
        let text = &source[declaration[at].end..declaration[close].at];
        let extent = Expr(macros::expand(text, &defined)).eval(&Size::new()).ok()?;
        product = product.checked_mul(u64::try_from(extent).ok()?)?;
        at = close + 1;
    }
    Some(product)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_read_and_has_no_value_counts() {
        let ptx = ".const .align 4 .b8 taps[12];\n.const .align 4 .u32 one = 7;\n.const .align 4 .f32 _ZN1N1qE;\n\
                   .const .align 8 .b8 idle[24];\n.const .align 8 .b8 tap[24];\n.visible .entry k()\n{\nld.const.f32 %f1, [taps];\n\
                   ld.const.u32 %r1, [one];\nld.const.f32 %f2, [_ZN1N1qE];\n}\n";
        assert_eq!(unset(ptx), ["taps", "N::q"]);
        assert_eq!(unset(""), Vec::<String>::new());
    }

    #[test]
    fn values_go_to_the_declaration_and_lines_stay() {
        let values = ["0.25".to_owned(), "0.5".to_owned()];
        let source =
            "// __constant__ float taps[2];\n__constant__ float scale, taps[2];\n__constant__ int n = 3;\nint x;\n";
        let changed = set(source, "taps", &values).unwrap();
        assert_eq!(changed.lines().nth(1), Some("__constant__ float scale, taps[2] = {0.25, 0.5};"));
        assert_eq!(changed.lines().count(), source.lines().count());
        let one = ["0.25".to_owned()];
        let few = set(source, "taps", &one).unwrap_err();
        assert!(few.contains("`taps` (line 2) has 2 elements, and 1 element is given"), "{few}");
        assert!(set(source, "scale", &values).unwrap_err().contains("has 1 element, and 2 elements are"));
        let grid = "#define R 1\n__constant__ float g[2 * R][2];\n__constant__ Pair p;\n";
        assert!(set(grid, "g", &values).unwrap_err().contains("4 elements"));
        assert!(set(grid, "p", &values).is_ok(), "nothing is known of it");
        assert!(set(source, "n", &values).unwrap_err().contains("declared"));
        let missing = set(source, "tap", &values).unwrap_err();
        assert!(missing.contains("scale") && missing.contains("`tap`"), "{missing}");
    }
}
