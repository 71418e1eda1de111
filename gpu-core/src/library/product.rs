//! One matrix product as cuBLASLt sees it. The library counts in columns: a row-major `c = a * b` is, without moving
//! anything, its product `c' = b' * a'`.

use super::Library;
use crate::cuda::{CudaDevice, Event};
use crate::device::RunError;
use crate::oracle::{self, LibraryProduct};
use crate::spec::{Dtype, Resolved, ResolvedBuffer, ResolvedParam, Role};
use cudarc::cublaslt::result::{self, CublasError};
use cudarc::cublaslt::sys;
use cudarc::driver::sys::CUdeviceptr;
use std::ffi::c_void;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Algorithms asked for; the library knows fewer for most products.
const MOST_ALGORITHMS: usize = 64;
/// Launches by which an algorithm is chosen; the least time counts.
const TRIALS: usize = 5;
const TRIAL_LIMIT: Duration = Duration::from_secs(20);

/// A row-major product that a case of a spec asks for: `c[m,n] = a[m,k] * b`, with `b[k,n]`, or `b[n,k]` when it is
/// stored transposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    pub rows: u64,
    pub columns: u64,
    pub depth: u64,
    pub b_is_transposed: bool,
    /// f32 operands may be rounded to tf32, which tensor cores multiply.
    pub in_tf32: bool,
    pub input: Dtype,
    pub output: Dtype,
    /// Indices of the parameters a, b and c.
    pub operands: [usize; 3],
}

impl Product {
    /// The product that a case is by its oracle, if the library can do it.
    pub fn of(oracle: &str, case: &Resolved) -> Option<Product> {
        let LibraryProduct { b_is_transposed, in_tf32 } = oracle::find(oracle)?.library?;
        // Of codes and scales it knows nothing.
        if !case.views.is_empty() {
            return None;
        }
        let buffers: Vec<(usize, &ResolvedBuffer)> = case
            .params
            .iter()
            .enumerate()
            .filter_map(|(index, param)| match param {
                ResolvedParam::Buffer(buffer) => Some((index, buffer)),
                _ => None,
            })
            .collect();
        let inputs: Vec<_> = buffers.iter().filter(|(_, buffer)| buffer.role == Role::In).collect();
        let outputs: Vec<_> = buffers.iter().filter(|(_, buffer)| buffer.role.is_judged()).collect();
        let ([(a_at, a), (b_at, b)], [(c_at, c)]) = (inputs.as_slice(), outputs.as_slice()) else { return None };
        if a.dtype != b.dtype || a.shape.len() != 2 || c.shape.len() != 2 {
            return None;
        }
        cuda_type(a.dtype)?;
        cuda_type(c.dtype)?;
        Some(Product {
            rows: a.shape[0],
            depth: a.shape[1],
            columns: c.shape[1],
            b_is_transposed,
            in_tf32,
            input: a.dtype,
            output: c.dtype,
            operands: [*a_at, *b_at, *c_at],
        })
    }
}

fn cuda_type(dtype: Dtype) -> Option<sys::cudaDataType> {
    Some(match dtype {
        Dtype::F64 => sys::cudaDataType::CUDA_R_64F,
        Dtype::F32 => sys::cudaDataType::CUDA_R_32F,
        Dtype::F16 => sys::cudaDataType::CUDA_R_16F,
        Dtype::Bf16 => sys::cudaDataType::CUDA_R_16BF,
        Dtype::E4m3 => sys::cudaDataType::CUDA_R_8F_E4M3,
        Dtype::E5m2 => sys::cudaDataType::CUDA_R_8F_E5M2,
        _ => return None,
    })
}

/// A product with its descriptors and the algorithm that is fastest on this GPU.
pub(crate) struct Prepared<'l> {
    library: &'l Library,
    descriptor: sys::cublasLtMatmulDesc_t,
    /// The library's first operand (b), second (a) and result (c).
    layouts: [sys::cublasLtMatrixLayout_t; 3],
    addresses: [CUdeviceptr; 3],
    is_double: bool,
    algorithm: Option<sys::cublasLtMatmulAlgo_t>,
    /// How many algorithms were tried.
    pub tried: usize,
}

