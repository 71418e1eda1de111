//! The quiz panel as a learner uses it.

mod predictions;
#[path = "../support/mod.rs"]
mod support;
#[path = "../window_support/mod.rs"]
mod window_support;

use curriculum::quiz::{Choice, Kind, PredictAction, PredictKernel, PredictRun, Question, Quiz, Trap};
use curriculum::review::Date;
use curriculum::store::{AnswerProgress, Given};
use curriculum::{Reflection, Step};
use egui::Key;
use egui_kittest::kittest::Queryable;
use lockstep::command::Command;
use lockstep::widgets::quiz::{self, QuizAction, QuizState, Reflections};
use std::cell::RefCell;
use window_support::{SIZE, Window, simple_script};

fn choice(text: &str, right: bool, why: &str) -> Choice {
    Choice { text: text.into(), right, why: why.into() }
}

#[test]
fn questions_come_one_at_a_time_with_the_score_and_a_way_to_each() {
    let quiz = sample();
    let state = RefCell::new(QuizState::default());
    let mut harness = support::harness(true, [700.0, 700.0], |ui| {
        quiz::show(ui, &quiz, &mut state.borrow_mut());
    });
    harness.run();
    let click = |harness: &mut egui_kittest::Harness<'_>, label: &str| {
        harness.get_by_label(label).click();
        harness.run();
    };
    assert_eq!(harness.query_all_by_label("Check answer").count(), 1, "one question");
    harness.get_by_label("Question 1");
    click(&mut harness, "Writing past the end of `c`");
    click(&mut harness, "Check answer");
    harness.get_by_label("1 of 5 answered, 1 right on the first try");
    harness.get_by_label("Go to question 1, right");
    click(&mut harness, "Next question ›");
    harness.get_by_label("Question 2");
    click(&mut harness, "Go to question 5, open");
    assert!(harness.query_by_label("Next question ›").is_none(), "it is the last");
    click(&mut harness, "‹ Previous question");
    harness.get_by_label("Question 4");
    click(&mut harness, "Show all");
    assert!(harness.query_all_by_label("Check answer").count() > 1);
    // Opened again, it goes on with what is open.
    let kept = AnswerProgress { correct: true, tries: 1, ..AnswerProgress::default() };
    let mut later = QuizState::default();
    later.restore(&quiz, &quiz.questions[0].id, &kept);
    let mut harness = support::harness(true, [700.0, 700.0], |ui| {
        quiz::show(ui, &quiz, &mut later);
    });
    harness.run();
    harness.get_by_label("Question 2");
}

fn question(id: &str, concept: &str, prompt: &str, why: &str, kind: Kind) -> Question {
    Question { id: id.into(), concept: concept.into(), prompt: prompt.into(), why: why.into(), kind }
}

fn sample() -> Quiz {
    let trap = |answer: f64, why: &str| Trap { answer, why: why.into() };
    Quiz {
        questions: vec![
            question(
                "guard",
                "bounds check",
                "With $n = 1000$ and blocks of 256 threads, what does `if (i < n)` prevent?",
                "The last block has 24 threads too many.",
                Kind::Single {
                    choices: vec![
                        choice("Writing past the end of `c`", true, "Threads 1000 to 1023 would write out of bounds."),
                        choice("A race between two blocks", false, "No two threads share an element here."),
                        choice("Uncoalesced stores", false, "Neighbouring lanes write neighbouring elements."),
                    ],
                },
            ),
            question(
                "same-warp",
                "warps",
                "Which threads of a 1-D block share a warp with thread 40?",
                "A warp is 32 consecutive threads: 32 to 63.",
                Kind::Multiple {
                    choices: vec![
                        choice("thread 32", true, "It opens the warp."),
                        choice("thread 31", false, "It closes the warp before."),
                        choice("thread 63", true, "It closes the warp."),
                    ],
                },
            ),
            question(
                "idle",
                "grid size",
                "How many threads do nothing?",
                "4 blocks of 256 make 1024 threads for 1000 elements.",
                Kind::Numeric {
                    answer: 24.0,
                    tolerance: 0.0,
                    unit: "threads".into(),
                    expression: None,
                    traps: vec![trap(1024.0, "That is how many are launched.")],
                    otherwise: "Count the launched threads first.".into(),
                },
            ),
            question(
                "cell",
                "row-major order",
                "Click the element that thread 6 writes, in row-major order of a 3 x 4 matrix.",
                "Row 6 / 4 = 1, column 6 % 4 = 2.",
                Kind::Cell {
                    rows: 3,
                    columns: 4,
                    row_label: "row".into(),
                    column_label: "column".into(),
                    cells: vec![(1, 2)],
                    traps: vec![Trap { answer: (2, 1), why: "That is column-major order.".into() }],
                    otherwise: "Divide by the number of columns.".into(),
                },
            ),
            question(
                "sectors",
                "coalescing",
                "How many sectors does each load of `a` touch?",
                "32 lanes of 4 bytes are 128 bytes: 4 sectors.",
                Kind::Predict {
                    quantity: "load_sectors_per_request".into(),
                    run: PredictRun {
                        exercise: "main".into(),
                        kernel: PredictKernel::Reference,
                        action: PredictAction::Check,
                        case: Some("n = 1024".into()),
                    },
                    relative_tolerance: 0.05,
                    tolerance: 0.0,
                    expected: None,
                    traps: Vec::new(),
                },
            ),
        ],
    }
}

