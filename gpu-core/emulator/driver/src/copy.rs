//! Copies and fills, in one to three dimensions.

use std::ffi::c_void;

use ptx_emulator::MemoryError;

use crate::abi::*;
use crate::between;
use crate::graph::Operation;
use crate::memory::{device_range, host_range};
use crate::state::{self, driver, lock};
use crate::stream::Work;

/// Device time of a copy or fill: bytes at a nominal 100 GB/s, so that events around copies are never equal.
fn transfer_ns(bytes: usize) -> f64 {
    1000.0 + bytes as f64 / 100.0
}

/// One end of a copy.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    Device(u64),
    Host(usize),
}

impl Place {
    /// By unified addressing: what is no device allocation and no module variable is host memory.
    pub fn unified(address: u64) -> Place {
        let of_a_graph = || crate::graph::memory_range(address).is_some();
        if device_range(address).is_some() || of_a_graph() || crate::module::owns(address) {
            Place::Device(address)
        } else {
            Place::Host(address as usize)
        }
    }

    fn address(self) -> u64 {
        match self {
            Place::Device(address) => address,
            Place::Host(address) => address as u64,
        }
    }

    pub fn plus(self, bytes: usize) -> Place {
        match self {
            Place::Device(address) => Place::Device(address + bytes as u64),
            Place::Host(address) => Place::Host(address + bytes),
        }
    }
}

/// A place that the driver knows: the device's end of a copy or fill.
///
/// # Errors
/// `CUDA_ERROR_INVALID_VALUE` for an address that it does not know.
pub fn known_place(address: u64, bytes: usize) -> Result<Place, CUresult> {
    let host = || host_range(address as usize).is_some() || crate::vmm::is_accessible(address, bytes.max(1));
    match Place::unified(address) {
        Place::Host(_) if bytes > 0 && !host() => Err(INVALID_VALUE),
        place => Ok(place),
    }
}

fn refused(error: MemoryError) -> CUresult {
    explain(error.to_string());
    INVALID_VALUE
}

/// Copies now. Host ends are trusted, as CUDA trusts them.
fn copy_now(to: Place, from: Place, bytes: usize) -> Answer {
    if bytes == 0 {
        return Ok(());
    }
    match (to, from) {
        (Place::Host(to), Place::Host(from)) => {
            unsafe { std::ptr::copy(from as *const u8, to as *mut u8, bytes) };
            Ok(())
        }
        (Place::Host(to), Place::Device(from)) => {
            let out = unsafe { std::slice::from_raw_parts_mut(to as *mut u8, bytes) };
            lock(&driver().memory).read(from, out).map_err(refused)
        }
        (Place::Device(to), Place::Host(from)) => {
            let data = unsafe { std::slice::from_raw_parts(from as *const u8, bytes) };
            lock(&driver().memory).write(to, data).map_err(refused)
        }
        (Place::Device(to), Place::Device(from)) => {
            let mut data = vec![0; bytes];
            let mut memory = lock(&driver().memory);
            memory.read(from, &mut data).map_err(refused)?;
            memory.write(to, &data).map_err(refused)
        }
    }
}

/// A block of bytes to copy: `depth` layers of `height` rows of `width` bytes.
#[derive(Clone, Copy)]
pub struct Block {
    pub to: Place,
    pub from: Place,
    pub to_pitch: usize,
    pub from_pitch: usize,
    pub to_layer: usize,
    pub from_layer: usize,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

impl Block {
    pub fn line(to: Place, from: Place, bytes: usize) -> Block {
        Block {
            to,
            from,
            to_pitch: bytes,
            from_pitch: bytes,
            to_layer: bytes,
            from_layer: bytes,
            width: bytes,
            height: 1,
            depth: 1,
        }
    }

    pub fn bytes(&self) -> usize {
        self.width.saturating_mul(self.height).saturating_mul(self.depth)
    }

    /// An end lies in host memory that the driver knows nothing of.
    pub fn touches_plain_host_memory(&self) -> bool {
        [self.to, self.from]
            .iter()
            .any(|place| matches!(place, Place::Host(address) if crate::memory::host_range(*address).is_none()))
    }

    /// From the first byte to the last, by the distances of rows and layers; None when that overflows.
    fn extent(&self, pitch: usize, layer: usize) -> Option<usize> {
        if self.bytes() == 0 {
            return Some(0);
        }
        let layers = layer.checked_mul(self.depth - 1)?;
        layers.checked_add(pitch.checked_mul(self.height - 1)?)?.checked_add(self.width)
    }

