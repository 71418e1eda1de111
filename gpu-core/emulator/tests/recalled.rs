//! Accesses that lie in no runs, but as they did the last time, take a short way: what goes wrong after many that went well must
//! be found, and what they cost must be counted, as by a look at each lane, which is what a trace asks for.

mod common;

use common::{download_u32, load, memory, run_with, upload_u32};
use ptx_emulator::{Fast, Fault, FaultKind, Launch, Options, Outcome};

/// Lanes that access the word of the lane whose number differs in the bits of 5.
const TURN: u32 = 5;
const ROUNDS: u32 = 24;

/// Each thread goes `ROUNDS` times through its body with `%r1`, the thread; `%r2`, the round; and the places of the word of its
/// turned lane, in round 0: `%r3` in shared memory, `%rd3` in `data`. `%p1` says that it is one of the second warp.
fn kernel(body: &str) -> String {
    format!(
        "
.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 data, .param .u32 rows)
{{
    .reg .pred %p<4>;
    .reg .b16 %h<4>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<8>;
    .shared .align 16 .b8 sh[8192];
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd3, [data];
    ld.param.u32 %r5, [rows];
    mov.u32 %r1, %tid.x;
    shr.u32 %r7, %r1, 5;
    setp.ne.u32 %p1, %r7, 0;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd1, %rd1, %rd2;
    and.b32 %r4, %r1, 31;
    xor.b32 %r4, %r4, {TURN};
    mul.wide.u32 %rd2, %r4, 4;
    add.s64 %rd3, %rd3, %rd2;
    mov.u32 %r6, sh;
    mad.lo.u32 %r3, %r4, 4, %r6;
    mul.lo.u32 %r7, %r7, %r5;
    mad.lo.u32 %r3, %r7, 128, %r3;
    mov.u32 %r2, 0;
    mov.u32 %r9, 0;
$again:
    {body}
    add.u32 %r9, %r9, %r8;
    add.u32 %r3, %r3, 128;
    add.s64 %rd3, %rd3, 128;
    add.u32 %r2, %r2, 1;
    setp.lt.u32 %p2, %r2, {ROUNDS};
    @%p2 bra.uni $again;
    st.global.u32 [%rd1], %r9;
    ret;
}}"
    )
}

/// What a launch of so many threads says and leaves in `out` and `data`, of which the first `written` of `words` words have
/// values; the short way and the long one must agree.
fn play(body: &str, threads: u32, words: usize, written: usize, rows: u32) -> (Outcome, u64, Vec<u32>, Vec<u32>) {
    let module = load(&kernel(body));
    let short = Options { deterministic: true, max_faults: 1000, ..Options::default() };
    let long = Options { fast: Fast::NONE, ..short.clone() };
    let [short, long] = [short, long].map(|options| {
        let mut memory = memory();
        let out = upload_u32(&mut memory, "out", &vec![0; threads as usize]);
        let data = memory.alloc("data", 4 * words as u64).expect("fits");
        let bytes: Vec<u8> = (0..written as u32).flat_map(|word| (word * word).to_le_bytes()).collect();
        memory.write(data, &bytes).expect("inside");
        let launch = Launch::new("k", [1, 1, 1], [threads, 1, 1]).arg_u64(out).arg_u64(data).arg_u32(rows);
        let outcome = run_with(&module, &mut memory, &launch, &options);
        let left = [(out, threads as usize), (data, written)].map(|(at, words)| download_u32(&memory, at, words));
        (Outcome { trace: None, ..outcome }, data, left)
    });
    assert_eq!(short, long, "{body}");
    let (outcome, data, [out, left]) = short;
    (outcome, data, out, left)
}

/// Kind, lane and address of the first fault.
fn first(outcome: &Outcome) -> (FaultKind, Option<u32>, Option<u64>) {
    let fault: &Fault = outcome.faults.first().expect("a fault");
    (fault.kind, fault.thread.map(|thread| thread.lane), fault.address)
}

const WORDS: usize = 32 * ROUNDS as usize;

