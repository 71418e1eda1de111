//! Command and event to state: the only place that changes it. What must happen outside comes back as effects.

mod dock;
mod elsewhere;
mod engine;
mod find;
mod heat;
mod learner;
mod mystery;
mod open;
mod recall;
mod rename;
mod run;
mod sandbox;
mod settings;
mod update;
mod versions;

pub(crate) use update::first_day;

use crate::command::{Action, Command};
use crate::dock::Layout;
use crate::effect::Effect;
use crate::state::{Dialog, Pane, PlotWish, Sight, State, Toast, ToastKind};
use crate::widgets::code_editor::EditorAction;

/// Seconds that a toast stays.
const TOAST_S: f64 = 6.0;

/// Seconds after the last key before the text is compiled for its errors.
///
/// Long enough to end a word, short enough that 0.3 s hold this, a small kernel's compilation (35 ms) and two frames.
pub const COMPILE_DELAY_S: f64 = 0.12;

impl State {
    /// Carries out one command.
    pub fn apply(&mut self, command: Command) -> Vec<Effect> {
        let mut effects = Vec::new();
        self.carry_out(command, &mut effects);
        effects
    }

    fn carry_out(&mut self, command: Command, effects: &mut Vec<Effect>) {
        match command {
            Command::Do(action) => self.act(action, effects),
            Command::OpenDay(id) => self.open_day(&id, effects),
            Command::OpenLink(target) => self.open_link(&target, effects),
            Command::ShowStep(step) => self.show_step(step, effects),
            Command::ShowPane(pane) => self.show_pane(pane, effects),
            Command::ClosePane(pane) => self.close_pane(pane, effects),
            Command::Arrange(root) => {
                self.view.dock.arrange(*root);
                effects.push(Effect::SaveWindow);
            }
            Command::SetScreen { screen, narrow, low } => {
                self.view.dock.set_screen(&screen);
                self.view.dock.set_narrow(narrow);
                self.view.dock.set_low(low);
            }
            Command::ShowVisualization(id) => {
                self.view.visualization = Some(id);
                self.show_pane(Pane::Visualization, effects);
            }
            Command::OpenExercise(key) => self.open_exercise(&key, effects),
            Command::OpenExperiment(name) => self.open_experiment(&name, effects),
            Command::TurnKnob { name, value } => self.turn_knob(&name, value, effects),
            Command::OpenInEditor(text) => self.replace_text(text, "Text replaced; Undo restores yours", effects),
            Command::Edit(action) => self.edit(&action, effects),
            Command::GoToLine { line, column } => {
                self.view.dock.show(Pane::Editor);
                self.edit(&EditorAction::GoTo { line, column }, effects);
                self.focus(Pane::Editor);
            }
            Command::FocusPane(pane) => self.focus(pane),
            Command::PressPane(pane) => self.view.focus.0 = pane,
            Command::CloseFind => self.close_find(effects),
            Command::SetSandboxSize { name, value } => {
                self.sandbox.size.insert(name, value);
            }
            Command::SetSandboxKernel(name) => self.sandbox.kernel = Some(name),
            Command::SetNewName(text) => self.set_new_name(text),
            Command::SetFind { query, replacement, match_case, whole_word, regex } => {
                self.set_find(query, replacement, match_case, whole_word, regex, effects);
            }
            Command::SetAgainst(against) => {
                self.view.against = against;
                self.read_version(against, effects);
            }
            Command::ReadVersion(against) => self.read_version(against, effects),
            Command::SetListing(listing) => self.view.listing = listing,
            Command::FetchListing => self.fetch_listing(effects),
            Command::InstallDisassembler => self.install_disassembler(effects),
            Command::PickDevice(key) => self.pick_device(key, effects),
            Command::CloseDialog => {
                self.dialog = None;
                self.focus_work();
            }
            Command::SetPaletteQuery(query) => self.dialog = Some(Dialog::Palette { query }),
            Command::SetGoToLine(text) => self.dialog = Some(Dialog::GoToLine { text }),
            Command::SetSettingsDraft(draft) => self.dialog = Some(Dialog::Settings(draft)),
            Command::SaveSettings => self.save_settings(effects),
            Command::ConfirmDialog => self.confirm(effects),
            Command::InstallCompiler => self.install_compiler(effects),
            Command::StopInstall => effects.push(Effect::StopInstall),
            Command::LookForCompiler => effects.push(Effect::LookForCompiler),
            Command::HideCompilerBanner => self.compiler_banner_hidden = true,
            Command::RunScript(file) => self.run_script(&file, effects),
            Command::RunProgram(name) => self.run_program(&name, effects),
            Command::Decode { cache, own } => self.decode(cache, own, effects),
            Command::StopScript => effects.push(Effect::StopScript),
            Command::Answered { question, correct, given } => self.answered(&question, correct, given, effects),
            Command::ReadyAnswered { question, correct, given } => {
                self.progress.ready_answered(&question, correct, given);
                effects.push(Effect::SaveProgress);
            }
            Command::TriedAgain { day, question, given } => {
                self.tried_again(day.as_deref(), &question, given, effects);
            }
            Command::CountMystery { exercise, mystery } => self.count_mystery(&exercise, &mystery, effects),
            Command::MysteriesSolved(exercise) => self.mysteries_solved(&exercise, effects),
            Command::Predict { day, question, run } => self.predict(day, question, *run, effects),
            Command::FillTable { day, table, typed } => self.fill_table(&day, table, typed, effects),
            Command::Reflect { id, text } => self.reflect(&id, text, effects),
            Command::MarkStepDone(step) => self.mark_step(step, effects),
            Command::DismissToast(id) => self.toasts.retain(|toast| toast.id != id),
            Command::SetSearch(query) => self.set_search(query, effects),
            Command::OpenHit(hit) => self.open_hit(&hit, effects),
            Command::Reviewed { day, question, correct, given } => {
                effects.extend(self.answered_of(&day, &question, correct, given));
            }
            Command::EndReview => self.review.clear(),
            Command::LookAround => self.look_around(effects),
            Command::ShowTour(step) => self.show_tour(step, effects),
            Command::EndTour => self.end_tour(effects),
            Command::SetProfileName(name) => self.set_profile_name(name),
            Command::WantProgram(index, wanted) => self.want_program(index, wanted),
            Command::SwitchProfile(name) => self.switch_profile(name, effects),
            Command::SavePage { name, text } => effects.push(Effect::SavePage { name, text }),
            Command::SavePicture { name, area } => effects.push(Effect::SavePicture { name, area }),
            Command::Say(text) => self.toast(ToastKind::Info, text),
            Command::OpenRun(number) => {
                let run =
                    self.desk().and_then(|desk| Some((desk.slot.clone(), desk.runs.get(number as usize - 1)?.clone())));
                if let Some((slot, run)) = run {
                    effects.push(Effect::LoadRun { slot, run: Box::new(run), number });
                }
            }
            Command::CopyText(text) => {
                effects.push(Effect::Copy(text));
                self.toast(ToastKind::Info, "Copied");
            }
        }
    }

