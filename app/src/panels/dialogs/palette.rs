//! The command palette: every action, every day and every visualization by name.

use crate::command::{Action, Command};
use crate::icons::{self, Icon};
use crate::panels::{Screen, toolbar};
use crate::state::Pane;
use crate::theme::{self, space};
use crate::viz;
use egui::{Button, Key, Modifiers, RichText, ScrollArea, TextEdit, Ui};

struct Row {
    icon: Option<Icon>,
    text: String,
    keys: String,
    about: String,
    command: Command,
    enabled: bool,
}

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>, query: &str) {
    let t = theme::tokens(ui);
    super::set_width(ui, 560.0);
    let (up, down, enter) = ui.input_mut(|input| {
        (
            input.consume_key(Modifiers::NONE, Key::ArrowUp),
            input.consume_key(Modifiers::NONE, Key::ArrowDown),
            input.consume_key(Modifiers::NONE, Key::Enter),
        )
    });
    let mut typed = query.to_owned();
    let edit =
        TextEdit::singleline(&mut typed).hint_text("Type a command, a day or a picture").desired_width(f32::INFINITY);
    let response = ui.add(edit);
    response.widget_info(|| {
        let mut info = egui::WidgetInfo::text_edit(true, query, query, "");
        info.label = Some("Command palette".to_owned());
        info
    });
    response.request_focus();
    if typed != query {
        screen.memory.palette_row = 0;
        screen.send(Command::SetPaletteQuery(typed));
    }
    let rows = rows(ui.ctx(), screen, query);
    let row = &mut screen.memory.palette_row;
    if down {
        *row += 1;
    }
    if up {
        *row = row.saturating_sub(1);
    }
    *row = (*row).min(rows.len().saturating_sub(1));
    let chosen_row = *row;
    ui.add_space(space::S);
    let (mut chosen, mut told) = (None, chosen_row);
    let most = (ui.ctx().content_rect().height() * 0.7).min(360.0);
    ScrollArea::vertical().max_height(most).auto_shrink([false, true]).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = space::XXS;
        for (index, row) in rows.iter().enumerate() {
            let selected = index == chosen_row;
            let button =
                Button::selectable(selected, (row.icon.map_or_else(icons::room, icons::atom), row.text.as_str()))
                    .right_text(RichText::new(&row.keys).color(t.text_muted));
            let response = ui.add_enabled(row.enabled, button.min_size(egui::vec2(ui.available_width(), 26.0)));
            if selected && (up || down) {
                response.scroll_to_me(None);
            }
            if response.hovered() {
                told = index;
            }
            if response.clicked() || (enter && selected && row.enabled) {
                chosen = Some(row.command.clone());
            }
        }
        if rows.is_empty() {
            ui.label(RichText::new("No command has this name.").color(t.text_muted));
        }
    });
    // What a row does stands below the list: a tooltip would hide the next row.
    ui.add_space(space::XS);
    let about = rows.get(told).map_or("", |row| row.about.as_str());
    ui.add(egui::Label::new(RichText::new(about).small().color(t.text_muted)).truncate());
    if let Some(command) = chosen {
        screen.send(Command::CloseDialog);
        let is_picture = matches!(command, Command::ShowVisualization(_));
        screen.send(command);
        if is_picture {
            // Who came by the keyboard goes on with it there.
            screen.send(Command::FocusPane(Pane::Visualization));
        }
    }
}