#[test]
fn values_come_from_where_they_lie() {
    let squares = |lane: u32| (0..ROUNDS).map(move |round| (32 * round + (lane ^ TURN)).pow(2));
    let sums: Vec<u32> = (0..32).map(|lane| squares(lane).sum()).collect();
    let (outcome, _, out, _) = play("ld.global.u32 %r8, [%rd3];", 32, WORDS, WORDS, 0);
    assert!(outcome.faults.is_empty(), "{:#?}", outcome.faults);
    assert_eq!(out, sums);
    // Through shared memory and back, lane by lane what another one has.
    let round = "ld.global.u32 %r7, [%rd3]; st.shared.u32 [%r3], %r7; bar.warp.sync -1; ld.shared.u32 %r8, [%r3];";
    let (outcome, _, out, _) = play(round, 32, WORDS, WORDS, 0);
    assert!(outcome.faults.is_empty(), "{:#?}", outcome.faults);
    assert_eq!(out, sums);
    // Other lanes run each time; those that do not keep what they have.
    let round = "shr.u32 %r7, 0x27d4eb2f, %r4; shr.u32 %r7, %r7, %r2; and.b32 %r7, %r7, 1; setp.ne.u32 %p3, %r7, 0;
        mov.u32 %r8, 1; @%p3 ld.global.u32 %r8, [%rd3];";
    let (outcome, _, out, _) = play(round, 32, WORDS, WORDS, 0);
    assert!(outcome.faults.is_empty(), "{:#?}", outcome.faults);
    let of = |lane: u32, round: u32| {
        let (place, word) = (lane ^ TURN, 32 * round + (lane ^ TURN));
        if 0x27d4_eb2f_u32 >> place >> round & 1 != 0 { word * word } else { 1 }
    };
    let sum = |lane: u32| (0..ROUNDS).map(|round| of(lane, round)).sum();
    assert_eq!(out, (0..32).map(sum).collect::<Vec<u32>>());
}

#[test]
fn stores_go_where_they_lie() {
    for (form, value) in [("st.global.u32 [%rd3], %r1;", 1), ("@%p3 st.global.u32 [%rd3], %r1;", 2)] {
        let body = format!("mov.u32 %r8, 0; and.b32 %r7, %r1, 1; setp.ne.u32 %p3, %r7, 0; {form}");
        let (outcome, _, _, left) = play(&body, 32, WORDS, WORDS, 0);
        assert!(outcome.faults.is_empty(), "{:#?}", outcome.faults);
        let expect = |word: u32| {
            let lane = (word % 32) ^ TURN;
            if value == 1 || lane & 1 != 0 { lane } else { word * word }
        };
        assert_eq!(left, (0..WORDS as u32).map(expect).collect::<Vec<u32>>(), "{form}");
    }
}

#[test]
fn the_first_access_beyond_the_end_is_found() {
    // Lanes 16 and on are at the second half of a row.
    let words = 32 * 20 + 16;
    for access in ["ld.global.u32 %r8, [%rd3];", "mov.u32 %r8, 0; st.global.u32 [%rd3], %r1;"] {
        let (outcome, data, ..) = play(access, 32, words, words, 0);
        let address = data + 4 * (32 * 20 + u64::from(16 ^ TURN));
        assert_eq!(first(&outcome), (FaultKind::OutOfBounds, Some(16), Some(address)), "{access}");
    }
    // The array has 64 rows.
    for access in ["ld.shared.u32 %r8, [%r3];", "mov.u32 %r8, 0; st.shared.u32 [%r3], %r1;"] {
        let body = format!("setp.eq.u32 %p3, %r2, 0; @%p3 add.u32 %r3, %r3, 5632; {access}");
        let (outcome, ..) = play(&body, 32, 1, 1, 0);
        let found = outcome.faults.iter().find(|fault| fault.kind == FaultKind::OutOfBounds).expect("found");
        assert_eq!((found.thread.map(|thread| thread.lane), found.address), (Some(0), Some(8192 + 4 * 5)), "{access}");
    }
}

#[test]
fn the_first_word_without_a_value_is_found() {
    let (outcome, data, ..) = play("ld.global.u32 %r8, [%rd3];", 32, WORDS, 32 * 20 + 5, 0);
    let address = data + 4 * (32 * 20 + u64::from(TURN));
    assert_eq!(first(&outcome), (FaultKind::Uninitialised, Some(0), Some(address)));
    // Of shared memory row after row is written, but two words of row 20.
    let body = "and.b32 %r7, %r1, 30; xor.b32 %r7, %r7, 6; xor.b32 %r8, %r2, 20; or.b32 %r7, %r7, %r8;
        setp.ne.u32 %p3, %r7, 0; @%p3 st.shared.u32 [%r3], %r1; bar.warp.sync -1; ld.shared.u32 %r8, [%r3];";
    let (outcome, ..) = play(body, 32, 1, 1, 0);
    let address = 20 * 128 + 4 * u64::from(6 ^ TURN);
    assert_eq!(first(&outcome), (FaultKind::Uninitialised, Some(6), Some(address)));
}

