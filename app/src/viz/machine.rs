//! Your machine beside the makers' sheets: what the driver says of the picked device, what was measured on it, and the
//! nominal values of one of five GPUs. What was not measured says so and how to measure it.

use super::kit;
use super::stepper::Stepper;
use super::{Visualization, VizAction, VizInput};
use crate::fonts::Bold;
use crate::theme::{self, Tokens, space};
use crate::widgets::plot_kit::{self, si};
use egui::{Align2, Grid, Painter, Pos2, Rect, RichText, Ui, pos2, vec2};
use gpu_core::bench::Ceilings;
use gpu_core::device::{DeviceInfo, DeviceKind};
use gpu_core::emulator::Device;

const BAR: f32 = 20.0;
const GUTTER: f32 = 120.0;

/// Room for a figure behind its bar, in points.
const WORDS: f32 = 124.0;

/// Below this width, in points, the table's rows are sentences.
const NARROW: f32 = 460.0;
const NOT_MEASURED: &str = "not measured yet: run Ready Check, then `lockstep bench --ceilings --device gpu`";

/// A maker's figures, sources on `reference/architectures`. None is a figure that the sheet does not give.
struct Sheet {
    name: &'static str,
    arch: &'static str,
    multiprocessors: u32,
    memory_bytes: f64,
    l2_bytes: Option<f64>,
    bytes_per_s: f64,
    /// Operations a second in fp32, bf16 and FP8, dense.
    rates: [f64; 3],
}

const SHEETS: [Sheet; 5] = [
    Sheet {
        name: "GB10 (DGX Spark)",
        arch: "sm_121a",
        multiprocessors: 48,
        memory_bytes: 128e9,
        l2_bytes: Some(24e6),
        bytes_per_s: 273e9,
        rates: [31e12, 124e12, 248e12],
    },
    Sheet {
        name: "H100 SXM",
        arch: "sm_90a",
        multiprocessors: 132,
        memory_bytes: 80e9,
        l2_bytes: Some(50e6),
        bytes_per_s: 3350e9,
        rates: [67e12, 989e12, 1979e12],
    },
    Sheet {
        name: "H200 SXM",
        arch: "sm_90a",
        multiprocessors: 132,
        memory_bytes: 141e9,
        l2_bytes: Some(50e6),
        bytes_per_s: 4800e9,
        rates: [67e12, 989e12, 1979e12],
    },
    Sheet {
        name: "B200 (HGX)",
        arch: "sm_100a",
        multiprocessors: 148,
        memory_bytes: 180e9,
        l2_bytes: None,
        bytes_per_s: 8000e9,
        rates: [75e12, 2250e12, 4500e12],
    },
    Sheet {
        name: "RTX 5090",
        arch: "sm_120a",
        multiprocessors: 170,
        memory_bytes: 32e9,
        l2_bytes: Some(96e6),
        bytes_per_s: 1792e9,
        rates: [105e12, 210e12, 419e12],
    },
];

/// A ceiling's key and which of a sheet's figures belongs beside it.
const MEASURED: [(&str, &str, Nominal); 4] = [
    ("copy_bandwidth", "copy", Nominal::Bandwidth),
    ("read_bandwidth", "read", Nominal::Bandwidth),
    ("fp32", "fp32", Nominal::Rate(0)),
    ("mma_bf16", "bf16 mma.sync", Nominal::Rate(1)),
];

#[derive(Clone, Copy)]
enum Nominal {
    Bandwidth,
    /// Index into [`Sheet::rates`].
    Rate(usize),
}

impl Sheet {
    fn nominal(&self, which: Nominal) -> f64 {
        match which {
            Nominal::Bandwidth => self.bytes_per_s,
            Nominal::Rate(index) => self.rates[index],
        }
    }
}

/// A property: its name, what the device at hand says, and what the sheet says.
type Row = [String; 3];

pub struct Machine {
    sheet: Stepper,
    /// The device for which the nearest sheet was chosen.
    chosen_for: Option<String>,
}

