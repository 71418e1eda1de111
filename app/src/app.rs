//! The window: eframe glue that drains events, then draws.

use crate::command::{Action, Command};
use crate::dock::Dock;
use crate::effect::{Effect, Update};
use crate::file_dialogs::Picker;
use crate::kept::WindowFile;
use crate::lab::{Engine, Labs};
use crate::panels::{self, Memory, Screen};
use crate::services::Services;
use crate::state::{Compiler, DeviceKey, Devices, LabDevices, LabKey, Measured, Pane, Purpose, State, ToastKind, View};
use crate::versions::{Against, Disassembler, ListingView};
use crate::widgets::quiz::QuizAction;
use crate::{paths, ready, system_fonts, theme};
use curriculum::review::Date;
use curriculum::store::{Store, StoreError, ThemeChoice};
use curriculum::{Course, Step};
use gpu_core::job::Job;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What the window is opened with.
#[derive(Clone, Debug, Default)]
pub struct WindowOptions {
    /// Course folder over the built-in course; else the settings' one.
    pub content: Option<PathBuf>,
    /// Data folder; else the system's place for it.
    pub data_dir: Option<PathBuf>,
    /// Day to open, as typed (`week1/day4`, `1.4`); else the last one.
    pub day: Option<String>,
    /// Exercise of that day to open; else its own.
    pub exercise: Option<String>,
    /// File to put into the editor then; Undo leads back.
    pub kernel: Option<PathBuf>,
}

/// Why there is no window.
#[derive(Debug)]
pub enum WindowError {
    /// Nowhere to show one; one sentence.
    NoDisplay(String),
    /// There is a display, yet the window did not open; says why for both renderers.
    Failed(String),
}

impl std::fmt::Display for WindowError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (WindowError::NoDisplay(why) | WindowError::Failed(why)) = self;
        f.write_str(why)
    }
}

impl std::error::Error for WindowError {}

/// Smallest window that everything fits in, in points.
const LEAST_SIZE: [f32; 2] = [600.0, 380.0];

/// How long a closing window waits for the last text to be written.
const FLUSH_TIME: Duration = Duration::from_secs(2);

/// Opens the window and stays until it is closed.
///
/// # Errors
/// There is no display, or neither OpenGL nor wgpu gives a window on it.
pub fn run_window(options: WindowOptions) -> Result<(), WindowError> {
    let connection = ready::display_connection().map_err(WindowError::NoDisplay)?;
    let libraries = |fix: String| format!("the window's system libraries are missing ({fix})");
    if ready::keyboard_is_missing(&connection) {
        return Err(WindowError::Failed(libraries(ready::missing_libraries().unwrap_or_default())));
    }
    // OpenGL first: under software rendering a frame takes a quarter of wgpu's time.
    let glow = match open(&options, eframe::Renderer::Glow) {
        Ok(()) => return Ok(()),
        // No event loop: the display itself is out of reach, with any renderer.
        Err(eframe::Error::WinitEventLoop(_) | eframe::Error::Winit(_)) => {
            let name = |variable: &str| std::env::var(variable).ok().filter(|name| !name.is_empty());
            let display = name("WAYLAND_DISPLAY").or_else(|| name("DISPLAY")).unwrap_or_default();
            let silent = format!("the display `{display}` does not answer");
            // To winit a library that cannot be loaded is a display that cannot be reached.
            return Err(WindowError::NoDisplay(ready::missing_libraries().map_or(silent, libraries)));
        }
        Err(error) => error.to_string(),
    };
    open(&options, eframe::Renderer::Wgpu).map_err(|wgpu| {
        WindowError::Failed(format!("the window cannot be opened: with OpenGL {glow}; with wgpu {wgpu}"))
    })
}

fn open(options: &WindowOptions, renderer: eframe::Renderer) -> eframe::Result {
    let options = options.clone();
    open_with(renderer, Box::new(move |cc| Ok(Box::new(App::open(&cc.egui_ctx, options)))))
}

