//! Textures and surfaces: what an H200 gave (`data/textures.tsv`, driver 580.159.04), and what is wrong with kernels that use
//! them wrongly.
//!
//! A case of that file is its name, the instructions, the array (kind, width, height, depth, `CUarray_format`, channels,
//! levels, made with levels, layered), the sampler, and how far f32 may be off in units of the last place of the largest
//! texel; then the texels of each level, and rows of four coordinates, six integers and four results.

mod common;

use common::*;
use ptx_emulator::{
    AddressMode, ChannelFormat, FaultKind, Launch, Memory, Options, Sampler, TexelArray, TextureLevel, TextureObject,
};

const CASES: &str = include_str!("data/textures.tsv");

fn module(instructions: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 floats, .param .u64 \
         ints, .param .u64 object) {{\n.reg .b16 %h<8>;\n.reg .b32 %r<40>;\n.reg .f32 %f<40>;\n.reg .b64 %d<20>;\n\
         mov.u32 %r33, %tid.x;\nld.param.u64 %d10, [out];\nld.param.u64 %d11, [floats];\nld.param.u64 %d12, [ints];\n\
         ld.param.u64 %d1, [object];\nmul.wide.u32 %d13, %r33, 16;\nmul.wide.u32 %d14, %r33, 24;\n\
         add.s64 %d10, %d10, %d13;\nadd.s64 %d11, %d11, %d13;\nadd.s64 %d12, %d12, %d14;\n\
         ld.global.v4.f32 {{%f1, %f2, %f3, %f4}}, [%d11];\nld.global.v2.u32 {{%r1, %r2}}, [%d12];\n\
         ld.global.v2.u32 {{%r3, %r4}}, [%d12+8];\nld.global.v2.u32 {{%r5, %r6}}, [%d12+16];\n\
         mov.u32 %r11, 0x77777777;\nmov.u32 %r12, 0x77777777;\nmov.u32 %r13, 0x77777777;\nmov.u32 %r14, 0x77777777;\n{instructions}\n\
         st.global.v4.u32 [%d10], {{%r11, %r12, %r13, %r14}};\nret;\n}}\n"
    )
}

fn sampler() -> Sampler {
    Sampler {
        modes: [AddressMode::Clamp; 3],
        linear: false,
        normalised: false,
        integers: false,
        srgb: false,
        seamless: false,
        border: [0.0; 4],
        linear_levels: false,
        level_bias: 0.0,
        least_level: 0.0,
        most_level: 0.0,
    }
}

struct Case {
    name: String,
    instructions: String,
    object: TextureObject,
    units: f32,
    largest: f32,
    floats: Vec<u32>,
    ints: Vec<u32>,
    results: Vec<u32>,
}

fn words(field: &str) -> Vec<u32> {
    field.split(' ').map(|word| u32::from_str_radix(word, 16).expect("a hexadecimal word")).collect()
}

