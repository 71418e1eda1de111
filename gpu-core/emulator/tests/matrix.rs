//! Matrix instructions in kernels that NVRTC compiled (sources beside the PTX), against products in f64.

use std::sync::atomic::AtomicBool;

use ptx_emulator::num::format::{Format, Overflow, Rounding};
use ptx_emulator::{FaultKind, Launch, Memory, Module, Options, Outcome, launch};

const SM80: &str = include_str!("ptx/matrix_sm80.ptx");
const SM90A: &str = include_str!("ptx/matrix_sm90a.ptx");
const SM121A: &str = include_str!("ptx/matrix_sm121a.ptx");

/// Runs one block of a kernel over input buffers; the last buffer is the output, `output_bytes` long.
fn run(ptx: &str, kernel: &str, threads: u32, inputs: &[Vec<u8>], output_bytes: usize) -> (Outcome, Vec<u8>) {
    let module = Module::load(ptx).unwrap_or_else(|e| panic!("{e}"));
    let mut memory = Memory::new(1 << 24);
    let mut call = Launch::new(kernel, [1, 1, 1], [threads, 1, 1]);
    for (i, data) in inputs.iter().enumerate() {
        let address = memory.alloc(&format!("input{i}"), data.len() as u64).unwrap();
        memory.write(address, data).unwrap();
        call = call.arg_u64(address);
    }
    let output = memory.alloc("output", output_bytes as u64).unwrap();
    call = call.arg_u64(output);
    let outcome = launch(&module, &mut memory, &call, &Options::default(), &AtomicBool::new(false));
    let mut bytes = vec![0; output_bytes];
    memory.read(output, &mut bytes).unwrap();
    (outcome, bytes)
}

/// Runs a kernel that must have no fault.
fn good(ptx: &str, kernel: &str, threads: u32, inputs: &[Vec<u8>], output_bytes: usize) -> (Outcome, Vec<u8>) {
    let (outcome, bytes) = run(ptx, kernel, threads, inputs, output_bytes);
    assert!(outcome.completed && outcome.faults.is_empty(), "{kernel}: {:?}", outcome.faults);
    (outcome, bytes)
}

struct Random(u64);

impl Random {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    /// Multiples of a quarter from -2 to 2: products and short sums are exact in every format.
    fn values(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.next(17) as f64 / 4.0 - 2.0).collect()
    }
}

fn encode(format: &Format, values: &[f64]) -> Vec<u8> {
    let bytes = format.bits().div_ceil(8) as usize;
    let code = |&x: &f64| format.encode(x, Rounding::Rn, Overflow::Saturate).to_le_bytes()[..bytes].to_vec();
    values.iter().flat_map(code).collect()
}

fn floats(bytes: &[u8]) -> Vec<f64> {
    bytes.chunks(4).map(|b| f64::from(f32::from_le_bytes([b[0], b[1], b[2], b[3]]))).collect()
}

/// A (m x k, row by row) times B (k x n, `b(k, n)`).
fn product((m, n, k): (usize, usize, usize), a: &[f64], b: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    (0..m * n).map(|i| (0..k).map(|kk| a[i / n * k + kk] * b(kk, i % n)).sum()).collect()
}

#[test]
fn ldmatrix_feeds_mma() {
    let mut random = Random(1);
    let (a, b) = (random.values(16 * 32), random.values(8 * 32));
    let inputs = [encode(&Format::F16, &a), encode(&Format::F16, &b)];
    let (outcome, out) = good(SM80, "mma_ldmatrix", 32, &inputs, 16 * 8 * 4);
    assert_eq!(floats(&out), product((16, 8, 32), &a, |k, n| b[n * 32 + k]));
    assert_eq!(outcome.counters.matrix_instructions, 2);
    assert_eq!(outcome.counters.matrix_multiply_adds, 16 * 8 * 32);
}

