use super::*;

fn with(text: &str, cursor: usize, actions: &[EditorAction]) -> Editor {
    let mut editor = Editor::new(text.to_owned());
    editor.act(&EditorAction::Place { offset: cursor, extend: false }, 0.0);
    for (i, action) in actions.iter().enumerate() {
        editor.act(action, i as f64 * 0.01);
    }
    editor
}

#[test]
fn typing_undoes_by_words_and_redoes() {
    let typed: Vec<_> = "int x".chars().map(|c| EditorAction::Type(c.to_string())).collect();
    let mut editor = with("", 0, &typed);
    assert_eq!(editor.text(), "int x");
    editor.act(&EditorAction::Undo, 1.0);
    assert_eq!(editor.text(), "int");
    editor.act(&EditorAction::Undo, 1.0);
    assert_eq!((editor.text(), editor.can_undo()), ("", false));
    editor.act(&EditorAction::Redo, 1.0);
    editor.act(&EditorAction::Redo, 1.0);
    assert_eq!((editor.text(), editor.cursor()), ("int x", 5));
}

#[test]
fn a_list_of_words_follows_the_typing_and_one_is_taken() {
    let typed = |text: &str| text.chars().map(|c| EditorAction::Type(c.to_string())).collect::<Vec<_>>();
    let mut editor = with("", 0, &typed("__syncth"));
    let list = editor.completion().expect("a list");
    assert_eq!(list.choice().map(|item| item.text.as_str()), Some("__syncthreads"));
    editor.act(&EditorAction::StepCompletion(-1), 1.0);
    editor.act(&EditorAction::StepCompletion(1), 1.0);
    editor.act(&EditorAction::AcceptCompletion(None), 1.0);
    assert_eq!((editor.text(), editor.cursor(), editor.completion()), ("__syncthreads", 13, None));
    editor.act(&EditorAction::Undo, 1.0);
    assert_eq!(editor.text(), "__syncth", "one step");
    for closing in [
        EditorAction::Type("(".into()),
        EditorAction::Move { motion: Motion::Left, extend: false },
        EditorAction::NewLine,
        EditorAction::CloseCompletion,
    ] {
        let mut editor = with("", 0, &typed("__syncth"));
        editor.act(&closing, 1.0);
        assert_eq!(editor.completion(), None, "{closing:?}");
    }
    let mut editor = with("i", 1, &[EditorAction::Complete]);
    assert!(editor.completion().is_some(), "asked for with one letter");
    editor.act(&EditorAction::Erase(Motion::Left), 1.0);
    assert_eq!(editor.completion(), None, "nothing is left of the word");
}

#[test]
fn a_new_line_keeps_and_deepens_the_indentation() {
    let editor = with("  if (x) {}", 10, &[EditorAction::NewLine]);
    assert_eq!((editor.text(), editor.cursor()), ("  if (x) {\n      \n  }", 17));
    let editor = with("    a;", 6, &[EditorAction::NewLine, EditorAction::Type("}".into())]);
    assert_eq!(editor.text(), "    a;\n}");
    let editor = with("{\n    a; }", 9, &[EditorAction::NewLine]);
    assert_eq!((editor.text(), editor.cursor()), ("{\n    a; \n}", 10), "the brace goes out, the cursor before it");
}

#[test]
fn lines_are_indented_commented_moved_and_deleted() {
    let text = "a\n  b\n\nc";
    let all = EditorAction::SelectAll;
    let indented = with(text, 0, &[all.clone(), EditorAction::Indent]);
    assert_eq!(indented.text(), "    a\n      b\n\n    c");
    let back = with(text, 0, &[all.clone(), EditorAction::Indent, EditorAction::Outdent]);
    assert_eq!(back.text(), text);
    let commented = with(text, 0, &[all.clone(), EditorAction::ToggleComment]);
    assert_eq!(commented.text(), "// a\n//   b\n\n// c");
    let plain = with(text, 0, &[all, EditorAction::ToggleComment, EditorAction::ToggleComment]);
    assert_eq!(plain.text(), text);
    assert_eq!(with(text, 0, &[EditorAction::MoveLineDown]).text(), "  b\na\n\nc");
    assert_eq!(with(text, 7, &[EditorAction::MoveLineUp]).text(), "a\n  b\nc\n");
    assert_eq!(with(text, 7, &[EditorAction::DeleteLine]).text(), "a\n  b\n");
    assert_eq!(with(text, 0, &[EditorAction::DuplicateLine]).text(), "a\na\n  b\n\nc");
}

