//! Machine code as text, by nvdisasm when there is one.

use super::{Diagnostic, Severity, Toolchain};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Disassembling takes some 0.1 to 1 s.
const TIME: Duration = Duration::from_secs(20);
/// Longest text kept, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// Disassembles, with source lines. `Ok(None)` when the toolchain has no disassembler.
pub fn disassemble(toolchain: &Toolchain, cubin: &[u8], data_dir: &Path) -> Result<Option<String>, Diagnostic> {
    let Some(nvdisasm) = &toolchain.nvdisasm else { return Ok(None) };
    run(nvdisasm, cubin, data_dir).map(Some).map_err(|message| Diagnostic {
        severity: Severity::Warning,
        file: String::new(),
        line: 0,
        column: 0,
        message: format!("no machine code to show: {message}: {}", nvdisasm.display()),
    })
}

fn run(nvdisasm: &Path, cubin: &[u8], data_dir: &Path) -> Result<String, String> {
    let folder = data_dir.join("tmp");
    std::fs::create_dir_all(&folder).map_err(|error| format!("cannot make a scratch folder: {error}"))?;
    let mut file = tempfile::Builder::new()
        .suffix(".cubin")
        .tempfile_in(&folder)
        .map_err(|error| format!("cannot make a scratch file: {error}"))?;
    file.write_all(cubin).map_err(|error| format!("cannot write a scratch file: {error}"))?;

    let mut child = Command::new(nvdisasm)
        // `-c`: only sections of code, not the debugger's bytes; `-g`: source lines from the line table.
        .args(["-c", "-g"])
        .arg(file.path())
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("the disassembler does not start: {error}"))?;
    let text = read_aside(child.stdout.take());
    let complaint = read_aside(child.stderr.take());
    let status = wait(&mut child)?;
    let text = text.join().unwrap_or_default();
    if !status.success() {
        let complaint = complaint.join().unwrap_or_default();
        return Err(format!("the disassembler failed ({status}): {}", complaint.lines().next().unwrap_or("no reason")));
    }
    Ok(text)
}

/// Reads a pipe on another thread, so that neither pipe fills up.
fn read_aside(pipe: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            let _ = pipe.take(MAX_BYTES).read_to_end(&mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

fn wait(child: &mut Child) -> Result<std::process::ExitStatus, String> {
    let deadline = Instant::now() + TIME;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(2)),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("the disassembler took longer than {} s", TIME.as_secs()));
            }
            Err(error) => return Err(format!("the disassembler was lost: {error}")),
        }
    }
}
