//! Tab, Shift+Tab, F6 and Escape: everything can be reached without a mouse, nothing holds the keyboard, and where it is
//! can be seen. Walks what screen readers are told (AccessKit), layout by layout and dialog by dialog.

mod window_support;

use egui::accesskit;
use egui::{Key, Modifiers};
use egui_kittest::kittest::{AccessKitNode, NodeT, Queryable};
use lockstep::command::{Action, Command};
use lockstep::effect::Update;
use lockstep::state::Pane;
use std::collections::BTreeMap;
use window_support::{GOOD, SIZE, Window, simple_script, unguarded};

/// More stops than any window has.
const MOST_STOPS: usize = 600;

/// Controls by number, with role and name for messages.
type Controls = BTreeMap<u64, String>;

fn number(node: &AccessKitNode<'_>) -> u64 {
    node.locate().0.0
}

fn name(node: &AccessKitNode<'_>) -> String {
    let words = node.label().or_else(|| node.value()).unwrap_or_default();
    let place = node.bounding_box().map(|rect| format!(" at {:.0}, {:.0}", rect.x0, rect.y0)).unwrap_or_default();
    format!("{:?} {words:?}{place}", node.role())
}

/// Every control that can have the keyboard.
fn controls(window: &Window) -> Controls {
    let root = window.harness.root();
    let nodes = root.children_recursive().map(|node| node.accesskit_node());
    let focusable = nodes.filter(|node| !node.is_disabled() && node.data().supports_action(accesskit::Action::Focus));
    focusable.map(|node| (number(&node), name(&node))).collect()
}

/// Who has the keyboard, and where that is.
struct Stop {
    id: u64,
    name: String,
    area: egui::Rect,
}

fn focused(window: &Window) -> Option<Stop> {
    let root = window.harness.root();
    let node = root.children_recursive().map(|node| node.accesskit_node()).find(AccessKitNode::is_focused)?;
    let area = node.bounding_box().map_or(egui::Rect::NOTHING, |rect| {
        egui::Rect::from_min_max(egui::pos2(rect.x0 as f32, rect.y0 as f32), egui::pos2(rect.x1 as f32, rect.y1 as f32))
    });
    Some(Stop { id: number(&node), name: name(&node), area })
}

fn act(window: &mut Window, action: Action) {
    window.harness.state_mut().command(Command::Do(action));
    window.settle();
}

/// One key, and as many frames as it takes for the keyboard to be where it goes.
fn press(window: &mut Window, modifiers: Modifiers, key: Key) {
    window.harness.key_press_modifiers(modifiers, key);
    window.harness.run_steps(3);
}

/// Goes round once, forward or back. The editor keeps Tab, as the status strip says: F6 leads out of it.
fn walk(window: &mut Window, back: bool) -> Controls {
    let shift = if back { Modifiers::SHIFT } else { Modifiers::NONE };
    let mut seen = Controls::new();
    for _ in 0..MOST_STOPS {
        let key =
            if focused(window).is_some_and(|stop| stop.name.contains("Code editor")) { Key::F6 } else { Key::Tab };
        press(window, shift, key);
        let Some(stop) = focused(window) else { continue };
        assert!(stop.area.is_positive(), "{} has no place on the screen", stop.name);
        let screen = egui::Rect::from_min_size(egui::Pos2::ZERO, SIZE.into());
        assert!(screen.intersects(stop.area), "{} has the keyboard out of sight, at {}", stop.name, stop.area);
        // F6 leads past some of what is behind the editor, so that the first stop may be none of the round.
        if seen.insert(stop.id, stop.name).is_some() {
            return seen;
        }
    }
    panic!(
        "after {MOST_STOPS} steps Tab is not back where it began; last at {:?}",
        focused(window).map(|stop| stop.name)
    );
}

/// Both ways round, every control is met.
fn check_walks(window: &mut Window, place: &str, wanted: impl Fn(&Window) -> Controls) {
    let forward = walk(window, false);
    let back = walk(window, true);
    let missed: Vec<String> = wanted(window)
        .into_iter()
        .filter(|(id, _)| !forward.contains_key(id) && !back.contains_key(id))
        .map(|(_, name)| name)
        .collect();
    assert!(missed.is_empty(), "{place}: the keyboard never reaches {missed:#?}");
    println!("{place}: {} stops forward, {} back", forward.len(), back.len());
}

