//! Kernels give the same with machine code as without: memory, counters and faults, for random programs of all instructions
//! that code is made of.

mod common;

use std::fmt::Write;
use std::sync::atomic::AtomicBool;

use common::{Dice, load, memory};
use ptx_emulator::{Checks, Fast, Launch, Options};

/// `r`: a register of 32 bits; `d`: of 64; `h`: of 16; `p`: a predicate; `i`, `f`, `g`, `j`: either such a register or a number;
/// `n`: a count.
const FORMS: &[&str] = &[
    "mov.u32 r, i;",
    "mov.b64 d, d;",
    "mov.f64 d, g;",
    "add.s32 r, r, i;",
    "sub.u32 r, r, i;",
    "sub.u32 r, i, r;",
    "mul.lo.s32 r, r, i;",
    "mad.lo.s32 r, r, i, r;",
    "mad.lo.u32 r, r, r, i;",
    "and.b32 r, r, i;",
    "or.b32 r, r, r;",
    "xor.b32 r, r, i;",
    "not.b32 r, r;",
    "shl.b32 r, r, n;",
    "shl.b32 r, r, r;",
    "shr.u32 r, r, n;",
    "shr.s32 r, r, n;",
    "shr.s32 r, i, r;",
    "min.s32 r, r, i;",
    "max.s32 r, r, r;",
    "min.u32 r, r, i;",
    "max.u32 r, r, r;",
    "neg.s32 r, r;",
    "min.f32 r, r, f;",
    "min.f32 r, r, r;",
    "max.f32 r, f, r;",
    "max.f32 r, r, r;",
    "cvt.rn.f32.u32 r, r;",
    "add.f32 r, r, f;",
    "add.rn.f32 r, r, r;",
    "sub.f32 r, f, r;",
    "mul.f32 r, r, r;",
    "mul.rn.f32 r, r, f;",
    "fma.rn.f32 r, r, r, r;",
    "fma.rn.f32 r, r, f, r;",
    "fma.rn.f32 r, r, r, f;",
    "add.ftz.f32 r, r, r;",
    "sub.ftz.f32 r, r, f;",
    "mul.ftz.f32 r, r, r;",
    "fma.rn.ftz.f32 r, r, r, r;",
    "fma.rn.ftz.f32 r, f, r, r;",
    "add.s64 d, d, d;",
    "sub.s64 d, d, d;",
    "and.b64 d, d, d;",
    "or.b64 d, d, d;",
    "xor.b64 d, d, d;",
    "shl.b64 d, d, n;",
    "shl.b64 d, d, r;",
    "shr.u64 d, d, n;",
    "mul.wide.s32 d, r, i;",
    "mul.wide.u32 d, r, r;",
    "mad.wide.s32 d, r, r, d;",
    "mad.wide.u32 d, r, i, d;",
    "cvt.s64.s32 d, r;",
    "cvt.u64.u32 d, r;",
    "cvt.u32.u64 r, d;",
    "cvt.rn.f32.s32 r, r;",
    "add.f64 d, d, d;",
    "sub.f64 d, d, g;",
    "mul.f64 d, d, g;",
    "fma.rn.f64 d, d, d, d;",
    "fma.rn.f64 d, d, g, d;",
    "selp.b32 r, r, i, p;",
    "selp.f32 r, r, r, p;",
    "selp.s32 r, i, r, !p;",
    "and.pred p, p, p;",
    "or.pred p, p, !p;",
    "xor.pred p, !p, p;",
    "not.pred p, p;",
    "mov.u32 r, %tid.x;",
    "mov.u32 r, %tid.y;",
    "mov.u32 r, %ctaid.x;",
    "mov.u32 r, %ctaid.z;",
    "mad.lo.s32 r, r, %ctaid.x, %tid.x;",
    "selp.b64 d, d, d, p;",
    "selp.b64 d, d, g, !p;",
    "selp.u16 h, j, h, p;",
    "and.b16 h, h, j;",
    "xor.b16 h, h, h;",
    "popc.b32 r, r;",
    "brev.b32 r, r;",
    "clz.b32 r, r;",
    "bfind.u32 r, r;",
    "bfind.shiftamt.u32 r, r;",
    "bfind.s32 r, r;",
    "bfind.shiftamt.s32 r, r;",
    "neg.f32 r, r;",
    "abs.f32 r, r;",
    "mul.hi.u32 r, r, i;",
    "mul.hi.s32 r, i, r;",
    "mul.lo.s64 d, d, d;",
    "mul.lo.u64 d, d, g;",
    "mad.lo.s64 d, d, d, d;",
    "mad.lo.u64 d, g, d, d;",
    "cvt.u32.u8 r, r;",
    "cvt.s32.s8 r, r;",
    "cvt.u32.u16 r, h;",
    "cvt.s32.s16 r, h;",
    "cvt.u16.u32 h, r;",
    "cvt.u16.s16 h, h;",
    "cvt.u16.u8 h, h;",
    "vote.sync.ballot.b32 r, p, -1;",
    "vote.sync.ballot.b32 r, !p, -1;",
    "vote.sync.all.pred p, p, -1;",
    "vote.sync.any.pred p, !p, -1;",
    "vote.sync.uni.pred p, p, -1;",
    "vote.sync.uni.pred p, !p, %r36;",
    // Functions between the templates.
    "cnot.b32 r, r;",
    "rsqrt.approx.ftz.f32 r, r;",
    "mov.b64 d, {r, r};",
    "mov.b64 {r, r}, d;",
    "shfl.sync.bfly.b32 r, r, 5, 31, -1;",
    "shfl.sync.bfly.b32 r, r, 16, 31, -1;",
    "shfl.sync.bfly.b32 r|p, r, 1, 31, -1;",
    "shfl.sync.down.b32 r|p, r, 9, 31, -1;",
    "shfl.sync.down.b32 r, r, 4, 0x1807, -1;",
    "shfl.sync.up.b32 r|p, r, 1, 0, -1;",
    "shfl.sync.up.b32 r, r, 8, 0x1000, -1;",
    "shfl.sync.idx.b32 r, r, 7, 31, -1;",
    "shfl.sync.idx.b32 r, r, r, 31, -1;",
    "shfl.sync.down.b32 r, r, r, 31, -1;",
    "@p add.s32 r, r, i;",
    // Accesses: to a place of the thread's own, to what nobody writes, and side by side.
    "ld.global.b32 r, [%own + 0];",
    "ld.global.b32 r, [%own + 128];",
    "st.global.b32 [%own + 0], r;",
    "st.global.b32 [%own + 128], i;",
    "ld.global.b64 d, [%wide];",
    "st.global.b64 [%wide], d;",
    "ld.global.f32 r, [%same + 8];",
    "ld.global.v2.b32 {r, r}, [%same];",
    "ld.global.v4.f32 {r, r, r, r}, [%same + 16];",
    "ld.global.b64 d, [%same + 8];",
    "ld.global.v2.b32 {r, r}, [%pairs];",
    "ld.global.v4.b32 {r, r, r, r}, [%quads];",
    "ld.global.v4.b32 {r, r, r, r}, [%quads + 16];",
    "ld.global.u16 r, [%halves + 6];",
    "ld.global.s16 r, [%halves];",
    "ld.global.u8 r, [%bytes + 3];",
    "ld.global.s8 r, [%bytes];",
    "ld.global.s8 r, [%same + 5];",
    "ld.global.u16 r, [%same + 2];",
    "ld.global.b32 r, [%groups];",
    "ld.global.b32 r, [%rows + 4];",
    "ld.global.b32 r, [%apart];",
    "ld.shared.b32 r, [%sown];",
    "ld.shared.b32 r, [%sown + 512];",
    "st.shared.b32 [%sown], r;",
    "st.shared.b32 [%sown + 512], r;",
    "ld.shared.b32 r, [%scolumn + 2048];",
    "ld.shared.v4.b32 {r, r, r, r}, [%scolumn + 2048];",
    "ld.shared.v4.b32 {r, r, r, r}, [%squad + 2048];",
    "ld.shared.v2.b32 {r, r}, [%swide + 2048];",
    "ld.shared.s16 r, [%ssame + 1026];",
    "ld.shared.u8 r, [%ssame + 1027];",
    "ld.shared.b64 d, [%swide + 2048];",
    "st.shared.b64 [%swide + 2048], d;",
    "ld.shared.v2.f32 {r, r}, [%scolumn + 2048];",
    "ld.shared.v2.b32 {r, r}, [%ssame + 1024];",
    "st.shared.v2.b32 [%swide + 6400], {r, i};",
    "ld.shared.v2.b32 {r, r}, [%swide + 6400];",
    "st.shared.v2.b32 [%scolumn + 5120], {r, r};",
    "st.shared.b32 [%scolumn + 5120], r;",
    "st.shared.v4.b32 [%squad + 4096], {r, r, i, r};",
    "st.shared.v4.b32 [%scolumn + 5120], {r, r, r, r};",
    "ld.shared.v4.b32 {r, r, r, r}, [%scolumn + 5120];",
    "st.shared.b32 [%ssame + 7168], r;",
    "st.shared.v2.b32 [%ssame + 7168], {r, i};",
    "st.shared.v4.b32 [%sover + 7168], {r, r, r, r};",
    "st.shared.v2.b32 [%sover + 7168], {r, r};",
    "st.global.v2.b32 [%wide], {r, r};",
    "st.global.v4.b32 [%quadown], {r, r, i, r};",
    // Of which some bytes are not used, and of no register that is asked for.
    ".pragma \"used_bytes_mask 4095\"; ld.global.v4.f32 {r, r, r, %r39}, [%quads];",
    ".pragma \"used_bytes_mask 3855\"; ld.shared.v4.b32 {r, %r38, r, %r39}, [%squad + 2048];",
    ".pragma \"used_bytes_mask 15\"; ld.global.v2.b32 {r, %r39}, [%pairs];",
    "ld.shared.b32 r, [%ssame + 1024];",
    "ld.shared.v4.b32 {r, r, r, r}, [%ssame + 1024];",
];

