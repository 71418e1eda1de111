//! What a launch is asked for: the kernel, its shape and arguments, and which checks are made.

use serde::{Deserialize, Serialize};

/// A kernel, its shape and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Kernel name as it stands in the PTX (mangled unless `extern "C"`).
    pub kernel: String,
    /// Blocks along x, y, z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y, z.
    pub block: [u32; 3],
    /// Blocks of a cluster along x, y, z; `[1, 1, 1]` for none (a kernel's own `.reqnctapercluster` counts then).
    pub cluster: [u32; 3],
    pub dynamic_shared_bytes: u32,
    /// The packed argument block, laid out as [`KernelInfo::params`](crate::KernelInfo::params) says.
    pub params: Vec<u8>,
    /// Registers that ptxas gave each thread, for occupancy; None leaves registers out of it.
    pub registers_per_thread: Option<u32>,
    /// A cooperative launch: all blocks must fit on the device at once.
    pub cooperative: bool,
}

impl Launch {
    /// A launch without clusters, dynamic shared memory or arguments.
    pub fn new(kernel: &str, grid: [u32; 3], block: [u32; 3]) -> Launch {
        Launch {
            kernel: kernel.to_owned(),
            grid,
            block,
            cluster: [1, 1, 1],
            dynamic_shared_bytes: 0,
            params: Vec::new(),
            registers_per_thread: None,
            cooperative: false,
        }
    }

    /// Appends one argument, padded to its own size (the natural alignment of scalars and pointers).
    pub fn arg(mut self, bytes: &[u8]) -> Launch {
        let align = bytes.len().next_power_of_two().clamp(1, 16);
        while !self.params.len().is_multiple_of(align) {
            self.params.push(0);
        }
        self.params.extend_from_slice(bytes);
        self
    }

    pub fn arg_u64(self, value: u64) -> Launch {
        self.arg(&value.to_le_bytes())
    }

    pub fn arg_u32(self, value: u32) -> Launch {
        self.arg(&value.to_le_bytes())
    }

    pub fn arg_f32(self, value: f32) -> Launch {
        self.arg(&value.to_le_bytes())
    }

    pub fn shared(mut self, dynamic_bytes: u32) -> Launch {
        self.dynamic_shared_bytes = dynamic_bytes;
        self
    }
}

/// Which checks beyond bounds and alignment (those are always made).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checks {
    pub race: bool,
    pub uninitialised: bool,
    pub barrier: bool,
}

impl Checks {
    pub const ALL: Checks = Checks { race: true, uninitialised: true, barrier: true };
    pub const NONE: Checks = Checks { race: false, uninitialised: false, barrier: false };
}
