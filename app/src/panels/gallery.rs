//! The gallery: every picture of the course, with what it shows and the units that use it.

use super::Screen;
use crate::command::Command;
use crate::fonts::Bold;
use crate::icons;
use crate::state::Pane;
use crate::theme::{self, font_size, radius, space};
use crate::viz::{self, VizInput};
use crate::widgets::{focus, sentence};
use curriculum::{Block, Course, Unit};
use egui::{Align, Frame, Label, Layout, Margin, RichText, ScrollArea, Stroke, Ui};

/// Least width of a card, in points.
const CARD: f32 = 260.0;

/// What a card says; made once, for the pictures do not change.
pub struct Card {
    id: String,
    title: String,
    about: String,
}

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>) {
    let t = theme::tokens(ui);
    let cards =
        screen.memory.gallery.get_or_insert_with(|| viz::all().iter().map(|picture| card(&**picture)).collect());
    let cards = std::mem::take(cards);
    let course = screen.state.course.clone();
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        Frame::new().inner_margin(Margin::same(space::L as i8)).show(ui, |ui| {
            ui.label(RichText::new("Pictures").size(font_size::HEADING).bold());
            let text = "Each picture shows your own run if there is one, and an example that you can change if not.";
            ui.add(Label::new(RichText::new(text).color(t.text_muted)).wrap());
            ui.add_space(space::S);
            let columns = ((ui.available_width() + space::M) / (CARD + space::M)).floor().clamp(1.0, 4.0) as usize;
            for row in cards.chunks(columns) {
                ui.columns(columns, |columns| {
                    // Cards of a row are of one height.
                    let tallest = row.iter().map(|card| words_height(&columns[0], &course, card)).fold(0.0, f32::max);
                    for (ui, card) in columns.iter_mut().zip(row) {
                        card_ui(ui, screen, &course, card, tallest);
                    }
                });
            }
        });
        focus::follow(ui);
    });
    screen.memory.gallery = Some(cards);
}

fn card(picture: &dyn viz::Visualization) -> Card {
    let about = picture.describe(&VizInput::default());
    // Its first sentence says what it is.
    let about = about.split_inclusive(['.', '\n']).next().unwrap_or_default().trim().to_owned();
    Card { id: picture.id().to_owned(), title: picture.title().to_owned(), about }
}

/// What to do with it, as the first lesson that shows it says.
fn words<'a>(course: &'a Course, card: &'a Card) -> &'a str {
    caption(course, &card.id).unwrap_or(&card.about)
}

/// Points that a card's words need in a column.
fn words_height(ui: &Ui, course: &Course, card: &Card) -> f32 {
    let mut job = sentence::job(ui, words(course, card), theme::tokens(ui).text_muted);
    job.wrap.max_width = ui.available_width() - 2.0 * space::M;
    ui.painter().layout_job(job).size().y
}

fn card_ui(ui: &mut Ui, screen: &mut Screen<'_>, course: &Course, card: &Card, tallest: f32) {
    let t = theme::tokens(ui);
    let frame = Frame::new()
        .fill(t.raised)
        .stroke(Stroke::new(1.0, t.border))
        .corner_radius(radius::MEDIUM)
        .inner_margin(space::M);
    frame.show(ui, |ui| {
        ui.take_available_width();
        // Columns would stretch the words of each row to their width.
        ui.with_layout(Layout::top_down(Align::Min), |ui| card_words_ui(ui, screen, course, card, tallest));
    });
}

fn card_words_ui(ui: &mut Ui, screen: &mut Screen<'_>, course: &Course, card: &Card, tallest: f32) {
    let t = theme::tokens(ui);
    ui.spacing_mut().item_spacing.y = space::XS;
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::S;
        icons::show(ui, Pane::Visualization.icon(), t.accent);
        ui.add(Label::new(RichText::new(&card.title).bold()).truncate());
    });
    let about = sentence::job(ui, words(course, card), t.text_muted);
    ui.allocate_ui(egui::vec2(ui.available_width(), tallest), |ui| {
        ui.set_min_height(tallest);
        ui.add(Label::new(about).wrap());
    });
    ui.horizontal_wrapped(|ui| {
        let button = ui.button("Open");
        button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, format!("Open {}", card.title)));
        if button.on_hover_text("Shows it in the work area").clicked() {
            screen.send(Command::ShowVisualization(card.id.clone()));
        }
        for unit in users(course, &card.id).take(2) {
            let link = ui.link(RichText::new(unit.place()).small());
            if link.on_hover_text(&unit.title).clicked() {
                screen.send(Command::OpenDay(unit.id.clone()));
            }
        }
    });
}

/// The words under the picture in the first lesson that has it.
fn caption<'a>(course: &'a Course, id: &str) -> Option<&'a str> {
    let blocks = course.units().flat_map(|unit| &unit.lesson.sections).flat_map(|section| &section.blocks);
    let mut captions = blocks.filter_map(|block| match block {
        Block::Visualization { id: shown, caption } if shown == id => Some(caption.as_str()),
        _ => None,
    });
    captions.find(|caption| !caption.is_empty())
}

/// The units whose lesson has the picture.
fn users<'a>(course: &'a Course, id: &'a str) -> impl Iterator<Item = &'a Unit> {
    let shows = move |block: &Block| matches!(block, Block::Visualization { id: shown, .. } if shown == id);
    course.units().filter(move |unit| unit.lesson.sections.iter().flat_map(|section| &section.blocks).any(shows))
}