const RELATIONS: &[&str] = &["eq", "ne", "lt", "le", "gt", "ge"];
const FLOATING: &[&str] = &["equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"];

const WORDS: &[u32] = &[
    0,
    1,
    2,
    31,
    32,
    33,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x3f80_0000,
    0xbf80_0000,
    0x0080_0000,
    0x8080_0000,
    0x007f_ffff,
    0x0000_0001,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x7f80_0001,
    0xffc1_2345,
    0x3f7f_ffff,
    0x4049_0fdb,
    0x1f80_0000,
    0x2000_0000,
    0x0100_0000,
    0x7f7f_ffff,
];

fn instruction(dice: &mut Dice) -> String {
    let form = match dice.below(FORMS.len() + 12) {
        at if at < FORMS.len() => FORMS[at].to_owned(),
        at if at < FORMS.len() + 6 => {
            let types = ["s32", "u32", "f32", "s16", "u16", "b16", "s64", "u64", "b64"];
            let ty: &str = dice.of(&types);
            let relation = if ty.starts_with('b') { dice.of(&RELATIONS[..2]) } else { dice.of(RELATIONS) };
            let operands = match &ty[1..] {
                "16" => "h, j",
                "64" => "d, g",
                _ if ty == "f32" => "r, f",
                _ => "r, i",
            };
            format!("setp.{relation}.{ty} p, {operands};")
        }
        _ => {
            let relations = if dice.below(2) == 0 { RELATIONS } else { FLOATING };
            format!("setp.{}.f32 p, r, r;", dice.of(relations))
        }
    };
    let mut text = String::new();
    let bytes = form.as_bytes();
    let single = |at: usize| {
        let beside = |at: Option<usize>| {
            at.and_then(|at| bytes.get(at)).is_none_or(|c| !c.is_ascii_alphanumeric() && !b"._%".contains(c))
        };
        beside(at.checked_sub(1)) && beside(Some(at + 1))
    };
    for (at, letter) in form.char_indices() {
        let number = |dice: &mut Dice| WORDS[dice.below(WORDS.len())];
        if !single(at) {
            text.push(letter);
            continue;
        }
        // Few registers, that what was written last is mostly asked for soon.
        let either = dice.below(2) == 0;
        match letter {
            'r' => write!(text, "%r{}", dice.below(6)),
            'd' => write!(text, "%d{}", dice.below(4)),
            'h' => write!(text, "%h{}", dice.below(3)),
            'p' => write!(text, "%p{}", dice.below(3)),
            'j' if either => write!(text, "%h{}", dice.below(3)),
            'j' => write!(text, "{}", number(dice) as i16),
            'i' | 'f' | 'g' if either => {
                let (kind, count) = if letter == 'g' { ('d', 4) } else { ('r', 6) };
                write!(text, "%{kind}{}", dice.below(count))
            }
            'i' => write!(text, "{}", number(dice) as i32),
            'f' => write!(text, "0f{:08x}", number(dice)),
            'g' => write!(text, "0d{:08x}{:08x}", number(dice), number(dice)),
            'n' => write!(text, "{}", [0, 1, 5, 31, 32, 63, 64, 100][dice.below(8)]),
            other => write!(text, "{other}"),
        }
        .expect("memory");
    }
    text
}

