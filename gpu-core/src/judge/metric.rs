//! How far an output is from what belongs there, by each of the metrics that an exercise can ask for.

use super::tensors::Output;
use crate::oracle::Expected;
use crate::spec::{Dtype, Metric, OutputRule};
use crate::verdict::{Mismatch, OutputReport};

/// Error ratios are cut here, so that infinities survive formats without them.
pub(super) const MAX_RATIO: f64 = 1e12;

/// Judges single elements of one output: how large an error is in units of the allowed one.
pub(crate) struct Allowed {
    kind: Kind,
    /// Whole numbers pass by equality unless the tolerance reaches a whole unit.
    is_whole: bool,
}

enum Kind {
    /// `absolute + relative * magnitude`.
    Relative { absolute: f64, relative: f64 },
    /// Units in the last place.
    Ulp { limit: f64, dtype: Dtype },
    /// The value rounded to a type; None: the value itself.
    Exact(Option<Dtype>),
    /// One error for all elements. None: all pass, for the output passes as a whole.
    Uniform(Option<f64>),
    /// No further away than one step of the rounding.
    OneStep,
}

impl Allowed {
    /// An error in units of the allowed one; at most 1 passes.
    pub fn ratio(&self, got: f64, want: f64, magnitude: f64) -> f64 {
        if got == want || (got.is_nan() && want.is_nan()) {
            return 0.0;
        }
        let error = (got - want).abs();
        let allowed = match self.kind {
            Kind::Relative { absolute, relative } => absolute + relative * magnitude,
            Kind::Ulp { limit, dtype } => limit * ulp(dtype, want),
            Kind::Exact(dtype) => {
                let rounded = dtype.map_or(want, |dtype| rounded(dtype, want));
                return if got == rounded || (got.is_nan() && rounded.is_nan()) { 0.0 } else { MAX_RATIO };
            }
            Kind::Uniform(None) => return 0.0,
            Kind::Uniform(Some(allowed)) => allowed,
            // The quotient that a kernel rounds is rounded itself.
            Kind::OneStep => magnitude * (1.0 + 1e-5),
        };
        if !error.is_finite() || !allowed.is_finite() || allowed <= 0.0 || (self.is_whole && allowed < 1.0) {
            return MAX_RATIO;
        }
        (error / allowed).min(MAX_RATIO)
    }
}

/// What the elements of an output may be off by, and what is measured of the output as a whole.
pub(crate) fn judge(output: &Output<'_>, expected: &Expected, rule: &OutputRule) -> (Allowed, Option<f64>) {
    let is_whole = output.is_whole();
    let element = |kind| (Allowed { kind, is_whole }, None);
    match rule.metric {
        Metric::Elementwise { absolute, relative } => element(Kind::Relative { absolute, relative }),
        Metric::Ulp { limit } => element(Kind::Ulp { limit, dtype: output.dtype }),
        Metric::Exact => element(Kind::Exact(output.view.is_none().then_some(output.dtype))),
        Metric::Statistical { .. } => element(Kind::OneStep),
        Metric::RelativeNorm { .. } | Metric::SqnrDb { .. } | Metric::Cosine { .. } => {
            let norms = Norms::of(&output.values, &expected.values);
            let measured = norms.measure(&rule.metric);
            let kind = if rule.metric.accepts(measured) {
                Kind::Uniform(None)
            } else if !norms.error.is_finite() {
                // One NaN or infinity spoils the whole; those are the elements to look at.
                Kind::Uniform(Some(f64::MAX))
            } else {
                Kind::Uniform(Some(norms.allowed_each(&rule.metric)))
            };
            (Allowed { kind, is_whole: false }, Some(measured))
        }
    }
}

/// What is needed of two arrays for every metric of the whole.
struct Norms {
    count: f64,
    want: f64,
    got: f64,
    error: f64,
    product: f64,
    largest_error: f64,
}

impl Norms {
    fn of(got: &[f64], want: &[f64]) -> Self {
        let mut norms =
            Norms { count: want.len() as f64, want: 0.0, got: 0.0, error: 0.0, product: 0.0, largest_error: 0.0 };
        for (got, want) in got.iter().zip(want) {
            // The same infinity, or NaN where NaN belongs, is no error and has no size.
            if got == want && got.is_infinite() || got.is_nan() && want.is_nan() {
                continue;
            }
            norms.want += want * want;
            norms.got += got * got;
            norms.error += (got - want).powi(2);
            norms.product += got * want;
            norms.largest_error = norms.largest_error.max((got - want).abs());
        }
        norms
    }

