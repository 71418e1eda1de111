//! Walks the instruction table: every example of every row must give what it says.

mod common;

use common::{load, memory, run_clean};
use ptx_emulator::{Launch, examples};

#[test]
fn every_example_holds() {
    let all = examples();
    assert!(all.len() > 80);
    let mut wrong = Vec::new();
    for example in &all {
        let module = load(&example.kernel);
        let mut memory = memory();
        let out = memory.alloc("out", 8).expect("fits");
        run_clean(&module, &mut memory, &Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(out));
        let mut bytes = [0; 8];
        memory.read(out, &mut bytes).expect("inside");
        let got = u64::from_le_bytes(bytes);
        if got != example.result {
            wrong.push(format!("{}: {:#x}, expected {:#x}", example.ptx, got, example.result));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
