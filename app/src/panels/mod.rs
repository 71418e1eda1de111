//! One file per region of the screen. Panels read the state and answer with commands; they change nothing but what
//! only they need between frames ([`Memory`]: laid-out text, half-typed answers).

mod answer;
mod banner;
mod compare;
mod course;
mod day;
mod dialogs;
mod dock;
mod fill;
mod find;
mod gallery;
mod glossary;
mod lead;
mod lesson;
mod log;
pub(crate) mod parts;
mod progress;
mod ready;
mod remembered;
mod results;
mod sandbox;
mod search;
mod status;
mod toolbar;
mod tour;
mod typed_ahead;
mod work;

use crate::command::{Action, Command, Scope};
use crate::state::{Desk, Dialog, Pane, State};
use crate::theme;
use crate::viz::Visualization;
use crate::widgets::code_editor::{Editor, editor_id};
use crate::widgets::figure::Figure;
use crate::widgets::focus;
use crate::widgets::lesson_text::{Glossary, LessonCache};
use crate::widgets::quiz::{QuizState, Reflections};
use crate::widgets::timing_plot::{Runs, TimingPlotState};
use curriculum::Course;
use curriculum::store::TextSlot;
use egui::{Frame, Panel, Ui};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

/// The text, how many runs it has, and when its newest benchmark was.
type TimedKey = (TextSlot, usize, Option<u64>);

/// What panels keep between frames and nobody else needs.
#[derive(Default)]
pub struct Memory {
    /// Laid-out Markdown by place.
    texts: HashMap<String, LessonCache>,
    /// Drawings of lessons by place.
    figures: HashMap<String, Figure>,
    quizzes: HashMap<String, QuizState>,
    reflections: HashMap<String, Reflections>,
    /// Answers about kernels whose source is shut, by unit and exercise.
    answers: HashMap<String, answer::Answers>,
    /// The cards of the gallery.
    gallery: Option<Vec<gallery::Card>>,
    glossary: glossary::Looked,
    /// The line of the kernel that the pointer is on, in the editor or in a listing, and what is set in this frame.
    hovered_line: Option<u32>,
    hovered_now: Option<u32>,
    /// What is being typed into tables of lessons, by unit and table.
    tables: HashMap<String, fill::Typed>,
    visualizations: HashMap<String, Box<dyn Visualization>>,
    plots: HashMap<String, TimingPlotState>,
    listing: results::ListingMemory,
    compare: compare::CompareMemory,
    /// How many steps of a fault's hint are shown.
    fault_hints: HashMap<String, usize>,
    /// Days whose earlier answers were put into their quiz.
    restored: HashSet<String>,
    /// Row that the arrow keys chose in the palette.
    palette_row: usize,
    /// The kind of dialog that is open, and whether this is its first frame.
    dialog: Option<std::mem::Discriminant<Dialog>>,
    dialog_opens: bool,
    /// The last request for the keyboard that was granted.
    focus_granted: u64,
    find_focus_granted: u64,
    /// The last wish for the plot that was granted.
    plot_granted: u64,
    /// How far texts are scrolled down, in points, as far as they were seen.
    scrolls: std::collections::BTreeMap<String, f32>,
    /// The last request to scroll that was granted.
    sight_granted: u64,
    /// Keys that wait for the control that they are for.
    typed_ahead: typed_ahead::TypedAhead,
    /// The first of two keys was pressed.
    lead: bool,
    /// The second one was, and the letter that it types is still to come.
    lead_types: bool,
    /// The pane that was clicked into since the last frame.
    pressed_pane: Option<Pane>,
    /// The pane in front whose tab has the keyboard.
    keyboard_tab: Option<Pane>,
    /// A tab that has the keyboard though a command brought another pane of its group in front.
    hidden_tab: Option<egui_tiles::TileId>,
    /// The card of the tour that has got the keyboard.
    tour_focus: Option<usize>,
    /// The words that are explained so far, and where that is: which course, and the open unit.
    words: Option<Words>,
    /// Runs as the plot takes them, with what they were made of: the text, how many, the newest benchmark's time.
    timed: Option<(TimedKey, Rc<Runs>)>,
}

/// Words with their meanings, and where they are known.
struct Words {
    course: Arc<Course>,
    unit: Option<String>,
    explained: Glossary,
}

