//! The quiz panel as a learner uses it.

mod support;

use curriculum::quiz::{Choice, Kind, PredictAction, PredictKernel, PredictRun, Question, Quiz, Trap};
use egui_kittest::kittest::Queryable;
use lockstep::widgets::quiz::{self, QuizAction, QuizState};
use std::cell::RefCell;

fn choice(text: &str, right: bool, why: &str) -> Choice {
    Choice { text: text.into(), right, why: why.into() }
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
    let state = RefCell::new(QuizState::default());
    let actions = RefCell::new(Vec::new());
    let mut shots = support::Shots::default();
    for (theme, dark) in [("light", false), ("dark", true)] {
        *state.borrow_mut() = QuizState::default();
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

#[test]
fn a_failed_run_leaves_the_question_open() {
    let quiz = sample();
    let mut state = QuizState::default();
    assert_eq!(state.measured(&quiz, "sectors", Ok(4.0)), None, "nothing was predicted");
    assert_eq!(state.score(&quiz).answered, 0);
}
