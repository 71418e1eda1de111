//! Modules, libraries, functions and their variables.

use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_void};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, Mutex};

use ptx_emulator::{KernelInfo, Module};

use super::image::{ptx_of, ptx_of_file};
use super::jit::{self, Logs, MOST_REGISTERS};
use super::{cubin, link};
use crate::abi::*;
use crate::memory::vmm_pages;
use crate::process::ranges::{self, HostRange};
use crate::process::{self, Registry, device, driver, lock};
use crate::work;

/// Modules by handle.
pub static LIBRARIES: LazyLock<Registry<Library>> = LazyLock::new(|| Registry::new(INVALID_HANDLE));
/// Their kernels by handle.
pub static FUNCTIONS: LazyLock<Registry<Function>> = LazyLock::new(|| Registry::new(INVALID_HANDLE));

/// A loaded module (`CUmodule` and `CUlibrary` alike).
pub struct Library {
    pub module: Module,
    /// The context that it was loaded into; 0 for a `CUlibrary`, which is for all.
    owner: Handle,
    constant_bytes: u64,
    /// Bound on the registers of a thread that the program asked the compiler for.
    max_registers: Option<u32>,
    /// Registers by kernel, where machine code told them.
    registers: HashMap<String, u32>,
    functions: Mutex<Vec<(String, Handle)>>,
}

/// One kernel of a module (`CUfunction` and `CUkernel` alike).
pub struct Function {
    pub module: Module,
    pub info: KernelInfo,
    /// Its name, for programs that ask.
    pub c_name: CString,
    pub library: Handle,
    /// The context that its module was loaded into; 0 when it is for all.
    pub owner: Handle,
    /// Bytes of its module's `__constant__` variables.
    constant_bytes: u64,
    pub registers: Registers,
    pub max_dynamic_shared_bytes: AtomicU32,
    carveout: AtomicU32,
    cluster_width: AtomicU32,
    pub non_portable_cluster: AtomicBool,
    /// What the calls of before CUDA 4 set.
    pub pending: Mutex<Pending>,
}

