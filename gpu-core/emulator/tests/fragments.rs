//! `wmma.load` and `wmma.store` move a fragment at once where nothing about it is unusual, and step by step where accesses
//! are traced: results, counters and faults are the same both ways.

mod common;

use common::{Dice, download_u32, goes_both_ways, load, many, memory, run_with};
use ptx_emulator::{Launch, Options, Outcome};

/// Part, shape, type, registers of a lane, whether they have 64 bits, bits of an element, and layouts.
type Shape = (&'static str, &'static str, &'static str, usize, bool, u32, &'static [&'static str]);

const BOTH: &[&str] = &["row", "col"];
const LOADS: &[Shape] = &[
    ("a", "m16n16k16", "f16", 8, false, 16, BOTH),
    ("b", "m16n16k16", "f16", 8, false, 16, BOTH),
    ("a", "m32n8k16", "f16", 8, false, 16, BOTH),
    ("b", "m8n32k16", "bf16", 8, false, 16, BOTH),
    ("a", "m16n16k16", "bf16", 4, false, 16, BOTH),
    ("a", "m16n16k16", "s8", 2, false, 8, BOTH),
    ("b", "m16n16k16", "u8", 2, false, 8, BOTH),
    ("a", "m16n16k8", "tf32", 4, false, 32, BOTH),
    ("a", "m8n8k4", "f64", 1, true, 64, BOTH),
    ("c", "m8n8k4", "f64", 2, true, 64, BOTH),
    ("c", "m16n16k16", "f32", 8, false, 32, BOTH),
    ("c", "m16n16k16", "f16", 4, false, 16, BOTH),
    ("a", "m8n8k32", "s4", 1, false, 4, &["row"]),
    ("b", "m8n8k128", "b1", 1, false, 1, &["col"]),
];
const STORES: &[Shape] = &[
    ("d", "m16n16k16", "f32", 8, false, 32, BOTH),
    ("d", "m32n8k16", "f16", 4, false, 16, BOTH),
    ("d", "m16n16k16", "s32", 8, false, 32, BOTH),
    ("d", "m8n8k4", "f64", 2, true, 64, BOTH),
];

const WORDS: usize = 4096;

struct Case {
    text: String,
    /// Words of the first array that have values.
    written: usize,
}

/// A kernel of two warps that loads or stores a fragment each, in global or shared memory.
fn case(dice: &mut Dice) -> Case {
    let store = dice.below(3) == 0;
    let shapes = if store { STORES } else { LOADS };
    let (part, shape, ty, registers, wide, bits, layouts) = shapes[dice.below(shapes.len())];
    let layout = dice.of(layouts);
    let shared = dice.below(2) == 0;
    // 16 bytes is what PTX asks of it; other strides and places must be told of, or be taken as they are.
    let whole = (128 / bits) as usize;
    let stride = match dice.below(4) {
        0 => dice.below(40) + 8,
        _ => whole * (dice.below(4) + 1).max(16usize.div_ceil(whole)),
    };
    let first = match dice.below(4) {
        0 => dice.below(64),
        _ => 16 * dice.below(8),
    };
    let apart = [0, 16, 4096, 8192][dice.below(4)];
    let (kind, step) = if wide { ("b64", 8) } else { ("b32", 4) };
    let name = |r: usize| if wide { format!("%v{r}") } else { format!("%w{r}") };
    let list = (0..registers).map(name).collect::<Vec<_>>().join(", ");
    let (space, base) = if shared { ("shared", "%rs") } else { ("global", "%ra") };
    let mut body = String::new();
    if shared && dice.below(4) != 0 {
        // 16 KiB by 64 threads, or a part of it.
        let rounds = [64, 64, 20][dice.below(3)];
        body += &format!(
            "mov.u32 %i, 0;\n$fill: mad.lo.u32 %j, %i, 64, %tid; shl.b32 %j, %j, 2; cvt.u64.u32 %rj, %j;\n\
             add.u64 %rt, %ra0, %rj; ld.global.b32 %k, [%rt]; add.u64 %rt, %rs0, %rj; st.shared.b32 [%rt], %k;\n\
             add.u32 %i, %i, 1; setp.lt.u32 %p, %i, {rounds}; @%p bra $fill;\n"
        );
        body += if dice.below(4) != 0 { "bar.sync 0;\n" } else { "" };
    }
    let stride_operand = if dice.below(2) == 0 { "%stride".to_owned() } else { stride.to_string() };
    if store {
        for r in 0..registers {
            let seed = format!("mad.lo.u32 %k, %tid, {registers}, {r};");
            body += &match wide {
                true => format!("{seed} cvt.u64.u32 {}, %k;\n", name(r)),
                false => format!("{seed} mov.b32 {}, %k;\n", name(r)),
            };
        }
        body += &format!(
            "wmma.store.{part}.sync.aligned.{layout}.{shape}.{space}.{ty} [{base}], {{{list}}}, {stride_operand};\n"
        );
        if shared {
            body += "bar.sync 0;\nshl.b32 %j, %tid, 2; cvt.u64.u32 %rj, %j; add.u64 %rt, %rs0, %rj;\n\
                     ld.shared.b32 %k, [%rt+256]; add.u64 %rt, %rc, %rj; st.global.b32 [%rt], %k;\n";
        }
    } else {
        body += &format!(
            "wmma.load.{part}.sync.aligned.{layout}.{shape}.{space}.{ty} {{{list}}}, [{base}], {stride_operand};\n"
        );
        for r in 0..registers {
            body += &format!(
                "mad.lo.u32 %j, %tid, {}, {}; cvt.u64.u32 %rj, %j; add.u64 %rt, %rc, %rj; st.global.{kind} [%rt], {};\n",
                registers * step,
                r * step,
                name(r)
            );
        }
    }
    let text = format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 c)\n{{\n\
         .reg .pred %p; .reg .b32 %w<9>, %i, %j, %k, %tid, %warp, %stride; .reg .b64 %v<3>, %ra0, %ra, %rs0, %rs, %rc, %rt, %rj;\n\
         .shared .align 256 .b8 tile[16384];\n\
         ld.param.u64 %ra0, [a]; ld.param.u64 %rc, [c]; mov.u32 %tid, %tid.x; shr.u32 %warp, %tid, 5;\n\
         mov.u64 %rs0, tile; mov.u32 %stride, {stride};\n\
         mad.lo.u32 %j, %warp, {apart}, {first}; cvt.u64.u32 %rj, %j; add.u64 %ra, %ra0, %rj; add.u64 %rs, %rs0, %rj;\n\
         {body}ret;\n}}\n"
    );
    Case { text, written: if dice.below(3) == 0 { dice.below(WORDS) } else { WORDS } }
}

fn outcome(case: &Case, options: &Options) -> (Outcome, Vec<u32>) {
    let module = load(&case.text);
    let mut memory = memory();
    let a = memory.alloc("a", 4 * WORDS as u64).expect("fits");
    let words: Vec<u8> = (0..case.written as u32).flat_map(|i| (i.wrapping_mul(2_654_435_761)).to_le_bytes()).collect();
    memory.write(a, &words).expect("inside");
    let c = memory.alloc("c", 4 * WORDS as u64).expect("fits");
    let launch = Launch::new("k", [1, 1, 1], [64, 1, 1]).arg_u64(a).arg_u64(c);
    let outcome = run_with(&module, &mut memory, &launch, options);
    (outcome, [a, c].into_iter().flat_map(|array| download_u32(&memory, array, WORDS)).collect())
}

#[test]
fn whole_fragments_are_moved_counted_and_checked_as_their_steps_are() {
    many("FRAGMENTS_PROGRAMS", 400, 0x9e37_79b9_7f4a_7c15, |program, dice| {
        let case = case(dice);
        goes_both_ways(|options| outcome(&case, &options), &format!("program {program}:\n{}", case.text))
    });
}
