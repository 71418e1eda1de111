//! Known ways to mend what the compiler or the last run complains about. Each is one step that Undo takes back.

use crate::widgets::code_editor::{MarkKind, Marks};
use gpu_core::compile::declared;

/// One way: what it does, where, and the text with it.
pub struct Fix {
    pub what: &'static str,
    /// One-based.
    pub line: u32,
    pub text: String,
}

/// Every fix that fits the text and its marks. `entry` is the kernel that the exercise looks for.
pub fn all(text: &str, marks: &Marks, entry: Option<&str>) -> Vec<Fix> {
    let mut fixes: Vec<Fix> = extern_c(text, entry).into_iter().collect();
    for mark in marks.iter() {
        match mark.kind {
            MarkKind::Error if mark.message.contains("expected a \";\"") => fixes.extend(semicolon(text, mark.line)),
            MarkKind::Fault if mark.message.contains("past the end") || mark.message.contains("which has") => {
                fixes.extend(bound(text, mark.line));
            }
            MarkKind::Fault if mark.message.contains("race") || mark.message.contains("both") => {
                fixes.extend(barrier(text, mark.line));
            }
            _ => {}
        }
    }
    fixes
}

/// A kernel that is looked for by name and has a name of C++.
fn extern_c(text: &str, entry: Option<&str>) -> Option<Fix> {
    let entry = entry?;
    let kernel = declared::kernels(text).into_iter().find(|kernel| kernel.name == entry && !kernel.extern_c)?;
    if !kernel.template.is_empty() {
        return None;
    }
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    // The name may be on a line below `__global__`.
    let last = (kernel.line as usize).min(lines.len());
    let index = (0..last).rev().find(|index| lines[*index].contains("__global__"))?;
    lines[index] = lines[index].replacen("__global__", "extern \"C\" __global__", 1);
    Some(Fix { what: "Added extern \"C\"", line: index as u32 + 1, text: lines.join("\n") })
}

/// The compiler names the line behind the one that lacks it, or that line itself.
fn semicolon(text: &str, line: u32) -> Option<Fix> {
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let lacks = |line: &String| {
        let code = line.split("//").next().unwrap_or_default().trim_end();
        !code.trim().is_empty()
            && !code.ends_with([';', '{', '}', ',', '(', ':'])
            && !code.trim_start().starts_with('#')
    };
    let last = (line as usize).min(lines.len());
    let index = (last.saturating_sub(2)..last).find(|index| lines.get(*index).is_some_and(lacks))?;
    let end = lines[index].split("//").next().unwrap_or_default().trim_end().len();
    lines[index].insert(end, ';');
    Some(Fix { what: "Added the missing ;", line: index as u32 + 1, text: lines.join("\n") })
}

/// An access that leaves its array: the line gets a comparison of its index with `n`, where there is a parameter of that name.
fn bound(text: &str, line: u32) -> Option<Fix> {
    let kernels = declared::kernels(text);
    let kernel = kernels.iter().rev().find(|kernel| kernel.line <= line)?;
    let is_whole = |element: &str| matches!(element, "int" | "unsigned int" | "unsigned" | "long long" | "size_t");
    let mut scalars = kernel.params.iter().filter(|parameter| !parameter.is_pointer && is_whole(&parameter.element));
    let extent = scalars.next().filter(|_| scalars.next().is_none())?.name.clone();
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let index = (line as usize).checked_sub(1)?;
    let own = lines.get(index)?;
    let inner = own.split_once('[')?.1.split_once(']')?.0.trim().to_owned();
    let is_name = inner.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
    let code = own.trim_start();
    if !is_name || code.starts_with("if") || code.starts_with("for") || !code.contains(';') || declares(code) {
        return None;
    }
    let indent = own.len() - code.len();
    let guarded = format!("{}if ({inner} < {extent}) {code}", &own[..indent]);
    lines[index] = guarded;
    Some(Fix { what: "Added a comparison with the length", line, text: lines.join("\n") })
}

/// A declaration under an `if` would end with it.
fn declares(code: &str) -> bool {
    let Some((left, _)) = code.split_once('=') else { return false };
    !left.contains('[') && left.split_whitespace().count() > 1
}

/// Two threads meet in shared memory: a barrier before the line, where no branch is around it, as a suggestion.
fn barrier(text: &str, line: u32) -> Option<Fix> {
    if !text.contains("__shared__") {
        return None;
    }
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    let index = (line as usize).checked_sub(1)?;
    let own = lines.get(index)?;
    let code = own.trim_start();
    let before = lines.get(index.checked_sub(1)?)?.trim();
    if code.is_empty() || before.contains("__syncthreads") || !before.ends_with([';', '}', '{']) {
        return None;
    }
    let indent = own[..own.len() - code.len()].to_owned();
    lines.insert(index, format!("{indent}__syncthreads();"));
    Some(Fix {
        what: "Added a barrier before the line. Check that every thread reaches it",
        line,
        text: lines.join("\n"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::widgets::code_editor::LineMark;

    fn marked(kind: MarkKind, line: u32, message: &str) -> Marks {
        let mut marks = Marks::default();
        marks.set_run(vec![LineMark { kind, line, column: 0, message: message.to_owned() }]);
        marks
    }

    fn only(text: &str, marks: &Marks, entry: Option<&str>) -> Option<String> {
        let mut fixes = all(text, marks, entry);
        assert!(fixes.len() <= 1);
        fixes.pop().map(|fix| fix.text)
    }

    const KERNEL: &str =
        "extern \"C\" __global__ void k(float* a, int n)\n{\n    int i = threadIdx.x;\n    a[i] = 1.0f;\n}\n";

    #[test]
    fn a_kernel_gets_its_plain_name() {
        let cpp = KERNEL.replace("extern \"C\" ", "");
        assert_eq!(only(&cpp, &Marks::default(), Some("k")).as_deref(), Some(KERNEL));
        assert_eq!(only(KERNEL, &Marks::default(), Some("k")), None);
        assert_eq!(only(&cpp, &Marks::default(), Some("other")), None);
    }

    #[test]
    fn a_semicolon_goes_before_the_comment_of_the_line_that_lacks_it() {
        let text = KERNEL.replace("threadIdx.x;", "threadIdx.x // mine");
        let fixed = only(&text, &marked(MarkKind::Error, 4, "expected a \";\""), None);
        assert!(fixed.is_some_and(|fixed| fixed.contains("threadIdx.x; // mine")));
    }

    #[test]
    fn an_access_is_compared_and_a_race_gets_a_barrier() {
        let fixed = only(KERNEL, &marked(MarkKind::Fault, 4, "thread 3 writes a[3], one element past the end"), None);
        assert!(fixed.is_some_and(|fixed| fixed.contains("    if (i < n) a[i] = 1.0f;")));
        let shared = KERNEL
            .replace("    int i", "    __shared__ float s[32];\n    int i")
            .replace("a[i] = 1", "s[i] = 0.0f;\n    a[i] = 1");
        let fixed = only(&shared, &marked(MarkKind::Fault, 6, "a race of two threads"), None);
        assert!(fixed.is_some_and(|fixed| fixed.contains("s[i] = 0.0f;\n    __syncthreads();\n    a[i]")));
        assert_eq!(only(KERNEL, &marked(MarkKind::Fault, 4, "a race of two threads"), None), None, "nothing is shared");
    }
}
