//! The open text beside another version of itself: the scaffold, the last one that passed, our solution, or any run.

use super::{Screen, parts};
use crate::command::{Action, Command};
use crate::listing::{self, Change};
use crate::theme::{self, Tokens, font_size, space};
use crate::versions::{Against, Version};
use crate::widgets::code_editor::{EditorAction, line_job};
use crate::widgets::highlight::{Span, highlight};
use curriculum::store::{RunKind, RunRecord};
use egui::{
    Align2, ComboBox, FontFamily, FontId, Frame, Margin, Rect, RichText, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2,
};
use std::ops::Range;

/// Longest text whose rows are coloured: beyond it the parse would be felt.
const COLOURED_BYTES: usize = 60_000;

/// What the view keeps between frames.
#[derive(Default)]
pub struct CompareMemory {
    /// What the rest is right for: the text's slot and version, what it is compared with, and its size.
    key: Option<(curriculum::store::TextSlot, u64, Against, usize)>,
    old: Side,
    new: Side,
    rows: Vec<Change>,
    /// Rows where a difference begins.
    differences: Vec<Range<usize>>,
    /// The difference that is looked at.
    at: usize,
    /// Runs that there were.
    runs: usize,
    /// The state's count of steps that was followed last.
    followed: i32,
    scroll_to: Option<usize>,
}

#[derive(Default)]
struct Side {
    text: String,
    lines: Vec<Range<usize>>,
    spans: Vec<Span>,
}

impl Side {
    fn new(text: &str) -> Self {
        let mut lines = Vec::new();
        let mut start = 0;
        for line in text.split('\n') {
            lines.push(start..start + line.len());
            start += line.len() + 1;
        }
        let spans = if text.len() <= COLOURED_BYTES { highlight(text) } else { Vec::new() };
        Self { text: text.to_owned(), lines, spans }
    }

    fn all(&self) -> Vec<&str> {
        self.lines.iter().map(|range| &self.text[range.clone()]).collect()
    }
}

impl CompareMemory {
    fn update(&mut self, slot: &curriculum::store::TextSlot, version: u64, against: Against, old: &str, new: &str) {
        let key = Some((slot.clone(), version, against, old.len()));
        if self.key == key {
            return;
        }
        let same_question = self.key.as_ref().is_some_and(|(_, _, before, _)| *before == against);
        self.key = key;
        self.old = Side::new(old);
        self.new = Side::new(new);
        self.rows = listing::compare_lines(&self.old.all(), &self.new.all());
        self.differences = differences(&self.rows);
        if !same_question {
            self.at = 0;
            self.scroll_to = self.differences.first().map(|range| range.start);
        }
        self.at = self.at.min(self.differences.len().saturating_sub(1));
    }

    fn step(&mut self, forward: bool) {
        let count = self.differences.len();
        if count > 0 {
            self.at = if forward { (self.at + 1) % count } else { (self.at + count - 1) % count };
            self.scroll_to = Some(self.differences[self.at].start);
        }
    }

    /// The edit that takes one difference back: what to replace in the open text, and with what.
    fn taking_back(&self, difference: &Range<usize>) -> Option<(Range<usize>, String)> {
        let rows = self.rows.get(difference.clone())?;
        let gone: Vec<&str> = rows
            .iter()
            .filter_map(|row| match row {
                Change::Gone(old) => Some(&self.old.text[self.old.lines[*old].clone()]),
                _ => None,
            })
            .collect();
        let came: Vec<usize> =
            rows.iter().filter_map(|row| if let Change::Came(new) = row { Some(*new) } else { None }).collect();
        let range = match (came.first(), came.last()) {
            (Some(first), Some(last)) => self.new.lines[*first].start..self.new.lines[*last].end,
            // Nothing came: the lines go back in front of the next one that both have, or behind the last.
            _ => {
                let next = self.rows[difference.end..].iter().find_map(|row| match row {
                    Change::Same(_, new) => Some(self.new.lines[*new].start),
                    _ => None,
                });
                let at = next.unwrap_or(self.new.text.len());
                let text = gone.join("\n");
                let with = if next.is_some() { format!("{text}\n") } else { format!("\n{text}") };
                return Some((at..at, with));
            }
        };
        if gone.is_empty() {
            // The line's end goes with it.
            let range = if range.end < self.new.text.len() {
                range.start..range.end + 1
            } else {
                range.start.saturating_sub(1)..range.end
            };
            return Some((range, String::new()));
        }
        Some((range, gone.join("\n")))
    }
}

