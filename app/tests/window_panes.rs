//! Layouts, panes, search, review and profiles as a learner uses them, by accessible label and from the keyboard.

mod window_support;

use curriculum::review::Date;
use curriculum::store::{Given, Store};
use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT, Queryable};
use gpu_core::job::{Event, Job, Outcome};
use lockstep::command::{Action, Command};
use lockstep::dock::Layout;
use lockstep::effect::Update;
use lockstep::services::{export_to, import_from};
use lockstep::state::{Dialog, Pane};
use lockstep::theme;
use window_support::{GOOD, SIZE, Window, answer, simple_script, unguarded};

const CTRL_SHIFT: Modifiers = Modifiers::COMMAND.plus(Modifiers::SHIFT);

fn act(window: &mut Window, action: Action) {
    window.harness.state_mut().command(Command::Do(action));
    window.settle();
}

fn in_sight(window: &Window, pane: Pane) -> bool {
    window.app().state.is_in_sight(pane)
}

#[test]
fn layouts_are_one_key_away_and_remembered() {
    let mut window = Window::open(true, SIZE, simple_script());
    for (key, layout, seen, unseen) in [
        (Key::F10, Layout::Code, Pane::Verdict, Pane::Course),
        (Key::F11, Layout::Profile, Pane::Compiled, Pane::Lesson),
        (Key::F9, Layout::Read, Pane::Course, Pane::Compiled),
    ] {
        window.key(Modifiers::NONE, key);
        assert_eq!(window.app().state.view.dock.layout(), layout);
        assert!(in_sight(&window, seen) && !in_sight(&window, unseen), "{layout:?}");
    }
    window.key(Modifiers::NONE, Key::F10);
    let before = window.app().state.view.dock.root().clone();
    window.key(Modifiers::ALT | Modifiers::SHIFT, Key::ArrowRight);
    let wider = window.app().state.view.dock.root().clone();
    assert_ne!(before, wider, "the pane with the keyboard is wider");
    let Window { harness, folder, .. } = window;
    drop(harness);
    let mut window = Window::open_in(folder, true, SIZE, simple_script());
    assert_eq!(window.app().state.view.dock.layout(), Layout::Code);
    assert_eq!(*window.app().state.view.dock.root(), wider);
    act(&mut window, Action::ResetLayout);
    assert_eq!(*window.app().state.view.dock.root(), before);
}

/// A picture shows the check that it is of, quotes the text of that check, and says when another text is open.
#[test]
fn pictures_are_of_the_last_check_and_say_when_they_are_old() {
    const HANGS: &str = "hangs, and is stopped";
    let script = |job: &Job| {
        if matches!(job, Job::Check { source, .. } if source.text.contains(HANGS)) {
            return Some(vec![Event::Finished(Outcome::Stopped)]);
        }
        let mut events = answer(job);
        for event in &mut events {
            if let Event::Verdict(verdict) = event
                && verdict.passed
            {
                verdict.trace = lockstep::viz::by_id("roofline").map(|viz| viz.example());
            }
        }
        Some(events)
    };
    let mut window = Window::open(true, SIZE, Box::new(script));
    let look = |window: &mut Window| {
        window.harness.state_mut().command(Command::ShowVisualization("coalescing".into()));
        window.settle();
    };
    // The editor and the picture are tabs of one place.
    let write = |window: &mut Window, text: &str| {
        window.harness.state_mut().command(Command::ShowPane(Pane::Editor));
        window.settle();
        window.paste_kernel(text);
    };
    look(&mut window);
    assert!(window.has("Example: change the values") && !window.has("Your last run"));
    write(&mut window, GOOD);
    act(&mut window, Action::Check);
    look(&mut window);
    let changed = "Your kernel was changed since";
    // The trace names line 4.
    assert!(window.has("Your last run") && window.has("  4  {") && !window.has(changed));
    write(&mut window, &format!("// faster\n{GOOD}"));
    look(&mut window);
    assert!(window.has(changed), "it is of the text before");
    act(&mut window, Action::Benchmark);
    look(&mut window);
    assert!(window.has("  4  {") && window.has(changed), "a benchmark's text is not the one that was traced");
    write(&mut window, &format!("// {HANGS}\n{GOOD}"));
    act(&mut window, Action::Check);
    look(&mut window);
    assert!(
        window.has("A later run was stopped or failed") && !window.has(changed),
        "it was run, and nothing came of it"
    );
    write(&mut window, &unguarded());
    act(&mut window, Action::Check);
    look(&mut window);
    assert!(!window.has("Your last run"), "the picture of another kernel is gone");
    assert!(window.has("Your last check did not come to its last size"));
}

