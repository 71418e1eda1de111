//! Atomics take short ways by how their words lie. Whatever the way: memory, results, counters and what is found must be
//! those of the long one, which a trace makes every access take, and memory must be what one lane after the other makes of
//! it.

mod common;

use common::{download_u32, load, memory, run_with, upload_u32};
use ptx_emulator::{Fast, Launch, Options, Outcome};

const WORDS: usize = 1024;
const ROUNDS: usize = 8;

/// A number in no order.
fn mixed(seed: u32) -> u32 {
    let x = seed.wrapping_mul(0x9e37_79b1) ^ 0x85eb_ca6b;
    let x = (x ^ x >> 15).wrapping_mul(0x2c1b_3c6d);
    x ^ x >> 13
}

/// Where a lane's word of a round lies, in words of its size, and whether the lane takes part.
fn place(round: usize, lane: u32, last: u32) -> (u32, bool) {
    let any = mixed(round as u32 * 64 + lane) % (last + 1);
    match round {
        0 => (last, true),
        1 => (lane + 5, true),
        2 => (any, true),
        3 => (any % 6, true),
        4 => (lane * 8, true),
        5 => (any, !lane.is_multiple_of(3)),
        6 => (7, (4..9).contains(&lane)),
        _ => (31 - lane, lane != 17),
    }
}

fn operand(round: usize, lane: u32, float: bool) -> u64 {
    let any = mixed(9999 + round as u32 * 64 + lane);
    if float {
        // Halves, large ones, zeros of both signs, and now and then a subnormal, an infinity or a NaN.
        return match any % 40 {
            0 if round > 5 => 0x7f80_0000,
            1 if round > 5 => 0x7fc0_1234,
            2 if round > 3 => 0x0000_4321,
            3 => 0x8000_0000,
            _ => u64::from((any as f32 / 64.0 - 1000.0).to_bits()),
        };
    }
    u64::from(any % 7) | u64::from(any & 1) << 33
}

/// One atomic in rounds by one warp: operands, the numbers of words and results go by way of memory.
fn kernel(space: &str, form: &str, bits: u32, swaps: bool, returns: bool) -> String {
    let ty = if bits == 64 { "b64" } else { "b32" };
    let (data, index) = if bits == 64 { ("%rd10", "%rd11") } else { ("%r10", "%r11") };
    let old = if bits == 64 { "%rd12" } else { "%r12" };
    let (bytes, shift) = (bits / 8, bits.trailing_zeros() - 3);
    let compared = if swaps { format!(", {index}") } else { String::new() };
    let (name, result) = if returns { ("atom", format!("{old}, ")) } else { ("red", String::new()) };
    let address = if space == "shared" { "%r8" } else { "%rd8" };
    let own = if space == "shared" {
        "mov.u32 %r8, sh; add.u32 %r8, %r8, %r7;"
    } else {
        "cvt.u64.u32 %rd8, %r7; add.s64 %rd8, %rd8, %rd1;"
    };
    format!(
        "
.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 memory, .param .u64 places, .param .u64 operands, .param .u64 results)
{{
    .reg .pred %p<4>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<16>;
    .shared .align 8 .b8 sh[{all}];
    ld.param.u64 %rd1, [memory];
    ld.param.u64 %rd2, [places];
    ld.param.u64 %rd3, [operands];
    ld.param.u64 %rd4, [results];
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    cvt.u64.u32 %rd5, %r2;
    mov.u32 %r3, 0;
$fill:
    add.u32 %r4, %r2, %r3;
    cvt.u64.u32 %rd6, %r4;
    add.s64 %rd6, %rd6, %rd1;
    ld.global.u32 %r5, [%rd6];
    mov.u32 %r6, sh;
    add.u32 %r6, %r6, %r4;
    st.shared.u32 [%r6], %r5;
    add.u32 %r3, %r3, 128;
    setp.lt.u32 %p1, %r3, {all};
    @%p1 bra $fill;
    bar.sync 0;
    add.s64 %rd2, %rd2, %rd5;
    shl.b64 %rd7, %rd5, {wide};
    add.s64 %rd3, %rd3, %rd7;
    add.s64 %rd4, %rd4, %rd7;
    mov.u32 %r3, 0;
$round:
    ld.global.u32 %r7, [%rd2];
    setp.lt.s32 %p2, %r7, 0;
    and.b32 %r7, %r7, 0x7fffffff;
    shl.b32 %r7, %r7, {shift};
    {own}
    ld.global.{ty} {data}, [%rd3];
    xor.{ty} {index}, {data}, 1;
    mov.{ty} {old}, 0;
    @!%p2 {name}.{space}.{form} {result}[{address}], {data}{compared};
    st.global.{ty} [%rd4], {old};
    add.s64 %rd2, %rd2, 128;
    add.s64 %rd3, %rd3, {row};
    add.s64 %rd4, %rd4, {row};
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p1, %r3, {ROUNDS};
    @%p1 bra $round;
    bar.sync 0;
    mov.u32 %r3, 0;
$back:
    add.u32 %r4, %r2, %r3;
    cvt.u64.u32 %rd6, %r4;
    add.s64 %rd6, %rd6, %rd1;
    mov.u32 %r6, sh;
    add.u32 %r6, %r6, %r4;
    ld.shared.u32 %r5, [%r6];
    {back}
    add.u32 %r3, %r3, 128;
    setp.lt.u32 %p1, %r3, {all};
    @%p1 bra $back;
    ret;
}}",
        all = 4 * WORDS,
        wide = bits / 32 - 1,
        row = 32 * bytes,
        back = if space == "shared" { "st.global.u32 [%rd6], %r5;" } else { "" },
    )
}