    fn act(&mut self, action: Action, effects: &mut Vec<Effect>) {
        if let Some(edit) = action.editor_action() {
            return self.edit(&edit, effects);
        }
        match action {
            Action::Check if self.desk.as_ref().is_some_and(crate::sandbox::is_free) => self.run_sandbox(effects),
            Action::Check => self.start_check(effects),
            Action::Benchmark if self.desk.as_ref().is_some_and(crate::sandbox::is_free) => {
                self.toast(ToastKind::Info, "The sandbox has no benchmark: Check runs the kernel and counts its work");
            }
            Action::Benchmark => self.start_bench(effects),
            Action::Profile => self.profile(effects),
            Action::Stop => self.stop(effects),
            Action::ImportKernel => {
                if self.desk().is_some() {
                    effects.push(Effect::PickImport);
                }
            }
            Action::ExportKernel => {
                if let Some(desk) = self.desk() {
                    let name = format!("{}.cu", desk.day);
                    effects.push(Effect::PickExport { name, text: desk.editor.text().to_owned() });
                }
            }
            Action::OpenElsewhere => self.open_elsewhere(effects),
            Action::CloseElsewhere => self.close_elsewhere(effects),
            Action::ResetToScaffold => self.ask(Dialog::ConfirmReset),
            Action::Quit if self.would_lose() => self.ask(Dialog::ConfirmQuit),
            Action::Quit => effects.push(Effect::Quit),
            Action::Find => self.open_find(false),
            Action::Replace => self.open_find(true),
            Action::FindNext => self.step_find(true, effects),
            Action::FindPrevious => self.step_find(false, effects),
            Action::GoToLine => self.ask(Dialog::GoToLine { text: String::new() }),
            Action::NextProblem => {
                let next = self.desk().and_then(|desk| {
                    let line = desk.editor.cursor_position().0 as u32;
                    desk.editor.marks.next_after(line).map(|mark| (mark.line, mark.column))
                });
                match next {
                    Some((line, column)) => self.carry_out(Command::GoToLine { line, column }, effects),
                    // What the compiler says of the text as a whole has no line to go to.
                    None if self.desk().is_some_and(|desk| desk.problem_count() > 0) => {
                        self.show_pane(Pane::Problems, effects);
                    }
                    None => self.toast(ToastKind::Good, "No problems in this text"),
                }
            }
            Action::NextHint => self.next_hint(effects),
            Action::ShowSolution => {
                if self.solution_unlocked() {
                    self.show_pane(Pane::Solution, effects);
                } else if self.exercise().is_some() {
                    self.ask(Dialog::ConfirmSolution);
                }
            }
            Action::PreviousDay => self.open_neighbour(false, effects),
            Action::NextDay => self.open_neighbour(true, effects),
            Action::StepChallenge => self.show_nth_step(0, effects),
            Action::StepExplore => self.show_nth_step(1, effects),
            Action::StepConcept => self.show_nth_step(2, effects),
            Action::StepCodeIt => self.show_nth_step(3, effects),
            Action::StepVerify => self.show_nth_step(4, effects),
            Action::NextPane => self.cycle_pane(true),
            Action::PreviousPane => self.cycle_pane(false),
            Action::ToggleCourse => self.toggle_panes(&[Pane::Course], effects),
            Action::ToggleLesson => self.toggle_panes(&[Pane::Lesson], effects),
            Action::ToggleResults => self.toggle_panes(&Pane::RESULTS, effects),
            Action::LayoutRead => self.set_layout(Layout::Read, effects),
            Action::LayoutCode => self.set_layout(Layout::Code, effects),
            Action::LayoutProfile => self.set_layout(Layout::Profile, effects),
            Action::ResetLayout
            | Action::ClosePane
            | Action::MovePane
            | Action::WidenPane
            | Action::NarrowPane
            | Action::HeightenPane
            | Action::LowerPane => self.rearrange(action, effects),
            Action::ShowVisualization => self.show_and_focus(Pane::Visualization, effects),
            Action::NextDifference | Action::PreviousDifference => {
                if self.is_in_sight(Pane::Compare) {
                    self.view.difference += if action == Action::NextDifference { 1 } else { -1 };
                } else {
                    self.show_and_focus(Pane::Compare, effects);
                }
            }
            Action::ShowCompare => self.show_and_focus(Pane::Compare, effects),
            Action::ShowCompiled => self.show_and_focus(Pane::Compiled, effects),
            Action::ShowPlots => self.show_and_focus(Pane::Timing, effects),
            Action::CopyPlot => self.want_plot(PlotWish::Csv, effects),
            Action::SavePlotSvg => self.want_plot(PlotWish::Svg, effects),
            Action::SavePlotPng => self.want_plot(PlotWish::Png, effects),
            Action::ShowLog => self.show_and_focus(Pane::Log, effects),
            Action::ClearLog => self.log.clear(),
            Action::ShowProgress => self.show_and_focus(Pane::Progress, effects),
            Action::ShowGallery => self.show_and_focus(Pane::Gallery, effects),
            Action::ShowGlossary => self.show_and_focus(Pane::Glossary, effects),
            Action::Sandbox => self.open_sandbox(effects),
            Action::FullSize => self.toggle_full(),
            Action::LineColors => self.view.line_colors = !self.view.line_colors,
            Action::Rename => self.ask_new_name(),
            Action::Format => self.format(effects),
            Action::QuickFix => self.quick_fix(effects),
            Action::SearchCourse => self.open_search(effects),
            Action::Review => self.begin_review(effects),
            Action::ResetDay => self.ask(Dialog::ConfirmResetDay),
            Action::ExportState => effects.push(Effect::ExportState),
            Action::ImportState => self.ask(Dialog::ConfirmImport),
            Action::Profiles => effects.push(Effect::ListProfiles),
            Action::Projector => {
                self.settings.projector = !self.settings.projector;
                effects.extend([Effect::ApplyLook, Effect::SaveSettings]);
            }
            Action::ReducedMotion => {
                self.settings.reduced_motion = !self.settings.reduced_motion;
                effects.extend([Effect::ApplyLook, Effect::SaveSettings]);
            }
            Action::WrapLines => {
                self.settings.wrap_lines = !self.settings.wrap_lines;
                effects.push(Effect::SaveSettings);
            }
            Action::ShowCourseMap => {
                self.view.visualization = Some("course-map".to_owned());
                self.show_and_focus(Pane::Visualization, effects);
            }
            Action::CloseBrackets => {
                self.settings.close_brackets = !self.settings.close_brackets;
                effects.push(Effect::SaveSettings);
            }
            Action::SaveCheatSheet => {
                let text = crate::cheat_sheet::page();
                effects.push(Effect::SavePage { name: "lockstep-keys.html".to_owned(), text });
            }
            Action::Tour => self.show_tour(0, effects),
            Action::ReadyCheck => {
                self.show_and_focus(Pane::Ready, effects);
                self.look_around(effects);
            }
            Action::ThemeDark => self.set_theme(curriculum::store::ThemeChoice::Dark, effects),
            Action::ThemeLight => self.set_theme(curriculum::store::ThemeChoice::Light, effects),
            Action::ThemeSystem => self.set_theme(curriculum::store::ThemeChoice::System, effects),
            Action::ZoomIn => self.zoom(self.settings.scale + 0.1, effects),
            Action::ZoomOut => self.zoom(self.settings.scale - 0.1, effects),
            Action::ZoomReset => self.zoom(1.0, effects),
            Action::Settings => self.open_settings(),
            Action::Palette => self.ask(Dialog::Palette { query: String::new() }),
            Action::Shortcuts => self.ask(Dialog::Shortcuts),
            Action::About => self.ask(Dialog::About),
            // The editor's, done above.
            Action::Undo
            | Action::Redo
            | Action::Complete
            | Action::Parameters
            | Action::Explain
            | Action::FoldHints
            | Action::ToggleComment
            | Action::DuplicateLine
            | Action::DeleteLine
            | Action::MoveLineUp
            | Action::MoveLineDown
            | Action::GoToDefinition => {}
        }
    }

