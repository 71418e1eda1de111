//! Tensor copies in every mode but the plain tile, and bulk copies that leave bytes out: each row of the tables is one
//! instruction form, and what must have arrived where.

mod common;

use common::*;
use ptx_emulator::{FaultKind, Im2col, Interleave, Launch, Swizzle, TensorMap, TensorType};

/// A kernel that runs one copy in its first thread; `box` begins with 5000, 5001, ... and goes to `out` at the end.
fn kernel(arch: &str, words: usize, registers: &str, copy: &str, waits: bool) -> String {
    let bytes = 4 * words;
    let (before, after) = if waits {
        (
            format!("@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], {bytes};"),
            "WAIT: mbarrier.try_wait.parity.shared.b64 %p2, [%r3], 0;\n@!%p2 bra WAIT;",
        )
    } else {
        (
            "fence.proxy.async.shared::cta;\nbar.sync 0;".to_owned(),
            "@%p1 cp.async.bulk.commit_group;\n@%p1 cp.async.bulk.wait_group 0;\nbar.sync 0;",
        )
    };
    let fill = if waits { "" } else { "FILL: add.u32 %r7, %r6, 5000;\nst.shared.u32 [%r5], %r7;" };
    format!(
        ".version 9.2\n.target {arch}\n.address_size 64\n\
         .visible .entry k(.param .u64 out, .param .u64 data, .param .align 64 .b8 map[128]) {{\n\
         .reg .pred %p<4>; .reg .b32 %r<24>; .reg .b64 %l<8>; .reg .b16 %h<8>;\n\
         .shared .align 1024 .b8 box[{bytes}]; .shared .align 8 .b8 bar[8];\n\
         mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, box; mov.u32 %r3, bar;\n\
         mov.b64 %l1, map; cvta.param.u64 %l2, %l1; ld.param.u64 %l3, [out]; ld.param.u64 %l6, [data];\n\
         @%p1 mbarrier.init.shared.b64 [%r3], 1;\nmov.u32 %r6, %r1;\n\
         START: setp.ge.u32 %p3, %r6, {words};\n@%p3 bra READY;\nmad.lo.u32 %r5, %r6, 4, %r2;\n{fill}\n\
         add.u32 %r6, %r6, 32;\nbra START;\nREADY: bar.sync 0;\n{registers}\n{before}\n@%p1 {copy}\n{after}\n\
         mov.u32 %r6, %r1;\nAGAIN: setp.ge.u32 %p3, %r6, {words};\n@%p3 bra END;\nmad.lo.u32 %r5, %r6, 4, %r2;\n\
         ld.shared.u32 %r7, [%r5];\nmul.wide.u32 %l4, %r6, 4;\nadd.u64 %l5, %l3, %l4;\nst.global.u32 [%l5], %r7;\n\
         add.u32 %r6, %r6, 32;\nbra AGAIN;\nEND: ret;\n}}\n"
    )
}

/// Coordinates in %r10 and up, offsets in %h1 and up.
fn registers(coordinates: &[i32], offsets: &[u16]) -> String {
    let wide = coordinates.iter().enumerate().map(|(at, value)| format!("mov.b32 %r{}, {value};\n", 10 + at));
    let narrow = offsets.iter().enumerate().map(|(at, value)| format!("mov.b16 %h{}, {value};\n", 1 + at));
    wide.chain(narrow).collect()
}

/// Images of 4 channels, 32 bits each, with as many pixels along each dimension as said.
fn images(address: u64, sizes: &[u64], pixels: u32, corners: Im2col, steps: u32) -> TensorMap {
    let mut strides = vec![16];
    for size in &sizes[..sizes.len() - 1] {
        strides.push(strides[strides.len() - 1] * size);
    }
    let rank = sizes.len() + 1;
    let one_then = |first: u32, rest: u32| [vec![first], vec![rest; rank - 2], vec![1]].concat();
    let mut tile = vec![1; rank];
    (tile[0], tile[1]) = (4, pixels);
    TensorMap {
        address,
        element: TensorType::U32,
        sizes: [vec![4], sizes.to_vec()].concat(),
        strides,
        tile,
        element_strides: one_then(1, steps),
        swizzle: Swizzle::None,
        nan_fill: false,
        im2col: Some(corners),
        interleave: Interleave::None,
    }
}

