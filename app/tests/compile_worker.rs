//! Compile workers through the built binary: what they give, and what hostile sources do to them.
#![cfg(target_os = "linux")]

mod lab_support;

use gpu_core::compile::Severity;
use gpu_core::job::{Emit, Outcome};
use lab_support::{GOOD, TestLab, compile_job, unique};
use std::time::{Duration, Instant};

/// The first error of a source that does not compile.
fn first_error(lab: &TestLab, text: &str) -> gpu_core::compile::Diagnostic {
    let (report, outcome) = lab.compile(text);
    assert!(matches!(outcome, Outcome::CompileErrors(_)), "{outcome:?}");
    let report = report.expect("diagnostics are sent also when it fails");
    assert!(!report.succeeded && report.ptx.is_empty() && report.cubin.is_empty());
    report.diagnostics.into_iter().find(|found| found.severity == Severity::Error).expect("an error")
}

#[test]
fn a_kernel_gives_ptx_cubin_and_resources_and_comes_from_the_cache_next_time() {
    let lab = TestLab::start();
    let (report, outcome) = lab.compile(GOOD);
    assert_eq!(outcome, Outcome::Done);
    let report = report.unwrap();
    assert!(report.succeeded && !report.from_cache);
    assert!(report.ptx.contains(".visible .entry vector_add"));
    assert!(report.ptx.contains("\"kernel.cu\""), "the source keeps its name: {}", report.ptx);
    assert_eq!(&report.cubin[..4], b"\x7fELF");
    let kernel = &report.kernels[0];
    assert_eq!(kernel.name, "vector_add");
    assert!((4..=64).contains(&kernel.registers), "{kernel:?}");
    // Three pointers and an int are 28 bytes of parameters, behind what the driver keeps there.
    assert!(kernel.constant_bytes >= 28, "{kernel:?}");
    let (again, _) = lab.compile(GOOD);
    let again = again.unwrap();
    assert!(again.from_cache);
    assert_eq!((again.ptx, again.cubin), (report.ptx, report.cubin));
}

#[test]
fn machine_code_shows_where_a_disassembler_is_present() {
    let lab = TestLab::start();
    let (report, _) = lab.compile_for(GOOD, "sm_90a", Emit { sass: true });
    let has_disassembler = lab.lab.status().toolchain.unwrap().nvdisasm.is_some();
    let sass = report.unwrap().sass;
    assert_eq!(sass.is_some(), has_disassembler);
    if let Some(sass) = sass {
        assert!(sass.contains("FADD"), "{sass}");
    }
    let (report, _) = lab.compile(GOOD);
    assert_eq!(report.unwrap().sass, None, "only when asked for");
}

#[test]
fn the_fp16_header_is_there_without_a_toolkit() {
    let lab = TestLab::start();
    let text = "#include <cuda_fp16.h>\nextern \"C\" __global__ void k(__half* a) { a[0] = __hadd(a[0], a[1]); }\n";
    let (_, outcome) = lab.compile(text);
    assert_eq!(outcome, Outcome::Done);
}

#[test]
fn errors_name_line_and_column_in_characters() {
    let lab = TestLab::start().warm();
    let found = first_error(&lab, "extern \"C\" __global__ void k(float* a)\n{\n    a[0] = 1.0f\n}\n");
    assert_eq!((found.file.as_str(), found.line), ("kernel.cu", 4));
    assert!(
        found.message.contains("expected a \";\"") && found.message.contains("end of the line before"),
        "{found:?}"
    );
    // The compiler counts bytes; é and € have two and three.
    let found = first_error(&lab, "extern \"C\" __global__ void k(float* a)\n{ /* é€ */ a[0] = y; }\n");
    assert_eq!((found.line, found.column), (2, 19), "{found:?}");
    let found =
        first_error(&lab, "__global__ void k(float* a) {\n  asm volatile(\"foo.bar %0;\" : : \"f\"(a[0]));\n}\n");
    assert_eq!((found.file.as_str(), found.line), ("kernel.cu", 2), "{found:?}");
    assert!(found.message.contains("foo"), "{found:?}");
    lab.good_run_follows();
}

