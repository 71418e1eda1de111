//! Tensor maps from the driver to the kernel: what `cuTensorMapEncodeTiled` describes is what
//! `cp.async.bulk.tensor` moves.

mod common;

use common::*;
use std::ptr::null;

const PTX: &str = include_str!("../../tests/ptx/hopper.sm_90a.ptx");
const FLOAT32: u32 = 7;
const COLUMNS: usize = 40;
const ROWS: usize = 20;

/// A map of 20 rows of 40 floats with a box of 32 by 16.
fn encode(address: u64) -> Map {
    let mut map = Map([0; 128]);
    let (dims, strides) = ([COLUMNS as u64, ROWS as u64], [4 * COLUMNS as u64]);
    // SAFETY: arrays of rank 2, as said.
    let code = unsafe {
        cuTensorMapEncodeTiled(
            &mut map,
            FLOAT32,
            2,
            address,
            dims.as_ptr(),
            strides.as_ptr(),
            [32, 16].as_ptr(),
            [1, 1].as_ptr(),
            0,
            0,
            0,
            0,
        )
    };
    assert_eq!(code, 0);
    map
}

fn moves(source: Map, target: Map, target_address: u64, x: i32, y: i32) {
    let out = alloc(2048);
    let kernel = function(load(PTX), "tensor");
    let mut arguments = [arg(&source), arg(&target), arg(&out), arg(&x), arg(&y)];
    assert_eq!(launch(kernel, [1, 1, 1], [128, 1, 1], &mut arguments), 0);
    // SAFETY: a context is current.
    assert_eq!(unsafe { cuCtxSynchronize() }, 0);
    let inside = |i: i32, j: i32| (0..COLUMNS as i32).contains(&i) && (0..ROWS as i32).contains(&j);
    for (index, got) in download::<f32>(out, 512).into_iter().enumerate() {
        let (i, j) = (x + index as i32 % 32, y + index as i32 / 32);
        assert_eq!(got, if inside(i, j) { (j * COLUMNS as i32 + i) as f32 } else { 0.0 }, "({i}, {j})");
    }
    for (index, got) in download::<f32>(target_address, COLUMNS * ROWS).into_iter().enumerate() {
        let (i, j) = ((index % COLUMNS) as i32, (index / COLUMNS) as i32);
        let copied = (x..x + 32).contains(&i) && (y..y + 16).contains(&j);
        assert_eq!(got, if copied { 2.0 * index as f32 } else { -1.0 }, "({i}, {j})");
    }
}

#[test]
fn a_kernel_copies_by_the_maps_it_is_given() {
    context();
    let ramp: Vec<f32> = (0..COLUMNS * ROWS).map(|i| i as f32).collect();
    let source = upload(&ramp);
    for (x, y) in [(0, 0), (16, 8), (36, 12)] {
        let target = upload(&vec![-1.0f32; COLUMNS * ROWS]);
        moves(encode(source), encode(target), target, x, y);
    }
}

#[test]
fn a_map_can_be_given_another_address() {
    context();
    let ramp: Vec<f32> = (0..COLUMNS * ROWS).map(|i| i as f32).collect();
    let source = upload(&ramp);
    let (elsewhere, target) = (upload(&vec![5.0f32; COLUMNS * ROWS]), upload(&vec![-1.0f32; COLUMNS * ROWS]));
    let mut map = encode(elsewhere);
    // SAFETY: the map is this library's own.
    unsafe {
        assert_eq!(cuTensorMapReplaceAddress(&mut map, source + 8), 1, "16-byte alignment is wanted");
        assert_eq!(cuTensorMapReplaceAddress(&mut map, source), 0);
        assert_eq!(cuTensorMapReplaceAddress(&mut Map([0; 128]), source), 1, "no map at all");
    }
    moves(map, encode(target), target, 0, 0);
}

#[test]
fn wrong_arguments_are_invalid_values() {
    context();
    let data = upload(&[0f32; 800]);
    let (dims, strides, tile, steps) = ([40u64, 20], [160u64], [32u32, 16], [1u32, 1]);
    let mut storage = [Map([0; 128]); 2];
    let mut call = |at: usize, rank: u32, dims: *const u64, strides: *const u64, tile: *const u32| {
        // SAFETY: what is not NULL has the entries that the rank says.
        unsafe {
            let map = storage.as_mut_ptr().byte_add(at);
            cuTensorMapEncodeTiled(map, FLOAT32, rank, data, dims, strides, tile, steps.as_ptr(), 0, 0, 0, 0)
        }
    };
    let (d, s, t) = (dims.as_ptr(), strides.as_ptr(), tile.as_ptr());
    assert_eq!(call(0, 2, d, s, t), 0);
    assert_eq!(call(0, 1, d, null(), t), 0, "one dimension has no stride");
    assert_eq!(call(8, 2, d, s, t), 1, "descriptor off its alignment");
    assert_eq!(call(0, 0, d, s, t), 1, "no dimension");
    assert_eq!(call(0, 6, d, s, t), 1, "six dimensions");
    assert_eq!(call(0, 2, null(), s, t), 1, "no sizes");
    assert_eq!(call(0, 2, d, null(), t), 1, "no strides");
    assert_eq!(call(0, 2, d, s, null()), 1, "no box");
}
