//! One size on a GPU: buffers, sampling, and a last check of the output with inputs that the kernel never saw.

use super::probes::ClockProbe;
use super::stats::{Ended, StopRule, compare};
use super::verify::{self, Verified};
use super::{BenchPoint, Ceilings, LibraryTime, Stats, Timing};
use crate::cuda::{CudaDevice, DeviceMemory, Event, Function, Graph, GuardedBuffer, Stream, tensor_map};
use crate::device::pack_of;
use crate::device::{Corruption, Device, Launch, RunError};
use crate::judge::inputs;
use crate::library::{Library, Prepared, Product};
use crate::profile::{Floor, Peaks, bound_by, fp32_lanes, time_at_ceiling_ns};
use crate::spec::{Resolved, ResolvedBuffer, ResolvedFill, ResolvedParam, Role, Spec};
use crate::verdict::StepReport;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Untimed launches before the first sample, until clocks and caches have settled.
const WARM_UP: Duration = Duration::from_millis(25);
/// One round of launches may take this long.
pub const ROUND_LIMIT: Duration = Duration::from_secs(10);
/// Below this a single launch is mostly the launch itself, and a graph of many is timed instead.
const SHORT_NS: f64 = 20_000.0;
/// A graph's length in time, and its bounds in launches.
const GRAPH_NS: f64 = 400_000.0;
const GRAPH_LAUNCHES: (f64, f64) = (20.0, 200.0);
/// Samples taken below this share of the chip's usual clock are dropped.
const LEAST_CLOCK: f64 = 0.75;
/// After so many dropped samples the clock is what it is, and said.
const MOST_DROPPED: usize = 50;
/// Inputs longer than this repeat after so many elements: drawing a gigabyte of numbers would take longer than
/// everything else, and the GPU cannot tell.
const PERIOD: u64 = 1 << 22;

/// A case with the kernels of its steps.
pub struct Kernel<'a> {
    pub case: Resolved,
    pub launches: Vec<Launched<'a>>,
}

/// One launch of a case.
pub struct Launched<'a> {
    pub function: Function<'a>,
    pub launch: Launch<'a>,
}

/// The launches of a kernel with their arguments in place.
pub struct Queued<'k> {
    kernel: &'k Kernel<'k>,
    params: Vec<Vec<u8>>,
}

impl<'k> Queued<'k> {
    pub fn new(kernel: &'k Kernel<'k>, buffers: &Buffers) -> Self {
        let params = kernel.launches.iter().map(|launched| pack_of(&launched.launch, &buffers.packed)).collect();
        Self { kernel, params }
    }

    /// Queues all launches, or those of one step.
    pub fn queue(&self, gpu: &CudaDevice, step: Option<usize>) -> Result<(), RunError> {
        let all = self.kernel.launches.iter().zip(&self.kernel.case.launches).zip(&self.params);
        for ((launched, resolved), params) in all {
            if step.is_none_or(|step| step == resolved.step) {
                let Launched { function, launch } = launched;
                function.launch(gpu.stream.raw(), &launch.geometry, params).map_err(|error| launch.blame(error))?;
            }
        }
        Ok(())
    }
}

/// What all points of a benchmark share.
pub struct Bench<'a> {
    pub gpu: &'a CudaDevice,
    pub spec: &'a Spec,
    pub ceilings: &'a Ceilings,
    pub clock: &'a ClockProbe,
    pub rule: StopRule,
    pub seed: u64,
    /// The kernel uses tensor cores, which the FP32 ceiling does not bound.
    pub uses_matrix_unit: bool,
    pub library: Option<&'a Library>,
    pub stop: &'a AtomicBool,
}

