//! How results of two devices are held against each other.

use super::Probe;
use serde::{Deserialize, Serialize};

/// What a result register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    Bits16,
    Bits32,
    Bits64,
    F16,
    Bf16,
    F32,
    F64,
    F16x2,
    Bf16x2,
}

/// How far results may be from each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Agreement {
    /// Bit by bit.
    Exact,
    /// Within this many units in the last place.
    Ulp(u64),
    /// `|a - b| <= limit * max(|b|, 1)`.
    Absolute(f64),
    /// `|a - b| <= limit * |b|`.
    Relative(f64),
}

/// What came of one probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Match {
    /// Every bit of every result.
    Equal,
    /// Equal but for the bits of NaNs.
    NanBits,
    /// Within what the instruction's documentation allows.
    WithinBounds,
    Different,
}

/// One case that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    pub case: usize,
    /// Which result register.
    pub result: usize,
    /// Operands of that case in the order of the instruction, in hexadecimal.
    pub operands: Vec<String>,
    pub emulator: String,
    pub hardware: String,
}

/// The comparison of all results of a probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    pub results: usize,
    pub equal: usize,
    /// Results that are NaN on both sides with different bits.
    pub nan_bits: usize,
    /// Results outside the bounds.
    pub outside: usize,
    /// Largest distance in units in the last place between finite results of a floating type.
    pub max_ulp: u64,
    pub verdict: Match,
    /// The first few.
    pub differences: Vec<Difference>,
}

/// Differing cases that are kept.
const KEPT: usize = 12;

struct Format {
    exponent: u32,
    fraction: u32,
}

const F16: Format = Format { exponent: 5, fraction: 10 };
const BF16: Format = Format { exponent: 8, fraction: 7 };
const F32: Format = Format { exponent: 8, fraction: 23 };
const F64: Format = Format { exponent: 11, fraction: 52 };

impl Format {
    fn is_nan(&self, bits: u64) -> bool {
        bits & ((1 << (self.exponent + self.fraction)) - 1) > ((1 << self.exponent) - 1) << self.fraction
    }

    /// Position on the line of this format's values.
    fn order(&self, bits: u64) -> i64 {
        let sign = 1u64 << (self.exponent + self.fraction);
        let magnitude = (bits & (sign - 1)) as i64;
        if bits & sign != 0 { -magnitude } else { magnitude }
    }

    fn value(&self, bits: u64) -> f64 {
        match self.fraction {
            52 => f64::from_bits(bits),
            23 => f32::from_bits(bits as u32).into(),
            7 => f32::from_bits((bits as u32) << 16).into(),
            _ => ptx_emulator::num::half::f16_to_f32(bits as u16).into(),
        }
    }
}

impl Value {
    /// The floats that a result consists of.
    fn parts(self, bits: u64) -> Vec<(&'static Format, u64)> {
        match self {
            Value::Bits16 | Value::Bits32 | Value::Bits64 => Vec::new(),
            Value::F16 => vec![(&F16, bits)],
            Value::Bf16 => vec![(&BF16, bits)],
            Value::F32 => vec![(&F32, bits)],
            Value::F64 => vec![(&F64, bits)],
            Value::F16x2 => vec![(&F16, bits & 0xffff), (&F16, bits >> 16)],
            Value::Bf16x2 => vec![(&BF16, bits & 0xffff), (&BF16, bits >> 16)],
        }
    }
}

/// How one pair of results compares.
enum Pair {
    Equal,
    NanBits,
    Within(u64),
    Outside(u64),
}

fn pair(value: Value, agreement: Agreement, ours: u64, theirs: u64) -> Pair {
    if ours == theirs {
        return Pair::Equal;
    }
    let (ours, theirs) = (value.parts(ours), value.parts(theirs));
    let (mut ulp, mut inside, mut numbers) = (0, !ours.is_empty(), false);
    for ((format, a), (_, b)) in ours.into_iter().zip(theirs) {
        if a == b || format.is_nan(a) && format.is_nan(b) {
            continue;
        }
        numbers = true;
        if format.is_nan(a) || format.is_nan(b) {
            inside = false;
            continue;
        }
        let distance = format.order(a).abs_diff(format.order(b));
        ulp = ulp.max(distance);
        let (x, y) = (format.value(a), format.value(b));
        inside &= match agreement {
            Agreement::Exact => false,
            Agreement::Ulp(limit) => distance <= limit,
            Agreement::Absolute(limit) => (x - y).abs() <= limit * y.abs().max(1.0),
            Agreement::Relative(limit) => (x - y).abs() <= limit * y.abs(),
        };
    }
    match (inside, numbers) {
        (true, false) => Pair::NanBits,
        (true, true) => Pair::Within(ulp),
        (false, _) => Pair::Outside(ulp),
    }
}

/// Compares two result lists of a probe, each result register for all cases.
pub fn compare(probe: &Probe, emulated: &[Vec<u64>], hardware: &[Vec<u64>]) -> Comparison {
    let mut found = Comparison {
        results: 0,
        equal: 0,
        nan_bits: 0,
        outside: 0,
        max_ulp: 0,
        verdict: Match::Equal,
        differences: Vec::new(),
    };
    let mut mild = Vec::new();
    for (result, (ours, theirs)) in emulated.iter().zip(hardware).enumerate() {
        for (case, (&a, &b)) in ours.iter().zip(theirs).enumerate() {
            found.results += 1;
            let kind = pair(probe.outputs[result], probe.agreement, a, b);
            let keep = match kind {
                Pair::Equal => {
                    found.equal += 1;
                    continue;
                }
                Pair::NanBits => {
                    found.nan_bits += 1;
                    &mut mild
                }
                Pair::Within(ulp) => {
                    found.max_ulp = found.max_ulp.max(ulp);
                    &mut mild
                }
                Pair::Outside(ulp) => {
                    found.max_ulp = found.max_ulp.max(ulp);
                    found.outside += 1;
                    &mut found.differences
                }
            };
            if keep.len() < KEPT {
                let digits = probe.outputs[result].register_bits() as usize / 4;
                keep.push(Difference {
                    case,
                    result,
                    operands: probe.operands_of(case).iter().map(|operand| format!("{operand:#x}")).collect(),
                    emulator: format!("0x{a:0digits$x}"),
                    hardware: format!("0x{b:0digits$x}"),
                });
            }
        }
    }
    if found.differences.is_empty() {
        found.differences = mild;
    }
    found.verdict = if found.outside > 0 {
        Match::Different
    } else if found.equal == found.results {
        Match::Equal
    } else if found.equal + found.nan_bits == found.results {
        Match::NanBits
    } else {
        Match::WithinBounds
    };
    found
}
