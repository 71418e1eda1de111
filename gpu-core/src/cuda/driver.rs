//! The driver library: whether it is there, what it says of its devices, and what its errors mean.

use crate::device::{DeviceChoice, DeviceInfo, DeviceKind, RunError};
use cudarc::driver::sys::{self, CUdevice_attribute as Attribute};
use cudarc::driver::{DriverError, result};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Oldest driver API that has every function used here (`cuLaunchKernelEx` came with 11.8); cudarc ends the
/// process's thread on a missing function, so it is asked for first.
const OLDEST_DRIVER: i32 = 12_000;

/// Set once a context answers nothing else, or a kernel that nobody can cancel still runs. From then on nothing is
/// given back to the driver: freeing memory would wait for that kernel for ever. The process has to end.
static ABANDONED: AtomicBool = AtomicBool::new(false);

pub fn abandon() {
    ABANDONED.store(true, Ordering::Relaxed);
}

pub fn is_abandoned() -> bool {
    ABANDONED.load(Ordering::Relaxed)
}

/// Initialises the driver once per process.
///
/// # Errors
/// [`RunError::Environment`] with what is missing and what to do.
pub fn init() -> Result<(), RunError> {
    static STATE: OnceLock<Result<(), RunError>> = OnceLock::new();
    STATE.get_or_init(try_init).clone()
}

fn try_init() -> Result<(), RunError> {
    // SAFETY: loading the driver library runs its initialisers; it is the system's own library.
    if !unsafe { sys::is_culib_present() } {
        return Err(RunError::Environment(
            "no NVIDIA driver library (libcuda) is installed; install the driver, or use the emulator".to_owned(),
        ));
    }
    let version = version()?;
    if version < OLDEST_DRIVER {
        return Err(RunError::Environment(format!(
            "the NVIDIA driver serves CUDA {}; at least {} is needed. Update the driver, or use the emulator",
            version_text(version),
            version_text(OLDEST_DRIVER)
        )));
    }
    result::init().map_err(|error| match error.0 {
        sys::CUresult::CUDA_ERROR_NO_DEVICE => {
            RunError::Environment("the NVIDIA driver finds no GPU here; use the emulator".to_owned())
        }
        _ => RunError::Environment(format!(
            "the NVIDIA driver does not start ({}); does `nvidia-smi` work?",
            describe(error)
        )),
    })
}

pub(super) fn version() -> Result<i32, RunError> {
    let mut version = 0;
    // SAFETY: the library is present and the pointer is valid for one integer; this call needs no cuInit.
    unsafe { sys::cuDriverGetVersion(&mut version) }
        .result()
        .map_err(|error| failed("asking for its version", error))?;
    Ok(version)
}

fn version_text(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

/// Number of GPUs.
pub fn count() -> Result<u32, RunError> {
    init()?;
    let count = result::device::get_count().map_err(|error| failed("counting GPUs", error))?;
    Ok(u32::try_from(count).unwrap_or(0))
}

/// Describes a GPU without opening it.
pub fn describe_device(ordinal: u32) -> Result<DeviceInfo, RunError> {
    let count = count()?;
    if ordinal >= count {
        return Err(RunError::Environment(format!("there is no GPU {ordinal} here; the driver finds {count}")));
    }
    let device = result::device::get(ordinal as i32).map_err(|error| failed("opening the GPU", error))?;
    let attribute = |attribute| {
        // SAFETY: `device` came from the driver for a valid ordinal.
        unsafe { result::device::get_attribute(device, attribute) }.ok().filter(|value| *value > 0)
    };
    let unsigned = |value: Option<i32>| value.and_then(|value| u32::try_from(value).ok());
    let major = unsigned(attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)).unwrap_or(0);
    let minor = unsigned(attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)).unwrap_or(0);
    // SAFETY: as above.
    let memory = unsafe { result::device::total_mem(device) }.ok();
    Ok(DeviceInfo {
        choice: DeviceChoice::Gpu(ordinal),
        kind: DeviceKind::Gpu,
        name: result::device::get_name(device).unwrap_or_else(|_| format!("GPU {ordinal}")),
        capability: (major, minor),
        arch: arch_of(major, minor),
        multiprocessors: unsigned(attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)),
        memory_bytes: memory.map(|bytes| bytes as u64),
        l2_bytes: attribute(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE).and_then(|value| u64::try_from(value).ok()),
        clock_khz: unsigned(attribute(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE)),
        memory_clock_khz: unsigned(attribute(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)),
        memory_bus_bits: unsigned(attribute(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)),
        shared_per_block_optin_bytes: unsigned(attribute(
            Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
        )),
        driver_version: version().ok().map(version_text).map(|cuda| match release() {
            Some(release) => format!("{release} (CUDA {cuda})"),
            None => cuda,
        }),
    })
}