    /// Both ends lie where they can be copied; wrong pointers are the call's error and no sticky one.
    pub fn check(&self) -> Answer {
        let overlap = self.height > 1 && (self.to_pitch < self.width || self.from_pitch < self.width);
        if overlap {
            return Err(INVALID_VALUE);
        }
        validate(self.to, self.extent(self.to_pitch, self.to_layer).ok_or(INVALID_VALUE)?)?;
        validate(self.from, self.extent(self.from_pitch, self.from_layer).ok_or(INVALID_VALUE)?)
    }

    fn copy(&self) -> Answer {
        for layer in 0..self.depth {
            for row in 0..self.height {
                let to = self.to.plus(layer * self.to_layer + row * self.to_pitch);
                copy_now(to, self.from.plus(layer * self.from_layer + row * self.from_pitch), self.width)?;
            }
        }
        Ok(())
    }

    /// What it touches; in memory that the driver does not know nobody else can be.
    fn settle(&self) -> Answer {
        if !between::wants() {
            return Ok(());
        }
        let mut ranges = between::Ranges::default();
        let ends =
            [(self.from, self.from_pitch, self.from_layer, false), (self.to, self.to_pitch, self.to_layer, true)];
        for (place, pitch, layer, writes) in ends {
            let Some(base) = between::base_of(place.address()) else { continue };
            for row in 0..self.depth * self.height {
                let by = row / self.height * layer + row % self.height * pitch;
                ranges.add(base, place.address() + by as u64, self.width as u64, writes);
            }
        }
        ranges.settle(match (self.from, self.to) {
            (Place::Host(_), Place::Device(_)) => "a copy to the device",
            (Place::Device(_), Place::Host(_)) => "a copy to the host",
            _ => "a copy",
        })
    }

    /// Copies; gives the device time.
    pub fn run(&self) -> Result<f64, CUresult> {
        self.settle()?;
        self.copy().map(|()| transfer_ns(self.bytes()))
    }
}

/// Whether a range can be copied from or to.
fn validate(place: Place, bytes: usize) -> Answer {
    match place {
        Place::Host(address) if bytes > 0 => {
            let mapped = match crate::vmm::reservation(address as u64) {
                Some(_) => crate::vmm::is_accessible(address as u64, bytes),
                None => crate::memory::is_mapped(address, bytes),
            };
            if mapped { Ok(()) } else { Err(INVALID_VALUE) }
        }
        Place::Device(address) if bytes > 0 => {
            let known = device_range(address).map(|(base, range)| (base, range.bytes));
            match known.or_else(|| crate::graph::memory_range(address)) {
                Some((base, size)) if address - base + bytes as u64 <= size => Ok(()),
                Some(_) => Err(INVALID_VALUE),
                None if crate::module::owns(address) => Ok(()),
                None => Err(INVALID_VALUE),
            }
        }
        _ => Ok(()),
    }
}

/// Queues a copy. Pageable host memory is read before this returns and written before it returns, as CUDA's
/// documentation on API synchronization behaviour says; pinned memory is touched when the copy's turn comes.
pub fn copy(block: Block, stream: Handle, wait: bool) -> Answer {
    let (context, stream) = state::stream(stream)?;
    block.check()?;
    if stream.capture().is_some() {
        return stream.submit(&context, Operation::Copy(block)).map(drop);
    }
    let pageable = |place: Place| matches!(place, Place::Host(address) if host_range(address).is_none());
    let work: Work = if pageable(block.from) && !wait {
        let mut data = vec![0u8; block.bytes()];
        let (pitch, layer) = (block.width, block.width * block.height);
        let staging = Place::Host(data.as_mut_ptr() as usize);
        Block { to: staging, to_pitch: pitch, to_layer: layer, ..block }.copy()?;
        Box::new(move |_| {
            let from = Place::Host(data.as_ptr() as usize);
            Block { from, from_pitch: pitch, from_layer: layer, ..block }.run()
        })
    } else {
        Box::new(move |_| block.run())
    };
    let ticket = stream.enqueue(&context, Some(work));
    if wait || pageable(block.to) {
        ticket.wait();
        context.check()?;
    }
    Ok(())
}

/// Queues a copy between any two places.
pub fn unified(to: CUdeviceptr, from: CUdeviceptr, bytes: usize, stream: Handle) -> Answer {
    copy(Block::line(Place::unified(to), Place::unified(from), bytes), stream, false)
}

/// A fill of `width` elements a row over `height` rows.
#[derive(Clone, Copy)]
pub struct Fill {
    to: Place,
    pitch: usize,
    value: u32,
    element_bytes: usize,
    width: usize,
    height: usize,
}

impl Fill {
    fn row_bytes(&self) -> usize {
        self.width.saturating_mul(self.element_bytes)
    }