/// So many of them.
fn instructions(dice: &mut Dice, count: usize) -> Vec<String> {
    let mut all = Vec::new();
    for index in 0..count {
        all.push(instruction(dice));
        match dice.below(24) {
            0 => all.push("bar.sync 0;".to_owned()),
            1 => all.push(format!("@%p0 bra L{index};\n    add.s32 %r1, %r1, 3;\nL{index}:")),
            2 | 3 => all.push(ways(dice, index)),
            4 => all.push(inner_loop(dice, index)),
            6 | 7 => all.push(around(dice, &format!("AROUND{index}"), 3)),
            5 if dice.below(8) == 0 => {
                let condition = condition(dice);
                all.push(format!("{condition}\n    @!%p3 bra ON{index};\n    exit;\nON{index}:"));
            }
            _ => {}
        }
    }
    all
}

/// A condition in `%p3` that is the same in all lanes, or in those of a warp, or is not.
fn condition(dice: &mut Dice) -> String {
    match dice.below(5) {
        0 => "setp.lt.u32 %p3, %r21, 1;".to_owned(),
        1 => "setp.ne.u32 %p3, %r10, 0;".to_owned(),
        2 => "setp.lt.u32 %p3, %r12, 32;".to_owned(),
        3 => format!("setp.lt.u32 %p3, %r12, {};", dice.below(65)),
        _ => instruction(dice) + "\nxor.b32 %r27, %r12, %r21;\nand.b32 %r27, %r27, 1;\nsetp.eq.u32 %p3, %r27, 0;",
    }
}

