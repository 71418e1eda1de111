//! Modules, libraries, functions and their variables.

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use ptx_emulator::{KernelInfo, Module};

use crate::abi::*;
use crate::cubin;
use crate::device;
use crate::state::{self, driver, lock};

/// A loaded module (`CUmodule` and `CUlibrary` alike).
pub struct Library {
    pub module: Module,
    /// Registers by kernel, where machine code told them.
    registers: HashMap<String, u32>,
    /// Variables that were asked for: address and size.
    globals: Mutex<Vec<(u64, u64)>>,
    functions: Mutex<Vec<(String, Handle)>>,
}

/// One kernel of a module (`CUfunction` and `CUkernel` alike).
pub struct Function {
    pub module: Module,
    pub info: KernelInfo,
    /// Its name, for programs that ask.
    pub c_name: CString,
    pub library: Handle,
    pub registers: Registers,
    pub max_dynamic_shared_bytes: AtomicU32,
    carveout: AtomicU32,
    cluster_width: AtomicU32,
}

/// Registers of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registers {
    /// From machine code of the same kernel, which the program offered first.
    Known(u32),
    /// From the PTX; see [`KernelInfo::register_estimate`].
    Estimated(u32),
}

impl Registers {
    pub fn count(self) -> u32 {
        match self {
            Registers::Known(count) | Registers::Estimated(count) => count,
        }
    }
}

/// Most registers that a thread can have; what is assumed of kernels too large for an estimate.
const MOST_REGISTERS: u32 = 255;

impl Function {
    /// Threads of the largest block: by the kernel's own bounds, and as its registers allow.
    pub fn max_threads(&self) -> i32 {
        let bound = self.info.max_threads.unwrap_or(u32::MAX).min(device::MAX_THREADS_PER_BLOCK as u32);
        let chip = device::current();
        let fits = |threads: u32| chip.limits.occupancy_of(threads, Some(self.registers.count()), 0).blocks_per_sm > 0;
        // Whole warps, for registers are handed out to those.
        let warps = (1..=bound.div_ceil(32)).rev().find(|warps| fits(warps * 32)).unwrap_or(1);
        (warps * 32).min(bound) as i32
    }
}

/// Whether an address is inside a module variable that was asked for.
pub fn owns(address: u64) -> bool {
    driver().libraries.all().iter().any(|(_, library)| {
        lock(&library.globals).iter().any(|(base, bytes)| address >= *base && address - base < *bytes)
    })
}

const ELF_MAGIC: &[u8] = b"\x7fELF";
const FATBIN_MAGIC: u32 = 0xba55_ed50;
const FATBIN_WRAPPER_MAGIC: u32 = 0x4662_43b1;

/// Buffers that a caller passed for the PTX compiler's words.
#[derive(Default)]
struct Logs {
    error: Option<(*mut c_char, usize)>,
}

const JIT_ERROR_LOG_BUFFER: u32 = 5;
const JIT_ERROR_LOG_BUFFER_SIZE: u32 = 6;

impl Logs {
    unsafe fn read(count: u32, options: *const u32, values: *const *mut c_void) -> Logs {
        let mut buffer: *mut c_char = std::ptr::null_mut();
        let mut size = 0;
        if !options.is_null() && !values.is_null() {
            for index in 0..count as usize {
                let (option, value) = unsafe { (*options.add(index), *values.add(index)) };
                match option {
                    JIT_ERROR_LOG_BUFFER => buffer = value.cast(),
                    JIT_ERROR_LOG_BUFFER_SIZE => size = value as usize,
                    _ => {}
                }
            }
        }
        Logs { error: (!buffer.is_null() && size > 0).then_some((buffer, size)) }
    }

    unsafe fn write(&self, text: &str) {
        if let Some((buffer, size)) = self.error {
            let bytes = &text.as_bytes()[..text.len().min(size - 1)];
            unsafe {
                std::ptr::copy_nonoverlapping(bytes.as_ptr().cast(), buffer, bytes.len());
                buffer.add(bytes.len()).write(0);
            }
        }
    }
}