fn cases(memory: &mut Memory) -> Vec<Case> {
    let mut out: Vec<Case> = Vec::new();
    for line in CASES.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        match fields[..] {
            ["case", name, instructions, array, reading, units] => {
                let number: Vec<u32> = array.split(' ').skip(1).map(|word| word.parse().expect("a number")).collect();
                let read: Vec<f32> = reading.split(' ').map(|word| word.parse().expect("a number")).collect();
                let mode = |at: usize| AddressMode::of(read[at] as u32).expect("a mode");
                let is = |at: usize| read[at] != 0.0;
                let format = ChannelFormat::of(number[3]).expect("a format");
                let texel = u64::from(format.bytes() * number[4]);
                let levels = (0..number[5]).map(|level| {
                    let half = |extent: u32| if extent == 0 { 0 } else { (extent >> level).max(1) };
                    let [width, height] = [half(number[0]), half(number[1])];
                    let row_bytes = u64::from(width) * texel;
                    let slice_bytes = row_bytes * u64::from(height.max(1));
                    TextureLevel { address: 0, size: [width, height, number[2]], row_bytes, slice_bytes }
                });
                let texels = TexelArray {
                    format,
                    channels: number[4],
                    linear_memory: array.starts_with("linear"),
                    levels: levels.collect(),
                    mipmapped: number[6] != 0,
                };
                let sampler = Sampler {
                    modes: [mode(0), mode(1), mode(2)],
                    linear: is(3),
                    normalised: is(4),
                    integers: is(5),
                    linear_levels: is(6),
                    seamless: is(7),
                    srgb: is(8),
                    level_bias: read[9],
                    least_level: read[10],
                    most_level: read[11],
                    border: [read[12], read[13], read[14], read[15]],
                };
                out.push(Case {
                    name: name.to_owned(),
                    instructions: instructions.to_owned(),
                    object: TextureObject::Texture(texels, sampler),
                    units: units.parse().expect("a number"),
                    largest: 0.0,
                    floats: Vec::new(),
                    ints: Vec::new(),
                    results: Vec::new(),
                });
            }
            ["texels", bytes] => {
                let case = out.last_mut().expect("a case first");
                let TextureObject::Texture(texels, _) = &mut case.object else { unreachable!() };
                let data: Vec<u8> = (0..bytes.len() / 2)
                    .map(|at| u8::from_str_radix(&bytes[2 * at..2 * at + 2], 16).expect("a byte"))
                    .collect();
                let address = memory.alloc("texels", data.len() as u64).expect("fits");
                memory.write(address, &data).expect("inside");
                let format = texels.format;
                let level = texels.levels.iter_mut().find(|level| level.address == 0).expect("a level for the texels");
                level.address = address;
                let float = |chunk: &[u8]| match format {
                    ChannelFormat::F32 => f32::from_le_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]).abs(),
                    _ => 1.0,
                };
                case.largest = data.chunks(4).map(float).fold(case.largest, f32::max);
            }
            ["row", floats, ints, results] => {
                let case = out.last_mut().expect("a case first");
                case.floats.extend(words(floats));
                case.ints.extend(words(ints));
                case.results.extend(words(results));
            }
            _ => panic!("an unknown line: {}", &line[..line.len().min(40)]),
        }
    }
    out
}