fn ramp(count: u32) -> Vec<u32> {
    (0..count).collect()
}

struct Load {
    arch: &'static str,
    copy: &'static str,
    sizes: &'static [u64],
    corners: (&'static [i16], &'static [i16]),
    pixels: u32,
    steps: u32,
    coordinates: &'static [i32],
    offsets: &'static [u16],
    /// Pixels of the tensor that arrive; -1 is a filled one.
    expect: &'static [i32],
}

const LOADS: &[Load] = &[
    Load {
        arch: "sm_90a",
        copy: "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r2], [%l2, {%r10, %r11, %r12}], [%r3], {%h1};",
        sizes: &[4, 2],
        corners: (&[-1], &[0]),
        pixels: 7,
        steps: 1,
        coordinates: &[0, -1, 0],
        offsets: &[0],
        expect: &[-1, 0, 1, 2, 3, -1, 4],
    },
    Load {
        arch: "sm_90a",
        copy: "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r2], [%l2, {%r10, %r11, %r12, %r13}], [%r3], {%h1, %h2};",
        sizes: &[4, 3, 2],
        corners: (&[-1, -1], &[-1, -1]),
        pixels: 14,
        steps: 1,
        coordinates: &[0, 0, 0, 0],
        offsets: &[2, 0],
        expect: &[2, 3, -1, 5, 6, 7, -1, -1, -1, -1, -1, 13, 14, 15],
    },
    Load {
        arch: "sm_120a",
        copy: "cp.async.bulk.tensor.4d.shared::cta.global.im2col.mbarrier::complete_tx::bytes.L2::cache_hint [%r2], [%l2, {%r10, %r11, %r12, %r13}], [%r3], {%h1, %h2}, %l7;",
        sizes: &[4, 3, 2],
        corners: (&[0, 0], &[0, 0]),
        pixels: 6,
        steps: 2,
        coordinates: &[0, 0, 0, 0],
        offsets: &[1, 0],
        expect: &[1, 3, 9, 11, 13, 15],
    },
    Load {
        arch: "sm_90a",
        copy: "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%r2], [%l2, {%r10, %r11, %r12, %r13, %r14}], [%r3], {%h1, %h2, %h3};",
        sizes: &[2, 2, 2, 2],
        corners: (&[0, 0, 0], &[0, 0, -1]),
        pixels: 9,
        steps: 1,
        coordinates: &[0, 1, 1, 0, 0],
        offsets: &[0, 0, 1],
        expect: &[7, 12, 13, 14, 15, -1, -1, -1, -1],
    },
    Load {
        arch: "sm_100a",
        copy: "cp.async.bulk.tensor.4d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes [%r2], [%l2, {%r10, %r11, %r12, %r13}], [%r3], {%h1, %h2};",
        sizes: &[4, 3, 3],
        corners: (&[-1, 0], &[-1, 0]),
        pixels: 5,
        steps: 1,
        coordinates: &[0, 1, 1, 0],
        offsets: &[1, 1],
        expect: &[6, 7, 16, 17, 18, 19],
    },
    Load {
        arch: "sm_100a",
        copy: "cp.async.bulk.tensor.3d.shared::cta.global.im2col::w::128.mbarrier::complete_tx::bytes [%r2], [%l2, {%r10, %r11, %r12}], [%r3], {%h1, %h2};",
        sizes: &[4, 2],
        corners: (&[0], &[0]),
        pixels: 1,
        steps: 1,
        coordinates: &[0, 1, 0],
        offsets: &[0, 0],
        expect: &WIDE_128,
    },
];

