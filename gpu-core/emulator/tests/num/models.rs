//! The matrix units of every architecture against sums that a published model gave for the same operands.
//!
//! `tests/data/matrix_models.tsv` holds what MMA-Sim (microsoft/MMA-Sim, revision c785138) computes: target, opcode, a
//! digest of sixteen tiles, and the first row of the first one. The operands are generated, here as there, by the rules
//! below; each tile has a theme. They leave out what that model has otherwise than an H200: no element of A or B and no
//! accumulator is zero.

use super::Random;
use ptx_emulator::num::fragment::{self, quad};
use ptx_emulator::num::mma::Element;
use ptx_emulator::num::mma::b_index;
use ptx_emulator::num::mma::form::{Form, Input, Kind, Output, Scale};
use ptx_emulator::num::mma::scaled::ScaleType;
use ptx_emulator::num::mma::warp::{Extra, Plan, Row};
use ptx_emulator::num::mma::warpgroup::{self, Options, WarpGroupForm};

const TABLE: &str = include_str!("../data/matrix_models.tsv");
const TILES: usize = 16;

// Themes of tiles that need more than an exponent.
const SMALL: usize = 3;
const CANCELLING: usize = 4;
const SPECIAL: usize = 5;
const POWERS: usize = 6;
const LARGE: usize = 7;