impl Bench<'_> {
    /// Why this GPU cannot hold a size, if it cannot: buffers, as much again for the copy, and the flush.
    pub fn memory_shortage(&self, case: &Resolved) -> Result<Option<String>, RunError> {
        let free = self.gpu.free_bytes()?;
        let flush = 2 * self.gpu.info().l2_bytes.unwrap_or(128 << 20);
        let needed = case.buffer_bytes() + case.bytes.max(0.0) as u64 + flush + (16 << 20);
        Ok((needed > free).then(|| format!("it needs {needed} bytes of GPU memory and {free} are free")))
    }

    /// Measures one size.
    pub fn point(&self, own: &Kernel<'_>, reference: Option<&Kernel<'_>>) -> Result<BenchPoint, RunError> {
        let case = &own.case;
        let buffers = Buffers::new(self.gpu, case, reference.map(|reference| &reference.case), self.seed)?;
        let copy = CopyPair::new(self.gpu, case.bytes)?;
        let queued = Queued::new(own, &buffers);
        let own_queue = || queued.queue(self.gpu, None);
        let their_queued = reference.map(|reference| Queued::new(reference, &buffers));
        let reference_queue = || their_queued.as_ref().map_or(Ok(()), |queued| queued.queue(self.gpu, None));
        let copy_queue = || copy.queue(&self.gpu.stream);
        let product = self.spec.oracle.as_deref().and_then(|oracle| Product::of(oracle, case));
        let library = match (self.library, &product) {
            (Some(library), Some(product)) => {
                let addresses = product.operands.map(|index| buffers.address(index));
                Prepared::new(library, self.gpu, product, addresses, self.stop)?
            }
            _ => None,
        };
        let library_queue = || library.as_ref().map_or(Ok(()), |library| library.queue(self.gpu));
        let mut subjects: Vec<&dyn Fn() -> Result<(), RunError>> = vec![&own_queue, &copy_queue];
        if reference.is_some() {
            subjects.push(&reference_queue);
        }
        if library.is_some() {
            subjects.push(&library_queue);
        }
        // Each step by itself, on what the whole sequence left in memory.
        let steps = if self.spec.has_steps() { self.spec.steps.len() } else { 0 };
        let step_queues: Vec<_> = (0..steps)
            .map(|step| {
                let queued = &queued;
                move || queued.queue(self.gpu, Some(step))
            })
            .collect();
        subjects.extend(step_queues.iter().map(|queue| queue as &dyn Fn() -> Result<(), RunError>));
        let mut sampled = self.sample(&subjects)?;
        let step_samples = sampled.samples.split_off(sampled.samples.len() - steps);
        let library_samples = library.as_ref().and_then(|_| sampled.samples.pop());
        let (verified, library_is_wrong) = verify::after_timing(self, own, reference, &buffers, library.as_ref())?;
        let mut point = self.report(case, sampled, verified, reference.is_some());
        let reports = self.spec.steps.iter().map(StepReport::of).zip(&step_samples).enumerate();
        point.steps = reports
            .map(|(step, (report, samples))| StepReport {
                launches: case.launches.iter().filter(|launch| launch.step == step).count() as u64,
                stats: Stats::of(samples),
                ..report
            })
            .collect();
        if let (Some(library), Some(stats)) = (&library, library_samples.and_then(|samples| Stats::of(&samples))) {
            match library_is_wrong {
                None => point.library = Some(LibraryTime { name: library.name(), stats }),
                Some(reason) => point.caveats.push(format!("the library's result is not used: {reason}")),
            }
        }
        Ok(point)
    }

    /// Interleaved samples of all subjects: what disturbs one disturbs its neighbours too.
    fn sample(&self, subjects: &[&dyn Fn() -> Result<(), RunError>]) -> Result<Sampled, RunError> {
        let stream = &self.gpu.stream;
        let events =
            subjects.iter().map(|_| Ok((Event::new()?, Event::new()?))).collect::<Result<Vec<_>, RunError>>()?;
        let warm_up = Instant::now();
        let mut single = f64::INFINITY;
        loop {
            for (queue, (start, end)) in subjects.iter().zip(&events) {
                stream.record(start)?;
                queue()?;
                stream.record(end)?;
            }
            stream.wait(Instant::now() + ROUND_LIMIT, self.stop)?;
            single = single.min(events[0].0.nanos_until(&events[0].1)?);
            if warm_up.elapsed() >= WARM_UP {
                break;
            }
        }
        let launches = if single < SHORT_NS {
            (GRAPH_NS / single.max(1.0)).clamp(GRAPH_LAUNCHES.0, GRAPH_LAUNCHES.1) as usize
        } else {
            1
        };
        let graphs = match launches {
            1 => Vec::new(),
            _ => subjects
                .iter()
                .map(|queue| stream.capture(|| (0..launches).try_for_each(|_| queue())))
                .collect::<Result<Vec<Graph>, RunError>>()?,
        };
        // The flush is timed by nobody; it only has to be larger than the cache.
        let flush_bytes = 2 * self.gpu.info().l2_bytes.unwrap_or(128 << 20) as usize;
        let flush = DeviceMemory::new(&self.gpu.context, flush_bytes, "flushing the cache")?;
        let usual_khz = f64::from(self.gpu.info().clock_khz.unwrap_or(0));
        let mut samples = vec![Vec::new(); subjects.len()];
        let (mut dropped, mut clocks) = (0, Vec::new());
        let started = Instant::now();
        let ended = loop {
            for turn in 0..subjects.len() {
                // A different subject begins every round, so that none always follows the same neighbour.
                let index = (turn + samples[0].len() + dropped) % subjects.len();
                let (start, end) = &events[index];
                match graphs.get(index) {
                    None => {
                        stream.fill(flush.address(), flush.bytes(), samples[0].len() as u8)?;
                        stream.record(start)?;
                        subjects[index]()?;
                    }
                    Some(graph) => {
                        stream.record(start)?;
                        stream.launch_graph(graph)?;
                    }
                }
                stream.record(end)?;
            }
            self.clock.queue(stream)?;
            stream.wait(Instant::now() + ROUND_LIMIT, self.stop)?;
            let khz = self.clock.read_khz()?;
            if usual_khz > 0.0 && khz < LEAST_CLOCK * usual_khz && dropped < MOST_DROPPED {
                dropped += 1;
            } else {
                clocks.push(khz);
                for (series, (start, end)) in samples.iter_mut().zip(&events) {
                    series.push(start.nanos_until(end)? / launches as f64);
                }
            }
            if let Some(ended) = self.rule.ended(&samples[0], started.elapsed().as_secs_f64()) {
                break ended;
            }
        };
        Ok(Sampled { samples, launches, dropped, clocks, usual_khz, ended })
    }

    fn report(&self, case: &Resolved, sampled: Sampled, verified: Verified, has_reference: bool) -> BenchPoint {
        let cold_l2 = sampled.launches == 1;
        let mut caveats = sampled.caveats();
        caveats.extend(verified.caveat);
        let stats = |index: usize| sampled.samples.get(index).and_then(|samples| Stats::of(samples));
        let own = stats(0);
        let copy = stats(1);
        let reference = if has_reference { stats(2) } else { None };
        let against_reference = own.zip(reference).map(|(own, reference)| {
            let (outcome, reason) = compare(&own, &reference);
            caveats.push(format!("against the reference: {reason}"));
            outcome
        });
        let flops = (!self.uses_matrix_unit && case.flops > 0.0).then_some(case.flops);
        let floor = Floor::of(&Peaks::of(self.gpu.info(), self.ceilings), case.bytes, flops, cold_l2);
        let rejected = verified.rejected.or_else(|| own.and_then(|own| floor.rejects(own.median_ns)));
        let kind = self.spec.cost.ceiling;
        let lanes = fp32_lanes(self.gpu.info());
        let at_ceiling = time_at_ceiling_ns(self.ceilings, lanes, kind, case.flops, case.bytes);
        let share = at_ceiling.zip(own).map(|(ceiling, own)| ceiling / own.median_ns);
        BenchPoint {
            name: case.name.clone(),
            timing: sampled.samples.into_iter().next().map(|nanos| Timing::Measured { nanos, cold_l2 }),
            stats: own,
            flops: case.flops,
            bytes: case.bytes,
            share_of_ceiling: share.filter(|_| rejected.is_none()),
            bound: bound_by(self.ceilings, kind, case.flops, case.bytes).to_owned(),
            copy,
            reference,
            against_reference: against_reference.filter(|_| rejected.is_none()),
            library: None,
            rivals: Vec::new(),
            counters: None,
            lines: Vec::new(),
            steps: Vec::new(),
            workspace_bytes: case.workspace_bytes(),
            caveats,
            rejected,
        }
    }
}

