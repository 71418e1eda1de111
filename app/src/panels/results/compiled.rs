//! What the compiler made: registers and spills of each kernel, PTX and SASS.

use crate::command::Command;
use crate::panels::{Screen, parts};
use crate::state::Desk;
use crate::theme::{self, space};
use egui::{Frame, Grid, Label, Margin, RichText, ScrollArea, TextStyle, Ui};
use gpu_core::compile::CompileReport;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Text {
    Resources,
    Ptx,
    Sass,
}

pub fn show(ui: &mut Ui, screen: &mut Screen<'_>, desk: &Desk) {
    let t = theme::tokens(ui);
    let Some(report) = desk.compiled.value().filter(|report| report.succeeded) else {
        return parts::empty(ui, "Nothing compiled yet", "Registers, PTX and SASS of the last text that compiled.");
    };
    let id = ui.scope_id().with("compiled text");
    let mut text: Text = ui.data(|data| data.get_temp(id)).unwrap_or(Text::Resources);
    Frame::new().inner_margin(Margin::same(space::M as i8)).show(ui, |ui| {
        ui.horizontal(|ui| {
            for (choice, name) in [(Text::Resources, "Resources"), (Text::Ptx, "PTX"), (Text::Sass, "SASS")] {
                if ui.selectable_label(text == choice, name).clicked() {
                    text = choice;
                    ui.data_mut(|data| data.insert_temp(id, choice));
                }
            }
            ui.separator();
            let about = format!(
                "{} · NVRTC {} · {}",
                report.arch,
                report.nvrtc_version,
                if report.from_cache { "from the cache".to_owned() } else { format!("{:.0} ms", report.compile_ms) }
            );
            ui.label(RichText::new(about).small().color(t.text_muted));
            let copied = match text {
                Text::Resources => None,
                Text::Ptx => Some(report.ptx.as_str()),
                Text::Sass => report.sass.as_deref(),
            };
            if let Some(copied) = copied
                && ui.small_button("Copy").clicked()
            {
                screen.send(Command::CopyText(copied.to_owned()));
            }
        });
        match (text, &report.sass) {
            (Text::Resources, _) => resources_ui(ui, report),
            (Text::Ptx, _) => listing_ui(ui, "ptx", &report.ptx),
            (Text::Sass, Some(sass)) => listing_ui(ui, "sass", sass),
            (Text::Sass, None) => parts::empty(
                ui,
                "No SASS",
                "Shown after Check or Benchmark when nvdisasm is installed; `lockstep setup` installs it.",
            ),
        }
    });
}

fn resources_ui(ui: &mut Ui, report: &CompileReport) {
    let t = theme::tokens(ui);
    ScrollArea::both().id_salt("resources").auto_shrink(false).show(ui, |ui| {
        Grid::new("resources").num_columns(7).spacing([space::XL, space::XS]).show(ui, |ui| {
            for name in ["Kernel", "Registers", "Shared", "Stack", "Spill stores", "Spill loads", "Barriers"] {
                parts::caption(ui, name);
            }
            ui.end_row();
            for kernel in &report.kernels {
                ui.monospace(&kernel.name);
                ui.monospace(kernel.registers.to_string());
                let bytes = |count: u32| format!("{} B", parts::grouped(u64::from(count)));
                ui.monospace(bytes(kernel.static_shared_bytes));
                ui.monospace(bytes(kernel.stack_bytes));
                for spill in [kernel.spill_store_bytes, kernel.spill_load_bytes] {
                    let color = if spill > 0 { t.warn } else { t.text };
                    ui.label(RichText::new(bytes(spill)).monospace().color(color));
                }
                ui.monospace(kernel.barriers.to_string());
                ui.end_row();
            }
        });
        if report.kernels.is_empty() {
            ui.label(RichText::new("There is no kernel in this text.").color(t.text_muted));
        }
    });
}

/// A long text of which only the visible rows are laid out.
fn listing_ui(ui: &mut Ui, id: &str, text: &str) {
    let t = theme::tokens(ui);
    Frame::new().fill(t.inset).show(ui, |ui| {
        let lines: Vec<&str> = text.lines().collect();
        let height = ui.text_style_height(&TextStyle::Monospace);
        ScrollArea::both().id_salt(id).auto_shrink(false).show_rows(ui, height, lines.len(), |ui, rows| {
            for line in &lines[rows] {
                let comment = line.trim_start().starts_with("//");
                let directive = line.trim_start().starts_with('.');
                let color = if comment {
                    t.syntax.comment
                } else if directive {
                    t.syntax.keyword
                } else {
                    t.syntax.text
                };
                ui.add(Label::new(RichText::new(*line).monospace().color(color)).extend());
            }
        });
    });
}