/// The next value of a word, for words of 32 and 64 bits.
fn next(form: &str, outside: bool, old: u64, b: u64) -> u64 {
    let float = |bits: u64| f32::from_bits(bits as u32);
    let flushed = |x: f32| if outside && x.is_subnormal() { 0.0f32.copysign(x) } else { x };
    let small = |value: u32| u64::from(value);
    match form {
        "add.u32" => small((old as u32).wrapping_add(b as u32)),
        "max.s32" => small((old as i32).max(b as i32) as u32),
        "min.u32" => small((old as u32).min(b as u32)),
        "and.b32" | "and.b64" => old & b,
        "or.b32" | "or.b64" => old | b,
        "xor.b32" | "xor.b64" => old ^ b,
        "exch.b32" | "exch.b64" => b,
        "inc.u32" => small(if old as u32 >= b as u32 { 0 } else { old as u32 + 1 }),
        "dec.u32" => small(if old as u32 == 0 || old as u32 > b as u32 { b as u32 } else { old as u32 - 1 }),
        "cas.b32" | "cas.b64" => old ^ u64::from(old == b),
        "add.u64" => old.wrapping_add(b),
        "max.u64" => old.max(b),
        "min.s64" => (old as i64).min(b as i64) as u64,
        "add.f32" => {
            let sum = flushed(flushed(float(old)) + flushed(float(b)));
            small(if sum.is_nan() { 0x7fff_ffff } else { sum.to_bits() })
        }
        "add.f64" => {
            let (x, y) = (f64::from_bits(old), f64::from_bits(b));
            if x.is_nan() && outside { old } else { (x + y).to_bits() }
        }
        _ => unreachable!("{form}"),
    }
}

const FORMS: &[&str] = &[
    "add.u32", "max.s32", "min.u32", "and.b32", "or.b32", "xor.b32", "exch.b32", "inc.u32", "dec.u32", "cas.b32",
    "add.u64", "max.u64", "min.s64", "and.b64", "or.b64", "xor.b64", "exch.b64", "cas.b64", "add.f32", "add.f64",
];

