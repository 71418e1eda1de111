//! Nothing that can block runs on the window's thread: clippy forbids it there, and this test holds the list of modules
//! to be complete. What a worker does that never answers is tested in `window_flows` and `window_panes.rs`.

/// Modules that may block, and why that costs no frame.
const MAY_BLOCK: [(&str, &str); 13] = [
    ("builtins", "a table and its look-up"),
    ("cli", "the terminal"),
    ("console", "starts the program again before there is a window"),
    ("elsewhere", "a thread of its own"),
    ("file_dialogs", "called on threads of services.rs"),
    ("measure", "programs of their own processes"),
    ("paths", "names of folders; read before the window opens and on threads of services.rs"),
    ("ready", "called on a thread of services.rs"),
    ("scripts", "called on a thread of services.rs"),
    ("profiled", "threads of the services, and of the terminal, call it"),
    ("services", "starts the threads"),
    ("system_fonts", "a thread of its own"),
    ("theme", "colours, which clippy's list keeps out of every other module"),
];

const LIB: &str = include_str!("../../src/lib.rs");
const CLIPPY: &str = include_str!("../../clippy.toml");

#[test]
fn every_module_of_the_window_is_denied_what_blocks() {
    let lines: Vec<&str> = LIB.lines().collect();
    let mut modules = 0;
    for (index, line) in lines.iter().enumerate() {
        let Some(name) = line.strip_prefix("pub mod ").and_then(|rest| rest.strip_suffix(';')) else { continue };
        modules += 1;
        let denied = index > 0 && lines[index - 1] == "#[deny(clippy::disallowed_methods)]";
        let excused = MAY_BLOCK.iter().any(|(module, _)| *module == name);
        assert!(denied != excused, "{name}: deny clippy::disallowed_methods for it, or say here why it may block");
    }
    assert!(modules > 20, "lib.rs lists the modules one a line");
}

/// An exception inside a denied module is a promise that no frame waits: after the last frame, on a thread of the
/// highlighter's own, in its two tests.
const EXCEPTIONS: [&str; 4] = ["app.rs", "syntax.rs", "syntax.rs", "syntax.rs"];

#[test]
fn the_exceptions_are_counted() {
    let mut found = Vec::new();
    let mut folders = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the sources").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = std::fs::read_to_string(&path).expect("a source");
                let excused = |line: &&str| {
                    line.contains("clippy::disallowed_methods") && (line.contains("allow(") || line.contains("expect("))
                };
                let name = path.file_name().and_then(|name| name.to_str()).expect("a name").to_owned();
                found.extend(text.lines().filter(excused).map(|_| name.clone()));
            }
        }
    }
    found.sort();
    assert_eq!(found, EXCEPTIONS);
}

/// The kinds of waiting that a window must not do, each at least once in clippy's list.
#[test]
fn the_list_names_every_kind_of_waiting() {
    for path in [
        "std::fs::read",
        "std::fs::File::open",
        "std::fs::OpenOptions::open",
        "std::process::Command::output",
        "std::process::Child::wait",
        "std::sync::Mutex::lock",
        "std::sync::Condvar::wait",
        "std::sync::mpsc::Receiver::recv",
        "std::thread::JoinHandle::join",
        "std::thread::sleep",
        "std::net::TcpStream::connect",
        "rfd::FileDialog::save_file",
        "gpu_core::worker::Lab::next_event",
        "curriculum::store::Store::flush",
    ] {
        assert!(CLIPPY.contains(&format!("path = \"{path}\"")), "{path}");
    }
}
