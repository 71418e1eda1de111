//! What each action does to the text, the cursor and the history.

use super::complete::{complete, is_word};
use super::names;
use super::signature::call_at;
use super::{Change, EditKind, Editor, EditorAction, Motion, Show};
use std::ops::Range;

/// The widest level of indentation.
const SPACES: &str = "        ";

/// Indentation without its last level.
fn one_level_out(indent: &str, columns: usize) -> &str {
    if let Some(outer) = indent.strip_suffix('\t') {
        return outer;
    }
    let spaces = indent.len() - indent.trim_end_matches(' ').len();
    &indent[..indent.len() - spaces.min(columns)]
}

impl Editor {
    /// Does one action. `now_s` is any clock in seconds; it decides which edits are undone together.
    pub fn act(&mut self, action: &EditorAction, now_s: f64) {
        let explaining = std::mem::take(&mut self.explaining);
        match action {
            EditorAction::Complete => {
                self.completion = complete(self.buffer.text(), self.head, true);
                return;
            }
            EditorAction::StepCompletion(by) => {
                if let Some(list) = &mut self.completion {
                    list.step(*by);
                }
                return;
            }
            EditorAction::AcceptCompletion(index) => return self.accept_completion(*index, now_s),
            // The innermost goes first.
            EditorAction::CloseCompletion => {
                if self.completion.take().is_none() {
                    self.parameters_of = None;
                }
                return;
            }
            EditorAction::Parameters => {
                self.parameters_of = call_at(self.buffer.text(), self.head).map(|call| call.open);
                return;
            }
            EditorAction::Explain => {
                self.completion = None;
                self.explaining = !explaining;
                return;
            }
            _ => {}
        }
        let was_open = self.completion.take();
        self.carry_out(action, now_s);
        self.open_fold_at_cursor();
        // Typing and erasing keep the list in step; everything else has closed it.
        let asked = was_open.as_ref().is_some_and(|list| list.asked);
        let goes_on = match action {
            EditorAction::Type(text) => text.chars().all(|c| is_word(c) || c == '.'),
            EditorAction::Erase(Motion::Left) => {
                was_open.is_some() && self.text()[..self.head].ends_with(|c: char| is_word(c) || c == '.')
            }
            _ => false,
        };
        if goes_on && self.selection().is_empty() {
            self.completion = complete(self.buffer.text(), self.head, asked);
        }
        self.follow_call(action);
    }

    /// A bracket or a comma that is typed shows the parameters of the call; leaving the call hides them.
    fn follow_call(&mut self, action: &EditorAction) {
        let begins = matches!(action, EditorAction::Type(text) if text.contains(['(', ',']));
        if !begins && self.parameters_of.is_none() {
            return;
        }
        let open = call_at(self.buffer.text(), self.head).map(|call| call.open);
        // Typing a closing bracket leads back to the call around it.
        let follows = begins || matches!(action, EditorAction::Type(_)) || open == self.parameters_of;
        self.parameters_of = open.filter(|_| follows);
    }

    /// Puts a word of the list in place of what was typed of it.
    fn accept_completion(&mut self, index: Option<usize>, now_s: f64) {
        let Some(list) = self.completion.take() else { return };
        let Some(item) = list.items.get(index.unwrap_or(list.chosen)) else { return };
        if list.start <= self.head {
            let end = list.start + item.text.len();
            self.replace_all_of(EditKind::Other, &[(list.start..self.head, item.text.clone())], (end, end), now_s);
        }
    }

