//! Worker processes and the lab that runs them.
//!
//! ```text
//! window, terminal ── Lab ─┬─ compile workers (jailed, warm)      lockstep worker --role compile
//!                          ├─ device workers (warm, one a device)  lockstep worker --role device
//!                          └─ or a lab elsewhere                    ssh host lockstep worker
//! ```
//! A worker that hangs, crashes or meets a sticky CUDA error is killed and replaced; nothing else notices.

mod compile_worker;
mod device_worker;
mod jail;
mod judging;
mod lab;
mod lane;
mod local;
mod messages;
mod pipeline;
mod pool;
mod process;
mod remote;
mod script_jail;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod seccomp;
mod shared;
mod stdio;
mod supervisor;
#[cfg(windows)]
mod windows_job;
pub mod wire;

pub use jail::is_there as has_jail;
pub use lab::{Lab, StopHandle};
pub use messages::{LabStatus, Limits, WorkerStatus};
pub use script_jail::{confine_script, confines_scripts};
pub use shared::{LabConfig, Waker};

use std::process::ExitCode;

/// What a worker process is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Compiles, in a jail.
    Compile,
    /// Runs kernels on one device.
    Device,
}

impl Role {
    /// Reads the argument of `--role`.
    pub fn parse(text: &str) -> Option<Role> {
        match text {
            "compile" => Some(Role::Compile),
            "device" => Some(Role::Device),
            _ => None,
        }
    }
}

/// The end of a worker whose input ended, also in the middle of its work; with a reason and status 1 where that was broken.
fn leave(why: &wire::WireError) -> ! {
    if matches!(why, wire::WireError::Closed) {
        std::process::exit(0);
    }
    // Whoever started it may be gone, and nobody reads.
    let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("lockstep worker: {why}\n"));
    std::process::exit(1);
}

/// The body of `lockstep worker`: serves on standard input and output until the input ends. Without a role it is a
/// whole lab for a remote user, for which `config` counts. Failures go to standard error in one line.
pub fn serve(role: Option<Role>, config: LabConfig) -> ExitCode {
    let served = match role {
        Some(Role::Compile) => compile_worker::serve(),
        Some(Role::Device) => device_worker::serve(),
        None => supervisor::serve(config),
    };
    match served {
        // The other side ended: that is how a worker's life normally ends.
        Ok(()) | Err(wire::WireError::Closed) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("lockstep worker: {error}");
            ExitCode::FAILURE
        }
    }
}
