//! Kernel launches: arguments, limits, checks, and what becomes of faults.

pub mod occupancy;

use std::ffi::c_void;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use ptx_emulator::{Checks, Conditions, Fault, FaultKind, Launch, Options, Space};

use crate::abi::*;
use crate::loading::module::{FUNCTIONS, Function, Registers};
use crate::process::{self, device, driver, lock};
use crate::work;
use crate::work::order;

/// `CUDA_KERNEL_NODE_PARAMS_v2`.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct KernelNodeParams {
    function: Handle,
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_shared_bytes: u32,
    arguments: *mut *mut c_void,
    extra: *mut *mut c_void,
    kernel: Handle,
    context: Handle,
}

/// `CUDA_KERNEL_NODE_PARAMS_v1`, before kernels were apart from functions.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct OldKernelNodeParams {
    function: Handle,
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_shared_bytes: u32,
    arguments: *mut *mut c_void,
    extra: *mut *mut c_void,
}

impl KernelNodeParams {
    pub fn of_old(old: &OldKernelNodeParams) -> KernelNodeParams {
        let OldKernelNodeParams { function, grid, block, dynamic_shared_bytes, arguments, extra } = *old;
        KernelNodeParams { function, grid, block, dynamic_shared_bytes, arguments, extra, kernel: 0, context: 0 }
    }

    pub fn old(&self) -> OldKernelNodeParams {
        let KernelNodeParams { function, grid, block, dynamic_shared_bytes, arguments, extra, .. } = *self;
        OldKernelNodeParams { function, grid, block, dynamic_shared_bytes, arguments, extra }
    }

    pub fn node(&self) -> Result<KernelNode, CUresult> {
        let shape = Shape {
            grid: self.grid,
            block: self.block,
            cluster: [1; 3],
            dynamic_shared_bytes: self.dynamic_shared_bytes,
            cooperative: false,
        };
        let handle = if self.function != 0 { self.function } else { self.kernel };
        KernelNode::new(handle, shape, self.arguments, self.extra)
    }
}

/// A launch with its arguments.
#[derive(Clone)]
pub struct KernelNode {
    handle: Handle,
    pub function: Arc<Function>,
    shape: Shape,
    /// The argument block, and where each argument lies in it, for programs that ask.
    packed: Arc<Vec<u8>>,
    pointers: Arc<Vec<usize>>,
    priority: i32,
}

#[derive(Clone, Copy)]
pub struct Shape {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub cluster: [u32; 3],
    pub dynamic_shared_bytes: u32,
    pub cooperative: bool,
}

/// `CUlaunchAttribute`: an id, padding, and a union of 64 bytes.
#[repr(C, align(8))]
pub struct Attribute {
    pub id: u32,
    pad: u32,
    pub value: [u32; 16],
}

/// `CUlaunchConfig`.
#[repr(C)]
pub struct Config {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_shared_bytes: u32,
    pub stream: Handle,
    pub attributes: *const Attribute,
    pub attribute_count: u32,
}

impl Config {
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    pub fn dynamic_shared_bytes(&self) -> usize {
        self.dynamic_shared_bytes as usize
    }

    /// Blocks of a cluster; 0 when there are no clusters.
    pub unsafe fn cluster_blocks(&self) -> Result<u32, CUresult> {
        let mut shape =
            Shape { grid: self.grid, block: self.block, cluster: [0; 3], dynamic_shared_bytes: 0, cooperative: false };
        unsafe { shape.take(self) }?;
        Ok(shape.cluster.iter().product())
    }
}

impl Shape {
    /// Takes over a launch's attributes. Most steer scheduling and caches, which do not change results.
    pub unsafe fn take(&mut self, config: &Config) -> Answer {
        if config.attribute_count > 0 && config.attributes.is_null() {
            return Err(INVALID_VALUE);
        }
        for index in 0..config.attribute_count as usize {
            let attribute = unsafe { &*config.attributes.add(index) };
            match attribute.id {
                ATTRIBUTE_COOPERATIVE => self.cooperative = attribute.value[0] != 0,
                // Three zeros are no cluster at all.
                ATTRIBUTE_CLUSTER_DIMENSION if attribute.value[..3] == [0; 3] => {}
                ATTRIBUTE_CLUSTER_DIMENSION => {
                    self.cluster = [attribute.value[0], attribute.value[1], attribute.value[2]]
                }
                // Only nodes of graphs can be changed from a device, and not here.
                ATTRIBUTE_DEVICE_UPDATABLE if attribute.value[0] != 0 => return Err(INVALID_VALUE),
                ATTRIBUTE_SYNC_DOMAINS if attribute.value[0] & 0xff > 3 => return Err(INVALID_VALUE),
                0..=MOST_ATTRIBUTE => {}
                _ => return Err(INVALID_VALUE),
            }
        }
        Ok(())
    }
}

