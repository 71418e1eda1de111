//! The glossary: the words of the course in the order of the alphabet, each with the unit that introduces it.

use super::{Screen, parts};
use crate::command::Command;
use crate::fonts::Bold;
use crate::state::Pane;
use crate::theme::{self, font_size, space};
use crate::widgets::focus;
use egui::{Frame, Margin, RichText, ScrollArea, TextEdit, Ui};

/// Words that are shown of a search.
const MOST: usize = 40;

/// What is looked for.
#[derive(Default)]
pub struct Looked {
    query: String,
    /// The letter whose words are shown while nothing is looked for.
    letter: Option<char>,
}

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>) {
    let t = theme::tokens(ui);
    let course = screen.state.course.clone();
    let words = course.glossary();
    let letter = |term: &str| {
        let first = term.chars().find(|c| c.is_alphanumeric()).map_or('#', |c| c.to_ascii_uppercase());
        if first.is_ascii_alphabetic() { first } else { '#' }
    };
    let mut letters: Vec<char> = words.iter().map(|(entry, _)| letter(&entry.term)).collect();
    letters.sort_unstable();
    letters.dedup();
    Frame::new().inner_margin(Margin::same(space::L as i8)).show(ui, |ui| {
        ui.label(RichText::new("Glossary").size(font_size::HEADING).bold());
        let before = screen.memory.glossary.query.clone();
        let edit = TextEdit::singleline(&mut screen.memory.glossary.query);
        let response = ui.add(edit.hint_text(format!("Search {} terms", words.len())).desired_width(f32::INFINITY));
        response.widget_info(|| {
            let mut info = egui::WidgetInfo::text_edit(true, &before, &before, "");
            info.label = Some("Find a word".to_owned());
            info
        });
        if screen.takes_focus(Pane::Glossary) {
            response.request_focus();
        }
        let looked = &mut screen.memory.glossary;
        let chosen = looked.letter.filter(|letter| letters.contains(letter)).or(letters.first().copied());
        if looked.query.trim().is_empty() {
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing.x = space::XXS;
                for letter in &letters {
                    if ui.selectable_label(chosen == Some(*letter), letter.to_string()).clicked() {
                        looked.letter = Some(*letter);
                    }
                }
            });
        }
        let query = looked.query.trim().to_lowercase();
        let mut shown: Vec<_> = match query.is_empty() {
            true => words.into_iter().filter(|(entry, _)| Some(letter(&entry.term)) == chosen).collect(),
            false => {
                let has = |text: &str| text.to_lowercase().contains(&query);
                words.into_iter().filter(|(entry, _)| has(&entry.term) || has(&entry.meaning)).collect()
            }
        };
        // What is called so comes before what only mentions it.
        shown.sort_by_key(|(entry, _)| !query.is_empty() && !entry.term.to_lowercase().contains(&query));
        let left_out = shown.len().saturating_sub(MOST);
        if shown.is_empty() {
            return parts::empty(
                ui,
                Pane::Glossary.icon(),
                "No such term",
                "Try part of the word, or search the course.",
            );
        }
        ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
            ui.set_max_width(ui.available_width().min(theme::PROSE_WIDTH));
            for (entry, unit) in shown.into_iter().take(MOST) {
                // The term apart from its meaning: explained on hover it would say the same again.
                ui.horizontal_wrapped(|ui| {
                    ui.label(RichText::new(&entry.term).bold());
                    let link = ui.link(RichText::new(format!("{}: {}", unit.place(), unit.title)).small());
                    if link.on_hover_text("Opens where the term is introduced").clicked() {
                        screen.send(Command::OpenDay(unit.id.clone()));
                    }
                });
                screen.markdown_ui(ui, &format!("word/{}/{}", unit.id, entry.term), &entry.meaning);
                ui.add_space(space::S);
            }
            if left_out > 0 {
                ui.label(
                    RichText::new(format!("{left_out} more. Type more letters to narrow the list."))
                        .color(t.text_muted),
                );
            }
            focus::follow(ui);
        });
    });
}
