//! Compilation pipeline: one line of the kernel, the PTX that the compiler made of it, and the machine code that became of
//! that. With a kernel that compiled it is the learner's own; before that a small example.

use super::kit;
use super::stepper::Stepper;
use super::{Visualization, VizAction, VizInput};
use crate::fonts::Bold;
use crate::lab::KERNEL_NAME;
use crate::listing::{self, Listing, RowKind};
use crate::theme::{self, Tokens, font_size, radius, space};
use egui::{Align2, FontId, Painter, Pos2, Rect, RichText, Stroke, StrokeKind, Ui, pos2, vec2};
use gpu_core::compile::CompileReport;
use gpu_core::emulator::{SourceLine, Trace};

/// NVRTC 13.5 and its nvdisasm, for `sm_90a`, November 2026.
const EXAMPLE: [&str; 3] = [
    include_str!("compile_pipeline/axpy.cu"),
    include_str!("compile_pipeline/axpy.ptx"),
    include_str!("compile_pipeline/axpy.sass"),
];

const ROW: f32 = 15.0;
/// Rows of a box that are shown; the rest is counted.
const MOST_ROWS: usize = 16;
const HEAD: f32 = 22.0;
const GAP: f32 = 26.0;

#[derive(Default)]
pub struct CompilePipeline {
    line: Stepper,
    read: Option<Read>,
    /// Line of the editor's cursor that was followed last.
    followed: Option<u32>,
}

/// A compilation, read once.
struct Read {
    key: Key,
    lines: Vec<Line>,
    arch: String,
    has_sass: bool,
}

/// Which compilation: architecture, and lengths of source, PTX and SASS with a sum over their bytes.
type Key = (String, [usize; 3], u64);

/// A source line that instructions were made of.
struct Line {
    number: u32,
    text: String,
    ptx: Vec<String>,
    sass: Vec<String>,
}

impl Read {
    fn new(key: Key, source: &str, ptx: &Listing, sass: Option<&Listing>) -> Self {
        let rows = |listing: &Listing, number: u32| -> Vec<String> {
            let rows = listing.rows_of(number).iter().filter_map(|index| listing.rows.get(*index));
            let rows = rows.filter(|row| row.kind == RowKind::Code);
            rows.map(|row| row.text.trim().trim_end_matches(';').to_owned()).collect()
        };
        let lines = source.lines().zip(1_u32..).filter_map(|(text, number)| {
            let ptx = rows(ptx, number);
            let sass = sass.map(|sass| rows(sass, number)).unwrap_or_default();
            let sass = sass.into_iter().map(without_address).collect::<Vec<_>>();
            let text = text.trim().to_owned();
            (!ptx.is_empty() || !sass.is_empty()).then_some(Line { number, text, ptx, sass })
        });
        let arch = key.0.clone();
        Self { key, lines: lines.collect(), arch, has_sass: sass.is_some() }
    }
}

fn without_address(row: String) -> String {
    match row.split_once("  ") {
        Some((address, code)) if address.bytes().all(|byte| byte.is_ascii_hexdigit()) => code.trim().to_owned(),
        _ => row,
    }
}

/// The learner's compilation with the text that it is of; None shows the example.
fn own<'a>(input: &VizInput<'a>) -> Option<(&'a str, &'a CompileReport)> {
    input.text.zip(input.compiled.filter(|report| report.succeeded && !report.ptx.is_empty()))
}

impl CompilePipeline {
    fn read(&mut self, input: &VizInput<'_>) -> &Read {
        let own = own(input);
        let (arch, source, ptx, sass) = match own {
            Some((text, report)) => (report.arch.as_str(), text, report.ptx.as_str(), report.sass.as_deref()),
            None => ("sm_90a", EXAMPLE[0], EXAMPLE[1], Some(EXAMPLE[2])),
        };
        let sum = |text: &str| text.bytes().fold(0_u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        let lengths = [source.len(), ptx.len(), sass.map_or(0, str::len)];
        let key = (arch.to_owned(), lengths, sum(source) ^ sum(ptx).rotate_left(21));
        if self.read.as_ref().is_none_or(|read| read.key != key) {
            let name = if own.is_some() { KERNEL_NAME } else { "axpy.cu" };
            let (ptx, sass) = (listing::ptx(ptx, name), sass.map(|sass| listing::sass(sass, name)));
            let read = Read::new(key, source, &ptx, sass.as_ref());
            // The line with the most instructions is the one to look at first.
            let most = (0..read.lines.len()).max_by_key(|at| read.lines[*at].ptx.len());
            self.line.jump(most.unwrap_or(0));
            self.read = Some(read);
        }
        self.read.as_ref().unwrap_or_else(|| unreachable!("it was just read"))
    }

    /// Goes where the editor's cursor went.
    fn follow(&mut self, input: &VizInput<'_>) {
        let before = std::mem::replace(&mut self.followed, input.line);
        if before == input.line || before.is_none() || own(input).is_none() {
            return;
        }
        let lines = self.read.iter().flat_map(|read| &read.lines);
        if let Some(at) = lines.map(|line| line.number).position(|number| Some(number) == input.line) {
            self.line.jump(at);
        }
    }
}

/// A box with a heading and rows of code.
struct Stage<'a> {
    title: String,
    rows: &'a [String],
    /// Said where there are none.
    empty: &'a str,
}

