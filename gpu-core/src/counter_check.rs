//! Holds the emulator's counters against the hardware's, on kernels whose memory accesses are awkward on purpose
//! (`kernels/probes/counters.cu`).
//!
//! The hardware's side is measured by Nsight Compute, now or earlier: `assets/recorded/` keeps what an H200 counted,
//! so that the comparison can be made with no GPU at hand.

use std::sync::atomic::AtomicBool;

use ptx_emulator::{Counters, Launch, LoadError, Memory, Module, Options};
use serde::Deserialize;
use thiserror::Error;

/// CUDA source of the probes.
pub const SOURCE: &str = include_str!("../../kernels/probes/counters.cu");
const TABLE: &str = include_str!("../../kernels/probes/counters.toml");
const RECORDED: &str = include_str!("../../assets/recorded/counters-h200.json");

/// 32-bit words in each of the two buffers: 16 MiB, so that every probe's farthest access is inside.
const WORDS: usize = 1 << 22;

/// One probe launch.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Probe(pub String, pub i32);

/// The table of launches.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Probes {
    /// Blocks of each launch.
    pub grid: u32,
    /// Threads of each block.
    pub block: u32,
    pub cases: Vec<Probe>,
}

impl Probes {
    pub fn load() -> Probes {
        toml::from_str(TABLE).unwrap_or(Probes { grid: 0, block: 0, cases: Vec::new() })
    }
}

/// One counter: its name in reports, Nsight Compute's metric, and where the emulator keeps it.
pub struct Counter {
    pub name: &'static str,
    pub metric: &'static str,
    pub emulated: fn(&Counters) -> u64,
}

/// The counters that must agree exactly. (Nsight Compute also counts shared-memory *instructions*, with those of warps
/// whose lanes are all switched off; they touch no memory and are no requests, so they are not compared.)
pub const COUNTERS: &[Counter] = &[
    Counter {
        name: "global_load_requests",
        metric: "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
        emulated: |c| c.global_load.requests,
    },
    Counter {
        name: "global_load_sectors",
        metric: "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
        emulated: |c| c.global_load.sectors,
    },
    Counter {
        name: "global_store_requests",
        metric: "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
        emulated: |c| c.global_store.requests,
    },
    Counter {
        name: "global_store_sectors",
        metric: "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
        emulated: |c| c.global_store.sectors,
    },
    Counter {
        name: "shared_load_wavefronts",
        metric: "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
        emulated: |c| c.shared_load.wavefronts,
    },
    Counter {
        name: "shared_load_bank_conflicts",
        metric: "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
        emulated: |c| c.shared_load.bank_conflicts,
    },
    Counter {
        name: "shared_store_wavefronts",
        metric: "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
        emulated: |c| c.shared_store.wavefronts,
    },
    Counter {
        name: "shared_store_bank_conflicts",
        metric: "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
        emulated: |c| c.shared_store.bank_conflicts,
    },
    Counter {
        name: "atomic_requests",
        metric: "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
        emulated: |c| c.global_atomic.requests,
    },
    Counter {
        name: "atomic_sectors",
        metric: "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
        emulated: |c| c.global_atomic.sectors,
    },
    Counter {
        name: "reduction_requests",
        metric: "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
        emulated: |c| c.global_reduction.requests,
    },
    Counter {
        name: "reduction_sectors",
        metric: "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
        emulated: |c| c.global_reduction.sectors,
    },
];

/// Every metric to ask Nsight Compute for.
pub fn metrics() -> Vec<&'static str> {
    COUNTERS.iter().map(|counter| counter.metric).collect()
}

/// Names of the figures of a [`Row`], in order.
pub fn names() -> Vec<&'static str> {
    COUNTERS.iter().map(|counter| counter.name).collect()
}

/// Figures of one launch, in the order of [`names`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub probe: Probe,
    pub figures: Vec<u64>,
}

/// Why the emulator's side could not be had.
#[derive(Debug, Error)]
pub enum CheckError {
    #[error("the probes' PTX cannot be run: {0}")]
    Load(#[from] LoadError),
    #[error("{0}")]
    Run(String),
}

/// Input words: small whole numbers as f32, from a fixed sequence (traffic does not depend on them).
pub fn input() -> Vec<f32> {
    (0..WORDS as u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 22) as f32).collect()
}

