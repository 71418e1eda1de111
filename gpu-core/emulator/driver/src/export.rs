//! Finding entry points by name, and the few that fit nowhere else.

use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::abi::*;
use crate::state::{driver, lock};

/// Every entry point of the library.
fn all() -> Vec<(&'static str, *const c_void)> {
    [
        crate::absent::entries(),
        crate::batch::entries(),
        crate::context::entries(),
        crate::copy::entries(),
        crate::device::entries(),
        crate::event::entries(),
        crate::graph::entries(),
        crate::kernels::entries(),
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

/// CUDA versions with which a function's meaning changed, where a program may still ask for the one before. The other
/// `_v2` forms are older than any program of today.
const SINCE: &[(&str, i32)] = &[
    ("cuCtxCreate_v3", 11040),
    ("cuCtxCreate_v4", 12050),
    // Asked for by their full names only: without, they take no context.
    ("cuCtxGetDevice_v2", i32::MAX),
    ("cuCtxSynchronize_v2", i32::MAX),
    ("cuEventElapsedTime_v2", 12080),
    ("cuGetProcAddress_v2", 12000),
    ("cuGraphAddDependencies_v2", 12030),
    ("cuGraphAddNode_v2", 12030),
    ("cuGraphExecUpdate_v2", 12000),
    ("cuGraphGetEdges_v2", 12030),
    ("cuGraphNodeGetDependencies_v2", 12030),
    ("cuGraphNodeGetDependentNodes_v2", 12030),
    ("cuGraphRemoveDependencies_v2", 12030),
    ("cuMemAdvise_v2", 12020),
    ("cuMemPrefetchAsync_v2", 12020),
    ("cuMemcpy3DBatchAsync_v2", 13000),
    ("cuMemcpyBatchAsync_v2", 13000),
    ("cuStreamGetCaptureInfo_v2", 11030),
    ("cuStreamGetCaptureInfo_v3", 12030),
    ("cuStreamUpdateCaptureDependencies_v2", 12030),
];

/// The newest form of a function that a program for CUDA `version` knows: `cuMemAlloc` means `cuMemAlloc_v2`.
fn find(name: &str, version: i32) -> Option<*const c_void> {
    let table = all();
    let known = |form: &str| SINCE.iter().find(|(since, _)| *since == form).is_none_or(|(_, since)| version >= *since);
    let exact = |wanted: &str| table.iter().find(|(known, _)| *known == wanted).map(|(_, address)| *address);
    let forms = (2..=4).rev().map(|number| format!("{name}_v{number}"));
    forms.filter(|form| known(form)).find_map(|form| exact(&form)).or_else(|| exact(name))
}

/// A handle for a link in progress.
pub fn new_link() -> Handle {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    let handle = 0x2000_0000 + NEXT.fetch_add(1, Ordering::Relaxed) * 16;
    lock(&driver().linked).insert(handle, Vec::new());
    handle
}

unsafe fn procedure(symbol: *const c_char, address: *mut *const c_void, version: i32) -> Answer {
    if symbol.is_null() {
        return Err(INVALID_VALUE);
    }
    let name = unsafe { CStr::from_ptr(symbol) }.to_string_lossy();
    let found = find(&name, version);
    unsafe { put(address, found.unwrap_or(std::ptr::null())) }?;
    found.map(drop).ok_or(NOT_FOUND)
}

const SYMBOL_FOUND: u32 = 0;
const SYMBOL_NOT_FOUND: u32 = 1;

api! {
    fn cuGetProcAddress(symbol: *const c_char, address: *mut *const c_void, version: i32, _flags: u64) {
        procedure(symbol, address, version)
    }
    fn cuGetProcAddress_v2(symbol: *const c_char, address: *mut *const c_void, version: i32, _flags: u64, status: *mut u32) {
        let answer = procedure(symbol, address, version);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_gets_the_form_of_its_cuda() {
        let table = all();
        let address = |name: &str| table.iter().find(|entry| entry.0 == name).map(|entry| entry.1);
        for (name, version, form) in [
            ("cuMemAlloc", 12000, "cuMemAlloc_v2"),
            ("cuMemAdvise", 12010, "cuMemAdvise"),
            ("cuMemAdvise", 13000, "cuMemAdvise_v2"),
            ("cuStreamGetCaptureInfo", 11000, "cuStreamGetCaptureInfo"),
            ("cuStreamGetCaptureInfo", 12000, "cuStreamGetCaptureInfo_v2"),
            ("cuStreamGetCaptureInfo", 13000, "cuStreamGetCaptureInfo_v3"),
            ("cuCtxSynchronize", 13000, "cuCtxSynchronize"),
            ("cuCtxSynchronize_v2", 13000, "cuCtxSynchronize_v2"),
            ("cuLaunchKernel", 13000, "cuLaunchKernel"),
        ] {
            assert_eq!(find(name, version), address(form), "{name} for {version}");
            assert!(address(form).is_some(), "{form}");
        }
        assert_eq!(find("cuNothing", 13000), None);
        // Every name of the list is one that exists, and no entry point stands twice in the table.
        assert!(SINCE.iter().all(|(name, _)| address(name).is_some()));
        let mut names: Vec<&str> = table.iter().map(|entry| entry.0).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
