//! Whole-warp operations: fragments in, fragments out, against products in f64 and i64.

// Lanes index several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::Random;
use ptx_emulator::num::format::{Format, Overflow, Rounding};
use ptx_emulator::num::fragment::{Accumulator, Metadata, Operand, quad, scale_a_lane, scale_b_lane};
use ptx_emulator::num::half;
use ptx_emulator::num::mma::Element;
use ptx_emulator::num::mma::form::{Form, Input, Kind, Output};
use ptx_emulator::num::mma::sparse::Pattern;
use ptx_emulator::num::mma::warp::{Extra, Plan, Row, Undefined};

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

/// A random code and its value.
fn element(random: &mut Random, input: Input) -> (u32, f64) {
    let bits = random.bits();
    match input {
        Input::Float(element) => {
            let f = format(element);
            // Multiples of 1/2 up to 3: exact in every format, and so are all sums.
            let code = f.encode((bits % 13) as f64 / 2.0 - 3.0, Rounding::Rz, Overflow::Saturate);
            (code as u32, f.decode(code))
        }
        Input::Int { bits: width, signed } => {
            let code = (bits >> 32) as u32 & (u32::MAX >> (32 - width));
            let value = if signed { ((code << (32 - width)) as i32 >> (32 - width)) as f64 } else { f64::from(code) };
            (code, value)
        }
        Input::Bit => ((bits >> 40) as u32 & 1, (bits >> 40 & 1) as f64),
        Input::F64 => (0, 0.0),
    }
}

/// Puts codes into registers by layout. `at(major, k)` gives the code.
fn pack(layout: Operand, registers: usize, bits: u32, at: impl Fn(usize, usize) -> u32) -> Vec<Row> {
    let mut rows = vec![[0u32; 32]; registers];
    for (r, row) in rows.iter_mut().enumerate() {
        for (lane, register) in row.iter_mut().enumerate() {
            for e in 0..layout.per_register {
                let (major, k) = layout.at(lane, r, e);
                *register |= at(major, k) << (bits * e as u32);
            }
        }
    }
    rows
}

fn refs(rows: &[Row]) -> Vec<&Row> {
    rows.iter().collect()
}

fn c_value(output: Output, i: usize) -> f64 {
    if output == Output::S32 { i as f64 * 7.0 - 300.0 } else { (i % 61) as f64 / 2.0 - 15.0 }
}

fn pack_accumulator(form: &Form) -> Vec<Row> {
    let shape = Accumulator::new(form.m, form.n);
    let mut rows = vec![[0u32; 32]; form.registers()[2]];
    for i in 0..shape.per_lane() {
        for lane in 0..32 {
            let (row, column) = shape.at(lane, i);
            let x = c_value(form.c, row * form.n + column);
            match form.c {
                Output::F16 => rows[i / 2][lane] |= u32::from(half::f64_to_f16(x)) << (16 * (i % 2)),
                Output::S32 => rows[i][lane] = x as i32 as u32,
                _ => rows[i][lane] = (x as f32).to_bits(),
            }
        }
    }
    rows
}

fn unpack(form: &Form, rows: &[Row]) -> Vec<f64> {
    let shape = Accumulator::new(form.m, form.n);
    let mut tile = vec![f64::NAN; form.m * form.n];
    for i in 0..shape.per_lane() {
        for lane in 0..32 {
            let (row, column) = shape.at(lane, i);
            tile[row * form.n + column] = match form.d {
                Output::F16 => half::f16_to_f32((rows[i / 2][lane] >> (16 * (i % 2))) as u16).into(),
                Output::S32 => f64::from(rows[i][lane] as i32),
                _ => f32::from_bits(rows[i][lane]).into(),
            };
        }
    }
    tile
}

