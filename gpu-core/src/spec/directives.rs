//! Launch directives: comments by which a learner chooses the launch shape of the own kernel.
//!
//! ```text
//! // lockstep: block = 32, 8
//! // lockstep: grid = ceil_div(n, 4 * block_x)
//! ```
//!
//! Where an exercise has several steps, a directive names the kernel: `// lockstep: combine.block = 128`. Scratch memory
//! whose size is the learner's choice is sized by `// lockstep: size(partial) = 2 * 1024`, in elements.
//!
//! A constant of the kernel that stands for a whole number (`#define BLOCK 256`, `constexpr int T = 8;`) may be used by
//! name.

use super::{Expr, Param, Parsed, Spec, macros};
use serde::{Deserialize, Serialize};

const PREFIX: &str = "lockstep:";
const KEYS: [&str; 4] = ["block", "cluster", "dynamic_shared_bytes", "grid"];
/// Key of `size(partial)`.
const SIZE: &str = "size";

/// One directive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Directive {
    /// One-based line of the kernel's text.
    pub line: u32,
    /// `block`, `cluster`, `dynamic_shared_bytes`, `grid` or `size`.
    pub key: String,
    /// The kernel that a launch shape is of, where the directive names one; for `size` the buffer.
    pub of: Option<String>,
    pub values: Vec<Expr>,
}

/// Finds the directives of a kernel's text, in order. Macros may also come from `-DNAME=value` in the compiler
/// `options`, which override the text's own.
///
/// # Errors
/// Line and one sentence for the first that is malformed.
pub fn launch_directives(source: &str, options: &[String]) -> Result<Vec<Directive>, (u32, String)> {
    let mut directives = Vec::new();
    let defined = macros::integers(source, options);
    for (index, line) in source.lines().enumerate() {
        let Some(text) = line.trim_start().strip_prefix("//").map(str::trim) else { continue };
        let Some(text) = text.strip_prefix(PREFIX) else { continue };
        let number = index as u32 + 1;
        let known = KEYS.join(", ");
        let (key, value) = text.split_once('=').ok_or_else(|| {
            (
                number,
                format!("expected `// lockstep: NAME = VALUE` with a name out of {known}, found `{}`", text.trim()),
            )
        })?;
        let (of, key) = split_key(key.trim());
        if key != SIZE && !KEYS.contains(&key) {
            return Err((number, format!("expected a directive out of {known}, size(BUFFER), found `{key}`")));
        }
        if key == SIZE && of.is_none() {
            let message = "expected `size(BUFFER) = ELEMENTS` with the name of a scratch buffer, found `size`";
            return Err((number, message.to_owned()));
        }
        let value = macros::expand(value, &defined);
        let values = split_top_level(&value);
        let most = if matches!(key, "dynamic_shared_bytes" | SIZE) { 1 } else { 3 };
        if values.len() > most {
            return Err((number, format!("expected at most {most} value(s) for `{key}`, found {}", values.len())));
        }
        for value in &values {
            Parsed::new(value).map_err(|error| (number, format!("`{key}`: {error}")))?;
        }
        let values = values.into_iter().map(Expr::from).collect();
        directives.push(Directive { line: number, key: key.to_owned(), of: of.map(str::to_owned), values });
    }
    Ok(directives)
}

/// `combine.grid` and `size(partial)` to whose it is and the bare key.
fn split_key(text: &str) -> (Option<&str>, &str) {
    if let Some((SIZE, buffer)) = text.split_once('(').map(|(key, rest)| (key.trim(), rest)) {
        let buffer = buffer.strip_suffix(')').unwrap_or(buffer).trim();
        return (Some(buffer), SIZE);
    }
    match text.rsplit_once('.') {
        Some((entry, key)) => (Some(entry.trim()), key.trim()),
        None => (None, text),
    }
}