/// Reads PTX at `image`. Machine code cannot run here and is refused with what to do.
unsafe fn ptx_of(image: *const c_void) -> Result<String, CUresult> {
    if image.is_null() {
        return Err(INVALID_VALUE);
    }
    let start = unsafe { std::slice::from_raw_parts(image.cast::<u8>(), 4) };
    let magic = u32::from_le_bytes([start[0], start[1], start[2], start[3]]);
    if start == ELF_MAGIC {
        // The program may turn to PTX of the same kernels next; what the machine code says of them stays true.
        cubin::remember(unsafe { cubin::whole(image.cast()) });
    }
    if start == ELF_MAGIC || magic == FATBIN_MAGIC || magic == FATBIN_WRAPPER_MAGIC {
        explain("this module is machine code for a GPU; the emulator runs PTX (compile for compute_XX, not sm_XX)");
        return Err(NO_BINARY_FOR_GPU);
    }
    let text = unsafe { CStr::from_ptr(image.cast()) };
    text.to_str().map(str::to_owned).map_err(|_| INVALID_PTX)
}

unsafe fn load(out: *mut Handle, text: &str, logs: &Logs) -> Answer {
    if out.is_null() {
        return Err(INVALID_VALUE);
    }
    let refuse = |code: CUresult, text: String| {
        unsafe { logs.write(&text) };
        explain(text);
        code
    };
    // What is no PTX at all is an invalid image; PTX that cannot be compiled is another matter.
    let kind = if text.contains(".version") { INVALID_PTX } else { INVALID_IMAGE };
    let module = Module::load(text).map_err(|error| refuse(kind, error.to_string()))?;
    device::accept(module.target()).map_err(|(code, text)| refuse(code, text))?;
    let registers = cubin::remembered(&module);
    let library = Library { module, registers, globals: Mutex::default(), functions: Mutex::default() };
    unsafe { put(out, driver().libraries.add(Arc::new(library))) }
}

unsafe fn ptx_of_file(path: *const c_char) -> Result<String, CUresult> {
    if path.is_null() {
        return Err(INVALID_VALUE);
    }
    let path = unsafe { CStr::from_ptr(path) }.to_string_lossy().into_owned();
    let bytes = std::fs::read(&path).map_err(|error| {
        explain(format!("cannot read module: {error}: {path}"));
        FILE_NOT_FOUND
    })?;
    let mut bytes: Vec<u8> = bytes;
    bytes.extend_from_slice(&[0; 4]);
    unsafe { ptx_of(bytes.as_ptr().cast()) }
}

unsafe fn load_file(out: *mut Handle, path: *const c_char) -> Answer {
    unsafe { load(out, &ptx_of_file(path)?, &Logs::default()) }
}

/// Adds a text to a link in progress.
fn link_text(link: Handle, text: &str) -> Answer {
    let mut links = lock(&driver().linked);
    let slot = links.get_mut(&link).ok_or(INVALID_HANDLE)?;
    if !slot.is_empty() {
        explain("linking several PTX modules is not supported by the emulator; compile them as one");
        return Err(NOT_SUPPORTED);
    }
    slot.extend_from_slice(text.as_bytes());
    slot.push(0);
    Ok(())
}

/// The handle of a kernel of a module, by its name.
pub unsafe fn find_function(out: *mut Handle, library_handle: Handle, name: *const c_char) -> Answer {
    let library = driver().libraries.get(library_handle)?;
    if name.is_null() {
        return Err(INVALID_VALUE);
    }
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    let info = library.module.kernel(&name).ok_or(NOT_FOUND)?.clone();
    let mut functions = lock(&library.functions);
    if let Some((_, handle)) = functions.iter().find(|(known, _)| *known == *name) {
        return unsafe { put(out, *handle) };
    }
    let handle = driver().functions.add(Arc::new(Function {
        module: library.module.clone(),
        max_dynamic_shared_bytes: AtomicU32::new(
            (device::SHARED_PER_BLOCK_BYTES as u32).saturating_sub(info.static_shared_bytes),
        ),
        registers: library
            .registers
            .get(&info.name)
            .copied()
            .map_or(Registers::Estimated(info.register_estimate.unwrap_or(MOST_REGISTERS)), Registers::Known),
        c_name: CString::new(info.name.as_str()).map_err(|_| NOT_FOUND)?,
        info,
        library: library_handle,
        carveout: AtomicU32::new(u32::MAX),
        cluster_width: AtomicU32::new(0),
    }));
    functions.push((name.into_owned(), handle));
    unsafe { put(out, handle) }
}

