//! What a machine can do at most, measured by the kernels of `kernels/probes/ceilings.cu` and `arithmetic.cu`; what each of
//! them does, and how its time becomes a figure, stands there above its name. Kept in the data folder, one file a device.

use super::probes::{self, ClockProbe};
use super::{Ceilings, Figure, Stats, Unit, iso_date, unix_seconds};
use crate::compile::CompileReport;
use crate::cuda::{CudaDevice, DeviceMemory, Event, Module};
use crate::device::pack;
use crate::device::{Device, DeviceChoice, RunError};
use crate::job::{self, Source};
use crate::spec::{Dtype, Geometry};
use rand::{SeedableRng, rngs::SmallRng};
use rand_distr::{Distribution, StandardNormal};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// A launch should take about this long: long against its own cost, short against the patience of whoever waits.
const LAUNCH_NS: f64 = 3e6;
const SAMPLES: usize = 15;
const LIMIT: Duration = Duration::from_secs(10);
/// Launches of an empty kernel in one graph.
const EMPTY_LAUNCHES: usize = 200;
/// Normal numbers that inputs repeat.
const DRAWN: usize = 1 << 20;

/// The probes' source.
pub fn source() -> Source {
    Source {
        name: "ceilings.cu".to_owned(),
        text: concat!(
            include_str!("../../../kernels/probes/ceilings.cu"),
            include_str!("../../../kernels/probes/arithmetic.cu")
        )
        .to_owned(),
        headers: Vec::new(),
        options: Vec::new(),
    }
}

/// Measures everything that this GPU has a probe for, in a few seconds.
///
/// # Errors
/// As any run on a GPU; a probe that this architecture lacks is left out, not an error.
pub fn measure(
    gpu: &mut CudaDevice,
    probes: Option<&CompileReport>,
    emit: &mut dyn FnMut(job::Event),
    stop: &AtomicBool,
) -> Result<Ceilings, RunError> {
    let mut ceilings = super::measure_ceilings(gpu, emit, stop)?;
    let Some(compiled) = probes else {
        ceilings.notes.push("without a compiler only the copy and the FP32 rate are measured".to_owned());
        return Ok(ceilings);
    };
    let module = gpu.load_reference(compiled)?;
    let bench = Probes { gpu, module: &module, entries: &compiled.kernels, stop };
    let total = 5;
    let mut progress = |done, what: &str| {
        emit(job::Event::Progress { what: format!("measuring {what}"), done, total });
    };
    progress(0, "memory");
    let mut more = bench.memory(&mut ceilings)?;
    progress(1, "arithmetic");
    more.extend(bench.arithmetic(&mut ceilings)?);
    progress(2, "shared memory");
    more.extend(bench.shared()?);
    let clock = ClockProbe::new(gpu)?;
    clock.queue(&gpu.stream)?;
    gpu.stream.wait(Instant::now() + LIMIT, stop)?;
    let clock_khz = clock.read_khz()?;
    progress(3, "latencies");
    more.extend(bench.latencies(clock_khz)?);
    progress(4, "launches");
    more.extend(bench.launches()?);
    ceilings.more = more;
    ceilings.clock_mhz = Some(clock_khz / 1e3);
    ceilings.temperature_c = temperature_c(&gpu.info().choice);
    ceilings.date = iso_date(unix_seconds());
    gpu.ceilings = Some(ceilings.clone());
    Ok(ceilings)
}

/// A chain of addresses that lies in one level of memory.
struct Chain {
    key: &'static str,
    name: &'static str,
    entry: &'static str,
    /// Elements, words of 8 bytes from one to the next, and elements that a hop skips.
    count: u32,
    step: u32,
    jump: u32,
    /// Hops before the timed ones; 0: none, with L2 overwritten before.
    warm: i32,
    what: &'static str,
}