/// Runs one dense or sparse form on random small values and compares with the exact product.
fn check(opcode: &str, arch: u32, random: &mut Random) {
    let form = Form::parse(opcode).unwrap();
    form.check(arch, true, true).unwrap_or_else(|e| panic!("{opcode}: {e}"));
    let plan = Plan::new(form, arch);
    let (m, n, k) = (form.m, form.n, form.k);
    let bits = |input: Input| input.container_bits(form.kind);
    let [a_registers, b_registers, _, d_registers] = form.registers();
    // Dense A; for sparse forms the slots that metadata leaves out are zero.
    let mut a: Vec<(u32, f64)> = (0..m * k).map(|_| element(random, form.a)).collect();
    let b: Vec<(u32, f64)> = (0..k * n).map(|_| element(random, form.b)).collect();
    let mut stored = a.clone();
    let mut metadata = [0u32; 32];
    if form.sparse.is_some() {
        let pattern = form.a.pattern(form.kind);
        let span = pattern.span();
        let unit = if pattern == Pattern::PairsTwoOfFour { 2 } else { 1 };
        let layout = Metadata { bits: k / span * 4, wide_elements: bits(form.a) >= 16, selector: 0 };
        stored.clear();
        for row in 0..m {
            for chunk in 0..k / span {
                let field = match pattern {
                    Pattern::OneOfTwo => [0b0100, 0b1110][random.bits() as usize % 2],
                    _ => [0b0100, 0b1000, 0b1001, 0b1100, 0b1101, 0b1110][(random.bits() >> 20) as usize % 6],
                };
                let (lane, bit) = layout.at(row, chunk);
                metadata[lane] |= field << bit;
                for slot in 0..span / unit {
                    let kept = match pattern {
                        Pattern::OneOfTwo => slot == usize::from(field == 0b1110),
                        _ => slot == (field & 3) as usize || slot == (field >> 2) as usize,
                    };
                    for x in 0..unit {
                        let at = row * k + chunk * span + slot * unit + x;
                        if kept { stored.push(a[at]) } else { a[at] = (0, 0.0) }
                    }
                }
            }
        }
    }
    let shifted = |input: Input, code: u32| {
        let padded = matches!(form.kind, Kind::F8f6f4 | Kind::Mxf8f6f4);
        if padded && input == Input::Float(Element::E2m1) { code << 2 } else { code }
    };
    let sk = form.stored_k();
    let layout_a = Operand::a(m, sk, 32 / bits(form.a) as usize);
    let layout_b = if form.wmma {
        Operand::wmma_b(m, n, k, 32 / bits(form.b) as usize)
    } else {
        Operand::b(n, k, 32 / bits(form.b) as usize)
    };
    let ra = pack(layout_a, a_registers, bits(form.a), |row, kk| shifted(form.a, stored[row * sk + kk].0));
    let rb = pack(layout_b, b_registers, bits(form.b), |column, kk| shifted(form.b, b[kk * n + column].0));
    let rc = pack_accumulator(&form);
    // Scales: powers of two that differ by row, column and block, packed where the selectors say.
    let per_row = form.scale.map_or(1, |s| s.per_row);
    let scale = |x: usize| -> (u8, f64) {
        if form.scale.is_some_and(|s| s.ty == ptx_emulator::num::mma::scaled::ScaleType::Ue4m3) {
            (0x38 + 8 * (x % 3) as u8, 2f64.powi((x % 3) as i32))
        } else {
            (126 + (x % 4) as u8, 2f64.powi((x % 4) as i32 - 1))
        }
    };
    let byte = if per_row == 1 { 3 } else { 0 };
    let (mut sa, mut sb) = ([0u32; 32], [0u32; 32]);
    for x in 0..if form.scale.is_some() { per_row } else { 0 } {
        for row in 0..m {
            sa[scale_a_lane(row, 1)] |= u32::from(scale(row + x).0) << (8 * (byte + x));
        }
        for column in 0..n {
            sb[scale_b_lane(column, 2)] |= u32::from(scale(3 * column + x).0) << (8 * (byte + x));
        }
    }
    let extra = Extra {
        metadata: form.sparse.map(|_| (&metadata, 0)),
        scales: form.scale.map(|_| [(&sa, byte, 1), (&sb, byte, 2)]),
    };
    let mut rd = vec![[0u32; 32]; d_registers];
    plan.run(&refs(&ra), &refs(&rb), &refs(&rc), extra, &mut rd).unwrap();
    let got = unpack(&form, &rd);
    for i in 0..m {
        for j in 0..n {
            let exact: f64 = (0..k)
                .map(|kk| {
                    let (x, y) = (a[i * k + kk].1, b[kk * n + j].1);
                    match form.a {
                        Input::Bit if opcode.contains("xor") => f64::from(x != y),
                        _ => {
                            let block = kk / (k / per_row);
                            let s =
                                if form.scale.is_some() { scale(i + block).1 * scale(3 * j + block).1 } else { 1.0 };
                            x * y * s
                        }
                    }
                })
                .sum::<f64>()
                + c_value(form.c, i * n + j);
            let expected = if form.d == Output::F16 { half::f16_to_f32(half::f64_to_f16(exact)).into() } else { exact };
            assert_eq!(got[i * n + j], expected, "{opcode} at {i},{j}");
        }
    }
}

