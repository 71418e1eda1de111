//! Kernels as the source declares them: names, parameters and types in the learner's own words, which PTX no longer has.

use super::tokens::{Kind, Token, tokens};
use crate::compile::Source;
use serde::{Deserialize, Serialize};

/// A kernel's declaration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    /// With its namespaces: `math::scale`.
    pub name: String,
    /// One-based.
    pub line: u32,
    pub params: Vec<Parameter>,
    /// Parameters of its template, as in `typename T` and `int N`; none for an ordinary kernel.
    pub template: Vec<String>,
    /// Its name in PTX is as written.
    pub extern_c: bool,
    /// It returns nothing, as a kernel has to.
    pub is_void: bool,
}

/// One parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parameter {
    /// Empty where it has none.
    pub name: String,
    /// What it or its elements are, without `const` and `__restrict__`: `float`, `unsigned int`, `T`.
    pub element: String,
    /// It points to elements.
    pub is_pointer: bool,
    /// What it points to may not be written.
    pub is_const: bool,
    pub line: u32,
}

impl Kernel {
    /// Whether `name`, with or without its namespaces, is this kernel.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.name.rsplit("::").next() == Some(name)
    }
}

/// `source` with an explicit instance of a template's kernel, such as `scale<float, 4>`, unless it has one itself.
pub fn instantiated(source: &Source, entry: &str) -> Source {
    let mut source = source.clone();
    let plain = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    if entry.contains('<') && !plain(&source.text).contains(&format!("void{}(", plain(entry))) {
        source.text += &format!("\ntemplate __global__ decltype({entry}) {entry};\n");
    }
    source
}

