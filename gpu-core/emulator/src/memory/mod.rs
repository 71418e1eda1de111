//! Global memory of one emulated device.
//!
//! Every allocation has addresses of its own with a wide gap behind it, so that running past the end of an array
//! never reaches another one. Contents start as a poison pattern, and one bit per byte says whether it was written.

pub mod backing;
mod bits;
pub mod space;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use thiserror::Error;

use crate::check::race::Shadow;
use crate::memory::backing::Backing;
pub(crate) use crate::memory::bits::{all_bits, clear_bits, for_words, set_bits, set_bits_alone};
use crate::texture::{TextureObject, TextureObjects};

/// What is wrong with a request to device memory.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MemoryError {
    #[error("out of device memory: {bytes} bytes asked for, {available} of {limit} left")]
    OutOfMemory { bytes: u64, available: u64, limit: u64 },
    #[error("no allocation holds bytes {address:#x} to {end:#x}; copy inside one allocation")]
    OutOfBounds { address: u64, end: u64 },
    #[error("{address:#x} is not the start of a live allocation, so it cannot be freed")]
    NotAllocated { address: u64 },
}

/// First address handed out: far from 0, so that small wild addresses fault.
const FIRST_ADDRESS: u64 = 0x2_0000_0000;
/// Least gap behind an allocation.
const MIN_GAP: u64 = 1 << 16;
/// Race shadows of freed allocations that are kept, in bytes: the pages of new ones cost more than what is done in them.
const SPARE_SHADOWS: u64 = 64 << 20;
/// The gap as long as addresses last: an index that overflowed 32 bits is up to 2^31 elements off, and must not land in
/// the memory of another array, where nobody would notice.
pub const WIDE_GAP: u64 = 1 << 34;
/// From here on gaps are small: host memory, which programs may map, begins somewhere above.
const WIDE_BELOW: u64 = 1 << 44;
/// What fresh memory holds: as f32 a NaN, as int a large negative number.
pub const POISON: u8 = 0xff;

/// One live or freed allocation.
#[derive(Debug)]
pub(crate) struct Allocation {
    pub(crate) name: String,
    pub(crate) base: u64,
    pub(crate) bytes: u64,
    data: Backing,
    /// One bit per byte: written since it was allocated.
    init: Vec<AtomicU64>,
    /// Every byte was written and none forgotten since; false when that is not known.
    all_written: AtomicBool,
    pub(crate) live: bool,
    /// `__constant__`: kernels may not write it.
    pub(crate) read_only: bool,
    /// Host memory that backs it instead of `data`.
    mapped: Option<*mut u8>,
    /// What the race check remembers by.
    shadow: Option<Shadow>,
}

// SAFETY: a mapped pointer is only used while the memory is borrowed, as the data of other allocations is.
unsafe impl Send for Allocation {}
// SAFETY: as above.
unsafe impl Sync for Allocation {}