/// What the calls of before CUDA 4 set so far.
#[derive(Default)]
pub struct Pending {
    pub block: [u32; 3],
    pub shared_bytes: u32,
    pub arguments: Vec<u8>,
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

/// Compiles PTX; what is wrong with it goes to standard error and to the caller's log.
pub fn compile(text: &str, logs: &Logs) -> Result<Module, CUresult> {
    let refuse = |code: CUresult, text: String| {
        logs.error(&text);
        explain(text);
        code
    };
    // What is no PTX at all is an invalid image; PTX that cannot be compiled is another matter.
    let kind = if text.contains(".version") { INVALID_PTX } else { INVALID_IMAGE };
    let module = Module::load(text).map_err(|error| {
        // That comes first, whatever else there is to say of it.
        let version = error.problems.iter().any(|problem| problem.message.starts_with("`.version "));
        refuse(if version { UNSUPPORTED_PTX_VERSION } else { kind }, jit::assembler_words(&error))
    })?;
    device::accept(module.target()).map_err(|(code, text)| refuse(code, text))?;
    logs.info(&module);
    Ok(module)
}

unsafe fn load(out: *mut Handle, text: &str, logs: &Logs, owner: Handle) -> Answer {
    if out.is_null() {
        return Err(INVALID_VALUE);
    }
    let module = compile(text, logs)?;
    let registers = cubin::remembered(&module);
    share(&module)?;
    let library = Library {
        module,
        registers,
        owner,
        constant_bytes: link::constant_bytes(text),
        max_registers: logs.max_registers(text),
        functions: Mutex::default(),
    };
    unsafe { put(out, LIBRARIES.add(Arc::new(library))) }
}

/// Gives a module's `__managed__` variables memory that the host reaches too, where the system has a way.
fn share(module: &Module) -> Answer {
    let managed = module.managed_variables();
    let (Some(first), Some(end)) =
        (managed.iter().map(|(at, _)| *at).min(), managed.iter().map(|(at, bytes)| at + bytes).max())
    else {
        return Ok(());
    };
    if !cfg!(target_os = "linux") {
        return Ok(());
    }
    // A page of any machine: the slice of a module begins with one.
    const PAGE: u64 = 1 << 16;
    let start = first / PAGE * PAGE;
    vmm_pages::place(start as usize, (end.next_multiple_of(PAGE) - start) as usize)?;
    // SAFETY: just mapped, and never taken away.
    unsafe { lock(&driver().memory).share_variables(module) };
    let mut ranges = lock(&ranges::HOST);
    for (address, bytes) in managed {
        let range = HostRange { bytes: bytes as usize, managed: true, owned: false, flags: 1 };
        ranges.insert(address as usize, range);
    }
    Ok(())
}

unsafe fn load_file(out: *mut Handle, path: *const c_char, owner: Handle) -> Answer {
    unsafe { load(out, &ptx_of_file(path)?, &Logs::default(), owner) }
}

/// What the PTX says of a kernel's registers. What a bound takes away is spilled, which costs only time.
fn estimated(info: &KernelInfo, bound: Option<u32>) -> Registers {
    Registers::Estimated(info.register_estimate.unwrap_or(MOST_REGISTERS).min(bound.unwrap_or(MOST_REGISTERS)))
}

/// The handle of a kernel of a module, by its name.
pub unsafe fn find_function(out: *mut Handle, library_handle: Handle, name: *const c_char) -> Answer {
    let library = LIBRARIES.get(library_handle)?;
    if name.is_null() || unsafe { name.read() } == 0 {
        return Err(INVALID_VALUE);
    }
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    let info = library.module.kernel(&name).ok_or(NOT_FOUND)?.clone();
    let mut functions = lock(&library.functions);
    if let Some((_, handle)) = functions.iter().find(|(known, _)| *known == *name) {
        return unsafe { put(out, *handle) };
    }
    let handle = FUNCTIONS.add(Arc::new(Function {
        module: library.module.clone(),
        max_dynamic_shared_bytes: AtomicU32::new(
            (device::SHARED_PER_BLOCK_BYTES as u32).saturating_sub(info.static_shared_bytes),
        ),
        registers: library
            .registers
            .get(&info.name)
            .copied()
            .map_or_else(|| estimated(&info, library.max_registers), Registers::Known),
        c_name: CString::new(info.name.as_str()).map_err(|_| NOT_FOUND)?,
        info,
        library: library_handle,
        owner: library.owner,
        constant_bytes: library.constant_bytes,
        carveout: AtomicU32::new(u32::MAX),
        cluster_width: AtomicU32::new(0),
        non_portable_cluster: AtomicBool::new(false),
        pending: Mutex::default(),
    }));
    functions.push((name.into_owned(), handle));
    unsafe { put(out, handle) }
}

unsafe fn global(pointer: *mut CUdeviceptr, bytes: *mut usize, library_handle: Handle, name: *const c_char) -> Answer {
    let library = LIBRARIES.get(library_handle)?;
    if name.is_null() || pointer.is_null() && bytes.is_null() {
        return Err(INVALID_VALUE);
    }
    let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
    let found = lock(&driver().memory).symbol(&library.module, &name).ok_or(NOT_FOUND)?;
    ranges::note_variable(library_handle, found);
    unsafe {
        put_optional(pointer, found.0);
        put_optional(bytes, found.1 as usize);
    }
    Ok(())
}

/// A context's modules go with it.
pub fn forget_owned(context: Handle) {
    for (handle, library) in LIBRARIES.all() {
        if library.owner == context {
            let _ = unload(handle);
        }
    }
}

fn unload(handle: Handle) -> Answer {
    process::healthy()?;
    let library = LIBRARIES.remove(handle)?;
    ranges::forget_variables(handle);
    for (address, _) in library.module.managed_variables() {
        lock(&ranges::HOST).remove(&(address as usize));
    }
    for (_, function) in lock(&library.functions).drain(..) {
        let _ = FUNCTIONS.remove(function);
    }
    Ok(())
}

/// `CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED`.
const NON_PORTABLE_CLUSTER: u32 = 14;

fn attribute(function: &Function, id: u32) -> Result<i32, CUresult> {
    let chip = device::current();
    let target: i32 =
        function.module.target().trim_start_matches("sm_").trim_end_matches(['a', 'f']).parse().unwrap_or(0);
    Ok(match id {
        0 => function.max_threads(),
        1 => function.info.static_shared_bytes as i32,
        2 => function.constant_bytes.min(i32::MAX as u64) as i32,
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
        NON_PORTABLE_CLUSTER => i32::from(function.non_portable_cluster.load(Ordering::Relaxed)),
        15 => 0,
        _ => return Err(INVALID_VALUE),
    })
}

fn set_attribute(function: &Function, id: u32, value: i32) -> Answer {
    match id {
        8 => {
            let most = device::current().shared_per_block_bytes() - function.info.static_shared_bytes as i32;
            if value < 0 || value > most {
                explain(format!(
                    "{value} bytes of dynamic shared memory for `{}`: a block has room for {most} beside its {} static",
                    function.info.name, function.info.static_shared_bytes
                ));
                return Err(INVALID_VALUE);
            }
            function.max_dynamic_shared_bytes.store(value as u32, Ordering::Relaxed);
        }
        9 if (-1..=100).contains(&value) => function.carveout.store(value as u32, Ordering::Relaxed),
        11 if value >= 0 => function.cluster_width.store(value as u32, Ordering::Relaxed),
        12 | 13 if value >= 0 => {}
        NON_PORTABLE_CLUSTER => function.non_portable_cluster.store(value != 0, Ordering::Relaxed),
        15 if (0..=2).contains(&value) => {}
        _ => return Err(INVALID_VALUE),
    }
    Ok(())
}

api! {
    fn cuModuleLoad(module: *mut Handle, path: *const c_char) {
        work::current()?;
        load_file(module, path, work::current_handle()?)
    }
    fn cuModuleLoadData(module: *mut Handle, image: *const c_void) {
        work::current()?;
        load(module, &ptx_of(image)?, &Logs::default(), work::current_handle()?)
    }
    fn cuModuleLoadDataEx(module: *mut Handle, image: *const c_void, count: u32, options: *const u32, values: *mut *mut c_void) {
        work::current()?;
        load(module, &ptx_of(image)?, &Logs::read(count, options, values)?.cleared(), work::current_handle()?)
    }
    fn cuModuleLoadFatBinary(module: *mut Handle, image: *const c_void) {
        work::current()?;
        load(module, &ptx_of(image)?, &Logs::default(), work::current_handle()?)
    }
    fn cuModuleUnload(module: Handle) {
        process::healthy()?;
        // A library's module goes with the library.
        if LIBRARIES.get(module)?.owner == 0 {
            return Err(NOT_PERMITTED);
        }
        unload(module)
    }
    fn cuModuleGetFunction(out: *mut Handle, module: Handle, name: *const c_char) {
        work::current()?;
        find_function(out, module, name)
    }
    fn cuModuleGetGlobal_v2(pointer: *mut CUdeviceptr, bytes: *mut usize, module: Handle, name: *const c_char) {
        work::current()?;
        global(pointer, bytes, module, name)
    }
    fn cuModuleGetLoadingMode(mode: *mut u32) {
        process::initialised()?;
        // `CU_MODULE_EAGER_LOADING`, though a GPU's driver is lazy by default: what is wrong is said at once.
        put(mode, 1)
    }
    fn cuLibraryLoadData(library: *mut Handle, image: *const c_void, jit: *const u32, jit_values: *mut *mut c_void, jit_count: u32, _options: *const u32, _values: *const *mut c_void, _count: u32) {
        process::initialised()?;
        load(library, &ptx_of(image)?, &Logs::read(jit_count, jit, jit_values)?.cleared(), 0)
    }
    fn cuLibraryLoadFromFile(library: *mut Handle, path: *const c_char, _jit: *const u32, _jit_values: *const *mut c_void, _jit_count: u32, _options: *const u32, _values: *const *mut c_void, _count: u32) {
        process::initialised()?;
        load_file(library, path, 0)
    }
    fn cuLibraryUnload(library: Handle) {
        unload(library)
    }
    fn cuLibraryGetKernel(out: *mut Handle, library: Handle, name: *const c_char) {
        find_function(out, library, name)
    }
    fn cuLibraryGetModule(module: *mut Handle, library: Handle) {
        work::current()?;
        LIBRARIES.get(library)?;
        put(module, library)
    }
    fn cuLibraryGetGlobal(pointer: *mut CUdeviceptr, bytes: *mut usize, library: Handle, name: *const c_char) {
        work::current()?;
        global(pointer, bytes, library, name)
    }
    fn cuKernelGetFunction(out: *mut Handle, kernel: Handle) {
        work::current()?;
        FUNCTIONS.get(kernel)?;
        put(out, kernel)
    }
    fn cuKernelGetLibrary(out: *mut Handle, kernel: Handle) {
        put(out, FUNCTIONS.get(kernel)?.library)
    }
    fn cuKernelGetAttribute(value: *mut i32, id: u32, kernel: Handle, device: i32) {
        device::check(device)?;
        put(value, attribute(&*FUNCTIONS.get(kernel)?, id)?)
    }
    fn cuKernelSetAttribute(id: u32, value: i32, kernel: Handle, device: i32) {
        device::check(device)?;
        set_attribute(&*FUNCTIONS.get(kernel)?, id, value)
    }
    fn cuFuncGetAttribute(value: *mut i32, id: u32, function: Handle) {
        process::healthy()?;
        put(value, attribute(&*FUNCTIONS.get(function)?, id)?)
    }
    fn cuFuncSetAttribute(function: Handle, id: u32, value: i32) {
        set_attribute(&*FUNCTIONS.get(function)?, id, value)
    }
    fn cuFuncSetCacheConfig(function: Handle, config: u32) {
        if config > 3 {
            return Err(INVALID_VALUE);
        }
        FUNCTIONS.get(function).map(drop)
    }
    fn cuFuncSetSharedMemConfig(function: Handle, config: u32) {
        if config > 2 {
            return Err(INVALID_VALUE);
        }
        FUNCTIONS.get(function).map(drop)
    }
    fn cuFuncGetModule(module: *mut Handle, function: Handle) {
        put(module, FUNCTIONS.get(function)?.library)
    }
    fn cuFuncLoad(function: Handle) {
        FUNCTIONS.get(function).map(drop)
    }
    fn cuFuncIsLoaded(state: *mut u32, function: Handle) {
        FUNCTIONS.get(function)?;
        put(state, 1)
    }
    fn cuModuleGetGlobal(pointer: *mut CUdeviceptr, bytes: *mut usize, module: Handle, name: *const c_char) {
        work::current()?;
        global(pointer, bytes, module, name)
    }
    fn cuLibraryGetManaged(pointer: *mut CUdeviceptr, bytes: *mut usize, library: Handle, name: *const c_char) {
        let known = LIBRARIES.get(library)?;
        if name.is_null() {
            return Err(INVALID_VALUE);
        }
        let name_of = CStr::from_ptr(name).to_string_lossy();
        let found = lock(&driver().memory).symbol(&known.module, &name_of).ok_or(NOT_FOUND)?;
        if !known.module.managed_variables().contains(&found) {
            return Err(NOT_FOUND);
        }
        global(pointer, bytes, library, name)
    }
    fn cuModuleGetTexRef(_texture: *mut Handle, module: Handle, name: *const c_char) {
        LIBRARIES.get(module)?;
        if name.is_null() { Err(INVALID_VALUE) } else { Err(NOT_FOUND) }
    }
    fn cuModuleGetSurfRef(_surface: *mut Handle, module: Handle, name: *const c_char) {
        LIBRARIES.get(module)?;
        if name.is_null() { Err(INVALID_VALUE) } else { Err(NOT_FOUND) }
    }
}
