//! The vendor's matrix library as a rival: cuBLASLt, found at run time, asked for all its algorithms, of which the
//! fastest here is kept. Nothing needs it; without it a benchmark has one row fewer.

mod product;
pub mod transfers;

pub(crate) use product::Prepared;
pub use product::Product;

use crate::cuda::{CudaDevice, DeviceMemory};
use crate::device::RunError;
use cudarc::cublaslt::{result, sys};
use std::path::Path;

/// What a library product may use beside its operands. cuBLAS recommends 32 MiB for Hopper; split-K variants of small
/// products use more.
const WORKSPACE_BYTES: usize = 64 << 20;

/// An open cuBLASLt.
pub(crate) struct Library {
    handle: sys::cublasLtHandle_t,
    workspace: DeviceMemory,
    /// For example `cuBLASLt 13.1.0`.
    pub name: String,
}

// SAFETY: the handle is an opaque object that any thread may use (cuBLAS manual, "cublasLtHandle_t").
unsafe impl Send for Library {}

impl Library {
    /// Opens the library file that was found on this machine.
    ///
    /// # Errors
    /// [`RunError::Environment`] with what is wrong with it.
    pub fn open(gpu: &CudaDevice, file: &Path) -> Result<Self, RunError> {
        load(file).map_err(RunError::Environment)?;
        let handle = result::create_handle()
            .map_err(|error| RunError::Environment(format!("cuBLASLt does not start: {error}")))?;
        // SAFETY: the library is loaded; the function takes nothing.
        let version = unsafe { sys::cublasLtGetVersion() };
        let workspace = DeviceMemory::new(&gpu.context, WORKSPACE_BYTES, "cuBLASLt's workspace")?;
        let name = format!("cuBLASLt {}.{}.{}", version / 10_000, version / 100 % 100, version % 100);
        Ok(Self { handle, workspace, name })
    }
}

impl Drop for Library {
    fn drop(&mut self) {
        if !crate::cuda::is_abandoned() {
            // SAFETY: created in `open`, destroyed nowhere else.
            let _ = unsafe { result::destroy_handle(self.handle) };
        }
    }
}

/// Loads the file for good. cudarc opens the library by its bare name; a file that is loaded already is found under
/// that name by the system's loader, wherever it lies.
fn load(file: &Path) -> Result<(), String> {
    // SAFETY: NVIDIA's library has no initialiser with preconditions; it stays loaded to the end of the process.
    let library = unsafe { libloading::Library::new(file) }
        .map_err(|error| format!("cuBLASLt cannot be loaded from {}: {error}", file.display()))?;
    std::mem::forget(library);
    // SAFETY: as above.
    match unsafe { sys::is_culib_present() } {
        true => Ok(()),
        false => Err(format!(
            "{} was loaded, but the system does not find it by its name: keep the name that NVIDIA gave it",
            file.display()
        )),
    }
}
