//! Other programs, started and left idle in the same way and in the same run as this one: only then do figures compare.

use super::{PATIENCE, proc, spread};
use crate::cli::{Done, Failure, out, usage};
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Process, Stdio};
use std::time::{Duration, Instant};

/// Loading, compiling and the search for devices come to an end first.
const SETTLE: Duration = Duration::from_secs(6);

/// Builds egui's own demo app from the source tree that this program was built in, in the same profile; gives its path.
///
/// # Errors
/// The source or cargo is not here, or it does not build; says which.
pub fn build_egui_demo(exe: &Path) -> Result<PathBuf, Failure> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = own.join("rivals/egui-demo");
    if !folder.join("Cargo.toml").is_file() {
        return Err(usage(format!(
            "egui's demo is built from the source of Lockstep, which is not in {}",
            own.display()
        )));
    }
    // The same versions of everything that both have.
    let lock = own.parent().unwrap_or(own).join("Cargo.lock");
    std::fs::copy(&lock, folder.join("Cargo.lock"))
        .map_err(|error| usage(format!("its versions cannot be taken over ({error}): {}", lock.display())))?;
    let profile = if cfg!(debug_assertions) { "dev" } else { "release" };
    // Where this program was built, much of it is there already.
    let target = exe.parent().and_then(Path::parent).unwrap_or(own);
    let mut build = Process::new("cargo");
    build.args(["build", "--quiet", "--profile", profile, "--manifest-path"]).arg(folder.join("Cargo.toml"));
    let status = build.arg("--target-dir").arg(target).status();
    match status.map_err(|error| usage(format!("cargo cannot be run ({error})")))? {
        ended if ended.success() => {
            let folder = if cfg!(debug_assertions) { "debug" } else { "release" };
            Ok(target.join(folder).join("egui-demo"))
        }
        ended => Err(usage(format!("egui's demo does not build ({ended}): {}", folder.display()))),
    }
}

/// Frames of egui's demo, timed without a window as ours are.
pub fn egui_demo_frames(demo: &Path, count: u32) {
    let answer = Process::new(demo).args(["--frames", &count.to_string()]).output();
    let said =
        answer.map_or_else(|error| error.to_string(), |answer| String::from_utf8_lossy(&answer.stdout).into_owned());
    out::print(&format!("frame of egui's demo, mouse moving: {} of processor time ({count} frames)\n", said.trim()));
}

/// Starts each rival, and this program in the same way.
pub fn measure(rivals: &[String], exe: &Path, count: u32, idle: Duration) -> Done {
    if rivals.is_empty() {
        return Ok(());
    }
    let folder = tempfile::tempdir().map_err(|error| usage(format!("no place for a data folder ({error})")))?;
    let own = format!("'{}' --data '{}'", exe.display(), folder.path().display());
    let mut programs = vec![("Lockstep", own.as_str())];
    for rival in rivals {
        let Some(program) = rival.split_once('=') else {
            return Err(usage(format!("a rival is written NAME=COMMAND (found `{rival}`)")));
        };
        programs.push(program);
    }
    let mut starts: Vec<Result<Vec<f64>, String>> = programs.iter().map(|_| Ok(Vec::new())).collect();
    // In turns: a machine that becomes slower meanwhile does so for all of them.
    for _ in 0..count.max(1) {
        for ((name, command), starts) in programs.iter().zip(&mut starts) {
            if let Ok(times) = starts {
                match open(name, command) {
                    Ok((_, took)) => times.push(took.as_secs_f64() * 1e3),
                    Err(why) => *starts = Err(why),
                }
            }
        }
    }
    for ((name, command), starts) in programs.iter().zip(starts) {
        match starts {
            Err(why) => out::print(&format!("{name}: not measured, because {why}\n")),
            Ok(mut starts) => {
                let count = starts.len();
                let Some([median, worst]) = spread(&mut starts, [0.5, 1.0]) else { continue };
                let at_rest =
                    idleness(name, command, idle).unwrap_or_else(|why| format!("not left idle, because {why}"));
                out::print(&format!(
                    "{name}: window mapped after {median:.0} ms (median), {worst:.0} ms (worst of {count}); {at_rest}\n"
                ));
            }
        }
    }
    Ok(())
}

/// What the program and the processes that it started use while nobody touches it.
fn idleness(name: &str, command: &str, idle: Duration) -> Result<String, String> {
    let (program, _) = open(name, command)?;
    std::thread::sleep(SETTLE);
    let family = proc::family(program.0.id());
    let used = || family.iter().map(|member| proc::processor_s(member)).sum::<f64>();
    let (began, before) = (Instant::now(), used());
    std::thread::sleep(idle);
    let share = 100.0 * (used() - before) / began.elapsed().as_secs_f64();
    let own = proc::resident_mb(&family[0]);
    let helpers = match &family[1..] {
        [] => String::new(),
        helpers => {
            let more: f64 = helpers.iter().map(|helper| proc::resident_mb(helper)).sum();
            format!(" and {more:.0} MB in {} processes that it started", helpers.len())
        }
    };
    Ok(format!("idle {share:.2} % of a core, {own:.0} MB resident{helpers}"))
}

/// A program that is ended at once: it is not asked, for it was not told to end.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a program; it, and the time until its window was there. The window is known by its process, or by the
/// program's name in its title: not every program tells its process.
fn open(name: &str, command: &str) -> Result<(Killed, Duration), String> {
    let began = Instant::now();
    let mut process = Process::new("sh");
    process.args(["-c", &format!("exec {command}")]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = Killed(process.spawn().map_err(|error| format!("it cannot be started ({error})"))?);
    let pid = child.0.id().to_string();
    while began.elapsed() < PATIENCE {
        let asked = ["search", "--onlyvisible", "--any", "--pid", &pid, "--name", name];
        let search = Process::new("xdotool").args(asked).output();
        let found = search.map_err(|error| format!("xdotool cannot be run ({error})"))?;
        if !found.stdout.is_empty() {
            return Ok((child, began.elapsed()));
        }
        if let Ok(Some(status)) = child.0.try_wait() {
            return Err(format!("it ended before it had a window ({status})"));
        }
        std::thread::sleep(Duration::from_millis(3));
    }
    Err("no window appeared".to_owned())
}
