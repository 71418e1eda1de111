//! Kernels of `ptx/behave.cu`'s kind in three dialects: control flow, calls, warps, atomics, waiting, printf.

mod common;

use common::*;
use ptx_emulator::{FaultKind, Launch, Options};

const DIALECTS: [&str; 3] = [
    include_str!("ptx/behave.sm_75.ptx"),
    include_str!("ptx/behave.sm_90a.ptx"),
    include_str!("ptx/behave.sm_120a.ptx"),
];

fn one(kernel: &str, threads: u32) -> Launch {
    Launch::new(kernel, [1, 1, 1], [threads, 1, 1])
}

#[test]
fn calls_through_pointers_recursion_and_structs() {
    for ptx in DIALECTS {
        let module = load(ptx);
        let mut memory = memory();
        let out = upload_u32(&mut memory, "out", &[0; 64]);
        let k = 3u32;
        let mut big = vec![0u8; 40];
        big[0..4].copy_from_slice(&10i32.to_le_bytes());
        big[4] = 7;
        big[8..16].copy_from_slice(&2.5f64.to_le_bytes());
        for j in 0..5 {
            big[16 + 4 * j..20 + 4 * j].copy_from_slice(&(j as f32).to_le_bytes());
        }
        let mut launch = one("calls", 64).arg_u64(out).arg_u32(k);
        launch.params.resize(16, 0);
        launch.params.extend(&big);
        run_clean(&module, &mut memory, &launch);
        let fib = [0, 1, 1, 2, 3, 5, 8, 13];
        for (i, got) in download_u32(&memory, out, 64).into_iter().enumerate() {
            let i = i as i32;
            let f = if (i + 3) & 1 == 0 { i + 3 } else { i * 3 };
            let d3 = if i % 5 == 3 { 1.5f32 } else { 3.0 };
            let expect = f + 1000 * fib[(i % 8) as usize] + 100_000 * (10 + i) + (d3 * 2.0) as i32 + 2 + 7;
            assert_eq!(got as i32, expect, "thread {i}");
        }
        let (counter, bytes) = memory.symbol(&module, "counter").expect("declared");
        assert_eq!(bytes, 4);
        assert_eq!(download_u32(&memory, counter, 1)[0] as i32, -3 + 64 * 3);
    }
}

#[test]
fn divergence_switches_and_loops() {
    for ptx in DIALECTS {
        let module = load(ptx);
        let mut memory = memory();
        let n = 1000;
        let out = memory.alloc("out", 4 * n).expect("fits");
        let launch = Launch::new("diverge", [4, 1, 1], [256, 1, 1]).arg_u64(out).arg_u32(n as u32);
        let outcome = run_clean(&module, &mut memory, &launch);
        assert!(outcome.counters.divergent_branches > 100);
        for (i, got) in download_u32(&memory, out, n as usize).into_iter().enumerate() {
            let i = i as i32;
            let (mut x, mut steps) = (i, 0);
            while x > 1 {
                x = if x & 1 != 0 { 3 * x + 1 } else { x >> 1 };
                steps += 1;
            }
            let mut r = 0;
            match i % 9 {
                0 => r = 1,
                1 => r = steps * 3,
                2 => r = steps - i,
                3 => r = i ^ 5,
                4 => r = i / 3,
                5 => r = i % 7,
                6 => r += i << 1,
                7 => {
                    for j in 0..i % 5 {
                        if j == 3 {
                            break;
                        }
                        if (i + j) % 2 != 0 {
                            continue;
                        }
                        r += j * j + 1;
                    }
                }
                _ => r = -1,
            }
            assert_eq!(got as i32, steps * 1000 + r, "thread {i}");
        }
    }
}

#[test]
fn warp_operations() {
    for ptx in DIALECTS {
        let module = load(ptx);
        let mut memory = memory();
        let out = memory.alloc("out", 4 * 9 * 64).expect("fits");
        run_clean(&module, &mut memory, &one("warps", 64).arg_u64(out));
        let got = download_u32(&memory, out, 9 * 64);
        for i in 0..64u32 {
            let (l, base) = (i & 31, i & !31);
            let sum: u32 = (base..base + 32).map(|j| j * 7 + 1).sum();
            let ballot = (0..32).filter(|j| (base + j) & 4 != 0).fold(0, |m, j| m | 1 << j);
            let up = if l < 3 { i } else { i - 3 };
            let down = if l % 16 + 5 > 15 { i } else { i + 5 };
            let index = i / 8 * 8 + 2;
            let same = (0..32).filter(|j| j / 5 == l / 5).fold(0u32, |m, j| m | 1 << j);
            let active = (0..32).filter(|j| j % 3 == 0).fold(0u32, |m, j| m | 1 << j);
            let expect = [
                sum,
                ballot,
                up,
                down,
                index,
                same,
                0u32.wrapping_sub(1).wrapping_add(1),
                if l.is_multiple_of(3) { active } else { 0 },
                4 + 2 + 1 + 8 * 32,
            ];
            for (k, expect) in expect.into_iter().enumerate() {
                assert_eq!(got[(i * 9) as usize + k], expect, "thread {i}, value {k}");
            }
        }
    }
}

