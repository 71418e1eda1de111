//! Copies by tensor map: ranks, types, swizzles, steps, what lies outside; stores and their clipping; reductions.

use super::super::{Arch, Fill, Probe, Value};
use ptx_emulator::{Interleave, Swizzle, TensorMap, TensorType};
use std::fmt::Write;

const GROUP: &str = "tensor";

/// Start of the box in shared memory, behind the mbarrier, aligned to every swizzle.
const BOX_AT: usize = 1024;
const THREADS: usize = 128;
/// Operands of 1,024 cases are a tensor of 32 KB.
const OPERANDS: usize = 8;

pub fn probes(arch: Arch) -> Vec<Probe> {
    let mut list = Vec::new();
    if arch.number >= 90 {
        types(&mut list);
        ranks(&mut list);
        swizzles(&mut list);
        steps(&mut list);
        multicast(&mut list);
        stores(&mut list);
        reductions(&mut list);
    }
    list
}

fn map(element: TensorType, sizes: &[u64], strides: &[u64], tile: &[u32]) -> TensorMap {
    TensorMap {
        address: 0,
        element,
        sizes: sizes.to_vec(),
        strides: strides.to_vec(),
        tile: tile.to_vec(),
        element_strides: vec![1; sizes.len()],
        swizzle: Swizzle::None,
        nan_fill: false,
        im2col: None,
        interleave: Interleave::None,
    }
}

fn box_bytes(map: &TensorMap) -> usize {
    (map.tile.iter().map(|n| u64::from(*n)).product::<u64>() * map.element.bits() / 8) as usize
}

/// Sets `%x2`, `%x3`, … to the coordinates of the block, and gives them as an operand.
fn coordinates(body: &mut String, starts: &[Vec<i32>]) -> String {
    let rank = starts[0].len();
    for (block, start) in starts.iter().enumerate() {
        let guard = if block > 0 { "@%p2 " } else { "" };
        if block > 0 {
            let _ = writeln!(body, "setp.eq.u32 %p2, %block, {block};");
        }
        for (axis, coordinate) in start.iter().enumerate() {
            let _ = writeln!(body, "{guard}mov.b32 %x{}, {coordinate};", 2 + axis);
        }
    }
    let list: Vec<String> = (0..rank).map(|axis| format!("%x{}", 2 + axis)).collect();
    format!("{{{}}}", list.join(", "))
}

const BEGIN: &str = "setp.eq.u32 %p1, %thread, 0;\n@%p1 mbarrier.init.shared.b64 [%sh], 1;\n\
                     fence.mbarrier_init.release.cluster;\nfence.proxy.async;\nbar.sync 0;\n";

/// Every thread reads its words of the box: `%d0`, `%d1`, … at `%x0`, 512 bytes apart.
fn read_box(body: &mut String, bytes: usize) -> usize {
    let _ = writeln!(body, "mad.lo.u32 %x1, %thread, 4, %x0;");
    let words = bytes.div_ceil(4 * THREADS);
    for word in 0..words {
        let left = bytes / 4 - word * THREADS;
        let guard = if left < THREADS {
            let _ = writeln!(body, "setp.lt.u32 %p3, %thread, {left};");
            "@%p3 "
        } else {
            ""
        };
        let _ = writeln!(body, "{guard}ld.shared.b32 %d{word}, [%x1+{}];", word * 4 * THREADS);
    }
    words
}

/// Each block loads a box that starts at coordinates of its own; `offset` moves the box in shared memory.
fn load(title: &str, fill: Fill, map: TensorMap, starts: &[Vec<i32>], offset: usize) -> Probe {
    let bytes = box_bytes(&map);
    load_into(title, fill, map, starts, offset, bytes)
}

/// As `load`; reads back `room` bytes from the start of the box, which are zero where the copy does not write.
fn load_into(title: &str, fill: Fill, map: TensorMap, starts: &[Vec<i32>], offset: usize, room: usize) -> Probe {
    let bytes = box_bytes(&map);
    let rank = map.sizes.len();
    let mut body = format!("{BEGIN}add.u32 %x0, %sh, {};\n", BOX_AT + offset);
    let place = coordinates(&mut body, starts);
    if room > bytes {
        let _ = writeln!(body, "mad.lo.u32 %x1, %thread, 4, %x0;");
        for word in 0..room / 4 / THREADS {
            let _ = writeln!(body, "st.shared.b32 [%x1+{}], 0;", word * 4 * THREADS);
        }
        let _ = writeln!(body, "fence.proxy.async;\nbar.sync 0;");
    }
    let _ = write!(
        body,
        "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%sh], {bytes};\n\
         @%p1 cp.async.bulk.tensor.{rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%x0], [%map, {place}], [%sh];\n\
         LOOP: mbarrier.try_wait.parity.shared.b64 %p2, [%sh], 0;\n@!%p2 bra LOOP;\n"
    );
    let words = read_box(&mut body, room);
    let name = format!("cp.async.bulk.tensor.{rank}d load {title}");
    Probe::scalar(GROUP, &name, &[fill; OPERANDS], &vec![Value::Bits32; words], body)
        .shape(starts.len(), THREADS)
        .shared(BOX_AT + offset + room)
        .map(map, false)
}

