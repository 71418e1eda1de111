//! Accesses of every width, by any lanes, lying in any way: the short ways must count and find what a look at each lane counts
//! and finds, which is what a trace asks for.

mod common;

use std::fmt::Write;

use common::{download_u32, load, memory, run_clean, run_with, upload_u32};
use ptx_emulator::{FaultKind, Launch, Options, Outcome, TraceRequest};

const BYTES: u32 = 2048;

/// Well-mixed numbers.
struct Dice(u32);

impl Dice {
    fn roll(&mut self, below: u32) -> u32 {
        self.0 = self.0.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
        let word = (self.0 >> ((self.0 >> 28) + 4) ^ self.0).wrapping_mul(277_803_737);
        (word >> 22 ^ word) % below
    }

    fn bits(&mut self) -> u32 {
        self.roll(1 << 16) << 16 | self.roll(1 << 16)
    }
}

/// `%r7` becomes the place of a thread's access of `width` bytes; `%r1` is the thread, `%r2` its lane, `%r3` its warp.
/// With `beyond` it goes on from one time to the next, past the end in the end.
fn place(dice: &mut Dice, width: u32, beyond: bool) -> String {
    let factor = dice.roll(9);
    let index = match dice.roll(12) {
        0 => "mov.u32 %r7, 3;".to_owned(),
        1 | 2 => "mov.u32 %r7, %r1;".to_owned(),
        3 => "mov.u32 %r7, %r2;".to_owned(),
        4 => "and.b32 %r7, %r2, 15;".to_owned(),
        5 => "shr.u32 %r7, %r1, 4;".to_owned(),
        6 => format!("and.b32 %r7, %r2, 15; mul.lo.u32 %r7, %r7, {factor};"),
        7 => format!("mul.lo.u32 %r7, %r1, {factor};"),
        8 => format!("xor.b32 %r7, %r1, {};", 1 << dice.roll(6)),
        9 => format!("mul.lo.u32 %r7, %r1, {}; shr.u32 %r7, %r7, {};", dice.bits() | 1, 24 + dice.roll(4)),
        10 => format!("sub.u32 %r7, {}, %r1;", 63 + factor),
        // As the butterflies of a Fourier transform.
        _ => {
            let half = dice.roll(5);
            let low = (1 << half) - 1;
            format!("and.b32 %r7, %r1, {low}; sub.u32 %r6, %r1, %r7; mad.lo.u32 %r7, %r6, 2, %r7;")
        }
    };
    let shift = format!("add.u32 %r7, %r7, {};", if dice.roll(3) == 0 { dice.roll(9) } else { 0 });
    // What goes round differs from one time to the next in the steps that move.
    let moved = if dice.roll(4) == 0 { "mad.lo.u32 %r7, %r4, 32, %r7;" } else { "" };
    if beyond {
        return format!("{index} and.b32 %r7, %r7, 127; mad.lo.u32 %r7, %r4, 5, %r7; mul.lo.u32 %r7, %r7, {width};");
    }
    format!("{index} {shift} {moved} mul.lo.u32 %r7, %r7, {width}; and.b32 %r7, %r7, {};", BYTES - width)
}

/// Two warps that access `space` in steps of any kind, all of them several times; no access is narrower than `least`.
fn steps(seed: u32, least: u32, space: &str, beyond: bool) -> String {
    let (array, address) = match space {
        "shared" => ("mov.u32 %r6, sh; add.u32 %r7, %r7, %r6;", "%r7"),
        _ => ("cvt.u64.u32 %rd7, %r7; add.u64 %rd7, %rd7, %rd3;", "%rd7"),
    };
    let dice = &mut Dice(seed);
    let mut body = String::new();
    for _ in 0..16 {
        let width = least << dice.roll(5 - least.ilog2());
        let (form, load, store) = match (width, dice.roll(2)) {
            (1, _) => ("u8", "%h1".to_owned(), "%h2".to_owned()),
            (2, _) => ("u16", "%h1".to_owned(), "%h2".to_owned()),
            (4, _) => ("u32", "%r9".to_owned(), "%r1".to_owned()),
            (8, 0) => ("u64", "%rd9".to_owned(), "%rd5".to_owned()),
            (8, _) => ("v2.u32", "{%r9, %r10}".to_owned(), "{%r1, %r4}".to_owned()),
            _ => ("v4.u32", "{%r9, %r10, %r11, %r12}".to_owned(), "{%r1, %r4, %r2, %r3}".to_owned()),
        };
        let mask = match dice.roll(8) {
            0 => u32::MAX >> dice.roll(31),
            1 => u32::MAX << dice.roll(31),
            2 => dice.bits() | 1 << dice.roll(32),
            3 => 0x5555_5555 << dice.roll(2),
            4 => 1 << dice.roll(32),
            _ => u32::MAX,
        };
        let place = place(dice, width, beyond);
        // Of those that run other lanes each time, as where a comparison of data decides.
        let turned = if dice.roll(5) == 0 { "shf.l.wrap.b32 %r8, %r8, %r8, %r4;" } else { "" };
        let guard = format!("mov.b32 %r8, {mask}; {turned} shr.u32 %r8, %r8, %r2; and.b32 %r8, %r8, 1;");
        let what = match dice.roll(10) {
            0..=3 => format!("@%p1 ld.{space}.{form} {load}, [{address}];\n    mad.lo.u32 %r13, %r13, 5, %r9;"),
            4 | 5 => format!("@%p1 st.{space}.{form} [{address}], {store};"),
            6..=8 => "bar.sync 0;".to_owned(),
            _ => "bar.warp.sync -1;".to_owned(),
        };
        body += &format!("    {place} {array}\n    {guard} setp.ne.u32 %p1, %r8, 0;\n    {what}\n");
    }
    let rounds = if beyond { 9 } else { 3 };
    format!(
        "
.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 data)
{{
    .reg .pred %p<4>;
    .reg .b16 %h<4>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<16>;
    .shared .align 16 .b8 sh[{BYTES}];
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd3, [data];
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 31;
    shr.u32 %r3, %r1, 5;
    shl.b32 %r5, %r1, 5;
    mov.u32 %r6, sh;
    add.u32 %r6, %r6, %r5;
    st.shared.v4.u32 [%r6], {{%r5, %r5, %r5, %r5}};
    st.shared.v4.u32 [%r6+16], {{%r5, %r5, %r5, %r5}};
    mov.u64 %rd5, 77;
    cvt.u16.u32 %h2, %r1;
    mov.u32 %r9, 0;
    mov.u32 %r13, 0;
    mov.u32 %r4, 0;
    bar.sync 0;
$again:
{body}
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p2, %r4, {rounds};
    @%p2 bra.uni $again;
    mul.wide.u32 %rd2, %r1, 4;
    add.s64 %rd2, %rd1, %rd2;
    st.global.u32 [%rd2], %r13;
    ret;
}}"
    )
}