/// Runs of rows that differ.
fn differences(rows: &[Change]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        if matches!(row, Change::Same(..)) {
            continue;
        }
        match found.last_mut() {
            Some(last) if last.end == index => last.end += 1,
            _ => found.push(index..index + 1),
        }
    }
    found
}

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>) {
    let state = screen.state;
    let Some(desk) = state.desk().filter(|desk| desk.loaded) else {
        return parts::empty(
            ui,
            crate::state::Pane::Compare.icon(),
            "Nothing to compare",
            "Open a day with an exercise first.",
        );
    };
    let against = state.view.against;
    let mut memory = std::mem::take(&mut screen.memory.compare);
    Frame::new().inner_margin(Margin::same(space::M as i8)).show(ui, |ui| {
        choices_ui(ui, screen, &desk.runs, against);
        match state.version(against) {
            Version::Text(old) => {
                let steps = state.view.difference - std::mem::replace(&mut memory.followed, state.view.difference);
                if memory.runs != desk.runs.len() {
                    // The last passing one may be another now.
                    memory.runs = desk.runs.len();
                    memory.key = None;
                }
                memory.update(&desk.slot, desk.editor.version(), against, old, desk.editor.text());
                for _ in 0..steps.abs().min(1_000) {
                    memory.step(steps > 0);
                }
                differences_ui(ui, screen, &mut memory, old);
                rows_ui(ui, screen, &mut memory);
            }
            Version::Unread(_) => {
                screen.send(Command::ReadVersion(against));
                parts::empty(ui, crate::state::Pane::Compare.icon(), "Reading the text of that run…", "");
            }
            Version::None(why) => parts::empty(ui, crate::state::Pane::Compare.icon(), "Nothing to compare with", why),
            Version::Locked => {
                let text = "It opens once your kernel passes, or when you ask for it.";
                parts::empty(ui, crate::icons::LOCK, "The solution is locked", text);
                ui.vertical_centered(|ui| {
                    if ui.button(Action::ShowSolution.info().text).clicked() {
                        screen.send(Command::Do(Action::ShowSolution));
                    }
                });
            }
        }
    });
    screen.memory.compare = memory;
}

fn choices_ui(ui: &mut Ui, screen: &mut Screen<'_>, runs: &[RunRecord], against: Against) {
    let t = theme::tokens(ui);
    let mut chosen = against;
    ui.horizontal_wrapped(|ui| {
        ui.label(RichText::new("Your text against").small().color(t.text_muted));
        ui.selectable_value(&mut chosen, Against::Scaffold, "Scaffold").on_hover_text("What the day starts from");
        ui.selectable_value(&mut chosen, Against::LastPassing, "Last passing")
            .on_hover_text("The newest run that passed");
        ui.selectable_value(&mut chosen, Against::Reference, "Our solution").on_hover_text("The plain one");
        let text = match against {
            Against::Run(number) => format!("Run {number}"),
            _ => "Runs".to_owned(),
        };
        let label = format!("Runs, {} in all", runs.len());
        let combo = ComboBox::from_id_salt("compare with a run").selected_text(text).width(90.0).height(360.0);
        let response = combo.show_ui(ui, |ui| {
            ui.set_min_width(420.0);
            if runs.is_empty() {
                ui.label(RichText::new("No runs yet: Check or Benchmark keeps the text that ran.").color(t.text_muted));
            }
            for (index, run) in runs.iter().enumerate().rev() {
                let number = index as u32 + 1;
                let text = run_text(number, run, screen.state.now_unix_s);
                ui.selectable_value(&mut chosen, Against::Run(number), text).on_hover_text(&run.summary);
            }
        });
        response.response.widget_info(|| WidgetInfo::labeled(egui::Role::ComboBox, true, &label));
    });
    if chosen != against {
        screen.send(Command::SetAgainst(chosen));
    }
}

fn run_text(number: u32, run: &RunRecord, now_unix_s: u64) -> String {
    let sign = if run.passed { "✔" } else { "✖" };
    let kind = match run.kind {
        RunKind::Check => "check",
        RunKind::Bench => "benchmark",
    };
    let ago_s = now_unix_s.saturating_sub(run.when_unix_s);
    let ago = match ago_s {
        0..60 => "just now".to_owned(),
        60..3_600 => format!("{} min ago", ago_s / 60),
        3_600..86_400 => format!("{} h ago", ago_s / 3_600),
        _ => format!("{} ago", parts::counted(ago_s / 86_400, "day")),
    };
    format!("{sign} Run {number} · {kind} · {} · {ago}", run.device)
}

