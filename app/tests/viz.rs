//! Walks the list of visualizations: pictures in both themes, words, and traces that are broken in every way.

mod support;

use egui_kittest::kittest::{NodeT, Queryable};
use gpu_core::emulator::{AccessKind, Space, StepAccess, Trace};
use lockstep::viz::{self, Visualization, VizInput};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashSet};

const SIZE: [f32; 2] = [760.0, 700.0];

#[test]
fn every_example_looks_right() {
    let mut shots = support::Shots::default();
    // Each in both themes, and the last step shows what the first cannot: the first is taken in one theme, the last in the
    // other, which is half as many pictures.
    for (id, dark) in viz::all().iter().flat_map(|viz| [(viz.id(), false), (viz.id(), true)]) {
        let mut viz = viz::by_id(id).expect("an id of the list");
        let mut harness = support::harness(dark, SIZE, |ui| {
            viz.ui(ui, &VizInput::default());
        });
        harness.run();
        if !dark {
            shots.shot(&format!("viz_{id}-light"), &mut harness);
            continue;
        }
        focus_figure(&harness);
        harness.run();
        harness.key_press(egui::Key::End);
        harness.run();
        shots.shot(&format!("viz_{id}_last-dark"), &mut harness);
    }
}

/// Gives the keyboard to the picture.
fn focus_figure(harness: &egui_kittest::Harness<'_>) {
    let is_figure = |node: &egui_kittest::Node<'_>| node.accesskit_node().role() == egui::Role::Figure;
    harness.root().children_recursive().find(is_figure).expect("a picture that takes the keyboard").focus();
}

/// In a side panel, and without a trace.
#[test]
fn every_visualization_fits_a_narrow_pane_and_an_empty_run() {
    let empty = Trace { kernel: "nothing".into(), grid: [1, 1, 1], block: [32, 1, 1], ..Trace::default() };
    let mut shots = support::Shots::default();
    for viz in viz::all() {
        let id = viz.id();
        shots.in_theme(false, &format!("viz_{id}_narrow"), [340.0, 780.0], || {
            let mut viz = viz::by_id(id).expect("an id of the list");
            move |ui: &mut egui::Ui| {
                viz.ui(ui, &VizInput::default());
            }
        });
        let empty = empty.clone();
        shots.in_theme(true, &format!("viz_{id}_empty"), [620.0, 360.0], move || {
            let mut viz = viz::by_id(id).expect("an id of the list");
            let empty = empty.clone();
            move |ui: &mut egui::Ui| {
                viz.ui(ui, &VizInput { trace: Some(&empty), ..VizInput::default() });
            }
        });
    }
}

#[test]
fn ids_are_unique_and_titles_are_given() {
    let mut seen = HashSet::new();
    for viz in viz::all() {
        assert!(seen.insert(viz.id()), "{} is there twice", viz.id());
        assert!(curriculum::is_slug(viz.id()), "{} must be lower-case words with hyphens", viz.id());
        assert!(!viz.title().is_empty());
    }
}

#[test]
fn every_visualization_says_what_it_shows() {
    for viz in viz::all() {
        let words = viz.describe(&VizInput::default());
        assert!(words.len() > 40, "{}: {words:?}", viz.id());
        let empty = Trace::default();
        let words = viz.describe(&VizInput { trace: Some(&empty), ..VizInput::default() });
        assert!(!words.is_empty(), "{} says nothing of an empty trace", viz.id());
    }
}

/// Left and right move by one step and back, with the keyboard alone; the words follow.
#[test]
fn every_visualization_steps_both_ways_by_keyboard() {
    for viz in viz::all() {
        let id = viz.id();
        let viz = RefCell::new(viz);
        let mut harness = support::harness(true, SIZE, |ui| {
            viz.borrow_mut().ui(ui, &VizInput::default());
        });
        harness.run();
        let words = || viz.borrow().describe(&VizInput::default());
        focus_figure(&harness);
        harness.run();
        harness.key_press(egui::Key::Home);
        harness.run();
        let first = words();
        let mut seen = vec![first.clone()];
        for _ in 0..5 {
            harness.key_press(egui::Key::ArrowRight);
            harness.run();
            seen.push(words());
            seen.dedup();
        }
        assert!(seen.iter().any(|w| *w != first), "{id} does not move");
        for expected in seen.iter().rev().skip(1) {
            harness.key_press(egui::Key::ArrowLeft);
            harness.run();
            assert_eq!(words(), *expected, "{id} does not step back the way it came");
        }
        harness.key_press(egui::Key::End);
        harness.run();
        harness.key_press(egui::Key::Home);
        harness.run();
        assert_eq!(words(), first, "{id} does not go back to its start");
    }
}