    /// The pane of the plots does it in its next frame: it knows which plot is shown.
    fn want_plot(&mut self, wish: PlotWish, effects: &mut Vec<Effect>) {
        if self.desk().is_none() {
            return self.toast(ToastKind::Info, "This day has no kernel, so there is no plot");
        }
        self.show_pane(Pane::Timing, effects);
        self.view.plot = Some((wish, self.view.plot.map_or(0, |(_, generation)| generation) + 1));
    }

    fn ask(&mut self, dialog: Dialog) {
        self.dialog = Some(dialog);
    }

    fn confirm(&mut self, effects: &mut Vec<Effect>) {
        match self.dialog.take() {
            Some(Dialog::ConfirmSolution) => self.unlock_solution(effects),
            Some(Dialog::ConfirmReset) => {
                if let Some(scaffold) = self.scaffold().map(str::to_owned) {
                    self.replace_text(scaffold, "Back to the scaffold; Undo restores your text", effects);
                }
            }
            Some(Dialog::ConfirmResetDay) => self.reset_day(effects),
            Some(Dialog::ConfirmImport) => effects.push(Effect::ImportState),
            Some(Dialog::ConfirmScript { file, .. }) => self.allow_script(&file, effects),
            Some(Dialog::OfferPrograms(offered)) => self.take_programs(&offered, effects),
            Some(Dialog::ConfirmQuit) => {
                self.leaves_unsaved = true;
                effects.push(Effect::Quit);
            }
            Some(Dialog::Profiles { new, .. }) => self.switch_profile(Some(new), effects),
            Some(Dialog::Rename { old, new }) => self.rename(&old, &new, effects),
            Some(Dialog::GoToLine { text }) => {
                // `12` or `12:5`.
                let mut parts = text.trim().splitn(2, ':');
                let line = parts.next().and_then(|line| line.trim().parse::<u32>().ok());
                let column = parts.next().and_then(|column| column.trim().parse::<u32>().ok()).unwrap_or(0);
                match line {
                    Some(line) => self.carry_out(Command::GoToLine { line, column }, effects),
                    None => self.dialog = Some(Dialog::GoToLine { text }),
                }
            }
            other => self.dialog = other,
        }
    }

