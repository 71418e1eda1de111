//! Transfer timeline: copies to the device, the kernel, copies back; once, in every iteration, or overlapped. Of a run on
//! this machine's GPU, of a recorded one, or from a model with numbers to turn.

mod source;

use super::kit;
use super::stepper::Stepper;
use super::{Visualization, VizAction, VizInput};
use crate::scripts;
use crate::theme::{self, Tokens, space};
use crate::widgets::plot_kit::{self, Swatch};
use egui::{Align2, Color32, Rect, Stroke, StrokeKind, Ui, pos2, vec2};
use source::{Choice, Timeline, timelines};

const LABEL: f32 = 110.0;
const TRACK: f32 = 34.0;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Plan {
    /// Data goes over and back in each iteration.
    #[default]
    EachTime,
    /// Data goes over before the first iteration and back after the last.
    Once,
    /// Each iteration is cut into pieces; copies and kernels of different pieces run at the same time.
    Overlapped,
}

impl Plan {
    const ALL: [Plan; 3] = [Plan::EachTime, Plan::Once, Plan::Overlapped];

    fn title(self) -> &'static str {
        match self {
            Plan::EachTime => "copy each time",
            Plan::Once => "copy once",
            Plan::Overlapped => "overlapped, 4 pieces",
        }
    }
}

/// The three engines that work at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Engine {
    CopyIn,
    Compute,
    CopyOut,
}

impl Engine {
    const ALL: [Engine; 3] = [Engine::CopyIn, Engine::Compute, Engine::CopyOut];

