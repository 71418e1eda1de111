//! `lockstep exec -- PROGRAM …`: runs a program that knows only the CUDA driver API, with the emulator as its driver.
//!
//! The driver library is offered as `libcuda.so.1` in a folder of Lockstep's own, for this one program: a real driver
//! is never touched.

use super::{Done, Failure, Places, usage};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(clap::Args)]
pub struct Args {
    /// Compute capability that the emulated device shows, for example sm_90 (default: LOCKSTEP_ARCH, else sm_90)
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

/// The driver library: beside the program, or where the installers put it.
fn library() -> Result<PathBuf, Failure> {
    let exe = std::env::current_exe().map_err(usage)?;
    let folder = exe.parent().unwrap_or(Path::new("."));
    let places =
        [folder.join(LIBRARY), folder.join("../lib/lockstep").join(LIBRARY), folder.join("deps").join(LIBRARY)];
    places.iter().find(|path| path.is_file()).cloned().ok_or_else(|| {
        usage(format!(
            "the driver library {LIBRARY} is not beside the program; build it with `cargo build --release -p lockstep-cuda`: {}",
            folder.display()
        ))
    })
}

/// A folder that holds nothing but the library under the driver's names.
fn driver_folder(data: &Path, library: &Path) -> std::io::Result<PathBuf> {
    let folder = data.join("driver");
    std::fs::create_dir_all(&folder)?;
    for alias in ALIASES {
        let link = folder.join(alias);
        if link.symlink_metadata().is_ok() {
            std::fs::remove_file(&link)?;
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(library, &link)?;
        #[cfg(not(unix))]
        std::fs::copy(library, &link)?;
    }
    Ok(folder)
}

pub fn run(args: &Args, places: &Places) -> Done {
    let library = library()?.canonicalize().map_err(usage)?;
    if args.print_library {
        println!("{}", library.display());
        return Ok(());
    }
    let [program, rest @ ..] = args.program.as_slice() else {
        return Err(usage("name a program: lockstep exec -- PROGRAM [ARGUMENT …]"));
    };
    let folder = driver_folder(&places.data_dir(), &library)
        .map_err(|error| usage(format!("cannot make the driver folder: {error}: {}", places.data_dir().display())))?;
    let variable = if cfg!(windows) { "PATH" } else { "LD_LIBRARY_PATH" };
    let mut search = vec![folder];
    search.extend(std::env::var_os(variable).iter().flat_map(std::env::split_paths));
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
    let status = command.status().map_err(|error| usage(format!("cannot start the program: {error}: {name}")))?;
    match status.code() {
        Some(0) => Ok(()),
        Some(code) => Err(Failure::Program(u8::try_from(code).unwrap_or(1))),
        None => Err(usage(format!("the program was ended by a signal ({status}): {name}"))),
    }
}
