//! Small kernels of our own that measure the machine. They are PTX of an old version, which every driver compiles
//! for its GPU, so that no CUDA compiler is needed where a device worker runs.

use crate::cuda::{CudaDevice, DeviceMemory, Event, Module, Stream};
use crate::device::{Device, RunError};
use crate::spec::Geometry;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// A probe is done in milliseconds; this is for a GPU that others keep busy.
const PROBE_LIMIT: Duration = Duration::from_secs(10);

/// One thread watches both timers: SM clocks in the first word of `out`, nanoseconds in the second. It starts at a
/// tick of the global timer, which on some chips ticks only once a microsecond.
const CLOCK_PTX: &str = "\
.version 7.0
.target sm_75
.address_size 64
.visible .entry lockstep_clock(.param .u64 out, .param .u64 nanos)
{
    .reg .pred %p;
    .reg .u64 %rd<11>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [nanos];
    cvta.to.global.u64 %rd10, %rd1;
    mov.u64 %rd9, %globaltimer;
$tick:
    mov.u64 %rd3, %globaltimer;
    mov.u64 %rd4, %clock64;
    setp.eq.u64 %p, %rd3, %rd9;
    @%p bra $tick;
    add.u64 %rd5, %rd3, %rd2;
$watch:
    mov.u64 %rd6, %globaltimer;
    mov.u64 %rd7, %clock64;
    setp.lt.u64 %p, %rd6, %rd5;
    @%p bra $watch;
    sub.u64 %rd8, %rd7, %rd4;
    st.global.u64 [%rd10], %rd8;
    sub.u64 %rd8, %rd6, %rd3;
    st.global.u64 [%rd10+8], %rd8;
    ret;
}
\0";

/// Watched span: 0.1% of error from a timer with a resolution of a tenth of a microsecond, 1% from one of a
/// microsecond.
const CLOCK_NANOS: u64 = 100_000;

/// Measures the clock of the multiprocessors while it is called.
pub struct ClockProbe {
    module: Module,
    out: DeviceMemory,
}

impl ClockProbe {
    pub fn new(gpu: &CudaDevice) -> Result<Self, RunError> {
        let module = gpu.load_apart(CLOCK_PTX.as_bytes())?;
        Ok(Self { module, out: DeviceMemory::new(&gpu.context, 16, "the clock probe")? })
    }

    /// Queues a measurement.
    pub fn queue(&self, stream: &Stream) -> Result<(), RunError> {
        let mut params = self.out.address().to_le_bytes().to_vec();
        params.extend_from_slice(&CLOCK_NANOS.to_le_bytes());
        self.module.function("lockstep_clock")?.launch(stream.raw(), &single_thread(), &params)
    }

    /// Kilohertz of the last measurement, once the stream was waited for.
    pub fn read_khz(&self) -> Result<f64, RunError> {
        let mut bytes = [0; 16];
        self.out.read(0, &mut bytes)?;
        let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i])) as f64;
        Ok(word(0) / word(8).max(1.0) * 1e6)
    }
}

fn single_thread() -> Geometry {
    Geometry::new([1; 3], [1; 3])
}

/// Independent chains of multiply-adds a thread: enough to hide a latency of four clocks several times over.
const CHAINS: u32 = 8;
/// Multiply-adds of each chain in the loop's body: with 256 of them the loop's own three instructions cost 1%.
const UNROLL: u32 = 32;
const LOOPS: u32 = 1024;
const FMA_THREADS: u32 = 256;
/// Blocks a multiprocessor: 1536 to 2048 resident threads and a short tail.
const FMA_BLOCKS: u32 = 8;

