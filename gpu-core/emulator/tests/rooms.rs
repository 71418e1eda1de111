//! Which top folder of the emulator, and of the driver library over it, may know of which: imports go down the list of
//! layers. Arrows that still go up are listed; none may be added, and one that is gone is to be taken out of the list.

#[path = "rooms/imports.rs"]
mod imports;

use std::collections::BTreeSet;
use std::path::Path;

/// From the bottom to the top.
const LAYERS: &[&str] = &[
    "fast",
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

/// The same of the driver library.
const DRIVER_LAYERS: &[&str] = &["abi", "process", "work", "memory", "loading", "launch", "graph", "calls", "export"];

/// Holds the imports of a folder to a list of layers.
fn hold(folder: &str, layers: &[&str], still_up: &[(&str, &str)]) {
    let arrows = imports::arrows_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder));
    assert_eq!(
        arrows.len(),
        layers.len(),
        "{folder}: each top folder or file has its layer, and each layer is one of them"
    );
    let mut up = BTreeSet::new();
    for (top, named) in &arrows {
        let own = layers.iter().position(|layer| layer == top).unwrap_or_else(|| panic!("`{top}` has no layer"));
        up.extend(layers[own + 1..].iter().filter(|layer| named.contains(**layer)).map(|to| (top.as_str(), *to)));
    }
    let listed: BTreeSet<(&str, &str)> = still_up.iter().copied().collect();
    let new: Vec<_> = up.difference(&listed).collect();
    assert!(new.is_empty(), "{folder}: these point up: move what they need down, or hand it in: {new:?}");
    let gone: Vec<_> = listed.difference(&up).collect();
    assert!(gone.is_empty(), "{folder}: take these out of the list: {gone:?}");
}

#[test]
fn imports_go_down() {
    hold("src", LAYERS, STILL_UP);
}

#[test]
fn imports_of_the_driver_go_down() {
    hold("driver/src", DRIVER_LAYERS, &[]);
}