impl<'l> Prepared<'l> {
    /// Makes the descriptors, tries every algorithm that the library proposes and keeps the fastest. None when it has
    /// none for this product (FP8 wants extents that are multiples of 16, for example).
    pub fn new(
        library: &'l Library,
        gpu: &CudaDevice,
        product: &Product,
        addresses: [CUdeviceptr; 3],
        stop: &AtomicBool,
    ) -> Result<Option<Self>, RunError> {
        let Some(mut prepared) = Self::describe(library, product, addresses)? else { return Ok(None) };
        let (start, end) = (Event::new()?, Event::new()?);
        let mut best: Option<(f64, sys::cublasLtMatmulAlgo_t)> = None;
        for candidate in prepared.candidates() {
            prepared.algorithm = Some(candidate);
            let mut least = f64::INFINITY;
            for _ in 0..TRIALS {
                gpu.stream.record(&start)?;
                // An algorithm that is proposed and then refused is no rival.
                if prepared.queue(gpu).is_err() {
                    least = f64::INFINITY;
                    break;
                }
                gpu.stream.record(&end)?;
                gpu.stream.wait(Instant::now() + TRIAL_LIMIT, stop)?;
                least = least.min(start.nanos_until(&end)?);
            }
            prepared.tried += usize::from(least.is_finite());
            if best.is_none_or(|(time, _)| least < time) && least.is_finite() {
                best = Some((least, candidate));
            }
        }
        prepared.algorithm = best.map(|(_, algorithm)| algorithm);
        Ok(prepared.algorithm.is_some().then_some(prepared))
    }

    /// The library with how the algorithm was found.
    pub fn name(&self) -> String {
        format!("{}, best of {} algorithms", self.library.name, self.tried)
    }

    /// Queues the product on the device's stream.
    pub fn queue(&self, gpu: &CudaDevice) -> Result<(), RunError> {
        self.queue_at(gpu, self.addresses)
    }

    /// The same with other operands, of the same sizes and at least as well aligned.
    pub fn queue_at(&self, gpu: &CudaDevice, addresses: [CUdeviceptr; 3]) -> Result<(), RunError> {
        let Some(algorithm) = &self.algorithm else {
            return Err(RunError::BadRequest("cuBLASLt has no algorithm for this product".to_owned()));
        };
        let (one, zero) = (1.0f64, 0.0f64);
        let (one_f32, zero_f32) = (1.0f32, 0.0f32);
        let (alpha, beta) = match self.is_double {
            true => ((&raw const one).cast::<c_void>(), (&raw const zero).cast::<c_void>()),
            false => ((&raw const one_f32).cast(), (&raw const zero_f32).cast()),
        };
        let [b, a, c] = self.layouts;
        let [a_at, b_at, c_at] = addresses;
        // SAFETY: descriptors, layouts and handle live as long as `self`; the operands are allocations of the sizes
        // that the layouts tell; scalars are read before the call returns (pointer mode host).
        let status = unsafe {
            result::matmul(
                self.library.handle,
                self.descriptor,
                alpha,
                beta,
                b_at as *const c_void,
                b,
                a_at as *const c_void,
                a,
                c_at as *const c_void,
                c,
                c_at as *mut c_void,
                c,
                algorithm,
                self.library.workspace.address() as *mut c_void,
                self.library.workspace.bytes(),
                gpu.stream.raw().cast(),
            )
        };
        status.map_err(|error| failed("multiplying", error))
    }

