//! The shapes that `--json` prints. Written out here, field by field, so that they stay as `app/JSON.md` documents
//! them while the engine's own types move on; a test compares every command with that page.

#[cfg(test)]
mod walk;

use super::report::class_name;
use crate::ready::{Item, Recommendation, State};
use curriculum::store::Remote;
use curriculum::{Course, Status, UnitKind};
use gpu_core::bench::{BenchPoint, BenchReport, Ceilings, Compared, Reached, RivalTime, Stats, Timing, Unit};
use gpu_core::compile::{CompileReport, Diagnostic, KernelResources};
use gpu_core::device::{DeviceChoice, DeviceInfo, DeviceKind};
use gpu_core::emulator::{
    Class, Counters, Fault, LaunchName, LineCounters, SharedTraffic, SourceLine, ThreadId, Traffic,
};
use gpu_core::job::Outcome;
use gpu_core::verdict::{
    CaseReport, FirstNonfinite, Mismatch, NonfiniteStep, OutputReport, RunReport, StepReport, Verdict, fault_key,
};
use serde_json::{Value, json};

/// Raised when a field is removed or changes meaning; added fields do not raise it.
const VERSION: u32 = 1;

/// Every object has these: which command wrote it, and which version of its shape.
pub fn envelope(command: &str, body: Value) -> Value {
    let mut object = json!({ "command": command, "version": VERSION });
    if let (Value::Object(object), Value::Object(fields)) = (&mut object, body) {
        object.extend(fields);
    }
    object
}

fn all<T>(items: &[T], one: impl Fn(&T) -> Value) -> Value {
    items.iter().map(one).collect()
}

/// A command that could not do its work.
pub fn error(command: &str, message: &str, exit_status: u8) -> Value {
    envelope(command, json!({ "error": message, "exit_status": exit_status }))
}

pub fn doctor(items: &[Item], ready: bool, recommended: &Recommendation) -> Value {
    let item = |item: &Item| {
        let state = match item.state {
            State::Fine => "fine",
            State::Limited => "limited",
            State::Failed => "failed",
        };
        json!({ "id": item.id, "title": item.title, "state": state, "found": item.found, "fix": item.fix })
    };
    let path = json!({ "title": recommended.path.title(), "what": recommended.what, "because": recommended.because });
    envelope(
        "doctor",
        json!({ "lockstep": env!("CARGO_PKG_VERSION"), "ready": ready, "items": all(items, item), "path": path }),
    )
}

pub fn list(course: &Course) -> Value {
    let unit = |day: &curriculum::Unit| {
        let exercises = all(&day.exercises, |e| json!({ "key": e.key, "title": e.spec.title, "folder": e.folder }));
        json!({
            "address": day.address,
            "title": day.title,
            "summary": day.summary,
            "written": day.status == Status::Written,
            "minutes": day.minutes,
            "exercises": exercises,
        })
    };
    let with = |unit: Value, more: Value| {
        let (Value::Object(mut unit), Value::Object(more)) = (unit, more) else { return Value::Null };
        unit.extend(more);
        Value::Object(unit)
    };
    let weeks = all(&course.weeks, |week| {
        let days = all(&week.days, unit);
        json!({ "number": week.number, "title": week.title, "project": week.project, "days": days })
    });
    let shelf = |units: &[curriculum::Unit]| {
        all(units, |one| {
            let more = match &one.kind {
                UnitKind::Day { week, number } => json!({ "week": week, "number": number }),
                UnitKind::Lab { quick_minutes } => json!({ "quick_minutes": quick_minutes }),
                UnitKind::Problem { family, difficulty, concepts } => {
                    json!({ "family": family, "difficulty": difficulty, "concepts": concepts })
                }
                UnitKind::Page { tags } => json!({ "tags": tags }),
            };
            with(unit(one), more)
        })
    };
    let (labs, problems, pages) = (shelf(&course.labs), shelf(&course.problems), shelf(&course.pages));
    let head = json!({ "title": course.title, "language": course.language, "weeks": weeks });
    envelope("list", with(head, json!({ "labs": labs, "problems": problems, "pages": pages })))
}

