//! No circle of imports among the top folders and files of a crate: who changes one of a circle has to know all of it.

#[path = "../../../gpu-core/emulator/tests/rooms/imports.rs"]
mod imports;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use imports::{Arrows, arrows, arrows_of, code};

/// Which crates are held to it, each with the arrows that still close a circle. None may be added, and one that is gone is to
/// be taken out.
const CRATES: [(&str, &[(&str, &str)]); 3] = [
    ("app/src", &[]),
    ("curriculum/src", &[]),
    // One table says of each quantity what an exercise may ask of it, and how it is read from a run.
    ("gpu-core/src", &[("spec", "bench")]),
];

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
    for (folder, still) in CRATES {
        let mut arrows = arrows_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder));
        assert!(arrows.len() > 15, "{folder} has {} parts", arrows.len());
        for (from, to) in still {
            let there = arrows.get_mut(*from).is_some_and(|named| named.remove(*to));
            assert!(there, "{folder}: `{from}` names `{to}` no longer: take it out of the list");
        }
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
