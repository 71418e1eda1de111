//! The editor as a learner uses it, by keyboard and accessible label, with a scripted engine.

mod window_support;

use egui::{Key, Modifiers};
use egui_kittest::kittest::{NodeT as _, Queryable};
use gpu_core::job::{Event, Job, Outcome};
use lockstep::command::{Action, Command};
use lockstep::state::{JobKey, LabKey, Pane};
use window_support::{GOOD, SIZE, Window, answer, compiled, simple_script};

fn open() -> Window {
    let mut window = Window::open(true, SIZE, simple_script());
    window.paste_kernel(GOOD);
    window
}

fn cursor(window: &Window) -> (usize, usize) {
    window.app().state.desk().expect("a text").editor.cursor_position()
}

fn go_to(window: &mut Window, line: u32, column: u32) {
    window.harness.state_mut().command(Command::GoToLine { line, column });
    window.settle();
}

fn show_listing(window: &mut Window) {
    window.harness.state_mut().command(Command::ShowPane(Pane::Compiled));
    window.settle();
}

#[test]
fn a_word_is_completed_by_keyboard_with_its_documentation() {
    let mut window = open();
    go_to(&mut window, 6, 5);
    for letter in "syncth".chars() {
        window.type_text(&letter.to_string());
    }
    assert!(window.has("__syncthreads_count"), "others that fit");
    assert!(window.has("Waits until every thread of the block is here"), "one line about it");
    assert!(window.has("Synchronization Functions"), "the manual's section");
    window.key(Modifiers::NONE, Key::ArrowDown);
    window.key(Modifiers::NONE, Key::ArrowUp);
    window.key(Modifiers::NONE, Key::Enter);
    assert!(window.text().contains("    __syncthreadsif"), "{}", window.text());
    assert!(!window.has("__syncthreads_count"), "the list is closed");
    // The next Enter is a line again, and Escape closes the list and nothing else.
    window.key(Modifiers::NONE, Key::Enter);
    assert_eq!(cursor(&window).0, 7);
    window.type_text("th");
    window.type_text("re");
    let listed = |window: &Window| window.harness.query_all_by_label("threadIdx").next().is_some();
    assert!(listed(&window));
    window.key(Modifiers::NONE, Key::Escape);
    assert!(!listed(&window) && window.harness.get_by_label("Code editor").is_focused());
    window.key(Modifiers::CTRL, Key::Space);
    assert!(listed(&window), "asked for by key");
    window.harness.get_by_label("threadIdx").click();
    window.settle();
    assert!(window.text().contains("\n    threadIdxif"), "by mouse: {}", window.text());
    assert!(window.harness.get_by_label("Code editor").is_focused());
}

#[test]
fn words_of_the_text_are_offered_too() {
    let mut window = open();
    go_to(&mut window, 6, 5);
    window.type_text("vect");
    window.key(Modifiers::NONE, Key::Tab);
    assert!(window.text().contains("    vector_addif"), "{}", window.text());
}

#[test]
fn a_builtin_is_explained_by_key() {
    let mut window = open();
    go_to(&mut window, 5, 15);
    assert!(!window.has("This block's index in the grid"));
    window.key(Modifiers::COMMAND, Key::I);
    assert!(window.has("This block's index in the grid"), "blockIdx");
    window.key(Modifiers::NONE, Key::ArrowLeft);
    assert!(!window.has("This block's index in the grid"), "it goes with the next step");
}

#[test]
fn an_expression_is_searched_and_replaced_with_its_groups() {
    let mut window = open();
    window.key(Modifiers::COMMAND, Key::H);
    window.click("Regular expression; $1 in the replacement is its first group");
    window.harness.get_by_label("Find").focus();
    window.settle();
    window.type_text(r"const float\* (\w)");
    assert!(window.has("1 of 2"));
    window.harness.get_by_label("Replace with").focus();
    window.settle();
    window.type_text("const double* in_$1");
    window.click("Replace All");
    assert!(window.has("2 matches replaced; one Undo takes it back"));
    assert!(window.text().contains("const double* in_a, const double* in_b,"), "{}", window.text());
    window.harness.get_by_label("Find").focus();
    window.settle();
    window.type_text("(");
    assert!(window.has("unclosed group"), "what is wrong with it");
}