/// What is left of a tensor of 8 pixels behind the first, and filled ones.
const WIDE_128: [i32; 128] = {
    let mut out = [-1; 128];
    let mut at = 0;
    while at < 7 {
        out[at] = at as i32 + 1;
        at += 1;
    }
    out
};

#[test]
fn im2col_loads_what_the_manual_says() {
    for load_case in LOADS {
        let Load { arch, copy, sizes, corners, pixels, steps, coordinates, offsets, expect } = load_case;
        let words = 4 * expect.len();
        let module = load(&kernel(arch, words, &registers(coordinates, offsets), copy, true));
        let mut memory = memory();
        let count: u64 = sizes.iter().product();
        let data = upload_u32(&mut memory, "data", &ramp(4 * count as u32));
        let out = upload_u32(&mut memory, "out", &vec![7; words]);
        let wide = copy.contains("im2col::w");
        let corners = Im2col { lower: corners.0.to_vec(), upper: corners.1.to_vec(), wide };
        let mut launch = Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(out).arg_u64(data);
        launch.params.resize(64, 0);
        launch.params.extend(images(data, sizes, *pixels, corners, *steps).encode().expect("valid"));
        run_clean(&module, &mut memory, &launch);
        let expect: Vec<u32> = expect
            .iter()
            .flat_map(|pixel| (0..4).map(move |c| if *pixel < 0 { 0 } else { 4 * *pixel as u32 + c }))
            .collect();
        assert_eq!(download_u32(&memory, out, words), expect, "{copy}");
    }
}

#[test]
fn im2col_stores_and_reductions_walk_like_loads() {
    for (operation, add) in [("cp.async", false), ("cp.reduce.async", true)] {
        let reduction = if add { ".add" } else { "" };
        let copy = format!(
            "{operation}.bulk.tensor.4d.global.shared::cta{reduction}.im2col_no_offs.bulk_group [%l2, {{%r10, %r11, %r12, %r13}}], [%r2];"
        );
        let module = load(&kernel("sm_90a", 16, &registers(&[0, 3, 1, 0], &[]), &copy, false));
        let mut memory = memory();
        let data = upload_u32(&mut memory, "data", &ramp(96));
        let out = upload_u32(&mut memory, "out", &[7; 16]);
        let corners = Im2col { lower: vec![1, 0], upper: vec![0, 0], wide: false };
        let mut launch = Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(out).arg_u64(data);
        launch.params.resize(64, 0);
        launch.params.extend(images(data, &[4, 3, 2], 4, corners, 1).encode().expect("valid"));
        run_clean(&module, &mut memory, &launch);
        let mut expect = ramp(96);
        for (index, pixel) in [7, 9, 10, 11].into_iter().enumerate() {
            for channel in 0..4 {
                let value = 5000 + 4 * index as u32 + channel;
                let place = &mut expect[4 * pixel + channel as usize];
                *place = if add { *place + value } else { value };
            }
        }
        assert_eq!(download_u32(&memory, data, 96), expect, "{copy}");
    }
}

/// A matrix of 8 rows of 8 words; copies take one row of 4 words.
fn rows(address: u64, height: u32) -> TensorMap {
    TensorMap {
        address,
        element: TensorType::U32,
        sizes: vec![8, 8],
        strides: vec![32],
        tile: vec![4, height],
        element_strides: vec![1, 1],
        swizzle: Swizzle::None,
        nan_fill: false,
        im2col: None,
        interleave: Interleave::None,
    }
}

fn launch_with(map: &TensorMap, out: u64, data: u64) -> Launch {
    let mut launch = Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(out).arg_u64(data);
    launch.params.resize(64, 0);
    launch.params.extend(map.encode().expect("valid"));
    launch
}