impl Memory {
    /// Collects the words that days up to the open unit explain, once for each; texts laid out with others go. A word that a
    /// later day gives a meaning of its own is an everyday word until then.
    fn know_words(&mut self, course: &Arc<Course>, open: Option<&str>) {
        let known = self.words.as_ref();
        if known.is_some_and(|words| Arc::ptr_eq(&words.course, course) && words.unit.as_deref() == open) {
            return;
        }
        let day = open.and_then(|id| course.unit_by_id(id)).and_then(|unit| unit.day());
        let is_early = |unit: &curriculum::Unit| day.is_none_or(|now| unit.day().is_none_or(|then| then <= now));
        let terms = course.glossary();
        let terms = terms.iter().filter(|(_, unit)| is_early(unit));
        let terms = terms.map(|(entry, _)| (entry.term.as_str(), entry.meaning.as_str()));
        let explained = Glossary::new(terms);
        self.words = Some(Words { course: course.clone(), unit: open.map(str::to_owned), explained });
        self.texts.clear();
    }

    /// A text's runs for the plots, made anew when there is another.
    fn timed_runs(&mut self, desk: &Desk) -> Rc<Runs> {
        let newest = desk.bench.value().map(|report| report.when_unix_s);
        let of = (desk.slot.clone(), desk.runs.len(), newest);
        match &self.timed {
            Some((same, runs)) if *same == of => runs.clone(),
            _ => {
                let runs = Rc::new(Runs::from(results::timed_runs(desk)));
                self.timed = Some((of, runs.clone()));
                runs
            }
        }
    }

    /// How far texts are scrolled down, in points.
    pub fn scrolls(&self) -> &std::collections::BTreeMap<String, f32> {
        &self.scrolls
    }

    pub fn quiz_mut(&mut self, day: &str) -> &mut QuizState {
        self.quizzes.entry(day.to_owned()).or_default()
    }
}

/// What a panel draws from and writes to.
pub struct Screen<'a> {
    pub state: &'a State,
    pub memory: &'a mut Memory,
    pub commands: &'a mut Vec<Command>,
}

impl Screen<'_> {
    pub fn send(&mut self, command: Command) {
        self.commands.push(command);
    }

    /// True once for each request that a pane take the keyboard; the pane then gives it to a control of its own.
    fn takes_focus(&mut self, pane: Pane) -> bool {
        let (wanted, generation) = self.state.view.focus;
        let takes = wanted == pane && generation != self.memory.focus_granted && self.state.dialog.is_none();
        if takes {
            self.memory.focus_granted = generation;
        }
        takes
    }

    /// Some once for each request to copy or save the plot in sight.
    fn plot_wish(&mut self) -> Option<crate::state::PlotWish> {
        let (wish, generation) = self.state.view.plot?;
        (std::mem::replace(&mut self.memory.plot_granted, generation) != generation).then_some(wish)
    }

    /// True once for each request to bring this into view.
    fn comes_into_view(&mut self, what: crate::state::Sight) -> bool {
        let Some((wanted, generation)) = self.state.view.sight else { return false };
        wanted == what && std::mem::replace(&mut self.memory.sight_granted, generation) != generation
    }

    /// How far down a text was in an earlier session, once: when it is seen for the first time in this one.
    fn kept_scroll(&self, key: &str) -> Option<f32> {
        let is_seen = self.memory.scrolls.contains_key(key);
        self.state.places.scrolls.get(key).copied().filter(|_| !is_seen)
    }

    /// A Markdown text, laid out once.
    fn markdown_ui(&mut self, ui: &mut Ui, place: &str, markdown: &str) {
        use crate::widgets::lesson_text::{LessonAction, show_explained};
        self.memory.know_words(&self.state.course, self.state.view.day.as_deref());
        let cache = self.memory.texts.entry(place.to_owned()).or_default();
        let Some(words) = &self.memory.words else { return };
        for action in show_explained(ui, cache, markdown, &words.explained) {
            self.commands.push(match action {
                LessonAction::OpenLink(target) => Command::OpenLink(target),
                // Already on the clipboard; only the toast is missing.
                LessonAction::CopyCode(text) => Command::CopyText(text),
                LessonAction::OpenInEditor { text, .. } => Command::OpenInEditor(text),
            });
        }
    }
}

