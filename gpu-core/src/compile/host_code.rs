//! The host's part of a pasted program: `main`, launches, copies. Lockstep allocates, copies and launches itself, so that part is
//! left out and the kernels run where they stand alone.

use super::declared::{line_of, without_directives};
use super::tokens::{Kind, Token};
use std::collections::BTreeSet;

/// A text without its host code.
#[derive(Debug, PartialEq, Eq)]
pub struct Stripped {
    /// With blanks in place of what was left out: lines and columns stay.
    pub text: String,
    /// Name of what was left out, with its first and last line.
    pub left_out: Vec<(String, u32, u32)>,
}

/// A declaration outside of functions.
struct Item {
    start: usize,
    end: usize,
    /// Its name, where it may belong to the host.
    host: Option<String>,
    words: BTreeSet<String>,
}

/// Leaves out functions and variables that are the host's and that no kernel uses. None where there are none.
pub fn strip(text: &str) -> Option<Stripped> {
    let all = without_directives(text);
    let mut items = Vec::new();
    read_items(&all, 0, all.len(), &mut items);
    if !items.iter().any(|item| item.host.is_some()) {
        return None;
    }
    // What kernels use must stay, and what that uses: the compiler then says what is wrong with it.
    let mut used: BTreeSet<String> =
        items.iter().filter(|item| item.host.is_none()).flat_map(|item| item.words.iter().cloned()).collect();
    let mut kept = vec![false; items.len()];
    loop {
        let next = (0..items.len())
            .find(|&i| !kept[i] && items[i].host.as_ref().is_some_and(|name| name != "main" && used.contains(name)));
        let Some(next) = next else { break };
        kept[next] = true;
        used.extend(items[next].words.iter().cloned());
    }
    let out: Vec<&Item> =
        items.iter().enumerate().filter(|(i, item)| item.host.is_some() && !kept[*i]).map(|(_, item)| item).collect();
    if out.is_empty() {
        return None;
    }
    let mut left = String::with_capacity(text.len());
    let mut at = 0;
    for item in &out {
        left.push_str(&text[at..item.start]);
        left.extend(text[item.start..item.end].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        at = item.end;
    }
    left.push_str(&text[at..]);
    let left_out = out
        .iter()
        .map(|item| {
            (
                item.host.clone().unwrap_or_default(),
                line_of(text, item.start),
                line_of(text, item.end.saturating_sub(1)),
            )
        })
        .collect();
    Some(Stripped { text: left, left_out })
}

/// Index of the token that closes the brace at `open`.
fn closing(all: &[Token<'_>], open: usize, end: usize) -> usize {
    let mut depth = 0;
    for (i, token) in all.iter().enumerate().take(end).skip(open) {
        match token.text {
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                if depth == 0 {
                    return i;
                }
            }
            _ => {}
        }
    }
    end.saturating_sub(1)
}

fn read_items(all: &[Token<'_>], from: usize, end: usize, items: &mut Vec<Item>) {
    let mut at = from;
    while at < end {
        if all[at].text == ";" || all[at].text == "}" {
            at += 1;
            continue;
        }
        let start = at;
        // To the semicolon or the first brace outside of parentheses.
        let mut depth = 0i32;
        let stop = (start..end).find(|&i| {
            match all[i].text {
                "(" | "[" => depth += 1,
                ")" | "]" => depth -= 1,
                _ => {}
            }
            depth <= 0 && matches!(all[i].text, ";" | "{")
        });
        let Some(stop) = stop else { return };
        let head = &all[start..stop];
        let has = |word: &str| head.iter().any(|token| token.text == word);
        if all[stop].text == "{"
            && (head
                .first()
                .is_some_and(|first| first.text == "namespace" || first.text == "inline" && has("namespace"))
                || is_linkage_block(head))
        {
            let close = closing(all, stop, end);
            read_items(all, stop + 1, close, items);
            at = close + 1;
            continue;
        }
        let mut last = if all[stop].text == "{" { closing(all, stop, end) } else { stop };
        // An initialiser in braces, or a type's body, goes on to its semicolon.
        let is_function = all[stop].text == "{"
            && head.iter().any(|token| token.text == "(")
            && !has("=")
            && !has("struct")
            && !has("class");
        if all[stop].text == "{" && !is_function {
            last = (last..end).find(|&i| all[i].text == ";").unwrap_or(last);
        }
        let whole = &all[start..=last.min(end - 1)];
        let words = whole.iter().filter(|token| token.kind == Kind::Word).map(Token::plain).collect();
        let host = host_name(head, is_function, all[stop].text == ";");
        items.push(Item { start: all[start].at, end: all[last.min(end - 1)].end, host, words });
        at = last + 1;
    }
}

fn is_linkage_block(head: &[Token<'_>]) -> bool {
    head.len() == 2 && head[0].text == "extern" && head[1].kind == Kind::Literal
}

/// The name of a declaration that is the host's: nothing in its head says that it is the device's, and it is a function or a
/// variable.
fn host_name(head: &[Token<'_>], is_function: bool, ends_plainly: bool) -> Option<String> {
    const OURS: [&str; 6] =
        ["__global__", "__device__", "__constant__", "__shared__", "__managed__", "__grid_constant__"];
    const OTHER: [&str; 14] = [
        "using",
        "typedef",
        "struct",
        "class",
        "enum",
        "union",
        "static_assert",
        "constexpr",
        "concept",
        "asm",
        "friend",
        "consteval",
        "template",
        "const",
    ];
    let has = |words: &[&str]| head.iter().any(|token| words.contains(&token.text));
    if has(&OURS) {
        return None;
    }
    let open = head.iter().position(|token| token.text == "(");
    if is_function {
        // A template or a constexpr function may well be for both; without a mark only the compiler can say.
        if has(&["constexpr", "consteval", "operator"]) {
            return None;
        }
        return head[..open?].last().filter(|token| token.kind == Kind::Word).map(Token::plain);
    }
    if !ends_plainly && !has(&["="]) || has(&OTHER) {
        return None;
    }
    // A macro's call looks like a declaration with no type.
    if let Some(open) = open.filter(|_| !has(&["="])) {
        let name = head[..open].last().filter(|token| token.kind == Kind::Word)?;
        return (open > 1).then(|| name.plain());
    }
    let end = head.iter().position(|token| matches!(token.text, "=" | "[" | "{")).unwrap_or(head.len());
    let name = head[..end].last().filter(|token| token.kind == Kind::Word)?;
    (end > 1).then(|| name.plain())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "#include <cstdio>\n#define N 4\n#define CHECK(x) do { x; } while (0)\nconst int SIZE = 3;\nint* host_data;\n\
                           struct Pair { int a; int b; };\n__device__ float half_of(float x) { return x / 2; }\n\
                           extern \"C\" __global__ void k(float* a) { a[threadIdx.x] = half_of(SIZE); }\n\
                           void fill(float* a) { for (int i = 0; i < N; i++) a[i] = i; }\n\
                           int main(int argc, char** argv)\n{\n    float* d;\n    CHECK(cudaMalloc(&d, N));\n    k<<<1, N>>>(d);\n    return 0;\n}\n";

    #[test]
    fn the_host_part_goes_and_the_lines_stay() {
        let found = strip(PROGRAM).unwrap();
        let names: Vec<&str> = found.left_out.iter().map(|(name, ..)| name.as_str()).collect();
        assert_eq!(names, ["host_data", "fill", "main"]);
        assert_eq!(found.left_out[2], ("main".to_owned(), 10, 16));
        assert_eq!(found.text.lines().count(), PROGRAM.lines().count());
        assert_eq!(found.text.len(), PROGRAM.len());
        for kept in ["#include <cstdio>", "const int SIZE = 3;", "struct Pair", "half_of(float x)", "a[threadIdx.x]"] {
            assert!(found.text.contains(kept), "{kept}");
        }
        assert!(!found.text.contains("cudaMalloc"));
    }

    #[test]
    fn what_a_kernel_uses_stays() {
        let text = "int twice(int x) { return 2 * x; }\nint four() { return twice(2); }\n__global__ void k(int* a) { a[0] = four(); }\nint main() {}\n";
        let found = strip(text).unwrap();
        assert_eq!(found.left_out.len(), 1, "{found:?}");
        assert!(found.text.contains("int twice") && found.text.contains("int four"));
    }

    #[test]
    fn kernels_alone_are_left_alone() {
        for text in [
            "",
            "{",
            "}",
            "extern \"C\" __global__ void k(float* a) { a[0] = 1; }",
            "namespace n { template <typename T> __device__ T f(T x) { return x; } }\n__constant__ float c[3];",
            "constexpr int f(int x) { return x; }\nusing T = int;\nenum E { A, B };\nstatic_assert(true);",
            "template <int N> struct S { int a[N]; };\nconst int table[2] = {1, 2};",
        ] {
            assert_eq!(strip(text), None, "{text}");
        }
    }
}