unsafe fn global(pointer: *mut CUdeviceptr, bytes: *mut usize, library: Handle, name: *const c_char) -> Answer {
    let library = driver().libraries.get(library)?;
    if name.is_null() {
        return Err(INVALID_VALUE);
    }
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    let found = lock(&driver().memory).symbol(&library.module, &name).ok_or(NOT_FOUND)?;
    let mut globals = lock(&library.globals);
    if !globals.contains(&found) {
        globals.push(found);
    }
    unsafe {
        put_optional(pointer, found.0);
        put_optional(bytes, found.1 as usize);
    }
    Ok(())
}

fn unload(handle: Handle) -> Answer {
    let library = driver().libraries.remove(handle)?;
    for (_, function) in lock(&library.functions).drain(..) {
        let _ = driver().functions.remove(function);
    }
    Ok(())
}

fn attribute(function: &Function, id: u32) -> Result<i32, CUresult> {
    let chip = device::current();
    let target: i32 =
        function.module.target().trim_start_matches("sm_").trim_end_matches(['a', 'f']).parse().unwrap_or(0);
    Ok(match id {
        0 => function.max_threads(),
        1 => function.info.static_shared_bytes as i32,
        2 => 0,
        3 => function.info.local_bytes as i32,
        4 => function.registers.count() as i32,
        5 => target,
        6 => chip.major * 10 + chip.minor,
        7 => 0,
        8 => function.max_dynamic_shared_bytes.load(Ordering::Relaxed) as i32,
        9 => function.carveout.load(Ordering::Relaxed) as i32,
        10 => 0,
        11..=13 => {
            if id == 11 {
                function.cluster_width.load(Ordering::Relaxed) as i32
            } else {
                0
            }
        }
        14 | 15 => 0,
        _ => return Err(INVALID_VALUE),
    })
}

fn set_attribute(function: &Function, id: u32, value: i32) -> Answer {
    match id {
        8 => {
            let most = device::current().shared_per_block_bytes() - function.info.static_shared_bytes as i32;
            if value < 0 || value > most {
                return Err(INVALID_VALUE);
            }
            function.max_dynamic_shared_bytes.store(value as u32, Ordering::Relaxed);
        }
        9 if (-1..=100).contains(&value) => function.carveout.store(value as u32, Ordering::Relaxed),
        11 => function.cluster_width.store(value as u32, Ordering::Relaxed),
        12..=15 => {}
        _ => return Err(INVALID_VALUE),
    }
    Ok(())
}

