//! Course map: days and labs in levels, each under what it builds on; a line for each "builds on", and how far the learner is.

use super::kit;
use super::stepper::Stepper;
use super::{Visualization, VizAction, VizInput};
use crate::theme::{self, Tokens, font_size, radius, space};
use crate::widgets::plot_kit;
use curriculum::store::Progress;
use curriculum::{Course, Unit, map};
use egui::{Align, Color32, FontId, Painter, Rect, Stroke, StrokeKind, Ui, vec2};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

const NODE: f32 = 36.0;
const GAP: f32 = 16.0;
const MOST_WIDTH: f32 = 210.0;

static EMBEDDED: LazyLock<Course> = LazyLock::new(Course::embedded);

#[derive(Default)]
pub struct CourseMap {
    unit: Stepper,
}

/// How far the learner is with a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    Done,
    /// All that it builds on is done.
    Open,
    Later,
}

fn course<'a>(input: &VizInput<'a>) -> &'a Course {
    input.course.unwrap_or(&EMBEDDED)
}

fn standing(course: &Course, progress: Option<&Progress>, unit: &Unit) -> Standing {
    let done = |unit: &Unit| progress.is_some_and(|progress| progress.done(unit).is_complete());
    if done(unit) {
        Standing::Done
    } else if map::after(course, unit).into_iter().all(done) {
        Standing::Open
    } else {
        Standing::Later
    }
}

/// `1.4  Your first kernel`, or a lab's title.
fn name(unit: &Unit) -> String {
    match unit.day() {
        Some((week, number)) => format!("{week}.{number}  {}", unit.title),
        None => format!("Lab: {}", unit.title),
    }
}

fn titles(units: &[&Unit]) -> String {
    units.iter().map(|unit| name(unit).replace("  ", " ")).collect::<Vec<_>>().join("; ")
}

impl CourseMap {
    fn picture_ui(&mut self, ui: &mut Ui, input: &VizInput<'_>, words: &str) {
        let course = course(input);
        let levels = map::levels(course);
        let units: Vec<&Unit> = levels.iter().flatten().copied().collect();
        let width = ui.available_width();
        let height = levels.len() as f32 * (NODE + GAP);
        let canvas = self.unit.canvas(ui, vec2(width, height), words, units.len());
        let tokens = theme::tokens(ui);
        let mut places: BTreeMap<&str, Rect> = BTreeMap::new();
        for (row, level) in levels.iter().enumerate() {
            let cell = width / level.len() as f32;
            for (column, unit) in level.iter().enumerate() {
                let center =
                    canvas.rect.min + vec2((column as f32 + 0.5) * cell, row as f32 * (NODE + GAP) + NODE / 2.0 + 1.0);
                let size = vec2((cell - space::M).min(MOST_WIDTH), NODE);
                places.insert(&unit.id, Rect::from_center_size(center, size));
            }
        }
        let selected = units.get(self.unit.within(units.len())).copied();
        let before: BTreeSet<&str> =
            selected.into_iter().flat_map(|unit| map::all_before(course, unit)).map(|unit| unit.id.as_str()).collect();
        let painter = &canvas.painter;
        let is_selected = |unit: &Unit| selected.is_some_and(|selected| selected.id == unit.id);
        for unit in &units {
            for first in map::after(course, unit) {
                let (Some(from), Some(to)) = (places.get(first.id.as_str()), places.get(unit.id.as_str())) else {
                    continue;
                };
                let on_the_way =
                    before.contains(first.id.as_str()) && (is_selected(unit) || before.contains(unit.id.as_str()));
                let stroke = match () {
                    () if on_the_way => Stroke::new(2.0, tokens.accent),
                    () if is_selected(first) => Stroke::new(2.0, tokens.lane_focus),
                    () => Stroke::new(1.0, tokens.border),
                };
                painter.line_segment([from.center_bottom(), to.center_top()], stroke);
            }
        }
        for unit in &units {
            let Some(rect) = places.get(unit.id.as_str()) else { continue };
            let standing = standing(course, input.progress, unit);
            paint_node(painter, tokens, *rect, unit, standing, is_selected(unit), before.contains(unit.id.as_str()));
        }
        let under = canvas.response.hover_pos().and_then(|pos| {
            units.iter().position(|unit| places.get(unit.id.as_str()).is_some_and(|rect| rect.contains(pos)))
        });
        if let Some(at) = under {
            if canvas.response.clicked() {
                self.unit.jump(at);
            }
            canvas.response.on_hover_text_at_pointer(format!("{}: {}", units[at].place(), units[at].title));
        }
    }
}

fn colors(tokens: &Tokens, standing: Standing) -> (Color32, Color32) {
    match standing {
        Standing::Done => (tokens.pass_soft, tokens.pass),
        Standing::Open => (tokens.accent_soft, tokens.accent),
        Standing::Later => (tokens.inset, tokens.border_strong),
    }
}