const CHAINS: [Chain; 3] = [
    Chain {
        key: "latency_l1",
        name: "L1 latency",
        entry: "chain_follow_l1",
        count: 128,
        step: 16,
        jump: 1,
        warm: 128,
        what: "16 KiB",
    },
    Chain {
        key: "latency_l2",
        name: "L2 latency",
        entry: "chain_follow",
        count: 65_536,
        step: 16,
        jump: 24_593,
        warm: 65_536,
        what: "8 MiB",
    },
    Chain {
        key: "latency_memory",
        name: "memory latency",
        entry: "chain_follow",
        count: 262_144,
        step: 512,
        jump: 98_317,
        warm: 0,
        what: "1 GiB, L2 overwritten before",
    },
];

struct Probes<'a> {
    gpu: &'a CudaDevice,
    module: &'a Module,
    entries: &'a [crate::compile::KernelResources],
    stop: &'a AtomicBool,
}

fn figure(key: &str, name: &str, value: f64, unit: Unit, how: &str) -> Figure {
    Figure { key: key.to_owned(), name: name.to_owned(), value, unit, how: how.to_owned() }
}

fn geometry(grid: u64, block: u32, dynamic_shared_bytes: u32) -> Geometry {
    let grid = u32::try_from(grid).unwrap_or(u32::MAX).max(1);
    Geometry { dynamic_shared_bytes, ..Geometry::new([grid, 1, 1], [block, 1, 1]) }
}

/// Bytes of dynamic shared memory that `copy_bulk` takes on a chip.
pub fn bulk_copy_shared(capability: (u32, u32)) -> u32 {
    let stages = if capability >= (12, 0) { 6 } else { 8 };
    stages * 16_384
}

/// Kernel parameters, each as its bytes.
fn arguments(values: &[&[u8]]) -> Vec<u8> {
    let mut packed = Vec::new();
    values.iter().for_each(|value| pack(&mut packed, value));
    packed
}

