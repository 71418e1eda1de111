//! The lesson pane: the step's text with its interactive parts, hints while coding, quiz and reflection at the end.

use super::{Screen, answer, day, fill, parts};
use crate::command::{Action, Command};
use crate::dock::Layout;
use crate::fonts::Bold;
use crate::icons;
use crate::scripts::ScriptKey;
use crate::state::{Pane, Sight};
use crate::theme::{self, space};
use crate::widgets::focus;
use crate::widgets::quiz::{self, QuizAction};
use crate::widgets::sentence;
use crate::widgets::sideways::Sideways;
use curriculum::{Block, Status, Step, Unit};
use egui::{CollapsingHeader, Frame, Margin, RichText, ScrollArea, Ui};

/// The open day's text; a planned day says what it will hold.
pub fn pane_ui(ui: &mut Ui, screen: &mut Screen<'_>) {
    let Some(day) = screen.state.day() else {
        return parts::empty(
            ui,
            Pane::Course.icon(),
            "No day is open",
            "Choose one in the course (Ctrl+Shift+E shows it).",
        );
    };
    match &day.status {
        Status::Planned { summary } => day::planned_ui(ui, screen, day, summary),
        Status::Written => show(ui, screen, day),
    }
}

fn show(ui: &mut Ui, screen: &mut Screen<'_>, day: &Unit) {
    let step = screen.state.view.step;
    let key = format!("lesson {}/{}", day.id, day.step_id(step));
    let mut scroll = ScrollArea::vertical().id_salt(("lesson", &day.id, step)).auto_shrink(false);
    if let Some(down) = screen.kept_scroll(&key) {
        scroll = scroll.vertical_scroll_offset(down);
    }
    let shown = scroll.show(ui, |ui| {
        Frame::new().inner_margin(Margin::symmetric(space::XL as i8, space::L as i8)).show(ui, |ui| {
            ui.set_max_width(ui.available_width().min(theme::PROSE_WIDTH));
            ui.spacing_mut().item_spacing.y = space::M;
            if matches!(step, Step::Part(_)) {
                // The buttons above show numbers alone.
                ui.label(RichText::new(day.step_title(step)).size(theme::font_size::HEADING).bold());
            }
            if step == day.first_step() {
                objectives_ui(ui, day);
            }
            blocks_ui(ui, screen, day, step);
            let open = screen.state.desk().filter(|desk| desk.day == day.id);
            let is_its_exercise = open.is_some_and(|desk| day.step_of_exercise(&desk.exercise) == step);
            if is_its_exercise || step == Step::CodeIt {
                hints_ui(ui, screen);
                scripts_ui(ui, screen, day);
            }
            if step == day.notes_step() {
                notes_ui(ui, screen, day);
            }
            if step == day.last_step() {
                verify_ui(ui, screen, day);
            }
            next_ui(ui, screen, day, step);
        });
        focus::follow(ui);
    });
    screen.memory.scrolls.insert(key, shown.state.unclamped_offset().y);
}

fn objectives_ui(ui: &mut Ui, day: &Unit) {
    let t = theme::tokens(ui);
    if day.objectives.is_empty() {
        return;
    }
    parts::notice(ui, t.info_soft, t.info, |ui| {
        ui.spacing_mut().item_spacing.y = space::XS;
        parts::icon_caption(ui, icons::TARGET, t.info, "After this you can");
        for objective in &day.objectives {
            ui.horizontal_top(|ui| {
                ui.label(RichText::new("•").color(t.info));
                ui.add(egui::Label::new(sentence::job(ui, objective, t.text)).wrap());
            });
        }
    });
}