/// Opens a window of Lockstep's size around any app; for tools that measure or picture the window.
///
/// # Errors
/// There is no display, or the renderer gives no window on it.
pub fn open_with(renderer: eframe::Renderer, app: eframe::AppCreator<'_>) -> eframe::Result {
    let viewport = egui::ViewportBuilder::default()
        .with_title("Lockstep")
        .with_app_id("lockstep")
        .with_inner_size([1280.0, 800.0])
        .with_min_inner_size(LEAST_SIZE);
    let native = eframe::NativeOptions { viewport, renderer, centered: true, ..Default::default() };
    eframe::run_native("Lockstep", native, app)
}

/// State, what panels remember, and the ways out.
pub struct App {
    pub state: State,
    pub memory: Memory,
    pub engine: Box<dyn Engine>,
    pub services: Services,
}

impl App {
    /// The app as a learner gets it: their files, this machine's engine.
    pub fn open(ctx: &egui::Context, options: WindowOptions) -> Self {
        let data_dir = options.data_dir.clone().unwrap_or_else(paths::data_dir);
        let profile = paths::last_profile(&data_dir);
        let own_dir = paths::profile_dir(&data_dir, profile.as_deref());
        let (store, read_only) = match Store::open(&own_dir) {
            Ok(store) => (store, None),
            Err(error @ (StoreError::InUse { .. } | StoreError::Unusable { .. } | StoreError::Newer { .. })) => {
                (Store::open_read_only(&own_dir), Some(error.to_string()))
            }
        };
        let engine = Box::new(Labs::new(data_dir.clone(), ctx.clone()));
        let mut app = Self::with_parts(ctx, Course::embedded(), store, data_dir, engine);
        app.services.picker = Picker::Learner;
        system_fonts::install(ctx);
        app.state.read_only = read_only;
        app.state.profile = profile;
        if let Some(content) = options.content {
            app.state.settings.content = Some(content);
        }
        app.start(options.day.as_deref());
        if let Some(exercise) = options.exercise {
            let effects = app.state.apply(Command::OpenExercise(exercise));
            app.perform(ctx, effects);
        }
        if let Some(kernel) = options.kernel {
            app.services.import_kernel(kernel);
        }
        app
    }

    /// An app from parts, for tests; call [`App::start`] next. What it saves goes into the data folder, unasked.
    pub fn with_parts(
        ctx: &egui::Context,
        course: Course,
        store: Store,
        data_dir: PathBuf,
        engine: Box<dyn Engine>,
    ) -> Self {
        let settings = store.settings();
        let progress = store.progress();
        let scripts = crate::scripts::load(&store);
        let window: WindowFile = store.window().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        let labs = settings.remotes.iter().map(|remote| LabKey::Remote(remote.name.clone())).chain([LabKey::Here]);
        let labs: BTreeMap<LabKey, LabDevices> = labs.map(|lab| (lab, LabDevices::default())).collect();
        let now_unix_s = unix_s();
        let state = State {
            course: Arc::new(course),
            course_problem: None,
            data_dir: data_dir.clone(),
            read_only: None,
            unsaved: None,
            places: window.places,
            typed_unsaved: false,
            leaves_unsaved: false,
            progress,
            settings,
            today: Date::from_unix(now_unix_s),
            now_unix_s,
            now_s: 0.0,
            view: View {
                day: None,
                step: Step::Challenge,
                visualization: None,
                against: Against::default(),
                listing: ListingView::default(),
                difference: 0,
                dock: Dock::new(window.dock),
                focus: (Pane::Editor, 0),
                plot: None,
                sight: None,
                full: None,
                line_colors: false,
            },
            desks: BTreeMap::new(),
            desk: None,
            devices: Devices { labs, picked: DeviceKey::emulator(), ceilings: Vec::new() },
            running: None,
            compiler: Compiler::Looking,
            compiler_banner_hidden: false,
            disassembler: Disassembler::default(),
            check_again: false,
            dialog: None,
            toasts: Vec::new(),
            next_id: 0,
            scripts,
            allowed_scripts: std::collections::BTreeSet::new(),
            log: Vec::new(),
            search: crate::state::Search::default(),
            sandbox: crate::sandbox::Sandbox::default(),
            ready: crate::state::Loadable::Empty,
            review: Vec::new(),
            reviews: 0,
            resets: BTreeMap::new(),
            tour: None,
            profile: None,
            mysteries: BTreeMap::new(),
            measured: None,
        };
        theme::install(ctx);
        let picker = Picker::Folder(data_dir.clone());
        let services = Services::new(ctx.clone(), Arc::new(store), data_dir, picker);
        let mut app = Self { state, memory: Memory::default(), engine, services };
        app.apply_look(ctx);
        app
    }