struct Sampled {
    /// Of the kernel, the copy and, when there is one, the reference; nanoseconds of one launch.
    samples: Vec<Vec<f64>>,
    launches: usize,
    dropped: usize,
    clocks: Vec<f64>,
    usual_khz: f64,
    ended: Ended,
}

impl Sampled {
    fn caveats(&self) -> Vec<String> {
        let mut caveats = Vec::new();
        if self.launches > 1 {
            caveats.push(format!(
                "warm L2: too short to time alone, so each sample is the mean of {} launches in one graph",
                self.launches
            ));
        }
        let clock = Stats::of(&self.clocks).map(|stats| stats.median_ns);
        if let Some(khz) = clock.filter(|khz| self.usual_khz > 0.0 && *khz < LEAST_CLOCK * self.usual_khz) {
            caveats.push(format!(
                "the GPU ran at {:.0} MHz, not at its usual {:.0}: it is throttled, or its clocks are locked",
                khz / 1e3,
                self.usual_khz / 1e3
            ));
        } else if self.dropped > 0 {
            caveats.push(format!("{} samples at a low clock were dropped", self.dropped));
        }
        match self.ended {
            Ended::Quiet => {}
            Ended::StableNoise => caveats.push(format!(
                "noisy: the samples vary by {:.1}%, and more of them do not change that",
                super::stats::noise(&self.samples[0]) * 100.0
            )),
            Ended::TimeOut => caveats.push("the samples did not settle in the time allowed".to_owned()),
        }
        caveats
    }
}

