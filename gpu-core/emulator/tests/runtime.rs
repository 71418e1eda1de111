//! What the device runtime provides: virtual calls, the heap, grid-wide barriers, jump tables.

mod common;

use common::*;
use ptx_emulator::Launch;

const DIALECTS: [&str; 2] = [include_str!("ptx/more.sm_90a.ptx"), include_str!("ptx/more.sm_120a.ptx")];

#[test]
fn virtual_calls() {
    for ptx in DIALECTS {
        let module = load(ptx);
        let mut memory = memory();
        let out = memory.alloc("out", 256).expect("fits");
        run_clean(&module, &mut memory, &Launch::new("virt", [1, 1, 1], [64, 1, 1]).arg_u64(out).arg_u32(5));
        let got = download_u32(&memory, out, 64);
        assert!((0..64).all(|i| got[i as usize] == if i & 1 == 1 { i + 5 } else { i * 6 }));
    }
}

#[test]
fn the_heap_gives_and_takes() {
    for ptx in DIALECTS {
        let module = load(ptx);
        let mut memory = memory();
        let out = memory.alloc("out", 4 * 256).expect("fits");
        // 256 threads of 400 bytes, often enough that a leak would exhaust 8 MiB.
        for _ in 0..100 {
            run_clean(&module, &mut memory, &Launch::new("heap", [1, 1, 1], [256, 1, 1]).arg_u64(out).arg_u32(100));
        }
        let got = download_u32(&memory, out, 256);
        assert!((0..256).all(|i| got[i as usize] == 4950 * i));
    }
}

#[test]
fn grid_barriers_of_cooperative_launches() {
    for ptx in DIALECTS {
        let module = load(ptx);
        let mut memory = memory();
        let n = 20 * 64u32;
        let a = memory.alloc("a", 4 * u64::from(n)).expect("fits");
        let out = memory.alloc("out", 4 * u64::from(n)).expect("fits");
        let mut launch = Launch::new("gridsync", [20, 1, 1], [64, 1, 1]).arg_u64(a).arg_u64(out);
        launch.cooperative = true;
        run_clean(&module, &mut memory, &launch);
        let got = download_u32(&memory, out, n as usize);
        assert!((0..n).all(|i| got[i as usize] == n - 1 - i));
        launch.grid = [100_000, 1, 1];
        let outcome = run(&module, &mut memory, &launch);
        assert!(outcome.faults[0].message.contains("cooperative"), "{}", outcome.faults[0].message);
    }
}

#[test]
fn jump_tables() {
    for ptx in DIALECTS {
        let module = load(ptx);
        let mut memory = memory();
        let out = upload_u32(&mut memory, "out", &[0; 32]);
        let outcome = run(&module, &mut memory, &Launch::new("table", [1, 1, 1], [32, 1, 1]).arg_u64(out).arg_u32(2));
        assert!(outcome.completed);
        let k = 2i32;
        let mut expect = [0, 0, k * k, k / 3, k % 5, k ^ 7, k << 2, k - 9, !k, k | 1, k & 3, -k].to_vec();
        expect.resize(32, 77);
        // Threads 10 and up take the default, which stores at their own index: 10 and 11 race by value with the cases
        // of threads 8 and 9, so they are left out.
        let got = download_u32(&memory, out, 32);
        for i in (2..10).chain(12..32) {
            assert_eq!(got[i] as i32, expect[i], "{i}");
        }
    }
}