    /// Begins what runs from the first moment: the engine, the search for the compiler, the day that was open last.
    pub fn start(&mut self, day: Option<&str>) {
        let ctx = self.services.context().clone();
        self.open_first(day);
        let mut effects = vec![
            Effect::Connect { lab: LabKey::Here, remote: None },
            Effect::ListDevices(LabKey::Here),
            Effect::LookForCompiler,
            Effect::LookAround,
        ];
        if !self.state.settings.tour_seen && day.is_none() {
            self.state.tour = Some(0);
        }
        if self.state.settings.content.is_some() {
            effects.push(Effect::LoadCourse(self.state.settings.content.clone()));
        }
        self.perform(&ctx, effects);
    }

    /// Opens the day that was asked for, or the last one, or the first.
    pub fn open_first(&mut self, day: Option<&str>) {
        let ctx = self.services.context().clone();
        let mut open = None;
        if let Some(asked) = day {
            match self.state.course.unit(asked) {
                Ok(day) => open = Some(day.id.clone()),
                Err(unknown) => self.state.toast(ToastKind::Bad, unknown.to_string()),
            }
        }
        let last = self.state.progress.last_day.clone().filter(|id| self.state.course.unit_by_id(id).is_some());
        let open = open.or(last).or_else(|| crate::apply::first_day(&self.state.course));
        if let Some(id) = open {
            let resumes = self.state.progress.last_day.as_deref() == Some(id.as_str());
            let step = self.state.progress.last_step.clone().filter(|_| resumes);
            let mut effects = self.state.apply(Command::OpenDay(id));
            let unit = self.state.day();
            if let Some(step) = unit.and_then(|unit| unit.step_by_id(step.as_deref()?)) {
                effects.extend(self.state.apply(Command::ShowStep(step)));
            }
            let picture = self.state.places.picture.clone();
            if let Some(picture) = picture.filter(|id| resumes && crate::viz::by_id(id).is_some()) {
                self.state.view.visualization = Some(picture);
            }
            self.perform(&ctx, effects);
        }
    }

    /// Takes in everything that has arrived. Never blocks.
    fn drain(&mut self, ctx: &egui::Context) {
        self.state.now_unix_s = unix_s();
        self.state.today = Date::from_unix(self.state.now_unix_s);
        let mut effects = Vec::new();
        for mut update in self.services.poll() {
            if let Update::ProfileOpened(_, opened) = &mut update {
                let old = std::mem::replace(&mut self.services.store, opened.store.clone());
                // Its last byte is on disk; its thread may still take a moment to end.
                let _ = std::thread::Builder::new().name("end of a profile".to_owned()).spawn(move || drop(old));
            }
            effects.extend(self.state.update(update));
        }
        for (key, event) in self.engine.poll() {
            effects.extend(self.state.receive(&key, event));
        }
        let (due, next_s) = self.state.tick(ctx.input(|input| input.time));
        effects.extend(due);
        if let Some(next_s) = next_s {
            ctx.request_repaint_after(Duration::from_secs_f64(next_s.max(0.01)));
        }
        self.give_measured();
        self.perform(ctx, effects);
    }