#[test]
fn up_and_down_keep_the_column_over_short_lines() {
    let down = EditorAction::Move { motion: Motion::Down, extend: false };
    let editor = with("abcdef\nx\nabcdef", 5, &[down.clone(), down]);
    assert_eq!(editor.cursor_position(), (3, 6));
}

#[test]
fn backspace_goes_back_one_level_and_over_characters() {
    let back = EditorAction::Erase(Motion::Left);
    assert_eq!(with("      x", 6, std::slice::from_ref(&back)).text(), "    x");
    assert_eq!(with("é", 2, std::slice::from_ref(&back)).text(), "");
    assert_eq!(with("", 0, &[back]).text(), "");
    assert_eq!(with("one two", 7, &[EditorAction::Erase(Motion::WordLeft)]).text(), "one ");
}

#[test]
fn replace_all_is_one_step() {
    let mut editor = with("a b a", 0, &[]);
    editor.find.open = true;
    editor.find.query = "a".into();
    editor.find.replacement = "long".into();
    editor.find.refresh("a b a");
    editor.act(&EditorAction::ReplaceAll, 1.0);
    assert_eq!(editor.text(), "long b long");
    editor.act(&EditorAction::Undo, 2.0);
    assert_eq!(editor.text(), "a b a");
    editor.act(&EditorAction::FindNext, 2.0);
    editor.act(&EditorAction::ReplaceOne, 2.0);
    assert_eq!(editor.text(), "long b a");
}

#[test]
fn places_outside_the_text_are_moved_into_it() {
    let mut editor = with("é\nb", 1, &[EditorAction::Place { offset: 99, extend: true }]);
    assert_eq!(editor.selected_text(), "é\nb");
    editor.act(&EditorAction::GoTo { line: 99, column: 99 }, 0.0);
    assert_eq!(editor.cursor_position(), (2, 2));
    editor.act(&EditorAction::GoTo { line: 0, column: 0 }, 0.0);
    assert_eq!(editor.cursor_position(), (1, 1));
}

/// Random edits, then undo to the beginning and redo to the end: nothing may be lost.
#[test]
fn any_edits_can_be_undone_and_redone() {
    let mut seed = 0x2545_f491_u64;
    let mut random = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below as u64) as usize
    };
    let start = "int main() {\n    return 0;\n}\n";
    let mut editor = Editor::new(start.to_owned());
    for i in 0..2_000 {
        let offset = random(editor.text().len() + 1);
        let action = match random(12) {
            0 => EditorAction::NewLine,
            1 => EditorAction::Erase(Motion::Left),
            2 => EditorAction::Erase(Motion::WordRight),
            3 => EditorAction::Indent,
            4 => EditorAction::ToggleComment,
            5 => EditorAction::MoveLineDown,
            6 => EditorAction::Place { offset, extend: true },
            7 => EditorAction::Cut,
            8 => EditorAction::Paste("é{\n}".into()),
            9 => EditorAction::Undo,
            10 => EditorAction::Outdent,
            _ => EditorAction::Type("ab".into()),
        };
        editor.act(&action, f64::from(i));
    }
    let end = editor.text().to_owned();
    while editor.can_undo() {
        editor.act(&EditorAction::Undo, 0.0);
    }
    assert_eq!(editor.text(), start);
    while editor.can_redo() {
        editor.act(&EditorAction::Redo, 0.0);
    }
    assert_eq!(editor.text(), end);
}

#[test]
fn a_text_with_tabs_is_indented_with_tabs() {
    let text = "void f()\n{\n\tif (x) {\n\t\ta;\n";
    let typed = |actions: &[EditorAction]| {
        let editor = with(text, text.len(), actions);
        editor.text()[text.len() - 4..].to_owned()
    };
    let tab = EditorAction::Indent;
    assert_eq!(typed(&[tab.clone(), tab.clone(), EditorAction::Type("}".into())]), "\ta;\n\t}", "one level out");
    let opened = with("\tif (x) {}", 9, &[EditorAction::NewLine]);
    assert_eq!(opened.text(), "\tif (x) {\n\t\t\n\t}");
    let closed = with("\t\ta; }", 5, &[EditorAction::NewLine]);
    assert_eq!(closed.text(), "\t\ta; \n\t}");
    let lines = with("\ta;\nb;", 0, &[EditorAction::SelectAll, tab]);
    assert_eq!(lines.text(), "\t\ta;\n\tb;");
    let spaces = with("    a;\n\tb;\n", 0, &[EditorAction::Indent]);
    assert_eq!(spaces.text(), "        a;\n\tb;\n", "the nearest line counts");
}