impl Allocation {
    fn new(name: &str, base: u64, bytes: u64) -> Allocation {
        Allocation {
            name: name.to_owned(),
            base,
            bytes,
            data: Backing::new(bytes as usize),
            init: (0..(bytes as usize).div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
            all_written: AtomicBool::new(false),
            live: true,
            read_only: false,
            mapped: None,
            shadow: None,
        }
    }

    fn copy(&self) -> Option<Allocation> {
        if self.mapped.is_some() {
            return None;
        }
        let mut copy = Allocation::new(&self.name, self.base, self.bytes);
        copy.bytes_mut().copy_from_slice(self.bytes_ref());
        copy.init = self.init.iter().map(|word| AtomicU64::new(word.load(Ordering::Relaxed))).collect();
        copy.all_written = AtomicBool::new(self.all_written.load(Ordering::Relaxed));
        (copy.live, copy.read_only) = (self.live, self.read_only);
        Some(copy)
    }

    pub(crate) fn pointer(&mut self) -> *mut u8 {
        self.mapped.unwrap_or(self.data.pointer())
    }

    pub(crate) fn init_bits(&self) -> &[AtomicU64] {
        &self.init
    }

    pub(crate) fn all_written(&self) -> &AtomicBool {
        &self.all_written
    }

    /// Memory of the host that was lent: nobody knows who wrote what.
    pub(crate) fn always_initialised(&self) -> bool {
        self.mapped.is_some()
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the vector owns at least `bytes` initialised bytes, and u128 has no invalid byte pattern; for mapped
        // memory the caller of `map_host` vouches for the range.
        unsafe { std::slice::from_raw_parts_mut(self.pointer(), self.bytes as usize) }
    }

    fn bytes_ref(&self) -> &[u8] {
        // SAFETY: as in `bytes_mut`.
        unsafe {
            let pointer = self.mapped.unwrap_or(self.data.pointer()).cast_const();
            std::slice::from_raw_parts(pointer, self.bytes as usize)
        }
    }
}

/// Global memory of one emulated device: allocations with guard gaps between them.
#[derive(Debug)]
pub struct Memory {
    limit: u64,
    used: u64,
    next: u64,
    /// Sorted by address, freed ones included until their addresses would be needed again (never).
    allocations: Vec<Allocation>,
    /// Modules whose variables are here.
    modules: HashMap<u64, ()>,
    /// Address of the memory that device code's `malloc` hands out, and what is free in it.
    heap: Option<(u64, Heap)>,
    workspace: Option<u64>,
    /// Race shadows of freed allocations, for new ones.
    spare_shadows: Vec<Shadow>,
    /// Texture and surface objects.
    objects: Arc<TextureObjects>,
}

/// What CUDA gives device code's `malloc` unless told otherwise (cudaLimitMallocHeapSize).
const HEAP_BYTES: u64 = 8 << 20;
/// What lies between two pieces at least, so that who writes past the end of one does not find the next.
const HEAP_GAP: u64 = 16;
/// Bytes for the barrier of a cooperative launch's grid.
pub(crate) const WORKSPACE: u64 = 256;

/// Free and used pieces of the device heap, by address.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heap {
    free: std::collections::BTreeMap<u64, u64>,
    /// Bytes taken and bytes asked for, by address.
    used: std::collections::BTreeMap<u64, (u64, u64)>,
    /// Anything was ever taken.
    pub(crate) touched: bool,
}

impl Heap {
    /// First fit, 16-byte aligned; None when there is no room.
    pub(crate) fn malloc(&mut self, bytes: u64) -> Option<u64> {
        let asked = bytes;
        let bytes = bytes.checked_add(HEAP_GAP)?.checked_next_multiple_of(16)?;
        let (&address, &size) = self.free.iter().find(|(_, size)| **size >= bytes)?;
        self.free.remove(&address);
        self.touched = true;
        if size > bytes {
            self.free.insert(address + bytes, size - bytes);
        }
        self.used.insert(address, (bytes, asked));
        Some(address)
    }

    /// False when `address` is not one that `malloc` gave.
    pub(crate) fn free(&mut self, address: u64) -> bool {
        let Some((mut bytes, _)) = self.used.remove(&address) else { return false };
        let mut start = address;
        if let Some(next) = self.free.remove(&(address + bytes)) {
            bytes += next;
        }
        if let Some((&before, &size)) = self.free.range(..address).next_back()
            && before + size == address
        {
            start = before;
            bytes += size;
        }
        self.free.insert(start, bytes);
        true
    }

    /// The piece in use that holds `address`, or has it in the gap behind: where, and the bytes asked for.
    pub(crate) fn piece(&self, address: u64) -> Option<(u64, u64)> {
        let (base, (taken, asked)) = self.used.range(..=address).next_back()?;
        (address < base + taken).then_some((*base, *asked))
    }

    /// Whether `address` lies in a piece that is free now.
    pub(crate) fn is_free(&self, address: u64) -> bool {
        self.free.range(..=address).next_back().is_some_and(|(base, bytes)| address < base + bytes)
    }
}

impl Memory {
    /// An empty memory that refuses allocations beyond `limit_bytes` in total.
    pub fn new(limit_bytes: u64) -> Memory {
        Memory {
            limit: limit_bytes,
            used: 0,
            next: FIRST_ADDRESS,
            allocations: Vec::new(),
            modules: HashMap::new(),
            heap: None,
            workspace: None,
            spare_shadows: Vec::new(),
            objects: Arc::default(),
        }
    }

