//! What background work found, turned into state.

use crate::effect::{Effect, Update};
use crate::scripts::Line;
use crate::state::{Compiler, State, ToastKind};

/// Printed lines of a script that are kept beside its figures.
const SCRIPT_LINES: usize = 50;
/// Figures of a script that are kept.
const SCRIPT_FIGURES: usize = 4096;

impl State {
    /// Takes in one finding.
    pub fn update(&mut self, update: Update) -> Vec<Effect> {
        let mut effects = Vec::new();
        match update {
            Update::Loaded { slot, text, past, runs, kept } => {
                let now_s = self.now_s;
                if let Some(desk) = self.desks.get_mut(&slot).filter(|desk| !desk.loaded) {
                    desk.editor = crate::widgets::code_editor::Editor::with_past(text, past);
                    desk.loaded = true;
                    desk.journalled = desk.editor.version();
                    desk.runs = runs;
                    desk.compile_at_s = Some(now_s);
                    self.recall(&slot, kept.map(|kept| *kept));
                }
            }
            Update::RunText { slot, sum, text } => self.run_was_read(&slot, sum, text),
            Update::OpenedElsewhere { slot, path } => self.opened_elsewhere(&slot, path),
            Update::LostElsewhere { slot, path } => self.lost_elsewhere(&slot, &path),
            Update::SavedElsewhere { slot, text, how } => self.saved_elsewhere(&slot, text, how, &mut effects),
            Update::Disassembler(came) => {
                self.disassembler_came(came, &mut effects);
                self.look_around(&mut effects);
            }
            Update::Formatted { slot, version, result } => self.formatted(&slot, version, result, &mut effects),
            Update::Profiled { slot, result } => {
                if let Some(desk) = self.desks.get_mut(&slot) {
                    match result {
                        Ok(profiled) => desk.profiled = crate::state::Loadable::Ready(*profiled),
                        Err(problem) => desk.profiled.fail(problem),
                    }
                }
            }
            Update::Imported(Ok((name, text))) => {
                self.replace_text(text, &format!("{name} is in the editor. Undo restores your text"), &mut effects);
            }
            Update::Exported(Ok(Some(path))) => {
                self.toast(ToastKind::Good, format!("Saved {}", path.display()));
            }
            Update::Exported(Ok(None)) => {}
            Update::Imported(Err(problem)) | Update::Exported(Err(problem)) | Update::Problem(problem) => {
                self.toast(ToastKind::Bad, problem);
            }
            Update::Unsaved(problem) => {
                if problem.is_none() && self.unsaved.is_some() {
                    self.toast(ToastKind::Good, "Everything is saved again");
                }
                self.unsaved = problem;
            }
            Update::Compiler(compiler) => {
                let found = matches!(compiler, Compiler::Found { .. });
                let installed = matches!(self.compiler, Compiler::Installing { .. }) && found;
                self.compiler = compiler;
                if installed {
                    self.toast(ToastKind::Good, "The CUDA compiler is ready");
                    effects.push(Effect::RestartLab);
                }
                if found && self.ready.value().is_some() {
                    // The ready check says what is there now, not what was missing.
                    self.look_around(&mut effects);
                }
                if found {
                    let now_s = self.now_s;
                    if let Some(desk) = self.desk_mut().filter(|desk| desk.compiled.value().is_none()) {
                        desk.compile_at_s = Some(now_s);
                    }
                }
            }
            Update::ScriptLine(key, line) => {
                let script = self.scripts.entry(key).or_default();
                match line {
                    Line::Figure(figure) if script.figures.len() < SCRIPT_FIGURES => script.figures.push(figure),
                    Line::Figure(_) => {}
                    Line::Said(text) if script.said.len() < SCRIPT_LINES => script.said.push(text),
                    Line::Said(_) => {}
                }
            }
            Update::ScriptEnded(key, ended) => {
                let now_unix_s = self.now_unix_s;
                if self.scripts.entry(key).or_default().end(ended, now_unix_s) {
                    effects.push(Effect::SaveMeasured);
                }
            }
            Update::Course(Ok(course)) => {
                self.course = course;
                self.course_problem = None;
                self.search.index = None;
                self.look_up_again(&mut effects);
                self.desks.clear();
                self.desk = None;
                let open = self.view.day.clone().filter(|id| self.course.unit_by_id(id).is_some());
                if let Some(id) = open.or_else(|| first_day(&self.course)) {
                    self.open_day(&id, &mut effects);
                }
            }
            Update::Course(Err(problem)) => self.course_problem = Some(problem),
            Update::Ready(items) => {
                self.ready = crate::state::Loadable::Ready(items);
            }
            Update::Ceilings(measured) => self.devices.ceilings = measured,
            Update::Index(index) => {
                self.search.index = Some(index);
                self.look_up_again(&mut effects);
            }
            Update::StateExported(Ok(Some((count, path)))) => {
                self.toast(
                    ToastKind::Good,
                    match count {
                        1 => format!("1 file is in {}", path.display()),
                        _ => format!("{count} files are in {}", path.display()),
                    },
                );
            }
            Update::StateImported(Ok(Some((learner, offered)))) => {
                self.take_over(*learner, &mut effects);
                if !offered.is_empty() {
                    let offered = offered.into_iter().map(|offered| (offered, false)).collect();
                    self.dialog = Some(crate::state::Dialog::OfferPrograms(offered));
                }
                self.toast(ToastKind::Good, "Imported. What it replaced is in the folder aside");
            }
            Update::StateExported(Ok(None)) | Update::StateImported(Ok(None)) => {}
            Update::StateExported(Err(problem)) => {
                self.toast(ToastKind::Bad, format!("Not exported: the file {problem}"));
            }
            Update::StateImported(Err(problem)) => {
                self.toast(ToastKind::Bad, format!("Not imported: {problem}"));
            }
            Update::Profiles(names) => {
                self.dialog = Some(crate::state::Dialog::Profiles { names, new: String::new() });
            }
            Update::ProfileOpened(name, opened) => {
                self.profile = name;
                self.take_over(opened.learner, &mut effects);
                let text = self
                    .profile
                    .as_deref()
                    .map_or("Your own profile is open".to_owned(), |name| format!("The profile {name} is open"));
                self.toast(ToastKind::Good, text);
            }
        }
        effects
    }
}

/// The day to open when nothing is known: the first that is written, else the first.
pub(crate) fn first_day(course: &curriculum::Course) -> Option<String> {
    let written = course.days().find(|day| day.is_written());
    written.or_else(|| course.days().next()).map(|day| day.id.clone())
}