    fn check(&self) -> Answer {
        let row = self.row_bytes();
        let whole = |distance: u64| distance.is_multiple_of(self.element_bytes as u64);
        let rows = self.height > 1 && (self.pitch < row || !whole(self.pitch as u64));
        if !whole(self.to.address()) || rows {
            return Err(INVALID_VALUE);
        }
        let extent = self.pitch.checked_mul(self.height.saturating_sub(1)).and_then(|rows| rows.checked_add(row));
        validate(self.to, if self.height == 0 { 0 } else { extent.ok_or(INVALID_VALUE)? })
    }

    /// Fills; gives the device time.
    pub fn run(&self) -> Result<f64, CUresult> {
        if between::wants()
            && let Some(base) = between::base_of(self.to.address())
        {
            let mut ranges = between::Ranges::default();
            for row in 0..self.height {
                ranges.add(base, self.to.address() + (row * self.pitch) as u64, self.row_bytes() as u64, true);
            }
            ranges.settle("a fill (cuMemset)")?;
        }
        let element = &self.value.to_le_bytes()[..self.element_bytes];
        let row: Vec<u8> = element.iter().copied().cycle().take(self.row_bytes()).collect();
        for index in 0..self.height {
            copy_now(self.to.plus(index * self.pitch), Place::Host(row.as_ptr() as usize), row.len())?;
        }
        Ok(transfer_ns(row.len() * self.height))
    }

    fn submit(self, stream: Handle, wait: bool) -> Answer {
        let (context, stream) = state::stream(stream)?;
        self.check()?;
        let capturing = stream.capture().is_some();
        let ticket = stream.submit(&context, Operation::Fill(self))?;
        if wait && !capturing {
            ticket.wait();
            context.check()?;
        }
        Ok(())
    }

    /// As a node of a graph describes it.
    pub fn params(&self) -> MemsetNodeParams {
        MemsetNodeParams {
            to: self.to.address(),
            pitch: self.pitch,
            value: self.value,
            element_bytes: self.element_bytes as u32,
            width: self.width,
            height: self.height,
            context: 0,
        }
    }
}

fn fill(to: CUdeviceptr, value: u32, element_bytes: usize, count: usize, stream: Handle, wait: bool) -> Answer {
    state::stream(stream)?;
    let to = known_place(to, count)?;
    Fill { to, pitch: 0, value, element_bytes, width: count, height: 1 }.submit(stream, wait)
}

fn fill_rows(
    to: CUdeviceptr,
    pitch: usize,
    value: u32,
    element_bytes: usize,
    (width, height): (usize, usize),
    stream: Handle,
    wait: bool,
) -> Answer {
    state::stream(stream)?;
    let to = known_place(to, width.min(height))?;
    Fill { to, pitch, value, element_bytes, width, height }.submit(stream, wait)
}

/// `CUDA_MEMSET_NODE_PARAMS_v2`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct MemsetNodeParams {
    to: CUdeviceptr,
    pitch: usize,
    value: u32,
    element_bytes: u32,
    width: usize,
    height: usize,
    context: Handle,
}

impl MemsetNodeParams {
    pub fn fill(&self) -> Result<Fill, CUresult> {
        if !matches!(self.element_bytes, 1 | 2 | 4) || self.width == 0 || self.height == 0 {
            return Err(INVALID_VALUE);
        }
        let fill = Fill {
            to: known_place(self.to, 1)?,
            pitch: self.pitch,
            value: self.value,
            element_bytes: self.element_bytes as usize,
            width: self.width,
            height: self.height,
        };
        fill.check()?;
        Ok(fill)
    }
}