    fn carry_out(&mut self, action: &EditorAction, now_s: f64) {
        let came_from = self.find.from;
        let searches =
            matches!(action, EditorAction::FindAsTyped | EditorAction::FindNext | EditorAction::FindPrevious);
        if !searches {
            // Whoever goes elsewhere or edits wants to stay there.
            self.find.from = None;
        }
        match action {
            EditorAction::Type(text) => self.type_text(text, now_s),
            EditorAction::Paste(text) => {
                let text = text.replace("\r\n", "\n").replace('\r', "\n");
                self.insert(EditKind::Other, &text, now_s);
            }
            EditorAction::NewLine => self.new_line(now_s),
            EditorAction::Erase(motion) => self.erase(*motion, now_s),
            EditorAction::Indent => self.indent(now_s),
            EditorAction::Outdent => self.outdent(now_s),
            EditorAction::ToggleComment => self.toggle_comment(now_s),
            EditorAction::DuplicateLine => {
                let range = self.selected_lines_range();
                let text = format!("\n{}", &self.text()[range.clone()]);
                let (anchor, head) = (self.anchor + text.len(), self.head + text.len());
                self.replace_all_of(EditKind::Other, &[(range.end..range.end, text)], (anchor, head), now_s);
            }
            EditorAction::DeleteLine => {
                let range = self.selected_lines_range();
                let range = self.with_line_end(range);
                self.replace_all_of(
                    EditKind::Other,
                    &[(range.clone(), String::new())],
                    (range.start, range.start),
                    now_s,
                );
            }
            EditorAction::MoveLineUp => self.move_lines(false, now_s),
            EditorAction::MoveLineDown => self.move_lines(true, now_s),
            EditorAction::Move { motion, extend } => self.step_cursor(*motion, *extend),
            EditorAction::Place { offset, extend } => {
                self.place(*offset, *extend);
                self.goal_column = None;
            }
            EditorAction::SelectWord(offset) => {
                let range = self.buffer.word_at(self.buffer.clamp(*offset));
                self.select(range);
            }
            EditorAction::SelectLine(line) => {
                let range = self.with_line_end(self.buffer.line_range(*line));
                self.select(range);
            }
            EditorAction::Select(range) => self.select(range.clone()),
            EditorAction::SelectAll => {
                self.history.seal();
                (self.anchor, self.head) = (0, self.buffer.len());
            }
            EditorAction::Cut => {
                let range = self.selection();
                let range = if range.is_empty() { self.with_line_end(self.selected_lines_range()) } else { range };
                self.replace_all_of(
                    EditKind::Other,
                    &[(range.clone(), String::new())],
                    (range.start, range.start),
                    now_s,
                );
            }
            EditorAction::Undo => self.undo(),
            EditorAction::Redo => self.redo(),
            EditorAction::SetText(text) => {
                let text = text.replace("\r\n", "\n").replace('\r', "\n");
                // Only what differs is replaced: cursor, marks and folds around it stay where they are.
                if let Some(change) = Change::between(self.text(), &text) {
                    let removed = change.removed_range();
                    let head = match self.head {
                        head if head <= removed.start => head,
                        head if head >= removed.end => head - removed.len() + change.inserted.len(),
                        _ => change.inserted_range().end,
                    };
                    self.replace_all_of(EditKind::Other, &[(removed, change.inserted)], (head, head), now_s);
                }
            }
            EditorAction::GoTo { line, column } => self.go_to(*line, *column),
            EditorAction::GoToDefinition => {
                if let Some(found) = names::definition(self.text(), self.head) {
                    (self.anchor, self.head) = (found.start, found.end);
                    self.show_cursor(Show::Center);
                }
            }
            EditorAction::Compose(text) => {
                self.composing.clone_from(text);
                self.show_cursor(Show::Inside);
            }
            EditorAction::FindAsTyped => self.find_as_typed(),
            EditorAction::KeepFound => {}
            EditorAction::LeaveFound => {
                if let Some(from) = came_from {
                    self.go_back(from);
                }
            }
            EditorAction::FindNext => {
                let found = self.find.next_from(self.selection().end);
                self.select_found(found);
            }
            EditorAction::FindPrevious => {
                let found = self.find.previous_from(self.selection().start);
                self.select_found(found);
            }
            EditorAction::ToggleFolds => self.toggle_folds(),
            EditorAction::ToggleFold(line) => self.toggle_fold(*line),
            // Done before.
            EditorAction::Complete
            | EditorAction::StepCompletion(_)
            | EditorAction::AcceptCompletion(_)
            | EditorAction::CloseCompletion
            | EditorAction::Parameters
            | EditorAction::Explain => {}
            EditorAction::ReplaceOne => self.replace_one(now_s),
            EditorAction::ReplaceAll => {
                let found = std::mem::take(&mut self.find.matches);
                let text = self.buffer.text();
                let edits: Vec<_> = found.into_iter().map(|m| (m.clone(), self.find.replaced(text, &m))).collect();
                if !edits.is_empty() {
                    self.replace_all_of(EditKind::Other, &edits, (self.head, self.head), now_s);
                }
            }
        }
    }

    fn insert(&mut self, kind: EditKind, text: &str, now_s: f64) {
        let range = self.selection();
        let end = range.start + text.len();
        self.replace_all_of(kind, &[(range, text.to_owned())], (end, end), now_s);
    }

