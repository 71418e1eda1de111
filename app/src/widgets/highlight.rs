//! CUDA C++ text to coloured spans, for the editor and for code blocks in lessons.
//!
//! The grammar crate ships a query that only covers what CUDA adds to C++, so the syntax tree is walked here. A walk
//! also lets the editor ask for the visible lines alone: an edit then costs an incremental parse plus a screenful.

use crate::builtins::{self, Kind};
use std::ops::Range;
use tree_sitter::{InputEdit, Node, Parser, Point, Tree};

/// What a piece of text is. The theme gives each a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// Names of variables and fields, and whatever the grammar does not know.
    Plain,
    Keyword,
    /// `float`, `size_t`, names of classes.
    Type,
    /// What CUDA adds: `__global__`, `__shared__`, `<<<` and `>>>`.
    Qualifier,
    /// Variables and functions that every kernel has without an include: `threadIdx`, `__syncthreads`, `atomicAdd`.
    Builtin,
    /// A function where it is declared or called.
    Function,
    Number,
    /// String and character literals.
    Text,
    Comment,
    /// `#include`, `#define` and names of macros where they are defined.
    Preprocessor,
    Operator,
}

impl TokenKind {
    /// Every kind, for the theme's table and for tests that walk it.
    pub const ALL: [TokenKind; 11] = [
        TokenKind::Plain,
        TokenKind::Keyword,
        TokenKind::Type,
        TokenKind::Qualifier,
        TokenKind::Builtin,
        TokenKind::Function,
        TokenKind::Number,
        TokenKind::Text,
        TokenKind::Comment,
        TokenKind::Preprocessor,
        TokenKind::Operator,
    ];
}

/// A coloured piece: byte range in the text and its kind. Spans are in order and do not overlap; what lies between
/// them is [`TokenKind::Plain`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    pub range: Range<usize>,
    pub kind: TokenKind,
}

/// A parsed text that follows edits. Cheap to keep: one tree and one copy of the text.
pub struct Highlighter {
    parser: Parser,
    tree: Option<Tree>,
    text: String,
}

impl Default for Highlighter {
    fn default() -> Self {
        let mut parser = Parser::new();
        // An incompatible grammar would be a build error of ours; then everything is plain text instead of a panic.
        let _ = parser.set_language(&tree_sitter_cuda::LANGUAGE.into());
        Self { parser, tree: None, text: String::new() }
    }
}

impl Highlighter {
    /// Brings the tree up to date with `text`. Does nothing when it is unchanged; otherwise only what lies between
    /// the common beginning and the common end is parsed again.
    pub fn update(&mut self, text: &str) {
        if self.tree.is_some() && self.text == text {
            return;
        }
        if let Some(tree) = &mut self.tree {
            tree.edit(&edit_between(&self.text, text));
        }
        self.tree = self.parser.parse(text, self.tree.as_ref());
        text.clone_into(&mut self.text);
    }

    /// The text as of the last [`Highlighter::update`].
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The syntax tree as of the last update, for folding, bracket matching and the like.
    pub fn tree(&self) -> Option<&Tree> {
        self.tree.as_ref()
    }

    /// Spans of the whole text.
    pub fn spans(&self) -> Vec<Span> {
        self.spans_in(0..self.text.len())
    }

    /// Spans that touch `range` (bytes). Only the branches of the tree that reach into it are visited.
    pub fn spans_in(&self, range: Range<usize>) -> Vec<Span> {
        let Some(tree) = &self.tree else { return Vec::new() };
        let mut spans: Vec<Span> = Vec::new();
        let mut cursor = tree.walk();
        // Kept here because `Node::parent` searches down from the root each time.
        let mut ancestors: Vec<&str> = Vec::new();
        // An explicit walk and not recursion: a learner's text may nest as deeply as it likes.
        loop {
            let node = cursor.node();
            let touches = node.start_byte() < range.end && node.end_byte() > range.start;
            if touches {
                if let Some(kind) = whole(&node, cursor.field_name(), &ancestors, &self.text) {
                    push(&mut spans, node.byte_range(), kind);
                } else if cursor.goto_first_child() {
                    ancestors.push(node.kind());
                    continue;
                }
            }
            // After a node that reaches the end of the range no later sibling is of interest, nor one of its parents'.
            while cursor.node().end_byte() >= range.end || !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return spans;
                }
                ancestors.pop();
            }
        }
    }
}

/// Spans of a text that will not be edited, such as a lesson's code block.
pub fn highlight(text: &str) -> Vec<Span> {
    let mut highlighter = Highlighter::default();
    highlighter.update(text);
    highlighter.spans()
}