fn fma_ptx() -> String {
    let mut body = String::new();
    for chain in 0..CHAINS {
        body.push_str(&format!("    add.f32 %f{chain}, %f20, 0f3F80000{chain};\n"));
    }
    body.push_str("$loop:\n");
    for _ in 0..UNROLL {
        for chain in 0..CHAINS {
            body.push_str(&format!("    fma.rn.f32 %f{chain}, %f{chain}, %f21, %f22;\n"));
        }
    }
    body.push_str("    add.u32 %r1, %r1, 1;\n    setp.lt.u32 %p, %r1, %r2;\n    @%p bra $loop;\n");
    for chain in 1..CHAINS {
        body.push_str(&format!("    add.f32 %f0, %f0, %f{chain};\n"));
    }
    format!(
        ".version 7.0\n.target sm_75\n.address_size 64\n\
         .visible .entry lockstep_fma(.param .u64 out, .param .u32 loops)\n{{\n\
         .reg .pred %p;\n.reg .u32 %r<4>;\n.reg .f32 %f<24>;\n.reg .u64 %rd<3>;\n\
         ld.param.u64 %rd1, [out];\nld.param.u32 %r2, [loops];\ncvta.to.global.u64 %rd2, %rd1;\n\
         mov.u32 %r3, %tid.x;\ncvt.rn.f32.u32 %f20, %r3;\n\
         mov.f32 %f21, 0f3F7FFFFF;\nmov.f32 %f22, 0f33800000;\nmov.u32 %r1, 0;\n\
         {body}    setp.eq.f32 %p, %f0, 0f00000000;\n    @%p st.global.f32 [%rd2], %f0;\n    ret;\n}}\n\0"
    )
}

/// FP32 operations per second of ordinary cores, the best of a few launches.
pub fn fp32_flops(gpu: &CudaDevice, stop: &AtomicBool) -> Result<f64, RunError> {
    let module = gpu.load_apart(fma_ptx().as_bytes())?;
    let function = module.function("lockstep_fma")?;
    let out = DeviceMemory::new(&gpu.context, 4, "the arithmetic probe")?;
    let blocks = gpu.info().multiprocessors.unwrap_or(1) * FMA_BLOCKS;
    let geometry = Geometry { grid: [blocks, 1, 1], block: [FMA_THREADS, 1, 1], ..single_thread() };
    let mut params = out.address().to_le_bytes().to_vec();
    params.extend_from_slice(&LOOPS.to_le_bytes());
    let best = best_of(gpu, 6, stop, || function.launch(gpu.stream.raw(), &geometry, &params))?;
    let operations = f64::from(blocks) * f64::from(FMA_THREADS) * f64::from(LOOPS) * f64::from(CHAINS * UNROLL) * 2.0;
    Ok(operations / best * 1e9)
}

/// Bytes read plus bytes written per second of the driver's own copy inside the GPU, the median of several.
pub fn copy_bytes_per_s(gpu: &CudaDevice, stop: &AtomicBool) -> Result<f64, RunError> {
    // Large against any L2, small against the memory of any GPU.
    let half = (gpu.info().memory_bytes.unwrap_or(4 << 30) / 16).min(1 << 30) as usize;
    let (from, to) = (
        DeviceMemory::new(&gpu.context, half, "the copy probe")?,
        DeviceMemory::new(&gpu.context, half, "the copy probe")?,
    );
    from.fill(0, half, 0x5A)?;
    let nanos = samples(gpu, 20, stop, || gpu.stream.copy(to.address(), from.address(), half))?;
    let median = super::Stats::of(&nanos).map_or(f64::INFINITY, |stats| stats.median_ns);
    Ok(2.0 * half as f64 / median * 1e9)
}

fn best_of(
    gpu: &CudaDevice,
    count: usize,
    stop: &AtomicBool,
    queue: impl Fn() -> Result<(), RunError>,
) -> Result<f64, RunError> {
    Ok(samples(gpu, count, stop, queue)?.into_iter().fold(f64::INFINITY, f64::min))
}

/// Event-timed samples after one untimed run, in nanoseconds.
pub fn samples(
    gpu: &CudaDevice,
    count: usize,
    stop: &AtomicBool,
    queue: impl Fn() -> Result<(), RunError>,
) -> Result<Vec<f64>, RunError> {
    let (start, end) = (Event::new()?, Event::new()?);
    let mut nanos = Vec::with_capacity(count);
    for _ in 0..=count {
        gpu.stream.record(&start)?;
        queue()?;
        gpu.stream.record(&end)?;
        gpu.stream.wait(Instant::now() + PROBE_LIMIT, stop)?;
        nanos.push(start.nanos_until(&end)?);
    }
    nanos.remove(0);
    Ok(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_are_zero_terminated_and_whole() {
        for text in [CLOCK_PTX.to_owned(), fma_ptx()] {
            assert!(text.ends_with("}\n\0") && text.matches('\0').count() == 1);
            assert_eq!(text.matches('{').count(), text.matches('}').count());
        }
        assert_eq!(fma_ptx().matches("fma.rn.f32").count() as u32, CHAINS * UNROLL);
    }
}
