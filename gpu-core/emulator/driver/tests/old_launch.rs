//! Launches as programs made them before CUDA 4, which some still do.

mod common;

use std::ffi::c_void;

use common::*;

unsafe extern "C" {
    fn cuFuncSetBlockShape(function: Handle, x: i32, y: i32, z: i32) -> u32;
    fn cuFuncSetSharedSize(function: Handle, bytes: u32) -> u32;
    fn cuParamSetSize(function: Handle, bytes: u32) -> u32;
    fn cuParamSeti(function: Handle, offset: i32, value: u32) -> u32;
    fn cuParamSetv(function: Handle, offset: i32, from: *const c_void, bytes: u32) -> u32;
    fn cuLaunchGrid(function: Handle, width: i32, height: i32) -> u32;
}

const PTX: &str = ".version 7.8\n.target sm_80\n.address_size 64
.visible .entry count(.param .u64 p, .param .u32 n) {
    .reg .u64 %rd<2>;
    .reg .u32 %r<2>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [n];
    red.global.add.u32 [%rd1], %r1;
    ret;
}";

#[test]
fn shape_and_arguments_are_set_one_by_one() {
    context();
    let count = function(load(PTX), "count");
    let sum = upload(&[0u32]);
    // SAFETY: handles of this test and a pointer to a local.
    unsafe {
        assert_eq!(cuLaunchGrid(count, 2, 3), 1, "no block yet");
        assert_eq!((cuFuncSetBlockShape(count, 4, 0, 1), cuFuncSetBlockShape(count, 4, 2, 1)), (1, 0));
        assert_eq!((cuFuncSetSharedSize(count, 64), cuFuncSetSharedSize(4711, 64)), (0, 400));
        assert_eq!((cuParamSetSize(count, 12), cuParamSetSize(count, 4096)), (0, 1));
        assert_eq!(cuParamSetv(count, 0, (&raw const sum).cast(), 8), 0);
        assert_eq!((cuParamSeti(count, 8, 5), cuParamSeti(count, 4096, 5), cuParamSeti(count, -4, 5)), (0, 1, 1));
        assert_eq!((cuLaunchGrid(count, 2, 3), cuLaunchGrid(count, -1, 3)), (0, 1));
        assert_eq!(cuCtxSynchronize(), 0);
    }
    assert_eq!(download::<u32>(sum, 1), [2 * 3 * 4 * 2 * 5]);
}

#[test]
fn a_kernel_without_parameters_takes_an_empty_buffer() {
    context();
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n";
    let module =
        load(&format!("{text}.visible .entry none() {{ ret; }}\n.visible .entry one(.param .u32 a) {{ ret; }}"));
    let buffer = 0u64;
    // As on an H200: what it gives for no list, an empty one, and buffers of 0, 4 and 8 bytes.
    for (name, codes) in [("none", [0, 0, 0, 701, 701]), ("one", [1, 1, 1, 0, 701])] {
        let kernel = function(module, name);
        let launched = |extra: *mut *mut std::ffi::c_void| {
            // SAFETY: the list ends in zero, and what it points to lives through the call.
            unsafe { cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, std::ptr::null_mut(), extra) }
        };
        let sized = |bytes: usize| {
            let marker = std::ptr::without_provenance_mut;
            let mut extra = [marker(1), arg(&buffer), marker(2), arg(&bytes), std::ptr::null_mut()];
            launched(extra.as_mut_ptr())
        };
        let empty = launched([std::ptr::null_mut()].as_mut_ptr());
        assert_eq!([launched(std::ptr::null_mut()), empty, sized(0), sized(4), sized(8)], codes, "{name}");
    }
}