#[test]
fn shared_atomics_make_a_histogram() {
    for ptx in DIALECTS {
        let module = load(ptx);
        let mut memory = memory();
        let data: Vec<u8> = (0..10_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        let source = memory.alloc("data", data.len() as u64).expect("fits");
        memory.write(source, &data).expect("inside");
        let out = upload_u32(&mut memory, "out", &[0; 256]);
        let launch =
            Launch::new("histogram", [8, 1, 1], [256, 1, 1]).arg_u64(source).arg_u64(out).arg_u32(data.len() as u32);
        run_clean(&module, &mut memory, &launch);
        let mut expect = [0u32; 256];
        data.iter().for_each(|byte| expect[*byte as usize] += 1);
        assert_eq!(download_u32(&memory, out, 256), expect);
    }
}

#[test]
fn spin_locks_end_and_are_noted() {
    for ptx in DIALECTS {
        let module = load(ptx);
        let mut memory = memory();
        let (mutex, sum) = (upload_u32(&mut memory, "mutex", &[0]), upload_u32(&mut memory, "sum", &[0]));
        let launch = Launch::new("lock", [4, 1, 1], [64, 1, 1]).arg_u64(mutex).arg_u64(sum);
        run_clean(&module, &mut memory, &launch);
        assert_eq!(download_u32(&memory, sum, 1), [256]);
        // This one spins where its peers cannot join it.
        let launch = Launch::new("spinlock", [2, 1, 1], [64, 1, 1]).arg_u64(mutex).arg_u64(sum);
        let outcome = run_clean(&module, &mut memory, &launch);
        assert_eq!(download_u32(&memory, sum, 1), [256 + 128]);
        assert!(outcome.notes.iter().any(|note| note.contains("independent thread scheduling")), "{:?}", outcome.notes);
    }
}

#[test]
fn the_last_block_sums_up() {
    for ptx in DIALECTS {
        let module = load(ptx);
        let mut memory = memory();
        let n = 5000usize;
        let a = upload_f32(&mut memory, "a", &vec![1.0; n]);
        let blocks = n.div_ceil(128) as u32;
        let partial = memory.alloc("partial", 4 * u64::from(blocks)).expect("fits");
        let count = upload_u32(&mut memory, "count", &[0]);
        let out = memory.alloc("out", 4).expect("fits");
        let launch = Launch::new("lastblock", [blocks, 1, 1], [128, 1, 1])
            .arg_u64(a)
            .arg_u64(partial)
            .arg_u64(count)
            .arg_u64(out)
            .arg_u32(n as u32);
        run_clean(&module, &mut memory, &launch);
        assert_eq!(download_f32(&memory, out, 1), [n as f32]);
    }
}

#[test]
fn a_fence_orders_the_last_block_and_its_absence_is_a_race() {
    for ptx in DIALECTS {
        let module = load(ptx);
        for fence in [1, 0] {
            let mut memory = memory();
            let a = upload_f32(&mut memory, "a", &[1.0; 64 * 20]);
            let partial = memory.alloc("partial", 4 * 64 * 20).expect("fits");
            let count = upload_u32(&mut memory, "count", &[0]);
            let out = memory.alloc("out", 4 * 64).expect("fits");
            let launch = Launch::new("lastplain", [20, 1, 1], [64, 1, 1])
                .arg_u64(a)
                .arg_u64(partial)
                .arg_u64(count)
                .arg_u64(out)
                .arg_u32(fence);
            let outcome = run(&module, &mut memory, &launch);
            assert!(outcome.completed);
            assert_eq!(outcome.faults.is_empty(), fence == 1, "{:#?}", outcome.faults);
            assert!(outcome.faults.iter().all(|fault| fault.kind == FaultKind::Race));
        }
    }
}

#[test]
fn blocks_may_wait_for_later_blocks() {
    for ptx in DIALECTS {
        let module = load(ptx);
        let mut memory = memory();
        let flag = upload_u32(&mut memory, "flag", &[0]);
        let out = memory.alloc("out", 4 * 32 * 40).expect("fits");
        let launch = Launch::new("gridwait", [40, 1, 1], [32, 1, 1]).arg_u64(flag).arg_u64(out);
        for workers in [1, 2] {
            let options = Options { workers, ..Options::default() };
            memory.write(flag, &[0; 4]).expect("inside");
            let outcome = run_with(&module, &mut memory, &launch, &options);
            assert!(outcome.completed && outcome.faults.is_empty(), "{:#?}", outcome.faults);
        }
        assert_eq!(download_u32(&memory, out, 1280)[1279], 39);
    }
}

#[test]
fn printf_writes_and_assert_names_the_line() {
    for ptx in DIALECTS {
        let module = load(ptx);
        let mut memory = memory();
        let outcome = run_clean(&module, &mut memory, &one("prints", 2).arg_u32(5));
        assert_eq!(
            outcome.console,
            "thread 0 of 2: 0.000000 word A 1234567890123\nthread 1 of 2: 1.500000 word B 1234567890123\n"
        );
        let outcome = run(&module, &mut memory, &one("prints", 32).arg_u32(5));
        let fault = &outcome.faults[0];
        assert_eq!(fault.kind, FaultKind::Trap);
        assert!(fault.message.contains("threadIdx.x < n"), "{}", fault.message);
        let options = Options { console_limit_bytes: 100, ..Options::default() };
        let outcome = run_with(&module, &mut memory, &one("prints", 32).arg_u32(99), &options);
        assert!(outcome.console.len() <= 100);
        assert_eq!(outcome.console.lines().count() as u64 + outcome.console_dropped_lines, 32);
    }
}

#[test]
fn floating_point_functions() {
    for ptx in DIALECTS {
        let module = load(ptx);
        let mut memory = memory();
        let values: Vec<f64> = (0..32).map(|i| 0.1 + 0.37 * f64::from(i)).collect();
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        let a = memory.alloc("a", 256).expect("fits");
        memory.write(a, &bytes).expect("inside");
        let out = memory.alloc("out", 256).expect("fits");
        run_clean(&module, &mut memory, &one("doubles", 32).arg_u64(a).arg_u64(out).arg_u32(32));
        let mut got = vec![0; 256];
        memory.read(out, &mut got).expect("inside");
        for (x, got) in values.iter().zip(got.chunks_exact(8)) {
            let got = f64::from_le_bytes(got.try_into().expect("8 bytes"));
            let expect =
                x.sqrt() / 3.0 + (-x).exp() * x.sin() + (x + 1.0).ln() + x.mul_add(*x, -x) + (x * 10.0).trunc();
            assert!((got - expect).abs() <= 1e-13 * expect.abs(), "{x}: {got} {expect}");
        }
        let values: Vec<f32> = values.iter().map(|v| *v as f32).collect();
        let a = upload_f32(&mut memory, "f", &values);
        run_clean(&module, &mut memory, &one("floats", 32).arg_u64(a).arg_u64(out).arg_u32(32));
        for (x, got) in values.iter().zip(download_f32(&memory, out, 32)) {
            let x = f64::from(*x);
            let rest = (f64::from(x as f32) % f64::from(0.7f32)) + x.atan2(2.0);
            let expect = x.sqrt() / 3.0
                + (-x).exp() * x.sin()
                + (x + 1.0).ln()
                + x.powf(1.5)
                + 1.0 / (x + 1.0).sqrt()
                + x.tanh()
                + x.floor()
                + rest
                + erf(x);
            assert!((f64::from(got) - expect).abs() <= 1e-5 * expect.abs(), "{x}: {got} {expect}");
        }
    }
}

/// Series for small, continued value for large arguments: enough for a comparison at 1e-6.
fn erf(x: f64) -> f64 {
    if x > 4.0 {
        return 1.0;
    }
    let (mut sum, mut term, mut n) = (x, x, 0.0);
    while term.abs() > 1e-16 {
        n += 1.0;
        term *= -x * x / n;
        sum += term / (2.0 * n + 1.0);
    }
    sum * 2.0 / std::f64::consts::PI.sqrt()
}

#[test]
fn half_precision() {
    for ptx in DIALECTS {
        let module = load(ptx);
        let mut memory = memory();
        // 0, 0.5, 1, 1.5 as f16.
        let bits = [0u16, 0x3800, 0x3c00, 0x3e00];
        let bytes: Vec<u8> = bits.iter().flat_map(|v| v.to_le_bytes()).collect();
        let a = memory.alloc("a", 8).expect("fits");
        memory.write(a, &bytes).expect("inside");
        let (out, f) = (memory.alloc("out", 8).expect("fits"), memory.alloc("f", 16).expect("fits"));
        run_clean(&module, &mut memory, &one("halves", 32).arg_u64(a).arg_u64(out).arg_u64(f).arg_u32(4));
        let mut got = [0; 8];
        memory.read(out, &mut got).expect("inside");
        let got: Vec<u16> = got.chunks_exact(2).map(|c| u16::from_le_bytes([c[0], c[1]])).collect();
        // x*x + 0.5: 0.5, 0.75, 1.5, 2.75
        assert_eq!(got, [0x3800, 0x3a00, 0x3e00, 0x4180]);
        assert_eq!(download_f32(&memory, f, 4), [0.0, 1.0, 4.0, 19.0]);
    }
}

#[test]
fn wide_integers() {
    for ptx in DIALECTS {
        let module = load(ptx);
        let mut memory = memory();
        let values: Vec<u64> = (0..32u64).map(|i| i.wrapping_mul(0xdead_beef_cafe_f00d) ^ i << 40).collect();
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        let a = memory.alloc("a", 256).expect("fits");
        memory.write(a, &bytes).expect("inside");
        let out = memory.alloc("out", 1024).expect("fits");
        run_clean(&module, &mut memory, &one("wide", 32).arg_u64(a).arg_u64(out).arg_u32(32));
        let mut got = vec![0; 1024];
        memory.read(out, &mut got).expect("inside");
        let got: Vec<u64> = got.chunks_exact(8).map(|c| u64::from_le_bytes(c.try_into().expect("8"))).collect();
        for (i, &x) in values.iter().enumerate() {
            let mut y = x.wrapping_mul(0x9E37_79B9_7F4A_7C15);
            y ^= y >> 29;
            let hi = ((u128::from(x) * u128::from(y)) >> 64) as u64;
            let z = (u128::from(x) * u128::from(y)).wrapping_add(u128::from(values[0]));
            assert_eq!(got[i * 4], hi ^ (z >> 64) as u64 ^ z as u64, "mul {i}");
            assert_eq!(got[i * 4 + 1], (y / (x | 1)).wrapping_add(y % 1_000_003), "div {i}");
            let ffs = if x == 0 { 0 } else { x.trailing_zeros() + 1 };
            let counts = (x.count_ones() + x.leading_zeros() * 100 + ffs * 10_000) as i32 as i64 as u64;
            assert_eq!(got[i * 4 + 2], counts, "counts {i}");
            let funnel = ((u64::from(y as u32) << 32 | u64::from(x as u32)) << (i & 31) >> 32) as u32;
            let bytes = [x.to_le_bytes(), y.to_le_bytes()];
            let pick = |n: usize| if n < 4 { bytes[0][n] } else { bytes[1][n - 4] };
            let perm = u32::from_le_bytes([pick(5), pick(1), pick(7), pick(3)]);
            let sad = 3u32.wrapping_add((x as i32).abs_diff(y as i32));
            let high = ((i64::from(x as i32) * i64::from(y as i32)) >> 32) as i32;
            let expect = x
                .reverse_bits()
                .wrapping_add(((x as i64) >> 3) as u64)
                .wrapping_add(u64::from(funnel))
                .wrapping_add(u64::from(perm))
                .wrapping_add(u64::from(sad))
                .wrapping_add(high as i64 as u64);
            assert_eq!(got[i * 4 + 3], expect, "bits {i}");
        }
    }
}

#[test]
fn local_arrays_vectors_and_tiles() {
    for ptx in DIALECTS {
        let module = load(ptx);
        let mut memory = memory();
        let out = memory.alloc("out", 4096).expect("fits");
        let k = 5;
        run_clean(&module, &mut memory, &one("local_array", 64).arg_u64(out).arg_u32(k));
        let table = [4, -8, 14, 1];
        for (i, got) in download_u32(&memory, out, 64).into_iter().enumerate() {
            let mut local = [0; 16];
            for j in 0..16 {
                local[(j * 7 + 5) & 15] = (j * i) as i32;
            }
            assert_eq!(got as i32, local[(5 + i) & 15] + table[i & 3], "thread {i}");
        }
        let values: Vec<f32> = (0..1024).map(|i| i as f32).collect();
        let a = upload_f32(&mut memory, "a", &values);
        let outcome = run_clean(&module, &mut memory, &one("vectors", 32).arg_u64(a).arg_u64(out));
        assert_eq!(download_f32(&memory, out, 8), [3.0, 2.0, 1.0, 0.0, 7.0, 6.0, 5.0, 4.0]);
        assert_eq!((outcome.counters.global_load.requests, outcome.counters.global_load.sectors), (1, 16));
        let launch = Launch::new("transpose", [1, 1, 1], [32, 32, 1]).arg_u64(a).arg_u64(out).shared(4096);
        let outcome = run_clean(&module, &mut memory, &launch);
        let got = download_f32(&memory, out, 1024);
        assert!((0..1024).all(|i| got[i] == (i % 32 * 32 + i / 32) as f32 + 1.0));
        // The padded tile has no conflicts, the dynamic one 31 a request.
        assert_eq!(outcome.counters.shared_load.bank_conflicts, 31 * 32);
        assert_eq!(outcome.counters.shared_load.wavefronts, 32 + 32 * 32);
    }
}
