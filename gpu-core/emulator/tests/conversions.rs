//! `cvt` from every 8- and 16-bit type to every type, in every rounding and with every saturation and `.relu`, on every
//! bit pattern, as a kernel runs it, against a reference that knows formats by their tables of values only.

mod common;

use common::*;
use ptx_emulator::{Checks, Launch, Module, Options};

/// A binary format: exponent and fraction bits, bias, largest finite magnitude, and what stands for infinity and NaN.
#[derive(Clone, Copy, PartialEq)]
struct Float {
    name: &'static str,
    exponent: u32,
    fraction: u32,
    bias: i32,
    last: u32,
    infinity: Option<u32>,
    nan: u32,
}

const fn float(name: &'static str, exponent: u32, fraction: u32, last: u32, infinity: Option<u32>, nan: u32) -> Float {
    Float { name, exponent, fraction, bias: (1 << (exponent - 1)) - 1, last, infinity, nan }
}

const F16: Float = float("f16", 5, 10, 0x7bff, Some(0x7c00), 0x7fff);
const BF16: Float = float("bf16", 8, 7, 0x7f7f, Some(0x7f80), 0x7fff);
/// Formats without infinity or NaN give their largest value for NaN.
const NARROW: [Float; 5] = [
    float("e4m3", 4, 3, 0x7e, None, 0x7f),
    float("e5m2", 5, 2, 0x7b, Some(0x7c), 0x7f),
    float("e3m2", 3, 2, 0x1f, None, 0x1f),
    float("e2m3", 2, 3, 0x1f, None, 0x1f),
    float("e2m1", 2, 1, 0x7, None, 0x7),
];

impl Float {
    fn sign(&self) -> u32 {
        1 << (self.exponent + self.fraction)
    }

    /// The value of a code.
    fn value(&self, code: u32) -> f64 {
        let magnitude = code & (self.sign() - 1);
        let sign = if code & self.sign() != 0 { -1.0 } else { 1.0 };
        if magnitude > self.last {
            return if Some(magnitude) == self.infinity { sign * f64::INFINITY } else { f64::NAN };
        }
        let (field, fraction) = (magnitude >> self.fraction, magnitude & ((1 << self.fraction) - 1));
        let (lead, power) = if field == 0 { (0, 1) } else { (1 << self.fraction, field as i32) };
        sign * f64::from(lead + fraction) * 2f64.powi(power - self.bias - self.fraction as i32)
    }

    /// The code for a value: the neighbours are looked up, then `rounding` chooses.
    fn code(&self, values: &[f64], x: f64, rounding: &str, finite: bool) -> u32 {
        if x.is_nan() {
            return self.nan;
        }
        let sign = if x.is_sign_negative() { self.sign() } else { 0 };
        let magnitude = x.abs();
        let beyond = if finite { self.last } else { self.infinity.unwrap_or(self.nan) };
        if magnitude == f64::INFINITY {
            return sign | beyond;
        }
        let below = values.partition_point(|value| *value <= magnitude) - 1;
        if values[below] == magnitude {
            return sign | below as u32;
        }
        let next = values.get(below + 1).copied().unwrap_or_else(|| {
            // What would come next if the exponents went on.
            values[below] + (values[below] - values[below - 1])
        });
        let above = if below as u32 == self.last { beyond } else { below as u32 + 1 };
        let middle = values[below] + (next - values[below]) / 2.0;
        let away = match rounding {
            "rz" => false,
            "rm" => x < 0.0,
            "rp" => x > 0.0,
            _ => magnitude > middle || magnitude == middle && below % 2 == 1,
        };
        sign | if away { above } else { below as u32 }
    }

    fn values(&self) -> Vec<f64> {
        (0..=self.last).map(|code| self.value(code)).collect()
    }
}

fn whole(x: f64, rounding: &str) -> f64 {
    match rounding {
        "rzi" => x.trunc(),
        "rmi" => x.floor(),
        "rpi" => x.ceil(),
        _ => x.round_ties_even(),
    }
}