/// A pane that was made low: what is said about the kernel leaves the listing room.
#[test]
fn a_low_listing_keeps_its_rows_and_says_the_registers() {
    let mut window = Window::open(true, [960.0, 690.0], simple_script());
    window.paste_kernel(GOOD);
    act(&mut window, Action::Check);
    act(&mut window, Action::LayoutProfile);
    act(&mut window, Action::ShowCompiled);
    for _ in 0..3 {
        act(&mut window, Action::LowerPane);
    }
    assert!(window.has("vector_add: registers 12"), "in a line");
    let low = window.harness.get_by_label_contains("PTX listing, row").rect();
    assert!(low.height() >= 30.0, "both rows of it: {low:?}");
    let mut window = Window::open(true, [1920.0, 1080.0], simple_script());
    window.paste_kernel(GOOD);
    act(&mut window, Action::LayoutProfile);
    assert!(window.has("Spill stores") && !window.has("vector_add: registers"), "in a table");
}

/// Three columns on a small screen: what belongs to the plot stays in its pane.
#[test]
fn narrow_plots_keep_their_buttons() {
    for size in [[960.0, 540.0], [1024.0, 640.0], [1080.0, 700.0], SIZE] {
        let mut window = Window::open(true, size, simple_script());
        window.paste_kernel(GOOD);
        act(&mut window, Action::Check);
        act(&mut window, Action::LayoutProfile);
        act(&mut window, Action::ToggleLesson);
        act(&mut window, Action::ShowPlots);
        let panes = window.harness.get_all_by_role(egui::accesskit::Role::Pane);
        let mut plots = panes.filter(|pane| pane.accesskit_node().label().as_deref() == Some("Plots"));
        let plots = plots.next().expect("the pane of the plots").rect();
        for action in [Action::CopyPlot, Action::SavePlotSvg, Action::SavePlotPng] {
            let button = window.harness.get_by_label(action.info().text).rect();
            assert!(button.right() <= plots.right(), "{action:?} at {size:?}: {button:?} in {plots:?}");
        }
    }
}

#[test]
fn a_pane_is_closed_by_its_cross_and_comes_back_by_key() {
    let mut window = Window::open(false, SIZE, simple_script());
    window.click("Close Course");
    assert!(!in_sight(&window, Pane::Course));
    window.key(CTRL_SHIFT, Key::E);
    assert!(in_sight(&window, Pane::Course));
    // Without a mouse: to the pane by F6, away by Ctrl+W.
    for _ in 0..8 {
        if window.app().state.view.focus.0 == Pane::Lesson {
            break;
        }
        window.key(Modifiers::NONE, Key::F6);
    }
    window.key(Modifiers::COMMAND, Key::W);
    assert!(!in_sight(&window, Pane::Lesson));
    // All closed: the window says how to get them back.
    for pane in Pane::DOCKED {
        window.harness.state_mut().command(Command::ClosePane(pane));
    }
    window.settle();
    assert!(window.has("Every pane is closed"));
    act(&mut window, Action::ResetLayout);
    assert!(in_sight(&window, Pane::Lesson));
}

#[test]
fn a_small_window_shows_one_pane_at_a_time_and_reaches_all() {
    let mut window = Window::open(true, [640.0, 400.0], simple_script());
    assert_eq!(window.app().state.panes_in_sight().len(), 1);
    for pane in [Pane::Course, Pane::Editor, Pane::Timing, Pane::Log] {
        window.harness.state_mut().command(Command::ShowPane(pane));
        window.settle();
        assert_eq!(window.app().state.panes_in_sight(), [pane]);
    }
}

#[test]
fn words_of_the_course_are_found_and_opened() {
    let mut window = Window::open(true, SIZE, simple_script());
    window.key(CTRL_SHIFT, Key::F);
    window.type_text("vector_add");
    window.until("the index", |app| !app.state.search.hits.is_empty());
    window.settle();
    assert!(window.has("Enter opens"));
    let hit = window.app().state.search.hits[0].clone();
    window.key(Modifiers::NONE, Key::Enter);
    assert_eq!(window.app().state.view.day.as_deref(), Some(hit.day.as_str()));
    let unit = window.app().state.day().expect("an open unit").clone();
    assert_eq!(window.app().state.view.step, hit.place.step(&unit));
    window.harness.get_by_label("Search the course").focus();
    window.settle();
    window.type_text(" zzz");
    assert!(window.has("No text has all of these words"));
}