#[test]
fn hot_lines_are_marked_after_a_run() {
    let mut window = open();
    assert!(!window.has("of the instructions"));
    window.key(Modifiers::COMMAND, Key::Enter);
    assert!(window.has("Line 6: 100.0 % of the instructions"));
    assert!(window.has("4.00 sectors per request, 98 % of them used"));
    // They move with the text.
    go_to(&mut window, 1, 1);
    window.key(Modifiers::NONE, Key::Enter);
    assert!(window.has("Line 7: 100.0 % of the instructions"));
}

/// A compilation that ends after more was typed says nothing about the text that is there now.
#[test]
fn results_of_an_older_text_are_dropped() {
    let script = |job: &Job| match job {
        Job::Compile { source, .. } if source.text.contains("oops") => None,
        job => Some(answer(job)),
    };
    let mut window = Window::open(true, SIZE, Box::new(script));
    window.paste_kernel(&GOOD.replace("a[i] + b[i]", "oops"));
    let asked = |window: &Window| {
        let engine = window.engine.0.borrow();
        engine.jobs.iter().filter(|job| matches!(job, Job::Compile { .. })).count() as u64
    };
    let before = asked(&window);
    let key = window.app().state.desk().and_then(|desk| desk.compiling.clone()).expect("under way");
    window.type_text("x");
    let late = Event::Compiled(Box::new(compiled(&GOOD.replace("a[i] + b[i]", "oops"))));
    let state = &mut window.harness.state_mut().state;
    let _ = state.receive(&key, late);
    assert_eq!(state.desk().expect("a text").editor.marks.iter().count(), 0, "the error is of the text before");
    let _ = state.receive(&key, Event::Finished(Outcome::Done));
    window.settle();
    assert!(asked(&window) > before, "the new text is compiled at once");
    assert_eq!(key.lab, LabKey::Here);
    assert_ne!(window.app().state.desk().and_then(|desk| desk.compiling.clone()), None::<JobKey>);
}

/// PTX of a text: one load for each line that reads `a[i]`, as NVRTC writes places.
fn with_listing(job: &Job) -> Vec<Event> {
    let Job::Compile { source, arch, emit } = job else { return answer(job) };
    let mut report = compiled(&source.text);
    let mut ptx = format!(".version 9.5\n.target {arch}\n.visible .entry vector_add(\n)\n{{\n");
    let mut sass = String::from(".text.vector_add:\n");
    for (index, line) in source.text.lines().enumerate() {
        if line.contains("a[i]") || line.contains("threadIdx") {
            let number = index + 1;
            let extra = if arch == "sm_120a" { "\tfma.rn.f32 \t%f1, %f1, %f1, %f1;\n" } else { "" };
            ptx.push_str(&format!("\t.loc\t1 {number} 5\n\tld.global.f32 \t%f{number}, [%rd{number}];\n{extra}"));
            sass.push_str(&format!(
                "\t//## File \"/kernel.cu\", line {number}\n /*00{index}0*/  LDG.E R{number}, [R2] ;\n"
            ));
        }
    }
    ptx.push_str("\t.loc\t1 7 1\n\tret;\n}\n\t.file\t1 \"kernel.cu\"\n");
    report.ptx = ptx;
    report.arch.clone_from(arch);
    report.sass = emit.sass.then_some(sass);
    if arch == "sm_120a" {
        report.kernels[0].registers = 16;
    }
    vec![Event::Compiled(Box::new(report)), Event::Finished(Outcome::Done)]
}

fn listing(window: &Window) -> String {
    let mut found = window.harness.query_all_by_label_contains(" listing, row ");
    found.next().and_then(|node| node.accesskit_node().label()).unwrap_or_default()
}

#[test]
fn the_listing_and_the_editor_point_at_each_other() {
    let mut window = Window::open(true, SIZE, Box::new(|job| Some(with_listing(job))));
    window.paste_kernel(GOOD);
    show_listing(&mut window);
    go_to(&mut window, 6, 1);
    assert!(listing(&window).contains("source line 6: ld.global.f32 %f6"), "{}", listing(&window));
    assert!(window.has("Line 6: 1 instruction"));
    go_to(&mut window, 5, 1);
    assert!(listing(&window).contains("source line 5: ld.global.f32 %f5"), "{}", listing(&window));
    // And back, by keyboard: the next row is line 6's.
    window.harness.get_by_label_contains(" listing, row ").focus();
    window.settle();
    window.key(Modifiers::NONE, Key::ArrowDown);
    assert_eq!(cursor(&window).0, 6);
    window.key(Modifiers::NONE, Key::ArrowUp);
    assert_eq!(cursor(&window).0, 5);
    window.key(Modifiers::NONE, Key::Enter);
    assert!(window.harness.get_by_label("Code editor").is_focused(), "Enter leads into the text");
    window.click("SASS");
    window.settle();
    assert!(listing(&window).starts_with("SASS listing"), "{}", listing(&window));
    assert!(listing(&window).contains("LDG.E R5"), "{}", listing(&window));
}

