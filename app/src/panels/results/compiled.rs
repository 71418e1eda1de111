//! What the compiler made: registers and spills of each kernel, and PTX or SASS row by row with its source lines. The
//! editor's line and the listing's rows point at each other; another architecture or run may stand beside.

use crate::command::{Action, Command};
use crate::instruction_words;
use crate::lab::KERNEL_NAME;
use crate::listing::{self, Change, Listing, RowKind};
use crate::panels::{Screen, parts};
use crate::state::{Desk, Loadable};
use crate::theme::{self, Tokens, font_size, space};
use crate::versions::{Disassembler, ListingKind, ListingView, Other};
use crate::widgets::code_editor::EditorAction;
use crate::widgets::sideways::Sideways;
use egui::{
    Align2, Color32, ComboBox, FontFamily, FontId, Frame, Grid, Key, Margin, Rect, RichText, ScrollArea, Sense, Ui,
    WidgetInfo, pos2, vec2,
};
use gpu_core::compile::{CompileReport, KernelResources};

/// Architectures to compare with: one of each generation that the course names.
const ARCHS: [&str; 6] = ["sm_80", "sm_89", "sm_90a", "sm_100a", "sm_120a", "sm_121a"];

/// A pane lower than this, in points, says the resources in a line.
const LOW: f32 = 240.0;

/// What the listing keeps between frames.
#[derive(Default)]
pub struct ListingMemory {
    /// Text, generation, view and whether the other is there, for which the rest is right.
    key: Option<(curriculum::store::TextSlot, u64, ListingView, usize)>,
    own: Listing,
    other: Listing,
    rows: Vec<Change>,
    /// The row that the keyboard is on.
    selected: usize,
    /// The editor's line that was shown last.
    cursor_line: u32,
    scroll_to: Option<usize>,
}

impl ListingMemory {
    fn update(&mut self, desk: &Desk, view: &ListingView, listed: &CompileReport, other: Option<&CompileReport>) {
        let other_size = other.map_or(0, |other| other.ptx.len() + other.sass.as_ref().map_or(1, String::len));
        let key = Some((desk.slot.clone(), desk.versions.generation, view.clone(), other_size));
        if self.key == key {
            return;
        }
        self.key = key;
        self.own = listing_of(listed, view);
        self.other = other.map(|other| listing_of(other, view)).unwrap_or_default();
        self.rows = match other {
            Some(_) => listing::compare(&self.other, &self.own),
            None => (0..self.own.rows.len()).map(|index| Change::Same(index, index)).collect(),
        };
        self.selected = self.selected.min(self.rows.len().saturating_sub(1));
        self.cursor_line = 0;
    }

    /// Whether a line of the source became instructions.
    pub fn has_line(&self, line: u32) -> bool {
        !self.own.rows_of(line).is_empty()
    }

    /// The shown row's text, kind and source line, and its sign.
    fn row(&self, index: usize) -> Option<(&listing::Row, &'static str)> {
        Some(match *self.rows.get(index)? {
            Change::Same(_, new) => (self.own.rows.get(new)?, " "),
            Change::Came(new) => (self.own.rows.get(new)?, "+"),
            Change::Gone(old) => (self.other.rows.get(old)?, "−"),
        })
    }

    /// The source line that a shown row stands for. A row that is gone is of another text.
    fn line_of(&self, index: usize) -> Option<u32> {
        let (row, sign) = self.row(index)?;
        row.line.filter(|_| sign != "−")
    }
}