#[test]
fn textures_read_what_an_h200_read() {
    let mut memory = memory();
    let cases = cases(&mut memory);
    assert!(cases.len() >= 50);
    let mut wrong = Vec::new();
    for case in cases {
        let count = case.results.len() / 4;
        let floats = upload_u32(&mut memory, "floats", &case.floats);
        let ints = upload_u32(&mut memory, "ints", &case.ints);
        let out = memory.alloc("out", case.results.len() as u64 * 4).expect("fits");
        let object = memory.add_texture_object(case.object);
        let module = load(&module(&case.instructions));
        let launch = Launch::new("k", [1, 1, 1], [count as u32, 1, 1]);
        let launch = launch.arg_u64(out).arg_u64(floats).arg_u64(ints).arg_u64(object);
        run_clean(&module, &mut memory, &launch);
        let found = download_u32(&memory, out, case.results.len());
        for (index, (found, wanted)) in found.into_iter().zip(case.results).enumerate() {
            let apart = (f32::from_bits(found) - f32::from_bits(wanted)).abs();
            // f32 has 24 bits, f16 11, and s8 comes to one of 32,767 parts.
            let unit = match case.units {
                1.0 if case.name.contains("f16") => 2f32.powi(-8),
                1.0 => 4.1e-5,
                units => units * case.largest * 2f32.powi(-24),
            };
            if found != wanted && !(case.units > 0.0 && apart <= unit) {
                wrong.push(format!("{} [{index}]: {found:#x} instead of {wanted:#x}", case.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// 8 by 4 texels of f32 at an address.
fn picture(address: u64) -> TexelArray {
    let level = TextureLevel { address, size: [8, 4, 0], row_bytes: 32, slice_bytes: 128 };
    TexelArray { format: ChannelFormat::F32, channels: 1, linear_memory: false, levels: vec![level], mipmapped: false }
}

/// An 8 by 4 array of f32, all written if asked for, and an object of it.
fn array(memory: &mut Memory, written: bool, surface: bool) -> (u64, u64) {
    let address = memory.alloc("picture", 8 * 4 * 4).expect("fits");
    if written {
        let texels: Vec<u8> = (0..32u32).flat_map(|texel| (texel as f32).to_le_bytes()).collect();
        memory.write(address, &texels).expect("inside");
    }
    let texels = picture(address);
    let object = match surface {
        true => TextureObject::Surface(texels),
        false => TextureObject::Texture(texels, sampler()),
    };
    (address, memory.add_texture_object(object))
}

/// A kernel of one instruction for 32 threads, of which thread t has x = 4 (t % 8), y = t / 8 in `%r1` and `%r2`, and the
/// same in texels in `%f1` and `%f2`; `%d1` and `%d2` are objects, and `%r3` is what it stores at the end.
fn small(instructions: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 first, .param .u64 \
         second) {{\n.reg .b32 %r<10>;\n.reg .f32 %f<10>;\n.reg .b64 %d<6>;\nmov.u32 %r9, %tid.x;\nand.b32 %r8, %r9, 7;\n\
         shr.u32 %r2, %r9, 3;\nshl.b32 %r1, %r8, 2;\ncvt.rn.f32.u32 %f1, %r8;\ncvt.rn.f32.u32 %f2, %r2;\n\
         ld.param.u64 %d3, [out];\nld.param.u64 %d1, [first];\nld.param.u64 %d2, [second];\nmov.u32 %r3, 0;\n\
         {instructions}\nmul.wide.u32 %d4, %r9, 4;\nadd.s64 %d3, %d3, %d4;\nst.global.u32 [%d3], %r3;\nret;\n}}\n"
    )
}

fn run_small(memory: &mut Memory, instructions: &str, objects: [u64; 2]) -> (ptx_emulator::Outcome, Vec<u32>) {
    let out = memory.alloc("out", 32 * 4).expect("fits");
    let module = load(&small(instructions));
    let launch = Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(out).arg_u64(objects[0]).arg_u64(objects[1]);
    let outcome = run(&module, memory, &launch);
    let found = download_u32(memory, out, 32);
    (outcome, found)
}

const FETCH: &str = "tex.2d.v4.f32.f32 {%f5, _, _, _}, [%d1, {%f1, %f2}]; mov.b32 %r3, %f5;";
const LOAD: &str = "suld.b.2d.b32.trap %r3, [%d1, {%r1, %r2}];";
const STORE: &str = "sust.b.2d.b32.trap [%d1, {%r1, %r2}], %r9;";

#[test]
fn texels_are_memory_as_any_other() {
    let mut memory = memory();
    let (_, empty) = array(&mut memory, false, false);
    let used = FETCH.replace("mov.b32", "add.f32 %f5, %f5, %f1; mov.b32");
    let (outcome, _) = run_small(&mut memory, &used, [empty, 0]);
    assert_eq!(kinds(&outcome), [FaultKind::Uninitialised]);

    let (address, gone) = array(&mut memory, true, false);
    memory.free(address).expect("an allocation");
    let (outcome, _) = run_small(&mut memory, FETCH, [gone, 0]);
    assert_eq!(kinds(&outcome), [FaultKind::UseAfterFree]);

    let (_, surface) = array(&mut memory, true, true);
    let (outcome, _) = run_small(&mut memory, STORE, [surface, 0]);
    assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
    // All to the first texel of their row.
    let (outcome, _) =
        run_small(&mut memory, "sust.b.2d.b32.trap [%d1, {%r4, %r2}], %r9;".replace("%r4", "0").as_str(), [surface, 0]);
    assert_eq!(kinds(&outcome), [FaultKind::Race]);
    let (outcome, _) = run_small(&mut memory, "sured.b.add.2d.u32.trap [%d1, {0, %r2}], %r9;", [surface, 0]);
    assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
}

#[test]
fn what_a_kernel_wrote_it_must_not_read_through_a_texture() {
    let mut memory = memory();
    let (address, surface) = array(&mut memory, true, true);
    let texels = picture(address);
    let texture = memory.add_texture_object(TextureObject::Texture(texels, sampler()));
    let both = format!("{STORE}\n{}", FETCH.replace("%d1", "%d2"));
    let (outcome, _) = run_small(&mut memory, &both, [surface, texture]);
    assert_eq!(kinds(&outcome), [FaultKind::StaleRead]);
    // Through the surface it may.
    let (outcome, found) = run_small(&mut memory, &format!("{STORE}\n{LOAD}"), [surface, 0]);
    assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
    assert!(found.iter().enumerate().all(|(thread, found)| *found == thread as u32));
}

#[test]
fn outside_of_a_surface() {
    let mut memory = memory();
    let (_, surface) = array(&mut memory, true, true);
    let beyond = LOAD.replace("{%r1,", "{%r5,");
    let shifted = |how: &str| format!("add.u32 %r5, %r1, 8; {}", beyond.replace("trap", how));
    let (outcome, _) = run_small(&mut memory, &shifted("trap"), [surface, 0]);
    assert_eq!(kinds(&outcome), [FaultKind::OutOfBounds]);
    let fault = &outcome.faults[0];
    let text = "block (0,0,0), thread (6,0,0) accesses a surface at x = 32 bytes, y = 0, z = 0, outside of it";
    assert!(fault.message.starts_with(text), "{}", fault.message);
    assert_eq!(fault.allocation.as_ref().map(|found| found.name.as_str()), Some("picture"));
    let (_, zero) = run_small(&mut memory, &shifted("zero"), [surface, 0]);
    let (_, clamp) = run_small(&mut memory, &shifted("clamp"), [surface, 0]);
    let value = |found: u32| f32::from_bits(found);
    assert_eq!(zero[..8].iter().map(|found| value(*found)).collect::<Vec<_>>(), [2., 3., 4., 5., 6., 7., 0., 0.]);
    assert_eq!(clamp[..8].iter().map(|found| value(*found)).collect::<Vec<_>>(), [2., 3., 4., 5., 6., 7., 7., 7.]);
    let (outcome, _) =
        run_small(&mut memory, &format!("add.u32 %r5, %r1, 2; {}", beyond.replace("trap", "zero")), [surface, 0]);
    assert_eq!(kinds(&outcome), [FaultKind::Misaligned]);
}

#[test]
fn objects_are_told_apart() {
    let mut memory = memory();
    let (_, texture) = array(&mut memory, true, false);
    let (_, surface) = array(&mut memory, true, true);
    for (instructions, object) in [(FETCH, surface), (LOAD, texture), (FETCH, 77), (LOAD, 77)] {
        let (outcome, _) = run_small(&mut memory, instructions, [object, 0]);
        assert_eq!(kinds(&outcome), [FaultKind::OutOfBounds], "{instructions} {object}");
    }
    // A GPU reads 0 of the object 0, and says nothing.
    let (outcome, found) = run_small(&mut memory, FETCH, [0, 0]);
    assert_eq!(kinds(&outcome), [FaultKind::UndefinedResult]);
    assert!(outcome.completed && found.iter().all(|found| *found == 0));
    assert!(memory.remove_texture_object(texture) && !memory.remove_texture_object(texture));
    let (outcome, _) = run_small(&mut memory, FETCH, [texture, 0]);
    assert_eq!(kinds(&outcome), [FaultKind::OutOfBounds]);
}

#[test]
fn sizes_are_told() {
    let mut memory = memory();
    let (_, texture) = array(&mut memory, true, false);
    let (_, surface) = array(&mut memory, true, true);
    for (query, object, wanted) in [
        ("txq.width.b32 %r3, [%d1];", texture, 8),
        ("txq.height.b32 %r3, [%d1];", texture, 4),
        ("txq.depth.b32 %r3, [%d1];", texture, 0),
        ("suq.width.b32 %r3, [%d1];", surface, 8),
        ("suq.height.b32 %r3, [%d1];", surface, 4),
    ] {
        let (outcome, found) = run_small(&mut memory, query, [object, 0]);
        assert!(outcome.faults.is_empty() && found.iter().all(|found| *found == wanted), "{query}: {found:?}");
    }
}

#[test]
fn many_threads_reduce_into_one_surface() {
    let mut memory = memory();
    let (address, surface) = array(&mut memory, false, true);
    memory.write(address, &[0; 128]).expect("inside");
    let out = memory.alloc("out", 128).expect("fits");
    let ptx = small("sured.b.add.2d.u32.trap [%d1, {%r1, %r2}], 1;").replace("st.global.u32", "@!%p1 st.global.u32");
    let ptx = ptx.replace(".reg .b64 %d<6>;", ".reg .b64 %d<6>;\n.reg .pred %p1;\nsetp.eq.u32 %p1, 0, 0;");
    let launch = Launch::new("k", [64, 1, 1], [32, 1, 1]).arg_u64(out).arg_u64(surface).arg_u64(0);
    for workers in [1, 2] {
        let outcome = run_with(&load(&ptx), &mut memory, &launch, &Options { workers, ..Options::default() });
        assert!(outcome.faults.is_empty(), "{:?}", outcome.faults);
    }
    assert_eq!(download_u32(&memory, address, 32), [128; 32]);
}

#[test]
fn what_no_object_can_be_asked_is_refused() {
    let wrong = [
        ("txq.filter_mode.b32 %r3, [%d1];", "width, height and depth alone"),
        ("tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%d1, %d2, {%f1, %f2}];", "a texture object has one inside"),
        ("tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%d1, {%f1}];", "coordinates of this shape are 2 numbers"),
        ("tex.2d.v4.f32.f32 {%f3, %f4}, [%d1, {%f1, %f2}];", "4 registers in braces"),
        ("suld.b.2d.v4.b64.trap {%d1, %d2, %d3, %d4}, [%d1, {%r1, %r2}];", "not supported"),
        ("tld4.r.3d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%d1, {%f1, %f2, %f1, %f1}];", "not supported"),
        ("sured.b.add.a2d.u32.trap [%d1, {%r1, %r1, %r2, %r2}], %r3;", "not supported"),
    ];
    for (instruction, reason) in wrong {
        let error = ptx_emulator::Module::load(&small(instruction)).expect_err(instruction).to_string();
        assert!(error.contains(reason), "{instruction}: {error}");
    }
}

#[test]
fn what_nvrtc_makes_of_cudas_functions_is_taken() {
    let ptx = include_str!("ptx/textures.sm_75.ptx");
    for arch in ["sm_75", "sm_90", "sm_121"] {
        let module = load(&ptx.replace(".target sm_75", &format!(".target {arch}")));
        assert_eq!(module.kernels().len(), 2);
    }
}

/// Whatever the coordinates are, a read stays inside of the array, and a surface access that clamps or leaves out does.
#[test]
fn no_coordinate_leaves_the_array() {
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 16) as u32
    };
    let shapes = [
        ("1d", "{%f1}", [1, 0, 0]),
        ("2d", "{%f1, %f2}", [1, 1, 0]),
        ("3d", "{%f1, %f2, %f3, %f3}", [1, 1, 1]),
        ("a1d", "{%r4, %f1}", [1, 0, 1]),
        ("a2d", "{%r4, %f1, %f2, %f2}", [1, 1, 1]),
        ("cube", "{%f1, %f2, %f3, %f3}", [1, 1, 6]),
    ];
    let formats = [1, 2, 3, 8, 9, 10, 0x10, 0x20];
    for round in 0..240 {
        let mut memory = memory();
        let (name, coordinates, axes) = shapes[round % shapes.len()];
        let format = ChannelFormat::of(formats[random() as usize % 8]).expect("a format");
        let channels = 1 << (random() % 3);
        let mut size = axes.map(|axis| if axis == 0 { 0 } else { 1 + random() % 9 });
        if name == "cube" {
            size = [size[0], size[0], 6];
        }
        let mipmapped = random() % 2 == 0 && !name.starts_with('a');
        let mut levels = Vec::new();
        for level in 0..if mipmapped { 3 } else { 1 } {
            let smaller = |extent: u32| if extent == 0 { 0 } else { (extent >> level).max(1) };
            let depth = if name == "3d" { smaller(size[2]) } else { size[2] };
            let size = [smaller(size[0]), smaller(size[1]), depth];
            let row_bytes = u64::from(size[0] * format.bytes() * channels);
            let slice_bytes = row_bytes * u64::from(size[1].max(1));
            let bytes = slice_bytes * u64::from(size[2].max(1));
            let address = memory.alloc("texels", bytes).expect("fits");
            memory.write(address, &vec![0x3c; bytes as usize]).expect("inside");
            levels.push(TextureLevel { address, size, row_bytes, slice_bytes });
        }
        let texels = TexelArray { format, channels, linear_memory: false, levels, mipmapped };
        let sampler = Sampler {
            modes: [0; 3].map(|_| AddressMode::of(random() % 4).expect("a mode")),
            linear: random() % 2 == 0,
            normalised: random() % 2 == 0,
            integers: random() % 2 == 0,
            srgb: random() % 2 == 0,
            seamless: name == "cube" && random() % 2 == 0,
            border: [0.25, f32::NAN, f32::INFINITY, -3.0],
            linear_levels: random() % 2 == 0,
            level_bias: f32::from_bits(random()),
            least_level: 0.0,
            most_level: f32::from_bits(random()),
        };
        // Ordinary numbers, whole ones, and any bits.
        let mut number = |index: usize| match index % 3 {
            0 => (random() as f32 / 2f32.powi(28) - 8.0).to_bits(),
            1 => ((random() % 33) as f32 - 16.0).to_bits(),
            _ => random(),
        };
        let numbers: Vec<u32> = (0..32 * 4).map(&mut number).collect();
        let floats = upload_u32(&mut memory, "floats", &numbers);
        let integers: Vec<u32> = (0..32 * 6).map(&mut number).collect();
        let ints = upload_u32(&mut memory, "ints", &integers);
        let out = memory.alloc("out", 32 * 16).expect("fits");
        let surface = memory.add_texture_object(TextureObject::Surface(texels.clone()));
        let texture = memory.add_texture_object(TextureObject::Texture(texels, sampler));
        let results = "{%f14, %f15, %f16, %f17}";
        let offsets = ["", ", {%r5}", ", {%r5, %r6}", ", {%r5, %r6, %r5, %r5}"];
        let offsets = if name == "cube" { "" } else { offsets[name.as_bytes()[name.len() - 2] as usize - 48] };
        let modes = [("", ""), ("level.", ", %f4")];
        let (mode, level) = modes[round / 6 % 2];
        let reads = format!("tex.{mode}{name}.v4.f32.f32 {results}, [%d1, {coordinates}]{level}{offsets};");
        let module = load(&crate::module(&reads));
        let launch = Launch::new("k", [1, 1, 1], [32, 1, 1]).arg_u64(out).arg_u64(floats).arg_u64(ints);
        run_clean(&module, &mut memory, &launch.clone().arg_u64(texture));
        if name != "cube" {
            let coordinates = coordinates.replace("%f", "%r");
            let bits = format.bytes() * 8;
            let register = ["%h1", "%h1", "%r11"][bits.trailing_zeros() as usize - 3];
            for outside in ["clamp", "zero"] {
                let load_it = format!("suld.b.{name}.b{bits}.{outside} {register}, [%d1, {coordinates}];");
                // To a multiple of the texels' size, from any bits.
                let aligned = format!("and.b32 %r1, %r1, -4;\n{load_it}");
                run_clean(&load(&crate::module(&aligned)), &mut memory, &launch.clone().arg_u64(surface));
            }
        }
    }
}