/// Runs an instruction that takes %h1 (the pattern), %b1 (its low byte) or %r1 (the pattern below its complement), and
/// leaves its result in %r0, %h0, %b0 or %l0; gives all results, None where the loader refuses.
fn results(instruction: &str) -> Option<Vec<u64>> {
    let target = instruction.split_whitespace().nth(1)?.trim_end_matches(',');
    let widen = match &target[..2] {
        "%l" => "mov.b64 %l9, %l0;",
        "%r" => "cvt.u64.u32 %l9, %r0;",
        "%h" => "cvt.u64.u16 %l9, %h0;",
        _ => "mov.b16 %h0, {%b0, 0};\ncvt.u64.u16 %l9, %h0;",
    };
    let text = format!(
        ".version 9.2\n.target sm_120a\n.address_size 64\n.visible .entry k(.param .u64 out) {{\n\
         .reg .b8 %b<3>; .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .b64 %l<10>;\nld.param.u64 %l1, [out];\n\
         mov.u32 %r3, %tid.x; mov.u32 %r4, %ctaid.x; mad.lo.u32 %r5, %r4, 256, %r3;\ncvt.u16.u32 %h1, %r5;\n\
         not.b16 %h2, %h1;\nmov.b32 %r1, {{%h1, %h2}};\nmov.b16 {{%b1, %b2}}, %h1;\nmov.b16 %h3, 0x7f7f;\n{instruction}\n{widen}\n\
         mul.wide.u32 %l2, %r5, 8;\nadd.u64 %l3, %l1, %l2;\nst.global.u64 [%l3], %l9;\nret;\n}}\n"
    );
    let module = Module::load(&text).ok()?;
    let mut memory = memory();
    let out = memory.alloc("out", 8 << 16).expect("fits");
    let options = Options { checks: Checks::NONE, ..Options::default() };
    let launch = Launch::new("k", [256, 1, 1], [256, 1, 1]).arg_u64(out);
    let outcome = run_with(&module, &mut memory, &launch, &options);
    assert!(outcome.completed && outcome.faults.is_empty(), "{instruction}: {:?}", outcome.faults);
    let mut bytes = vec![0; 8 << 16];
    memory.read(out, &mut bytes).expect("inside");
    let (words, _) = bytes.as_chunks::<8>();
    Some(words.iter().map(|word| u64::from_le_bytes(*word)).collect())
}

/// What was compared, and what was wrong.
#[derive(Default)]
struct Tally {
    forms: usize,
    wrong: Vec<String>,
}

impl Tally {
    fn check(&mut self, instruction: &str, same: impl Fn(u64, u64) -> bool, expect: impl Fn(u64) -> u64) {
        let Some(results) = results(instruction) else { return };
        self.forms += 1;
        let off = results.iter().enumerate().find(|(code, got)| !same(**got, expect(*code as u64)));
        if let Some((code, got)) = off {
            let expect = expect(code as u64);
            self.wrong.push(format!("{instruction} of {code:#x}: {got:#x}, not {expect:#x}"));
        }
    }

    fn done(self, least: usize) {
        assert!(self.wrong.is_empty(), "{}", self.wrong.join("\n"));
        assert!(self.forms >= least, "only {} forms loaded", self.forms);
    }
}

const INTEGERS: [(&str, u32, bool); 8] = [
    ("u8", 8, false),
    ("s8", 8, true),
    ("u16", 16, false),
    ("s16", 16, true),
    ("u32", 32, false),
    ("s32", 32, true),
    ("u64", 64, false),
    ("s64", 64, true),
];

/// Where an integer result goes: a register that is at least 32 bits wide, extended by its sign.
fn target(bits: u32) -> &'static str {
    if bits == 64 { "%l0" } else { "%r0" }
}

