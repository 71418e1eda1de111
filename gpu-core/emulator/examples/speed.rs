//! Million warp instructions a second on one core, with and without checks.
//! `cargo run -p ptx-emulator --example speed`

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use ptx_emulator::{Checks, Launch, Memory, Module, Options, launch};

/// Time that this thread ran on a core (Linux), so that a busy machine gives the same figures; else the wall clock.
fn clock() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    match text.split_whitespace().next().and_then(|first| first.parse().ok()) {
        Some(nanoseconds) => Duration::from_nanos(nanoseconds),
        None => START.get_or_init(Instant::now).elapsed(),
    }
}

fn main() {
    let modes = [
        ("unchecked", Options { workers: 1, ..Options::unchecked() }),
        ("bounds + counters", Options { workers: 1, checks: Checks::NONE, ..Options::default() }),
        ("all checks", Options { workers: 1, ..Options::default() }),
    ];
    let vadd = include_str!("../tests/ptx/vadd.sm_90a.ptx");
    let speed = include_str!("../tests/ptx/speed.sm_90a.ptx");
    let mib = 1u64 << 20;
    for (mode, options) in &modes {
        for (ptx, kernel, grid, block, words) in [
            (vadd, "vadd", [4096, 1, 1], [256, 1, 1], mib),
            (speed, "matmul", [16, 16, 1], [16, 16, 1], 65536),
            (speed, "tiled", [8, 8, 1], [32, 32, 1], 65536),
            (speed, "strided", [128, 1, 1], [256, 1, 1], mib),
            (speed, "reduce", [1024, 1, 1], [256, 1, 1], mib),
        ] {
            let module = Module::load(ptx).expect("own PTX");
            let mut memory = Memory::new(1 << 30);
            let buffers: Vec<u64> = ["a", "b", "c"]
                .iter()
                .map(|name| {
                    let address = memory.alloc(name, 4 * words).expect("fits");
                    memory.write(address, &vec![0; 4 * words as usize]).expect("inside");
                    address
                })
                .collect();
            let n = if matches!(kernel, "matmul" | "tiled") { 256 } else { words as u32 };
            let what =
                Launch::new(kernel, grid, block).arg_u64(buffers[0]).arg_u64(buffers[1]).arg_u64(buffers[2]).arg_u32(n);
            let mut best = f64::MAX;
            let mut count = 0;
            for _ in 0..5 {
                let start = clock();
                let outcome = launch(&module, &mut memory, &what, options, &AtomicBool::new(false));
                best = best.min((clock() - start).as_secs_f64());
                assert!(outcome.completed && outcome.faults.is_empty(), "{:?}", outcome.faults.first());
                count = count.max(outcome.executed);
            }
            println!("{mode:18} {kernel:8} {:7.1} M warp instructions/s", count as f64 / best / 1e6);
        }
    }
}
