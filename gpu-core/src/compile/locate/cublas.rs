//! cuBLASLt, the rival of the matrix products: looked for where the compiler is looked for.

use super::{Os, Surroundings, data_packages, numbers, python_site_packages};
use std::path::{Path, PathBuf};

/// Names the library file or a folder that holds it.
pub const CUBLAS_VARIABLE: &str = "LOCKSTEP_CUBLAS";

/// The newest cuBLASLt of the first place that has one. Order: the environment variable [`CUBLAS_VARIABLE`], beside
/// the compiler, the data folder, CUDA toolkits, Python's site-packages.
pub fn cublas_lt(beside: Option<&Path>, data_dir: &Path) -> Option<PathBuf> {
    Surroundings::of_this_machine().cublas_lt(beside, data_dir)
}

impl Surroundings {
    pub(super) fn cublas_lt(&self, beside: Option<&Path>, data_dir: &Path) -> Option<PathBuf> {
        if let Some(place) = self.variable(CUBLAS_VARIABLE) {
            return if place.is_file() { Some(place) } else { self.cublas_lt_at(&place) };
        }
        let mut places: Vec<PathBuf> = beside.and_then(Path::parent).map(Path::to_path_buf).into_iter().collect();
        places.extend(data_packages(data_dir));
        places.extend(self.toolkit_roots());
        places.extend(self.python_folders());
        let asked = || if self.ask_python { python_site_packages() } else { Vec::new() };
        places
            .iter()
            .find_map(|place| self.cublas_lt_at(place))
            .or_else(|| asked().iter().find_map(|place| self.cublas_lt_at(place)))
    }

    fn cublas_lt_at(&self, place: &Path) -> Option<PathBuf> {
        let place = std::path::absolute(place).ok()?;
        let mut folders = self.library_folders(&place);
        // The layout up to CUDA 12 has a folder a library.
        folders.extend(self.library_folders(&place.join("nvidia").join("cublas")));
        folders.iter().find_map(|folder| self.newest(folder, cublas_lt_version))
    }
}

/// Versions whose functions cudarc's bindings describe.
fn cublas_lt_version(name: &str, os: Os) -> Option<Vec<u32>> {
    let rest = match os {
        Os::Elf => name.strip_prefix("libcublasLt.so.")?,
        Os::Windows => name.strip_prefix("cublasLt64_")?.strip_suffix(".dll")?,
    };
    let version = numbers(rest);
    version.first().is_some_and(|major| *major == 13).then_some(version)
}