impl Stage<'_> {
    fn height(&self) -> f32 {
        HEAD + ROW * self.rows.len().clamp(1, MOST_ROWS + 1) as f32 + space::S
    }

    fn paint(&self, painter: &Painter, tokens: &Tokens, rect: Rect) {
        painter.rect_filled(rect, radius::SMALL, tokens.inset);
        painter.rect_stroke(rect, radius::SMALL, Stroke::new(1.0, tokens.border), StrokeKind::Inside);
        let at = pos2(rect.left() + space::M, rect.top() + HEAD / 2.0);
        kit::small(painter, at, Align2::LEFT_CENTER, &self.title, tokens.text_muted);
        let clipped = painter.with_clip_rect(rect.shrink(2.0));
        let font = FontId::monospace(font_size::SMALL);
        let row = |index: usize| pos2(rect.left() + space::M, rect.top() + HEAD + ROW * index as f32);
        for (index, text) in self.rows.iter().take(MOST_ROWS).enumerate() {
            clipped.text(row(index), Align2::LEFT_TOP, text, font.clone(), tokens.text);
        }
        if self.rows.is_empty() {
            kit::small(&clipped, row(0), Align2::LEFT_TOP, self.empty, tokens.text_muted);
        } else if self.rows.len() > MOST_ROWS {
            let more = format!("and {} more", self.rows.len() - MOST_ROWS);
            kit::small(&clipped, row(MOST_ROWS), Align2::LEFT_TOP, more, tokens.text_muted);
        }
    }
}

fn arrow(painter: &Painter, tokens: &Tokens, from: Pos2, to: Pos2, texts: &[&str]) {
    painter.arrow(from, to - from, Stroke::new(1.5, tokens.accent));
    let at = from + vec2(space::M, (to.y - from.y) / 2.0);
    let room = painter.clip_rect().right() - at.x;
    kit::small_in(painter, at, Align2::LEFT_CENTER, room, texts, tokens.text_muted);
}

