//! What the visualizations share: a canvas that takes the keyboard, cells, captions. Stepping is in [`super::stepper`].

use super::model::{self, AccessSite};
use super::{VizAction, VizInput};
use crate::theme::{self, Tokens, font_size, radius, space};
use crate::widgets::lesson_text::code_job;
use egui::{
    Align2, Color32, FontId, Frame, Painter, Pos2, Rect, Response, RichText, Sense, Stroke, StrokeKind, Ui, Vec2, pos2,
    vec2,
};
use gpu_core::emulator::{SourceLine, Trace};

/// The head of a picture of a trace: its id, its title, and as example the trace of its `what_if`.
macro_rules! head {
    ($id:literal, $title:literal) => {
        fn id(&self) -> &'static str {
            $id
        }

        fn title(&self) -> &'static str {
            $title
        }

        fn example(&self) -> gpu_core::emulator::Trace {
            self.what_if.trace()
        }
    };
}
pub(super) use head;

/// Name, title and example of a visualization that needs values, or a model's shape, and no steps of a kernel.
macro_rules! head_without_steps {
    ($id:literal, $title:literal) => {
        fn id(&self) -> &'static str {
            $id
        }

        fn title(&self) -> &'static str {
            $title
        }

        fn example(&self) -> gpu_core::emulator::Trace {
            crate::viz::kit::no_steps()
        }
    };
}
pub(super) use head_without_steps;

/// The trace of a launch of one warp in which nothing was traced.
pub(super) fn no_steps() -> Trace {
    Trace { kernel: "example".into(), grid: [1, 1, 1], block: [32, 1, 1], ..Trace::default() }
}

/// A small button with a picture; its name is for screen readers and the tooltip.
pub fn icon_button(ui: &mut Ui, icon: &str, name: &str, key: &str) -> Response {
    let button = egui::Button::new(icon).min_size(Vec2::splat(26.0));
    let response = ui.add(button);
    let enabled = response.enabled();
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, enabled, name));
    let hint = if key.is_empty() { name.to_owned() } else { format!("{name} ({key} when the picture is selected)") };
    response.on_hover_text(hint)
}

/// Where a picture is drawn. It can be focused, and says `words` to screen readers.
pub struct Canvas {
    pub painter: Painter,
    pub rect: Rect,
    pub response: Response,
}

pub fn canvas(ui: &mut Ui, size: Vec2, words: &str) -> Canvas {
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Figure, true, words));
    if response.clicked() {
        response.request_focus();
    }
    if response.has_focus() {
        let ring = Stroke::new(2.0, theme::tokens(ui).accent);
        ui.painter().rect_stroke(rect.expand(3.0), radius::SMALL, ring, StrokeKind::Outside);
    }
    Canvas { painter: ui.painter_at(rect.expand(1.0)), rect, response }
}

/// Equal cells in rows, filled from the left.
#[derive(Clone, Copy, Debug)]
pub struct Cells {
    pub origin: Pos2,
    pub columns: usize,
    pub cell: Vec2,
    pub count: usize,
}

impl Cells {
    pub fn rows(&self) -> usize {
        self.count.div_ceil(self.columns.max(1))
    }

    pub fn size(&self) -> Vec2 {
        vec2(self.cell.x * self.columns.min(self.count.max(1)) as f32, self.cell.y * self.rows() as f32)
    }

    pub fn rect(&self, index: usize) -> Rect {
        let columns = self.columns.max(1);
        let at = vec2((index % columns) as f32 * self.cell.x, (index / columns) as f32 * self.cell.y);
        Rect::from_min_size(self.origin + at, self.cell)
    }

    /// True for the first cell of a row that has room for a label beside it.
    pub fn is_labelled(&self, index: usize) -> bool {
        let every = (font_size::SMALL * 1.1 / self.cell.y).ceil().max(1.0) as usize;
        index.is_multiple_of(self.columns.max(1) * every)
    }

    /// Numbers over every eighth column and the last; the first few are left out for the title that stands there.
    pub fn paint_column_numbers(&self, painter: &Painter, tokens: &Tokens) {
        let last = self.columns.min(self.count).saturating_sub(1);
        for column in (8..=last).filter(|column| column % 8 == 0 && column + 3 < last || *column == last) {
            let rect = self.rect(column);
            small(painter, rect.center_top() - vec2(0.0, 2.0), Align2::CENTER_BOTTOM, column, tokens.text_faint);
        }
    }