#[test]
fn nothing_leaks_through_includes() {
    let lab = TestLab::start().warm();
    for text in [
        "#include \"/etc/passwd\"\n",
        "#include </etc/passwd>\n",
        "#include \"../../../../../../../../etc/passwd\"\n",
        "#include <../../../../../../../../etc/passwd>\n",
        "#include \"etc/passwd\"\n",
        "#include \"proc/self/environ\"\n",
        "#include \"/proc/self/environ\"\n",
        "#define P \"/etc/passwd\"\n#include P\n",
        "#in\\\nclude \"/etc/passwd\"\n",
        "%:include \"/etc/passwd\"\n",
        "#embed \"/etc/passwd\"\n",
        "asm(\".file 3 \\\"/etc/passwd\\\"\");\n",
        "__device__ void f() { asm(\".include \\\"/etc/passwd\\\"\"); }\n",
    ] {
        let (report, outcome) = lab.compile(text);
        let everything = format!("{report:?} {outcome:?}");
        assert!(!everything.contains("root:"), "{text}: {everything}");
        assert!(!everything.contains("PATH="), "{text}: {everything}");
    }
    let found = first_error(&lab, "int x;\n#include \"/etc/passwd\"\n");
    assert_eq!((found.line, found.column), (2, 1));
    assert!(found.message.contains("absolute paths are not allowed"), "{found:?}");
    let found = first_error(&lab, "#if __has_include(\"/etc/passwd\")\n#error it is there\n#endif\n");
    assert!(found.message.contains("refused"), "{found:?}");
    lab.good_run_follows();
}

#[test]
fn the_jail_holds_where_the_text_check_sees_nothing() {
    // The real library with a header folder of our own beside it, and in that a link that leads out under an innocent
    // name.
    let toolkit = tempfile::tempdir().unwrap();
    let (lib, include) = (toolkit.path().join("lib"), toolkit.path().join("include"));
    std::fs::create_dir(&lib).unwrap();
    std::fs::create_dir(&include).unwrap();
    let nvrtc = lab_support::nvrtc();
    for entry in std::fs::read_dir(nvrtc.parent().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_string_lossy().contains("nvrtc") {
            std::os::unix::fs::symlink(&path, lib.join(path.file_name().unwrap())).unwrap();
        }
    }
    std::fs::write(include.join("cuda_fp16.h"), "").unwrap();
    std::fs::write(include.join("allowed.h"), "#define ALLOWED 1\n").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", include.join("innocent.h")).unwrap();

    let lab = TestLab::with(|config| config.nvrtc = Some(lib)).warm();
    let status = lab.lab.status();
    assert_eq!(status.toolchain.unwrap().include_dirs, [include]);
    let jail = status.jail.unwrap();
    assert!(jail.starts_with("Landlock"), "this test needs a kernel with Landlock (5.13 or newer): {jail}");
    let (_, outcome) = lab.compile(&format!("#include <allowed.h>\n#if ALLOWED\n{GOOD}#endif\n"));
    assert_eq!(outcome, Outcome::Done, "the folder itself can be read");
    let (report, outcome) = lab.compile("#include <innocent.h>\n");
    assert!(matches!(outcome, Outcome::CompileErrors(_)), "{outcome:?}");
    assert!(!format!("{report:?}").contains("root:"), "{report:?}");
}

#[test]
fn a_huge_unroll_is_ended_by_the_time_limit() {
    let lab = TestLab::with_limits(|limits| limits.compile_time = Duration::from_secs(3)).warm();
    let text = "extern \"C\" __global__ void k(float* a)\n{\n    #pragma unroll\n    for (int i = 0; i < 4096; ++i)\n\
                \x20       a[i] = a[(i * 7) % 4096] * a[i + 1] + sinf(a[i]);\n}\n";
    let started = Instant::now();
    let (_, outcome) = lab.compile(text);
    let Outcome::LimitExceeded(why) = outcome else { panic!("{outcome:?}") };
    assert!(why.contains("longer than 3 s") && why.contains("unroll less"), "{why}");
    assert!(started.elapsed() < Duration::from_secs(5));
    lab.good_run_follows();
}

