//! Finds NVRTC and its companions on this machine. Opens no library and starts no process unless every folder that
//! can be guessed was searched in vain.

use super::Toolchain;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Names the NVRTC library file or a folder that holds it.
pub const NVRTC_VARIABLE: &str = "LOCKSTEP_NVRTC";

/// Folder in the data folder that [`super::fetch`] installs into.
pub const TOOLCHAIN_FOLDER: &str = "toolchain";

/// No usable NVRTC. `searched` tells where, in order, one line each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotFound {
    /// Set when an explicit setting was wrong; nothing else was searched then.
    pub setting: Option<String>,
    pub searched: Vec<String>,
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.setting {
            Some(problem) => write!(f, "{problem}"),
            None => write!(
                f,
                "NVRTC, the CUDA compiler library, was not found. Run `lockstep setup` to install it into Lockstep's \
                 own data folder (no CUDA toolkit and no administrator needed), or set {NVRTC_VARIABLE} to the folder \
                 that holds it"
            ),
        }
    }
}

impl std::error::Error for NotFound {}

/// Finds a toolchain. Order: `setting` (or else the environment variable [`NVRTC_VARIABLE`]), the data folder, CUDA
/// toolkits, Python's site-packages.
///
/// An explicit setting that holds no NVRTC is an error of its own: falling back silently would hide a typing mistake.
pub fn locate(setting: Option<&Path>, data_dir: &Path) -> Result<Toolchain, NotFound> {
    Surroundings::of_this_machine().locate(setting, data_dir)
}

/// Naming rules of a system's libraries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Os {
    Elf,
    Windows,
}

/// Everything outside the arguments that the search depends on, so that tests can describe any machine.
struct Surroundings {
    os: Os,
    /// `x86_64` or `aarch64`.
    machine: &'static str,
    /// Prefix of absolute folders; `/` but for tests.
    root: PathBuf,
    variables: BTreeMap<String, OsString>,
    /// Whether Python may be asked for its folders (starts a process).
    ask_python: bool,
}

impl Surroundings {
    fn of_this_machine() -> Self {
        const READ: [&str; 9] = [
            NVRTC_VARIABLE,
            "CUDA_PATH",
            "CUDA_HOME",
            "HOME",
            "USERPROFILE",
            "VIRTUAL_ENV",
            "CONDA_PREFIX",
            "PATH",
            "APPDATA",
        ];
        Surroundings {
            os: if cfg!(windows) { Os::Windows } else { Os::Elf },
            machine: std::env::consts::ARCH,
            root: PathBuf::from(if cfg!(windows) { "C:\\" } else { "/" }),
            variables: READ.iter().filter_map(|name| Some((name.to_string(), std::env::var_os(name)?))).collect(),
            ask_python: true,
        }
    }

    fn variable(&self, name: &str) -> Option<PathBuf> {
        self.variables.get(name).filter(|value| !value.is_empty()).map(PathBuf::from)
    }

    fn locate(&self, setting: Option<&Path>, data_dir: &Path) -> Result<Toolchain, NotFound> {
        let explicit = match setting {
            Some(path) => Some(("the setting", path.to_owned())),
            None => self.variable(NVRTC_VARIABLE).map(|path| (NVRTC_VARIABLE, path)),
        };
        if let Some((origin, path)) = explicit {
            return self.toolchain_at(&path, data_dir, origin).ok_or_else(|| NotFound {
                setting: Some(format!(
                    "{origin} names a place with no NVRTC library for {} ({}): set it to the library file or its \
                     folder, or unset it to let Lockstep search: {}",
                    self.machine,
                    self.example_name(),
                    path.display()
                )),
                searched: vec![path.display().to_string()],
            });
        }
        let mut searched = Vec::new();
        let stages: [(&str, Vec<PathBuf>); 3] = [
            ("Lockstep's data folder", data_packages(data_dir)),
            ("CUDA toolkit", self.toolkit_roots()),
            ("Python packages", self.python_folders()),
        ];
        for (origin, folders) in stages {
            for folder in folders {
                if let Some(found) = self.toolchain_at(&folder, data_dir, origin) {
                    return Ok(found);
                }
                searched.push(format!("{origin}: {}", folder.display()));
            }
        }
        if self.ask_python {
            for folder in python_site_packages() {
                if let Some(found) = self.toolchain_at(&folder, data_dir, "Python packages") {
                    return Ok(found);
                }
                searched.push(format!("Python packages: {}", folder.display()));
            }
        }
        if searched.is_empty() {
            searched.push(format!("Lockstep's data folder: {}", data_dir.join(TOOLCHAIN_FOLDER).display()));
        }
        Err(NotFound { setting: None, searched })
    }