#[test]
fn missed_questions_come_back_for_review() {
    let mut window = Window::open(true, SIZE, simple_script());
    let day = window.app().state.day().expect("a day").clone();
    let question = day.quiz.questions[0].id.clone();
    window.harness.state_mut().command(Command::Answered {
        question: question.clone(),
        correct: false,
        given: Given::default(),
    });
    act(&mut window, Action::Review);
    assert!(window.has("Nothing to review today"), "it is due tomorrow");
    let key = format!("{}/{question}", day.id);
    window.harness.state_mut().state.progress.review.get_mut(&key).expect("a card").due = Date(0);
    act(&mut window, Action::ShowProgress);
    assert!(window.has("Review 1 question"));
    // Beside the course it is seen without asking.
    window.click("1 question to review today");
    assert!(window.has("Questions that you missed come back") && !window.has("question to review today"));
    let again =
        Command::Reviewed { day: day.id.clone(), question: question.clone(), correct: true, given: Given::default() };
    window.harness.state_mut().command(again);
    let card = window.app().state.progress.review[&key];
    assert!(card.due > window.app().state.today && card.missed == 1, "{card:?}");
    window.click("Done");
    assert!(window.has("Nothing to review today"));
}

#[test]
fn a_day_is_reset_after_asking() {
    let mut window = Window::open(true, SIZE, simple_script());
    window.paste_kernel(GOOD);
    window.key(Modifiers::COMMAND, Key::Enter);
    let day = window.app().state.day().expect("a day").clone();
    assert!(window.app().state.progress.done(&day).finished > 0);
    act(&mut window, Action::ResetDay);
    assert!(window.has("Start this day over?"));
    window.click("Cancel");
    assert_eq!(window.text(), GOOD, "asking changes nothing");
    act(&mut window, Action::ResetDay);
    window.click("Reset the day");
    assert_eq!(window.app().state.progress.done(&day).finished, 0);
    assert!(window.text().contains("TODO"));
    let desk = window.app().state.desk().expect("a text");
    assert!(desk.editor.marks.heat().is_empty() && desk.cases.is_empty(), "nothing is said of a run that is forgotten");
    act(&mut window, Action::Undo);
    assert_eq!(window.text(), GOOD, "the text is one undo away");
}

/// The table is wider than the pane; sentences below it wrap in sight all the same.
#[test]
fn progress_fits_a_narrow_pane() {
    let mut window = Window::open(true, [900.0, 600.0], simple_script());
    let open = window.app().state.view.day.clone();
    window.plan_the_last(7);
    window.harness.state_mut().command(Command::OpenDay(open.expect("an open day")));
    act(&mut window, Action::SearchCourse);
    act(&mut window, Action::ShowProgress);
    let editor = window.harness.get_by_label("Code editor").rect();
    let weeks: Vec<_> = window.harness.get_all_by_label_contains("not written yet").map(|week| week.rect()).collect();
    assert!(!weeks.is_empty());
    for week in weeks {
        assert!(week.right() <= editor.left(), "{week:?} beside {editor:?}");
    }
}