    /// A measured prediction goes to the quiz, which keeps what was predicted.
    fn give_measured(&mut self) {
        let Some(Measured { day, question, value }) = self.state.measured.take() else { return };
        let course = self.state.course.clone();
        let Some(day) = course.unit_by_id(&day) else { return };
        // Who reviews waits there, and not in the day's quiz.
        let review = self.state.review_key(&day.id);
        let in_review = self.memory.quiz_mut(&review).is_waiting(&question);
        let key = if in_review { review } else { self.state.quiz_key(&day.id) };
        let action = self.memory.quiz_mut(&key).measured(&day.quiz, &question, value);
        let effects = match action {
            Some(QuizAction::Answered { question, correct, given }) if in_review => {
                self.state.apply(Command::Reviewed { day: day.id.clone(), question, correct, given })
            }
            Some(QuizAction::Answered { question, correct, given }) => {
                self.state.answered_of(&day.id, &question, correct, given)
            }
            Some(QuizAction::TriedAgain { question, given }) => {
                self.state.apply(Command::TriedAgain { day: Some(day.id.clone()), question, given })
            }
            Some(QuizAction::Run { .. } | QuizAction::OpenLink(_)) | None => return,
        };
        let ctx = self.services.context().clone();
        self.perform(&ctx, effects);
    }

    /// Carries effects out, and those that follow from them.
    fn perform(&mut self, ctx: &egui::Context, effects: Vec<Effect>) {
        let mut queue: std::collections::VecDeque<Effect> = effects.into();
        while let Some(effect) = queue.pop_front() {
            match effect {
                Effect::Connect { lab, remote } => self.engine.connect(&lab, remote.as_deref(), &self.state.settings),
                Effect::Submit { lab, job, purpose, slot } => {
                    let key = self.engine.submit(&lab, *job);
                    queue.extend(self.state.submitted(&purpose, slot.as_ref(), key));
                }
                Effect::Stop(key) => self.engine.stop(&key),
                Effect::ListDevices(lab) => {
                    let key = self.engine.submit(&lab, Job::Devices);
                    queue.extend(self.state.submitted(&Purpose::Devices, None, key));
                }
                Effect::Load { slot, scaffold } => self.services.load(slot, scaffold),
                Effect::Journal { slot, text } => {
                    self.services.elsewhere.text(&slot, &text);
                    self.services.store.edit(&slot, text);
                }
                Effect::SaveProgress => self.services.store.save_progress(&self.state.progress),
                Effect::SaveWindow => self.save_window(),
                Effect::SaveMeasured => crate::scripts::save(&self.services.store, &self.state.scripts),
                Effect::SaveSettings => self.services.store.save_settings(&self.state.settings),
                Effect::AddRun { slot, run, source } => self.services.add_run(slot, *run, source),
                Effect::KeepRun { slot, kept } => self.services.keep_run(slot, *kept),
                Effect::LoadRun { slot, run, number } => self.services.load_run(slot, *run, number),
                Effect::ReadRun { slot, run } => self.services.read_run(slot, *run),
                Effect::InstallDisassembler => self.services.install_disassembler(),
                Effect::OpenElsewhere { slot, text, editor } => self.services.open_elsewhere(slot, text, editor),
                Effect::CloseElsewhere(slot) => self.services.elsewhere.close(slot),
                Effect::Format { slot, version, text, tab_width } => {
                    self.services.format(slot, version, text, tab_width);
                }
                Effect::PickImport => self.services.pick_import(),
                Effect::PickExport { name, text } => self.services.pick_export(name, text),
                Effect::RunScript { key, source, python } => self.services.run_script(key, source, python),
                Effect::RunProgram(key) => self.services.run_program(key),
                Effect::Decode { key, request } => self.services.decode(key, *request),
                Effect::Profile { slot, request } => self.services.profile(slot, *request),
                Effect::StopScript => self.services.stop_script(),
                Effect::LoadCeilings(devices) => self.services.load_ceilings(devices),
                Effect::LookAround => self.services.look_around(self.state.settings.nvrtc.clone()),
                Effect::BuildIndex(course) => self.services.build_index(course),
                Effect::ExportState => self.services.export_state(),
                Effect::ImportState => self.services.import_state(),
                Effect::SavePage { name, text } => self.services.save_page(name, text),
                Effect::SavePicture { name, area } => {
                    let area = area * ctx.pixels_per_point();
                    let save = self.services.save_picture(name, area);
                    let taken = egui::ScreenshotCallback::new(save);
                    ctx.send_viewport_cmd(egui::ViewportCommand::Screenshot(taken));
                }
                Effect::ListProfiles => self.services.list_profiles(),
                Effect::OpenProfile(name) => self.services.open_profile(name),
                Effect::LookForCompiler => self.services.look_for_compiler(self.state.settings.nvrtc.clone()),
                Effect::InstallCompiler => self.services.install_compiler(),
                Effect::StopInstall => self.services.stop_install(),
                Effect::LoadCourse(folder) => self.services.load_course(folder),
                Effect::Copy(text) => ctx.copy_text(text),
                Effect::OpenUrl(url) => {
                    if let Err(problem) = crate::elsewhere::open_page(&url) {
                        self.state.toast(ToastKind::Bad, problem);
                    }
                }
                Effect::RestartLab => self.engine.connect(&LabKey::Here, None, &self.state.settings),
                Effect::ApplyLook => self.apply_look(ctx),
                Effect::Quit => ctx.send_viewport_cmd(egui::ViewportCommand::Close),
            }
        }
    }