    fn measure(&self, metric: &Metric) -> f64 {
        let relative = match (self.error, self.want) {
            (0.0, _) => 0.0,
            (error, want) => (error / want).sqrt(),
        };
        match metric {
            Metric::SqnrDb { .. } => -20.0 * relative.log10(),
            Metric::Cosine { .. } if self.error == 0.0 => 1.0,
            Metric::Cosine { .. } => self.product / (self.want.sqrt() * self.got.sqrt()),
            _ => relative,
        }
    }

    /// An error that, had by every element, just meets the limit: elements beyond it are those to look at. There is
    /// always one.
    fn allowed_each(&self, metric: &Metric) -> f64 {
        let relative = match metric {
            Metric::SqnrDb { limit } => 10f64.powf(-limit / 20.0),
            // The chord of the angle.
            Metric::Cosine { limit } => (2.0 - 2.0 * limit).max(0.0).sqrt(),
            _ => metric.limit(),
        };
        let each = relative * (self.want / self.count.max(1.0)).sqrt();
        each.min(self.largest_error * 0.999).max(f64::MIN_POSITIVE)
    }
}

/// What is told of an output: the measured value beside the limit.
pub(crate) fn report(rule: &OutputRule, measured: f64, wrong: u64) -> OutputReport {
    let is_counted = matches!(rule.metric, Metric::Elementwise { .. } | Metric::Exact | Metric::Ulp { .. });
    OutputReport {
        of: rule.of.clone(),
        metric: rule.metric.name().to_owned(),
        measured: measured.clamp(-MAX_RATIO, MAX_RATIO),
        limit: rule.metric.limit(),
        is_at_least: rule.metric.is_at_least(),
        passed: wrong == 0 && (is_counted || rule.metric.accepts(measured)),
        reason: rule.reason.clone(),
    }
}

/// A measured value as a share of what is allowed, for the worst error of all outputs; more than 1 fails.
pub(super) fn share_of_allowed(metric: &Metric, measured: f64) -> f64 {
    let share = match metric {
        Metric::SqnrDb { limit } => 10f64.powf((limit - measured) / 20.0),
        Metric::Cosine { limit } => (1.0 - measured) / (1.0 - limit),
        _ if measured == 0.0 => 0.0,
        _ => measured / metric.limit(),
    };
    if share.is_nan() { MAX_RATIO } else { share.clamp(0.0, MAX_RATIO) }
}

/// Distance of neighbouring numbers of a type at a value; 1 for whole numbers.
pub(crate) fn ulp(dtype: Dtype, value: f64) -> f64 {
    let (fraction_bits, least_exponent) = match dtype {
        Dtype::F64 => (52, -1022),
        Dtype::F32 => (23, -126),
        Dtype::F16 => (10, -14),
        Dtype::Bf16 => (7, -126),
        Dtype::E4m3 => (3, -6),
        Dtype::E5m2 => (2, -14),
        _ => return 1.0,
    };
    let exponent =
        if value == 0.0 { least_exponent } else { ((value.abs().to_bits() >> 52) as i32 - 1023).max(least_exponent) };
    2f64.powi(exponent.max(-1022 + fraction_bits) - fraction_bits)
}

fn rounded(dtype: Dtype, value: f64) -> f64 {
    let mut bytes = [0; 8];
    dtype.encode(value, &mut bytes);
    dtype.decode(&bytes)
}

/// `3.2 dB, at least 20 asked`.
pub(crate) fn against_limit(report: &OutputReport) -> String {
    let unit = match report.metric.as_str() {
        "sqnr_db" => " dB",
        "ulp" => " units in the last place",
        "statistical" => " standard errors",
        _ => "",
    };
    let bound = if report.is_at_least { "at least" } else { "at most" };
    format!("{}{unit}, {bound} {} asked", short(report.measured), short(report.limit))
}

/// Whether a metric is one number of the output as a whole.
pub(crate) fn is_of_the_whole(metric: &str) -> bool {
    matches!(metric, "relative_norm" | "sqnr_db" | "cosine" | "statistical")
}

