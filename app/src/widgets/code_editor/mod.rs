//! The code editor: a text with cursor, history, marks and colours, drawn line by line.
//!
//! egui's `TextEdit` lays out the whole text at each key (14 ms at 5,000 lines) and keeps whole texts to undo, so
//! the editor keeps its own model and lays out what is visible.
//! The model changes only through [`Editor::act`]; [`view::show`] draws it and answers with actions.

mod action;
mod brackets;
mod buffer;
mod complete;
mod edit;
mod find;
mod folds;
mod heat;
mod history;
mod input;
mod marks;
pub mod names;
mod page;
mod paint;
mod pairs;
mod popup;
mod scope;
mod signature;
mod syntax;
mod view;
mod wraps;

pub(crate) use paint::line_job;
pub use paint::token_color;

pub use action::{EditorAction, Motion};
pub use buffer::Buffer;
pub use complete::{Candidate, Completion, complete};
pub use find::Find;
pub use heat::{Heat, Trouble};
pub use marks::{LineMark, MarkKind, Marks};
pub use signature::Call;
pub use view::{EditorLook, EditorResponse, editor_id, show};

use crate::widgets::highlight::Span;
pub use history::Change;
use history::{EditKind, History};
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::rc::Rc;
use syntax::Syntax;

/// Ask for a place to come into view. A new generation is a new request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reveal {
    pub generation: u64,
    pub to: Show,
}

/// Where the cursor's line goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Show {
    /// Just inside the view, as while typing.
    #[default]
    Inside,
    /// Into the middle: a jump.
    Center,
    /// The view goes back to where it was when the search began.
    Before,
}

/// One text being edited.
pub struct Editor {
    buffer: Buffer,
    /// Where the selection began, and the cursor.
    anchor: usize,
    head: usize,
    /// The column that Up and Down aim for.
    goal_column: Option<usize>,
    history: History,
    /// Grows with each change of the text.
    version: u64,
    composing: String,
    /// The list of words that is open.
    completion: Option<Completion>,
    /// What is known about the cursor's word is shown.
    explaining: bool,
    /// The bracket of the call whose parameters are shown.
    parameters_of: Option<usize>,
    folds: folds::Folds,
    /// Brackets and quotes are closed while they are typed.
    pub closes_pairs: bool,
    /// Columns of a level of indentation, where the text has no tabs.
    pub tab_width: usize,
    pairs: pairs::Pairs,
    reveal: Reveal,
    pub find: Find,
    pub marks: Marks,
    /// Follows the text lazily when the view asks for colours.
    syntax: RefCell<Syntax>,
    heads: RefCell<scope::Heads>,
    /// Rows of the version, the folds and the width that were asked for last.
    wraps: RefCell<Option<(wraps::Key, Rc<wraps::Wraps>)>>,
    /// Columns at which lines were broken when they were drawn last.
    wrap_columns: Cell<Option<usize>>,
}

impl Default for Editor {
    fn default() -> Self {
        Self::new(String::new())
    }
}

impl Editor {
    pub fn new(text: String) -> Self {
        Self {
            buffer: Buffer::new(text),
            anchor: 0,
            head: 0,
            goal_column: None,
            history: History::default(),
            version: 1,
            composing: String::new(),
            completion: None,
            explaining: false,
            parameters_of: None,
            folds: folds::Folds::default(),
            closes_pairs: false,
            tab_width: 4,
            pairs: pairs::Pairs::default(),
            reveal: Reveal::default(),
            find: Find::default(),
            marks: Marks::default(),
            syntax: RefCell::default(),
            heads: RefCell::default(),
            wraps: RefCell::default(),
            wrap_columns: Cell::default(),
        }
    }

    /// A text that earlier edits (oldest first) led to, as read from the journal: they can be undone.
    pub fn with_past(text: String, past: Vec<Change>) -> Self {
        let mut editor = Self::new(text);
        for change in past {
            let (before, after) = (change.at + change.removed.len(), change.at + change.inserted.len());
            editor.history.record(EditKind::Other, vec![change], (before, before), (after, after), 0.0);
        }
        editor
    }

    pub fn text(&self) -> &str {
        self.buffer.text()
    }

    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    pub fn version(&self) -> u64 {
        self.version
    }

    pub fn cursor(&self) -> usize {
        self.head
    }

    /// One-based line and column of the cursor.
    pub fn cursor_position(&self) -> (usize, usize) {
        (self.buffer.line_of(self.head) + 1, self.buffer.column_of(self.head) + 1)
    }

    pub fn selection(&self) -> Range<usize> {
        self.anchor.min(self.head)..self.anchor.max(self.head)
    }