/// What a launch of it says on both ways, and what it leaves.
fn ways(text: &str) -> [(Outcome, Vec<u32>); 3] {
    let module = load(text);
    let short = Options { deterministic: true, max_faults: 1000, ..Options::default() };
    let request = TraceRequest { blocks: vec![0], warps: Vec::new(), max_bytes: 1 << 20 };
    let long = Options { trace: Some(request), ..short.clone() };
    [short, long, Options::unchecked()].map(|options| {
        let mut memory = memory();
        let out = upload_u32(&mut memory, "out", &[1; 64]);
        // The last part has no values yet.
        let data = memory.alloc("data", BYTES.into()).expect("fits");
        memory.write(data, &[3; BYTES as usize * 7 / 8]).expect("inside");
        let launch = Launch::new("k", [1, 1, 1], [64, 1, 1]).arg_u64(out).arg_u64(data);
        let outcome = run_with(&module, &mut memory, &launch, &options);
        (Outcome { trace: None, ..outcome }, download_u32(&memory, out, 64))
    })
}

#[test]
fn every_way_finds_the_same() {
    for (space, seeds) in [("shared", 1200), ("global", 600)] {
        let (mut clean, mut found) = (0, 0);
        for seed in 0..seeds {
            let [short, long, unchecked] = ways(&steps(seed, 1 << (seed % 3), space, false));
            assert!(short.0.completed, "{space} {seed}");
            assert_eq!(short, long, "{space} {seed}");
            if space == "shared" {
                assert_eq!(unchecked.1, long.1, "{seed}");
            }
            if short.0.faults.is_empty() { clean += 1 } else { found += 1 }
        }
        assert!(clean > 10 && found > 100, "{space}: {clean} {found}");
    }
}

#[test]
fn every_way_finds_the_same_end() {
    let mut beyond = 0;
    for space in ["shared", "global"] {
        for seed in 0..300 {
            let [short, long, unchecked] = ways(&steps(seed, 1 << (seed % 3), space, true));
            assert_eq!(short, long, "{space} {seed}");
            let out = |outcome: &Outcome| outcome.faults.iter().any(|fault| fault.kind == FaultKind::OutOfBounds);
            assert_eq!(out(&short.0), out(&unchecked.0), "{space} {seed}");
            beyond += u32::from(out(&short.0));
        }
    }
    assert!((100..600).contains(&beyond), "{beyond}");
}

/// Each access remembers which array it met last, 64 accesses in turn in one place each; what an access to shared memory
/// left there says nothing about global memory, where there may be fewer arrays.
#[test]
fn more_shared_arrays_than_global_ones() {
    let mut body = String::new();
    for site in 0..64 {
        let _ = writeln!(body, "st.shared.u32 [s3+{}], %r1;", 4 * site);
    }
    for site in 0..64 {
        let _ = writeln!(body, "st.global.u32 [%rd1+{}], %r1;", 4 * site);
    }
    let arrays: String = (0..4).map(|index| format!(".shared .align 4 .b8 s{index}[256];\n")).collect();
    let module = load(&format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n{arrays}.visible .entry k(.param .u64 out)\n{{\n\
         .reg .b32 %r<2>;\n.reg .b64 %rd<2>;\nld.param.u64 %rd1, [out];\nmov.u32 %r1, 7;\n\
         mov.u32 %r0, %tid.x;\nst.shared.u32 [s0], %r0;\nst.shared.u32 [s1], %r0;\nst.shared.u32 [s2], %r0;\n{body}ret;\n}}\n"
    ));
    let mut memory = memory();
    let out = memory.alloc("out", 256).expect("fits");
    run_clean(&module, &mut memory, &Launch::new("k", [1, 1, 1], [1, 1, 1]).arg_u64(out));
    assert_eq!(download_u32(&memory, out, 64), [7; 64]);
}
