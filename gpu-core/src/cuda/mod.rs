//! GPUs through the CUDA driver, loaded at run time.

use crate::compile::CompileReport;
use crate::device::{Argument, Device, DeviceInfo, Launch, Report, RunError};
use std::sync::atomic::AtomicBool;

/// An open GPU.
pub struct CudaDevice {
    info: DeviceInfo,
}

/// Every GPU of this machine; empty without a driver.
pub fn list() -> Vec<DeviceInfo> {
    Vec::new()
}

impl CudaDevice {
    /// Opens the GPU with this CUDA ordinal.
    ///
    /// # Errors
    /// [`RunError::Environment`] with what is missing.
    pub fn open(ordinal: u32) -> Result<Self, RunError> {
        Err(RunError::Environment(format!("GPU {ordinal} cannot be used yet")))
    }
}

impl Device for CudaDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn load(&mut self, _: &CompileReport) -> Result<(), RunError> {
        Err(RunError::Environment(String::new()))
    }

    fn run(&mut self, _: &Launch<'_>, _: &mut [Argument], _: &AtomicBool) -> Result<Report, RunError> {
        Err(RunError::Environment(String::new()))
    }

    fn as_cuda(&mut self) -> Option<&mut CudaDevice> {
        Some(self)
    }
}
