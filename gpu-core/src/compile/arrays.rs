//! Arrays as the source declares them, so that a fault in one says `tile[8][0]` and `best[4]`, and not a number of elements in
//! memory without a name.

use super::declared::{line_of, without_directives};
use super::tokens::{Kind, Token};
use crate::spec::{Dtype, Expr, Size, macros};
use ptx_emulator::{Fault, FaultKind};
use serde::{Deserialize, Serialize};

/// What the emulator calls a thread's local arrays, which have no names in PTX.
const STACK: &str = "`the thread's stack`";

/// A shared or local array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Array {
    pub name: String,
    /// Bytes of an element.
    pub element_bytes: u64,
    /// Parts of an element: 3 of a `float3`, 1 of a number.
    pub parts: u64,
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
        let Some((element_bytes, parts)) = words.next().and_then(|first| bytes_of(&all[start..at], first)) else {
            continue;
        };
        let extents: Option<Vec<u64>> = extents.iter().map(|text| extent(text)).collect();
        let Some(extents) = extents else { continue };
        let name = all[at].plain();
        let is_shared = all[start..at].iter().any(|token| token.text == "__shared__");
        let used = all
            .windows(2)
            .filter(|pair| pair[0].text == name && pair[1].text == "[" && pair[0].at != all[at].at)
            .map(|pair| line_of(source, pair[0].at))
            .collect();
        found.push(Array { name, element_bytes, parts, extents, is_shared, used });
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

