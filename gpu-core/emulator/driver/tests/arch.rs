//! Which device is presented: that of `LOCKSTEP_ARCH`, else sm_90, else what a module asks for. Each case runs in a
//! process of its own, for the choice is made once.

mod common;

use common::*;
use std::ffi::CString;

unsafe extern "C" {
    fn cuCtxGetLimit(value: *mut usize, limit: u32) -> u32;
}

const CHILD: &str = "LOCKSTEP_TEST_MODULE";
const MULTIPROCESSORS: u32 = 16;
const MAJOR: u32 = 75;
const MINOR: u32 = 76;
const SHARED_OPTIN: u32 = 97;
/// `CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH`, which devices before Hopper have.
const SYNC_DEPTH: u32 = 3;

fn attribute(id: u32) -> i32 {
    let mut value = -1;
    // SAFETY: the pointer is valid for a write.
    assert_eq!(unsafe { cuDeviceGetAttribute(&mut value, id, 0) }, 0);
    value
}

/// `LOCKSTEP_ARCH`, the module's target; capability before the load, what the load gives, capability after it and the
/// largest block's shared memory in KiB.
type Case = (Option<&'static str>, &'static str, i32, u32, i32, i32);

const CASES: &[Case] = &[
    (None, "sm_75", 90, 0, 90, 227),
    (None, "sm_90a", 90, 0, 90, 227),
    (None, "sm_120a", 90, 0, 120, 99),
    (None, "sm_121", 90, 0, 121, 99),
    (Some("sm_75"), "sm_75", 75, 0, 75, 64),
    (Some("compute_86"), "sm_80", 86, 0, 86, 99),
    (Some("sm_86"), "sm_90", 86, 209, 86, 99),
    (Some("sm_100"), "sm_90a", 100, 209, 100, 227),
    (Some("sm_103"), "sm_100f", 103, 0, 103, 227),
    (Some("sm_120a"), "sm_120a", 120, 0, 120, 99),
    (Some("sm_999"), "sm_90", 90, 0, 90, 227),
];

#[test]
fn the_device_is_chosen_by_variable_or_module() {
    let exe = std::env::current_exe().expect("this binary");
    for (arch, target, before, code, after, shared) in CASES {
        let mut command = std::process::Command::new(&exe);
        command.args(["--exact", "one_device", "--ignored", "--nocapture"]).env(CHILD, target);
        match arch {
            Some(arch) => command.env("LOCKSTEP_ARCH", arch),
            None => command.env_remove("LOCKSTEP_ARCH"),
        };
        let output = command.output().expect("a child");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let wanted = format!("DEVICE {before} {code} {after} {shared}");
        assert!(text.contains(&wanted), "{arch:?} {target}: wanted {wanted}: {text}");
        let wanted = if *before < 90 { "DEPTH 0 2" } else { "DEPTH 215 0" };
        assert!(text.contains(wanted), "{arch:?} {target}: wanted {wanted}: {text}");
        // CUTLASS divides the multiprocessors by the blocks of a cluster.
        assert!(*before < 90 || text.contains("MULTIPROCESSORS hold every cluster"), "{arch:?} {target}: {text}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(said.contains("is not known"), *arch == Some("sm_999"), "{said}");
        assert_eq!(said.contains("SM version"), *code != 0, "{said}");
    }
}

#[test]
#[ignore = "runs in a process of its own, for each device"]
fn one_device() {
    let Ok(target) = std::env::var(CHILD) else { return };
    context();
    let mut depth = 0;
    // SAFETY: the pointer is valid for a write.
    let asked = unsafe { cuCtxGetLimit(&mut depth, SYNC_DEPTH) };
    println!("DEPTH {asked} {depth}");
    let capability = || attribute(MAJOR) * 10 + attribute(MINOR);
    let before = capability();
    println!("MULTIPROCESSORS {}", if attribute(MULTIPROCESSORS) >= 16 { "hold every cluster" } else { "few" });
    let text = format!(".version 9.0\n.target {target}\n.address_size 64\n.visible .entry k() {{ ret; }}\n");
    let text = CString::new(text).expect("no zero in PTX");
    let mut module = 0;
    // SAFETY: the text is zero-terminated.
    let code = unsafe { cuModuleLoadData(&mut module, text.as_ptr().cast()) };
    println!("DEVICE {before} {code} {} {}", capability(), attribute(SHARED_OPTIN) / 1024);
}
