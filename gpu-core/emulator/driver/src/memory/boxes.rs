//! Copies of rows and layers, as programs describe them: between memory and arrays, in two and three dimensions.

use std::ffi::c_void;

use super::arrays::Array;
use super::copy::{Block, Place, known_place};
use crate::abi::*;

/// Values of `CUmemorytype`.
const KIND_HOST: u32 = 1;
const KIND_DEVICE: u32 = 2;
const KIND_ARRAY: u32 = 3;
const KIND_UNIFIED: u32 = 4;

/// One end of a copy as a program describes it.
struct End {
    kind: u32,
    host: usize,
    device: u64,
    array: Handle,
    pitch: usize,
    /// Rows of a layer; 0 for as many as are copied.
    rows: usize,
    /// Where the copy begins: bytes, rows, layers.
    at: [usize; 3],
}

impl End {
    /// First byte, and the distances of rows and layers.
    ///
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for a copy that leaves a row, a layer or an array.
    fn resolve(&self, extent: [usize; 3], rows_matter: bool) -> Result<(Place, usize, usize), CUresult> {
        let [x, y, z] = self.at;
        let [width, height, depth] = extent;
        let fits = |at: usize, count: usize, most: usize| at.checked_add(count).is_some_and(|end| end <= most);
        if self.kind == KIND_ARRAY {
            let array = Array::find(self.array).map_err(|_| INVALID_VALUE)?;
            if !fits(x, width, array.row_bytes()) || !fits(y, height, array.rows()) || !fits(z, depth, array.layers()) {
                return Err(INVALID_VALUE);
            }
            let (pitch, layer) = (array.row_bytes(), array.row_bytes() * array.rows());
            return Ok((Place::Device(array.start + (z * layer + y * pitch + x) as u64), pitch, layer));
        }
        let pitch = if self.pitch == 0 { width } else { self.pitch };
        let rows = if self.rows == 0 { height } else { self.rows };
        let more = height > 1 || depth > 1;
        if more && self.pitch != 0 && !fits(x, width, pitch) || rows_matter && !fits(y, height, rows) {
            return Err(INVALID_VALUE);
        }
        let layer = pitch.checked_mul(rows).ok_or(INVALID_VALUE)?;
        let place = match self.kind {
            // A pointer of the device is taken for what it is, whatever it is called.
            KIND_HOST => Place::unified(self.host as u64),
            KIND_DEVICE if width * height * depth > 0 => known_place(self.device, 1)?,
            KIND_DEVICE | KIND_UNIFIED => Place::unified(self.device),
            _ => return Err(INVALID_VALUE),
        };
        let offset = z.checked_mul(layer).zip(y.checked_mul(pitch)).and_then(|(layers, rows)| layers.checked_add(rows));
        Ok((place.plus(offset.and_then(|offset| offset.checked_add(x)).ok_or(INVALID_VALUE)?), pitch, layer))
    }
}

fn block(to: &End, from: &End, extent: [usize; 3], rows_matter: bool) -> Result<Block, CUresult> {
    let [width, height, depth] = extent;
    let bytes = width.checked_mul(height).and_then(|layer| layer.checked_mul(depth)).ok_or(INVALID_VALUE)?;
    if bytes == 0 {
        return Ok(Block::line(Place::Host(0), Place::Host(0), 0));
    }
    let (to, to_pitch, to_layer) = to.resolve(extent, rows_matter)?;
    let (from, from_pitch, from_layer) = from.resolve(extent, rows_matter)?;
    let block = Block { to, from, to_pitch, from_pitch, to_layer, from_layer, width, height, depth };
    block.check()?;
    Ok(block)
}

/// `CUDA_MEMCPY2D_v2`.
#[repr(C)]
pub struct Copy2d {
    from_x: usize,
    from_y: usize,
    from_kind: u32,
    from_host: *const c_void,
    from_device: CUdeviceptr,
    from_array: Handle,
    from_pitch: usize,
    to_x: usize,
    to_y: usize,
    to_kind: u32,
    to_host: *mut c_void,
    to_device: CUdeviceptr,
    to_array: Handle,
    to_pitch: usize,
    width: usize,
    height: usize,
}

impl Copy2d {
    pub fn block(&self) -> Result<Block, CUresult> {
        let to = End {
            kind: self.to_kind,
            host: self.to_host as usize,
            device: self.to_device,
            array: self.to_array,
            pitch: self.to_pitch,
            rows: 0,
            at: [self.to_x, self.to_y, 0],
        };
        let from = End {
            kind: self.from_kind,
            host: self.from_host as usize,
            device: self.from_device,
            array: self.from_array,
            pitch: self.from_pitch,
            rows: 0,
            at: [self.from_x, self.from_y, 0],
        };
        block(&to, &from, [self.width, self.height, 1], false)
    }
}

/// `CUDA_MEMCPY3D_v2`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Copy3d {
    from_x: usize,
    from_y: usize,
    from_z: usize,
    from_lod: usize,
    from_kind: u32,
    from_host: *const c_void,
    from_device: CUdeviceptr,
    from_array: Handle,
    reserved0: usize,
    from_pitch: usize,
    from_height: usize,
    to_x: usize,
    to_y: usize,
    to_z: usize,
    to_lod: usize,
    to_kind: u32,
    to_host: *mut c_void,
    to_device: CUdeviceptr,
    to_array: Handle,
    reserved1: usize,
    to_pitch: usize,
    to_height: usize,
    width: usize,
    height: usize,
    depth: usize,
}

