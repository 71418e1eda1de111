//! Probes of the machine on the emulator: a chip that nobody has here must not be the first to run them.

use gpu_core::bench::ceilings;
use gpu_core::compile::{build, includes, locate, nvrtc, options::Arch};
use gpu_core::device::{Argument, Buffer, DeviceChoice, Launch, Sequence};
use gpu_core::devices;
use gpu_core::spec::{Dtype, Geometry, Role};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Blackwell's block-scaled products are there for its smaller chips and nowhere else, and run through without a fault.
#[test]
fn products_of_each_format_are_there_for_the_chips_that_have_them() {
    let Ok(toolchain) = locate::locate(None, Path::new("")) else {
        println!("skipped: there is no NVRTC here");
        return;
    };
    let compiler = nvrtc::Nvrtc::load(&toolchain).unwrap_or_else(|error| panic!("{error}"));
    let source = includes::with_course_headers(&ceilings::source());
    let blackwell = ["mma_mxfp8", "mma_nvfp4"];
    for (name, scaled, fp8) in [
        ("sm_80", false, false),
        ("sm_89", false, true),
        ("sm_90a", false, true),
        ("sm_120a", true, true),
        ("sm_121a", true, true),
    ] {
        let arch = Arch::parse(name).expect("an architecture");
        let compiled = build::build(&compiler, &toolchain, &source, arch).unwrap_or_else(|error| panic!("{error:?}"));
        assert!(compiled.succeeded, "{name}: {:?}", compiled.diagnostics);
        let has = |entry: &str| compiled.kernels.iter().find(|kernel| kernel.name == entry);
        assert_eq!(
            (has("mma_e4m3").is_some(), blackwell.map(|entry| has(entry).is_some())),
            (fp8, [scaled; 2]),
            "{name}"
        );
        let entries = ["sfu", "mma_e4m3", "mma_mxfp8", "mma_nvfp4"].into_iter().filter_map(has);
        for kernel in entries {
            assert_eq!(kernel.spill_store_bytes, 0, "{name}: {}", kernel.name);
            let mut emulator = devices::open(&DeviceChoice::Emulator).expect("it is always there");
            emulator.load(&compiled).expect("a kernel of ours");
            let buffer = |name: &str, role, bytes| {
                Argument::Buffer(Buffer { name: name.to_owned(), role, dtype: Dtype::U8, bytes })
            };
            let mut arguments = [
                buffer("in", Role::In, vec![0x30; 3072]),
                buffer("out", Role::Out, vec![0; 4]),
                Argument::Scalar(2_i32.to_le_bytes().to_vec()),
            ];
            let launch = Launch::new(&kernel.name, Geometry::new([1, 1, 1], [256, 1, 1]));
            let sequence = Sequence::of(launch, Duration::from_secs(60));
            let report = emulator.run(&sequence, &mut arguments, &AtomicBool::new(false)).expect("a launch");
            assert!(report.completed && report.faults.is_empty(), "{name}: {}: {:#?}", kernel.name, report.faults);
        }
    }
}

#[test]
fn the_bulk_copy_fits_every_chip_that_has_it_and_copies() {
    let Ok(toolchain) = locate::locate(None, Path::new("")) else {
        println!("skipped: there is no NVRTC here");
        return;
    };
    let compiler = nvrtc::Nvrtc::load(&toolchain).unwrap_or_else(|error| panic!("{error}"));
    let source = includes::with_course_headers(&ceilings::source());
    for (name, capability) in [("sm_90a", (9, 0)), ("sm_100a", (10, 0)), ("sm_120a", (12, 0)), ("sm_121a", (12, 1))] {
        let arch = Arch::parse(name).expect("an architecture");
        let compiled = build::build(&compiler, &toolchain, &source, arch).unwrap_or_else(|error| panic!("{error:?}"));
        assert!(compiled.succeeded, "{name}: {:?}", compiled.diagnostics);
        let mut emulator = devices::open(&DeviceChoice::Emulator).expect("it is always there");
        emulator.load(&compiled).expect("a kernel of ours");
        // More pieces than there are stages, and the last one not whole.
        let bytes: Vec<u8> = (0..20 * 16_384 + 48u32).map(|i| (i % 251) as u8).collect();
        let buffer =
            |name: &str, role, bytes| Argument::Buffer(Buffer { name: name.to_owned(), role, dtype: Dtype::U8, bytes });
        let mut arguments = [
            buffer("in", Role::In, bytes.clone()),
            buffer("out", Role::Out, vec![0; bytes.len()]),
            Argument::Scalar((bytes.len() as u64).to_le_bytes().to_vec()),
        ];
        let dynamic_shared_bytes = ceilings::bulk_copy_shared(capability);
        let geometry = Geometry { dynamic_shared_bytes, ..Geometry::new([2, 1, 1], [32, 1, 1]) };
        let launch = Sequence::of(Launch::new("copy_bulk", geometry), Duration::from_secs(60));
        let report = emulator.run(&launch, &mut arguments, &AtomicBool::new(false)).expect("a launch");
        assert!(report.completed && report.faults.is_empty(), "{name}: {:#?}", report.faults);
        let Argument::Buffer(out) = &arguments[1] else { panic!("a buffer") };
        assert!(out.bytes == bytes, "{name}: another copy");
    }
}
