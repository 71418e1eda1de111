//! All keys on one page, from the table of actions: as HTML that a browser prints, and as text for a terminal.

use crate::command::{Action, Menu, key_names};
use crate::viz;
use crate::widgets::svg::escaped;

/// Words about the editor's keys that are no actions.
pub const EDITOR: [&str; 5] = [
    "Tab and Shift+Tab indent; F6 leaves the editor for the next pane",
    "Ctrl+Left and Ctrl+Right go by words; Home goes to the first letter, then to the margin",
    "Ctrl+K waits for a second key and lists what it can be; Escape cancels",
    "While searching, Enter keeps the match and then goes to the next one, Shift+Enter to the one before",
    "Escape closes the search and goes back to where it began, then stops a running kernel",
];

/// How to come to a picture: each is found by its name.
pub fn visualizations() -> String {
    let keys = Action::Palette.info().shortcuts.first().map(key_names).unwrap_or_default();
    let titles: Vec<&str> = viz::titles().iter().map(|(_, title)| *title).collect();
    format!("{keys}, then a word of its name: {}", titles.join("; "))
}

/// Actions of a menu with their keys.
fn rows(menu: Menu) -> impl Iterator<Item = (String, &'static str, &'static str)> {
    Action::ALL.into_iter().filter(move |action| action.info().menu == menu).map(|action| {
        let info = action.info();
        let keys: Vec<String> = info.shortcuts.iter().map(key_names).collect();
        (keys.join(" or "), info.text, info.tooltip)
    })
}

/// A page to print, on one sheet of A4 or Letter.
pub fn page() -> String {
    let mut page = String::from(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Lockstep: all keys</title>\n<style>\n\
         @page { margin: 10mm }\n\
         body { font: 9.5px/1.35 system-ui, sans-serif; color: #111; columns: 2; column-gap: 8mm }\n\
         h1 { font-size: 16px; column-span: all; margin: 0 0 4px }\n\
         h2 { font-size: 11px; margin: 8px 0 2px; border-bottom: 1px solid #999; break-after: avoid }\n\
         table { border-collapse: collapse; width: 100% } tr { break-inside: avoid }\n\
         td { padding: 1px 6px 1px 0; vertical-align: top } td:first-child { white-space: nowrap; width: 34% }\n\
         kbd { font: 9px ui-monospace, monospace } small { color: #555 }\n\
         </style></head><body>\n<h1>Lockstep: all keys</h1>\n",
    );
    for menu in Menu::ALL {
        page.push_str(&format!("<h2>{}</h2><table>\n", menu.title()));
        for (keys, text, tooltip) in rows(menu) {
            let [keys, text, tooltip] = [&keys, text, tooltip].map(escaped);
            page.push_str(&format!("<tr><td><kbd>{keys}</kbd></td><td>{text} <small>{tooltip}</small></td></tr>\n"));
        }
        page.push_str("</table>\n");
    }
    page.push_str("<h2>Editor</h2>\n");
    for line in EDITOR {
        page.push_str(&format!("<div>{}</div>\n", escaped(line)));
    }
    page.push_str(&format!("<h2>Visualizations</h2>\n<div>{}</div>\n", escaped(&visualizations())));
    page.push_str("</body></html>\n");
    page
}

/// The same for a terminal.
pub fn text() -> String {
    let mut text = String::new();
    for menu in Menu::ALL {
        text.push_str(&format!("{}\n", menu.title()));
        for (keys, name, tooltip) in rows(menu) {
            text.push_str(&format!("  {keys:<28} {name:<22} {tooltip}\n"));
        }
        text.push('\n');
    }
    text.push_str("Editor\n");
    for line in EDITOR {
        text.push_str(&format!("  {line}\n"));
    }
    text.push_str(&format!("\nVisualizations\n  {}\n", visualizations()));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_is_on_the_page_with_its_keys() {
        let (page, text) = (page(), text());
        for action in Action::ALL {
            let info = action.info();
            assert!(page.contains(&escaped(info.text)) && text.contains(info.text), "{}", info.text);
            for shortcut in info.shortcuts {
                let keys = key_names(shortcut);
                assert!(page.contains(&escaped(&keys)) && text.contains(&keys), "{keys}");
            }
        }
        for (_, title) in viz::titles() {
            assert!(page.contains(&escaped(title)) && text.contains(title), "{title}");
        }
        assert!(text.contains("Ctrl+Shift+P or F1"), "{text}");
        assert!(text.contains("Ctrl+,"), "signs and not their names: {text}");
    }
}
