//! Outputs that are right only on average: many runs of one case with fresh seeds.
//!
//! An element that is rounded up or down at random lies at one of two neighbours, a step apart, so its standard
//! deviation is at most half a step. Three means are held against what chance allows them, in standard errors: that of
//! each element over all draws (a bias), that of all elements over all draws (a small bias shared by all), and that of
//! all elements in one draw (one random number used for many elements). No draw may be off by more than a step.

use super::inputs;
use super::metric::{MAX_RATIO, against_limit, spoken};
use super::tensors;
use crate::device::{Argument, Device, RunError, Sequence};
use crate::oracle::Expected;
use crate::spec::{Resolved, Spec};
use crate::verdict::OutputReport;
use std::sync::atomic::{AtomicBool, Ordering};

/// What many runs left in one output.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawn {
    draws: u32,
    /// For each element the sum over all draws.
    sums: Vec<f64>,
    /// Largest mean error of a draw, in standard errors.
    worst_draw: f64,
    /// Some draw was off by more than a step, or was no number.
    is_beyond: bool,
}

impl Drawn {
    /// Takes in another draw.
    pub fn add(&mut self, values: &[f64], expected: &Expected) {
        self.draws += 1;
        self.sums.resize(values.len(), 0.0);
        let (mut sum, mut count) = (0.0, 0.0_f64);
        for (index, (got, want)) in values.iter().zip(&expected.values).enumerate() {
            self.sums[index] += got;
            let step = expected.magnitude(index);
            let error = got - want;
            self.is_beyond |= error.abs() > step * (1.0 + 1e-5) || error.is_nan();
            if step > 0.0 && error != 0.0 {
                sum += error / step;
            }
            count += f64::from(u8::from(step > 0.0));
        }
        if count > 0.0 {
            self.worst_draw = self.worst_draw.max(sum.abs() / (0.5 * count.sqrt()));
        }
    }

    /// The largest deviation in standard errors: about 4 or 5 by chance for a million elements.
    pub fn deviation(&self, expected: &Expected) -> f64 {
        if self.is_beyond {
            return MAX_RATIO;
        }
        let [element, all] = self.biases(expected);
        self.worst_draw.max(element).max(all).min(MAX_RATIO)
    }

    /// What the largest deviation is of, and what that suggests: the end of a sentence.
    pub fn cause(&self, expected: &Expected) -> &'static str {
        let [element, all] = self.biases(expected);
        match () {
            () if self.is_beyond => "",
            () if self.worst_draw > element.max(all) => {
                "; it is the mean of one draw that is off, so its elements are rounded together: as if one random number served many"
            }
            () if all > element => {
                "; the mean of all elements is off in one direction: as if the random number or the sum were cut off instead of rounded"
            }
            () => {
                "; single elements are off on average: as if they were not rounded up as often as the part that is lost asks for"
            }
        }
    }

    /// Largest mean error of an element, and the mean error of all, in standard errors.
    fn biases(&self, expected: &Expected) -> [f64; 2] {
        let draws = f64::from(self.draws.max(1));
        let (mut worst, mut sum, mut count) = (0.0_f64, 0.0, 0.0_f64);
        for (index, (total, want)) in self.sums.iter().zip(&expected.values).enumerate() {
            let step = expected.magnitude(index);
            let error = total / draws - want;
            if step > 0.0 {
                worst = worst.max(error.abs() / (0.5 * step / draws.sqrt()));
                sum += error / step;
                count += 1.0;
            }
        }
        let all = if count > 0.0 { f64::abs(sum) / (0.5 * (count / draws).sqrt()) } else { 0.0 };
        [worst, all]
    }
}

/// What is wrong with an output of which every element would do.
pub(super) fn sentence(report: &OutputReport, cause: &str) -> String {
    let what = match report.measured >= MAX_RATIO {
        true => "some draw is off by more than one step of the rounding".to_owned(),
        false => format!("{} is {}", spoken(&report.metric), against_limit(report)),
    };
    format!("{} is wrong on average: {what}{cause}", report.of)
}

/// Runs a case as often as its outputs ask for, with the same inputs and a fresh `seed` each time. None where a run did
/// not end well: its faults are those of the first.
pub(super) fn run(
    device: &mut dyn Device,
    sequence: &Sequence<'_>,
    spec: &Spec,
    case: &Resolved,
    seed: u64,
    expected: &[Expected],
    stop: &AtomicBool,
) -> Result<Option<Vec<Drawn>>, RunError> {
    let mut drawn = vec![Drawn::default(); expected.len()];
    let (mut case, mut sequence) = (case.clone(), sequence.clone());
    for draw in 0..spec.draws() {
        if stop.load(Ordering::Relaxed) {
            return Err(RunError::Stopped);
        }
        case.reseed(spec, inputs::scalar_seed(seed, draw))
            .map_err(|(key, message)| RunError::BadRequest(format!("{key} at {}: {message}", case.name)))?;
        let mut arguments: Vec<Argument> = inputs::arguments(&case, seed);
        for (launch, resolved) in sequence.launches.iter_mut().zip(&case.launches) {
            launch.trace = None;
            launch.scalars.clone_from(&resolved.scalars);
        }
        let report = device.run(&sequence, &mut arguments, stop)?;
        if !report.completed || !report.faults.is_empty() {
            return Ok(None);
        }
        for ((drawn, output), expected) in drawn.iter_mut().zip(tensors::outputs(&case, &arguments)).zip(expected) {
            drawn.add(&output.values, expected);
        }
    }
    Ok(Some(drawn))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng, rngs::SmallRng};

    const ELEMENTS: usize = 1000;
    const DRAWS: u32 = 256;

    /// The deviation of a way to round numbers between 0 and 1 to one of the two.
    fn deviation(mut round: impl FnMut(usize, f64, &mut SmallRng) -> f64) -> f64 {
        let mut random = SmallRng::seed_from_u64(3);
        let want: Vec<f64> = (0..ELEMENTS).map(|_| random.random()).collect();
        let expected = Expected::new(want.clone(), vec![1.0; ELEMENTS]);
        let mut drawn = Drawn::default();
        for _ in 0..DRAWS {
            let values: Vec<f64> = want.iter().enumerate().map(|(at, x)| round(at, *x, &mut random)).collect();
            drawn.add(&values, &expected);
        }
        drawn.deviation(&expected)
    }

    #[test]
    fn only_independent_and_unbiased_rounding_passes() {
        let up = |is_up: bool| f64::from(u8::from(is_up));
        let right = deviation(|_, x, random| up(x > random.random()));
        assert!(right < 5.0, "{right}");
        let nearest = deviation(|_, x, _| x.round());
        assert!(nearest > 8.0, "rounding to nearest: {nearest}");
        let coin = deviation(|_, _, random| up(random.random::<bool>()));
        assert!(coin > 8.0, "a coin whatever the fraction: {coin}");
        let mut shared = 0.0;
        let one_number = deviation(|at, x, random| {
            if at == 0 {
                shared = random.random();
            }
            up(x > shared)
        });
        assert!(one_number > 8.0, "one random number for all elements: {one_number}");
        // Eight random bits, rounded down: a bias of a five-hundredth of a step.
        let coarse = deviation(|_, x, random| up(x > f64::from(random.random::<u8>() / 16) / 16.0));
        assert!(coarse > 8.0, "four random bits: {coarse}");
        let far = deviation(|_, x, random| 3.0 * up(x / 3.0 > random.random()));
        assert_eq!(far, MAX_RATIO, "the mean is right, and each draw too far off");
    }
}