fn listing_of(report: &CompileReport, view: &ListingView) -> Listing {
    let whole = match view.kind {
        ListingKind::Ptx => listing::ptx(&report.ptx, KERNEL_NAME),
        ListingKind::Sass => listing::sass(report.sass.as_deref().unwrap_or_default(), KERNEL_NAME),
    };
    if view.everything { whole } else { whole.condensed() }
}

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>, desk: &Desk) {
    let t = theme::tokens(ui);
    let state = screen.state;
    if state.listing_lacks() {
        screen.send(Command::FetchListing);
    }
    let Some(listed) = &desk.versions.listed else {
        let text = match desk.compiled.value().is_some_and(|report| !report.succeeded) {
            true => "This text does not compile. The first version that does will be shown here.",
            false => "Registers, PTX and SASS of the last text that compiled.",
        };
        return parts::empty(ui, crate::state::Pane::Compiled.icon(), "Nothing compiled yet", text);
    };
    let mut memory = std::mem::take(&mut screen.memory.listing);
    Frame::new().inner_margin(Margin::same(space::M as i8)).show(ui, |ui| {
        let is_low = ui.available_height() < LOW;
        choices_ui(ui, screen, desk, listed);
        let sass = state.view.listing.kind == ListingKind::Sass;
        if desk.compiled.value().is_some_and(|report| !report.succeeded) {
            let text = "Your text does not compile right now: this shows the last version that did.";
            ui.label(RichText::new(text).small().color(t.warn));
        }
        let other = state.view.listing.other.as_ref().and_then(|_| desk.versions.other.value());
        if let (Some(_), Loadable::Failed { message, .. }) = (&state.view.listing.other, &desk.versions.other) {
            ui.add(egui::Label::new(RichText::new(format!("⚠ {message}")).small().color(t.warn)).wrap());
        }
        resources_ui(ui, is_low, state.view.listing.other.as_ref(), listed, other);
        if sass && listed.sass.is_none() {
            no_sass_ui(ui, screen, desk);
        }
        // Until there is SASS the PTX stands in.
        let kind = if sass && listed.sass.is_none() { ListingKind::Ptx } else { state.view.listing.kind };
        memory.update(desk, &ListingView { kind, ..state.view.listing.clone() }, listed, other);
        ui.add_space(space::XS);
        rows_ui(ui, screen, desk, kind, is_low, &mut memory);
    });
    screen.memory.listing = memory;
}

fn choices_ui(ui: &mut Ui, screen: &mut Screen<'_>, desk: &Desk, listed: &CompileReport) {
    let t = theme::tokens(ui);
    let old = &screen.state.view.listing;
    let mut view = old.clone();
    ui.horizontal_wrapped(|ui| {
        for kind in [ListingKind::Ptx, ListingKind::Sass] {
            let about = match kind {
                ListingKind::Ptx => "The virtual machine code that NVRTC writes and the emulator runs",
                ListingKind::Sass => "The machine code of the architecture, by nvdisasm",
            };
            ui.selectable_value(&mut view.kind, kind, kind.title()).on_hover_text(about);
        }
        ui.separator();
        let chosen = view.other.as_ref().map_or("nothing".to_owned(), Other::title);
        let label = ui.label(RichText::new("Compare with").small().color(t.text_muted));
        // High enough for the runs behind the architectures to be seen.
        let combo = ComboBox::from_id_salt("compare listing with").selected_text(chosen).width(110.0).height(400.0);
        let response = combo.show_ui(ui, |ui| {
            ui.selectable_value(&mut view.other, None, "nothing");
            for arch in ARCHS.into_iter().filter(|arch| *arch != listed.arch) {
                ui.selectable_value(&mut view.other, Some(Other::Arch(arch.to_owned())), arch);
            }
            for (index, run) in desk.runs.iter().enumerate().rev().take(30) {
                let number = index as u32 + 1;
                let sign = if run.passed { "✔" } else { "✖" };
                ui.selectable_value(&mut view.other, Some(Other::Run(number)), format!("Run {number} {sign}"));
            }
        });
        response.response.labelled_by(label.id);
        let colors = screen.state.view.line_colors;
        let about = Action::LineColors.tooltip(ui.ctx());
        if ui.selectable_label(colors, "Colors").on_hover_text(about).clicked() {
            screen.commands.push(Command::Do(Action::LineColors));
        }
        ui.toggle_value(&mut view.everything, "All lines").on_hover_text("Directives and comments too");
        let copied = match view.kind {
            ListingKind::Ptx => Some(listed.ptx.as_str()),
            ListingKind::Sass => listed.sass.as_deref(),
        };
        if let Some(copied) = copied
            && ui.button("Copy").on_hover_text(format!("Copy the {}", view.kind.title())).clicked()
        {
            screen.commands.push(Command::CopyText(copied.to_owned()));
        }
        let about = format!(
            "{} · NVRTC {} · {}",
            listed.arch,
            listed.nvrtc_version,
            if listed.from_cache { "from the cache".to_owned() } else { format!("{:.0} ms", listed.compile_ms) }
        );
        // In one piece: in a narrow pane it goes to the next row as a whole.
        ui.add(egui::Label::new(RichText::new(about).small().color(t.text_muted)).extend());
    });
    if view != *old {
        screen.send(Command::SetListing(view));
    }
}

