//! Matrices in shared memory: rows for ldmatrix and stmatrix, descriptors and swizzles for wgmma.

// Lanes index several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::Random;
use ptx_emulator::num::fragment;
use ptx_emulator::num::mma::descriptor::{Descriptor, Swizzle};
use ptx_emulator::num::mma::rows::{Kind, RowsForm, transpose};
use ptx_emulator::num::mma::warp::Row;
use ptx_emulator::num::mma::warpgroup::{Options, WarpGroupForm, run};

#[test]
fn ldmatrix_gives_mma_fragments() {
    // A 16x16 f16 matrix whose element (r, c) is 16 r + c, as rows for x4: lanes 0-15 the left half, 16-31 the right.
    let element = |r: usize, c: usize| (16 * r + c) as u16;
    let row = |lane: usize| {
        let (r, c) = (lane % 16, lane / 16 * 8);
        let mut bytes = [0u8; 16];
        for i in 0..8 {
            bytes[2 * i..][..2].copy_from_slice(&element(r, c + i).to_le_bytes());
        }
        bytes
    };
    let rows: Vec<[u8; 16]> = (0..32).map(row).collect();
    let form = RowsForm::parse("ldmatrix.sync.aligned.m8n8.x4.shared.b16").unwrap();
    let mut registers = [[0u32; 32]; 4];
    form.load(&rows, &mut registers);
    let layout = fragment::Operand::a(16, 16, 2);
    for r in 0..4 {
        for lane in 0..32 {
            for e in 0..2 {
                let (row, k) = layout.at(lane, r, e);
                assert_eq!((registers[r][lane] >> (16 * e)) as u16, element(row, k));
            }
        }
    }
    // Transposed, a 8x8 quarter is what movmatrix makes of the plain one.
    let transposed = RowsForm::parse("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16").unwrap();
    let mut turned = [[0u32; 32]; 4];
    transposed.load(&rows, &mut turned);
    for r in 0..4 {
        assert_eq!(turned[r], transpose(&registers[r]));
        assert_eq!(transpose(&turned[r]), registers[r]);
    }
}

#[test]
fn stores_invert_loads() {
    let mut random = Random(83);
    for opcode in [
        "stmatrix.sync.aligned.m8n8.x1.shared.b16",
        "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16",
        "stmatrix.sync.aligned.m16n8.x2.trans.shared.b8",
        "stmatrix.sync.aligned.m16n8.x4.trans.shared.b8",
    ] {
        let form = RowsForm::parse(opcode).unwrap();
        let registers: Vec<Row> =
            (0..form.registers()).map(|_| std::array::from_fn(|_| random.bits() as u32)).collect();
        let mut rows = vec![[0u8; 16]; form.rows()];
        form.store(&registers.iter().collect::<Vec<_>>(), &mut rows);
        let mut back = vec![[0u32; 32]; form.registers()];
        form.load(&rows, &mut back);
        assert_eq!(back, registers, "{opcode}");
    }
    // An fp8 accumulator tile (g, 2t), (g, 2t+1), (g+8, 2t), (g+8, 2t+1) lands transposed: byte m of row n.
    let form = RowsForm { kind: Kind::StoreB8, count: 1 };
    let c = fragment::Accumulator::new(16, 8);
    let register: Row = std::array::from_fn(|lane| {
        u32::from_le_bytes(std::array::from_fn(|i| {
            let (m, n) = c.at(lane, i);
            (8 * m + n) as u8
        }))
    });
    let mut rows = vec![[0u8; 16]; 8];
    form.store(&[&register], &mut rows);
    for n in 0..8 {
        for m in 0..16 {
            assert_eq!(rows[n][m], (8 * m + n) as u8);
        }
    }
}

