//! GPU driver and counter permission, read from files: no driver call can hang or crash this check.

use super::Item;
use gpu_core::device::{DeviceInfo, DeviceKind};
use std::path::{Path, PathBuf};

/// Oldest driver branch that loads the cubins of CUDA 13 (NVIDIA, "CUDA Compatibility": 580 is CUDA 13.0).
const LEAST_DRIVER: u32 = 580;

pub fn items() -> Vec<Item> {
    vec![driver(), counters()]
}

/// Least compute capability that the compiler still knows (NVRTC 13 dropped Volta and older).
const LEAST_CAPABILITY: (u32, u32) = (7, 5);

/// One item for each GPU that the driver lists.
pub fn gpus(devices: &[DeviceInfo]) -> Vec<Item> {
    const ID: &str = "gpu";
    const TITLE: &str = "GPU";
    let item = |device: &DeviceInfo| {
        let (major, minor) = device.capability;
        let memory = device.memory_bytes.map_or(String::new(), |bytes| format!(", {:.0} GB", bytes as f64 / 1e9));
        let mut found = format!("{}, compute capability {major}.{minor}, {}{memory}", device.name, device.arch);
        if is_spark(device) {
            found += "; a DGX Spark: CPU and GPU share one memory, a block gets 99 KiB of shared memory at most (page \
                      `reference/dgx-spark`)";
        }
        if device.capability < LEAST_CAPABILITY {
            let fix = "NVRTC 13 compiles for 7.5 (Turing) and newer: use the emulator, or a GPU elsewhere";
            return Item::limited(ID, TITLE, found, fix);
        }
        Item::fine(ID, TITLE, found)
    };
    devices.iter().filter(|device| device.kind == DeviceKind::Gpu).map(item).collect()
}

/// DGX Spark and the same chip in other makers' desktops: NVIDIA calls it GB10, and no other has capability 12.1.
fn is_spark(device: &DeviceInfo) -> bool {
    device.capability == (12, 1) || device.name.contains("GB10")
}

/// The greatest compute capability among GPUs that kernels can be compiled for.
pub fn best_capability(devices: &[DeviceInfo]) -> Option<(u32, u32)> {
    let gpus = devices.iter().filter(|device| device.kind == DeviceKind::Gpu);
    gpus.map(|device| device.capability).filter(|capability| *capability >= LEAST_CAPABILITY).max()
}

fn driver() -> Item {
    const ID: &str = "gpu_driver";
    const TITLE: &str = "GPU driver";
    const REMOTE: &str = "a GPU on another machine works too: add it in the settings, or see `lockstep devices --help`";
    if cfg!(windows) {
        let library = Path::new("C:\\Windows\\System32\\nvcuda.dll");
        return if library.exists() {
            Item::fine(ID, TITLE, "nvcuda.dll is installed")
        } else {
            Item::limited(ID, TITLE, "No NVIDIA driver: kernels run on the emulator", REMOTE)
        };
    }
    let Some(version) = driver_version() else {
        let wsl = Path::new("/usr/lib/wsl/lib/libcuda.so.1").exists();
        if wsl {
            return Item::fine(ID, TITLE, "The Windows host's, through WSL");
        }
        return Item::limited(
            ID,
            TITLE,
            "No NVIDIA driver: kernels run on the emulator",
            format!("with an NVIDIA GPU, install its driver (branch {LEAST_DRIVER} or later); {REMOTE}"),
        );
    };
    let branch: u32 = version.split('.').next().and_then(|text| text.parse().ok()).unwrap_or(0);
    if !has_device_file() {
        return Item::limited(
            ID,
            TITLE,
            format!("{version} is loaded, but no /dev/nvidia0 is visible"),
            "in a container, pass the GPU through (`--gpus all`); under Slurm, ask for one (`--gres=gpu:1`)",
        );
    }
    if branch < LEAST_DRIVER {
        return Item::limited(
            ID,
            TITLE,
            format!("{version} is too old for CUDA 13 cubins"),
            format!("install branch {LEAST_DRIVER} or later, or set LOCKSTEP_NVRTC to an older NVRTC"),
        );
    }
    Item::fine(ID, TITLE, version)
}

