//! One trait for everything that can run a compiled kernel.

use serde::{Deserialize, Serialize};

/// Which device a job wants.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DeviceChoice {
    Emulator,
    /// GPU by CUDA ordinal.
    Gpu(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeviceKind {
    Emulator,
    Gpu,
}

/// What is known of a device. Values that a device does not tell are None.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceInfo {
    pub choice: DeviceChoice,
    pub kind: DeviceKind,
    /// For example `NVIDIA H200`, or `Emulator (2 cores)`.
    pub name: String,
    /// Compute capability as major, minor; for the emulator that of its default architecture.
    pub capability: (u32, u32),
    /// Architecture that kernels are compiled for by default, as in `sm_90a`.
    pub arch: String,
    pub multiprocessors: Option<u32>,
    pub memory_bytes: Option<u64>,
    pub l2_bytes: Option<u64>,
    pub clock_khz: Option<u32>,
    pub memory_clock_khz: Option<u32>,
    pub memory_bus_bits: Option<u32>,
    pub shared_per_block_optin_bytes: Option<u32>,
    pub driver_version: Option<String>,
}

/// Why a device could not do, or finish, what was asked of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum RunError {
    /// The request makes no sense; says what is expected.
    #[error("{0}")]
    BadRequest(String),
    /// The machine lacks something; says what to do.
    #[error("{0}")]
    Environment(String),
    /// The device context is unusable from here on (illegal address and its kin): its process must end.
    #[error("{0}")]
    Sticky(String),
    #[error("stopped")]
    Stopped,
    /// A limit of the run was exceeded; says which and what to do.
    #[error("{0}")]
    Limit(String),
}