/// Commands for the shortcuts that were pressed. Called before anything is drawn, so that no text box takes them.
pub fn shortcuts(ctx: &egui::Context, state: &State, memory: &mut Memory) -> Vec<Command> {
    typed_ahead::pass(ctx, state, memory);
    let editor_focused = ctx.memory(|memory| memory.has_focus(editor_id()));
    let modal = state.dialog.is_some();
    if memory.lead_types {
        lead::drop_letter(ctx, memory);
    }
    if memory.lead {
        return lead::second_key(ctx, memory);
    }
    if !modal && let Some(commands) = lead::first_key(ctx, memory) {
        return commands;
    }
    // The keys with more modifiers first: Ctrl+Shift+Z must not be taken for Ctrl+Z.
    let mut rows: Vec<_> = Action::ALL
        .into_iter()
        .filter(|action| action.info().scope == Scope::Global || editor_focused)
        .flat_map(|action| action.info().shortcuts.iter().map(move |keys| (action, keys)))
        .filter(|(_, keys)| keys.then.is_none())
        .map(|(action, keys)| (action, keys.first))
        .collect();
    rows.sort_by_key(|(_, shortcut)| {
        let m = shortcut.modifiers;
        std::cmp::Reverse(u8::from(m.shift) + u8::from(m.alt) + u8::from(m.command || m.ctrl))
    });
    let mut commands = Vec::new();
    ctx.input_mut(|input| {
        memory.typed_ahead.after_enter(state.dialog.as_ref(), &mut input.events);
        for (action, shortcut) in rows {
            // A dialog keeps the keys of what is behind it.
            let through = matches!(action, Action::Quit | Action::Stop | Action::ZoomIn | Action::ZoomOut);
            if modal && !through {
                continue;
            }
            let at = typed_ahead::place_of(&input.events, &shortcut);
            if input.consume_shortcut(&shortcut) {
                commands.push(Command::Do(action));
                memory.typed_ahead.after(action, &mut input.events, at.unwrap_or(usize::MAX));
            }
        }
        // Escape leaves the innermost thing; the editor's list of words is further in than what is here.
        let hints = |editor: &Editor| editor.completion().is_some() || editor.shown_call().is_some();
        let list_open = editor_focused && state.desk().is_some_and(|desk| hints(&desk.editor));
        if !modal && !list_open && input.key_pressed(egui::Key::Escape) {
            let find_open = state.desk().is_some_and(|desk| desk.editor.find.open);
            if state.tour.is_some() && input.consume_key(egui::Modifiers::NONE, egui::Key::Escape) {
                commands.push(Command::EndTour);
            } else if find_open && input.consume_key(egui::Modifiers::NONE, egui::Key::Escape) {
                commands.push(Command::CloseFind);
            } else if state.running.is_some() && input.consume_key(egui::Modifiers::NONE, egui::Key::Escape) {
                commands.push(Command::Do(Action::Stop));
            }
        }
    });
    commands
}

/// Width in points below which one pane at a time is shown.
const NARROW: f32 = 700.0;

/// Height in points below which panes that need many rows are not put above one another.
const LOW: f32 = 680.0;

/// A command when the window came to a screen of another size, or became narrow or wide, low or high.
pub fn screen_change(ctx: &egui::Context, state: &State) -> Option<Command> {
    let pixels = ctx.input(|input| Some(input.viewport().monitor_size? * input.viewport().native_pixels_per_point?));
    // Not told everywhere: what was arranged on an unknown screen stays.
    let screen =
        pixels.map_or_else(|| state.view.dock.screen().to_owned(), |size| format!("{:.0}x{:.0}", size.x, size.y));
    let room = ctx.content_rect();
    let (narrow, low) = (room.width() < NARROW, room.height() < LOW);
    let dock = &state.view.dock;
    let same = screen == dock.screen() && narrow == dock.is_narrow() && low == dock.is_low();
    (!same).then_some(Command::SetScreen { screen, narrow, low })
}

/// The whole window.
pub fn show(ui: &mut Ui, screen: &mut Screen<'_>) {
    let t = theme::tokens(ui);
    focus::note(ui.ctx());
    // The title of the window is not told to screen readers by egui.
    ui.ctx().accesskit_node_builder(egui::accesskit_root_id(), |node| node.set_label("Lockstep"));
    let bare = |fill| Frame::new().fill(fill);
    Panel::top("toolbar").frame(bare(t.window)).resizable(false).show(ui, |ui| toolbar::show(ui, screen));
    // Its place is at the bottom, its turn comes last: Tab reaches it after the panes.
    let strip = Panel::bottom("status").frame(bare(t.window)).resizable(false).show(ui, |ui| {
        ui.allocate_space(egui::vec2(ui.available_width(), status::HEIGHT));
        ui.min_rect()
    });
    banner::show(ui, screen);
    day::show(ui, screen);
    egui::CentralPanel::default().frame(bare(t.panel)).show(ui, |ui| dock::show(ui, screen));
    ui.scope_builder(egui::UiBuilder::new().max_rect(strip.inner), |ui| status::show(ui, screen));
    let memory = &mut *screen.memory;
    if std::mem::replace(&mut memory.hovered_line, memory.hovered_now) != memory.hovered_now.take() {
        // What is linked to it was drawn before.
        ui.ctx().request_repaint();
    }
    if let Some(pane) = screen.memory.pressed_pane.take()
        && screen.state.view.focus.0 != pane
    {
        screen.send(Command::PressPane(pane));
    }
    lead::show(ui, screen);
    tour::show(ui, screen);
    match &screen.state.dialog {
        Some(dialog) => dialogs::show(ui, screen, dialog),
        None => (screen.memory.palette_row, screen.memory.dialog) = (0, None),
    }
    focus::check(ui.ctx());
}
