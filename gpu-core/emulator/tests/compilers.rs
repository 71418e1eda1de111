//! PTX of other compilers than NVRTC: Triton's, and what LLVM's back end writes for C++. Every number is computed here
//! once more, and is small enough to be exact.

mod common;

use common::*;
use ptx_emulator::Launch;

const TRITON: &str = include_str!("ptx/triton.sm_90a.ptx");
const LLVM: &str = include_str!("ptx/llvm.sm_90.ptx");

/// Small whole numbers, none like its neighbours.
fn numbers(count: usize) -> Vec<f32> {
    (0..count as u32).map(|i| ((i.wrapping_mul(2_654_435_761) >> 7) % 21) as f32 - 10.0).collect()
}

/// Blocks make a tensor map of nothing, and add up tiles through it; the last two rows of each lie outside.
#[test]
fn triton_makes_tensor_maps_and_adds_through_them() {
    let (module, mut memory) = (load(TRITON), memory());
    let values = numbers(5 * 32 * 32);
    let x = upload_f32(&mut memory, "x", &values);
    let sums = upload_f32(&mut memory, "sums", &[0.0; 30 * 32]);
    let maps = upload_u32(&mut memory, "maps", &[0; 5 * 32]);
    let launch = Launch::new("red_desc_k", [5, 1, 1], [128, 1, 1]).shared(4096);
    let launch = launch.arg_u64(x).arg_u64(sums).arg_u32(30).arg_u32(32).arg_u64(maps).arg_u64(0);
    run_clean(&module, &mut memory, &launch);
    let expected: Vec<f32> = (0..30 * 32).map(|at| (0..5).map(|tile| values[tile * 1024 + at]).sum()).collect();
    assert_eq!(download_f32(&memory, sums, 30 * 32), expected);
}

#[test]
fn triton_scans_pairs() {
    let (module, mut memory) = (load(TRITON), memory());
    let factors: Vec<f32> = numbers(512).iter().map(|n| if *n > 2.0 { -1.0 } else { 1.0 }).collect();
    let terms = numbers(600)[88..].to_vec();
    let [a, b] = [&factors, &terms].map(|values| upload_f32(&mut memory, "in", values));
    let [products, states] = [0, 1].map(|_| upload_f32(&mut memory, "out", &[0.0; 512]));
    let launch = Launch::new("scan2_k", [1, 1, 1], [128, 1, 1]).shared(32);
    let launch = [a, b, products, states, 0, 0].into_iter().fold(launch, Launch::arg_u64);
    run_clean(&module, &mut memory, &launch);
    let (mut product, mut state) = (1.0, 0.0);
    let mut expected = (Vec::new(), Vec::new());
    for (factor, term) in factors.iter().zip(&terms) {
        (product, state) = (product * factor, state * factor + term);
        expected.0.push(product);
        expected.1.push(state);
    }
    assert_eq!((download_f32(&memory, products, 512), download_f32(&memory, states, 512)), expected);
}

#[test]
fn tritons_last_block_adds_what_all_blocks_left() {
    let (module, mut memory) = (load(TRITON), memory());
    let values = numbers(16 * 256);
    let x = upload_f32(&mut memory, "x", &values);
    let parts = upload_f32(&mut memory, "parts", &[0.0; 16]);
    let count = upload_u32(&mut memory, "count", &[0]);
    let sum = upload_f32(&mut memory, "sum", &[0.0]);
    let launch = Launch::new("last_k", [16, 1, 1], [128, 1, 1]).shared(16);
    let launch = launch.arg_u64(x).arg_u64(parts).arg_u64(count).arg_u64(sum).arg_u32(4096).arg_u64(0).arg_u64(0);
    run_clean(&module, &mut memory, &launch);
    assert_eq!(download_f32(&memory, sum, 1), [values.iter().sum::<f32>()]);
}

const COUNT: usize = 32;

/// Some of everything: small, large, zero, all ones.
fn inputs() -> Vec<u64> {
    let mut state = 88_172_645_463_325_252_u64;
    let mut inputs: Vec<u64> = (0..COUNT)
        .map(|index| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            if index % 5 == 0 { state >> 40 } else { state }
        })
        .collect();
    (inputs[3], inputs[4], inputs[6]) = (0, u64::MAX, 1 << 63);
    inputs
}

/// What a kernel makes of the inputs, one thread each.
fn computed(kernel: &str) -> Vec<u64> {
    let (module, mut memory) = (load(LLVM), memory());
    let words: Vec<u32> = inputs().iter().flat_map(|value| [*value as u32, (value >> 32) as u32]).collect();
    let input = upload_u32(&mut memory, "in", &words);
    let out = upload_u32(&mut memory, "out", &[0; 2 * COUNT]);
    run_clean(&module, &mut memory, &Launch::new(kernel, [2, 1, 1], [16, 1, 1]).arg_u64(out).arg_u64(input));
    wide(&download_u32(&memory, out, 2 * COUNT))
}

