//! No circle of imports among the top folders and files of a crate: who changes one of a circle has to know all of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Which crates are held to it, and what is left out because it only lists the others.
const CRATES: [&str; 2] = ["app/src", "curriculum/src"];
const ROOTS: [&str; 2] = ["lib", "main"];

type Arrows = BTreeMap<String, BTreeSet<String>>;

/// Code without comments and without the tests at the end of a file, which may know of everything.
fn code(text: &str) -> String {
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

fn arrows(texts: &BTreeMap<String, String>) -> Arrows {
    let own = |(top, text): (&String, &String)| {
        let names = named(text).into_iter().filter(|name| name != top && texts.contains_key(name));
        (top.clone(), names.collect())
    };
    texts.iter().map(own).collect()
}

/// Those that can be reached from themselves.
fn in_circles(arrows: &Arrows) -> Vec<&str> {
    let reaches_itself = |start: &String| {
        let mut seen: BTreeSet<&String> = BTreeSet::new();
        let mut open: Vec<&String> = arrows[start].iter().collect();
        while let Some(next) = open.pop() {
            if seen.insert(next) {
                open.extend(&arrows[next]);
            }
        }
        seen.contains(start)
    };
    arrows.keys().filter(|top| reaches_itself(top)).map(String::as_str).collect()
}

#[test]
fn imports_make_no_circle() {
    for folder in CRATES {
        let mut texts = BTreeMap::new();
        read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder), None, &mut texts);
        assert!(texts.len() > 15, "{folder} has {} parts", texts.len());
        let arrows = arrows(&texts);
        let circle = in_circles(&arrows);
        let among = |top: &&str| arrows[*top].iter().filter(|to| circle.contains(&to.as_str())).collect::<Vec<_>>();
        let told: Vec<_> = circle.iter().map(|top| format!("{top} -> {:?}", among(top))).collect();
        assert!(told.is_empty(), "{folder}: move down what both sides need: {told:#?}");
    }
}

#[test]
fn a_circle_is_found_also_through_braces() {
    let text = |text: &str| code(text);
    let texts: BTreeMap<String, String> = [
        ("a", "use crate::b::X;\n// crate::d"),
        ("b", "use crate::{\n    c::{self, d},\n    e,\n};"),
        ("c", "fn f() { crate::a::g() }"),
        ("d", "use crate::a::X;"),
        ("e", "#[cfg(test)]\nmod tests {\n use crate::a; }"),
    ]
    .map(|(name, body)| (name.to_owned(), text(body)))
    .into();
    assert_eq!(in_circles(&arrows(&texts)), ["a", "b", "c"]);
}
