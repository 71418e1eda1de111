//! Man pages and completions of shells that packages ship: written from the command line's own definition. With
//! `UPDATE_PACKAGING=1` the files are written, without it they must be what would be written.

use crate::cli_support::repository;
use clap_complete::Shell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Commands for authors and for other copies of Lockstep have help, not pages.
const WITHOUT_A_PAGE: [&str; 2] = ["dev", "worker"];

fn page(command: &clap::Command, name: &str, pages: &mut BTreeMap<PathBuf, Vec<u8>>) {
    // clap keeps names that live as long as the program.
    let title: &'static str = name.to_owned().leak();
    let mut bytes = Vec::new();
    clap_mangen::Man::new(
        command
            .clone()
            .name(title)
            .display_name(title)
            .bin_name(name.replace('-', " "))
            .version(env!("CARGO_PKG_VERSION")),
    )
    .source("Lockstep")
    .manual("Lockstep")
    .date("")
    .render(&mut bytes)
    .unwrap();
    pages.insert(Path::new("man").join(format!("{name}.1")), bytes);
    for below in command.get_subcommands() {
        if !below.is_hide_set() && below.get_name() != "help" && !WITHOUT_A_PAGE.contains(&below.get_name()) {
            page(below, &format!("{name}-{}", below.get_name()), pages);
        }
    }
}

fn written() -> BTreeMap<PathBuf, Vec<u8>> {
    let mut command = lockstep::cli::definition();
    let mut files = BTreeMap::new();
    page(&command, "lockstep", &mut files);
    for (shell, name) in [(Shell::Bash, "lockstep.bash"), (Shell::Zsh, "_lockstep"), (Shell::Fish, "lockstep.fish")] {
        let mut bytes = Vec::new();
        clap_complete::generate(shell, &mut command, "lockstep", &mut bytes);
        files.insert(Path::new("completions").join(name), bytes);
    }
    files
}

#[test]
fn man_pages_and_completions_are_those_of_this_command_line() {
    let share = repository().join("installers/share");
    let written = written();
    if std::env::var_os("UPDATE_PACKAGING").is_some() {
        for folder in ["man", "completions"] {
            let _ = fs::remove_dir_all(share.join(folder));
            fs::create_dir_all(share.join(folder)).unwrap();
        }
        for (path, bytes) in &written {
            fs::write(share.join(path), bytes).unwrap();
        }
    }
    let kept: Vec<PathBuf> = ["man", "completions"]
        .iter()
        .flat_map(|folder| fs::read_dir(share.join(folder)).unwrap().flatten())
        .map(|entry| entry.path().strip_prefix(&share).unwrap().to_owned())
        .collect();
    let again = "run this test with UPDATE_PACKAGING=1";
    assert_eq!(kept.len(), written.len(), "{again}");
    for (path, bytes) in &written {
        // Git may have written line ends of Windows.
        let found = fs::read_to_string(share.join(path)).unwrap_or_default().replace("\r\n", "\n");
        assert!(found.as_bytes() == bytes.as_slice(), "{} is not up to date: {again}", path.display());
    }
    let check = String::from_utf8_lossy(&written[Path::new("man/lockstep-check.1")]);
    assert!(check.contains("\\-\\-kernel"), "{check}");
}

#[test]
fn the_metadata_names_this_version() {
    let data = fs::read_to_string(repository().join("installers/share/lockstep.metainfo.xml")).unwrap();
    let wanted = format!("<release version=\"{}\"", env!("CARGO_PKG_VERSION"));
    assert!(data.contains(&wanted), "add the release to installers/share/lockstep.metainfo.xml: {wanted} date=\"…\"/>");
}
