//! How each kind of block is drawn.

use super::LessonAction;
use super::document::{AlertKind, Block, Column, Item, Text};
use super::flow::{Flow, Look, show_flow};
use crate::fonts::Bold;
use crate::theme::{self, Tokens, font_size, radius, space};
use crate::widgets::formula::{Formulas, Style};
use crate::widgets::highlight::{self, TokenKind};
use crate::widgets::sides::sides;
use crate::widgets::sideways::Sideways;
use egui::text::{LayoutJob, TextFormat};
use egui::{Align, Align2, Color32, FontId, Frame, Rect, RichText, Sense, Stroke, Ui, pos2, vec2};
use std::collections::HashMap;

/// Formulas on a line of their own are a little larger than text.
const DISPLAY_FORMULA_SIZE: f32 = font_size::BODY * 1.2;

/// Width of a table's column in which a sentence still reads well.
const READABLE_COLUMN: f32 = 180.0;

pub struct Page<'a> {
    pub links: &'a [String],
    /// What links to words explain, by number.
    pub meanings: &'a [Option<String>],
    pub formulas: &'a mut Formulas,
    pub flows: &'a mut [Option<Flow>],
    pub columns: &'a mut HashMap<usize, Vec<f32>>,
    /// False inside a control, which speaks for its text.
    pub readable: bool,
    pub actions: Vec<LessonAction>,
}

