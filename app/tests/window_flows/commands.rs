//! Commands: by the palette, by keys one after the other, in menus, and at any time.

use super::window_support::{GOOD, SIZE, Window, simple_script};
use egui::{Event, Key, Modifiers};
use egui_kittest::kittest::Queryable;
use lockstep::command::{Action, Command};

#[test]
fn the_palette_finds_commands_and_days() {
    let mut window = Window::open(true, SIZE, simple_script());
    window.key(Modifiers::COMMAND | Modifiers::SHIFT, Key::P);
    window.type_text("light theme");
    window.key(Modifiers::NONE, Key::Enter);
    assert_eq!(window.app().state.settings.theme, curriculum::store::ThemeChoice::Light);
    assert!(!window.harness.ctx.global_style().visuals.dark_mode);
    window.key(Modifiers::NONE, Key::F1);
    window.type_text("week 3 day 5");
    window.key(Modifiers::NONE, Key::Enter);
    assert!(window.app().state.day().is_some_and(|day| day.address.starts_with("week3/day5")));
    window.open_a_planned_day();
    assert!(window.has("This day is planned"));
}

/// Two keys, one after the other: the second one is never typed, and what it can be is on the screen.
#[test]
fn a_second_key_follows_the_first_and_is_not_typed() {
    let mut window = Window::open(true, SIZE, simple_script());
    window.paste_kernel(GOOD);
    let lead = |window: &mut Window| window.key(Modifiers::COMMAND, Key::K);
    let second = |window: &mut Window, key: Key, text: &str| {
        // As a keyboard sends it: the key, and the letter that it types.
        let pressed =
            |pressed| Event::Key { key, physical_key: None, pressed, repeat: false, modifiers: Modifiers::NONE };
        window.harness.event(pressed(true));
        window.harness.event(Event::Text(text.to_owned()));
        window.harness.event(pressed(false));
        window.settle();
    };
    assert!(!window.has("Light Theme"));
    lead(&mut window);
    assert!(window.has("Light Theme") && window.has("Move Pane") && !window.has("Complete Word"));
    second(&mut window, Key::L, "l");
    assert_eq!(window.app().state.settings.theme, curriculum::store::ThemeChoice::Light);
    assert!(!window.has("Light Theme"), "the list is gone");
    // Neither a wrong key nor taking it back types anything or stays.
    lead(&mut window);
    second(&mut window, Key::Z, "z");
    assert!(window.has("Ctrl+K Z is not a command"));
    lead(&mut window);
    window.key(Modifiers::NONE, Key::Escape);
    assert!(!window.has("Move Pane"));
    assert_eq!(window.text(), GOOD);
    // With Ctrl pressed anew, as other editors have it.
    lead(&mut window);
    for (key, pressed) in [(Key::ControlLeft, true), (Key::D, true), (Key::D, false), (Key::ControlLeft, false)] {
        let modifiers = Modifiers::COMMAND;
        window.harness.event(Event::Key { key, physical_key: None, pressed, repeat: false, modifiers });
        window.harness.step();
    }
    assert_eq!(window.app().state.settings.theme, curriculum::store::ThemeChoice::Dark);
    // Both keys within one frame, as a slow frame brings them.
    let key = |key, modifiers| Event::Key { key, physical_key: None, pressed: true, repeat: false, modifiers };
    window.harness.event(key(Key::K, Modifiers::COMMAND));
    window.harness.event(key(Key::L, Modifiers::NONE));
    window.harness.event(Event::Text("l".to_owned()));
    window.settle();
    assert_eq!(window.app().state.settings.theme, curriculum::store::ThemeChoice::Light);
    assert_eq!(window.text(), GOOD);
    // With Ctrl still held a system sends a wish to copy.
    lead(&mut window);
    window.harness.event(Event::Copy);
    window.settle();
    assert!(!window.has("Move Pane") && window.text() == GOOD);
    window.type_text("x");
    assert_ne!(window.text(), GOOD, "after that keys type again");
    // By mouse: a click on a row does it, one elsewhere takes it back.
    lead(&mut window);
    window.click("Dark Theme");
    assert_eq!(window.app().state.settings.theme, curriculum::store::ThemeChoice::Dark);
    lead(&mut window);
    window.harness.get_by_label("Code editor").click();
    window.settle();
    assert!(!window.has("Move Pane"));
}

#[test]
fn every_action_can_be_done_at_any_time() {
    let mut window = Window::open(true, SIZE, simple_script());
    // In each layout, where there is room and where there is hardly any.
    for (layout, size) in [
        (Action::LayoutRead, SIZE),
        (Action::LayoutCode, SIZE),
        (Action::LayoutProfile, SIZE),
        (Action::LayoutCode, [640.0, 400.0]),
    ] {
        window.harness.set_size(size.into());
        for action in Action::ALL {
            // These open system dialogs or end the window.
            if matches!(action, Action::ImportKernel | Action::ExportKernel | Action::Quit) {
                continue;
            }
            window.do_command(Command::Do(layout));
            window.do_command(Command::Do(action));
            window.do_command(Command::CloseDialog);
        }
    }
    // And with no day open.
    window.harness.state_mut().state.view.day = None;
    window.harness.state_mut().state.desk = None;
    for action in Action::ALL {
        if !matches!(action, Action::ImportKernel | Action::ExportKernel | Action::Quit) {
            window.do_command(Command::Do(action));
            window.do_command(Command::CloseDialog);
        }
    }
}

#[test]
fn every_action_is_in_a_menu() {
    use lockstep::command::Menu;
    let mut window = Window::open(true, SIZE, simple_script());
    for menu in Menu::ALL {
        window.click(menu.title());
        for action in Action::ALL.into_iter().filter(|action| action.info().menu == menu) {
            assert!(window.has(action.info().text), "{} is not in {}", action.info().text, menu.title());
        }
        window.key(Modifiers::NONE, Key::Escape);
    }
}