const ATTRIBUTE_SYNC_DOMAINS: u32 = 9;
const ATTRIBUTE_COOPERATIVE: u32 = 2;
const ATTRIBUTE_CLUSTER_DIMENSION: u32 = 4;
pub const ATTRIBUTE_PROGRAMMATIC_EVENT: u32 = 7;
const ATTRIBUTE_PRIORITY: u32 = 8;
pub const ATTRIBUTE_LAUNCH_COMPLETION_EVENT: u32 = 12;
const ATTRIBUTE_DEVICE_UPDATABLE: u32 = 13;
/// Last of `CUlaunchAttributeID` in CUDA 13.
const MOST_ATTRIBUTE: u32 = 17;

/// What a multiprocessor has, and so the most that a block can have.
const REGISTERS_OF_A_BLOCK: u32 = 65536;

/// Markers of the `extra` argument list.
pub const PARAM_END: usize = 0;
pub const PARAM_BUFFER_POINTER: usize = 1;
pub const PARAM_BUFFER_SIZE: usize = 2;

/// Packs arguments as the kernel declares them.
fn pack(function: &Function, arguments: *mut *mut c_void, extra: *mut *mut c_void) -> Result<Vec<u8>, CUresult> {
    let info = &function.info;
    let mut packed = vec![0u8; info.param_bytes as usize];
    if !arguments.is_null() && !extra.is_null() {
        explain(format!("`{}` is given its arguments twice, as a list and as a buffer", info.name));
        return Err(INVALID_VALUE);
    }
    if !arguments.is_null() {
        for (index, param) in info.params.iter().enumerate() {
            let from = unsafe { *arguments.add(index) };
            if from.is_null() {
                explain(format!("argument {index} of `{}` is NULL; it takes {} bytes", info.name, param.bytes));
                return Err(INVALID_VALUE);
            }
            let bytes = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), param.bytes as usize) };
            packed[param.offset as usize..][..bytes.len()].copy_from_slice(bytes);
        }
        return Ok(packed);
    }
    if !extra.is_null() {
        let (mut buffer, mut size) = (std::ptr::null::<u8>(), None);
        let mut at = 0;
        loop {
            match unsafe { *extra.add(at) } as usize {
                PARAM_END => break,
                PARAM_BUFFER_POINTER => buffer = unsafe { *extra.add(at + 1) }.cast(),
                PARAM_BUFFER_SIZE => size = unsafe { (*extra.add(at + 1)).cast::<usize>().as_ref() }.copied(),
                _ => return Err(INVALID_VALUE),
            }
            at += 2;
        }
        // A kernel without parameters takes a buffer of nothing, and none at all.
        if packed.is_empty() && size.unwrap_or(0) == 0 {
            return Ok(packed);
        }
        let (Some(size), false) = (size, buffer.is_null()) else { return Err(INVALID_VALUE) };
        if size > packed.len() {
            explain(format!("{size} bytes of arguments; `{}` takes {}", info.name, packed.len()));
            return Err(LAUNCH_OUT_OF_RESOURCES);
        }
        if size == 0 {
            return Err(INVALID_VALUE);
        }
        packed[..size].copy_from_slice(unsafe { std::slice::from_raw_parts(buffer, size) });
        return Ok(packed);
    }
    if info.params.is_empty() { Ok(packed) } else { Err(INVALID_VALUE) }
}

