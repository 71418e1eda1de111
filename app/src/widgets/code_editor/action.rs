//! Everything that can be done to the editor, as data: keys, mouse, menus and screen readers all make these.

use std::ops::Range;

/// A step of the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    Left,
    Right,
    WordLeft,
    WordRight,
    Up,
    Down,
    /// By so many lines, as a screenful.
    PageUp(usize),
    PageDown(usize),
    /// First to the first character that is not a space, then to the column 0.
    LineStart,
    LineEnd,
    TextStart,
    TextEnd,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EditorAction {
    /// Typed text replaces the selection.
    Type(String),
    /// Pasted text replaces the selection and is a step of its own in the history.
    Paste(String),
    /// A new line with the indentation that the place calls for.
    NewLine,
    Erase(Motion),
    Indent,
    Outdent,
    ToggleComment,
    DuplicateLine,
    DeleteLine,
    MoveLineUp,
    MoveLineDown,
    Move {
        motion: Motion,
        extend: bool,
    },
    /// Click or drag.
    Place {
        offset: usize,
        extend: bool,
    },
    SelectWord(usize),
    SelectLine(usize),
    Select(Range<usize>),
    SelectAll,
    /// Deletes the selection after the view copied it; the whole line when nothing is selected.
    Cut,
    Undo,
    Redo,
    /// Replaces everything, as one step that can be undone.
    SetText(String),
    /// One-based line; the column is one-based too, 0 means the first character that is not a space.
    GoTo {
        line: u32,
        column: u32,
    },
    /// To where the name at the cursor is declared in this text.
    GoToDefinition,
    /// Text that an input method is composing; empty ends it.
    Compose(String),
    /// Opens the list of completions.
    Complete,
    /// Moves the choice in the list.
    StepCompletion(isize),
    /// Takes a word of the list, the chosen one without a number.
    AcceptCompletion(Option<usize>),
    CloseCompletion,
    /// Shows what the call around the cursor takes.
    Parameters,
    /// Shows what is known about the cursor's word and line.
    Explain,
    /// Folds or opens every hint.
    ToggleFolds,
    /// Folds or opens the hint that begins on a line, zero-based.
    ToggleFold(usize),
    FindNext,
    FindPrevious,
    /// Goes to the match nearest to where the search began: the question was changed.
    FindAsTyped,
    /// The search ends here, and not where it began.
    KeepFound,
    /// Back to where the search began.
    LeaveFound,
    ReplaceOne,
    ReplaceAll,
}
