//! How each output is judged: `[[output]]`.

use super::resolve::resolve_scalar;
use super::toml_reader::{Reader, Section, join};
use super::{Param, Parsed, Resolved, ResolvedParam, Spec, Tolerance};
use serde::{Deserialize, Serialize};

/// The variable in a scalar's `value` that is fresh for each run.
pub(super) const SEED: &str = "seed";
/// Fewest and most runs of a statistical comparison: below, the mean says nothing; above, a check takes too long.
const DRAWS: (i64, i64) = (16, 65_536);

/// What is measured of an output, and what passes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Metric {
    /// Every element within `absolute + relative * magnitude`.
    Elementwise { absolute: f64, relative: f64 },
    /// `|got - expected| / |expected|` by Euclidean norms, at most.
    RelativeNorm { limit: f64 },
    /// `20 log10(|expected| / |got - expected|)` by Euclidean norms, at least.
    SqnrDb { limit: f64 },
    /// Cosine of the angle between the two as vectors, at least.
    Cosine { limit: f64 },
    /// Largest error in units in the last place of the output's type, at most.
    Ulp { limit: f64 },
    /// The expected value, rounded to the output's type.
    Exact,
    /// Mean and spread over many runs with fresh seeds: the largest deviation in standard errors, at most.
    Statistical { limit: f64, draws: u32 },
}

/// Names in exercise files.
pub const METRICS: [&str; 7] = ["elementwise", "relative_norm", "sqnr_db", "cosine", "ulp", "exact", "statistical"];

impl Metric {
    pub fn name(&self) -> &'static str {
        match self {
            Metric::Elementwise { .. } => METRICS[0],
            Metric::RelativeNorm { .. } => METRICS[1],
            Metric::SqnrDb { .. } => METRICS[2],
            Metric::Cosine { .. } => METRICS[3],
            Metric::Ulp { .. } => METRICS[4],
            Metric::Exact => METRICS[5],
            Metric::Statistical { .. } => METRICS[6],
        }
    }

    /// What the measured value is held against.
    pub fn limit(&self) -> f64 {
        match self {
            Metric::Elementwise { .. } => 1.0,
            Metric::Exact => 0.0,
            Metric::RelativeNorm { limit }
            | Metric::SqnrDb { limit }
            | Metric::Cosine { limit }
            | Metric::Ulp { limit }
            | Metric::Statistical { limit, .. } => *limit,
        }
    }

    /// Whether a larger value is the better one.
    pub fn is_at_least(&self) -> bool {
        matches!(self, Metric::SqnrDb { .. } | Metric::Cosine { .. })
    }

    /// Whether a measured value passes; NaN never does.
    pub fn accepts(&self, measured: f64) -> bool {
        if self.is_at_least() { measured >= self.limit() } else { measured <= self.limit() }
    }
}

/// How one output is judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutputRule {
    /// A parameter, or a view.
    pub of: String,
    pub metric: Metric,
    /// Why this much error is right, shown to the learner.
    pub reason: String,
}

impl Resolved {
    /// Gives the scalars that are computed from the variable `seed` a fresh value.
    ///
    /// # Errors
    /// The key at fault and one sentence.
    pub fn reseed(&mut self, spec: &Spec, seed: i64) -> Result<(), (String, String)> {
        let known = spec.of_scalars(&self.size, seed, 0);
        for (index, (param, resolved)) in spec.params.iter().zip(&mut self.params).enumerate() {
            let (Param::Scalar { name, dtype, value }, ResolvedParam::Scalar(scalar)) = (param, resolved) else {
                continue;
            };
            if Parsed::new(value).is_ok_and(|parsed| parsed.variables().iter().any(|name| name == SEED)) {
                *scalar = resolve_scalar(&known, name, *dtype, value)
                    .map_err(|message| (format!("param[{index}].value"), message))?;
            }
        }
        for launch in self.launches.iter_mut().filter(|launch| !launch.scalars.is_empty()) {
            launch.scalars =
                spec.scalars_of(&spec.steps[launch.step], &spec.of_scalars(&self.size, seed, launch.turn))?;
        }
        Ok(())
    }
}