#[test]
fn everything_moves_to_another_computer_as_one_file() {
    let mut window = Window::open(true, SIZE, simple_script());
    window.paste_kernel(GOOD);
    window.key(Modifiers::COMMAND, Key::Enter);
    let there = tempfile::tempdir().expect("a scratch folder");
    let file = there.path().join("state.json");
    let (count, _) = export_to(&window.app().services.store, file.clone()).expect("it is written");
    assert!(count >= 3, "text, runs and progress: {count}");

    let mut other = Window::open(true, SIZE, simple_script());
    assert!(other.text().contains("TODO"));
    act(&mut other, Action::ImportState);
    assert!(other.has("Import another computer's state?"));
    other.harness.state_mut().command(Command::CloseDialog);
    let learner = import_from(&other.app().services.store, &file).expect("it is read");
    other.harness.state_mut().inject(Update::StateImported(Ok(Some((Box::new(learner.0), learner.1)))));
    other.until("the text", |app| app.state.desk().is_some_and(|desk| desk.loaded));
    other.settle();
    assert_eq!(other.text(), GOOD);
    assert_eq!(other.app().state.desk().expect("a text").runs.len(), 1);
    let day = other.app().state.day().expect("a day").clone();
    assert!(other.app().state.progress.is_step_done(&day, curriculum::Step::CodeIt));
    // While a kernel runs: its end is nothing to the texts that came.
    let hangs = |job: &Job| if let Job::Check { .. } = job { None } else { Some(answer(job)) };
    let mut busy = Window::open(true, SIZE, Box::new(hangs));
    busy.paste_kernel("int other;");
    act(&mut busy, Action::Check);
    assert!(busy.app().state.is_running());
    let learner = import_from(&busy.app().services.store, &file).expect("it is read");
    busy.harness.state_mut().inject(Update::StateImported(Ok(Some((Box::new(learner.0), learner.1)))));
    busy.until("the text", |app| app.state.desk().is_some_and(|desk| desk.loaded));
    busy.settle();
    assert!(!busy.app().state.is_running(), "it was stopped");
    busy.engine.0.borrow_mut().answer(vec![Event::Finished(Outcome::Stopped)]);
    busy.settle();
    let desk = busy.app().state.desk().expect("a text");
    assert_eq!((busy.text(), desk.trouble.as_deref(), desk.runs.len()), (GOOD, None, 1));
    // No file dialog on this desktop: the words are a sentence.
    busy.harness.state_mut().inject(Update::StateImported(Err("This desktop has no file dialog".into())));
    busy.settle();
    assert!(busy.has("Not imported: This desktop has no file dialog"));
    // Damaged, cut, or of another program: nothing is touched, and it is said why.
    let text = std::fs::read_to_string(&file).expect("what was exported");
    let damaged = text.replace("[days.", "[days.[");
    for (text, why) in [
        (&text[..text.len() / 2], "the file expected a state file that Lockstep exported (EOF while parsing"),
        (&text.replace("\"version\": 1", "\"version\": 7"), "was written by a newer Lockstep"),
        (&text.replace("lockstep-state", "other"), "found the format `other`"),
        (&damaged, "its `progress.toml` is damaged"),
        ("", "expected a state file"),
    ] {
        let wrong = there.path().join("state-2.json");
        std::fs::write(&wrong, text).expect("a scratch file");
        let before = std::fs::read_to_string(busy.folder.path().join("progress.toml")).expect("progress");
        let problem = import_from(&busy.app().services.store, &wrong).err().expect(why);
        assert!(problem.contains(why) && problem.ends_with("state-2.json"), "{problem}");
        let after = std::fs::read_to_string(busy.folder.path().join("progress.toml")).expect("progress");
        assert_eq!(before, after);
    }
    let wrong = there.path().join("wrong.json");
    std::fs::write(&wrong, "{}").expect("a scratch file");
    assert!(import_from(&other.app().services.store, &wrong).is_err_and(|error| error.contains("wrong.json")));
}

#[test]
fn two_people_share_a_machine() {
    let mut window = Window::open(true, SIZE, simple_script());
    window.paste_kernel("// mine\n");
    act(&mut window, Action::Profiles);
    window.until("the profiles", |app| matches!(app.state.dialog, Some(Dialog::Profiles { .. })));
    window.settle();
    window.harness.get_by_label("New profile").focus();
    window.settle();
    window.type_text("a/b");
    window.click("Open");
    assert!(window.has("letters, digits, spaces"), "a name becomes a folder's");
    window.harness.state_mut().command(Command::SwitchProfile(Some("Ada".into())));
    let open = |name: Option<&'static str>| {
        move |app: &lockstep::app::App| {
            app.state.profile.as_deref() == name && app.state.desk().is_some_and(|desk| desk.loaded)
        }
    };
    window.until("Ada's files", open(Some("Ada")));
    window.harness.state_mut().command(Command::OpenDay("first-kernel".into()));
    window.until("the text", |app| app.state.desk().is_some_and(|desk| desk.loaded));
    window.settle();
    assert!(window.text().contains("TODO"), "her texts are her own");
    assert!(window.folder.path().join("profiles/Ada/lockstep.lock").is_file());
    window.harness.state_mut().command(Command::SwitchProfile(None));
    window.until("the own files", open(None));
    window.harness.state_mut().command(Command::OpenDay("first-kernel".into()));
    window.until("the text", |app| app.state.desk().is_some_and(|desk| desk.loaded));
    assert_eq!(window.text(), "// mine\n");
    let hers = window.folder.path().join("profiles/Ada");
    window.until("her folder to be free again", |_| Store::open(&hers).is_ok());
}

