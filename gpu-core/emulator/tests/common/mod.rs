//! What the tests share: buffers of numbers and launches that must be clean.
#![allow(dead_code)]

pub mod twin;

use std::sync::atomic::AtomicBool;

use ptx_emulator::{FaultKind, Launch, Memory, Module, Options, Outcome, TraceRequest};

/// A device with 1 GiB.
pub fn memory() -> Memory {
    Memory::new(1 << 30)
}

pub fn upload_f32(memory: &mut Memory, name: &str, values: &[f32]) -> u64 {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    let address = memory.alloc(name, bytes.len() as u64).expect("fits");
    memory.write(address, &bytes).expect("inside");
    address
}

pub fn upload_u32(memory: &mut Memory, name: &str, values: &[u32]) -> u64 {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    let address = memory.alloc(name, bytes.len() as u64).expect("fits");
    memory.write(address, &bytes).expect("inside");
    address
}

pub fn download_u32(memory: &Memory, address: u64, count: usize) -> Vec<u32> {
    let mut bytes = vec![0; count * 4];
    memory.read(address, &mut bytes).expect("inside");
    bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect()
}

pub fn download_f32(memory: &Memory, address: u64, count: usize) -> Vec<f32> {
    download_u32(memory, address, count).into_iter().map(f32::from_bits).collect()
}

pub fn load(ptx: &str) -> Module {
    Module::load(ptx).unwrap_or_else(|error| panic!("{error}"))
}

/// Launches, and where that is short and asked for, holds what came of it to the reference mode ([`twin`]).
pub fn run_with(module: &Module, memory: &mut Memory, launch: &Launch, options: &Options) -> Outcome {
    let before = twin::before(module, memory, options);
    let outcome = ptx_emulator::launch(module, memory, launch, options, &AtomicBool::new(false));
    if let Some(before) = before {
        twin::hold(module, before, launch, options, &outcome);
    }
    for fault in &outcome.faults {
        // A sentence that was broken in the source without joining it again.
        assert!(!fault.message.contains("  "), "{}", fault.message);
    }
    outcome
}

pub fn run(module: &Module, memory: &mut Memory, launch: &Launch) -> Outcome {
    run_with(module, memory, launch, &Options::default())
}

/// Runs and expects no fault at all.
pub fn run_clean(module: &Module, memory: &mut Memory, launch: &Launch) -> Outcome {
    let outcome = run(module, memory, launch);
    assert!(outcome.completed && outcome.faults.is_empty(), "{:#?}", outcome.faults);
    outcome
}

pub fn kinds(outcome: &Outcome) -> Vec<FaultKind> {
    outcome.faults.iter().map(|fault| fault.kind).collect()
}

/// Traced launches take the slow path of every access and instruction. Runs a program so and as usual, and asserts that results,
/// counters and faults are the same, and that what ends without checks has the same results as well. Gives whether it is
/// clean. `run` gives the contents of memory too; `program` is what is said of it where it fails. Random programs read
/// registers that nobody set, which the reference mode leaves at other values (`DESIGN.md`): so it is not that one.
pub fn goes_both_ways(run: impl Fn(Options) -> (Outcome, Vec<u32>), program: &dyn std::fmt::Display) -> bool {
    let (short, c) = run(Options { workers: 1, ..Options::default() });
    let trace = TraceRequest { blocks: vec![0, 1], warps: Vec::new(), max_bytes: 1 << 22 };
    let (long, c_of_long) = run(Options { workers: 1, trace: Some(trace), ..Options::default() });
    let (unchecked, c_unchecked) = run(Options { workers: 1, ..Options::unchecked() });
    let told = |outcome: &Outcome| {
        outcome.faults.iter().map(|f| (f.kind, f.message.clone(), f.occurrences)).collect::<Vec<_>>()
    };
    assert_eq!(told(&short), told(&long), "{program}");
    // What ends a launch is noticed by other warps a little later on the fast paths.
    assert!(!short.completed || short.counters == long.counters, "{program}");
    assert!(c == c_of_long, "{program}");
    assert!(!unchecked.completed || !short.completed || c == c_unchecked, "{program}");
    short.faults.is_empty()
}

/// Runs as many programs of `case` as the variable `name` says, or `usual`; `clean` says of each whether it is clean. Enough
/// of them must be, and enough not.
pub fn many(name: &str, usual: usize, seed: u64, mut clean: impl FnMut(usize, &mut Dice) -> bool) {
    let programs = std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual);
    let mut dice = Dice(seed);
    let found = (0..programs).filter(|program| clean(*program, &mut dice)).count();
    assert!(found > programs / 8 && programs - found > programs / 8, "{found} of {programs} are clean");
}

/// Numbers that are the same in every run.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) as usize % n
    }

    pub fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}