fn blocks_ui(ui: &mut Ui, screen: &mut Screen<'_>, day: &Unit, step: Step) {
    let Some(section) = day.lesson.section(step) else { return };
    for (index, block) in section.blocks.iter().enumerate() {
        match block {
            Block::Markdown(text) => {
                let place = format!("{}/{}/{index}", day.id, section.id);
                screen.markdown_ui(ui, &place, text);
            }
            Block::Figure { file, svg, caption } => {
                let place = format!("{}/{}/{file}", day.id, section.id);
                screen.memory.figures.entry(place).or_default().show(ui, svg, caption);
            }
            Block::Visualization { id, caption } => visualization_ui(ui, screen, id, caption),
            Block::Experiment { name } => experiment_ui(ui, screen, day, name),
            Block::Ladder { name } => ladder_ui(ui, screen, name),
            Block::Exercise { key } => exercise_ui(ui, screen, day, key),
            Block::Answer { key } => answer::show(ui, screen, day, key),
            Block::Measure { name } => measure_ui(ui, screen, name),
            Block::Fill(table) => fill::show(ui, screen, day, table),
        }
    }
}

fn visualization_ui(ui: &mut Ui, screen: &mut Screen<'_>, id: &str, caption: &str) {
    let t = theme::tokens(ui);
    parts::notice(ui, t.raised, t.accent, |ui| {
        ui.add(egui::Label::new(sentence::job(ui, caption, t.text)).wrap());
        let title = super::work::visualization_title(id);
        let open = screen.state.view.visualization.as_deref() == Some(id);
        if open && screen.state.is_in_sight(Pane::Visualization) {
            ui.label(RichText::new(format!("{title}: shown beside this text")).color(t.text_muted));
        } else if parts::icon_button(ui, Pane::Visualization.icon(), format!("Open {title}"))
            .on_hover_text("Shows it beside this text")
            .clicked()
        {
            screen.send(Command::ShowVisualization(id.to_owned()));
        }
    });
}

fn experiment_ui(ui: &mut Ui, screen: &mut Screen<'_>, day: &Unit, name: &str) {
    let t = theme::tokens(ui);
    let Some((_, experiment)) = day.experiment(name) else { return };
    parts::notice(ui, t.raised, t.modelled, |ui| {
        ui.label(RichText::new(&experiment.title).bold());
        ui.add(egui::Label::new(sentence::job(ui, &experiment.question, t.text_muted)).wrap());
        if parts::icon_button(ui, icons::FLASK, "Open the experiment")
            .on_hover_text("Opens a separate text. Your kernel stays as it is")
            .clicked()
        {
            screen.send(Command::OpenExperiment(name.to_owned()));
        }
    });
}

/// The rungs in climbing order; each opens as a text of its own.
fn ladder_ui(ui: &mut Ui, screen: &mut Screen<'_>, name: &str) {
    let t = theme::tokens(ui);
    let course = screen.state.course.clone();
    let Some(ladder) = course.ladders.iter().find(|ladder| ladder.name == name) else { return };
    parts::notice(ui, t.raised, t.modelled, |ui| {
        ui.label(RichText::new(&ladder.title).bold());
        ui.add(egui::Label::new(sentence::job(ui, &ladder.summary, t.text_muted)).wrap());
        for (index, rung) in ladder.rungs.iter().enumerate() {
            ui.horizontal_wrapped(|ui| {
                let tooltip = "Opens a separate text to run and change. Your kernel stays as it is";
                if ui.button(format!("{}. {}", index + 1, rung.title)).on_hover_text(tooltip).clicked() {
                    screen.send(Command::OpenExperiment(rung.experiment_name(name)));
                }
                ui.add(egui::Label::new(sentence::job(ui, &rung.change, t.text)).wrap());
            });
        }
        let command = format!("lockstep bench --ladder {name} --device gpu");
        ui.add(egui::Label::new(RichText::new(command).monospace().small().color(t.text_muted)).wrap());
    });
}

