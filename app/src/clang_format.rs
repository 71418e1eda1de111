//! The formatter of this machine, where there is one: no part of Lockstep, so a text is laid out only on request.

use std::io::Write;
use std::process::{Command, Stdio};

/// The text as clang-format lays it out in the style of the course's kernels.
///
/// # Errors
/// There is no clang-format, or it refuses the text; one sentence that says what to do.
pub fn format(text: &str, tab_width: u32) -> Result<String, String> {
    let style = format!(
        "{{BasedOnStyle: LLVM, IndentWidth: {tab_width}, ColumnLimit: 110, BreakBeforeBraces: Custom, \
         BraceWrapping: {{AfterFunction: true}}, PointerAlignment: Left, SortIncludes: Never}}"
    );
    let child = Command::new("clang-format")
        .args(["--assume-filename=kernel.cu", &format!("--style={style}")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = child.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            "clang-format is not on this machine: install it (it comes with LLVM), then format again".to_owned()
        }
        _ => format!("clang-format does not start: {error}"),
    })?;
    // A kernel is smaller than what a pipe and the reader take; all of it is read before anything is written.
    let written = child.stdin.take().map(|mut input| input.write_all(text.as_bytes()));
    let output = child.wait_with_output().map_err(|error| format!("clang-format did not end: {error}"))?;
    if !output.status.success() || written.is_some_and(|written| written.is_err()) {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("clang-format refuses this text: {}", said.lines().next().unwrap_or("it says nothing")));
    }
    String::from_utf8(output.stdout).map_err(|_| "clang-format gave no text".to_owned())
}
