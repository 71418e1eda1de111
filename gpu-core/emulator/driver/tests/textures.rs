//! Texture and surface objects through the driver API; the codes are those of an H200 (driver 580.159.04).

mod common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use common::*;

#[repr(C)]
#[derive(Clone, Copy)]
struct Resource {
    kind: u32,
    words: [u64; 16],
    flags: u32,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Texture {
    modes: [u32; 3],
    filter: u32,
    flags: u32,
    anisotropy: u32,
    level_filter: u32,
    bias: f32,
    least: f32,
    most: f32,
    border: [f32; 4],
    reserved: [i32; 12],
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct View {
    format: u32,
    size: [usize; 3],
    levels: [u32; 2],
    layers: [u32; 2],
    reserved: [u32; 16],
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Shape {
    size: [usize; 3],
    format: u32,
    channels: u32,
    flags: u32,
}

unsafe extern "C" {
    fn cuTexObjectCreate(out: *mut u64, resource: *const Resource, texture: *const Texture, view: *const View) -> u32;
    fn cuTexObjectDestroy(object: u64) -> u32;
    fn cuTexObjectGetResourceDesc(out: *mut Resource, object: u64) -> u32;
    fn cuTexObjectGetTextureDesc(out: *mut Texture, object: u64) -> u32;
    fn cuTexObjectGetResourceViewDesc(out: *mut View, object: u64) -> u32;
    fn cuSurfObjectCreate(out: *mut u64, resource: *const Resource) -> u32;
    fn cuSurfObjectDestroy(object: u64) -> u32;
    fn cuSurfObjectGetResourceDesc(out: *mut Resource, object: u64) -> u32;
    fn cuArray3DCreate_v2(out: *mut Handle, shape: *const Shape) -> u32;
    fn cuArrayDestroy(array: Handle) -> u32;
    fn cuMipmappedArrayCreate(out: *mut Handle, shape: *const Shape, levels: u32) -> u32;
    fn cuMemcpyHtoA_v2(array: Handle, offset: usize, from: *const c_void, bytes: usize) -> u32;
}

fn resource(kind: u32, words: &[u64]) -> Resource {
    let mut out = Resource { kind, words: [0; 16], flags: 0 };
    out.words[..words.len()].copy_from_slice(words);
    out
}

/// An array of floats, 16 by `height`.
fn array(height: usize, flags: u32) -> Handle {
    let mut array = 0;
    let shape = Shape { size: [16, height, 0], format: 0x20, channels: 1, flags };
    // SAFETY: pointers are those of locals that outlive the call.
    assert_eq!(unsafe { cuArray3DCreate_v2(&mut array, &shape) }, 0);
    array
}

#[test]
fn what_can_be_made_a_texture() {
    context();
    let array = array(16, 0);
    let mut levels = 0;
    let shape = Shape { size: [16, 16, 0], format: 0x20, channels: 1, flags: 0 };
    // SAFETY: pointers are those of locals that outlive the call, and handles those that it was given.
    unsafe {
        assert_eq!(cuMipmappedArrayCreate(&mut levels, &shape, 3), 0);
        let memory = alloc(1 << 16);
        let plain = resource(0, &[array as u64]);
        let linear = |address: u64, format: u64, channels: u64, bytes: u64| {
            resource(2, &[address, format | channels << 32, bytes])
        };
        let pitch = |address: u64, height: u64, pitch: u64| resource(3, &[address, 0x20 | 1 << 32, 16, height, pitch]);
        let make = |resource: Resource, texture: Texture, view: Option<View>| {
            let mut object = 0;
            let view = view.as_ref().map_or(null(), std::ptr::from_ref);
            cuTexObjectCreate(&mut object, &resource, &texture, view)
        };
        let fine = Texture::default();
        let mut object = 0;
        assert_eq!(cuTexObjectCreate(null_mut(), &plain, &fine, null()), 1);
        assert_eq!(cuTexObjectCreate(&mut object, null(), &fine, null()), 1);
        assert_eq!(cuTexObjectCreate(&mut object, &plain, null(), null()), 1);
        let resources = [
            (plain, 0),
            (resource(4, &[array as u64]), 1),
            (resource(0, &[0]), 1),
            (Resource { flags: 1, ..plain }, 1),
            (linear(memory, 0x20, 1, 1024), 0),
            (linear(memory + 4, 0x20, 1, 1024), 1),
            (linear(memory + 256, 0x20, 1, 1024), 1),
            (linear(memory + 512, 0x20, 1, 1024), 0),
            (linear(memory, 0x20, 3, 1024), 1),
            (linear(memory, 0x20, 1, 1023), 0),
            (linear(memory, 0x20, 1, 0), 0),
            (linear(0, 0x20, 1, 64), 1),
            (linear(memory, 0x21, 1, 64), 1),
            (pitch(memory, 16, 64), 0),
            (pitch(memory + 32, 16, 64), 1),
            (pitch(memory, 16, 68), 1),
            (pitch(memory, 16, 96), 0),
            (pitch(memory, 16, 32), 0),
            (pitch(memory, 70_000, 64), 1),
            (resource(1, &[levels as u64]), 0),
        ];
        for (index, (resource, wanted)) in resources.into_iter().enumerate() {
            assert_eq!(make(resource, fine, None), wanted, "resource {index}");
        }
        let textures = [
            (Texture { modes: [4, 0, 0], ..fine }, 1),
            (Texture { modes: [0, 0, 9], ..fine }, 0),
            (Texture { filter: 2, ..fine }, 1),
            (Texture { level_filter: 2, ..fine }, 1),
            (Texture { flags: 4, ..fine }, 0),
            (Texture { flags: 32, ..fine }, 0),
            (Texture { flags: 64, ..fine }, 1),
            (Texture { flags: 128, ..fine }, 1),
            (Texture { anisotropy: 17, ..fine }, 0),
            (Texture { reserved: [1; 12], ..fine }, 1),
        ];
        for (index, (texture, wanted)) in textures.into_iter().enumerate() {
            assert_eq!(make(plain, texture, None), wanted, "texture {index}");
        }
        // Views have met no GPU: by the manual.
        let view = View { format: 22, size: [16, 16, 0], ..View::default() };
        for (view, wanted) in [
            (view, 0),
            (View { format: 13, ..view }, 0),
            (View { format: 1, ..view }, 1),
            (View { format: 25, ..view }, 801),
            (View { levels: [0, 1], ..view }, 1),
        ] {
            assert_eq!(make(plain, fine, Some(view)), wanted, "format {}", view.format);
        }
        assert_eq!(make(resource(1, &[levels as u64]), fine, Some(View { levels: [1, 2], ..view })), 0);
        assert_eq!(cuSurfObjectCreate(&mut object, &plain), 0);
        assert_eq!(cuSurfObjectCreate(null_mut(), &plain), 1);
        assert_eq!(cuSurfObjectCreate(&mut object, &resource(1, &[levels as u64])), 1);
        assert_eq!(cuSurfObjectCreate(&mut object, &linear(memory, 0x20, 1, 64)), 1);
    }
}

#[test]
fn objects_tell_what_they_were_made_of() {
    context();
    let plain = resource(0, &[array(16, 0) as u64]);
    let texture = Texture { modes: [1, 2, 3], border: [1.0, 2.0, 3.0, 4.0], ..Texture::default() };
    let (mut object, mut surface) = (0, 0);
    let (mut found, mut how, mut view) = (resource(9, &[]), Texture::default(), View::default());
    // SAFETY: pointers are those of locals that outlive the call, and handles those that it was given.
    unsafe {
        assert_eq!(cuTexObjectCreate(&mut object, &plain, &texture, null()), 0);
        assert_eq!(cuSurfObjectCreate(&mut surface, &plain), 0);
        assert_eq!(cuTexObjectGetResourceDesc(&mut found, object), 0);
        assert_eq!((found.kind, found.words), (plain.kind, plain.words));
        assert_eq!(cuTexObjectGetTextureDesc(&mut how, object), 0);
        assert_eq!((how.modes, how.border), (texture.modes, texture.border));
        assert_eq!(cuTexObjectGetResourceViewDesc(&mut view, object), 1);
        assert_eq!(cuTexObjectGetResourceDesc(null_mut(), object), 1);
        assert_eq!(cuTexObjectGetResourceDesc(&mut found, 1 << 40), 1);
        assert_eq!(cuSurfObjectGetResourceDesc(&mut found, object), 1);
        assert_eq!(cuSurfObjectGetResourceDesc(&mut found, surface), 0);
        assert_eq!(cuTexObjectDestroy(object), 0);
        assert_eq!(cuTexObjectDestroy(object), 0);
        assert_eq!(cuTexObjectGetResourceDesc(&mut found, object), 1);
        assert_eq!(cuSurfObjectDestroy(surface), 0);
    }
}

const PTX: &str = "
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 texture, .param .u64 surface)
{
	.reg .b32 %r<6>;
	.reg .f32 %f<8>;
	.reg .b64 %d<6>;
	ld.param.u64 %d1, [out];
	ld.param.u64 %d2, [texture];
	ld.param.u64 %d3, [surface];
	mov.u32 %r1, %tid.x;
	cvt.rn.f32.u32 %f1, %r1;
	tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [%d2, {%f1}];
	mul.wide.u32 %d4, %r1, 4;
	add.u64 %d4, %d1, %d4;
	st.global.f32 [%d4], %f2;
	add.f32 %f2, %f2, %f2;
	shl.b32 %r2, %r1, 2;
	mov.b32 %r3, %f2;
	sust.b.1d.b32.trap [%d3, {%r2}], %r3;
	ret;
}
";

#[test]
fn a_kernel_reads_a_texture_and_writes_a_surface() {
    context();
    let (from, to) = (array(0, 0), array(0, 2));
    let (mut texture, mut surface) = (0, 0);
    let texels: Vec<f32> = (0..16).map(|texel| texel as f32 * 2.0).collect();
    let out = alloc(64);
    let function = function(load(PTX), "k");
    // SAFETY: pointers are those of locals that outlive the call, and handles those that it was given.
    unsafe {
        assert_eq!(cuMemcpyHtoA_v2(from, 0, texels.as_ptr().cast(), 64), 0);
        // Between the texels, which places at whole numbers lie.
        let how = Texture { modes: [1; 3], filter: 1, ..Texture::default() };
        assert_eq!(cuTexObjectCreate(&mut texture, &resource(0, &[from as u64]), &how, null()), 0);
        assert_eq!(cuSurfObjectCreate(&mut surface, &resource(0, &[to as u64])), 0);
        let arguments = &mut [arg(&out), arg(&texture), arg(&surface)];
        assert_eq!(launch(function, [1, 1, 1], [16, 1, 1], arguments), 0);
        let read = download::<f32>(out, 16);
        let wanted: Vec<f32> = (0..16).map(|texel| if texel == 0 { 0.0 } else { texel as f32 * 2.0 - 1.0 }).collect();
        assert_eq!(read, wanted);
        // What the surface holds, read back as a texture.
        assert_eq!(cuTexObjectCreate(&mut texture, &resource(0, &[to as u64]), &Texture::default(), null()), 0);
        let arguments = &mut [arg(&out), arg(&texture), arg(&surface)];
        assert_eq!(launch(function, [1, 1, 1], [16, 1, 1], arguments), 0);
        assert_eq!(download::<f32>(out, 16), wanted.iter().map(|value| value * 2.0).collect::<Vec<_>>());
        assert_eq!(cuArrayDestroy(from), 0);
        assert_eq!(cuArrayDestroy(to), 0);
    }
}