impl Visualization for CompilePipeline {
    fn id(&self) -> &'static str {
        "compile-pipeline"
    }

    fn title(&self) -> &'static str {
        "Compilation pipeline"
    }

    /// It needs a compilation and no run.
    fn example(&self) -> Trace {
        Trace { kernel: "axpy".into(), grid: [1, 1, 1], block: [32, 1, 1], ..Trace::default() }
    }

    fn wants_listing(&self) -> bool {
        true
    }

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        self.read(input);
        self.follow(input);
        let tokens = theme::tokens(ui);
        let whose = match own(input) {
            Some(_) => {
                "Your kernel, as it compiled last. A click on another of its lines in the editor shows that line."
            }
            None => "Example. Open an exercise whose kernel compiles, and this shows yours.",
        };
        ui.label(RichText::new(whose).small().color(tokens.text_muted));
        let words = self.describe(input);
        let count = self.read.as_ref().map_or(0, |read| read.lines.len());
        self.line.ui(ui, count, "line");
        let at = self.line.within(count);
        let line = self.read.as_ref().and_then(|read| read.lines.get(at));
        let Some((line, read)) = line.zip(self.read.as_ref()) else {
            let canvas = self.line.canvas(ui, vec2(ui.available_width(), 60.0), &words, 0);
            let at = canvas.rect.center();
            kit::small(&canvas.painter, at, Align2::CENTER_CENTER, "No line of it made an instruction.", tokens.text);
            return None;
        };
        let number = line.number;
        let source = vec![line.text.clone()];
        let empty = if read.has_sass {
            "none of its own"
        } else {
            "No disassembler is installed. PTX & SASS offers to install one."
        };
        let stages = [
            Stage { title: format!("CUDA C++, line {number}"), rows: &source, empty: "" },
            Stage {
                title: format!("PTX: {}", kit::plural(line.ptx.len(), "instruction")),
                rows: &line.ptx,
                empty: "none of its own",
            },
            Stage {
                title: match read.has_sass {
                    true => format!("SASS for {}: {}", read.arch, kit::plural(line.sass.len(), "instruction")),
                    false => format!("SASS for {}", read.arch),
                },
                rows: &line.sass,
                empty,
            },
        ];
        let height = stages.iter().map(Stage::height).sum::<f32>() + 2.0 * GAP;
        let canvas = self.line.canvas(ui, vec2(ui.available_width(), height), &words, count);
        let mut top = canvas.rect.top();
        let made_by: [&[&str]; 2] = [
            &["NVRTC compiles"],
            &["the assembler picks registers and machine instructions", "the assembler makes machine code"],
        ];
        for (index, stage) in stages.iter().enumerate() {
            let rect = Rect::from_min_size(pos2(canvas.rect.left(), top), vec2(canvas.rect.width(), stage.height()));
            stage.paint(&canvas.painter, tokens, rect);
            top = rect.bottom() + GAP;
            if let Some(texts) = made_by.get(index) {
                let from = pos2(canvas.rect.left() + 24.0, rect.bottom() + 3.0);
                arrow(&canvas.painter, tokens, from, from + vec2(0.0, GAP - 6.0), texts);
            }
        }
        let mut action = None;
        if own(input).is_some() && ui.button(RichText::new("Show the line in the editor").bold()).clicked() {
            action = Some(VizAction::GoToLine(SourceLine { file: KERNEL_NAME.to_owned(), line: number, column: 1 }));
        }
        kit::caption_ui(ui, &words);
        action
    }

    fn describe(&self, input: &VizInput<'_>) -> String {
        let mut fresh: CompilePipeline;
        let viewer = if self.read.is_some() {
            self
        } else {
            fresh = CompilePipeline::default();
            fresh.read(input);
            &fresh
        };
        let Some(read) = &viewer.read else { return String::new() };
        let at = viewer.line.within(read.lines.len());
        let Some(line) = read.lines.get(at) else {
            return "No line of this kernel made an instruction that says where it comes from.".to_owned();
        };
        let sass = match read.has_sass {
            true => format!("{} of {}", kit::plural(line.sass.len(), "machine instruction"), read.arch),
            false => "machine code that no disassembler here can show".to_owned(),
        };
        let total: usize = read.lines.iter().map(|line| line.ptx.len()).sum();
        format!(
            "Line {}, `{}`, became {} of the kernel's {total} PTX instructions, and {sass}. Loads and arithmetic keep their \
             order here; address arithmetic is shared among lines, so a line may seem to have none.",
            line.number,
            line.text,
            line.ptx.len(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_shows_what_a_line_became() {
        let mut viz = CompilePipeline::default();
        let read = viz.read(&VizInput::default());
        let numbers: Vec<u32> = read.lines.iter().map(|line| line.number).collect();
        assert_eq!(numbers, [1, 3, 4, 5, 7]);
        let sum = &read.lines[3];
        assert!(sum.text.starts_with("out[i] = alpha"));
        let count = |rows: &[String], word: &str| rows.iter().filter(|row| row.starts_with(word)).count();
        assert_eq!((count(&sum.ptx, "ld.global"), count(&sum.ptx, "fma.rn"), count(&sum.ptx, "st.global")), (2, 1, 1));
        assert_eq!((count(&sum.sass, "LDG"), count(&sum.sass, "FFMA"), count(&sum.sass, "STG")), (2, 1, 1));
        assert!(count(&sum.sass, "NOP") == 0 && count(&read.lines[4].sass, "EXIT") == 1);
        assert!(viz.describe(&VizInput::default()).starts_with("Line 5"));
    }

    #[test]
    fn a_compilation_of_ones_own_takes_its_place() {
        let report = CompileReport {
            succeeded: true,
            arch: "sm_80".into(),
            ptx: ".file 1 \"kernel.cu\"\n{\n.loc 1 2 1\nadd.s32 %r1, %r2, %r3;\n}\n".into(),
            ..CompileReport::default()
        };
        let input = VizInput { compiled: Some(&report), text: Some("// one\nint i = a + b;\n"), ..VizInput::default() };
        let mut viz = CompilePipeline::default();
        viz.read(&VizInput::default());
        let read = viz.read(&input);
        assert_eq!((read.lines.len(), read.lines[0].number, read.has_sass), (1, 2, false));
        assert!(viz.describe(&input).contains("no disassembler"));
    }
}