/// Registers, shared memory and spills of each kernel, with those beside it.
///
/// In a low pane in a line each, without what is 0: the listing needs the room.
fn resources_ui(
    ui: &mut Ui,
    is_low: bool,
    which: Option<&Other>,
    listed: &CompileReport,
    other: Option<&CompileReport>,
) {
    let t = theme::tokens(ui);
    if listed.kernels.is_empty() {
        ui.label(RichText::new("There is no kernel in this text.").color(t.text_muted));
        return;
    }
    let beside = |kernel: &KernelResources| {
        let found = other.and_then(|other| other.kernels.iter().find(|found| found.name == kernel.name));
        found.map(figures)
    };
    let shown = |value: u32, unit: &str, old: Option<u32>| match old.filter(|old| *old != value) {
        Some(old) => format!("{} → {}{unit}", parts::grouped(old.into()), parts::grouped(value.into())),
        None => format!("{}{unit}", parts::grouped(value.into())),
    };
    if is_low {
        for kernel in &listed.kernels {
            let old = beside(kernel);
            let figures = figures(kernel).into_iter().zip(FIGURES).enumerate();
            let said = figures.filter_map(|(index, ((value, unit, _), name))| {
                let old = old.map(|old| old[index].0);
                let says = index == 0 || value > 0 || old.is_some_and(|old| old > 0);
                says.then(|| format!("{} {}", name.to_lowercase(), shown(value, unit, old)))
            });
            let text = format!("{}: {}", kernel.name, said.collect::<Vec<_>>().join(" · "));
            ui.add(egui::Label::new(RichText::new(&text).small().color(t.text)).truncate()).on_hover_text(&text);
        }
        return;
    }
    let wide = Sideways { name: "Registers and memory", width: ui.available_width(), signs: true };
    wide.show(ui, "resources", |ui| {
        Grid::new("resources").num_columns(8).spacing([space::L, space::XXS]).show(ui, |ui| {
            for name in ["Kernel"].into_iter().chain(FIGURES) {
                parts::caption(ui, name);
            }
            ui.end_row();
            for kernel in &listed.kernels {
                ui.monospace(&kernel.name);
                let old = beside(kernel);
                for (index, (value, unit, is_spill)) in figures(kernel).into_iter().enumerate() {
                    let text = shown(value, unit, old.map(|old| old[index].0));
                    let color = if is_spill && value > 0 { t.warn } else { t.text };
                    ui.label(RichText::new(text).monospace().color(color));
                }
                ui.end_row();
            }
        });
    });
    if let Some(which) = which.filter(|_| other.is_some()) {
        let text = format!("Arrows and − rows lead from {} to the text in the editor.", which.title());
        ui.label(RichText::new(text).small().color(t.text_muted));
    }
}

/// Names of [`figures`].
const FIGURES: [&str; 7] = ["Registers", "Shared", "Stack", "Spill stores", "Spill loads", "Constant", "Barriers"];