fn exercise_ui(ui: &mut Ui, screen: &mut Screen<'_>, day: &Unit, key: &str) {
    let t = theme::tokens(ui);
    let Some(exercise) = day.exercise_by_key(key) else { return };
    let passed = screen.state.progress.exercise(day, key).is_some_and(|exercise| exercise.passed.is_some());
    let open = screen.state.desk().is_some_and(|desk| desk.exercise == key);
    parts::notice(ui, t.raised, if passed { t.pass } else { t.accent }, |ui| {
        ui.horizontal(|ui| {
            ui.label(RichText::new(&exercise.spec.title).bold());
            if passed {
                parts::chip(ui, "✔ passed", t.pass, t.pass_soft);
            }
        });
        if open {
            ui.horizontal_wrapped(|ui| {
                icons::show(ui, Pane::Editor.icon(), t.text_muted);
                ui.label(RichText::new("In the editor now.").color(t.text_muted));
                if !passed {
                    let text = format!("Write it there, then press Check ({}).", Action::Check.shortcut_text(ui.ctx()));
                    ui.label(text);
                }
                // A link that is broken over two lines would be two things to a screen reader, one without a name.
                ui.style_mut().wrap_mode = Some(egui::TextWrapMode::Extend);
                let desk = screen.state.desk().filter(|desk| desk.loaded && desk.experiment.is_none());
                if desk.is_some_and(|desk| desk.editor.text() != exercise.scaffold) {
                    let tooltip = Action::ResetToScaffold.tooltip(ui.ctx());
                    if ui.link("Back to the scaffold").on_hover_text(tooltip).clicked() {
                        screen.commands.push(Command::Do(Action::ResetToScaffold));
                    }
                }
                if screen.state.view.dock.layout() == Layout::Read {
                    let wider = format!("Give the editor more room ({})", Action::LayoutCode.shortcut_text(ui.ctx()));
                    if ui.link(wider).on_hover_text(Action::LayoutCode.info().tooltip).clicked() {
                        screen.commands.push(Command::Do(Action::LayoutCode));
                    }
                }
            });
        } else if parts::icon_button(ui, Pane::Editor.icon(), "Open in the editor").clicked() {
            screen.send(Command::OpenExercise(key.to_owned()));
        }
    });
}

/// Hints one after the other, and the solution behind them.
fn hints_ui(ui: &mut Ui, screen: &mut Screen<'_>) {
    let t = theme::tokens(ui);
    let state = screen.state;
    let (Some(exercise), Some(desk)) = (state.exercise(), state.desk()) else { return };
    let shown = state.hints_shown();
    let steps = &exercise.hints.steps;
    ui.separator();
    ui.label(RichText::new("Stuck?").bold());
    for (index, hint) in steps.iter().take(shown).enumerate() {
        let top = ui.cursor().min;
        parts::notice(ui, t.warn_soft, t.warn, |ui| {
            parts::icon_caption(ui, icons::LIGHTBULB, t.warn, &format!("Hint {} of {}", index + 1, steps.len()));
            let place = format!("hint/{}/{}/{index}", desk.day, desk.exercise);
            screen.markdown_ui(ui, &place, hint);
        });
        if index + 1 == shown && screen.comes_into_view(Sight::Hint) {
            let whole = egui::Rect::from_min_max(top, egui::pos2(ui.min_rect().right(), ui.cursor().top()));
            ui.scroll_to_rect(whole, None);
        }
    }
    ui.horizontal(|ui| {
        if shown < steps.len() {
            let text =
                if shown == 0 { "Show a hint".to_owned() } else { format!("Next hint ({} more)", steps.len() - shown) };
            if parts::icon_button(ui, icons::LIGHTBULB, text)
                .on_hover_text(Action::NextHint.tooltip(ui.ctx()))
                .clicked()
            {
                screen.send(Command::Do(Action::NextHint));
            }
        }
        let unlocked = screen.state.solution_unlocked();
        let icon = if unlocked { icons::LIGHTBULB } else { icons::LOCK };
        let tooltip = if unlocked { "Opens beside your text" } else { "Opens when your kernel passes, or on request" };
        let name = if unlocked { "Show the solution" } else { "Show the solution (locked)" };
        let button = parts::icon_button(ui, icon, "Show the solution");
        button.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, name));
        if button.on_hover_text(tooltip).clicked() {
            screen.send(Command::Do(Action::ShowSolution));
        }
    });
}