#[test]
fn a_learner_answers_every_kind() {
    let quiz = sample();
    let state = RefCell::new(QuizState::all_in_sight());
    let actions = RefCell::new(Vec::new());
    let mut shots = support::Shots::default();
    for (theme, dark) in [("light", false), ("dark", true)] {
        *state.borrow_mut() = QuizState::all_in_sight();
        actions.borrow_mut().clear();
        let mut harness = support::harness(dark, [700.0, 1480.0], |ui| {
            actions.borrow_mut().extend(quiz::show(ui, &quiz, &mut state.borrow_mut()));
        });
        harness.run();
        shots.shot(&format!("quiz_fresh-{theme}"), &mut harness);

        let check = |harness: &mut egui_kittest::Harness<'_>, nth: usize| {
            harness.get_all_by_label("Check answer").nth(nth).expect("a button").click();
            harness.run();
        };
        // Without an answer the panel says what is missing and sends nothing.
        check(&mut harness, 0);
        assert!(actions.borrow().is_empty());
        harness.get_by_label("Choose one first.");

        harness.get_by_label("A race between two blocks").click();
        harness.run();
        check(&mut harness, 0);
        harness.get_by_label("No two threads share an element here.");
        harness.get_by_label("thread 32").click();
        harness.get_by_label("thread 63").click();
        harness.run();
        check(&mut harness, 0);
        harness.get_by_label_contains("Answer to: How many threads").focus();
        harness.run();
        harness.get_by_label_contains("Answer to: How many threads").type_text("1,024 threads");
        harness.run();
        check(&mut harness, 0);
        harness.get_by_label("That is how many are launched.");
        harness.get_by_label("row 2, column 1").click();
        harness.run();
        harness.get_all_by_label("Check answer").last().expect("the grid's button").click();
        harness.run();
        harness.get_by_label("That is column-major order.");

        harness.get_by_label_contains("Answer to: How many sectors").focus();
        harness.run();
        harness.get_by_label_contains("Answer to: How many sectors").type_text("4");
        harness.run();
        harness.get_by_label("Run and compare").click();
        // The spinner asks for frames for ever.
        harness.run_steps(2);
        assert!(matches!(actions.borrow().last(), Some(QuizAction::Run { question, .. }) if question == "sectors"));
        let measured = state.borrow_mut().measured(&quiz, "sectors", Ok(4.0));
        assert!(matches!(measured, Some(QuizAction::Answered { correct: true, .. })));
        harness.run();
        shots.shot(&format!("quiz_answered-{theme}"), &mut harness);

        let score = state.borrow().score(&quiz);
        assert_eq!((score.answered, score.right), (5, 2));
        let sent = actions.borrow().iter().filter(|a| matches!(a, QuizAction::Answered { .. })).count();
        assert_eq!(sent, 4, "one action per first answer; the prediction's came from its run");
    }
}

