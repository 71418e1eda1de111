//! Names that are known, and not there: a variable where a constant belongs, a loop's own variable behind the loop.

use super::declared::{line_of, without_directives};
use super::tokens::{Kind, Token};

/// A variable where a template wants a number, or a `case` a constant: told by what stands before it.
pub(super) fn constant_argument(said: &str, line: &str, column: u32) -> Option<String> {
    if !said.starts_with("expression must have a constant value") {
        return None;
    }
    let before: String = line.chars().take((column as usize).saturating_sub(1)).collect();
    let open = before.rfind(['<', '[', '{', ';'])?;
    let name = |end: usize| {
        let from = before[..end].rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
        before[from..end].to_owned()
    };
    if before[open + 1..].trim_start().starts_with("case ") {
        return Some("what stands behind `case` must be a constant: compare variables with `if`".to_owned());
    }
    let called = name(before[..open].trim_end().len());
    (before[open..].starts_with('<') && !called.is_empty()).then(|| {
        format!(
            "what stands between `<` and `>` of `{called}` must be known when the kernel is compiled, and a variable is not: write a \
             number, a `constexpr int` or a template parameter. Where it differs from turn to turn, choose among calls with `if`, \
             each with its own number, such as `{called}<0>` for the last turns"
        )
    })
}

/// A name that an earlier `for` declared, or the one statement of a loop without braces: both end with the loop.
pub(super) fn ended(text: &str, name: &str, line: u32) -> Option<String> {
    let all = without_directives(text);
    let is = |at: usize, what: &str| all.get(at).is_some_and(|token| token.text == what);
    let before = |token: &Token<'_>| line_of(text, token.at) < line;
    let heads = all.iter().enumerate().filter(|(_, token)| token.text == "for" && before(token));
    let mut found = None;
    for (at, token) in heads {
        let Some(close) = closing(&all, at + 1).filter(|_| is(at + 1, "(")) else { continue };
        // `for (int i` or `for (unsigned int i`: two words in a row end with the name.
        let first =
            all[at + 2..close].iter().position(|token| token.text == "=" || token.text == ";").map(|end| at + 2 + end);
        let declares = |from: usize, end: usize| {
            end > from + 1 && all[from..end].iter().all(|token| token.kind == Kind::Word) && is(end - 1, name)
        };
        let of_head = first.is_some_and(|end| declares(at + 2, end));
        let body = close + 1;
        let end = all[body.min(all.len())..].iter().position(|token| token.text == "=" || token.text == ";");
        let of_body = !is(body, "{") && end.is_some_and(|end| declares(body, body + end));
        let head = line_of(text, token.at);
        if of_head {
            found = Some(format!("`{name}` was declared by the `for` of line {head} and ends with it"));
        } else if of_body {
            found = Some(format!(
                "`{name}` was declared as the only statement of the loop of line {head} and ends with it"
            ));
        }
    }
    found.map(|what| {
        format!(
            "{what}: without braces a loop is the next statement alone. Put `{{` and `}}` around all that belongs to it, or declare \
             `{name}` before it"
        )
    })
}

/// The parenthesis that closes the one at an index.
fn closing(all: &[Token<'_>], open: usize) -> Option<usize> {
    let mut depth = 0_i32;
    for (at, token) in all.iter().enumerate().skip(open) {
        match token.text {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_is_asked_for_where_it_stands() {
        let say = |line: &str, column| constant_argument("expression must have a constant value", line, column);
        let found = say("    copy_wait<keep>();", 15).expect("a template's argument");
        assert!(found.contains("between `<` and `>` of `copy_wait`") && found.contains("`copy_wait<0>`"), "{found}");
        let found = say("    c[0] = f<n>(a[0]);", 14).expect("likewise");
        assert!(found.contains("of `f` must be known"), "{found}");
        let found = say("    switch (n) { case m: break; }", 23).expect("a case");
        assert!(found.contains("`case`"), "{found}");
        assert_eq!(say("    float s[n];", 13), None, "an array's length has words of its own");
        assert_eq!(say("    __shared__ float s[4][n];", 27), None);
    }

    #[test]
    fn names_that_ended_with_their_loop_are_told_so() {
        let text = "void k(float* c, int n)\n{\n    for (int i = 0; i < n; i++)\n        float sum = 0;\n        for (int j = 0; j < n; \
                    j++)\n            sum += j;\n        c[i] = sum;\n}\n";
        let found = ended(text, "i", 7).expect("of the loop's head");
        assert!(found.contains("declared by the `for` of line 3") && found.contains("without braces"), "{found}");
        let found = ended(text, "sum", 6).expect("the loop's one statement");
        assert!(found.contains("the only statement of the loop of line 3"), "{found}");
        assert_eq!(ended(text, "x", 7), None);
        assert_eq!(ended(text, "i", 3), None, "nothing is above it");
        assert_eq!(
            ended("void k() {\n    for (i = 0; i < 3; i++) { }\n    i = 1;\n}", "i", 3),
            None,
            "it was never declared"
        );
    }
}
