//! Occupancy: how many blocks of a kernel fit one multiprocessor, and which resource keeps more out.

use super::kit;
use super::model;
use super::stepper::Stepper;
use super::{Visualization, VizAction, VizInput};
use crate::theme::{self, Tokens, space};
use crate::widgets::plot_kit;
use egui::{Align2, Rect, Stroke, StrokeKind, Ui, pos2, vec2};
use gpu_core::emulator::{Device, OccupancyLimit, REGISTERS_PER_SM, Trace};

/// Largest block in threads; block sizes step by one warp.
const LARGEST_BLOCK: u32 = 1024;
const BAR: f32 = 22.0;
const LABEL: f32 = 120.0;
const CHART: f32 = 96.0;
const SLOT: f32 = 16.0;

/// What a kernel needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Needs {
    registers: u32,
    shared_bytes: u32,
}

pub struct Occupancy {
    arch: &'static str,
    needs: Needs,
    /// Position 0 is one warp a block.
    warps: Stepper,
    /// What the values were last filled from, so that the viewer's changes stay until another kernel comes.
    filled: Option<(String, Needs, u32)>,
}

impl Default for Occupancy {
    fn default() -> Self {
        let warps = Stepper::starting_at(7);
        Self { arch: "sm_90", needs: Needs { registers: 40, shared_bytes: 16 * 1024 }, warps, filled: None }
    }
}

impl Occupancy {
    fn device(&self) -> Device {
        Device::of(self.arch)
    }

    fn threads(&self) -> u32 {
        (self.warps.at as u32 + 1) * model::LANES
    }

    fn at(&self, threads: u32) -> gpu_core::emulator::Occupancy {
        self.device().occupancy_of(threads, Some(self.needs.registers), self.needs.shared_bytes)
    }

    /// Takes the learner's kernel once for each new result.
    fn fill(&mut self, input: &VizInput<'_>) {
        let Some(resources) = input.resources else { return };
        let needs = Needs { registers: resources.registers, shared_bytes: resources.static_shared_bytes };
        let threads = input.trace.map_or(self.threads(), |trace| model::volume(trace.block).min(1024) as u32).max(1);
        let now = Some((resources.name.clone(), needs, threads));
        if self.filled == now {
            return;
        }
        self.filled = now;
        self.needs = needs;
        self.warps.jump(threads.div_ceil(model::LANES) as usize - 1);
        if let Some(device) = input.device {
            self.arch = Device::of(&device.arch).name;
        }
    }

    /// The most registers with which one block more fits; None where no number of them would do.
    fn registers_for_one_more(&self) -> Option<u32> {
        let now = self.at(self.threads()).blocks_per_sm;
        (16..self.needs.registers).rev().find(|registers| {
            let needs = self.needs.shared_bytes;
            self.device().occupancy_of(self.threads(), Some(*registers), needs).blocks_per_sm > now
        })
    }

