//! Texture and surface objects: arrays, mipmapped arrays and memory in rows as kernels read them through `tex` and the
//! like. The texels stay where copies put them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use ptx_emulator::{AddressMode, ChannelFormat, Sampler, TexelArray, TextureLevel, TextureObject};

use super::arrays::{Array, channel_bytes, levels_of};
use crate::abi::*;
use crate::process::{self, driver, lock};
use crate::work;

/// `CUDA_RESOURCE_DESC`. What is in `resource` depends on `kind`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Resource {
    kind: u32,
    resource: [u64; 16],
    flags: u32,
}

/// `CUDA_TEXTURE_DESC`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Texture {
    modes: [u32; 3],
    filter: u32,
    flags: u32,
    most_anisotropy: u32,
    level_filter: u32,
    level_bias: f32,
    least_level: f32,
    most_level: f32,
    border: [f32; 4],
    reserved: [i32; 12],
}

/// `CUDA_RESOURCE_VIEW_DESC`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct View {
    format: u32,
    width: usize,
    height: usize,
    depth: usize,
    first_level: u32,
    last_level: u32,
    first_layer: u32,
    last_layer: u32,
    reserved: [u32; 16],
}

// `CUresourcetype`.
const ARRAY: u32 = 0;
const MIPMAPPED: u32 = 1;
const LINEAR: u32 = 2;
const PITCH2D: u32 = 3;

// `CU_TRSF_…`.
const READ_AS_INTEGER: u32 = 1;
const NORMALISED: u32 = 2;
const SRGB: u32 = 16;
const SEAMLESS_CUBEMAP: u32 = 64;
const FLAGS: u32 = 0x7f;

/// Textures of linear memory begin at multiples of this (`CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT`), rows of pitched memory
/// at multiples of the second (`CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT`).
const ALIGNMENT: u64 = 512;
const PITCH_ALIGNMENT: u64 = 32;

/// Rows of pitched memory (`CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT`).
const MOST_ROWS: u64 = 65_000;

/// What objects were made of, to be told again.
#[derive(Clone, Copy)]
struct Made {
    resource: Resource,
    texture: Option<Texture>,
    view: Option<View>,
}

fn made() -> &'static Mutex<HashMap<u64, Made>> {
    static MADE: OnceLock<Mutex<HashMap<u64, Made>>> = OnceLock::new();
    MADE.get_or_init(Mutex::default)
}

fn format_of(number: u32) -> Result<ChannelFormat, CUresult> {
    ChannelFormat::of(number).ok_or(INVALID_VALUE)
}

fn level(array: &Array) -> TextureLevel {
    let shape = array.extents();
    let row_bytes = array.row_bytes() as u64;
    TextureLevel {
        address: array.start,
        size: shape.map(|extent| extent as u32),
        row_bytes,
        slice_bytes: row_bytes * array.rows() as u64,
    }
}

fn of_arrays(arrays: &[Arc<Array>], mipmapped: bool) -> Result<TexelArray, CUresult> {
    let first = arrays.first().ok_or(INVALID_HANDLE)?;
    let (format, channels) = first.format();
    Ok(TexelArray {
        format: format_of(format)?,
        channels,
        linear_memory: false,
        levels: arrays.iter().map(|array| level(array)).collect(),
        mipmapped,
    })
}

/// Memory in rows: where, format and channels in one word, and two extents.
fn of_memory(address: u64, formats: u64, width: u64, rows: Option<(u64, u64)>) -> Result<TexelArray, CUresult> {
    let (format, channels) = (format_of(formats as u32)?, (formats >> 32) as u32);
    let texel = u64::from(format.bytes() * channels);
    if !matches!(channels, 1 | 2 | 4) || !address.is_multiple_of(ALIGNMENT) || address == 0 {
        return Err(INVALID_VALUE);
    }
    let (width, height, row_bytes) = match rows {
        None => (width / texel, 0, width),
        Some((height, pitch)) => (width, height, pitch),
    };
    let pitched = rows.is_some();
    if pitched && (!row_bytes.is_multiple_of(PITCH_ALIGNMENT) || height > MOST_ROWS) {
        return Err(INVALID_VALUE);
    }
    let size = [width, height, 0].map(|extent| u32::try_from(extent).unwrap_or(u32::MAX));
    let place = TextureLevel { address, size, row_bytes, slice_bytes: 0 };
    Ok(TexelArray { format, channels, linear_memory: !pitched, levels: vec![place], mipmapped: false })
}

fn texels(resource: &Resource) -> Result<TexelArray, CUresult> {
    let word = resource.resource;
    if resource.flags != 0 {
        return Err(INVALID_VALUE);
    }
    match resource.kind {
        ARRAY if word[0] == 0 => Err(INVALID_VALUE),
        ARRAY => of_arrays(&[Array::find(word[0] as Handle)?], false),
        MIPMAPPED => of_arrays(&levels_of(word[0] as Handle)?, true),
        LINEAR => of_memory(word[0], word[1], word[2], None),
        PITCH2D => of_memory(word[0], word[1], word[2], Some((word[3], word[4]))),
        _ => Err(INVALID_VALUE),
    }
}

/// Formats of views by number, of one, two and four channels each (`CUresourceViewFormat`).
const VIEWS: [u32; 8] = [0x01, 0x08, 0x02, 0x09, 0x03, 0x0a, 0x10, 0x20];

