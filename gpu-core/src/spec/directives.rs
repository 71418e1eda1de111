//! Launch directives: comments by which a learner chooses the launch shape of the own kernel.
//!
//! ```text
//! // lockstep: block = 32, 8
//! // lockstep: grid = ceil_div(n, 4 * block_x)
//! ```
//!
//! A constant of the kernel that stands for a whole number (`#define BLOCK 256`, `constexpr int T = 8;`) may be used by
//! name.

use super::{Expr, LaunchShape, Parsed, Spec, macros};
use serde::{Deserialize, Serialize};

const PREFIX: &str = "lockstep:";
const KEYS: [&str; 4] = ["block", "cluster", "dynamic_shared_bytes", "grid"];

/// One directive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Directive {
    /// One-based line of the kernel's text.
    pub line: u32,
    /// `block`, `cluster`, `dynamic_shared_bytes` or `grid`.
    pub key: String,
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
        let key = key.trim();
        if !KEYS.contains(&key) {
            return Err((number, format!("expected a directive out of {known}, found `{key}`")));
        }
        let value = macros::expand(value, &defined);
        let values = split_top_level(&value);
        let most = if key == "dynamic_shared_bytes" { 1 } else { 3 };
        if values.len() > most {
            return Err((number, format!("expected at most {most} value(s) for `{key}`, found {}", values.len())));
        }
        for value in &values {
            Parsed::new(value).map_err(|error| (number, format!("`{key}`: {error}")))?;
        }
        let values = values.into_iter().map(Expr::from).collect();
        directives.push(Directive { line: number, key: key.to_owned(), values });
    }
    Ok(directives)
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
    /// The launch shape with a kernel's directives applied.
    ///
    /// # Errors
    /// One sentence with the line when this exercise fixes its launch.
    pub fn launch_with(&self, directives: &[Directive]) -> Result<LaunchShape, String> {
        let mut shape = self.launch.clone();
        for Directive { line, key, values } in directives {
            if !shape.learner_may_change {
                return Err(format!(
                    "line {line}: this exercise fixes its launch shape; remove the comment `lockstep: {key} = ...`"
                ));
            }
            match key.as_str() {
                "block" => shape.block = values.clone(),
                "cluster" => shape.cluster = values.clone(),
                "grid" => shape.grid = values.clone(),
                _ => shape.dynamic_shared_bytes = values.first().cloned().unwrap_or(Expr::from("0")),
            }
        }
        Ok(shape)
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
        ] {
            let (line, message) = launch_directives(source, &[]).expect_err(source);
            assert_eq!(line, 2);
            assert!(message.contains(part), "{message}");
        }
    }
}