pub fn devices(list: &[DeviceInfo], remotes: &[Remote]) -> Value {
    let device = |d: &DeviceInfo| {
        json!({
            "id": match d.choice {
                DeviceChoice::Emulator => "emulator".to_owned(),
                DeviceChoice::Gpu(index) => format!("gpu:{index}"),
            },
            "kind": match d.kind {
                DeviceKind::Emulator => "emulator",
                DeviceKind::Gpu => "gpu",
            },
            "name": d.name,
            "capability": format!("{}.{}", d.capability.0, d.capability.1),
            "arch": d.arch,
            "multiprocessors": d.multiprocessors,
            "memory_bytes": d.memory_bytes,
            "l2_bytes": d.l2_bytes,
            "clock_khz": d.clock_khz,
            "memory_clock_khz": d.memory_clock_khz,
            "memory_bus_bits": d.memory_bus_bits,
            "shared_per_block_optin_bytes": d.shared_per_block_optin_bytes,
            "driver_version": d.driver_version,
        })
    };
    let remotes = all(remotes, |remote| json!({ "name": remote.name, "command": remote.command }));
    envelope("devices", json!({ "devices": all(list, device), "remotes": remotes }))
}

/// How the job ended, in one word.
pub fn outcome(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Done => "done",
        Outcome::CompileErrors(_) => "compile_errors",
        Outcome::Stopped => "stopped",
        Outcome::LimitExceeded(_) => "limit_exceeded",
        Outcome::Crashed(_) => "crashed",
        Outcome::Environment(_) => "environment",
        Outcome::BadRequest(_) => "bad_request",
    }
}

fn diagnostic(d: &Diagnostic) -> Value {
    json!({ "severity": d.severity, "file": d.file, "line": d.line, "column": d.column, "message": d.message })
}

fn resources(k: &KernelResources) -> Value {
    json!({
        "name": k.name,
        "registers": k.registers,
        "static_shared_bytes": k.static_shared_bytes,
        "stack_bytes": k.stack_bytes,
        "spill_store_bytes": k.spill_store_bytes,
        "spill_load_bytes": k.spill_load_bytes,
        "constant_bytes": k.constant_bytes,
        "barriers": k.barriers,
    })
}

/// The compilation without its products.
pub fn compiled(report: &CompileReport) -> Value {
    json!({
        "succeeded": report.succeeded,
        "arch": report.arch,
        "nvrtc_version": report.nvrtc_version,
        "diagnostics": all(&report.diagnostics, diagnostic),
        "kernels": all(&report.kernels, resources),
        "given": all(&report.given, |given| {
            json!({ "file": given.file, "kernels": all(&given.report.kernels, resources) })
        }),
        "from_cache": report.from_cache,
        "compile_ms": report.compile_ms,
    })
}

fn source(source: &SourceLine) -> Value {
    json!({ "file": source.file, "line": source.line, "column": source.column })
}

fn thread(id: &ThreadId) -> Value {
    json!({ "block": id.block, "thread": id.thread, "warp": id.warp, "lane": id.lane })
}

/// Which launch of an exercise with several steps.
fn launch(name: &LaunchName) -> Value {
    json!({ "name": name.step, "turn": name.turn })
}

fn step(s: &StepReport) -> Value {
    json!({
        "name": s.name,
        "entry": s.entry,
        "given": s.given,
        "launches": s.launches,
        "counters": s.counters.as_ref().map(counters),
        "stats": s.stats.as_ref().map(stats),
    })
}

fn fault(f: &Fault) -> Value {
    json!({
        "kind": fault_key(f.kind),
        "message": f.message,
        "kernel": f.kernel,
        "step": f.launch.as_ref().map(launch),
        "source": f.source.as_ref().map(source),
        "inlined_at": f.inlined_at.as_ref().map(source),
        "instruction": f.instruction,
        "thread": f.thread.as_ref().map(thread),
        "space": f.space,
        "access": f.access,
        "address": f.address,
        "access_bytes": f.access_bytes,
        "allocation": f.allocation.as_ref().map(|a| {
            json!({ "name": a.name, "base": a.base, "bytes": a.bytes, "offset": a.offset })
        }),
        "other": f.other.as_ref().map(|o| {
            json!({
                "source": o.source.as_ref().map(source),
                "inlined_at": o.inlined_at.as_ref().map(source),
                "thread": thread(&o.thread),
                "access": o.access,
            })
        }),
        "occurrences": f.occurrences,
    })
}

fn nonfinite_step(s: &NonfiniteStep) -> Value {
    json!({
        "value": float(s.value),
        "expression": s.expression,
        "operands": all(&s.operands, |value| float(*value)),
        "instruction": s.instruction,
        "source": s.source.as_ref().map(source),
        "inlined_at": s.inlined_at.as_ref().map(source),
        "step": s.launch.as_ref().map(launch),
        "thread": thread(&s.thread),
        "occurrences": s.occurrences,
    })
}

