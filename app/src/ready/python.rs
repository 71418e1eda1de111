//! Python packages for the optional rungs. Asks Python for versions only; imports nothing heavy.

use super::Item;
use gpu_core::compile::fetch::{PYTHON_NAMES, PYTHON_VARIABLE};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

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
    let named = std::env::var(PYTHON_VARIABLE).ok().filter(|name| !name.is_empty());
    let names: Vec<String> = named.into_iter().chain(PYTHON_NAMES.map(str::to_owned)).collect();
    names.iter().find_map(|name| answer_of(name))
}

/// The answer of one interpreter; None when it is absent, fails, or takes over ten seconds (a broken one may hang).
fn answer_of(name: &str) -> Option<String> {
    let mut child = Command::new(name)
        .args(["-c", QUESTION])
        .args(PACKAGES.map(|(import, ..)| import))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => {
                // A few hundred bytes: they fit the pipe, so reading after the end is safe.
                let mut text = String::new();
                std::io::Read::read_to_string(child.stdout.as_mut()?, &mut text).ok()?;
                return Some(text);
            }
            Ok(None) if started.elapsed() < Duration::from_secs(10) => std::thread::sleep(Duration::from_millis(10)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    }
}