/// Operands that show what an element type does to values: the floats see NaNs, subnormals and long fractions.
fn fill_of(element: TensorType) -> Fill {
    match element {
        TensorType::F16 => Fill::F16x2,
        TensorType::BF16 => Fill::Bf16x2,
        TensorType::F32 | TensorType::F32Ftz | TensorType::TF32 | TensorType::TF32Ftz => Fill::F32,
        _ => Fill::Bits32,
    }
}

fn name_of(element: TensorType) -> String {
    format!("{element:?}").to_lowercase()
}

/// Rows of 180 bytes, 192 apart: the last 16 bytes of a row are not all inside.
fn table(element: TensorType) -> TensorMap {
    let size = element.bits() / 8;
    map(element, &[180 / size, 20], &[192], &[(64 / size) as u32, 8])
}

const TYPES: [TensorType; 13] = [
    TensorType::U8,
    TensorType::U16,
    TensorType::U32,
    TensorType::S32,
    TensorType::U64,
    TensorType::S64,
    TensorType::F16,
    TensorType::F32,
    TensorType::F64,
    TensorType::BF16,
    TensorType::F32Ftz,
    TensorType::TF32,
    TensorType::TF32Ftz,
];

fn types(list: &mut Vec<Probe>) {
    for element in TYPES {
        let size = (element.bits() / 8) as i32;
        let starts: Vec<Vec<i32>> = [(-32, -3), (-16, 0), (0, 5), (48, 13), (128, 18), (160, -8), (176, 20), (256, 2)]
            .iter()
            .map(|(byte, row)| vec![byte / size, *row])
            .collect();
        let float = !matches!(name_of(element).as_bytes()[0], b'u' | b's');
        for nan_fill in [false, true] {
            if nan_fill && !float {
                continue;
            }
            let title = format!("{}{}", name_of(element), if nan_fill { ", NaN outside" } else { "" });
            list.push(load(&title, fill_of(element), TensorMap { nan_fill, ..table(element) }, &starts, 0));
        }
        if matches!(element, TensorType::TF32 | TensorType::TF32Ftz) {
            list.push(load(&format!("{}, ties", name_of(element)), Fill::TiesF32, table(element), &starts, 0));
        }
    }
}

fn ranks(list: &mut Vec<Probe>) {
    let starts = |list: &[&[i32]]| list.iter().map(|start| start.to_vec()).collect::<Vec<_>>();
    let line = map(TensorType::U16, &[1000], &[], &[256]);
    let along = [-64, 0, 8, 744, 992, 1000, 2000, -256].map(|x| vec![x]);
    list.push(load("u16", Fill::Bits32, line, &along, 0));
    let cube = map(TensorType::F32, &[20, 7, 9], &[96, 768], &[8, 3, 4]);
    let places = starts(&[&[0, 0, 0], &[12, 5, 7], &[-4, -1, -2], &[4, 2, 3], &[16, 6, 8], &[20, 0, 0], &[0, 7, 0]]);
    list.push(load("f32", Fill::F32, cube, &places, 0));
    let four = map(TensorType::F16, &[12, 5, 4, 6], &[32, 192, 800], &[8, 2, 3, 2]);
    let places =
        starts(&[&[0, 0, 0, 0], &[8, 4, 2, 5], &[-8, -1, -1, -1], &[0, 3, 1, 4], &[0, 0, -3, 0], &[0, 0, 0, 6]]);
    list.push(load("f16", Fill::F16x2, four, &places, 0));
    let five = map(TensorType::U8, &[48, 3, 4, 3, 5], &[48, 160, 704, 2208], &[16, 2, 2, 3, 2]);
    let places = starts(&[
        &[0, 0, 0, 0, 0],
        &[32, 2, 3, 1, 4],
        &[-16, -1, -1, -1, -1],
        &[16, 1, 1, 0, 2],
        &[0, 0, 0, 2, 0],
        &[48, 0, 0, 0, 0],
    ]);
    list.push(load("u8", Fill::Bits32, five, &places, 0));
    // One stride for two dimensions, and a dimension that overlaps itself.
    let view = map(TensorType::U32, &[16, 6, 5], &[64, 32], &[8, 4, 3]);
    list.push(load("u32, overlapping rows", Fill::Bits32, view, &starts(&[&[0, 0, 0], &[8, 2, 2], &[4, 1, 3]]), 0));
}