#[test]
fn wmma_loads_multiplies_and_stores() {
    let mut random = Random(2);
    let (a, b) = (random.values(256), random.values(256));
    let inputs = [encode(&Format::F16, &a), encode(&Format::F16, &b)];
    let (_, out) = good(SM80, "wmma_f16", 32, &inputs, 1024);
    assert_eq!(floats(&out), product((16, 16, 16), &a, |k, n| b[k * 16 + n]));
    // m8n32k16 of bytes: A column by column, D column by column, C is 1 everywhere.
    let a: Vec<u8> = (0..8 * 16).map(|_| random.next(256) as u8).collect();
    let b: Vec<u8> = (0..16 * 32).map(|_| random.next(256) as u8).collect();
    let (_, out) = good(SM80, "wmma_u8", 32, &[a.clone(), b.clone()], 8 * 32 * 4);
    for (i, d) in out.chunks(4).enumerate() {
        let (row, column) = (i % 8, i / 8);
        let exact: i32 = (0..16).map(|k| i32::from(a[k * 8 + row]) * i32::from(b[k * 32 + column])).sum();
        assert_eq!(i32::from_le_bytes([d[0], d[1], d[2], d[3]]), exact + 1);
    }
}

/// Stored elements, dense rows and metadata words for selector 1 of m16n8k32.
fn sparse(random: &mut Random) -> (Vec<f64>, Vec<f64>, Vec<u32>) {
    let stored = random.values(16 * 16);
    let (mut dense, mut metadata) = (vec![0.0; 16 * 32], vec![0u32; 32]);
    for row in 0..16 {
        for chunk in 0..8 {
            let [first, second] = [[0, 1], [0, 2], [1, 2], [0, 3], [1, 3], [2, 3]][random.next(6) as usize];
            // Selector 1: lanes 2 and 3 of each quad hold 16 bits of row g below and of row g + 8 above.
            let lane = row % 8 * 4 + 2 + chunk / 4;
            metadata[lane] |= ((first | second << 2) as u32) << (row / 8 * 16 + chunk % 4 * 4);
            dense[row * 32 + chunk * 4 + first] = stored[row * 16 + 2 * chunk];
            dense[row * 32 + chunk * 4 + second] = stored[row * 16 + 2 * chunk + 1];
        }
    }
    (stored, dense, metadata)
}

#[test]
fn sparse_operands_follow_their_metadata() {
    let mut random = Random(3);
    let (stored, dense, mut metadata) = sparse(&mut random);
    let b = random.values(8 * 32);
    let words = |m: &[u32]| m.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
    let inputs = [encode(&Format::F16, &stored), encode(&Format::F16, &b), words(&metadata)];
    let (_, out) = good(SM80, "mma_sparse", 32, &inputs, 16 * 8 * 4);
    assert_eq!(floats(&out), product((16, 8, 32), &dense, |k, n| b[n * 32 + k]));
    metadata[2] &= !0xf;
    let inputs = [encode(&Format::F16, &stored), encode(&Format::F16, &b), words(&metadata)];
    let (outcome, _) = run(SM80, "mma_sparse", 32, &inputs, 16 * 8 * 4);
    let fault = outcome.faults.first().expect("impossible metadata is a fault");
    assert_eq!(fault.kind, FaultKind::UndefinedResult);
    assert!(fault.message.contains("row 0, chunk 0") && fault.source.is_some(), "{}", fault.message);
}