    /// The cell under a position.
    pub fn at(&self, pos: Pos2) -> Option<usize> {
        let offset = pos - self.origin;
        if offset.x < 0.0 || offset.y < 0.0 {
            return None;
        }
        let column = (offset.x / self.cell.x) as usize;
        let index = (offset.y / self.cell.y) as usize * self.columns + column;
        (column < self.columns && index < self.count).then_some(index)
    }
}

/// How a cell looks. Each has a shape of its own beside its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellLook {
    /// Does the thing that is shown.
    On,
    /// Takes no part: crossed by a line.
    Off,
    /// Nothing is known of it.
    Unknown,
    /// More than once: striped.
    Twice,
    /// Wrong: a cross.
    Bad,
    /// An empty place.
    Empty,
}

/// Paints one cell; `focus` marks the selected one with a thick frame.
pub fn paint_cell(painter: &Painter, tokens: &Tokens, rect: Rect, look: CellLook, focus: bool) {
    let inner = rect.shrink(if rect.width() > 8.0 { 1.0 } else { 0.5 });
    let round = if inner.width() > 10.0 { 2.0 } else { 0.0 };
    let outline = Stroke::new(1.0, tokens.border_strong.gamma_multiply(0.6));
    match look {
        CellLook::On => {
            painter.rect_filled(inner, round, tokens.lane_on);
        }
        CellLook::Off => {
            painter.rect_filled(inner, round, tokens.lane_off);
            painter.line_segment([inner.left_bottom(), inner.right_top()], outline);
        }
        CellLook::Unknown => {
            painter.rect_stroke(inner, round, Stroke::new(1.0, tokens.border), StrokeKind::Inside);
        }
        CellLook::Twice => {
            painter.rect_filled(inner, round, tokens.warn);
            let mid = Rect::from_center_size(inner.center(), vec2(inner.width(), inner.height() / 4.0));
            painter.rect_filled(mid, 0.0, tokens.panel);
        }
        CellLook::Bad => {
            painter.rect_filled(inner, round, tokens.fail_soft);
            let stroke = Stroke::new(1.5, tokens.fail);
            let cross = inner.shrink(inner.width() * 0.25);
            painter.line_segment([cross.left_top(), cross.right_bottom()], stroke);
            painter.line_segment([cross.left_bottom(), cross.right_top()], stroke);
            painter.rect_stroke(inner, round, stroke, StrokeKind::Inside);
        }
        CellLook::Empty => {
            painter.rect_stroke(inner, round, outline, StrokeKind::Inside);
        }
    }
    if focus {
        painter.rect_stroke(inner, round, Stroke::new(2.5, tokens.lane_focus), StrokeKind::Inside);
        painter.rect_stroke(inner.expand(1.0), round, Stroke::new(1.0, tokens.text), StrokeKind::Outside);
    }
}

/// The colour for text on a cell.
pub fn on_cell(tokens: &Tokens, look: CellLook) -> Color32 {
    match look {
        CellLook::On => tokens.on_lane,
        CellLook::Twice => tokens.panel,
        CellLook::Bad => tokens.fail,
        _ => tokens.text,
    }
}

/// A legend entry: a cell and what it means.
pub fn legend_cell(ui: &mut Ui, look: CellLook, focus: bool, text: &str) {
    let tokens = theme::tokens(ui);
    let galley =
        ui.painter().layout_no_wrap(text.to_owned(), FontId::proportional(font_size::SMALL), tokens.text_muted);
    let side = 14.0;
    let size = vec2(side + space::XS + galley.size().x, side.max(galley.size().y));
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, text));
    let cell = Rect::from_center_size(pos2(rect.left() + side / 2.0, rect.center().y), Vec2::splat(side));
    paint_cell(ui.painter(), tokens, cell, look, focus);
    let at = pos2(rect.left() + side + space::XS, rect.center().y - galley.size().y / 2.0);
    ui.painter().galley(at, galley, tokens.text_muted);
}

/// The 32 lanes of a warp in one row of cells with their numbers.
pub struct LaneRow {
    pub cells: Cells,
}

impl LaneRow {
    pub fn new(origin: Pos2, width: f32) -> Self {
        let side = (width / model::LANES as f32).floor().clamp(6.0, 26.0);
        let cell = vec2(side, side.clamp(14.0, 22.0));
        Self { cells: Cells { origin, columns: model::LANES as usize, cell, count: model::LANES as usize } }
    }