    fn type_text(&mut self, text: &str, now_s: f64) {
        self.composing.clear();
        if text.is_empty() {
            return;
        }
        let mut letters = text.chars();
        // Several at once come from an input method, which knows what it wants.
        if self.closes_pairs
            && let (Some(letter), None) = (letters.next(), letters.next())
            && self.type_paired(letter, now_s)
        {
            return;
        }
        // A closing brace alone on its line goes one level out.
        let line = self.buffer.line_range(self.buffer.line_of(self.head));
        let before = &self.text()[line.start..self.head];
        if text == "}" && self.selection().is_empty() && !before.is_empty() && before.trim().is_empty() {
            let range = line.start + one_level_out(before, self.columns()).len()..self.head;
            let end = range.start + 1;
            self.replace_all_of(EditKind::Other, &[(range, "}".to_owned())], (end, end), now_s);
            return;
        }
        let kind = if self.selection().is_empty() { EditKind::Typing } else { EditKind::Other };
        self.insert(kind, text, now_s);
    }

    fn new_line(&mut self, now_s: f64) {
        let start = self.selection().start;
        let line = self.buffer.line_range(self.buffer.line_of(start));
        let before = &self.text()[line.start..start];
        let indent: String = before.chars().take_while(|c| *c == ' ' || *c == '\t').collect();
        let opens = before.trim_end().ends_with(['{', '(']);
        let closes = self.text()[self.selection().end..].starts_with(['}', ')']);
        // A closing brace that goes to the next line goes one level out.
        let outer = if closes && !opens { one_level_out(&indent, self.columns()) } else { &indent };
        let mut text = format!("\n{outer}");
        if opens {
            text.push_str(self.level(line.start));
        }
        let cursor = start + text.len();
        if opens && closes {
            text = format!("{text}\n{indent}");
        }
        self.replace_all_of(EditKind::Other, &[(self.selection(), text)], (cursor, cursor), now_s);
    }

    fn erase(&mut self, motion: Motion, now_s: f64) {
        let selection = self.selection();
        let pair = self.empty_pair().filter(|_| motion == Motion::Left && selection.is_empty());
        let (range, kind) = if let Some(pair) = pair {
            (pair, EditKind::Other)
        } else if selection.is_empty() {
            let single = matches!(motion, Motion::Left | Motion::Right);
            let other = match motion {
                Motion::Left => self.backspace_to(),
                motion => self.target(motion),
            };
            let kind = if single { EditKind::Erasing } else { EditKind::Other };
            (self.head.min(other)..self.head.max(other), kind)
        } else {
            (selection, EditKind::Other)
        };
        if !range.is_empty() {
            self.replace_all_of(kind, &[(range.clone(), String::new())], (range.start, range.start), now_s);
        }
    }