fn first_nonfinite(found: &FirstNonfinite) -> Value {
    json!({
        "sentence": found.sentence,
        "buffer": found.buffer,
        "index": found.index,
        "first": nonfinite_step(&found.first),
        "then": found.then.as_ref().map(nonfinite_step),
    })
}

fn traffic(t: &Traffic) -> Value {
    json!({ "requests": t.requests, "sectors": t.sectors, "bytes": t.bytes })
}

fn shared(s: &SharedTraffic) -> Value {
    json!({ "requests": s.requests, "wavefronts": s.wavefronts, "bank_conflicts": s.bank_conflicts, "bytes": s.bytes })
}

fn counters(c: &Counters) -> Value {
    let classes: serde_json::Map<String, Value> =
        Class::ALL.iter().map(|class| (class_name(*class).to_owned(), c.by_class[*class as usize].into())).collect();
    json!({
        "warp_instructions": c.warp_instructions,
        "thread_instructions": c.thread_instructions,
        "by_class": classes,
        "branches": c.branches,
        "divergent_branches": c.divergent_branches,
        "global_load": traffic(&c.global_load),
        "global_store": traffic(&c.global_store),
        "global_atomic": traffic(&c.global_atomic),
        "global_reduction": traffic(&c.global_reduction),
        "local_load": traffic(&c.local_load),
        "local_store": traffic(&c.local_store),
        "shared_load": shared(&c.shared_load),
        "shared_store": shared(&c.shared_store),
        "shared_atomic": shared(&c.shared_atomic),
        "barriers": c.barriers,
        "async_copy_bytes": c.async_copy_bytes,
        "bulk_copy_bytes": c.bulk_copy_bytes,
        "matrix_instructions": c.matrix_instructions,
        "matrix_multiply_adds": c.matrix_multiply_adds,
    })
}

fn lines(list: &[LineCounters]) -> Value {
    all(list, |line| json!({ "source": source(&line.source), "counters": counters(&line.counters) }))
}

/// NaN and infinities are no JSON numbers: they are written as strings.
fn float(value: f64) -> Value {
    if value.is_finite() { value.into() } else { value.to_string().into() }
}

fn mismatch(m: &Mismatch) -> Value {
    json!({
        "buffer": m.buffer,
        "index": m.index,
        "expected": float(m.expected),
        "got": float(m.got),
        "never_written": m.never_written,
        "undefined": m.undefined,
        "code": m.code.map(|code| json!({
            "got": code.got,
            "expected": code.expected,
            "bits": code.bits,
            "got_scale": code.got_scale.map(float),
            "expected_scale": code.expected_scale.map(float),
        })),
        "writer": m.writer.as_ref().map(|writer| json!({
            "step": writer.launch.as_ref().map(launch),
            "thread": thread(&writer.thread),
            "source": writer.source.as_ref().map(source),
        })),
    })
}

fn output(o: &OutputReport) -> Value {
    json!({
        "of": o.of,
        "metric": o.metric,
        "measured": float(o.measured),
        "limit": o.limit,
        "is_at_least": o.is_at_least,
        "passed": o.passed,
        "reason": o.reason,
    })
}

fn case(c: &CaseReport) -> Value {
    let mut case = found(c);
    case["reason"] = json!(c.reason);
    case["element_count"] = json!(c.element_count);
    case["worst_error_ratio"] = float(c.worst_error_ratio);
    case["outputs"] = all(&c.outputs, output);
    case
}

/// What a check's case and a free run have in common.
fn found(c: &CaseReport) -> Value {
    json!({
        "name": c.name,
        "seed": c.seed,
        "device": c.device,
        "passed": c.passed,
        "mismatches": all(&c.mismatches, mismatch),
        "mismatch_count": c.mismatch_count,
        "corrupted": c.corrupted,
        "faults": all(&c.faults, fault),
        "first_nonfinite": c.first_nonfinite.as_ref().map(first_nonfinite),
        "notes": c.notes,
        "counters": c.counters.as_ref().map(counters),
        "lines": lines(&c.lines),
        "steps": all(&c.steps, step),
        "wall_ms": c.wall_ms,
    })
}

pub fn verdict(v: &Verdict) -> Value {
    json!({
        "passed": v.passed,
        "summary": v.summary,
        "cases": all(&v.cases, case),
        "faults": v.faults().into_iter().map(fault).collect::<Value>(),
        "hints": v.hints,
        "notes": v.notes,
        "seed": v.seed,
        "compile_ms": v.compile_ms,
        "total_ms": v.total_ms,
    })
}