fn wide(words: &[u32]) -> Vec<u64> {
    words.chunks_exact(2).map(|pair| u64::from(pair[0]) | u64::from(pair[1]) << 32).collect()
}

/// `f` of each index.
fn expected(f: impl Fn(usize, &dyn Fn(usize) -> u64) -> u64) -> Vec<u64> {
    let inputs = inputs();
    let input = |at: usize| inputs[at % COUNT];
    (0..COUNT).map(|index| f(index, &input)).collect()
}

#[test]
fn llvm_jumps_by_a_table() {
    let case = |x: u32, y: u32| match x % 11 {
        0 => y.wrapping_add(1),
        1 => y.wrapping_mul(3),
        2 => y ^ 0x55,
        3 => y / 7,
        4 => y % 11,
        5 => y << 3,
        7 => !y,
        8 => y.wrapping_neg(),
        _ => 0xdead,
    };
    let all = |index: usize, input: &dyn Fn(usize) -> u64| {
        (0..20u32).fold(0u64, |sum, k| {
            let value = case(index as u32 + k, (input(index) as u32).wrapping_add(k));
            sum.wrapping_mul(31).wrapping_add(value.into())
        })
    };
    assert_eq!(computed("switches"), expected(all));
}

#[test]
fn llvm_calls_through_a_table() {
    let all = |index: usize, input: &dyn Fn(usize) -> u64| {
        (0..4).fold(0u64, |sum, k| {
            let (a, b) = (sum.wrapping_add(input(index)), input(index + k));
            if (index + k).is_multiple_of(2) { a.wrapping_add(b) } else { a ^ b << 3 }
        })
    };
    assert_eq!(computed("pointers"), expected(all));
}

#[test]
fn llvm_splits_128_bits() {
    let fold = |value: u128| value as u64 ^ (value >> 64) as u64;
    let all = |index: usize, input: &dyn Fn(usize) -> u64| {
        let pair = |at: usize| u128::from(input(at)) << 64 | u128::from(input(at + 1));
        let (a, b) = (pair(index), pair(index + 2));
        let product = a.wrapping_mul(b).wrapping_add(a >> 7).wrapping_sub(b << 9);
        let (right, left) = ((a as i128 >> (index % 128)) as u128, a << (input(index) % 128));
        let order = u64::from(a < b) + 2 * u64::from((a as i128) < b as i128) + 4 * u64::from(a == b);
        fold(product) ^ fold(right) ^ fold(left) ^ order
    };
    assert_eq!(computed("wide"), expected(all));
}

#[test]
fn llvm_sorts_in_local_memory() {
    let all = |index: usize, input: &dyn Fn(usize) -> u64| {
        let mut bytes: Vec<u8> = (0..32).map(|k| (input(index + k) >> (k % 8)) as u8).collect();
        bytes.sort_unstable();
        bytes.iter().fold(0u64, |sum, byte| sum.wrapping_mul(33).wrapping_add((*byte).into()))
    };
    assert_eq!(computed("bytes"), expected(all));
}

#[test]
fn llvm_reads_structures_and_vectors_from_parameters() {
    let (module, mut memory) = (load(LLVM), memory());
    let out = upload_u32(&mut memory, "out", &[0; 2 * COUNT]);
    let mut structure = [0; 24];
    structure[0] = 7;
    structure[2..4].copy_from_slice(&300u16.to_le_bytes());
    structure[4..8].copy_from_slice(&70_000u32.to_le_bytes());
    structure[8..16].copy_from_slice(&(1u64 << 40).to_le_bytes());
    structure[16..21].copy_from_slice(&[1, 2, 3, 4, 5]);
    let vector: Vec<u8> = [10u32, 20, 30, 40].iter().flat_map(|part| part.to_le_bytes()).collect();
    let launch = Launch::new("parameters", [2, 1, 1], [16, 1, 1]).arg(&structure).arg(&[200]).arg_u64(out);
    let launch = launch.arg(&(5u128 | 6 << 64).to_le_bytes()).arg(&[1]).arg(&vector);
    run_clean(&module, &mut memory, &launch);
    let fixed = 7 + 300 + 70_000 + (1u64 << 40) + 200 + 5 + 6 + 1;
    let all = |index: usize, _: &dyn Fn(usize) -> u64| fixed + index as u64 % 5 + 1 + 10 * (index as u64 % 4 + 1);
    assert_eq!(wide(&download_u32(&memory, out, 2 * COUNT)), expected(all));
}
