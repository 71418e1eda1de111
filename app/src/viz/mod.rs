//! Visualizations: one file each, one trait, one list.
//!
//! Each draws the trace of the learner's own run, or a small example with controls to ask "what if"; steps forward and
//! backward; and says in words what it shows. To add one: a file here that implements [`Visualization`], and a line in
//! [`all`]. The snapshot tests walk the list.

pub mod example;
pub mod kit;
pub mod layouts;
pub mod map;
pub mod matrix;
pub mod model;
pub mod own;
pub mod requests;
pub mod running;
pub mod stepper;
pub mod values;

mod attention_steps;
mod banks;
mod coalescing;
mod compile_pipeline;
mod course_map;
mod decode_timeline;
pub mod decode_writer;
mod dot_product;
mod fp_bits;
mod group_quantization;
mod kv_calculator;
mod kv_model;
mod ladder_plot;
mod launch;
mod loops;
mod machine;
mod memory;
mod mma_fragment;
mod occupancy;
mod online_softmax;
mod pipeline;
mod quantization;
mod roofline;
mod softmax;
mod split_k;
mod tiled;
mod tiled_attention;
mod tiles;
mod tma_box;
mod training_memory;
mod transfer;
mod two_level_scale;
mod warp;

use crate::scripts::{ScriptKey, ScriptRun};
use curriculum::Course;
use curriculum::store::Progress;
use gpu_core::bench::{BenchReport, Ceilings};
use gpu_core::compile::{CompileReport, KernelResources};
use gpu_core::device::DeviceInfo;
use gpu_core::emulator::{Fault, SourceLine, Trace};
use gpu_core::verdict::Captured;
use std::collections::BTreeMap;

/// What there is to draw. Everything is optional: a visualization says what it lacks and shows its example.
#[derive(Clone, Copy, Debug, Default)]
pub struct VizInput<'a> {
    /// The trace of the learner's last run; None shows the example.
    pub trace: Option<&'a Trace>,
    /// The numbers of the case that was traced.
    pub captured: Option<&'a Captured>,
    /// There was a run, and it left no trace.
    pub is_traceless: bool,
    /// The text that was traced, to quote the lines that the trace names.
    pub source: Option<&'a str>,
    /// The fault that ended the run, if one did.
    pub ended_by: Option<&'a Fault>,
    /// The kernel in the editor is another one by now.
    pub is_stale: bool,
    /// A later run was stopped, or failed before there was anything to draw.
    pub is_overtaken: bool,
    /// Line of the editor's cursor, from 1: views of one line follow it.
    pub line: Option<u32>,
    /// The last benchmark of the exercise.
    pub bench: Option<&'a BenchReport>,
    pub resources: Option<&'a KernelResources>,
    /// The learner's text and what the compiler last made of it, which need not be the open one.
    pub text: Option<&'a str>,
    pub compiled: Option<&'a CompileReport>,
    pub course: Option<&'a Course>,
    pub progress: Option<&'a Progress>,
    /// The kernel of the day that decodes was opened, so that the model can write with it.
    pub has_decode_kernel: bool,
    pub device: Option<&'a DeviceInfo>,
    /// What the device was measured to do at most, where that was done.
    pub ceilings: Option<&'a Ceilings>,
    /// What the programs of `crate::measure` found on this machine, and the rungs.
    pub measured: Option<&'a BTreeMap<ScriptKey, ScriptRun>>,
}

impl<'a> VizInput<'a> {
    /// The last run of a program of `crate::measure`.
    pub fn program(&self, name: &str) -> Option<&'a ScriptRun> {
        self.measured?.get(&ScriptKey::of_program(name))
    }
}

/// What the viewer wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VizAction {
    /// Show this line in the editor.
    GoToLine(SourceLine),
    /// Open a unit of the course by its id.
    OpenUnit(String),
    /// Start this program of `crate::measure`.
    Measure(&'static str),
    /// Let the small model write, with the learner's own kernel or the course's.
    Decode { cache: &'static str, own: bool },
    /// Stop what is being measured.
    StopMeasuring,
}

/// A picture of what a kernel does.
pub trait Visualization {
    /// Stable name that lessons use: `{{viz launch: …}}`.
    fn id(&self) -> &'static str;

    fn title(&self) -> &'static str;

    /// Whether it shows machine code, which is asked for only when somebody looks.
    fn wants_listing(&self) -> bool {
        false
    }

    /// The example as it stands with its controls: deterministic and small.
    fn example(&self) -> Trace;

    fn ui(&mut self, ui: &mut egui::Ui, input: &VizInput<'_>) -> Option<VizAction>;

    /// What the picture shows at the present step, in words; the same facts, for screen readers and for the terminal.
    fn describe(&self, input: &VizInput<'_>) -> String;
}

/// Every visualization, fresh, in the order of the course.
pub fn all() -> Vec<Box<dyn Visualization>> {
    vec![
        Box::new(loops::Loops::default()),
        Box::new(transfer::Transfer::default()),
        Box::new(warp::Warp::default()),
        Box::new(launch::Launch::default()),
        Box::new(memory::MemoryHierarchy::default()),
        Box::new(tiles::Tiles::default()),
        Box::new(tiled::Tiled::default()),
        Box::new(coalescing::Coalescing::default()),
        Box::new(banks::Banks::default()),
        Box::new(occupancy::Occupancy::default()),
        Box::new(roofline::Roofline::default()),
        Box::new(pipeline::PipelineTimeline::default()),
        Box::new(tma_box::TmaBox::default()),
        Box::new(mma_fragment::MmaFragment::default()),
        Box::new(ladder_plot::LadderPlot::gemm()),
        Box::new(ladder_plot::LadderPlot::attention()),
        Box::new(dot_product::DotProduct::default()),
        Box::new(fp_bits::FpBits::default()),
        Box::new(softmax::Softmax::default()),
        Box::new(attention_steps::AttentionSteps::default()),
        Box::new(online_softmax::OnlineSoftmax::default()),
        Box::new(tiled_attention::TiledAttention::default()),
        Box::new(quantization::Quantization::default()),
        Box::new(group_quantization::GroupQuantization::default()),
        Box::new(two_level_scale::TwoLevelScale::default()),
        Box::new(kv_calculator::KvCalculator::default()),
        Box::new(split_k::SplitK::default()),
        Box::new(decode_timeline::DecodeTimeline::default()),
        Box::new(decode_writer::DecodeWriter::default()),
        Box::new(training_memory::TrainingMemory::default()),
        Box::new(machine::Machine::default()),
        Box::new(compile_pipeline::CompilePipeline::default()),
        Box::new(course_map::CourseMap::default()),
    ]
}

/// Id and title of each, for menus and lists.
pub fn titles() -> &'static [(&'static str, &'static str)] {
    static TITLES: std::sync::LazyLock<Vec<(&str, &str)>> =
        std::sync::LazyLock::new(|| all().iter().map(|viz| (viz.id(), viz.title())).collect());
    &TITLES
}

/// A fresh visualization by id.
pub fn by_id(id: &str) -> Option<Box<dyn Visualization>> {
    all().into_iter().find(|viz| viz.id() == id)
}
