//! One flowing text: words, code, links and inline formulas, all on one baseline.

use super::document::{Piece, Text, TextStyle};
use crate::fonts;
use crate::theme::{self, Tokens, font_size};
use crate::widgets::formula::{FormulaError, Formulas, Style};
use egui::text::{LayoutJob, TextFormat, TextWrapping};
use egui::text_selection::LabelSelectionState;
use egui::{Align, Color32, FontFamily, FontId, Pos2, Rect, Response, Sense, Stroke, Ui, Vec2, pos2, vec2};
use std::sync::Arc;

/// KaTeX's letters are smaller than those of a sans-serif font of the same size; this evens out the x-heights.
const FORMULA_SCALE: f32 = 1.12;

/// Distance between baselines as a multiple of the font size.
const LINE_SPACING: f32 = 1.5;

/// Beside an inline formula, in points: slanted letters come close to the words around them.
const FORMULA_GAP: f32 = 1.0;

/// Occupies the place of a formula: never broken from the word or the comma that touches it.
const PLACEHOLDER: char = '\u{A0}';

/// How the letters of one text look.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    pub size: f32,
    pub color: Color32,
    pub align: Align,
    /// All of it strong, as in a heading or the head of a table.
    pub strong: bool,
}

impl Look {
    pub fn body(tokens: &Tokens) -> Self {
        Self { size: font_size::BODY, color: tokens.text, align: Align::LEFT, strong: false }
    }
}

/// A text laid out for one width.
pub struct Flow {
    job: LayoutJob,
    pub size: Vec2,
    formulas: Vec<PlacedFormula>,
    links: Vec<PlacedLink>,
    /// Areas of inline code, which get a background.
    code: Vec<Rect>,
    errors: Vec<(Rect, FormulaError)>,
    /// For screen readers: formulas as LaTeX.
    plain: String,
}

struct PlacedFormula {
    tex: Arc<str>,
    /// Left end on the baseline, from the text's top left corner.
    origin: Vec2,
    font_size: f32,
}

struct PlacedLink {
    link: usize,
    word: bool,
    label: String,
    rects: Vec<Rect>,
}

/// What a section of the layout job stands for.
enum Meaning {
    Words,
    Code,
    Formula {
        tex: Arc<str>,
    },
    /// The link's number, and whether it is a word of the glossary.
    Link(usize, bool),
    Wrong(FormulaError),
}

impl Flow {
    pub fn lay_out(ui: &Ui, text: &Text, look: &Look, formulas: &mut Formulas, width: f32) -> Self {
        let tokens = theme::tokens(ui);
        let mut job = LayoutJob {
            wrap: TextWrapping { max_width: width, ..Default::default() },
            halign: look.align,
            ..Default::default()
        };
        let line_height = (look.size * LINE_SPACING).round();
        let mut meanings: Vec<Meaning> = Vec::new();
        for piece in &text.pieces {
            match piece {
                Piece::Plain { text, style } => {
                    section(&mut job, text, 0.0, format(tokens, look, *style, line_height));
                    meanings.push(match style.link {
                        Some(link) => Meaning::Link(link, style.word),
                        None if style.code => Meaning::Code,
                        None => Meaning::Words,
                    });
                }
                Piece::Formula { tex } => match formulas.measure(tex, Style::Inline) {
                    Ok(extent) => {
                        let em = look.size * FORMULA_SCALE;
                        // Text is centred in its row, so a formula is given as much room below as above.
                        let descent = look.size * 0.25;
                        let beyond = (extent.depth_em * em - descent).max(extent.height_em * em - look.size * 0.9);
                        let height = (line_height + 2.0 * (beyond - look.size * 0.2).max(0.0)).ceil();
                        let tiny = TextFormat {
                            font_id: FontId::new(1.0, FontFamily::Proportional),
                            line_height: Some(height),
                            valign: Align::Center,
                            ..Default::default()
                        };
                        // Two placeholders with the formula's width between them: space before the first one would be
                        // lost where a row begins with it.
                        section(&mut job, &PLACEHOLDER.to_string(), 0.0, tiny.clone());
                        section(&mut job, &PLACEHOLDER.to_string(), extent.width_em * em + 2.0 * FORMULA_GAP, tiny);
                        meanings.push(Meaning::Formula { tex: tex.clone() });
                        meanings.push(Meaning::Words);
                    }
                    Err(error) => {
                        let style = TextStyle { code: true, ..Default::default() };
                        let mut wrong = format(tokens, look, style, line_height);
                        wrong.color = tokens.fail;
                        wrong.background = tokens.fail_soft;
                        section(&mut job, &format!("${tex}$"), 0.0, wrong);
                        meanings.push(Meaning::Wrong(error));
                    }
                },
            }
        }
        let galley = ui.fonts_mut(|fonts| fonts.layout_job(job.clone()));
        let mut flow = Self {
            size: galley.size(),
            formulas: Vec::new(),
            links: Vec::new(),
            code: Vec::new(),
            errors: Vec::new(),
            plain: text.plain(),
            job,
        };
        flow.place(ui, &galley, &meanings, look);
        flow
    }

