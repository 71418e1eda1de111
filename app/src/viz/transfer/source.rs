//! Where the timeline comes from: a run on this machine, a recorded one, or the model.

use crate::icons;
use crate::measure;
use crate::scripts::Figure;
use crate::theme;
use crate::viz::{VizAction, VizInput};
use egui::{RichText, Ui};

/// The program that measures transfers.
const PROGRAM: &str = "library-matmul";

/// A timeline that can be shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// Size and way: `n = 1024: cuBLAS, data stays`.
    pub name: String,
    /// `measured on NVIDIA H200`, or where and when it was recorded.
    pub origin: String,
    pub figure: Figure,
}

/// What the viewer chose; None follows what there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// The model although there is a run, or a run by its place in [`timelines`].
    pub chosen: Option<Shown>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    Model,
    Run(usize),
}

/// Every run with a timeline: those of this machine, else the recorded ones.
pub fn timelines(input: &VizInput<'_>) -> Vec<Timeline> {
    let own = input.program(PROGRAM);
    let date = own.and_then(crate::scripts::ScriptRun::date).map(|date| format!(", {date}")).unwrap_or_default();
    let of = |figures: &[Figure], origin: &dyn Fn(&Figure) -> String| {
        let shown = figures.iter().filter(|figure| !figure.spans.is_empty());
        let timeline = |figure: &Figure| Timeline {
            name: format!("{}: {}", figure.name, figure.rung),
            origin: origin(figure),
            figure: figure.clone(),
        };
        shown.map(timeline).collect::<Vec<_>>()
    };
    let measured =
        own.map_or_else(Vec::new, |run| of(&run.figures, &|figure| format!("measured on {}{date}", figure.device)));
    if !measured.is_empty() {
        return measured;
    }
    measure::recording(PROGRAM).map_or_else(Vec::new, |recording| of(&recording.figures, &|_| recording.words()))
}

impl Choice {
    /// The run to show; None is the model.
    pub fn run<'t>(&self, timelines: &'t [Timeline]) -> Option<&'t Timeline> {
        match self.chosen {
            Some(Shown::Model) => None,
            Some(Shown::Run(index)) => timelines.get(index).or(timelines.first()),
            None => timelines.first(),
        }
    }

    /// Buttons for the runs there are, for the model, and for measuring.
    pub fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>, timelines: &[Timeline]) -> Option<VizAction> {
        let tokens = theme::tokens(ui);
        let mut action = None;
        let shown = self.run(timelines).cloned();
        ui.horizontal_wrapped(|ui| {
            for (index, timeline) in timelines.iter().enumerate() {
                let selected = shown.as_ref() == Some(timeline);
                if ui.selectable_label(selected, &timeline.name).clicked() {
                    self.chosen = Some(Shown::Run(index));
                }
            }
            if ui.selectable_label(shown.is_none(), "Model").clicked() {
                self.chosen = Some(Shown::Model);
            }
            if input.program(PROGRAM).is_some_and(|run| run.running) {
                ui.spinner();
                if ui.button("Stop measuring").clicked() {
                    action = Some(VizAction::StopMeasuring);
                }
            } else if input.measured.is_some() {
                let button = ui.add(egui::Button::new((icons::atom(icons::PLAY), "Measure on this GPU")));
                if button.on_hover_text("Some seconds, with cuBLAS; without a GPU it says so").clicked() {
                    action = Some(VizAction::Measure(PROGRAM));
                }
            }
        });
        let origin = match &shown {
            Some(timeline) => timeline.origin.clone(),
            None if timelines.is_empty() => "No run was measured or recorded; below is a model.".to_owned(),
            None => "A model, not a measurement.".to_owned(),
        };
        ui.label(RichText::new(origin).small().color(tokens.text_muted));
        if let Some(problem) = input.program(PROGRAM).and_then(|run| run.problem.as_ref()) {
            ui.add(egui::Label::new(RichText::new(problem).small().color(tokens.fail)).wrap());
        }
        action
    }
}