    fn controls_ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) {
        if let Some(resources) = input.resources {
            let text = format!("Filled from your kernel {}; change any value.", resources.name);
            ui.label(egui::RichText::new(text).small().color(theme::tokens(ui).text_muted));
        } else {
            let text = "Example: change any value. Compile a kernel to fill in its own.";
            ui.label(egui::RichText::new(text).small().color(theme::tokens(ui).text_muted));
        }
        ui.horizontal_wrapped(|ui| {
            let shown = egui::ComboBox::from_id_salt("arch").selected_text(self.arch).show_ui(ui, |ui| {
                for device in Device::all() {
                    ui.selectable_value(&mut self.arch, device.name, device.name);
                }
            });
            plot_kit::name_choice(&shown.response, "Architecture", self.arch);
            let label = ui.label("registers a thread");
            ui.add(egui::DragValue::new(&mut self.needs.registers).range(16..=255)).labelled_by(label.id);
            let label = ui.label("shared bytes a block");
            let most = self.device().shared_per_block;
            let edit = egui::DragValue::new(&mut self.needs.shared_bytes).range(0..=most).speed(256);
            ui.add(edit).labelled_by(label.id);
        });
    }

    /// Each resource with what a block takes, what there is, and how many blocks fit.
    fn rows(&self) -> Vec<Row> {
        let device = self.device();
        let threads = self.threads();
        let warps = threads.div_ceil(model::LANES);
        device
            .limits(threads, Some(self.needs.registers), self.needs.shared_bytes)
            .into_iter()
            .map(|(limit, blocks)| {
                let (each, total) = match limit {
                    OccupancyLimit::Threads => (threads, device.threads_per_sm),
                    OccupancyLimit::Blocks => (1, device.blocks_per_sm),
                    OccupancyLimit::Registers => {
                        let per_warp = (self.needs.registers * model::LANES).next_multiple_of(256);
                        (per_warp * warps, REGISTERS_PER_SM)
                    }
                    OccupancyLimit::SharedMemory => (device.shared_per_sm / blocks.max(1), device.shared_per_sm),
                };
                Row { limit, blocks, each, total }
            })
            .collect()
    }

    fn picture_ui(&mut self, ui: &mut Ui, words: &str) {
        let rows = self.rows();
        let occupancy = self.at(self.threads());
        let slots = occupancy.max_warps_per_sm as usize;
        let width = ui.available_width();
        let columns = (((width - LABEL) / SLOT) as usize).clamp(8, 32);
        let slot_rows = slots.div_ceil(columns);
        let slots_height = slot_rows as f32 * SLOT;
        let height = rows.len() as f32 * BAR + space::L + slots_height + space::XL + CHART + 2.0 * space::XL;
        let count = (LARGEST_BLOCK / model::LANES) as usize;
        let canvas = self.warps.canvas(ui, vec2(width, height), words, count);
        let tokens = theme::tokens(ui);
        let painter = &canvas.painter;
        let left = canvas.rect.left() + LABEL;
        let room = width - LABEL - space::S;
        let mut y = canvas.rect.top();
        for row in &rows {
            row.paint(painter, tokens, Rect::from_min_size(pos2(left, y), vec2(room, BAR)), &occupancy);
            y += BAR;
        }
        y += space::L;
        let label = |y: f32, text: &str| {
            kit::small(painter, pos2(left - space::S, y), Align2::RIGHT_CENTER, text, tokens.text_muted);
        };
        label(y + SLOT / 2.0, "warp slots");
        let warps = self.threads().div_ceil(model::LANES);
        for slot in 0..slots {
            let at = pos2(left + (slot % columns) as f32 * SLOT, y + (slot / columns) as f32 * SLOT);
            let rect = Rect::from_min_size(at, vec2(SLOT, SLOT)).shrink(1.0);
            if (slot as u32) < occupancy.warps_per_sm {
                let block = slot as u32 / warps.max(1);
                // Neighbouring blocks differ in colour and in number.
                let color = tokens.series[(block % 2) as usize].gamma_multiply(0.85);
                painter.rect_filled(rect, 2.0, color);
                if (slot as u32).is_multiple_of(warps.max(1)) {
                    let font = egui::FontId::proportional(theme::font_size::SMALL - 2.0);
                    painter.text(rect.center(), Align2::CENTER_CENTER, block, font, tokens.inset);
                }
            } else {
                painter.rect_stroke(rect, 2.0, Stroke::new(1.0, tokens.border_strong), StrokeKind::Inside);
            }
        }
        y += slots_height + space::XL;
        let chart = Rect::from_min_size(pos2(left, y), vec2(room, CHART));
        label(chart.top() + 6.0, "100 %");
        label(chart.bottom() - 6.0, "0 %");
        label(chart.center().y, "occupancy");
        let hovered = self.paint_chart(painter, tokens, chart, canvas.response.hover_pos());
        if let Some(warps) = hovered {
            if canvas.response.clicked() {
                self.warps.jump(warps);
            }
            let threads = (warps as u32 + 1) * model::LANES;
            let text = format!("{threads} threads a block: {}", share_words(&self.at(threads)));
            canvas.response.on_hover_text_at_pointer(text);
        }
    }

    /// Occupancy for every block size; returns the one under the pointer.
    fn paint_chart(
        &self,
        painter: &egui::Painter,
        tokens: &Tokens,
        chart: Rect,
        pointer: Option<egui::Pos2>,
    ) -> Option<usize> {
        let count = (LARGEST_BLOCK / model::LANES) as usize;
        let step = chart.width() / count as f32;
        painter.rect_filled(chart, 2.0, tokens.inset);
        painter.hline(chart.x_range(), chart.center().y, Stroke::new(1.0, tokens.grid));
        for warps in 0..count {
            let threads = (warps as u32 + 1) * model::LANES;
            let occupancy = self.at(threads);
            let share = occupancy.warps_per_sm as f32 / occupancy.max_warps_per_sm.max(1) as f32;
            let x = chart.left() + warps as f32 * step;
            let top = chart.bottom() - chart.height() * share;
            let bar = Rect::from_min_max(pos2(x + 1.0, top), pos2(x + step - 1.0, chart.bottom()));
            let color = if warps == self.warps.at { tokens.lane_focus } else { tokens.series[0] };
            painter.rect_filled(bar, 1.0, color);
            if threads.is_multiple_of(256) || warps == 0 {
                let (at, align) = if threads == LARGEST_BLOCK {
                    (pos2(x + step, chart.bottom() + 3.0), Align2::RIGHT_TOP)
                } else {
                    (pos2(x + step / 2.0, chart.bottom() + 3.0), Align2::CENTER_TOP)
                };
                kit::small(painter, at, align, threads, tokens.text_muted);
            }
        }
        let title = pos2(chart.center().x, chart.bottom() + 17.0);
        kit::small(painter, title, Align2::CENTER_TOP, "threads a block", tokens.text_muted);
        let pos = pointer.filter(|pos| chart.contains(*pos))?;
        Some((((pos.x - chart.left()) / step) as usize).min(count - 1))
    }
}

