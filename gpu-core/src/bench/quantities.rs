//! What can be asked of a run by name: one list for milestones, predictions, counters and `--json`.

use super::{BenchPoint, BenchReport, KernelFacts};
use crate::compile::CompileReport;
use crate::profile::occupancy;
use crate::spec::toml_reader::is_identifier;
use crate::spec::{Resolved, ResolvedLaunch, Role, Spec};
use crate::verdict::{CaseReport, RunReport, Verdict};
use ptx_emulator::{Counters, Traffic};

/// What a run left behind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence<'a> {
    pub verdict: Option<&'a Verdict>,
    pub bench: Option<&'a BenchReport>,
    /// Of a kernel that nobody judges.
    pub ran: Option<&'a RunReport>,
    /// Case or bench point that is meant; None for the last (largest).
    pub case: Option<&'a str>,
    /// What is known of the compiled kernel.
    pub kernel: KernelFacts,
    /// A point by itself, in place of a report.
    pub alone: Option<&'a BenchPoint>,
    /// Key of the rival that is meant; None for the fastest.
    pub rival: Option<&'a str>,
}

impl KernelFacts {
    /// Of a compiled kernel at a case.
    pub fn of(compiled: &CompileReport, spec: &Spec, case: &Resolved) -> Self {
        // Of several steps the learner's first.
        let own = |launch: &&ResolvedLaunch| spec.steps.get(launch.step).is_some_and(|step| step.given.is_none());
        let geometry = case.launches.iter().find(own).map(|launch| launch.geometry);
        let resources = compiled.kernels.iter().find(|kernel| kernel.name == spec.entry());
        let scratch = case.buffers().filter(|buffer| buffer.role == Role::Scratch);
        Self {
            registers: resources.map(|kernel| f64::from(kernel.registers)).filter(|registers| *registers > 0.0),
            occupancy: resources.zip(geometry).and_then(|(kernel, geometry)| {
                let shared = kernel.static_shared_bytes + geometry.dynamic_shared_bytes;
                occupancy::share(&compiled.arch, geometry.block.iter().product(), kernel.registers, shared)
            }),
            workspace_bytes: Some(scratch.map(|buffer| buffer.bytes()).sum::<u64>() as f64),
            error: None,
        }
    }
}

/// What was measured of the first output with a metric of its own, in the last case that has one; else the largest error
/// in units of the tolerance.
pub fn error_of(verdict: &Verdict) -> Option<f64> {
    let own = |case: &CaseReport| {
        case.outputs.iter().find(|output| output.metric != "elementwise").map(|output| output.measured)
    };
    let measured = verdict.cases.iter().rev().find_map(own);
    measured.or_else(|| verdict.cases.iter().map(|case| case.worst_error_ratio).reduce(f64::max))
}

impl<'a> Evidence<'a> {
    /// The bench point that is meant; a rejected one is no measurement.
    fn point(&self) -> Option<&'a BenchPoint> {
        let wanted = |point: &&BenchPoint| self.case.is_none_or(|case| case == point.name);
        let found = self.alone.or_else(|| self.bench?.points.iter().rfind(wanted));
        found.filter(|point| point.rejected.is_none())
    }

    fn error(&self) -> Option<f64> {
        self.kernel.error.or_else(|| error_of(self.verdict?))
    }
}

/// Where a quantity can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// The emulator: everywhere.
    Emulator,
    /// A GPU: it is a time.
    Gpu,
}

/// One row of [`QUANTITIES`].
pub struct Quantity {
    /// The word in `quiz.toml` and `exercise.toml`.
    pub name: &'static str,
    /// Empty for a bare count. What is in `%` a milestone bounds as a share from 0 to 1.
    pub unit: &'static str,
    pub what: &'static str,
    pub needs: Needs,
    /// Whether a milestone of this name bounds it from below.
    pub is_at_least: bool,
    read: fn(&Evidence<'_>) -> Option<f64>,
}

/// The quantity whose name may go on with a rival's key: `share_of_rival.cub`.
pub const OF_RIVAL: &str = "share_of_rival";

impl Quantity {
    /// Whether it needs another program, timed in turns with the kernel: a run without one says nothing.
    pub fn is_beside(&self) -> bool {
        ["share_of_library", "share_of_reference", OF_RIVAL].contains(&self.name)
    }

    /// The value in its unit, or None where the run did not give it (no such case, no counters, no timing).
    pub fn measure(&self, evidence: &Evidence<'_>) -> Option<f64> {
        let scale = if self.unit == "%" { 100.0 } else { 1.0 };
        self.value(evidence).map(|value| scale * value)
    }

