//! The short way of matrix products, results computed in their lanes, against the one through tiles: the same bits, or no answer.

use super::Random;
use ptx_emulator::num::mma::form::Form;
use ptx_emulator::num::mma::lanewise::Vectors;
use ptx_emulator::num::mma::warp::{Extra, Plan, Row};

/// Forms with the architectures whose arithmetic they are tried with.
const FORMS: &[(&str, &[u32])] = &[
    ("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", &[75, 80, 90]),
    ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", &[80, 89, 90, 120]),
    ("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", &[80, 90]),
    ("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", &[80, 90, 121]),
    ("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", &[80, 90]),
    ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", &[80, 90]),
    ("mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e5m2.f32", &[89, 120]),
    ("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", &[89, 120]),
    ("mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32", &[89, 121]),
    ("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e3m2.e2m3.f32", &[120]),
    ("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m3.e5m2.f32", &[121]),
    ("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", &[75, 80, 90]),
    ("wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32", &[80, 90]),
    ("wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32", &[80, 90]),
];

/// How far apart the exponents of the numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Numbers {
    /// Any bits: with NaN and infinity.
    Any,
    /// No exponent is the largest one; sums may be infinite.
    Finite,
    /// Few exponents, so that much cancels; some zeros.
    Near,
    /// Subnormals, zeros of both signs.
    Small,
}

fn code(random: &mut Random, numbers: Numbers, exponent_bits: u32, fraction_bits: u32) -> u32 {
    let bits = (random.bits() >> 24) as u32;
    let (top, sign) = ((1 << exponent_bits) - 1, bits >> 31 << (exponent_bits + fraction_bits));
    let fraction = bits & ((1 << fraction_bits) - 1);
    let field = match numbers {
        Numbers::Any => bits >> 12 & top,
        Numbers::Finite => (bits >> 12 & top) % top,
        Numbers::Near if bits >> 20 & 7 == 0 => return sign,
        Numbers::Near => top / 2 + (bits >> 12 & 3) - 1,
        Numbers::Small => bits >> 12 & 1,
    };
    sign | field << fraction_bits | fraction
}

fn row(random: &mut Random, numbers: Numbers, exponent_bits: u32, fraction_bits: u32) -> Row {
    let bits = 1 + exponent_bits + fraction_bits;
    // Of tf32 the lowest bits count for nothing; of 6-bit elements the upper ones of a byte.
    let container = if bits == 19 { 32 } else { bits.next_power_of_two() };
    std::array::from_fn(|_| {
        (0..32 / container).fold(0, |word, element| {
            let own = code(random, numbers, exponent_bits, fraction_bits);
            let spare = (random.bits() >> 24) as u32;
            let own = match bits {
                19 => own << 13 | spare & 0x1fff,
                6 => own | spare << 6 & 0xc0,
                _ => own,
            };
            word | own << (element * container)
        })
    })
}

fn layout(name: &str) -> (u32, u32) {
    match name {
        "f16" => (5, 10),
        "bf16" => (8, 7),
        "tf32" => (8, 10),
        "e4m3" => (4, 3),
        "e5m2" => (5, 2),
        "e3m2" => (3, 2),
        "e2m3" => (2, 3),
        other => panic!("{other}"),
    }
}

/// The types of A and B in an opcode; of those of f16 `wmma` says nothing.
fn operands(opcode: &str) -> [&str; 2] {
    let types: Vec<&str> = opcode.split('.').filter(|part| part.starts_with(['f', 'b', 't', 'e'])).collect();
    match types[..] {
        ["f32", "f32"] => ["f16", "f16"],
        ["f32", a, b, "f32"] => [a, b],
        _ => panic!("{types:?}"),
    }
}

#[test]
fn results_in_lanes_are_those_of_tiles() {
    let mut random = Random(7);
    for (opcode, archs) in FORMS {
        let form = Form::parse(opcode).unwrap();
        let layouts = operands(opcode).map(layout);
        let [na, nb, nc, nd] = form.registers();
        for &arch in *archs {
            let plan = Plan::new(form, arch);
            for numbers in [Numbers::Any, Numbers::Finite, Numbers::Near, Numbers::Small] {
                let mut answers = 0;
                for _ in 0..60 {
                    let [a, b] = [(na, layouts[0]), (nb, layouts[1])].map(|(count, (exponent, fraction))| {
                        (0..count).map(|_| row(&mut random, numbers, exponent, fraction)).collect::<Vec<Row>>()
                    });
                    // `wmma` fragments of f16 repeat their registers.
                    let (mut a, mut b) = (a, b);
                    if form.wmma && na == 8 {
                        a.copy_within(..4, 4);
                        b.copy_within(..4, 4);
                    }
                    let c: Vec<Row> = (0..nc).map(|_| row(&mut random, numbers, 8, 23)).collect();
                    let [a, b, c] = [&a, &b, &c].map(|rows| rows.iter().collect::<Vec<&Row>>());
                    let mut tiles = vec![[0; 32]; nd];
                    plan.run_in_tiles(&a, &b, &c, Extra::default(), &mut tiles).unwrap();
                    for vectors in Vectors::here() {
                        let mut lanes = vec![[0; 32]; nd];
                        if plan.run_in_lanes(&a, &b, &c, &mut lanes, vectors) {
                            answers += 1;
                            assert_eq!(lanes, tiles, "{opcode} sm_{arch} {numbers:?} {vectors:?}");
                        }
                    }
                }
                // Where nothing is infinite on the way, there is an answer.
                let all = 60 * Vectors::here().count();
                let must = matches!(numbers, Numbers::Near | Numbers::Small);
                assert!(answers == all || !must, "{opcode} sm_{arch} {numbers:?}: {answers} of {all}");
            }
        }
    }
}