/// Who was wrong clicks the right cell, and does not have to take the wrong one back first.
#[test]
fn a_click_moves_to_another_cell_where_one_is_asked_for() {
    let mut quiz = sample();
    quiz.questions.retain(|question| question.id == "cell");
    let answer_with = |quiz: &Quiz, cells: [&str; 2]| {
        let state = RefCell::new(QuizState::all_in_sight());
        let mut harness = support::harness(true, [700.0, 500.0], |ui| {
            quiz::show(ui, quiz, &mut state.borrow_mut());
        });
        harness.run();
        for cell in cells {
            harness.get_by_label(cell).click();
            harness.run();
            harness.get_by_label("Check answer").click();
            harness.run();
        }
        harness.query_by_label("✔ Right").is_some()
    };
    assert!(answer_with(&quiz, ["row 2, column 1", "row 1, column 2"]));
    // Where several belong to it they add up.
    if let Kind::Cell { cells, .. } = &mut quiz.questions[0].kind {
        *cells = vec![(0, 0), (1, 2)];
    }
    assert!(answer_with(&quiz, ["row 0, column 0", "row 1, column 2"]));
}

#[test]
fn a_failed_run_leaves_the_question_open() {
    let quiz = sample();
    let mut state = QuizState::default();
    assert_eq!(state.measured(&quiz, "sectors", Ok(4.0)), None, "nothing was predicted");
    assert_eq!(state.score(&quiz).answered, 0);
}

/// Every kind of answer, wrong first and then again, is there after a restart as it was left.
#[test]
fn answers_are_kept_with_what_they_were_told() {
    let quiz = sample();
    let mut before = QuizState::all_in_sight();
    let progress = RefCell::new(std::collections::BTreeMap::new());
    let note = |actions: Vec<QuizAction>| {
        for action in actions {
            let mut progress = progress.borrow_mut();
            match action {
                QuizAction::Answered { question, correct, given } => {
                    let answer = AnswerProgress { correct, tries: 1, given: Some(given), ..AnswerProgress::default() };
                    assert!(progress.insert(question, answer).is_none(), "the first one counts");
                }
                QuizAction::TriedAgain { question, given } => {
                    let answer: &mut AnswerProgress = progress.get_mut(&question).expect("it was answered before");
                    (answer.tries, answer.given) = (answer.tries + 1, Some(given));
                }
                QuizAction::Run { .. } | QuizAction::OpenLink(_) => {}
            }
        }
    };
    {
        let mut harness = support::harness(true, [700.0, 1480.0], |ui| note(quiz::show(ui, &quiz, &mut before)));
        harness.run();
        for label in ["A race between two blocks", "thread 31", "row 2, column 1"] {
            harness.get_by_label(label).click();
            harness.run();
        }
        for (prompt, number) in
            [("Answer to: How many threads", "1,024 threads"), ("Answer to: How many sectors", "32")]
        {
            harness.get_by_label_contains(prompt).focus();
            harness.run();
            harness.get_by_label_contains(prompt).type_text(number);
            harness.run();
        }
        for _ in 0..4 {
            harness.get_all_by_label("Check answer").next().expect("a question to answer").click();
            harness.run();
        }
        harness.get_by_label("Run and compare").click();
        harness.run_steps(2);
        // The second try at the first question is right.
        harness.get_by_label("Writing past the end of `c`").click();
        harness.run();
        harness.get_by_label("Check answer").click();
        harness.run();
    }
    note(before.measured(&quiz, "sectors", Ok(4.0)).into_iter().collect());
    let kept = progress.borrow().clone();
    assert_eq!(kept.len(), 5);
    assert!(kept.values().all(|answer| !answer.correct));
    assert_eq!((kept["guard"].tries, kept["idle"].tries), (2, 1));

    let mut after = QuizState::all_in_sight();
    for (question, answer) in &kept {
        after.restore(&quiz, question, answer);
    }
    let mut shots = support::Shots::default();
    let mut harness = support::harness(true, [700.0, 1480.0], |ui| {
        quiz::show(ui, &quiz, &mut after);
    });
    harness.run();
    let has = |text: &str| harness.query_all_by_label_contains(text).next().is_some();
    assert!(has("Threads 1000 to 1023 would write out of bounds."), "the last answer and what it was told");
    assert!(has("That is how many are launched.") && has("That is column-major order."));
    assert!(has("You predicted 32, this machine measured 4."));
    assert!(has("5 of 5 answered, 0 right on the first try"));
    assert_eq!(harness.get_by_label_contains("Answer to: How many threads").value().as_deref(), Some("1,024 threads"));
    // What a run told cannot be tried again; the other three can.
    assert!(!has("Run and compare") && !has("Predict again"));
    assert_eq!(harness.query_all_by_label("Try again").count(), 3);
    assert_eq!(harness.query_all_by_label("Show the answer").count(), 3);
    shots.shot("quiz_restored-dark", &mut harness);
}