    fn example_name(&self) -> &'static str {
        match self.os {
            Os::Elf => "libnvrtc.so.13",
            Os::Windows => "nvrtc64_130_0.dll",
        }
    }

    /// Toolkit roots, newest first among numbered ones.
    fn toolkit_roots(&self) -> Vec<PathBuf> {
        let mut roots: Vec<PathBuf> = ["CUDA_PATH", "CUDA_HOME"].iter().filter_map(|v| self.variable(v)).collect();
        match self.os {
            Os::Elf => {
                roots.push(self.root.join("usr/local/cuda"));
                roots.extend(numbered(&self.root.join("usr/local"), "cuda-"));
                roots.push(self.root.join("opt/cuda"));
                roots.extend(numbered(&self.root.join("opt"), "cuda-"));
                // NVIDIA's HPC SDK, Debian's and Fedora's packages.
                roots.push(self.root.join("opt/nvidia/hpc_sdk"));
                roots.push(self.root.join(format!("usr/lib/{}-linux-gnu", self.machine)));
                roots.push(self.root.join("usr/lib/cuda"));
                roots.push(self.root.join("usr/lib64"));
            }
            Os::Windows => {
                let base = self.root.join("Program Files").join("NVIDIA GPU Computing Toolkit").join("CUDA");
                roots.extend(numbered(&base, "v"));
            }
        }
        existing(roots)
    }

    /// `site-packages` folders that can be guessed without starting Python.
    fn python_folders(&self) -> Vec<PathBuf> {
        let mut prefixes: Vec<PathBuf> =
            ["VIRTUAL_ENV", "CONDA_PREFIX"].iter().filter_map(|v| self.variable(v)).collect();
        if let Some(home) = self.variable("HOME").or_else(|| self.variable("USERPROFILE")) {
            prefixes.extend([".venv", "venv", ".local", "miniconda3", "anaconda3", "miniforge3"].map(|d| home.join(d)));
        }
        if let Some(path) = self.variables.get("PATH") {
            // The interpreter's prefix is the parent of its `bin` folder, also behind a symbolic link.
            for folder in std::env::split_paths(path) {
                for name in ["python3", "python", "python.exe"] {
                    let Ok(real) = folder.join(name).canonicalize() else { continue };
                    let up = if name.ends_with(".exe") { 1 } else { 2 };
                    prefixes.extend(real.ancestors().nth(up).map(Path::to_path_buf));
                }
            }
        }
        prefixes.extend(["usr", "usr/local"].map(|d| self.root.join(d)));
        let mut folders = Vec::new();
        for prefix in prefixes {
            folders.push(prefix.join("Lib").join("site-packages"));
            folders.push(prefix.join("lib").join("python3").join("dist-packages"));
            for python in numbered(&prefix.join("lib"), "python3.") {
                folders.push(python.join("site-packages"));
                folders.push(python.join("dist-packages"));
            }
        }
        existing(folders)
    }

    /// A toolchain whose NVRTC is `place` itself, in it, or at a known place below it.
    fn toolchain_at(&self, place: &Path, data_dir: &Path, origin: &str) -> Option<Toolchain> {
        // Absolute, because the worker that opens it has another working folder.
        let place = &std::path::absolute(place).ok()?;
        let nvrtc = if place.is_file() {
            self.is_for_this_machine(place).then(|| place.to_owned())?
        } else {
            // A data folder (a shared one of a classroom, say) holds packages.
            let mut folders = self.library_folders(place);
            folders.extend(data_packages(place).iter().flat_map(|package| self.library_folders(package)));
            folders.iter().find_map(|folder| self.newest(folder, nvrtc_version))?
        };
        let folder = nvrtc.parent().unwrap_or(Path::new("."));
        let builtins = self.newest(folder, builtins_version);
        // A header or a disassembler that is missing beside the library may be in a sibling package or may have been
        // fetched into the data folder.
        let mut bases: Vec<PathBuf> = folder.ancestors().skip(1).take(3).map(Path::to_path_buf).collect();
        bases.extend(folder.ancestors().nth(3).into_iter().flat_map(nvidia_folders));
        let other_data = folder.ancestors().find(|up| up.ends_with(TOOLCHAIN_FOLDER)).and_then(Path::parent);
        for package in [Some(data_dir), other_data].into_iter().flatten().flat_map(data_packages) {
            bases.extend(nvidia_folders(&package));
        }
        Some(Toolchain {
            builtins,
            include_dirs: self.include_dirs(&bases),
            nvdisasm: self.nvdisasm(folder, &bases),
            origin: origin.to_owned(),
            nvrtc,
        })
    }

    /// Folders below `place` that may hold the library, nearest first.
    fn library_folders(&self, place: &Path) -> Vec<PathBuf> {
        let mut folders = vec![place.to_owned()];
        let mut bases = vec![place.to_owned()];
        bases.extend(nvidia_folders(place));
        for base in bases {
            let below: &[&str] = match self.os {
                Os::Elf => &["lib64", "lib"],
                Os::Windows => &["bin/x86_64", "bin/x64", "bin", "Library/bin"],
            };
            folders.extend(below.iter().map(|d| base.join(d)));
            if self.os == Os::Elf {
                let targets: &[&str] =
                    if self.machine == "aarch64" { &["sbsa-linux", "aarch64-linux"] } else { &["x86_64-linux"] };
                folders.extend(targets.iter().map(|t| base.join("targets").join(t).join("lib")));
                folders.push(base.join("lib").join(format!("{}-linux-gnu", self.machine)));
            }
        }
        existing(folders)
    }

    /// The file in `folder` with the highest version by `version_of`, if it is for this machine.
    fn newest(&self, folder: &Path, version_of: fn(&str, Os) -> Option<Vec<u32>>) -> Option<PathBuf> {
        let mut found: Vec<(Vec<u32>, PathBuf)> = std::fs::read_dir(folder)
            .ok()?
            .flatten()
            .filter_map(|entry| Some((version_of(entry.file_name().to_str()?, self.os)?, entry.path())))
            .collect();
        found.sort();
        found.into_iter().rev().map(|(_, path)| path).find(|path| self.is_for_this_machine(path))
    }

    /// Whether a library's header names this processor: a toolkit may hold cross-compilation targets, and a shared
    /// home folder the packages of another machine.
    fn is_for_this_machine(&self, library: &Path) -> bool {
        let mut head = [0u8; 20];
        let Ok(mut file) = std::fs::File::open(library) else { return false };
        if file.read_exact(&mut head).is_err() {
            return false;
        }
        match self.os {
            Os::Windows => head.starts_with(b"MZ"),
            Os::Elf => {
                // e_machine: EM_X86_64 = 62, EM_AARCH64 = 183 (System V ABI, ELF header).
                let expected: u16 = match self.machine {
                    "x86_64" => 62,
                    "aarch64" => 183,
                    _ => return false,
                };
                head.starts_with(b"\x7fELF") && u16::from_le_bytes([head[18], head[19]]) == expected
            }
        }
    }

    fn include_dirs(&self, bases: &[PathBuf]) -> Vec<PathBuf> {
        // The system's own /usr/include is left out: it holds glibc's headers, which NVRTC cannot read.
        let system = self.root.join("usr/include");
        let folders = bases.iter().map(|base| base.join("include")).filter(|folder| *folder != system);
        let mut dirs: Vec<PathBuf> = existing(folders.collect());
        dirs.retain(|dir| dir.join("cuda_fp16.h").is_file() || dir.join("crt").join("mma.h").is_file());
        // From CUDA 13 on, `cuda::std` and CUB have a folder of their own there, which nvcc looks into by itself.
        let cccl: Vec<PathBuf> =
            dirs.iter().map(|dir| dir.join("cccl")).filter(|dir| dir.join("nv/target").is_file()).collect();
        dirs.extend(cccl);
        dirs
    }

    fn nvdisasm(&self, beside: &Path, bases: &[PathBuf]) -> Option<PathBuf> {
        let name = if self.os == Os::Windows { "nvdisasm.exe" } else { "nvdisasm" };
        let mut places = vec![beside.to_owned()];
        places.extend(bases.iter().map(|base| base.join("bin")));
        if let Some(path) = self.variables.get("PATH") {
            places.extend(std::env::split_paths(path));
        }
        places.into_iter().map(|folder| folder.join(name)).find(|file| file.is_file())
    }
}

