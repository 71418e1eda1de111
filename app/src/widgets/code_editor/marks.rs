//! Marks on lines: what the compiler and the last run say about them. They move with the text.

use super::Heat;
use crate::icons::{self, Icon};

/// What a mark is about, most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MarkKind {
    Error,
    /// Something that the last run found wrong here.
    Fault,
    Warning,
    Note,
}

impl MarkKind {
    /// The shape in the gutter, so that colour never stands alone.
    pub fn icon(self) -> Icon {
        match self {
            MarkKind::Error => icons::X_CIRCLE,
            MarkKind::Fault => icons::LIGHTNING,
            MarkKind::Warning => icons::WARNING,
            MarkKind::Note => icons::INFO,
        }
    }

    /// The same among words.
    pub fn symbol(self) -> &'static str {
        match self {
            MarkKind::Error => "✖",
            MarkKind::Fault => "⚡",
            MarkKind::Warning => "⚠",
            MarkKind::Note => "ℹ",
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            MarkKind::Error => "Error",
            MarkKind::Fault => "Fault",
            MarkKind::Warning => "Warning",
            MarkKind::Note => "Note",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineMark {
    pub kind: MarkKind,
    /// One-based.
    pub line: u32,
    /// One-based, 0 when the whole line is meant.
    pub column: u32,
    pub message: String,
}

/// Marks of the two sources: the compiler's go with the next compilation, the run's with the next run.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    compiler: Vec<LineMark>,
    run: Vec<LineMark>,
    /// What the lines of the last run cost, by line.
    heat: Vec<Heat>,
}

impl Marks {
    pub fn set_compiler(&mut self, marks: Vec<LineMark>) {
        self.compiler = marks;
    }

    pub fn set_run(&mut self, marks: Vec<LineMark>) {
        self.run = marks;
    }

    pub fn set_heat(&mut self, heat: Vec<Heat>) {
        self.heat = heat;
    }

    /// Nothing is known of a run any more.
    pub fn forget_run(&mut self) {
        self.run.clear();
        self.heat.clear();
    }

    /// Lines of the last run that cost something.
    pub fn heat(&self) -> &[Heat] {
        &self.heat
    }

    /// What a line (one-based) cost in the last run.
    pub fn heat_of(&self, line: u32) -> Option<&Heat> {
        self.heat.iter().find(|heat| heat.line == line)
    }

    pub fn iter(&self) -> impl Iterator<Item = &LineMark> {
        self.compiler.iter().chain(&self.run)
    }

    /// Marks of one line (one-based), most urgent first.
    pub fn on_line(&self, line: u32) -> Vec<&LineMark> {
        let mut found: Vec<_> = self.iter().filter(|mark| mark.line == line).collect();
        found.sort_by_key(|mark| mark.kind);
        found
    }

    /// The next line (one-based) with a mark after `line`, or the first of all.
    pub fn next_after(&self, line: u32) -> Option<&LineMark> {
        self.iter().filter(|m| m.line > line).min_by_key(|m| m.line).or_else(|| self.iter().min_by_key(|m| m.line))
    }

    /// Lines from `from` (zero-based) on moved: `removed` lines went and `added` came.
    pub(super) fn shift(&mut self, from: usize, removed: usize, added: usize) {
        if removed == added {
            return;
        }
        let gone = from as u32 + removed as u32;
        let moved = |line: u32| match line.saturating_sub(1) {
            line if line >= gone => line + 1 + added as u32 - removed as u32,
            line if line >= from as u32 => from as u32 + 1,
            line => line + 1,
        };
        for mark in self.compiler.iter_mut().chain(&mut self.run) {
            mark.line = moved(mark.line);
        }
        // A line that went takes its figures along: they would be said of another.
        self.heat.retain(|heat| !(from as u32..gone).contains(&heat.line.saturating_sub(1)));
        for heat in &mut self.heat {
            heat.line = moved(heat.line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_move_with_their_lines() {
        let mark = |line| LineMark { kind: MarkKind::Fault, line, column: 0, message: String::new() };
        let mut marks = Marks::default();
        marks.set_run(vec![mark(2), mark(5)]);
        marks.shift(2, 0, 3);
        assert_eq!(marks.iter().map(|m| m.line).collect::<Vec<_>>(), [2, 8]);
        marks.shift(0, 1, 0);
        assert_eq!(marks.iter().map(|m| m.line).collect::<Vec<_>>(), [1, 7]);
        assert_eq!(marks.next_after(1).map(|m| m.line), Some(7));
        assert_eq!(marks.next_after(7).map(|m| m.line), Some(1));
    }
}