/// Up to three of them.
fn few(dice: &mut Dice) -> String {
    (0..dice.below(4)).map(|_| format!("    {}\n", instruction(dice))).collect()
}

/// Two ways that lanes may go, and a place where they meet.
fn ways(dice: &mut Dice, index: usize) -> String {
    let (condition, not) = (condition(dice), dice.of(&["", "!"]));
    let meet = match dice.below(4) {
        // All threads of a block, if they all come here.
        0 if condition.contains("%r21, 1") || condition.contains("%r10, 0") => "    bar.sync 0;\n",
        _ => "",
    };
    let (one, other) = (few(dice), few(dice));
    let skip = if dice.below(3) == 0 { String::new() } else { format!("    bra END{index};\n") };
    format!("{condition}\n    @{not}%p3 bra ELSE{index};\n{one}{meet}{skip}ELSE{index}:\n{other}END{index}:")
}

/// A branch around instructions, or between two ways, in which such branches are, to the same place or to one before it.
fn around(dice: &mut Dice, name: &str, deep: usize) -> String {
    let not = dice.of(&["", "!"]);
    if dice.below(3) == 0 {
        let (condition, one, other) = (
            condition(dice),
            within(dice, &format!("{name}_one"), name, deep),
            within(dice, &format!("{name}_other"), name, deep),
        );
        return format!(
            "{condition}\n    @{not}%p3 bra {name}_ELSE;\n{one}    bra {name};\n{name}_ELSE:\n{other}{name}:"
        );
    }
    let (condition, body) = (condition(dice), within(dice, &format!("{name}_in"), name, deep));
    format!("{condition}\n    @{not}%p3 bra {name};\n{body}{name}:")
}

fn within(dice: &mut Dice, name: &str, end: &str, deep: usize) -> String {
    let mut text = few(dice);
    for way in 0..dice.below(3) {
        text += &match dice.below(3) {
            0 if deep > 0 => around(dice, &format!("{name}{way}"), deep - 1) + "\n",
            1 => format!("{}\n    @{}%p3 bra {end};\n", condition(dice), dice.of(&["", "!"])),
            _ => format!("    @{}%p{} bra {end};\n", dice.of(&["", "!"]), dice.below(3)),
        };
        text += &few(dice);
    }
    text
}

