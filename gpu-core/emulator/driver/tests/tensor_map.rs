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

/// Loads 6 pixels of 4 floats from where a 3 by 3 filter looks when it stands at the image's first place.
const FILTER: &str = "
.version 8.0
.target sm_90a
.address_size 64
.visible .entry filter(.param .align 64 .b8 map[128], .param .u64 out) {
    .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %l<8>; .reg .b16 %h<3>;
    .shared .align 128 .b8 pixels[96];
    .shared .align 8 .b8 full[8];
    mov.b64 %l1, map;
    cvta.param.u64 %l2, %l1;
    ld.param.u64 %l3, [out];
    mov.u32 %r1, pixels;
    mov.u32 %r2, full;
    mov.u32 %r3, -1;
    mov.u32 %r4, 0;
    mov.b16 %h1, 1;
    mbarrier.init.shared.b64 [%r2], 1;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 96;
    cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes
        [%r1], [%l2, {%r4, %r3, %r3, %r4}], [%r2], {%h1, %h1};
WAIT:
    mbarrier.try_wait.parity.shared.b64 %p1, [%r2], 0;
    @!%p1 bra WAIT;
    mov.u32 %r5, 0;
NEXT:
    add.u32 %r6, %r1, %r5;
    ld.shared.b32 %r7, [%r6];
    cvt.u64.u32 %l4, %r5;
    add.u64 %l5, %l3, %l4;
    st.global.b32 [%l5], %r7;
    add.u32 %r5, %r5, 4;
    setp.lt.u32 %p2, %r5, 96;
    @%p2 bra NEXT;
    ret;
}";

#[test]
fn a_kernel_walks_an_image_as_a_filter_does() {
    context();
    // 2 images of 3 rows of 4 pixels of 4 channels; the padding is 1, so that the first place is (-1, -1).
    let image: Vec<f32> = (0..96).map(|i| i as f32).collect();
    let source = upload(&image);
    let (dims, strides, steps) = ([4u64, 4, 3, 2], [16u64, 64, 192], [1u32, 2, 1, 1]);
    let (lower, upper) = ([-1, -1], [-1, -1]);
    let mut map = Map([0; 128]);
    let mut encode = |rank: u32, pixels: u32, lower: &[i32; 2]| {
        // SAFETY: arrays of rank 4, as said, and of the two dimensions between channels and images.
        unsafe {
            cuTensorMapEncodeIm2col(
                &mut map,
                FLOAT32,
                rank,
                source,
                dims.as_ptr(),
                strides.as_ptr(),
                lower.as_ptr(),
                upper.as_ptr(),
                4,
                pixels,
                steps.as_ptr(),
                0,
                0,
                0,
                0,
            )
        }
    };
    assert_eq!(encode(2, 6, &lower), 1, "too few dimensions");
    assert_eq!(encode(4, 2000, &lower), 1, "too many pixels");
    assert_eq!(encode(4, 6, &[-200, 0]), 1, "a corner out of range");
    assert_eq!(encode(4, 6, &lower), 0);
    let out = alloc(96);
    let kernel = function(load(FILTER), "filter");
    assert_eq!(launch(kernel, [1, 1, 1], [1, 1, 1], &mut [arg(&map), arg(&out)]), 0);
    // SAFETY: a context is current.
    assert_eq!(unsafe { cuCtxSynchronize() }, 0);
    // Every second place of a row: two of each.
    let pixels = [0, 2, 4, 6, 8, 10];
    let expect: Vec<f32> = pixels.iter().flat_map(|pixel| (0..4).map(move |c| (4 * pixel + c) as f32)).collect();
    assert_eq!(download::<f32>(out, 24), expect);
}

#[test]
fn wrong_arguments_are_invalid_values() {
    context();
    let data = upload(&[0f32; 800]);
    let (dims, strides, tile, steps) = ([40u64, 20], [160u64], [32u32, 16], [1u32, 1]);
    let mut storage = [Map([0; 128]); 2];
    let mut call = |at: usize, rank: u32, dims: *const u64, strides: *const u64, tile: *const u32| {
        // SAFETY: what is not NULL has the entries that the rank says; the map's place need not be aligned.
        unsafe {
            let map = storage.as_mut_ptr().byte_add(at);
            cuTensorMapEncodeTiled(map, FLOAT32, rank, data, dims, strides, tile, steps.as_ptr(), 0, 0, 0, 0)
        }
    };
    let (d, s, t) = (dims.as_ptr(), strides.as_ptr(), tile.as_ptr());
    assert_eq!(call(0, 2, d, s, t), 0);
    assert_eq!(call(0, 1, d, null(), t), 0, "one dimension has no stride");
    assert_eq!(call(8, 2, d, s, t), 0, "descriptors may lie anywhere");
    assert_eq!(call(0, 0, d, s, t), 1, "no dimension");
    assert_eq!(call(0, 6, d, s, t), 1, "six dimensions");
    assert_eq!(call(0, 2, null(), s, t), 1, "no sizes");
    assert_eq!(call(0, 2, d, null(), t), 1, "no strides");
    assert_eq!(call(0, 2, d, s, null()), 1, "no box");
}