    /// Code, already coloured.
    pub fn code(ui: &Ui, job: LayoutJob) -> Self {
        let galley = ui.fonts_mut(|fonts| fonts.layout_job(job.clone()));
        Self {
            size: galley.size(),
            plain: job.text.clone(),
            formulas: Vec::new(),
            links: Vec::new(),
            code: Vec::new(),
            errors: Vec::new(),
            job,
        }
    }

    /// Finds where the sections with a meaning ended up.
    fn place(&mut self, ui: &Ui, galley: &egui::Galley, meanings: &[Meaning], look: &Look) {
        let baseline = baseline_from_middle(ui, look);
        let mut byte = 0;
        let mut index = 0;
        let mut last = usize::MAX;
        for row in &galley.rows {
            let row_rect = row.rect();
            for glyph in &row.glyphs {
                while index + 1 < self.job.sections.len() && byte >= self.job.sections[index].byte_range.end.0 {
                    index += 1;
                }
                let first = index != last;
                last = index;
                let left = row.pos.x + glyph.pos.x;
                let rect = Rect::from_x_y_ranges(left..=left + glyph.advance_width, row_rect.top()..=row_rect.bottom());
                match meanings.get(index) {
                    Some(Meaning::Formula { tex }) if first => self.formulas.push(PlacedFormula {
                        tex: tex.clone(),
                        origin: vec2(left + FORMULA_GAP, row_rect.center().y + baseline),
                        font_size: look.size * FORMULA_SCALE,
                    }),
                    Some(Meaning::Link(link, word)) => {
                        if first {
                            let range = self.job.sections[index].byte_range.clone();
                            let label = self.job.text[range.start.0..range.end.0].to_owned();
                            self.links.push(PlacedLink { link: *link, word: *word, label, rects: Vec::new() });
                        }
                        if let Some(placed) = self.links.last_mut() {
                            grow(&mut placed.rects, rect);
                        }
                    }
                    Some(Meaning::Code) if first => self.code.push(rect),
                    Some(Meaning::Code) => grow(&mut self.code, rect),
                    Some(Meaning::Wrong(error)) => match self.errors.last_mut() {
                        Some((all, _)) if !first => *all = all.union(rect),
                        _ => self.errors.push((rect, error.clone())),
                    },
                    _ => {}
                }
                byte += glyph.chr.len_utf8();
            }
            byte += usize::from(row.ends_with_newline);
        }
    }

    /// Paints at `top_left` and returns the link that was followed, if one was. `response` is that of the area.
    pub fn show(
        &self,
        ui: &mut Ui,
        response: &Response,
        top_left: Pos2,
        formulas: &mut Formulas,
        meanings: &[Option<String>],
    ) -> Option<usize> {
        let galley = ui.fonts_mut(|fonts| fonts.layout_job(self.job.clone()));
        let anchor = match self.job.halign {
            Align::LEFT => top_left,
            Align::Center => pos2(response.rect.center().x, top_left.y),
            Align::RIGHT => pos2(response.rect.right(), top_left.y),
        };
        let tokens = theme::tokens(ui);
        for rect in &self.code {
            let area = rect.translate(anchor.to_vec2()).shrink2(vec2(-1.0, 2.0));
            ui.painter().rect_filled(area, theme::radius::SMALL, tokens.hover);
        }
        if response.sense.senses_drag() {
            LabelSelectionState::label_text_selection(ui, response, anchor, galley, tokens.text, Stroke::NONE);
        } else {
            // Inside a control, which speaks for its text: a second node would be one without a role.
            ui.painter().galley(anchor, galley, tokens.text);
        }
        for placed in &self.formulas {
            let origin = anchor + placed.origin;
            formulas.paint(ui.painter(), origin, &placed.tex, Style::Inline, placed.font_size, self.color());
        }
        for (rect, error) in &self.errors {
            let rect = rect.translate(anchor.to_vec2());
            ui.interact(rect, response.id.with(("formula", rect.left() as i32)), Sense::hover())
                .on_hover_text(error.to_string());
        }
        let mut followed = None;
        for (i, placed) in self.links.iter().enumerate() {
            for (part, rect) in placed.rects.iter().enumerate() {
                let rect = rect.translate(anchor.to_vec2());
                // Only the first part of a link that is broken over rows is a stop of the Tab key.
                // Nor is a word: there are many, and all are listed at the end of the concept.
                let stop = part == 0 && !placed.word;
                let sense = if stop { Sense::click() } else { Sense::click() - Sense::FOCUSABLE };
                let link = ui.interact(rect, response.id.with(("link", i, part)), sense);
                let link = match meanings.get(placed.link).and_then(Option::as_ref) {
                    Some(meaning) => link.on_hover_text(meaning).on_hover_cursor(egui::CursorIcon::Help),
                    None => link.on_hover_cursor(egui::CursorIcon::PointingHand),
                };
                // Closer to the letters than a row's own underline, which lies below the line spacing.
                let y = ui.painter().round_to_pixel_center(rect.bottom() - rect.height() * 0.2);
                if placed.word {
                    let ends = [pos2(rect.left(), y), pos2(rect.right(), y)];
                    let stroke = Stroke::new(1.0, tokens.text_faint);
                    ui.painter().extend(egui::Shape::dashed_line(&ends, stroke, 1.5, 2.5));
                } else {
                    ui.painter().hline(rect.x_range(), y, Stroke::new(1.0, tokens.link));
                }
                link.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Link, true, &placed.label));
                if link.has_focus() {
                    let ring = Stroke::new(2.0, tokens.accent);
                    ui.painter().rect_stroke(rect, theme::radius::SMALL, ring, egui::StrokeKind::Outside);
                }
                if link.clicked() {
                    followed = Some(placed.link);
                }
            }
        }
        followed
    }

    /// Out of view, links are still stops of the Tab key, which brings them into view.
    fn keep_stops(&self, ui: &Ui, response: &Response) {
        for (i, placed) in self.links.iter().enumerate().filter(|(_, placed)| !placed.word) {
            if let Some(rect) = placed.rects.first() {
                let rect = rect.translate(response.rect.min.to_vec2());
                let link = ui.interact(rect, response.id.with(("link", i, 0_usize)), Sense::click());
                link.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Link, true, &placed.label));
            }
        }
    }

    pub fn plain(&self) -> &str {
        &self.plain
    }

    fn color(&self) -> Color32 {
        self.job.sections.iter().map(|s| s.format.color).find(|c| *c != Color32::PLACEHOLDER).unwrap_or_default()
    }
}

