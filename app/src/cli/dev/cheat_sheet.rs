//! `lockstep dev cheat-sheet`: all keys, from the table that menus and palette are made of.

use crate::cheat_sheet;
use crate::cli::{Done, Failure, out};
use std::path::PathBuf;

#[derive(clap::Args)]
pub struct Args {
    /// Write a page to print (HTML) into this file; without it the keys are listed here
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

pub fn run(args: &Args) -> Done {
    let Some(path) = &args.html else {
        out::print(&cheat_sheet::text());
        return Ok(());
    };
    std::fs::write(path, cheat_sheet::page())
        .map_err(|error| Failure::Usage(format!("the page cannot be written ({error}): {}", path.display())))
}
