//! What a second host thread brings, and what it costs.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use ptx_emulator::Options;

use crate::Bench;
use crate::cases::{COALESCED, EVERYDAY, Ready, STRIDED, TWO_BLOCKS};
use crate::clock::{Spread, machine_time, process_time};

/// A step takes at least so long: much longer than a worker's start.
const STEP: Duration = Duration::from_millis(20);
/// Steps of each kind in a round: together much longer than a step of the clocks of core time. They go in turns, because
/// a core that shares its machine is now faster, now slower.
const STEPS: usize = 10;
/// Rounds that are wanted, and tried at most.
const WANTED: usize = 9;
const TRIED: usize = 40;

/// What launches took.
#[derive(Default)]
struct Spent {
    launches: f64,
    wall: f64,
    core: f64,
}

impl Spent {
    /// Launches for the length of a step.
    fn step(&mut self, ready: &mut Ready, workers: usize) {
        let options = Options { workers, ..Options::default() };
        // The helper may sleep, and what it needs is in the other core's cache.
        ready.run(&options);
        let (core, start) = (process_time(), Instant::now());
        self.launches += launches(ready, &options);
        self.wall += start.elapsed().as_secs_f64();
        self.core += (process_time() - core).as_secs_f64();
    }

    /// The same on two threads at once that have nothing in common, with one worker each.
    fn step_apart(&mut self, pair: &mut [Ready; 2]) {
        let begin = Barrier::new(2);
        let own = |ready: &mut Ready| {
            let options = Options { workers: 1, ..Options::default() };
            ready.run(&options);
            begin.wait();
            let start = Instant::now();
            let count = launches(ready, &options);
            (count, start.elapsed().as_secs_f64())
        };
        let [one, other] = pair;
        let (one, other) = std::thread::scope(|scope| {
            let other = scope.spawn(|| own(other));
            (own(one), other.join().expect("no panic"))
        });
        self.launches += one.0 + other.0;
        self.wall += (one.1 + other.1) / 2.0;
    }

    fn wall_each(&self) -> f64 {
        self.wall / self.launches
    }

    fn core_each(&self) -> f64 {
        self.core / self.launches
    }
}

/// Launches one after the other for the length of a step. Gives their number.
fn launches(ready: &mut Ready, options: &Options) -> f64 {
    let (start, mut count) = (Instant::now(), 0);
    while count == 0 || start.elapsed() < STEP {
        ready.run(options);
        count += 1;
    }
    f64::from(count)
}

/// What one round found: how much faster two workers were than one, by the clock and by core time; how much faster two
/// launches at once were than two in turn; and whether other programs left the cores alone.
struct Round {
    speedup: f64,
    by_core: f64,
    apart: f64,
    undisturbed: bool,
}

fn round(pair: &mut [Ready; 2]) -> Round {
    let (machine, process, start) = (machine_time(), process_time(), Instant::now());
    let (mut one, mut two, mut apart) = (Spent::default(), Spent::default(), Spent::default());
    for _ in 0..STEPS {
        one.step(&mut pair[0], 1);
        two.step(&mut pair[0], 2);
        apart.step_apart(pair);
    }
    // One step of the machine's clock, and a twentieth of one core.
    let bearable = Duration::from_millis(10) + start.elapsed() / 20;
    let own = process_time() - process;
    let others = machine.zip(machine_time()).map(|(before, now)| (now - before).saturating_sub(own));
    Round {
        speedup: one.wall_each() / two.wall_each(),
        by_core: 2.0 * one.core_each() / two.core_each(),
        apart: one.wall_each() / apart.wall_each(),
        undisturbed: others.is_some_and(|others| others <= bearable),
    }
}

/// Two workers against one. Only rounds during which both cores were this program's count; the second figure does without
/// that: it says what they cost each other, not what waits for one of them. The third is what this machine allows: two
/// launches at once that share nothing but caches, memory and whatever else cores have in common.
pub fn scaling(bench: &mut Bench) {
    for case in COALESCED.iter().chain(EVERYDAY).chain([&STRIDED]) {
        let what = format!("{}, all checks, 2 cores over 1", case.name);
        if !bench.asked(&what) {
            continue;
        }
        let mut pair = [Ready::new(case), Ready::new(case)];
        let (mut calm, mut by_core, mut tried) = (Vec::new(), Vec::new(), 0);
        while calm.len() < WANTED && tried < TRIED {
            let round = round(&mut pair);
            tried += 1;
            by_core.push(round.by_core);
            if round.undisturbed {
                calm.push(round);
            }
        }
        if calm.is_empty() {
            println!("{what:34} not measured: other programs were at the cores all the time");
        } else {
            let spread = |of: fn(&Round) -> f64| Spread::of(calm.iter().map(of).collect());
            bench.line(&what, "x", spread(|round| round.speedup), Some(1.8), false);
            bench.line("  two launches at once", "x", spread(|round| round.apart), None, false);
        }
        bench.line("  by core time", "x", Spread::of(by_core), None, false);
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