/// Python steps beside the kernel; never needed to pass.
fn scripts_ui(ui: &mut Ui, screen: &mut Screen<'_>, day: &Unit) {
    let t = theme::tokens(ui);
    let scripts: Vec<_> = day.exercises.iter().flat_map(|exercise| &exercise.scripts).collect();
    if scripts.is_empty() {
        return;
    }
    ui.separator();
    ui.label(RichText::new("The same in Python").bold());
    for script in scripts {
        ui.label(&script.title);
        let needs = if script.packages.is_empty() {
            "Needs only Python.".to_owned()
        } else {
            format!("Needs {}.", script.packages.join(", "))
        };
        let text = format!("{needs} It runs with your own Python (Settings), and no exercise depends on it.");
        ui.add(egui::Label::new(RichText::new(text).small().color(t.text_muted)).wrap());
        script_ui(ui, screen, day, &script.file);
        CollapsingHeader::new(format!("Show {}", script.file)).id_salt(&script.file).show(ui, |ui| {
            screen.markdown_ui(
                ui,
                &format!("rung/{}/{}", day.id, script.file),
                &format!("```python\n{}```\n", script.source),
            );
        });
    }
}

/// Runs a script and shows what it found.
fn script_ui(ui: &mut Ui, screen: &mut Screen<'_>, day: &Unit, file: &str) {
    let key = ScriptKey { day: day.id.clone(), file: file.to_owned() };
    let start = Start {
        what: "The script",
        button: "Run the script",
        tooltip: format!("Runs {file} with your own Python"),
        stop: "Stop the script",
        command: Command::RunScript(file.to_owned()),
    };
    run_ui(ui, screen, &key, start);
}

/// Measures this machine with one of Lockstep's own programs.
fn measure_ui(ui: &mut Ui, screen: &mut Screen<'_>, name: &str) {
    let t = theme::tokens(ui);
    let Some(program) = crate::measure::find(name) else { return };
    parts::notice(ui, t.raised, t.measured, |ui| {
        ui.label(RichText::new(program.title).bold());
        ui.add(egui::Label::new(RichText::new(program.what).color(t.text_muted)).wrap());
        let start = Start {
            what: "The measurement",
            button: "Measure",
            tooltip: format!("Runs on this machine, in a process of its own; in a terminal: lockstep measure {name}"),
            stop: "Stop measuring",
            command: Command::RunProgram(name.to_owned()),
        };
        let key = ScriptKey::of_program(name);
        run_ui(ui, screen, &key, start);
        let figures = screen.state.scripts.get(&key).map_or(&[][..], |run| &run.figures);
        if !figures.is_empty() && !program.goals.is_empty() {
            ui.add_space(space::S);
            parts::caption(ui, "Milestones");
            for goal in program.goals {
                let (reached, because) = goal.judge(figures).unzip();
                let because = because.unwrap_or_else(|| "not measured yet".to_owned());
                parts::milestone(ui, goal.name, reached, &because);
                ui.label(RichText::new(goal.note).small().color(t.text_muted));
            }
        }
    });
}

/// What starts and stops a run.
struct Start {
    /// For messages, `The script`.
    what: &'static str,
    button: &'static str,
    tooltip: String,
    stop: &'static str,
    command: Command,
}

