//! The one device that is presented, and what it says of itself.

use std::ffi::{CStr, c_char};
use std::sync::{Mutex, OnceLock};

use ptx_emulator::Device;

use super::{initialise, initialised, lock};
use crate::abi::*;

/// The CUDA that the library says it is.
pub const DRIVER_VERSION: i32 = 13000;

/// The chip that is presented: an architecture of the emulator's table.
#[derive(Clone, Copy, Debug)]
pub struct Chip {
    pub major: i32,
    pub minor: i32,
    pub limits: Device,
}

/// Blocks of the largest cluster, one that not every chip of an architecture holds.
pub const MOST_BLOCKS_IN_CLUSTER: i32 = 16;
pub const REGISTERS_PER_MULTIPROCESSOR: i32 = ptx_emulator::REGISTERS_PER_SM as i32;
pub const SHARED_PER_BLOCK_BYTES: i32 = 48 << 10;
pub const MAX_THREADS_PER_BLOCK: i32 = 1024;
pub const WARP_SIZE: i32 = 32;
/// Presented when neither `LOCKSTEP_ARCH` nor a module says otherwise.
const DEFAULT_ARCH: &str = "sm_90";

impl Chip {
    fn new(limits: Device) -> Chip {
        let number: i32 = limits.name.trim_start_matches("sm_").parse().unwrap_or(90);
        Chip { major: number / 10, minor: number % 10, limits }
    }

    /// The chip called `sm_90`, `sm_90a`, `compute_90` or `90`.
    fn named(arch: &str) -> Option<Chip> {
        let digits = arch.strip_prefix("sm_").or_else(|| arch.strip_prefix("compute_")).unwrap_or(arch);
        let wanted = format!("sm_{}", digits.trim_end_matches(['a', 'f']));
        Device::all().find(|device| device.name == wanted).map(Chip::new)
    }

    /// Shared memory that the system takes of each block since compute capability 8.
    pub fn reserved_shared_bytes(&self) -> i32 {
        if self.major >= 8 { 1 << 10 } else { 0 }
    }

    pub fn shared_per_block_bytes(&self) -> i32 {
        self.limits.shared_per_block as i32
    }

    pub fn shared_per_multiprocessor_bytes(&self) -> i32 {
        self.limits.shared_per_sm as i32
    }

    /// Whether PTX for `target` can be compiled for this chip: any older one; of those with features of one
    /// architecture (`sm_90a`) only its own, and of those with features of a family (`sm_100f`) later members.
    fn runs(&self, target: &str) -> bool {
        let Some(wanted) = Chip::named(target) else { return true };
        let (own, other) = ((self.major, self.minor), (wanted.major, wanted.minor));
        match target.chars().last() {
            Some('a') => own == other,
            Some('f') => self.major == wanted.major && own >= other,
            _ => own >= other,
        }
    }
}

/// The chip that `LOCKSTEP_ARCH` asks for. An unknown one is said once on standard error and passed over.
fn asked_for() -> Option<Chip> {
    static ASKED: OnceLock<Option<Chip>> = OnceLock::new();
    *ASKED.get_or_init(|| {
        let wanted = std::env::var("LOCKSTEP_ARCH").ok()?;
        let chip = Chip::named(&wanted);
        if chip.is_none() {
            let known: Vec<&str> = Device::all().map(|device| device.name).collect();
            explain(format!("LOCKSTEP_ARCH={wanted} is not known; using {DEFAULT_ARCH}. Known: {}", known.join(", ")));
        }
        chip
    })
}

/// The chip that a module's target made of the device; see [`accept`].
static ADOPTED: Mutex<Option<Chip>> = Mutex::new(None);

/// The chip of `LOCKSTEP_ARCH`; else that of a loaded module that the default cannot run; else the default.
pub fn current() -> Chip {
    asked_for().or_else(|| *lock(&ADOPTED)).or_else(|| Chip::named(DEFAULT_ARCH)).unwrap_or_else(|| {
        // The table has the default; this keeps a slip in it from ending the program.
        Chip::new(Device::of(DEFAULT_ARCH))
    })
}

/// Whether the device can run PTX for `target`.
pub fn runs(target: &str) -> bool {
    current().runs(target)
}

/// Makes the device one that can run PTX for `target`, unless `LOCKSTEP_ARCH` forbids it.
///
/// # Errors
/// `CUDA_ERROR_NO_BINARY_FOR_GPU` with what a driver's compiler says.
pub fn accept(target: &str) -> Result<(), (CUresult, String)> {
    if runs(target) {
        return Ok(());
    }
    if let Some(chip) = asked_for() {
        let text = format!(
            "ptxas application ptx input, fatal : the module's .target {target} cannot be compiled for {}; SM version \
             specified by .target is higher than default SM version assumed, or specific to another chip (unset \
             LOCKSTEP_ARCH to take the module's own)",
            chip.limits.name
        );
        return Err((NO_BINARY_FOR_GPU, text));
    }
    *lock(&ADOPTED) = Chip::named(target);
    Ok(())
}

