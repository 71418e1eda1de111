//! Finding entry points by name, and the few that fit nowhere else.

mod absent;
mod since;

use std::ffi::{CStr, c_char, c_void};

use crate::abi::*;
use crate::launch::occupancy;
use crate::process::device::{self, DRIVER_VERSION};
use crate::{calls, graph, loading, memory};
use since::{FIRST, FORMS, NEWER};

/// Every entry point of the library.
fn all() -> Vec<(&'static str, *const c_void)> {
    [
        absent::entries(),
        calls::arrays::entries(),
        calls::batches::entries(),
        calls::boxes::entries(),
        calls::capture::entries(),
        calls::contexts::entries(),
        calls::copies::entries(),
        calls::events::entries(),
        calls::launches::entries(),
        calls::old_launch::entries(),
        calls::ordered_memory::entries(),
        calls::streams::entries(),
        calls::words::entries(),
        memory::allocation::entries(),
        memory::arrays::entries(),
        memory::managed::entries(),
        memory::of_graphs::entries(),
        memory::pointers::entries(),
        memory::pool::entries(),
        memory::tensor_map::entries(),
        memory::textures::entries(),
        memory::vmm::entries(),
        loading::kernels::entries(),
        loading::linker::entries(),
        loading::module::entries(),
        device::entries(),
        graph::entries(),
        occupancy::entries(),
        entries(),
    ]
    .concat()
}

/// What there is of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    At(*const c_void),
    /// Nothing that a program for so old a CUDA could know.
    Later,
    Nothing,
}

/// Whether a name says which form it means, as only programs that link to it do.
fn is_of_one_form(name: &str) -> bool {
    let numbered = name.rsplit_once("_v").is_some_and(|(_, digits)| digits.bytes().all(|byte| byte.is_ascii_digit()));
    numbered || name.ends_with("_ptsz") || name.ends_with("_ptds")
}

/// The newest form of a function that a program for CUDA `version` knows: `cuMemAlloc` means `cuMemAlloc_v2`. With
/// `per_thread`, the form whose stream 0 is the thread's own, where there is one.
fn find(name: &str, version: i32, per_thread: bool) -> Found {
    if NEWER.contains(&name) || is_of_one_form(name) {
        return Found::Nothing;
    }
    let table = all();
    let known = |form: &str| FORMS.iter().find(|(since, _)| *since == form).is_none_or(|(_, since)| version >= *since);
    let exact = |wanted: &str| table.iter().find(|(known, _)| *known == wanted).map(|(_, address)| *address);
    let mut forms: Vec<String> = (2..=4).rev().map(|number| format!("{name}_v{number}")).collect();
    forms.retain(|form| known(form));
    forms.push(name.to_owned());
    let Some(found) = forms.iter().find(|form| exact(form).is_some()) else { return Found::Nothing };
    if FIRST.iter().any(|(first, names)| version < *first && names.split(' ').any(|known| known == name)) {
        return Found::Later;
    }
    let own = || ["_ptsz", "_ptds"].iter().find_map(|suffix| exact(&format!("{found}{suffix}")));
    let address = if per_thread { own().or_else(|| exact(found)) } else { exact(found) };
    address.map_or(Found::Nothing, Found::At)
}

/// `CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM`; 1 asks for the legacy one.
const PER_THREAD: u64 = 2;

/// The address of an entry point, if there is such.
///
/// # Errors
/// `CUDA_ERROR_INVALID_VALUE` for no name, nowhere to write, flags that CUDA does not have, or a CUDA newer than this.
unsafe fn procedure(symbol: *const c_char, version: i32, flags: u64) -> Result<Found, CUresult> {
    if symbol.is_null() || flags > PER_THREAD || version > DRIVER_VERSION {
        return Err(INVALID_VALUE);
    }
    let name = unsafe { CStr::from_ptr(symbol) }.to_string_lossy();
    Ok(find(&name, version, flags == PER_THREAD))
}

const SYMBOL_FOUND: u32 = 0;
const SYMBOL_NOT_FOUND: u32 = 1;
const VERSION_NOT_SUFFICIENT: u32 = 2;

impl Found {
    fn address(self) -> *const c_void {
        if let Found::At(address) = self { address } else { std::ptr::null() }
    }

    fn status(self) -> u32 {
        match self {
            Found::At(_) => SYMBOL_FOUND,
            Found::Later => VERSION_NOT_SUFFICIENT,
            Found::Nothing => SYMBOL_NOT_FOUND,
        }
    }
}

api! {
    fn cuGetProcAddress(symbol: *const c_char, address: *mut *const c_void, version: i32, flags: u64) {
        let found = procedure(symbol, version, flags)?;
        put(address, found.address())?;
        if found.status() == SYMBOL_FOUND { Ok(()) } else { Err(NOT_FOUND) }
    }
    fn cuGetProcAddress_v2(symbol: *const c_char, address: *mut *const c_void, version: i32, flags: u64, status: *mut u32) {
        let found = procedure(symbol, version, flags)?;
        put(address, found.address())?;
        put_optional(status, found.status());
        // Who asks for the status learns from it.
        if found.status() == SYMBOL_FOUND || !status.is_null() { Ok(()) } else { Err(NOT_FOUND) }
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
            ("cuStreamGetCaptureInfo", 11010, "cuStreamGetCaptureInfo"),
            ("cuStreamGetCaptureInfo", 12000, "cuStreamGetCaptureInfo_v2"),
            ("cuStreamGetCaptureInfo", 13000, "cuStreamGetCaptureInfo_v3"),
            ("cuCtxSynchronize", 12090, "cuCtxSynchronize"),
            ("cuCtxSynchronize", 13000, "cuCtxSynchronize_v2"),
            ("cuStreamGetCtx", 12040, "cuStreamGetCtx"),
            ("cuStreamGetCtx", 12050, "cuStreamGetCtx_v2"),
            ("cuLaunchHostFunc", 13000, "cuLaunchHostFunc"),
            ("cuLaunchHostFunc", 13010, "cuLaunchHostFunc_v2"),
            ("cuLaunchKernel", 13000, "cuLaunchKernel"),
        ] {
            let address = address(form).expect("a form that there is");
            assert_eq!(find(name, version, false), Found::At(address), "{name} for {version}");
        }
        for name in ["cuNothing", "cuGraphGetId", "cuMemAlloc_v2", "cuLaunchKernel_ptsz", "cu_v"] {
            assert_eq!(find(name, 13000, false), Found::Nothing, "{name}");
        }
        for (name, version) in [("cuLaunchHostFunc", 9020), ("cuGetProcAddress", 11020), ("cuLaunchKernelEx", 11050)] {
            assert_eq!(find(name, version, false), Found::Later, "{name} for {version}");
        }
        for (name, form) in [("cuLaunchKernel", "cuLaunchKernel_ptsz"), ("cuMemcpyHtoD", "cuMemcpyHtoD_v2_ptds")] {
            assert!(address(form).is_some(), "{form}");
            assert_ne!(find(name, 13000, true), find(name, 13000, false), "{name}");
        }
        assert_eq!(find("cuInit", 13000, true), find("cuInit", 13000, false));
        // Every name of the lists is one that exists, and no entry point stands twice in the table.
        assert!(FORMS.iter().all(|(name, _)| address(name).is_some()));
        for name in FIRST.iter().flat_map(|(_, names)| names.split(' ')) {
            assert_ne!(find(name, 13000, false), Found::Nothing, "{name}");
        }
        let mut names: Vec<&str> = table.iter().map(|entry| entry.0).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
