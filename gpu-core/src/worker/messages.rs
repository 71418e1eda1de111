//! Everything that crosses between the processes of a lab. `wire.rs` fingerprints this file.

use crate::bench::Ceilings;
use crate::compile::build::BuildFailure;
use crate::compile::{CompileReport, Toolchain};
use crate::device::{DeviceChoice, DeviceInfo, RunError};
use crate::job::{Event, Job, JobId, RunOptions, Source};
use crate::spec::Spec;
use ptx_emulator::TraceRequest;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// What a job may use before its worker is killed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Wall-clock time of one compilation.
    pub compile_time: Duration,
    /// Address space of a compile worker, in bytes.
    pub compile_memory_bytes: u64,
    /// Wall-clock time that a check or run may go on with no case finished.
    pub run_time: Duration,
    /// The same for benchmarks, where one point is many launches.
    pub bench_time: Duration,
    /// Address space of the emulator's worker, in bytes. A GPU's worker has no such limit: CUDA reserves far more
    /// address space than memory.
    pub emulator_memory_bytes: u64,
    /// Printed text kept of one job, in bytes.
    pub console_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            compile_time: Duration::from_secs(20),
            compile_memory_bytes: 4 << 30,
            run_time: Duration::from_secs(10),
            bench_time: Duration::from_secs(60),
            emulator_memory_bytes: 16 << 30,
            console_bytes: 1 << 20,
        }
    }
}

/// What a lab consists of at the moment, for status lines and `doctor`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LabStatus {
    /// The compiler that was found; None while searching or when `problem` tells otherwise.
    pub toolchain: Option<Toolchain>,
    /// As in `13.5`, once a compile worker has loaded it.
    pub nvrtc_version: Option<String>,
    /// Compute capabilities that the compiler knows, as in 90.
    pub nvrtc_archs: Vec<u32>,
    /// How compile workers are confined on this system, for people.
    pub jail: Option<String>,
    /// What keeps the lab from working, with what to do; None when all is well so far.
    pub problem: Option<String>,
    /// None until the devices were listed for the first time.
    pub devices: Option<Vec<DeviceInfo>>,
    pub workers: Vec<WorkerStatus>,
    /// The command of a remote lab.
    pub remote: Option<String>,
    /// Whether the other end of a remote lab has answered.
    pub connected: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerStatus {
    /// `compile`, `emulator`, `gpu 0`.
    pub role: String,
    /// Process id on the machine where it runs.
    pub pid: u32,
    pub busy: bool,
}

/// To a lab behind standard input and output.
#[derive(Serialize, Deserialize)]
pub enum ToSupervisor {
    Limits(Limits),
    Submit(JobId, Box<Job>),
    Stop(JobId),
}

#[derive(Serialize, Deserialize)]
pub enum FromSupervisor {
    Event(JobId, Event),
    Status(Box<LabStatus>),
}

/// To a compile worker.
#[derive(Serialize, Deserialize)]
pub enum ToCompiler {
    /// First message: load, then go to jail.
    Start {
        toolchain: Toolchain,
        /// Where NVRTC may write its bundled headers when the toolchain has none.
        headers_dir: Option<PathBuf>,
        memory_bytes: u64,
    },
    Compile {
        source: Source,
        arch: String,
    },
}

#[derive(Serialize, Deserialize)]
pub enum FromCompiler {
    Ready {
        version: String,
        archs: Vec<u32>,
        jail: String,
        /// What went wrong without being fatal.
        notes: Vec<String>,
    },
    /// It cannot work; says why and what to do.
    Unusable(String),
    Built(Result<Box<CompileReport>, BuildFailure>),
}

/// To a device worker.
#[derive(Serialize, Deserialize)]
pub enum ToDevice {
    List,
    Open {
        choice: DeviceChoice,
        /// See [`Limits::emulator_memory_bytes`].
        memory_bytes: u64,
    },
    Task {
        task: Box<Task>,
        console_bytes: u64,
    },
    /// End the running task soon.
    Stop,
}

/// Work for an open device.
#[derive(Serialize, Deserialize)]
pub enum Task {
    Check {
        compiled: CompileReport,
        /// [`CheckRequest::branch`](crate::judge::CheckRequest::branch).
        branch: Option<Box<CompileReport>>,
        spec: Spec,
        seed: Option<u64>,
        trace: Option<TraceRequest>,
    },
    Bench {
        compiled: CompileReport,
        reference: Option<Box<CompileReport>>,
        spec: Spec,
        seed: Option<u64>,
        /// cuBLASLt's file on this machine.
        library: Option<PathBuf>,
        /// Measured before.
        ceilings: Option<Box<Ceilings>>,
    },
    Run {
        compiled: CompileReport,
        against: Option<Box<CompileReport>>,
        spec: Spec,
        seed: Option<u64>,
        trace: Option<TraceRequest>,
        options: Box<RunOptions>,
    },
    Ceilings {
        probes: Option<CompileReport>,
    },
}

#[derive(Serialize, Deserialize)]
pub enum FromDevice {
    Devices(Vec<DeviceInfo>),
    Opened(Result<DeviceInfo, RunError>),
    Event(Event),
    Done(Result<(), RunError>),
}
