//! Loaded modules and launches by a packed argument block.

use super::driver::{failed, is_abandoned, version};
use crate::device::RunError;
use crate::spec::{Geometry, TENSOR_MAP_ALIGN, TENSOR_MAP_BYTES};
use cudarc::driver::sys::{self, CUdevice_attribute_enum as DeviceAttribute, CUfunction_attribute_enum as Attribute};
use cudarc::driver::{CudaContext, result};
use std::ffi::{CString, c_void};
use std::sync::Arc;

/// Dynamic shared memory that needs no opt-in.
const SHARED_WITHOUT_OPT_IN: u32 = 48 * 1024;
/// Blocks a cluster that every chip with clusters allows.
const PORTABLE_CLUSTER: u32 = 8;

/// The driver API that has `cuFuncGetParamInfo`.
const PARAM_INFO_DRIVER: i32 = 12_040;

/// Room for the messages of the driver's assembler.
const JIT_LOG_BYTES: usize = 64 << 10;

/// A module on the GPU; unloaded when dropped.
pub struct Module {
    handle: sys::CUmodule,
    context: Arc<CudaContext>,
}

// SAFETY: a module handle is an opaque driver object that any thread may use once the context is bound, which every
// use below does first.
unsafe impl Send for Module {}

impl Module {
    /// Loads a cubin, or PTX text that ends in a zero byte.
    pub fn load(context: &Arc<CudaContext>, image: &[u8]) -> Result<Self, RunError> {
        context.bind_to_thread().map_err(|error| failed("binding the context", error))?;
        let mut log = vec![0u8; JIT_LOG_BYTES];
        let mut options =
            [sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER, sys::CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES];
        // The size travels in the pointer's place, and comes back as the bytes written.
        let mut values = [log.as_mut_ptr().cast::<c_void>(), JIT_LOG_BYTES as *mut c_void];
        let mut handle = std::ptr::null_mut();
        // SAFETY: the image is a whole cubin or a zero-terminated text; it, the options and the log they point to live
        // through the call.
        let status = unsafe {
            sys::cuModuleLoadDataEx(
                &raw mut handle,
                image.as_ptr().cast(),
                options.len() as u32,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        };
        status.result().map_err(|error| {
            let text = log.split(|byte| *byte == 0).next().unwrap_or_default();
            match (failed("loading the module", error), String::from_utf8_lossy(text).trim()) {
                (other, "") => other,
                // What the driver's assembler has to say of a text.
                (RunError::Environment(message), log) => RunError::Environment(format!("{message}\n{log}")),
                (other, _) => other,
            }
        })?;
        Ok(Self { handle, context: context.clone() })
    }

    /// Loads the cubin: a driver older than NVRTC cannot read its PTX. A driver that has no use for this machine code
    /// (the emulator's, which runs PTX) gets the PTX instead.
    pub fn load_compiled(context: &Arc<CudaContext>, cubin: &[u8], ptx: &str) -> Result<Self, RunError> {
        if !cubin.is_empty() {
            context.bind_to_thread().map_err(|error| failed("binding the context", error))?;
            // SAFETY: the image is a whole cubin and lives through the call.
            match unsafe { result::module::load_data(cubin.as_ptr().cast()) } {
                Ok(handle) => return Ok(Self { handle, context: context.clone() }),
                Err(error) if error.0 == sys::CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU && !ptx.is_empty() => {}
                Err(error) => return Err(failed("loading the module", error)),
            }
        }
        let text = CString::new(ptx)
            .map_err(|_| RunError::BadRequest("the PTX holds a zero byte; compile the kernel again".to_owned()))?;
        Self::load(context, text.as_bytes_with_nul())
    }

    pub fn function(&self, name: &str) -> Result<Function<'_>, RunError> {
        let missing = || RunError::BadRequest(format!("the module has no kernel called `{name}`"));
        let text = CString::new(name).map_err(|_| missing())?;
        // SAFETY: the module is loaded as long as `self` lives, and so is the function by its lifetime.
        let handle = unsafe { result::module::get_function(self.handle, text) }.map_err(|error| match error.0 {
            sys::CUresult::CUDA_ERROR_NOT_FOUND => missing(),
            _ => failed("looking the kernel up", error),
        })?;
        Ok(Function { handle, module: self })
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        if !is_abandoned() && self.context.bind_to_thread().is_ok() {
            // SAFETY: loaded in `load`, unloaded nowhere else.
            let _ = unsafe { result::module::unload(self.handle) };
        }
    }
}