    fn describe(
        library: &'l Library,
        product: &Product,
        addresses: [CUdeviceptr; 3],
    ) -> Result<Option<Self>, RunError> {
        let (Some(input), Some(output)) = (cuda_type(product.input), cuda_type(product.output)) else {
            return Ok(None);
        };
        let is_double = product.input == Dtype::F64;
        let (compute, scale) = match (is_double, product.in_tf32) {
            (true, _) => (sys::cublasComputeType_t::CUBLAS_COMPUTE_64F, sys::cudaDataType::CUDA_R_64F),
            (false, true) => (sys::cublasComputeType_t::CUBLAS_COMPUTE_32F_FAST_TF32, sys::cudaDataType::CUDA_R_32F),
            // Where nobody said tf32, an f32 product means f32 arithmetic.
            (false, false) => (sys::cublasComputeType_t::CUBLAS_COMPUTE_32F, sys::cudaDataType::CUDA_R_32F),
        };
        let Product { rows, columns, depth, .. } = *product;
        let layout = |dtype, height: u64, width: u64| {
            result::create_matrix_layout(dtype, height, width, height as i64)
                .map_err(|error| failed("describing a matrix", error))
        };
        let (b_height, b_width) = if product.b_is_transposed { (depth, columns) } else { (columns, depth) };
        let descriptor =
            result::create_matmul_desc(compute, scale).map_err(|error| failed("describing the product", error))?;
        let prepared = Self {
            library,
            descriptor,
            layouts: [layout(input, b_height, b_width)?, layout(input, depth, rows)?, layout(output, columns, rows)?],
            addresses,
            is_double,
            algorithm: None,
            tried: 0,
        };
        if product.b_is_transposed {
            prepared.set(sys::cublasLtMatmulDescAttributes_t::CUBLASLT_MATMUL_DESC_TRANSA, 1i32)?;
        }
        if matches!(product.input, Dtype::E4m3 | Dtype::E5m2) {
            // The library's faster way of adding up 8-bit products, and that of plain matrix instructions.
            prepared.set(sys::cublasLtMatmulDescAttributes_t::CUBLASLT_MATMUL_DESC_FAST_ACCUM, 1i8)?;
        }
        Ok(Some(prepared))
    }

    fn set<T>(&self, attribute: sys::cublasLtMatmulDescAttributes_t, value: T) -> Result<(), RunError> {
        // SAFETY: the descriptor is alive; the attribute takes a value of this size, which is copied.
        let status = unsafe {
            result::set_matmul_desc_attribute(self.descriptor, attribute, (&raw const value).cast(), size_of::<T>())
        };
        status.map_err(|error| failed("setting an attribute of the product", error))
    }

    /// The algorithms that the library proposes, its favourite first; none when it cannot do the product.
    fn candidates(&self) -> Vec<sys::cublasLtMatmulAlgo_t> {
        let Ok(preference) = result::create_matmul_pref() else { return Vec::new() };
        let workspace = self.library.workspace.bytes();
        let [b, a, c] = self.layouts;
        // SAFETY: all-zero bytes are a valid value of this plain structure.
        let mut found = vec![unsafe { std::mem::zeroed::<sys::cublasLtMatmulHeuristicResult_t>() }; MOST_ALGORITHMS];
        let mut count = 0;
        // SAFETY: every object lives through the calls, and `found` has room for as many results as are asked for.
        let asked = unsafe {
            result::set_matmul_pref_attribute(
                preference,
                sys::cublasLtMatmulPreferenceAttributes_t::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                (&raw const workspace).cast(),
                size_of::<usize>(),
            )
            .and_then(|()| {
                sys::cublasLtMatmulAlgoGetHeuristic(
                    self.library.handle,
                    self.descriptor,
                    b,
                    a,
                    c,
                    c,
                    preference,
                    MOST_ALGORITHMS as i32,
                    found.as_mut_ptr(),
                    &raw mut count,
                )
                .result()
            })
        };
        // SAFETY: created above.
        let _ = unsafe { result::destroy_matmul_pref(preference) };
        if asked.is_err() {
            return Vec::new();
        }
        found.truncate(usize::try_from(count).unwrap_or(0));
        found.iter().filter(|found| found.state.result().is_ok()).map(|found| found.algo).collect()
    }
}

impl Drop for Prepared<'_> {
    fn drop(&mut self) {
        // SAFETY: created in `describe`, destroyed nowhere else; these are host objects.
        unsafe {
            let _ = result::destroy_matmul_desc(self.descriptor);
            for layout in self.layouts {
                let _ = result::destroy_matrix_layout(layout);
            }
        }
    }
}

fn failed(what: &str, error: CublasError) -> RunError {
    RunError::Environment(format!("cuBLASLt failed at {what}: {error}"))
}