#[test]
fn projector_mode_is_larger_and_has_more_contrast() {
    let mut window = Window::open(false, SIZE, simple_script());
    let panel = |window: &Window| theme::of_visuals(&window.harness.ctx.global_style().visuals).panel;
    let before = panel(&window);
    assert_eq!(before, theme::LIGHT.panel);
    window.key(Modifiers::NONE, Key::F12);
    assert_eq!(panel(&window), theme::LIGHT_CONTRAST.panel);
    assert!((window.harness.ctx.zoom_factor() - theme::PROJECTOR_SCALE).abs() < 1e-3);
    window.key(Modifiers::NONE, Key::F12);
    assert_eq!(panel(&window), before);
    act(&mut window, Action::ReducedMotion);
    assert_eq!(window.harness.ctx.global_style().animation_time, 0.0);
}

#[test]
fn enter_leads_through_the_tour() {
    let mut window = Window::open(true, SIZE, simple_script());
    window.key(Modifiers::SHIFT, Key::F1);
    assert!(window.has("Welcome to Lockstep"));
    for _ in 0..lockstep::tour::TOUR.len() {
        assert!(window.app().state.tour.is_some());
        window.key(Modifiers::NONE, Key::Enter);
    }
    assert!(window.app().state.tour.is_none() && window.app().state.settings.tour_seen);
    assert_eq!(window.app().state.view.dock.layout(), Layout::Read);
}

#[test]
fn messages_hide_no_work_and_stay_in_the_log() {
    let mut window = Window::open(true, SIZE, simple_script());
    window.harness.state_mut().inject(Update::Problem("The disk is full".into()));
    window.settle();
    let message = window.harness.get_by_label("The disk is full").rect();
    assert!(message.top() > SIZE[1] - 40.0, "in the status strip: {message:?}");
    window.click("The disk is full");
    assert!(in_sight(&window, Pane::Log));
    window.click("Dismiss message");
    assert!(window.app().state.toasts.is_empty() && window.has("The disk is full"), "the log keeps it");
}

/// Stop is not behind anything: not behind a dialog, not behind the tour, not in a small window.
#[test]
fn stop_always_works() {
    let hang = |job: &gpu_core::job::Job| match job {
        gpu_core::job::Job::Check { .. } | gpu_core::job::Job::Bench { .. } => None,
        job => Some(answer(job)),
    };
    let mut window = Window::open(true, SIZE, Box::new(hang));
    for before in [Action::Settings, Action::Palette, Action::Shortcuts, Action::Tour, Action::LayoutProfile] {
        window.paste_kernel(GOOD);
        act(&mut window, Action::Check);
        assert!(window.app().state.is_running());
        act(&mut window, before);
        window.key(Modifiers::COMMAND, Key::Period);
        assert!(!window.app().state.is_running(), "with {before:?} open");
        window.harness.state_mut().command(Command::CloseDialog);
        window.harness.state_mut().command(Command::EndTour);
        window.settle();
    }
}

/// A worker that never answers anything, also no devices and no compilation, costs no frame.
#[test]
fn a_silent_worker_costs_no_frame() {
    let mut window = Window::open(true, SIZE, Box::new(|_| None));
    window.paste_kernel(GOOD);
    for action in [Action::Check, Action::LayoutProfile, Action::LayoutCode, Action::ShowProgress, Action::SearchCourse]
    {
        act(&mut window, action);
    }
    assert!(window.app().state.is_running());
    window_support::check_frames(|| window.harness.step());
}

#[test]
fn the_fix_of_a_failed_check_is_a_button() {
    use lockstep::ready::{Item, State};
    let mut window = Window::open(true, SIZE, simple_script());
    window.key(CTRL_SHIFT, Key::Y);
    window.until("the check", |app| app.state.ready.value().is_some());
    let item = Item {
        id: "display",
        title: "Display",
        state: State::Failed,
        found: "no display".into(),
        fix: Some("run `sudo apt install xvfb`".into()),
    };
    window.harness.state_mut().inject(Update::Ready(vec![item]));
    window.settle();
    assert!(window.has("One thing to fix"));
    window.click("Copy sudo apt install xvfb");
    assert!(window.has("Copied"));
}

