//! Shuffles of lanes that each have a source, a clamp and a group of their own, against the PTX ISA's definition.

mod common;

use common::{download_u32, load, memory, run_with, upload_u32};
use ptx_emulator::{Checks, FaultKind, Launch, Options};

/// `mode` by the lanes whose word of `here` is not zero; the lanes that are not there keep 7 and write no predicate.
fn kernel(mode: &str, mask: &str) -> String {
    let ld = |d: &str, from: u32| format!("add.s64 %rd2, %rd1, {};\nld.global.u32 {d}, [%rd2];\n", 128 * from);
    let rows: String = ["%r1", "%r2", "%r3", "%r4", "%r5"].iter().zip(0..).map(|(d, from)| ld(d, from)).collect();
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 at) {{\n\
         .reg .pred %p<3>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<4>;\n\
         ld.param.u64 %rd1, [at];\nmov.u32 %r6, %tid.x;\nmul.wide.u32 %rd3, %r6, 4;\nadd.s64 %rd1, %rd1, %rd3;\n\
         {rows}setp.ne.u32 %p1, %r5, 0;\nmov.u32 %r7, 7;\nmov.u32 %r8, 7;\n@!%p1 bra $end;\n\
         shfl.sync.{mode}.b32 %r7|%p2, %r1, %r2, %r3, {mask};\nselp.u32 %r8, 1, 0, %p2;\n\
         $end:\nst.global.u32 [%rd1+640], %r7;\nst.global.u32 [%rd1+768], %r8;\nret;\n}}\n"
    )
}

/// Source lane and whether it is in range: PTX ISA, `shfl.sync`, "Semantics".
fn source(mode: &str, lane: u32, b: u32, c: u32) -> (usize, bool) {
    let (lane, b) = (lane as i32, (b & 31) as i32);
    let (c, segment) = ((c & 31) as i32, (c >> 8 & 31) as i32);
    let max_lane = (lane & segment) | (c & !segment);
    let min_lane = lane & segment;
    let (j, valid) = match mode {
        "up" => (lane - b, lane - b >= max_lane),
        "down" => (lane + b, lane + b <= max_lane),
        "bfly" => (lane ^ b, lane ^ b <= max_lane),
        _ => (min_lane | (b & !segment), (min_lane | (b & !segment)) <= max_lane),
    };
    (if valid { j as usize } else { lane as usize }, valid)
}

/// A row of numbers that look like chance.
fn row(seed: &mut u32) -> [u32; 32] {
    std::array::from_fn(|_| {
        *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *seed >> 3
    })
}

#[test]
fn every_lane_gets_the_value_that_the_definition_says() {
    let mut seed = 2026;
    for mode in ["up", "down", "bfly", "idx"] {
        for (mask, here) in
            [("-1", u32::MAX), ("%r4", u32::MAX), ("%r4", 0xffff), ("%r4", 0x8421_0ff1), ("%r4", 1 << 31)]
        {
            let module = load(&kernel(mode, mask));
            for round in 0..16 {
                let (a, mut b, mut c) = (row(&mut seed), row(&mut seed), row(&mut seed));
                if round % 2 == 0 {
                    // As compilers write them: one distance for all, segments of equal length.
                    let width = 1 << (round / 2 % 6);
                    (b, c) = ([b[0]; 32], [(32 - width) << 8 | if mode == "up" { 0 } else { 31 }; 32]);
                }
                let mut memory = memory();
                let active: [u32; 32] = std::array::from_fn(|lane| here >> lane & 1);
                let all = [a, b, c, [here; 32], active, [0; 32], [0; 32]].concat();
                let at = upload_u32(&mut memory, "rows", &all);
                let launch = Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(at);
                let checks = if round % 4 < 2 { Checks::ALL } else { Checks::NONE };
                let outcome = run_with(&module, &mut memory, &launch, &Options { checks, ..Options::default() });
                assert!(outcome.completed, "{:#?}", outcome.faults);
                let out = download_u32(&memory, at, all.len());
                let mut absent = 0;
                for lane in 0..32 {
                    let (from, valid) = source(mode, lane as u32, b[lane], c[lane]);
                    let there = here >> lane & 1 != 0;
                    let missing = there && here >> from & 1 == 0;
                    absent += u32::from(missing);
                    let label =
                        format!("{mode} {mask}, mask {here:#x}, lane {lane}, b {:#x}, c {:#x}", b[lane], c[lane]);
                    // What comes from a lane that takes no part is undefined.
                    if !missing {
                        assert_eq!(out[160 + lane], if there { a[from] } else { 7 }, "{label}");
                    }
                    assert_eq!(out[192 + lane], if there { u32::from(valid) } else { 7 }, "{label}");
                }
                let told: u64 = outcome.faults.iter().map(|fault| fault.occurrences).sum();
                let reported = outcome.faults.iter().all(|fault| fault.kind == FaultKind::MaskMisuse);
                assert!(reported, "{:#?}", outcome.faults);
                assert_eq!(told, if checks.barrier { absent.into() } else { 0 }, "lanes that read from none");
            }
        }
    }
}