    /// (anchor, cursor).
    pub fn selection_ends(&self) -> (usize, usize) {
        (self.anchor, self.head)
    }

    pub fn selected_text(&self) -> &str {
        &self.buffer.text()[self.selection()]
    }

    pub fn composing(&self) -> &str {
        &self.composing
    }

    pub fn completion(&self) -> Option<&Completion> {
        self.completion.as_ref()
    }

    /// The call whose parameters are shown.
    pub fn shown_call(&self) -> Option<Call> {
        let open = self.parameters_of?;
        signature::call_at(self.text(), self.head).filter(|call| call.open == open)
    }

    pub fn is_explaining(&self) -> bool {
        self.explaining
    }

    pub fn reveal(&self) -> Reveal {
        self.reveal
    }

    pub fn can_undo(&self) -> bool {
        self.history.can_undo()
    }

    pub fn can_redo(&self) -> bool {
        self.history.can_redo()
    }

    /// What Copy takes: the selection, or the cursor's line when nothing is selected.
    pub fn copy_text(&self) -> String {
        let selected = self.selected_text();
        if selected.is_empty() {
            format!("{}\n", self.buffer.line(self.buffer.line_of(self.head)))
        } else {
            selected.to_owned()
        }
    }

    /// Colours of the bytes in `range`, and whether better ones are on their way.
    pub(crate) fn spans(&self, range: Range<usize>) -> (Vec<Span>, bool) {
        self.syntax.borrow_mut().spans(self.buffer.text(), self.version, range)
    }

    /// The rows of the text where lines are broken at so many columns.
    fn wraps(&self, columns: usize) -> Rc<wraps::Wraps> {
        let key = (self.version, self.folds.generation(), columns);
        let mut known = self.wraps.borrow_mut();
        match &*known {
            Some((same, rows)) if *same == key => rows.clone(),
            _ => {
                let rows = Rc::new(wraps::Wraps::new(self, columns));
                *known = Some((key, rows.clone()));
                rows
            }
        }
    }

    /// The bracket at or before the cursor and its partner.
    pub fn matching_brackets(&self) -> Option<(usize, usize)> {
        brackets::matching(self.text(), self.head)
    }

    fn show_cursor(&mut self, to: Show) {
        self.reveal = Reveal { generation: self.reveal.generation + 1, to };
    }

    /// Replaces several ranges (in order, not overlapping, offsets of the text before any of them) as one step.
    fn replace_all_of(&mut self, kind: EditKind, edits: &[(Range<usize>, String)], after: (usize, usize), now_s: f64) {
        let before = (self.anchor, self.head);
        let mut shift = 0_isize;
        let mut changes = Vec::with_capacity(edits.len());
        for (range, with) in edits {
            let at = range.start.saturating_add_signed(shift);
            let removed = self.swap(at..at + range.len(), with);
            shift += with.len() as isize - range.len() as isize;
            changes.push(Change { at, removed, inserted: with.clone() });
        }
        self.anchor = self.buffer.clamp(after.0);
        self.head = self.buffer.clamp(after.1);
        self.history.record(kind, changes, before, (self.anchor, self.head), now_s);
        self.changed();
    }

    /// One replacement in the text, with the marks moved along.
    fn swap(&mut self, range: Range<usize>, with: &str) -> String {
        let line = self.buffer.line_of(range.start);
        let removed_lines = self.buffer.line_of(range.end) - line;
        // A change at the start of a line moves that line's marks with it; elsewhere the line keeps them.
        let whole = range.start == self.buffer.line_range(line).start;
        self.syntax.get_mut().edited(range.clone(), with.len());
        self.pairs.edited(&range, with.len());
        let removed = self.buffer.replace(range, with);
        let added_lines = with.bytes().filter(|byte| *byte == b'\n').count();
        self.folds.shift(line, removed_lines, added_lines, whole);
        self.marks.shift(if whole { line } else { line + 1 }, removed_lines, added_lines);
        removed
    }

    fn changed(&mut self) {
        self.version += 1;
        self.goal_column = None;
        self.find.refresh(self.buffer.text());
        self.show_cursor(Show::Inside);
    }

    fn undo(&mut self) {
        let Some(step) = self.history.undo().cloned() else { return };
        for change in step.changes.iter().rev() {
            self.swap(change.inserted_range(), &change.removed);
        }
        (self.anchor, self.head) = step.before;
        self.changed();
    }

    fn redo(&mut self) {
        let Some(step) = self.history.redo().cloned() else { return };
        for change in &step.changes {
            self.swap(change.removed_range(), &change.inserted);
        }
        (self.anchor, self.head) = step.after;
        if let [change] = &step.changes[..] {
            self.note_pair_again(&change.inserted_range());
        }
        self.changed();
    }
}
