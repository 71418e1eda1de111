//! CUDA arrays: memory with rows, layers and a format, which copies fill and read, and kernels through textures and
//! surfaces. They are kept as plain rows.

use std::sync::{Arc, Mutex, OnceLock};

use super::allocation;
use super::copy::Place;
use crate::abi::*;
use crate::process::{self, Registry};
use crate::work;
use crate::work::capture::forbid_unsafe;

/// `CUDA_ARRAY_DESCRIPTOR_v2`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Flat {
    width: usize,
    height: usize,
    format: u32,
    channels: u32,
}

/// `CUDA_ARRAY3D_DESCRIPTOR_v2`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Deep {
    width: usize,
    height: usize,
    depth: usize,
    format: u32,
    channels: u32,
    flags: u32,
}

const LAYERED: u32 = 1;
const CUBEMAP: u32 = 4;
/// Layered, for surfaces, cube map, gather, depth, colour attachment, sparse, mapped later.
const FLAGS: u32 = 0xff;
/// Largest extents of one, two and three dimensions on GPUs since compute capability 7.5.
const MOST_1D: usize = 131_072;
const MOST_2D: [usize; 2] = [131_072, 65_536];
const MOST_3D: usize = 16_384;

/// Bytes of one channel of a `CUarray_format`.
pub fn channel_bytes(format: u32) -> Option<usize> {
    Some(match format {
        0x01 | 0x08 => 1,
        0x02 | 0x09 | 0x10 => 2,
        0x03 | 0x0a | 0x20 => 4,
        _ => return None,
    })
}

/// One array.
pub struct Array {
    shape: Deep,
    pub start: CUdeviceptr,
    pub element_bytes: usize,
    /// Levels of a mipmapped array do not own their memory.
    owned: bool,
}

impl Drop for Array {
    fn drop(&mut self) {
        if self.owned {
            let _ = allocation::release(self.start);
        }
    }
}

fn arrays() -> &'static Registry<Array> {
    static ARRAYS: OnceLock<Registry<Array>> = OnceLock::new();
    ARRAYS.get_or_init(|| Registry::new(INVALID_HANDLE))
}

/// A mipmapped array: handles of its levels.
type Levels = Vec<Handle>;

fn mipmapped() -> &'static Registry<Levels> {
    static MIPMAPPED: OnceLock<Registry<Levels>> = OnceLock::new();
    MIPMAPPED.get_or_init(|| Registry::new(INVALID_HANDLE))
}

/// The levels of a mipmapped array, the largest first.
pub fn levels_of(handle: Handle) -> Result<Vec<Arc<Array>>, CUresult> {
    mipmapped().get(handle)?.iter().map(|level| Array::find(*level)).collect()
}

impl Array {
    pub fn find(handle: Handle) -> Result<Arc<Array>, CUresult> {
        arrays().get(handle)
    }

    pub fn row_bytes(&self) -> usize {
        self.shape.width * self.element_bytes
    }

    pub fn rows(&self) -> usize {
        self.shape.height.max(1)
    }

    /// Width, height and depth as they were asked for: 0 where there is no such dimension.
    pub fn extents(&self) -> [usize; 3] {
        [self.shape.width, self.shape.height, self.shape.depth]
    }

    pub fn is_cube(&self) -> bool {
        self.shape.flags & CUBEMAP != 0
    }

    /// `CUarray_format`, and the number of channels.
    pub fn format(&self) -> (u32, u32) {
        (self.shape.format, self.shape.channels)
    }

    pub fn layers(&self) -> usize {
        self.shape.depth.max(1)
    }

    fn new(shape: Deep) -> Result<Array, CUresult> {
        let channel = channel_bytes(shape.format).ok_or(INVALID_VALUE)?;
        let Deep { width, height, depth, channels, flags, .. } = shape;
        let (layered, cube) = (flags & LAYERED != 0, flags & CUBEMAP != 0);
        let fits = match (height, depth) {
            (0, 0) => width <= MOST_1D,
            (_, 0) => width <= MOST_2D[0] && height <= MOST_2D[1],
            (0, _) => layered && width <= MOST_1D,
            _ if layered || cube => width <= MOST_2D[0] && height <= MOST_2D[1],
            _ => width.max(height).max(depth) <= MOST_3D,
        };
        let faces = !cube || width == height && depth.is_multiple_of(6) && depth > 0 && (layered || depth == 6);
        if width == 0 || !matches!(channels, 1 | 2 | 4) || flags & !FLAGS != 0 || !fits || !faces {
            return Err(INVALID_VALUE);
        }
        let element_bytes = channel * channels as usize;
        let bytes =
            [height.max(1), depth.max(1)].iter().try_fold(width * element_bytes, |bytes, n| bytes.checked_mul(*n));
        let start = allocation::allocate(bytes.ok_or(OUT_OF_MEMORY)?, None, 0)?;
        Ok(Array { shape, start, element_bytes, owned: true })
    }