/// Shows a trace, steps through it and asks for the words.
fn visit(viz: &mut dyn Visualization, trace: &Trace, steps: usize) {
    let input = VizInput { trace: Some(trace), source: Some("one\ntwo\n"), ..VizInput::default() };
    let cell = RefCell::new(viz);
    let mut harness = support::harness(false, [620.0, 600.0], |ui| {
        cell.borrow_mut().ui(ui, &input);
    });
    harness.step();
    if let Some(next) = harness
        .query_all_by_role(egui::Role::Button)
        .find(|node| node.accesskit_node().label().is_some_and(|label| label.starts_with("Next")))
    {
        for _ in 0..steps {
            next.click();
        }
    }
    for _ in 0..steps {
        harness.step();
    }
    drop(harness);
    assert!(!cell.into_inner().describe(&input).is_empty());
}

#[test]
fn a_click_on_another_line_of_the_kernel_shows_that_line() {
    for id in ["coalescing", "bank-conflicts"] {
        let viz = RefCell::new(viz::by_id(id).expect("a visualization"));
        let mut trace = viz.borrow().example();
        // Loads and stores that the example has at one line, on lines of their own.
        for (at, instruction) in trace.instructions.iter_mut().enumerate() {
            if let Some(source) = &mut instruction.source {
                source.line = 10 + at as u32;
            }
        }
        let shown = |access: &StepAccess| matches!(access.space, Space::Shared) == (id == "bank-conflicts");
        let touching: BTreeSet<u32> = (trace.warps.iter().flat_map(|warp| &warp.steps))
            .filter(|step| step.access.as_ref().is_some_and(shown))
            .filter_map(|step| Some(trace.instructions.get(step.instruction as usize)?.source.as_ref()?.line))
            .collect();
        let line = Cell::new(1);
        let input = || VizInput { trace: Some(&trace), line: Some(line.get()), ..VizInput::default() };
        let mut harness = support::harness(false, [620.0, 600.0], |ui| {
            viz.borrow_mut().ui(ui, &input());
        });
        harness.run();
        for wanted in touching {
            line.set(wanted);
            harness.run();
            let words = viz.borrow().describe(&input()).to_lowercase();
            assert!(words.contains(&format!("line {wanted}:")), "{id}, line {wanted}: {words}");
        }
    }
}

#[test]
fn traces_cut_short_anywhere_are_shown() {
    for mut viz in viz::all() {
        let whole = viz.example();
        let total: usize = whole.warps.iter().map(|warp| warp.steps.len()).sum();
        for kept in [0, 1, 2, 5, total / 2, total.saturating_sub(1)] {
            let mut cut = whole.clone();
            cut.truncated = true;
            let mut left = kept;
            for warp in &mut cut.warps {
                warp.steps.truncate(left);
                left -= warp.steps.len().min(left);
            }
            cut.warps.retain(|warp| !warp.steps.is_empty());
            visit(viz.as_mut(), &cut, 3);
        }
    }
}

#[test]
fn damaged_traces_are_shown() {
    let damage: [fn(&mut Trace); 8] = [
        |t| t.instructions.clear(),
        |t| t.allocations.clear(),
        |t| t.grid = [0, 0, 0],
        |t| t.block = [0, 0, 0],
        |t| t.block = [u32::MAX, u32::MAX, u32::MAX],
        |t| each_access(t, |access| access.addresses.truncate(3)),
        |t| {
            each_access(t, |access| {
                access.bytes = 0;
                access.allocation = Some(u32::MAX);
                access.addresses.fill(u64::MAX);
            });
        },
        |t| {
            each_access(t, |access| {
                access.kind = AccessKind::AsyncCopy;
                access.space = Space::Generic;
            });
            t.warps.iter_mut().for_each(|warp| warp.warp = u32::MAX);
        },
    ];
    for mut viz in viz::all() {
        for damage in damage {
            let mut trace = viz.example();
            damage(&mut trace);
            visit(viz.as_mut(), &trace, 3);
        }
    }
}

fn each_access(trace: &mut Trace, change: impl Fn(&mut StepAccess)) {
    for step in trace.warps.iter_mut().flat_map(|warp| &mut warp.steps) {
        if let Some(access) = &mut step.access {
            change(access);
        }
    }
}