/// ` (code 0x3f, scale 0.25)` of what is there and of what belongs there; empty for what is no code.
pub(crate) fn codes(mismatch: &Mismatch) -> [String; 2] {
    let Some(pair) = mismatch.code else { return [String::new(), String::new()] };
    let digits = (pair.bits / 4).max(1) as usize;
    // A scale is worth telling where it differs.
    let differs = pair.expected_scale.is_some() && pair.got_scale != pair.expected_scale;
    let of = |code: Option<u32>, scale: Option<f64>| {
        let scale = scale.filter(|_| differs).map(|scale| format!(", scale {}", short(scale))).unwrap_or_default();
        code.map_or_else(String::new, |code| format!(" (code 0x{code:0digits$x}{scale})"))
    };
    [of(Some(pair.got), pair.got_scale), of(pair.expected, pair.expected_scale)]
}

/// What a metric is called in a sentence.
pub(crate) fn spoken(metric: &str) -> &str {
    match metric {
        "sqnr_db" => "the signal-to-quantization-noise ratio",
        "relative_norm" => "the relative error norm",
        "cosine" => "the cosine similarity",
        "ulp" => "the largest error",
        "statistical" => "the largest deviation over many draws, in standard errors,",
        other => other,
    }
}

fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        large if large >= 1e6 => format!("{value:.2e}"),
        _ if value == value.trunc() => format!("{value}"),
        small if small < 1e-3 => format!("{value:.2e}"),
        _ => {
            let text = format!("{value:.4}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_of_the_whole_are_as_worked_by_hand() {
        let (want, got) = ([3.0, 4.0], [3.0, 4.5]);
        let norms = Norms::of(&got, &want);
        let measure = |metric: &Metric| norms.measure(metric);
        assert_eq!(measure(&Metric::RelativeNorm { limit: 0.0 }), 0.1);
        assert!((measure(&Metric::SqnrDb { limit: 0.0 }) - 20.0).abs() < 1e-12);
        let cosine = 27.0 / (5.0 * (9.0f64 + 20.25).sqrt());
        assert!((measure(&Metric::Cosine { limit: 0.0 }) - cosine).abs() < 1e-12);
        let same = Norms::of(&want, &want);
        assert_eq!(same.measure(&Metric::SqnrDb { limit: 0.0 }), f64::INFINITY);
        assert_eq!(same.measure(&Metric::Cosine { limit: 0.0 }), 1.0);
        let zeros = Norms::of(&[0.0; 2], &[0.0; 2]);
        assert_eq!(
            (zeros.measure(&Metric::RelativeNorm { limit: 0.0 }), zeros.measure(&Metric::Cosine { limit: 0.0 })),
            (0.0, 1.0)
        );
        let missing = Norms::of(&[f64::NAN, 4.0], &want);
        for metric in
            [Metric::RelativeNorm { limit: 1e9 }, Metric::SqnrDb { limit: -1e9 }, Metric::Cosine { limit: -1.0 }]
        {
            assert!(!metric.accepts(missing.measure(&metric)), "NaN passes nothing");
        }
        assert_eq!(
            Norms::of(&[f64::INFINITY, 4.0], &[f64::INFINITY, 4.0]).measure(&Metric::RelativeNorm { limit: 0.0 }),
            0.0
        );
    }

    #[test]
    fn the_elements_named_are_those_that_break_the_limit() {
        let want = vec![1.0; 100];
        let mut got = want.clone();
        got[7] = 3.0;
        let norms = Norms::of(&got, &want);
        for metric in
            [Metric::RelativeNorm { limit: 0.1 }, Metric::SqnrDb { limit: 20.0 }, Metric::Cosine { limit: 0.999 }]
        {
            assert!(!metric.accepts(norms.measure(&metric)), "{metric:?}");
            let allowed = norms.allowed_each(&metric);
            assert!((0.0..2.0).contains(&allowed), "{metric:?} {allowed}");
        }
        // An even error a little above the limit: the largest one is named at least.
        let even = Norms::of(&[1.05, 1.06], &[1.0, 1.0]);
        assert!(even.allowed_each(&Metric::RelativeNorm { limit: 0.051 }) < 0.06);
    }

    #[test]
    fn units_in_the_last_place_are_those_of_the_type() {
        for (dtype, value, unit) in [
            (Dtype::F32, 1.0, f64::from(f32::EPSILON)),
            (Dtype::F32, -3.9, 2.0 * f64::from(f32::EPSILON)),
            (Dtype::F16, 1000.0, 0.5),
            (Dtype::Bf16, 256.0, 2.0),
            (Dtype::E4m3, 448.0, 32.0),
            (Dtype::E5m2, 0.0, 2f64.powi(-16)),
            (Dtype::F64, 1.0, f64::EPSILON),
            (Dtype::I32, 5.0, 1.0),
        ] {
            assert_eq!(ulp(dtype, value), unit, "{dtype:?} {value}");
        }
    }
}