fn rows(ctx: &egui::Context, screen: &Screen<'_>, query: &str) -> Vec<Row> {
    let mut scored: Vec<(usize, Row)> = Vec::new();
    for action in Action::ALL.into_iter().filter(|action| *action != Action::Palette) {
        let info = action.info();
        let text = format!("{}: {}", info.menu.title(), info.text);
        if let Some(score) = score(&text, query).or_else(|| score(info.tooltip, query).map(|score| score + 100)) {
            let row = Row {
                icon: action.icon(),
                text,
                keys: action.shortcut_text(ctx),
                about: info.tooltip.to_owned(),
                command: Command::Do(action),
                enabled: toolbar::is_enabled(screen, action),
            };
            scored.push((score, row));
        }
    }
    for day in screen.state.course.units() {
        let text = format!("Open {}: {}", day.place(), day.title);
        if let Some(score) = score(&text, query).filter(|_| !query.trim().is_empty()) {
            let keys = if day.is_written() { String::new() } else { "planned".to_owned() };
            let command = Command::OpenDay(day.id.clone());
            // What can be done comes before what is planned.
            let score = score + if day.is_written() { 10 } else { 50 };
            let icon = Some(Pane::Lesson.icon());
            scored.push((score, Row { icon, text, keys, about: day.summary.clone(), command, enabled: true }));
        }
    }
    for (id, title) in viz::titles() {
        const ABOUT: &str = "Shows this picture beside the lesson";
        let text = format!("Visualization: {title}");
        let found = score(&text, query).or_else(|| score(ABOUT, query).map(|score| score + 100));
        if let Some(score) = found.filter(|_| !query.trim().is_empty()) {
            let shown = screen.state.view.visualization.as_deref() == Some(id);
            let keys = if shown { Action::ShowVisualization.shortcut_text(ctx) } else { String::new() };
            let command = Command::ShowVisualization((*id).to_owned());
            let icon = Some(Pane::Visualization.icon());
            scored.push((score + 10, Row { icon, text, keys, about: ABOUT.to_owned(), command, enabled: true }));
        }
    }
    scored.sort_by_key(|(score, _)| *score);
    scored.into_iter().map(|(_, row)| row).collect()
}

/// Lower is better; None when a word of the query is missing. Letters in order are enough (`dkth` for Dark Theme),
/// but count less than a word as it is written.
fn score(text: &str, query: &str) -> Option<usize> {
    /// What words cost that do not stand as they were typed, one after the other.
    const APART: usize = 100;
    let text = text.to_lowercase();
    let whole = query.trim().to_lowercase();
    if let Some(at) = text.find(&whole).filter(|_| whole.contains(' ')) {
        return Some(at);
    }
    let mut total = APART;
    for word in query.to_lowercase().split_whitespace() {
        total += match text.find(word) {
            Some(at) => {
                let starts_word = at == 0 || !text.as_bytes()[at - 1].is_ascii_alphanumeric();
                at + if starts_word { 0 } else { 20 }
            }
            None => 200 + scattered(&text, word)?,
        };
    }
    Some(total)
}

/// How many letters stand between those of a word that are found in order; a letter that begins a word is nearest.
fn scattered(text: &str, word: &str) -> Option<usize> {
    let letters: Vec<char> = text.chars().collect();
    let (mut at, mut skipped) = (0, 0);
    for letter in word.chars() {
        let next = (at..letters.len()).find(|next| letters[*next] == letter)?;
        let begins = next == 0 || !letters[next - 1].is_alphanumeric();
        skipped += if begins { 0 } else { next - at };
        at = next + 1;
    }
    Some(skipped)
}

#[cfg(test)]
mod tests {
    use super::score;

    #[test]
    fn words_may_come_in_any_order_and_beginnings_count_more() {
        assert!(score("View: Dark Theme", "theme dark").is_some());
        assert!(score("View: Dark Theme", "darkness").is_none());
        assert!(score("Run: Stop", "stop") < score("Run: unstoppable", "stop"));
        assert!(score("anything", "").is_some());
        let day = "Open Week 1 Day 4: Your first kernel";
        assert!(score(day, "day 4") < score("Day: Stop 4 threads", "day 4"), "together");
        assert!(score("View: Dark Theme", "dkth").is_some(), "letters in order are enough");
        assert!(score("View: Dark Theme", "dark") < score("Day: Review", "dre"));
        assert!(score("View: Dark Theme", "thdk").is_none(), "in order");
    }
}