fn push(spans: &mut Vec<Span>, range: Range<usize>, kind: TokenKind) {
    if kind == TokenKind::Plain || range.is_empty() {
        return;
    }
    match spans.last_mut() {
        Some(last) if last.kind == kind && last.range.end == range.start => last.range.end = range.end,
        Some(last) if last.range.end > range.start => {}
        _ => spans.push(Span { range, kind }),
    }
}

/// The kind of a node that is coloured as one piece; None when its children decide. `field` is the role it has in its
/// parent, `ancestors` the kinds of the nodes above it, root first.
fn whole(node: &Node<'_>, field: Option<&str>, ancestors: &[&str], text: &str) -> Option<TokenKind> {
    Some(match node.kind() {
        "comment" => TokenKind::Comment,
        "string_literal" | "raw_string_literal" | "char_literal" | "system_lib_string" => TokenKind::Text,
        "number_literal" => TokenKind::Number,
        "primitive_type" | "sized_type_specifier" | "auto" => TokenKind::Type,
        "type_identifier" | "namespace_identifier" => TokenKind::Type,
        "true" | "false" | "null" | "nullptr" | "this" => TokenKind::Keyword,
        "preproc_directive" => TokenKind::Preprocessor,
        "identifier" | "field_identifier" => {
            let word = text.get(node.byte_range()).unwrap_or_default();
            let called = field == Some("function") && ancestors.last() == Some(&"call_expression");
            if is_builtin(word, called) { TokenKind::Builtin } else { identifier(field, ancestors) }
        }
        _ if node.child_count() > 0 => return None,
        _ if node.is_named() => TokenKind::Plain,
        kind => anonymous(kind),
    })
}

/// A name is coloured by what it does where it stands.
fn identifier(field: Option<&str>, ancestors: &[&str]) -> TokenKind {
    let mut above = ancestors.iter().rev().copied();
    match (above.next(), field) {
        (Some("call_expression"), Some("function")) => TokenKind::Function,
        (Some("function_declarator" | "template_function"), _) => TokenKind::Function,
        (Some("preproc_def" | "preproc_function_def" | "preproc_ifdef"), Some("name")) => TokenKind::Preprocessor,
        (Some("qualified_identifier"), _) | (Some("field_expression"), Some("field"))
            if above.next() == Some("call_expression") =>
        {
            TokenKind::Function
        }
        _ => TokenKind::Plain,
    }
}

/// Tokens that the grammar spells out: keywords, operators and punctuation.
fn anonymous(kind: &str) -> TokenKind {
    match kind {
        "<<<" | ">>>" => TokenKind::Qualifier,
        _ if kind.starts_with('#') => TokenKind::Preprocessor,
        _ if kind.starts_with("__") => TokenKind::Qualifier,
        _ if kind.starts_with(|c: char| c.is_ascii_alphabetic()) => TokenKind::Keyword,
        "(" | ")" | "[" | "]" | "{" | "}" | "," | ";" | "." | "\n" => TokenKind::Plain,
        _ => TokenKind::Operator,
    }
}

/// True for what CUDA provides: the words of [`crate::builtins`], and names with two underscores in front, which the
/// language keeps for itself. A plain word such as `min` must also be called.
fn is_builtin(word: &str, called: bool) -> bool {
    match builtins::find(word) {
        Some(builtin) if builtin.kind == Kind::Function => called || word.starts_with("__"),
        Some(_) => true,
        None => {
            word.starts_with("__")
                || word.strip_prefix("atomic").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_uppercase()))
        }
    }
}

/// The edit that turns `old` into `new`: what lies between their common beginning and common end.
fn edit_between(old: &str, new: &str) -> InputEdit {
    let (a, b) = (old.as_bytes(), new.as_bytes());
    let (prefix, suffix) = curriculum::store::common_ends(old, new);
    let (old_end, new_end) = (a.len() - suffix, b.len() - suffix);
    InputEdit {
        start_byte: prefix,
        old_end_byte: old_end,
        new_end_byte: new_end,
        start_position: point_at(a, prefix),
        old_end_position: point_at(a, old_end),
        new_end_position: point_at(b, new_end),
    }
}

