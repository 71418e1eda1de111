//! What a screen reader finds: every pane, dialog and visualization is walked node by node. None has a role that says
//! nothing, and no control lacks a name.

mod window_support;

use egui::accesskit::Role;
use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use lockstep::command::{Action, Command};
use lockstep::state::Pane;
use lockstep::viz;
use std::collections::BTreeSet;
use window_support::{SIZE, Window, simple_script, unguarded};

/// Roles of what can be pressed, ticked, turned or written in.
const CONTROLS: [Role; 13] = [
    Role::Button,
    Role::CheckBox,
    Role::RadioButton,
    Role::ComboBox,
    Role::Link,
    Role::Slider,
    Role::SpinButton,
    Role::TextInput,
    Role::MultilineTextInput,
    Role::Tab,
    Role::MenuItem,
    Role::DisclosureTriangle,
    Role::Image,
];

/// What is wrong with the tree as it is now, with where it is.
fn faults(window: &Window, scene: &str, found: &mut BTreeSet<String>) {
    let mut seen = 0;
    for node in window.harness.root().children_recursive() {
        let node = node.accesskit_node();
        seen += 1;
        let name = node.label().or_else(|| node.data().placeholder().map(str::to_owned)).unwrap_or_default();
        let parents = std::iter::successors(node.parent(), |node| node.parent());
        let place = parents.filter_map(|node| node.label()).next().unwrap_or_default();
        if node.role() == Role::Unknown {
            let holds: Vec<_> = node.children().filter_map(|child| child.label()).take(3).collect();
            found
                .insert(format!("{scene}: no role: {name:?} in {place:?} at {:?}, holds {holds:?}", node.raw_bounds()));
        }
        if CONTROLS.contains(&node.role()) && name.trim().is_empty() {
            found.insert(format!("{scene}: {:?} without a name in {place:?} at {:?}", node.role(), node.raw_bounds()));
        }
    }
    assert!(seen > 20, "{scene}: the tree is there");
}

fn show(window: &mut Window, command: Command) {
    window.harness.state_mut().command(command);
    window.settle();
}

#[test]
fn every_node_has_a_role_and_every_control_a_name() {
    let mut found = BTreeSet::new();
    let mut window = Window::open(true, SIZE, simple_script());
    faults(&window, "first sight", &mut found);
    for pane in [Pane::Course, Pane::Lesson, Pane::Editor] {
        assert!(window.harness.query_by_role_and_label(Role::Tab, pane.title()).is_some(), "{pane:?} is a tab");
    }
    window.paste_kernel(&unguarded());
    window.key(Modifiers::COMMAND, Key::Enter);
    show(&mut window, Command::Do(Action::Benchmark));
    show(&mut window, Command::Do(Action::NextHint));
    for pane in Pane::DOCKED {
        show(&mut window, Command::ShowPane(pane));
        faults(&window, pane.title(), &mut found);
    }
    for (id, title) in viz::titles() {
        show(&mut window, Command::ShowVisualization((*id).to_owned()));
        faults(&window, title, &mut found);
    }
    for key in [Key::Num1, Key::Num2, Key::Num3, Key::Num4, Key::Num5] {
        window.key(Modifiers::COMMAND, key);
        // The whole of a long text, not only what is in sight.
        faults(&window, key.name(), &mut found);
    }
    for layout in [Action::LayoutRead, Action::LayoutCode, Action::LayoutProfile] {
        show(&mut window, Command::Do(layout));
        faults(&window, layout.info().text, &mut found);
    }
    let dialogs = [
        Action::Palette,
        Action::GoToLine,
        Action::Settings,
        Action::Shortcuts,
        Action::About,
        Action::ResetToScaffold,
        Action::ResetDay,
        Action::ImportState,
        Action::Profiles,
    ];
    for dialog in dialogs {
        show(&mut window, Command::Do(dialog));
        window.settle();
        faults(&window, dialog.info().text, &mut found);
        show(&mut window, Command::CloseDialog);
    }
    show(&mut window, Command::Do(Action::LayoutCode));
    show(&mut window, Command::Do(Action::Replace));
    faults(&window, "search strip", &mut found);
    show(&mut window, Command::CloseFind);
    window.harness.get_by_label("Code editor").focus();
    window.settle();
    window.type_text("th");
    faults(&window, "completion", &mut found);
    window.key(Modifiers::NONE, Key::Escape);
    window.type_text("readIdx; __ldg(");
    faults(&window, "parameters", &mut found);
    window.key(Modifiers::COMMAND, Key::I);
    faults(&window, "explanation", &mut found);
    window.key(Modifiers::COMMAND, Key::K);
    faults(&window, "second key", &mut found);
    window.key(Modifiers::NONE, Key::Escape);
    for menu in lockstep::command::Menu::ALL {
        window.harness.get_all_by_label(menu.title()).next().expect("a menu").click();
        window.settle();
        faults(&window, menu.title(), &mut found);
        window.key(Modifiers::NONE, Key::Escape);
    }
    show(&mut window, Command::Do(Action::Tour));
    faults(&window, "tour", &mut found);
    let list: Vec<&str> = found.iter().map(String::as_str).collect();
    assert!(list.is_empty(), "{} of them:\n{}", list.len(), list.join("\n"));
}