/// The driver's release as its vendor numbers it, for example `580.159.04`; CUDA itself tells only which CUDA it has.
fn release() -> Option<String> {
    let text = std::fs::read_to_string("/sys/module/nvidia/version").ok()?;
    let text = text.trim();
    text.starts_with(|first: char| first.is_ascii_digit()).then(|| text.to_owned())
}

/// Whether a GPU has no memory of its own, as a GB10.
pub fn is_integrated(context: &cudarc::driver::CudaContext) -> bool {
    context.attribute(Attribute::CU_DEVICE_ATTRIBUTE_INTEGRATED).is_ok_and(|value| value > 0)
}

/// Memory of the machine that programs can have without others losing theirs; None where the system does not tell.
pub fn available_bytes() -> Option<u64> {
    available_in(&std::fs::read_to_string("/proc/meminfo").ok()?)
}

fn available_in(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

/// The architecture with everything that the chip has: from 9.0 on the `a` form, which code for this very chip
/// may use.
fn arch_of(major: u32, minor: u32) -> String {
    format!("sm_{major}{minor}{}", if major >= 9 { "a" } else { "" })
}

/// Name and meaning as the driver has them.
pub fn describe(error: DriverError) -> String {
    let text = |text: Result<&std::ffi::CStr, DriverError>| text.ok().map(|text| text.to_string_lossy().into_owned());
    let name = text(error.error_name()).unwrap_or_else(|| "unknown error".to_owned());
    match text(error.error_string()) {
        Some(meaning) => format!("{name}: {meaning}"),
        None => name,
    }
}

/// What an error of the driver means for the run.
pub fn failed(doing: &str, error: DriverError) -> RunError {
    let code = error.0 as u32;
    if let Some(cause) = sticky_cause(code) {
        abandon();
        return RunError::Sticky(format!("{cause} (CUDA error {code} while {doing}). The GPU's context is lost"));
    }
    match error.0 {
        sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
            RunError::Limit(format!("the GPU has too little free memory for {doing}; close other programs that use it"))
        }
        sys::CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU
        | sys::CUresult::CUDA_ERROR_INVALID_IMAGE
        | sys::CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => RunError::Environment(format!(
            "this GPU cannot run code of that architecture ({}); compile for the GPU's own",
            describe(error)
        )),
        _ => RunError::Environment(format!("the CUDA driver failed while {doing}: {}", describe(error))),
    }
}

/// What a learner should look for, for the errors after which a context answers nothing else.
pub fn sticky_cause(code: u32) -> Option<&'static str> {
    Some(match code {
        226 => "The GPU met a memory error of its own and contained it",
        700 => "The kernel touched an address that belongs to no buffer: check the index against the size",
        702 => "The kernel ran longer than the system's watchdog allows: look for a loop that does not end",
        710 => "An `assert` in the kernel failed",
        714 => "The kernel broke its call stack: too deep a recursion, or a local array written past its end",
        715 => "The kernel met an illegal instruction: a `trap`, or a tensor copy with a bad coordinate or descriptor",
        716 => {
            "The kernel read or wrote an address that is not a multiple of the access's size: check casts to wider types"
        }
        717 => "The kernel used an address of one memory space in an instruction for another",
        718 => "The kernel jumped to an invalid address: a broken function pointer",
        719 => "The kernel failed: often a shared-memory access past the end of the block's memory, or a `trap`",
        721 => "The kernel ended without giving back its tensor memory",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sticky_errors_are_told_from_others() {
        for code in [226, 700, 702, 710, 714, 715, 716, 717, 718, 719, 721] {
            assert!(sticky_cause(code).is_some_and(|cause| !cause.is_empty()), "{code}");
        }
        for code in [1, 2, 100, 200, 701, 720] {
            assert_eq!(sticky_cause(code), None);
        }
    }

    #[test]
    fn available_memory_is_read_from_what_linux_tells() {
        // Of a machine whose files fill its memory.
        let told = "MemTotal:       127535408 kB\nMemFree:         3211264 kB\nMemAvailable:   119537664 kB\n";
        assert_eq!(available_in(told), Some(119_537_664 * 1024));
        for other in ["", "MemAvailable: much", "MemAvailable: 5 MB", "MemAvailable: 18446744073709551615 kB"] {
            assert_eq!(available_in(other), None, "{other}");
        }
    }

    #[test]
    fn asking_a_machine_for_gpus_never_panics() {
        match count() {
            Ok(count) => assert!(describe_device(count).is_err(), "one past the last"),
            Err(RunError::Environment(message)) => assert!(message.contains("emulator"), "{message}"),
            Err(other) => panic!("{other}"),
        }
    }
}
