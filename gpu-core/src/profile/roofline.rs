//! The roofline: the time that a machine's ceilings allow, and the floor below which a time cannot be true.
//! Pure functions of a device's data.

use crate::device::DeviceInfo;
use crate::measured::{Ceilings, Unit};
use crate::spec::CeilingKind;
use crate::words::{duration, si};

/// Measured ceilings are passed by a few percent (reads alone are cheaper than copies); this much is granted.
const MEASURED_MARGIN: f64 = 0.95;
/// Bytes that one multiprocessor can take from L2 in a clock. 64 are documented for Volta to Hopper ("Dissecting the
/// NVIDIA Volta GPU Architecture via Microbenchmarking", Jia et al. 2018); twice that is beyond any chip so far.
const L2_BYTES_PER_CLOCK: f64 = 128.0;
/// FP32 multiply-adds of one multiprocessor in a clock: 128 since compute capability 8.6 and on 9.0 (CUDA C++
/// Programming Guide, "Arithmetic Instructions"); 256 leaves room for chips to come.
const FP32_LANES: f64 = 256.0;
/// No launch, not even inside a graph, was ever seen to take less than about a microsecond.
const LEAST_LAUNCH_NS: f64 = 300.0;

/// What a device could do at most, from its data sheet where the driver tells it and from measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peaks {
    pub dram_bytes_per_s: f64,
    pub l2_bytes_per_s: f64,
    pub fp32_flops: f64,
    pub l2_bytes: f64,
}

impl Peaks {
    /// The greater of nominal and measured, so that nothing true is refused.
    pub fn of(info: &DeviceInfo, measured: &Ceilings) -> Self {
        let clock = f64::from(info.clock_khz.unwrap_or(4_000_000)) * 1e3;
        let cores = f64::from(info.multiprocessors.unwrap_or(1024));
        // Two transfers a clock (DDR); None on chips whose driver does not tell.
        let nominal = match (info.memory_clock_khz, info.memory_bus_bits) {
            (Some(khz), Some(bits)) => 2.0 * f64::from(khz) * 1e3 * f64::from(bits) / 8.0,
            _ => 0.0,
        };
        Self {
            dram_bytes_per_s: nominal.max(measured.copy_bytes_per_s / MEASURED_MARGIN),
            l2_bytes_per_s: cores * clock * L2_BYTES_PER_CLOCK,
            fp32_flops: (cores * clock * FP32_LANES * 2.0).max(measured.fp32_flops / MEASURED_MARGIN),
            l2_bytes: info.l2_bytes.unwrap_or(256 << 20) as f64,
        }
    }
}

/// A time that no correct kernel can beat, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Floor {
    pub nanos: f64,
    pub reason: String,
}

impl Floor {
    /// For a kernel that must move `bytes` and, when `flops` is given, do so many FP32 operations.
    ///
    /// Not every byte need reach memory: what fits into L2 may stay there. After a flush nothing can be read from
    /// L2, but as much as it holds can be left in it unwritten; warm, inputs may be there too.
    pub fn of(peaks: &Peaks, bytes: f64, flops: Option<f64>, cold_l2: bool) -> Self {
        let cached = peaks.l2_bytes * if cold_l2 { 1.0 } else { 2.0 };
        let dram_ns = (bytes - cached).max(0.0) / peaks.dram_bytes_per_s * 1e9;
        let l2_ns = bytes / peaks.l2_bytes_per_s * 1e9;
        let compute_ns = flops.unwrap_or(0.0) / peaks.fp32_flops * 1e9;
        let candidates = [
            (dram_ns, format!("moving {} through memory at {}", si(bytes, "B"), si(peaks.dram_bytes_per_s, "B/s"))),
            (l2_ns, format!("moving {} through the L2 cache", si(bytes, "B"))),
            (compute_ns, format!("{} operations at {}", si(flops.unwrap_or(0.0), ""), si(peaks.fp32_flops, "FLOP/s"))),
            (LEAST_LAUNCH_NS, "a launch alone".to_owned()),
        ];
        let [first, rest @ ..] = candidates;
        let (nanos, reason) = rest.into_iter().fold(first, |best, next| if next.0 > best.0 { next } else { best });
        Self { nanos, reason }
    }