/// Value, unit, and whether it is one to worry about.
fn figures(kernel: &KernelResources) -> [(u32, &'static str, bool); 7] {
    [
        (kernel.registers, "", false),
        (kernel.static_shared_bytes, " B", false),
        (kernel.stack_bytes, " B", false),
        (kernel.spill_store_bytes, " B", true),
        (kernel.spill_load_bytes, " B", true),
        (kernel.constant_bytes, " B", false),
        (kernel.barriers, "", false),
    ]
}

/// SASS is wanted and is not there: it is on its way, or its tool is missing. The PTX is shown below all the same.
fn no_sass_ui(ui: &mut Ui, screen: &mut Screen<'_>, desk: &Desk) {
    let t = theme::tokens(ui);
    if desk.versions.sass_job.is_some() {
        ui.horizontal(|ui| {
            parts::busy(ui);
            ui.label("Disassembling…");
        });
        return;
    }
    if !desk.versions.no_disassembler {
        return;
    }
    parts::notice(ui, t.info_soft, t.info, |ui| {
        let text = "SASS is read by nvdisasm, NVIDIA's disassembler, which is not on this machine. It comes under the \
                    CUDA Toolkit license from PyPI, into Lockstep's data folder, when you ask for it. Below is the PTX.";
        ui.add(egui::Label::new(text).wrap());
        ui.horizontal_wrapped(|ui| match &screen.state.disassembler {
            Disassembler::Fetching => {
                parts::busy(ui);
                ui.label("Fetching nvdisasm…");
                if ui.button("Cancel").clicked() {
                    screen.send(Command::StopInstall);
                }
            }
            Disassembler::Unasked | Disassembler::Failed(_) => {
                if ui.button("Install nvdisasm (5 MB)").clicked() {
                    screen.send(Command::InstallDisassembler);
                }
            }
        });
        if let Disassembler::Failed(why) = &screen.state.disassembler {
            ui.add(egui::Label::new(RichText::new(why).color(t.fail)).wrap());
        }
    });
}

/// Width of the column with source lines, in characters.
const LINE_DIGITS: f32 = 5.0;

fn rows_ui(
    ui: &mut Ui,
    screen: &mut Screen<'_>,
    desk: &Desk,
    kind: ListingKind,
    is_low: bool,
    memory: &mut ListingMemory,
) {
    let t = theme::tokens(ui);
    let kind = kind.title();
    let cursor_line = desk.editor.cursor_position().0 as u32;
    let of_line = shown_rows(memory, cursor_line);
    if !is_low {
        summary_ui(ui, memory, cursor_line, of_line.len());
    }
    if memory.cursor_line != cursor_line {
        memory.cursor_line = cursor_line;
        // A row of the same line is in sight already: the listing itself led the cursor there.
        if memory.line_of(memory.selected) != Some(cursor_line)
            && let Some(first) = of_line.first()
        {
            memory.selected = *first;
            memory.scroll_to = Some(*first);
        }
    }
    let id = egui::Id::unique("listing");
    let font = theme::editor_font(ui);
    let (height, char_width) =
        ui.fonts_mut(|fonts| (fonts.row_height(&font).max(14.0) + space::XXS, fonts.glyph_width(&font, '0')));
    let longest = memory.own.rows.iter().chain(&memory.other.rows).map(|row| row.text.len()).max().unwrap_or(0);
    let rows = memory.rows.len();
    Frame::new().fill(t.inset).show(ui, |ui| {
        ui.spacing_mut().scroll.fade.strength = 0.0;
        let scroll = ScrollArea::both().id_salt(("listing", kind)).auto_shrink(false);
        scroll.show_viewport(ui, |ui, viewport| {
            let width = ((LINE_DIGITS + 4.0 + longest as f32) * char_width).max(viewport.width());
            let (whole, _) = ui.allocate_exact_size(vec2(width, rows as f32 * height), Sense::hover());
            let response = ui.interact(whole.intersect(ui.clip_rect()), id, Sense::click());
            let focused = response.has_focus();
            let page = (viewport.height() / height).floor().max(1.0) as usize;
            if focused {
                let filter = egui::EventFilter { vertical_arrows: true, ..Default::default() };
                ui.memory_mut(|memory| memory.set_focus_lock_filter(id, filter));
            }
            let mut chosen = if focused { key_step(ui, memory.selected, rows, page) } else { None };
            if response.clicked() {
                response.request_focus();
                if let Some(pos) = response.interact_pointer_pos() {
                    chosen = Some(((pos.y - whole.top()) / height) as usize).filter(|row| *row < rows);
                }
            }
            if let Some(row) = chosen {
                memory.selected = row;
                memory.scroll_to = Some(row);
                if let Some(line) = memory.line_of(row).filter(|line| *line != cursor_line) {
                    screen.commands.push(Command::Edit(EditorAction::GoTo { line, column: 0 }));
                }
            }
            if focused && ui.input(|input| input.key_pressed(Key::Enter)) {
                let line = memory.line_of(memory.selected).unwrap_or(cursor_line);
                screen.commands.push(Command::GoToLine { line, column: 0 });
            }
            let under = response.hover_pos().map(|pos| ((pos.y - whole.top()) / height) as usize);
            if let Some(row) = under.filter(|row| *row < rows) {
                screen.memory.hovered_now = memory.line_of(row);
                if let Some((word, words)) = memory.row(row).and_then(|(row, _)| instruction_words::of(&row.text)) {
                    let text = format!("{word}: {words}");
                    response.clone().on_hover_ui_at_pointer(|ui| {
                        ui.label(text);
                    });
                }
            }
            let linked = Linked {
                cursor: cursor_line,
                hovered: screen.memory.hovered_line,
                colors: screen.state.view.line_colors,
            };
            let row_rect = |row: usize| {
                let top = whole.top() + row as f32 * height;
                Rect::from_min_max(pos2(whole.left(), top), pos2(whole.right(), top + height))
            };
            if let Some(row) = memory.scroll_to.take() {
                let clip = ui.clip_rect();
                let left = pos2(clip.left(), row_rect(row).top() - 2.0 * height);
                let rect = Rect::from_min_size(left, vec2(1.0, 5.0 * height));
                ui.scroll_to_rect_animation(rect, None, egui::style::ScrollAnimation::none());
            }
            let first = (viewport.top() / height).floor().max(0.0) as usize;
            let last = ((viewport.bottom() / height).ceil().max(0.0) as usize).min(rows);
            for index in first..last.max(first) {
                row_ui(ui, t, &font, char_width, memory, index, row_rect(index), linked, focused);
            }
            let name = memory.row(memory.selected).map_or_else(String::new, |(row, sign)| {
                let place = row.line.map_or("no source line".to_owned(), |line| format!("source line {line}"));
                let change = match sign {
                    "+" => "new, ",
                    "−" => "gone, ",
                    _ => "",
                };
                format!("{change}{place}: {}", row.text.trim())
            });
            let label = format!("{kind} listing, row {} of {rows}, {name}", memory.selected + 1);
            response.widget_info(|| WidgetInfo::labeled(egui::Role::List, true, &label));
        });
    });
}

/// Shown rows that are made of a source line.
fn shown_rows(memory: &ListingMemory, line: u32) -> Vec<usize> {
    if memory.own.rows_of(line).is_empty() {
        return Vec::new();
    }
    (0..memory.rows.len()).filter(|index| memory.line_of(*index) == Some(line)).collect()
}

/// How much code the editor's line became, and how much differs.
fn summary_ui(ui: &mut Ui, memory: &ListingMemory, line: u32, count: usize) {
    let t = theme::tokens(ui);
    let mut text = match count {
        0 => format!("Line {line} has no instruction of its own"),
        1 => format!("Line {line}: 1 instruction"),
        count => format!("Line {line}: {count} instructions"),
    };
    text.push_str(&format!(" · {} in all", memory.own.instructions()));
    if !memory.other.rows.is_empty() {
        let came = memory.rows.iter().filter(|change| matches!(change, Change::Came(_))).count();
        let gone = memory.rows.iter().filter(|change| matches!(change, Change::Gone(_))).count();
        text.push_str(&format!(", {} before; {came} rows added, {gone} removed", memory.other.instructions()));
    }
    ui.label(RichText::new(text).small().color(t.text_muted));
}

fn key_step(ui: &Ui, at: usize, rows: usize, page: usize) -> Option<usize> {
    let last = rows.checked_sub(1)?;
    ui.input_mut(|input| {
        let none = egui::Modifiers::NONE;
        let steps = [
            (Key::ArrowUp, at.saturating_sub(1)),
            (Key::ArrowDown, at + 1),
            (Key::PageUp, at.saturating_sub(page)),
            (Key::PageDown, at + page),
            (Key::Home, 0),
            (Key::End, last),
        ];
        steps.into_iter().find(|(key, _)| input.consume_key(none, *key)).map(|(_, to)| to.min(last))
    })
}

/// Lines of the source that rows are linked to.
#[derive(Clone, Copy)]
struct Linked {
    cursor: u32,
    hovered: Option<u32>,
    /// Each line has a colour.
    colors: bool,
}

#[expect(clippy::too_many_arguments, reason = "one row of one listing")]
fn row_ui(
    ui: &Ui,
    t: &Tokens,
    font: &FontId,
    char_width: f32,
    memory: &ListingMemory,
    index: usize,
    rect: Rect,
    linked: Linked,
    focused: bool,
) {
    let cursor_line = linked.cursor;
    let Some((row, sign)) = memory.row(index) else { return };
    let painter = ui.painter();
    let band = Rect::from_x_y_ranges(ui.clip_rect().x_range(), rect.y_range());
    let fill = match sign {
        "+" => Some(t.pass_soft),
        "−" => Some(t.fail_soft),
        _ if memory.line_of(index) == Some(cursor_line) => Some(t.accent_soft),
        _ if memory.line_of(index).is_some_and(|line| linked.hovered == Some(line)) => Some(t.hover),
        _ if linked.colors => memory.line_of(index).map(|line| theme::line_tint(t, line)),
        _ => None,
    };
    if let Some(fill) = fill {
        painter.rect_filled(band, 0.0, fill);
    }
    if memory.line_of(index) == Some(cursor_line) {
        // Also told by a bar, so that colour never stands alone.
        painter.rect_filled(Rect::from_min_size(band.min, vec2(3.0, band.height())), 0.0, t.accent);
    }
    if focused && index == memory.selected {
        let stroke = egui::Stroke::new(1.0, t.accent);
        painter.rect_stroke(band.shrink(0.5), 0.0, stroke, egui::StrokeKind::Inside);
    }
    let center = rect.center().y;
    let small = FontId::new(font_size::SMALL - 1.0, FontFamily::Monospace);
    let numbers = rect.left() + LINE_DIGITS * char_width;
    if let Some(line) = row.line {
        painter.text(pos2(numbers, center), Align2::RIGHT_CENTER, line, small, t.text_faint);
    }
    if sign != " " {
        let color = if sign == "+" { t.pass } else { t.fail };
        painter.text(pos2(numbers + char_width, center), Align2::LEFT_CENTER, sign, font.clone(), color);
    }
    let job = row_job(t, font, row);
    let galley = ui.fonts_mut(|fonts| fonts.layout_job(job));
    painter.galley(pos2(numbers + 2.5 * char_width, center - galley.size().y / 2.0), galley, t.text);
}

/// A row's colours: the operation, its guard, and the rest.
fn row_job(t: &Tokens, font: &FontId, row: &listing::Row) -> egui::text::LayoutJob {
    let mut job = egui::text::LayoutJob { break_on_newline: false, ..Default::default() };
    let mut push = |text: &str, color: Color32| job.append(text, 0.0, egui::TextFormat::simple(font.clone(), color));
    let s = &t.syntax;
    match row.kind {
        RowKind::Comment => push(&row.text, s.comment),
        RowKind::Directive => push(&row.text, s.preprocessor),
        RowKind::Head => push(&row.text, s.function),
        RowKind::Label => push(&row.text, s.type_name),
        RowKind::Code => {
            let mut rest = row.text.as_str();
            let indent = rest.len() - rest.trim_start().len();
            push(&rest[..indent], s.text);
            rest = &rest[indent..];
            // SASS begins with an address, a guard may follow.
            let is_address = |word: &str| word.len() >= 4 && word.bytes().all(|b| b.is_ascii_hexdigit());
            while let Some((word, after)) =
                rest.split_once(' ').filter(|(word, _)| is_address(word) || word.starts_with('@') || word.is_empty())
            {
                push(word, if word.starts_with('@') { s.qualifier } else { t.text_faint });
                push(" ", s.text);
                rest = after;
            }
            let end = rest.find([' ', ';']).unwrap_or(rest.len());
            push(&rest[..end], s.keyword);
            push(&rest[end..], s.text);
        }
    }
    job
}
