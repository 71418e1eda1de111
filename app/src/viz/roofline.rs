//! Roofline: whether memory or arithmetic bounds a kernel on a machine, and what using each byte more often would give
//! (Williams, Waterman and Patterson, 2009). No time is drawn here: how high a kernel came is measured by a benchmark.

use super::example::{Builder, Memo};
use super::kit;
use super::model::{self, SECTOR_BYTES};
use super::stepper::Stepper;
use super::{Visualization, VizAction, VizInput};
use crate::theme::{self, Tokens, space};
use crate::widgets::plot_kit;
use egui::{Align2, Pos2, Rect, Stroke, Ui, pos2, vec2};
use gpu_core::bench::Ceilings;
use gpu_core::device::DeviceInfo;
use gpu_core::emulator::{AccessKind, Class, Space, Trace};
use std::collections::HashSet;

/// Positions: bytes used 1, 2, 4 … 1024 times as often.
const POSITIONS: usize = 11;
const HEIGHT: f32 = 300.0;
/// Room for `at most 67 TFLOP/s` beside a point.
const MOST_ROOM: f32 = 130.0;
/// Shown range of both axes, in powers of ten: FLOP per byte, and FLOP/s.
const X: [f32; 2] = [-2.0, 3.0];

#[derive(Default)]
pub struct Roofline {
    reuse: Stepper,
    work: Memo<u64, Work>,
}

/// What the traced warps did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Work {
    flops: f64,
    /// Of different sectors of global memory: the least that must move.
    bytes: f64,
}

impl Work {
    fn of(trace: &Trace) -> Self {
        let mut sectors = HashSet::new();
        let mut flops = 0.0;
        for step in trace.warps.iter().flat_map(|warp| &warp.steps) {
            if let Some(instruction) = trace.instructions.get(step.instruction as usize) {
                flops += model::flops_of(instruction, step.mask);
            }
            let Some(access) = step.access.as_ref().filter(|access| access.space == Space::Global) else { continue };
            let bytes = u64::from(access.bytes.clamp(1, 64));
            for address in &access.addresses {
                let last = address.saturating_add(bytes - 1) / SECTOR_BYTES;
                sectors.extend(address / SECTOR_BYTES..=last);
            }
        }
        Self { flops, bytes: sectors.len() as f64 * SECTOR_BYTES as f64 }
    }

    /// FLOP per byte; None where there is no work or no traffic.
    fn intensity(self) -> Option<f64> {
        (self.flops > 0.0 && self.bytes > 0.0).then(|| self.flops / self.bytes)
    }
}

/// Rates of a machine.
#[derive(Clone, Debug, PartialEq)]
struct Machine {
    name: String,
    /// Where the rates are from: `measured 2026-11-21`.
    source: String,
    bytes_per_s: f64,
    flops_per_s: f64,
}

impl Machine {
    /// As measured here; else from what the driver tells of a GPU; else the H200 of NVIDIA's data sheet.
    fn of(input: &VizInput<'_>) -> Self {
        Self::measured(input.ceilings).or_else(|| Self::told(input.device)).unwrap_or_else(|| Self {
            name: "H200".into(),
            source: "by its data sheet".into(),
            bytes_per_s: 4.8e12,
            flops_per_s: 67e12,
        })
    }

    fn measured(ceilings: Option<&Ceilings>) -> Option<Self> {
        let &Ceilings { ref device, ref date, copy_bytes_per_s, fp32_flops, .. } = ceilings?;
        (copy_bytes_per_s > 0.0 && fp32_flops > 0.0).then(|| Self {
            name: device.clone(),
            source: format!("as measured here, {date}"),
            bytes_per_s: copy_bytes_per_s,
            flops_per_s: fp32_flops,
        })
    }