impl Page<'_> {
    pub fn blocks_ui(&mut self, ui: &mut Ui, blocks: &[Block], width: f32) {
        ui.scope(|ui| {
            ui.spacing_mut().item_spacing.y = space::L;
            for (i, block) in blocks.iter().enumerate() {
                self.block_ui(ui, block, i == 0, width);
            }
        });
    }

    fn block_ui(&mut self, ui: &mut Ui, block: &Block, first: bool, width: f32) {
        let tokens = theme::tokens(ui);
        match block {
            Block::Heading { level, text, .. } => {
                let size = match level {
                    1 => font_size::TITLE,
                    2 => font_size::HEADING,
                    3 => font_size::BODY * 1.15,
                    _ => font_size::BODY,
                };
                if !first {
                    ui.add_space(space::S);
                }
                let look = Look { size, strong: true, ..Look::body(tokens) };
                self.text_ui(ui, text, &look, width);
            }
            Block::Paragraph(text) => {
                self.text_ui(ui, text, &Look::body(tokens), width);
            }
            Block::Formula { tex } => self.formula_ui(ui, tex, width),
            Block::Code { id, language, info, text } => self.code_ui(ui, *id, language, info, text, width),
            Block::List { start, items } => self.list_ui(ui, *start, items, width),
            Block::Quote { alert, blocks } => self.quote_ui(ui, *alert, blocks, width),
            Block::Table { id, columns, head, rows } => self.table_ui(ui, *id, columns, head, rows, width),
            Block::Fold { id, summary, blocks } => {
                egui::CollapsingHeader::new(RichText::new(summary).color(tokens.link)).id_salt(id).show_unindented(
                    ui,
                    |ui| {
                        Frame::new()
                            .inner_margin(egui::Margin { left: space::L as i8, ..Default::default() })
                            .show(ui, |ui| self.blocks_ui(ui, blocks, width - space::L));
                    },
                );
            }
            Block::Rule => {
                let (rect, _) = ui.allocate_exact_size(vec2(width, 1.0), Sense::hover());
                ui.painter().hline(rect.x_range(), rect.center().y, Stroke::new(1.0, tokens.border));
            }
        }
    }

    fn flow(&mut self, ui: &Ui, text: &Text, look: &Look, width: f32) -> Option<&Flow> {
        let slot = self.flows.get_mut(text.id)?;
        Some(slot.get_or_insert_with(|| Flow::lay_out(ui, text, look, self.formulas, width)))
    }

    fn text_ui(&mut self, ui: &mut Ui, text: &Text, look: &Look, width: f32) -> Option<Rect> {
        self.flow(ui, text, look, width)?;
        let flow = self.flows.get(text.id)?.as_ref()?;
        let (rect, followed) = show_flow(ui, flow, width, self.formulas, self.meanings, self.readable);
        self.follow(followed);
        Some(rect)
    }

    fn follow(&mut self, link: Option<usize>) {
        if let Some(target) = link.and_then(|link| self.links.get(link)) {
            self.actions.push(LessonAction::OpenLink(target.clone()));
        }
    }

    fn formula_ui(&mut self, ui: &mut Ui, tex: &str, width: f32) {
        let tokens = theme::tokens(ui);
        let extent = match self.formulas.measure(tex, Style::Display) {
            Ok(extent) => extent,
            Err(error) => {
                let text = format!("{tex}\n\n{error}");
                boxed(tokens.fail_soft, tokens.fail).show(ui, |ui| {
                    ui.set_max_width(width - 2.0 * space::L);
                    ui.label(RichText::new(text).monospace().color(tokens.fail));
                });
                return;
            }
        };
        let em = DISPLAY_FORMULA_SIZE;
        let size = vec2(extent.width_em * em, (extent.height_em + extent.depth_em) * em);
        let paint = |page: &mut Self, ui: &mut Ui, width: f32| {
            let (rect, response) = ui.allocate_exact_size(vec2(width.max(size.x), size.y.ceil()), Sense::hover());
            response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Math, true, tex));
            if ui.is_rect_visible(rect) {
                let origin = pos2(rect.center().x - size.x / 2.0, rect.top() + extent.height_em * em);
                page.formulas.paint(ui.painter(), origin, tex, Style::Display, em, tokens.text);
            }
        };
        ui.add_space(space::XS);
        if size.x <= width {
            paint(self, ui, width);
        } else {
            // Wider than the column: scrolled, never shrunk until it cannot be read.
            let salt = ui.next_auto_id();
            let wide = Sideways { name: "Formula", width, signs: false };
            wide.show(ui, salt, |ui| paint(self, ui, width));
        }
        ui.add_space(space::XS);
    }

    fn code_ui(&mut self, ui: &mut Ui, id: usize, language: &str, info: &str, text: &str, width: f32) {
        let tokens = theme::tokens(ui);
        let frame = Frame::new()
            .fill(tokens.inset)
            .stroke(Stroke::new(1.0, tokens.border))
            .corner_radius(radius::MEDIUM)
            .inner_margin(egui::Margin::symmetric(space::M as i8, space::S as i8));
        let inner = width - 2.0 * space::M - 2.0;
        frame.show(ui, |ui| {
            ui.set_width(inner);
            ui.spacing_mut().item_spacing = vec2(space::M, space::XS);
            let caption = |ui: &mut Ui, _: &mut Vec<LessonAction>| {
                let caption = if info.is_empty() { language_name(language) } else { info };
                ui.label(RichText::new(caption).size(font_size::SMALL).color(tokens.text_muted));
            };
            sides(ui, "code", &mut self.actions, caption, |ui, actions| {
                let tooltip = "Replaces the editor's text with this code. Undo restores it";
                if is_cuda(language) && small_button(ui, "Open in the editor").on_hover_text(tooltip).clicked() {
                    let language = language.to_owned();
                    actions.push(LessonAction::OpenInEditor { language, text: text.to_owned() });
                }
                if small_button(ui, "Copy").on_hover_text("Copy this code").clicked() {
                    ui.ctx().copy_text(text.to_owned());
                    actions.push(LessonAction::CopyCode(text.to_owned()));
                }
            });
            let Some(slot) = self.flows.get_mut(id) else { return };
            slot.get_or_insert_with(|| Flow::code(ui, code_job(tokens, language, text)));
            let wide = Sideways { name: "Code", width: inner, signs: false };
            wide.show(ui, id, |ui| {
                let Some(Some(galley)) = self.flows.get(id) else { return };
                let size = vec2(galley.size.x.max(inner), galley.size.y);
                let (rect, response) = ui.allocate_exact_size(size, Sense::click_and_drag() - Sense::FOCUSABLE);
                response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Code, true, text));
                if ui.is_rect_visible(rect) {
                    galley.show(ui, &response, rect.left_top(), self.formulas, &[]);
                }
            });
        });
    }

    fn list_ui(&mut self, ui: &mut Ui, start: Option<u64>, items: &[Item], width: f32) {
        let tokens = theme::tokens(ui);
        let last = start.map(|first| first + items.len().saturating_sub(1) as u64);
        let indent = match last {
            Some(last) => space::XL + 8.0 * last.to_string().len() as f32,
            None => space::XL + space::XS,
        };
        let tight = items.iter().all(|item| item.blocks.len() <= 1);
        ui.scope(|ui| {
            ui.spacing_mut().item_spacing.y = if tight { space::XS } else { space::M };
            for (number, item) in (start.unwrap_or(0)..).zip(items) {
                ui.horizontal_top(|ui| {
                    ui.spacing_mut().item_spacing.x = 0.0;
                    let row = (font_size::BODY * 1.5).round();
                    let (rect, _) = ui.allocate_exact_size(vec2(indent, row), Sense::hover());
                    let painter = ui.painter();
                    match (item.task, start) {
                        (Some(done), _) => {
                            let mark = if done { "☑" } else { "☐" };
                            let font = FontId::proportional(font_size::BODY);
                            let at = pos2(rect.right() - space::S, rect.center().y);
                            painter.text(at, Align2::RIGHT_CENTER, mark, font, tokens.text_muted);
                        }
                        (None, Some(_)) => {
                            let font = FontId::proportional(font_size::BODY);
                            let at = pos2(rect.right() - space::S, rect.center().y);
                            painter.text(at, Align2::RIGHT_CENTER, format!("{number}."), font, tokens.text_muted);
                        }
                        (None, None) => {
                            let at = pos2(rect.right() - space::M - 1.0, rect.center().y + 1.0);
                            painter.circle_filled(at, 2.5, tokens.text_muted);
                        }
                    }
                    ui.vertical(|ui| {
                        ui.set_width(width - indent);
                        ui.spacing_mut().item_spacing.y = space::S;
                        self.item_blocks_ui(ui, &item.blocks, width - indent);
                    });
                });
            }
        });
    }

    fn item_blocks_ui(&mut self, ui: &mut Ui, blocks: &[Block], width: f32) {
        for block in blocks {
            self.block_ui(ui, block, true, width);
        }
    }

    fn quote_ui(&mut self, ui: &mut Ui, alert: Option<AlertKind>, blocks: &[Block], width: f32) {
        let tokens = theme::tokens(ui);
        let (fill, color, title) = match alert {
            None => (tokens.raised, tokens.border_strong, ""),
            Some(AlertKind::Note) => (tokens.info_soft, tokens.info, "Note"),
            Some(AlertKind::Tip) => (tokens.pass_soft, tokens.pass, "Tip"),
            Some(AlertKind::Important) => (tokens.accent_soft, tokens.accent, "Important"),
            Some(AlertKind::Warning) => (tokens.warn_soft, tokens.warn, "Warning"),
            Some(AlertKind::Caution) => (tokens.fail_soft, tokens.fail, "Caution"),
        };
        let margin = space::L;
        let inner = width - 2.0 * margin - space::XS;
        let shown = Frame::new()
            .fill(fill)
            .corner_radius(radius::SMALL)
            .inner_margin(egui::Margin {
                left: (margin + space::XS) as i8,
                right: margin as i8,
                top: space::M as i8,
                bottom: space::M as i8,
            })
            .show(ui, |ui| {
                ui.set_width(inner);
                ui.spacing_mut().item_spacing.y = space::XS;
                if !title.is_empty() {
                    ui.label(RichText::new(title).bold().color(color));
                }
                self.blocks_ui(ui, blocks, inner);
            });
        let rect = shown.response.rect;
        let bar = Rect::from_min_max(rect.min, pos2(rect.left() + space::XS, rect.bottom()));
        let round = egui::CornerRadius { nw: radius::SMALL, sw: radius::SMALL, ..Default::default() };
        ui.painter().rect_filled(bar, round, color);
    }

    fn table_ui(&mut self, ui: &mut Ui, id: usize, columns: &[Column], head: &[Text], rows: &[Vec<Text>], width: f32) {
        let tokens = theme::tokens(ui);
        let pad = vec2(space::M, space::XS + 1.0);
        let look = |column: usize, strong: bool| Look {
            align: match columns.get(column) {
                Some(Column::Center) => Align::Center,
                Some(Column::Right) => Align::RIGHT,
                _ => Align::LEFT,
            },
            strong,
            ..Look::body(tokens)
        };
        let all: Vec<(&[Text], bool)> =
            std::iter::once((head, true)).chain(rows.iter().map(|row| (row.as_slice(), false))).collect();
        let widths = match self.columns.get(&id) {
            Some(known) => known.clone(),
            None => {
                let room = width - 2.0 * pad.x * columns.len() as f32;
                let widths = self.column_widths(ui, &all, columns.len(), room);
                self.columns.insert(id, widths.clone());
                widths
            }
        };
        let total: f32 = widths.iter().map(|w| w + 2.0 * pad.x).sum();
        let table = |page: &mut Self, ui: &mut Ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            for (number, (cells, strong)) in all.iter().enumerate() {
                let mut height = 0.0_f32;
                for (column, (cell, width)) in cells.iter().zip(&widths).enumerate() {
                    if let Some(flow) = page.flow(ui, cell, &look(column, *strong), *width) {
                        height = height.max(flow.size.y);
                    }
                }
                let (rect, _) = ui.allocate_exact_size(vec2(total, height + 2.0 * pad.y), Sense::hover());
                if *strong {
                    ui.painter().rect_filled(rect, radius::SMALL, tokens.raised);
                }
                let line = Stroke::new(1.0, if *strong { tokens.border_strong } else { tokens.border });
                ui.painter().hline(rect.x_range(), rect.bottom(), line);
                if !ui.is_rect_visible(rect) {
                    continue;
                }
                let mut left = rect.left();
                for (column, (cell, width)) in cells.iter().zip(&widths).enumerate() {
                    let area = Rect::from_min_size(pos2(left + pad.x, rect.top() + pad.y), vec2(*width, height));
                    left += width + 2.0 * pad.x;
                    let id = ui.scope_id().with(("cell", number, column));
                    let response = ui.interact(area, id, Sense::click_and_drag() - Sense::FOCUSABLE);
                    let Some(Some(flow)) = page.flows.get(cell.id) else { continue };
                    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Cell, true, flow.plain()));
                    let followed = flow.show(ui, &response, area.left_top(), page.formulas, page.meanings);
                    page.follow(followed);
                }
            }
        };
        ui.push_id(("table", id), |ui| {
            if total <= width + 1.0 {
                table(self, ui);
            } else {
                let wide = Sideways { name: "Table", width, signs: true };
                wide.show(ui, "wide", |ui| table(self, ui));
            }
        });
    }

    /// As wide as the content wants if there is room; else what is missing is taken from the columns in proportion to
    /// what they have beyond their longest word.
    fn column_widths(&mut self, ui: &Ui, rows: &[(&[Text], bool)], count: usize, room: f32) -> Vec<f32> {
        let tokens = theme::tokens(ui);
        let mut natural = vec![0.0_f32; count];
        let mut least = vec![0.0_f32; count];
        for (cells, strong) in rows {
            for (column, cell) in cells.iter().enumerate().take(count) {
                let look = Look { strong: *strong, ..Look::body(tokens) };
                let flow = Flow::lay_out(ui, cell, &look, self.formulas, f32::INFINITY);
                natural[column] = natural[column].max(flow.size.x.ceil() + 1.0);
                let letters = flow.plain().chars().count().max(1) as f32;
                let longest = flow.plain().split_whitespace().map(|w| w.chars().count()).max().unwrap_or(0) as f32;
                least[column] = least[column].max(flow.size.x * (longest / letters * 1.15).min(1.0));
            }
        }
        let wanted: f32 = natural.iter().sum();
        let bare: f32 = least.iter().sum();
        if wanted <= room || wanted <= bare {
            return natural;
        }
        if bare > room {
            // It has to be moved sideways anyway: then no column is one word wide and a page long.
            let readable = natural.iter().zip(&least).map(|(natural, least)| natural.min(READABLE_COLUMN).max(*least));
            return readable.map(f32::ceil).collect();
        }
        let share = ((room - bare) / (wanted - bare)).clamp(0.0, 1.0);
        natural.iter().zip(&least).map(|(natural, least)| (least + (natural - least) * share).floor()).collect()
    }
}