    /// The same contents at the same addresses, of another device. None where memory of the host is lent, which cannot be in
    /// two places.
    pub fn copy(&self) -> Option<Memory> {
        let copies: Option<Vec<Allocation>> = self.allocations.iter().map(Allocation::copy).collect();
        Some(Memory {
            limit: self.limit,
            used: self.used,
            next: self.next,
            allocations: copies?,
            modules: self.modules.clone(),
            heap: self.heap.clone(),
            workspace: self.workspace,
            spare_shadows: Vec::new(),
            objects: Arc::clone(&self.objects),
        })
    }

    /// Contents of all allocations, and a bit for each byte that was written, in the order of their addresses.
    pub fn contents(&self) -> impl Iterator<Item = (&str, &[u8], Vec<u64>)> {
        let written = |allocation: &Allocation| {
            allocation.init.iter().map(|word| word.load(Ordering::Relaxed)).collect::<Vec<u64>>()
        };
        self.allocations
            .iter()
            .map(move |allocation| (allocation.name.as_str(), allocation.bytes_ref(), written(allocation)))
    }

    /// Bytes in live allocations, and the limit.
    pub fn usage(&self) -> (u64, u64) {
        (self.used, self.limit)
    }

    /// Reserves `bytes`, 256-byte aligned, poisoned and marked as never written. `name` is how faults call it.
    ///
    /// # Errors
    /// When the limit would be passed.
    pub fn alloc(&mut self, name: &str, bytes: u64) -> Result<u64, MemoryError> {
        let available = self.limit.saturating_sub(self.used);
        if bytes > available {
            return Err(MemoryError::OutOfMemory { bytes, available, limit: self.limit });
        }
        let base = self.next;
        let gap = if base < WIDE_BELOW { WIDE_GAP } else { MIN_GAP };
        self.next = (base + bytes + bytes.max(gap)).next_multiple_of(MIN_GAP);
        self.used += bytes;
        self.insert(Allocation::new(name, base, bytes));
        Ok(base)
    }

    fn insert(&mut self, allocation: Allocation) {
        let at = self.allocations.partition_point(|other| other.base < allocation.base);
        self.allocations.insert(at, allocation);
    }

    fn find(&self, address: u64, bytes: u64) -> Result<usize, MemoryError> {
        let end = address.wrapping_add(bytes);
        let error = MemoryError::OutOfBounds { address, end };
        let at = self.allocations.partition_point(|other| other.base <= address);
        let index = at.checked_sub(1).ok_or(error.clone())?;
        let found = &self.allocations[index];
        if found.live && end >= address && end <= found.base + found.bytes { Ok(index) } else { Err(error) }
    }

    /// First byte of the live allocation that an address lies in.
    pub fn base_of(&self, address: u64) -> Option<u64> {
        self.find(address, 1).ok().map(|index| self.allocations[index].base)
    }

    /// Copies host data in and marks it as written.
    ///
    /// # Errors
    /// When the range leaves its allocation.
    pub fn write(&mut self, address: u64, data: &[u8]) -> Result<(), MemoryError> {
        let index = self.find(address, data.len() as u64)?;
        let allocation = &mut self.allocations[index];
        let offset = (address - allocation.base) as usize;
        allocation.bytes_mut()[offset..offset + data.len()].copy_from_slice(data);
        if !allocation.always_initialised() {
            set_bits(&allocation.init, offset as u64, data.len() as u64);
            if data.len() as u64 == allocation.bytes {
                *allocation.all_written.get_mut() = true;
            }
        }
        Ok(())
    }

    /// Copies device data out.
    ///
    /// # Errors
    /// When the range leaves its allocation.
    pub fn read(&self, address: u64, out: &mut [u8]) -> Result<(), MemoryError> {
        let allocation = &self.allocations[self.find(address, out.len() as u64)?];
        let offset = (address - allocation.base) as usize;
        out.copy_from_slice(&allocation.bytes_ref()[offset..offset + out.len()]);
        Ok(())
    }

