//! Every header that NVRTC ships can be included, alone and beside `lab.cuh`, without an error and without a warning. One test a
//! header; a last one holds the list to what the compiler really ships.
#![cfg(target_os = "linux")]

mod lab_support;

use gpu_core::compile::standins;
use gpu_core::job::Outcome;
use lab_support::TestLab;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// A header takes two seconds on a quiet machine, and this one may not be.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(80);

/// A warm compiler: there are as many as cores, up to four, and a test takes one that is free.
fn lab() -> std::sync::MutexGuard<'static, TestLab> {
    static LABS: [OnceLock<Mutex<TestLab>>; 4] = [const { OnceLock::new() }; 4];
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let labs = &LABS[..cores.clamp(1, LABS.len())];
    let one = |lab: &'static OnceLock<Mutex<TestLab>>| {
        lab.get_or_init(|| Mutex::new(TestLab::with_limits(|limits| limits.compile_time = PATIENCE).warm()))
    };
    if let Some(free) = labs.iter().find_map(|lab| one(lab).try_lock().ok()) {
        return free;
    }
    one(&labs[NEXT.fetch_add(1, Ordering::Relaxed) % labs.len()]).lock().unwrap_or_else(PoisonError::into_inner)
}

const KERNEL: &str = "extern \"C\" __global__ void k(float* a) { a[threadIdx.x] = FLT_MAX - INT_MAX; }\n";

#[track_caller]
fn compiles(text: &str) {
    let (report, outcome) = lab().compile(text);
    let report = report.unwrap_or_else(|| panic!("{outcome:?}"));
    assert_eq!((outcome, report.diagnostics), (Outcome::Done, Vec::new()), "{text}");
}

/// Alone and before `lab.cuh`, then behind it.
#[track_caller]
fn can_be_included(header: &str) {
    compiles(&format!("#include <{header}>\n#include \"lab.cuh\"\n{KERNEL}"));
    compiles(&format!("#include \"lab.cuh\"\n#include <{header}>\n{KERNEL}"));
}