/// What `lane 16 and up: other; below: shfl over the lanes that `at` names` is told.
fn told(other: &str, named: [u32; 32]) -> Vec<FaultKind> {
    let module = load(&format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 at) {{\n\
         .reg .pred %p<3>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<4>;\n\
         ld.param.u64 %rd1, [at];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd2, %rd1, %rd3;\n\
         ld.global.u32 %r4, [%rd2];\nsetp.lt.u32 %p1, %r1, 16;\n@%p1 bra $low;\n{other}\n\
         $low:\nshfl.sync.bfly.b32 %r3, %r1, 1, 31, %r4;\nmov.u32 %r5, 1;\nst.volatile.global.u32 [%rd1+128], %r5;\n\
         ret;\n}}\n"
    ));
    let mut memory = memory();
    let mut words = named.to_vec();
    words.push(0);
    let at = upload_u32(&mut memory, "named", &words);
    let launch = Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(at);
    let checks = Checks { race: false, ..Checks::ALL };
    let outcome = run_with(&module, &mut memory, &launch, &Options { checks, ..Options::default() });
    outcome.faults.iter().map(|fault| fault.kind).collect()
}

#[test]
fn a_shuffle_waits_for_all_that_it_names() {
    let wait = "$again:\nld.volatile.global.u32 %r5, [%rd1+128];\nsetp.eq.u32 %p2, %r5, 0;\n@%p2 bra $again;\nret;";
    assert_eq!(told(wait, std::array::from_fn(|lane| if lane < 16 { 0xffff } else { 0 })), []);
    assert_eq!(told(wait, [u32::MAX; 32]), [FaultKind::Deadlock]);
}

#[test]
fn a_lane_outside_its_own_group_is_named() {
    let pairs = |lane: usize| 3 << (lane & !1);
    assert_eq!(told("", std::array::from_fn(pairs)), []);
    let off = told("", std::array::from_fn(|lane| if lane == 9 { 3 << 10 } else { pairs(lane) }));
    assert_eq!(off.first(), Some(&FaultKind::MaskMisuse), "{off:?}");
    assert_eq!(told("", [0xffff; 32]).first(), Some(&FaultKind::MaskMisuse));
}

/// Eight lanes add up by `shfl.down`, which reads lanes beyond them; `%p1` says who stores a sum.
fn sum_of_eight(who: &str) -> String {
    let steps: String = [4, 2, 1]
        .iter()
        .map(|by| format!("shfl.sync.down.b32 %r3, %r2, {by}, 31, 255;\nadd.u32 %r2, %r2, %r3;\n"))
        .collect();
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 at) {{\n\
         .reg .pred %p<3>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<4>;\n\
         ld.param.u64 %rd1, [at];\nmov.u32 %r1, %tid.x;\nadd.u32 %r2, %r1, 1;\nsetp.gt.u32 %p1, %r1, 7;\n\
         @%p1 bra $end;\n{steps}setp.eq.u32 %p2, %r1, {who};\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n\
         @%p2 st.global.u32 [%rd3], %r2;\n$end:\nret;\n}}\n"
    )
}

#[test]
fn what_comes_from_absent_lanes_is_told_where_it_is_used() {
    let mut memory = memory();
    let out = upload_u32(&mut memory, "out", &[0; 32]);
    let launch = Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(out);
    let outcome = run_with(&load(&sum_of_eight("0")), &mut memory, &launch, &Options::default());
    assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
    assert_eq!(download_u32(&memory, out, 1), [36]);
    let outcome = run_with(&load(&sum_of_eight("5")), &mut memory, &launch, &Options::default());
    let [fault] = &outcome.faults[..] else { panic!("{:?}", outcome.faults) };
    assert_eq!(fault.kind, FaultKind::MaskMisuse);
    for part in ["(lane 4) shuffles from lane 8, which does not take part", "thread (5,0,0) stores what it computed"] {
        assert!(fault.message.contains(part), "{part}: {}", fault.message);
    }
    // Without that check it is told at once.
    let checks = Checks { uninitialised: false, ..Checks::ALL };
    let outcome = run_with(&load(&sum_of_eight("0")), &mut memory, &launch, &Options { checks, ..Options::default() });
    assert_eq!(outcome.faults.iter().map(|fault| fault.kind).collect::<Vec<_>>(), [FaultKind::MaskMisuse; 3]);
}