/// Package folders that [`super::fetch`] made.
fn data_packages(data_dir: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = std::fs::read_dir(data_dir.join(TOOLCHAIN_FOLDER))
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
        .map(|entry| entry.path())
        .collect();
    // Newest version first: the name ends with it.
    folders.sort_by_key(|path| std::cmp::Reverse(trailing_numbers(&path.to_string_lossy())));
    folders
}

/// `nvidia/cu13` and `nvidia/cuda_nvrtc` (the layout up to CUDA 12) below a `site-packages` or package folder.
fn nvidia_folders(place: &Path) -> Vec<PathBuf> {
    let nvidia = place.join("nvidia");
    let mut folders = numbered(&nvidia, "cu");
    folders.extend(["cuda_nvrtc", "cuda_runtime"].map(|d| nvidia.join(d)));
    existing(folders)
}

/// Version numbers in a file name that is NVRTC's, or None. `.alt.` variants are the same compiler built otherwise;
/// static libraries cannot be opened.
fn nvrtc_version(name: &str, os: Os) -> Option<Vec<u32>> {
    let rest = match os {
        Os::Elf => name.strip_prefix("libnvrtc.so")?,
        Os::Windows => name.strip_prefix("nvrtc64_")?.strip_suffix(".dll")?,
    };
    (!rest.contains("alt")).then(|| numbers(rest))
}

