//! Compile workers, kept warm: one to use and one to spare, so that neither an edit nor a kill waits for a start.

use super::messages::{FromCompiler, Limits, ToCompiler};
use super::process::{Exit, Process, Waited};
use super::shared::Shared;
use crate::compile::build::BuildFailure;
use crate::compile::{CompileReport, Toolchain};
use crate::job::{Outcome, Source};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Most that compile at once.
const MOST: usize = 3;
/// Loading NVRTC takes 0.2 s; a cold disk and a busy machine can make that many times as long. Whoever gives a compilation
/// much time gives a start as much and more.
const START_TIME: Duration = Duration::from_secs(60);
const STARTS_OF_A_COMPILATION: u32 = 5;
/// Looking for a compiler that is not there may start Python: not often.
const RETRY_TIME: Duration = Duration::from_secs(60);
/// A stopped compilation that is about to end is not worth killing a warm worker for.
const STOP_GRACE: Duration = Duration::from_millis(100);

/// How often a compiler that the machine hardly lets run may go on.
const MOST_EXTENSIONS: u32 = 4;

pub type Compiler = Process<ToCompiler, FromCompiler>;

#[derive(Default)]
pub struct Pool {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    idle: Vec<Compiler>,
    busy: usize,
    /// Being started by the thread that keeps the pool warm.
    starting: usize,
    closed: bool,
}

impl Pool {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Compiles `source` in a worker; cache and checks are the caller's. Blocks; `stop` ends it early.
    pub fn compile(
        &self,
        shared: &Shared,
        toolchain: &Toolchain,
        source: &Source,
        arch: &str,
        stop: &AtomicBool,
    ) -> Result<CompileReport, Outcome> {
        let mut compiler = self.take(shared, toolchain, stop)?;
        let limits = shared.limits();
        let request = ToCompiler::Compile { source: source.clone(), arch: arch.to_owned() };
        let before = compiler.processor_time();
        let sent = compiler.send(&request);
        let mut waited = match sent {
            Ok(()) => compiler.wait(Instant::now() + limits.compile_time, Some(stop)),
            Err(error) => Waited::Ended(error),
        };
        // On a busy machine a compiler may have had hardly any of that time: it is given as much again, a few times.
        for _ in 0..MOST_EXTENSIONS {
            let spent = compiler.processor_time().zip(before).map(|(now, before)| now.saturating_sub(before));
            if !matches!(waited, Waited::TimedOut) || spent.is_none_or(|spent| 2 * spent > limits.compile_time) {
                break;
            }
            waited = compiler.wait(Instant::now() + limits.compile_time, Some(stop));
        }
        let waited = match waited {
            // Superseded while typing: mostly it is done in a moment, and the worker stays warm.
            Waited::Stopped => match compiler.wait(Instant::now() + STOP_GRACE, None) {
                Waited::Message(_) => {
                    self.give_back(shared, Some(compiler), true);
                    return Err(Outcome::Stopped);
                }
                _ => Waited::Stopped,
            },
            other => other,
        };
        let (result, reusable) = match waited {
            Waited::Message(FromCompiler::Built(Ok(report))) => (Ok(*report), true),
            Waited::Message(FromCompiler::Built(Err(BuildFailure::BadRequest(why)))) => {
                (Err(Outcome::BadRequest(why)), true)
            }
            Waited::Message(FromCompiler::Built(Err(BuildFailure::OutOfMemory))) => (Err(memory_limit(&limits)), false),
            Waited::Message(FromCompiler::Built(Err(BuildFailure::Internal(why)))) => {
                (Err(Outcome::Environment(why)), false)
            }
            Waited::Message(FromCompiler::Ready { .. } | FromCompiler::Unusable(_)) => {
                (Err(Outcome::Environment("the compile worker answered out of turn; try again".to_owned())), false)
            }
            Waited::Stopped => (Err(Outcome::Stopped), false),
            Waited::TimedOut => (
                Err(Outcome::LimitExceeded(format!(
                    "compiling took longer than {:.0} s and was ended. Try again if this machine is busy, give it more time \
                     (`--compile-time-limit SECONDS` in the terminal), or unroll less and nest templates less deeply",
                    limits.compile_time.as_secs_f64()
                ))),
                false,
            ),
            Waited::Ended(error) => {
                let exit = compiler.end_within(Duration::from_millis(500));
                (Err(death(&exit, &error.to_string(), &compiler.stderr(), &compiler.last_words(), &limits)), false)
            }
        };
        self.give_back(shared, Some(compiler), reusable);
        result
    }

    /// A warm worker, or a new one; waits while the most allowed are busy.
    fn take(&self, shared: &Shared, toolchain: &Toolchain, stop: &AtomicBool) -> Result<Compiler, Outcome> {
        let mut state = self.lock();
        loop {
            if stop.load(std::sync::atomic::Ordering::Relaxed) || state.closed {
                return Err(Outcome::Stopped);
            }
            if state.busy < MOST {
                if let Some(compiler) = state.idle.pop() {
                    state.busy += 1;
                    shared.note_worker("compile", compiler.pid(), true);
                    return Ok(compiler);
                }
                // One that is on its way will be here sooner than one that is started now.
                if state.starting == 0 {
                    state.busy += 1;
                    break;
                }
            }
            state = self
                .changed
                .wait_timeout(state, Duration::from_millis(20))
                .map_or_else(|poisoned| poisoned.into_inner().0, |(state, _)| state);
        }
        drop(state);
        start(shared, toolchain).inspect(|compiler| shared.note_worker("compile", compiler.pid(), true)).map_err(
            |problem| {
                self.give_back(shared, None, false);
                Outcome::Environment(problem)
            },
        )
    }