macro_rules! headers {
    ($list:ident: $($test:ident $header:literal)*) => {
        const $list: &[&str] = &[$($header),*];
        $(#[test] fn $test() { can_be_included($header); })*
    };
}

headers! { CUDA:
    cooperative_groups_h "cooperative_groups.h"
    cooperative_groups_memcpy_async_h "cooperative_groups/memcpy_async.h"
    cooperative_groups_reduce_h "cooperative_groups/reduce.h"
    cooperative_groups_scan_h "cooperative_groups/scan.h"
    cu_complex_h "cuComplex.h"
    cuda_awbarrier_h "cuda_awbarrier.h"
    cuda_awbarrier_helpers_h "cuda_awbarrier_helpers.h"
    cuda_awbarrier_primitives_h "cuda_awbarrier_primitives.h"
    cuda_bf16_h "cuda_bf16.h"
    cuda_fp16_h "cuda_fp16.h"
    cuda_fp4_h "cuda_fp4.h"
    cuda_fp6_h "cuda_fp6.h"
    cuda_fp8_h "cuda_fp8.h"
    cuda_pipeline_h "cuda_pipeline.h"
    cuda_pipeline_helpers_h "cuda_pipeline_helpers.h"
    cuda_pipeline_primitives_h "cuda_pipeline_primitives.h"
    cuda_tf32_h "cuda_tf32.h"
    cudart_platform_h "cudart_platform.h"
    math_constants_h "math_constants.h"
    mma_h "mma.h"
    vector_types_h "vector_types.h"
}

headers! { LIBCUDACXX:
    cuda_access_property "cuda/access_property"
    cuda_algorithm "cuda/algorithm"
    cuda_annotated_ptr "cuda/annotated_ptr"
    cuda_argument "cuda/argument"
    cuda_atomic "cuda/atomic"
    cuda_barrier "cuda/barrier"
    cuda_bit "cuda/bit"
    cuda_cmath "cuda/cmath"
    cuda_devices "cuda/devices"
    cuda_discard_memory "cuda/discard_memory"
    cuda_execution "cuda/execution"
    cuda_functional "cuda/functional"
    cuda_hierarchy "cuda/hierarchy"
    cuda_iterator "cuda/iterator"
    cuda_latch "cuda/latch"
    cuda_launch "cuda/launch"
    cuda_mdspan "cuda/mdspan"
    cuda_memory "cuda/memory"
    cuda_numeric "cuda/numeric"
    cuda_pipeline "cuda/pipeline"
    cuda_ptx "cuda/ptx"
    cuda_random "cuda/random"
    cuda_semaphore "cuda/semaphore"
    cuda_tma "cuda/tma"
    cuda_type_traits "cuda/type_traits"
    cuda_utility "cuda/utility"
    cuda_version "cuda/version"
    cuda_warp "cuda/warp"
    cuda_work_stealing "cuda/work_stealing"
    nv_target "nv/target"
    cub_block_reduce "cub/block/block_reduce.cuh"
    cub_warp_scan "cub/warp/warp_scan.cuh"
}

/// All of `cuda/std`, a third at a time: they are the standard library's, and each is part of many others.
#[test]
fn the_standard_library_of_cuda() {
    let first = "#include \"lab.cuh\"\n#include <cuda/std/algorithm>\n#include <cuda/std/array>\n#include <cuda/std/atomic>\n\
                 #include <cuda/std/barrier>\n#include <cuda/std/bit>\n#include <cuda/std/cfloat>\n#include <cuda/std/climits>\n\
                 #include <cuda/std/cmath>\n#include <cuda/std/cstdint>\n#include <cuda/std/cstring>\n#include <cuda/std/functional>\n";
    compiles(&format!("{first}{KERNEL}"));
    let second = "#include <cuda/std/limits>\n#include <cuda/std/optional>\n#include <cuda/std/span>\n#include <cuda/std/tuple>\n\
                  #include <cuda/std/type_traits>\n#include <cuda/std/utility>\n#include \"lab.cuh\"\n";
    compiles(&format!("{second}{KERNEL}"));
}

/// What is there and not listed above must be refused with a sentence.
#[test]
fn the_lists_are_what_the_compiler_ships() {
    let lab = lab();
    let (report, _) = lab.compile(KERNEL);
    drop(report);
    let folder = std::fs::read_dir(lab.folder.path().join("headers")).unwrap().flatten().next().unwrap().path();
    let known = |name: &str| {
        CUDA.contains(&name) || LIBCUDACXX.contains(&name) || standins::ABSENT.iter().any(|(absent, _)| *absent == name)
    };
    let mut unknown = Vec::new();
    for (inner, prefix) in [("", ""), ("cooperative_groups", "cooperative_groups/"), ("cccl/cuda", "cuda/")] {
        for name in files(&folder.join(inner)) {
            let is_public = !name.starts_with(['_', '.']) && !name.ends_with(".hpp") && !name.starts_with("execution.");
            let name = format!("{prefix}{name}");
            if is_public && !known(&name) {
                unknown.push(name);
            }
        }
    }
    assert_eq!(unknown, Vec::<String>::new(), "{}", folder.display());
}

fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{error}: {}", folder.display())).flatten();
    let paths: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    paths.iter().filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect()
}

/// Matrix fragments, whose header names its other half by where it lies.
#[test]
fn fragments_can_be_used() {
    compiles(
        "#include <mma.h>\n#include <cuda_fp16.h>\nusing namespace nvcuda;\n\
         extern \"C\" __global__ void k(const __half* a, const __half* b, float* c)\n{\n\
         wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> x;\n\
         wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> y;\n\
         wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;\n\
         wmma::fill_fragment(sum, 0.0f);\nwmma::load_matrix_sync(x, a, 16);\nwmma::load_matrix_sync(y, b, 16);\n\
         wmma::mma_sync(sum, x, y, sum);\nwmma::store_matrix_sync(c, sum, 16, wmma::mem_row_major);\n}\n",
    );
}