    fn told(device: Option<&DeviceInfo>) -> Option<Self> {
        let device = device?;
        let hertz = 1e3 * f64::from(device.clock_khz?);
        // Two transfers in a memory clock; 128 multiply-adds of fp32 in a clock of a multiprocessor.
        let bytes = 2.0 * 1e3 * f64::from(device.memory_clock_khz?) * f64::from(device.memory_bus_bits?) / 8.0;
        let flops = f64::from(device.multiprocessors?) * hertz * 128.0 * 2.0;
        (bytes > 0.0 && flops > 0.0).then(|| Self {
            name: device.name.clone(),
            source: "by its clocks and widths".into(),
            bytes_per_s: bytes,
            flops_per_s: flops,
        })
    }

    /// FLOP per byte from which on arithmetic bounds.
    fn ridge(&self) -> f64 {
        self.flops_per_s / self.bytes_per_s
    }

    fn roof(&self, intensity: f64) -> f64 {
        (self.bytes_per_s * intensity).min(self.flops_per_s)
    }
}

/// A product without tiles: two loads for each multiply-add.
fn naive_product() -> Trace {
    let mut b = Builder::new("naive_product", [1, 1, 1], [32, 1, 1]);
    let (a, x) = (b.array("A", Space::Global, 4096), b.array("B", Space::Global, 4096));
    let a = b.site("ld.global.f32", 4, a, AccessKind::Read, 4);
    let x = b.site("ld.global.f32", 4, x, AccessKind::Read, 4);
    let fma = b.instruction("fma.rn.f32", 4, Class::Float32);
    let warp = b.warp([0, 0, 0], 0);
    let mask = b.full_mask(warp);
    for k in 0..8 {
        b.access(warp, a, mask, |lane| i64::from(k * 32 + lane));
        b.access(warp, x, mask, |lane| i64::from(k * 32 + lane));
        b.step(warp, fma, mask);
    }
    b.finish()
}

impl Roofline {
    fn work(&self, input: &VizInput<'_>) -> Work {
        match input.trace {
            Some(trace) => *self.work.get(&model::fingerprint(trace), |_| Work::of(trace)),
            None => Work::of(&naive_product()),
        }
    }

    fn factor(&self) -> f64 {
        f64::from(1u32 << self.reuse.within(POSITIONS))
    }

    fn picture_ui(&mut self, ui: &mut Ui, machine: &Machine, intensity: Option<f64>, words: &str) {
        let canvas = self.reuse.canvas(ui, vec2(ui.available_width(), HEIGHT), words, POSITIONS);
        let tokens = theme::tokens(ui);
        let axes = Axes::new(canvas.rect, machine);
        axes.paint(&canvas.painter, tokens, machine);
        let Some(intensity) = intensity else { return };
        let moved = intensity * self.factor();
        let from = axes.at(intensity, machine.roof(intensity));
        let to = axes.at(moved, machine.roof(moved));
        let bottom = pos2(to.x, axes.rect.bottom());
        plot_kit::dashed(&canvas.painter, bottom, to, Stroke::new(1.5, tokens.modelled));
        if self.reuse.at > 0 {
            canvas.painter.circle_stroke(from, 4.0, Stroke::new(1.5, tokens.text_muted));
        }
        canvas.painter.circle_filled(to, 6.0, tokens.modelled);
        let most = plot_kit::si(machine.roof(moved), "FLOP/s");
        // Beside the point and below the roof; at the left only where there is no room, far from the slope.
        let (offset, align) = if to.x + MOST_ROOM > axes.rect.right() {
            (vec2(-10.0, 16.0), Align2::RIGHT_CENTER)
        } else {
            (vec2(12.0, 12.0), Align2::LEFT_CENTER)
        };
        kit::small(&canvas.painter, to + offset, align, format!("at most {most}"), tokens.text);
    }
}

/// Width of the picture, in points, from which its upper edge has room for two labels.
const LEAST_WIDTH: f32 = 340.0;

struct Axes {
    rect: Rect,
    y: [f32; 2],
}

impl Axes {
    fn new(canvas: Rect, machine: &Machine) -> Self {
        let min = canvas.min + vec2(76.0, space::M);
        let rect = Rect::from_min_max(min, canvas.max - vec2(space::M, 40.0));
        let top = (machine.flops_per_s.log10() + 0.4) as f32;
        Self { rect, y: [top - 5.0, top] }
    }

