//! Speed and memory of the emulator, each line measured against what it is meant to reach.
//!
//! `cargo run --release -p ptx-emulator --example speed [-- [--numba PYTHON] [NAME...]]`
//!
//! A NAME runs only the lines that contain it. PYTHON (or the variable `NUMBA_PYTHON`) is an interpreter that has the
//! package `numba-cuda`: its simulator then runs the same kernels in turns with the emulator. Rates are of core time, so
//! that waiting for a core does not count; what shares caches and cores still does, so look at the load.

#[allow(dead_code, reason = "the tests of the reference mode run these cases too, smaller and to their end")]
mod cases;
mod clock;
mod scaling;

use std::process::Command;
use std::time::{Duration, Instant};

use cases::{
    BIG_TILED, BIG_VADD, COALESCED, Case, EVERYDAY, FURTHER, MATRIX, MATRIX_COUNT, NEIGHBOURS, NUMBA_MATMUL,
    NUMBA_VADD, ORDINARY, Ready, SCATTERED, STREAMS,
};
use clock::{Spread, load, peak_memory, thread_time};
use ptx_emulator::{Checks, Options};

/// Asks this program to run the large vector addition and to print its own peak memory.
const MEMORY_CHILD: &str = "--memory-of-one-launch";

struct Bench {
    wanted: Vec<String>,
    below: usize,
}

impl Bench {
    /// Whether a line is asked for.
    fn asked(&self, line: &str) -> bool {
        self.wanted.is_empty() || self.wanted.iter().any(|name| line.contains(name.as_str()))
    }

    /// Prints one line; `target` is what the median must reach, or (`at_most`) may not pass.
    fn line(&mut self, what: &str, unit: &str, measured: Spread, target: Option<f64>, at_most: bool) {
        let Spread { median, low, high } = measured;
        let verdict = match target {
            None => String::new(),
            Some(target) => {
                let good = if at_most { median <= target } else { median >= target };
                self.below += usize::from(!good);
                let sign = if at_most { "<=" } else { ">=" };
                format!("{sign} {target:<8} {}", if good { "reached" } else { "MISSED" })
            }
        };
        println!("{what:34} {median:10.2} ({low:.2} to {high:.2}) {unit:8} {verdict}");
    }
}

fn one_worker(options: Options) -> Options {
    Options { workers: 1, ..options }
}

/// Million instructions a second of core time, launch after launch.
fn rate(case: &Case, options: &Options) -> Spread {
    let mut ready = Ready::new(case);
    let mut rates = Vec::new();
    let begin = thread_time();
    while rates.len() < 7 || thread_time() - begin < Duration::from_millis(400) {
        let start = thread_time();
        let executed = ready.run(options).executed;
        rates.push(executed as f64 / (thread_time() - start).as_secs_f64() / 1e6);
    }
    Spread::of(rates)
}

/// What the rate would be if a launch took as long as copying its output from another buffer takes: what this machine's
/// memory allows at best, for kernels that do little else.
fn copy_rate(case: &Case) -> Spread {
    let bytes = 4 * case.words as usize;
    let (from, mut to) = (vec![1u8; bytes], vec![2u8; bytes]);
    let executed = Ready::new(case).run(&one_worker(Options::unchecked())).executed;
    let mut rates = Vec::new();
    let begin = thread_time();
    while rates.len() < 7 || thread_time() - begin < Duration::from_millis(200) {
        let start = thread_time();
        to.copy_from_slice(std::hint::black_box(&from));
        std::hint::black_box(&mut to);
        rates.push(executed as f64 / (thread_time() - start).as_secs_f64() / 1e6);
    }
    Spread::of(rates)
}

fn rates(bench: &mut Bench) {
    let modes = [
        ("unchecked", one_worker(Options::unchecked())),
        ("counters", one_worker(Options { checks: Checks::NONE, ..Options::default() })),
        ("all checks", one_worker(Options::default())),
    ];
    for (mode, options) in &modes {
        let near = [COALESCED, EVERYDAY, ORDINARY, FURTHER, NEIGHBOURS].into_iter().flatten().map(|case| (case, true));
        for (case, near) in near.chain(SCATTERED.iter().map(|case| (case, false))) {
            let target = match (*mode, near) {
                ("unchecked", false) | ("counters", _) => None,
                ("unchecked", true) => Some(100.0),
                (_, false) => Some(25.0),
                (_, true) => Some(50.0),
            };
            let what = format!("{}, {mode}, 1 core", case.name);
            if bench.asked(&what) {
                bench.line(&what, "M/s", rate(case, options), target, false);
                if *mode == "unchecked" && STREAMS.contains(&case.name) {
                    bench.line("  if it only copied its bytes", "M/s", copy_rate(case), None, false);
                }
            }
        }
    }
    let what = "matmul 64x64, all checks, 1 core";
    if bench.asked(what) {
        bench.line(what, "M/s", rate(&NUMBA_MATMUL, &one_worker(Options::default())), None, false);
    }
}

