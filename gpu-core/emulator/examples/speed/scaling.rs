//! What a second host thread brings, and what it costs.

use std::time::{Duration, Instant};

use ptx_emulator::Options;

use crate::Bench;
use crate::cases::{COALESCED, EVERYDAY, Ready, STRIDED, TWO_BLOCKS};
use crate::clock::{Spread, machine_time, process_time};

/// Launches of one measurement take at least so long: much longer than a worker's start and the steps of the clocks.
const LEAST: Duration = Duration::from_millis(200);
/// Pairs that are wanted, and tried at most.
const WANTED: usize = 9;
const TRIED: usize = 40;

/// Seconds and seconds of core time of a launch; and whether other programs left the cores alone.
struct Measured {
    wall: f64,
    core: f64,
    undisturbed: bool,
}

fn measure(ready: &mut Ready, workers: usize) -> Measured {
    let options = Options { workers, ..Options::default() };
    let (machine, core, start) = (machine_time(), process_time(), Instant::now());
    let mut runs = 0;
    while runs == 0 || start.elapsed() < LEAST {
        ready.run(&options);
        runs += 1;
    }
    let (wall, core) = (start.elapsed(), process_time() - core);
    // One step of the machine's clock, and a twentieth of one core.
    let bearable = Duration::from_millis(10) + wall / 20;
    let others = machine.zip(machine_time()).map(|(before, now)| (now - before).saturating_sub(core));
    let each = |time: Duration| time.as_secs_f64() / f64::from(runs);
    Measured { wall: each(wall), core: each(core), undisturbed: others.is_some_and(|others| others <= bearable) }
}

/// Two workers against one, in turns. Only pairs during which both cores were this program's count; the second figure does
/// without that: it says what they cost each other, not what waits for one of them.
pub fn scaling(bench: &mut Bench) {
    for case in COALESCED.iter().chain(EVERYDAY).chain([&STRIDED]) {
        let what = format!("{}, all checks, 2 cores over 1", case.name);
        if !bench.asked(&what) {
            continue;
        }
        let mut ready = Ready::new(case);
        let (mut speedups, mut limits, mut tried) = (Vec::new(), Vec::new(), 0);
        while speedups.len() < WANTED && tried < TRIED {
            let (one, two) = (measure(&mut ready, 1), measure(&mut ready, 2));
            tried += 1;
            limits.push(2.0 * one.core / two.core);
            if one.undisturbed && two.undisturbed {
                speedups.push(one.wall / two.wall);
            }
        }
        if speedups.is_empty() {
            println!("{what:34} not measured: other programs were at the cores all the time");
        } else {
            bench.line(&what, "x", Spread::of(speedups), Some(1.8), false);
        }
        bench.line("  by core time", "x", Spread::of(limits), None, false);
    }
}

/// What a launch takes longer because a second worker is called: one that just worked, and one that sleeps.
pub fn starts(bench: &mut Bench) {
    for (what, pause) in [("a worker's start", 0), ("a worker's start after 2 ms", 2)] {
        if !bench.asked(what) {
            continue;
        }
        let mut ready = Ready::new(&TWO_BLOCKS);
        let mut time = |workers| {
            std::thread::sleep(Duration::from_millis(pause));
            let options = Options { workers, ..Options::default() };
            let start = Instant::now();
            ready.run(&options);
            start.elapsed().as_secs_f64() * 1e6
        };
        let more = (0..2000).map(|_| -time(1) + time(2)).collect();
        bench.line(what, "us", Spread::of(more), None, true);
    }
}