#[test]
fn listings_of_two_architectures_and_two_runs_are_compared() {
    use lockstep::versions::{ListingKind, ListingView, Other};
    let mut window = Window::open(false, SIZE, Box::new(|job| Some(with_listing(job))));
    window.paste_kernel(GOOD);
    show_listing(&mut window);
    let compare = |window: &mut Window, other: Option<Other>, kind| {
        let view = ListingView { kind, everything: false, other };
        window.harness.state_mut().command(Command::SetListing(view));
        window.settle();
        window.settle();
    };
    compare(&mut window, Some(Other::Arch("sm_120a".into())), ListingKind::Ptx);
    assert!(window.has("16 → 12"), "registers there and here");
    assert!(window.has("0 rows added, 2 removed"), "the two multiply-adds of the other");
    window.key(Modifiers::COMMAND, Key::Enter);
    window.until("the verdict", |app| !app.state.is_running());
    // The text of the run had one line less.
    window.paste_kernel(&GOOD.replace("}\n", "    c[0] += a[i];\n}\n"));
    show_listing(&mut window);
    for kind in [ListingKind::Ptx, ListingKind::Sass] {
        compare(&mut window, Some(Other::Run(1)), kind);
        window.until("the other listing", |app| app.state.desk().is_some_and(|desk| desk.versions.other_job.is_none()));
        window.settle();
        assert!(window.has("1 rows added, 0 removed"), "{kind:?}");
    }
}

#[test]
fn without_a_disassembler_the_ptx_stands_in_and_it_is_offered() {
    let script = |job: &Job| {
        let mut events = with_listing(job);
        for event in &mut events {
            if let Event::Compiled(report) = event {
                report.sass = None;
            }
        }
        Some(events)
    };
    let mut window = Window::open(true, SIZE, Box::new(script));
    window.paste_kernel(GOOD);
    show_listing(&mut window);
    window.click("SASS");
    window.settle();
    assert!(window.has("Install nvdisasm") && window.has("which is not on this machine"));
    assert!(listing(&window).starts_with("PTX listing"), "{}", listing(&window));
    let asked = window.engine.0.borrow().jobs.len();
    window.settle();
    assert_eq!(window.engine.0.borrow().jobs.len(), asked, "it is asked for once");
}

#[test]
fn hints_fold_by_key_and_by_mouse() {
    let mut window = Window::open(true, SIZE, simple_script());
    window.harness.get_by_label("Code editor").focus();
    window.settle();
    assert!(window.has("Fold the hint on line 9"));
    window.key(Modifiers::COMMAND, Key::M);
    assert!(window.has("Open the hint on line 9") && window.has("Open the hint on line 12"));
    window.click("Open the hint on line 9");
    assert!(window.has("Fold the hint on line 9") && window.has("Open the hint on line 12"));
}

/// A save in another editor comes into the window and is checked; typing here goes into the file.
#[cfg(unix)]
#[test]
fn a_file_open_in_another_editor_is_watched_and_checked() {
    let mut window = open();
    window.harness.state_mut().state.settings.editor = Some("true".into());
    window.harness.state_mut().command(Command::Do(Action::OpenElsewhere));
    window.until("the file", |app| app.state.desk().is_some_and(|desk| desk.elsewhere.is_some()));
    window.settle();
    let file = window.app().state.desk().and_then(|desk| desk.elsewhere.clone()).expect("a file");
    assert_eq!(std::fs::read_to_string(&file).expect("a kernel"), GOOD);
    let saved = GOOD.replace("c[i] =", "/* there */ c[i] =");
    std::fs::write(&file, &saved).expect("saved");
    window.until("the save", |app| app.state.desk().is_some_and(|desk| desk.editor.text() == saved));
    window.until("the check", |app| app.state.desk().is_some_and(|desk| desk.runs.len() == 1));
    // Typed here.
    go_to(&mut window, 1, 1);
    window.type_text("// here");
    window.until("the file", |_| std::fs::read_to_string(&file).is_ok_and(|text| text.starts_with("// here")));
    assert!(window.has("Stop Watching the File"), "the tab says so");
    // One undo each.
    window.key(Modifiers::COMMAND, Key::Z);
    assert_eq!(window.text(), saved);
    window.key(Modifiers::COMMAND, Key::Z);
    assert_eq!(window.text(), GOOD);
}