struct Row {
    limit: OccupancyLimit,
    blocks: u32,
    each: u32,
    total: u32,
}

fn limit_words(limit: OccupancyLimit) -> &'static str {
    match limit {
        OccupancyLimit::Threads => "threads",
        OccupancyLimit::Blocks => "block slots",
        OccupancyLimit::Registers => "registers",
        OccupancyLimit::SharedMemory => "shared memory",
    }
}

fn share_words(occupancy: &gpu_core::emulator::Occupancy) -> String {
    format!(
        "{} and {} of {} warps, {:.0} %",
        kit::plural(occupancy.blocks_per_sm as usize, "block"),
        occupancy.warps_per_sm,
        occupancy.max_warps_per_sm,
        100.0 * f64::from(occupancy.warps_per_sm) / f64::from(occupancy.max_warps_per_sm.max(1))
    )
}

impl Row {
    /// One piece for each block that runs, and what is left over.
    fn paint(&self, painter: &egui::Painter, tokens: &Tokens, row: Rect, now: &gpu_core::emulator::Occupancy) {
        let limits = self.limit == now.limited_by;
        let name = pos2(row.left() - space::S, row.center().y);
        let color = if limits { tokens.text } else { tokens.text_muted };
        let text = if limits { format!("▶ {}", limit_words(self.limit)) } else { limit_words(self.limit).to_owned() };
        kit::small(painter, name, Align2::RIGHT_CENTER, text, color);
        let bar = Rect::from_min_max(
            pos2(row.left(), row.top() + 4.0),
            pos2(row.left() + row.width() * 0.55, row.bottom() - 4.0),
        );
        painter.rect_filled(bar, 2.0, tokens.lane_off);
        let width = bar.width() * self.each as f32 / self.total.max(1) as f32;
        for block in 0..now.blocks_per_sm {
            let x = bar.left() + block as f32 * width;
            let piece = Rect::from_min_max(pos2(x, bar.top()), pos2((x + width).min(bar.right()), bar.bottom()));
            let color = if limits { tokens.lane_focus } else { tokens.lane_on };
            painter.rect_filled(piece.shrink2(vec2(0.5, 0.0)), 1.0, color);
        }
        let blocks = kit::plural(self.blocks as usize, "block");
        let text = if row.width() < 300.0 { blocks } else { format!("room for {blocks}") };
        let at = pos2(bar.right() + space::M, row.center().y);
        kit::small(painter, at, Align2::LEFT_CENTER, text, color);
    }
}