/// A run's button, and what it found when it ran last.
fn run_ui(ui: &mut Ui, screen: &mut Screen<'_>, key: &ScriptKey, start: Start) {
    let t = theme::tokens(ui);
    let run = screen.state.scripts.get(key).cloned().unwrap_or_default();
    let file = &key.file;
    ui.horizontal(|ui| {
        if !run.running {
            if parts::icon_button(ui, icons::PLAY, start.button).on_hover_text(start.tooltip).clicked() {
                screen.send(start.command);
            }
            return;
        }
        parts::busy(ui);
        ui.label(format!("Running {file}"));
        if ui.button(start.stop).clicked() {
            screen.send(Command::StopScript);
        }
    });
    if let Some(problem) = &run.problem {
        parts::notice(ui, t.fail_soft, t.fail, |ui| {
            ui.add(egui::Label::new(format!("{} failed: {problem}", start.what)).wrap());
        });
    }
    for line in &run.said {
        ui.add(egui::Label::new(RichText::new(line).monospace().small()).wrap());
    }
    if run.figures.is_empty() {
        return;
    }
    let share = |figure: &crate::scripts::Figure| crate::measure::share_of_ceiling(figure, &run.figures);
    let has_ceiling = run.figures.iter().any(|figure| share(figure).is_some());
    // In a lesson's column every letter counts.
    let size = |figure: &crate::scripts::Figure| figure.name.strip_prefix("n = ").map(str::to_owned);
    let is_edge = run.figures.iter().all(|figure| size(figure).is_some());
    let names = [if is_edge { "n" } else { "Size" }, "Program", "Time", "Rate", "Of ceiling"];
    let names = &names[..if has_ceiling { 5 } else { 4 }];
    let grid = egui::Grid::new(("rung", &key.day, file));
    let grid = grid.num_columns(names.len()).spacing([space::M, space::XS]).striped(true);
    let wide = Sideways { name: "Measurements", width: ui.available_width(), signs: true };
    wide.show(ui, ("rung", &key.day, file), |ui| {
        grid.show(ui, |ui| {
            for name in names {
                parts::caption(ui, name);
            }
            ui.end_row();
            for figure in &run.figures {
                ui.label(size(figure).filter(|_| is_edge).unwrap_or_else(|| figure.name.clone()));
                let (mark, color) = if figure.ok { ("✔", t.pass) } else { ("✖ wrong:", t.fail) };
                ui.horizontal(|ui| {
                    ui.label(RichText::new(mark).color(color));
                    ui.spacing_mut().item_spacing.x = space::XS;
                    ui.label(figure.rung.strip_prefix("CPU, ").unwrap_or(&figure.rung));
                });
                match (figure.median_ms, figure.gflops) {
                    (Some(ms), _) => ui.label(RichText::new(parts::time(1e6 * ms)).monospace().small()),
                    (None, Some(_)) => ui.label(""),
                    (None, None) => ui.label(RichText::new("not timed").color(t.text_muted)),
                };
                ui.label(RichText::new(rate_words(figure)).monospace().small());
                if has_ceiling {
                    let words = share(figure).map(|share| format!("{:.1} %", 100.0 * share)).unwrap_or_default();
                    ui.label(RichText::new(words).monospace().small());
                }
                ui.end_row();
            }
        });
    });
    // Once for all rows: a processor's name is longer than everything else in one.
    let mut devices: Vec<&str> = run.figures.iter().map(|figure| figure.device.as_str()).collect();
    devices.dedup();
    devices.sort_unstable();
    devices.dedup();
    let timed = run.figures.iter().any(|figure| figure.median_ms.is_some());
    let plots = if timed { " The rates are under Plots too." } else { "" };
    let when = run.date().map(|date| format!(" Measured on {date}.")).unwrap_or_default();
    let words = format!("On {}.{when}{plots}", devices.join("; "));
    ui.add(egui::Label::new(RichText::new(words).small().color(t.text_muted)).wrap());
}

fn rate_words(figure: &crate::scripts::Figure) -> String {
    use crate::widgets::plot_kit::si;
    let rate = figure.gflops.map(|rate| si(rate * 1e9, "FLOP/s"));
    rate.or_else(|| figure.gbps.map(|rate| si(rate * 1e9, "B/s"))).unwrap_or_default()
}

/// The day's formulas and words, at the end of what explains them.
fn notes_ui(ui: &mut Ui, screen: &mut Screen<'_>, day: &Unit) {
    if !day.math.is_empty() {
        ui.separator();
        ui.label(RichText::new("Formulas").bold());
        for entry in &day.math {
            let text = format!("**{}**: ${}$. {}", entry.name, entry.formula, entry.meaning);
            screen.markdown_ui(ui, &format!("math/{}/{}", day.id, entry.name), &text);
        }
    }
    if !day.glossary.is_empty() {
        ui.separator();
        ui.label(RichText::new("Words").bold());
        for entry in &day.glossary {
            let text = format!("**{}**: {}", entry.term, entry.meaning);
            screen.markdown_ui(ui, &format!("word/{}/{}", day.id, entry.term), &text);
        }
    }
}

