//! A child process that speaks the wire protocol over its standard input and output.

use super::wire::{Reader, WireError, Writer};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::Read;
use std::marker::PhantomData;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How often a wait looks at the stop flag. A message ends the wait at once.
const STOP_POLL: Duration = Duration::from_millis(10);
/// Bytes of standard error kept to explain a death.
const STDERR_BYTES: usize = 4096;

/// Messages of a worker that wait to be looked at.
const MOST_WAITING: usize = 64;

/// A running worker. Dropping it kills it.
pub struct Process<In, Out> {
    child: Child,
    exit: Option<Exit>,
    to: Sender<Vec<u8>>,
    from: Receiver<Result<Out, WireError>>,
    stderr: Arc<Mutex<Vec<u8>>>,
    #[cfg_attr(not(unix), expect(dead_code, reason = "process groups are a notion of Unix"))]
    own_group: bool,
    /// None where the system refused: then the worker alone is ended, and by us alone.
    #[cfg(windows)]
    job: Option<super::windows_job::Job>,
    messages: PhantomData<fn(In)>,
}

/// How a process ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exit {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    /// Largest resident set, in bytes; 0 when unknown.
    pub peak_memory_bytes: u64,
}

impl Exit {
    /// Why a process ended that nothing here ended: another program or the system did. None: it ended by itself.
    pub fn ended_outside(&self) -> Option<&'static str> {
        #[cfg(unix)]
        if matches!(self.signal, Some(libc::SIGKILL | libc::SIGTERM | libc::SIGINT | libc::SIGHUP | libc::SIGQUIT)) {
            return Some("was ended from outside: by another program, or by the system for want of memory");
        }
        None
    }
}

/// What matters of a process's last lines: of a panic its place and message, and no advice for those who build this program.
fn last_words(stderr: &str) -> String {
    let lines: Vec<&str> = stderr.lines().filter(|line| !line.starts_with("note: run with `RUST_BACKTRACE")).collect();
    let panic = lines.iter().rposition(|line| line.contains("panicked at "));
    let words = match panic {
        Some(at) => lines[at..].join(" ").split_once("panicked at ").map(|(_, words)| words.trim().to_owned()),
        None => lines.last().map(|line| line.trim().to_owned()),
    };
    words.filter(|words| !words.is_empty()).map(|words| format!(". It said: {words}")).unwrap_or_default()
}

/// What a wait brought.
pub enum Waited<T> {
    Message(T),
    /// The process ended or its output cannot be understood.
    Ended(WireError),
    TimedOut,
    Stopped,
}

