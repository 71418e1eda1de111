//! Embeds the course in the program: every text file under `curriculum/` and `kernels/` becomes one row of a table, with
//! the texts in one compressed piece, so that `lockstep` is one file to carry around. LZ4 because it is unpacked at every
//! start: a few milliseconds for what is less than half as long.
//!
//! A build script and not a macro crate because the course lives in two folders outside `src/`, because a new file
//! must trigger a rebuild (macros cannot watch a folder on stable Rust), and because it is forty lines.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// What a course is made of; the same list as `files::EXTENSIONS`.
const EXTENSIONS: [&str; 7] = ["csv", "md", "toml", "cu", "cuh", "py", "svg"];

fn main() {
    let here = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR").expect("set by cargo"));
    let root = here.parent().expect("the crate lies in the workspace").to_path_buf();
    let mut files = Vec::new();
    for (folder, skip) in [(here, &["src", "tests", "Cargo.toml", "build.rs"][..]), (root.join("kernels"), &[][..])] {
        println!("cargo:rerun-if-changed={}", folder.display());
        walk(&folder, skip, &mut files);
    }
    files.sort();
    // Paths and how many bytes of the unpacked texts, which follow one another, are theirs.
    let mut table = String::from("static EMBEDDED: &[(&str, usize)] = &[\n");
    let mut texts = String::new();
    for file in &files {
        let name = file.strip_prefix(&root).expect("found below the root").to_string_lossy().replace('\\', "/");
        println!("cargo:rerun-if-changed={}", file.display());
        let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("cannot read {name}: {error}"));
        writeln!(table, "    ({name:?}, {}),", text.len()).expect("writing to a String");
        texts += &text;
    }
    table.push_str("];\n");
    table.push_str("static EMBEDDED_TEXTS: &[u8] = include_bytes!(concat!(env!(\"OUT_DIR\"), \"/embedded.lz4\"));\n");
    let out = PathBuf::from(std::env::var("OUT_DIR").expect("set by cargo"));
    write(&out.join("embedded.lz4"), &lz4_flex::block::compress_prepend_size(texts.as_bytes()));
    write(&out.join("embedded.rs"), table.as_bytes());
}

fn write(path: &Path, content: &[u8]) {
    std::fs::write(path, content).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
}

fn walk(folder: &Path, skip: &[&str], files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        // `others` holds test kernels (lockstep dev others), which no learner needs.
        if name.starts_with('.') || name == "__pycache__" || name == "others" || skip.contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            println!("cargo:rerun-if-changed={}", path.display());
            walk(&path, &[], files);
        } else if path.extension().is_some_and(|e| EXTENSIONS.iter().any(|known| e == *known)) && name != "README.md" {
            files.push(path);
        }
    }
}