/// Multiprocessors presented: one for each host core, so that occupancy answers lead to grids that fit the machine. Where
/// there are clusters, enough for the largest: schedulers of persistent kernels divide the one by the other.
pub fn multiprocessors() -> i32 {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as i32);
    if current().major >= 9 { cores.max(MOST_BLOCKS_IN_CLUSTER) } else { cores }
}

/// Device memory: half of the host's physical memory, or 8 GiB where that is not known.
pub fn memory_bytes() -> u64 {
    let total_kib = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("MemTotal:"))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok()
    });
    total_kib.map_or(8 << 30, |kib| kib * 1024 / 2)
}

fn attribute(id: u32) -> Option<i32> {
    let chip = current();
    let since = |major: i32| i32::from(chip.major >= major);
    // Limits that are the same for all chips of the table are those of the compute capability in CUDA's programming guide.
    Some(match id {
        1..=3 => MAX_THREADS_PER_BLOCK,
        4 => 64,
        5 => i32::MAX,
        6 | 7 => 65535,
        8 => SHARED_PER_BLOCK_BYTES,
        9 => 64 << 10,
        10 => WARP_SIZE,
        11 => i32::MAX,
        12 | 82 => REGISTERS_PER_MULTIPROCESSOR,
        // Clocks in kHz. The emulator has none; a round figure keeps callers that divide by it alive.
        13 | 36 => 1_000_000,
        14 => 512,
        15 => 1,
        16 => multiprocessors(),
        17 | 20 => 0,
        // Host memory is mapped, kernels run side by side, addresses are unified.
        18 => 0,
        19 | 31 | 41 => 1,
        // Extents of textures and surfaces, which kernels have not here, but arrays have.
        21 | 22 | 55 | 56 => ARRAY_WIDTH,
        23 | 57 => 65536,
        24..=26 | 58..=60 => 16384,
        27 | 28 | 42 | 45 | 46 | 49 | 52 | 53 | 61 | 63 | 64 | 66 | 67 | 70 | 73 | 74 | 77 => 32768,
        29 | 43 | 62 | 65 => 2048,
        47 | 48 => 8192,
        54 | 68 => 2046,
        69 => 1 << 28,
        71 => 65000,
        72 => 2_097_120,
        30 | 51 => 512,
        33 | 34 | 35 | 50 | 84 | 85 | 88 => 0,
        32 => 1,
        37 => 256,
        38 => 32 << 20,
        39 => chip.limits.threads_per_sm as i32,
        // Copies of both directions at once.
        40 => 2,
        75 => chip.major,
        76 => chip.minor,
        78..=80 | 83 | 86 => 1,
        81 => chip.shared_per_multiprocessor_bytes(),
        87 => 32,
        89..=91 | 95 | 99 | 101 => 1,
        97 => chip.shared_per_block_bytes(),
        VIRTUAL_MEMORY | POSIX_FILES => i32::from(cfg!(target_os = "linux")),
        106 => chip.limits.blocks_per_sm as i32,
        111 => chip.reserved_shared_bytes(),
        113 | 115 => 1,
        120 | 127 => since(9),
        // Words that streams write and wait for: 64-bit ones, and waits for a bit that is not set.
        122 | 123 => 1,
        126 => 1,
        130 | 131 | 134 => -1,
        // Whatever else CUDA 13 knows, the emulator has not.
        0 | 148.. => return None,
        _ => 0,
    })
}

/// `CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED` and `…_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED`.
const VIRTUAL_MEMORY: u32 = 102;
const POSIX_FILES: u32 = 103;
/// Widest array of one dimension.
const ARRAY_WIDTH: i32 = 131_072;

/// `CUdevprop`.
#[repr(C)]
pub struct Properties {
    threads_per_block: i32,
    block: [i32; 3],
    grid: [i32; 3],
    shared_per_block: i32,
    constant_bytes: i32,
    warp: i32,
    pitch: i32,
    registers: i32,
    clock: i32,
    texture_alignment: i32,
}

fn properties() -> Properties {
    let of = |id: u32| attribute(id).unwrap_or(0);
    Properties {
        threads_per_block: of(1),
        block: [of(2), of(3), of(4)],
        grid: [of(5), of(6), of(7)],
        shared_per_block: of(8),
        constant_bytes: of(9),
        warp: of(10),
        pitch: of(11),
        registers: of(12),
        clock: of(13),
        texture_alignment: of(14),
    }
}