#[test]
fn the_text_is_compared_with_a_run_and_differences_are_taken_back() {
    use lockstep::versions::Against;
    let mut window = open();
    window.key(Modifiers::COMMAND, Key::Enter);
    window.until("the verdict", |app| !app.state.is_running());
    window.paste_kernel(&GOOD.replace("b[i]", "2.0f * b[i]").replace("int i", "int index"));
    window.key(Modifiers::COMMAND | Modifiers::SHIFT, Key::M);
    assert!(window.has("Your text against"));
    window.click("Last passing");
    assert!(window.has("1 difference: 2 lines added, 2 removed"), "neighbouring lines are one");
    window.click("Revert this change");
    assert_eq!(window.text(), GOOD);
    assert!(window.has("No difference"));
    window.harness.state_mut().command(Command::Do(Action::Undo));
    window.settle();
    window.harness.state_mut().command(Command::SetAgainst(Against::Run(1)));
    window.settle();
    window.click("Revert all");
    assert_eq!(window.text(), GOOD, "the run's text is back");
    window.paste_kernel(&GOOD.replace("include", "define").replace("b[i]", "c[i]"));
    window.harness.state_mut().command(Command::Do(Action::ShowCompare));
    window.settle();
    assert!(window.has("Difference 1 of 2"));
    window.key(Modifiers::NONE, Key::F7);
    assert!(window.has("Difference 2 of 2"));
    window.key(Modifiers::SHIFT, Key::F7);
    assert!(window.has("Difference 1 of 2"));
    for (choice, shown) in [("Scaffold", "added"), ("Our solution", "lines added")] {
        window.harness.state_mut().command(Command::Do(Action::ShowCompare));
        window.settle();
        window.harness.get_all_by_label(choice).next().expect("a choice").click();
        window.settle();
        assert!(window.has(shown), "{choice}");
    }
}

/// A run of an earlier session: its text is on disk only.
#[test]
fn runs_of_an_earlier_session_can_be_compared_with_and_the_solution_stays_closed() {
    use lockstep::versions::Against;
    let mut window = open();
    window.paste_kernel("int not_yet;\n");
    window.key(Modifiers::COMMAND, Key::Enter);
    window.until("the verdict", |app| !app.state.is_running());
    let Window { harness, folder, .. } = window;
    drop(harness);
    let mut window = Window::open_in(folder, false, SIZE, simple_script());
    window.paste_kernel("int not_yet;\nint more;\n");
    window.harness.state_mut().command(Command::Do(Action::ShowCompare));
    window.harness.state_mut().command(Command::SetAgainst(Against::Run(1)));
    window.until("the run's text", |app| app.state.desk().is_some_and(|desk| !desk.versions.texts.is_empty()));
    window.settle();
    assert!(window.has("1 difference: 1 line added, 0 removed"));
    window.harness.state_mut().command(Command::SetAgainst(Against::Reference));
    window.settle();
    assert!(window.has("The solution is locked"));
    window.harness.state_mut().command(Command::SetAgainst(Against::LastPassing));
    window.settle();
    assert!(window.has("No run has passed yet"));
}

#[test]
fn long_lines_tabs_and_other_alphabets_are_edited_where_the_cursor_is() {
    let mut window = open();
    let long = format!("int t[] = {{{}}};\n", "1234567, ".repeat(20_000));
    window.paste_kernel(&format!("// éßΩ\r\n\tint x;\r\n{long}"));
    assert!(window.text().starts_with("// éßΩ\n\tint x;\n"), "line ends are the editor's");
    go_to(&mut window, 3, 1);
    window.key(Modifiers::NONE, Key::End);
    window.type_text("X");
    assert!(window.text().ends_with("};X\n"));
    go_to(&mut window, 3, 90_000);
    window.type_text("Y");
    assert_eq!(window.text().lines().nth(2).and_then(|line| line.find('Y')), Some(89_999));
    go_to(&mut window, 1, 5);
    window.type_text("ü");
    assert!(window.text().starts_with("// éüßΩ\n"), "{:?}", &window.text()[..20]);
    window.key(Modifiers::NONE, Key::ArrowDown);
    window.key(Modifiers::NONE, Key::Home);
    window.type_text("z");
    assert!(window.text().contains("\n\tzint x;\n"), "behind the tab");
}

