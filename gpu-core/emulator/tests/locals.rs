//! Accesses to local memory that name it take a short way, which traced ones do not: results, counters and faults are the same
//! both ways.

mod common;

use common::{Dice, download_u32, goes_both_ways, load, many, memory, run_with};
use ptx_emulator::{Launch, Options, Outcome};

const WORDS: usize = 4096;

/// `%rj`: so many bytes into the array.
fn place(dice: &mut Dice, bytes: usize) -> String {
    let units = 64 / bytes;
    match dice.below(5) {
        0 | 1 => format!("mov.u64 %rj, {};", bytes * dice.below(units)),
        2 => format!("add.u32 %j, %tid, %round; rem.u32 %j, %j, {units}; mul.wide.u32 %rj, %j, {bytes};"),
        3 => format!("and.b32 %j, %tid, {}; rem.u32 %j, %j, {units}; mul.wide.u32 %rj, %j, {bytes};", dice.below(16)),
        // Now and then beyond the end, or not aligned.
        _ => format!("mov.u64 %rj, {};", [0, 4, 8, 60, 62, 64, 80][dice.below(7)]),
    }
}

fn access(dice: &mut Dice) -> String {
    let (kind, bytes, vector) = [
        ("b32", 4, 1),
        ("b32", 4, 1),
        ("v2.b32", 8, 2),
        ("v4.b32", 16, 4),
        ("b64", 8, 1),
        ("v2.b64", 16, 2),
        ("u8", 1, 1),
    ][dice.below(7)];
    let name = |index: usize| if kind.contains("64") { format!("%v{index}") } else { format!("%w{index}") };
    let list = (0..vector).map(name).collect::<Vec<_>>().join(", ");
    let list = if vector > 1 { format!("{{{list}}}") } else { list };
    let guard = match dice.below(4) {
        0 => "setp.lt.u32 %q, %tid, 20;",
        1 => "and.b32 %j, %tid, 5; setp.ne.u32 %q, %j, 0;",
        _ => "setp.ge.u32 %q, %tid, 0;",
    };
    let place = format!("{} add.u64 %rt, %rl, %rj;", place(dice, bytes));
    if dice.below(2) == 0 {
        format!("{place} {guard} @%q st.local.{kind} [%rt], {list};\n")
    } else {
        let sums = (0..vector).map(|index| {
            let value = name(index);
            match kind.contains("64") {
                true => format!("cvt.u32.u64 %j, {value}; add.u32 %sum, %sum, %j;"),
                false => format!("add.u32 %sum, %sum, {value};"),
            }
        });
        format!("{place} {guard} @%q ld.local.{kind} {list}, [%rt]; @%q add.u32 %sum, %sum, 1;\n")
            + &sums.collect::<String>()
            + "\n"
    }
}

fn case(dice: &mut Dice) -> String {
    let fill = match dice.below(4) {
        0 => String::new(),
        part => (0..if part == 1 { 9 } else { 16 })
            .map(|word| format!("add.u32 %j, %tid, {word}; st.local.b32 [%rl+{}], %j;\n", 4 * word))
            .collect(),
    };
    let body: String = (0..2 + dice.below(6)).map(|_| access(dice)).collect();
    let set = (0..4).map(|index| format!("mov.u32 %w{index}, {index}; mov.u64 %v{index}, {index};\n"));
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 c)\n{{\n\
         .reg .pred %p, %q; .reg .b32 %w<4>, %j, %tid, %round, %sum; .reg .b64 %v<4>, %rl, %rc, %rj, %rt;\n\
         .local .align 16 .b8 own[64];\n\
         mov.u64 %rl, own; mov.u32 %tid, %tid.x; mov.u32 %sum, 0; mov.u32 %round, 0;\n{}{fill}\
         $round:\n{body}add.u32 %round, %round, 1; setp.lt.u32 %p, %round, 3; @%p bra $round;\n\
         ld.param.u64 %rc, [c]; mul.wide.u32 %rj, %tid, 4; add.u64 %rt, %rc, %rj; st.global.u32 [%rt], %sum; ret;\n}}\n",
        set.collect::<String>()
    )
}

fn outcome(text: &str, options: &Options) -> (Outcome, Vec<u32>) {
    let module = load(text);
    let mut memory = memory();
    let c = memory.alloc("c", 4 * WORDS as u64).expect("fits");
    let launch = Launch::new("k", [2, 1, 1], [80, 1, 1]).arg_u64(c);
    let outcome = run_with(&module, &mut memory, &launch, options);
    let c = download_u32(&memory, c, WORDS);
    (outcome, c)
}

#[test]
fn short_ways_to_local_memory_do_what_the_long_one_does() {
    many("LOCALS_PROGRAMS", 1000, 0x1234_5678_9abc_def1, |program, dice| {
        let text = case(dice);
        goes_both_ways(|options| outcome(&text, &options), &format!("program {program}:\n{text}"))
    });
}