api! {
    fn cuModuleLoad(module: *mut Handle, path: *const c_char) {
        state::current()?;
        load_file(module, path)
    }
    fn cuModuleLoadData(module: *mut Handle, image: *const c_void) {
        state::current()?;
        load(module, &ptx_of(image)?, &Logs::default())
    }
    fn cuModuleLoadDataEx(module: *mut Handle, image: *const c_void, count: u32, options: *const u32, values: *const *mut c_void) {
        state::current()?;
        load(module, &ptx_of(image)?, &Logs::read(count, options, values))
    }
    fn cuModuleLoadFatBinary(module: *mut Handle, image: *const c_void) {
        state::current()?;
        load(module, &ptx_of(image)?, &Logs::default())
    }
    fn cuModuleUnload(module: Handle) {
        unload(module)
    }
    fn cuModuleGetFunction(out: *mut Handle, module: Handle, name: *const c_char) {
        state::current()?;
        find_function(out, module, name)
    }
    fn cuModuleGetGlobal_v2(pointer: *mut CUdeviceptr, bytes: *mut usize, module: Handle, name: *const c_char) {
        state::current()?;
        global(pointer, bytes, module, name)
    }
    fn cuModuleGetLoadingMode(mode: *mut u32) {
        put(mode, 1)
    }
    fn cuLibraryLoadData(library: *mut Handle, image: *const c_void, _jit: *const u32, _jit_values: *const *mut c_void, _jit_count: u32, _options: *const u32, _values: *const *mut c_void, _count: u32) {
        state::initialised()?;
        load(library, &ptx_of(image)?, &Logs::default())
    }
    fn cuLibraryLoadFromFile(library: *mut Handle, path: *const c_char, _jit: *const u32, _jit_values: *const *mut c_void, _jit_count: u32, _options: *const u32, _values: *const *mut c_void, _count: u32) {
        state::initialised()?;
        load_file(library, path)
    }
    fn cuLibraryUnload(library: Handle) {
        unload(library)
    }
    fn cuLibraryGetKernel(out: *mut Handle, library: Handle, name: *const c_char) {
        find_function(out, library, name)
    }
    fn cuLibraryGetModule(module: *mut Handle, library: Handle) {
        driver().libraries.get(library)?;
        put(module, library)
    }
    fn cuLibraryGetGlobal(pointer: *mut CUdeviceptr, bytes: *mut usize, library: Handle, name: *const c_char) {
        global(pointer, bytes, library, name)
    }
    fn cuKernelGetFunction(out: *mut Handle, kernel: Handle) {
        driver().functions.get(kernel)?;
        put(out, kernel)
    }
    fn cuKernelGetLibrary(out: *mut Handle, kernel: Handle) {
        put(out, driver().functions.get(kernel)?.library)
    }
    fn cuKernelGetAttribute(value: *mut i32, id: u32, kernel: Handle, _device: i32) {
        put(value, attribute(&*driver().functions.get(kernel)?, id)?)
    }
    fn cuKernelSetAttribute(id: u32, value: i32, kernel: Handle, _device: i32) {
        set_attribute(&*driver().functions.get(kernel)?, id, value)
    }
    fn cuFuncGetAttribute(value: *mut i32, id: u32, function: Handle) {
        put(value, attribute(&*driver().functions.get(function)?, id)?)
    }
    fn cuFuncSetAttribute(function: Handle, id: u32, value: i32) {
        set_attribute(&*driver().functions.get(function)?, id, value)
    }
    fn cuFuncSetCacheConfig(function: Handle, config: u32) {
        if config > 3 {
            return Err(INVALID_VALUE);
        }
        driver().functions.get(function).map(drop)
    }
    fn cuFuncSetSharedMemConfig(function: Handle, _config: u32) {
        driver().functions.get(function).map(drop)
    }
    fn cuFuncGetModule(module: *mut Handle, function: Handle) {
        put(module, driver().functions.get(function)?.library)
    }
    fn cuFuncLoad(function: Handle) {
        driver().functions.get(function).map(drop)
    }
    fn cuFuncIsLoaded(state: *mut u32, function: Handle) {
        driver().functions.get(function)?;
        put(state, 1)
    }
    fn cuLinkCreate_v2(_count: u32, _options: *const u32, _values: *const *mut c_void, link: *mut Handle) {
        state::current()?;
        put(link, crate::export::new_link())
    }
    fn cuLinkAddData_v2(link: Handle, _kind: u32, data: *const c_void, _bytes: usize, _name: *const c_char, _count: u32, _options: *const u32, _values: *const *mut c_void) {
        link_text(link, &ptx_of(data)?)
    }
    fn cuLinkAddFile_v2(link: Handle, _kind: u32, path: *const c_char, _count: u32, _options: *const u32, _values: *const *mut c_void) {
        link_text(link, &ptx_of_file(path)?)
    }
    fn cuLinkComplete(link: Handle, image: *mut *mut c_void, bytes: *mut usize) {
        let links = lock(&driver().linked);
        let text = links.get(&link).ok_or(INVALID_HANDLE)?;
        put(image, text.as_ptr() as *mut c_void)?;
        put_optional(bytes, text.len());
        Ok(())
    }
    fn cuLinkDestroy(link: Handle) {
        lock(&driver().linked).remove(&link).map(drop).ok_or(INVALID_HANDLE)
    }
}