fn matrix(bench: &mut Bench) {
    let what = "mma m16n8k16, all checks, 1 core";
    if bench.asked(what) {
        let mut ready = Ready::new(&MATRIX);
        let options = one_worker(Options::default());
        let times = (0..7).map(|_| {
            let start = thread_time();
            ready.run(&options);
            (thread_time() - start).as_secs_f64() / MATRIX_COUNT as f64 * 1e6
        });
        let times = Spread::of(times.collect());
        bench.line(what, "us each", times, Some(2.0), true);
    }
}

fn big_tiled(bench: &mut Bench) {
    let what = "tiled 1024^3, all checks, 2 cores";
    if bench.asked(what) {
        let mut ready = Ready::new(&BIG_TILED);
        let options = Options { workers: 2, ..Options::default() };
        let times = (0..3).map(|_| {
            let start = Instant::now();
            ready.run(&options);
            start.elapsed().as_secs_f64()
        });
        let times = Spread::of(times.collect());
        bench.line(what, "s", times, Some(10.0), true);
    }
}

/// Peak memory of a process that holds three buffers of 128 MiB and runs one launch over all of them.
fn memory(bench: &mut Bench) {
    let what = "memory over twice the buffers";
    if !bench.asked(what) {
        return;
    }
    let program = std::env::current_exe().expect("a program has a path");
    let output = Command::new(program).arg(MEMORY_CHILD).output().expect("this program runs");
    let Ok(peak) = String::from_utf8_lossy(&output.stdout).trim().parse::<f64>() else {
        println!("{what:34} not known on this system");
        return;
    };
    let over = (peak - 2.0 * 3.0 * 4.0 * BIG_VADD.words as f64) / 1e6;
    bench.line(what, "MB", Spread::of(vec![over]), Some(200.0), true);
}

/// Seconds that the simulator takes for one case.
fn simulate(python: &str, case: &str) -> Result<f64, String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/speed/numba_sim.py");
    let output = Command::new(python)
        .args([script, case])
        .env("NUMBA_ENABLE_CUDASIM", "1")
        .output()
        .map_err(|error| format!("{python}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    text.trim().parse().map_err(|_| String::from_utf8_lossy(&output.stderr).into_owned())
}

fn rival(bench: &mut Bench, python: &str) {
    for (case, target) in [(NUMBA_VADD, 10_000.0), (NUMBA_MATMUL, 1_000.0)] {
        let what = format!("{}, all checks, over Numba's simulator", case.name);
        if !bench.asked(&what) {
            continue;
        }
        let mut ready = Ready::new(&case);
        let options = Options::default();
        ready.run(&options);
        let (mut ratios, mut own, mut others) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..3 {
            let theirs = match simulate(python, case.name) {
                Ok(seconds) => seconds,
                Err(error) => {
                    println!("{what:34} not measured: {error}");
                    return;
                }
            };
            let mut times = Vec::new();
            for _ in 0..25 {
                let start = Instant::now();
                ready.run(&options);
                times.push(start.elapsed().as_secs_f64());
            }
            let ours = Spread::of(times).median;
            ratios.push(theirs / ours);
            own.push(ours * 1e3);
            others.push(theirs * 1e3);
        }
        bench.line(&what, "x", Spread::of(ratios), Some(target), false);
        bench.line("  the simulator", "ms", Spread::of(others), None, true);
        bench.line("  the emulator", "ms", Spread::of(own), None, true);
    }
}

fn main() {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == MEMORY_CHILD) {
        Ready::new(&BIG_VADD).run(&Options::default());
        println!("{}", peak_memory().map_or(String::new(), |bytes| bytes.to_string()));
        return;
    }
    let mut python = std::env::var("NUMBA_PYTHON").ok();
    if let Some(at) = arguments.iter().position(|argument| argument == "--numba") {
        arguments.remove(at);
        python = (at < arguments.len()).then(|| arguments.remove(at));
    }
    let mut bench = Bench { wanted: arguments, below: 0 };
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    println!("median (lowest to highest); {cores} cores, load {:.1}", load().unwrap_or(f64::NAN));
    if cfg!(debug_assertions) {
        println!("built with debug assertions: run with --release for figures that count");
    }
    rates(&mut bench);
    matrix(&mut bench);
    scaling::scaling(&mut bench);
    scaling::starts(&mut bench);
    big_tiled(&mut bench);
    memory(&mut bench);
    match python {
        Some(python) => rival(&mut bench, &python),
        None => println!("no ratio to Numba's simulator: name a Python that has numba-cuda by --numba or NUMBA_PYTHON"),
    }
    println!("{} below target; load {:.1}", bench.below, load().unwrap_or(f64::NAN));
}
