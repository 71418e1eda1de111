//! Tensor copies whose channels are split into slices, as an H100 does them (`tests/data/interleaved.txt`).

mod common;

use common::*;
use ptx_emulator::{Im2col, Interleave, Launch, Memory, Swizzle, TensorMap, TensorType};

const COPIES: &str = include_str!("data/interleaved.txt");
/// Units of two bytes: of the tensor, which has n + 1 in its n-th, and of the box.
const TENSOR: usize = 1 << 17;
const BOX: usize = 4096;
/// In the box before a load.
const UNTOUCHED: u16 = 0xeeee;
const NAN: u16 = 0x7ff7 - 1;

struct Copy {
    kind: char,
    map: TensorMap,
    coordinates: Vec<i64>,
    offsets: Vec<i64>,
    bytes: i64,
    /// Where, from what on, and how many.
    runs: Vec<(usize, String, usize)>,
}

fn parse(line: &str) -> Copy {
    let (copy, runs) = line.split_once('|').expect("two parts");
    let kind = copy.chars().next().expect("a kind");
    let mut numbers = copy[1..].split_whitespace().map(|word| word.parse::<i64>().expect("a number"));
    let mut take = |count: usize| -> Vec<i64> { numbers.by_ref().take(count).collect() };
    let element = TensorType::from_cuda(take(1)[0] as u32).expect("a type");
    let rank = take(1)[0] as usize;
    let sizes: Vec<u64> = take(rank).iter().map(|n| *n as u64).collect();
    let strides = take(rank - 1).iter().map(|n| *n as u64).collect();
    let narrow = |corners: Vec<i64>| corners.iter().map(|n| *n as i16).collect();
    let (mut tile, im2col) = if kind == 'i' {
        let (lower, upper, columns) = (take(rank - 2), take(rank - 2), take(2));
        let corners = Im2col { lower: narrow(lower), upper: narrow(upper), wide: false };
        ([columns, vec![1; rank - 2]].concat(), Some(corners))
    } else {
        (take(rank), None)
    };
    let element_strides: Vec<u32> = take(rank).iter().map(|n| *n as u32).collect();
    if im2col.is_none() {
        // As the encoder counts: elements that are taken.
        for (size, step) in tile.iter_mut().zip(&element_strides) {
            *size = (*size as u64).div_ceil((*step).into()) as i64;
        }
    }
    let layout = take(3);
    let coordinates = take(rank);
    let offsets = take(if kind == 'i' { rank - 2 } else { 0 });
    let map = TensorMap {
        address: 0,
        element,
        sizes,
        strides,
        tile: tile.iter().map(|n| *n as u32).collect(),
        element_strides,
        interleave: Interleave::from_cuda(layout[0] as u32).expect("a layout"),
        swizzle: Swizzle::from_cuda(layout[1] as u32).expect("a swizzle"),
        nan_fill: layout[2] == 1,
        im2col,
    };
    let run = |run: &str| {
        let (at, values) = run.split_once(':').expect("a place");
        let (value, count) = values.split_once('x').expect("a count");
        (at.parse().expect("a place"), value.to_owned(), count.parse().expect("a count"))
    };
    let bytes = take(1)[0];
    Copy { kind, map, coordinates, offsets, bytes, runs: runs.split_whitespace().map(run).collect() }
}