/// Errors of the launch itself come at once, as CUDA gives them, before anything is queued.
fn check_shape(function: &Function, shape: &Shape) -> Answer {
    let refuse = |code: CUresult, why: String| {
        explain(format!("launch of `{}`: {why}", function.info.name));
        Err(code)
    };
    if let Err(why) = function.info.admits(shape.grid, shape.block) {
        return refuse(INVALID_VALUE, why);
    }
    let threads: u64 = shape.block.iter().map(|n| u64::from(*n)).product();
    if matches!(function.registers, Registers::Known(_)) && threads > function.max_threads() as u64 {
        return refuse(
            LAUNCH_OUT_OF_RESOURCES,
            format!(
                "{threads} threads with {} registers each; a block of this kernel has room for {}",
                function.registers.count(),
                function.max_threads()
            ),
        );
    }
    let most = function.max_dynamic_shared_bytes.load(Ordering::Relaxed);
    if shape.dynamic_shared_bytes > most {
        return refuse(
            INVALID_VALUE,
            format!(
                "{} bytes of dynamic shared memory; {most} are allowed (raise CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)",
                shape.dynamic_shared_bytes
            ),
        );
    }
    let blocks_in_cluster = shape.cluster.iter().try_fold(1u32, |product, blocks| product.checked_mul(*blocks));
    let most_blocks = most_blocks_in_cluster(function);
    if blocks_in_cluster.is_none_or(|blocks| blocks == 0 || blocks > most_blocks) {
        return refuse(
            INVALID_CLUSTER_SIZE,
            format!("a cluster of {:?} blocks; from 1 to {most_blocks} are allowed", shape.cluster),
        );
    }
    if shape.grid.iter().zip(shape.cluster).any(|(grid, cluster)| !grid.is_multiple_of(cluster)) {
        return refuse(
            INVALID_CLUSTER_SIZE,
            format!("the grid {:?} is no multiple of the cluster {:?}", shape.grid, shape.cluster),
        );
    }
    if shape.cooperative {
        let blocks: u64 = shape.grid.iter().map(|n| u64::from(*n)).product();
        let fit = occupancy::blocks_per_multiprocessor(function, threads as i32, shape.dynamic_shared_bytes as usize)
            * device::multiprocessors();
        if blocks > fit as u64 {
            return refuse(
                COOPERATIVE_LAUNCH_TOO_LARGE,
                format!("{blocks} blocks of a cooperative launch; {fit} fit at once"),
            );
        }
    }
    Ok(())
}

/// Most blocks of a cluster: 8 everywhere, 16 for kernels that ask for what not every chip has.
pub fn most_blocks_in_cluster(function: &Function) -> u32 {
    match device::current().major {
        ..9 => 1,
        _ if function.non_portable_cluster.load(Ordering::Relaxed) => device::MOST_BLOCKS_IN_CLUSTER as u32,
        _ => 8,
    }
}

fn options(conditions: Option<Arc<Conditions>>) -> Options {
    let checks = process::checked();
    Options {
        checks: if checks { Checks::ALL } else { Checks::NONE },
        touched: checks && order::wants(),
        counters: false,
        line_counters: false,
        device: Some(device::current().limits),
        conditions,
        ..Options::default()
    }
}

/// The result code that hardware gives for a fault.
fn code_of(fault: &Fault) -> CUresult {
    match fault.kind {
        // Seen on an H200: tensor copies with a bad coordinate or descriptor are illegal instructions.
        FaultKind::OutOfBounds | FaultKind::Misaligned if fault.instruction.contains("cp.async.bulk.tensor") => {
            ILLEGAL_INSTRUCTION
        }
        // The same for shared addresses beyond the window of 16 MiB, and barriers for counts that are not whole warps.
        FaultKind::OutOfBounds if fault.space == Some(Space::Shared) && fault.address.is_some_and(|a| a >> 24 != 0) => {
            ILLEGAL_INSTRUCTION
        }
        FaultKind::BarrierDivergence if fault.message.contains("multiple of 32") => ILLEGAL_INSTRUCTION,
        // Also for shared and local memory, and for a stack that grew too far.
        FaultKind::OutOfBounds | FaultKind::UseAfterFree | FaultKind::StackOverflow => ILLEGAL_ADDRESS,
        FaultKind::Misaligned => MISALIGNED_ADDRESS,
        FaultKind::StepBudget | FaultKind::TimeBudget | FaultKind::Deadlock => LAUNCH_TIMEOUT,
        FaultKind::BadLaunch => INVALID_VALUE,
        FaultKind::Trap if fault.message.contains("ssert") => ASSERT,
        _ => LAUNCH_FAILED,
    }
}

fn describe(fault: &Fault) -> String {
    let mut text = format!("{:?} in `{}`", fault.kind, fault.kernel);
    if let Some(place) = fault.place() {
        text += &format!(" at {place}");
    }
    if let Some(thread) = &fault.thread {
        text += &format!(" block {:?} thread {:?}", thread.block, thread.thread);
    }
    text += &format!(": {}", fault.message);
    // Buffers have no names here: it is their addresses that a program can hold against its own.
    if let Some(address) = fault.address {
        text += &format!("; address {address:#x}");
    }
    if let Some(near) = fault.allocation.as_ref().filter(|near| near.offset.unsigned_abs() < 1 << 32) {
        text += &format!(", `{}` is {:#x} to {:#x}", near.name, near.base, near.base + near.bytes.saturating_sub(1));
    }
    if fault.source.is_none() && !fault.instruction.is_empty() {
        text += &format!(", instruction `{}`", fault.instruction);
    }
    text
}