/// Row and byte column, as tree-sitter wants them.
fn point_at(text: &[u8], byte: usize) -> Point {
    let before = &text[..byte];
    let row = before.iter().filter(|&&c| c == b'\n').count();
    let column = before.iter().rev().take_while(|&&c| c != b'\n').count();
    Point { row, column }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str = r#"#include <cuda_fp16.h>
#define TILE 16
// Adds two vectors.
extern "C" __global__ void add(const float* a, float* c, size_t n) {
    __shared__ float tile[TILE];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { c[i] = a[i] + helper(2.0f); }
    __syncthreads();
    atomicAdd(c, 1.0f);
    printf("%d\n", i);
}
"#;

    fn kind_of(text: &str, spans: &[Span], word: &str) -> TokenKind {
        let at = text.find(word).unwrap_or_else(|| panic!("{word} is not in the text"));
        spans.iter().find(|span| span.range.contains(&at)).map_or(TokenKind::Plain, |span| span.kind)
    }

    #[test]
    fn colours_what_a_kernel_holds() {
        let spans = highlight(KERNEL);
        for (word, kind) in [
            ("#include", TokenKind::Preprocessor),
            ("<cuda_fp16.h>", TokenKind::Text),
            ("TILE 16", TokenKind::Preprocessor),
            ("// Adds", TokenKind::Comment),
            ("extern", TokenKind::Keyword),
            ("__global__", TokenKind::Qualifier),
            ("void", TokenKind::Type),
            ("add(", TokenKind::Function),
            ("const", TokenKind::Keyword),
            ("float", TokenKind::Type),
            ("size_t", TokenKind::Type),
            ("__shared__", TokenKind::Qualifier),
            ("blockIdx", TokenKind::Builtin),
            ("threadIdx", TokenKind::Builtin),
            ("if", TokenKind::Keyword),
            ("helper", TokenKind::Function),
            ("2.0f", TokenKind::Number),
            ("__syncthreads", TokenKind::Builtin),
            ("atomicAdd", TokenKind::Builtin),
            ("\"%d", TokenKind::Text),
            ("tile[", TokenKind::Plain),
        ] {
            assert_eq!(kind_of(KERNEL, &spans, word), kind, "{word}");
        }
    }

    #[test]
    fn spans_are_ordered_and_inside_the_text() {
        for text in
            [KERNEL, "", "}}}}((((", "/* never closed", "\"open string\nint x;", "αβγ __global__ \u{1F600} void"]
        {
            let mut last = 0;
            for span in highlight(text) {
                assert!(span.range.start >= last && span.range.end <= text.len(), "{span:?} in {text:?}");
                assert!(text.get(span.range.clone()).is_some(), "{span:?} splits a character of {text:?}");
                last = span.range.end;
            }
        }
    }

    #[test]
    fn an_edited_tree_gives_the_same_spans_as_a_fresh_one() {
        let mut edited = Highlighter::default();
        edited.update(KERNEL);
        let mut text = KERNEL.to_owned();
        for (at, remove, insert) in
            [(60, 0, "/* x */"), (10, 5, ""), (120, 30, "é\n\n"), (0, 0, "int q;\n"), (40, 60, "")]
        {
            let at = text.floor_char_boundary(at);
            let end = text.floor_char_boundary(at + remove);
            text.replace_range(at..end, insert);
            edited.update(&text);
            assert_eq!(edited.spans(), highlight(&text), "after editing at {at}");
        }
    }

    #[test]
    fn a_window_of_the_text_gives_the_spans_that_touch_it() {
        let mut highlighter = Highlighter::default();
        highlighter.update(KERNEL);
        let all = highlighter.spans();
        for start in (0..KERNEL.len()).step_by(7) {
            let range = start..(start + 40).min(KERNEL.len());
            let expected: Vec<_> =
                all.iter().filter(|s| s.range.start < range.end && s.range.end > range.start).cloned().collect();
            assert_eq!(highlighter.spans_in(range.clone()), expected, "{range:?}");
        }
    }

    #[test]
    fn deep_nesting_does_not_overflow_the_stack() {
        let text = format!("int x = {}1{};", "(".repeat(20_000), ")".repeat(20_000));
        assert!(highlight(&text).iter().any(|span| span.kind == TokenKind::Number));
    }

    /// Speed of an edit in a long file; run with `--ignored --nocapture`.
    #[test]
    #[ignore = "a measurement"]
    fn time_of_an_edit_in_5000_lines() {
        let mut text = KERNEL.repeat(5000 / KERNEL.lines().count());
        let mut highlighter = Highlighter::default();
        let clock = std::time::Instant::now();
        highlighter.update(&text);
        println!("full parse {:?}", clock.elapsed());
        let at = text.len() / 2;
        text.insert(at, 'x');
        let clock = std::time::Instant::now();
        highlighter.update(&text);
        println!("edit {:?}", clock.elapsed());
        let clock = std::time::Instant::now();
        let count = highlighter.spans_in(at..at + 3000).len();
        println!("{count} visible spans {:?}", clock.elapsed());
        let clock = std::time::Instant::now();
        let count = highlighter.spans().len();
        println!("{count} spans {:?}", clock.elapsed());
    }
}