/// All kernels of a source that have a body, in order.
pub fn kernels(source: &str) -> Vec<Kernel> {
    let all: Vec<Token<'_>> = without_directives(source);
    let mut found: Vec<Kernel> = Vec::new();
    // Names of the scopes that are open; None for braces of another kind.
    let mut scopes: Vec<Option<String>> = Vec::new();
    let mut extern_c_depth: Option<usize> = None;
    let mut at = 0;
    while at < all.len() {
        match all[at].text {
            "{" => scopes.push(None),
            "}" => {
                scopes.pop();
                if extern_c_depth.is_some_and(|depth| scopes.len() < depth) {
                    extern_c_depth = None;
                }
            }
            "namespace" => {
                let end = (at + 1..all.len()).find(|&i| matches!(all[i].text, "{" | ";" | "=")).unwrap_or(all.len());
                if all.get(end).is_some_and(|token| token.text == "{") {
                    let name: String = all[at + 1..end].iter().map(|token| token.plain()).collect();
                    scopes.push(Some(name));
                }
                at = end;
            }
            "extern"
                if all.get(at + 1).is_some_and(|next| next.text == "\"C\"")
                    && all.get(at + 2).is_some_and(|next| next.text == "{") =>
            {
                scopes.push(None);
                extern_c_depth.get_or_insert(scopes.len());
                at += 2;
            }
            "__global__" => {
                if let Some((mut kernel, end)) = kernel(source, &all, at) {
                    kernel.extern_c |= extern_c_depth.is_some();
                    let spaces: Vec<&str> =
                        scopes.iter().flatten().map(String::as_str).filter(|name| !name.is_empty()).collect();
                    if !spaces.is_empty() {
                        kernel.name = format!("{}::{}", spaces.join("::"), kernel.name);
                    }
                    found.push(kernel);
                    at = end;
                    continue;
                }
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Code alone: no blanks, comments and lines of the preprocessor.
pub(super) fn without_directives(source: &str) -> Vec<Token<'_>> {
    let mut kept = Vec::new();
    let mut in_directive = false;
    for token in tokens(source) {
        if token.first_on_line && token.kind != Kind::Space {
            in_directive = token.text == "#";
        }
        if token.kind != Kind::Space && !in_directive {
            kept.push(token);
        }
    }
    kept
}

/// One-based line of a byte.
pub(super) fn line_of(source: &str, at: usize) -> u32 {
    let before = source.as_bytes().get(..at).unwrap_or(source.as_bytes());
    u32::try_from(1 + before.iter().filter(|byte| **byte == b'\n').count()).unwrap_or(u32::MAX)
}

/// Reads the declaration around `__global__`; with the index of its opening brace. None where there is no body.
fn kernel(source: &str, all: &[Token<'_>], global: usize) -> Option<(Kernel, usize)> {
    let text = |i: usize| all.get(i).map_or("", |token| token.text);
    // The parameter list is the parenthesis after a name that is no attribute.
    let mut at = global + 1;
    let open = loop {
        match text(at) {
            "" | ";" | "{" | "}" => return None,
            "__launch_bounds__" | "__attribute__" | "__cluster_dims__" | "__block_size__" | "__maxnreg__"
            | "alignas" | "__declspec" => at = closing(all, at + 1)? + 1,
            "(" => break at,
            _ => at += 1,
        }
    };
    let name = all.get(open.checked_sub(1)?).filter(|token| token.kind == Kind::Word)?;
    let close = closing(all, open)?;
    let body = (close + 1..all.len()).find(|&i| matches!(text(i), "{" | ";"))?;
    if text(body) != "{" {
        return None;
    }
    // Back to where the declaration begins.
    let start = (0..global).rev().find(|&i| matches!(text(i), ";" | "}" | "{")).map_or(0, |before| before + 1);
    let head = &all[start..global];
    let extern_c = head.iter().any(|token| token.text == "\"C\"");
    let mut template = Vec::new();
    if let Some(opening) = head.iter().position(|token| token.text == "template") {
        let (mut depth, mut current) = (0i32, Vec::new());
        for token in &head[opening + 1..] {
            match token.text {
                "<" => {
                    depth += 1;
                    if depth == 1 {
                        continue;
                    }
                }
                ">" => depth -= 1,
                "," if depth == 1 => {
                    template.push(current.join(" "));
                    current = Vec::new();
                    continue;
                }
                _ => {}
            }
            if depth == 0 {
                break;
            }
            current.push(token.plain());
        }
        if !current.is_empty() {
            template.push(current.join(" "));
        }
    }
    let mut params = Vec::new();
    let (mut depth, mut first) = (0i32, open + 1);
    for i in open + 1..=close {
        match text(i) {
            "(" | "[" | "{" | "<" => depth += 1,
            ")" if i < close => depth -= 1,
            "]" | "}" | ">" => depth -= 1,
            _ => {}
        }
        if (text(i) == "," && depth == 0) || i == close {
            params.extend(parameter(source, &all[first..i]));
            first = i + 1;
        }
    }
    let line = line_of(source, name.at);
    let is_void = all[start..open].iter().any(|token| token.text == "void");
    Some((Kernel { name: name.plain(), line, params, template, extern_c, is_void }, body))
}

/// Index of the parenthesis that closes the one at `open`.
fn closing(all: &[Token<'_>], open: usize) -> Option<usize> {
    let mut depth = 0i32;
    for (i, token) in all.iter().enumerate().skip(open) {
        match token.text {
            "(" => depth += 1,
            ")" => {
                depth -= 1;
                if depth == 0 {
                    return Some(i);
                }
            }
            _ if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

fn parameter(source: &str, tokens: &[Token<'_>]) -> Option<Parameter> {
    // A default value says nothing of the type.
    let end = tokens.iter().position(|token| token.text == "=").unwrap_or(tokens.len());
    let tokens = &tokens[..end];
    let line = line_of(source, tokens.first()?.at);
    if tokens.len() == 1 && tokens[0].text == "void" {
        return None;
    }
    let is_array = tokens.iter().any(|token| token.text == "[");
    let until = tokens.iter().position(|token| token.text == "[").unwrap_or(tokens.len());
    let star = tokens.iter().position(|token| token.text == "*");
    let is_pointer = is_array || star.is_some();
    let skip = |text: &str| {
        matches!(
            text,
            "const"
                | "volatile"
                | "__restrict__"
                | "__restrict"
                | "restrict"
                | "__grid_constant__"
                | "struct"
                | "register"
        )
    };
    let is_const = is_pointer && tokens[..star.unwrap_or(until)].iter().any(|token| token.text == "const");
    let words: Vec<&Token<'_>> =
        tokens[..until].iter().filter(|token| !skip(token.text) && !matches!(token.text, "*" | "&")).collect();
    // The name is the last word, unless the type has but one.
    let last = words.last()?;
    let builtin = |text: &str| {
        matches!(text, "int" | "float" | "double" | "char" | "short" | "long" | "unsigned" | "signed" | "bool")
    };
    let has_name =
        last.kind == Kind::Word && words.len() > 1 && !builtin(last.text) && words[words.len() - 2].text != "::";
    let type_words = &words[..words.len() - usize::from(has_name)];
    let mut element = String::new();
    for word in type_words {
        let glued = word.text == "::"
            || element.ends_with("::")
            || matches!(word.text, "<" | ">" | ",")
            || element.ends_with('<');
        if !element.is_empty() && !glued {
            element.push(' ');
        }
        element.push_str(&word.plain());
    }
    let name = if has_name { last.plain() } else { String::new() };
    Some(Parameter { name, element, is_pointer, is_const, line })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_types_and_places_are_the_learners() {
        let source = "#define K __global__ void no(int x) {\n// __global__ void no2() {}\nextern \"C\" __global__ void __launch_bounds__(256, 2)\n\
                      add(const float* __restrict__ a, float *b, unsigned int n, bool flag)\n{ }\n\
                      namespace math { namespace { } template <typename T, int N> __global__ void scale(T* x, const T s) { if (1) {} } }\n\
                      __global__ void later(int);\n__global__ void later(int n) {}\n";
        let found = kernels(source);
        let names: Vec<&str> = found.iter().map(|kernel| kernel.name.as_str()).collect();
        assert_eq!(names, ["add", "math::scale", "later"]);
        let add = &found[0];
        assert!(add.extern_c && add.line == 4 && add.template.is_empty());
        let shown: Vec<_> =
            add.params.iter().map(|p| (p.name.as_str(), p.element.as_str(), p.is_pointer, p.is_const)).collect();
        assert_eq!(
            shown,
            [
                ("a", "float", true, true),
                ("b", "float", true, false),
                ("n", "unsigned int", false, false),
                ("flag", "bool", false, false)
            ]
        );
        assert_eq!(found[1].template, ["typename T", "int N"]);
        assert!(found[1].is_called("scale") && found[1].is_called("math::scale") && !found[1].is_called("cale"));
        assert!(!found[1].extern_c);
    }

    #[test]
    fn declarations_that_are_odd_do_no_harm() {
        for source in [
            "__global__",
            "__global__ void",
            "__global__ void f(",
            "__global__ void f()",
            "}}}",
            "namespace {",
            "template <",
            "__global__ void __launch_bounds__(",
            "__global__ void f(int (*)[3], float x[4], ...) {}",
        ] {
            kernels(source);
        }
        let block = kernels("extern \"C\" { __global__ void f(const float x[], Pair<int, float> p = {}) {} }");
        assert!(block[0].extern_c);
        assert_eq!(
            block[0].params[0],
            Parameter { name: "x".into(), element: "float".into(), is_pointer: true, is_const: true, line: 1 }
        );
        assert_eq!(block[0].params[1].name, "p");
    }
}