/// The first wrong answer to a question with choices tells what is wrong with it and nothing more; the second one, or
/// who asks, is told everything. What counts is the first.
#[test]
fn the_answer_is_told_after_the_second_wrong_one() {
    let quiz = sample();
    let state = RefCell::new(QuizState::all_in_sight());
    let actions = RefCell::new(Vec::new());
    let mut harness = support::harness(true, [700.0, 1480.0], |ui| {
        actions.borrow_mut().extend(quiz::show(ui, &quiz, &mut state.borrow_mut()));
    });
    harness.run();
    let click = |harness: &mut egui_kittest::Harness<'_>, label: &str| {
        harness.get_all_by_label(label).next().expect(label).click();
        harness.run();
    };
    let has =
        |harness: &egui_kittest::Harness<'_>, text: &str| harness.query_all_by_label_contains(text).next().is_some();
    let mut shots = support::Shots::default();
    // One is right.
    click(&mut harness, "A race between two blocks");
    click(&mut harness, "Check answer");
    assert!(has(&harness, "No two threads share an element here."));
    let told = ["Answer: Writing past", "Threads 1000 to 1023", "24 threads too many"];
    assert!(told.iter().all(|text| !has(&harness, text)), "the first one tells only what is wrong with it");
    click(&mut harness, "Try again");
    assert!(has(&harness, "You gave this answer last time"), "the same again is no try");
    assert!(!has(&harness, "Answer: Writing past"));
    shots.shot("quiz_once_wrong-dark", &mut harness);
    click(&mut harness, "Uncoalesced stores");
    click(&mut harness, "Check answer");
    assert!(has(&harness, "Answer: Writing past the end of c") && has(&harness, "24 threads too many"));
    // Several are right.
    click(&mut harness, "thread 31");
    click(&mut harness, "thread 32");
    click(&mut harness, "Check answer");
    assert!(has(&harness, "It closes the warp before.") && has(&harness, "You also missed a correct answer"));
    assert!(!has(&harness, "It closes the warp.") && !has(&harness, "Answer: thread 32"));
    click(&mut harness, "thread 31");
    click(&mut harness, "Check answer");
    assert!(has(&harness, "you missed a correct answer") && has(&harness, "Answer: thread 32; thread 63"));
    assert!(has(&harness, "It closes the warp."), "what was left out is explained");
    shots.shot("quiz_twice_wrong-dark", &mut harness);
    let answers = actions.borrow();
    let counted: Vec<_> = answers.iter().filter(|action| matches!(action, QuizAction::Answered { .. })).collect();
    assert!(matches!(
        counted[..],
        [QuizAction::Answered { correct: false, .. }, QuizAction::Answered { correct: false, .. }]
    ));
    assert_eq!(answers.iter().filter(|action| matches!(action, QuizAction::TriedAgain { .. })).count(), 2);
    // After a restart it stands there as it was left, and one wrong answer leaves one try.
    let given = |text: &str| Some(Given { answer: vec![text.to_owned()], measured: None });
    for (tries, open) in [(1, false), (2, true)] {
        let mut after = QuizState::all_in_sight();
        let answer = AnswerProgress { tries, given: given("Uncoalesced stores"), ..AnswerProgress::default() };
        after.restore(&quiz, "guard", &answer);
        let mut harness = support::harness(true, [700.0, 1480.0], |ui| {
            quiz::show(ui, &quiz, &mut after);
        });
        harness.run();
        assert_eq!(has(&harness, "Answer: Writing past"), open, "{tries}");
        assert_eq!(has(&harness, "Try again"), !open, "{tries}");
    }
}