/// Large type in a window of 1280 by 800: listing and plot each have the height of the window, one tab apart.
#[test]
fn a_lecture_shows_more_than_two_rows_of_ptx() {
    let mut window = Window::open(true, SIZE, simple_script());
    window.paste_kernel(GOOD);
    window.key(Modifiers::COMMAND, Key::Enter);
    act(&mut window, Action::LayoutProfile);
    let height = |window: &Window, pane: Pane| {
        let found = window.harness.query_by_role_and_label(egui::accesskit::Role::Pane, pane.title());
        found.map_or(0.0, |node| node.rect().height())
    };
    let [ptx, plot] = [Pane::Compiled, Pane::Timing].map(|pane| height(&window, pane));
    assert!(ptx > 100.0 && plot > 100.0, "without large type both are in sight: {ptx} {plot}");
    act(&mut window, Action::Projector);
    window.settle();
    assert!(height(&window, Pane::Compiled) > 400.0, "{}", height(&window, Pane::Compiled));
    assert!(height(&window, Pane::Editor) > 400.0);
    act(&mut window, Action::ShowPlots);
    assert!(height(&window, Pane::Timing) > 400.0);
    act(&mut window, Action::Projector);
    window.settle();
    assert_eq!([Pane::Compiled, Pane::Timing].map(|pane| height(&window, pane)), [ptx, plot], "and back");
}

/// The line of a header is not the learner's to look at; the one that calls it is.
#[test]
fn a_fault_in_a_header_is_shown_at_the_line_that_calls_it() {
    let mut window = Window::open(false, SIZE, simple_script());
    window.paste_kernel(&unguarded().replace("a[i] + b[i]", "a[i] + helper(b, i)"));
    window.key(Modifiers::COMMAND, Key::Enter);
    assert!(window.has("lab.cuh line 90"));
    assert!(window.has("Fault on line 6"), "the gutter marks the call");
    window.harness.get_all_by_label("called from line 6").next().expect("a link to the call").click();
    window.settle();
    assert_eq!(window.app().state.desk().expect("a text").editor.cursor_position().0, 6);
}

/// Where an infinity began is told, marked in the editor, and one click away; the row can be taken into the picture.
#[test]
fn the_first_infinity_has_its_line_and_its_numbers() {
    use gpu_core::emulator::{SourceLine, ThreadId};
    use gpu_core::verdict::{Captured, CapturedBuffer, FirstNonfinite, NonfiniteStep};
    let step = |expression: &str, value: f64, line: u32| NonfiniteStep {
        value,
        expression: expression.to_owned(),
        operands: Vec::new(),
        instruction: "ex2.approx.ftz.f32 %f33, %f31".to_owned(),
        source: Some(SourceLine { file: "kernel.cu".to_owned(), line, column: 5 }),
        inlined_at: None,
        launch: None,
        thread: ThreadId { block: [2, 0, 0], thread: [3, 0, 0], warp: 0, lane: 3 },
        occurrences: 5,
    };
    let (first, then) = (step("expf(1204.5)", f64::INFINITY, 3), step("inf / inf", f64::NAN, 5));
    let sentence = "The first value on the way to c[3] that is not finite: expf(1204.5) = inf at line 3.".to_owned();
    let found =
        FirstNonfinite { sentence: sentence.clone(), buffer: "c".to_owned(), index: vec![3], first, then: Some(then) };
    let buffer = |name: &str, is_output: bool, values: Vec<f64>| CapturedBuffer {
        name: name.to_owned(),
        shape: vec![1, 4],
        is_output,
        values,
    };
    let captured = Captured {
        case: "n = 4".to_owned(),
        sizes: Vec::new(),
        buffers: vec![buffer("x", false, vec![1.0, 2.0, 3.0, 1204.5]), buffer("y", true, vec![0.25; 4])],
    };
    let script = move |job: &Job| {
        let mut events = answer(job);
        for event in &mut events {
            if let Event::Verdict(verdict) = event {
                verdict.captured = Some(captured.clone());
                verdict.cases[0].first_nonfinite = Some(found.clone());
            }
        }
        Some(events)
    };
    let mut window = Window::open(false, SIZE, Box::new(script));
    window.paste_kernel(&unguarded().replace("a[i] + b[i]", "a[i] - b[i]"));
    window.key(Modifiers::COMMAND, Key::Enter);
    assert!(window.has(&format!("∞ {sentence}")), "{}", window.text());
    assert!(window.has("Fault on line 3") && window.has("Fault on line 5"), "both lines are marked");
    window.harness.get_all_by_label("line 3").next().expect("a link").click();
    window.settle();
    assert_eq!(window.app().state.desk().expect("a text").editor.cursor_position().0, 3);
    let traced = window.app().state.desk().and_then(|desk| desk.traced.as_ref()).expect("a check");
    assert_eq!(traced.captured.as_ref().map(|captured| captured.buffers.len()), Some(2));
}
