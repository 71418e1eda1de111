//! The console of Windows. A program that also serves the terminal gets one with a window of its own when it is opened
//! by a double click, and an empty black window would stand beside ours.

use std::os::windows::process::CommandExt;
use std::process::{Command, Stdio};
use windows_sys::Win32::System::Console::GetConsoleProcessList;

/// Set for the program that was started again, which must not do so for ever.
const MARK: &str = "LOCKSTEP_WITHOUT_CONSOLE";

/// A console, but no window of it. Giving ours up would not do: without one, every worker and every `python` would get
/// a window of its own; this one they share.
const CREATE_NO_WINDOW: u32 = 0x0800_0000;

/// Whether the console was made for this program, and nobody looks at it: in a terminal its shell is there too.
pub fn is_ours_alone() -> bool {
    if std::env::var_os(MARK).is_some() {
        return false;
    }
    let mut processes = [0; 2];
    // SAFETY: the array has room for as many as it says.
    unsafe { GetConsoleProcessList(processes.as_mut_ptr(), processes.len() as u32) == 1 }
}

/// Starts this program again with a console that has no window; false where that does not work.
pub fn start_again_without() -> bool {
    let Ok(program) = std::env::current_exe() else { return false };
    let mut again = Command::new(program);
    again.args(std::env::args_os().skip(1)).env(MARK, "1").creation_flags(CREATE_NO_WINDOW);
    // The old console closes with this process.
    again.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    again.spawn().is_ok()
}
