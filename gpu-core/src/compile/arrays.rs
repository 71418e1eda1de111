//! Arrays as the source declares them, so that a fault in one says `tile[8][0]` and `best[4]`, and not a number of elements in
//! memory without a name.

use super::declared::{line_of, without_directives};
use super::tokens::{Kind, Token};
use crate::spec::{Dtype, Expr, Size, macros};
use ptx_emulator::Fault;
use serde::{Deserialize, Serialize};

/// What the emulator calls a thread's local arrays, which have no names in PTX.
const STACK: &str = "`the thread's stack`";

/// A shared or local array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Array {
    pub name: String,
    /// Bytes of an element.
    pub element_bytes: u64,
    pub extents: Vec<u64>,
    pub is_shared: bool,
    /// Lines in which it is indexed.
    pub used: Vec<u32>,
}

/// Arrays of a source whose extents are numbers, or constants of it.
pub fn arrays(source: &str, options: &[String]) -> Vec<Array> {
    let all = without_directives(source);
    let defined = macros::integers(source, options);
    let extent = |text: &str| {
        let value = Expr(macros::expand(text, &defined)).eval(&Size::new()).ok()?;
        u64::try_from(value).ok().filter(|value| *value > 0)
    };
    let mut found: Vec<Array> = Vec::new();
    for at in 1..all.len() {
        let Some((extents, after)) = brackets(source, &all, at + 1) else { continue };
        let declares = matches!(all.get(after).map(|token| token.text), Some(";" | "," | "=" | "{"));
        if all[at].kind != Kind::Word || !declares {
            continue;
        }
        // Back over what is declared before it to the type.
        let start = (0..at).rev().find(|&i| matches!(all[i].text, ";" | "{" | "}")).map_or(0, |before| before + 1);
        let mut words = all[start..at]
            .iter()
            .filter(|token| !matches!(token.text, "const" | "static" | "volatile" | "__shared__" | "extern"));
        let Some(element_bytes) = words.next().and_then(|first| bytes_of(&all[start..at], first)) else { continue };
        let extents: Option<Vec<u64>> = extents.iter().map(|text| extent(text)).collect();
        let Some(extents) = extents else { continue };
        let name = all[at].plain();
        let is_shared = all[start..at].iter().any(|token| token.text == "__shared__");
        let used = all
            .windows(2)
            .filter(|pair| pair[0].text == name && pair[1].text == "[" && pair[0].at != all[at].at)
            .map(|pair| line_of(source, pair[0].at))
            .collect();
        found.push(Array { name, element_bytes, extents, is_shared, used });
    }
    found
}