fn range(bits: u32, signed: bool) -> (i128, i128) {
    if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// A pattern as a number of a type.
fn integer(code: u64, bits: u32, signed: bool) -> i128 {
    let low = i128::from(code) & ((1 << bits) - 1);
    if signed && low >> (bits - 1) != 0 { low - (1 << bits) } else { low }
}

/// A number in a result register.
fn register(value: i128, bits: u32, signed: bool) -> u64 {
    let cut = integer(value as u64, bits, signed);
    if bits == 64 { cut as u64 } else { u64::from(cut as u32) }
}

fn equal(a: u64, b: u64) -> bool {
    a == b
}

#[test]
fn small_integers_to_integers() {
    let mut tally = Tally::default();
    for (from, from_bits, from_signed) in &INTEGERS[..4] {
        for (to, bits, signed) in INTEGERS {
            for sat in ["", ".sat"] {
                let instruction = format!("cvt{sat}.{to}.{from} {}, %h1;", target(bits));
                tally.check(&instruction, equal, |code| {
                    let value = integer(code, *from_bits, *from_signed);
                    let (least, most) = range(bits, signed);
                    register(if sat.is_empty() { value } else { value.clamp(least, most) }, bits, signed)
                });
            }
        }
    }
    tally.done(4 * 8);
}

#[test]
fn small_integers_to_floats() {
    let mut tally = Tally::default();
    let tables = [F16.values(), BF16.values()];
    for (from, from_bits, from_signed) in &INTEGERS[..4] {
        for rounding in ["rn", "rz", "rm", "rp"] {
            for sat in ["", ".sat"] {
                let value = |code| {
                    let value = integer(code, *from_bits, *from_signed) as f64;
                    if sat.is_empty() { value } else { value.clamp(0.0, 1.0) }
                };
                for (format, table) in [F16, BF16].iter().zip(&tables) {
                    let instruction = format!("cvt.{rounding}{sat}.{}.{from} %h0, %h1;", format.name);
                    tally
                        .check(&instruction, equal, |code| u64::from(format.code(table, value(code), rounding, false)));
                }
                let instruction = format!("cvt.{rounding}{sat}.f32.{from} %r0, %h1;");
                tally.check(&instruction, equal, |code| u64::from((value(code) as f32).to_bits()));
                let instruction = format!("cvt.{rounding}{sat}.f64.{from} %l0, %h1;");
                tally.check(&instruction, equal, |code| value(code).to_bits());
            }
        }
    }
    tally.done(4 * 4 * 4);
}

#[test]
fn halves_to_integers() {
    let mut tally = Tally::default();
    for format in [F16, BF16] {
        for (to, bits, signed) in INTEGERS {
            for rounding in ["rni", "rzi", "rmi", "rpi"] {
                for sat in ["", ".sat"] {
                    let instruction = format!("cvt.{rounding}{sat}.{to}.{} {}, %h1;", format.name, target(bits));
                    tally.check(&instruction, equal, |code| {
                        let x = format.value(code as u32);
                        let (least, most) = range(bits, signed);
                        if x.is_nan() {
                            // As an H200 has it: 0, and the topmost bit where the result has 64.
                            return if bits == 64 { 1 << 63 } else { 0 };
                        }
                        // Casts of floats keep to the range of i128.
                        register((whole(x, rounding) as i128).clamp(least, most), bits, signed)
                    });
                }
            }
        }
    }
    tally.done(2 * 8 * 4);
}

#[test]
fn halves_to_floats() {
    let mut tally = Tally::default();
    let tables = [F16.values(), BF16.values()];
    for from in [F16, BF16] {
        for rounding in ["", "rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi"] {
            for sat in ["", ".sat"] {
                for relu in ["", ".relu"] {
                    let dot = if rounding.is_empty() { "" } else { "." };
                    let value = |code: u64| {
                        let x = from.value(code as u32);
                        let x = if rounding.ends_with('i') { whole(x, rounding) } else { x };
                        match (sat, relu) {
                            (".sat", _) if x.is_nan() => 0.0,
                            (".sat", _) => x.clamp(0.0, 1.0) + 0.0,
                            (_, ".relu") if x <= 0.0 => 0.0,
                            _ => x,
                        }
                    };
                    for (to, table) in [F16, BF16].iter().zip(&tables) {
                        let instruction = format!("cvt{dot}{rounding}{relu}{sat}.{}.{} %h0, %h1;", to.name, from.name);
                        tally
                            .check(&instruction, equal, |code| u64::from(to.code(table, value(code), rounding, false)));
                    }
                    let instruction = format!("cvt{dot}{rounding}{relu}{sat}.f32.{} %r0, %h1;", from.name);
                    tally.check(
                        &instruction,
                        |a, b| a == b || f32::from_bits(a as u32).is_nan() && f32::from_bits(b as u32).is_nan(),
                        |code| u64::from((value(code) as f32).to_bits()),
                    );
                    let instruction = format!("cvt{dot}{rounding}{relu}{sat}.f64.{} %l0, %h1;", from.name);
                    tally.check(
                        &instruction,
                        |a, b| a == b || f64::from_bits(a).is_nan() && f64::from_bits(b).is_nan(),
                        |code| value(code).to_bits(),
                    );
                }
            }
        }
    }
    tally.done(38);
}

/// Both halves of a packed result from those of a packed source.
fn both(code: u64, from_bits: u32, to_bits: u32, one: impl Fn(u64) -> u64) -> u64 {
    let mask = (1 << from_bits) - 1;
    one(code >> from_bits & mask) << to_bits | one(code & mask)
}

/// The source register of packed halves: the pattern, and its complement above.
fn pair(code: u64) -> u64 {
    code | (!code & 0xffff) << 16
}

#[test]
fn packed_halves_to_narrow_pairs_and_back() {
    let mut tally = Tally::default();
    let tables = [F16.values(), BF16.values()];
    for narrow in NARROW {
        let bits = if narrow.name == "e2m1" { 4 } else { 8 };
        let values = narrow.values();
        for (half, table) in [F16, BF16].iter().zip(&tables) {
            for relu in ["", ".relu"] {
                let positive = |x: f64| if !relu.is_empty() && x <= 0.0 { 0.0 } else { x };
                for rounding in ["rn", "rz"] {
                    let to = if bits == 4 { "%b0" } else { "%h0" };
                    let name = format!("{}x2.{}x2", narrow.name, half.name);
                    let instruction = format!("cvt.{rounding}.satfinite{relu}.{name} {to}, %r1;");
                    tally.check(&instruction, equal, |code| {
                        both(pair(code), 16, bits, |code| {
                            let x = positive(half.value(code as u32));
                            u64::from(narrow.code(&values, x, rounding, true))
                        })
                    });
                }
                let from = if bits == 4 { "%b1" } else { "%h1" };
                for finite in ["", ".satfinite"] {
                    let names = format!("{}x2.{}x2", half.name, narrow.name);
                    let widen = |code: u64, scale: f64| {
                        let code = if bits == 4 { code & 0xff } else { code };
                        both(code, bits, 16, |code| {
                            // The topmost bits of a 6-bit format's byte mean nothing.
                            let code = code as u32 & (2 * narrow.sign() - 1);
                            let x = positive(narrow.value(code) * scale);
                            u64::from(half.code(table, x, "rn", !finite.is_empty()))
                        })
                    };
                    let instruction = format!("cvt.rn{finite}{relu}.{names} %r0, {from};");
                    tally.check(&instruction, equal, |code| widen(code, 1.0));
                    let instruction = format!("cvt.rn{finite}{relu}.scaled::n2::ue8m0.{names} %r0, {from}, %h3;");
                    tally.check(&instruction, equal, |code| widen(code, 1.0));
                }
            }
        }
    }
    tally.done(5 * 2 * 2);
}

#[test]
fn powers_of_two() {
    let mut tally = Tally::default();
    let power = |code: u64| if code == 255 { f64::NAN } else { 2f64.powi(code as i32 - 127) };
    let table = BF16.values();
    tally.check("cvt.rn.bf16x2.ue8m0x2 %r0, %h1;", equal, |code| {
        both(code, 8, 16, |code| u64::from(BF16.code(&table, power(code), "rn", false)))
    });
    for rounding in ["rz", "rp"] {
        for finite in ["", ".satfinite"] {
            let instruction = format!("cvt.{rounding}{finite}.ue8m0x2.bf16x2 %h0, %r1;");
            tally.check(&instruction, equal, |code| {
                both(pair(code), 16, 8, |code| {
                    let x = BF16.value(code as u32).abs();
                    let below = (0..255).rev().find(|code| power(*code) <= x);
                    let beyond = if finite.is_empty() { 255 } else { 254 };
                    match below {
                        _ if x.is_nan() => 255,
                        _ if x.is_infinite() => beyond,
                        None => 0,
                        Some(254) if x > power(254) && rounding == "rp" => beyond,
                        Some(below) => below + u64::from(rounding == "rp" && power(below) < x),
                    }
                })
            });
        }
    }
    tally.done(4);
}