/// Allocates a text's area in `ui` and shows it if it is in view.
pub fn show_flow(
    ui: &mut Ui,
    flow: &Flow,
    width: f32,
    formulas: &mut Formulas,
    meanings: &[Option<String>],
    readable: bool,
) -> (Rect, Option<usize>) {
    // Not a stop of the Tab key, but text can be selected by dragging.
    let sense = if readable { Sense::click_and_drag() - Sense::FOCUSABLE } else { Sense::hover() };
    let (rect, response) = ui.allocate_exact_size(vec2(width, flow.size.y), sense);
    if readable {
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, flow.plain()));
    }
    if !ui.is_rect_visible(rect) {
        flow.keep_stops(ui, &response);
        return (rect, None);
    }
    let followed = flow.show(ui, &response, rect.left_top(), formulas, meanings);
    (rect, followed)
}

fn section(job: &mut LayoutJob, text: &str, leading_space: f32, format: TextFormat) {
    // Not `append`, which merges equal neighbours: sections are matched with their meanings by number.
    let start = job.text.len();
    job.text.push_str(text);
    let byte_range = egui::text::ByteIndex(start)..egui::text::ByteIndex(job.text.len());
    job.sections.push(egui::text::LayoutSection { leading_space, byte_range, format });
}

fn format(tokens: &Tokens, look: &Look, style: TextStyle, line_height: f32) -> TextFormat {
    let mut format = TextFormat {
        font_id: FontId::new(look.size, FontFamily::Proportional),
        color: look.color,
        line_height: Some(line_height),
        valign: Align::Center,
        ..Default::default()
    };
    if style.strong || look.strong {
        format.font_id.family = fonts::strong();
    }
    if style.code {
        format.font_id = FontId::new(look.size * font_size::CODE / font_size::BODY, FontFamily::Monospace);
    }
    format.italics = style.emphasis;
    if style.strike {
        format.strikethrough = Stroke::new(1.0, look.color);
    }
    if style.link.is_some() && !style.word {
        format.color = tokens.link;
    }
    format
}

/// How far below the middle of a row the baseline of text in `look` lies, in points.
fn baseline_from_middle(ui: &Ui, look: &Look) -> f32 {
    let job = LayoutJob::single_section(
        "x".to_owned(),
        TextFormat { font_id: FontId::new(look.size, FontFamily::Proportional), ..Default::default() },
    );
    let galley = ui.fonts_mut(|fonts| fonts.layout_job(job));
    match galley.rows.first().and_then(|row| Some((row, row.glyphs.first()?))) {
        Some((row, glyph)) => glyph.pos.y - row.size.y / 2.0,
        None => look.size * 0.35,
    }
}

/// Adds a glyph's rectangle to those of its link, one rectangle per row.
fn grow(rects: &mut Vec<Rect>, rect: Rect) {
    match rects.last_mut() {
        Some(last) if (last.top() - rect.top()).abs() < 0.5 => *last = last.union(rect),
        _ => rects.push(rect),
    }
}
