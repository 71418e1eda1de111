//! The entry points that the tests call, declared as a C program would find them in `cuda.h`, and short forms.

#![allow(dead_code, reason = "not every test binary needs every entry point")]
#![allow(non_snake_case, reason = "names are CUDA's")]

// The library itself: without this the linker would leave it out.
use lockstep_cuda as _;

use std::ffi::{CString, c_char, c_void};
use std::ptr::{null, null_mut};

/// A call that succeeds.
#[allow(unused_macros, reason = "as above")]
macro_rules! ok {
    ($call:expr) => {
        // SAFETY: pointers handed over are those of locals that outlive the call.
        assert_eq!(unsafe { $call }, 0, stringify!($call))
    };
}

/// A call that gives a code.
#[allow(unused_macros, reason = "as above")]
macro_rules! fails {
    ($code:expr, $call:expr) => {
        // SAFETY: as above.
        assert_eq!(unsafe { $call }, $code, stringify!($call))
    };
}

pub type Handle = usize;

unsafe extern "C" {
    pub fn cuInit(flags: u32) -> u32;
    pub fn cuDeviceGetAttribute(value: *mut i32, id: u32, device: i32) -> u32;
    pub fn cuDevicePrimaryCtxRetain(context: *mut Handle, device: i32) -> u32;
    pub fn cuCtxSetCurrent(context: Handle) -> u32;
    pub fn cuCtxCreate_v2(context: *mut Handle, flags: u32, device: i32) -> u32;
    pub fn cuCtxDestroy_v2(context: Handle) -> u32;
    pub fn cuCtxSynchronize() -> u32;
    pub fn cuModuleLoadData(module: *mut Handle, image: *const c_void) -> u32;
    pub fn cuFuncGetAttribute(value: *mut i32, id: u32, function: Handle) -> u32;
    pub fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut i32,
        function: Handle,
        threads: i32,
        shared: usize,
    ) -> u32;
    pub fn cuModuleUnload(module: Handle) -> u32;
    pub fn cuModuleGetFunction(function: *mut Handle, module: Handle, name: *const c_char) -> u32;
    pub fn cuMemAlloc_v2(pointer: *mut u64, bytes: usize) -> u32;
    pub fn cuMemFree_v2(pointer: u64) -> u32;
    pub fn cuMemcpyHtoD_v2(to: u64, from: *const c_void, bytes: usize) -> u32;
    pub fn cuMemcpyDtoH_v2(to: *mut c_void, from: u64, bytes: usize) -> u32;
    pub fn cuLaunchKernel(
        function: Handle,
        grid_x: u32,
        grid_y: u32,
        grid_z: u32,
        block_x: u32,
        block_y: u32,
        block_z: u32,
        shared: u32,
        stream: Handle,
        arguments: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) -> u32;
    pub fn cuTensorMapEncodeTiled(
        map: *mut Map,
        dtype: u32,
        rank: u32,
        address: u64,
        dims: *const u64,
        strides: *const u64,
        box_dims: *const u32,
        element_strides: *const u32,
        interleave: u32,
        swizzle: u32,
        promotion: u32,
        fill: u32,
    ) -> u32;
    pub fn cuTensorMapEncodeIm2col(
        map: *mut Map,
        dtype: u32,
        rank: u32,
        address: u64,
        dims: *const u64,
        strides: *const u64,
        lower: *const i32,
        upper: *const i32,
        channels: u32,
        pixels: u32,
        element_strides: *const u32,
        interleave: u32,
        swizzle: u32,
        promotion: u32,
        fill: u32,
    ) -> u32;
    pub fn cuTensorMapReplaceAddress(map: *mut Map, address: u64) -> u32;
}

/// `CUtensorMap`.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub struct Map(pub [u8; 128]);

/// Initialises the driver and makes the primary context current.
pub fn context() -> Handle {
    let mut context = 0;
    // SAFETY: the pointers live through the calls.
    unsafe {
        assert_eq!(cuInit(0), 0);
        assert_eq!(cuDevicePrimaryCtxRetain(&mut context, 0), 0);
        assert_eq!(cuCtxSetCurrent(context), 0);
    }
    context
}