fn verify_ui(ui: &mut Ui, screen: &mut Screen<'_>, day: &Unit) {
    restore(screen, day);
    if !day.quiz.questions.is_empty() {
        ui.separator();
        ui.label(RichText::new("Quiz").size(theme::font_size::HEADING).bold());
        let key = screen.state.quiz_key(&day.id);
        let quiz_state = screen.memory.quizzes.entry(key).or_default();
        for action in quiz::show(ui, &day.quiz, quiz_state) {
            screen.commands.push(match action {
                QuizAction::Answered { question, correct, given } => Command::Answered { question, correct, given },
                QuizAction::TriedAgain { question, given } => {
                    Command::TriedAgain { day: Some(day.id.clone()), question, given }
                }
                QuizAction::Run { question, run } => {
                    Command::Predict { day: day.id.clone(), question, run: Box::new(run) }
                }
                QuizAction::OpenLink(target) => Command::OpenLink(target),
            });
        }
    }
    if !day.reflection.is_empty() {
        ui.separator();
        ui.label(RichText::new("Reflection").size(theme::font_size::HEADING).bold());
        reflections(ui, screen, day);
    }
    links_ui(ui, day, screen);
}

/// Puts the answers of earlier days into the quiz, once.
fn restore(screen: &mut Screen<'_>, day: &Unit) {
    let key = screen.state.quiz_key(&day.id);
    if !screen.memory.restored.insert(key.clone()) {
        return;
    }
    if let Some(progress) = screen.state.progress.days.get(&day.id) {
        let quiz_state = screen.memory.quizzes.entry(key.clone()).or_default();
        for (question, answer) in &progress.answers {
            quiz_state.restore(&day.quiz, question, answer);
        }
        let written = screen.memory.reflections.entry(key).or_default();
        for (id, text) in &progress.reflections {
            written.restore(id, text.clone());
        }
    }
}

fn reflections(ui: &mut Ui, screen: &mut Screen<'_>, day: &Unit) {
    let key = screen.state.quiz_key(&day.id);
    let written = screen.memory.reflections.entry(key).or_default();
    for id in quiz::reflections_ui(ui, &day.reflection, written) {
        let text = written.written(&id).to_owned();
        screen.commands.push(Command::Reflect { id, text });
    }
}

fn links_ui(ui: &mut Ui, day: &Unit, screen: &mut Screen<'_>) {
    let t = theme::tokens(ui);
    if day.links.is_empty() {
        return;
    }
    ui.separator();
    ui.label(RichText::new("Read on").bold());
    for link in &day.links {
        // What it is good for stands nearer to its link than to the next.
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = space::XXS;
            ui.spacing_mut().interact_size.y = 0.0;
            if ui.link(&link.title).on_hover_text(&link.url).clicked() {
                screen.send(Command::OpenLink(link.url.clone()));
            }
            ui.add(egui::Label::new(RichText::new(&link.why).small().color(t.text_muted)).wrap());
        });
    }
}

/// The way to the next step.
fn next_ui(ui: &mut Ui, screen: &mut Screen<'_>, day: &Unit, step: Step) {
    let next = day.step_after(step);
    ui.add_space(space::M);
    match next {
        Some(next) => {
            let text = format!("Next: {} ›", day.step_title(next));
            if ui.button(text).on_hover_text("Opens the next step, and ticks a reading step as done").clicked() {
                screen.send(Command::ShowStep(next));
            }
        }
        None if day.day().is_none() => {}
        None => {
            if ui.button("Next day ›").on_hover_text(Action::NextDay.tooltip(ui.ctx())).clicked() {
                screen.send(Command::Do(Action::NextDay));
            }
        }
    }
    ui.add_space(space::XL);
}
