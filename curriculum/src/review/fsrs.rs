//! FSRS 5, a model of memory with two numbers for each question: *stability*, the days after which a right answer is 90 %
//! probable, and *difficulty*, 1 to 10, which slows stability's growth. Formulas and weights are those published by Open
//! Spaced Repetition for collections of many learners; ours has no reviews to fit others from.
//!
//! Written here because the two crates do not fit: `fsrs` brings the machine-learning framework burn to fit weights, and
//! `rs-fsrs` 1.2.1 names no licence in its manifest, reads the clock, and counts in times with `chrono` where days are enough. The
//! tests hold the numbers to those of `rs-fsrs`.

/// Weights of FSRS 5, index as in its description.
const W: [f64; 19] = [
    0.4072, 1.1829, 3.1262, 15.4722, 7.2102, 0.5316, 1.0651, 0.0234, 1.616, 0.1544, 1.0824, 1.9813, 0.0953, 0.2975,
    2.2042, 0.2407, 2.9466, 0.5034, 0.6567,
];
/// Shape of forgetting: after `stability` days the chance is 0.9.
const DECAY: f64 = -0.5;
const FACTOR: f64 = 19.0 / 81.0;
/// A question rests at most this long.
const MOST_DAYS: f64 = 365.0;
/// Hundred years, for files that somebody wrote by hand.
const MOST_STABILITY: f64 = 36_500.0;

/// What is remembered of a question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    /// Days until the chance of a right answer has fallen to 0.9.
    pub stability: f64,
    /// 1 to 10.
    pub difficulty: f64,
}

/// FSRS rates answers from 1 to 4; of ours a miss is 1 (again) and a right answer 3 (good).
fn rating(correct: bool) -> f64 {
    if correct { 3.0 } else { 1.0 }
}

fn first_difficulty(rating: f64) -> f64 {
    (W[4] - (W[5] * (rating - 1.0)).exp() + 1.0).clamp(1.0, 10.0)
}

impl Memory {
    /// After the first answer.
    pub fn first(correct: bool) -> Self {
        let stability = if correct { W[2] } else { W[0] };
        Self { stability, difficulty: first_difficulty(rating(correct)) }
    }

    /// Within what the formulas can take.
    pub fn sound(self) -> Self {
        let or = |value: f64, least: f64, most: f64, other: f64| {
            if value.is_finite() { value.clamp(least, most) } else { other }
        };
        Self {
            stability: or(self.stability, 0.1, MOST_STABILITY, W[0]),
            difficulty: or(self.difficulty, 1.0, 10.0, W[4]),
        }
    }

    /// The chance of a right answer, so many days after the last one.
    pub fn chance(self, days: f64) -> f64 {
        (1.0 + FACTOR * days.max(0.0) / self.stability).powf(DECAY)
    }

    /// After an answer that many days after the one before.
    pub fn answered(self, correct: bool, days: f64) -> Self {
        let Self { stability, difficulty } = self;
        let forgotten = 1.0 - self.chance(days);
        // Towards the difficulty of an easy question, a little.
        let moved = difficulty - W[6] * (rating(correct) - 3.0);
        let next = (W[7] * first_difficulty(4.0) + (1.0 - W[7]) * moved).clamp(1.0, 10.0);
        let stability = if correct {
            let gain = W[8].exp() * (11.0 - difficulty) * stability.powf(-W[9]) * (forgotten * W[10]).exp_m1();
            stability * (1.0 + gain)
        } else {
            W[11] * difficulty.powf(-W[12]) * ((stability + 1.0).powf(W[13]) - 1.0) * (forgotten * W[14]).exp()
        };
        Self { stability, difficulty: next }.sound()
    }

    /// Days until the question comes back: when its chance is 0.9.
    pub fn interval_days(self) -> i64 {
        self.stability.round().clamp(1.0, MOST_DAYS) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Day, whether it was right; stability, difficulty and days to rest by `rs-fsrs` 1.2.1 (long-term scheduler).
    type Review = (i64, bool, f64, f64, i64);
    const GOOD: [Review; 7] = [
        (0, true, 3.126_200_000, 5.314_577_830, 3),
        (3, true, 11.388_439_208, 5.267_035_550, 11),
        (14, true, 36.393_666_456, 5.220_605_760, 36),
        (50, false, 4.078_747_496, 7.255_615_748, 4),
        (51, true, 5.952_887_596, 7.162_653_181, 6),
        (60, true, 20.324_389_438, 7.071_865_939, 20),
        (200, true, 149.438_234_204, 6.983_203_118, 149),
    ];
    const MISSED: [Review; 6] = [
        (0, false, 0.407_200_000, 7.210_200_000, 1),
        (1, true, 2.605_177_024, 7.118_300_162, 3),
        (3, true, 6.547_906_635, 7.028_550_780, 7),
        (10, false, 1.713_084_852, 9.021_254_854, 2),
        (11, false, 0.636_992_286, 10.0, 1),
        (12, true, 1.221_488_815, 9.842_818_842, 1),
    ];

    #[test]
    fn it_agrees_with_another_implementation() {
        for reviews in [&GOOD[..], &MISSED[..]] {
            let mut memory: Option<(Memory, i64)> = None;
            for (day, correct, stability, difficulty, days) in reviews {
                let now = match memory {
                    None => Memory::first(*correct),
                    Some((before, then)) => before.answered(*correct, (day - then) as f64),
                };
                assert!((now.stability - stability).abs() < 1e-6, "day {day}: {now:?}");
                assert!((now.difficulty - difficulty).abs() < 1e-6, "day {day}: {now:?}");
                assert_eq!(now.interval_days(), *days, "day {day}");
                memory = Some((now, *day));
            }
        }
        let memory = Memory { stability: 3.1262, difficulty: 5.0 };
        assert!((memory.chance(10.0) - 0.755_857_864_696).abs() < 1e-12);
        assert!((memory.chance(3.1262) - 0.9).abs() < 1e-12);
    }

    #[test]
    fn numbers_of_a_damaged_file_are_made_sound() {
        for value in [f64::NAN, f64::INFINITY, -3.0, 0.0, 1e300] {
            let memory = Memory { stability: value, difficulty: value }.sound();
            let next = memory.answered(true, 1e6).answered(false, -4.0);
            assert!(next.stability.is_finite() && (1.0..=10.0).contains(&next.difficulty), "{value}: {next:?}");
            assert!((1..=365).contains(&next.interval_days()));
        }
    }
}
