//! The arithmetic of a softmax that is built up value by value: a maximum and a sum, which later ones correct.

/// Maximum of the values so far, and the sum of `exp(value - maximum)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Running {
    pub max: f64,
    pub sum: f64,
}

/// What taking in one value did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Turn {
    pub before: Running,
    pub after: Running,
    /// What the old sum, and any output so far, was multiplied by: `exp(old maximum - new maximum)`.
    pub factor: f64,
    /// What was added: `exp(value - new maximum)`.
    pub term: f64,
}

impl Turn {
    /// The maximum grew while there was something to rescale.
    pub fn rescales(&self) -> bool {
        self.before.sum > 0.0 && self.factor < 1.0
    }
}

impl Running {
    pub const EMPTY: Running = Running { max: f64::NEG_INFINITY, sum: 0.0 };

    /// What a sum kept with this maximum is multiplied by when the maximum becomes `max`.
    pub fn factor_to(self, max: f64) -> f64 {
        if self.max == f64::NEG_INFINITY { 0.0 } else { (self.max - max).exp() }
    }

    pub fn take(self, value: f64) -> Turn {
        let max = self.max.max(value);
        let factor = self.factor_to(max);
        // A masked value, minus infinity, adds nothing even when there is nothing else.
        let term = if value == f64::NEG_INFINITY { 0.0 } else { (value - max).exp() };
        Turn { before: self, after: Running { max, sum: self.sum * factor + term }, factor, term }
    }

    pub fn of(values: &[f64]) -> Running {
        values.iter().fold(Running::EMPTY, |running, value| running.take(*value).after)
    }

    /// Two partial results in one.
    pub fn merge(self, other: Running) -> Running {
        let max = self.max.max(other.max);
        Running { max, sum: self.sum * self.factor_to(max) + other.sum * other.factor_to(max) }
    }

    pub fn log_sum_exp(self) -> f64 {
        self.max + self.sum.ln()
    }
}

/// Weights that sum to 1; zeros where every value is masked.
pub fn softmax(values: &[f64]) -> Vec<f64> {
    let whole = Running::of(values);
    let weight = |value: &f64| if whole.sum == 0.0 { 0.0 } else { (value - whole.max).exp() / whole.sum };
    values.iter().map(weight).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pass_gives_what_two_give() {
        let values = [0.5, -1.0, 3.0, 2.9, 7.25, -4.0];
        let max = 7.25;
        let sum: f64 = values.iter().map(|x: &f64| (x - max).exp()).sum();
        let running = Running::of(&values);
        assert_eq!(running.max, max);
        assert!((running.sum - sum).abs() < 1e-12);
        for cut in 0..=values.len() {
            let merged = Running::of(&values[..cut]).merge(Running::of(&values[cut..]));
            assert!((merged.log_sum_exp() - running.log_sum_exp()).abs() < 1e-12, "cut at {cut}");
        }
        let direct: Vec<f64> = values.iter().map(|x| (x - max).exp() / sum).collect();
        assert!(softmax(&values).iter().zip(&direct).all(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn masked_values_count_for_nothing() {
        let masked = f64::NEG_INFINITY;
        assert_eq!(Running::of(&[masked, masked]), Running::EMPTY);
        assert_eq!(softmax(&[masked, 2.0]), [0.0, 1.0]);
        assert_eq!(softmax(&[masked]), [0.0]);
        assert!(!Running::EMPTY.take(3.0).rescales(), "there is nothing to rescale at first");
    }
}
