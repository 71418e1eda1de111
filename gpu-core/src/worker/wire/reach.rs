//! Which types cross the pipe: followed through the source from the messages on, so that none can be forgotten.

use super::MESSAGES;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A type that serde writes: its file, and the words of its definition.
struct Definition {
    file: PathBuf,
    words: BTreeSet<String>,
}

/// Both ends of each pipe.
const ENDS: [&str; 6] = ["ToSupervisor", "FromSupervisor", "ToCompiler", "FromCompiler", "ToDevice", "FromDevice"];

#[test]
fn the_handshake_covers_every_type_that_crosses_the_pipe() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut known: BTreeMap<String, Vec<Definition>> = BTreeMap::new();
    for folder in ["src", "emulator/src"] {
        read_folder(&root.join(folder), &mut known);
    }
    let worker = root.join("src/worker");
    let covered: BTreeSet<PathBuf> =
        MESSAGES.iter().map(|(path, _)| worker.join(path).canonicalize().expect("a file of this crate")).collect();
    let mut reached: BTreeSet<&str> = BTreeSet::new();
    let mut open: Vec<&str> = ENDS.to_vec();
    let mut needed: BTreeSet<&Path> = BTreeSet::new();
    let mut missing = BTreeSet::new();
    while let Some(name) = open.pop() {
        // Two types may share a name; both are followed, which covers one too many rather than one too few.
        for definition in known.get(name).into_iter().flatten().filter(|_| reached.insert(name)) {
            needed.insert(&definition.file);
            if !covered.contains(&definition.file) {
                missing.insert(format!("{name} in {}", definition.file.display()));
            }
            open.extend(definition.words.iter().map(String::as_str).filter(|word| known.contains_key(*word)));
        }
    }
    assert!(ENDS.iter().all(|end| reached.contains(end)), "the ends of the pipes are found: {reached:?}");
    for inner in ["Spec", "Step", "Fault", "Counters", "KernelResources", "Reached", "BuildFailure"] {
        assert!(reached.contains(inner), "`{inner}` crosses the pipe, and the walk does not come to it");
    }
    assert!(missing.is_empty(), "not in `MESSAGES` of wire.rs: {missing:#?}");
    let idle: Vec<&PathBuf> = covered.iter().filter(|file| !needed.contains(file.as_path())).collect();
    assert!(idle.is_empty(), "in `MESSAGES` for nothing: {idle:?}");
}

fn read_folder(folder: &Path, known: &mut BTreeMap<String, Vec<Definition>>) {
    for entry in std::fs::read_dir(folder).expect("a folder of this crate") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            read_folder(&path, known);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).expect("a source file");
            let file = path.canonicalize().expect("a path");
            for (name, words) in definitions(&text) {
                known.entry(name).or_default().push(Definition { file: file.clone(), words });
            }
        }
    }
}

/// Structures and enumerations that derive `Serialize`.
fn definitions(text: &str) -> Vec<(String, BTreeSet<String>)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("#[derive(") {
        let rest = &text[at..];
        let Some((derived, after)) = rest.split_once(")]") else { continue };
        if !derived.contains("Serialize") {
            continue;
        }
        let mut words = after.split_whitespace().skip_while(|word| *word != "struct" && *word != "enum");
        let Some(name) = words.nth(1) else { continue };
        let name: String = name.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let Some(start) = after.find(&name) else { continue };
        found.push((name, body_words(&after[start..])));
    }
    found
}

/// The words up to the end of a definition: its closing brace, or the semicolon of one without braces.
fn body_words(text: &str) -> BTreeSet<String> {
    let mut depth = 0;
    let mut words = BTreeSet::new();
    for line in text.lines() {
        let code = line.split("//").next().unwrap_or_default();
        words.extend(code.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned));
        depth += code.matches('{').count() as i32 - code.matches('}').count() as i32;
        if depth <= 0 && (code.contains('}') || code.trim_end().ends_with(';')) {
            break;
        }
    }
    words
}