impl Default for Copy3d {
    fn default() -> Copy3d {
        // SAFETY: all-zero bytes are a valid value of this structure of integers and pointers.
        unsafe { std::mem::zeroed() }
    }
}

impl Copy3d {
    pub fn block(&self) -> Result<Block, CUresult> {
        let to = End {
            kind: self.to_kind,
            host: self.to_host as usize,
            device: self.to_device,
            array: self.to_array,
            pitch: self.to_pitch,
            rows: self.to_height,
            at: [self.to_x, self.to_y, self.to_z],
        };
        let from = End {
            kind: self.from_kind,
            host: self.from_host as usize,
            device: self.from_device,
            array: self.from_array,
            pitch: self.from_pitch,
            rows: self.from_height,
            at: [self.from_x, self.from_y, self.from_z],
        };
        block(&to, &from, [self.width, self.height, self.depth], true)
    }
}

/// `CUmemcpy3DOperand`: a pointer with the lengths of rows and layers, or an array with an offset, in elements.
#[repr(C)]
struct Operand {
    kind: u32,
    what: u64,
    rest: [usize; 3],
}

/// `CUDA_MEMCPY3D_BATCH_OP`.
#[repr(C)]
pub struct BatchCopy {
    from: Operand,
    to: Operand,
    extent: [usize; 3],
    order: u32,
    flags: u32,
}

impl Operand {
    const POINTER: u32 = 1;
    const ARRAY: u32 = 2;

    /// Bytes of an element; a pointer alone does not say.
    fn element_bytes(&self) -> Result<Option<usize>, CUresult> {
        match self.kind {
            Operand::POINTER => Ok(None),
            Operand::ARRAY => {
                let array = Array::find(self.what as Handle).map_err(|_| INVALID_VALUE)?;
                Ok(Some(array.element_bytes))
            }
            _ => Err(INVALID_VALUE),
        }
    }

    fn end(&self, element_bytes: usize, [width, height, _]: [usize; 3]) -> Result<End, CUresult> {
        let mut end = End { kind: KIND_UNIFIED, host: 0, device: 0, array: 0, pitch: 0, rows: 0, at: [0; 3] };
        let [first, second, third] = self.rest;
        let scaled = first.checked_mul(element_bytes).ok_or(INVALID_VALUE)?;
        if self.kind == Operand::ARRAY {
            (end.kind, end.array, end.at) = (KIND_ARRAY, self.what as Handle, [scaled, second, third]);
        } else {
            if first != 0 && first < width || second != 0 && second < height {
                return Err(INVALID_VALUE);
            }
            (end.device, end.pitch, end.rows) = (self.what, scaled, second);
        }
        Ok(end)
    }
}

impl BatchCopy {
    /// # Errors
    /// `CUDA_ERROR_INVALID_VALUE` for an extent, an order, a flag or an operand that does not exist.
    pub fn block(&self) -> Result<Block, CUresult> {
        if self.extent.contains(&0) || !copy_attributes_are_valid(self.order, self.flags) {
            return Err(INVALID_VALUE);
        }
        let element_bytes = self.from.element_bytes()?.or(self.to.element_bytes()?).unwrap_or(1);
        let [width, height, depth] = self.extent;
        let bytes = [width.checked_mul(element_bytes).ok_or(INVALID_VALUE)?, height, depth];
        let (to, from) = (self.to.end(element_bytes, self.extent)?, self.from.end(element_bytes, self.extent)?);
        block(&to, &from, bytes, true)
    }
}

/// An order of `CUmemcpySrcAccessOrder` and flags of `CUmemcpyFlags`. Copies here are done in the order of the stream, which
/// all of them allow, and sources in pageable memory are read during the call.
pub fn copy_attributes_are_valid(order: u32, flags: u32) -> bool {
    const PREFER_OVERLAP_WITH_COMPUTE: u32 = 1;
    matches!(order, 1..=3) && flags & !PREFER_OVERLAP_WITH_COMPUTE == 0
}

impl Block {
    /// As a node of a graph describes it.
    pub fn params(&self) -> Copy3d {
        let end = |place: Place| match place {
            Place::Host(address) => (KIND_HOST, address, 0),
            Place::Device(address) => (KIND_DEVICE, 0, address),
        };
        let ((from_kind, from_host, from_device), (to_kind, to_host, to_device)) = (end(self.from), end(self.to));
        let rows = |layer: usize, pitch: usize| layer.checked_div(pitch).unwrap_or(0);
        Copy3d {
            from_kind,
            from_host: from_host as *const c_void,
            from_device,
            from_pitch: self.from_pitch,
            from_height: rows(self.from_layer, self.from_pitch),
            to_kind,
            to_host: to_host as *mut c_void,
            to_device,
            to_pitch: self.to_pitch,
            to_height: rows(self.to_layer, self.to_pitch),
            width: self.width,
            height: self.height,
            depth: self.depth,
            ..Copy3d::default()
        }
    }
}