/// Headers of the standard library, by the names that pasted kernels include them by.
#[test]
fn standard_headers_have_what_a_kernel_uses() {
    let use_all = "extern \"C\" __global__ void k(float* a, uint8_t* b, int64_t* c, size_t n)\n{\n    \
                   a[0] = INFINITY + NAN + FLT_MAX + M_PI + std::sqrt(a[1]) + std::min(a[2], 1.0f) + std::max(a[3], 2.0f);\n    \
                   b[0] = n > INT_MAX ? 1 : std::is_same<float, float>::value;\n    c[0] = UINT_MAX + std::numeric_limits<int>::max();\n    \
                   assert(n > 0);\n    if (n == 3) printf(\"%d\\n\", 3);\n}\n";
    let all: String = standins::STANDARD.iter().map(|name| format!("#include <{name}>\n")).collect();
    compiles(&format!("{all}#include \"lab.cuh\"\n{use_all}"));
    for name in standins::STANDARD {
        compiles(&format!("#include <{name}>\n{use_all}"));
    }
    // nvcc gives them unasked.
    compiles(use_all);
    compiles("using namespace std;\nextern \"C\" __global__ void k(float* a) { a[0] = min(a[1], 2.0f) + INFINITY; }\n");
}

#[test]
fn headers_of_the_host_are_left_out_with_a_note() {
    for name in standins::HOST {
        let (report, outcome) =
            lab().compile(&format!("#include <{name}>\nextern \"C\" __global__ void k(float* a) {{ a[0] = 1.0f; }}\n"));
        assert_eq!(outcome, Outcome::Done, "{name}");
        let notes = report.unwrap().diagnostics;
        assert!(notes.len() == 1 && notes[0].line == 1 && notes[0].message.contains("left out"), "{name}: {notes:?}");
    }
}

#[test]
fn a_pasted_program_runs_as_far_as_its_kernels_go() {
    let program = "#include <iostream>\n#include <cuda_runtime.h>\n#define N 256\nfloat host[N];\n\
                   __global__ void twice(float* a, int n)\n{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    \
                   if (i < n) a[i] *= 2;\n}\n\nint main()\n{\n    float* d;\n    cudaMalloc(&d, sizeof(host));\n    twice<<<1, N>>>(d, N);\n    \
                   std::cout << host[0];\n    return 0;\n}\n";
    let (report, outcome) = lab().compile(program);
    assert_eq!(outcome, Outcome::Done);
    let report = report.unwrap();
    let said: Vec<(u32, &str)> = report.diagnostics.iter().map(|found| (found.line, found.message.as_str())).collect();
    assert!(said.iter().any(|(line, text)| *line == 11 && text.contains("`main` (lines 11 to 18)")), "{said:?}");
    assert!(report.ptx.contains(".loc") && report.ptx.contains("_Z5twicePfi"), "{}", report.ptx);
    // What is wrong with the kernel is still said of its own line.
    let (report, _) = lab().compile(&program.replace("a[i] *= 2", "b[i] *= 2"));
    let errors: Vec<_> = report
        .unwrap()
        .diagnostics
        .into_iter()
        .filter(|found| found.severity == gpu_core::compile::Severity::Error)
        .collect();
    assert!(errors.len() == 1 && errors[0].line == 8 && errors[0].message.contains("`b` is not known"), "{errors:?}");
}

#[test]
fn headers_that_cannot_be_had_say_what_to_do() {
    for (name, why) in standins::ABSENT {
        let (report, outcome) = lab().compile(&format!("#include <{name}>\n{KERNEL}"));
        assert!(matches!(outcome, Outcome::CompileErrors(_)), "{name}");
        assert!(report.unwrap().diagnostics.iter().any(|found| found.message.contains(why)), "{name}");
    }
}
