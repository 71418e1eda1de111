//! A table of a lesson with cells to fill in, marked where they are.

use super::{Screen, parts};
use crate::command::Command;
use crate::theme::{self, space};
use crate::widgets::{focus, sentence};
use curriculum::Unit;
use curriculum::fill::{FillCell, FillTable};
use egui::{Grid, Key, RichText, TextEdit, Ui};

/// What stands in the cells now, and whether it was checked as it is.
#[derive(Default)]
pub struct Typed {
    cells: Vec<String>,
    is_checked: bool,
}

/// Width of a cell to type into, in points.
const CELL: f32 = 92.0;

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>, unit: &Unit, table: &FillTable) {
    let t = theme::tokens(ui);
    let times = screen.state.resets.get(&unit.id).copied().unwrap_or_default();
    let place = format!("{}/{}/{times}", unit.id, table.name);
    let kept = screen.state.progress.filled(unit, &table.name);
    let asked = table.asked().count();
    let typed = screen.memory.tables.entry(place.clone()).or_insert_with(|| {
        let mut cells = kept.to_vec();
        cells.resize(asked, String::new());
        Typed { cells, is_checked: !kept.is_empty() }
    });
    let marks = table.mark(&typed.cells);
    let mut check = false;
    parts::notice(ui, t.raised, t.accent, |ui| {
        ui.spacing_mut().item_spacing.y = space::S;
        Grid::new(("fill", &place)).num_columns(table.head.len()).spacing([space::L, space::XS]).show(ui, |ui| {
            for name in &table.head {
                parts::caption(ui, name);
            }
            ui.end_row();
            let mut index = 0;
            for row in &table.rows {
                for (cell, head) in row.iter().zip(&table.head) {
                    match cell {
                        FillCell::Given(text) => {
                            ui.label(sentence::job(ui, text, t.text));
                        }
                        FillCell::Asked(_) => {
                            let first = row.iter().find_map(|cell| match cell {
                                FillCell::Given(text) => Some(text.as_str()),
                                FillCell::Asked(_) => None,
                            });
                            let name = format!("{head}, {}", first.unwrap_or("this row"));
                            check |= cell_ui(ui, typed, index, marks[index], &name);
                            index += 1;
                        }
                    }
                }
                ui.end_row();
            }
        });
        ui.horizontal_wrapped(|ui| {
            let is_all = typed.is_checked && marks.iter().all(|right| *right);
            if !is_all && ui.button("Check the table").on_hover_text("Enter in a cell does it too").clicked() {
                check = true;
            }
            if typed.is_checked {
                let right = marks.iter().filter(|right| **right).count();
                let (text, color) = match right == asked {
                    true => ("✔ All right".to_owned(), t.pass),
                    false => (format!("{right} of {asked} right"), t.warn),
                };
                let label = ui.label(RichText::new(text).color(color));
                ui.ctx().accesskit_node_builder(label.id, |node| node.set_live(egui::accesskit::Live::Polite));
            }
        });
        if check {
            typed.is_checked = true;
            let (day, table, typed) = (unit.id.clone(), table.name.clone(), typed.cells.clone());
            screen.commands.push(Command::FillTable { day, table, typed });
        }
    });
}

/// A cell to type into; true when Enter asks for the check.
fn cell_ui(ui: &mut Ui, typed: &mut Typed, index: usize, is_right: bool, name: &str) -> bool {
    let t = theme::tokens(ui);
    let Some(text) = typed.cells.get_mut(index) else { return false };
    let (sign, color) = match (typed.is_checked, is_right) {
        (false, _) => ("", t.text_muted),
        (true, true) => ("✔", t.pass),
        (true, false) => ("✖", t.fail),
    };
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = space::XS;
        let before = text.clone();
        let response = ui.add(TextEdit::singleline(text).desired_width(CELL).hint_text("?"));
        focus::ring(ui, &response);
        if response.gained_focus() {
            response.scroll_to_me(None);
        }
        response.widget_info(|| {
            let mut info = egui::WidgetInfo::text_edit(true, &before, &before, "?");
            info.label = Some(name.to_owned());
            info
        });
        ui.label(RichText::new(sign).color(color));
        if *text != before {
            typed.is_checked = false;
        }
        response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter))
    })
    .inner
}
