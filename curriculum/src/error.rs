//! Errors of the course's files: where, which line, and what is expected there.

use std::fmt;

/// One thing wrong with a course file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentError {
    /// Path from the course's root, for example `curriculum/week1/day4-first-kernel/quiz.toml`.
    pub path: String,
    /// One-based; 0 when the error is about the file as a whole.
    pub line: usize,
    /// What should be there, as a phrase: `a title`, `an integer above 0 (found "x")`.
    pub expected: String,
}

impl ContentError {
    pub fn new(path: impl Into<String>, line: usize, expected: impl Into<String>) -> Self {
        Self { path: path.into(), line, expected: expected.into() }
    }

    /// From the TOML reader: its span becomes a line.
    pub(crate) fn from_toml(path: &str, text: &str, error: &toml::de::Error) -> Self {
        let line = error.span().map_or(0, |span| line_of(text, span.start));
        Self::new(path, line, format!("valid TOML: {}", error.message().trim_end().replace('\n', "; ")))
    }
}

impl fmt::Display for ContentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: expected {}", self.path, self.expected),
            line => write!(f, "{}:{line}: expected {}", self.path, self.expected),
        }
    }
}

impl std::error::Error for ContentError {}

/// Everything wrong with a course, found in one pass. Never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentErrors(pub Vec<ContentError>);

impl fmt::Display for ContentErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(errors) = self;
        for (i, error) in errors.iter().enumerate() {
            if i > 0 {
                writeln!(f)?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ContentErrors {}

/// One-based line of a byte offset.
pub(crate) fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1
}