impl Probes<'_> {
    fn has(&self, entry: &str) -> bool {
        self.entries.iter().any(|kernel| kernel.name == entry)
    }

    fn multiprocessors(&self) -> u64 {
        self.gpu.info().multiprocessors.unwrap_or(1).into()
    }

    /// Median nanoseconds of a launch.
    fn time(&self, entry: &str, shape: &Geometry, params: &[u8], samples: usize) -> Result<f64, RunError> {
        let function = self.module.function(entry)?;
        function.prepare(shape, self.gpu.info().shared_per_block_optin_bytes)?;
        let queue = || function.launch(self.gpu.stream.raw(), shape, params);
        let nanos = probes::samples(self.gpu, samples, self.stop, queue)?;
        Ok(Stats::of(&nanos).map_or(f64::INFINITY, |stats| stats.median_ns))
    }

    /// Median nanoseconds a round of a kernel whose last parameter says how many rounds it makes.
    fn time_a_round(&self, entry: &str, shape: &Geometry, first: &[&[u8]]) -> Result<f64, RunError> {
        let run = |rounds: i32, samples| {
            let rounds = rounds.to_le_bytes();
            let mut values = first.to_vec();
            values.push(&rounds);
            self.time(entry, shape, &arguments(&values), samples)
        };
        const TRIAL: i32 = 64;
        let trial = run(TRIAL, 2)?;
        let rounds = (f64::from(TRIAL) * LAUNCH_NS / trial.max(1.0)).clamp(64.0, 1e6) as i32;
        Ok(run(rounds, SAMPLES)? / f64::from(rounds))
    }

    fn buffer(&self, bytes: usize) -> Result<DeviceMemory, RunError> {
        DeviceMemory::new(&self.gpu.context, bytes, "a probe of the machine")
    }

    /// A buffer of normal numbers.
    fn normal(&self, dtype: Dtype, bytes: usize) -> Result<DeviceMemory, RunError> {
        let memory = self.buffer(bytes)?;
        let size = dtype.bytes();
        let mut drawn = vec![0; (DRAWN * size).min(bytes)];
        let mut random = SmallRng::seed_from_u64(1);
        drawn.chunks_exact_mut(size).for_each(|out| dtype.encode(StandardNormal.sample(&mut random), out));
        memory.write(0, &drawn)?;
        memory.repeat(0, drawn.len(), bytes)?;
        Ok(memory)
    }

    fn memory(&self, ceilings: &mut Ceilings) -> Result<Vec<Figure>, RunError> {
        // Large against any L2, small against the memory of any GPU.
        let bytes = (self.gpu.info().memory_bytes.unwrap_or(4 << 30) / 16).min(1 << 30) & !0xffff;
        let (from, to) = (self.normal(Dtype::F32, bytes as usize)?, self.buffer(bytes as usize)?);
        let (input, output) = (from.address().to_le_bytes(), to.address().to_le_bytes());
        let floats = (bytes / 4).to_le_bytes();
        let vectors = (bytes / 16).to_le_bytes();
        let passes = 1i32.to_le_bytes();
        let persistent = geometry(4 * self.multiprocessors(), 512, 0);
        let one_each = geometry(bytes / 16 / 256, 256, 0);
        let scalar = geometry(bytes / 4 / 256, 256, 0);
        let rate = |moved: u64, nanos: f64| moved as f64 / nanos * 1e9;
        let read_vectors = rate(
            bytes,
            self.time("read_vectors", &persistent, &arguments(&[&input, &output, &vectors, &passes]), SAMPLES)?,
        );
        let read_scalars =
            rate(bytes, self.time("read_scalars", &scalar, &arguments(&[&input, &output, &floats]), SAMPLES)?);
        let value = 1.5f32.to_le_bytes();
        let written =
            rate(bytes, self.time("write_vectors", &one_each, &arguments(&[&output, &vectors, &value]), SAMPLES)?);
        let mut copies = vec![("the driver's own copy", ceilings.copy_bytes_per_s)];
        let copy = |entry: &str, shape: &Geometry, count: &[u8]| {
            Ok::<f64, RunError>(rate(
                2 * bytes,
                self.time(entry, shape, &arguments(&[&input, &output, count]), SAMPLES)?,
            ))
        };
        copies.push((
            "a float4 kernel, two loads on their way",
            copy("copy_vectors", &geometry(bytes / 16 / 256, 128, 0), &vectors)?,
        ));
        copies.push(("a kernel of one float a thread", copy("copy_scalars", &scalar, &floats)?));
        if self.has("copy_bulk") {
            let shape = geometry(self.multiprocessors(), 32, bulk_copy_shared(self.gpu.info().capability));
            copies.push(("the bulk copy engine", copy("copy_bulk", &shape, &bytes.to_le_bytes())?));
        }
        let in_l2 = (16u64 << 20) / 16;
        let many = 50i32.to_le_bytes();
        let l2 = rate(
            16 * in_l2 * 50,
            self.time(
                "read_vectors",
                &persistent,
                &arguments(&[&input, &output, &in_l2.to_le_bytes(), &many]),
                SAMPLES,
            )?,
        );
        let best = copies.iter().fold(copies[0], |best, other| if other.1 > best.1 { *other } else { best });
        ceilings.copy_bytes_per_s = best.1;
        ceilings.notes = vec![format!("the best copy is {}; all count bytes read plus bytes written", best.0)];
        let mut figures = vec![
            figure(
                "read_bandwidth",
                "read",
                read_vectors.max(read_scalars),
                Unit::BytesPerSecond,
                "the better of float4 and float loads",
            ),
            figure("write_bandwidth", "write", written, Unit::BytesPerSecond, "float4 stores"),
            figure("l2_read_bandwidth", "read from L2", l2, Unit::BytesPerSecond, "16 MiB read 50 times"),
        ];
        figures.extend(
            copies
                .into_iter()
                .zip(["driver", "vectors", "scalars", "bulk"])
                .map(|((how, value), key)| figure(&format!("copy_{key}"), "copy", value, Unit::BytesPerSecond, how)),
        );
        Ok(figures)
    }

    fn arithmetic(&self, ceilings: &mut Ceilings) -> Result<Vec<Figure>, RunError> {
        let out = self.buffer(64)?;
        let output = out.address().to_le_bytes();
        let sms = self.multiprocessors();
        let input = self.normal(Dtype::F32, 4 * 256)?;
        let shape = geometry(8 * sms, 256, 0);
        let round = self.time_a_round("fma_fp32", &shape, &[&input.address().to_le_bytes(), &output])?;
        let fma = 2.0 * 256.0 * 256.0 * 8.0 * sms as f64 / round * 1e9;
        ceilings.fp32_flops = ceilings.fp32_flops.max(fma);
        let mut figures = Vec::new();
        let mut rate = |entry: &str, name: &str, dtype, bytes, shape: Geometry, operations: f64, how: &str| {
            if !self.has(entry) {
                return Ok::<(), RunError>(());
            }
            let input = self.normal(dtype, bytes)?;
            let round = self.time_a_round(entry, &shape, &[&input.address().to_le_bytes(), &output])?;
            figures.push(figure(entry, name, operations / round * 1e9, Unit::OperationsPerSecond, how));
            Ok(())
        };
        let powers = 8.0 * 16.0 * 256.0 * 8.0 * sms as f64;
        let special = "ex2.approx, eight chains a thread, all multiprocessors together";
        rate("sfu", "special functions", Dtype::F32, 4 * 256, geometry(8 * sms, 256, 0), powers, special)?;
        let grid = 2 * sms;
        let mma = 16.0 * 4096.0 * 8.0 * grid as f64;
        let registers = "mma.sync m16n8k16, operands in registers, normal numbers, sums in FP32";
        rate("mma_f16", "FP16 mma.sync", Dtype::F16, 2 * 1536, geometry(grid, 256, 0), mma, registers)?;
        rate("mma_bf16", "BF16 mma.sync", Dtype::Bf16, 2 * 1536, geometry(grid, 256, 0), mma, registers)?;
        let fp8 = "mma.sync m16n8k32, operands in registers, normal numbers, sums in FP32";
        rate("mma_e4m3", "FP8 mma.sync", Dtype::E4m3, 3072, geometry(grid, 256, 0), 2.0 * mma, fp8)?;
        let scaled = "the same with a scale for each 32 elements";
        rate("mma_mxfp8", "MXFP8 mma.sync", Dtype::E4m3, 3072, geometry(grid, 256, 0), 2.0 * mma, scaled)?;
        // Any bytes are codes of four bits.
        let fp4 = "mma.sync m16n8k64 in NVFP4, operands in registers, a scale for each 16 elements, sums in FP32";
        rate("mma_nvfp4", "NVFP4 mma.sync", Dtype::E4m3, 3072, geometry(grid, 256, 0), 4.0 * mma, fp4)?;
        let fed = 4.0 * 32.0 * 4096.0 * 8.0 * sms as f64;
        let fetched = "the same with operands fetched by ldmatrix as a product of 64 x 64 a warp needs them";
        rate("mma_bf16_fed", "BF16 mma.sync, fed", Dtype::Bf16, 49_152, geometry(sms, 256, 49_152), fed, fetched)?;
        let wgmma = 4.0 * 2.0 * 64.0 * 256.0 * 2.0 * sms as f64;
        let shared = "wgmma m64n256, operands in shared memory, normal numbers, sums in FP32";
        rate("wgmma_bf16", "BF16 wgmma", Dtype::Bf16, 196_608, geometry(sms, 256, 196_608), 16.0 * wgmma, shared)?;
        rate("wgmma_e4m3", "FP8 wgmma", Dtype::E4m3, 196_608, geometry(sms, 256, 196_608), 32.0 * wgmma, shared)?;
        Ok(figures)
    }

    fn shared(&self) -> Result<Vec<Figure>, RunError> {
        let out = self.buffer(64)?;
        let input = self.normal(Dtype::F32, 16_384)?;
        let grid = 2 * self.multiprocessors();
        let first: [&[u8]; 2] = [&input.address().to_le_bytes(), &out.address().to_le_bytes()];
        let round = self.time_a_round("shared_read", &geometry(grid, 512, 0), &first)?;
        let rate = 16.0 * 16.0 * 512.0 * grid as f64 / round * 1e9;
        let how = "16 bytes a thread, no bank conflicts, all multiprocessors together";
        Ok(vec![figure("shared_bandwidth", "shared memory", rate, Unit::BytesPerSecond, how)])
    }

    /// One thread that follows a chain of addresses.
    fn latencies(&self, clock_khz: f64) -> Result<Vec<Figure>, RunError> {
        const HOPS: i32 = 16_384;
        let out = self.buffer(16)?;
        let flush = self.buffer(2 * self.gpu.info().l2_bytes.unwrap_or(128 << 20) as usize)?;
        let output = out.address().to_le_bytes();
        let single = geometry(1, 1, 0);
        let hops = HOPS.to_le_bytes();
        let clocks_a_hop = |hops: i32| {
            let mut bytes = [0; 8];
            out.read(0, &mut bytes)?;
            Ok::<f64, RunError>(u64::from_le_bytes(bytes) as f64 / f64::from(hops))
        };
        let mut figures = Vec::new();
        let mut add = |key: &str, name: &str, clocks: f64, what: &str| {
            let how = format!("{clocks:.0} clocks: one thread follows addresses through {what}");
            figures.push(figure(key, name, clocks / clock_khz * 1e6, Unit::Nanoseconds, &how));
        };
        self.time("chain_follow_shared", &single, &arguments(&[&output, &hops]), 1)?;
        add("latency_shared", "shared memory latency", clocks_a_hop(HOPS)?, "1024 words");
        for Chain { key, name, entry, count, step, jump, warm, what } in CHAINS {
            let bytes = count as usize * step as usize * 8;
            if bytes as u64 > self.gpu.free_bytes()? / 2 {
                continue;
            }
            let chain = self.buffer(bytes)?;
            let start = chain.address().to_le_bytes();
            let make = arguments(&[&start, &count.to_le_bytes(), &step.to_le_bytes(), &jump.to_le_bytes()]);
            self.time("chain_make", &geometry(u64::from(count).div_ceil(256), 256, 0), &make, 1)?;
            if warm == 0 {
                flush.fill(0, flush.bytes(), 0x11)?;
            }
            let function = self.module.function(entry)?;
            let follow = arguments(&[&start, &output, &warm.to_le_bytes(), &hops]);
            // Once: a second walk would find the chain in L2.
            function.launch(self.gpu.stream.raw(), &single, &follow)?;
            self.gpu.stream.wait(Instant::now() + LIMIT, self.stop)?;
            add(key, name, clocks_a_hop(HOPS)?, what);
        }
        Ok(figures)
    }

    fn launches(&self) -> Result<Vec<Figure>, RunError> {
        let shape = geometry(1, 32, 0);
        let alone = self.time("empty", &shape, &[], 200)?;
        let function = self.module.function("empty")?;
        let queue = || (0..EMPTY_LAUNCHES).try_for_each(|_| function.launch(self.gpu.stream.raw(), &shape, &[]));
        let graph = self.gpu.stream.capture(queue)?;
        let nanos = probes::samples(self.gpu, SAMPLES, self.stop, || self.gpu.stream.launch_graph(&graph))?;
        let graphed = Stats::of(&nanos).map_or(f64::INFINITY, |stats| stats.median_ns) / EMPTY_LAUNCHES as f64;
        // From a call on the CPU to the GPU's answer: what a program waits that needs each result.
        let mut round_trips = Vec::with_capacity(200);
        let done = Event::new()?;
        for _ in 0..200 {
            let begin = Instant::now();
            function.launch(self.gpu.stream.raw(), &shape, &[])?;
            self.gpu.stream.record(&done)?;
            self.gpu.stream.wait(Instant::now() + LIMIT, self.stop)?;
            round_trips.push(begin.elapsed().as_nanos() as f64);
        }
        let round_trip = Stats::of(&round_trips).map_or(f64::INFINITY, |stats| stats.median_ns);
        Ok(vec![
            figure("launch", "a launch", alone, Unit::Nanoseconds, "an empty kernel between two events"),
            figure(
                "launch_in_graph",
                "a launch in a graph",
                graphed,
                Unit::Nanoseconds,
                "200 empty kernels in one graph",
            ),
            figure("launch_round_trip", "a launch, waited for", round_trip, Unit::Nanoseconds, "by the CPU's clock"),
        ])
    }
}