    /// Why `median_ns` cannot be true, if it cannot.
    pub fn rejects(&self, median_ns: f64) -> Option<String> {
        (median_ns < self.nanos).then(|| {
            format!(
                "{} is impossible: {} takes at least {}. The kernel did not do the work, or the exercise's cost is wrong",
                duration(median_ns),
                self.reason,
                duration(self.nanos)
            )
        })
    }
}

/// FP32 multiply-adds that a device does in a clock: 128 in a multiprocessor since compute capability 8.6, 64 before
/// (CUDA C++ Programming Guide, "Throughput of Native Arithmetic Instructions"). None where their number is unknown.
pub fn fp32_lanes(info: &DeviceInfo) -> Option<f64> {
    let each = if info.capability >= (8, 6) { 128.0 } else { 64.0 };
    info.multiprocessors.map(|count| each * f64::from(count))
}

/// Time that the measured ceilings allow; None when there is nothing to hold the kernel against. `lanes` are those of
/// [`fp32_lanes`].
pub fn time_at_ceiling_ns(
    ceilings: &Ceilings,
    lanes: Option<f64>,
    kind: CeilingKind,
    flops: f64,
    bytes: f64,
) -> Option<f64> {
    let memory = (ceilings.copy_bytes_per_s > 0.0).then(|| bytes / ceilings.copy_bytes_per_s * 1e9);
    let compute = (ceilings.fp32_flops > 0.0).then(|| flops / ceilings.fp32_flops * 1e9);
    let time = match kind {
        CeilingKind::Memory => memory,
        CeilingKind::Fp32 => compute,
        CeilingKind::OneLane => Some(compute? * lanes?),
        CeilingKind::Auto => Some(memory?.max(compute?)),
        measured => {
            let (key, _) = measured.figure()?;
            let figure = ceilings.more.iter().find(|figure| figure.key == key)?;
            let work = if figure.unit == Unit::BytesPerSecond { bytes } else { flops };
            (figure.value > 0.0).then(|| work / figure.value * 1e9)
        }
    };
    time.filter(|time| *time > 0.0)
}

