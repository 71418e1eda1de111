//! The heads of the blocks that the first visible line is in: the kernel, and the innermost loop or branch.

use super::Editor;
use super::buffer::Buffer;

/// Lines that are looked through upwards.
const REACH: usize = 600;

/// Heads that are shown: the outermost and the innermost.
pub(super) const MOST: usize = 2;

/// A line without its comment, and without what is between quotes.
fn code(line: &str) -> String {
    let line = line.split("//").next().unwrap_or_default();
    line.split('"').step_by(2).collect::<Vec<_>>().join("\"\"")
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The line that says what a block is, whose bracket opens on `line`.
fn head_of(buffer: &Buffer, line: usize) -> Option<usize> {
    let open = buffer.line(line);
    if code(open).trim() != "{" && !open.trim_start().starts_with(')') {
        return Some(line);
    }
    // The bracket has a line of its own: the head is above it, and begins where its parameters are not indented.
    let above = (0..line).rev().take(20).filter(|line| !buffer.line(*line).trim().is_empty());
    above.into_iter().find(|line| {
        let text = buffer.line(*line);
        indent(text) <= indent(open) && !text.trim_start().starts_with(')')
    })
}

/// Zero-based lines of the heads, outermost first, of what encloses a line's beginning.
fn heads(buffer: &Buffer, line: usize) -> Vec<usize> {
    let mut closed = 0_usize;
    let mut found = Vec::new();
    let blocks = (line.saturating_sub(REACH)..line).rev().filter(|line| buffer.line(*line).contains(['{', '}']));
    for above in blocks {
        for sign in code(buffer.line(above)).bytes().rev() {
            match sign {
                b'}' => closed += 1,
                b'{' if closed > 0 => closed -= 1,
                b'{' => found.extend(head_of(buffer, above)),
                _ => {}
            }
        }
    }
    found.reverse();
    found.dedup();
    if found.len() > MOST {
        found.drain(1..=found.len() - MOST);
    }
    found
}

/// The answer for one version of the text and one line.
#[derive(Debug, Default)]
pub(super) struct Heads {
    of: (u64, usize),
    found: Vec<usize>,
}

impl Editor {
    /// Zero-based lines of the heads that a line is under, as far as they are above the first visible one.
    pub(super) fn heads_above(&self, first: usize, line: usize) -> Vec<usize> {
        let mut known = self.heads.borrow_mut();
        if known.of != (self.version, line) {
            *known = Heads { of: (self.version, line), found: heads(&self.buffer, line) };
        }
        known.found.iter().copied().filter(|head| *head < first).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "int x;\n__global__ void k(float* a,\n                  int n)\n{\n    // an open { in words\n    for (int i = 0; i < n; ++i) {\n        if (a[i] > 0) {\n            a[i] = 3;\n        }\n        a[i] = 1;\n    }\n    a[0] = 2;\n}\nint y;\n";

    #[test]
    fn the_kernel_and_the_innermost_block_are_found() {
        let buffer = Buffer::new(TEXT.to_owned());
        assert_eq!(heads(&buffer, 7), [1, 6], "of three, the outermost and the innermost");
        assert_eq!(heads(&buffer, 9), [1, 5]);
        assert_eq!(heads(&buffer, 11), [1]);
        assert_eq!(heads(&buffer, 13), Vec::<usize>::new());
        assert_eq!(heads(&buffer, 0), Vec::<usize>::new());
    }
}