    pub fn rect(&self, lane: u32) -> Rect {
        self.cells.rect(lane as usize)
    }

    pub fn paint(&self, painter: &Painter, tokens: &Tokens, lane: u32, look: CellLook, focus: bool) {
        let rect = self.rect(lane);
        paint_cell(painter, tokens, rect, look, focus);
        // Numbers where they fit, else every fourth.
        if rect.width() >= 18.0 || lane.is_multiple_of(4) && rect.width() >= 9.0 {
            let size = if rect.width() >= 22.0 { font_size::SMALL } else { font_size::SMALL - 2.0 };
            let color = on_cell(tokens, look);
            painter.text(rect.center(), Align2::CENTER_CENTER, lane, FontId::proportional(size), color);
        }
    }
}

/// Small text painted at a place.
pub fn small(painter: &Painter, at: Pos2, align: Align2, text: impl ToString, color: Color32) -> Rect {
    painter.text(at, align, text, FontId::proportional(font_size::SMALL), color)
}

/// The first of these texts that `room` points have place for, else the last: for what is wordier where there is room.
pub fn small_in(painter: &Painter, at: Pos2, align: Align2, room: f32, texts: &[&str], color: Color32) -> Rect {
    let font = FontId::proportional(font_size::SMALL);
    let fits = |text: &&&str| painter.layout_no_wrap((**text).to_owned(), font.clone(), color).size().x <= room;
    let text = texts.iter().find(fits).or(texts.last()).copied().unwrap_or_default();
    small(painter, at, align, text, color)
}

/// Lets the viewer choose between the learner's run and the example, and says what the run was. Returns the input that
/// was chosen.
pub fn input_ui<'a>(ui: &mut Ui, input: &VizInput<'a>, id: &str) -> VizInput<'a> {
    let tokens = theme::tokens(ui);
    let Some(trace) = input.trace else {
        if input.is_traceless {
            let text = "Your last check did not come to its last size, which is the one that is drawn.";
            ui.label(RichText::new(text).small().color(tokens.warn));
        }
        let text = "Example: change the values and step through it.";
        ui.label(RichText::new(text).small().color(tokens.text_muted));
        return *input;
    };
    let key = egui::Id::unique(("visualization shows its example", id));
    let mut example = ui.data(|data| data.get_temp::<bool>(key)).unwrap_or(false);
    ui.horizontal_wrapped(|ui| {
        ui.selectable_value(&mut example, false, "Your last run");
        ui.selectable_value(&mut example, true, "Example");
        if !example {
            ui.label(RichText::new(launch_words(trace)).small().color(tokens.text_muted));
            if input.is_overtaken {
                let text = "A later run was stopped or failed, and left nothing to draw: this is the one before.";
                ui.label(RichText::new(text).small().color(tokens.warn));
            } else if input.is_stale {
                let text = "Your kernel was changed since: check it to see the new one.";
                ui.label(RichText::new(text).small().color(tokens.warn));
            }
            if let Some(fault) = input.ended_by {
                let place = fault.source.as_ref().map_or(String::new(), |at| format!(" in line {}", at.line));
                let text = format!("A fault{place} ended this run: what would have come later is missing.");
                ui.label(RichText::new(text).small().color(tokens.warn));
            }
            if trace.truncated {
                let text = "The trace was cut short; later steps are missing.";
                ui.label(RichText::new(text).small().color(tokens.warn));
            }
        }
    });
    ui.data_mut(|data| data.insert_temp(key, example));
    if example { VizInput { trace: None, source: None, ..*input } } else { *input }
}

/// `add, grid 4, block 256; 2 of 4 blocks traced`.
pub fn launch_words(trace: &Trace) -> String {
    let dims = |d: [u32; 3]| match d {
        [x, 0 | 1, 0 | 1] => x.to_string(),
        [x, y, 0 | 1] => format!("{x} x {y}"),
        [x, y, z] => format!("{x} x {y} x {z}"),
    };
    let (traced, total) = (model::traced_blocks(trace), model::volume(trace.grid));
    let traced = if traced < total { format!("; {traced} of {total} blocks traced") } else { String::new() };
    format!("{}, grid {}, block {}{traced}", trace.kernel, dims(trace.grid), dims(trace.block))
}