/// Which ceiling bounds the kernel.
pub fn bound_by(ceilings: &Ceilings, kind: CeilingKind, flops: f64, bytes: f64) -> &'static str {
    let compute_bound = flops * ceilings.copy_bytes_per_s > bytes * ceilings.fp32_flops;
    match kind {
        CeilingKind::Memory => "copy bandwidth",
        CeilingKind::Fp32 => "fp32",
        CeilingKind::OneLane => "fp32 of one lane",
        CeilingKind::Auto if compute_bound => "fp32",
        CeilingKind::Auto => "copy bandwidth",
        measured => measured.figure().map_or("", |(_, name)| name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{DeviceChoice, DeviceKind};
    use crate::measured::Figure;

    /// An H200 with what was measured on one.
    fn h200() -> (DeviceInfo, Ceilings) {
        let info = DeviceInfo {
            choice: DeviceChoice::Gpu(0),
            kind: DeviceKind::Gpu,
            name: "NVIDIA H200".to_owned(),
            capability: (9, 0),
            arch: "sm_90a".to_owned(),
            multiprocessors: Some(132),
            memory_bytes: Some(150 << 30),
            l2_bytes: Some(50 << 20),
            clock_khz: Some(1_980_000),
            memory_clock_khz: Some(3_201_000),
            memory_bus_bits: Some(6144),
            shared_per_block_optin_bytes: Some(232_448),
            driver_version: None,
        };
        let ceilings = Ceilings { copy_bytes_per_s: 4.25e12, fp32_flops: 60e12, ..Ceilings::default() };
        (info, ceilings)
    }

    fn floor(bytes: f64, flops: Option<f64>, cold: bool) -> Floor {
        let (info, ceilings) = h200();
        Floor::of(&Peaks::of(&info, &ceilings), bytes, flops, cold)
    }

    #[test]
    fn real_measurements_are_not_refused() {
        // Bytes, seconds' worth of bandwidth as measured: vector add, sum, copy on an H200.
        for (bytes, rate) in [(3.2e9, 4.385e12), (2.1e9, 4.38e12), (4.3e9, 4.249e12)] {
            let median = bytes / rate * 1e9;
            assert_eq!(floor(bytes, None, true).rejects(median), None);
        }
        // 4096^3 FP32 products in cuBLAS: 51.2 TFLOP/s.
        let flops = 2.0 * 4096f64.powi(3);
        assert_eq!(floor(2e8, Some(flops), true).rejects(flops / 51.2e12 * 1e9), None);
    }

    #[test]
    fn a_kernel_that_did_nothing_is_refused() {
        let reason = floor(3.2e9, None, true).rejects(2_500.0).expect("3.2 GB in 2.5 us");
        assert!(reason.contains("2.50 us is impossible") && reason.contains("TB/s"), "{reason}");
        // Half the work.
        assert!(floor(3.2e9, None, true).rejects(3.2e9 / 4.385e12 * 1e9 / 2.0).is_some());
        let flops = 2.0 * 4096f64.powi(3);
        assert!(floor(2e8, Some(flops), true).rejects(200_000.0).is_some(), "687 TFLOP/s in FP32");
        assert!(floor(0.0, None, false).rejects(0.0).is_some(), "not even a launch");
    }

    #[test]
    fn small_problems_may_pass_memory_bandwidth_but_not_the_cache() {
        // 12 MB in 2 us is 6 TB/s: more than memory, less than L2.
        assert_eq!(floor(12.6e6, None, false).rejects(2_000.0), None);
        assert!(floor(60e6, None, false).rejects(1_000.0).is_some(), "60 TB/s from L2");
        // 80 MB after a flush: 50 MB may stay in L2, 30 MB must move.
        assert!(floor(80e6, None, true).rejects(5_000.0).is_some());
    }

    #[test]
    fn ceilings_bind_by_intensity() {
        let (_, ceilings) = h200();
        assert_eq!(bound_by(&ceilings, CeilingKind::Auto, 1.0, 12.0), "copy bandwidth");
        assert_eq!(bound_by(&ceilings, CeilingKind::Auto, 2.0 * 1024f64.powi(3), 12.6e6), "fp32");
        let time = time_at_ceiling_ns(&ceilings, None, CeilingKind::Memory, 0.0, 4.25e12).expect("a ceiling");
        assert!((time - 1e9).abs() < 1.0);
        assert_eq!(time_at_ceiling_ns(&Ceilings::default(), None, CeilingKind::Auto, 1.0, 1.0), None);
    }

    #[test]
    fn one_thread_is_held_against_one_lane() {
        let (info, ceilings) = h200();
        let lanes = fp32_lanes(&info);
        assert_eq!(lanes, Some(132.0 * 128.0));
        let time = time_at_ceiling_ns(&ceilings, lanes, CeilingKind::OneLane, 60e12, 0.0).expect("a ceiling");
        assert!((time - 132.0 * 128.0 * 1e9).abs() < 1.0, "all of the machine's work, by one lane: {time}");
        assert_eq!(time_at_ceiling_ns(&ceilings, None, CeilingKind::OneLane, 1.0, 0.0), None);
        assert_eq!(bound_by(&ceilings, CeilingKind::OneLane, 1.0, 1.0), "fp32 of one lane");
    }

    #[test]
    fn any_measured_ceiling_can_bound_a_kernel() {
        let figure =
            |key: &str, value, unit| Figure { key: key.into(), name: key.into(), value, unit, how: String::new() };
        let more = vec![
            figure("wgmma_bf16", 7e14, Unit::OperationsPerSecond),
            figure("shared_bandwidth", 3e13, Unit::BytesPerSecond),
        ];
        let ceilings = Ceilings { more, ..Ceilings::default() };
        let time = |kind| time_at_ceiling_ns(&ceilings, None, kind, 7e12, 3e10);
        assert_eq!(time(CeilingKind::WgmmaBf16), Some(1e7));
        assert_eq!(time(CeilingKind::Shared), Some(1e6));
        assert_eq!(time(CeilingKind::Sfu), None, "not measured");
        assert_eq!(bound_by(&ceilings, CeilingKind::Shared, 1.0, 1.0), "shared memory");
    }
}
