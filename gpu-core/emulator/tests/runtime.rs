//! What the device runtime provides: virtual calls, the heap, grid-wide barriers, jump tables.

mod common;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use common::*;
use ptx_emulator::{Conditions, FaultKind, Launch, Memory, Options};

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

/// Each thread sets the condition of handle `h` to its lane divided by `by`.
const CONDITION: &str = ".version 8.8\n.target sm_90\n.address_size 64
.extern .func cudaGraphSetConditional (.param .b64 handle, .param .b32 value);
.visible .entry set(.param .u64 h, .param .u32 by) {
    .reg .b64 %rd<2>; .reg .b32 %r<4>;
    ld.param.u64 %rd1, [h];
    ld.param.u32 %r1, [by];
    mov.u32 %r2, %tid.x;
    div.u32 %r3, %r2, %r1;
    { .param .b64 a; .param .b32 b;
      st.param.b64 [a], %rd1; st.param.b32 [b], %r3;
      call.uni cudaGraphSetConditional, (a, b); }
    ret;
}";

#[test]
fn conditions_of_a_graph_are_set_and_guarded() {
    let module = load(CONDITION);
    let conditions = Arc::new(Conditions::default());
    conditions.put(5, 77);
    let run = |handle: u64, by: u32, conditions: Option<Arc<Conditions>>| {
        let launch = Launch::new("set", [1, 1, 1], [32, 1, 1]).arg_u64(handle).arg_u32(by);
        let options = Options { conditions, ..Options::default() };
        let outcome = ptx_emulator::launch(&module, &mut memory(), &launch, &options, &AtomicBool::new(false));
        outcome.faults.first().map(|fault| (fault.kind, fault.message.clone()))
    };
    assert_eq!(run(5, 100, Some(conditions.clone())), None);
    assert_eq!((conditions.get(5), conditions.get(6)), (Some(0), None));
    let (kind, message) = run(6, 100, Some(conditions.clone())).expect("no such condition");
    assert_eq!(kind, FaultKind::OutOfBounds);
    assert!(message.contains("condition 6"), "{message}");
    assert_eq!(run(5, 100, None).expect("no graph").0, FaultKind::OutOfBounds);
    let (kind, message) = run(5, 16, Some(conditions)).expect("two values at a time");
    assert_eq!(kind, FaultKind::Race);
    assert!(message.contains("thread (16,0,0)") && message.contains("to 1") && message.contains("to 0"), "{message}");
}

/// Lane 0 of each kernel: `take` stores what `malloc` gave, `put` writes at a pointer that it gets.
const TAKES: &str = ".version 8.0\n.target sm_90\n.address_size 64\n\
    .extern .func (.param .b64 r) malloc(.param .b64 n);\n\
    .visible .entry take(.param .u64 out) {\n.reg .b64 %p<3>;\nld.param.u64 %p2, [out];\n\
    { .param .b64 n; .param .b64 r; st.param.b64 [n], 64;\ncall.uni (r), malloc, (n); ld.param.b64 %p1, [r]; }\n\
    st.u64 [%p2], %p1;\nret;\n}";
const PUTS: &str = ".version 8.0\n.target sm_90\n.address_size 64\n\
    .visible .entry put(.param .u64 at) {\n.reg .b64 %p<2>;\nld.param.u64 %p1, [at];\nst.u32 [%p1], 1;\nret;\n}";

/// What device code took from the heap stays its own, and has bounds, in launches of modules that take nothing.
#[test]
fn the_heap_outlives_launches_that_do_not_use_it() {
    let (takes, puts, mut memory) = (load(TAKES), load(PUTS), memory());
    let out = upload_u32(&mut memory, "out", &[0; 2]);
    let take = |memory: &mut Memory| {
        run_clean(&takes, memory, &Launch::new("take", [1, 1, 1], [1, 1, 1]).arg_u64(out));
        let words = download_u32(memory, out, 2);
        u64::from(words[0]) | u64::from(words[1]) << 32
    };
    let put = |memory: &mut Memory, at| run(&puts, memory, &Launch::new("put", [1, 1, 1], [1, 1, 1]).arg_u64(at));
    let first = take(&mut memory);
    assert!(put(&mut memory, first).faults.is_empty());
    let second = take(&mut memory);
    assert!(first != 0 && second >= first + 64, "{first:#x}, {second:#x}");
    assert_eq!(kinds(&put(&mut memory, first + 64)), [FaultKind::OutOfBounds]);
    assert_eq!(kinds(&put(&mut memory, second + 4096)), [FaultKind::UseAfterFree]);
}

/// Lane 0 of each kernel: `take` stores what `malloc` gave for so many bytes, `give` gives it back.
const PIECES: &str = ".version 8.0\n.target sm_90\n.address_size 64\n\
    .extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n\
    .visible .entry take(.param .u64 out, .param .u64 bytes) {\n.reg .b64 %p<4>;\nld.param.u64 %p2, [out];\n\
    ld.param.u64 %p3, [bytes];\n{ .param .b64 n; .param .b64 r; st.param.b64 [n], %p3;\n\
    call.uni (r), malloc, (n); ld.param.b64 %p1, [r]; }\nst.u64 [%p2], %p1;\nret;\n}\n\
    .visible .entry give(.param .u64 at) {\n.reg .b64 %p<2>;\nld.param.u64 %p1, [at];\n\
    { .param .b64 p; st.param.b64 [p], %p1;\ncall.uni free, (p); }\nret;\n}";

/// Pieces that lie side by side become one again, in whatever order they come back; else the heap would have room for small
/// ones only.
#[test]
fn pieces_of_the_heap_grow_together_again() {
    let (module, mut memory) = (load(PIECES), memory());
    let out = upload_u32(&mut memory, "out", &[0; 2]);
    let take = |memory: &mut Memory, bytes: u64| {
        run_clean(&module, memory, &Launch::new("take", [1, 1, 1], [1, 1, 1]).arg_u64(out).arg_u64(bytes));
        let words = download_u32(memory, out, 2);
        u64::from(words[0]) | u64::from(words[1]) << 32
    };
    let give = |memory: &mut Memory, at| {
        run_clean(&module, memory, &Launch::new("give", [1, 1, 1], [1, 1, 1]).arg_u64(at));
    };
    // Of 8 MiB.
    let (third, most) = (5 << 19, 8_000_000);
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let pieces = [0; 3].map(|_| take(&mut memory, third));
        assert!(pieces[0] != 0 && pieces[1] >= pieces[0] + third && pieces[2] >= pieces[1] + third, "{pieces:x?}");
        assert_eq!(take(&mut memory, third), 0, "more than there is");
        for index in order {
            give(&mut memory, pieces[index]);
        }
        let all = take(&mut memory, most);
        assert_eq!(all, pieces[0], "given back in the order {order:?}");
        give(&mut memory, all);
    }
}