/// A loop of as many rounds for all lanes, or not.
fn inner_loop(dice: &mut Dice, index: usize) -> String {
    let rounds = match dice.below(3) {
        0 => "mov.u32 %r29, 3;",
        1 => "shr.u32 %r29, %r12, 5;",
        _ => "and.b32 %r29, %r12, 3;",
    };
    let (body, more) = (few(dice), few(dice));
    format!(
        "mov.u32 %r28, 0;\n    {rounds}\nIN{index}:\n{body}    setp.eq.u32 %p3, %r28, 1;\n    @%p3 bra OVER{index};\n{more}\
         OVER{index}:\n    add.u32 %r28, %r28, 1;\n    setp.lt.u32 %p3, %r28, %r29;\n    @%p3 bra IN{index};"
    )
}

/// How shared memory begins: all of it written by a loop, or a part of it, or the same line by line, which shows that no two
/// threads meet there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Begin {
    Loop(u32),
    Lines(u32),
}

/// A kernel that goes three times round such instructions.
fn kernel(instructions: &[String], begin: Begin) -> String {
    // Where others read nobody writes then.
    let meets = |text: &str| ["st.shared.b64", "+ 7168"].iter().any(|part| text.contains(part));
    let clear = |text: &&String| matches!(begin, Begin::Loop(_)) || !meets(text);
    let instructions: Vec<&String> = instructions.iter().filter(clear).collect();
    let begin = match begin {
        Begin::Loop(words) => format!(
            "mov.u32 %r19, %r12;\nZERO:\nshl.b32 %r20, %r19, 2;\nadd.u32 %r20, %ssame, %r20;\n\
             st.shared.u32 [%r20], %r19;\nadd.u32 %r19, %r19, %r11;\nsetp.lt.u32 %p4, %r19, {words};\n@%p4 bra ZERO;\n"
        ),
        Begin::Lines(words) => {
            (0..words / 64).map(|line| format!("st.shared.u32 [%sown + {}], %r12;\n", 256 * line)).collect()
        }
    };
    let body: String = instructions.iter().map(|instruction| format!("    {instruction}\n")).collect();
    let mut first = String::new();
    for register in 0..6 {
        writeln!(first, "    ld.global.b32 %r{register}, [%own + {}];", 4096 * register).expect("memory");
    }
    for register in 0..4 {
        writeln!(first, "    ld.global.b64 %d{register}, [%wide + {}];", 8192 * register).expect("memory");
    }
    let mut last = String::new();
    for register in 0..6 {
        writeln!(last, "    st.global.b32 [%out + {}], %r{register};", 4096 * register).expect("memory");
    }
    for register in 0..4 {
        writeln!(last, "    st.global.b64 [%outwide + {}], %d{register};", 8192 * register).expect("memory");
    }
    for register in 0..3 {
        writeln!(first, "    cvt.u16.u32 %h{register}, %r{register};").expect("memory");
        writeln!(
            last,
            "    cvt.u32.u16 %r0, %h{register};\n    st.global.b32 [%out + {}], %r0;",
            36864 + 4096 * register
        )
        .expect("memory");
    }
    for predicate in 0..3 {
        writeln!(
            last,
            "    selp.u32 %r0, 1, 0, %p{predicate};\n    st.global.b32 [%out + {}], %r0;",
            24576 + 4096 * predicate
        )
        .expect("memory");
    }
    format!(
        ".version 8.7\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 w, .param .u64 same, \
         .param .u64 out, .param .u64 outwide, .param .u32 n)\n{{\n.reg .pred %p<6>;\n.reg .b32 %r<40>;\n.reg .b16 %h<3>;\n.reg .b64 %d<40>;\n\
         .reg .b64 %own, %wide, %quads, %halves, %bytes, %same, %pairs, %groups, %rows, %apart, %out, %outwide, %quadown;\n.reg .b32 %sown, %swide, %ssame, %scolumn, %squad, %sover;\n\
         .shared .align 16 .b8 tile[8192];\n\
         mov.u32 %r10, %ctaid.x;\nmov.u32 %r11, %ntid.x;\nmov.u32 %r12, %tid.x;\nmad.lo.u32 %r13, %r10, %r11, %r12;\n\
         ld.param.u32 %r14, [n];\nsetp.ge.u32 %p4, %r13, %r14;\n@%p4 ret;\n\
         ld.param.u64 %d10, [a];\nmul.wide.u32 %d11, %r13, 4;\nadd.u64 %own, %d10, %d11;\n\
         ld.param.u64 %d12, [w];\nmul.wide.u32 %d13, %r13, 8;\nadd.u64 %wide, %d12, %d13;\n\
         ld.param.u64 %same, [same];\nadd.u64 %pairs, %same, %d13;\n\
         mul.wide.u32 %d19, %r13, 16;\nadd.u64 %quads, %same, %d19;\nmul.wide.u32 %d20, %r13, 2;\nadd.u64 %halves, %same, %d20;\n\
         cvt.u64.u32 %d21, %r13;\nadd.u64 %bytes, %same, %d21;\n\
         shr.u32 %r15, %r12, 3;\nmul.wide.u32 %d14, %r15, 4;\nadd.u64 %groups, %same, %d14;\n\
         and.b32 %r16, %r12, 15;\nmad.lo.u32 %r16, %r15, 40, %r16;\nmul.wide.u32 %d15, %r16, 4;\nadd.u64 %rows, %same, %d15;\n\
         mul.wide.u32 %d16, %r12, 36;\nadd.u64 %apart, %same, %d16;\n\
         ld.param.u64 %d17, [out];\nadd.u64 %out, %d17, %d11;\nld.param.u64 %d18, [outwide];\nadd.u64 %outwide, %d18, %d13;\n\
         mov.u32 %ssame, tile;\nshl.b32 %r17, %r12, 2;\nadd.u32 %sown, %ssame, %r17;\nshl.b32 %r18, %r12, 3;\nadd.u32 %swide, %ssame, %r18;\n\
         and.b32 %r22, %r12, 7;\nmul.lo.u32 %r23, %r22, 144;\nshr.u32 %r24, %r12, 3;\nshl.b32 %r24, %r24, 4;\nadd.u32 %r23, %r23, %r24;\n\
         add.u32 %scolumn, %ssame, %r23;\nshl.b32 %r25, %r12, 4;\nadd.u32 %squad, %ssame, %r25;\n\
         and.b32 %r26, %r12, 15;\nshl.b32 %r26, %r26, 4;\nadd.u32 %sover, %ssame, %r26;\nadd.u64 %quadown, %d12, %d19;\nadd.u64 %quadown, %quadown, 32768;\n\
         {begin}bar.sync 0;\nmov.u32 %r36, -1;\n\
         setp.eq.u32 %p0, %r12, 3;\nsetp.lt.u32 %p1, %r12, 40;\nsetp.ne.u32 %p2, %r12, %r12;\n\
         {first}    mov.u32 %r21, 0;\nROUND:\n{body}    add.u32 %r21, %r21, 1;\nsetp.lt.u32 %p5, %r21, 3;\n@%p5 bra ROUND;\n{last}    ret;\n}}\n"
    )
}