#[test]
fn four_rows_are_gathered_and_scattered() {
    for arch in ["sm_100a", "sm_120a"] {
        let space = if arch == "sm_100a" { "shared::cluster" } else { "shared::cta" };
        let copy = format!(
            "cp.async.bulk.tensor.2d.{space}.global.tile::gather4.mbarrier::complete_tx::bytes [%r2], [%l2, {{%r10, %r11, %r12, %r13, %r14}}], [%r3];"
        );
        let module = load(&kernel(arch, 16, &registers(&[4, 6, 0, 9, 6], &[]), &copy, true));
        let mut memory = memory();
        let data = upload_u32(&mut memory, "data", &ramp(64));
        let out = upload_u32(&mut memory, "out", &[7; 16]);
        run_clean(&module, &mut memory, &launch_with(&rows(data, 1), out, data));
        let row = |row: u32| (0..4).map(move |column| 8 * row + 4 + column);
        let expect: Vec<u32> = row(6).chain(row(0)).chain([0; 4]).chain(row(6)).collect();
        assert_eq!(download_u32(&memory, out, 16), expect);
        // A box of two rows is none to gather by.
        let outcome = run(&module, &mut memory, &launch_with(&rows(data, 2), out, data));
        assert_eq!(kinds(&outcome)[0], FaultKind::BadLaunch, "{:#?}", outcome.faults);
        assert!(outcome.faults[0].message.contains("one row"), "{}", outcome.faults[0].message);
    }
    let copy = "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%l2, {%r10, %r11, %r12, %r13, %r14}], [%r2];";
    let module = load(&kernel("sm_100a", 16, &registers(&[0, 7, 1, 12, 2], &[]), copy, false));
    let mut memory = memory();
    let data = upload_u32(&mut memory, "data", &ramp(64));
    let out = upload_u32(&mut memory, "out", &[7; 16]);
    run_clean(&module, &mut memory, &launch_with(&rows(data, 1), out, data));
    let mut expect = ramp(64);
    for (index, row) in [(0, 7), (1, 1), (3, 2)] {
        for column in 0..4 {
            expect[8 * row + column] = 5000 + 4 * index + column as u32;
        }
    }
    assert_eq!(download_u32(&memory, data, 64), expect);
}

#[test]
fn a_byte_mask_chooses_bytes_of_every_sixteen() {
    let copy = "cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask [%l6], [%r2], 32, %l7, %h1;";
    let module = load(&kernel("sm_120a", 8, "mov.b16 %h1, 0x8001;", copy, false));
    let mut memory = memory();
    let data = upload_u32(&mut memory, "data", &[0x0101_0101; 8]);
    let out = upload_u32(&mut memory, "out", &[7; 8]);
    run_clean(&module, &mut memory, &launch_with(&rows(data, 1), out, data));
    let mut bytes = [1u8; 32];
    for (at, byte) in bytes.iter_mut().enumerate().filter(|(at, _)| matches!(at % 16, 0 | 15)) {
        *byte = (5000 + at as u32 / 4).to_le_bytes()[at % 4];
    }
    let expect: Vec<u32> = bytes.chunks_exact(4).map(|c| u32::from_le_bytes([c[0], c[1], c[2], c[3]])).collect();
    assert_eq!(download_u32(&memory, data, 8), expect);
}

