//! What kernels say of themselves: their names, their parameters, and which of them a module has.

use std::ffi::{CString, c_char};

use super::module::{FUNCTIONS, Function, LIBRARIES, find_function};
use crate::abi::*;

unsafe fn name(out: *mut *const c_char, function: Handle) -> Answer {
    if function == 0 {
        return Err(INVALID_VALUE);
    }
    // The text lives as long as the function, which is as long as its module.
    unsafe { put(out, FUNCTIONS.get(function)?.c_name.as_ptr()) }
}

unsafe fn param_info(function: &Function, index: usize, offset: *mut usize, bytes: *mut usize) -> Answer {
    let param = function.info.params.get(index).ok_or(INVALID_VALUE)?;
    unsafe { put(offset, param.offset as usize) }?;
    unsafe { put_optional(bytes, param.bytes as usize) };
    Ok(())
}

unsafe fn count(out: *mut u32, library: Handle) -> Answer {
    unsafe { put(out, LIBRARIES.get(library)?.module.kernels().len() as u32) }
}

/// Handles of the first `room` kernels of a module.
unsafe fn enumerate(out: *mut Handle, room: u32, library: Handle) -> Answer {
    let loaded = LIBRARIES.get(library)?;
    if room == 0 {
        return Ok(());
    }
    if out.is_null() {
        return Err(INVALID_VALUE);
    }
    for (index, kernel) in loaded.module.kernels().iter().take(room as usize).enumerate() {
        let name = CString::new(kernel.name.as_str()).map_err(|_| NOT_FOUND)?;
        unsafe { find_function(out.add(index), library, name.as_ptr()) }?;
    }
    Ok(())
}

api! {
    fn cuFuncGetName(text: *mut *const c_char, function: Handle) {
        name(text, function)
    }
    fn cuKernelGetName(text: *mut *const c_char, kernel: Handle) {
        name(text, kernel)
    }
    fn cuFuncGetParamInfo(function: Handle, index: usize, offset: *mut usize, bytes: *mut usize) {
        param_info(&*FUNCTIONS.get(function)?, index, offset, bytes)
    }
    fn cuKernelGetParamInfo(kernel: Handle, index: usize, offset: *mut usize, bytes: *mut usize) {
        param_info(&*FUNCTIONS.get(kernel)?, index, offset, bytes)
    }
    fn cuFuncGetParamCount(function: Handle, out: *mut usize) {
        put(out, FUNCTIONS.get(function)?.info.params.len())
    }
    fn cuKernelGetParamCount(kernel: Handle, out: *mut usize) {
        put(out, FUNCTIONS.get(kernel)?.info.params.len())
    }
    fn cuModuleGetFunctionCount(out: *mut u32, module: Handle) {
        count(out, module)
    }
    fn cuLibraryGetKernelCount(out: *mut u32, library: Handle) {
        count(out, library)
    }
    fn cuModuleEnumerateFunctions(functions: *mut Handle, room: u32, module: Handle) {
        enumerate(functions, room, module)
    }
    fn cuLibraryEnumerateKernels(kernels: *mut Handle, room: u32, library: Handle) {
        enumerate(kernels, room, library)
    }
    fn cuKernelSetCacheConfig(kernel: Handle, config: u32, device: i32) {
        FUNCTIONS.get(kernel)?;
        if device != 0 {
            return Err(INVALID_DEVICE);
        }
        if config > 3 {
            return Err(INVALID_VALUE);
        }
        Ok(())
    }
}