fn boxed(fill: Color32, stroke: Color32) -> Frame {
    Frame::new().fill(fill).stroke(Stroke::new(1.0, stroke)).corner_radius(radius::SMALL).inner_margin(space::M)
}

fn small_button(ui: &mut Ui, text: &str) -> egui::Response {
    let tokens = theme::tokens(ui);
    ui.add(egui::Button::new(RichText::new(text).size(font_size::SMALL).color(tokens.text_muted)).small())
}

fn is_cuda(language: &str) -> bool {
    matches!(language, "cuda" | "cu")
}

fn language_name(language: &str) -> &str {
    match language {
        "cuda" | "cu" => "CUDA C++",
        "cpp" | "c++" | "cc" => "C++",
        "c" => "C",
        "python" | "py" => "Python",
        "ptx" => "PTX",
        "sass" => "SASS",
        "sh" | "bash" | "shell" | "console" => "Terminal",
        "rust" | "rs" => "Rust",
        "toml" => "TOML",
        "" | "text" | "txt" => "Text",
        other => other,
    }
}

/// Source text with the editor's colours, on lines that do not wrap.
pub fn code_job(tokens: &Tokens, language: &str, text: &str) -> LayoutJob {
    let format = |color: Color32| TextFormat {
        font_id: theme::code_font(),
        color,
        line_height: Some((font_size::CODE * 1.4).round()),
        ..Default::default()
    };
    let mut job = LayoutJob { wrap: egui::text::TextWrapping::no_max_width(), ..Default::default() };
    let is_cpp = is_cuda(language) || matches!(language, "cpp" | "c++" | "cc" | "c");
    let spans = if is_cpp { highlight::highlight(text) } else { Vec::new() };
    let mut at = 0;
    for span in spans {
        job.append(&text[at..span.range.start], 0.0, format(tokens.syntax.text));
        job.append(&text[span.range.clone()], 0.0, format(token_color(tokens, span.kind)));
        at = span.range.end;
    }
    job.append(&text[at..], 0.0, format(tokens.syntax.text));
    job
}

/// The colour of a kind of token.
pub fn token_color(tokens: &Tokens, kind: TokenKind) -> Color32 {
    let syntax = &tokens.syntax;
    match kind {
        TokenKind::Plain | TokenKind::Operator => syntax.text,
        TokenKind::Keyword => syntax.keyword,
        TokenKind::Type => syntax.type_name,
        TokenKind::Qualifier => syntax.qualifier,
        TokenKind::Builtin => syntax.builtin,
        TokenKind::Function => syntax.function,
        TokenKind::Number => syntax.number,
        TokenKind::Text => syntax.string,
        TokenKind::Comment => syntax.comment,
        TokenKind::Preprocessor => syntax.preprocessor,
    }
}
