//! Stored codes on a GPU: views are decoded there too, wrong codes are found bit by bit, and what is too large to compute is
//! checked by a sample of its elements.

use super::{ON_EMULATED_DRIVER, check, compile, gpu, on_emulated_driver};
use gpu_core::compile::locate;
use gpu_core::spec::Spec;
use std::path::{Path, PathBuf};

fn folder(exercise: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../kernels").join(exercise)
}

fn text(exercise: &str, file: &str) -> String {
    let path = folder(exercise).join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// INT8 with one scale by two launches, E4M3 by rows, FP4 in bytes of two with scales of E4M3: judged by bits.
#[test]
#[ignore = "needs a GPU"]
fn views_are_judged_by_bits_on_the_gpu_itself() {
    if on_emulated_driver() && locate::locate(None, Path::new("")).is_err() {
        println!("skipped ({ON_EMULATED_DRIVER}): these kernels are compiled afresh, and there is no NVRTC here");
        return;
    }
    let mut gpu = gpu();
    for exercise in ["week4/day2-quantization", "week4/day2-quantization/rows", "week4/day4-nvfp4/mxfp4"] {
        let mut spec = Spec::load(&folder(exercise).join("exercise.toml")).unwrap_or_else(|error| panic!("{error}"));
        // The emulator has its own tests: a size of each that shows the mistakes is enough beside the GPU's.
        spec.emulator_check.truncate(2);
        let arch = gpu.device.info().arch.clone();
        let verdict = check(&mut gpu, &compile(&text(exercise, "reference.cu"), &arch), &spec);
        assert!(verdict.passed, "{exercise}: {}", verdict.summary);
        let on_gpu = verdict.cases.iter().filter(|case| case.device == gpu.device.info().name).count();
        assert_eq!(on_gpu, spec.check.len(), "{exercise}: {:?}", verdict.notes);
        let table: toml::Table = text(exercise, "exercise.toml").parse().expect("TOML");
        let wrongs = table.get("wrong").and_then(|wrongs| wrongs.as_array()).cloned().unwrap_or_default();
        for wrong in wrongs {
            let file = wrong["file"].as_str().expect("a file");
            let verdict = check(&mut gpu, &compile(&text(exercise, file), &arch), &spec);
            assert!(!verdict.passed, "{exercise}/{file} passes");
            println!("{exercise}/{file}: {}", verdict.summary);
        }
    }
}

/// What a view stores is decoded on the GPU's side as well: code and value of the first wrong element are told.
#[test]
#[ignore = "needs a GPU"]
fn a_wrong_code_is_told_with_its_value() {
    if on_emulated_driver() && locate::locate(None, Path::new("")).is_err() {
        println!("skipped ({ON_EMULATED_DRIVER}): this kernel is compiled afresh, and there is no NVRTC here");
        return;
    }
    let mut gpu = gpu();
    let exercise = "week4/day2-quantization/one-line";
    let mut spec = Spec::load(&folder(exercise).join("exercise.toml")).unwrap_or_else(|error| panic!("{error}"));
    // Right where the emulator looks, so that the GPU's own comparison has to find it.
    spec.emulator_check.truncate(2);
    let kernel = "extern \"C\" __global__ void to_int8(const float* x, const float* scale, signed char* codes, int n)\n{\n    \
        int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i >= n) return;\n    \
        float code = fminf(fmaxf(rintf(x[i] / scale[0]), -128.0f), 127.0f);\n    \
        codes[i] = n > 100 && i == n - 1 ? (code == 1.0f ? 2 : 1) : (int)code;\n}\n";
    let compiled = compile(kernel, &gpu.device.info().arch.clone());
    let verdict = check(&mut gpu, &compiled, &spec);
    assert!(!verdict.passed, "{}", verdict.summary);
    let case = verdict.cases.iter().find(|case| !case.passed).expect("a failed case");
    assert_eq!(case.device, gpu.device.info().name, "{}", verdict.summary);
    assert_eq!(case.mismatch_count, 1, "{}", verdict.summary);
    let first = case.mismatches.first().expect("a wrong code");
    assert!(first.code.is_some_and(|code| code.got == 1 || code.got == 2), "{first:?}");
    assert_eq!(first.got, 2.0 * f64::from(first.code.map_or(0, |code| code.got)), "scale 2: {first:?}");
    println!("{}", verdict.summary);
}

/// Beyond some billion operations a sample of the elements is computed in place of all.
pub(super) const PRODUCT: &str = r#"
title = "Product"
entry = "product"
oracle = "matmul"
param = [
  { name = "a", dtype = "f32", shape = ["n", "n"] },
  { name = "b", dtype = "f32", shape = ["n", "n"] },
  { name = "c", dtype = "f32", shape = ["n", "n"], role = "out" },
  { name = "n", dtype = "i32", value = "n" },
]
launch = { grid = ["ceil_div(n, 16)", "ceil_div(n, 16)"], block = [16, 16] }
tolerance = { absolute = 0.0, relative = 1e-5, reason = "Float sums." }
sizes = { check = [{ n = 1 }, { n = 37 }], emulator_check = [{ n = 17 }], bench = [{ n = 2048 }] }
cost = { flops = "2 * n * n * n", bytes = "12 * n * n" }
"#;

pub(super) const PRODUCT_KERNEL: &str = r#"
extern "C" __global__ void product(const float* a, const float* b, float* c, int n)
{
    __shared__ float left[16][16], right[16][17];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0.0f;
    for (int first = 0; first < n; first += 16) {
        int i = first + threadIdx.x, j = first + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = row < n && i < n ? a[row * n + i] : 0.0f;
        right[threadIdx.y][threadIdx.x] = j < n && column < n ? b[j * n + column] : 0.0f;
        __syncthreads();
        for (int t = 0; t < 16; t++) sum += left[threadIdx.y][t] * right[t][threadIdx.x];
        __syncthreads();
    }
    if (row < n && column < n) c[row * n + column] = sum * FACTOR;
}
"#;
