//! What can be asked of a lab and what it answers: plain data that crosses process and machine boundaries
//! (length-prefixed postcard over standard input and output).

use crate::bench_report::BenchReport;
pub use crate::compile::Source;
use crate::compile::{CompileReport, Diagnostic};
use crate::device::{DeviceChoice, DeviceInfo};
use crate::measured::Ceilings;
use crate::spec::{Size, Spec};
use crate::verdict::{CaseReport, RunReport, Verdict};
use ptx_emulator::TraceRequest;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Identifies a job within one lab.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct JobId(pub u64);

/// What to emit beside diagnostics and resources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Emit {
    pub sass: bool,
}

/// One request to a lab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Job {
    /// List devices that this lab can run on.
    Devices,
    /// Compile only. `arch` as in `sm_90a`.
    Compile { source: Source, arch: String, emit: Emit },
    /// Compile and judge against a spec.
    Check {
        source: Source,
        spec: Box<Spec>,
        device: DeviceChoice,
        arch: Option<String>,
        seed: Option<u64>,
        trace: Option<TraceRequest>,
    },
    /// Compile, judge, then time (GPU) or count (emulator).
    Bench {
        source: Source,
        spec: Box<Spec>,
        device: DeviceChoice,
        arch: Option<String>,
        seed: Option<u64>,
        reference: Option<Source>,
    },
    /// Compile and run a free kernel once at each size that is asked for; no oracle needed. One [`Event::Ran`] a size.
    Run {
        source: Source,
        spec: Box<Spec>,
        device: DeviceChoice,
        arch: Option<String>,
        seed: Option<u64>,
        trace: Option<TraceRequest>,
        options: Box<RunOptions>,
    },
    /// Measure this machine's ceilings on a GPU.
    Ceilings { device: DeviceChoice },
}

/// What a free run may be given beside its spec. The default runs at the spec's first size, with inputs by its rules.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunOptions {
    /// Sizes to run at; none for the spec's first.
    pub sizes: Vec<Size>,
    /// What buffers hold before the run, by name: bytes as the kernel sees them, all of the buffer.
    #[serde(with = "named_bytes")]
    pub inputs: Vec<(String, Vec<u8>)>,
    /// Send back whole buffers, not their first elements alone.
    pub whole_outputs: bool,
    /// Longest time that one size may take; None for the usual limit.
    pub time_limit: Option<Duration>,
    /// Another kernel of the same parameters, whose outputs are what is expected.
    pub against: Option<Source>,
    /// NaN and infinity in outputs are what this kernel is for.
    pub may_be_infinite: bool,
    /// Outputs are only written in part.
    pub may_be_partial: bool,
}

/// Buffers by name as serde's bytes: byte by byte, some megabytes take longer to write than to compute with.
mod named_bytes {
    use serde::{Deserialize, Deserializer, Serializer};
    use serde_bytes::{ByteBuf, Bytes};

    pub fn serialize<S: Serializer>(inputs: &[(String, Vec<u8>)], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(inputs.iter().map(|(name, bytes)| (name, Bytes::new(bytes))))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(String, Vec<u8>)>, D::Error> {
        let inputs = Vec::<(String, ByteBuf)>::deserialize(from)?;
        Ok(inputs.into_iter().map(|(name, bytes)| (name, bytes.into_vec())).collect())
    }
}

/// One message back. Every job ends with exactly one [`Event::Finished`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// A short line for a progress display.
    Progress {
        what: String,
        done: u32,
        total: u32,
    },
    Devices(Vec<DeviceInfo>),
    /// Diagnostics, resources, PTX and SASS; sent also when compilation failed.
    Compiled(Box<CompileReport>),
    /// A case was judged.
    Case(Box<CaseReport>),
    /// Text that the kernel printed.
    Console(String),
    Verdict(Box<Verdict>),
    Bench(Box<BenchReport>),
    Ran(Box<RunReport>),
    Ceilings(Box<Ceilings>),
    /// The job's end.
    Finished(Outcome),
}

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Outcome {
    /// It ran to its end; the verdict may still be a fail.
    Done,
    /// The source did not compile; diagnostics were sent.
    CompileErrors(Vec<Diagnostic>),
    Stopped,
    /// The kernel exceeded a limit and its worker was killed; says which limit.
    LimitExceeded(String),
    /// The kernel ended the worker (illegal address, crash); the next job gets a fresh one.
    Crashed(String),
    /// The environment lacks something (NVRTC, GPU, remote host); says what to do.
    Environment(String),
    /// The request makes no sense (missing kernel name, wrong signature, bad spec); says what is expected.
    BadRequest(String),
}

impl Outcome {
    /// Its own sentence, where it has one.
    pub fn why(&self) -> Option<&str> {
        match self {
            Outcome::Done | Outcome::CompileErrors(_) | Outcome::Stopped => None,
            Outcome::LimitExceeded(why)
            | Outcome::Crashed(why)
            | Outcome::Environment(why)
            | Outcome::BadRequest(why) => Some(why),
        }
    }

    /// Why the job was not done, in words; None when it was.
    pub fn trouble(&self) -> Option<&str> {
        match self {
            Outcome::Done => None,
            Outcome::CompileErrors(_) => Some("The kernel does not compile"),
            Outcome::Stopped => Some("Stopped"),
            _ => self.why(),
        }
    }
}