/// Bytes of each of the two buffers.
pub const BUFFER_BYTES: usize = WORDS * 4;

/// Runs every probe on the emulator.
///
/// # Errors
/// When the PTX cannot be loaded, or a probe faults.
pub fn emulate(ptx: &str) -> Result<Vec<Row>, CheckError> {
    let module = Module::load(ptx)?;
    let mut memory = Memory::new(1 << 30);
    let refused = |error: ptx_emulator::MemoryError| CheckError::Run(error.to_string());
    let input_at = memory.alloc("in", BUFFER_BYTES as u64).map_err(refused)?;
    let bytes: Vec<u8> = input().iter().flat_map(|value| value.to_le_bytes()).collect();
    memory.write(input_at, &bytes).map_err(refused)?;
    let out_at = memory.alloc("out", BUFFER_BYTES as u64).map_err(refused)?;
    memory.write(out_at, &vec![0; BUFFER_BYTES]).map_err(refused)?;
    let probes = Probes::load();
    let options = Options { line_counters: false, ..Options::default() };
    let mut rows = Vec::new();
    for probe in &probes.cases {
        let launch = Launch::new(&probe.0, [probes.grid, 1, 1], [probes.block, 1, 1])
            .arg_u64(out_at)
            .arg_u64(input_at)
            .arg_u32(probe.1 as u32);
        let outcome = ptx_emulator::launch(&module, &mut memory, &launch, &options, &AtomicBool::new(false));
        if let Some(fault) = outcome.faults.first() {
            return Err(CheckError::Run(format!("{} with k = {}: {}", probe.0, probe.1, fault.message)));
        }
        let counters = &outcome.counters;
        let figures = COUNTERS.iter().map(|counter| (counter.emulated)(counters)).collect();
        rows.push(Row { probe: probe.clone(), figures });
    }
    Ok(rows)
}

/// Figures of a launch that Nsight Compute measured.
pub fn measured(probe: &Probe, launch: &crate::ncu::LaunchMetrics) -> Row {
    let value = |metric: &str| launch.values.get(metric).copied().unwrap_or(f64::NAN).round() as u64;
    let figures = COUNTERS.iter().map(|counter| value(counter.metric)).collect();
    Row { probe: probe.clone(), figures }
}

#[derive(Deserialize)]
struct Recording {
    machine: String,
    date: String,
    launches: Vec<serde_json::Map<String, serde_json::Value>>,
}

/// What an H200 counted: machine and date, and one row per launch.
///
/// # Errors
/// When the recording cannot be read; says where.
pub fn recorded() -> Result<(String, Vec<Row>), String> {
    let recording: Recording = serde_json::from_str(RECORDED).map_err(|error| error.to_string())?;
    let rows = recording
        .launches
        .iter()
        .map(|launch| {
            let number = |key: &str| launch.get(key).and_then(serde_json::Value::as_u64);
            let kernel = launch.get("kernel").and_then(|value| value.as_str()).ok_or("a launch has no kernel")?;
            let k = launch.get("k").and_then(serde_json::Value::as_i64).ok_or("a launch has no k")? as i32;
            let mut figures: Vec<u64> = Vec::new();
            for counter in COUNTERS {
                figures.push(number(counter.name).ok_or_else(|| format!("{kernel}: no {}", counter.name))?);
            }
            Ok(Row { probe: Probe(kernel.to_owned(), k), figures })
        })
        .collect::<Result<Vec<Row>, String>>()?;
    Ok((format!("{}, {}", recording.machine, recording.date), rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recording_covers_the_table() {
        let (machine, rows) = recorded().expect("readable");
        assert!(machine.contains("H200"));
        let probes: Vec<Probe> = rows.into_iter().map(|row| row.probe).collect();
        assert_eq!(probes, Probes::load().cases);
        assert!(probes.len() >= 20);
    }

    #[test]
    fn measured_rows_line_up_with_names() {
        let mut launch = crate::ncu::LaunchMetrics::default();
        for (index, metric) in metrics().into_iter().enumerate() {
            launch.values.insert(metric.to_owned(), index as f64);
        }
        let row = measured(&Probe("g_stride".into(), 1), &launch);
        assert_eq!(row.figures, (0..names().len() as u64).collect::<Vec<u64>>());
    }
}