/// What a launch leaves behind.
fn results(text: &str, options: &Options, seed: u64, threads: u32) -> (Vec<u8>, String, u64) {
    let module = load(text);
    let mut memory = memory();
    let mut dice = Dice(seed | 1);
    let mut fill = |memory: &mut ptx_emulator::Memory, name: &str, words: usize| {
        let address = memory.alloc(name, 4 * words as u64).expect("fits");
        let value = |dice: &mut Dice| {
            if dice.below(3) == 0 { WORDS[dice.below(WORDS.len())] } else { dice.below(1 << 32) as u32 }
        };
        let bytes: Vec<u8> = (0..words).flat_map(|_| value(&mut dice).to_le_bytes()).collect();
        memory.write(address, &bytes).expect("inside");
        address
    };
    let (a, w) = (fill(&mut memory, "a", 8192), fill(&mut memory, "w", 16384));
    let same = fill(&mut memory, "same", 16384);
    let (out, outwide) = (fill(&mut memory, "out", 16384), fill(&mut memory, "outwide", 16384));
    let launch = Launch::new("k", [threads.div_ceil(64), 1, 1], [64, 1, 1]);
    let launch = launch.arg_u64(a).arg_u64(w).arg_u64(same).arg_u64(out).arg_u64(outwide).arg_u32(threads);
    let outcome = ptx_emulator::launch(&module, &mut memory, &launch, options, &AtomicBool::new(false));
    let mut all = Vec::new();
    for (address, words) in [(a, 8192), (w, 16384), (same, 16384), (out, 16384), (outwide, 16384)] {
        let mut bytes = vec![0; 4 * words];
        memory.read(address, &mut bytes).expect("inside");
        all.extend(bytes);
    }
    (all, format!("{:?}{:?}{:?}", outcome.faults, outcome.counters, outcome.lines), outcome.executed)
}

