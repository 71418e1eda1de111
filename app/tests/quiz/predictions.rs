//! Numbers that a learner predicts and the program measures.

use super::window_support::{SIZE, Window, answer, simple_script};
use curriculum::Step;
use curriculum::review::Date;
use curriculum::store::Given;
use egui::{Key, Modifiers};
use egui_kittest::kittest::Queryable;
use gpu_core::bench::{BenchPoint, BenchReport};
use gpu_core::emulator::{Counters, Traffic};
use gpu_core::job::{Event, Job, Outcome};
use lockstep::command::{Action, Command};
use lockstep::effect::Update;
use lockstep::state::Compiler;

/// A benchmark that measured this many sectors for each load.
fn bench_of_sectors(case: &str, sectors: u64) -> Vec<Event> {
    let point = BenchPoint {
        name: case.into(),
        timing: None,
        stats: None,
        flops: 0.0,
        bytes: 0.0,
        share_of_ceiling: None,
        bound: String::new(),
        copy: None,
        reference: None,
        against_reference: None,
        library: None,
        rivals: Vec::new(),
        counters: Some(Counters {
            global_load: Traffic { requests: 64, sectors: 64 * sectors, bytes: 8192 },
            ..Counters::default()
        }),
        lines: Vec::new(),
        caveats: Vec::new(),
        steps: Vec::new(),
        workspace_bytes: 0,
        rejected: None,
    };
    let report = BenchReport {
        device: "emulator".into(),
        passed_check: true,
        points: vec![point],
        milestones: Vec::new(),
        summary: String::new(),
        when_unix_s: 0,
        ceilings: None,
        kernel: gpu_core::bench::KernelFacts::default(),
    };
    vec![Event::Bench(Box::new(report)), Event::Finished(Outcome::Done)]
}

fn predict(window: &mut Window, question: &str, number: &str) {
    window.key(Modifiers::COMMAND, Key::Num5);
    if window.has("Show all") {
        window.harness.get_by_label("Show all").click_accesskit();
        window.settle();
    }
    let field = format!("Answer to: {question}");
    window.harness.get_by_label_contains(&field).focus();
    window.settle();
    window.type_text(number);
    window.key(Modifiers::NONE, Key::Enter);
}

/// Without a GPU a measured time cannot be predicted, and the day comes to its end all the same.
#[test]
fn a_question_for_a_gpu_keeps_no_day_open() {
    let mut window = Window::open(true, SIZE, simple_script());
    let day = window.app().state.course.unit("week1/day4").expect("day 4").clone();
    let (asked, extra): (Vec<_>, Vec<_>) = day.quiz.questions.iter().partition(|question| !question.needs_gpu());
    assert!(!extra.is_empty());
    window.key(Modifiers::COMMAND, Key::Num5);
    predict(&mut window, "On a GPU: predict how close", "100");
    assert!(window.has("Only a GPU can measure this time"));
    let is_done = |window: &Window| window.app().state.progress.is_step_done(&day, Step::Verify);
    let state = &mut window.harness.state_mut().state;
    state.progress.passed(&day, "main", state.today);
    for question in asked {
        assert!(!is_done(&window), "{} is still open", question.id);
        window.harness.state_mut().state.answered_of(&day.id, &question.id, true, Given::default());
    }
    assert!(is_done(&window));
}

/// Days 4 and 5 have a prediction of the same id: the run for one must not answer the other.
#[test]
fn a_prediction_is_marked_on_the_day_that_asked() {
    let script = |job: &Job| if let Job::Bench { .. } = job { None } else { Some(answer(job)) };
    let mut window = Window::open(true, SIZE, Box::new(script));
    let ids = ["week1/day4", "week1/day5"].map(|address| {
        let day = window.app().state.course.unit(address).expect(address);
        assert!(day.quiz.question("predict-sectors").is_some(), "{address} asks it too");
        day.id.clone()
    });
    predict(&mut window, "A warp of the plain solution", "4");
    assert!(window.app().state.is_running() && window.has("Running; the answer is what it measures."));
    window.harness.state_mut().command(Command::OpenDay(ids[1].clone()));
    window.settle();
    window.engine.0.borrow_mut().answer(bench_of_sectors("n = 65536", 4));
    window.settle();
    let answered = |window: &Window, id: &str| {
        window.app().state.progress.days.get(id).and_then(|day| Some(day.answers.get("predict-sectors")?.correct))
    };
    assert_eq!(answered(&window, &ids[0]), Some(true), "the day that asked is answered");
    assert_eq!(answered(&window, &ids[1]), None, "the day that is open is not");
    let score = |window: &Window| window.has(" answered, 1 right on the first try");
    window.key(Modifiers::COMMAND, Key::Num5);
    assert!(!score(&window), "day 5 shows no answer");
    window.harness.state_mut().command(Command::OpenDay(ids[0].clone()));
    window.settle();
    window.key(Modifiers::COMMAND, Key::Num5);
    assert!(score(&window) && window.has("128 / 32 = 4 sectors"), "day 4 explains its answer");
}

#[test]
fn a_prediction_without_a_compiler_says_so_and_stays_open() {
    let mut window = Window::open(true, SIZE, simple_script());
    window
        .harness
        .state_mut()
        .inject(Update::Compiler(Compiler::Missing { message: "none".into(), download_bytes: 1 }));
    window.settle();
    predict(&mut window, "A warp of the plain solution", "4");
    assert!(window.has("It needs the CUDA compiler"));
    assert!(!window.has("Running; the answer is what it measures."), "nothing runs, so nothing is waited for");
    assert!(window.app().state.progress.days.values().all(|day| day.answers.is_empty()));
}

/// A missed prediction comes back in a review, and is measured there.
#[test]
fn a_prediction_is_reviewed_by_a_run() {
    let script = |job: &Job| if let Job::Bench { .. } = job { None } else { Some(answer(job)) };
    let mut window = Window::open(true, SIZE, Box::new(script));
    let day = window.app().state.course.unit("week1/day4").expect("a day").clone();
    let app = window.harness.state_mut();
    let yesterday = Date(app.state.today.0 - 1);
    app.state.progress.answered(&day, "predict-sectors", false, Given::default(), yesterday);
    app.command(Command::Do(Action::Review));
    window.settle();
    let field = "Answer to: A warp of the plain solution";
    window.harness.get_by_label_contains(field).focus();
    window.settle();
    window.type_text("4");
    window.key(Modifiers::NONE, Key::Enter);
    assert!(window.app().state.is_running(), "{:?}", window.app().state.log.last());
    window.engine.0.borrow_mut().answer(bench_of_sectors("n = 65536", 4));
    window.settle();
    assert!(window.has("1 of 1 answered, 1 right on the first try"));
    let progress = &window.app().state.progress;
    let answer = &progress.days[&day.id].answers["predict-sectors"];
    assert_eq!((answer.correct, answer.tries), (true, 2));
    assert_eq!(answer.given.as_ref().and_then(|given| given.measured), Some(4.0));
    let card = progress.review[&format!("{}/predict-sectors", day.id)];
    assert!(card.due > window.app().state.today, "it rests now");
}
