//! The matrix units against a slow model over doubles, hand-made cases, and exact integer products.

use super::Random;
use ptx_emulator::num::format::{Format, Overflow, Rounding};
use ptx_emulator::num::mma::form::Form;
use ptx_emulator::num::mma::integer::{BitOp, bit_tile, integer_tile};
use ptx_emulator::num::mma::scaled::{ScaleType, fp4_tile};
use ptx_emulator::num::mma::sparse::{Pattern, expand};
use ptx_emulator::num::mma::warpgroup::WarpGroupForm;
use ptx_emulator::num::mma::{
    ABSENT, Accumulator, Element, Model, Operand, Order, Unit, add_scales, chain_f64, dot_tile,
};
use std::time::Instant;

const FLOATS: [Element; 8] = [
    Element::F16,
    Element::Bf16,
    Element::Tf32,
    Element::E4m3,
    Element::E5m2,
    Element::E3m2,
    Element::E2m3,
    Element::E2m1,
];

fn format(element: Element) -> Format {
    match element {
        Element::F16 => Format::F16,
        Element::Bf16 => Format::BF16,
        Element::Tf32 => Format::TF32,
        Element::E4m3 => Format::E4M3,
        Element::E5m2 => Format::E5M2,
        Element::E3m2 => Format::E3M2,
        Element::E2m3 => Format::E2M3,
        Element::E2m1 => Format::E2M1,
    }
}