/// One warp: fills the box, copies, and gives the box.
fn kernel(copy: &Copy) -> String {
    let rank = copy.coordinates.len();
    let words = BOX / 2;
    let set = |name: &str, ty: &str, values: &[i64]| -> String {
        values.iter().enumerate().map(|(at, value)| format!("mov.{ty} %{name}{at}, {value};\n")).collect()
    };
    let list = |name: &str, count: usize| (0..count).map(|at| format!("%{name}{at}")).collect::<Vec<_>>().join(", ");
    let (starts, offsets) = (set("c", "b32", &copy.coordinates), set("h", "b16", &copy.offsets));
    let coordinates = list("c", rank);
    let (fill, instruction) = match copy.kind {
        's' => (
            "mad.lo.u32 %r6, %r4, 0x20002, 0x20001;",
            format!(
                "cp.async.bulk.tensor.{rank}d.global.shared::cta.tile.bulk_group [%l2, {{{coordinates}}}], [%r2];\n\
                 cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;"
            ),
        ),
        kind => {
            let mode = if kind == 'i' { "im2col" } else { "tile" };
            let behind = match copy.offsets.len() {
                0 => String::new(),
                count => format!(", {{{}}}", list("h", count)),
            };
            (
                "mov.b32 %r6, 0xeeeeeeee;",
                format!(
                    "mbarrier.arrive.expect_tx.shared.b64 _, [%r3], {};\n\
                     cp.async.bulk.tensor.{rank}d.shared::cluster.global.{mode}.mbarrier::complete_tx::bytes [%r2], \
                     [%l2, {{{coordinates}}}], [%r3]{behind};\n\
                     WAIT: mbarrier.try_wait.parity.shared.b64 %p, [%r3], 0;\n@!%p bra WAIT;",
                    copy.bytes
                ),
            )
        }
    };
    // The first of two units that a store's box begins with is 1, the next one 2.
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n\
         .visible .entry k(.param .align 64 .b8 map[128], .param .u64 out) {{\n\
         .reg .pred %p; .reg .b32 %r<12>; .reg .b32 %c<6>; .reg .b16 %h<4>; .reg .b64 %l<8>;\n\
         .shared .align 1024 .b8 box[{}]; .shared .align 8 .b64 bar;\n\
         mov.u32 %r1, %tid.x; mov.u32 %r2, box; mov.u32 %r3, bar; mov.u32 %r4, %r1;\n\
         FILL: shl.b32 %r5, %r4, 2; add.u32 %r5, %r5, %r2; {fill}\nst.shared.b32 [%r5], %r6; add.u32 %r4, %r4, 32;\n\
         setp.lt.u32 %p, %r4, {words};\n@%p bra FILL;\nfence.proxy.async;\nbar.warp.sync -1;\n\
         setp.ne.u32 %p, %r1, 0;\n@%p bra DONE;\nmbarrier.init.shared.b64 [%r3], 1;\nfence.proxy.async;\n\
         mov.b64 %l1, map; cvta.param.u64 %l2, %l1;\n{starts}{offsets}{instruction}\n\
         DONE: bar.sync 0;\nld.param.u64 %l3, [out]; mov.u32 %r4, %r1;\n\
         GIVE: shl.b32 %r5, %r4, 2; add.u32 %r7, %r5, %r2; ld.shared.b32 %r6, [%r7]; cvt.u64.u32 %l4, %r5;\n\
         add.u64 %l5, %l3, %l4; st.global.b32 [%l5], %r6; add.u32 %r4, %r4, 32;\n\
         setp.lt.u32 %p, %r4, {words};\n@%p bra GIVE;\nret;\n}}\n",
        2 * BOX
    )
}

fn units(memory: &Memory, address: u64, count: usize) -> Vec<u16> {
    download_u32(memory, address, count / 2).iter().flat_map(|word| [*word as u16, (*word >> 16) as u16]).collect()
}

fn pairs(units: impl Fn(usize) -> u16, count: usize) -> Vec<u32> {
    (0..count / 2).map(|at| u32::from(units(2 * at)) | u32::from(units(2 * at + 1)) << 16).collect()
}

#[test]
fn interleaved_copies_are_those_of_an_h100() {
    let mut seen = 0;
    for line in COPIES.lines().filter(|line| !line.starts_with('#')) {
        let copy = parse(line);
        let stores = copy.kind == 's';
        let mut memory = memory();
        let tensor = pairs(|at| if stores { 0 } else { (at as u16).wrapping_add(1) }, TENSOR);
        let tensor = upload_u32(&mut memory, "tensor", &tensor);
        let out = upload_u32(&mut memory, "out", &vec![0; BOX / 2]);
        let map = TensorMap { address: tensor, ..copy.map.clone() }.encode().expect(line);
        let launch = Launch::new("k", [1, 1, 1], [32, 1, 1]).arg(&map).arg_u64(out);
        run_clean(&load(&kernel(&copy)), &mut memory, &launch);
        let (count, untouched) = if stores { (TENSOR, 0) } else { (BOX, UNTOUCHED) };
        let mut expected = vec![untouched; count];
        for (at, value, length) in &copy.runs {
            for index in 0..*length {
                expected[at + index] = match value.as_str() {
                    "z" => 0,
                    "n" => NAN + 1,
                    first => (first.parse::<usize>().expect("a number") + index + 1) as u16,
                };
            }
        }
        let got = units(&memory, if stores { tensor } else { out }, count);
        let wrong = got.iter().zip(&expected).position(|(got, expected)| got != expected);
        assert_eq!(wrong, None, "{line}: {:?}", wrong.map(|at| (got[at], expected[at])));
        seen += 1;
    }
    assert!(seen > 100, "{seen} copies");
}