fn paint_node(
    painter: &Painter,
    tokens: &Tokens,
    rect: Rect,
    unit: &Unit,
    standing: Standing,
    is_selected: bool,
    is_before: bool,
) {
    let (fill, outline) = colors(tokens, standing);
    painter.rect_filled(rect, radius::SMALL, tokens.panel);
    painter.rect_filled(rect, radius::SMALL, fill);
    let stroke = match () {
        () if is_selected => Stroke::new(2.5, tokens.lane_focus),
        () if is_before => Stroke::new(2.0, tokens.accent),
        () => Stroke::new(1.0, outline),
    };
    painter.rect_stroke(rect, radius::SMALL, stroke, StrokeKind::Inside);
    let mark = if standing == Standing::Done { "✔ " } else { "" };
    let text = format!("{mark}{}", name(unit));
    // A long name has two lines, then smaller letters, and then its title alone, before it is cut.
    let lay_out = |text: &str, size: f32| {
        let font = FontId::proportional(size);
        let mut job = egui::text::LayoutJob::simple(text.to_owned(), font, tokens.text, rect.width() - 2.0 * space::XS);
        job.wrap.max_rows = 2;
        job.halign = Align::Center;
        painter.layout_job(job)
    };
    let small = font_size::SMALL - 1.5;
    let mut galley = lay_out(&text, font_size::SMALL);
    for (text, size) in [(text.as_str(), small), (unit.title.as_str(), small)] {
        if galley.elided {
            galley = lay_out(text, size);
        }
    }
    let place = egui::pos2(rect.center().x, rect.center().y - galley.size().y / 2.0);
    painter.galley(place, galley, tokens.text);
}

impl Visualization for CourseMap {
    kit::head_without_steps!("course-map", "Course map");

    fn ui(&mut self, ui: &mut Ui, input: &VizInput<'_>) -> Option<VizAction> {
        let course = course(input);
        let words = self.describe(input);
        let units: Vec<&Unit> = map::levels(course).into_iter().flatten().collect();
        self.unit.ui(ui, units.len(), "unit");
        let mut action = None;
        if let Some(unit) = units.get(self.unit.within(units.len()))
            && ui.button(format!("Open {}: {}", unit.place(), unit.title)).clicked()
        {
            action = Some(VizAction::OpenUnit(unit.id.clone()));
        }
        kit::caption_ui(ui, &words);
        ui.add_space(space::M);
        self.picture_ui(ui, input, &words);
        plot_kit::legend(ui, |ui| {
            let tokens = theme::tokens(ui);
            plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, tokens.pass, "done");
            plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, tokens.accent, "ready for you");
            plot_kit::legend_entry(ui, plot_kit::Swatch::Bar, tokens.border_strong, "later");
        });
        action
    }

    fn describe(&self, input: &VizInput<'_>) -> String {
        let course = course(input);
        let units: Vec<&Unit> = map::levels(course).into_iter().flatten().collect();
        let Some(unit) = units.get(self.unit.within(units.len())) else {
            return "This course has no days and no labs yet, so there is nothing to put on a map.".to_owned();
        };
        let before = map::after(course, unit);
        let builds = match before.len() {
            0 => "It builds on nothing: start here.".to_owned(),
            _ => format!(
                "It builds on {}, and through them on {}.",
                titles(&before),
                kit::plural(map::all_before(course, unit).len(), "unit")
            ),
        };
        let (practice, next): (Vec<&Unit>, Vec<&Unit>) =
            map::leads_to(course, unit).into_iter().partition(|unit| unit.address.starts_with("practice/"));
        let leads = match next.len() {
            0 => "Nothing builds on it.".to_owned(),
            _ => format!("It leads to {}.", titles(&next)),
        };
        let practice = match practice.len() {
            0 => String::new(),
            _ => format!(
                " To practice: {}.",
                practice.iter().map(|unit| unit.title.as_str()).collect::<Vec<_>>().join(", ")
            ),
        };
        let about = map::concepts(unit);
        let about = if about.is_empty() { String::new() } else { format!(" Concepts: {}.", about.join(", ")) };
        format!("{}: {}. {builds} {leads}{practice}{about}", unit.place(), unit.title)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use curriculum::Step;

    #[test]
    fn it_says_what_leads_where_and_what_is_ready() {
        let mut viz = CourseMap::default();
        let first = viz.describe(&VizInput::default());
        assert!(first.contains("start here") && first.contains("1.2 Library speed-up"), "{first}");
        let units: Vec<&Unit> = map::levels(&EMBEDDED).into_iter().flatten().collect();
        let tiling = units.iter().position(|unit| unit.address.contains("tiling")).unwrap();
        viz.unit.jump(tiling);
        let words = viz.describe(&VizInput::default());
        assert!(words.contains("builds on 1.5") && words.contains("To practice:"), "{words}");

        let mut progress = Progress::default();
        let day = EMBEDDED.unit("week1/day1").unwrap();
        let next = EMBEDDED.unit("week1/day2").unwrap();
        let of = |progress: &Progress, unit| standing(&EMBEDDED, Some(progress), unit);
        assert_eq!((of(&progress, day), of(&progress, next)), (Standing::Open, Standing::Later));
        for step in Step::ALL {
            progress.step_done(day, step);
        }
        for key in day.exercise_keys() {
            progress.passed(day, key, curriculum::review::Date(1));
        }
        for question in &day.quiz.questions {
            progress.answered(day, &question.id, true, Default::default(), curriculum::review::Date(1));
        }
        assert_eq!((of(&progress, day), of(&progress, next)), (Standing::Done, Standing::Open));
    }
}