impl Default for Machine {
    fn default() -> Self {
        Self { sheet: Stepper::starting_at(2), chosen_for: None }
    }
}

impl Machine {
    fn sheet(&self) -> &'static Sheet {
        &SHEETS[self.sheet.within(SHEETS.len())]
    }

    /// Goes to the sheet of the device, once for each.
    fn choose(&mut self, device: Option<&DeviceInfo>) {
        let Some(device) = device.filter(|device| self.chosen_for.as_ref() != Some(&device.name)) else { return };
        self.chosen_for = Some(device.name.clone());
        let is_it = |sheet: &Sheet| {
            let model = sheet.name.split(" (").next().unwrap_or(sheet.name);
            device.name.contains(model.trim_end_matches(" SXM"))
        };
        let is_gpu = device.kind == DeviceKind::Gpu;
        let same_arch = |sheet: &Sheet| is_gpu && sheet.arch.trim_end_matches('a') == device.arch.trim_end_matches('a');
        let by_name = SHEETS.iter().position(is_it);
        if let Some(at) = by_name.or_else(|| SHEETS.iter().position(same_arch)) {
            self.sheet.jump(at);
        }
    }

    fn rows(&self, device: Option<&DeviceInfo>) -> Vec<Row> {
        let sheet = self.sheet();
        let unknown = || "the driver does not say".to_owned();
        let said = |value: Option<String>| match device {
            None => "no device was found".to_owned(),
            Some(device) if device.kind == DeviceKind::Emulator => {
                value.unwrap_or_else(|| "none: an emulator".to_owned())
            }
            Some(_) => value.unwrap_or_else(unknown),
        };
        let of = |get: &dyn Fn(&DeviceInfo) -> Option<String>| said(device.and_then(get));
        let bytes = |value: f64| si(value, "B");
        let limits = Device::of(sheet.arch);
        let own =
            |get: fn(&Device) -> String| device.map_or_else(|| said(None), |device| get(&Device::of(&device.arch)));
        let row = |name: &str, own: String, sheet: String| [name.to_owned(), own, sheet];
        let bus = |device: &DeviceInfo| {
            let (clock, bits) = (device.memory_clock_khz?, device.memory_bus_bits?);
            // Two transfers a clock.
            Some(si(2.0 * f64::from(clock) * 1e3 * f64::from(bits) / 8.0, "B/s"))
        };
        vec![
            row("compile for", of(&|device| Some(device.arch.clone())), sheet.arch.to_owned()),
            row(
                "multiprocessors",
                of(&|device| device.multiprocessors.map(|count| count.to_string())),
                sheet.multiprocessors.to_string(),
            ),
            row(
                "memory",
                of(&|device| device.memory_bytes.map(|value| bytes(value as f64))),
                bytes(sheet.memory_bytes),
            ),
            row(
                "L2 cache",
                of(&|device| device.l2_bytes.map(|value| bytes(value as f64))),
                sheet.l2_bytes.map_or("not in the sheet".to_owned(), bytes),
            ),
            row("memory bus, two transfers a clock", of(&bus), si(sheet.bytes_per_s, "B/s")),
            row(
                "shared memory a multiprocessor",
                own(|device| format!("{} KiB", device.shared_per_sm / 1024)),
                format!("{} KiB", limits.shared_per_sm / 1024),
            ),
            row(
                "threads a multiprocessor",
                own(|device| device.threads_per_sm.to_string()),
                limits.threads_per_sm.to_string(),
            ),
        ]
    }

    fn table_ui(&self, ui: &mut Ui, input: &VizInput<'_>) {
        let tokens = theme::tokens(ui);
        let own = input.device.map_or("this machine", |device| device.name.as_str());
        if ui.available_width() < NARROW {
            for [name, own, nominal] in self.rows(input.device) {
                ui.horizontal_wrapped(|ui| {
                    ui.label(RichText::new(format!("{name}:")).small());
                    ui.label(own);
                    ui.label(RichText::new(format!("(sheet: {nominal})")).color(tokens.text_muted));
                });
            }
            return;
        }
        Grid::new("machine").num_columns(3).spacing([space::M, space::XS]).striped(true).show(ui, |ui| {
            for head in ["", own, self.sheet().name] {
                ui.label(RichText::new(head).small().bold().color(tokens.text_muted));
            }
            ui.end_row();
            for [name, own, nominal] in self.rows(input.device) {
                ui.label(RichText::new(name).small());
                ui.label(own);
                ui.label(RichText::new(nominal).color(tokens.text_muted));
                ui.end_row();
            }
        });
    }

    /// What was measured, as a bar against the sheet's figure.
    fn picture_ui(&mut self, ui: &mut Ui, input: &VizInput<'_>, words: &str) {
        let rows = MEASURED.len() as f32 * 2.0 * BAR + space::S;
        let width = ui.available_width();
        let canvas = self.sheet.canvas(ui, vec2(width, rows + space::M), words, SHEETS.len());
        let tokens = theme::tokens(ui);
        let painter = &canvas.painter;
        let left = canvas.rect.left() + GUTTER;
        let room = ((width - GUTTER) * 0.6).min(width - GUTTER - WORDS).max(space::XL);
        let mut y = canvas.rect.top() + space::XS;
        for (key, name, nominal) in MEASURED {
            let sheet = self.sheet().nominal(nominal);
            let found = input.ceilings.and_then(|ceilings| figure(ceilings, key));
            let most = sheet.max(found.unwrap_or(0.0));
            let unit = if matches!(nominal, Nominal::Bandwidth) { "B/s" } else { "FLOP/s" };
            let label = pos2(left - space::S, y + BAR);
            kit::small(painter, label, Align2::RIGHT_CENTER, name, tokens.text);
            let bar = |at: Pos2, value: f64, text: &str, color: egui::Color32| {
                let rect = Rect::from_min_size(at + vec2(0.0, 3.0), vec2(room * (value / most) as f32, BAR - 5.0));
                painter.rect_filled(rect, 2.0, color);
                let end = rect.right_center() + vec2(space::S, 0.0);
                kit::small(painter, end, Align2::LEFT_CENTER, text, tokens.text);
            };
            bar(pos2(left, y), sheet, &format!("{}, nominal", si(sheet, unit)), tokens.reference);
            match found {
                Some(value) => {
                    bar(pos2(left, y + BAR - 3.0), value, &format!("{}, measured", si(value, unit)), tokens.measured)
                }
                None => not_measured(painter, tokens, pos2(left, y + 1.5 * BAR - 3.0)),
            }
            y += 2.0 * BAR;
        }
    }
}