    /// The same, with shares from 0 to 1.
    pub fn value(&self, evidence: &Evidence<'_>) -> Option<f64> {
        (self.read)(evidence).filter(|value| value.is_finite())
    }
}

/// Finds a quantity by name; that of rivals also with a rival's key.
pub fn quantity(name: &str) -> Option<&'static Quantity> {
    let row = rival_of(name).map_or(name, |_| OF_RIVAL);
    QUANTITIES.iter().find(|quantity| quantity.name == row)
}

/// The rival that a name such as `share_of_rival.cub` asks for.
pub fn rival_of(name: &str) -> Option<&str> {
    let key = name.strip_prefix(OF_RIVAL)?.strip_prefix('.')?;
    is_identifier(key).then_some(key)
}

/// [`Quantity::measure`] by name.
pub fn measure(name: &str, evidence: &Evidence<'_>) -> Option<f64> {
    quantity(name)?.measure(&Evidence { rival: rival_of(name), ..*evidence })
}

/// Every quantity, by name.
pub static QUANTITIES: &[Quantity] = &[
    Quantity {
        name: "async_bytes",
        unit: "bytes",
        what: "bytes that asynchronous copies moved",
        needs: Needs::Emulator,
        is_at_least: true,
        read: |e| counters(e).map(|c| c.async_copy_bytes as f64),
    },
    Quantity {
        name: "bank_conflicts",
        unit: "",
        what: "extra passes over the shared-memory banks: loads, stores and atomics",
        needs: Needs::Emulator,
        is_at_least: false,
        read: |e| {
            counters(e).map(|c| {
                let kinds = [&c.shared_load, &c.shared_store, &c.shared_atomic];
                kinds.iter().map(|traffic| traffic.bank_conflicts).sum::<u64>() as f64
            })
        },
    },
    Quantity {
        name: "bytes_over_least",
        unit: "",
        what: "bytes of sectors (loads, stores, atomics, reductions) and of the copy engine, as a multiple of the fewest that any kernel must move",
        needs: Needs::Emulator,
        is_at_least: false,
        read: |e| {
            let (counters, point) = (counters(e)?, e.point()?);
            let Counters { global_load, global_store, global_atomic, global_reduction, .. } = counters;
            let traffic = [global_load, global_store, global_atomic, global_reduction];
            let sectors: u64 = traffic.iter().map(|traffic| traffic.sectors).sum();
            // What `cp.async` moves is among the loads.
            per(32.0 * sectors as f64 + counters.bulk_copy_bytes as f64, point.bytes)
        },
    },
    Quantity {
        name: "divergent_branches",
        unit: "",
        what: "how often a warp split at a branch",
        needs: Needs::Emulator,
        is_at_least: false,
        read: |e| counters(e).map(|c| c.divergent_branches as f64),
    },
    Quantity {
        name: "error_metric",
        unit: "",
        what: "what was measured of the output with a metric of its own",
        needs: Needs::Emulator,
        is_at_least: false,
        read: |e| e.error(),
    },
    Quantity {
        name: "faults",
        unit: "",
        what: "different faults found by the emulator's checks",
        needs: Needs::Emulator,
        is_at_least: false,
        read: |e| e.verdict.map(|verdict| verdict.faults().len() as f64),
    },
    Quantity {
        name: "gigabytes_per_second",
        unit: "GB/s",
        what: "bytes that the exercise must move, divided by the median time",
        needs: Needs::Gpu,
        is_at_least: true,
        read: |e| e.point().and_then(|p| Some(p.bytes / p.stats?.median_ns)),
    },
    Quantity {
        name: "global_atomics",
        unit: "",
        what: "atomics on global memory whose old value is used; what up to 32 threads of a warp do together counts once",
        needs: Needs::Emulator,
        is_at_least: false,
        read: |e| counters(e).map(|c| c.global_atomic.requests as f64),
    },
    Quantity {
        name: "global_reduction_bytes",
        unit: "bytes",
        what: "bytes that threads send to global memory in atomics whose old value nobody uses",
        needs: Needs::Emulator,
        is_at_least: false,
        read: |e| counters(e).map(|c| c.global_reduction.bytes as f64),
    },
    Quantity {
        name: "global_reductions",
        unit: "",
        what: "atomics on global memory whose old value nobody uses; what up to 32 threads of a warp do together counts once",
        needs: Needs::Emulator,
        is_at_least: false,
        read: |e| counters(e).map(|c| c.global_reduction.requests as f64),
    },
    Quantity {
        name: "instructions_per_byte",
        unit: "",
        what: "instructions of threads for each byte of global memory that they load or store",
        needs: Needs::Emulator,
        is_at_least: false,
        read: |e| {
            counters(e)
                .and_then(|c| per(c.thread_instructions as f64, (c.global_load.bytes + c.global_store.bytes) as f64))
        },
    },
    Quantity {
        name: "load_bytes",
        unit: "bytes",
        what: "bytes that threads read from global memory",
        needs: Needs::Emulator,
        is_at_least: false,
        read: |e| counters(e).map(|c| c.global_load.bytes as f64),
    },
    Quantity {
        name: "load_requests",
        unit: "",
        what: "loads from global memory; what up to 32 threads of a warp load together counts once",
        needs: Needs::Emulator,
        is_at_least: false,
        read: |e| counters(e).map(|c| c.global_load.requests as f64),
    },
    Quantity {
        name: "load_requests_per_kib",
        unit: "",
        what: "loads of a warp for each KiB that threads load from global memory",
        needs: Needs::Emulator,
        is_at_least: false,
        read: |e| counters(e).and_then(|c| per(1024.0 * c.global_load.requests as f64, c.global_load.bytes as f64)),
    },
    Quantity {
        name: "load_sectors",
        unit: "",
        what: "32-byte sectors that loads from global memory touched",
        needs: Needs::Emulator,
        is_at_least: false,
        read: |e| counters(e).map(|c| c.global_load.sectors as f64),
    },
    Quantity {
        name: "load_sectors_per_128_bytes",
        unit: "",
        what: "sectors for each 128 bytes loaded",
        needs: Needs::Emulator,
        is_at_least: false,
        read: |e| counters(e).and_then(|c| per(32.0 * 4.0 * c.global_load.sectors as f64, c.global_load.bytes as f64)),
    },
    Quantity {
        name: "load_sectors_per_request",
        unit: "",
        what: "sectors of 32 bytes that a load of a warp touches, on average",
        needs: Needs::Emulator,
        is_at_least: false,
        read: |e| counters(e).and_then(|c| per_request(&c.global_load)),
    },
    Quantity {
        name: "loads_per_multiply_add",
        unit: "",
        what: "global loads for each multiply-add",
        needs: Needs::Emulator,
        is_at_least: false,
        read: |e| {
            // Bytes of cp.async are in both counts, those of the copy engine in the second alone.
            let c = counters(e)?;
            per(c.global_load.bytes.max(c.async_copy_bytes) as f64 / 4.0, e.point()?.flops / 2.0)
        },
    },
    Quantity {
        name: "matrix_ops",
        unit: "",
        what: "operations that matrix instructions did",
        needs: Needs::Emulator,
        is_at_least: true,
        read: |e| counters(e).map(|c| 2.0 * c.matrix_multiply_adds as f64),
    },
    Quantity {
        name: "median_us",
        unit: "us",
        what: "median time of one launch",
        needs: Needs::Gpu,
        is_at_least: false,
        read: |e| e.point().and_then(|p| Some(p.stats?.median_ns / 1e3)),
    },
    Quantity {
        name: "never_written",
        unit: "",
        what: "output elements among the listed mismatches that no thread wrote",
        needs: Needs::Emulator,
        is_at_least: false,
        read: |e| {
            let verdict = e.verdict?;
            let case = verdict.cases.iter().rfind(|case| e.case.is_none_or(|name| case.name == name))?;
            Some(case.mismatches.iter().filter(|mismatch| mismatch.never_written).count() as f64)
        },
    },
    Quantity {
        name: "occupancy",
        unit: "%",
        what: "warps that a multiprocessor can hold of this kernel, as a share of the most",
        needs: Needs::Emulator,
        is_at_least: true,
        read: |e| e.kernel.occupancy,
    },
    Quantity {
        name: "registers",
        unit: "",
        what: "registers of a thread",
        needs: Needs::Emulator,
        is_at_least: false,
        read: |e| e.kernel.registers,
    },
    Quantity {
        name: "share_of_ceiling",
        unit: "%",
        what: "speed as a share of this machine's measured ceiling",
        needs: Needs::Gpu,
        is_at_least: true,
        read: |e| e.point().and_then(|p| p.share_of_ceiling),
    },
    Quantity {
        name: "share_of_library",
        unit: "%",
        what: "speed as a share of the vendor's library",
        needs: Needs::Gpu,
        is_at_least: true,
        read: |e| e.point().and_then(BenchPoint::of_library),
    },
    Quantity {
        name: "share_of_reference",
        unit: "%",
        what: "speed as a share of the reference kernel, timed in the same run",
        needs: Needs::Gpu,
        is_at_least: true,
        read: |e| e.point().and_then(|p| Some(p.reference?.median_ns / p.stats?.median_ns)),
    },
    Quantity {
        name: OF_RIVAL,
        unit: "%",
        what: "speed as a share of another library's program, timed in turns with it; of the fastest, or of the one named behind a dot",
        needs: Needs::Gpu,
        is_at_least: true,
        read: |e| e.point().and_then(|p| p.of_rival(e.rival)),
    },
    Quantity {
        name: "shared_atomics",
        unit: "",
        what: "atomics on shared memory; what up to 32 threads of a warp do together counts once",
        needs: Needs::Emulator,
        is_at_least: false,
        read: |e| counters(e).map(|c| c.shared_atomic.requests as f64),
    },
    Quantity {
        name: "shared_loads_per_multiply_add",
        unit: "",
        what: "shared loads for each multiply-add",
        needs: Needs::Emulator,
        is_at_least: false,
        read: |e| per(counters(e)?.shared_load.bytes as f64 / 4.0, e.point()?.flops / 2.0),
    },
    Quantity {
        name: "shared_wavefronts_per_request",
        unit: "",
        what: "passes over the banks for each request to shared memory",
        needs: Needs::Emulator,
        is_at_least: false,
        read: |e| {
            let c = counters(e)?;
            let passes = c.shared_load.wavefronts + c.shared_store.wavefronts;
            per(passes as f64, (c.shared_load.requests + c.shared_store.requests) as f64)
        },
    },
    Quantity {
        name: "special_share",
        unit: "%",
        what: "special functions (sines, exponentials, reciprocals), as a share of all instructions",
        needs: Needs::Emulator,
        is_at_least: false,
        read: |e| {
            counters(e)
                .and_then(|c| per(c.by_class[ptx_emulator::Class::Special as usize] as f64, c.warp_instructions as f64))
        },
    },
    Quantity {
        name: "store_requests",
        unit: "",
        what: "stores to global memory; what up to 32 threads of a warp store together counts once",
        needs: Needs::Emulator,
        is_at_least: false,
        read: |e| counters(e).map(|c| c.global_store.requests as f64),
    },
    Quantity {
        name: "store_sectors",
        unit: "",
        what: "32-byte sectors that stores to global memory touched",
        needs: Needs::Emulator,
        is_at_least: false,
        read: |e| counters(e).map(|c| c.global_store.sectors as f64),
    },
    Quantity {
        name: "store_sectors_per_128_bytes",
        unit: "",
        what: "sectors for each 128 bytes stored",
        needs: Needs::Emulator,
        is_at_least: false,
        read: |e| {
            counters(e).and_then(|c| per(32.0 * 4.0 * c.global_store.sectors as f64, c.global_store.bytes as f64))
        },
    },
    Quantity {
        name: "store_sectors_per_request",
        unit: "",
        what: "sectors of 32 bytes that a store of a warp touches, on average",
        needs: Needs::Emulator,
        is_at_least: false,
        read: |e| counters(e).and_then(|c| per_request(&c.global_store)),
    },
    Quantity {
        name: "stores_per_multiply_add",
        unit: "",
        what: "global stores for each multiply-add",
        needs: Needs::Emulator,
        is_at_least: false,
        read: |e| per(counters(e)?.global_store.bytes as f64 / 4.0, e.point()?.flops / 2.0),
    },
    Quantity {
        name: "warp_instructions",
        unit: "",
        what: "instructions that warps executed",
        needs: Needs::Emulator,
        is_at_least: false,
        read: |e| counters(e).map(|c| c.warp_instructions as f64),
    },
    Quantity {
        name: "workspace_bytes",
        unit: "bytes",
        what: "scratch memory that the kernel was given",
        needs: Needs::Emulator,
        is_at_least: false,
        read: |e| e.kernel.workspace_bytes,
    },
    Quantity {
        name: "wrong_elements",
        unit: "",
        what: "output elements outside the tolerance",
        needs: Needs::Emulator,
        is_at_least: false,
        read: |e| {
            let verdict = e.verdict?;
            let case = verdict.cases.iter().rfind(|case| e.case.is_none_or(|name| case.name == name))?;
            Some(case.mismatch_count as f64)
        },
    },
];

fn per(count: f64, of: f64) -> Option<f64> {
    (of > 0.0).then(|| count / of)
}

fn per_request(traffic: &Traffic) -> Option<f64> {
    per(traffic.sectors as f64, traffic.requests as f64)
}

/// Counters of the case that is meant, or of the last one that has any.
fn counters<'a>(evidence: &Evidence<'a>) -> Option<&'a Counters> {
    if let Some(point) = evidence.alone {
        return point.counters.as_ref();
    }
    let wanted = |name: &str| evidence.case.is_none_or(|case| case == name);
    let of_cases = evidence.verdict.and_then(|verdict| {
        verdict.cases.iter().filter(|case| wanted(&case.name)).rev().find_map(|c| c.counters.as_ref())
    });
    let of_points = || {
        let points = &evidence.bench?.points;
        points.iter().filter(|point| wanted(&point.name)).rev().find_map(|p| p.counters.as_ref())
    };
    of_cases.or_else(of_points).or_else(|| evidence.ran?.case.counters.as_ref())
}
