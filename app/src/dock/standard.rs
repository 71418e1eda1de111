//! The arrangements that a new window has.

use super::{Arrangement, Layout, Node, Place};
use crate::pane::Pane;
use std::collections::BTreeSet;

/// Opened on request; each then joins its group.
const ASIDE: [Pane; 7] =
    [Pane::Compare, Pane::Search, Pane::Progress, Pane::Ready, Pane::Gallery, Pane::Glossary, Pane::Log];

const COURSE: [Pane; 2] = [Pane::Course, Pane::Search];
const LESSON: [Pane; 5] = [Pane::Lesson, Pane::Progress, Pane::Ready, Pane::Gallery, Pane::Glossary];

pub(super) fn arrangement(place: Place) -> Arrangement {
    let (root, hidden) = match place {
        Place::Wide(Layout::Read) => read(),
        Place::Wide(Layout::Code) => code(),
        Place::Wide(Layout::Profile) => profile(),
        Place::LowProfile => low_profile(),
        Place::Narrow => narrow(),
    };
    let hidden: BTreeSet<Pane> = ASIDE.into_iter().chain(hidden).collect();
    Arrangement { root, hidden }
}

fn results() -> Node {
    use Pane::{Compiled, Console, Counters, Log, Problems, Sandbox, Timing, Verdict};
    Node::tabs(&[Verdict, Problems, Console, Counters, Compiled, Timing, Sandbox, Log])
}

fn work() -> Node {
    Node::tabs(&[Pane::Editor, Pane::Visualization, Pane::Solution, Pane::Compare])
}

/// The first run opens the results; until then the kernel has the room.
fn read() -> (Node, Vec<Pane>) {
    let work = Node::Column(vec![(0.58, work()), (0.42, results())]);
    let root = Node::Row(vec![(0.19, Node::tabs(&COURSE)), (0.37, Node::tabs(&LESSON)), (0.44, work)]);
    (root, Pane::RESULTS.into())
}

fn code() -> (Node, Vec<Pane>) {
    let work = Node::Column(vec![(0.64, work()), (0.36, results())]);
    let root = Node::Row(vec![(0.2, Node::tabs(&COURSE)), (0.34, Node::tabs(&LESSON)), (0.66, work)]);
    (root, vec![Pane::Course])
}

fn profile() -> (Node, Vec<Pane>) {
    use Pane::{Compiled, Console, Counters, Log, Problems, Sandbox, Timing, Verdict, Visualization};
    let left = Node::Column(vec![
        (0.62, Node::tabs(&[Pane::Editor, Pane::Solution, Pane::Compare])),
        (0.38, Node::tabs(&[Counters, Verdict, Problems, Console, Sandbox, Log])),
    ]);
    let right = Node::Column(vec![(0.5, Node::tabs(&[Compiled, Visualization])), (0.5, Node::tabs(&[Timing]))]);
    let root = Node::Row(vec![(0.2, Node::tabs(&COURSE)), (0.34, Node::tabs(&LESSON)), (0.5, left), (0.5, right)]);
    (root, vec![Pane::Course, Pane::Lesson])
}

/// Text on the left, what was made of it on the right, each as high as the window.
fn low_profile() -> (Node, Vec<Pane>) {
    use Pane::{
        Compare, Compiled, Console, Counters, Editor, Log, Problems, Sandbox, Solution, Timing, Verdict, Visualization,
    };
    let left = Node::tabs(&[Editor, Solution, Compare, Problems, Console, Log]);
    let right = Node::tabs(&[Compiled, Timing, Counters, Verdict, Sandbox, Visualization]);
    let root = Node::Row(vec![(0.2, Node::tabs(&COURSE)), (0.34, Node::tabs(&LESSON)), (0.5, left), (0.5, right)]);
    (root, vec![Pane::Course, Pane::Lesson])
}

fn narrow() -> (Node, Vec<Pane>) {
    let mut panes = vec![Pane::Lesson, Pane::Editor];
    panes.extend(Pane::DOCKED.into_iter().filter(|pane| !matches!(pane, Pane::Lesson | Pane::Editor)));
    (Node::tabs(&panes), Vec::new())
}
