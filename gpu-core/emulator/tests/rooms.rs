//! Which top folder of the emulator may know of which: imports go down the list of layers. Arrows that still go up are listed;
//! none may be added, and one that is gone is to be taken out of the list.

use std::collections::BTreeSet;
use std::path::Path;

/// From the bottom to the top.
const LAYERS: &[&str] = &[
    "fast",
    "atomics",
    "conditions",
    "report",
    "features",
    "work_time",
    "described",
    "request",
    "device",
    "num",
    "ptx",
    "tensor",
    "texture",
    "memory",
    "exec",
    "analysis",
    "decode",
    "isa",
    "count",
    "jit",
    "check",
    "build",
    "module",
    "launch",
    "inside",
];

/// What still knows of something above it. `exec`, `isa`, `check` and `count` are one circle: the state that an instruction
/// runs in (`exec::cx`) holds what checks, counters and machine code keep, and those are methods of it. An image holds what
/// `analysis` found out about its last launch, and memory the race check's shadows from one launch to the next.
const STILL_UP: &[(&str, &str)] = &[
    ("exec", "analysis"),
    ("exec", "check"),
    ("exec", "count"),
    ("exec", "isa"),
    ("exec", "jit"),
    ("isa", "check"),
    ("memory", "check"),
];

/// The top module of each `crate::` path in a file's code, comments aside.
fn named(text: &str) -> BTreeSet<String> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let paths = code.flat_map(|line| line.split("crate::").skip(1));
    let name = |path: &str| path.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect::<String>();
    paths.map(name).filter(|name| LAYERS.contains(&name.as_str())).collect()
}

fn files(folder: &Path, top: Option<&str>, found: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        let top = top.map_or_else(|| name.trim_end_matches(".rs").to_owned(), str::to_owned);
        if path.is_dir() {
            files(&path, Some(&top), found);
        } else if name.ends_with(".rs") && top != "lib" {
            found.push((top, std::fs::read_to_string(&path).expect("text")));
        }
    }
}

#[test]
fn imports_go_down() {
    let mut all = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), None, &mut all);
    assert!(all.len() > 200, "{}", all.len());
    let mut up = BTreeSet::new();
    for (top, text) in &all {
        let own = LAYERS.iter().position(|layer| layer == top).unwrap_or_else(|| panic!("`{top}` has no layer"));
        up.extend(LAYERS[own + 1..].iter().filter(|layer| named(text).contains(**layer)).map(|to| (top.as_str(), *to)));
    }
    let listed: BTreeSet<(&str, &str)> = STILL_UP.iter().copied().collect();
    let new: Vec<_> = up.difference(&listed).collect();
    assert!(new.is_empty(), "these point up: move what they need down, or hand it in: {new:?}");
    let gone: Vec<_> = listed.difference(&up).collect();
    assert!(gone.is_empty(), "take these out of the list: {gone:?}");
}