fn swizzles(list: &mut Vec<Probe>) {
    let modes = [(Swizzle::B32, "32B", 32), (Swizzle::B64, "64B", 64), (Swizzle::B128, "128B", 128)];
    for (swizzle, name, row) in modes {
        for offset in [0, 128, 512] {
            let map = TensorMap { swizzle, ..map(TensorType::U16, &[72, 40], &[160], &[row / 2, 24]) };
            let starts = [vec![0, 0], vec![8, 3], vec![-8, 30]];
            let title = format!("u16, swizzle {name}, rows of {row} bytes, {offset} bytes off");
            list.push(load(&title, Fill::Bits32, map, &starts, offset));
        }
    }
    // Rows narrower than the pattern.
    for (swizzle, name, row, span) in [
        (Swizzle::B32, "32B", 16, 32),
        (Swizzle::B64, "64B", 32, 64),
        (Swizzle::B128, "128B", 16, 128),
        (Swizzle::B128, "128B", 64, 128),
    ] {
        // Whole words for each of the threads that clear the place.
        let rows = if span == 32 { 32 } else { 24 };
        let map = TensorMap { swizzle, ..map(TensorType::U16, &[72, 40], &[160], &[row / 2, rows]) };
        let starts = [vec![0, 0], vec![8, 3], vec![-8, 30]];
        let title = format!("u16, swizzle {name}, rows of {row} bytes");
        list.push(load_into(&title, Fill::Bits32, map, &starts, 0, rows as usize * span));
    }
    let map = TensorMap { swizzle: Swizzle::B128, ..map(TensorType::F32, &[40, 6, 7], &[160, 960], &[32, 4, 3]) };
    list.push(load("f32, swizzle 128B", Fill::F32, map, &[vec![0, 0, 0], vec![16, 4, 5], vec![-4, -2, 3]], 0));
}

/// Steps between the elements taken. That of the innermost dimension is ignored without interleaving.
fn steps(list: &mut Vec<Probe>) {
    for steps in [vec![1, 2], vec![1, 3], vec![1, 8]] {
        let title = format!("f32, every {}th row", steps[1]);
        let map = TensorMap { element_strides: steps, ..map(TensorType::F32, &[24, 30], &[112], &[16, 5]) };
        let starts = [vec![0, 0], vec![4, 3], vec![-4, -5], vec![12, 20], vec![0, 29]];
        list.push(load(&title, Fill::F32, map, &starts, 0));
    }
    let map =
        TensorMap { element_strides: vec![1, 2, 3], ..map(TensorType::U16, &[24, 12, 14], &[64, 768], &[16, 3, 4]) };
    list.push(load("u16, steps 2 and 3", Fill::Bits32, map, &[vec![0, 0, 0], vec![8, 7, 5], vec![-8, -1, -2]], 0));
}

/// Each of two blocks sends its box to both.
fn multicast(list: &mut Vec<Probe>) {
    let map = table(TensorType::F32);
    let bytes = box_bytes(&map);
    let mut body = format!("{BEGIN}add.u32 %x0, %sh, {BOX_AT};\nmov.u32 %x7, %cluster_ctarank;\n");
    let place = coordinates(&mut body, &[vec![0, 0], vec![4, 3], vec![-4, 15], vec![40, 2]]);
    let _ = write!(
        body,
        "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%sh], {};\nmad.lo.u32 %x8, %x7, {bytes}, %x0;\nmov.b16 %h0, 3;\n\
         barrier.cluster.arrive;\nbarrier.cluster.wait;\n\
         @%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%x8], [%map, {place}], [%sh], %h0;\n\
         LOOP: mbarrier.try_wait.parity.shared.b64 %p2, [%sh], 0;\n@!%p2 bra LOOP;\n",
        2 * bytes
    );
    let words = read_box(&mut body, 2 * bytes);
    body.push_str("barrier.cluster.arrive;\nbarrier.cluster.wait;");
    let name = "cp.async.bulk.tensor.2d load f32, multicast to two blocks";
    let probe = Probe::scalar(GROUP, name, &[Fill::F32; OPERANDS], &vec![Value::Bits32; words], body);
    list.push(probe.shape(4, THREADS).shared(BOX_AT + 2 * bytes).map(map, false).cluster(2));
}

/// Bytes of the tensor that each of 256 threads prepares and reads back.
const SHARE: usize = 32;

