//! The order in which warps run, and what ends a launch, where a warp's turn ends at a barrier and the next one begins at once.

mod common;

use common::*;
use ptx_emulator::{FaultKind, Launch, Module, Options, Outcome};

/// All threads meet `laps` times; behind each barrier the first lane of each warp counts up a number in shared memory and
/// writes down what it found: those of warp `w` from `out[w * laps]` on.
const LAPS: &str = "
.version 8.0
.target sm_80
.address_size 64
.visible .entry laps(.param .u64 out, .param .u32 laps)
{
    .reg .pred %p<4>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<6>;
    .shared .align 4 .b8 next[4];
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [laps];
    mov.u32 %r2, %tid.x;
    shr.u32 %r3, %r2, 5;
    and.b32 %r4, %r2, 31;
    setp.eq.u32 %p1, %r4, 0;
    setp.eq.u32 %p2, %r2, 0;
    mov.u32 %r5, next;
    @%p2 st.shared.u32 [%r5], 0;
    mul.lo.u32 %r6, %r3, %r1;
    mul.wide.u32 %rd2, %r6, 4;
    add.u64 %rd1, %rd1, %rd2;
    mov.u32 %r7, 0;
$again:
    bar.sync 0;
    @%p1 atom.shared.add.u32 %r8, [%r5], 1;
    @%p1 st.global.u32 [%rd1], %r8;
    add.u64 %rd1, %rd1, 4;
    add.u32 %r7, %r7, 1;
    setp.ne.u32 %p3, %r7, %r1;
    @%p3 bra $again;
    ret;
}";

fn laps(warps: u32, laps: u32, options: &Options) -> (Outcome, Vec<u32>) {
    let module = Module::load(LAPS).unwrap_or_else(|error| panic!("{error}"));
    let mut memory = memory();
    let out = upload_u32(&mut memory, "out", &vec![u32::MAX; (warps * laps) as usize]);
    let launch = Launch::new("laps", [1, 1, 1], [32 * warps, 1, 1]).arg_u64(out).arg_u32(laps);
    let outcome = run_with(&module, &mut memory, &launch, options);
    (outcome, download_u32(&memory, out, (warps * laps) as usize))
}

/// The order by the rule itself: rounds in which each warp runs until it must wait, and whoever completes a barrier runs on.
fn by_the_rule(warps: usize, laps: usize) -> Vec<u32> {
    let (mut out, mut time) = (vec![0; warps * laps], 0);
    // How many barriers each warp has passed, and how often all have met.
    let (mut passed, mut arrived, mut met) = (vec![0; warps], vec![false; warps], 0);
    while passed.iter().any(|&laps_done| laps_done < laps) {
        for warp in 0..warps {
            while passed[warp] < laps {
                if passed[warp] == met && !arrived[warp] {
                    arrived[warp] = true;
                    if arrived.iter().all(|there| *there) {
                        arrived.fill(false);
                        met += 1;
                    }
                }
                if passed[warp] == met {
                    break;
                }
                out[warp * laps + passed[warp]] = time;
                time += 1;
                passed[warp] += 1;
            }
        }
    }
    out
}

#[test]
fn warps_take_turns_in_their_order_and_the_last_at_a_barrier_runs_on() {
    for options in [Options::default(), Options::unchecked(), Options { workers: 1, ..Options::default() }] {
        for (warps, rounds) in [(1, 3), (2, 5), (4, 7), (8, 9), (32, 4)] {
            let (outcome, order) = laps(warps, rounds, &options);
            assert!(outcome.completed && outcome.faults.is_empty(), "{:#?}", outcome.faults);
            assert_eq!(order, by_the_rule(warps as usize, rounds as usize), "{warps} warps, {rounds} laps");
        }
    }
}

#[test]
fn a_budget_ends_warps_that_meet_for_ever() {
    // 2^32 laps, never to be finished; the launch may go on to the end of a quantum, and of the round it ends in.
    let limit = 400_000;
    let options = Options { max_warp_instructions: Some(limit), ..Options::unchecked() };
    let module = Module::load(
        &LAPS.replace("add.u32 %r7, %r7, 1;", "mov.u64 %rd1, %rd1;").replace("add.u64 %rd1, %rd1, 4;", ""),
    );
    let mut memory = memory();
    let out = upload_u32(&mut memory, "out", &[0; 8]);
    let launch = Launch::new("laps", [1, 1, 1], [256, 1, 1]).arg_u64(out).arg_u32(1);
    let outcome = run_with(&module.unwrap_or_else(|error| panic!("{error}")), &mut memory, &launch, &options);
    assert!(!outcome.completed);
    let [fault] = &outcome.faults[..] else { panic!("{:#?}", outcome.faults) };
    assert_eq!(fault.kind, FaultKind::StepBudget);
    assert!(outcome.executed > limit && outcome.executed < limit + 60_000, "{}", outcome.executed);
}

/// Thread 0 meets the others and ends; the rest of its warp meets them inside a function; the other two warps meet once
/// more, so that one of them can go on where thread 0 ended.
const APART: &str = "
.version 8.0
.target sm_80
.address_size 64
.func (.param .b32 result) f(.param .b32 a)
{
    .reg .b32 %r<2>;
    ld.param.u32 %r1, [a];
    barrier.sync 0;
    st.param.b32 [result], %r1;
    ret;
}
.visible .entry k(.param .u64 out)
{
    .reg .pred %p<3>;
    .reg .b32 %r<4>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd3, %rd1, %rd2;
    setp.ge.u32 %p1, %r1, 32;
    @%p1 bra $others;
    setp.eq.u32 %p2, %r1, 0;
    @%p2 bra $own;
    {
        .param .b32 q, z;
        st.param.b32 [q], 5;
        call (z), f, (q);
        ld.param.b32 %r2, [z];
    }
    st.global.u32 [%rd3], %r2;
    ret;
$own:
    barrier.sync 0;
    st.global.u32 [%rd3], 3;
    exit;
$others:
    barrier.sync 0;
    barrier.sync 1, 64;
    st.global.u32 [%rd3], 7;
    ret;
}";

#[test]
fn a_group_that_is_left_behind_goes_on_where_it_waits() {
    let wanted: Vec<u32> = (0..96).map(|thread| [3, 5, 7][(thread > 0) as usize + (thread >= 32) as usize]).collect();
    for options in [Options::default(), Options::unchecked()] {
        let module = Module::load(APART).unwrap_or_else(|error| panic!("{error}"));
        let mut memory = memory();
        let out = upload_u32(&mut memory, "out", &[0; 96]);
        let launch = Launch::new("k", [1, 1, 1], [96, 1, 1]).arg_u64(out);
        let outcome = run_with(&module, &mut memory, &launch, &options);
        assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
        assert_eq!(download_u32(&memory, out, 96), wanted);
    }
}
