//! `lockstep exec -- PROGRAM …`: runs a program that knows only the CUDA driver API, with the emulator as its driver.
//!
//! The driver library is offered as `libcuda.so.1` in a folder of Lockstep's own, for this one program: a real driver
//! is never touched.

use super::{Done, Failure, Places, usage};
use gpu_core::compile::locate;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(clap::Args)]
pub struct Args {
    /// Compute capability that the emulated device shows, for example sm_90 (default: LOCKSTEP_ARCH, else sm_90, or that of the first module that sm_90 cannot run)
    #[arg(long, value_name = "sm_XX")]
    arch: Option<String>,
    /// Turn races, uninitialised reads and barrier misuse into launch failures with a description
    #[arg(long)]
    checks: bool,
    /// Print the path of the driver library and run nothing
    #[arg(long)]
    print_library: bool,
    /// The program and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

const LIBRARY: &str = if cfg!(windows) {
    "lockstep_cuda.dll"
} else if cfg!(target_os = "macos") {
    "liblockstep_cuda.dylib"
} else {
    "liblockstep_cuda.so"
};

/// Names under which programs look for the driver.
const ALIASES: &[&str] = if cfg!(windows) { &["nvcuda.dll"] } else { &["libcuda.so.1", "libcuda.so"] };

/// Where the driver library may be: beside the program, where the installers put it, and where Cargo puts it for the
/// same or the other profile of a workspace.
fn places(folder: &Path) -> Vec<PathBuf> {
    let mut places = vec![folder.join(LIBRARY), folder.join("../lib/lockstep").join(LIBRARY)];
    places.push(folder.join("deps").join(LIBRARY));
    for profile in ["release", "debug"] {
        // Only beside a profile's folder: an installed program must not pick up what a build left.
        if folder.ends_with("release") || folder.ends_with("debug") {
            places.push(folder.with_file_name(profile).join(LIBRARY));
            places.push(folder.with_file_name(profile).join("deps").join(LIBRARY));
        }
    }
    places
}

fn library() -> Result<PathBuf, Failure> {
    let exe = std::env::current_exe().map_err(usage)?;
    let folder = exe.parent().unwrap_or(Path::new("."));
    places(folder).into_iter().find(|path| path.is_file()).ok_or_else(|| {
        usage(format!(
            "the driver library {LIBRARY} is not there; in a clone of Lockstep run `cargo build --release -p lockstep-cuda`, \
             with an installed Lockstep install it again. Searched beside the program and in ../lib/lockstep: {}",
            folder.display()
        ))
    })
}

#[cfg(unix)]
fn link(target: &Path, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

#[cfg(not(unix))]
fn link(target: &Path, link: &Path) -> std::io::Result<()> {
    std::fs::copy(target, link).map(drop)
}

/// A folder that holds nothing but the library under the driver's names, and NVRTC under the name without a version,
/// which packages from PyPI leave out. Every call has its own: the driver of another program is never changed.
fn driver_folder(data: &Path, library: &Path, nvrtc: Option<&Path>) -> std::io::Result<PathBuf> {
    let folder = data.join("driver").join(std::process::id().to_string());
    if folder.exists() {
        std::fs::remove_dir_all(&folder)?;
    }
    std::fs::create_dir_all(&folder)?;
    for alias in ALIASES {
        link(library, &folder.join(alias))?;
    }
    if cfg!(unix)
        && let Some(nvrtc) = nvrtc
    {
        link(nvrtc, &folder.join("libnvrtc.so"))?;
    }
    Ok(folder)
}

pub fn run(args: &Args, places: &Places) -> Done {
    let library = library()?.canonicalize().map_err(usage)?;
    if args.print_library {
        println!("{}", library.display());
        return Ok(());
    }
    let data = places.data_dir();
    let [program, rest @ ..] = args.program.as_slice() else {
        return Err(usage("name a program: lockstep exec -- PROGRAM [ARGUMENT …]"));
    };
    let nvrtc = locate::locate(None, &data).ok().map(|toolchain| toolchain.nvrtc);
    let folder = driver_folder(&data, &library, nvrtc.as_deref())
        .map_err(|error| usage(format!("cannot make the driver folder: {error}: {}", data.display())))?;
    let variable = if cfg!(windows) { "PATH" } else { "LD_LIBRARY_PATH" };
    let mut search = vec![folder.clone()];
    search.extend(std::env::var_os(variable).iter().flat_map(std::env::split_paths));
    // Last, so that a program's own NVRTC comes first: many programs for the driver API compile their kernels with it.
    search.extend(nvrtc.as_deref().and_then(Path::parent).map(Path::to_path_buf));
    let search = std::env::join_paths(search).map_err(usage)?;
    let mut command = Command::new(program);
    command.args(rest).env(variable, search);
    if let Some(arch) = &args.arch {
        command.env("LOCKSTEP_ARCH", arch);
    }
    if args.checks {
        command.env("LOCKSTEP_CHECKS", "1");
    }
    let name = program.to_string_lossy();
    let status = command.status();
    // Only links are in it.
    let _ = std::fs::remove_dir_all(&folder);
    let status = status.map_err(|error| usage(format!("cannot start the program: {error}: {name}")))?;
    match status.code() {
        Some(0) => Ok(()),
        Some(code) => Err(Failure::Program(u8::try_from(code).unwrap_or(1))),
        None => Err(usage(format!("the program was ended by a signal ({status}): {name}"))),
    }
}