    /// One level of indentation as the text has it around `at`: a tab where the nearest indented line begins with one.
    fn level(&self, at: usize) -> &'static str {
        const LINES: usize = 200;
        let line = self.buffer.line_of(at);
        let above = (line.saturating_sub(LINES)..=line).rev();
        let below = line + 1..self.buffer.line_count().min(line + LINES);
        let first =
            above.chain(below).find_map(|line| self.buffer.line(line).chars().next().filter(|c| " \t".contains(*c)));
        if first == Some('\t') { "\t" } else { &SPACES[..self.columns()] }
    }

    /// Columns of a level of indentation.
    fn columns(&self) -> usize {
        self.tab_width.clamp(1, SPACES.len())
    }

    /// Inside the indentation Backspace goes back one level.
    fn backspace_to(&self) -> usize {
        let start = self.buffer.line_range(self.buffer.line_of(self.head)).start;
        let before = &self.text()[start..self.head];
        if !before.is_empty() && before.bytes().all(|byte| byte == b' ') {
            start + (before.len() - 1) / self.columns() * self.columns()
        } else {
            self.buffer.previous_char(self.head)
        }
    }

    /// Zero-based lines of the selection; a line of which nothing is selected at the end is left out.
    fn selected_lines(&self) -> std::ops::RangeInclusive<usize> {
        let selection = self.selection();
        let first = self.buffer.line_of(selection.start);
        let mut last = self.buffer.line_of(selection.end);
        if last > first && self.buffer.line_range(last).start == selection.end {
            last -= 1;
        }
        first..=last
    }

    fn selected_lines_range(&self) -> Range<usize> {
        let lines = self.selected_lines();
        self.buffer.line_range(*lines.start()).start..self.buffer.line_range(*lines.end()).end
    }

    /// With the line's end after it, or before it on the last line, so that deleting leaves no empty line.
    fn with_line_end(&self, range: Range<usize>) -> Range<usize> {
        if range.end < self.buffer.len() {
            range.start..range.end + 1
        } else {
            range.start.saturating_sub(1)..range.end
        }
    }

    fn indent(&mut self, now_s: f64) {
        if self.selection().is_empty() {
            let with = match self.level(self.head) {
                "\t" => "\t".to_owned(),
                _ => " ".repeat(self.columns() - self.buffer.column_of(self.head) % self.columns()),
            };
            self.insert(EditKind::Other, &with, now_s);
            return;
        }
        let lines: Vec<_> = self.selected_lines().filter(|line| !self.buffer.line(*line).is_empty()).collect();
        let edits = lines.into_iter().map(|line| {
            let start = self.buffer.line_range(line).start;
            (start..start, self.level(start).to_owned())
        });
        let edits = edits.collect();
        self.edit_lines(edits, now_s);
    }

    fn outdent(&mut self, now_s: f64) {
        let mut edits = Vec::new();
        for line in self.selected_lines() {
            let range = self.buffer.line_range(line);
            let text = &self.text()[range.clone()];
            let spaces = match text.strip_prefix('\t') {
                Some(_) => 1,
                None => text.bytes().take(self.columns()).take_while(|byte| *byte == b' ').count(),
            };
            if spaces > 0 {
                edits.push((range.start..range.start + spaces, String::new()));
            }
        }
        self.edit_lines(edits, now_s);
    }

    fn toggle_comment(&mut self, now_s: f64) {
        let lines: Vec<usize> =
            self.selected_lines().filter(|line| !self.buffer.line(*line).trim().is_empty()).collect();
        let commented = lines.iter().all(|line| self.buffer.line(*line).trim_start().starts_with("//"));
        let indent_of = |line: usize| {
            let text = self.buffer.line(line);
            text.len() - text.trim_start().len()
        };
        let least = lines.iter().map(|line| indent_of(*line)).min().unwrap_or(0);
        let edits = lines
            .iter()
            .map(|line| {
                let start = self.buffer.line_range(*line).start;
                if commented {
                    let at = start + indent_of(*line);
                    let length = if self.text()[at..].starts_with("// ") { 3 } else { 2 };
                    (at..at + length, String::new())
                } else {
                    (start + least..start + least, "// ".to_owned())
                }
            })
            .collect();
        self.edit_lines(edits, now_s);
    }

    /// Edits at the fronts of lines; the selection keeps what it held.
    fn edit_lines(&mut self, edits: Vec<(Range<usize>, String)>, now_s: f64) {
        if edits.is_empty() {
            return;
        }
        let moved = |offset: usize| {
            let mut now = offset as isize;
            for (range, with) in &edits {
                if range.end <= offset {
                    now += with.len() as isize - range.len() as isize;
                } else if range.start < offset {
                    now -= (offset - range.start) as isize;
                }
            }
            now as usize
        };
        let after = (moved(self.anchor), moved(self.head));
        self.replace_all_of(EditKind::Other, &edits, after, now_s);
    }

    fn move_lines(&mut self, down: bool, now_s: f64) {
        let lines = self.selected_lines();
        let (first, last) = (*lines.start(), *lines.end());
        if (down && last + 1 >= self.buffer.line_count()) || (!down && first == 0) {
            return;
        }
        let block = self.selected_lines_range();
        let neighbour = self.buffer.line_range(if down { last + 1 } else { first - 1 });
        let (whole, text, shift) = if down {
            let text = format!("{}\n{}", &self.text()[neighbour.clone()], &self.text()[block.clone()]);
            (block.start..neighbour.end, text, neighbour.len() as isize + 1)
        } else {
            let text = format!("{}\n{}", &self.text()[block.clone()], &self.text()[neighbour.clone()]);
            (neighbour.start..block.end, text, -(neighbour.len() as isize) - 1)
        };
        let after = (self.anchor.saturating_add_signed(shift), self.head.saturating_add_signed(shift));
        self.replace_all_of(EditKind::Other, &[(whole, text)], after, now_s);
    }

    /// Where a motion leads from the cursor.
    fn target(&self, motion: Motion) -> usize {
        let line = self.buffer.line_of(self.head);
        let vertical = |to: usize| {
            let column = self.goal_column.unwrap_or_else(|| self.buffer.column_of(self.head));
            let offset = self.buffer.offset_at(to, column);
            // Of a folded hint only the front is there to stand on.
            self.shown_end(to).map_or(offset, |end| offset.min(end))
        };
        let row = self.row_of(line);
        let down = |lines: usize| {
            let last = self.row_count() - 1;
            if row == last { self.buffer.len() } else { vertical(self.line_of_row((row + lines).min(last))) }
        };
        let up = |lines: usize| if row == 0 { 0 } else { vertical(self.line_of_row(row.saturating_sub(lines))) };
        match motion {
            Motion::Left => self.buffer.previous_char(self.head),
            Motion::Right => self.buffer.next_char(self.head),
            Motion::WordLeft => self.buffer.previous_word(self.head),
            Motion::WordRight => self.buffer.next_word(self.head),
            Motion::Up => up(1),
            Motion::Down => down(1),
            Motion::PageUp(lines) => up(lines.max(1)),
            Motion::PageDown(lines) => down(lines.max(1)),
            Motion::LineStart => {
                let range = self.buffer.line_range(line);
                let text = &self.text()[range.clone()];
                let first = range.start + text.len() - text.trim_start().len();
                if self.head == first { range.start } else { first }
            }
            Motion::LineEnd => self.buffer.line_range(line).end,
            Motion::TextStart => 0,
            Motion::TextEnd => self.buffer.len(),
        }
    }

    fn step_cursor(&mut self, motion: Motion, extend: bool) {
        let selection = self.selection();
        // Without Shift a selection collapses to the side that the arrow points to.
        let target = match motion {
            Motion::Left if !extend && !selection.is_empty() => selection.start,
            Motion::Right if !extend && !selection.is_empty() => selection.end,
            motion => self.target(motion),
        };
        let vertical = matches!(motion, Motion::Up | Motion::Down | Motion::PageUp(_) | Motion::PageDown(_));
        let goal = vertical.then(|| self.goal_column.unwrap_or_else(|| self.buffer.column_of(self.head)));
        let (target, goal) = self.by_rows(motion).map_or((target, goal), |(target, goal)| (target, Some(goal)));
        self.place(target, extend);
        self.goal_column = goal;
    }

    pub(super) fn place(&mut self, offset: usize, extend: bool) {
        self.history.seal();
        self.head = self.buffer.clamp(offset);
        if !extend {
            self.anchor = self.head;
        }
        self.show_cursor(Show::Inside);
    }

    fn select(&mut self, range: Range<usize>) {
        self.history.seal();
        self.anchor = self.buffer.clamp(range.start);
        self.head = self.buffer.clamp(range.end);
        self.goal_column = None;
        self.show_cursor(Show::Inside);
    }

    /// Each letter searches from where the search began, so that taking letters back leads back too.
    fn find_as_typed(&mut self) {
        let from = *self.find.from.get_or_insert((self.anchor, self.head));
        // While an expression is being written it is often none for a moment.
        if self.find.problem.is_some() {
            return;
        }
        match self.find.next_from(from.0.min(from.1)) {
            Some(found) => self.select_found(Some(found)),
            None => self.go_back(from),
        }
    }

    fn go_back(&mut self, (anchor, head): (usize, usize)) {
        self.place(anchor, false);
        self.place(head, true);
        self.reveal.to = Show::Before;
    }

    fn select_found(&mut self, found: Option<Range<usize>>) {
        if let Some(range) = found {
            self.select(range);
            self.show_cursor(Show::Center);
        }
    }

    fn go_to(&mut self, line: u32, column: u32) {
        let line = (line.max(1) as usize - 1).min(self.buffer.line_count() - 1);
        let text = self.buffer.line(line);
        let indent = text.chars().count() - text.trim_start().chars().count();
        let column = if column == 0 { indent } else { column as usize - 1 };
        let offset = self.buffer.offset_at(line, column);
        self.place(offset, false);
        self.goal_column = None;
        self.show_cursor(Show::Center);
    }

    fn replace_one(&mut self, now_s: f64) {
        let selection = self.selection();
        if self.find.matches.contains(&selection) {
            let with = self.find.replaced(self.buffer.text(), &selection);
            let end = selection.start + with.len();
            self.replace_all_of(EditKind::Other, &[(selection, with)], (end, end), now_s);
        }
        let found = self.find.next_from(self.head);
        self.select_found(found);
    }
}

#[cfg(test)]
mod tests;