/// The same texels in another format, or some of their levels and layers.
fn seen(texels: TexelArray, view: &View) -> Result<TexelArray, CUresult> {
    let (mut format, mut channels) = (texels.format, texels.channels);
    if let Some(number) = view.format.checked_sub(1) {
        format = format_of(*VIEWS.get(number as usize / 3).ok_or(NOT_SUPPORTED)?)?;
        channels = 1 << (number % 3);
        if format.bytes() * channels != texels.texel_bytes() {
            return Err(INVALID_VALUE);
        }
    }
    let (first, last) = (view.first_level as usize, view.last_level as usize);
    let mut levels = texels.levels.get(first..=last).ok_or(INVALID_VALUE)?.to_vec();
    for level in &mut levels {
        if view.last_layer > 0 {
            if view.first_layer > view.last_layer || view.last_layer >= level.size[2] {
                return Err(INVALID_VALUE);
            }
            level.address += u64::from(view.first_layer) * level.slice_bytes;
            level.size[2] = view.last_layer - view.first_layer + 1;
        }
    }
    Ok(TexelArray { format, channels, levels, ..texels })
}

fn sampler(texture: &Texture) -> Result<Sampler, CUresult> {
    let unused = texture.reserved.iter().any(|word| *word != 0);
    if texture.filter > 1 || texture.level_filter > 1 || texture.flags & !FLAGS != 0 || unused {
        return Err(INVALID_VALUE);
    }
    let mode = |number: u32| AddressMode::of(number).ok_or(INVALID_VALUE);
    let [x, y, z] = texture.modes;
    Ok(Sampler {
        // What the last one says is not looked at where there is no such axis.
        modes: [mode(x)?, mode(y)?, mode(z).unwrap_or(AddressMode::Clamp)],
        linear: texture.filter == 1,
        normalised: texture.flags & NORMALISED != 0,
        integers: texture.flags & READ_AS_INTEGER != 0,
        srgb: texture.flags & SRGB != 0,
        seamless: texture.flags & SEAMLESS_CUBEMAP != 0,
        border: texture.border,
        linear_levels: texture.level_filter == 1,
        level_bias: texture.level_bias,
        least_level: texture.least_level,
        most_level: texture.most_level,
    })
}

unsafe fn create(
    out: *mut u64,
    resource: *const Resource,
    texture: Option<*const Texture>,
    view: *const View,
) -> Answer {
    work::current()?;
    let resource = *unsafe { resource.as_ref() }.filter(|_| !out.is_null()).ok_or(INVALID_VALUE)?;
    let view = unsafe { view.as_ref() }.copied();
    let (object, texture) = match texture {
        Some(texture) => {
            let texture = *unsafe { texture.as_ref() }.ok_or(INVALID_VALUE)?;
            let cube = resource.kind == ARRAY
                && Array::find(resource.resource[0] as Handle).is_ok_and(|array| array.is_cube());
            if texture.flags & SEAMLESS_CUBEMAP != 0 && !cube && resource.kind != MIPMAPPED {
                return Err(INVALID_VALUE);
            }
            let texels = match &view {
                Some(view) => seen(texels(&resource)?, view)?,
                None => texels(&resource)?,
            };
            (TextureObject::Texture(texels, sampler(&texture)?), Some(texture))
        }
        None if resource.kind == ARRAY => (TextureObject::Surface(texels(&resource)?), None),
        None => return Err(INVALID_VALUE),
    };
    let handle = lock(&driver().memory).add_texture_object(object);
    lock(made()).insert(handle, Made { resource, texture, view });
    unsafe { put(out, handle) }
}

/// Numbers that stand for nothing are passed over, as by the driver.
fn destroy(object: u64) -> Answer {
    work::current()?;
    work::wait_for_all();
    lock(made()).remove(&object);
    lock(&driver().memory).remove_texture_object(object);
    Ok(())
}

fn find(object: u64, texture: bool) -> Result<Made, CUresult> {
    work::current()?;
    lock(made()).get(&object).copied().filter(|made| made.texture.is_some() == texture).ok_or(INVALID_VALUE)
}

/// Texels of linear memory that a texture may have on an H200: so many, and so many bytes.
const LINEAR_MAX_TEXELS: usize = 1 << 30;
const LINEAR_MAX_BYTES: usize = 1 << 32;

api! {
    fn cuDeviceGetTexture1DLinearMaxWidth(width: *mut usize, format: u32, channels: u32, device: i32) {
        process::initialised()?;
        if device != 0 {
            return Err(INVALID_DEVICE);
        }
        let bytes = channel_bytes(format).filter(|_| matches!(channels, 1 | 2 | 4)).ok_or(INVALID_VALUE)?;
        put(width, LINEAR_MAX_TEXELS.min(LINEAR_MAX_BYTES / (bytes * channels as usize)))
    }
    fn cuTexObjectCreate(out: *mut u64, resource: *const Resource, texture: *const Texture, view: *const View) {
        create(out, resource, Some(texture), view)
    }
    fn cuTexObjectDestroy(object: u64) {
        destroy(object)
    }
    fn cuTexObjectGetResourceDesc(out: *mut Resource, object: u64) {
        put(out, find(object, true)?.resource)
    }
    fn cuTexObjectGetTextureDesc(out: *mut Texture, object: u64) {
        put(out, find(object, true)?.texture.ok_or(INVALID_VALUE)?)
    }
    fn cuTexObjectGetResourceViewDesc(out: *mut View, object: u64) {
        put(out, find(object, true)?.view.ok_or(INVALID_VALUE)?)
    }
    fn cuSurfObjectCreate(out: *mut u64, resource: *const Resource) {
        create(out, resource, None, std::ptr::null())
    }
    fn cuSurfObjectDestroy(object: u64) {
        destroy(object)
    }
    fn cuSurfObjectGetResourceDesc(out: *mut Resource, object: u64) {
        put(out, find(object, false)?.resource)
    }
}