#[test]
fn a_call_of_a_cuda_function_shows_its_parameters_until_it_is_closed() {
    let mut window = Window::open(true, SIZE, simple_script());
    window.paste_kernel("");
    window.type_text("x = __shfl_down_sync(");
    assert!(window.has("Parameter 1 of 4, unsigned mask, of __shfl_down_sync"));
    window.type_text("mask, ");
    assert!(window.has("Parameter 2 of 4, T var"), "a comma goes on to the next");
    window.type_text("__ldg(");
    assert!(window.has("of __ldg"), "the innermost call counts");
    window.type_text("a)");
    assert!(window.has("Parameter 2 of 4, T var"), "its end leads back to the outer one");
    window.key(Modifiers::NONE, Key::Escape);
    assert!(!window.has("Parameter 2 of 4"), "Escape hides it");
    window.type_text(" + b");
    assert!(!window.has("Parameter 2 of 4"), "and it stays hidden while the argument is written");
    window.key(Modifiers::CTRL | Modifiers::SHIFT, Key::Space);
    assert!(window.has("Parameter 2 of 4"), "a key brings it back");
    window.type_text(", 1)");
    assert!(!window.has("Parameter 3 of 4"), "the call is over");
    window.key(Modifiers::NONE, Key::ArrowLeft);
    assert!(!window.has("Parameter"), "going back into it by arrow opens nothing");
}

/// Place of the selection as text, and what the search strip says of it.
fn selected(window: &Window) -> (usize, &str) {
    let editor = &window.app().state.desk().expect("a text").editor;
    (editor.selection().start, editor.selected_text())
}

#[test]
fn a_search_jumps_while_it_is_typed_and_escape_goes_back() {
    let mut window = open();
    let text: String = (0..400).map(|n| format!("int line{n} = {n};\n")).collect();
    window.paste_kernel(&text);
    go_to(&mut window, 10, 5);
    let began = selected(&window).0;
    window.key(Modifiers::COMMAND, Key::F);
    window.type_text("line3");
    assert!(window.has("2 of 111"), "from the cursor on: line30 is the second");
    assert_eq!(selected(&window), (text.find("line30").expect("there"), "line3"));
    window.type_text("99");
    assert!(window.has("1 of 1"));
    assert_eq!(cursor(&window).0, 400, "a jump far away");
    for _ in 0..2 {
        window.key(Modifiers::NONE, Key::Backspace);
    }
    assert_eq!(selected(&window).0, text.find("line30").expect("there"), "letters taken back lead back");
    window.key(Modifiers::NONE, Key::F3);
    assert!(window.has("3 of 111"));
    window.key(Modifiers::SHIFT, Key::F3);
    window.key(Modifiers::SHIFT, Key::F3);
    assert!(window.has("1 of 111"), "line3 itself, above the cursor");
    window.key(Modifiers::NONE, Key::Escape);
    assert_eq!(selected(&window), (began, ""), "back to where it began");
    assert!(window.harness.get_by_label("Code editor").is_focused());
    // Enter keeps the first match, and goes on from then.
    window.key(Modifiers::COMMAND, Key::F);
    assert!(window.has("111 matches"), "the question is still there");
    window.type_text("line39");
    assert!(window.has("1 of 11"), "typing replaced it");
    window.key(Modifiers::NONE, Key::Enter);
    assert!(window.has("1 of 11"), "kept");
    window.key(Modifiers::NONE, Key::Enter);
    assert!(window.has("2 of 11"));
    window.key(Modifiers::NONE, Key::Escape);
    assert_eq!(selected(&window), (text.find("line390").expect("there"), "line39"), "Enter keeps the place");
    // Nothing found leads back too, and so does a question that is no expression.
    go_to(&mut window, 10, 5);
    window.key(Modifiers::COMMAND, Key::F);
    window.type_text("line39");
    assert_ne!(selected(&window).0, began);
    window.type_text("x");
    assert!(window.has("no match"));
    assert_eq!(selected(&window).0, began);
}