impl<In: Serialize, Out: DeserializeOwned + Send + 'static> Process<In, Out> {
    /// Starts `command`. The thread that calls this must outlive the process: on Linux a worker dies with the thread
    /// that started it (`PR_SET_PDEATHSIG`), so that no crash of ours leaves an orphan. On Windows a job object sees to that.
    pub fn spawn(mut command: Command, own_group: bool) -> Result<Self, String> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        if own_group {
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
        }
        #[cfg(windows)]
        {
            // No console window for workers.
            const CREATE_NO_WINDOW: u32 = 0x0800_0000;
            std::os::windows::process::CommandExt::creation_flags(&mut command, CREATE_NO_WINDOW);
        }
        let mut child = command.spawn().map_err(|error| {
            format!("cannot start a worker process: {error}: {}", command.get_program().to_string_lossy())
        })?;
        #[cfg(windows)]
        let job = super::windows_job::Job::of(&child).ok();
        let lost = || "a worker process has no standard streams".to_owned();
        let stdin = child.stdin.take().ok_or_else(lost)?;
        let stdout = child.stdout.take().ok_or_else(lost)?;
        let mut stderr = child.stderr.take().ok_or_else(lost)?;

        let (to, outgoing) = channel::<Vec<u8>>();
        // A thread of its own: a process that does not read must not block us.
        std::thread::spawn(move || {
            let Ok(mut writer) = Writer::start(stdin) else { return };
            while let Ok(frame) = outgoing.recv() {
                if writer.send_encoded(&frame).is_err() {
                    return;
                }
            }
        });
        // Bounded: who sends faster than we look waits, instead of filling our memory.
        let (incoming, from) = sync_channel(MOST_WAITING);
        std::thread::spawn(move || {
            let mut reader = match Reader::start(stdout) {
                Ok(reader) => reader,
                Err(error) => return drop(incoming.send(Err(error))),
            };
            loop {
                let message = reader.receive();
                let ended = message.is_err();
                if incoming.send(message).is_err() || ended {
                    return;
                }
            }
        });
        let tail = Arc::new(Mutex::new(Vec::new()));
        let kept = tail.clone();
        std::thread::spawn(move || {
            let mut buffer = [0; 1024];
            while let Ok(bytes @ 1..) = stderr.read(&mut buffer) {
                let Ok(mut kept) = kept.lock() else { return };
                kept.extend_from_slice(&buffer[..bytes]);
                let surplus = kept.len().saturating_sub(STDERR_BYTES);
                kept.drain(..surplus);
            }
        });
        Ok(Process {
            child,
            exit: None,
            to,
            from,
            stderr: tail,
            own_group,
            #[cfg(windows)]
            job,
            messages: PhantomData,
        })
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Processor time that the child took so far; None where the system does not tell it cheaply.
    pub fn processor_time(&self) -> Option<Duration> {
        // Of Linux: behind the name, which may hold anything, the 12th and 13th field in hundredths of a second.
        const TICK: Duration = Duration::from_millis(10);
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?;
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = |at: usize| fields.get(at)?.parse::<u32>().ok();
        Some(TICK * (ticks(11)? + ticks(12)?))
    }

    /// Queues a message. Fails only when it cannot be encoded; a dead process shows on the next wait.
    pub fn send(&self, message: &In) -> Result<(), WireError> {
        let frame = super::wire::encode(message)?;
        // The writer is gone when the process is; the next wait says so better than an error here.
        let _ = self.to.send(frame);
        Ok(())
    }

    /// Waits for a message until `deadline`, or until `stop` is set.
    pub fn wait(&self, deadline: Instant, stop: Option<&AtomicBool>) -> Waited<Out> {
        loop {
            if stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Waited::Stopped;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let slice = if stop.is_some() { left.min(STOP_POLL) } else { left };
            match self.from.recv_timeout(slice) {
                Ok(Ok(message)) => return Waited::Message(message),
                Ok(Err(error)) => return Waited::Ended(error),
                Err(RecvTimeoutError::Disconnected) => return Waited::Ended(WireError::Closed),
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Waited::TimedOut,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

impl<In, Out> Process<In, Out> {
    /// Kills it if it still runs, waits for it, and says how it ended.
    pub fn end(&mut self) -> Exit {
        // A process that closed its output is about to exit by itself: its own reason is worth a moment.
        self.end_within(Duration::ZERO)
    }

    /// As [`Process::end`], but gives it `patience` to exit by itself first.
    pub fn end_within(&mut self, patience: Duration) -> Exit {
        let deadline = Instant::now() + patience;
        loop {
            if let Some(exit) = &self.exit {
                return exit.clone();
            }
            if Instant::now() >= deadline {
                break;
            }
            self.exit = self.try_reap(false);
            if self.exit.is_none() {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        self.kill();
        let exit = self.try_reap(true).unwrap_or_default();
        self.exit = Some(exit.clone());
        exit
    }

    /// Standard error's last lines, trimmed.
    pub fn stderr(&self) -> String {
        let kept = self.stderr.lock().map(|kept| kept.clone()).unwrap_or_default();
        String::from_utf8_lossy(&kept).trim().to_owned()
    }

    /// The end of a sentence with what the process said last; nothing where it was silent.
    pub fn last_words(&self) -> String {
        last_words(&self.stderr())
    }

    #[cfg(unix)]
    fn kill(&mut self) {
        let pid = self.child.id() as libc::pid_t;
        // SAFETY: plain system call. The process was not reaped yet (`exit` is None), so the id is still its own; a
        // negative id addresses the group that was made for it alone.
        unsafe { libc::kill(if self.own_group { -pid } else { pid }, libc::SIGKILL) };
    }

    #[cfg(not(unix))]
    fn kill(&mut self) {
        #[cfg(windows)]
        if let Some(job) = &self.job {
            job.end();
        }
        // An error means that it has ended already.
        let _ = self.child.kill();
    }

    #[cfg(unix)]
    fn try_reap(&mut self, block: bool) -> Option<Exit> {
        let mut status = 0;
        // SAFETY: an all-zero rusage is a valid value of this plain C struct.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        let flags = if block { 0 } else { libc::WNOHANG };
        // SAFETY: both pointers are valid for writes; the child was not reaped yet. `wait4` instead of the standard
        // library's wait because only it tells the memory that the process used.
        let reaped = unsafe { libc::wait4(self.child.id() as libc::pid_t, &mut status, flags, &mut usage) };
        if reaped == 0 {
            return None;
        }
        // In KiB on Linux, in bytes on macOS.
        let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
        Some(Exit {
            code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
            signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
            peak_memory_bytes: u64::try_from(usage.ru_maxrss).unwrap_or(0) * unit,
        })
    }

    #[cfg(not(unix))]
    fn try_reap(&mut self, block: bool) -> Option<Exit> {
        let status = if block { self.child.wait().ok() } else { self.child.try_wait().ok().flatten() }?;
        #[cfg(windows)]
        let peak_memory_bytes = super::windows_job::peak_memory_bytes(&self.child);
        #[cfg(not(windows))]
        let peak_memory_bytes = 0;
        Some(Exit { code: status.code(), signal: None, peak_memory_bytes })
    }
}

impl<In, Out> Drop for Process<In, Out> {
    fn drop(&mut self) {
        self.end();
    }
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "exit status {code}"),
            #[cfg(unix)]
            (None, Some(signal)) => {
                let name = match signal {
                    libc::SIGSEGV => " (segmentation fault)",
                    libc::SIGABRT => " (abort)",
                    libc::SIGKILL => " (killed)",
                    libc::SIGBUS => " (bus error)",
                    libc::SIGFPE => " (arithmetic error)",
                    libc::SIGILL => " (illegal instruction)",
                    libc::SIGXFSZ => " (file size limit)",
                    _ => "",
                };
                write!(f, "signal {signal}{name}")
            }
            _ => write!(f, "an unknown reason"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::last_words;

    #[test]
    fn a_panic_is_told_by_its_place_and_words() {
        let panic = "thread 'main' (7) panicked at src/a.rs:3:5:\nattempt to add with overflow\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n";
        assert_eq!(last_words(panic), ". It said: src/a.rs:3:5: attempt to add with overflow");
        assert_eq!(last_words("one\n two \n"), ". It said: two");
        assert_eq!(last_words("note: run with `RUST_BACKTRACE=1` to see more\n"), "");
        assert_eq!(last_words(""), "");
    }
}