fn builtins_version(name: &str, os: Os) -> Option<Vec<u32>> {
    let rest = match os {
        Os::Elf => name.strip_prefix("libnvrtc-builtins.so")?,
        Os::Windows => name.strip_prefix("nvrtc-builtins64_")?.strip_suffix(".dll")?,
    };
    (!rest.contains("alt")).then(|| numbers(rest))
}

fn numbers(text: &str) -> Vec<u32> {
    text.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

fn trailing_numbers(text: &str) -> Vec<u32> {
    numbers(text.rsplit('-').next().unwrap_or(text))
}

/// Subfolders of `parent` called `prefix` + number, highest number first.
fn numbered(parent: &Path, prefix: &str) -> Vec<PathBuf> {
    let mut found: Vec<(Vec<u32>, PathBuf)> = std::fs::read_dir(parent)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name();
            let version = numbers(name.to_str()?.strip_prefix(prefix)?);
            (!version.is_empty()).then(|| (version, entry.path()))
        })
        .collect();
    found.sort();
    found.into_iter().rev().map(|(_, path)| path).collect()
}

/// Those folders that exist, each once.
fn existing(folders: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut kept: Vec<PathBuf> = Vec::new();
    for folder in folders {
        if folder.is_dir() && !kept.contains(&folder) {
            kept.push(folder);
        }
    }
    kept
}

/// Asks Python itself: version managers put a script in PATH that hides the real prefix.
fn python_site_packages() -> Vec<PathBuf> {
    const QUESTION: &str = "import site, sysconfig; print(sysconfig.get_path('purelib')); \
                            print(sysconfig.get_path('platlib')); print(site.getusersitepackages())";
    for name in super::fetch::PYTHON_NAMES {
        let Ok(answer) = std::process::Command::new(name)
            .args(["-c", &format!("{}; {QUESTION}", super::fetch::NOT_FROM_HERE)])
            .stdin(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .output()
        else {
            continue;
        };
        if answer.status.success() {
            return existing(String::from_utf8_lossy(&answer.stdout).lines().map(PathBuf::from).collect());
        }
    }
    Vec::new()
}

mod cublas;
pub use cublas::{CUBLAS_VARIABLE, cublas_lt};

#[cfg(test)]
mod tests;