    /// Does one edit on the open text and sees to everything that follows from it.
    fn edit(&mut self, action: &EditorAction, effects: &mut Vec<Effect>) {
        let (now_s, closes_pairs) = (self.now_s, self.settings.close_brackets);
        let tab_width = self.settings.tab_width as usize;
        let Some(desk) = self.desk_mut() else { return };
        if !desk.loaded {
            return;
        }
        let found = desk.editor.find.matches.len() as u64;
        let before = desk.editor.version();
        (desk.editor.closes_pairs, desk.editor.tab_width) = (closes_pairs, tab_width);
        desk.editor.act(action, now_s);
        let replaced = (*action == EditorAction::ReplaceAll && desk.editor.version() != before).then_some(found);
        self.text_may_have_changed(effects);
        if let Some(count) = replaced {
            // The search strip says that nothing is left to find, which alone would read like a failure.
            let matches = if count == 1 { "1 match".to_owned() } else { format!("{count} matches") };
            self.toast(ToastKind::Good, format!("{matches} replaced; one Undo takes it back"));
        }
    }

    fn text_may_have_changed(&mut self, effects: &mut Vec<Effect>) {
        let (now_s, is_read_only) = (self.now_s, self.read_only.is_some());
        let Some(desk) = self.desk_mut() else { return };
        if desk.journalled != desk.editor.version() {
            desk.journalled = desk.editor.version();
            desk.compile_at_s = Some(now_s + COMPILE_DELAY_S);
            effects.push(Effect::Journal { slot: desk.slot.clone(), text: desk.editor.text().to_owned() });
            self.typed_unsaved |= is_read_only;
        }
    }

