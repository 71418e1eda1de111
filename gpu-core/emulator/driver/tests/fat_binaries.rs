//! Fat binaries as nvcc writes them: the PTX in them is found, unpacked and chosen as a driver would. Each device is a
//! process of its own, for the choice is made once.

mod common;

use common::*;
use std::ffi::{CString, c_char, c_void};

unsafe extern "C" {
    fn cuModuleLoad(module: *mut Handle, path: *const c_char) -> u32;
    fn cuModuleLoadFatBinary(module: *mut Handle, image: *const c_void) -> u32;
    fn cuLinkCreate_v2(count: u32, options: *const u32, values: *mut *mut c_void, link: *mut Handle) -> u32;
    fn cuLinkAddData_v2(
        link: Handle,
        kind: u32,
        data: *const c_void,
        bytes: usize,
        name: *const c_char,
        count: u32,
        options: *const u32,
        values: *mut *mut c_void,
    ) -> u32;
    fn cuLinkComplete(link: Handle, image: *mut *mut c_void, bytes: *mut usize) -> u32;
}

/// PTX for compute_75, 80 and 90, by zstd, and machine code for sm_90 of the same kernel, which stores `__CUDA_ARCH__`.
const SEVERAL: &[u8] = include_bytes!("fatbin/several.fatbin");
/// PTX for compute_75 by LZ4.
const FAST: &[u8] = include_bytes!("fatbin/fast.fatbin");
/// Machine code for sm_90 alone.
const MACHINE: &[u8] = include_bytes!("fatbin/machine.fatbin");

const NO_BINARY_FOR_GPU: u32 = 209;
const INVALID_IMAGE: u32 = 200;
const REGISTERS: u32 = 4;
const INPUT_FAT_BINARY: u32 = 2;

/// What compiled programs point to their fat binary with.
#[repr(C)]
struct Wrapper {
    magic: u32,
    version: u32,
    data: *const c_void,
    unused: *const c_void,
}

fn load_image(image: *const c_void) -> Result<Handle, u32> {
    let mut module = 0;
    // SAFETY: the images of this file are whole.
    match unsafe { cuModuleLoadData(&mut module, image) } {
        0 => Ok(module),
        code => Err(code),
    }
}

/// What the kernel says of the architecture that it was compiled for.
fn arch_of(module: Handle) -> i32 {
    let out = alloc(4);
    assert_eq!(launch(function(module, "arch"), [1; 3], [1; 3], &mut [arg(&out)]), 0);
    download::<i32>(out, 1)[0]
}

#[test]
fn fat_binaries_load_by_every_way() {
    context();
    let module = load_image(SEVERAL.as_ptr().cast()).expect("PTX");
    assert_eq!(arch_of(module), 900, "the newest that the device can run");
    let known = function_attribute(function(module, "arch"), REGISTERS);
    let wrapper = Wrapper { magic: 0x4662_43b1, version: 1, data: SEVERAL.as_ptr().cast(), unused: NOTHING };
    assert_eq!(load_image((&raw const wrapper).cast()).map(arch_of), Ok(900));
    assert_eq!(load_image(FAST.as_ptr().cast()).map(arch_of), Ok(750));
    assert_eq!(load_image(MACHINE.as_ptr().cast()), Err(NO_BINARY_FOR_GPU));
    // That said how many registers its kernel takes, as the machine code among the several did.
    assert_eq!(known, function_attribute(function(load_image(FAST.as_ptr().cast()).expect("PTX"), "arch"), REGISTERS));

    let (mut module, mut link, mut image, mut bytes) = (0, 0, std::ptr::null_mut(), 0);
    let folder = std::env::temp_dir();
    let path = folder.join(format!("lockstep-fat-{}.fatbin", std::process::id()));
    std::fs::write(&path, SEVERAL).expect("a file");
    let name = CString::new(path.to_string_lossy().as_bytes()).expect("a path");
    // SAFETY: all pointers live through the calls, and no option is given.
    unsafe {
        let (nothing, none) = (std::ptr::null(), std::ptr::null_mut());
        assert_eq!(cuModuleLoadFatBinary(&mut module, SEVERAL.as_ptr().cast()), 0);
        assert_eq!(arch_of(module), 900);
        assert_eq!(cuModuleLoad(&mut module, name.as_ptr()), 0);
        assert_eq!(arch_of(module), 900);
        assert_eq!(cuLinkCreate_v2(0, nothing, none, &mut link), 0);
        let data = FAST.as_ptr().cast();
        let added = cuLinkAddData_v2(link, INPUT_FAT_BINARY, data, FAST.len(), c"fast".as_ptr(), 0, nothing, none);
        assert_eq!(added, 0);
        assert_eq!(cuLinkComplete(link, &mut image, &mut bytes), 0);
    }
    assert_eq!(load_image(image).map(arch_of), Ok(750));

    // Files that are cut off, or whose compressed bytes are not what they were.
    let refused = |bytes: &[u8]| {
        std::fs::write(&path, bytes).expect("a file");
        let mut module = 0;
        // SAFETY: the path is a text that ends with a zero.
        unsafe { cuModuleLoad(&mut module, name.as_ptr()) }
    };
    for end in [4, 15, 16, 40, 100, 300, SEVERAL.len() - 1] {
        assert_eq!(refused(&SEVERAL[..end]), INVALID_IMAGE, "the first {end} bytes");
    }
    let mut damaged = FAST.to_vec();
    damaged[96..].fill(0xff);
    assert_eq!(refused(&damaged), INVALID_IMAGE);
    let mut damaged = SEVERAL.to_vec();
    damaged[96..120].fill(0xff);
    assert_eq!(refused(&damaged), INVALID_IMAGE);
    // A piece that says it is huge: nothing of that size is asked for.
    let mut damaged = FAST.to_vec();
    damaged[72..80].fill(0xff);
    assert_eq!(refused(&damaged), INVALID_IMAGE);
    std::fs::remove_file(path).expect("the file");
}

#[test]
fn the_device_chooses_among_several() {
    for (arch, wanted) in [("sm_75", 750), ("sm_89", 800), ("sm_120", 900)] {
        let exe = std::env::current_exe().expect("this binary");
        let mut child = std::process::Command::new(exe);
        child.args(["--exact", "on_one_device", "--ignored", "--nocapture"]).env("LOCKSTEP_ARCH", arch);
        let output = child.output().expect("a child");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.contains(&format!("COMPILED FOR {wanted}")), "{arch}: {text}");
    }
}

#[test]
#[ignore = "runs in a process of its own, for each device"]
fn on_one_device() {
    context();
    println!("COMPILED FOR {}", load_image(SEVERAL.as_ptr().cast()).map_or(-1, arch_of));
}