    fn at(&self, intensity: f64, flops_per_s: f64) -> Pos2 {
        let share = |value: f64, [low, high]: [f32; 2]| ((value.log10() as f32 - low) / (high - low)).clamp(0.0, 1.0);
        let x = self.rect.left() + self.rect.width() * share(intensity, X);
        pos2(x, self.rect.bottom() - self.rect.height() * share(flops_per_s, self.y))
    }

    fn paint(&self, painter: &egui::Painter, tokens: &Tokens, machine: &Machine) {
        painter.rect_filled(self.rect, 2.0, tokens.inset);
        let grid = Stroke::new(1.0, tokens.grid);
        for power in X[0] as i32..=X[1] as i32 {
            let value = 10f64.powi(power);
            let x = self.at(value, 1.0).x;
            painter.vline(x, self.rect.y_range(), grid);
            let align = if power == X[1] as i32 { Align2::RIGHT_TOP } else { Align2::CENTER_TOP };
            kit::small(painter, pos2(x, self.rect.bottom() + 3.0), align, value, tokens.text_muted);
        }
        for power in self.y[0].ceil() as i32..=self.y[1].floor() as i32 {
            let value = 10f64.powi(power);
            let y = self.at(1.0, value).y;
            painter.hline(self.rect.x_range(), y, grid);
            let at = pos2(self.rect.left() - 5.0, y);
            kit::small(painter, at, Align2::RIGHT_CENTER, plot_kit::si(value, "FLOP/s"), tokens.text_muted);
        }
        let title = pos2(self.rect.center().x, self.rect.bottom() + 20.0);
        kit::small(painter, title, Align2::CENTER_TOP, "arithmetic intensity, FLOP per byte", tokens.text_muted);
        // In a narrow picture the words of the roof need the room; the numbers have their unit.
        if self.rect.width() > LEAST_WIDTH {
            let speed = self.rect.left_top() + vec2(6.0, 3.0);
            kit::small(painter, speed, Align2::LEFT_TOP, "speed, operations a second", tokens.text_muted);
        }
        let roof = Stroke::new(2.0, tokens.ceiling);
        // The slope begins where it enters the picture.
        let first = 10f64.powf(f64::from(X[0])).max(10f64.powf(f64::from(self.y[0])) / machine.bytes_per_s);
        let ridge = self.at(machine.ridge(), machine.flops_per_s);
        painter.line_segment([self.at(first, machine.roof(first)), ridge], roof);
        painter.line_segment([ridge, pos2(self.rect.right(), ridge.y)], roof);
        let flat = format!("arithmetic {}", plot_kit::si(machine.flops_per_s, "FLOP/s"));
        let corner = pos2(self.rect.right() - 6.0, ridge.y - 3.0);
        kit::small(painter, corner, Align2::RIGHT_BOTTOM, flat, tokens.text_muted);
        // Above the slope: below it stand the points and their dashes.
        let low = self.at(machine.ridge() / 100.0, machine.flops_per_s / 100.0);
        let slope = format!("memory {}", plot_kit::si(machine.bytes_per_s, "B/s"));
        let font = egui::FontId::proportional(crate::theme::font_size::SMALL);
        let width = painter.layout_no_wrap(slope.clone(), font, tokens.text_muted).size().x;
        // Further up where it would begin left of the picture, on the numbers.
        let least = self.rect.left() + width + 12.0;
        let up = ((least - low.x) / (ridge.x - low.x)).clamp(0.0, 1.0);
        let place = low + (ridge - low) * up;
        kit::small(painter, place - vec2(8.0, 4.0), Align2::RIGHT_BOTTOM, slope, tokens.text_muted);
    }
}

