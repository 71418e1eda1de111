//! The runs of a plot as a table.

use super::TimedRun;
use crate::widgets::plot_kit;
use gpu_core::bench::Timing;

/// The runs as a table, one line each, times in nanoseconds.
pub(super) fn csv(runs: &[&TimedRun]) -> String {
    let mut out = String::from(
        "run,device,unix_s,case,kind,median_ns,p20_ns,p80_ns,samples,modelled_low_ns,modelled_high_ns,\
         share_of_ceiling,bound,reference_median_ns,flops,bytes,load_sectors,load_requests,store_sectors,\
         store_requests,bank_conflicts,warp_instructions,rejected\n",
    );
    for run in runs {
        let point = &run.point;
        let kind = match (&point.timing, &point.stats) {
            (Some(Timing::Modelled { .. }), _) => "modelled",
            (_, Some(_)) => "measured",
            _ => "counted",
        };
        let number = |value: Option<f64>| value.map(|v| v.to_string()).unwrap_or_default();
        let stat = |get: fn(&gpu_core::bench::Stats) -> f64| number(point.stats.as_ref().map(get));
        let (low, high) = match &point.timing {
            Some(Timing::Modelled { low_ns, high_ns, .. }) => (Some(*low_ns), Some(*high_ns)),
            _ => (None, None),
        };
        let count =
            |get: fn(&gpu_core::emulator::Counters) -> u64| number(point.counters.as_ref().map(|c| get(c) as f64));
        let fields = [
            run.number.to_string(),
            plot_kit::csv_field(&run.device),
            run.when_unix_s.to_string(),
            plot_kit::csv_field(&point.name),
            kind.to_owned(),
            stat(|s| s.median_ns),
            stat(|s| s.p20_ns),
            stat(|s| s.p80_ns),
            stat(|s| f64::from(s.samples)),
            number(low),
            number(high),
            number(point.share_of_ceiling),
            plot_kit::csv_field(&point.bound),
            number(point.reference.map(|r| r.median_ns)),
            number(Some(point.flops)),
            number(Some(point.bytes)),
            count(|c| c.global_load.sectors),
            count(|c| c.global_load.requests),
            count(|c| c.global_store.sectors),
            count(|c| c.global_store.requests),
            count(|c| c.shared_load.bank_conflicts + c.shared_store.bank_conflicts),
            count(|c| c.warp_instructions),
            plot_kit::csv_field(point.rejected.as_deref().unwrap_or_default()),
        ];
        out.push_str(&fields.join(","));
        out.push('\n');
    }
    out
}