    fn title(self) -> &'static str {
        match self {
            Engine::CopyIn => "copy to device",
            Engine::Compute => "kernel",
            Engine::CopyOut => "copy to host",
        }
    }

    fn color(self, tokens: &Tokens) -> Color32 {
        match self {
            Engine::CopyIn => tokens.series[0],
            Engine::Compute => tokens.series[2],
            Engine::CopyOut => tokens.series[1],
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Span {
    engine: Engine,
    iteration: usize,
    piece: usize,
    start_us: f64,
    end_us: f64,
}

pub struct Transfer {
    plan: Plan,
    megabytes_in: f64,
    megabytes_out: f64,
    /// Gigabytes (1e9) a second over the bus.
    link: f64,
    kernel_us: f64,
    iterations: usize,
    event: Stepper,
    choice: Choice,
}

const PIECES: usize = 4;
const MOST_ITERATIONS: usize = 8;

impl Default for Transfer {
    fn default() -> Self {
        Self {
            plan: Plan::EachTime,
            megabytes_in: 8.0,
            megabytes_out: 4.0,
            link: 25.0,
            kernel_us: 150.0,
            iterations: 3,
            event: Stepper::default(),
            choice: Choice::default(),
        }
    }
}

/// What a run's figure tells, as the picture draws it.
fn spans_of(timeline: &Timeline) -> Vec<Span> {
    let engine = |engine| match engine {
        scripts::Engine::CopyIn => Engine::CopyIn,
        scripts::Engine::Compute => Engine::Compute,
        scripts::Engine::CopyOut => Engine::CopyOut,
    };
    let span = |span: &scripts::Span| Span {
        engine: engine(span.engine),
        iteration: span.iteration as usize,
        piece: span.piece as usize,
        start_us: span.start_us,
        end_us: span.end_us,
    };
    timeline.figure.spans.iter().map(span).collect()
}

impl Transfer {
    /// Every engine does one thing at a time; a piece goes through the engines in order. Sorted by start.
    fn spans(&self) -> Vec<Span> {
        let pieces = if self.plan == Plan::Overlapped { PIECES } else { 1 };
        let share = 1.0 / pieces as f64;
        let copy_us = |megabytes: f64| megabytes * 1e6 / (self.link.max(1e-3) * 1e9) * 1e6 * share;
        let mut free = [0.0_f64; 3];
        let mut last_end = 0.0_f64;
        let mut spans = Vec::new();
        for iteration in 0..self.iterations {
            for piece in 0..pieces {
                // Without overlap everything waits for what came before it.
                let mut ready = if self.plan == Plan::Overlapped { 0.0 } else { last_end };
                for (index, engine) in Engine::ALL.into_iter().enumerate() {
                    let first = iteration == 0;
                    let last = iteration + 1 == self.iterations;
                    let skipped = self.plan == Plan::Once
                        && (engine == Engine::CopyIn && !first || engine == Engine::CopyOut && !last);
                    if skipped {
                        continue;
                    }
                    let duration = match engine {
                        Engine::CopyIn => copy_us(self.megabytes_in),
                        Engine::Compute => self.kernel_us * share,
                        Engine::CopyOut => copy_us(self.megabytes_out),
                    };
                    let start = ready.max(free[index]);
                    let end = start + duration;
                    spans.push(Span { engine, iteration, piece, start_us: start, end_us: end });
                    free[index] = end;
                    ready = end;
                    last_end = last_end.max(end);
                }
            }
        }
        spans.sort_by(|a, b| a.start_us.total_cmp(&b.start_us));
        spans
    }

    fn controls_ui(&mut self, ui: &mut Ui) {
        ui.horizontal_wrapped(|ui| {
            for plan in Plan::ALL {
                ui.selectable_value(&mut self.plan, plan, plan.title());
            }
        });
        ui.horizontal_wrapped(|ui| {
            let value = |ui: &mut Ui, name: &str, value: &mut f64, range: std::ops::RangeInclusive<f64>, unit: &str| {
                let label = ui.label(name);
                let edit = egui::DragValue::new(value).range(range).speed(0.5).suffix(unit);
                ui.add(edit).labelled_by(label.id);
            };
            value(ui, "in", &mut self.megabytes_in, 0.1..=1000.0, " MB");
            value(ui, "out", &mut self.megabytes_out, 0.1..=1000.0, " MB");
            value(ui, "bus", &mut self.link, 1.0..=900.0, " GB/s");
            value(ui, "kernel", &mut self.kernel_us, 1.0..=100_000.0, " µs");
            let label = ui.label("iterations");
            ui.add(egui::DragValue::new(&mut self.iterations).range(1..=MOST_ITERATIONS)).labelled_by(label.id);
        });
    }

    fn picture_ui(&mut self, ui: &mut Ui, spans: &[Span], is_model: bool, words: &str) {
        let width = ui.available_width();
        let height = 3.0 * TRACK + space::XXL + space::S;
        let canvas = self.event.canvas(ui, vec2(width, height), words, spans.len());
        let tokens = theme::tokens(ui);
        let painter = &canvas.painter;
        let total = spans.iter().map(|span| span.end_us).fold(1e-6, f64::max);
        let left = canvas.rect.left() + LABEL;
        let room = (width - LABEL - space::S).max(50.0);
        let x = |us: f64| left + room * (us / total) as f32;
        let is_cut = spans.iter().any(|span| span.piece > 0);
        let mut hovered = None;
        for (index, engine) in Engine::ALL.into_iter().enumerate() {
            let top = canvas.rect.top() + index as f32 * TRACK;
            let track = Rect::from_min_size(pos2(left, top), vec2(room, TRACK)).shrink2(vec2(0.0, 3.0));
            painter.rect_filled(track, 2.0, tokens.inset);
            let at = pos2(left - space::S, track.center().y);
            kit::small(painter, at, Align2::RIGHT_CENTER, engine.title(), tokens.text_muted);
            for (number, span) in spans.iter().enumerate().filter(|(_, span)| span.engine == engine) {
                let bar = Rect::from_x_y_ranges(x(span.start_us)..=x(span.end_us), track.y_range()).shrink(0.5);
                // Hatched, as everything that is modelled.
                if is_model {
                    painter.rect_filled(bar, 1.0, engine.color(tokens).gamma_multiply(0.35));
                    plot_kit::hatch(painter, bar, engine.color(tokens));
                } else {
                    painter.rect_filled(bar, 1.0, engine.color(tokens));
                }
                if bar.width() > 16.0 {
                    let label = span_name(span, is_cut);
                    let plate = Rect::from_center_size(bar.center(), vec2(7.0 * label.len() as f32 + 6.0, 16.0));
                    painter.rect_filled(plate, 2.0, tokens.panel);
                    kit::small(painter, bar.center(), Align2::CENTER_CENTER, label, tokens.text);
                }
                if number == self.event.at {
                    painter.rect_stroke(bar.expand(1.0), 2.0, Stroke::new(2.5, tokens.lane_focus), StrokeKind::Outside);
                }
                if canvas.response.hover_pos().is_some_and(|pos| bar.contains(pos)) {
                    hovered = Some((number, *span));
                }
            }
        }
        let axis = canvas.rect.top() + 3.0 * TRACK + 3.0;
        kit::small(painter, pos2(x(0.0) - space::S, axis + 3.0), Align2::RIGHT_TOP, "time", tokens.text_muted);
        for part in 0..=4 {
            let us = total * f64::from(part) / 4.0;
            let align = match part {
                0 => Align2::LEFT_TOP,
                4 => Align2::RIGHT_TOP,
                _ => Align2::CENTER_TOP,
            };
            painter.vline(x(us), axis - 3.0..=axis + 2.0, Stroke::new(1.0, tokens.border_strong));
            kit::small(painter, pos2(x(us), axis + 3.0), align, plot_kit::time_ns(us * 1e3), tokens.text_muted);
        }
        let Some((number, span)) = hovered else { return };
        if canvas.response.clicked() {
            self.event.jump(number);
        }
        canvas.response.on_hover_text_at_pointer(span_words(&span, is_cut));
    }
}

/// `2`, or `2c` for the third piece of an iteration that is cut.
fn span_name(span: &Span, is_cut: bool) -> String {
    let piece = if is_cut { char::from(b'a' + (span.piece % 26) as u8).to_string() } else { String::new() };
    format!("{}{piece}", span.iteration + 1)
}

fn span_words(span: &Span, is_cut: bool) -> String {
    format!(
        "{}, {} {}: {} to {} ({})",
        span.engine.title(),
        if is_cut { "piece" } else { "iteration" },
        span_name(span, is_cut),
        plot_kit::time_ns(span.start_us * 1e3),
        plot_kit::time_ns(span.end_us * 1e3),
        plot_kit::time_ns((span.end_us - span.start_us) * 1e3)
    )
}

/// What a run's timeline shows at an event.
fn run_words(run: &Timeline, at: usize) -> String {
    let spans = spans_of(run);
    let at = at.min(spans.len().saturating_sub(1));
    let Some(span) = spans.get(at) else { return format!("{} has no timeline.", run.name) };
    let is_cut = spans.iter().any(|span| span.piece > 0);
    let busy = |engine: Engine| -> f64 {
        spans.iter().filter(|span| span.engine == engine).map(|span| span.end_us - span.start_us).sum()
    };
    let all: f64 = Engine::ALL.into_iter().map(busy).sum();
    let rate = run.figure.gflops.map_or(String::new(), |rate| format!(" at {}", plot_kit::si(rate * 1e9, "FLOP/s")));
    let share = |part: f64, whole: f64| format!("{:.0} %", 100.0 * part / whole.max(1e-9));
    let shares = if is_cut {
        // Engines work side by side, so each has a share of the time of its own.
        let total = spans.iter().map(|span| span.end_us).fold(0.0, f64::max);
        let mine: Vec<String> = Engine::ALL
            .into_iter()
            .map(|engine| format!("{} {}", engine.title(), share(busy(engine), total)))
            .collect();
        format!("of the time shown, each works for a part: {}", mine.join(", "))
    } else {
        let copies = share(all - busy(Engine::Compute), all);
        format!("of the time shown, copies take {copies} and the product {}", share(busy(Engine::Compute), all))
    };
    format!(
        "Event {}: {}. {}{rate}; {shares}. By events on the GPU, {}.",
        at + 1,
        span_words(span, is_cut),
        run.name,
        run.origin
    )
}

impl Visualization for Transfer {
    kit::head_without_steps!("transfer-timeline", "Transfer timeline");

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        let timelines = timelines(input);
        let action = self.choice.ui(ui, input, &timelines);
        let run = self.choice.run(&timelines);
        if run.is_none() {
            self.controls_ui(ui);
        }
        let spans = run.map_or_else(|| self.spans(), spans_of);
        let is_model = run.is_none();
        self.event.ui(ui, spans.len(), "event");
        let words = self.describe(input);
        self.picture_ui(ui, &spans, is_model, &words);
        plot_kit::legend(ui, |ui| {
            let tokens = theme::tokens(ui);
            for engine in Engine::ALL {
                let (swatch, how) = if is_model { (Swatch::Hatched, ", modeled") } else { (Swatch::Bar, "") };
                plot_kit::legend_entry(ui, swatch, engine.color(tokens), &format!("{}{how}", engine.title()));
            }
        });
        kit::caption_ui(ui, &words);
        action
    }

    fn describe(&self, input: &VizInput<'_>) -> String {
        let timelines = timelines(input);
        if let Some(run) = self.choice.run(&timelines) {
            return run_words(run, self.event.at);
        }
        let spans = self.spans();
        let at = self.event.within(spans.len());
        let Some(span) = spans.get(at) else { return "There is nothing to run.".to_owned() };
        let total = spans.iter().map(|span| span.end_us).fold(0.0, f64::max);
        let busy = |engine: Engine| -> f64 {
            spans.iter().filter(|s| s.engine == engine).map(|s| s.end_us - s.start_us).sum()
        };
        let compute = busy(Engine::Compute);
        let worst = Transfer { plan: Plan::EachTime, event: Stepper::default(), ..*self };
        let baseline = worst.spans().iter().map(|span| span.end_us).fold(0.0, f64::max);
        let gain = if self.plan == Plan::EachTime || total <= 0.0 {
            String::new()
        } else {
            format!(" That is {:.1} times as fast as copying each time.", baseline / total)
        };
        format!(
            "Event {}: {}. {} in all, of which the kernel works {:.0} %.{gain} Modelled from the values above: a bus at a \
             constant rate, no launch overhead.",
            at + 1,
            span_words(span, self.plan == Plan::Overlapped),
            plot_kit::time_ns(total * 1e3),
            100.0 * compute / total.max(1e-9)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(plan: Plan) -> f64 {
        Transfer { plan, ..Transfer::default() }.spans().iter().map(|span| span.end_us).fold(0.0, f64::max)
    }

    #[test]
    fn plans_take_what_the_arithmetic_says() {
        // 8 MB at 25 GB/s are 320 us, 4 MB are 160 us, the kernel 150 us; three iterations.
        assert!((total(Plan::EachTime) - 3.0 * 630.0).abs() < 1e-6);
        assert!((total(Plan::Once) - (320.0 + 450.0 + 160.0)).abs() < 1e-6);
        // Overlapped, the longest engine sets the pace; the last piece still goes through the other two.
        assert!((total(Plan::Overlapped) - (3.0 * 320.0 + 37.5 + 40.0)).abs() < 1e-6);
    }

    #[test]
    fn a_run_of_this_machine_is_shown_before_any_model() {
        use crate::scripts::{ScriptKey, ScriptRun};
        let span = |engine, start_us, end_us| scripts::Span { engine, iteration: 0, piece: 0, start_us, end_us };
        let figure = scripts::Figure {
            name: "n = 1024".into(),
            rung: "cuBLAS, copies each time".into(),
            device: "a GPU".into(),
            median_ms: Some(0.4),
            gflops: Some(5000.0),
            spans: vec![
                span(scripts::Engine::CopyIn, 0.0, 200.0),
                span(scripts::Engine::Compute, 200.0, 300.0),
                span(scripts::Engine::CopyOut, 300.0, 400.0),
            ],
            ok: true,
            ..scripts::Figure::default()
        };
        let run = ScriptRun { figures: vec![figure], ..ScriptRun::default() };
        let measured = [(ScriptKey::of_program("library-matmul"), run)].into();
        let input = VizInput { measured: Some(&measured), ..VizInput::default() };
        let words = Transfer::default().describe(&input);
        assert!(words.contains("measured on a GPU") && words.contains("the product 25 %"), "{words}");
        let model = Transfer { choice: Choice { chosen: Some(source::Shown::Model) }, ..Transfer::default() };
        assert!(model.describe(&input).contains("Modelled"), "{}", model.describe(&input));
    }

    #[test]
    fn no_engine_does_two_things_at_once() {
        for plan in Plan::ALL {
            let spans = Transfer { plan, ..Transfer::default() }.spans();
            for engine in Engine::ALL {
                let mine: Vec<&Span> = spans.iter().filter(|span| span.engine == engine).collect();
                assert!(mine.windows(2).all(|pair| pair[0].end_us <= pair[1].start_us + 1e-9), "{plan:?} {engine:?}");
            }
        }
    }
}