/// Bytes of the type that a declaration begins with, and of how many parts it is made.
fn bytes_of(declaration: &[Token<'_>], first: &Token<'_>) -> Option<(u64, u64)> {
    let from = declaration.iter().position(|token| token.at == first.at)?;
    let longest = declaration[from..].iter().take_while(|token| token.kind == Kind::Word).count();
    (1..=longest).rev().find_map(|count| {
        let words: Vec<&str> = declaration[from..from + count].iter().map(|token| token.text).collect();
        let number = Dtype::of_cpp(&words.join(" ")).map(|dtype| (dtype.bytes() as u64, 1));
        let vector = || match words[..] {
            [one] => vector(one),
            _ => None,
        };
        number.or_else(vector)
    })
}

/// Bytes and parts of CUDA's own vectors: `float3`, `int4`.
fn vector(name: &str) -> Option<(u64, u64)> {
    let parts = u64::from(name.chars().last()?.to_digit(10)?);
    let of = Dtype::of_cpp(name.strip_suffix(['2', '3', '4'])?)?;
    let is_one = matches!(
        of,
        Dtype::F32 | Dtype::F64 | Dtype::I32 | Dtype::U32 | Dtype::I16 | Dtype::U16 | Dtype::I8 | Dtype::U8
    );
    is_one.then_some((of.bytes() as u64 * parts, parts))
}

/// Rewrites a fault's message with the names and indices of the source. `block` is the shape of the launch's blocks, where there
/// is one launch.
pub fn name(fault: &mut Fault, arrays: &[Array], block: Option<[u32; 3]>) {
    for array in arrays.iter().filter(|array| array.is_shared && (array.extents.len() > 1 || array.parts > 1)) {
        let before = format!("`{}`[", array.name);
        let mut text = String::new();
        let mut rest = fault.message.as_str();
        let mut changed = false;
        let mut first: Option<Place> = None;
        while let Some(at) = rest.find(&before) {
            let digits = &rest[at + before.len()..];
            let index = digits.split(']').next().and_then(|number| number.parse::<u64>().ok());
            text.push_str(&rest[..at]);
            match index.and_then(|index| array.place(index, u64::from(fault.access_bytes))) {
                Some(place) => {
                    first.get_or_insert(place.clone());
                    text.push_str(&format!("`{}`{}", array.name, place.text));
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
            fault.message = match array.extents.len() {
                1 => text,
                _ => format!("{text}; `{}` has the shape {extents}", array.name),
            };
            let few = block.filter(|_| fault.kind == FaultKind::Uninitialised).and_then(|block| {
                let at = first.as_ref()?;
                array.is_too_large_for(block, &at.index).then_some(block)
            });
            if let Some([x, y, _]) = few {
                fault.message += &format!(
                    ", and the block has {x} x {y} threads: if each of them writes one element, the others are never written. Make \
                     both alike (`// lockstep: block = …`)"
                );
            }
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

/// Where an access lies in an array.
#[derive(Clone, Debug)]
struct Place {
    index: Vec<u64>,
    /// `[8][0]`, `[3].y`.
    text: String,
}

impl Array {
    /// Of an access of so many bytes, counted in these.
    fn place(&self, access: u64, bytes: u64) -> Option<Place> {
        let (element, part) = match bytes {
            whole if whole == self.element_bytes => (access, None),
            part if part * self.parts == self.element_bytes => {
                (access / self.parts, ["x", "y", "z", "w"].get((access % self.parts) as usize))
            }
            _ => return None,
        };
        let index = self.index(element);
        let mut text: String = index.iter().map(|part| format!("[{part}]")).collect();
        if let Some(part) = part {
            text += &format!(".{part}");
        }
        Some(Place { index, text })
    }

    /// Whether the tile has whole blocks of elements in both directions, and more than one, and an element lies beyond the first.
    fn is_too_large_for(&self, [x, y, _]: [u32; 3], index: &[u64]) -> bool {
        let ([rows, columns], [row, column], [x, y]) = (&self.extents[..], index, [x, y].map(u64::from)) else {
            return false;
        };
        let whole = |extent: u64, block: u64| block > 1 && extent > block && extent.is_multiple_of(block);
        whole(*rows, y) && whole(*columns, x) && (*row >= y || *column >= x)
    }

    /// 8 and 0 of element 64 of `[8][8]`; past the end the first index goes on.
    fn index(&self, element: u64) -> Vec<u64> {
        let mut rest = element;
        let mut parts: Vec<u64> = Vec::new();
        for extent in self.extents[1..].iter().rev() {
            parts.push(rest % extent);
            rest /= extent;
        }
        parts.push(rest);
        parts.reverse();
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_emulator::SourceLine;

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
    fn a_tile_of_several_blocks_is_told_so() {
        let found = arrays("__shared__ float s[32][32]; __shared__ float t[64][16];", &[]);
        let say = |message: &str, block: [u32; 3]| {
            let mut fault = Fault { kind: FaultKind::Uninitialised, ..fault(message, 1, 4096) };
            name(&mut fault, &found, Some(block));
            fault.message
        };
        let few = say("reads `s`[31], which nobody wrote", [16, 16, 1]);
        assert!(few.contains("`s`[0][31]") && few.contains("the block has 16 x 16 threads"), "{few}");
        for (message, block) in [
            ("reads `s`[31], which nobody wrote", [32, 32, 1]),
            ("reads `s`[31], which nobody wrote", [256, 1, 1]),
            ("reads `s`[3], which nobody wrote", [16, 16, 1]),
            ("reads `t`[385], which nobody wrote", [16, 16, 1]),
        ] {
            assert!(!say(message, block).contains("the block has"), "{message}");
        }
    }

    #[test]
    fn messages_have_the_sources_indices() {
        let found = arrays(SOURCE, &[]);
        let mut shared = fault("thread reads `s`[72] (elements of 4 bytes), 4 bytes past its end", 9, 288);
        name(&mut shared, &found, None);
        assert_eq!(
            shared.message,
            "thread reads `s`[8][0] (elements of 4 bytes), 4 bytes past its end; `s` has the shape [8][9]"
        );
        let mut local = fault("thread reads `the thread's stack`[4] (elements of 4 bytes)", 9, 16);
        name(&mut local, &found, None);
        assert_eq!(local.message, "thread reads `best`[4] (elements of 4 bytes)");
        let mut other = fault("thread reads `t`[3]", 9, 12);
        name(&mut other, &found, None);
        assert_eq!(other.message, "thread reads `t`[3]");
        let points = arrays("__shared__ float3 chunk[64];", &[]);
        let mut part = fault("thread reads `chunk`[4] while another wrote `chunk`[3]", 1, 768);
        name(&mut part, &points, None);
        assert_eq!(part.message, "thread reads `chunk`[1].y while another wrote `chunk`[1].x");
    }
}
