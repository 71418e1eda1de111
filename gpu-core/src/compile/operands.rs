//! Operands and arguments that do not fit: the call as a whole where the compiler speaks of each argument, and CUDA's own
//! variables of three numbers. Warnings that a beginner cannot read are here as well.

use super::declared::{line_of, without_directives};
use super::tokens::{Kind, Token};
use super::{Diagnostic, Severity};

/// Better words for an error of operands; None where there are none.
pub(super) fn words(said: &str, line: &str) -> Option<String> {
    let of_launch = ["threadIdx", "blockIdx", "blockDim", "gridDim"].iter().any(|name| line.contains(name));
    if said.starts_with("no operator \"") && !said.starts_with("no operator \"[]\"") && of_launch {
        return Some(
            "`blockIdx`, `blockDim`, `threadIdx` and `gridDim` have three numbers each: write \
             `blockIdx.x * blockDim.x + threadIdx.x`"
                .to_owned(),
        );
    }
    if said.starts_with("attributes are not allowed here") && line.contains("__launch_bounds__") {
        return Some(
            "`__launch_bounds__` stands between `void` and the kernel's name: `extern \"C\" __global__ void __launch_bounds__(256) \
             name(…)`"
                .to_owned(),
        );
    }
    None
}

/// Better words for a warning about a line.
pub(super) fn warning(said: &str, line: &str, column: u32) -> Option<String> {
    if said != "returning pointer to local variable" {
        return None;
    }
    let from: String = line.chars().skip((column as usize).saturating_sub(1)).collect();
    let name: String = from.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let what = if name.is_empty() { "the array".to_owned() } else { format!("`{name}`") };
    Some(format!(
        "{what} ends with this function, so what the caller reads through the address is undefined: let the caller declare the array \
         and pass it in, or return a struct that holds it"
    ))
}

/// Notes that only go on about an error with better words say nothing more.
pub(super) fn is_echo(note: &Diagnostic, before: Option<&Diagnostic>) -> bool {
    const ECHOES: [&str; 2] = ["built-in operator", "attempt to access run-time storage"];
    note.severity == Severity::Note
        && ECHOES.iter().any(|echo| note.message.starts_with(echo))
        && before.is_some_and(|before| before.line == note.line && before.message.contains("the compiler says"))
}

/// Of a call with too few or too many arguments one message: how many the function takes, and the first that does not fit.
pub(super) fn one_for_a_call(found: Vec<Diagnostic>, text: &str, name: &str) -> Vec<Diagnostic> {
    let all = without_directives(text);
    let counted = |one: &Diagnostic| {
        one.message.contains("too many arguments in") || one.message.contains("too few arguments in")
    };
    let of_argument = |one: &Diagnostic| one.message.starts_with("argument of type");
    let lines: Vec<u32> = found.iter().filter(|one| one.file == name && counted(one)).map(|one| one.line).collect();
    let mut kept: Vec<Diagnostic> = Vec::with_capacity(found.len());
    for line in &lines {
        // Of the first argument that does not fit the place, which the text is asked for.
        let first = found.iter().filter(|one| one.line == *line && of_argument(one)).map(|one| one.column).min();
        let said = call(text, &all, *line, first);
        for one in found.iter().filter(|one| one.line == *line && counted(one)).take(1) {
            let message = said.clone().map(|said| {
                let compiler = one.message.split_once(" (the compiler says").map_or("", |(_, rest)| rest);
                if compiler.is_empty() { said } else { format!("{said} (the compiler says{compiler}") }
            });
            kept.push(Diagnostic { message: message.unwrap_or_else(|| one.message.clone()), ..one.clone() });
        }
    }
    if kept.is_empty() {
        return found;
    }
    let mut out = Vec::with_capacity(found.len());
    for one in found {
        let is_of_call = one.file == name && lines.contains(&one.line) && (counted(&one) || of_argument(&one));
        if !is_of_call {
            out.push(one);
        } else if let Some(place) = kept.iter().position(|known| known.line == one.line) {
            out.push(kept.remove(place));
        }
    }
    out
}