#[test]
fn eight_bit_loads_give_operands_of_mma() {
    // 16 rows (k) of 16 columns (n): transposed, register 0 is B of m16n8k.. for columns 0-7, register 1 for 8-15.
    let rows: Vec<[u8; 16]> = (0..16).map(|k| std::array::from_fn(|n| (16 * k + n) as u8)).collect();
    let form = RowsForm::parse("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8").unwrap();
    let mut registers = [[0u32; 32]; 2];
    form.load(&rows, &mut registers);
    let b = fragment::Operand::b(8, 16, 4);
    for lane in 0..32 {
        for e in 0..4 {
            let (n, k) = b.at(lane, 0, e);
            for half in 0..2 {
                assert_eq!((registers[half][lane] >> (8 * e)) as u8, (16 * k + n + 8 * half) as u8);
            }
        }
    }
    // Packed rows: 4-bit elements i, then 6-bit ones, each into the low bits of a byte.
    let four = RowsForm::parse("ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64").unwrap();
    let mut row = [0xffu8; 16];
    row[..8].copy_from_slice(&[0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe]);
    let mut one = [[0u32; 32]; 1];
    four.load(&[row; 8], &mut one);
    assert_eq!(one[0][..4], [0x0302_0100, 0x0706_0504, 0x0b0a_0908, 0x0f0e_0d0c]);
    let six = RowsForm::parse("ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32").unwrap();
    let packed = (0..16u128).fold(0, |all, i| all | (i + 40) << (6 * i));
    six.load(&[packed.to_le_bytes(); 8], &mut one);
    assert_eq!(one[0][1], u32::from_le_bytes([44, 45, 46, 47]));
    for (opcode, arch, specific) in [
        ("ldmatrix.sync.aligned.m16n16.x4.trans.shared.b8", 120, true),
        ("ldmatrix.sync.aligned.m16n16.x1.shared.b8", 120, true),
        ("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8", 120, false),
        ("stmatrix.sync.aligned.m8n8.x1.shared.b16", 80, false),
        ("stmatrix.sync.aligned.m8n8.x1.shared::cluster.b16", 90, true),
        ("ldmatrix.sync.aligned.m8n8.x1.shared::cluster.b16", 121, true),
        ("ldmatrix.sync.aligned.m8n16.x1.shared.b8.b4x16_p64", 120, true),
    ] {
        let refused = RowsForm::parse(opcode).and_then(|f| f.check(arch, specific, opcode.starts_with("st")));
        assert!(refused.is_err(), "{opcode}");
    }
}

fn descriptor(start: u32, leading: u32, stride: u32, mode: u64) -> u64 {
    u64::from(start >> 4) | u64::from(leading >> 4) << 16 | u64::from(stride >> 4) << 32 | mode << 62
}

#[test]
fn descriptors_follow_the_canonical_layouts() {
    let plain = Descriptor::decode(descriptor(0x400, 128, 256, 0));
    assert_eq!((plain.start, plain.leading, plain.stride, plain.swizzle), (0x400, 128, 256, Swizzle::None));
    // Core matrices of 8 x 16 bytes: 128 apart in k, 256 in m.
    assert_eq!(plain.k_major(3, 0), 0x400 + 48);
    assert_eq!(plain.k_major(9, 1), 0x400 + 256 + 16 + 128);
    assert_eq!(plain.mn_major(1, 9), 0x400 + 256 + 16 + 128);
    // 128-byte swizzle: row r of an atom has its chunks XORed with r.
    let swizzled = Descriptor::decode(descriptor(0x800, 16, 1024, 1));
    for r in 0..8 {
        for k in 0..2 {
            assert_eq!(swizzled.k_major(r, k), 0x800 + 128 * r + 16 * (k ^ r));
            assert_eq!(swizzled.k_major(r + 8, k), 0x800 + 1024 + 128 * r + 16 * (k ^ r));
        }
    }
    // The second k step of a 128-byte row starts 32 bytes on.
    let second = Descriptor::decode(descriptor(0x820, 16, 1024, 1));
    assert_eq!(second.k_major(5, 1), 0x800 + 128 * 5 + 16 * (3 ^ 5));
    let s64 = Descriptor::decode(descriptor(0x200, 16, 512, 2));
    assert_eq!(s64.k_major(3, 1), 0x200 + 64 * 3, "row pairs share a XOR: rows 2 and 3 exchange chunks");
    let s32 = Descriptor::decode(descriptor(0x100, 16, 256, 3));
    assert_eq!(s32.k_major(5, 0), 0x100 + 32 * 5 + 16);
    // MN-major with 128-byte rows of 64 f16: chunk mn at k, next 64 columns `leading` on.
    let mn = Descriptor::decode(descriptor(0x400, 2048, 1024, 1));
    assert_eq!(mn.mn_major(9, 10), 0x400 + 2048 + 1024 + 128 * 2 + 16 * (1 ^ 2));
    // A pattern that starts 3 rows into a kilobyte says so.
    let shifted = Descriptor::decode(descriptor(0x580, 16, 1024, 1) | 3 << 49);
    assert_eq!(shifted.k_major(0, 1), 0x590);
}