/// Texts between the brackets from `at` on, and the index behind the last.
fn brackets(source: &str, all: &[Token<'_>], at: usize) -> Option<(Vec<String>, usize)> {
    let mut extents = Vec::new();
    let mut next = at;
    while all.get(next).is_some_and(|token| token.text == "[") {
        let close = (next..all.len()).find(|&i| all[i].text == "]")?;
        extents.push(source[all[next].end..all[close].at].to_owned());
        next = close + 1;
    }
    (!extents.is_empty()).then_some((extents, next))
}

/// Bytes of the type that a declaration begins with.
fn bytes_of(declaration: &[Token<'_>], first: &Token<'_>) -> Option<u64> {
    let from = declaration.iter().position(|token| token.at == first.at)?;
    let longest = declaration[from..].iter().take_while(|token| token.kind == Kind::Word).count();
    (1..=longest).rev().find_map(|count| {
        let words: Vec<&str> = declaration[from..from + count].iter().map(|token| token.text).collect();
        Dtype::of_cpp(&words.join(" ")).map(|dtype| dtype.bytes() as u64)
    })
}

/// Rewrites a fault's message with the names and indices of the source.
pub fn name(fault: &mut Fault, arrays: &[Array]) {
    for array in arrays.iter().filter(|array| array.is_shared && array.extents.len() > 1) {
        let before = format!("`{}`[", array.name);
        let mut text = String::new();
        let mut rest = fault.message.as_str();
        let mut changed = false;
        while let Some(at) = rest.find(&before) {
            let digits = &rest[at + before.len()..];
            let index = digits.split(']').next().and_then(|number| number.parse::<u64>().ok());
            text.push_str(&rest[..at]);
            match index.filter(|_| u64::from(fault.access_bytes) == array.element_bytes) {
                Some(index) => {
                    text.push_str(&format!("`{}`{}", array.name, array.index(index)));
                    rest = digits.split_once(']').map_or("", |(_, rest)| rest);
                    changed = true;
                }
                None => {
                    text.push_str(&before);
                    rest = digits;
                }
            }
        }
        text.push_str(rest);
        if changed {
            let extents: String = array.extents.iter().map(|extent| format!("[{extent}]")).collect();
            fault.message = format!("{text}; `{}` has the shape {extents}", array.name);
        }
    }
    if !fault.message.contains(STACK) {
        return;
    }
    let line = fault.source.as_ref().map_or(0, |source| source.line);
    let mut here = arrays.iter().filter(|array| !array.is_shared && array.used.contains(&line));
    if let (Some(array), None) = (here.next(), here.next()) {
        let bytes = array.extents.iter().fold(array.element_bytes, |all, extent| all.saturating_mul(*extent));
        let alone = fault.allocation.as_ref().is_some_and(|allocation| allocation.bytes == bytes);
        let name =
            if alone { format!("`{}`", array.name) } else { format!("the local arrays, at `{}`: `stack`", array.name) };
        fault.message = fault.message.replace(STACK, &name);
    }
}

impl Array {
    /// `[8][0]` of element 64 of `[8][8]`; past the end the first index goes on.
    fn index(&self, element: u64) -> String {
        let mut rest = element;
        let mut parts: Vec<u64> = Vec::new();
        for extent in self.extents[1..].iter().rev() {
            parts.push(rest % extent);
            rest /= extent;
        }
        parts.push(rest);
        parts.iter().rev().map(|part| format!("[{part}]")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_emulator::{FaultKind, SourceLine};

    const SOURCE: &str = "#define TILE 8\nextern \"C\" __global__ void k(float* a)\n{\n    constexpr int MOST = 4;\n    \
                          __shared__ float s[TILE][TILE + 1], t[3];\n    unsigned int best[MOST];\n    extern __shared__ float d[];\n    \
                          best[0] = 1;\n    s[0][1] = a[threadIdx.x] + best[4];\n}\n";

    fn fault(message: &str, line: u32, bytes: u64) -> Fault {
        Fault {
            kind: FaultKind::OutOfBounds,
            message: message.into(),
            kernel: String::new(),
            launch: None,
            source: Some(SourceLine { file: "kernel.cu".into(), line, column: 1 }),
            inlined_at: None,
            instruction: String::new(),
            thread: None,
            space: None,
            access: None,
            address: None,
            access_bytes: 4,
            allocation: Some(ptx_emulator::AllocationRef { name: "x".into(), base: 0, bytes, offset: 0 }),
            other: None,
            occurrences: 1,
        }
    }

    #[test]
    fn extents_are_numbers_macros_and_constants() {
        let found = arrays(SOURCE, &[]);
        let shown: Vec<(&str, &[u64], bool)> =
            found.iter().map(|a| (a.name.as_str(), &a.extents[..], a.is_shared)).collect();
        assert_eq!(shown, [("s", &[8, 9][..], true), ("t", &[3], true), ("best", &[4], false)]);
        assert_eq!(found[2].used, [8, 9]);
        for odd in ["", "[", "a[", "float x[", "float [3];", "int a[0], b[-1];", "x = a[3];"] {
            assert_eq!(arrays(odd, &[]), [], "{odd}");
        }
    }

    #[test]
    fn messages_have_the_sources_indices() {
        let found = arrays(SOURCE, &[]);
        let mut shared = fault("thread reads `s`[72] (elements of 4 bytes), 4 bytes past its end", 9, 288);
        name(&mut shared, &found);
        assert_eq!(
            shared.message,
            "thread reads `s`[8][0] (elements of 4 bytes), 4 bytes past its end; `s` has the shape [8][9]"
        );
        let mut local = fault("thread reads `the thread's stack`[4] (elements of 4 bytes)", 9, 16);
        name(&mut local, &found);
        assert_eq!(local.message, "thread reads `best`[4] (elements of 4 bytes)");
        let mut other = fault("thread reads `t`[3]", 9, 12);
        name(&mut other, &found);
        assert_eq!(other.message, "thread reads `t`[3]");
    }
}