#[test]
fn every_control_of_every_layout_is_reached() {
    let mut window = Window::open(true, SIZE, simple_script());
    window.paste_kernel(&unguarded());
    window.key(Modifiers::COMMAND, Key::Enter);
    for action in [Action::LayoutRead, Action::LayoutCode, Action::LayoutProfile] {
        act(&mut window, action);
        check_walks(&mut window, action.info().text, controls);
    }
    act(&mut window, Action::LayoutRead);
    window.paste_kernel(GOOD);
    window.key(Modifiers::COMMAND, Key::Enter);
    for action in
        [Action::StepExplore, Action::StepConcept, Action::StepCodeIt, Action::StepVerify, Action::Find, Action::Tour]
    {
        act(&mut window, action);
        check_walks(&mut window, action.info().text, controls);
    }
}

#[test]
fn every_control_of_panes_on_request_is_reached() {
    let mut window = Window::open(false, SIZE, simple_script());
    window.paste_kernel(&unguarded());
    window.key(Modifiers::COMMAND, Key::Enter);
    for pane in [Pane::Problems, Pane::Console, Pane::Counters, Pane::Compiled, Pane::Timing, Pane::Compare] {
        window.harness.state_mut().command(Command::ShowPane(pane));
        window.settle();
        check_walks(&mut window, pane.title(), controls);
    }
    for action in [Action::ShowProgress, Action::SearchCourse, Action::ReadyCheck, Action::ShowLog] {
        act(&mut window, action);
        window.until("the check", |app| app.state.ready.value().is_some() || !app.state.is_in_sight(Pane::Ready));
        window.settle();
        check_walks(&mut window, action.info().text, controls);
    }
}

const DIALOGS: [Action; 8] = [
    Action::Settings,
    Action::Shortcuts,
    Action::About,
    Action::ShowSolution,
    Action::ResetToScaffold,
    Action::ResetDay,
    Action::ImportState,
    Action::Profiles,
];

fn open_dialog(window: &mut Window, action: Action) {
    if action == Action::Profiles {
        // The names come from the disk; these are the same everywhere.
        window.harness.state_mut().inject(Update::Profiles(vec!["Ada".into(), "Grace".into()]));
        window.settle();
    } else {
        act(window, action);
    }
}

#[test]
fn dialogs_take_the_keyboard_keep_it_and_give_it_back() {
    let mut window = Window::open(true, SIZE, simple_script());
    window.paste_kernel(GOOD);
    for action in DIALOGS {
        let text = action.info().text;
        let behind = controls(&window);
        open_dialog(&mut window, action);
        let stop = focused(&window).unwrap_or_else(|| panic!("{text}: nothing in the dialog has the keyboard"));
        assert!(!behind.contains_key(&stop.id), "{text}: {} is behind the dialog", stop.name);
        let own = |window: &Window| {
            let mut own = controls(window);
            own.retain(|id, _| !behind.contains_key(id));
            own
        };
        check_walks(&mut window, text, own);
        let around = walk(&mut window, false);
        assert!(around.keys().all(|id| !behind.contains_key(id)), "{text}: Tab leaves the dialog: {around:#?}");
        press(&mut window, Modifiers::NONE, Key::Escape);
        window.settle();
        assert!(window.app().state.dialog.is_none(), "{text}: Escape closes it");
        let stop = focused(&window).unwrap_or_else(|| panic!("{text}: nobody has the keyboard afterwards"));
        assert!(stop.name.contains("Code editor"), "{text}: the keyboard is back in the text, not at {}", stop.name);
    }
}

#[test]
fn the_palette_and_go_to_line_are_used_with_keys_alone() {
    let mut window = Window::open(true, SIZE, simple_script());
    window.paste_kernel(GOOD);
    for action in [Action::Palette, Action::GoToLine] {
        act(&mut window, action);
        let stop = focused(&window).expect("the text box has the keyboard");
        assert!(stop.name.starts_with("TextInput"), "{}", stop.name);
        press(&mut window, Modifiers::NONE, Key::Escape);
        window.settle();
        assert!(window.app().state.dialog.is_none() && focused(&window).is_some());
    }
    act(&mut window, Action::Palette);
    window.type_text("day 5");
    window.key(Modifiers::NONE, Key::Enter);
    let found = window.app().state.day().map(|day| day.address.clone());
    assert!(found.is_some_and(|address| address.starts_with("week1/day5")), "the words together come first");
}