#[test]
fn one_warp_of_a_warpgroup_multiplies() {
    let mut random = Random(89);
    for (opcode, negate) in [
        ("wgmma.mma_async.sync.aligned.m64n24k16.f32.f16.f16", false),
        ("wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16", true),
        ("wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32", false),
        ("wgmma.mma_async.sync.aligned.m64n64k32.f16.e4m3.e5m2", false),
        ("wgmma.mma_async.sync.aligned.m64n32k32.s32.u8.s8.satfinite", false),
    ] {
        let form = WarpGroupForm::parse(opcode).unwrap();
        let (n, k) = (form.n, form.k);
        let small = |random: &mut Random| (random.bits() % 5) as i32 - 2;
        let a: Vec<i32> = (0..16 * k).map(|_| small(&mut random)).collect();
        let b: Vec<i32> = (0..k * n).map(|_| small(&mut random)).collect();
        let encode = |x: i32, input| match input {
            ptx_emulator::num::mma::form::Input::Float(e) => {
                let f = match e {
                    ptx_emulator::num::mma::Element::F16 => ptx_emulator::num::Format::F16,
                    ptx_emulator::num::mma::Element::Bf16 => ptx_emulator::num::Format::BF16,
                    ptx_emulator::num::mma::Element::Tf32 => ptx_emulator::num::Format::TF32,
                    ptx_emulator::num::mma::Element::E4m3 => ptx_emulator::num::Format::E4M3,
                    _ => ptx_emulator::num::Format::E5M2,
                };
                f.encode(x.into(), ptx_emulator::num::Rounding::Rn, ptx_emulator::num::Overflow::Infinity) as u32
            }
            _ => x as u32 & 0xff,
        };
        let unsigned = opcode.contains("u8");
        let a: Vec<i32> = a.into_iter().map(|x| if unsigned { x.abs() } else { x }).collect();
        let codes_a: Vec<u32> = a.iter().map(|&x| encode(x, form.a)).collect();
        let mut codes_b = vec![0; k * n];
        for kk in 0..k {
            for j in 0..n {
                let integer = matches!(form.b, ptx_emulator::num::mma::form::Input::Int { .. });
                let at = if integer { kk * n + j } else { ptx_emulator::num::mma::b_index(k, kk, j) };
                codes_b[at] = encode(b[kk * n + j], form.b);
            }
        }
        let mut d = vec![[0u32; 32]; form.registers().0];
        for pass in 0..2 {
            let options = Options { accumulate: pass == 1, negate_a: negate, negate_b: false, metadata: None };
            run(&form, codes_a.clone(), codes_b.clone(), options, &mut d).unwrap();
            for i in 0..n / 2 {
                for lane in 0..32 {
                    let (row, column) = fragment::warpgroup(lane, i);
                    let exact: i32 = (0..k).map(|kk| a[row * k + kk] * b[kk * n + column]).sum::<i32>() * (pass + 1);
                    let exact = if negate { -exact } else { exact };
                    let got = match form.d {
                        ptx_emulator::num::mma::form::Output::S32 => d[i][lane] as i32,
                        ptx_emulator::num::mma::form::Output::F16 => {
                            ptx_emulator::num::half::f16_to_f32((d[i / 2][lane] >> (16 * (i % 2))) as u16) as i32
                        }
                        _ => f32::from_bits(d[i][lane]) as i32,
                    };
                    assert_eq!(got, exact, "{opcode} pass {pass} {row},{column}");
                }
            }
        }
    }
    for opcode in [
        "wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16",
        "wgmma.mma_async.sync.aligned.m64n264k16.f32.f16.f16",
        "wgmma.mma_async.sync.aligned.m64n8k16.f16.bf16.bf16",
        "wgmma.mma_async.sync.aligned.m64n40k32.s32.s8.s8",
        "wgmma.fence.sync.aligned",
    ] {
        assert!(WarpGroupForm::parse(opcode).is_err(), "{opcode}");
    }
}