#[test]
fn ignored_bytes_may_lie_outside_and_mean_nothing() {
    let copy =
        "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.ignore_oob [%r2], [%l6], 32, %r10, %r11, [%r3];";
    for (right, faults) in [(8, vec![]), (0, vec![FaultKind::OutOfBounds])] {
        let module = load(&kernel("sm_90a", 8, &registers(&[0, right], &[]), copy, true));
        let mut memory = memory();
        let data = upload_u32(&mut memory, "data", &ramp(6));
        let out = upload_u32(&mut memory, "out", &[7; 8]);
        let outcome = run(&module, &mut memory, &launch_with(&rows(data, 1), out, data));
        assert_eq!(kinds(&outcome), faults, "{:#?}", outcome.faults);
        if right == 8 {
            assert_eq!(download_u32(&memory, out, 6), ramp(6));
        }
    }
    // Who computes with what was ignored is told, also where there were values before.
    let text = kernel("sm_90a", 8, &registers(&[0, 8], &[]), copy, true);
    let text = text.replace("st.global.u32 [%l5], %r7;", "setp.eq.u32 %p2, %r7, 1;\n@%p2 st.global.u32 [%l5], %r7;");
    let filled = text.replacen("%r6, 4, %r2;\n", "%r6, 4, %r2;\nst.shared.u32 [%r5], %r6;\n", 1);
    let filled = filled.replacen("READY: bar.sync 0;", "READY: fence.proxy.async.shared::cta;\nbar.sync 0;", 1);
    for text in [text, filled] {
        let mut memory = memory();
        let data = upload_u32(&mut memory, "data", &ramp(6));
        let out = upload_u32(&mut memory, "out", &[7; 8]);
        let outcome = run(&load(&text), &mut memory, &launch_with(&rows(data, 1), out, data));
        assert_eq!(kinds(&outcome), [FaultKind::Uninitialised], "{:#?}", outcome.faults);
    }
}

/// Words out of order are read by the same instruction before the copy and after it.
#[test]
fn ignored_bytes_take_values_away_from_words_that_were_read_before() {
    for (ignored, faults) in [(0, vec![]), (8, vec![FaultKind::Uninitialised])] {
        let text = format!(
            ".version 9.2\n.target sm_90a\n.address_size 64\n\
             .visible .entry k(.param .u64 out, .param .u64 data) {{\n\
             .reg .pred %p<6>; .reg .b32 %r<16>; .reg .b64 %l<6>;\n\
             .shared .align 1024 .b8 box[32]; .shared .align 8 .b8 bar[8];\n\
             ld.param.u64 %l1, [out]; ld.param.u64 %l2, [data]; mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;\n\
             mov.u32 %r2, box; mov.u32 %r3, bar; @%p1 mbarrier.init.shared.b64 [%r3], 1;\n\
             mul.lo.u32 %r4, %r1, 3; and.b32 %r4, %r4, 7; mad.lo.u32 %r4, %r4, 4, %r2; st.shared.u32 [%r4], %r1;\n\
             mov.u32 %r5, 0; mov.u32 %r6, 0; mov.u32 %r10, 0; mov.u32 %r11, {ignored};\n\
             fence.proxy.async.shared::cta;\n\
             AGAIN: bar.sync 0;\nld.shared.u32 %r7, [%r4];\nadd.u32 %r6, %r6, %r7;\nbar.sync 0;\n\
             setp.ne.u32 %p2, %r5, 30;\n@%p2 bra ON;\n\
             @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 32;\n@%p1 cp.async.bulk.shared::cta.global\
             .mbarrier::complete_tx::bytes.ignore_oob [%r2], [%l2], 32, %r10, %r11, [%r3];\n\
             WAIT: mbarrier.try_wait.parity.shared.b64 %p3, [%r3], 0;\n@!%p3 bra WAIT;\n\
             ON: add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p4, %r5, 40;\n@%p4 bra AGAIN;\n\
             mul.wide.u32 %l3, %r1, 4;\nadd.u64 %l4, %l1, %l3;\nst.global.u32 [%l4], %r6;\nret;\n}}\n"
        );
        let mut memory = memory();
        let (out, data) = (upload_u32(&mut memory, "out", &[7; 8]), upload_u32(&mut memory, "data", &ramp(8)));
        let launch = Launch::new("k", [1, 1, 1], [8, 1, 1]).arg_u64(out).arg_u64(data);
        let outcome = run(&load(&text), &mut memory, &launch);
        assert_eq!(kinds(&outcome), faults, "{:#?}", outcome.faults);
    }
}