/// Device memory of one size's parameters, shared by the kernel and its reference.
pub struct Buffers {
    /// Each parameter as a kernel gets it.
    packed: Vec<Vec<u8>>,
    memory: Vec<Option<GuardedBuffer>>,
}

impl Buffers {
    /// Scratch memory has the size of the larger of both, where the reference takes more than the kernel.
    fn new(gpu: &CudaDevice, case: &Resolved, reference: Option<&Resolved>, seed: u64) -> Result<Self, RunError> {
        let mut memory = Vec::new();
        for (index, param) in case.params.iter().enumerate() {
            memory.push(match param {
                ResolvedParam::Scalar(_) | ResolvedParam::TensorMap(_) => None,
                ResolvedParam::Buffer(buffer) => {
                    let theirs = match reference.map(|reference| &reference.params[index]) {
                        Some(ResolvedParam::Buffer(theirs)) => theirs.bytes(),
                        _ => 0,
                    };
                    let bytes = buffer.bytes().max(theirs) as usize;
                    Some(GuardedBuffer::new(&gpu.context, &buffer.name, bytes)?)
                }
            });
        }
        let address = |index: usize| memory[index].as_ref().map_or(0, GuardedBuffer::address);
        let mut packed = Vec::new();
        for (index, param) in case.params.iter().enumerate() {
            packed.push(match param {
                ResolvedParam::Scalar(scalar) => scalar.bytes.clone(),
                ResolvedParam::Buffer(_) => address(index).to_le_bytes().to_vec(),
                ResolvedParam::TensorMap(map) => tensor_map::encode(map, address(map.buffer))?.to_vec(),
            });
        }
        let buffers = Self { packed, memory };
        buffers.refill(case, seed)?;
        Ok(buffers)
    }

