//! The ready check: what this machine has, what that means, and how to fix what is missing.

mod display;
mod gpu;
mod path;
mod python;

pub use display::{display_connection, keyboard_is_missing, missing_libraries, scale};
pub use gpu::{best_capability, gpus};
pub use path::{Answers, Path as CoursePath, Recommendation, recommend};

use gpu_core::compile::locate;
use std::path::Path;

/// How an item stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Fine,
    /// Something optional is missing or slower; the course works without it.
    Limited,
    /// The course cannot be done until this is repaired.
    Failed,
}

/// One line of the ready check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Stable name for `--json`.
    pub id: &'static str,
    pub title: &'static str,
    pub state: State,
    /// What was found, one line.
    pub found: String,
    /// How to repair or improve it; None when fine.
    pub fix: Option<String>,
}

impl Item {
    pub(crate) fn fine(id: &'static str, title: &'static str, found: impl Into<String>) -> Self {
        Item { id, title, state: State::Fine, found: found.into(), fix: None }
    }

    pub(crate) fn limited(
        id: &'static str,
        title: &'static str,
        found: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Item { id, title, state: State::Limited, found: found.into(), fix: Some(fix.into()) }
    }

    pub(crate) fn failed(
        id: &'static str,
        title: &'static str,
        found: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Item { id, title, state: State::Failed, found: found.into(), fix: Some(fix.into()) }
    }
}

/// Everything that can be told without compiling or starting a worker. `nvrtc` is the learner's setting.
pub fn machine(data_dir: &Path, nvrtc: Option<&Path>) -> Vec<Item> {
    let mut items = vec![processor(), data_folder(data_dir)];
    items.extend(compiler(data_dir, nvrtc));
    items.extend(gpu::items());
    items.push(display::item());
    items.extend(python::items());
    items
}

/// The operating system as people write it.
fn system() -> &'static str {
    match std::env::consts::OS {
        "linux" => "Linux",
        "macos" => "macOS",
        "windows" => "Windows",
        other => other,
    }
}

fn processor() -> Item {
    const ID: &str = "cpu";
    const TITLE: &str = "Processor";
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cores = crate::amounts::counted(cores as u64, "core");
    let found = format!("{}, {}, {cores}", system(), std::env::consts::ARCH);
    #[cfg(target_arch = "x86_64")]
    if !(std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")) {
        return Item::limited(
            ID,
            TITLE,
            format!("{found}, no AVX2 and FMA"),
            "the emulator works, about three times slower; a processor of 2013 or later (or, in a virtual machine, the \
             host's processor type) has them",
        );
    }
    Item::fine(ID, TITLE, found)
}

fn data_folder(data_dir: &Path) -> Item {
    const ID: &str = "data_folder";
    const TITLE: &str = "Data folder";
    let attempt = std::fs::create_dir_all(data_dir)
        .and_then(|()| tempfile::NamedTempFile::new_in(data_dir))
        .and_then(|mut file| std::io::Write::write_all(&mut file, b"lockstep"));
    match attempt {
        Ok(()) => Item::fine(ID, TITLE, format!("Writable: {}", data_dir.display())),
        Err(error) => Item::failed(
            ID,
            TITLE,
            format!("Cannot be written ({error}): {}", data_dir.display()),
            format!("make it writable, or set {} to a folder of yours", crate::paths::DATA_VARIABLE),
        ),
    }
}

fn compiler(data_dir: &Path, nvrtc: Option<&Path>) -> Vec<Item> {
    let found = match locate::locate(nvrtc, data_dir) {
        Ok(found) => found,
        Err(error) => {
            let fix = match error.setting {
                Some(_) => format!("correct or unset {}", locate::NVRTC_VARIABLE),
                None => {
                    "run `lockstep setup` (65 MB from the Python package index; no toolkit, no administrator)".into()
                }
            };
            return vec![Item::failed(
                "nvrtc",
                "CUDA compiler",
                error.setting.unwrap_or("NVRTC was not found".into()),
                fix,
            )];
        }
    };
    let mut items =
        vec![Item::fine("nvrtc", "CUDA compiler", format!("From {}: {}", found.origin, found.nvrtc.display()))];
    items.push(match found.include_dirs.first() {
        Some(dir) => Item::fine("headers", "CUDA headers", dir.display().to_string()),
        None => Item::limited(
            "headers",
            "CUDA headers",
            "None beside the compiler. NVRTC 13.3 and later unpack their own, without mma.h",
            "run `lockstep setup --force` for all of them",
        ),
    });
    items.push(match &found.nvdisasm {
        Some(tool) => Item::fine("disassembler", "Disassembler", tool.display().to_string()),
        None => Item::limited(
            "disassembler",
            "Disassembler",
            "nvdisasm was not found, so there are no SASS listings",
            "run `lockstep setup --force`",
        ),
    });
    items
}
