//! The machine code of what is written for Blackwell, for which there is no machine at hand: the compiler alone says whether
//! a rung, or an exercise's native branch, uses the instructions that it is written for.

use gpu_core::compile::options::Arch;
use gpu_core::compile::{CompileReport, Toolchain, build, includes, locate, nvrtc, sass};
use gpu_core::job::Source;
use gpu_core::spec::launch_directives;

/// File, text, and the instructions for its products and its copies.
const RUNGS: [(&str, &str, &str, &str); 4] = [
    ("01-bf16.cu", include_str!("../../../kernels/ladders/matmul-blackwell/01-bf16.cu"), "HMMA", "UTMALDG"),
    ("02-e4m3.cu", include_str!("../../../kernels/ladders/matmul-blackwell/02-e4m3.cu"), "QMMA", "UTMALDG"),
    ("03-nvfp4.cu", include_str!("../../../kernels/ladders/matmul-blackwell/03-nvfp4.cu"), "OMMA", "UTMALDG"),
    (
        "01-async-copies.cu",
        include_str!("../../../kernels/ladders/attention-blackwell/01-async-copies.cu"),
        "HMMA",
        "LDGSTS",
    ),
];

/// Kernels with a branch of their own for these chips, and the instruction that the branch is for. Both branches give the same
/// results, so nothing but the machine code tells which one was compiled.
const BRANCHES: [(&str, &str, &str); 4] = [
    ("the NVFP4 quantizer", include_str!("../../../kernels/week4/day4-nvfp4/reference.cu"), "E2M1"),
    ("its plain answer", include_str!("../../../kernels/week4/day4-nvfp4/solution.cu"), "E2M1"),
    ("the NVFP4 tile", include_str!("../../../kernels/week4/day4-nvfp4/tile/reference.cu"), "OMMA"),
    ("the MXFP8 tile", include_str!("../../../kernels/week4/day4-nvfp4/tile/experiments/mxfp8.cu"), "QMMA"),
];

const ARCHITECTURES: [&str; 2] = ["sm_120a", "sm_121a"];

/// Most shared memory of a block on sm_120 and sm_121.
const MOST_SHARED_BYTES: u64 = 99 * 1024;

fn compiler() -> (Toolchain, nvrtc::Nvrtc) {
    let toolchain =
        locate::locate(None, &lockstep::paths::data_dir()).unwrap_or_else(|error| panic!("NVRTC is needed: {error:?}"));
    let compiler = nvrtc::Nvrtc::load(&toolchain).unwrap_or_else(|error| panic!("{error}"));
    (toolchain, compiler)
}

/// What the compiler made of a kernel, without spills and without calls of software.
fn compiled((toolchain, compiler): &(Toolchain, nvrtc::Nvrtc), name: &str, text: &str, arch: &str) -> CompileReport {
    let source = Source { name: name.to_owned(), text: text.to_owned(), headers: Vec::new(), options: Vec::new() };
    let source = includes::with_course_headers(&source);
    let wanted = Arch::parse(arch).expect("an architecture");
    let report = build::build(compiler, toolchain, &source, wanted).unwrap_or_else(|e| panic!("{name}: {e:?}"));
    assert!(report.succeeded, "{name} for {arch}: {:?}", report.diagnostics);

    let kernel = report.kernels.first().unwrap_or_else(|| panic!("{name} has a kernel"));
    let local = (kernel.stack_bytes, kernel.spill_store_bytes, kernel.spill_load_bytes);
    assert_eq!(local, (0, 0, 0), "{name} for {arch} spills registers");
    let software = report.cubin.windows(14).any(|bytes| bytes == b"__cuda_syscall");
    assert!(!software, "{name} for {arch} calls software in place of an instruction");
    report
}

#[test]
fn every_rung_uses_its_own_instructions_and_nothing_in_software() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let tools = compiler();
    for (name, text, product, copy) in RUNGS {
        for arch in ARCHITECTURES {
            let report = compiled(&tools, name, text, arch);
            let directives = launch_directives(text, &[]).unwrap_or_else(|error| panic!("{name}: {error:?}"));
            let shared = directives.iter().find(|line| line.key == "dynamic_shared_bytes");
            let bytes = shared.and_then(|line| line.values[0].eval(&Default::default()).ok());
            let bytes = bytes.unwrap_or_else(|| panic!("{name} says how much shared memory it takes")) as u64;
            let bytes = bytes + u64::from(report.kernels[0].static_shared_bytes);
            assert!(bytes <= MOST_SHARED_BYTES, "{name}: {bytes} bytes");

            // The disassembler is a package of its own, which not every machine has.
            let code = sass::disassemble(&tools.0, &report.cubin, folder.path()).unwrap_or_else(|e| panic!("{e:?}"));
            let Some(code) = code else { continue };
            for instruction in [product, copy, "LDSM"] {
                assert!(code.contains(instruction), "{name} for {arch} has no {instruction}");
            }
        }
    }
}

#[test]
fn native_branches_are_compiled_where_they_are_meant() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let tools = compiler();
    for (name, text, instruction) in BRANCHES {
        for arch in ARCHITECTURES {
            let report = compiled(&tools, name, text, arch);
            let code = sass::disassemble(&tools.0, &report.cubin, folder.path()).unwrap_or_else(|e| panic!("{e:?}"));
            let Some(code) = code else { continue };
            assert!(code.contains(instruction), "{name} for {arch} has no {instruction}");
        }
    }
}