fn has_device_file() -> bool {
    (0..16).any(|index| Path::new(&format!("/dev/nvidia{index}")).exists())
}

/// From `/proc/driver/nvidia/version`: the first word that looks like `580.65.06`.
fn driver_version() -> Option<String> {
    version_in(&std::fs::read_to_string("/proc/driver/nvidia/version").ok()?)
}

fn version_in(text: &str) -> Option<String> {
    let looks_right = |word: &&str| {
        word.contains('.') && word.split('.').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
    };
    text.lines().next()?.split_whitespace().find(looks_right).map(str::to_owned)
}

fn counters() -> Item {
    const ID: &str = "counters";
    const TITLE: &str = "GPU counters";
    const FIX: &str = "use the emulator's counters, or install Nsight Compute and put `ncu` in PATH to read the GPU's";
    const PERMISSION: &str = "NVreg_RestrictProfilingToAdminUsers=0";
    let Some(ncu) = ncu() else {
        return Item::limited(ID, TITLE, "Nsight Compute (ncu) was not found", FIX);
    };
    let restricted = std::fs::read_to_string("/proc/driver/nvidia/params")
        .is_ok_and(|params| params.lines().any(|line| line.replace(' ', "") == "RmProfilingAdminOnly:1"));
    if restricted && !is_root() {
        return Item::limited(
            ID,
            TITLE,
            "ncu is there, but only an administrator may read counters",
            format!(
                "as administrator: echo 'options nvidia {PERMISSION}' > /etc/modprobe.d/lockstep-profiling.conf, then \
                 restart; the emulator's counters serve until then"
            ),
        );
    }
    Item::fine(ID, TITLE, ncu.display().to_string())
}

fn is_root() -> bool {
    std::fs::read_to_string("/proc/self/status").is_ok_and(|status| {
        status
            .lines()
            .find_map(|line| line.strip_prefix("Uid:"))
            .is_some_and(|ids| ids.split_whitespace().nth(1) == Some("0"))
    })
}

fn ncu() -> Option<PathBuf> {
    let name = if cfg!(windows) { "ncu.exe" } else { "ncu" };
    let mut folders: Vec<PathBuf> =
        std::env::var_os("PATH").map(|p| std::env::split_paths(&p).collect()).unwrap_or_default();
    folders.push("/usr/local/cuda/bin".into());
    folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, capability: (u32, u32)) -> DeviceInfo {
        DeviceInfo {
            choice: gpu_core::device::DeviceChoice::Gpu(0),
            kind: DeviceKind::Gpu,
            name: name.into(),
            capability,
            arch: format!("sm_{}{}a", capability.0, capability.1),
            multiprocessors: Some(48),
            memory_bytes: Some(128_000_000_000),
            l2_bytes: None,
            clock_khz: None,
            memory_clock_khz: None,
            memory_bus_bits: None,
            shared_per_block_optin_bytes: Some(101_376),
            driver_version: None,
        }
    }

    #[test]
    fn a_spark_is_called_by_its_name_and_nothing_else_is() {
        let found = |name, capability| gpus(&[named(name, capability)])[0].found.clone();
        assert!(found("NVIDIA GB10", (12, 1)).contains("DGX Spark"));
        assert!(!found("NVIDIA GeForce RTX 5090", (12, 0)).contains("Spark"));
        assert!(!found("NVIDIA H200", (9, 0)).contains("Spark"));
    }

    #[test]
    fn driver_versions_are_read_from_both_kernel_modules() {
        let closed = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 01:44:30 UTC 2024\nGCC";
        let open = "NVRM version: NVIDIA UNIX Open Kernel Module for aarch64  580.95.05  Release Build";
        assert_eq!(version_in(closed).as_deref(), Some("550.54.14"));
        assert_eq!(version_in(open).as_deref(), Some("580.95.05"));
        assert_eq!(version_in(""), None);
    }
}
