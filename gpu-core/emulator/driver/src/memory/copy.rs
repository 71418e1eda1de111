//! Copies and fills, in one to three dimensions.

use ptx_emulator::MemoryError;

use super::{allocation, of_graphs, vmm};
use crate::abi::*;
use crate::process::ranges::{self, device_range, host_range};
use crate::process::{driver, lock};
use crate::work::order;

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
        let of_a_graph = || of_graphs::range(address).is_some();
        if device_range(address).is_some() || of_a_graph() || ranges::variable(address).is_some() {
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
    let host = || host_range(address as usize).is_some() || vmm::is_accessible(address, bytes.max(1));
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
        [self.to, self.from].iter().any(|place| matches!(place, Place::Host(address) if host_range(*address).is_none()))
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

    pub fn copy(&self) -> Answer {
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
        if !order::wants() {
            return Ok(());
        }
        let mut ranges = order::Ranges::default();
        let ends =
            [(self.from, self.from_pitch, self.from_layer, false), (self.to, self.to_pitch, self.to_layer, true)];
        for (place, pitch, layer, writes) in ends {
            let Some(base) = base_of(place.address()) else { continue };
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
            let mapped = match vmm::reservation(address as u64) {
                Some(_) => vmm::is_accessible(address as u64, bytes),
                None => allocation::is_mapped(address, bytes),
            };
            if mapped { Ok(()) } else { Err(INVALID_VALUE) }
        }
        Place::Device(address) if bytes > 0 => {
            let known = device_range(address).map(|(base, range)| (base, range.bytes));
            match known.or_else(|| of_graphs::range(address)) {
                Some((base, size)) if address - base + bytes as u64 <= size => Ok(()),
                Some(_) => Err(INVALID_VALUE),
                None if ranges::variable(address).is_some() => Ok(()),
                None => Err(INVALID_VALUE),
            }
        }
        _ => Ok(()),
    }
}

/// A fill of `width` elements a row over `height` rows.
#[derive(Clone, Copy)]
pub struct Fill {
    pub to: Place,
    pub pitch: usize,
    pub value: u32,
    pub element_bytes: usize,
    pub width: usize,
    pub height: usize,
}

impl Fill {
    fn row_bytes(&self) -> usize {
        self.width.saturating_mul(self.element_bytes)
    }

    pub fn check(&self) -> Answer {
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
        if order::wants()
            && let Some(base) = base_of(self.to.address())
        {
            let mut ranges = order::Ranges::default();
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

/// The start of the allocation, or of the host memory known to the driver, that an address lies in.
fn base_of(address: u64) -> Option<u64> {
    device_range(address)
        .map(|(base, _)| base)
        .or_else(|| of_graphs::range(address).map(|(base, _)| base))
        .or_else(|| host_range(address as usize).map(|(base, _)| base as u64))
        .or_else(|| lock(&driver().memory).base_of(address))
}