fn not_measured(painter: &Painter, tokens: &Tokens, at: Pos2) {
    kit::small(painter, at, Align2::LEFT_CENTER, "not measured yet", tokens.text_muted);
}

fn figure(ceilings: &Ceilings, key: &str) -> Option<f64> {
    ceilings.figures().iter().find(|figure| figure.key == key).map(|figure| figure.value)
}

impl Visualization for Machine {
    kit::head_without_steps!("machine", "Your machine beside the data sheets");

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        self.choose(input.device);
        let words = self.describe(input);
        self.sheet.ui(ui, SHEETS.len(), "data sheet");
        self.table_ui(ui, input);
        self.picture_ui(ui, input, &words);
        plot_kit::legend(ui, |ui| {
            let tokens = theme::tokens(ui);
            plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, tokens.reference, "the maker's sheet");
            plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, tokens.measured, "measured");
        });
        kit::caption_ui(ui, &words);
        None
    }

    fn describe(&self, input: &VizInput<'_>) -> String {
        let sheet = self.sheet();
        let device = match input.device {
            Some(device) => {
                let more =
                    device.multiprocessors.map_or_else(String::new, |count| format!(", {count} multiprocessors"));
                format!("Picked here: {} ({}{more}).", device.name, device.arch)
            }
            None => "No device has been found here yet.".to_owned(),
        };
        let measured = match input.ceilings {
            Some(ceilings) => {
                let share = ceilings.copy_bytes_per_s / sheet.bytes_per_s;
                format!(
                    "Measured on {} on {}: a copy moved {}, {:.2} of that nominal bandwidth, and fp32 multiply-adds made {}.",
                    ceilings.device,
                    ceilings.date,
                    si(ceilings.copy_bytes_per_s, "B/s"),
                    share,
                    si(ceilings.fp32_flops, "FLOP/s"),
                )
            }
            None => format!("Bandwidth and rates of this machine: {NOT_MEASURED}."),
        };
        format!(
            "{device} The sheet of {} says {} multiprocessors, {} of memory at {} and {} in bf16. {measured}",
            sheet.name,
            sheet.multiprocessors,
            si(sheet.memory_bytes, "B"),
            si(sheet.bytes_per_s, "B/s"),
            si(sheet.rates[1], "FLOP/s"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpu_core::bench::{Figure, Unit};
    use gpu_core::device::DeviceChoice;

    fn h200() -> DeviceInfo {
        DeviceInfo {
            choice: DeviceChoice::Gpu(0),
            kind: DeviceKind::Gpu,
            name: "NVIDIA H200".into(),
            capability: (9, 0),
            arch: "sm_90a".into(),
            multiprocessors: Some(132),
            memory_bytes: Some(150_000_000_000),
            l2_bytes: Some(60 << 20),
            clock_khz: Some(1_980_000),
            memory_clock_khz: Some(3_201_000),
            memory_bus_bits: Some(6016),
            shared_per_block_optin_bytes: Some(232_448),
            driver_version: Some("13.0".into()),
        }
    }

    #[test]
    fn a_device_is_put_beside_its_own_sheet_with_what_was_measured() {
        let ceilings = Ceilings {
            device: "NVIDIA H200".into(),
            date: "2026-11-21".into(),
            copy_bytes_per_s: 4.256e12,
            fp32_flops: 65.7e12,
            more: vec![Figure {
                key: "mma_bf16".into(),
                name: "bf16".into(),
                value: 622e12,
                unit: Unit::OperationsPerSecond,
                how: "x".into(),
            }],
            ..Ceilings::default()
        };
        let device = h200();
        let mut viz = Machine { sheet: Stepper::starting_at(0), chosen_for: None };
        viz.choose(Some(&device));
        assert_eq!(viz.sheet().name, "H200 SXM");
        let input = VizInput { device: Some(&device), ceilings: Some(&ceilings), ..VizInput::default() };
        let words = viz.describe(&input);
        assert!(words.contains("0.89 of that nominal bandwidth") && words.contains("2026-11-21"), "{words}");
        assert_eq!(figure(&ceilings, "mma_bf16"), Some(622e12));
        // 3.201 GHz, two transfers, 752 bytes: the sheet's 4.8 TB/s.
        let rows = viz.rows(Some(&device));
        assert!(rows.iter().any(|row| row[1] == "4.81 TB/s"), "{rows:?}");
        // The viewer's own choice stays.
        viz.sheet.jump(4);
        viz.choose(Some(&device));
        assert_eq!(viz.sheet().name, "RTX 5090");
    }

    #[test]
    fn what_is_not_known_says_so() {
        let viz = Machine::default();
        let words = viz.describe(&VizInput::default());
        assert!(words.contains("not measured yet: run Ready Check"), "{words}");
        let emulator = DeviceInfo {
            choice: DeviceChoice::Emulator,
            kind: DeviceKind::Emulator,
            name: "Emulator (2 cores)".into(),
            multiprocessors: None,
            memory_bytes: None,
            l2_bytes: None,
            ..h200()
        };
        let rows = viz.rows(Some(&emulator));
        assert!(rows.iter().any(|row| row[0] == "memory" && row[1] == "none: an emulator"), "{rows:?}");
    }
}