/// A day that lacks nothing is done, whichever answer was the last one and whichever day is open.
#[test]
fn a_further_answer_and_a_review_finish_a_day_too() {
    for (reviewed, elsewhere) in [(false, false), (false, true), (true, true)] {
        let mut window = Window::open(true, SIZE, simple_script());
        let day = window.app().state.course.unit("week1/day4").expect("day 4").clone();
        let state = &mut window.harness.state_mut().state;
        let asked: Vec<_> = day.quiz.questions.iter().filter(|question| !question.needs_gpu()).collect();
        for question in &asked {
            state.progress.answered(&day, &question.id, false, Given::default(), Date(1));
        }
        state.progress.passed(&day, "main", Date(1));
        assert!(!state.progress.is_step_done(&day, Step::Verify));
        let (id, question, given) = (day.id.clone(), asked[0].id.clone(), Given::default());
        if elsewhere {
            let other = state.course.unit("week1/day5").expect("day 5").id.clone();
            window.harness.state_mut().command(Command::OpenDay(other));
        }
        let command = match reviewed {
            true => Command::Reviewed { day: id, question, correct: true, given },
            false => Command::TriedAgain { day: Some(id), question, given },
        };
        window.harness.state_mut().command(command);
        assert!(window.app().state.progress.is_step_done(&day, Step::Verify), "{reviewed} {elsewhere}");
    }
}

/// What cannot be read as a number is mended where it stands.
#[test]
fn a_number_that_is_none_keeps_the_keyboard() {
    let mut quiz = sample();
    quiz.questions.retain(|question| question.id == "idle");
    let mut state = QuizState::default();
    let mut harness = support::harness(true, [700.0, 400.0], |ui| {
        quiz::show(ui, &quiz, &mut state);
    });
    harness.run();
    let field = "Answer to: How many threads";
    harness.get_by_label_contains(field).focus();
    harness.run();
    harness.get_by_label_contains(field).type_text("2 MiB");
    harness.run();
    harness.key_press(Key::Enter);
    harness.run();
    assert!(harness.query_by_label("Type a number, with or without threads (found 2 MiB).").is_some());
    assert!(harness.get_by_label_contains(field).is_focused());
}

/// A screen reader hears which of several fields it is in.
#[test]
fn a_reflection_is_named_by_its_question() {
    let ask = |id: &str, ask: &str| Reflection { id: id.into(), ask: ask.into(), think: "More.".into() };
    let asked = [ask("space", "What if the array were **longer**?"), ask("half", "And with 16-bit floats?")];
    let mut state = Reflections::default();
    let mut harness = support::harness(true, [700.0, 500.0], |ui| {
        quiz::reflections_ui(ui, &asked, &mut state);
    });
    harness.run();
    harness.get_by_label("Your answer to: What if the array were longer?").focus();
    harness.run();
    harness.get_by_label("Your answer to: What if the array were longer?").type_text("fewer tests");
    harness.run();
    harness.get_by_label("Your answer to: And with 16-bit floats?");
    drop(harness);
    assert_eq!(state.written("space"), "fewer tests");
}

/// What the course has changed since is not answered with something else.
#[test]
fn an_answer_that_no_longer_fits_is_left_out() {
    let mut quiz = sample();
    let answer = |texts: &[&str]| AnswerProgress {
        given: Some(Given { answer: texts.iter().map(|text| (*text).to_owned()).collect(), measured: None }),
        ..AnswerProgress::default()
    };
    if let Kind::Single { choices } = &mut quiz.questions[0].kind {
        choices.reverse();
    }
    let mut state = QuizState::all_in_sight();
    state.restore(&quiz, "guard", &answer(&["Writing past the end of `c`"]));
    state.restore(&quiz, "same-warp", &answer(&["thread 32", "a choice that is gone"]));
    state.restore(&quiz, "idle", &answer(&["many"]));
    state.restore(&quiz, "cell", &answer(&["9,9"]));
    state.restore(&quiz, "gone", &answer(&["1"]));
    let mut harness = support::harness(true, [700.0, 1480.0], |ui| {
        quiz::show(ui, &quiz, &mut state);
    });
    harness.run();
    let right = harness.query_all_by_label("✔ Right").count();
    let wrong = harness.query_all_by_label("✖ Not quite").count();
    assert_eq!((right, wrong), (1, 0), "found by its words in another place; the others are open");
}