const INTEGERS: [&str; 4] = ["s8.s8", "u8.s8", "s8.u8", "u8.u8"];

#[test]
fn dense_forms_multiply() {
    let mut random = Random(61);
    let mut run = |opcode: &str, arch| check(opcode, arch, &mut random);
    for arch in [75, 80, 90, 120] {
        run("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", arch);
        run("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", arch);
        run("mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32", arch);
        run("mma.sync.aligned.m8n8k32.row.col.satfinite.s32.u4.s4.s32", arch);
        run("mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc", arch);
        run("wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32", arch);
        run("wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16", arch);
        run("wmma.mma.sync.aligned.row.col.m8n32k16.f32.f16", arch);
        run("wmma.mma.sync.aligned.row.col.m32n8k16.f16.f32", arch);
        for types in ["s8.s8", "u8.u8"] {
            for shape in ["m16n16k16", "m32n8k16", "m8n32k16"] {
                run(&format!("wmma.mma.sync.aligned.row.col.{shape}.s32.{types}.s32"), arch);
            }
        }
        run("wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32", arch);
        run("wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", arch);
    }
    for arch in [80, 89, 90, 120] {
        run("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", arch);
        run("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", arch);
        run("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", arch);
        run("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", arch);
        run("mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", arch);
        run("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", arch);
        run("wmma.mma.sync.aligned.col.row.m16n16k8.f32.tf32.tf32.f32", arch);
        run("wmma.mma.sync.aligned.col.row.m8n32k16.f32.bf16.bf16.f32", arch);
        for types in INTEGERS {
            run(&format!("mma.sync.aligned.m16n8k16.row.col.s32.{types}.s32"), arch);
            run(&format!("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.{types}.s32"), arch);
        }
        run("mma.sync.aligned.m16n8k32.row.col.s32.s4.u4.s32", arch);
        run("mma.sync.aligned.m16n8k64.row.col.s32.u4.s4.s32", arch);
        run("mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc", arch);
        run("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc", arch);
    }
    for arch in [89, 90, 100, 120] {
        for types in ["e4m3.e4m3", "e4m3.e5m2", "e5m2.e4m3", "e5m2.e5m2"] {
            for (shape, acc) in [("m16n8k16", "f32"), ("m16n8k32", "f32"), ("m16n8k32", "f16")] {
                run(&format!("mma.sync.aligned.{shape}.row.col.{acc}.{types}.{acc}"), arch);
            }
        }
    }
}

#[test]
fn blackwell_kinds_multiply_with_mixed_types_and_scales() {
    let mut random = Random(67);
    let names = ["e4m3", "e5m2", "e3m2", "e2m3", "e2m1"];
    for x in names {
        for y in names {
            check(&format!("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.{x}.{y}.f32"), 120, &mut random);
            check(&format!("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.{x}.{y}.f16"), 121, &mut random);
            let scaled = "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32";
            check(&format!("{scaled}.{x}.{y}.f32.ue8m0"), 121, &mut random);
            let sparse = "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32";
            check(&format!("{sparse}.{x}.{y}.f32"), 120, &mut random);
        }
    }
    for fp8 in ["f32.e4m3.e5m2.f32", "f16.e5m2.e4m3.f16"] {
        for arch in [100, 103, 120] {
            check(&format!("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.{fp8}"), arch, &mut random);
            check(&format!("mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.{fp8}"), arch, &mut random);
        }
        let sparse = "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col";
        check(&format!("{sparse}.{fp8}"), 121, &mut random);
        check(&format!("{sparse}.kind::f8f6f4.f32.e5m2.e4m3.f32"), 100, &mut random);
    }
    for (kind, vec, ty) in [("mxf4", "2X", "ue8m0"), ("mxf4nvf4", "2X", "ue8m0"), ("mxf4nvf4", "4X", "ue4m3")] {
        let tail = format!("kind::{kind}.block_scale.scale_vec::{vec}.f32.e2m1.e2m1.f32.{ty}");
        check(&format!("mma.sync.aligned.m16n8k64.row.col.{tail}"), 121, &mut random);
        check(&format!("mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.{tail}"), 121, &mut random);
    }
}