    /// First byte of the range that nobody ever wrote; the range's first byte when it is in no allocation.
    pub fn initialised(&self, address: u64, bytes: u64) -> Option<u64> {
        let Ok(index) = self.find(address, bytes) else { return Some(address) };
        let allocation = &self.allocations[index];
        let offset = address - allocation.base;
        if allocation.always_initialised() {
            return None;
        }
        bits::first_unset(&allocation.init, offset, bytes).map(|byte| allocation.base + byte)
    }

    /// Gives an allocation back; later accesses to it are faults.
    ///
    /// # Errors
    /// When `address` is not the start of a live allocation.
    pub fn free(&mut self, address: u64) -> Result<(), MemoryError> {
        let index = self.find(address, 0)?;
        let allocation = &mut self.allocations[index];
        if allocation.base != address {
            return Err(MemoryError::NotAllocated { address });
        }
        if allocation.mapped.is_some() {
            self.allocations.remove(index);
            return Ok(());
        }
        allocation.live = false;
        allocation.data = Backing::new(0);
        allocation.init = Vec::new();
        self.used -= allocation.bytes;
        let shadow = allocation.shadow.take();
        self.keep_spare(shadow);
        Ok(())
    }

    /// Makes a freed allocation live again at its address, poisoned like a new one: memory nodes of a graph keep their
    /// address from launch to launch.
    ///
    /// # Errors
    /// When `address` is not the start of a freed allocation, or the limit would be passed.
    pub fn revive(&mut self, address: u64) -> Result<(), MemoryError> {
        let available = self.limit.saturating_sub(self.used);
        let found = self.allocations.binary_search_by_key(&address, |allocation| allocation.base).ok();
        let Some(allocation) = found.map(|index| &mut self.allocations[index]).filter(|allocation| !allocation.live)
        else {
            return Err(MemoryError::NotAllocated { address });
        };
        let bytes = allocation.bytes;
        if bytes > available {
            return Err(MemoryError::OutOfMemory { bytes, available, limit: self.limit });
        }
        *allocation = Allocation::new(&allocation.name.clone(), address, bytes);
        self.used += bytes;
        Ok(())
    }

    /// Makes host memory an allocation whose device address is its host address. It counts as always initialised, is
    /// checked for bounds like any other, and `free` forgets it without freeing the host memory.
    ///
    /// # Errors
    /// When the range overlaps an allocation or lies where the emulator keeps its own windows.
    ///
    /// # Safety
    /// `pointer` must be valid for reads and writes of `bytes` bytes until it is freed here. While a kernel runs others may
    /// touch the range as CUDA lets a program touch memory that it shares with one: atomically, or after what orders them.
    pub unsafe fn map_host(&mut self, name: &str, pointer: *mut u8, bytes: u64) -> Result<u64, MemoryError> {
        let base = pointer as u64;
        let end = base.wrapping_add(bytes);
        let error = MemoryError::OutOfBounds { address: base, end };
        let window = space::window_of(base) != space::Window::Global || space::window_of(end) != space::Window::Global;
        let taken = self.allocations.iter().any(|other| base < other.base + other.bytes && other.base < end);
        if pointer.is_null() || end < base || window || taken {
            return Err(error);
        }
        let mut allocation = Allocation::new(name, base, 0);
        allocation.bytes = bytes;
        allocation.mapped = Some(pointer);
        self.insert(allocation);
        Ok(base)
    }

    /// Makes a texture or surface object: what kernels get as its 64 bits. Its texels must lie inside allocations; a launch
    /// checks that.
    pub fn add_texture_object(&mut self, object: TextureObject) -> u64 {
        Arc::make_mut(&mut self.objects).add(object)
    }

    /// Forgets an object; false when there is none of that number.
    pub fn remove_texture_object(&mut self, object: u64) -> bool {
        Arc::make_mut(&mut self.objects).remove(object)
    }

    pub(crate) fn texture_objects(&self) -> Arc<TextureObjects> {
        Arc::clone(&self.objects)
    }

    /// Whether a module's variables are still to be brought here; from now on they are not.
    pub(crate) fn takes_in(&mut self, module: u64) -> bool {
        self.modules.insert(module, ()).is_none()
    }