    /// Notes where panes, carets and texts are.
    pub fn save_window(&mut self) {
        self.state.places.scrolls.extend(self.memory.scrolls().clone());
        self.state.note_places();
        let file = WindowFile { dock: self.state.view.dock.saved(), places: self.state.places.clone() };
        if let Ok(text) = serde_json::to_string(&file) {
            self.services.store.save_window(text);
        }
    }

    /// Theme and sizes from the settings.
    pub fn apply_look(&mut self, ctx: &egui::Context) {
        let settings = &self.state.settings;
        ctx.set_theme(match settings.theme {
            ThemeChoice::System => egui::ThemePreference::System,
            ThemeChoice::Light => egui::ThemePreference::Light,
            ThemeChoice::Dark => egui::ThemePreference::Dark,
        });
        // For the last row of a lecture hall.
        let larger = if settings.projector { theme::PROJECTOR_SCALE } else { 1.0 };
        ctx.set_zoom_factor(settings.scale * larger);
        theme::set_contrast(ctx, settings.projector);
        theme::set_motion(ctx, !settings.reduced_motion);
        theme::set_code_points(ctx, settings.editor_points);
    }

    /// Does a command as a panel would send it; for tests.
    pub fn command(&mut self, command: Command) {
        let ctx = self.services.context().clone();
        let effects = self.state.apply(command);
        self.perform(&ctx, effects);
        ctx.request_repaint();
    }

    /// Takes in a finding as background work would send it; for tests.
    pub fn inject(&mut self, update: Update) {
        let ctx = self.services.context().clone();
        let effects = self.state.update(update);
        self.perform(&ctx, effects);
    }
}

impl eframe::App for App {
    fn logic(&mut self, ctx: &egui::Context, _frame: &mut eframe::Frame) {
        self.drain(ctx);
    }

    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        self.draw(ui);
    }

    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        visuals.panel_fill.to_normalized_gamma_f32()
    }

    #[expect(clippy::disallowed_methods, reason = "the window is gone; what was typed last is not yet on disk")]
    fn on_exit(&mut self, _gl: Option<&eframe::glow::Context>) {
        self.save_window();
        self.services.store.flush(FLUSH_TIME);
    }
}

impl App {
    /// One frame without a window around it; for measuring.
    pub fn frame(&mut self, ui: &mut egui::Ui) {
        let ctx = ui.ctx().clone();
        self.drain(&ctx);
        self.draw(ui);
    }

    fn draw(&mut self, ui: &mut egui::Ui) {
        let mut commands = panels::shortcuts(ui.ctx(), &self.state, &mut self.memory);
        commands.extend(panels::screen_change(ui.ctx(), &self.state));
        let closes = ui.input(|input| input.viewport().close_requested());
        if closes && self.state.would_lose() && !self.state.leaves_unsaved {
            ui.ctx().send_viewport_cmd(egui::ViewportCommand::CancelClose);
            commands.push(Command::Do(Action::Quit));
        }
        let mut screen = Screen { state: &self.state, memory: &mut self.memory, commands: &mut commands };
        panels::show(ui, &mut screen);
        if commands.is_empty() {
            return;
        }
        let ctx = ui.ctx().clone();
        for command in commands {
            let effects = self.state.apply(command);
            self.perform(&ctx, effects);
        }
        // What was drawn is of the state before; the next frame shows the change.
        ctx.request_repaint();
    }
}

fn unix_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
