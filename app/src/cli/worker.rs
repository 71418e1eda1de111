//! `lockstep worker`: the engine behind standard input and output. The window and the terminal start it for themselves;
//! a remote device's command starts it on another machine.

use super::{Places, out};
use gpu_core::worker::{LabConfig, Role, serve};
use std::process::ExitCode;

#[derive(clap::Args)]
pub struct Args {
    /// `compile` or `device`: one part of the engine; without it the whole engine, for a remote user
    #[arg(long, value_name = "ROLE")]
    role: Option<String>,
}

pub fn run(args: &Args, places: &Places) -> ExitCode {
    let role = match args.role.as_deref().map(|text| (text, Role::parse(text))) {
        None => None,
        Some((_, Some(role))) => Some(role),
        Some((text, None)) => {
            out::error(&format!("there is no worker role `{text}`; it can be `compile` or `device`"));
            return ExitCode::from(2);
        }
    };
    serve(role, LabConfig::new(places.data_dir()))
}