    /// Fresh inputs and poisoned outputs.
    pub fn refill(&self, case: &Resolved, seed: u64) -> Result<(), RunError> {
        for (index, (param, memory)) in case.params.iter().zip(&self.memory).enumerate() {
            let (ResolvedParam::Buffer(buffer), Some(memory)) = (param, memory) else { continue };
            if buffer.role == Role::Out {
                memory.write_repeated(buffer.dtype.poison())?;
            } else {
                memory.write_repeated(&inputs::fill(&one_period(buffer), seed.wrapping_add(index as u64)))?;
            }
        }
        Ok(())
    }

    /// Where a buffer lies on the GPU; 0 for what is no buffer.
    pub fn address(&self, index: usize) -> u64 {
        self.memory[index].as_ref().map_or(0, GuardedBuffer::address)
    }

    /// The values that [`refill`](Self::refill) repeats over an input.
    pub fn one_period(&self, case: &Resolved, index: usize, seed: u64) -> Vec<f64> {
        match &case.params[index] {
            ResolvedParam::Buffer(buffer) => buffer.dtype.decode_all(&self.period_bytes(case, index, seed)),
            ResolvedParam::Scalar(_) | ResolvedParam::TensorMap(_) => Vec::new(),
        }
    }

    /// The same as bytes.
    pub fn period_bytes(&self, case: &Resolved, index: usize, seed: u64) -> Vec<u8> {
        match &case.params[index] {
            ResolvedParam::Buffer(buffer) => inputs::fill(&one_period(buffer), seed.wrapping_add(index as u64)),
            ResolvedParam::Scalar(_) | ResolvedParam::TensorMap(_) => Vec::new(),
        }
    }

    /// Writes whole inputs, made elsewhere.
    pub fn write(&self, index: usize, bytes: &[u8]) -> Result<(), RunError> {
        self.memory[index].as_ref().map_or(Ok(()), |memory| memory.write(bytes))
    }

    pub fn read(&self, index: usize, offset: usize, out: &mut [u8]) -> Result<(), RunError> {
        self.memory[index].as_ref().map_or(Ok(()), |memory| memory.read_at(offset, out))
    }

    /// The first buffer whose guard zone was written.
    pub fn guard_hit(&self) -> Result<Option<Corruption>, RunError> {
        for memory in self.memory.iter().flatten() {
            if let Some(hit) = memory.check_guards()? {
                return Ok(Some(hit));
            }
        }
        Ok(None)
    }
}

/// The part of a buffer that is drawn; the rest repeats it. An index must not repeat.
fn one_period(buffer: &ResolvedBuffer) -> ResolvedBuffer {
    let mut drawn = buffer.clone();
    if !buffer.fill.as_ref().is_some_and(ResolvedFill::is_of_the_whole) {
        drawn.elements = buffer.elements.min(PERIOD);
    }
    drawn
}

/// Source and destination of a copy that moves as many bytes as the kernel must.
struct CopyPair {
    from: DeviceMemory,
    to: DeviceMemory,
    half: usize,
}

impl CopyPair {
    fn new(gpu: &CudaDevice, bytes: f64) -> Result<Self, RunError> {
        let half = (bytes / 2.0).max(4.0) as usize;
        let from = DeviceMemory::new(&gpu.context, half, "the copy to compare with")?;
        let to = DeviceMemory::new(&gpu.context, half, "the copy to compare with")?;
        from.fill(0, half, 0x5A)?;
        Ok(Self { from, to, half })
    }

    fn queue(&self, stream: &Stream) -> Result<(), RunError> {
        stream.copy(self.to.address(), self.from.address(), self.half)
    }
}

/// All launches of a kernel, not timed.
pub fn launch_once(
    gpu: &CudaDevice,
    kernel: &Kernel<'_>,
    buffers: &Buffers,
    stop: &AtomicBool,
) -> Result<(), RunError> {
    Queued::new(kernel, buffers).queue(gpu, None)?;
    gpu.stream.wait(Instant::now() + ROUND_LIMIT, stop)
}
