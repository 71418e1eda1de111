//! Python packages for the optional rungs. Asks Python for versions only; imports nothing heavy.

use super::Item;
use crate::python;
use gpu_core::compile::fetch::{PYTHON_NAMES, PYTHON_VARIABLE};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

const TITLE: &str = "Python packages";

/// Import name, what it is for, and pip's name for it.
const PACKAGES: [(&str, &str, &str); 5] = [
    ("numpy", "CPU rungs", "numpy"),
    ("cupy", "library rungs on a GPU", "cupy-cuda13x"),
    ("numba", "Python kernels, also simulated", "numba"),
    ("triton", "Triton rungs, also interpreted", "triton"),
    ("torch", "PyTorch export", "torch"),
];

/// Prints the Python version, then `name version` for each package that could be imported.
const QUESTION: &str = "
import sys, importlib.util as u, importlib.metadata as m
print('python', sys.version.split()[0])
owners = m.packages_distributions() if hasattr(m, 'packages_distributions') else {}
for name in sys.argv[1:]:
    if u.find_spec(name) is not None:
        try: version = m.version(owners.get(name, [name])[0])
        except Exception: version = 'unknown version'
        print(name, version)
";

pub fn items() -> Vec<Item> {
    let Some(answer) = ask() else {
        return vec![Item::limited(
            "python",
            TITLE,
            "Python 3 was not found",
            format!(
                "needed only for the optional Python rungs and by `lockstep setup`: install python3, or set \
                 {PYTHON_VARIABLE}"
            ),
        )];
    };
    let version_of = |name: &str| {
        answer.lines().find_map(|line| line.split_once(' ').filter(|(n, _)| *n == name).map(|(_, v)| v.to_owned()))
    };
    let mut there = vec![format!("Python {}", version_of("python").unwrap_or_default())];
    let mut missing = Vec::new();
    for (import, purpose, pip) in PACKAGES {
        match version_of(import) {
            Some(version) => there.push(format!("{import} {version}")),
            None => missing.push((import, purpose, pip)),
        }
    }
    let found = there.join(", ");
    if missing.is_empty() {
        return vec![Item::fine("python", TITLE, found)];
    }
    let list: Vec<String> = missing.iter().map(|(import, purpose, _)| format!("{import} ({purpose})")).collect();
    let pip: Vec<&str> = missing.iter().map(|(_, _, pip)| *pip).collect();
    vec![Item::limited(
        "python",
        TITLE,
        format!("{found}; not there: {}", list.join(", ")),
        format!("`python3 -m pip install {}`", pip.join(" ")),
    )]
}

fn ask() -> Option<String> {
    let stop = AtomicBool::new(false);
    let named = python::names(None);
    let others = PYTHON_NAMES.map(PathBuf::from);
    let packages = PACKAGES.map(|(import, ..)| import);
    named.iter().chain(&others).find_map(|name| python::ask(name, QUESTION, &packages, &stop))
}