/// Significand and exponent as the units see them: not normalised below `least`, zero at -126.
fn parts(x: f64, least: i32) -> (f64, i32) {
    if x == 0.0 {
        return (0.0, -126);
    }
    let exponent = ((x.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(least);
    (x / 2f64.powi(exponent), exponent)
}

/// One fused step in doubles: every term truncated at `bits` below the largest exponent.
fn fused(terms: &[(f64, i32)], bits: i32) -> f64 {
    let largest = terms.iter().map(|t| t.1).max().unwrap();
    let scaled = |&(s, e): &(f64, i32)| {
        let shift = bits + e - largest;
        if shift < -60 { 0.0 } else { (s * 2f64.powi(shift)).trunc() }
    };
    let sum: f64 = terms.iter().map(scaled).sum();
    let shift = largest - bits;
    sum * 2f64.powi(shift / 2) * 2f64.powi(shift - shift / 2)
}

fn slow_round(x: f64, accumulator: Accumulator) -> f32 {
    match accumulator {
        Accumulator::F16 => Format::F16.decode(Format::F16.encode(x, Rounding::Rn, Overflow::Infinity)) as f32,
        _ if x.abs() >= 2f64.powi(128) => x as f32,
        Accumulator::F32 => Format::F32.decode(Format::F32.encode(x, Rounding::Rz, Overflow::Infinity)) as f32,
        Accumulator::F32Short => {
            let bits = Format::F32.encode(x, Rounding::Rz, Overflow::Infinity) as u32;
            f32::from_bits(bits & 0xffff_fc00)
        }
    }
}

fn slow_chain(model: &Model, ab: Element, group: usize, a: &[u32], b: &[u32], c: f32) -> f32 {
    let f = format(ab);
    let least = if model.accumulator == Accumulator::F16 { -14 } else { -126 };
    let mut sum = c;
    for (xs, ys) in a.chunks(group).zip(b.chunks(group)) {
        let pairs: Vec<(f64, f64)> =
            xs.iter().zip(ys).map(|(&x, &y)| (f.decode(x.into()), f.decode(y.into()))).collect();
        let special: f64 = pairs.iter().map(|(x, y)| x * y).sum::<f64>() + f64::from(sum);
        if !special.is_finite() {
            sum = special as f32;
            continue;
        }
        let mut terms = vec![parts(sum.into(), least)];
        for (x, y) in pairs {
            let ((s, e), (t, g)) = (parts(x, f.min_exponent()), parts(y, f.min_exponent()));
            terms.push((s * t, e + g));
        }
        sum = slow_round(fused(&terms, model.fraction_bits as i32), model.accumulator);
    }
    sum
}

/// Random codes: mostly of similar size, sometimes anything, sometimes special.
fn code(random: &mut Random, element: Element) -> u32 {
    let bits = random.bits();
    let f = format(element);
    let x = match bits & 15 {
        0 => return (bits >> 32) as u32 & (((1u64 << f.bits()) - 1) << f.padding) as u32,
        1 => 0.0,
        _ => ((bits >> 8) as i32 as f64) * 2f64.powi(-31 + (bits >> 60) as i32 % 4),
    };
    f.encode(x, Rounding::Rn, Overflow::Saturate) as u32
}

fn assert_same(got: f32, expected: f32, what: &str) {
    let same = got.to_bits() == expected.to_bits()
        || (got.is_nan() && expected.is_nan())
        // The slow model's sums in doubles lose the sign of an exact zero.
        || (got == 0.0 && expected == 0.0);
    assert!(same, "{what}: {got:e} for {expected:e}");
}

#[test]
fn tiles_agree_with_the_slow_model() {
    let mut random = Random(41);
    let (m, n) = (16, 8);
    for element in FLOATS {
        for arch in [75, 80, 89, 90, 100, 120] {
            for unit in [Unit::Warp, Unit::WarpGroup] {
                for f16_result in [false, true] {
                    let k = 256 / element.container_bits().max(8) as usize;
                    let model = Model::for_arch(arch, unit, element, k, f16_result);
                    let Order::Chain(group) = model.order else { continue };
                    let a: Vec<u32> = (0..m * k).map(|_| code(&mut random, element)).collect();
                    let b: Vec<u32> = (0..k * n).map(|_| code(&mut random, element)).collect();
                    let c: Vec<f32> = (0..m * n)
                        .map(|_| {
                            let x = random.bits() as i32 as f64 / 2f64.powi(29);
                            slow_round(x, model.accumulator)
                        })
                        .collect();
                    let mut d = vec![0.0; m * n];
                    let (oa, ob) = (Operand::new(element, a.clone()), Operand::new(element, b.clone()));
                    dot_tile(&model, (m, n, k), &oa, &ob, &c, &mut d);
                    for i in 0..m {
                        for j in 0..n {
                            let column: Vec<u32> = (0..k).map(|kk| b[kk * n + j]).collect();
                            let row = &a[i * k..(i + 1) * k];
                            let expected = slow_chain(&model, element, group, row, &column, c[i * n + j]);
                            assert_same(d[i * n + j], expected, &format!("{element:?} {model:?} {i},{j}"));
                        }
                    }
                }
            }
        }
    }
}

fn single(model: &Model, element: Element, a: &[f64], b: &[f64], c: f32) -> f32 {
    let k = a.len();
    let f = format(element);
    let encode = |x: f64| f.encode(x, Rounding::Rn, Overflow::Saturate) as u32;
    let oa = Operand::new(element, a.iter().map(|&x| encode(x)).collect());
    let ob = Operand::new(element, b.iter().flat_map(|&x| [encode(x); 8]).collect());
    let mut d = [0.0; 8];
    dot_tile(model, (1, 8, k), &oa, &ob, &[c; 8], &mut d);
    d[0]
}

#[test]
fn alignment_cuts_at_the_published_bit() {
    let ones = [1.0; 16];
    let mut a = [0.0; 16];
    // 2^0 and 2^-25: kept by 25 fraction bits, cut by 24; two of them make 2^-24, visible after -1 cancels.
    for (arch, expected) in [(80, 0.0), (90, 2f32.powi(-24))] {
        let model = Model::for_arch(arch, Unit::Warp, Element::Bf16, 16, false);
        a[..4].copy_from_slice(&[1.0, 2f64.powi(-25), 2f64.powi(-25), -1.0]);
        assert_eq!(single(&model, Element::Bf16, &a, &ones, 0.0), expected, "sm_{arch}");
    }
    let fp8 = Model::for_arch(90, Unit::WarpGroup, Element::E4m3, 32, false);
    let mut wide = [0.0; 32];
    wide[..2].copy_from_slice(&[2f64.powi(6), 2f64.powi(-8)]);
    let other = [1.0; 32];
    assert_eq!(single(&fp8, Element::E4m3, &wide, &other, 0.0), 64.0, "2^-8 lies below 2^(6-13)");
    wide[1] = 2f64.powi(-7);
    assert_eq!(single(&fp8, Element::E4m3, &wide, &other, 0.0), 64.0 + 2f32.powi(-7));
    // Rounding to f32 is toward zero, in both signs.
    let f16 = Model::for_arch(90, Unit::Warp, Element::F16, 16, false);
    let mut x = [0.0; 16];
    x[0] = 1.0;
    // 1 + 1.5 * 2^-23: the exact sum is nearer to 1 + 2^-22, but is cut to 1 + 2^-23.
    (x[1], x[2]) = (2f64.powi(-12), 2f64.powi(-12));
    let mut y = [1.0; 16];
    (y[1], y[2]) = (2f64.powi(-11), 2f64.powi(-12));
    assert_eq!(single(&f16, Element::F16, &x, &y, 0.0), 1.0 + 2f32.powi(-23));
    assert_eq!(single(&f16, Element::F16, &x.map(|v| -v), &y, 0.0), -1.0 - 2f32.powi(-23));
}

#[test]
fn specials_propagate_by_ieee_rules() {
    let model = Model::for_arch(80, Unit::Warp, Element::F16, 16, false);
    let ones = [1.0; 16];
    let with = |i: usize, x: u32| {
        let mut codes = vec![0x3c00; 16];
        codes[i] = x;
        Operand::new(Element::F16, codes)
    };
    let b = Operand::new(Element::F16, vec![0x3c00; 128]);
    let run = |a: &Operand, c: f32| {
        let mut d = [0.0; 8];
        dot_tile(&model, (1, 8, 16), a, &b, &[c; 8], &mut d);
        d[3]
    };
    assert_eq!(run(&with(12, 0x7c00), 1.0), f32::INFINITY);
    assert_eq!(run(&with(2, 0xfc00), 1.0), f32::NEG_INFINITY);
    assert_eq!(run(&with(2, 0xfc00), f32::INFINITY).to_bits(), 0x7fff_ffff);
    assert_eq!(run(&with(2, 0x7e00), 0.0).to_bits(), 0x7fff_ffff);
    assert_eq!(run(&with(2, 0x3c00), f32::NEG_INFINITY), f32::NEG_INFINITY);
    assert_eq!(single(&model, Element::F16, &ones, &ones, f32::MAX), f32::MAX);
    let half = Model::for_arch(80, Unit::Warp, Element::F16, 16, true);
    assert_eq!(single(&half, Element::F16, &[128.0; 16], &[128.0; 16], 0.0), f32::INFINITY, "overflows f16");
}

#[test]
fn fp8_without_a_unit_is_two_f16_steps_and_an_addition() {
    let model = Model::for_arch(90, Unit::Warp, Element::E4m3, 32, false);
    assert_eq!(model.order, Order::HalfWords(2));
    assert_eq!(model.expanded().order, Order::HalfWords(4));
    // C is added last, in round to nearest: 2^24 + 1 + (2 from the products) = 2^24 + 4 would be exact; here the
    // products sum to 3 and the tie goes to even.
    let mut a = [0.0; 32];
    (a[0], a[2]) = (1.0, 2.0);
    assert_eq!(single(&model, Element::E4m3, &a, &[1.0; 32], 16_777_216.0), 16_777_220.0);
}

#[test]
fn block_scales_shift_exponents() {
    let (m, n, k) = (16, 8, 32);
    let mut random = Random(43);
    let element = Element::E4m3;
    let model = Model::for_arch(120, Unit::Warp, element, k, false);
    let codes = |count: usize, random: &mut Random| (0..count).map(|_| random.bits() as u32 & 0x37).collect::<Vec<_>>();
    let (a, b) = (codes(m * k, &mut random), codes(k * n, &mut random));
    let (mut x, mut y) = (Operand::new(element, a.clone()), Operand::new(element, b.clone()));
    let mut plain = vec![0.0; m * n];
    dot_tile(&model, (m, n, k), &x, &y, &vec![0.0; m * n], &mut plain);
    let a_scales: Vec<u8> = (0..m as u8).map(|i| 120 + i).collect();
    let b_scales: Vec<u8> = (0..n as u8).map(|j| 130 - j).collect();
    add_scales(&mut x, &mut y, (m, n, k), &a_scales, &b_scales);
    let mut scaled = vec![0.0; m * n];
    dot_tile(&model, (m, n, k), &x, &y, &vec![0.0; m * n], &mut scaled);
    for i in 0..m {
        for j in 0..n {
            let shift = i32::from(a_scales[i]) + i32::from(b_scales[j]) - 254;
            assert_eq!(scaled[i * n + j], plain[i * n + j] * 2f32.powi(shift));
        }
    }
}

#[test]
fn fp4_blocks_agree_with_exact_sums() {
    let mut random = Random(47);
    let (m, n, k) = (16, 8, 64);
    for (scale, block) in [(ScaleType::Ue4m3, 16), (ScaleType::Ue8m0, 32), (ScaleType::Ue8m0, 16)] {
        let nibbles =
            |count: usize, random: &mut Random| (0..count).map(|_| random.bits() as u8 & 15).collect::<Vec<_>>();
        let (a, b) = (nibbles(m * k, &mut random), nibbles(k * n, &mut random));
        let near_one = if scale == ScaleType::Ue8m0 { 127 } else { 0x38 };
        let scales = |count: usize, random: &mut Random| {
            (0..count).map(|_| near_one + (random.bits() & 7) as u8).collect::<Vec<u8>>()
        };
        let (sa, sb) = (scales(m * k / block, &mut random), scales(n * k / block, &mut random));
        let c: Vec<f32> = (0..m * n).map(|i| i as f32 / 8.0).collect();
        let mut d = vec![0.0; m * n];
        fp4_tile(scale, (block, 16), (m, n, k), (&a, &sa), (&b, &sb), &c, &mut d);
        for i in 0..m {
            for j in 0..n {
                // Small exponents: everything is exact in 35 bits, only the last rounding cuts.
                let exact: f64 = (0..k)
                    .map(|kk| {
                        let (x, y) =
                            (Format::E2M1.decode(a[i * k + kk].into()), Format::E2M1.decode(b[kk * n + j].into()));
                        let at = kk / block;
                        let (p, q) = (scale.value(sa[i * (k / block) + at]), scale.value(sb[j * (k / block) + at]));
                        x * y * f64::from(p) * f64::from(q)
                    })
                    .sum();
                let expected = slow_round(exact + f64::from(c[i * n + j]), Accumulator::F32);
                assert_eq!(d[i * n + j], expected, "{scale:?} {i},{j}");
            }
        }
    }
    let mut d = [0.0; 8];
    let nan = [0x7f, 0x38, 0x38, 0x38];
    fp4_tile(ScaleType::Ue4m3, (16, 16), (1, 8, 64), (&[0; 64], &nan), (&[0; 512], &[0x38; 32]), &[1.0; 8], &mut d);
    assert!(d.iter().all(|x| x.is_nan()));
}

#[test]
fn integers_wrap_or_saturate() {
    let (m, n, k) = (16, 8, 32);
    let (a, b) = (vec![-128; m * k], vec![255; k * n]);
    let c = vec![i32::MIN + 5; m * n];
    let mut d = vec![0; m * n];
    integer_tile((m, n, k), &a, &b, &c, true, &mut d);
    assert!(d.iter().all(|&x| x == i32::MIN));
    integer_tile((m, n, k), &a, &b, &c, false, &mut d);
    assert_eq!(d[17], (i32::MIN + 5).wrapping_sub(128 * 255 * 32));
    let (mut and, mut xor) = ([0; 2], [0; 2]);
    let (rows, columns) = ([0xff, 0xffff_ffff], [0x0f, 0, 0xff, 1]);
    bit_tile(BitOp::And, (1, 2, 2), &rows, &columns, &[10, 20], &mut and);
    bit_tile(BitOp::Xor, (1, 2, 2), &rows, &columns, &[10, 20], &mut xor);
    assert_eq!((and, xor), ([14, 29], [46, 51]));
}

#[test]
fn sparse_rows_expand_to_their_positions() {
    let zero = |element: i32| element == 0;
    let mut dense = [0; 8];
    let fields = [0b0100, 0b1110];
    assert_eq!(expand(Pattern::TwoOfFour, true, &[1, 2, 3, 4], |g| fields[g], zero, &mut dense), Ok(()));
    assert_eq!(dense, [1, 2, 0, 0, 0, 0, 3, 4]);
    let mut dense = [0; 4];
    assert_eq!(expand(Pattern::OneOfTwo, true, &[1, 2], |g| fields[g], zero, &mut dense), Ok(()));
    assert_eq!(dense, [1, 0, 0, 2]);
    let mut dense = [0; 8];
    assert_eq!(expand(Pattern::PairsTwoOfFour, true, &[1, 2, 3, 4], |_| 0b1101, zero, &mut dense), Ok(()));
    assert_eq!(dense, [0, 0, 1, 2, 0, 0, 3, 4]);
    for ordered in [false, true] {
        assert_eq!(expand(Pattern::TwoOfFour, ordered, &[1, 2], |_| 0b0101, zero, &mut [0; 4]), Err(0));
    }
    assert_eq!(expand(Pattern::TwoOfFour, true, &[1, 2], |_| 0b0001, zero, &mut [0; 4]), Err(0));
    let mut dense = [0; 4];
    assert_eq!(expand(Pattern::TwoOfFour, false, &[1, 2], |_| 0b0001, zero, &mut dense), Ok(()));
    assert_eq!(dense, [2, 1, 0, 0]);
    // Zeros are the same wherever they are.
    let (mut four, mut two) = ([0; 4], [0; 2]);
    assert_eq!(expand(Pattern::TwoOfFour, true, &[0, 0], |_| 0, zero, &mut four), Ok(()));
    assert_eq!(expand(Pattern::OneOfTwo, true, &[0], |_| 0, zero, &mut two), Ok(()));
    assert_eq!(expand(Pattern::PairsTwoOfFour, true, &[0; 4], |_| 0, zero, &mut [0; 8]), Ok(()));
    assert_eq!(expand(Pattern::PairsTwoOfFour, true, &[0, 0, 0, 1], |_| 0, zero, &mut [0; 8]), Err(0));
}

#[test]
fn absent_slots_do_not_set_the_alignment() {
    let model = Model::for_arch(80, Unit::Warp, Element::Bf16, 16, false).expanded();
    assert_eq!(model.order, Order::Chain(16));
    // An absent slot beside 2^120 in B would push everything out if it counted as a zero of exponent -126.
    let mut a = Operand::new(Element::Bf16, vec![0x3f80, 0, 0, 0]);
    let mut b = vec![0x3f80; 32];
    b[8..16].fill(0x7b80);
    let b = Operand::new(Element::Bf16, b);
    let tiny = [2f32.powi(-100); 8];
    let mut d = [0.0; 8];
    a.codes[0] = 0;
    let mut a = Operand::new(Element::Bf16, a.codes);
    a.exponent.fill(ABSENT);
    dot_tile(&model, (1, 8, 4), &a, &b, &tiny, &mut d);
    assert_eq!(d, tiny);
}

#[test]
fn a_warp_tile_takes_about_a_microsecond() {
    let mut random = Random(53);
    let (m, n, k) = (16, 8, 16);
    let a: Vec<u32> = (0..m * k).map(|_| code(&mut random, Element::F16) & 0xbfff).collect();
    let b: Vec<u32> = (0..k * n).map(|_| code(&mut random, Element::F16) & 0xbfff).collect();
    let model = Model::for_arch(80, Unit::Warp, Element::F16, k, false);
    let mut d = vec![0.0; m * n];
    let c = d.clone();
    let best = (0..20)
        .map(|_| {
            let start = Instant::now();
            for _ in 0..100 {
                let (oa, ob) = (Operand::new(Element::F16, a.clone()), Operand::new(Element::F16, b.clone()));
                dot_tile(&model, (m, n, k), &oa, &ob, &c, &mut d);
            }
            start.elapsed().as_nanos() as f64 / 100.0
        })
        .fold(f64::INFINITY, f64::min);
    println!("m16n8k16 f16, decode and product: {best:.0} ns");
    // Generous: builds with overflow checks and loaded machines run this too.
    assert!(best < 20_000.0, "{best} ns");
}

#[test]
fn f64_products_round_as_they_say() {
    let opcode = |rounding: &str| format!("wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64{rounding}");
    let third = 1.0 / 3.0;
    for (suffix, rounding) in
        [("", Rounding::Rn), (".rn", Rounding::Rn), (".rz", Rounding::Rz), (".rm", Rounding::Rm), (".rp", Rounding::Rp)]
    {
        let form = Form::parse(&opcode(suffix)).expect("a form of the manual");
        assert_eq!((form.rounding, form.check(80, false, false)), (rounding, Ok(())));
        let mut d = [0.0];
        chain_f64((1, 1, 1), form.rounding, &[third], &[third], &[-1.0], &mut d);
        assert_eq!(d[0], ptx_emulator::num::arith64::fma(third, third, -1.0, rounding));
    }
    let half = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32.rn";
    assert!(Form::parse(half).is_err_and(|why| why.contains("rounding")), "only f64 has them");
}

#[test]
fn wgmma_takes_modifiers_with_their_types_only() {
    let parse = |rest: &str| WarpGroupForm::parse(&format!("wgmma.mma_async.sync.aligned.{rest}"));
    for taken in ["m64n8k256.s32.b1.b1.and.popc", "m64n8k32.satfinite.s32.s8.u8", "m64n8k32.s32.u8.u8.satfinite"] {
        assert!(parse(taken).is_ok(), "{taken}");
    }
    for refused in [
        "m64n8k256.s32.b1.b1",
        "m64n8k256.s32.b1.b1.popc",
        "m64n8k256.s32.b1.b1.and",
        "m64n8k256.s32.b1.b1.and.popc.satfinite",
        "m64n8k16.f32.f16.f16.satfinite",
        "m64n8k16.f32.f16.f16.and.popc",
        "m64n8k32.s32.s8.s8.and.popc",
    ] {
        assert!(parse(refused).is_err(), "{refused}");
    }
}
