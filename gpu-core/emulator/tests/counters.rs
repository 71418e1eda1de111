//! Requests, sectors, wavefronts and conflicts against an H200, row by row. Instruction counts are left out: the
//! machine code executes predicated instructions in warps whose PTX branched around them.

mod common;

use common::{load, memory, run};
use ptx_emulator::{FaultKind, Launch};
use serde_json::Value;

#[test]
fn agree_with_the_recorded_hardware() {
    let text = include_str!("../../../assets/recorded/counters-h200.json");
    let recorded: Value = serde_json::from_str(text).expect("valid JSON");
    let module = load(include_str!("ptx/counters.sm_90a.ptx"));
    let rows = recorded["launches"].as_array().expect("a list");
    assert!(rows.len() > 80);
    let mut wrong = Vec::new();
    for row in rows {
        let kernel = row["kernel"].as_str().expect("a name");
        let k = row["k"].as_i64().expect("a number");
        let mut memory = memory();
        let words = 1 << 21;
        let out = memory.alloc("out", 4 * words).expect("fits");
        let input = memory.alloc("in", 4 * words).expect("fits");
        memory.write(out, &vec![0; 4 * words as usize]).expect("inside");
        memory.write(input, &vec![0; 4 * words as usize]).expect("inside");
        let launch = Launch::new(kernel, [8, 1, 1], [128, 1, 1]).arg_u64(out).arg_u64(input).arg_u32(k as u32);
        let outcome = run(&module, &mut memory, &launch);
        // Some of them store to one place from several threads on purpose.
        let fatal = outcome.faults.iter().find(|fault| fault.kind != FaultKind::Race);
        assert!(fatal.is_none(), "{kernel} {k}: {fatal:#?}");
        let c = outcome.counters;
        for (name, got) in [
            ("global_load_requests", c.global_load.requests),
            ("global_load_sectors", c.global_load.sectors),
            ("global_store_requests", c.global_store.requests),
            ("global_store_sectors", c.global_store.sectors),
            ("atomic_requests", c.global_atomic.requests),
            ("atomic_sectors", c.global_atomic.sectors),
            ("reduction_requests", c.global_reduction.requests),
            ("reduction_sectors", c.global_reduction.sectors),
            ("shared_load_wavefronts", c.shared_load.wavefronts),
            ("shared_load_bank_conflicts", c.shared_load.bank_conflicts),
            ("shared_store_wavefronts", c.shared_store.wavefronts),
            ("shared_store_bank_conflicts", c.shared_store.bank_conflicts),
        ] {
            let expect = row[name].as_u64().unwrap_or(0);
            if got != expect {
                wrong.push(format!("{kernel} k={k}: {name} is {got}, the H200 says {expect}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