fn differences_ui(ui: &mut Ui, screen: &mut Screen<'_>, memory: &mut CompareMemory, old: &str) {
    let t = theme::tokens(ui);
    ui.horizontal_wrapped(|ui| {
        let count = memory.differences.len();
        let (came, gone) = memory.rows.iter().fold((0, 0), |(came, gone), row| match row {
            Change::Came(_) => (came + 1, gone),
            Change::Gone(_) => (came, gone + 1),
            Change::Same(..) => (came, gone),
        });
        let lines = parts::counted(came, "line");
        let text = match count {
            0 => "No difference".to_owned(),
            1 => format!("1 difference: {lines} added, {gone} removed"),
            count => format!("Difference {} of {count}: {lines} added, {gone} removed", memory.at + 1),
        };
        ui.label(RichText::new(text).color(t.text_muted));
        for (sign, action) in [("⬆", Action::PreviousDifference), ("⬇", Action::NextDifference)] {
            let response = ui.add_enabled(count > 0, egui::Button::new(sign)).on_hover_text(action.tooltip(ui.ctx()));
            response.widget_info(|| WidgetInfo::labeled(egui::Role::Button, count > 0, action.info().text));
            if response.clicked() {
                screen.send(Command::Do(action));
            }
        }
        if count > 0 {
            let back =
                ui.button("Revert this change").on_hover_text("Puts the other text's lines here. Undo restores yours");
            if back.clicked()
                && let Some((range, with)) = memory.differences.get(memory.at).and_then(|at| memory.taking_back(at))
            {
                screen.send(Command::Edit(EditorAction::Select(range)));
                screen.send(Command::Edit(EditorAction::Paste(with)));
            }
            let all =
                ui.button("Revert all").on_hover_text("Puts the whole other text into the editor. Undo restores yours");
            if all.clicked() {
                screen.send(Command::OpenInEditor(old.to_owned()));
            }
        }
    });
}

fn rows_ui(ui: &mut Ui, screen: &mut Screen<'_>, memory: &mut CompareMemory) {
    let t = theme::tokens(ui);
    let font = theme::editor_font(ui);
    let (height, char_width) =
        ui.fonts_mut(|fonts| ((fonts.row_height(&font) * 1.2).round(), fonts.glyph_width(&font, '0')));
    let rows = memory.rows.len();
    let longest = memory.old.lines.iter().chain(&memory.new.lines).map(ExactSizeIterator::len).max().unwrap_or(0);
    Frame::new().fill(t.inset).show(ui, |ui| {
        ui.spacing_mut().scroll.fade.strength = 0.0;
        ScrollArea::both().id_salt("compare").auto_shrink(false).show_viewport(ui, |ui, viewport| {
            let width = ((longest.min(2_000) as f32 + 14.0) * char_width).max(viewport.width());
            let (whole, response) = ui.allocate_exact_size(vec2(width, rows as f32 * height), Sense::click());
            let label = format!("Comparison, {rows} rows, {} differences", memory.differences.len());
            response.widget_info(|| WidgetInfo::labeled(egui::Role::List, true, &label));
            let row_rect = |row: usize| {
                let top = whole.top() + row as f32 * height;
                Rect::from_min_max(pos2(whole.left(), top), pos2(whole.right(), top + height))
            };
            if let Some(row) = memory.scroll_to.take() {
                let left = pos2(ui.clip_rect().left(), row_rect(row).top() - 3.0 * height);
                let rect = Rect::from_min_size(left, vec2(1.0, 8.0 * height));
                ui.scroll_to_rect_animation(rect, None, egui::style::ScrollAnimation::none());
            }
            if response.clicked()
                && let Some(pos) = response.interact_pointer_pos()
            {
                let row = ((pos.y - whole.top()) / height) as usize;
                if let Some(at) = memory.differences.iter().position(|range| range.contains(&row)) {
                    memory.at = at;
                }
                if let Some(Change::Same(_, new) | Change::Came(new)) = memory.rows.get(row) {
                    screen.commands.push(Command::Edit(EditorAction::GoTo { line: *new as u32 + 1, column: 0 }));
                }
            }
            let first = (viewport.top() / height).floor().max(0.0) as usize;
            let last = ((viewport.bottom() / height).ceil().max(0.0) as usize).min(rows);
            for index in first..last.max(first) {
                let current = memory.differences.get(memory.at).is_some_and(|range| range.contains(&index));
                row_ui(ui, t, &font, char_width, memory, index, row_rect(index), current);
            }
        });
    });
}

