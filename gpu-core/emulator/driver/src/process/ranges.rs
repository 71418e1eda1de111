//! Which addresses the driver knows: device memory, host memory, variables of modules.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::lock;
use crate::abi::*;

/// A range of host memory known to the driver.
#[derive(Clone, Copy, Debug)]
pub struct HostRange {
    pub bytes: usize,
    pub managed: bool,
    /// Allocated by `cuMemHostAlloc` and friends (else registered).
    pub owned: bool,
    pub flags: u32,
}

/// A device allocation's bookkeeping beside the emulator's own.
#[derive(Clone, Copy, Debug)]
pub struct DeviceRange {
    pub bytes: u64,
    pub pool: Option<Handle>,
    /// The context that it goes with; 0 for memory that belongs to the device.
    pub owner: Handle,
}

/// Device memory by its first address.
pub static DEVICE: Mutex<BTreeMap<u64, DeviceRange>> = Mutex::new(BTreeMap::new());
/// Pinned, registered and managed memory by its first address.
pub static HOST: Mutex<BTreeMap<usize, HostRange>> = Mutex::new(BTreeMap::new());
/// Variables that a program asked for, by the handle of their module: address and size.
static VARIABLES: Mutex<BTreeMap<Handle, Vec<(u64, u64)>>> = Mutex::new(BTreeMap::new());

/// The device allocation that an address lies in.
pub fn device_range(address: u64) -> Option<(u64, DeviceRange)> {
    let ranges = lock(&DEVICE);
    let (base, range) = ranges.range(..=address).next_back()?;
    (address - base < range.bytes).then_some((*base, *range))
}

/// The pinned, registered or managed range that an address lies in.
pub fn host_range(address: usize) -> Option<(usize, HostRange)> {
    let ranges = lock(&HOST);
    let (base, range) = ranges.range(..=address).next_back()?;
    (address - base < range.bytes).then_some((*base, *range))
}

/// A program asked for a variable of a module.
pub fn note_variable(module: Handle, variable: (u64, u64)) {
    let mut all = lock(&VARIABLES);
    let of_module = all.entry(module).or_default();
    if !of_module.contains(&variable) {
        of_module.push(variable);
    }
}

/// A module is gone, and its variables with it.
pub fn forget_variables(module: Handle) {
    lock(&VARIABLES).remove(&module);
}

/// The module variable that was asked for and that an address lies in.
pub fn variable(address: u64) -> Option<(u64, u64)> {
    let all = lock(&VARIABLES);
    all.values().flatten().find(|(base, bytes)| address >= *base && address - base < *bytes).copied()
}