fn compare(seed: u64) {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let count = 10 + dice.below(50);
    let mut instructions = instructions(&mut dice, count);
    let ways = [
        Options::unchecked(),
        Options { checks: Checks::NONE, ..Options::default() },
        Options { counters: false, line_counters: false, ..Options::default() },
        Options::default(),
    ];
    let way = Options { workers: 1, ..ways[dice.below(ways.len())].clone() };
    let threads = [64, 128, 200, 256][dice.below(4)];
    let begins = [Begin::Loop(2048), Begin::Loop(1200), Begin::Lines(2048), Begin::Lines(1200)];
    let begin = begins[dice.below(begins.len())];
    let without = Fast { machine_code: false, ..Fast::ALL };
    let differ = |instructions: &[String]| {
        let text = kernel(instructions, begin);
        let [with, without] =
            [Fast::ALL, without].map(|fast| results(&text, &Options { fast, ..way.clone() }, seed, threads));
        // The first word that differs, and what it is.
        let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight"));
        let words = with.0.chunks_exact(8).map(word).zip(without.0.chunks_exact(8).map(word));
        let first = words.enumerate().find(|(_, (with, without))| with != without);
        let first = first.map(|(at, (with, without))| format!("{at}: {with:#x} {without:#x}"));
        let told = (with.1 != without.1 || with.2 != without.2).then(|| format!("{}\n{}", with.1, without.1));
        (first.is_some() || told.is_some()).then_some((first, told))
    };
    if differ(&instructions).is_some() {
        // What does not matter is left out of what is told.
        let mut at = 0;
        while at < instructions.len() {
            let left = [&instructions[..at], &instructions[at + 1..]].concat();
            if differ(&left).is_some() { instructions = left } else { at += 1 }
        }
        panic!(
            "program {seed}, {threads} threads, {begin:?}: {:?}\n{}",
            differ(&instructions),
            instructions.join("\n")
        );
    }
}

#[test]
fn random_programs_give_the_same() {
    let from = std::env::var("MACHINE_FIRST").ok().and_then(|first| first.parse().ok()).unwrap_or(0);
    let count = std::env::var("MACHINE_PROGRAMS").ok().and_then(|count| count.parse().ok()).unwrap_or(1500);
    (from..from + count).for_each(compare);
}

/// Every template is one of those, and there is no form that stands for none but those between.
#[test]
fn every_template_is_tried() {
    let mut dice = Dice(1);
    let mut found = std::collections::BTreeSet::new();
    for _ in 0..400 {
        let text = kernel(&instructions(&mut dice, 60), Begin::Loop(2048));
        found.extend(ptx_emulator::inside::exec::templates(&load(&text)));
    }
    let source = include_str!("../src/exec/template.rs");
    let names = |start: &str| {
        let body = source.split(start).nth(1).and_then(|rest| rest.split("\n}").next()).expect("the list");
        let names = body.lines().map(str::trim).filter(|line| !line.starts_with("//"));
        names.filter_map(|line| line.strip_suffix(',')).map(str::to_owned).collect::<Vec<_>>()
    };
    let (all, relations) = (names("pub enum Native {"), names("pub enum Relation {"));
    assert!(all.len() > 50 && relations.len() == 14);
    for name in all {
        match name.strip_suffix("(Relation)") {
            // The last eight are of floats only.
            Some(set) => {
                let some = if set == "SetF32" { &relations[..] } else { &relations[..6] };
                for relation in some {
                    assert!(found.contains(&format!("{set}({relation})")), "{set}({relation})");
                }
            }
            None => assert!(found.contains(&name), "{name}"),
        }
    }
}