/// What the driver's own tool says; cudarc has no binding for the library behind it.
fn temperature_c(choice: &DeviceChoice) -> Option<f64> {
    let DeviceChoice::Gpu(ordinal) = choice else { return None };
    let answer = Command::new("nvidia-smi")
        .args(["--query-gpu=temperature.gpu", "--format=csv,noheader,nounits", "-i", &ordinal.to_string()])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    String::from_utf8_lossy(&answer.stdout).trim().parse().ok()
}

/// The file that a device's ceilings are kept in.
fn file(data_dir: &Path, device: &str) -> PathBuf {
    let name: String = device.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    data_dir.join("ceilings").join(format!("{name}.json"))
}

/// What was measured of this device with this driver before.
pub fn load(data_dir: &Path, device: &str, driver: Option<&str>) -> Option<Ceilings> {
    let text = std::fs::read_to_string(file(data_dir, device)).ok()?;
    let known: Ceilings = serde_json::from_str(&text).ok()?;
    // Another driver may be faster or slower.
    (known.device == device && driver.is_none_or(|driver| driver == known.driver)).then_some(known)
}

/// Keeps what was measured.
///
/// # Errors
/// The data folder cannot be written.
pub fn save(data_dir: &Path, ceilings: &Ceilings) -> std::io::Result<()> {
    let path = file(data_dir, &ceilings.device);
    let folder = path.parent().unwrap_or(data_dir);
    std::fs::create_dir_all(folder)?;
    let mut written = tempfile::NamedTempFile::new_in(folder)?;
    std::io::Write::write_all(&mut written, serde_json::to_string_pretty(ceilings)?.as_bytes())?;
    written.persist(&path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_measured_is_found_again_for_the_same_device_and_driver() {
        let folder = tempfile::tempdir().unwrap();
        let measured = Ceilings {
            device: "NVIDIA H200 (1/2)".to_owned(),
            driver: "580.1".to_owned(),
            copy_bytes_per_s: 4.2e12,
            more: vec![figure("launch", "a launch", 7e3, Unit::Nanoseconds, "x")],
            ..Ceilings::default()
        };
        assert_eq!(load(folder.path(), &measured.device, None), None);
        save(folder.path(), &measured).unwrap();
        save(folder.path(), &measured).unwrap();
        assert_eq!(load(folder.path(), &measured.device, Some("580.1")), Some(measured.clone()));
        assert_eq!(load(folder.path(), &measured.device, Some("590.2")), None);
        assert_eq!(load(folder.path(), "another", None), None);
        assert_eq!(measured.figure("launch"), Some(7e3));
        assert_eq!(measured.figure("copy_bandwidth"), Some(4.2e12));
    }

    #[test]
    fn the_probes_have_the_entries_that_are_launched() {
        let text = source().text;
        for entry in [
            "read_vectors",
            "read_scalars",
            "write_vectors",
            "copy_vectors",
            "copy_scalars",
            "copy_bulk",
            "fma_fp32",
            "sfu",
            "mma_f16",
            "mma_bf16",
            "mma_e4m3",
            "mma_mxfp8",
            "mma_nvfp4",
            "mma_bf16_fed",
            "wgmma_bf16",
            "wgmma_e4m3",
            "shared_read",
            "chain_make",
            "chain_follow",
            "chain_follow_l1",
            "chain_follow_shared",
            "empty",
        ] {
            assert!(text.contains(&format!(" {entry}(")), "{entry}");
        }
    }
}