    /// A variable of a module, with its initial value.
    pub(crate) fn put_variable(&mut self, name: &str, address: u64, bytes: u64, init: &[u8], read_only: bool) {
        let mut allocation = Allocation::new(name, address, bytes);
        // CUDA zeroes variables that have no initialiser.
        let memory = allocation.bytes_mut();
        memory.fill(0);
        memory[..init.len()].copy_from_slice(init);
        set_bits(&allocation.init, 0, bytes);
        *allocation.all_written.get_mut() = true;
        allocation.read_only = read_only;
        self.insert(allocation);
    }

    /// Has a variable in memory of the host at the same address, with what it holds.
    ///
    /// # Safety
    /// As for [`Memory::map_host`], for these bytes.
    pub(crate) unsafe fn share_variable(&mut self, address: u64, bytes: u64) {
        let Some(variable) = self.allocations.iter_mut().find(|variable| variable.base == address) else { return };
        let pointer = address as *mut u8;
        // SAFETY: the caller says so.
        let memory = unsafe { std::slice::from_raw_parts_mut(pointer, bytes as usize) };
        memory.copy_from_slice(variable.bytes_ref());
        (variable.mapped, variable.data) = (Some(pointer), Backing::new(0));
    }

    /// The device heap, made when first asked for.
    pub(crate) fn take_heap(&mut self) -> Result<Heap, MemoryError> {
        if self.heap.is_none() {
            let base = self.alloc("device heap (malloc)", HEAP_BYTES)?;
            let heap = Heap { free: [(base, HEAP_BYTES)].into(), ..Heap::default() };
            self.heap = Some((base, heap));
        }
        Ok(self.heap.as_ref().map(|heap| heap.1.clone()).unwrap_or_default())
    }

    /// Where the device heap is, once there is one.
    pub(crate) fn heap_range(&self) -> std::ops::Range<u64> {
        self.heap.as_ref().map_or(0..0, |(base, _)| *base..base + HEAP_BYTES)
    }

    /// Puts the heap's state back after a launch.
    pub(crate) fn put_heap(&mut self, state: Heap) {
        if let Some(heap) = &mut self.heap {
            heap.1 = state;
        }
    }

    /// Zeroed memory for the grid barrier of cooperative groups.
    pub(crate) fn workspace(&mut self) -> Result<u64, MemoryError> {
        let address = match self.workspace {
            Some(address) => address,
            None => self.alloc("grid barrier", WORKSPACE)?,
        };
        self.workspace = Some(address);
        self.write(address, &[0; WORKSPACE as usize])?;
        Ok(address)
    }

    /// The race shadows of allocations, those that `bytes` gives more than 0 for; empty ones for the others.
    pub(crate) fn take_shadows(&mut self, bytes: &[u64]) -> Vec<Shadow> {
        let Memory { allocations, spare_shadows, .. } = self;
        let made = |(allocation, &bytes): (&mut Allocation, &u64)| match allocation.shadow.take() {
            _ if bytes == 0 => Shadow::default(),
            Some(shadow) => shadow,
            None => {
                let fits = |shadow: &Shadow| shadow.capacity() >= bytes && shadow.capacity() / 2 <= bytes;
                match spare_shadows.iter().position(fits) {
                    Some(index) => spare_shadows.swap_remove(index),
                    None => Shadow::new(bytes),
                }
            }
        };
        allocations.iter_mut().zip(bytes).map(made).collect()
    }

    /// Puts them back after a launch.
    pub(crate) fn put_shadows(&mut self, shadows: Vec<Shadow>) {
        for (allocation, shadow) in self.allocations.iter_mut().zip(shadows) {
            if shadow.capacity() > 0 {
                allocation.shadow = Some(shadow);
            }
        }
    }

    fn keep_spare(&mut self, shadow: Option<Shadow>) {
        let kept: u64 = self.spare_shadows.iter().map(Shadow::filled).sum();
        self.spare_shadows.extend(shadow.filter(|shadow| kept + shadow.filled() <= SPARE_SHADOWS));
    }

    pub(crate) fn allocations_mut(&mut self) -> &mut [Allocation] {
        &mut self.allocations
    }
}
