//! Marks of undefined values are moved for whole stretches of instructions ahead, but where accesses are traced: faults, results
//! and counters are the same both ways.

mod common;

use common::{Dice, download_u32, goes_both_ways, load, many, memory, run_with};
use ptx_emulator::{Launch, Options, Outcome};

const WORDS: usize = 2048;

/// `r`: a register; `d`: one of 64 bits; `p`: a predicate; `n`: a small number.
const FORMS: &[&str] = &[
    "add.u32 r, r, r;",
    "mul.lo.u32 r, r, n;",
    "mad.lo.u32 r, r, r, r;",
    "add.f32 r, r, r;",
    "fma.rn.f32 r, r, r, r;",
    "rcp.approx.f32 r, r;",
    "cvt.rn.f32.u32 r, r;",
    "popc.b32 r, r;",
    "min.s32 r, r, r;",
    "add.cc.u32 r, r, r;",
    "addc.u32 r, r, n;",
    "mov.u32 r, r;",
    "mov.u32 r, n;",
    "mov.b64 d, d;",
    "mov.b64 d, {r, r};",
    "mov.b64 {r, r}, d;",
    "add.u64 d, d, d;",
    "mul.wide.u32 d, r, r;",
    "cvt.u32.u64 r, d;",
    "and.b32 r, r, 255;",
    "or.b32 r, r, r;",
    "shl.b32 r, r, n;",
    "shr.u32 r, r, r;",
    "lop3.b32 r, r, r, r, 0xca;",
    "prmt.b32 r, r, r, 0x1054;",
    "bfi.b32 r, r, r, 8, 8;",
    "setp.lt.u32 p, r, n;",
    "setp.ne.f32 p, r, r;",
    "and.pred p, p, p;",
    "selp.b32 r, r, r, p;",
    "@p add.u32 r, r, r;",
    "@p mov.u32 r, n;",
    "shfl.sync.bfly.b32 r, r, 1, 31, -1;",
    "bar.warp.sync -1;",
    "call.uni (r), twice, (r);",
    "ld.global.u32 r, [%ra + 512];",
    "st.global.u32 [%rc + 512], r;",
    "ld.global.u32 r, [%rc + 512];",
];

fn instruction(dice: &mut Dice) -> String {
    // What only computes comes most, and calls and accesses now and then.
    let form = if dice.below(4) > 0 { FORMS[dice.below(31)] } else { FORMS[dice.below(FORMS.len())] };
    let mut text = String::new();
    let bytes = form.as_bytes();
    for (at, letter) in form.char_indices() {
        let beside = |at: Option<usize>| {
            at.and_then(|at| bytes.get(at)).is_none_or(|c| !c.is_ascii_alphanumeric() && !b"._%".contains(c))
        };
        match letter {
            _ if !beside(at.checked_sub(1)) || !beside(Some(at + 1)) => text.push(letter),
            'r' => text += &format!("%r{}", dice.below(6)),
            'd' => text += &format!("%d{}", dice.below(3)),
            'p' => text += &format!("%p{}", dice.below(3)),
            'n' => text += &dice.below(9).to_string(),
            other => text.push(other),
        }
    }
    text + "\n"
}

/// A kernel that has some of its registers from what was written in part, or from nowhere, and keeps some of them.
fn case(dice: &mut Dice) -> String {
    let mut body = String::new();
    for index in 0..3 + dice.below(24) {
        body += &instruction(dice);
        if dice.below(12) == 0 {
            body += &format!("and.b32 %j, %tid, {}; setp.eq.u32 %q, %j, 0; @%q bra $over{index};\n", dice.below(4));
            body += &(instruction(dice) + &instruction(dice) + &format!("$over{index}:\n"));
        }
    }
    let mut first = String::new();
    for register in 0..6 {
        first += &match dice.below(8) {
            // In some of its lanes.
            0 => format!("setp.gt.u32 %q, %tid, {}; @%q mov.u32 %r{register}, %tid;\n", dice.below(70)),
            1 => format!("ld.global.u32 %r{register}, [%ra + {}];\n", 4 * dice.below(400)),
            _ => format!("add.u32 %r{register}, %tid, {register};\n"),
        };
    }
    let kept = dice.below(3);
    let last: String =
        (0..kept).map(|at| format!("st.global.u32 [%rc + {}], %r{};\n", 1024 * at, dice.below(6))).collect();
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n\
         .func (.reg .b32 %o) twice(.reg .b32 %i)\n{{ .reg .b32 %t; add.u32 %t, %i, %i; mov.u32 %o, %t; ret; }}\n\
         .visible .entry k(.param .u64 a, .param .u64 c)\n{{\n\
         .reg .pred %p<3>, %q; .reg .b32 %r<6>, %j, %tid, %round; .reg .b64 %d<3>, %ra, %rc, %rj;\n\
         mov.u32 %tid, %tid.x; mov.u32 %round, 0; setp.lt.u32 %p0, %tid, 20; setp.ge.u32 %p1, %tid, 0; setp.gt.u32 %p2, %tid, 40;\n\
         cvt.u64.u32 %d0, %tid; cvt.u64.u32 %d1, %tid; mov.u64 %d2, 5;\n\
         ld.param.u64 %ra, [a]; ld.param.u64 %rc, [c]; mul.wide.u32 %rj, %tid, 4; add.u64 %ra, %ra, %rj; add.u64 %rc, %rc, %rj;\n\
         {first}$round:\n{body}add.u32 %round, %round, 1; setp.lt.u32 %q, %round, 2; @%q bra $round;\n{last}ret;\n}}\n"
    )
}

fn outcome(text: &str, options: &Options) -> (Outcome, Vec<u32>) {
    let module = load(text);
    let mut memory = memory();
    let [a, c] = ["a", "c"].map(|name| memory.alloc(name, 4 * WORDS as u64).expect("fits"));
    let words: Vec<u8> = (0..300u32).flat_map(|i| (i.wrapping_mul(2_654_435_761)).to_le_bytes()).collect();
    memory.write(a, &words).expect("inside");
    let launch = Launch::new("k", [1, 1, 1], [80, 1, 1]).arg_u64(a).arg_u64(c);
    let outcome = run_with(&module, &mut memory, &launch, options);
    let c = download_u32(&memory, c, WORDS);
    (outcome, c)
}

#[test]
fn marks_are_moved_ahead_as_one_by_one() {
    many("FOLLOWED_PROGRAMS", 1500, 0x6a09_e667_f3bc_c909, |program, dice| {
        let text = case(dice);
        goes_both_ways(|options| outcome(&text, &options), &format!("program {program}:\n{text}"))
    });
}
