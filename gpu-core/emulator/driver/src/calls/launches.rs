//! Calls that launch kernels.

use std::ffi::c_void;
use std::sync::Arc;

use crate::abi::*;
use crate::graph::{Operation, submit};
use crate::launch::*;
use crate::work::{self, event};

/// Events that the launch records. Both kinds are without times, and of this process.
unsafe fn events(config: &Config) -> Result<Vec<Handle>, CUresult> {
    let mut events = Vec::new();
    for index in 0..config.attribute_count as usize {
        let attribute = unsafe { &*config.attributes.add(index) };
        if !matches!(attribute.id, ATTRIBUTE_PROGRAMMATIC_EVENT | ATTRIBUTE_LAUNCH_COMPLETION_EVENT) {
            continue;
        }
        let [low, high, flags, ..] = attribute.value;
        let event = (u64::from(high) << 32 | u64::from(low)) as Handle;
        if flags != 0 || !event::find(event)?.is_plain() {
            return Err(INVALID_VALUE);
        }
        events.push(event);
    }
    Ok(events)
}

fn launch(
    handle: Handle,
    shape: Shape,
    stream: Handle,
    arguments: *mut *mut c_void,
    extra: *mut *mut c_void,
) -> Answer {
    let (context, stream) = work::stream(stream)?;
    // A launch that cannot be is an error of the capture that it was meant for.
    let refused = |code: CUresult| {
        if let Some(capture) = stream.capture() {
            capture.invalidate();
        }
        code
    };
    let kernel = KernelNode::new(handle, shape, arguments, extra).map_err(refused)?;
    if kernel.function.owner != 0 && kernel.function.owner != work::home(&stream)? {
        return Err(refused(INVALID_HANDLE));
    }
    submit(&stream, &context, Operation::Kernel(Arc::new(kernel))).map(drop)
}

/// Launches with arguments that are packed already.
pub fn launch_packed(
    function: Handle,
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_shared_bytes: u32,
    stream: Handle,
    arguments: &[u8],
) -> Answer {
    let shape = Shape { grid, block, cluster: [1; 3], dynamic_shared_bytes, cooperative: false };
    let mut size = arguments.len();
    let mut extra = [
        PARAM_BUFFER_POINTER as *mut c_void,
        arguments.as_ptr().cast_mut().cast(),
        PARAM_BUFFER_SIZE as *mut c_void,
        (&raw mut size).cast(),
        PARAM_END as *mut c_void,
    ];
    let extra = if arguments.is_empty() { std::ptr::null_mut() } else { extra.as_mut_ptr() };
    launch(function, shape, stream, std::ptr::null_mut(), extra)
}

api_with_streams! {
    fn cuLaunchKernel(
        function: Handle, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32,
        dynamic_shared_bytes: u32, stream: Handle, arguments: *mut *mut c_void, extra: *mut *mut c_void,
    ) {
        let shape = Shape {
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            cluster: [1; 3],
            dynamic_shared_bytes,
            cooperative: false,
        };
        launch(function, shape, stream, arguments, extra)
    }
    fn cuLaunchCooperativeKernel(
        function: Handle, grid_x: u32, grid_y: u32, grid_z: u32, block_x: u32, block_y: u32, block_z: u32,
        dynamic_shared_bytes: u32, stream: Handle, arguments: *mut *mut c_void,
    ) {
        let shape = Shape {
            grid: [grid_x, grid_y, grid_z],
            block: [block_x, block_y, block_z],
            cluster: [1; 3],
            dynamic_shared_bytes,
            cooperative: true,
        };
        launch(function, shape, stream, arguments, std::ptr::null_mut())
    }
    fn cuLaunchKernelEx(config: *const Config, function: Handle, arguments: *mut *mut c_void, extra: *mut *mut c_void) {
        let config = config.as_ref().ok_or(INVALID_VALUE)?;
        let mut shape = Shape {
            grid: config.grid,
            block: config.block,
            cluster: [1; 3],
            dynamic_shared_bytes: config.dynamic_shared_bytes,
            cooperative: false,
        };
        shape.take(config)?;
        let events = events(config)?;
        launch(function, shape, config.stream, arguments, extra)?;
        // No later than when the kernel is done, which both kinds allow.
        events.into_iter().try_for_each(|event| event::record(event, config.stream))
    }
}