pub fn check(device: i32) -> Answer {
    initialised()?;
    if device == 0 { Ok(()) } else { Err(INVALID_DEVICE) }
}

unsafe fn put_text(out: *mut c_char, room: i32, text: &str) -> Answer {
    if out.is_null() || room <= 0 {
        return Err(INVALID_VALUE);
    }
    let bytes = &text.as_bytes()[..text.len().min(room as usize - 1)];
    unsafe {
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), out.cast(), bytes.len());
        out.add(bytes.len()).write(0);
    }
    Ok(())
}

/// Where the device would sit on its bus.
const PCI_ID: &str = "0000:00:00.0";

/// Fixed, so that programs that key caches by device find them again: "lockstep-emulator" cut to 16 bytes.
const UUID: [u8; 16] = *b"lockstep-emulato";

api! {
    fn cuInit(flags: u32) {
        if flags != 0 {
            return Err(INVALID_VALUE);
        }
        initialise()
    }
    fn cuDriverGetVersion(version: *mut i32) {
        put(version, DRIVER_VERSION)
    }
    fn cuDeviceGet(device: *mut i32, ordinal: i32) {
        check(ordinal)?;
        put(device, ordinal)
    }
    fn cuDeviceGetCount(count: *mut i32) {
        initialised()?;
        put(count, 1)
    }
    fn cuDeviceGetName(name: *mut c_char, room: i32, device: i32) {
        check(device)?;
        let chip = current();
        put_text(name, room, &format!("Lockstep emulator (sm_{}{})", chip.major, chip.minor))
    }
    fn cuDeviceGetUuid(uuid: *mut [u8; 16], device: i32) {
        check(device)?;
        put(uuid, UUID)
    }
    fn cuDeviceGetUuid_v2(uuid: *mut [u8; 16], device: i32) {
        check(device)?;
        put(uuid, UUID)
    }
    fn cuDeviceTotalMem_v2(bytes: *mut usize, device: i32) {
        check(device)?;
        put(bytes, memory_bytes() as usize)
    }
    fn cuDeviceGetAttribute(value: *mut i32, id: u32, device: i32) {
        check(device)?;
        put(value, attribute(id).ok_or(INVALID_VALUE)?)
    }
    fn cuDeviceComputeCapability(major: *mut i32, minor: *mut i32, device: i32) {
        check(device)?;
        put(major, current().major)?;
        put(minor, current().minor)
    }
    fn cuDeviceGetPCIBusId(id: *mut c_char, room: i32, device: i32) {
        check(device)?;
        // It must fit with its zero.
        if room <= PCI_ID.len() as i32 {
            return Err(INVALID_VALUE);
        }
        put_text(id, room, PCI_ID)
    }
    fn cuDeviceGetByPCIBusId(device: *mut i32, id: *const c_char) {
        initialised()?;
        if id.is_null() {
            return Err(INVALID_VALUE);
        }
        let text = CStr::from_ptr(id).to_string_lossy();
        let known = text == PCI_ID;
        // Of the form that such numbers have, or no number at all.
        let numbers = text.split([':', '.']).all(|part| u32::from_str_radix(part, 16).is_ok());
        match (known, numbers && text.contains(':')) {
            (true, _) => put(device, 0),
            (false, true) => Err(INVALID_DEVICE),
            (false, false) => Err(INVALID_VALUE),
        }
    }
    fn cuDeviceCanAccessPeer(answer: *mut i32, device: i32, peer: i32) {
        check(device)?;
        check(peer)?;
        put(answer, 0)
    }
    fn cuDeviceGetP2PAttribute(_value: *mut i32, _id: u32, device: i32, peer: i32) {
        check(device)?;
        check(peer)?;
        // There is one device, and none is its own peer.
        Err(INVALID_DEVICE)
    }
    fn cuDeviceGetExecAffinitySupport(answer: *mut i32, _kind: u32, device: i32) {
        check(device)?;
        put(answer, 0)
    }
    fn cuGetErrorName(code: u32, text: *mut *const c_char) {
        let found = RESULTS.iter().find(|result| result.0 == code);
        put(text, found.map_or(std::ptr::null(), |result| result.1.as_ptr()))?;
        found.map(drop).ok_or(INVALID_VALUE)
    }
    fn cuGetErrorString(code: u32, text: *mut *const c_char) {
        let found = RESULTS.iter().find(|result| result.0 == code);
        put(text, found.map_or(std::ptr::null(), |result| result.2.as_ptr()))?;
        found.map(drop).ok_or(INVALID_VALUE)
    }
    fn cuDeviceGetProperties(out: *mut Properties, device: i32) {
        check(device)?;
        put(out, properties())
    }
    fn cuDeviceTotalMem(bytes: *mut usize, device: i32) {
        check(device)?;
        put(bytes, memory_bytes() as usize)
    }
}