#[test]
fn sparse_forms_multiply() {
    let mut random = Random(71);
    for arch in [80, 90, 120] {
        for (shape, types) in [
            ("m16n8k16", "f32.f16.f16.f32"),
            ("m16n8k32", "f32.f16.f16.f32"),
            ("m16n8k32", "f16.f16.f16.f16"),
            ("m16n8k16", "f32.bf16.bf16.f32"),
            ("m16n8k32", "f32.bf16.bf16.f32"),
            ("m16n8k8", "f32.tf32.tf32.f32"),
            ("m16n8k16", "f32.tf32.tf32.f32"),
            ("m16n8k32", "s32.s8.u8.s32"),
            ("m16n8k64", "s32.u8.s8.s32"),
            ("m16n8k64", "s32.s4.s4.s32"),
            ("m16n8k128", "s32.u4.u4.s32"),
        ] {
            check(&format!("mma.sp.sync.aligned.{shape}.row.col.{types}"), arch, &mut random);
        }
    }
    for arch in [89, 90, 120] {
        check("mma.sp.sync.aligned.m16n8k64.row.col.f32.e4m3.e5m2.f32", arch, &mut random);
    }
}

#[test]
fn quarter_warp_products_multiply() {
    let mut random = Random(73);
    let value = |bits: u64| (bits % 13) as f64 / 2.0 - 3.0;
    let half_code = |x: f64| u32::from(half::f64_to_f16(x));
    for arch in [75, 80, 90] {
        for (a_row, b_row) in [(true, true), (true, false), (false, true), (false, false)] {
            for (d, c) in [("f32", "f32"), ("f16", "f16"), ("f32", "f16")] {
                let layout = |row| if row { "row" } else { "col" };
                let opcode = format!("mma.sync.aligned.m8n8k4.{}.{}.{d}.f16.f16.{c}", layout(a_row), layout(b_row));
                let form = Form::parse(&opcode).unwrap();
                form.check(arch, false, false).unwrap();
                let plan = Plan::new(form, arch);
                let [na, nb, nc, nd] = form.registers();
                let a: Vec<f64> = (0..4 * 32).map(|_| value(random.bits())).collect();
                let b: Vec<f64> = (0..4 * 32).map(|_| value(random.bits())).collect();
                let (mut ra, mut rb) = (vec![[0u32; 32]; na], vec![[0u32; 32]; nb]);
                let (mut rc, mut rd) = (vec![[0u32; 32]; nc], vec![[0u32; 32]; nd]);
                let place =
                    |output, lane, i| if output == Output::F16 { quad::f16(lane, i) } else { quad::f32(lane, i) };
                for lane in 0..32 {
                    let p = quad::product(lane) * 32;
                    for i in 0..4 {
                        let (row, k) = quad::a(lane, i, a_row);
                        ra[i / 2][lane] |= half_code(a[p + row * 4 + k]) << (16 * (i % 2));
                        let (k, column) = quad::b(lane, i, b_row);
                        rb[i / 2][lane] |= half_code(b[p + k * 8 + column]) << (16 * (i % 2));
                    }
                    for i in 0..8 {
                        let (row, column) = place(form.c, lane, i);
                        let x = c_value(form.c, row * 8 + column);
                        if form.c == Output::F16 {
                            rc[i / 2][lane] |= half_code(x) << (16 * (i % 2));
                        } else {
                            rc[i][lane] = (x as f32).to_bits();
                        }
                    }
                }
                plan.run(&refs(&ra), &refs(&rb), &refs(&rc), Extra::default(), &mut rd).unwrap();
                for lane in 0..32 {
                    let p = quad::product(lane) * 32;
                    for i in 0..8 {
                        let (row, column) = place(form.d, lane, i);
                        let product: f64 = (0..4).map(|k| a[p + row * 4 + k] * b[p + k * 8 + column]).sum();
                        let expected = product + c_value(form.c, row * 8 + column);
                        let got = if form.d == Output::F16 {
                            half::f16_to_f32((rd[i / 2][lane] >> (16 * (i % 2))) as u16)
                        } else {
                            f32::from_bits(rd[i][lane])
                        };
                        assert_eq!(f64::from(got), expected, "{opcode} lane {lane} element {i}");
                    }
                }
            }
        }
    }
}