/// Exponent bits, fraction bits, bias, largest exponent field of a finite number, and codes of infinity and NaN.
type Layout = (u32, u32, i64, i64, &'static [u32]);

fn layout(element: Element) -> Layout {
    match element {
        Element::F16 => (5, 10, 15, 30, &[0x7c00, 0xfc00, 0x7e01]),
        Element::Bf16 => (8, 7, 127, 254, &[0x7f80, 0xff80, 0x7fc1]),
        Element::Tf32 => (8, 23, 127, 254, &[0x7f80_0000, 0xff80_0000, 0x7fc0_2000]),
        Element::E4m3 => (4, 3, 7, 15, &[0x7f, 0xff]),
        Element::E5m2 => (5, 2, 15, 30, &[0x7c, 0xfc, 0x7f]),
        _ => (2, 1, 1, 3, &[]),
    }
}

const F32: Layout = (8, 23, 127, 254, &[0x7f80_0000, 0xff80_0000, 0x7fc0_0001]);
/// Where MMA-Sim has no result for an infinite accumulator.
const F32_BESIDE_FP4: Layout = (8, 23, 127, 254, &[0x7fc0_0001]);

fn below(random: &mut Random, limit: u64) -> i64 {
    ((random.bits() >> 32) % limit) as i64
}

/// A number that is not zero; `reach` is how far exponents lie from 1 in the themes that say so.
fn code(random: &mut Random, (e, m, bias, top, specials): Layout, theme: usize, reach: i64, tf32: bool) -> u32 {
    let bits = random.bits();
    let (mut fraction, sign) = (bits & ((1 << m) - 1), bits >> 63);
    let field = match theme {
        1 => below(random, top as u64 + 1),
        SMALL if below(random, 4) != 0 => below(random, 3),
        SMALL => below(random, top as u64 + 1),
        LARGE => top - below(random, 3),
        _ => bias + below(random, 2 * reach as u64 + 1) - reach,
    };
    let field = field.clamp(0, top);
    if theme == POWERS {
        fraction = 0;
    }
    // e4m3 has its NaN there.
    if (e, m, field, fraction) == (4, 3, 15, 7) {
        fraction = 6;
    }
    if field == 0 && (if tf32 { fraction >> 13 } else { fraction }) == 0 {
        fraction = 1 << (m - 1);
    }
    if theme == SPECIAL && below(random, 40) == 0 && !specials.is_empty() {
        return specials[below(random, specials.len() as u64) as usize];
    }
    (sign << (e + m) | (field as u64) << m | fraction) as u32
}

fn element_code(random: &mut Random, element: Element, theme: usize) -> u32 {
    let reach = [2, 0, 12, 0, 4, 5, 12, 0][theme];
    code(random, layout(element), theme, reach, element == Element::Tf32)
}

fn scale_code(random: &mut Random, ty: ScaleType, theme: usize) -> u8 {
    let mut below = |limit| below(random, limit);
    (match (ty, theme) {
        (ScaleType::Ue8m0, 0) => 125 + below(5),
        (ScaleType::Ue8m0, 1) => below(255),
        (ScaleType::Ue8m0, 2) => 112 + below(31),
        (ScaleType::Ue8m0, CANCELLING) => 127,
        (ScaleType::Ue8m0, SPECIAL) => {
            if below(20) != 0 {
                125 + below(5)
            } else {
                255
            }
        }
        (ScaleType::Ue8m0, POWERS) => 67 + below(121),
        (ScaleType::Ue8m0, LARGE) => 254 - below(3),
        (_, SMALL) => below(4),
        (ScaleType::Ue4m3, 0) => 0x30 + below(16),
        // The sign bit of such a scale is ignored.
        (ScaleType::Ue4m3, 2) => 128 | below(127),
        (ScaleType::Ue4m3, CANCELLING) => 0x38,
        (ScaleType::Ue4m3, SPECIAL) => {
            if below(20) != 0 {
                0x30 + below(16)
            } else {
                0x7f
            }
        }
        (ScaleType::Ue4m3, LARGE) => 0x7e - below(3),
        _ => below(127),
    }) as u8
}

/// Operands of one tile: A row by row, B row by row, C row by row, scales of rows and of columns.
struct Tile {
    a: Vec<u32>,
    b: Vec<u32>,
    c: Vec<u32>,
    scales: [Vec<u8>; 2],
}

impl Tile {
    fn new(random: &mut Random, form: &Form, theme: usize) -> Tile {
        let (m, n, k) = (form.m, form.n, form.k);
        let (Input::Float(x), Input::Float(y)) = (form.a, form.b) else { panic!("{form:?}") };
        let mut a: Vec<u32> = (0..m * k).map(|_| element_code(random, x, theme)).collect();
        let mut b: Vec<u32> = (0..k * n).map(|_| element_code(random, y, theme)).collect();
        if theme == CANCELLING {
            // The second half of each row is the first one's negation, some of it off by the last bit.
            let (e, f, ..) = layout(x);
            let last = if x == Element::Tf32 { 1 << 13 } else { 1 };
            for i in 0..m {
                for kk in k / 2..k {
                    let off = if (i + kk) % 3 == 0 { last } else { 0 };
                    a[i * k + kk] = a[i * k + kk - k / 2] ^ 1 << (e + f) ^ off;
                }
            }
            b.copy_within(0..k / 2 * n, k / 2 * n);
        }
        let fp4 = matches!(form.kind, Kind::Mxf4 | Kind::Mxf4nvf4);
        let (c_layout, reach) = match form.c {
            Output::F16 => (layout(Element::F16), 10),
            _ => (if fp4 { F32_BESIDE_FP4 } else { F32 }, 15),
        };
        let c = (0..m * n).map(|_| code(random, c_layout, theme, reach, false)).collect();
        let scales = [m, n].map(|count| {
            let Some(Scale { per_row, ty }) = form.scale else { return Vec::new() };
            (0..count * per_row).map(|_| scale_code(random, ty, theme)).collect()
        });
        Tile { a, b, c, scales }
    }
}

/// Registers that hold `codes` of `bits` bits, element after element of each lane.
fn pack(count: usize, bits: usize, codes: impl Fn(usize, usize) -> u32) -> Vec<Row> {
    let per_register = 32 / bits;
    let word = |register: usize, lane: usize| {
        (0..per_register).fold(0, |word, e| word | codes(lane, register * per_register + e) << (bits * e))
    };
    (0..count).map(|register| std::array::from_fn(|lane| word(register, lane))).collect()
}

fn accumulator_bits(output: Output) -> usize {
    if output == Output::F16 { 16 } else { 32 }
}

fn unpack(registers: &[Row], output: Output, lane: usize, index: usize) -> u32 {
    let bits = accumulator_bits(output);
    registers[index * bits / 32][lane] >> (index * bits % 32) & (u32::MAX >> (32 - bits))
}

fn refs(rows: &[Row]) -> Vec<&Row> {
    rows.iter().collect()
}

/// Results of one tile of `mma`, row by row.
fn product(plan: &Plan, tile: &Tile) -> Vec<u32> {
    let form = &plan.form;
    let (m, n, k) = (form.m, form.n, form.k);
    let [na, nb, nc, nd] = form.registers();
    // Scales lie in byte 0 on, of thread 0.
    let byte_containers = matches!(form.kind, Kind::Mxf8f6f4 | Kind::F8f6f4);
    let bits = |input: Input| if byte_containers { 8 } else { input.container_bits(form.kind) as usize };
    let operand = |rows: usize, input: Input, count: usize, at: &dyn Fn(usize, usize) -> u32| {
        let per_register = 32 / bits(input);
        let layout = fragment::Operand::a(rows, k, per_register);
        pack(count, bits(input), |lane, i| {
            let (major, kk) = layout.at(lane, i / per_register, i % per_register);
            at(major, kk)
        })
    };
    let a = operand(m, form.a, na, &|row, kk| tile.a[row * k + kk]);
    let b = operand(n, form.b, nb, &|column, kk| tile.b[kk * n + column]);
    let place = |lane: usize, i: usize| {
        let (row, column) = fragment::Accumulator::new(m, n).at(lane, i);
        row * n + column
    };
    let c = pack(nc, accumulator_bits(form.c), |lane, i| tile.c[place(lane, i)]);
    let scale_rows = form.scale.map(|scale| {
        let word = |codes: &[u8], at: usize| {
            let of_row = codes[at * scale.per_row..].iter().take(scale.per_row);
            of_row.rev().fold(0, |word, &code| word << 8 | u32::from(code))
        };
        let mut rows = [[0; 32]; 2];
        (0..m).for_each(|row| rows[0][fragment::scale_a_lane(row, 0)] = word(&tile.scales[0], row));
        (0..n).for_each(|column| rows[1][fragment::scale_b_lane(column, 0)] = word(&tile.scales[1], column));
        rows
    });
    let scales = scale_rows.as_ref().map(|[a, b]| [(a, 0, 0), (b, 0, 0)]);
    let mut d = vec![[0; 32]; nd];
    plan.run(&refs(&a), &refs(&b), &refs(&c), Extra { metadata: None, scales }, &mut d).expect("defined");
    let mut results = vec![0; m * n];
    for lane in 0..32 {
        (0..m * n / 32).for_each(|i| results[place(lane, i)] = unpack(&d, form.d, lane, i));
    }
    results
}

/// Results of four tiles of `mma.m8n8k4`.
fn four_products(plan: &Plan, tiles: &[Tile]) -> Vec<Vec<u32>> {
    let form = &plan.form;
    let [na, nb, nc, nd] = form.registers();
    let place = |output: Output, lane: usize, i: usize| {
        let (row, column) = if output == Output::F16 { quad::f16(lane, i) } else { quad::f32(lane, i) };
        row * 8 + column
    };
    let tile = |lane: usize| &tiles[quad::product(lane)];
    let a = pack(na, 16, |lane, i| {
        let (row, k) = quad::a(lane, i, true);
        tile(lane).a[row * 4 + k]
    });
    let b = pack(nb, 16, |lane, i| {
        let (k, column) = quad::b(lane, i, false);
        tile(lane).b[k * 8 + column]
    });
    let c = pack(nc, accumulator_bits(form.c), |lane, i| tile(lane).c[place(form.c, lane, i)]);
    let mut d = vec![[0; 32]; nd];
    plan.run(&refs(&a), &refs(&b), &refs(&c), Extra::default(), &mut d).expect("defined");
    let mut results = vec![vec![0; 64]; 4];
    for lane in 0..32 {
        (0..8).for_each(|i| results[quad::product(lane)][place(form.d, lane, i)] = unpack(&d, form.d, lane, i));
    }
    results
}

/// Results of one warp of `wgmma`: sixteen rows.
fn warp_of_group(form: &WarpGroupForm, tile: &Tile) -> Vec<u32> {
    let (n, k) = (form.n, form.k);
    let mut b = vec![0; k * n];
    (0..k * n).for_each(|i| b[b_index(k, i / n, i % n)] = tile.b[i]);
    let place = |lane: usize, i: usize| {
        let (row, column) = fragment::warpgroup(lane, i);
        row * n + column
    };
    let mut d = pack(form.registers().0, accumulator_bits(form.d), |lane, i| tile.c[place(lane, i)]);
    let options = Options { accumulate: true, negate_a: false, negate_b: false, metadata: None };
    warpgroup::run(form, tile.a.clone(), b, options, &mut d).expect("defined");
    let mut results = vec![0; warpgroup::ROWS * n];
    for lane in 0..32 {
        (0..n / 2).for_each(|i| results[place(lane, i)] = unpack(&d, form.d, lane, i));
    }
    results
}

fn fnv(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

const EMPTY: u64 = 0xcbf2_9ce4_8422_2325;

/// Results of all tiles of a form.
fn results(target: &str, opcode: &str) -> Vec<Vec<u32>> {
    let number = target.trim_start_matches("sm_").trim_end_matches('a').parse().expect("a number");
    let mut random = Random(fnv(EMPTY, format!("{target} {opcode}").as_bytes()) | 1);
    if opcode.starts_with("wgmma") {
        let form = WarpGroupForm::parse(opcode).expect("a form");
        // Sixteen rows are one warp's part.
        let shape = Form { m: warpgroup::ROWS, ..Form::from(&form) };
        let tile = |t: usize, random: &mut Random| warp_of_group(&form, &Tile::new(random, &shape, t % 8));
        return (0..TILES).map(|t| tile(t, &mut random)).collect();
    }
    let form = Form::parse(opcode).expect("a form");
    form.check(number, target.ends_with('a'), target.ends_with('a')).expect("a form of this architecture");
    let plan = Plan::new(form, number);
    let tiles: Vec<Tile> = (0..TILES).map(|t| Tile::new(&mut random, &form, t % 8)).collect();
    if form.is_quad() {
        tiles.chunks(4).flat_map(|four| four_products(&plan, four)).collect()
    } else {
        tiles.iter().map(|tile| product(&plan, tile)).collect()
    }
}

#[test]
fn sums_are_those_of_a_published_model() {
    let mut wrong = Vec::new();
    let mut forms = 0;
    for line in TABLE.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [target, opcode, digest, first] = fields[..] else { panic!("{line}") };
        let results = results(target, opcode);
        let row: Vec<String> = results[0][..8].iter().map(|x| format!("{x:x}")).collect();
        let hash = results.iter().flatten().fold(EMPTY, |hash, x| fnv(hash, &x.to_le_bytes()));
        if format!("{hash:016x}") != digest {
            wrong.push(format!("{target} {opcode}: {hash:016x}, first row {}, not {first}", row.join(" ")));
        }
        forms += 1;
    }
    assert!(forms > 80, "{forms} forms");
    assert!(wrong.is_empty(), "{} of {forms} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// The first result of an `mma` on sm_90 of one row and one column, added to zero.
fn first_sum(opcode: &str, a: &[u32], b: &[u32]) -> u32 {
    let form = Form::parse(opcode).expect("a form");
    let (m, n, k) = (form.m, form.n, form.k);
    let mut tile = Tile { a: vec![0; m * k], b: vec![0; k * n], c: vec![0; m * n], scales: [Vec::new(), Vec::new()] };
    tile.a[..a.len()].copy_from_slice(a);
    b.iter().enumerate().for_each(|(kk, &code)| tile.b[kk * n] = code);
    product(&Plan::new(form, 90), &tile)[0]
}

/// Asked of an H100 (driver 580.159.04): what is too small becomes +0, and beside an accumulator of zero products lose what
/// lies 25 bits below 2^-133, or below 2^-21 where the result is f16.
#[test]
fn sums_far_below_the_normal_numbers_are_those_of_an_h100() {
    const F16: &str = "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16";
    const BF16: &str = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32";
    const BF16_K8: &str = "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32";
    assert_eq!(first_sum(F16, &[0x0001], &[0x8400]), 0);
    for opcode in [BF16, BF16_K8] {
        assert_eq!(first_sum(opcode, &[0x0080], &[0xb380]), 0, "{opcode}");
        assert_eq!(first_sum(opcode, &[0x0080; 8], &[0x32c0; 8]), 1, "{opcode}");
    }
    assert_eq!(first_sum(F16, &[0x0400, 0x0001], &[0x1000, 0x0001]), 0);
    // 2^-149 in parts down to one that is there twice.
    let power = |exponent: i32| ((exponent + 127) as u32) << 7;
    for least in 151..=162 {
        let b: Vec<u32> = (150..=least).chain([least]).map(|part| power(70 - part)).collect();
        let sum = first_sum(BF16, &vec![power(-70); b.len()], &b);
        assert_eq!(sum, u32::from(least <= 158), "down to 2^-{least}");
    }
    // Half of the least f16, and a little more.
    let subnormal = |exponent: u32| if exponent <= 14 { (15 - exponent) << 10 } else { 1 << (24 - exponent) };
    for more in 40..=48 {
        let (x, y) = (subnormal(more / 2), subnormal(more - more / 2));
        assert_eq!(first_sum(F16, &[0x0400, x], &[0x1000, y]), u32::from(more <= 46), "2^-{more}");
    }
}