api_with_streams! {
    fn cuMemcpy(to: CUdeviceptr, from: CUdeviceptr, bytes: usize) {
        copy(Block::line(Place::unified(to), Place::unified(from), bytes), 0, true)
    }
    fn cuMemcpyAsync(to: CUdeviceptr, from: CUdeviceptr, bytes: usize, stream: Handle) {
        copy(Block::line(Place::unified(to), Place::unified(from), bytes), stream, false)
    }
    fn cuMemcpyHtoD_v2(to: CUdeviceptr, from: *const c_void, bytes: usize) {
        copy(Block::line(known_place(to, bytes)?, Place::unified(from as u64), bytes), 0, true)
    }
    fn cuMemcpyHtoDAsync_v2(to: CUdeviceptr, from: *const c_void, bytes: usize, stream: Handle) {
        copy(Block::line(known_place(to, bytes)?, Place::unified(from as u64), bytes), stream, false)
    }
    fn cuMemcpyDtoH_v2(to: *mut c_void, from: CUdeviceptr, bytes: usize) {
        copy(Block::line(Place::unified(to as u64), known_place(from, bytes)?, bytes), 0, true)
    }
    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: CUdeviceptr, bytes: usize, stream: Handle) {
        copy(Block::line(Place::unified(to as u64), known_place(from, bytes)?, bytes), stream, false)
    }
    fn cuMemcpyDtoD_v2(to: CUdeviceptr, from: CUdeviceptr, bytes: usize) {
        copy(Block::line(known_place(to, bytes)?, known_place(from, bytes)?, bytes), 0, true)
    }
    fn cuMemcpyDtoDAsync_v2(to: CUdeviceptr, from: CUdeviceptr, bytes: usize, stream: Handle) {
        copy(Block::line(known_place(to, bytes)?, known_place(from, bytes)?, bytes), stream, false)
    }
    fn cuMemcpyPeer(to: CUdeviceptr, to_context: Handle, from: CUdeviceptr, from_context: Handle, bytes: usize) {
        driver().contexts.get(to_context)?;
        driver().contexts.get(from_context)?;
        copy(Block::line(Place::unified(to), Place::unified(from), bytes), 0, true)
    }
    fn cuMemcpyPeerAsync(to: CUdeviceptr, _to_context: Handle, from: CUdeviceptr, _from_context: Handle, bytes: usize, stream: Handle) {
        copy(Block::line(Place::unified(to), Place::unified(from), bytes), stream, false)
    }
    fn cuMemsetD8_v2(to: CUdeviceptr, value: u8, count: usize) {
        fill(to, u32::from(value), 1, count, 0, true)
    }
    fn cuMemsetD16_v2(to: CUdeviceptr, value: u16, count: usize) {
        fill(to, u32::from(value), 2, count, 0, true)
    }
    fn cuMemsetD32_v2(to: CUdeviceptr, value: u32, count: usize) {
        fill(to, value, 4, count, 0, true)
    }
    fn cuMemsetD8Async(to: CUdeviceptr, value: u8, count: usize, stream: Handle) {
        fill(to, u32::from(value), 1, count, stream, false)
    }
    fn cuMemsetD16Async(to: CUdeviceptr, value: u16, count: usize, stream: Handle) {
        fill(to, u32::from(value), 2, count, stream, false)
    }
    fn cuMemsetD32Async(to: CUdeviceptr, value: u32, count: usize, stream: Handle) {
        fill(to, value, 4, count, stream, false)
    }
    fn cuMemsetD2D8_v2(to: CUdeviceptr, pitch: usize, value: u8, width: usize, height: usize) {
        fill_rows(to, pitch, u32::from(value), 1, (width, height), 0, true)
    }
    fn cuMemsetD2D16_v2(to: CUdeviceptr, pitch: usize, value: u16, width: usize, height: usize) {
        fill_rows(to, pitch, u32::from(value), 2, (width, height), 0, true)
    }
    fn cuMemsetD2D32_v2(to: CUdeviceptr, pitch: usize, value: u32, width: usize, height: usize) {
        fill_rows(to, pitch, value, 4, (width, height), 0, true)
    }
    fn cuMemsetD2D8Async(to: CUdeviceptr, pitch: usize, value: u8, width: usize, height: usize, stream: Handle) {
        fill_rows(to, pitch, u32::from(value), 1, (width, height), stream, false)
    }
    fn cuMemsetD2D16Async(to: CUdeviceptr, pitch: usize, value: u16, width: usize, height: usize, stream: Handle) {
        fill_rows(to, pitch, u32::from(value), 2, (width, height), stream, false)
    }
    fn cuMemsetD2D32Async(to: CUdeviceptr, pitch: usize, value: u32, width: usize, height: usize, stream: Handle) {
        fill_rows(to, pitch, value, 4, (width, height), stream, false)
    }
}
