//! What a program gives to be loaded: PTX text, or a fat binary with PTX in it. Machine code is refused by name.

use std::ffi::{CStr, c_char, c_void};

use super::cubin;
use super::fatbin::{self, Kind};
use crate::abi::*;
use crate::process::device;

const ELF_MAGIC: &[u8] = b"\x7fELF";

/// Reads PTX at `image`. Machine code cannot run here and is refused with what to do.
///
/// # Safety
/// `image` is null, or points to a text that ends with a zero, or to a whole ELF file or fat binary.
pub unsafe fn ptx_of(image: *const c_void) -> Result<String, CUresult> {
    if image.is_null() {
        return Err(INVALID_VALUE);
    }
    // Byte by byte: an image may be shorter than a word.
    let mut start = [0; 4];
    for (index, byte) in start.iter_mut().enumerate() {
        *byte = unsafe { image.cast::<u8>().add(index).read() };
        if *byte == 0 {
            break;
        }
    }
    match u32::from_le_bytes(start) {
        _ if start == ELF_MAGIC => {
            // The program may turn to PTX of the same kernels next; what the machine code says of them stays true.
            let cubin = unsafe { cubin::whole(image.cast()) };
            if cubin.is_empty() {
                return Err(INVALID_IMAGE);
            }
            ptx_of_bytes(cubin)
        }
        fatbin::WRAPPER_MAGIC => {
            // Magic number, version, and the address of the fat binary itself.
            let inner = unsafe { image.cast::<u8>().add(8).cast::<*const c_void>().read_unaligned() };
            if inner.is_null() {
                return Err(INVALID_IMAGE);
            }
            ptx_in(unsafe { fatbin::whole(inner.cast()) })
        }
        fatbin::MAGIC => ptx_in(unsafe { fatbin::whole(image.cast()) }),
        _ => unsafe { CStr::from_ptr(image.cast()) }.to_str().map(str::to_owned).map_err(|_| INVALID_PTX),
    }
}

/// The same for an image whose length is known; a zero may end the text before.
pub fn ptx_of_bytes(bytes: &[u8]) -> Result<String, CUresult> {
    if bytes.starts_with(ELF_MAGIC) {
        cubin::remember(bytes);
        return Err(machine_code("this module is"));
    }
    if bytes.starts_with(&fatbin::MAGIC.to_le_bytes()) {
        return ptx_in(bytes);
    }
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    std::str::from_utf8(&bytes[..end]).map(str::to_owned).map_err(|_| INVALID_PTX)
}

pub unsafe fn ptx_of_file(path: *const c_char) -> Result<String, CUresult> {
    if path.is_null() || unsafe { path.read() } == 0 {
        return Err(INVALID_VALUE);
    }
    let path = unsafe { CStr::from_ptr(path) }.to_string_lossy().into_owned();
    let bytes = std::fs::read(&path).map_err(|error| {
        explain(format!("cannot read module: {error}: {path}"));
        FILE_NOT_FOUND
    })?;
    ptx_of_bytes(&bytes)
}

fn machine_code(what: &str) -> CUresult {
    explain(format!(
        "{what} machine code for a GPU; the emulator runs PTX (compile for compute_XX, not sm_XX; with nvcc, \
         -gencode arch=compute_XX,code=compute_XX)"
    ));
    NO_BINARY_FOR_GPU
}

/// The PTX of a fat binary that a driver would compile: of the newest architecture that the device can run. The
/// registers of its kernels are those of the machine code beside it, if there is any.
fn ptx_in(bytes: &[u8]) -> Result<String, CUresult> {
    let broken = |words: String| {
        explain(format!("this fat binary cannot be read: {words}"));
        INVALID_IMAGE
    };
    let entries = fatbin::entries(bytes).map_err(broken)?;
    let mut texts = Vec::new();
    for entry in entries.iter().filter(|entry| entry.kind == Kind::Ptx) {
        let content = entry.content().map_err(broken)?;
        let end = content.iter().position(|byte| *byte == 0).unwrap_or(content.len());
        texts.push((entry.architecture, String::from_utf8(content[..end].to_vec()).map_err(|_| INVALID_PTX)?));
    }
    texts.sort_by_key(|(architecture, _)| *architecture);
    let runs = |text: &str| target_of(text).is_some_and(device::runs);
    // Without one that runs, the newest: it may become the device, or the loader says why it cannot.
    let at = texts.iter().rposition(|(_, text)| runs(text)).or(texts.len().checked_sub(1));
    let architecture = at.map(|at| texts[at].0);
    let code = entries.iter().filter(|entry| entry.kind == Kind::Machine);
    if let Some(code) = code.max_by_key(|code| Some(code.architecture) == architecture)
        && let Ok(code) = code.content()
    {
        cubin::remember(&code);
    }
    match at {
        Some(at) => Ok(texts.swap_remove(at).1),
        None => Err(machine_code("this fat binary holds only")),
    }
}

/// What the `.target` line of a PTX text names.
fn target_of(text: &str) -> Option<&str> {
    let rest = text.lines().find_map(|line| line.trim_start().strip_prefix(".target"))?;
    rest.split([',', '/']).next().map(str::trim)
}