    fn give_back(&self, shared: &Shared, compiler: Option<Compiler>, reusable: bool) {
        let mut state = self.lock();
        state.busy = state.busy.saturating_sub(1);
        let mut lost = None;
        if let Some(compiler) = compiler {
            if reusable && state.idle.len() < shared.config.warm_compilers.max(1) && !state.closed {
                shared.note_worker("compile", compiler.pid(), false);
                state.idle.push(compiler);
            } else {
                shared.forget_worker(compiler.pid());
                lost = Some(compiler);
            }
        }
        drop(state);
        self.changed.notify_all();
        // Killing and reaping takes a while; nobody waits for it under the lock.
        drop(lost);
    }

    /// Starts workers until enough are warm, and again whenever one was lost. Runs on a thread of its own until the
    /// pool is closed; the thread owns the workers that it starts (see [`Process::spawn`]).
    pub fn keep_warm(&self, shared: &Shared) {
        let warm = shared.config.warm_compilers;
        loop {
            let mut state = self.lock();
            while !state.closed && state.idle.len() + state.busy.min(1) >= warm {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.closed {
                return;
            }
            state.starting += 1;
            drop(state);
            let started = shared.toolchain().and_then(|toolchain| start(shared, &toolchain));
            let mut state = self.lock();
            state.starting -= 1;
            let failed = started.is_err();
            match started {
                Ok(compiler) if !state.closed => {
                    shared.note_worker("compile", compiler.pid(), false);
                    state.idle.push(compiler);
                }
                Ok(_) => {}
                Err(problem) => shared.update_status(|status| status.problem = Some(problem)),
            }
            drop(state);
            self.changed.notify_all();
            if failed {
                // Nothing to compile with: a job will try again, and its end wakes this thread.
                let state = self.lock();
                if !state.closed {
                    drop(self.changed.wait_timeout(state, RETRY_TIME));
                }
            }
        }
    }

    /// Ends all workers; compilations that wait end as stopped.
    pub fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let idle = std::mem::take(&mut state.idle);
        drop(state);
        self.changed.notify_all();
        drop(idle);
    }
}

/// Starts a worker and waits until it is ready.
fn start(shared: &Shared, toolchain: &Toolchain) -> Result<Compiler, String> {
    let mut command = shared.worker_command("compile");
    clear_environment(&mut command);
    command.current_dir(root_folder());
    let compiler: Compiler = Process::spawn(command, false)?;
    let start = ToCompiler::Start {
        toolchain: toolchain.clone(),
        headers_dir: Some(crate::compile::cache::base(&shared.config.data_dir).join("headers")),
        memory_bytes: shared.limits().compile_memory_bytes,
    };
    compiler.send(&start).map_err(|error| error.to_string())?;
    let patience = START_TIME.max(shared.limits().compile_time.saturating_mul(STARTS_OF_A_COMPILATION));
    match compiler.wait(Instant::now() + patience, Some(&shared.closing)) {
        Waited::Message(FromCompiler::Ready { version, archs, jail, notes }) => {
            shared.update_status(|status| {
                status.nvrtc_version = Some(version);
                status.nvrtc_archs = archs;
                status.jail = Some(jail);
                status.problem = notes.into_iter().next();
            });
            Ok(compiler)
        }
        Waited::Message(FromCompiler::Unusable(problem)) => Err(problem),
        Waited::Message(FromCompiler::Built(_)) => Err("the compile worker answered out of turn".to_owned()),
        Waited::TimedOut => Err(format!(
            "the compile worker was not ready after {} s; is the machine overloaded? A larger `--compile-time-limit` waits longer",
            patience.as_secs()
        )),
        Waited::Stopped => Err("the lab is closing".to_owned()),
        Waited::Ended(error) => {
            let mut compiler = compiler;
            let exit = compiler.end_within(Duration::from_millis(500));
            let said = compiler.last_words();
            Err(format!("the compile worker ended before it was ready ({exit}; {error}){said}"))
        }
    }
}

/// What the death of a compile worker means. NVRTC does not check every allocation, so a crash with much memory in use
/// is the memory limit.
fn death(exit: &Exit, error: &str, stderr: &str, said: &str, limits: &Limits) -> Outcome {
    const MUCH: f64 = 0.5;
    let near_limit = exit.peak_memory_bytes as f64 > MUCH * limits.compile_memory_bytes as f64;
    let out_of_memory = stderr.contains("bad_alloc") || stderr.contains("out of memory");
    if near_limit || out_of_memory {
        return memory_limit(limits);
    }
    if let Some(how) = exit.ended_outside() {
        return Outcome::Crashed(format!("the compiler {how} ({exit}). Try again: a fresh one is ready"));
    }
    Outcome::Crashed(format!(
        "the compiler crashed on this source ({exit}; {error}){said}. Very deep nesting or recursion can cause it; a \
         fresh compiler is ready"
    ))
}

fn memory_limit(limits: &Limits) -> Outcome {
    Outcome::LimitExceeded(format!(
        "compiling needed more than {:.1} GB of memory and was ended. Nest templates less deeply, unroll less, or raise \
         the compile memory limit",
        limits.compile_memory_bytes as f64 / f64::from(1 << 30)
    ))
}

/// Nothing of the environment can leak into a log; Windows programs need one variable to start at all.
pub(super) fn clear_environment(command: &mut Command) {
    command.env_clear();
    #[cfg(windows)]
    if let Some(root) = std::env::var_os("SystemRoot") {
        command.env("SystemRoot", root);
    }
}

fn root_folder() -> &'static Path {
    Path::new(if cfg!(windows) { "C:\\" } else { "/" })
}