#[test]
fn rows_that_two_warps_come_to_race() {
    let store = "st.shared.u32 [%r3], %r1; mov.u32 %r8, 0;";
    let both = |first: &str, second: &str| format!("@!%p1 {first} @%p1 {second} mov.u32 %r8, 0;");
    let (load, save) = ("ld.shared.u32 %r8, [%r3];", "st.shared.u32 [%r3], %r1;");
    for body in [store.to_owned(), both(load, save), both(save, load)] {
        // All that is read has a value.
        let body = format!(
            "setp.ne.u32 %p3, %r2, 0; @%p3 bra $filled; mad.lo.u32 %r7, %r1, 128, %r6;
            st.shared.v4.u32 [%r7], {{0, 0, 0, 0}}; st.shared.v4.u32 [%r7+16], {{0, 0, 0, 0}};
            st.shared.v4.u32 [%r7+32], {{0, 0, 0, 0}}; st.shared.v4.u32 [%r7+48], {{0, 0, 0, 0}};
            st.shared.v4.u32 [%r7+64], {{0, 0, 0, 0}}; st.shared.v4.u32 [%r7+80], {{0, 0, 0, 0}};
            st.shared.v4.u32 [%r7+96], {{0, 0, 0, 0}}; st.shared.v4.u32 [%r7+112], {{0, 0, 0, 0}};
            bar.sync 0; $filled: {body}"
        );
        // The second warp begins where the first one does not come to.
        let (outcome, ..) = play(&body, 64, 1, 1, ROUNDS);
        assert!(outcome.faults.is_empty(), "{body}: {:#?}", outcome.faults);
        // It begins at the 21st row of the first one.
        let (outcome, ..) = play(&body, 64, 1, 1, 20);
        let races = outcome.faults.iter().filter(|fault| fault.kind == FaultKind::Race);
        let rows: Vec<u64> = races.filter_map(|fault| fault.address).map(|address| address / 128).collect();
        assert_eq!(rows.len(), outcome.faults.len(), "{:#?}", outcome.faults);
        assert!(!rows.is_empty() && rows.iter().all(|row| (20..24).contains(row)), "{body}: {rows:?}");
    }
}

#[test]
fn what_they_cost_is_counted() {
    let body = "ld.global.u32 %r7, [%rd3]; st.shared.u32 [%r3], %r7; bar.warp.sync -1; ld.shared.u32 %r8, [%r3];";
    let (outcome, ..) = play(body, 32, WORDS, WORDS, 0);
    let (counters, rounds) = (outcome.counters, u64::from(ROUNDS));
    assert_eq!((counters.global_load.requests, counters.global_load.sectors), (rounds, 4 * rounds));
    assert_eq!(counters.global_load.bytes, 128 * rounds);
    for shared in [counters.shared_load, counters.shared_store] {
        assert_eq!((shared.requests, shared.wavefronts, shared.bank_conflicts), (rounds, rounds, 0));
        assert_eq!(shared.bytes, 128 * rounds);
    }
    // Two words apart: two lanes at each bank.
    let body = format!("mad.lo.u32 %r7, %r4, 8, %r6; mad.lo.u32 %r7, %r2, 128, %r7; {}", {
        "st.shared.u32 [%r7], %r1; bar.warp.sync -1; ld.shared.u32 %r8, [%r7];"
    });
    let (outcome, ..) = play(&body, 32, 1, 1, 0);
    for shared in [outcome.counters.shared_load, outcome.counters.shared_store] {
        assert_eq!((shared.requests, shared.wavefronts, shared.bank_conflicts), (rounds, 2 * rounds, rounds));
    }
}