/// A kernel of a loaded module.
pub struct Function<'m> {
    handle: sys::CUfunction,
    module: &'m Module,
}

impl Function<'_> {
    /// Allows the launch what it needs beyond the defaults.
    ///
    /// # Errors
    /// [`RunError::BadRequest`] when the chip has less than that.
    pub fn prepare(&self, geometry: &Geometry, most_shared: Option<u32>) -> Result<(), RunError> {
        let set = |attribute, value: u32| {
            // SAFETY: the function belongs to a module that is loaded for as long as `self` lives.
            unsafe { result::function::set_function_attribute(self.handle, attribute, value as i32) }
        };
        let shared = geometry.dynamic_shared_bytes;
        if shared > SHARED_WITHOUT_OPT_IN {
            set(Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared).map_err(|_| {
                let most = most_shared.map_or_else(String::new, |most| format!("; this GPU has {most} a block"));
                RunError::BadRequest(format!("{shared} bytes of dynamic shared memory are too many{most}"))
            })?;
        }
        if geometry.cluster.iter().product::<u32>() > PORTABLE_CLUSTER {
            set(Attribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)
                .map_err(|_| RunError::BadRequest("this GPU has no clusters of more than 8 blocks".to_owned()))?;
        }
        if geometry.cooperative {
            self.fits_at_once(geometry)?;
        }
        Ok(())
    }

    /// Blocks of a cooperative launch wait for each other, so all of them must be on the chip at once.
    fn fits_at_once(&self, geometry: &Geometry) -> Result<(), RunError> {
        let context = &self.module.context;
        let asked = |error| failed("asking how many blocks fit", error);
        let attribute = |attribute| context.attribute(attribute).map_err(asked);
        if attribute(DeviceAttribute::CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)? == 0 {
            return Err(RunError::BadRequest("this GPU has no cooperative launches".to_owned()));
        }
        let threads = geometry.block.iter().product::<u32>() as i32;
        let mut each = 0;
        // SAFETY: the function is loaded; the place holds one number.
        let status = unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &raw mut each,
                self.handle,
                threads,
                geometry.dynamic_shared_bytes as usize,
            )
        };
        status.result().map_err(asked)?;
        let multiprocessors = attribute(DeviceAttribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?;
        let blocks: u64 = geometry.grid.iter().map(|extent| u64::from(*extent)).product();
        let fit = each.max(0) as u64 * multiprocessors.max(0) as u64;
        if blocks > fit {
            return Err(RunError::BadRequest(format!(
                "a cooperative launch of {blocks} blocks: only {fit} fit on this GPU at once ({each} on each of \
                 {multiprocessors} multiprocessors). Launch fewer, and let each block do more"
            )));
        }
        Ok(())
    }

    /// Queues one launch. `params` is the argument block as the kernel's parameters lie in it.
    ///
    /// # Errors
    /// [`RunError::BadRequest`] when the shape does not suit the kernel or the chip. Faults of the kernel itself
    /// show at the next wait.
    pub fn launch(&self, stream: sys::CUstream, geometry: &Geometry, params: &[u8]) -> Result<(), RunError> {
        let mut size = params.len();
        let mut extra = [
            sys::CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT as usize as *mut c_void,
            params.as_ptr() as *mut c_void,
            sys::CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT as usize as *mut c_void,
            (&raw mut size).cast::<c_void>(),
            sys::CU_LAUNCH_PARAM_END_AS_INT as usize as *mut c_void,
        ];
        // ptxas aligns a parameter's place in the constant bank, which does not start at a multiple of 64: where a tensor
        // map lies in the argument block only the driver can tell, so it is given each parameter by itself.
        let mut pointers = if params.len() >= TENSOR_MAP_BYTES { self.each_parameter(params)? } else { Vec::new() };
        let (listed, packed) = match pointers.is_empty() {
            true => (std::ptr::null_mut(), extra.as_mut_ptr()),
            false => (pointers.as_mut_ptr(), std::ptr::null_mut()),
        };
        let [x, y, z] = geometry.cluster;
        let mut attributes = Vec::new();
        // SAFETY: all-zero bytes are a valid value of this plain C structure and its union.
        let blank: sys::CUlaunchAttribute = unsafe { std::mem::zeroed() };
        if geometry.cluster != [1, 1, 1] {
            let mut attribute = blank;
            attribute.id = sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
            attribute.value.clusterDim = sys::CUlaunchAttributeValue_union__bindgen_ty_1 { x, y, z };
            attributes.push(attribute);
        }
        if geometry.cooperative {
            let mut attribute = blank;
            attribute.id = sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
            attribute.value.cooperative = 1;
            attributes.push(attribute);
        }
        let config = sys::CUlaunchConfig {
            gridDimX: geometry.grid[0],
            gridDimY: geometry.grid[1],
            gridDimZ: geometry.grid[2],
            blockDimX: geometry.block[0],
            blockDimY: geometry.block[1],
            blockDimZ: geometry.block[2],
            sharedMemBytes: geometry.dynamic_shared_bytes,
            hStream: stream,
            attrs: attributes.as_mut_ptr(),
            numAttrs: attributes.len() as u32,
        };
        // SAFETY: configuration, attributes and argument block live through the call, which copies them; the
        // argument block's layout was checked against the kernel's parameters; the function is loaded.
        let status = unsafe { sys::cuLaunchKernelEx(&config, self.handle, listed, packed) };
        status.result().map_err(|error| match error.0 {
            sys::CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES => RunError::BadRequest(format!(
                "a block of {} threads needs more registers or shared memory than the GPU has for one block; \
                 use smaller blocks or `__launch_bounds__`",
                geometry.block.iter().product::<u32>()
            )),
            sys::CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE => RunError::BadRequest(
                "a cooperative launch needs all its blocks on the GPU at once, and these do not fit; launch fewer"
                    .to_owned(),
            ),
            sys::CUresult::CUDA_ERROR_INVALID_VALUE | sys::CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE => {
                RunError::BadRequest(format!(
                    "the GPU refuses the launch: grid {:?}, block {:?}, cluster {:?}, {} bytes of dynamic shared memory",
                    geometry.grid, geometry.block, geometry.cluster, geometry.dynamic_shared_bytes
                ))
            }
            _ => failed("launching the kernel", error),
        })
    }

    /// Pointers to the parameters in a block where each is aligned to its size, but to 64 bytes at most.
    fn each_parameter(&self, params: &[u8]) -> Result<Vec<*mut c_void>, RunError> {
        if version()? < PARAM_INFO_DRIVER {
            return Err(RunError::Environment(
                "tensor maps need a driver of CUDA 12.4 or newer; update the driver, or use the emulator".to_owned(),
            ));
        }
        let (mut pointers, mut at) = (Vec::new(), 0usize);
        loop {
            let (mut offset, mut size) = (0, 0);
            // SAFETY: the function is loaded; both places hold one number.
            let status =
                unsafe { sys::cuFuncGetParamInfo(self.handle, pointers.len(), &raw mut offset, &raw mut size) };
            if status != sys::CUresult::CUDA_SUCCESS || size == 0 {
                return Ok(pointers);
            }
            at = at.next_multiple_of(size.min(TENSOR_MAP_ALIGN));
            let Some(bytes) = params.get(at..at + size) else {
                return Err(RunError::BadRequest("the kernel takes other parameters than the launch gives".to_owned()));
            };
            pointers.push(bytes.as_ptr() as *mut c_void);
            at += size;
        }
    }
}
