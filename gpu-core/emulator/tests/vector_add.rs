//! The first kernel of the course, in both dialects of NVRTC.

mod common;

use common::{download_f32, load, memory, run, run_clean, run_with, upload_f32};
use ptx_emulator::{FaultKind, Launch, Options, TraceRequest};

const DIALECTS: [&str; 2] = [include_str!("ptx/vadd.sm_90a.ptx"), include_str!("ptx/vadd.sm_120a.ptx")];

#[test]
fn adds_and_counts() {
    for ptx in DIALECTS {
        let module = load(ptx);
        let kernel = module.kernel("vadd").expect("declared");
        assert_eq!(kernel.param_bytes, 28);
        assert_eq!(kernel.params.len(), 4);
        for n in [1usize, 31, 32, 33, 1000, 4096] {
            let mut memory = memory();
            let a: Vec<f32> = (0..n).map(|i| i as f32).collect();
            let b: Vec<f32> = (0..n).map(|i| 0.5 * i as f32).collect();
            let (pa, pb) = (upload_f32(&mut memory, "a", &a), upload_f32(&mut memory, "b", &b));
            let pc = memory.alloc("c", 4 * n as u64).expect("fits");
            let launch = Launch::new("vadd", [n.div_ceil(256) as u32, 1, 1], [256, 1, 1])
                .arg_u64(pa)
                .arg_u64(pb)
                .arg_u64(pc)
                .arg_u32(n as u32);
            let outcome = run_clean(&module, &mut memory, &launch);
            let c = download_f32(&memory, pc, n);
            assert!(c.iter().enumerate().all(|(i, c)| *c == 1.5 * i as f32));
            let warps = n.div_ceil(32) as u64;
            let sectors = n.div_ceil(8) as u64;
            assert_eq!(outcome.counters.global_load.requests, 2 * warps);
            assert_eq!(outcome.counters.global_load.sectors, 2 * sectors);
            assert_eq!(outcome.counters.global_store.sectors, sectors);
            assert_eq!(outcome.counters.global_store.bytes, 4 * n as u64);
        }
    }
}

#[test]
fn names_the_element_past_the_end() {
    for ptx in DIALECTS {
        let module = load(ptx);
        let mut memory = memory();
        let pa = upload_f32(&mut memory, "a", &[1.0; 100]);
        let pb = upload_f32(&mut memory, "b", &[1.0; 128]);
        let pc = memory.alloc("c", 512).expect("fits");
        let launch = Launch::new("vadd", [1, 1, 1], [128, 1, 1]).arg_u64(pa).arg_u64(pb).arg_u64(pc).arg_u32(128);
        let outcome = run(&module, &mut memory, &launch);
        let fault = &outcome.faults[0];
        assert_eq!(fault.kind, FaultKind::OutOfBounds);
        assert_eq!(fault.source.as_ref().map(|s| (s.file.as_str(), s.line)), Some(("kernel.cu", 3)));
        let allocation = fault.allocation.as_ref().expect("near a");
        assert_eq!((allocation.name.as_str(), allocation.offset), ("a", 400));
        assert_eq!(fault.thread.map(|t| t.thread), Some([100, 0, 0]));
        assert!(fault.message.contains("`a`[100]"), "{}", fault.message);
        assert!(!outcome.completed);
    }
}

#[test]
fn the_access_that_ends_the_launch_is_traced() {
    let module = load(DIALECTS[0]);
    let mut memory = memory();
    let pa = upload_f32(&mut memory, "a", &[1.0; 100]);
    let pb = upload_f32(&mut memory, "b", &[1.0; 128]);
    let pc = memory.alloc("c", 512).expect("fits");
    let launch = Launch::new("vadd", [1, 1, 1], [128, 1, 1]).arg_u64(pa).arg_u64(pb).arg_u64(pc).arg_u32(128);
    let request = TraceRequest { blocks: vec![0], warps: Vec::new(), max_bytes: 1 << 20 };
    let outcome = run_with(&module, &mut memory, &launch, &Options { trace: Some(request), ..Options::default() });
    assert!(!outcome.completed && outcome.faults[0].kind.ends_launch());
    let trace = outcome.trace.expect("a trace");
    let warp = trace.warps.iter().find(|warp| warp.warp == 3).expect("the warp of threads 96 to 127");
    let access = warp.steps.last().and_then(|step| step.access.as_ref()).expect("what it ended at");
    let array = &trace.allocations[access.allocation.expect("an array") as usize];
    let inside = access.addresses.iter().filter(|address| **address < array.base + array.bytes).count();
    assert_eq!((array.name.as_str(), access.addresses.len(), inside), ("a", 32, 4));
}

#[test]
fn bad_launches_name_the_limit() {
    let module = load(DIALECTS[0]);
    let mut memory = memory();
    for (launch, word) in [
        (Launch::new("nothing", [1, 1, 1], [1, 1, 1]), "no kernel `nothing`"),
        (Launch::new("vadd", [1, 1, 1], [1025, 1, 1]), "1024"),
        (Launch::new("vadd", [0, 1, 1], [1, 1, 1]), "at least 1"),
        (Launch::new("vadd", [1, 1, 1], [1, 1, 1]), "28 bytes"),
        (Launch::new("vadd", [1, 1, 1], [1, 1, 1]).shared(300_000), "shared"),
    ] {
        let outcome = run(&module, &mut memory, &launch);
        assert_eq!(outcome.faults[0].kind, FaultKind::BadLaunch);
        assert!(outcome.faults[0].message.contains(word), "{}", outcome.faults[0].message);
    }
}