/// Lets the viewer choose among access sites; `chosen` stays within them. Returns the site.
fn site_choice_ui<'a>(ui: &mut Ui, sites: &'a [AccessSite], chosen: &mut usize) -> Option<&'a AccessSite> {
    *chosen = (*chosen).min(sites.len().saturating_sub(1));
    let site = sites.get(*chosen)?;
    let shown = egui::ComboBox::from_id_salt("site")
        .width(240.0_f32.min(ui.available_width()))
        .selected_text(site.label())
        .show_ui(ui, |ui| {
            for (index, option) in sites.iter().enumerate() {
                ui.selectable_value(chosen, index, option.label());
            }
        });
    crate::widgets::plot_kit::name_choice(&shown.response, "Access", &site.label());
    sites.get(*chosen)
}

/// The choice among access sites, with the chosen one's source line beside it when it is the learner's. A click on
/// another line of the kernel in the editor chooses that line's site, where it has one.
pub fn sites_ui(
    ui: &mut Ui,
    input: &VizInput<'_>,
    trace: &Trace,
    sites: &[AccessSite],
    chosen: &mut usize,
) -> Option<VizAction> {
    if let (Some(line), Some(_)) = (input.line, input.trace) {
        let id = ui.scope_id().with("line that was followed");
        let followed = ui.data_mut(|data| data.get_temp_mut_or_default::<Option<u32>>(id).replace(line));
        let there = sites.iter().position(|site| site.line == line);
        if let (Some(there), false) = (there, followed.is_none_or(|followed| followed == line)) {
            *chosen = there;
        }
    }
    let shown = ui.horizontal_wrapped(|ui| {
        let site = site_choice_ui(ui, sites, chosen)?;
        input.trace.and_then(|_| source_line_ui(ui, input.source, trace, site.instruction))
    });
    shown.inner
}

/// The line of the kernel under the pointer, from 1: what links pictures, editor and listing in the frame after.
#[derive(Clone, Copy, Default)]
struct Pointed {
    elsewhere: Option<u32>,
    here: Option<u32>,
}

fn pointed() -> egui::Id {
    egui::Id::unique("the line under the pointer")
}

/// Tells the pictures which line the pointer was on last, wherever that was.
pub fn set_pointed(ui: &Ui, line: Option<u32>) {
    ui.data_mut(|data| data.insert_temp(pointed(), Pointed { elsewhere: line, here: None }));
}

/// The line that the pointer is on in a picture, if it is on one.
pub fn pointed_here(ui: &Ui) -> Option<u32> {
    ui.data(|data| data.get_temp::<Pointed>(pointed()).and_then(|lines| lines.here))
}

/// Notes the line where the pointer is over its place; true where the pointer is or was on the line.
fn is_pointed(ui: &Ui, place: Rect, line: u32) -> bool {
    let here = ui.rect_contains_pointer(place);
    ui.data_mut(|data| {
        let lines: &mut Pointed = data.get_temp_mut_or_default(pointed());
        if here {
            lines.here = Some(line);
        }
        here || lines.elsewhere == Some(line)
    })
}

/// Quotes the source line of an instruction; clicking it shows it in the editor.
pub fn source_line_ui(ui: &mut Ui, source: Option<&str>, trace: &Trace, instruction: u32) -> Option<VizAction> {
    let tokens = theme::tokens(ui);
    let instruction = trace.instructions.get(instruction as usize)?;
    let text = match &instruction.source {
        Some(at) => match model::source_line(source, at.line) {
            Some(text) => format!("{:>3}  {text}", at.line),
            None => format!("{:>3}  {}", at.line, instruction.text),
        },
        None => instruction.text.clone(),
    };
    let shown = code_line_ui(ui, &text);
    let is_own = source.is_some();
    let source = instruction.source.clone()?;
    // A widget of its own over the box, with a name and a ring.
    let response = ui.interact(shown.rect, shown.id.with("line"), Sense::click());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, &text));
    if response.has_focus() || is_own && is_pointed(ui, response.rect, source.line) {
        let ring = Stroke::new(2.0, tokens.accent);
        ui.painter().rect_stroke(response.rect, radius::SMALL, ring, StrokeKind::Outside);
    }
    response.clone().on_hover_ui(|ui| {
        ui.label(RichText::new(&instruction.text).monospace());
        ui.label(RichText::new("Click to show the line in the editor").small().color(tokens.text_muted));
    });
    response.clicked().then_some(VizAction::GoToLine(SourceLine { ..source }))
}