#[expect(clippy::too_many_arguments, reason = "one row of one comparison")]
fn row_ui(
    ui: &Ui,
    t: &Tokens,
    font: &FontId,
    char_width: f32,
    memory: &CompareMemory,
    index: usize,
    rect: Rect,
    current: bool,
) {
    let (side, line, old, new, sign) = match memory.rows[index] {
        Change::Same(old, new) => (&memory.new, new, Some(old), Some(new), " "),
        Change::Gone(old) => (&memory.old, old, Some(old), None, "−"),
        Change::Came(new) => (&memory.new, new, None, Some(new), "+"),
    };
    let painter = ui.painter();
    let band = Rect::from_x_y_ranges(ui.clip_rect().x_range(), rect.y_range());
    let (fill, color) = match sign {
        "+" => (Some(t.pass_soft), t.pass),
        "−" => (Some(t.fail_soft), t.fail),
        _ => (None, t.text),
    };
    if let Some(fill) = fill {
        painter.rect_filled(band, 0.0, fill);
    }
    if current {
        painter.rect_filled(Rect::from_min_size(band.min, vec2(3.0, band.height())), 0.0, t.accent);
    }
    let small = FontId::new(font_size::SMALL - 1.0, FontFamily::Monospace);
    let center = rect.center().y;
    for (number, columns) in [(old, 5.0), (new, 10.0)] {
        if let Some(number) = number {
            let place = pos2(rect.left() + columns * char_width, center);
            painter.text(place, Align2::RIGHT_CENTER, number + 1, small.clone(), t.text_faint);
        }
    }
    painter.text(pos2(rect.left() + 11.0 * char_width, center), Align2::LEFT_CENTER, sign, font.clone(), color);
    let job = line_job(&side.text, side.lines[line].clone(), &side.spans, t, font);
    let galley = ui.fonts_mut(|fonts| fonts.layout_job(job));
    let place = pos2(rect.left() + 12.5 * char_width, center - galley.size().y / 2.0);
    painter.galley(place, galley, t.text);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(old: &str, new: &str) -> CompareMemory {
        let slot = curriculum::store::TextSlot::new("day", "exercise").expect("plain names");
        let mut memory = CompareMemory::default();
        memory.update(&slot, 1, Against::Scaffold, old, new);
        memory
    }

    #[test]
    fn taking_every_difference_back_gives_the_other_text() {
        for (old, new) in [
            ("a\nb\nc\n", "a\nB\nc\n"),
            ("a\nb\nc\n", "a\nc\n"),
            ("a\nc\n", "a\nb\nc\n"),
            ("a\nb", "a\nb\nc"),
            ("a\nb\nc", "a\nb"),
            ("", "a\nb"),
            ("a\nb\n", ""),
            ("x\na\n", "a\n"),
            ("é\nü\n", "e\nü\nö\n"),
            ("a\nb\nc\nd\ne\nf", "0\na\nc\nX\ne\nf\ng"),
        ] {
            let mut text = new.to_owned();
            for round in 0.. {
                let memory = memory(old, &text);
                let Some(first) = memory.differences.first() else { break };
                let (range, with) = memory.taking_back(first).expect("an edit");
                text.replace_range(range, &with);
                assert!(round < 20, "{old:?} from {new:?} never ends: {text:?}");
            }
            assert_eq!(text, old, "from {new:?}");
        }
    }

    #[test]
    fn differences_are_runs_of_rows_and_are_stepped_through() {
        let mut memory = memory("a\nb\nc\nd\n", "a\nB\nc\nD\nE\n");
        assert_eq!(memory.differences.len(), 2);
        memory.step(true);
        assert_eq!((memory.at, memory.scroll_to), (1, Some(memory.differences[1].start)));
        memory.step(true);
        memory.step(false);
        assert_eq!(memory.at, 1);
        assert!(self::memory("same", "same").differences.is_empty());
    }
}
