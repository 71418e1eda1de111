//! The devices of this machine.

use crate::cuda::CudaDevice;
use crate::device::{Device, DeviceChoice, DeviceInfo, RunError};
use crate::emulator_device::EmulatorDevice;

/// Opens a device. A GPU's context stays alive until the device is dropped.
///
/// # Errors
/// [`RunError::Environment`] when there is no such device here.
pub fn open(choice: &DeviceChoice) -> Result<Box<dyn Device>, RunError> {
    Ok(match choice {
        DeviceChoice::Emulator => Box::new(EmulatorDevice::new()),
        DeviceChoice::Gpu(ordinal) => Box::new(CudaDevice::open(*ordinal)?),
    })
}

/// Every device of this machine: GPUs by ordinal, then the emulator, which is always there.
pub fn list() -> Vec<DeviceInfo> {
    let mut devices = crate::cuda::list();
    devices.push(EmulatorDevice::describe());
    devices
}