impl KernelNode {
    pub fn new(
        handle: Handle,
        shape: Shape,
        arguments: *mut *mut c_void,
        extra: *mut *mut c_void,
    ) -> Result<KernelNode, CUresult> {
        let function = FUNCTIONS.get(handle)?;
        check_shape(&function, &shape)?;
        let packed = Arc::new(pack(&function, arguments, extra)?);
        let base = packed.as_ptr().addr();
        let pointers = function.info.params.iter().map(|param| base + param.offset as usize).collect();
        Ok(KernelNode { handle, function, shape, packed, pointers: Arc::new(pointers), priority: 0 })
    }

    pub fn name(&self) -> &str {
        &self.function.info.name
    }

    /// What it was made from; the arguments point into this node.
    pub fn params(&self) -> KernelNodeParams {
        KernelNodeParams {
            function: self.handle,
            grid: self.shape.grid,
            block: self.shape.block,
            dynamic_shared_bytes: self.shape.dynamic_shared_bytes,
            arguments: self.pointers.as_ptr() as *mut *mut c_void,
            extra: std::ptr::null_mut(),
            kernel: 0,
            context: work::current_handle().unwrap_or(0),
        }
    }

    /// The value of a `CUlaunchAttribute`.
    pub fn attribute(&self, id: u32) -> Option<[u32; 16]> {
        let mut value = [0; 16];
        match id {
            ATTRIBUTE_COOPERATIVE => value[0] = u32::from(self.shape.cooperative),
            ATTRIBUTE_CLUSTER_DIMENSION => value[..3].copy_from_slice(&self.shape.cluster),
            ATTRIBUTE_PRIORITY => value[0] = self.priority as u32,
            // The others steer scheduling and caches and are at their defaults.
            0..=MOST_ATTRIBUTE => {}
            _ => return None,
        }
        Some(value)
    }

    pub fn set_attribute(&mut self, id: u32, value: [u32; 16]) -> Answer {
        let mut shape = self.shape;
        match id {
            ATTRIBUTE_COOPERATIVE => shape.cooperative = value[0] != 0,
            ATTRIBUTE_CLUSTER_DIMENSION => shape.cluster = [value[0], value[1], value[2]],
            ATTRIBUTE_PRIORITY => self.priority = value[0] as i32,
            0..=MOST_ATTRIBUTE => {}
            _ => return Err(INVALID_VALUE),
        }
        check_shape(&self.function, &shape)?;
        self.shape = shape;
        Ok(())
    }

    pub fn copy_attributes(&mut self, from: &KernelNode) {
        (self.shape.cooperative, self.shape.cluster) = (from.shape.cooperative, from.shape.cluster);
        self.priority = from.priority;
    }

    /// Runs the kernel to its end; gives the time it took, in nanoseconds.
    pub fn run(&self, conditions: Option<Arc<Conditions>>) -> Result<f64, CUresult> {
        static NEVER: AtomicBool = AtomicBool::new(false);
        // An estimate is no reason to refuse what a compiler may have room for.
        let threads: u32 = self.shape.block.iter().product();
        let registers = match self.function.registers {
            Registers::Known(count) => count,
            Registers::Estimated(count) => count.min(REGISTERS_OF_A_BLOCK / threads.next_multiple_of(32).max(32)),
        };
        let launch = Launch {
            kernel: self.function.info.name.clone(),
            grid: self.shape.grid,
            block: self.shape.block,
            cluster: self.shape.cluster,
            dynamic_shared_bytes: self.shape.dynamic_shared_bytes,
            params: self.packed.to_vec(),
            registers_per_thread: Some(registers),
            cooperative: self.shape.cooperative,
        };
        let mut memory = lock(&driver().memory);
        let started = Instant::now();
        let outcome = ptx_emulator::launch(&self.function.module, &mut memory, &launch, &options(conditions), &NEVER);
        let took_ns = started.elapsed().as_nanos() as f64;
        drop(memory);
        if !outcome.console.is_empty() {
            let mut out = std::io::stdout().lock();
            let _ = out.write_all(outcome.console.as_bytes());
            let _ = out.flush();
        }
        for fault in &outcome.faults {
            explain(describe(fault));
        }
        if let Some(fault) = outcome.faults.first() {
            return Err(code_of(fault));
        }
        let Some(touched) = outcome.touched else { return Ok(took_ns) };
        let race = order::settle(format!("`{}`", self.name()), touched, self.function.module.listens());
        match race {
            Some(race) => {
                explain(race);
                Err(LAUNCH_FAILED)
            }
            None => Ok(took_ns),
        }
    }
}