pub fn load(ptx: &str) -> Handle {
    let text = CString::new(ptx).expect("no zero in PTX");
    let mut module = 0;
    // SAFETY: the text is zero-terminated.
    assert_eq!(unsafe { cuModuleLoadData(&mut module, text.as_ptr().cast()) }, 0);
    module
}

pub fn function(module: Handle, name: &str) -> Handle {
    let name = CString::new(name).expect("a name");
    let mut function = 0;
    // SAFETY: the name is zero-terminated.
    assert_eq!(unsafe { cuModuleGetFunction(&mut function, module, name.as_ptr()) }, 0);
    function
}

pub fn alloc(bytes: usize) -> u64 {
    let mut pointer = 0;
    // SAFETY: the pointer is valid for a write.
    assert_eq!(unsafe { cuMemAlloc_v2(&mut pointer, bytes) }, 0);
    pointer
}

pub fn upload<T: Copy>(data: &[T]) -> u64 {
    let pointer = alloc(size_of_val(data));
    // SAFETY: the slice is readable.
    assert_eq!(unsafe { cuMemcpyHtoD_v2(pointer, data.as_ptr().cast(), size_of_val(data)) }, 0);
    pointer
}

pub fn download<T: Copy + Default>(pointer: u64, count: usize) -> Vec<T> {
    let mut data = vec![T::default(); count];
    // SAFETY: the vector is writable.
    assert_eq!(unsafe { cuMemcpyDtoH_v2(data.as_mut_ptr().cast(), pointer, count * size_of::<T>()) }, 0);
    data
}

/// Launches on the default stream.
pub fn launch(function: Handle, grid: [u32; 3], block: [u32; 3], arguments: &mut [*mut c_void]) -> u32 {
    // SAFETY: the callers pass one pointer for each parameter of the kernel.
    unsafe {
        cuLaunchKernel(
            function,
            grid[0],
            grid[1],
            grid[2],
            block[0],
            block[1],
            block[2],
            0,
            0,
            arguments.as_mut_ptr(),
            null_mut(),
        )
    }
}

/// A pointer to one argument.
pub fn arg<T>(value: &T) -> *mut c_void {
    (&raw const *value).cast_mut().cast()
}

pub const NOTHING: *const c_void = null();

/// A cubin that holds no code, only what its symbols and attributes say of these kernels' registers.
pub fn cubin(kernels: &[(&str, u32)]) -> Vec<u8> {
    let mut strings = vec![0u8];
    let mut symbols = vec![0u8; 24];
    // An attribute without a value first: readers must pass over it.
    let mut info = vec![1, 0x36, 4, 0];
    for (index, (name, registers)) in kernels.iter().enumerate() {
        symbols.extend((strings.len() as u32).to_le_bytes());
        symbols.extend([0; 20]);
        strings.extend(name.bytes().chain([0]));
        info.extend([4, 0x2f, 8, 0]);
        info.extend((index as u32 + 1).to_le_bytes());
        info.extend(registers.to_le_bytes());
    }
    let names = b"\0.shstrtab\0.strtab\0.symtab\0.nv.info\0";
    let sections: [(u32, &[u8]); 4] = [(1, names), (11, &strings), (19, &symbols), (27, &info)];
    let mut elf = vec![0u8; 64];
    elf[..4].copy_from_slice(b"\x7fELF");
    let mut table = vec![0u8; 64];
    for (name, content) in sections {
        let mut entry = [0u8; 64];
        entry[..4].copy_from_slice(&name.to_le_bytes());
        entry[4] = 1;
        entry[24..32].copy_from_slice(&(elf.len() as u64).to_le_bytes());
        entry[32..40].copy_from_slice(&(content.len() as u64).to_le_bytes());
        table.extend(entry);
        elf.extend(content);
    }
    let at = elf.len() as u64;
    elf[40..48].copy_from_slice(&at.to_le_bytes());
    elf[60] = 5;
    elf[62] = 1;
    elf.extend(table);
    elf
}

pub fn function_attribute(function: Handle, id: u32) -> i32 {
    let mut value = 0;
    // SAFETY: the pointer is valid for a write.
    assert_eq!(unsafe { cuFuncGetAttribute(&mut value, id, function) }, 0);
    value
}