/// Matrices whose rows lie as the last time: what is read and written, what it costs, and what is wrong with it.
#[test]
fn rows_of_matrices_lie_as_the_last_time() {
    // Rows of 16 bytes, those of a lane's turned number; the next round's begin at the eighth of them.
    let place = "shl.b32 %r10, %r4, 4; add.u32 %r10, %r10, %r6; shl.b32 %r11, %r2, 7; add.u32 %r10, %r10, %r11;";
    let fill = "st.shared.v4.u32 [%r10], {%r1, %r2, %r4, %r7};";
    let sum = "mad.lo.u32 %r8, %r12, 3, %r11; mad.lo.u32 %r8, %r13, 5, %r8; mad.lo.u32 %r8, %r14, 7, %r8;";
    let all = "{%r11, %r12, %r13, %r14}";
    for trans in ["", ".trans"] {
        let read = format!("ldmatrix.sync.aligned.m8n8.x4{trans}.shared.b16 {all}, [%r10];");
        let write = format!("stmatrix.sync.aligned.m8n8.x4{trans}.shared.b16 [%r10], {all};");
        let set = "mov.u32 %r11, %r1; mov.u32 %r12, %r2; not.b32 %r13, %r1; mov.u32 %r14, 7;";
        let right = [
            format!("{place} {fill} bar.warp.sync -1; {read} {sum} bar.warp.sync -1;"),
            format!("{place} {set} {write} bar.warp.sync -1; ld.shared.u32 %r8, [%r10+4]; bar.warp.sync -1;"),
        ];
        for body in right {
            let (outcome, _, out, _) = play(&body, 32, WORDS, WORDS, 0);
            assert!(outcome.faults.is_empty(), "{body} {:#?}", outcome.faults);
            assert!(out.iter().any(|sum| *sum != 0), "{body}");
        }
        // The row of a neighbour, with no order between the lanes in the last rounds.
        let late = "setp.lt.u32 %p3, %r2, 20; @%p3 bar.warp.sync -1; xor.b32 %r10, %r10, 16;";
        let (outcome, ..) = play(&format!("{place} {fill} {late} {read} {sum} bar.warp.sync -1;"), 32, WORDS, WORDS, 0);
        assert_eq!(first(&outcome).0, FaultKind::Race, "{read}");
        let (outcome, ..) = play(
            &format!("{place} {set} {fill} {late} {write} mov.u32 %r8, 0; bar.warp.sync -1;"),
            32,
            WORDS,
            WORDS,
            0,
        );
        assert_eq!(first(&outcome).0, FaultKind::Race, "{write}");
        // The last rows of the last rounds were never written.
        let some = "setp.lt.u32 %p3, %r2, 20; setp.lt.or.u32 %p3, %r4, 30, %p3;";
        let body = format!("{place} {some} @%p3 {fill} bar.warp.sync -1; {read} {sum} bar.warp.sync -1;");
        let (outcome, ..) = play(&body, 32, WORDS, WORDS, 0);
        assert_eq!(first(&outcome).0, FaultKind::Uninitialised, "{read}");
        // Beyond the array, and misaligned, at last.
        for (off, fault) in [(8192, FaultKind::OutOfBounds), (8, FaultKind::Misaligned)] {
            let off = format!("setp.lt.u32 %p3, %r2, 20; @!%p3 add.u32 %r10, %r10, {off};");
            let (outcome, ..) = play(
                &format!("{place} {fill} {off} bar.warp.sync -1; {read} {sum} bar.warp.sync -1;"),
                32,
                WORDS,
                WORDS,
                0,
            );
            assert_eq!(first(&outcome).0, fault, "{read}");
        }
    }
}

/// While copies fill other rows, the one that is there is read the short way; the first that is not is found.
#[test]
fn what_a_copy_still_fills_is_found_beside_what_has_come() {
    for place in
        ["mov.u32 %r10, %r3;", "and.b32 %r10, %r1, 31; mad.lo.u32 %r10, %r10, 4, %r6; mad.lo.u32 %r10, %r2, 128, %r10;"]
    {
        let first_row = "setp.eq.u32 %p3, %r2, 0; @%p3 st.shared.u32 [%r10+896], %r1; bar.warp.sync -1;";
        let copy = "cp.async.ca.shared.global [%r10+1024], [%rd3], 4; cp.async.commit_group;";
        for (wait, rounds) in [("cp.async.wait_group 1;", ROUNDS), ("@!%p3 bra $on; cp.async.wait_group 1; $on:", 20)] {
            let body = format!(
                "{place} {first_row} {copy} setp.lt.u32 %p3, %r2, 20; {wait} ld.shared.u32 %r8, [%r10+896]; bar.warp.sync -1;"
            );
            let (outcome, _, out, _) = play(&body, 32, WORDS, WORDS, 0);
            if rounds == ROUNDS {
                assert!(outcome.faults.is_empty(), "{body} {:#?}", outcome.faults);
                let squares = |lane: u32| (0..ROUNDS - 1).map(move |round| (32 * round + (lane ^ TURN)).pow(2));
                let sums: Vec<u32> = (0..32).map(|lane| lane + squares(lane).sum::<u32>()).collect();
                assert_eq!(out, sums);
            } else {
                assert_eq!(first(&outcome).0, FaultKind::MissingAsyncWait, "{body}");
            }
        }
    }
}