/// Every picture can be had on every day, also on one that is only planned.
#[test]
fn every_visualization_is_found_by_name_in_the_palette() {
    let mut window = Window::open(true, SIZE, simple_script());
    for (id, title) in lockstep::viz::titles() {
        act(&mut window, Action::Palette);
        window.type_text(title);
        window.key(Modifiers::NONE, Key::Enter);
        assert_eq!(window.app().state.view.visualization.as_deref(), Some(*id), "{title}");
        assert!(window.app().state.is_in_sight(Pane::Visualization) && window.app().state.dialog.is_none());
        assert_eq!(window.app().state.view.focus.0, Pane::Visualization, "{title}");
    }
    window.open_a_planned_day();
    assert!(!window.app().state.is_in_sight(Pane::Visualization), "the planned day has none of its own");
    act(&mut window, Action::Palette);
    window.type_text("roofline");
    window.key(Modifiers::NONE, Key::Enter);
    assert!(window.app().state.is_in_sight(Pane::Visualization) && window.has("Roofline"));
}

/// A screen reader is told where each pane is, so that it can follow the mouse and draw its frame.
#[test]
fn panes_tell_where_they_are() {
    for size in [SIZE, [1920.0, 1080.0]] {
        let window = Window::open(true, size, simple_script());
        let root = window.harness.root();
        assert_eq!(root.accesskit_node().label().as_deref(), Some("Lockstep"), "{:?}", root.accesskit_node().role());
        let window_area = egui::Rect::from_min_size(egui::Pos2::ZERO, size.into());
        // The strips at the top and the bottom have this role too, and no name.
        let regions = window.harness.get_all_by_role(accesskit::Role::Pane);
        let regions: Vec<_> = regions.filter(|region| region.accesskit_node().label().is_some()).collect();
        assert!(regions.len() >= 3, "{} panes", regions.len());
        for region in &regions {
            let area = region.rect();
            assert!(
                area.is_positive() && window_area.contains_rect(area),
                "{:?}: {area:?}",
                region.accesskit_node().label()
            );
        }
        let editor = window.harness.get_by_label("Code editor").rect();
        let around = regions.iter().filter(|region| region.rect().contains_rect(editor.shrink(1.0))).count();
        assert_eq!(around, 1, "the editor lies in its pane");
    }
}

/// What a control looks like with the keyboard differs from how it looks without.
#[test]
fn where_the_keyboard_is_can_be_seen() {
    for dark in [true, false] {
        let mut window = Window::open(dark, SIZE, simple_script());
        window.paste_kernel(&unguarded());
        window.key(Modifiers::COMMAND, Key::Enter);
        // A picture for each stop takes its time: the panes in one theme are enough, for rings are drawn alike in both.
        if dark {
            act(&mut window, Action::LayoutCode);
            check_rings(&mut window);
        }
        for action in [Action::Settings, Action::ResetToScaffold] {
            open_dialog(&mut window, action);
            check_rings(&mut window);
            window.harness.state_mut().command(Command::CloseDialog);
            window.settle();
        }
    }
}

fn check_rings(window: &mut Window) {
    let mut seen = std::collections::BTreeSet::new();
    let mut before = window.harness.render().expect("a picture");
    let mut with: Option<Stop> = None;
    for _ in 0..MOST_STOPS {
        let in_editor = focused(window).is_some_and(|stop| stop.name.contains("Code editor"));
        press(window, Modifiers::NONE, if in_editor { Key::F6 } else { Key::Tab });
        let now = window.harness.render().expect("a picture");
        if let Some(stop) = with.take() {
            let area = stop.area.expand(3.0);
            let differs = before
                .enumerate_pixels()
                .any(|(x, y, pixel)| area.contains(egui::pos2(x as f32, y as f32)) && now.get_pixel(x, y) != pixel);
            assert!(differs, "{} looks the same with the keyboard and without", stop.name);
        }
        before = now;
        let Some(stop) = focused(window) else { continue };
        if !seen.insert(stop.id) {
            return;
        }
        with = Some(stop);
    }
    panic!("Tab never came back");
}

/// A step may bring another pane in front of the one whose tab has the keyboard.
#[test]
fn the_keyboard_does_not_stay_on_the_tab_of_a_hidden_pane() {
    let mut window = Window::open(true, SIZE, simple_script());
    act(&mut window, Action::ShowCourseMap);
    assert!(focused(&window).is_some_and(|stop| stop.name.contains("Course map")), "its tab has the keyboard");
    act(&mut window, Action::StepCodeIt);
    assert!(window.app().state.is_in_sight(Pane::Editor) && !window.app().state.is_in_sight(Pane::Visualization));
    let stop = focused(&window).map(|stop| stop.name);
    assert!(stop.as_ref().is_some_and(|name| name.contains("Code editor")), "the keyboard is at {stop:?}");
}
