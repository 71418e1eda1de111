//! Accesses by some lanes of a warp. The first lanes, one behind the other, are settled as one run; lanes elsewhere in
//! the warp one by one. Both must give the same results, counts and faults for the same addresses.

mod common;

use common::*;
use ptx_emulator::{FaultKind, Launch, Module, Outcome};

/// Lane `shift + i` of each warp copies element `i` (of `WORDS` words) below `n` through shared memory and adds 1; the
/// second warp takes the elements from `apart` on, and adds 1 more before.
const PTX: &str = r#"
.version 8.0
.target sm_80
.address_size 64
.visible .entry part(.param .u64 out_, .param .u64 in_, .param .u32 n_, .param .u32 shift_, .param .u32 apart_)
{
	.reg .pred %p<3>;
	.reg .b32 %r<20>;
	.reg .b32 %v<8>;
	.reg .b64 %rd<8>;
	.shared .align 16 .b8 buffer[1024];
	ld.param.u64 %rd1, [out_];
	ld.param.u64 %rd2, [in_];
	ld.param.u32 %r1, [n_];
	ld.param.u32 %r2, [shift_];
	ld.param.u32 %r12, [apart_];
	mov.u32 %r3, %laneid;
	sub.u32 %r4, %r3, %r2;
	setp.lt.u32 %p1, %r4, %r1;
	@!%p1 bra $end;
	mov.u32 %r5, %warpid;
	mad.lo.u32 %r4, %r5, %r12, %r4;
	mul.lo.u32 %r6, %r4, SIZE;
	cvt.u64.u32 %rd3, %r6;
	add.u64 %rd4, %rd1, %rd3;
	add.u64 %rd5, %rd2, %rd3;
	mov.u32 %r7, buffer;
	add.u32 %r8, %r7, %r6;
	ld.global.VECTOR.u32 VALUES, [%rd5];
	add.u32 %v0, %v0, %r5;
	st.shared.VECTOR.u32 [%r8], VALUES;
	ld.shared.VECTOR.u32 VALUES, [%r8];
	add.u32 %v0, %v0, 1;
	st.global.VECTOR.u32 [%rd4], VALUES;
$end:
	ret;
}
"#;

const ELEMENTS: u32 = 64;

fn module(words: u32) -> Module {
    let values: Vec<String> = (0..words).map(|word| format!("%v{word}")).collect();
    let (vector, values) = match words {
        1 => (String::new(), values[0].clone()),
        _ => (format!(".v{words}"), format!("{{{}}}", values.join(", "))),
    };
    let ptx = PTX.replace(".VECTOR", &vector).replace("VALUES", &values).replace("SIZE", &(4 * words).to_string());
    load(&ptx)
}

fn play(module: &Module, words: u32, threads: u32, n: u32, shift: u32, apart: u32) -> (Outcome, Vec<u32>) {
    let mut memory = memory();
    let count = ELEMENTS * words;
    let input: Vec<u32> = (0..count).map(|word| word * 10).collect();
    let from = upload_u32(&mut memory, "in", &input);
    let to = upload_u32(&mut memory, "out", &vec![0; count as usize]);
    let launch = Launch::new("part", [1, 1, 1], [threads, 1, 1]);
    let launch = launch.arg_u64(to).arg_u64(from).arg_u32(n).arg_u32(shift).arg_u32(apart);
    let outcome = run(module, &mut memory, &launch);
    (outcome, download_u32(&memory, to, count as usize))
}

#[test]
fn first_lanes_count_as_any_others() {
    for words in [1, 2, 4] {
        let module = module(words);
        for n in 1..=32 {
            let (first, result) = play(&module, words, 32, n, 0, 0);
            let (last, same) = play(&module, words, 32, n, 32 - n, 0);
            let expect = |at: u32| if at >= n * words { 0 } else { at * 10 + u32::from(at.is_multiple_of(words)) };
            assert_eq!(result, (0..ELEMENTS * words).map(expect).collect::<Vec<_>>(), "{n} lanes of {words} words");
            assert_eq!(result, same, "{n} lanes of {words} words");
            assert!(first.faults.is_empty() && last.faults.is_empty(), "{:#?}", first.faults);
            assert_eq!(first.counters, last.counters, "{n} lanes of {words} words");
            assert_eq!(first.counters.global_load.bytes, u64::from(4 * words * n));
        }
    }
}

#[test]
fn first_lanes_race_as_any_others() {
    for words in [1, 2, 4] {
        let module = module(words);
        for n in 1..=16 {
            for apart in [0, n - 1, n] {
                let (first, _) = play(&module, words, 64, n, 0, apart);
                let (last, _) = play(&module, words, 64, n, 32 - n, apart);
                let places = |outcome: &Outcome| -> Vec<_> {
                    let faults = outcome.faults.iter();
                    faults.map(|fault| (fault.kind, fault.space, fault.instruction.clone(), fault.address)).collect()
                };
                assert_eq!(places(&first), places(&last), "{n} lanes of {words} words, {apart} apart");
                let races = first.faults.iter().filter(|fault| fault.kind == FaultKind::Race).count();
                assert_eq!(races, first.faults.len(), "{:#?}", first.faults);
                assert_eq!(races > 0, apart < n, "{n} lanes of {words} words, {apart} apart");
            }
        }
    }
}

/// Equal places in local memory of eight lanes side by side are one sector a word.
#[test]
fn local_sectors_are_those_of_eight_lanes() {
    for (mask, bits, sectors) in [
        (u32::MAX, 32, 4),
        (1, 32, 1),
        (0x8000_0001, 32, 2),
        (0x00f0_0300, 32, 2),
        (0x0001_0180, 32, 3),
        (u32::MAX, 64, 8),
        (7, 8, 1),
    ] {
        let (register, value) = if bits == 64 { ("b64", "%rd1") } else { ("b32", "%r2") };
        let text = format!(
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{{\n.reg .pred %p<3>;\n.reg .b32 %r<9>;\n\
             .reg .b64 %rd<3>;\n.local .align 8 .b8 own[16];\nmov.u32 %r1, %tid.x;\nmov.{register} {value}, 5;\n\
             shr.u32 %r3, {mask}, %r1;\nand.b32 %r3, %r3, 1;\nsetp.ne.u32 %p1, %r3, 0;\n\
             @%p1 st.local.u{bits} [own+8], {value};\nret;\n}}\n"
        );
        let outcome = run_clean(&load(&text), &mut memory(), &Launch::new("k", [1, 1, 1], [32, 1, 1]));
        assert_eq!(outcome.counters.local_store.sectors, sectors, "{mask:#x} {bits}");
    }
}
