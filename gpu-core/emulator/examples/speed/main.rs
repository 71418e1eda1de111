//! Speed of the emulator, measured against what it is meant to reach.
//!
//! `cargo run --release -p ptx-emulator --example speed [-- NAME...]`

mod cases;
mod clock;

use std::time::Duration;

use cases::{COALESCED, Case, MATRIX, MATRIX_COUNT, Ready, STRIDED};
use clock::{Spread, thread_time};
use ptx_emulator::{Checks, Options};

fn modes() -> [(&'static str, Options); 3] {
    [
        ("unchecked", Options { workers: 1, ..Options::unchecked() }),
        ("bounds + counters", Options { workers: 1, checks: Checks::NONE, ..Options::default() }),
        ("all checks", Options { workers: 1, ..Options::default() }),
    ]
}

/// Instructions a second of core time, launch after launch.
fn rate(case: &Case, options: &Options) -> Spread {
    let mut ready = Ready::new(case);
    let mut rates = Vec::new();
    let begin = thread_time();
    while rates.len() < 5 || thread_time() - begin < Duration::from_millis(300) {
        let start = thread_time();
        let executed = ready.run(options).executed;
        rates.push(executed as f64 / (thread_time() - start).as_secs_f64());
    }
    Spread::of(rates)
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let asked = |name: &str| wanted.is_empty() || wanted.iter().any(|w| name.contains(w.as_str()));
    for (mode, options) in &modes() {
        for case in COALESCED.iter().chain([&STRIDED]) {
            if asked(case.name) && (asked(mode) || wanted.len() < 2) {
                let Spread { median, low, high } = rate(case, options);
                println!(
                    "{mode:18} {:8} {:7.1} M warp instructions/s ({:.1} to {:.1})",
                    case.name,
                    median / 1e6,
                    low / 1e6,
                    high / 1e6
                );
            }
        }
    }
    if asked("mma") {
        let mut ready = Ready::new(&MATRIX);
        let options = Options { workers: 1, ..Options::default() };
        let times = (0..5).map(|_| {
            let start = thread_time();
            ready.run(&options);
            (thread_time() - start).as_secs_f64() / MATRIX_COUNT as f64 * 1e6
        });
        println!("mma {:?}", Spread::of(times.collect()));
    }
}