impl Visualization for Occupancy {
    fn id(&self) -> &'static str {
        "occupancy"
    }

    fn title(&self) -> &'static str {
        "Occupancy calculator"
    }

    /// It needs a launch's shape and no steps.
    fn example(&self) -> Trace {
        Trace { kernel: "example".into(), grid: [1, 1, 1], block: [self.threads(), 1, 1], ..Trace::default() }
    }

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        self.fill(input);
        self.controls_ui(ui, input);
        self.warps.ui(ui, (LARGEST_BLOCK / model::LANES) as usize, "block size");
        let words = self.describe(input);
        self.picture_ui(ui, &words);
        kit::caption_ui(ui, &words);
        None
    }

    fn describe(&self, _: &VizInput<'_>) -> String {
        let threads = self.threads();
        let occupancy = self.at(threads);
        if occupancy.blocks_per_sm == 0 {
            let limit = limit_words(occupancy.limited_by);
            return format!(
                "A block of {threads} threads does not fit a multiprocessor of {}: too much {limit}.",
                self.arch
            );
        }
        let mut rows = self.rows();
        rows.sort_by_key(|row| row.blocks);
        let others = rows.iter().find(|row| row.blocks > occupancy.blocks_per_sm);
        let next = others.map_or_else(String::new, |row| {
            format!(
                " Without that, {} would allow {}.",
                limit_words(row.limit),
                kit::plural(row.blocks as usize, "block")
            )
        });
        let fewer = match self.registers_for_one_more() {
            Some(registers) if occupancy.limited_by == OccupancyLimit::Registers => format!(
                " With {registers} registers a thread, {} fewer, one more block fits.",
                self.needs.registers - registers
            ),
            _ => String::new(),
        };
        format!(
            "Blocks of {threads} threads with {} registers a thread and {} bytes of shared memory: one multiprocessor of {} \
             holds {}. The limit is {}.{next}{fewer} Occupancy says how much latency can be hidden; it is not the speed.",
            self.needs.registers,
            self.needs.shared_bytes,
            self.arch,
            share_words(&occupancy),
            limit_words(occupancy.limited_by),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_are_those_of_the_guide() {
        let mut o = Occupancy { needs: Needs { registers: 32, shared_bytes: 0 }, ..Occupancy::default() };
        // 256 threads with 32 registers fill an sm_90 with 8 blocks of 8 warps.
        assert_eq!((o.at(256).blocks_per_sm, o.at(256).warps_per_sm), (8, 64));
        // Small blocks run out of block slots.
        assert_eq!(o.at(32).limited_by, OccupancyLimit::Blocks);
        o.needs.registers = 128;
        assert_eq!((o.at(256).blocks_per_sm, o.at(256).limited_by), (2, OccupancyLimit::Registers));
        o.needs = Needs { registers: 32, shared_bytes: 100 * 1024 };
        assert_eq!((o.at(256).blocks_per_sm, o.at(256).limited_by), (2, OccupancyLimit::SharedMemory));
    }

    #[test]
    fn it_says_how_many_registers_fewer_admit_a_block() {
        let mut o = Occupancy { needs: Needs { registers: 41, shared_bytes: 0 }, ..Occupancy::default() };
        // Registers are given out to warps by 256: 41 are 48 for 8 lanes, and 40 fit six blocks of 256 threads.
        assert_eq!((o.at(256).blocks_per_sm, o.registers_for_one_more()), (5, Some(40)));
        assert!(o.describe(&VizInput::default()).contains("With 40 registers a thread, 1 fewer"));
        o.needs.registers = 32;
        assert_eq!(o.at(256).limited_by, OccupancyLimit::Threads);
    }

    #[test]
    fn a_kernel_fills_the_values_once() {
        let resources = gpu_core::compile::KernelResources {
            name: "add".into(),
            registers: 77,
            static_shared_bytes: 2048,
            stack_bytes: 0,
            spill_store_bytes: 0,
            spill_load_bytes: 0,
            constant_bytes: 0,
            barriers: 0,
        };
        let trace = Trace { block: [16, 16, 1], ..Trace::default() };
        let input = VizInput { resources: Some(&resources), trace: Some(&trace), ..VizInput::default() };
        let mut o = Occupancy::default();
        o.fill(&input);
        assert_eq!((o.needs.registers, o.threads()), (77, 256));
        o.needs.registers = 50;
        o.fill(&input);
        assert_eq!(o.needs.registers, 50, "the viewer's change stays");
    }
}
