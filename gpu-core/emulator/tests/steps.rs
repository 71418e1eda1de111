//! Stores of lanes that lie a step apart, or side by side from the end: the values, which bytes have one, and what it costs.

mod common;

use common::*;
use ptx_emulator::{Fast, FaultKind, Launch, Options};

/// `put`: each lane stores its number at `at + lane * step`. `get`: one thread reads one byte.
fn kernels(bits: u32) -> String {
    format!(
        "
.version 8.0
.target sm_80
.address_size 64
.visible .entry put(.param .u64 at, .param .u64 step)
{{
    .reg .b32 %r<2>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [at];
    ld.param.u64 %rd2, [step];
    mov.u32 %r1, %tid.x;
    cvt.u64.u32 %rd3, %r1;
    mad.lo.u64 %rd4, %rd3, %rd2, %rd1;
    st.global.u{bits} [%rd4], %r1;
    ret;
}}
.visible .entry get(.param .u64 at)
{{
    .reg .b32 %r<3>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [at];
    ld.global.u8 %r1, [%rd1];
    setp.eq.u32 %p1, %r1, 77;
    @%p1 trap;
    ret;
}}"
    )
    .replace("    .reg .b32 %r<3>;", "    .reg .b32 %r<3>;\n    .reg .pred %p<2>;")
}

#[test]
fn stores_a_step_apart_give_values_to_their_bytes_alone() {
    const BYTES: u64 = 1024;
    for bytes in [1, 4] {
        let module = load(&kernels(8 * bytes as u32));
        for (step, first) in [(-1, 96), (-1, 130), (1, 64), (2, 65), (3, 0), (3, 35), (5, 6), (6, 3), (7, 9)] {
            let (step, first) = (step * bytes as i64, first * bytes);
            let place = |lane: u64| (first as i64 + lane as i64 * step) as u64;
            let launched = |fast: Fast| {
                let mut memory = memory();
                let data = memory.alloc("data", BYTES).expect("fits");
                let launch = Launch::new("put", [1, 1, 1], [32, 1, 1]).arg_u64(data + first).arg_u64(step as u64);
                let outcome = run_with(&module, &mut memory, &launch, &Options { fast, ..Options::default() });
                assert!(outcome.faults.is_empty(), "{bytes} {step} {first}: {:#?}", outcome.faults);
                (outcome, memory, data)
            };
            let (short, mut memory, data) = launched(Fast::ALL);
            assert_eq!(short, launched(Fast::NONE).0, "{bytes} {step} {first}");
            let mut stored = vec![0; BYTES as usize];
            memory.read(data, &mut stored).expect("inside");
            for lane in 0..32 {
                assert_eq!(u64::from(stored[place(lane) as usize]), lane, "{bytes} {step} {first}");
            }
            for byte in 0..BYTES {
                let launch = Launch::new("get", [1, 1, 1], [1, 1, 1]).arg_u64(data + byte);
                let outcome = run_with(&module, &mut memory, &launch, &Options::default());
                let written = (0..32).any(|lane| (place(lane)..place(lane) + bytes).contains(&byte));
                assert_eq!(outcome.faults.is_empty(), written, "{bytes} {step} {first}: byte {byte}");
            }
        }
    }
}

#[test]
fn blocks_that_store_at_the_same_steps_race() {
    for bytes in [1, 4] {
        // Each block stores a value of its own.
        let own = "mov.u32 %r1, %ctaid.x;\n    st.global";
        let module = load(&kernels(8 * bytes as u32).replacen("st.global", own, 1));
        for step in [1, 2, 3, 5, 7] {
            let mut memory = memory();
            let data = memory.alloc("data", 1024).expect("fits");
            // The same threads of two blocks: nothing but the block tells them apart.
            let launch = Launch::new("put", [2, 1, 1], [32, 1, 1]).arg_u64(data).arg_u64(step * bytes);
            let options = Options { workers: 1, ..Options::default() };
            let outcome = run_with(&module, &mut memory, &launch, &options);
            let races = outcome.faults.iter().filter(|fault| fault.kind == FaultKind::Race);
            let lanes: u64 = races.map(|fault| fault.occurrences).sum();
            assert_eq!(lanes, 32, "{bytes} {step}: {:#?}", outcome.faults);
        }
    }
}

/// Threads of a block, `wide` in a row, store the columns of a matrix: each races with a later read of its own element, and
/// with none of another.
#[test]
fn columns_tell_who_wrote_each_element() {
    const THREADS: u32 = 64;
    for bytes in [1, 2, 4, 8] {
        let (bits, move_) = (8 * bytes, if bytes == 8 { "cvt.u64.u32 %rd5" } else { "mov.u32 %r7" });
        let value = if bytes == 8 { "%rd5" } else { "%r7" };
        let module = load(&format!(
            "
.version 8.0
.target sm_80
.address_size 64
.visible .entry columns(.param .u64 at, .param .u32 element, .param .u32 reader)
{{
    .reg .pred %p<2>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [at];
    ld.param.u32 %r5, [element];
    ld.param.u32 %r6, [reader];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %tid.y;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %ntid.y;
    mad.lo.u32 %r3, %r2, %r3, %r1;
    mad.lo.u32 %r7, %r1, %r4, %r2;
    mad.wide.u32 %rd2, %r7, {bytes}, %rd1;
    mad.wide.u32 %rd3, %r5, {bytes}, %rd1;
    {move_}, %r7;
    st.global.u{bits} [%rd2], {value};
    setp.eq.u32 %p1, %r3, %r6;
    @!%p1 bra end;
    ld.global.u{bits} {value}, [%rd3];
    st.global.u{bits} [%rd2+{behind}], {value};
end:
    ret;
}}",
            behind = THREADS * bytes,
        ));
        for wide in [2, 4, 8, 16, 32] {
            let tall = THREADS / wide;
            for element in 0..THREADS {
                let writer = [element / tall, element % tall, 0];
                let number = writer[0] + writer[1] * wide;
                // Of the other warp.
                let reader = number ^ 32;
                let mut memory = memory();
                let data = memory.alloc("data", u64::from(2 * THREADS * bytes)).expect("fits");
                let launch = Launch::new("columns", [1, 1, 1], [wide, tall, 1]).arg_u64(data);
                let outcome = run(&module, &mut memory, &launch.arg_u32(element).arg_u32(reader));
                let case = format!("{bytes} bytes, {wide} wide, element {element}: {:#?}", outcome.faults);
                let [fault] = &outcome.faults[..] else { panic!("{case}") };
                assert_eq!((fault.kind, fault.occurrences), (FaultKind::Race, 1), "{case}");
                let other = fault.other.as_ref().expect("a race has two sides").thread.thread;
                let mut threads = [fault.thread.as_ref().expect("of a thread").thread, other];
                threads.sort_unstable_by_key(|thread| *thread != writer);
                assert_eq!(threads, [writer, [reader % wide, reader / wide, 0]], "{case}");
            }
        }
    }
}