/// Splits at commas outside parentheses.
fn split_top_level(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0i32, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

impl Spec {
    /// The spec with a kernel's directives applied.
    ///
    /// # Errors
    /// One sentence with the line: when this exercise fixes what a directive would change, or the directive does not say
    /// which kernel it means.
    pub fn directed(&self, directives: &[Directive]) -> Result<Spec, String> {
        let mut spec = self.clone();
        for directive in directives {
            let apply = if directive.key == SIZE { Spec::resize } else { Spec::reshape };
            apply(&mut spec, directive).map_err(|message| format!("line {}: {message}", directive.line))?;
        }
        Ok(spec)
    }

    fn reshape(&mut self, Directive { key, of, values, .. }: &Directive) -> Result<(), String> {
        let own = self.steps.iter().filter(|step| step.given.is_none());
        let mut entries: Vec<&str> = own.map(|step| step.entry.as_str()).collect();
        entries.dedup();
        let entry = match (of, entries.as_slice()) {
            (Some(of), _) if entries.contains(&of.as_str()) => of.clone(),
            (Some(of), _) => {
                let known = entries.iter().map(|entry| format!("`{entry}.{key}`")).collect::<Vec<_>>().join(", ");
                return Err(format!("`{of}` is no kernel of yours in this exercise; you can set {known}"));
            }
            (None, [only]) => (*only).to_owned(),
            (None, _) => {
                let known = entries.iter().map(|entry| format!("`{entry}.{key}`")).collect::<Vec<_>>().join(" or ");
                return Err(format!("this exercise has several kernels; say which one `{key}` is for: {known}"));
            }
        };
        let several = entries.len() > 1;
        let shapes = self.steps.iter_mut().filter(|step| step.given.is_none() && step.entry == entry);
        let mut free = shapes.map(|step| &mut step.launch).filter(|launch| launch.learner_may_change).peekable();
        if free.peek().is_none() {
            return Err(match several {
                false => format!("this exercise fixes its launch shape; remove the comment `lockstep: {key} = ...`"),
                true => format!(
                    "this exercise fixes the launch shape of `{entry}`; remove the comment `lockstep: {entry}.{key} = ...`"
                ),
            });
        }
        for shape in free {
            match key.as_str() {
                "block" => shape.block = values.clone(),
                "cluster" => shape.cluster = values.clone(),
                "grid" => shape.grid = values.clone(),
                _ => shape.dynamic_shared_bytes = values.first().cloned().unwrap_or(Expr::from("0")),
            }
        }
        Ok(())
    }

    fn resize(&mut self, Directive { of, values, .. }: &Directive) -> Result<(), String> {
        let of = of.as_deref().unwrap_or_default();
        let free = |param: &&mut Param| matches!(param, Param::Buffer { max_bytes: Some(_), .. });
        let names: Vec<String> =
            self.params.iter_mut().filter(free).map(|param| format!("`size({})`", param.name())).collect();
        match self.params.iter_mut().filter(free).find(|param| param.name() == of) {
            Some(Param::Buffer { shape, .. }) => {
                shape.clone_from(values);
                Ok(())
            }
            _ if names.is_empty() => Err(format!(
                "this exercise fixes the sizes of its buffers; remove the comment `lockstep: size({of}) = ...`"
            )),
            _ => Err(format!("the size of `{of}` is not yours to choose; you can set {}", names.join(", "))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_found_with_their_lines() {
        let source = "#include <x>\n// lockstep: block = 32, 8\n  //lockstep: grid = ceil_div(n, 4 * block_x), 2\nint a; // lockstep: no\n";
        let found = launch_directives(source, &[]).expect("well-formed");
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].line, found[0].values.len()), (2, 2));
        assert_eq!(found[1].values, [Expr::from("ceil_div(n, 4 * block_x)"), Expr::from("2")]);
    }

    #[test]
    fn a_directive_follows_the_kernels_macros() {
        let source = "// lockstep: block = BLOCK\n// lockstep: grid = ceil_div(n, 4 * BLOCK)\n#define BLOCK 64\n";
        let found = launch_directives(source, &[]).expect("well-formed");
        assert_eq!(
            (&found[0].values, &found[1].values),
            (&vec![Expr::from("64")], &vec![Expr::from("ceil_div(n, 4 * 64)")])
        );
        let varied = launch_directives(source, &["-DBLOCK=32".to_owned()]).expect("well-formed");
        assert_eq!(varied[0].values, [Expr::from("32")], "an experiment's knob overrides the default");
    }

    #[test]
    fn malformed_directives_name_their_line() {
        for (source, part) in [
            ("\n// lockstep: blok = 3", "expected a directive out of block"),
            ("\n// lockstep: block 3", "NAME = VALUE"),
            ("\n// lockstep: block = 1, 2, 3, 4", "at most 3"),
            ("\n// lockstep: grid = ceil_div(n", "expected"),
            ("\n// lockstep: dynamic_shared_bytes = 1, 2", "at most 1"),
            ("\n// lockstep: combine.gird = 1", "expected a directive out of block, cluster"),
            ("\n// lockstep: size = 64", "size(BUFFER) = ELEMENTS"),
            ("\n// lockstep: size(partial) = 2, 3", "at most 1"),
        ] {
            let (line, message) = launch_directives(source, &[]).expect_err(source);
            assert_eq!(line, 2);
            assert!(message.contains(part), "{message}");
        }
    }
}