#[test]
fn doubles_and_transposes() {
    let mut random = Random(4);
    let (a, b) = (random.values(32), random.values(32));
    let (_, out) = good(SM80, "mma_f64", 32, &[encode(&Format::F64, &a), encode(&Format::F64, &b)], 512);
    let got: Vec<f64> = out.chunks(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect();
    assert_eq!(got, product((8, 8, 4), &a, |k, n| b[k * 8 + n]));
    let matrix: Vec<u8> = (0..64u16).flat_map(u16::to_le_bytes).collect();
    let (_, out) = good(SM80, "transpose", 32, &[matrix], 128);
    let got: Vec<u16> = out.chunks(2).map(|b| u16::from_le_bytes([b[0], b[1]])).collect();
    assert_eq!(got, (0..64).map(|i| i % 8 * 8 + i / 8).collect::<Vec<u16>>());
}

#[test]
fn part_of_a_warp_is_reported() {
    let (outcome, _) = run(SM80, "mma_divergent", 16, &[vec![0; 64]], 64);
    let fault = outcome.faults.first().expect("16 threads are no warp");
    assert_eq!(fault.kind, FaultKind::MaskMisuse);
    assert!(fault.message.contains("16 of 32 lanes"), "{}", fault.message);
}

#[test]
fn warpgroups_multiply_swizzled_tiles() {
    let mut random = Random(5);
    let (a, b) = (random.values(64 * 64), random.values(32 * 64));
    let inputs = [encode(&Format::BF16, &a), encode(&Format::BF16, &b)];
    let (outcome, out) = good(SM90A, "wgmma_bf16", 128, &inputs, 64 * 32 * 4);
    assert_eq!(floats(&out), product((64, 32, 64), &a, |k, n| b[n * 64 + k]));
    assert_eq!(outcome.counters.matrix_multiply_adds, 64 * 32 * 64);
}

#[test]
fn stmatrix_writes_rows() {
    let (_, out) = good(SM90A, "stmatrix_rows", 32, &[], 512);
    let got: Vec<u16> = out.chunks(2).map(|b| u16::from_le_bytes([b[0], b[1]])).collect();
    assert_eq!(got, (0..256).collect::<Vec<u16>>());
}

#[test]
fn nvfp4_applies_a_scale_to_each_sixteen() {
    let mut random = Random(6);
    let codes = |count: usize, random: &mut Random| (0..count).map(|_| random.next(16) as u8).collect::<Vec<u8>>();
    let (a, b) = (codes(16 * 64, &mut random), codes(8 * 64, &mut random));
    let scales =
        |count: usize, random: &mut Random| (0..count).map(|_| 0x30 + random.next(24) as u8).collect::<Vec<u8>>();
    let (sa, sb) = (scales(16 * 4, &mut random), scales(8 * 4, &mut random));
    let packed = |c: &[u8]| c.chunks(2).map(|p| p[0] | p[1] << 4).collect::<Vec<u8>>();
    let (_, out) = good(SM121A, "nvfp4", 32, &[packed(&a), packed(&b), sa.clone(), sb.clone()], 16 * 8 * 4);
    let value = |codes: &[u8], scales: &[u8], row: usize, k: usize| {
        Format::E2M1.decode(codes[row * 64 + k].into()) * Format::UE4M3.decode(scales[row * 4 + k / 16].into())
    };
    for (i, got) in floats(&out).into_iter().enumerate() {
        let exact: f64 = (0..64).map(|k| value(&a, &sa, i / 8, k) * value(&b, &sb, i % 8, k)).sum();
        // The products are exact; f32 rounds the sum toward zero.
        assert!((got - exact).abs() <= exact.abs() * 2f64.powi(-23), "{i}: {got} for {exact}");
    }
}

#[test]
fn fp8_with_a_transposing_load() {
    let mut random = Random(7);
    let (a, b) = (random.values(16 * 32), random.values(32 * 16));
    let inputs = [encode(&Format::E4M3, &a), encode(&Format::E4M3, &b)];
    let (_, out) = good(SM121A, "fp8_ldmatrix", 32, &inputs, 16 * 8 * 4);
    assert_eq!(floats(&out), product((16, 8, 32), &a, |k, n| b[k * 16 + n]));
}

#[test]
fn forms_of_other_architectures_are_refused_when_loading() {
    let moved = SM121A.replace("sm_121a", "sm_120");
    let error = Module::load(&moved).expect_err("sm_120 has no block scales").to_string();
    assert!(error.contains("sm_120a"), "{error}");
    let moved = SM90A.replace("sm_90a", "sm_100a");
    let error = Module::load(&moved).expect_err("only sm_90a has wgmma").to_string();
    assert!(error.contains("wgmma"), "{error}");
}