/// The kernel's text around `line`, which is marked. At most `rows` lines.
pub fn listing_ui(ui: &mut Ui, source: &str, line: u32, rows: usize) {
    let tokens = theme::tokens(ui);
    let all: Vec<&str> = source.lines().collect();
    let current = (line as usize).saturating_sub(1);
    let first = current.saturating_sub(rows / 2).min(all.len().saturating_sub(rows));
    let shown = &all[first..(first + rows).min(all.len())];
    let indent = shown.iter().filter(|l| !l.trim().is_empty()).map(|l| l.len() - l.trim_start().len()).min();
    let indent = indent.unwrap_or(0);
    Frame::new()
        .fill(tokens.inset)
        .stroke(Stroke::new(1.0, tokens.border))
        .corner_radius(radius::SMALL)
        .inner_margin(egui::Margin::symmetric(0, space::XS as i8))
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.spacing_mut().item_spacing.y = 0.0;
            ui.spacing_mut().interact_size.y = 0.0;
            for (offset, text) in shown.iter().enumerate() {
                let number = first + offset + 1;
                let text = text.get(indent..).unwrap_or("");
                let fill = if line > 0 && number == line as usize { tokens.accent_soft } else { tokens.inset };
                let margin = egui::Margin::symmetric(space::M as i8, 0);
                let row = Frame::new().fill(fill).inner_margin(margin).show(ui, |ui| {
                    ui.set_width(ui.available_width());
                    ui.horizontal(|ui| {
                        ui.spacing_mut().item_spacing.x = space::M;
                        let number = format!("{number:>3}");
                        ui.label(RichText::new(number).font(theme::code_font()).color(tokens.gutter_text));
                        ui.add(egui::Label::new(code_job(tokens, "cuda", text)).selectable(false).truncate());
                    });
                });
                let place = row.response.rect;
                if is_pointed(ui, place, number as u32) {
                    ui.painter().vline(place.left() + 1.0, place.y_range(), Stroke::new(2.0, tokens.accent));
                }
            }
        });
}

/// A few lines of code in a box of their own.
pub fn code_line_ui(ui: &mut Ui, text: &str) -> Response {
    let tokens = theme::tokens(ui);
    let shown = Frame::new()
        .fill(tokens.inset)
        .stroke(Stroke::new(1.0, tokens.border))
        .corner_radius(radius::SMALL)
        .inner_margin(egui::Margin::symmetric(space::M as i8, space::XS as i8))
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            // One line stands in a row with other things. Of several none may lose its end, for that is the point of it.
            let is_alone = text.lines().count() < 2;
            for line in text.lines() {
                let label = egui::Label::new(code_job(tokens, "cuda", line)).selectable(false);
                ui.add(if is_alone { label.truncate() } else { label.wrap() });
            }
        });
    shown.response
}

/// The colour for letters on a fill: the one of the two that stands out more.
pub fn on_fill(tokens: &Tokens, fill: Color32) -> Color32 {
    let light = |color: Color32| {
        let [r, g, b, _] = egui::Rgba::from(color).to_array();
        0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05
    };
    let (dark, of) = (tokens.on_lane, light(fill));
    if of / light(dark) >= light(Color32::WHITE) / of { dark } else { Color32::WHITE }
}

/// The picture in words, under it.
pub fn caption_ui(ui: &mut Ui, words: &str) {
    let tokens = theme::tokens(ui);
    ui.add_space(space::XXS);
    // Hidden from screen readers: the picture itself says the same.
    let mut job = crate::widgets::sentence::job(ui, words, tokens.text);
    job.wrap.max_width = ui.available_width().min(theme::PROSE_WIDTH * 1.3);
    let galley = ui.painter().layout_job(job);
    let (rect, _) = ui.allocate_exact_size(galley.size(), Sense::hover());
    ui.painter().galley(rect.min, galley, tokens.text);
}

/// Shown in place of a picture when the trace holds nothing to draw.
pub fn nothing_ui(ui: &mut Ui, what: &str) {
    crate::widgets::plot_kit::empty_state(ui, 160.0, what, "Run the kernel on the emulator, then look again.");
}

/// `1 thread`, `24 threads`.
pub fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
