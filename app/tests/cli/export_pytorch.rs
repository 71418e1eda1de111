//! `lockstep export pytorch`: a package with everything in it. That it runs is for a GPU to show; that its Python is Python,
//! and that what cannot be exported says why, is shown here.

use crate::cli_support::Machine;
use std::process::Command;

#[test]
fn a_package_is_whole_and_says_what_its_kernel_takes() {
    let machine = Machine::new();
    let folder = machine.path("pkg");
    let shown = folder.display().to_string();
    machine
        .run(&[
            "export",
            "pytorch",
            "week4/day7",
            "--kernel",
            "reference",
            "--arch",
            "sm_80,sm_90a",
            "--output",
            &shown,
        ])
        .shows(&["sm_80, sm_90a", "pip install"]);
    let inside = folder.join("src/lockstep_decode_paged");
    for file in ["decode_paged.sm_80.cubin", "decode_paged.sm_90a.cubin"] {
        let cubin = std::fs::read(inside.join(file)).unwrap();
        assert!(cubin.starts_with(b"\x7fELF"), "{file}");
    }
    let op = std::fs::read_to_string(inside.join("_op.py")).unwrap();
    for said in
        ["heads = q.shape[1]", "page_size = k_codes.shape[1]", "@decode_paged.register_fake", "k_codes: torch.Tensor"]
    {
        assert!(op.contains(said), "`{said}` is missing in:\n{op}");
    }
    let cases = std::fs::read_to_string(folder.join("tests/data/cases.json")).unwrap();
    let cases: serde_json::Value = serde_json::from_str(&cases).unwrap();
    for file in cases.as_array().unwrap().iter().flat_map(|case| case["tensors"].as_object().unwrap().values()) {
        assert!(folder.join("tests/data").join(file["file"].as_str().unwrap()).is_file(), "{file}");
    }
    let mut sources =
        vec![folder.join("tests/test_op.py"), folder.join("benchmarks/benchmark.py"), inside.join("_launch.py")];
    sources.push(inside.join("_op.py"));
    sources.extend(std::fs::read_dir(folder.join("examples")).unwrap().map(|entry| entry.unwrap().path()));
    for source in &sources {
        let text = std::fs::read_to_string(source).unwrap();
        assert!(!text.contains("PACKAGE") && !text.contains("NAME("), "{}", source.display());
    }
    // Where there is a Python, it reads them all.
    if let Ok(read) = Command::new("python3").arg("-m").arg("py_compile").args(&sources).output() {
        assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    }
    machine.run(&["export", "pytorch", "week4/day7", "--output", &shown]).fails(2, &["not empty"]);
}

#[test]
fn what_cannot_become_an_operation_says_why() {
    let machine = Machine::new();
    let folder = machine.path("tma").display().to_string();
    machine
        .run(&["export", "pytorch", "week2/day5", "--kernel", "reference", "--output", &folder])
        .fails(2, &["week2/day5", "tensor map"]);
}