#[test]
fn every_way_gives_what_lanes_one_after_the_other_give() {
    let long = Options { workers: 1, fast: Fast::NONE, ..Options::default() };
    let ways = [Options { workers: 1, ..Options::default() }, Options { workers: 1, ..Options::unchecked() }, long];
    for form in FORMS {
        let bits = if form.ends_with("64") { 64 } else { 32 };
        let float = form.contains(".f");
        for (space, returns) in [("shared", true), ("shared", false), ("global", true), ("global", false)] {
            let swaps = form.starts_with("cas");
            if !returns && (swaps || form.starts_with("exch")) {
                continue;
            }
            let module = load(&kernel(space, form, bits, swaps, returns));
            let begin: Vec<u32> = (0..WORDS as u32).map(|i| if float { 0 } else { mixed(i) % 9 }).collect();
            let last = (WORDS as u32 * 32 / bits) - 1;
            let mut expected = begin.clone();
            let (mut places, mut operands, mut results) = (Vec::new(), Vec::new(), Vec::new());
            let put = |list: &mut Vec<u32>, value: u64| {
                list.extend([value as u32, (value >> 32) as u32].iter().take(bits as usize / 32));
            };
            for round in 0..ROUNDS {
                for lane in 0..32 {
                    let (word, takes_part) = place(round, lane, last);
                    places.push(word | u32::from(!takes_part) << 31);
                    let mut b = operand(round, lane, float);
                    if *form == "add.f64" {
                        b = f64::from(f32::from_bits(b as u32)).to_bits();
                    } else if bits == 32 {
                        b &= 0xffff_ffff;
                    }
                    put(&mut operands, b);
                    let at = (word * bits / 32) as usize;
                    let mut old = u64::from(expected[at]);
                    if bits == 64 {
                        old |= u64::from(expected[at + 1]) << 32;
                    }
                    put(&mut results, if takes_part && returns { old } else { 0 });
                    if takes_part {
                        let new = next(form, space == "global", old, b);
                        expected[at] = new as u32;
                        if bits == 64 {
                            expected[at + 1] = (new >> 32) as u32;
                        }
                    }
                }
            }
            let mut outcomes: Vec<Outcome> = Vec::new();
            for options in &ways {
                let mut memory = memory();
                let [data, at, b, old] =
                    [("data", &begin), ("places", &places), ("operands", &operands), ("old", &results)]
                        .map(|(name, values)| upload_u32(&mut memory, name, values));
                let launch = Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(data).arg_u64(at).arg_u64(b).arg_u64(old);
                let outcome = run_with(&module, &mut memory, &launch, options);
                assert!(outcome.completed && outcome.faults.is_empty(), "{space} {form}: {:#?}", outcome.faults);
                assert_eq!(download_u32(&memory, data, WORDS), expected, "memory: {space} {form} {returns}");
                assert_eq!(download_u32(&memory, old, results.len()), results, "results: {space} {form}");
                outcomes.push(Outcome { trace: None, ..outcome });
            }
            assert_eq!(outcomes[0], outcomes[2], "{space} {form}");
        }
    }
}

/// Words anywhere are loaded and stored, in shared and in global memory, by all lanes and by some.
#[test]
fn words_anywhere_are_loaded_and_stored() {
    let module = load(
        "
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 from, .param .u64 to, .param .u64 places, .param .u32 lanes)
{
    .reg .pred %p<3>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<12>;
    .shared .align 4 .b8 sh[4096];
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [to];
    ld.param.u64 %rd3, [places];
    ld.param.u32 %r1, [lanes];
    mov.u32 %r2, %tid.x;
    shr.u32 %r3, %r1, %r2;
    and.b32 %r3, %r3, 1;
    setp.ne.u32 %p1, %r3, 0;
    mul.wide.u32 %rd4, %r2, 4;
    add.s64 %rd5, %rd3, %rd4;
    ld.global.u32 %r4, [%rd5];
    cvt.u64.u32 %rd6, %r4;
    add.s64 %rd7, %rd1, %rd6;
    mov.u32 %r7, 0;
    @%p1 ld.global.u32 %r7, [%rd7];
    mov.u32 %r5, sh;
    add.u32 %r5, %r5, %r4;
    @%p1 st.shared.u32 [%r5], %r7;
    mov.u32 %r8, 0;
    @%p1 ld.shared.u32 %r8, [%r5];
    add.s64 %rd8, %rd2, %rd6;
    add.u32 %r8, %r8, 1;
    @%p1 st.global.u32 [%rd8], %r8;
    ret;
}",
    );
    let short = Options { workers: 1, ..Options::default() };
    let long = Options { fast: Fast::NONE, ..short.clone() };
    let begin: Vec<u32> = (0..WORDS as u32).map(mixed).collect();
    for seed in 0..20u32 {
        for lanes in [u32::MAX, 0x0fff_0ff1, 1 << 13] {
            // Some meet at one place; in a third of the rounds no two do.
            let spread = if seed % 3 == 0 { 1 } else { seed };
            let place = |lane: u32| mixed(seed * 32 + lane / spread) % (WORDS as u32 / 32) * 128 + 4 * (lane / spread);
            let places: Vec<u32> = (0..32).map(place).collect();
            let mut expected = vec![0; WORDS];
            for lane in (0..32).filter(|lane| lanes >> lane & 1 != 0) {
                let word = places[lane] as usize / 4;
                expected[word] = begin[word].wrapping_add(1);
            }
            let says = |options: &Options| {
                let mut memory = memory();
                let from = upload_u32(&mut memory, "from", &begin);
                let to = upload_u32(&mut memory, "to", &vec![0; WORDS]);
                let at = upload_u32(&mut memory, "places", &places);
                let launch = Launch::new("k", [1, 1, 1], [32, 1, 1]);
                let launch = launch.arg_u64(from).arg_u64(to).arg_u64(at).arg_u32(lanes);
                let outcome = run_with(&module, &mut memory, &launch, options);
                assert!(outcome.completed, "{seed}");
                assert_eq!(download_u32(&memory, to, WORDS), expected, "{seed} {lanes:#x}");
                Outcome { trace: None, ..outcome }
            };
            assert_eq!(says(&short), says(&long), "{seed} {lanes:#x}");
            assert!(says(&Options::unchecked()).faults.is_empty());
        }
    }
}

