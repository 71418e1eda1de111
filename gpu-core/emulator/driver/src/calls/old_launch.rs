//! Launches as before CUDA 4: shape and arguments are set one by one, then the grid is launched.

use std::ffi::c_void;

use super::launches::launch_packed;
use crate::abi::*;
use crate::loading::module::{FUNCTIONS, Pending};
use crate::process::lock;

fn set(function: Handle, change: impl FnOnce(&mut Pending) -> Answer) -> Answer {
    let function = FUNCTIONS.get(function)?;
    let mut pending = lock(&function.pending);
    change(&mut pending)
}

unsafe fn set_argument(function: Handle, offset: i32, from: *const u8, bytes: usize) -> Answer {
    let function = FUNCTIONS.get(function)?;
    let (start, most) = (usize::try_from(offset).map_err(|_| INVALID_VALUE)?, function.info.param_bytes as usize);
    if from.is_null() || start.checked_add(bytes).is_none_or(|end| end > most) {
        return Err(INVALID_VALUE);
    }
    let mut pending = lock(&function.pending);
    pending.arguments.resize(most, 0);
    pending.arguments[start..start + bytes].copy_from_slice(unsafe { std::slice::from_raw_parts(from, bytes) });
    Ok(())
}

fn launch(function: Handle, width: i32, height: i32, stream: Handle) -> Answer {
    let (Ok(width), Ok(height)) = (u32::try_from(width), u32::try_from(height)) else { return Err(INVALID_VALUE) };
    let found = FUNCTIONS.get(function)?;
    let (block, shared_bytes, mut arguments) = {
        let pending = lock(&found.pending);
        (pending.block, pending.shared_bytes, pending.arguments.clone())
    };
    arguments.resize(found.info.param_bytes as usize, 0);
    launch_packed(function, [width, height, 1], block, shared_bytes, stream, &arguments)
}

api! {
    fn cuFuncSetBlockShape(function: Handle, x: i32, y: i32, z: i32) {
        if x < 1 || y < 1 || z < 1 {
            return Err(INVALID_VALUE);
        }
        set(function, |pending| {
            pending.block = [x as u32, y as u32, z as u32];
            Ok(())
        })
    }
    fn cuFuncSetSharedSize(function: Handle, bytes: u32) {
        set(function, |pending| {
            pending.shared_bytes = bytes;
            Ok(())
        })
    }
    fn cuParamSetSize(function: Handle, bytes: u32) {
        let most = FUNCTIONS.get(function)?.info.param_bytes;
        if bytes > most { Err(INVALID_VALUE) } else { Ok(()) }
    }
    fn cuParamSeti(function: Handle, offset: i32, value: u32) {
        set_argument(function, offset, (&raw const value).cast(), 4)
    }
    fn cuParamSetf(function: Handle, offset: i32, value: f32) {
        set_argument(function, offset, (&raw const value).cast(), 4)
    }
    fn cuParamSetv(function: Handle, offset: i32, from: *const c_void, bytes: u32) {
        set_argument(function, offset, from.cast(), bytes as usize)
    }
    fn cuLaunch(function: Handle) {
        launch(function, 1, 1, 0)
    }
    fn cuLaunchGrid(function: Handle, width: i32, height: i32) {
        launch(function, width, height, 0)
    }
    fn cuLaunchGridAsync(function: Handle, width: i32, height: i32, stream: Handle) {
        launch(function, width, height, stream)
    }
}