#[test]
fn exponential_templates_are_ended_by_a_limit() {
    let lab = TestLab::with_limits(|limits| {
        limits.compile_time = Duration::from_secs(30);
        limits.compile_memory_bytes = 640 << 20;
    })
    .warm();
    let text = "template <int N, int M> struct F { static const int v = F<N - 1, 2 * M>::v + F<N - 1, 2 * M + 1>::v; };\n\
                template <int M> struct F<0, M> { static const int v = 1; };\n\
                extern \"C\" __global__ void k(int* a) { a[0] = F<24, 1>::v; }\n";
    let (_, outcome) = lab.compile(text);
    let Outcome::LimitExceeded(why) = outcome else { panic!("{outcome:?}") };
    assert!(why.contains("memory") && why.contains("0.6 GB"), "{why}");
    lab.good_run_follows();
}

#[test]
fn sources_that_strain_the_parser_cost_at_most_their_worker() {
    let lab = TestLab::with_limits(|limits| limits.compile_time = Duration::from_secs(5)).warm();
    let deep = |open: &str, close: &str, depth: usize| {
        format!("__device__ int f() {{ return {}1{}; }}\n", open.repeat(depth), close.repeat(depth))
    };
    let nested = format!("template <class T> struct A {{}};\n{}int{} a;\n", "A<".repeat(20_000), ">".repeat(20_000));
    for text in [deep("(", ")", 300_000), deep("- ", "", 300_000), deep("[]{return ", ";}()", 3_000), nested] {
        let (_, outcome) = lab.compile(&text);
        assert!(!matches!(outcome, Outcome::Environment(_) | Outcome::BadRequest(_)), "{outcome:?}");
        lab.good_run_follows();
    }
}

#[test]
fn two_gigabytes_of_shared_memory_are_explained() {
    let lab = TestLab::start().warm();
    let found = first_error(
        &lab,
        "extern \"C\" __global__ void k(float* a)\n{\n    __shared__ float s[500000000];\n    s[threadIdx.x] = a[0];\n\
         \x20   __syncthreads();\n    a[1] = s[threadIdx.x ^ 1];\n}\n",
    );
    assert_eq!(found.line, 3);
    assert!(found.message.contains("2000000000 bytes of static shared memory"), "{found:?}");
    lab.good_run_follows();
}

#[test]
fn empty_huge_and_binary_sources_get_one_clear_message() {
    let lab = TestLab::start().warm();
    let (report, outcome) = lab.compile("");
    assert_eq!(outcome, Outcome::Done, "nothing is wrong with an empty file as such");
    assert!(report.unwrap().diagnostics[0].message.starts_with("the file is empty"));
    let found = first_error(&lab, &"// x\n".repeat(1 << 20));
    assert!(found.message.contains("the file has 5.0 MB; a kernel source may have at most 2 MB"), "{found:?}");
    let found = first_error(&lab, "int x;\n\0__global__ void k() {}\n");
    assert!(found.line == 2 && found.message.contains("zero byte"), "{found:?}");
    let (_, outcome) = lab.compile_for(GOOD, "sm_ninety", Emit::default());
    let Outcome::BadRequest(why) = outcome else { panic!("{outcome:?}") };
    assert!(why.contains("sm_ninety"), "{why}");
    let (_, outcome) = lab.compile_for(GOOD, "sm_12", Emit::default());
    let Outcome::BadRequest(why) = outcome else { panic!("{outcome:?}") };
    assert!(why.contains("sm_90"), "lists what is known: {why}");
    lab.good_run_follows();
}

#[test]
fn a_killed_compiler_is_replaced() {
    let lab = TestLab::start().warm();
    let slow = "extern \"C\" __global__ void k(float* a)\n{\n    #pragma unroll\n    for (int i = 0; i < 4096; ++i)\n\
                \x20       a[i] = a[(i * 7) % 4096] * a[i + 1] + sinf(a[i]);\n}\n";
    let (id, _) = lab.lab.submit(compile_job(slow, "sm_90a", Emit::default()));
    let victim = wait_for(|| lab.lab.status().workers.iter().find(|w| w.busy && w.role == "compile").map(|w| w.pid));
    // SAFETY: plain system call on a process of our own.
    unsafe { libc::kill(victim as i32, libc::SIGKILL) };
    let (_, outcome) = lab.finish(id);
    let Outcome::Crashed(why) = outcome else { panic!("{outcome:?}") };
    assert!(why.contains("signal 9"), "{why}");
    lab.good_run_follows();
}