    /// Asks the pane that has it to scroll to something.
    fn bring_into_view(&mut self, what: Sight) {
        self.view.sight = Some((what, self.view.sight.map_or(0, |(_, generation)| generation) + 1));
    }

    fn replace_text(&mut self, text: String, toast: &str, effects: &mut Vec<Effect>) {
        if self.desk().is_none() {
            return;
        }
        self.view.dock.show(Pane::Editor);
        self.edit(&EditorAction::SetText(text), effects);
        self.toast(ToastKind::Info, toast);
        self.focus_work();
    }

    pub(crate) fn toast(&mut self, kind: ToastKind, text: impl Into<String>) {
        let text = text.into();
        self.note(kind, text.clone());
        self.toasts.retain(|toast| toast.text != text);
        self.next_id += 1;
        self.toasts.push(Toast { id: self.next_id, kind, text, until_s: self.now_s + TOAST_S });
        // Three at a time: more would hide work.
        if self.toasts.len() > 3 {
            self.toasts.remove(0);
        }
    }

    pub(crate) fn desk_mut(&mut self) -> Option<&mut crate::state::Desk> {
        self.desks.get_mut(self.desk.as_ref()?)
    }

    /// What the passing of time brings. Says when it wants to be called again, in seconds.
    pub fn tick(&mut self, now_s: f64) -> (Vec<Effect>, Option<f64>) {
        self.now_s = now_s;
        let mut effects = Vec::new();
        self.toasts.retain(|toast| toast.until_s > now_s);
        self.check_again_if_due(&mut effects);
        self.compile_if_due(&mut effects);
        let toasts = self.toasts.iter().map(|toast| toast.until_s);
        let compile = self.next_compile_s();
        // A run's seconds are shown, so they tick.
        let clock = self.running.is_some().then_some(now_s + 0.1);
        let next = toasts.chain(compile).chain(clock).map(|at| (at - now_s).max(0.0)).reduce(f64::min);
        (effects, next)
    }
}
