//! Finding entry points by name, and the few that fit nowhere else.

use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::abi::*;
use crate::state::{driver, lock};

/// Every entry point of the library.
fn all() -> Vec<(&'static str, *const c_void)> {
    [
        crate::context::entries(),
        crate::copy::entries(),
        crate::device::entries(),
        crate::event::entries(),
        crate::graph::entries(),
        crate::launch::entries(),
        crate::memory::entries(),
        crate::module::entries(),
        crate::occupancy::entries(),
        crate::pool::entries(),
        crate::stream::entries(),
        crate::tensor_map::entries(),
        entries(),
    ]
    .concat()
}

/// The newest version of a function: `cuMemAlloc` means `cuMemAlloc_v2`.
fn find(name: &str) -> Option<*const c_void> {
    let table = all();
    let exact = |wanted: &str| table.iter().find(|(known, _)| *known == wanted).map(|(_, address)| *address);
    (2..=4).rev().find_map(|version| exact(&format!("{name}_v{version}"))).or_else(|| exact(name))
}

/// A handle for a link in progress.
pub fn new_link() -> Handle {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    let handle = 0x2000_0000 + NEXT.fetch_add(1, Ordering::Relaxed) * 16;
    lock(&driver().linked).insert(handle, Vec::new());
    handle
}

unsafe fn procedure(symbol: *const c_char, address: *mut *const c_void) -> Answer {
    if symbol.is_null() {
        return Err(INVALID_VALUE);
    }
    let name = unsafe { CStr::from_ptr(symbol) }.to_string_lossy();
    let found = find(&name);
    unsafe { put(address, found.unwrap_or(std::ptr::null())) }?;
    found.map(drop).ok_or(NOT_FOUND)
}

const SYMBOL_FOUND: u32 = 0;
const SYMBOL_NOT_FOUND: u32 = 1;

api! {
    fn cuGetProcAddress(symbol: *const c_char, address: *mut *const c_void, _version: i32, _flags: u64) {
        procedure(symbol, address)
    }
    fn cuGetProcAddress_v2(symbol: *const c_char, address: *mut *const c_void, _version: i32, _flags: u64, status: *mut u32) {
        let answer = procedure(symbol, address);
        put_optional(status, if answer.is_ok() { SYMBOL_FOUND } else { SYMBOL_NOT_FOUND });
        answer
    }
    fn cuGetExportTable(table: *mut *const c_void, _id: *const u8) {
        // Tables of undocumented functions, which the CUDA runtime asks for; this library has none.
        put(table, std::ptr::null())?;
        Err(NOT_FOUND)
    }
    fn cuImportExternalMemory(_memory: *mut Handle, _description: *const c_void) {
        Err(NOT_SUPPORTED)
    }
    fn cuDestroyExternalMemory(_memory: Handle) {
        Err(NOT_SUPPORTED)
    }
    fn cuExternalMemoryGetMappedBuffer(_pointer: *mut CUdeviceptr, _memory: Handle, _description: *const c_void) {
        Err(NOT_SUPPORTED)
    }
}