#[test]
fn stopping_is_quick_and_a_newer_text_supersedes_an_older_one() {
    let lab = TestLab::start().warm();
    let slow = |n: u128| {
        format!(
            "// {n}\nextern \"C\" __global__ void k(float* a)\n{{\n    #pragma unroll\n    for (int i = 0; i < 4096; ++i)\n\
             \x20       a[i] = a[(i * 7) % 4096] * a[i + 1] + sinf(a[i]);\n}}\n"
        )
    };
    let (id, stop) = lab.lab.submit(compile_job(&slow(unique()), "sm_90a", Emit::default()));
    std::thread::sleep(Duration::from_millis(300));
    let asked = Instant::now();
    stop.stop();
    assert_eq!(lab.finish(id).1, Outcome::Stopped);
    assert!(asked.elapsed() < Duration::from_millis(500), "{:?}", asked.elapsed());

    let (first, _) = lab.lab.submit_latest(compile_job(&slow(unique()), "sm_90a", Emit::default()));
    std::thread::sleep(Duration::from_millis(200));
    let typed = Instant::now();
    let (second, _) = lab.lab.submit_latest(compile_job(&format!("{GOOD}// {}", unique()), "sm_90a", Emit::default()));
    let mut outcomes = std::collections::HashMap::new();
    while outcomes.len() < 2 {
        assert!(typed.elapsed() < Duration::from_secs(20));
        if let Some((id, gpu_core::job::Event::Finished(outcome))) = lab.lab.next_event(Duration::from_millis(50)) {
            outcomes.insert(id, outcome);
        }
    }
    assert_eq!((&outcomes[&first], &outcomes[&second]), (&Outcome::Stopped, &Outcome::Done));
    assert!(typed.elapsed() < Duration::from_millis(1500), "{:?}", typed.elapsed());
}

#[test]
fn workers_end_with_the_lab() {
    let lab = TestLab::start().warm();
    let pids: Vec<u32> = wait_for(|| {
        let workers = lab.lab.status().workers;
        (workers.len() >= 2).then(|| workers.iter().map(|worker| worker.pid).collect())
    });
    drop(lab);
    for pid in pids {
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "worker {pid} still runs");
    }
}

#[test]
fn an_absent_compiler_is_an_environment_problem_that_says_what_to_do() {
    let lab = TestLab::with(|config| config.nvrtc = Some("/nonexistent".into()));
    let (_, outcome) = lab.compile(GOOD);
    let Outcome::Environment(why) = outcome else { panic!("{outcome:?}") };
    assert!(why.contains("/nonexistent"), "{why}");
}

fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < Duration::from_secs(20), "it never came");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Prints the figures; run it alone on a quiet machine:
/// `cargo test -p lockstep --test compile_worker -- --ignored --nocapture`.
#[test]
#[ignore = "measures time"]
fn warm_edit_to_compiled_time() {
    let lab = TestLab::start().warm();
    lab.good_run_follows();
    let median = |make: &dyn Fn() -> String| {
        let mut times: Vec<f64> = (0..31)
            .map(|_| {
                let text = make();
                let started = Instant::now();
                let (report, outcome) = lab.compile(&text);
                assert_eq!(outcome, Outcome::Done, "{report:?}");
                started.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let edited = median(&|| format!("{GOOD}// {}\n", unique()));
    let fp16 = median(&|| format!("#include <cuda_fp16.h>\n{GOOD}// {}\n", unique()));
    let cached = median(&|| GOOD.to_owned());
    println!("edited {edited:.1} ms, with cuda_fp16.h {fp16:.1} ms, cached {cached:.2} ms (medians of 31)");
    assert!(edited < 100.0 && cached < 20.0);
}