#[test]
fn f64_forms_multiply() {
    let mut random = Random(79);
    for opcode in [
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
        "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64",
        "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64",
        "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64",
        "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64",
    ] {
        let form = Form::parse(opcode).unwrap();
        form.check(90, false, false).unwrap();
        let (m, n, k) = (form.m, form.n, form.k);
        let mut values = |count: usize| (0..count).map(|_| (random.bits() % 1000) as f64).collect::<Vec<f64>>();
        let (a, b) = (values(m * k), values(k * n));
        let [na, nb, nc, nd] = form.registers();
        let fill = |layout: Operand, count: usize, at: &dyn Fn(usize, usize) -> f64| {
            (0..count)
                .map(|r| {
                    std::array::from_fn(|lane| {
                        let (x, y) = layout.at(lane, r, 0);
                        at(x, y).to_bits()
                    })
                })
                .collect::<Vec<[u64; 32]>>()
        };
        let ra = fill(Operand::a(m, k, 1), na, &|row, kk| a[row * k + kk]);
        let rb = fill(Operand::b(n, k, 1), nb, &|column, kk| b[kk * n + column]);
        let (rc, mut rd) = (vec![[1f64.to_bits(); 32]; nc], vec![[0; 32]; nd]);
        let refs = |rows: &[[u64; 32]]| rows.to_vec();
        let (ra, rb, rc) = (refs(&ra), refs(&rb), refs(&rc));
        Plan::new(form, 90).run_f64(
            &ra.iter().collect::<Vec<_>>(),
            &rb.iter().collect::<Vec<_>>(),
            &rc.iter().collect::<Vec<_>>(),
            &mut rd,
        );
        let shape = Accumulator::new(m, n);
        for (i, row) in rd.iter().enumerate() {
            for (lane, &bits) in row.iter().enumerate() {
                let (x, y) = shape.at(lane, i);
                let exact: f64 = (0..k).map(|kk| a[x * k + kk] * b[kk * n + y]).sum();
                assert_eq!(f64::from_bits(bits), exact + 1.0, "{opcode}");
            }
        }
    }
}

#[test]
fn undefined_operands_are_reported() {
    let form = Form::parse("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32").unwrap();
    let plan = Plan::new(form, 80);
    let zero = [0u32; 32];
    let [na, nb, nc, nd] = form.registers();
    let ones = [0x3c00_3c00u32; 32];
    let (a, b, c) = (vec![&ones; na], vec![&zero; nb], vec![&zero; nc]);
    let mut d = vec![zero; nd];
    let good = [0x4444_4444u32; 32];
    let mut bad = good;
    bad[5] = 0x4440_4444;
    let mut run = |metadata: &Row, selector| {
        plan.run(&a, &b, &c, Extra { metadata: Some((metadata, selector)), scales: None }, &mut d)
    };
    assert_eq!(run(&good, 0), Ok(()));
    assert_eq!(run(&good, 2), Err(Undefined::Selector { name: "the sparsity selector", value: 2, limit: 2 }));
    assert_eq!(run(&bad, 0), Err(Undefined::Metadata { row: 9, chunk: 4, lane: 5, field: 0 }));
    assert_eq!(run(&bad, 1), Ok(()), "lane 5 does not contribute to selector 1");
}

#[test]
fn forms_that_no_architecture_has_are_refused() {
    let refused = |opcode: &str, arch, specific| match Form::parse(opcode) {
        Err(message) => message,
        Ok(form) => form.check(arch, specific, specific).expect_err(opcode),
    };
    for (opcode, arch, specific) in [
        ("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 75, false),
        ("mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", 90, true),
        ("mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32", 90, true),
        ("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", 80, false),
        ("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32", 120, false),
        ("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32", 90, true),
        ("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e2m1.f32", 120, true),
        ("mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.f32.e2m1.e2m1.f32", 120, true),
        ("mma.sync.aligned.m16n8k16.f32.f16.f16.f32", 90, true),
        ("mma.sync.aligned.row.col.f32.f16.f16.f32", 90, true),
        ("mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f32", 75, false),
        ("mma.sp.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32", 120, true),
        ("wmma.mma.sync.aligned.row.row.m8n8k32.s32.s4.s4.s32", 80, false),
        ("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32", 100, true),
        ("mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32", 100, false),
        ("mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32", 120, true),
        ("mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f16.e4m3.e4m3.f16", 100, true),
        ("mma.sp.sync.aligned.m16n8k64.row.col.f16.e4m3.e4m3.f16", 120, true),
        ("mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.f32.e2m1.e2m1.f32.ue8m0", 120, true),
    ] {
        assert!(!refused(opcode, arch, specific).is_empty(), "{opcode}");
    }
}