/// Two warps of each of two blocks at a few words, in steps of any kind: some are races.
fn steps(seed: u32, space: &str) -> String {
    let address = if space == "shared" { "%r8" } else { "%rd8" };
    let own = if space == "shared" {
        "mov.u32 %r8, sh; add.u32 %r8, %r8, %r7;"
    } else {
        "cvt.u64.u32 %rd8, %r7; add.s64 %rd8, %rd8, %rd1;"
    };
    let mut body = String::new();
    for step in 0..24 {
        let pick = mixed(seed * 1000 + step);
        let place = match pick / 16 % 5 {
            0 => "mov.u32 %r7, 8;".to_owned(),
            1 => "mul.lo.u32 %r7, %r1, 4; and.b32 %r7, %r7, 127;".to_owned(),
            2 => format!("mul.lo.u32 %r7, %r1, {}; shr.u32 %r7, %r7, 25; shl.b32 %r7, %r7, 2;", pick | 1),
            3 => "mul.lo.u32 %r7, %r1, 4;".to_owned(),
            _ => "mul.lo.u32 %r7, %r1, 8; and.b32 %r7, %r7, 255;".to_owned(),
        };
        let guard = match pick / 128 % 4 {
            0 => "@%p2 ",
            _ => "",
        };
        let what = match pick % 12 {
            0 => format!("ld.{space}.u32 %r9, [{address}];"),
            1 => format!("st.{space}.u32 [{address}], %r1;"),
            2 | 3 => "bar.sync 0;".to_owned(),
            4 => "bar.warp.sync -1;".to_owned(),
            5 => format!("red.{space}.add.u64 [{address}], %rd5;"),
            6 => format!("atom.{space}.cas.b32 %r9, [{address}], 0, %r1;"),
            7 => format!("atom.{space}.cta.add.u32 %r9, [{address}], 1;"),
            8 => "membar.gl;".to_owned(),
            _ => format!("atom.{space}.add.u32 %r9, [{address}], 1;"),
        };
        let guard = if what.starts_with("bar") { "" } else { guard };
        // Words of 64 bits need even places.
        let even = if what.contains("u64") { "and.b32 %r7, %r7, 0xfffffff8;" } else { "" };
        body += &format!("    {place} {even} {own}\n    {guard}{what}\n");
    }
    format!(
        "
.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 memory)
{{
    .reg .pred %p<4>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<16>;
    .shared .align 8 .b8 sh[512];
    ld.param.u64 %rd1, [memory];
    mov.u32 %r1, %tid.x;
    setp.gt.u32 %p2, %r1, 20;
    shl.b32 %r2, %r1, 3;
    mov.u32 %r6, sh;
    add.u32 %r6, %r6, %r2;
    mov.u64 %rd5, 1;
    st.shared.u64 [%r6], %rd5;
    bar.sync 0;
{body}
    ret;
}}"
    )
}

#[test]
fn every_way_finds_the_same_races() {
    let short = Options { deterministic: true, max_faults: 1000, ..Options::default() };
    let long = Options { fast: Fast::NONE, ..short.clone() };
    let (mut clean, mut found) = (0, 0);
    for seed in 0..150 {
        for space in ["shared", "global"] {
            let module = load(&steps(seed, space));
            let says = |options: &Options| {
                let mut memory = memory();
                let data = upload_u32(&mut memory, "data", &[1; 128]);
                let launch = Launch::new("k", [2, 1, 1], [64, 1, 1]).arg_u64(data);
                let outcome = run_with(&module, &mut memory, &launch, options);
                (Outcome { trace: None, ..outcome }, download_u32(&memory, data, 128))
            };
            let (short, long) = (says(&short), says(&long));
            assert_eq!(short, long, "{space} {seed}");
            if short.0.faults.is_empty() { clean += 1 } else { found += 1 }
        }
    }
    assert!(clean > 10 && found > 100, "{clean} {found}");
}