    /// Bytes of the first row.
    pub fn line(&self, offset: usize, bytes: usize) -> Result<Place, CUresult> {
        let inside = offset.checked_add(bytes).is_some_and(|end| end <= self.row_bytes());
        if inside { Ok(Place::Device(self.start + offset as u64)) } else { Err(INVALID_VALUE) }
    }
}

unsafe fn create(out: *mut Handle, shape: Option<Deep>) -> Answer {
    work::current()?;
    let shape = shape.filter(|_| !out.is_null()).ok_or(INVALID_VALUE)?;
    forbid_unsafe()?;
    unsafe { put(out, arrays().add(Arc::new(Array::new(shape)?))) }
}

unsafe fn flat(shape: *const Flat) -> Option<Deep> {
    let Flat { width, height, format, channels } = *unsafe { shape.as_ref() }?;
    Some(Deep { width, height, depth: 0, format, channels, flags: 0 })
}

/// All levels in one piece of memory each, half as large as the one before.
unsafe fn create_levels(out: *mut Handle, shape: *const Deep, levels: u32) -> Answer {
    work::current()?;
    let shape = *unsafe { shape.as_ref() }.ok_or(INVALID_VALUE)?;
    if out.is_null() || levels == 0 {
        return Err(INVALID_VALUE);
    }
    let largest = shape.width.max(shape.height).max(if shape.flags & LAYERED == 0 { shape.depth } else { 0 });
    let most = usize::BITS - largest.max(1).leading_zeros();
    let mut handles = Levels::new();
    for level in 0..levels.min(most) {
        let half = |extent: usize| if extent == 0 { 0 } else { (extent >> level).max(1) };
        let depth = if shape.flags & (LAYERED | CUBEMAP) == 0 { half(shape.depth) } else { shape.depth };
        let smaller = Deep { width: half(shape.width), height: half(shape.height), depth, ..shape };
        handles.push(arrays().add(Arc::new(Array::new(smaller)?)));
    }
    unsafe { put(out, mipmapped().add(Arc::new(handles))) }
}

fn destroy_levels(handle: Handle) -> Answer {
    for level in mipmapped().remove(handle)?.iter() {
        let _ = arrays().remove(*level);
    }
    Ok(())
}

/// Arrays that wait for copies in flight before they go.
static GOING: Mutex<()> = Mutex::new(());

fn destroy(handle: Handle) -> Answer {
    let _one_at_a_time = process::lock(&GOING);
    let array = arrays().remove(handle)?;
    work::wait_for_all();
    drop(array);
    Ok(())
}

api_with_streams! {
    fn cuArrayCreate_v2(out: *mut Handle, shape: *const Flat) {
        create(out, flat(shape))
    }
    fn cuArrayGetDescriptor_v2(out: *mut Flat, array: Handle) {
        let Deep { width, height, format, channels, .. } = Array::find(array)?.shape;
        put(out, Flat { width, height, format, channels })
    }
    fn cuArray3DCreate_v2(out: *mut Handle, shape: *const Deep) {
        create(out, shape.as_ref().copied())
    }
    fn cuArray3DGetDescriptor_v2(out: *mut Deep, array: Handle) {
        put(out, Array::find(array)?.shape)
    }
    fn cuArrayDestroy(array: Handle) {
        process::initialised()?;
        destroy(array)
    }
    fn cuMipmappedArrayCreate(out: *mut Handle, shape: *const Deep, levels: u32) {
        create_levels(out, shape, levels)
    }
    fn cuMipmappedArrayGetLevel(out: *mut Handle, array: Handle, level: u32) {
        let levels = mipmapped().get(array)?;
        put(out, *levels.get(level as usize).ok_or(INVALID_VALUE)?)
    }
    fn cuMipmappedArrayDestroy(array: Handle) {
        process::initialised()?;
        destroy_levels(array)
    }
}