/// One thread sends a box from shared memory to a tensor that held other operands.
fn send(title: &str, fill: Fill, map: TensorMap, start: &[i32], reduction: Option<&str>) -> Probe {
    let rank = map.sizes.len();
    let opcode = match reduction {
        None => format!("cp.async.bulk.tensor.{rank}d.global.shared::cta.tile.bulk_group"),
        Some(what) => format!("cp.reduce.async.bulk.tensor.{rank}d.global.shared::cta.{what}.tile.bulk_group"),
    };
    let mut body = format!("add.u32 %x0, %sh, {BOX_AT};\nmad.lo.u32 %x1, %thread, {SHARE}, %x0;\n");
    let place = coordinates(&mut body, &[start.to_vec()]);
    let _ = write!(
        body,
        "st.shared.v4.b32 [%x1], {{%a0, %a1, %a2, %a3}};\nst.shared.v4.b32 [%x1+16], {{%a4, %a5, %a6, %a7}};\n\
         st.global.v4.b32 [%scratch], {{%a8, %a9, %a10, %a11}};\nst.global.v4.b32 [%scratch+16], {{%a12, %a13, %a14, %a15}};\n\
         fence.proxy.async;\nbar.sync 0;\nsetp.eq.u32 %p1, %thread, 0;\n\
         @%p1 {opcode} [%map, {place}], [%x0];\n@%p1 cp.async.bulk.commit_group;\n@%p1 cp.async.bulk.wait_group 0;\n\
         fence.proxy.async;\nbar.sync 0;\nld.global.v4.b32 {{%d0, %d1, %d2, %d3}}, [%scratch];\n\
         ld.global.v4.b32 {{%d4, %d5, %d6, %d7}}, [%scratch+16];"
    );
    let kind = reduction.map_or_else(|| "store".to_owned(), |what| format!("reduce {what}"));
    let name = format!("cp.async.bulk.tensor.{rank}d {kind} {title}");
    let threads = 256;
    Probe::scalar(GROUP, &name, &[fill; 16], &[Value::Bits32; 8], body)
        .shape(1, threads)
        .shared(BOX_AT + threads * SHARE)
        .scratch(SHARE)
        .map(map, true)
}

fn stores(list: &mut Vec<Probe>) {
    for element in TYPES {
        let size = (element.bits() / 8) as i32;
        for (title, byte, row) in
            [("inside", 32, 4), ("past the end of its rows", 128, 4), ("past the last row", 0, 16)]
        {
            let title = format!("{}, {title}", name_of(element));
            list.push(send(&title, fill_of(element), table(element), &[byte / size, row], None));
        }
    }
    let line = map(TensorType::F32, &[70], &[], &[32]);
    list.push(send("f32, a row of 70", Fill::F32, line, &[64], None));
    let cube = map(TensorType::F16, &[20, 7, 9], &[48, 384], &[8, 3, 4]);
    list.push(send("f16", Fill::F16x2, cube.clone(), &[0, 2, 3], None));
    list.push(send("f16, past the edge", Fill::F16x2, cube, &[16, 5, 7], None));
    let four = map(TensorType::U32, &[12, 5, 4, 6], &[48, 240, 960], &[8, 2, 3, 2]);
    list.push(send("u32, past the edge", Fill::Bits32, four, &[8, 4, 2, 5], None));
    let five = map(TensorType::U8, &[48, 3, 4, 3, 3], &[48, 160, 704, 2208], &[16, 2, 2, 3, 2]);
    list.push(send("u8, past the edge", Fill::Bits32, five, &[32, 2, 3, 1, 2], None));
    for (swizzle, row) in [(Swizzle::B32, 32), (Swizzle::B64, 64), (Swizzle::B128, 128)] {
        let map = TensorMap { swizzle, ..map(TensorType::U16, &[72, 40], &[160], &[row / 2, 24]) };
        list.push(send(&format!("u16, swizzle {swizzle:?}"), Fill::Bits32, map, &[8, 3], None));
    }
    let steps = TensorMap { element_strides: vec![1, 3], ..map(TensorType::F32, &[24, 30], &[112], &[16, 5]) };
    list.push(send("f32, every 3th row", Fill::F32, steps, &[4, 3], None));
}

fn reductions(list: &mut Vec<Probe>) {
    let forms: [(TensorType, &[&str]); 7] = [
        (TensorType::U32, &["add", "min", "max", "inc", "dec", "and", "or", "xor"]),
        (TensorType::S32, &["add", "min", "max", "and", "or", "xor"]),
        (TensorType::U64, &["add", "min", "max", "and", "or", "xor"]),
        // An H200 calls the logical ones on s64 illegal instructions.
        (TensorType::S64, &["min", "max"]),
        (TensorType::F16, &["add", "min", "max"]),
        (TensorType::BF16, &["add", "min", "max"]),
        (TensorType::F32, &["add"]),
    ];
    for (element, operations) in forms {
        let size = (element.bits() / 8) as i32;
        for what in operations {
            let fill = match fill_of(element) {
                Fill::Bits32 => Fill::Int32,
                other => other,
            };
            list.push(send(&name_of(element), fill, table(element), &[128 / size, 14], Some(what)));
        }
    }
}
