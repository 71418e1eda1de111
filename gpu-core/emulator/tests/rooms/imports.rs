//! Who imports whom among the top folders and files of a crate, as its text says.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// What each part names, but for itself.
pub type Arrows = BTreeMap<String, BTreeSet<String>>;

/// Left out, because they only list the others.
const ROOTS: [&str; 2] = ["lib", "main"];

/// Code without comments and without the tests at the end of a file, which may know of everything.
pub fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).map(|line| format!("{line}\n")).collect()
}

/// The first name of each `crate::` path, also of those in braces.
fn named(code: &str) -> BTreeSet<String> {
    let name = |path: &str| path.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect::<String>();
    let mut names = BTreeSet::new();
    for path in code.split("crate::").skip(1) {
        match path.strip_prefix('{') {
            Some(list) => {
                let mut depth = 0;
                let mut first = true;
                for (at, c) in list.char_indices() {
                    match c {
                        '{' => depth += 1,
                        '}' if depth == 0 => break,
                        '}' => depth -= 1,
                        ',' if depth == 0 => first = true,
                        c if first && !c.is_whitespace() => {
                            names.insert(name(&list[at..]));
                            first = false;
                        }
                        _ => {}
                    }
                }
            }
            None => {
                names.insert(name(path));
            }
        }
    }
    names
}

fn read(folder: &Path, top: Option<&str>, texts: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let top = top.map_or_else(|| name.trim_end_matches(".rs").to_owned(), str::to_owned);
        if path.is_dir() {
            read(&path, Some(&top), texts);
        } else if name.ends_with(".rs") && !ROOTS.contains(&top.as_str()) {
            *texts.entry(top).or_default() += &code(&std::fs::read_to_string(&path).expect("text"));
        }
    }
}

/// The arrows among parts whose code is given.
pub fn arrows(texts: &BTreeMap<String, String>) -> Arrows {
    let own = |(top, text): (&String, &String)| {
        let names = named(text).into_iter().filter(|name| name != top && texts.contains_key(name));
        (top.clone(), names.collect())
    };
    texts.iter().map(own).collect()
}

/// The arrows among the top folders and files of `folder`.
pub fn arrows_of(folder: &Path) -> Arrows {
    let mut texts = BTreeMap::new();
    read(folder, None, &mut texts);
    arrows(&texts)
}
