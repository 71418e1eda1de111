//! `lockstep worker`: the engine behind standard input and output, for a window or terminal elsewhere.

use super::{Places, out};
use gpu_core::worker::{LabConfig, Role, serve};
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Args {
    /// What to serve; without it, everything: that is what a remote device's command starts
    #[arg(long, hide = true)]
    role: Option<String>,
}

/// Serves until standard input ends.
pub fn run(args: &Args, places: &Places) -> ExitCode {
    let role = match args.role.as_deref().map(|text| (text, Role::parse(text))) {
        None => None,
        Some((_, Some(role))) => Some(role),
        Some((text, None)) => {
            out::error(&format!("`{text}` is no role of a worker: compile or device"));
            return ExitCode::from(2);
        }
    };
    serve(role, LabConfig::new(places.data_dir()))
}