fn stats(s: &Stats) -> Value {
    json!({
        "samples": s.samples,
        "median_ns": s.median_ns,
        "p20_ns": s.p20_ns,
        "p80_ns": s.p80_ns,
        "min_ns": s.min_ns,
    })
}

fn timing(timing: &Timing) -> Value {
    match timing {
        Timing::Measured { nanos, cold_l2 } => json!({ "kind": "measured", "nanos": nanos, "cold_l2": cold_l2 }),
        Timing::Modelled { low_ns, high_ns, bound_by } => {
            json!({ "kind": "modelled", "low_ns": low_ns, "high_ns": high_ns, "bound_by": bound_by })
        }
    }
}

fn point(p: &BenchPoint) -> Value {
    json!({
        "name": p.name,
        "timing": p.timing.as_ref().map(timing),
        "stats": p.stats.as_ref().map(stats),
        "flops": p.flops,
        "bytes": p.bytes,
        "share_of_ceiling": p.share_of_ceiling,
        "bound": p.bound,
        "copy": p.copy.as_ref().map(stats),
        "of_copy": p.of_copy(),
        "reference": p.reference.as_ref().map(stats),
        "reference_of_copy": p.reference_of_copy(),
        "against_reference": p.against_reference.map(|compared| match compared {
            Compared::Faster => "faster",
            Compared::Slower => "slower",
            Compared::Inconclusive => "inconclusive",
        }),
        "library": p.library.as_ref().map(|library| json!({ "name": library.name, "stats": stats(&library.stats) })),
        "of_library": p.of_library(),
        "rivals": p.rivals.iter().map(rival).collect::<Value>(),
        "counters": p.counters.as_ref().map(counters),
        "lines": lines(&p.lines),
        "steps": all(&p.steps, step),
        "workspace_bytes": p.workspace_bytes,
        "caveats": p.caveats,
        "rejected": p.rejected,
    })
}

fn rival(r: &RivalTime) -> Value {
    json!({ "key": r.key, "name": r.name, "median_ns": r.median_ns, "own_median_ns": r.own_median_ns, "share": r.share() })
}

fn milestone(m: &Reached) -> Value {
    json!({ "name": m.name, "reached": m.reached, "because": m.because })
}

pub fn bench(b: &BenchReport) -> Value {
    json!({
        "device": b.device,
        "passed_check": b.passed_check,
        "points": all(&b.points, point),
        "milestones": b.milestones.iter().map(milestone).collect::<Value>(),
        "summary": b.summary,
        "when_unix_s": b.when_unix_s,
        "ceilings": b.ceilings.as_ref().map(ceilings),
        "kernel": {
            "registers": b.kernel.registers,
            "occupancy": b.kernel.occupancy,
            "workspace_bytes": b.kernel.workspace_bytes,
            "error": b.kernel.error,
        },
    })
}

pub fn ceilings(c: &Ceilings) -> Value {
    json!({
        "device": c.device,
        "driver": c.driver,
        "date": c.date,
        "clock_mhz": c.clock_mhz,
        "temperature_c": c.temperature_c,
        "figures": c.figures().iter().map(|figure| {
            let unit = match figure.unit {
                Unit::BytesPerSecond => "B/s",
                Unit::OperationsPerSecond => "FLOP/s",
                Unit::Nanoseconds => "ns",
            };
            json!({ "key": figure.key, "name": figure.name, "value": figure.value, "unit": unit, "how": figure.how })
        }).collect::<Value>(),
        "notes": c.notes,
    })
}

pub fn ran(r: &RunReport) -> Value {
    let mut ran = found(&r.case);
    ran["completed"] = json!(r.completed);
    ran["summary"] = json!(r.summary);
    ran["hints"] = json!(r.hints);
    ran["compared"] = json!(r.case.element_count);
    ran["outputs"] = all(&r.outputs, |output| {
        json!({
            "name": output.name,
            "dtype": output.dtype.name(),
            "shape": output.shape,
            "is_output": output.is_output,
            "element_count": output.element_count,
            "head": output.head.iter().copied().map(float).collect::<Value>(),
            "never_written": output.never_written,
            "undefined": output.undefined,
            "nan_count": output.nan_count,
            "infinite_count": output.infinite_count,
        })
    });
    ran
}