#[test]
fn a_search_by_expression_jumps_too_and_is_kind_to_what_is_not_finished() {
    let mut window = open();
    window.paste_kernel("int a;\nint b0;\nint b1;\n");
    go_to(&mut window, 1, 1);
    window.key(Modifiers::COMMAND, Key::F);
    window.click("Regular expression; $1 in the replacement is its first group");
    window.harness.get_by_label("Find").focus();
    window.settle();
    window.type_text("b");
    assert_eq!(selected(&window), (11, "b"));
    window.type_text("(");
    assert!(window.has("Not a valid expression yet: unclosed group; its `)` is missing"));
    assert_eq!(selected(&window), (11, "b"), "the view stays while the bracket is open");
    window.type_text(r"\d)");
    assert!(window.has("1 of 2"));
    assert_eq!(selected(&window), (11, "b0"));
    // Opening the replacement keeps the expression: what it found is not a new question.
    window.key(Modifiers::COMMAND, Key::H);
    assert_eq!(window.app().state.desk().expect("a text").editor.find.query, r"b(\d)");
    window.harness.get_by_label("Code editor").focus();
    window.settle();
    window.key(Modifiers::NONE, Key::ArrowRight);
    window.key(Modifiers::NONE, Key::Escape);
    assert_eq!(selected(&window), (13, ""), "who went on in the text stays there");
}

/// The view goes back too, also where the cursor was out of sight.
#[test]
fn escape_shows_what_was_seen_before_the_search() {
    let mut window = open();
    let text: String = (0..400).map(|n| format!("int line{n} = {n};\n")).collect();
    window.paste_kernel(&text);
    go_to(&mut window, 200, 1);
    let middle = window.harness.get_by_label("Code editor").rect().center();
    window.harness.hover_at(middle);
    window.harness.event(egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Line,
        delta: egui::vec2(0.0, 30.0),
        modifiers: Modifiers::NONE,
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Unknown,
    });
    for _ in 0..10 {
        window.settle();
    }
    let in_sight = |window: &Window| -> String {
        let runs = window.harness.get_by_label("Code editor").children_recursive();
        runs.filter_map(|run| run.accesskit_node().value()).collect()
    };
    let before = in_sight(&window);
    assert!(before.contains("int line") && !before.contains("line199 "), "the cursor is out of sight: {before}");
    window.key(Modifiers::COMMAND, Key::F);
    window.type_text("line399");
    assert_ne!(in_sight(&window), before);
    window.key(Modifiers::NONE, Key::Escape);
    window.settle();
    assert_eq!(in_sight(&window), before);
}

#[test]
fn brackets_are_closed_until_that_is_switched_off() {
    let mut window = open();
    window.paste_kernel("");
    let kernel = "void f(int* a)\n{\nif (a[0] == '\"') {\na[0] = 1;\n}\n}\n";
    let type_all = |window: &mut Window| {
        // As fast as keys can come: all in one frame.
        for letter in kernel.chars() {
            match letter {
                '\n' => window.harness.key_press(Key::Enter),
                letter => window.harness.event(egui::Event::Text(letter.to_string())),
            }
        }
        window.settle();
    };
    let indented = "void f(int* a)\n{\n    if (a[0] == '\"') {\n        a[0] = 1;\n    }\n}\n";
    type_all(&mut window);
    assert_eq!(window.text(), indented);
    window.type_text("{");
    assert_eq!(window.text(), format!("{indented}{{}}"));
    window.key(Modifiers::NONE, Key::Backspace);
    assert_eq!(window.text(), indented);
    window.key(Modifiers::COMMAND, Key::K);
    window.key(Modifiers::NONE, Key::B);
    window.type_text("{");
    assert_eq!(window.text(), format!("{indented}{{"));
    window.paste_kernel("");
    type_all(&mut window);
    assert_eq!(window.text(), indented, "without help it is the same text");
    // The switch is kept, and it is in the settings.
    let file = window.folder.path().join("settings.toml");
    window.until("the settings", |_| {
        std::fs::read_to_string(&file).is_ok_and(|text| text.contains("close_brackets = false"))
    });
    window.harness.state_mut().command(Command::Do(Action::Settings));
    window.settle();
    window.click("Close brackets and quotes");
    window.click("Save");
    assert!(window.app().state.settings.close_brackets);
}