/// What is said of the call in a line of a function that the source defines.
fn call(text: &str, all: &[Token<'_>], line: u32, first: Option<u32>) -> Option<String> {
    let is_call = |at: &usize| {
        all[*at].kind == Kind::Word
            && line_of(text, all[*at].at) == line
            && all.get(at + 1).is_some_and(|next| next.text == "(")
            && definition(all, all[*at].text, *at).is_some()
    };
    let at = (0..all.len()).find(is_call)?;
    let name = all[at].plain();
    let params = parts(all, definition(all, all[at].text, at)?)?;
    let given = parts(all, at + 1)?;
    if params.len() == given.len() {
        return None;
    }
    let words = |part: &[Token<'_>]| match (part.first(), part.last()) {
        (Some(first), Some(last)) => text[first.at..last.end].split_whitespace().collect::<Vec<_>>().join(" "),
        _ => String::new(),
    };
    let start = text.lines().take(line as usize - 1).map(|line| line.len() + 1).sum::<usize>();
    let wrong = first.and_then(|column| {
        let byte = start + text[start..].char_indices().nth(column as usize - 1)?.0;
        given.iter().position(|part| {
            part.first().is_some_and(|first| first.at <= byte) && part.last().is_some_and(|last| byte < last.end)
        })
    });
    let fit = match wrong {
        Some(index) if index < params.len() => format!(
            ": the first that does not fit is argument {}, `{}`, where `{}` is expected",
            index + 1,
            words(given[index]),
            words(params[index])
        ),
        _ => String::new(),
    };
    let verb = |count: usize| if count == 1 { "1 argument".to_owned() } else { format!("{count} arguments") };
    Some(format!("`{name}` takes {}, and this call gives {}{fit}", verb(params.len()), given.len()))
}

/// Index of the parenthesis after a function's name where it is defined.
fn definition(all: &[Token<'_>], name: &str, not: usize) -> Option<usize> {
    (1..all.len()).find_map(|at| {
        let named = at != not && all[at].text == name && all[at - 1].kind == Kind::Word && all[at - 1].text != "return";
        if !named || all.get(at + 1)?.text != "(" {
            return None;
        }
        let end = closing(all, at + 1)?;
        (all.get(end + 1)?.text == "{").then_some(at + 1)
    })
}

/// What stands between the commas of a parenthesis.
fn parts<'t, 'a>(all: &'t [Token<'a>], open: usize) -> Option<Vec<&'t [Token<'a>]>> {
    let close = closing(all, open)?;
    let (mut depth, mut from, mut found) = (0_i32, open + 1, Vec::new());
    for at in open + 1..close {
        match all[at].text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            "," if depth == 0 => {
                found.push(&all[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    if close > open + 1 {
        found.push(&all[from..close]);
    }
    Some(found)
}

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

    fn error(line: u32, column: u32, message: &str) -> Diagnostic {
        Diagnostic { severity: Severity::Error, file: "kernel.cu".into(), line, column, message: message.into() }
    }

    #[test]
    fn a_call_with_too_many_arguments_is_told_of_once() {
        let text = "__device__ void axpy(int n, float a, const float* x) { }\n__global__ void k(float* x, int n)\n{\n    axpy(n, &n, x, \
                    1);\n    int y = z;\n}\n";
        let found = one_for_a_call(
            vec![
                error(4, 13, "argument of type \"int *\" is incompatible with parameter of type \"float\""),
                error(4, 20, "this call passes more (the compiler says: too many arguments in function call)"),
                error(5, 13, "identifier \"z\" is undefined"),
            ],
            text,
            "kernel.cu",
        );
        assert_eq!(found.len(), 2, "{found:?}");
        let words = "`axpy` takes 3 arguments, and this call gives 4: the first that does not fit is argument 2, `&n`, where `float a` is";
        assert!(found[0].message.starts_with(words) && found[0].message.contains("too many arguments"), "{found:?}");
        // Nothing is known of what the source does not define.
        let other = vec![error(1, 3, "x (the compiler says: too few arguments in function call)")];
        assert_eq!(one_for_a_call(other.clone(), "  f(1);\n", "kernel.cu"), other);
        let one = vec![error(4, 13, "argument of type \"int *\" is incompatible with parameter of type \"float\"")];
        assert_eq!(one_for_a_call(one.clone(), text, "kernel.cu"), one);
    }

    #[test]
    fn variables_of_three_numbers_and_misplaced_bounds_are_named() {
        let operator = words("no operator \"*\" matches these operands", "int i = blockIdx * blockDim + threadIdx;");
        assert!(operator.is_some_and(|words| words.contains("blockIdx.x * blockDim.x")));
        assert_eq!(words("no operator \"*\" matches these operands", "a * b;"), None);
        let bounds = words("attributes are not allowed here", "__launch_bounds__(64)");
        assert!(bounds.is_some_and(|words| words.contains("between `void` and the kernel's name")));
        assert_eq!(words("attributes are not allowed here", "[[x]]"), None);
        let local = warning("returning pointer to local variable", "    return v;", 12);
        assert!(local.is_some_and(|words| words.starts_with("`v` ends with this function")));
        assert_eq!(warning("variable \"x\" was declared but never referenced", "int x;", 5), None);
    }

    #[test]
    fn notes_that_go_on_about_an_explained_error_are_echoes() {
        let explained = error(5, 1, "words (the compiler says: no operator)");
        let note =
            Diagnostic { severity: Severity::Note, ..error(5, 1, "built-in operator*(<promoted>) does not match") };
        assert!(is_echo(&note, Some(&explained)));
        assert!(!is_echo(&note, Some(&error(5, 1, "no operator"))) && !is_echo(&note, None));
        assert!(!is_echo(&Diagnostic { line: 6, ..note }, Some(&explained)));
    }
}