impl Visualization for Roofline {
    fn id(&self) -> &'static str {
        "roofline"
    }

    fn title(&self) -> &'static str {
        "Roofline"
    }

    fn example(&self) -> Trace {
        naive_product()
    }

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        let input = kit::input_ui(ui, input, self.id());
        self.reuse.ui(ui, POSITIONS, "reuse");
        let machine = Machine::of(&input);
        let words = self.describe(&input);
        let intensity = self.work(&input).intensity();
        self.picture_ui(ui, &machine, intensity, &words);
        kit::caption_ui(ui, &words);
        None
    }

    fn describe(&self, input: &VizInput<'_>) -> String {
        let machine = Machine::of(input);
        let roofs = format!(
            "{} {}: {} and {}, which meet at {} FLOP per byte.",
            machine.name,
            machine.source,
            plot_kit::si(machine.bytes_per_s, "B/s"),
            plot_kit::si(machine.flops_per_s, "FLOP/s"),
            plot_kit::digits(machine.ridge())
        );
        let work = self.work(input);
        let Some(intensity) = work.intensity() else {
            return format!("This run has no floating-point work, or touched no global memory. {roofs}");
        };
        let factor = self.factor();
        let moved = intensity * factor;
        let bound = if moved < machine.ridge() { "memory" } else { "arithmetic" };
        let who = match input.trace {
            None => "A product without tiles",
            // The rest of the launch may share sectors with this part.
            Some(trace) if model::is_part(trace) => "The traced part of your kernel",
            Some(_) => "Your kernel",
        };
        let reuse = if factor > 1.0 {
            format!(" With each byte used {factor} times as often it is {} FLOP per byte:", plot_kit::digits(moved))
        } else {
            " So it has".to_owned()
        };
        format!(
            "{who} did {} operations for {} bytes of different sectors, {} FLOP per byte.{reuse} at most {}, bound by \
             {bound}. {roofs}",
            work.flops,
            work.bytes,
            plot_kit::digits(intensity),
            plot_kit::si(machine.roof(moved), "FLOP/s"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_counted_from_the_trace() {
        // Eight multiply-adds and eight pairs of 128-byte loads in each lane's warp.
        let work = Work::of(&naive_product());
        assert_eq!((work.flops, work.bytes), (8.0 * 32.0 * 2.0, 8.0 * 2.0 * 128.0));
        assert_eq!(work.intensity(), Some(0.25));
        assert_eq!(Work::default().intensity(), None);
    }

    #[test]
    fn memory_bounds_until_the_ridge() {
        let machine = Machine::of(&VizInput::default());
        assert!((machine.ridge() - 67.0 / 4.8).abs() < 1e-9);
        assert_eq!(machine.roof(1.0), 4.8e12);
        assert_eq!(machine.roof(1000.0), 67e12);
        let mut viz = Roofline::default();
        assert!(viz.describe(&VizInput::default()).contains("bound by memory"));
        viz.reuse.jump(POSITIONS - 1);
        assert!(viz.describe(&VizInput::default()).contains("bound by arithmetic"));
    }

    #[test]
    fn roofs_that_were_measured_here_go_before_nominal_ones() {
        let mut ceilings = Ceilings { device: "A GPU".into(), date: "2026-12-01".into(), ..Ceilings::default() };
        let say = |ceilings: &Ceilings| {
            Roofline::default().describe(&VizInput { ceilings: Some(ceilings), ..VizInput::default() })
        };
        assert!(say(&ceilings).contains("H200 by its data sheet"), "nothing was measured yet");
        (ceilings.copy_bytes_per_s, ceilings.fp32_flops) = (2e12, 40e12);
        let words = say(&ceilings);
        assert!(words.contains("A GPU as measured here, 2026-12-01") && words.contains("meet at 20.0 FLOP"), "{words}");
    }

    #[test]
    fn a_part_of_a_launch_is_not_called_the_kernel() {
        let mut trace = naive_product();
        let say = |trace: &Trace| Roofline::default().describe(&VizInput { trace: Some(trace), ..VizInput::default() });
        assert!(say(&trace).starts_with("Your kernel did 512 operations"), "{}", say(&trace));
        trace.grid = [1000, 1, 1];
        assert!(say(&trace).starts_with("The traced part of your kernel did 512"), "{}", say(&trace));
    }
}