impl Spec {
    /// How the output of this name is judged: by its own rule, or by the spec's tolerance.
    pub fn rule(&self, output: &str) -> OutputRule {
        let own = self.outputs.iter().find(|rule| rule.of == output);
        own.cloned().unwrap_or_else(|| {
            let Tolerance { absolute, relative, reason } = self.tolerance.clone();
            OutputRule { of: output.to_owned(), metric: Metric::Elementwise { absolute, relative }, reason }
        })
    }

    /// Runs that the most demanding statistical output needs; 1 without one.
    pub fn draws(&self) -> u32 {
        let draws = self.outputs.iter().map(|rule| match rule.metric {
            Metric::Statistical { draws, .. } => draws,
            _ => 1,
        });
        draws.max().unwrap_or(1)
    }
}

/// One `[[output]]`. `known` are the names of what is judged.
pub(super) fn read_output(r: &mut Reader<'_>, mut section: Section<'_>, known: &[String]) -> Option<OutputRule> {
    let what = "the name of an output or of a view of one";
    let item = r.item(&mut section, "of", Some(what))?;
    let of = r.as_string(item, &join(&section.at, "of"))?;
    if !known.contains(&of) {
        let expected = format!("{what} ({})", known.join(", "));
        r.problem(&join(&section.at, "of"), item.span(), expected, item.describe());
    }
    let name = match r.item(&mut section, "metric", None) {
        None => METRICS[0],
        Some(item) => {
            let choices = METRICS.map(|name| (name, name));
            r.choice(item, &join(&section.at, "metric"), "a metric", &choices)?
        }
    };
    let metric = read_metric(r, &mut section, name);
    let reason = r.string(&mut section, "reason", true);
    if reason.as_ref().is_some_and(|reason| reason.trim().is_empty()) {
        r.problem(&join(&section.at, "reason"), section.span.clone(), "why this much error is right", "nothing");
    }
    r.finish(section);
    Some(OutputRule { of, metric: metric?, reason: reason? })
}

fn read_metric(r: &mut Reader<'_>, section: &mut Section<'_>, name: &str) -> Option<Metric> {
    if name == "elementwise" {
        let absolute = r.float(section, "absolute", true);
        let relative = r.float(section, "relative", true);
        let (absolute, relative) = (absolute?, relative?);
        if absolute < 0.0 || relative < 0.0 {
            r.problem(&section.at.clone(), section.span.clone(), "tolerances of at least 0", "a negative one");
        }
        return Some(Metric::Elementwise { absolute, relative });
    }
    if name == "exact" {
        return Some(Metric::Exact);
    }
    let limit = r.float(section, "limit", true);
    let draws = if name == "statistical" { read_draws(r, section) } else { Some(0) };
    let (limit, draws) = (limit?, draws?);
    let at = join(&section.at, "limit");
    let (fits, expected) = match name {
        "sqnr_db" => (true, ""),
        "cosine" => ((-1.0..=1.0).contains(&limit), "a cosine between -1 and 1"),
        "ulp" => (limit >= 0.0, "units in the last place, at least 0"),
        "statistical" => (limit > 0.0, "standard errors, more than 0"),
        _ => (limit >= 0.0, "a limit of at least 0"),
    };
    if !fits {
        r.problem(&at, section.span.clone(), expected, limit.to_string());
    }
    Some(match name {
        "relative_norm" => Metric::RelativeNorm { limit },
        "sqnr_db" => Metric::SqnrDb { limit },
        "cosine" => Metric::Cosine { limit },
        "ulp" => Metric::Ulp { limit },
        _ => Metric::Statistical { limit, draws },
    })
}

fn read_draws(r: &mut Reader<'_>, section: &mut Section<'_>) -> Option<u32> {
    let item = r.item(section, "draws", Some("how many runs with fresh seeds"))?;
    let at = join(&section.at, "draws");
    let draws = r.as_integer(item, &at)?;
    if draws < DRAWS.0 || draws > DRAWS.1 {
        r.problem(&at, item.span(), format!("{} to {} runs", DRAWS.0, DRAWS.1), item.describe());
        return None;
    }
    Some(draws as u32)
}
