//! Which practice problem to try next: a rating from the learner's own results, as chess players have one.
//!
//! A solved problem is a game won against the problem's rating, one whose solution was looked at a game lost, and each hint takes
//! a part of the win. The next problem is one that the learner would solve about two times in three.

use crate::course::Course;
use crate::store::Progress;
use crate::unit::{Unit, UnitKind};
use std::collections::BTreeMap;

/// Rating of somebody who has finished week 1.
const START: f64 = 1000.0;
/// Ratings of the three difficulties.
const OF_DIFFICULTY: [f64; 3] = [900.0, 1200.0, 1500.0];
/// Most that one problem moves a rating.
const STEP: f64 = 80.0;
/// What each hint takes from a win.
const HINT: f64 = 0.15;
/// Chance of success that practice should have: mostly right, and not always.
const WANTED: f64 = 0.65;

/// A problem and how the learner stands to it.
#[derive(Clone, Copy, Debug)]
pub struct Standing<'c> {
    pub unit: &'c Unit,
    pub family: &'c str,
    /// 1 to 3.
    pub difficulty: u32,
    pub concepts: &'c [String],
    pub is_solved: bool,
    /// The learner's chance to solve it, by the ratings.
    pub chance: f64,
}

/// The chance that a rating wins against another.
fn chance(own: f64, other: f64) -> f64 {
    1.0 / (1.0 + 10_f64.powf((other - own) / 400.0))
}

fn rating_of(difficulty: u32) -> f64 {
    OF_DIFFICULTY[(difficulty.clamp(1, 3) - 1) as usize]
}

/// The result of a problem: 1 for solved alone, less with hints, 0 with its solution seen; None while it is open.
fn result(progress: &Progress, unit: &Unit) -> Option<f64> {
    let noted = progress.exercise(unit, crate::MAIN)?;
    let hints = 1.0 - HINT * f64::from(noted.hints_shown);
    match (noted.passed.is_some(), noted.solution_seen) {
        (_, true) => Some(0.0),
        (true, false) => Some(hints.max(0.4)),
        (false, false) => None,
    }
}

/// The learner's rating; [`START`] before the first problem. It depends on the results alone and not on their order in the
/// course: problems count from the easiest up.
pub fn rating(course: &Course, progress: &Progress) -> f64 {
    let mut results: Vec<(f64, f64)> = problems(course)
        .filter_map(|(unit, _, difficulty, _)| Some((rating_of(difficulty), result(progress, unit)?)))
        .collect();
    results.sort_by(|one, other| one.0.total_cmp(&other.0));
    results.iter().fold(START, |own, (other, result)| own + STEP * (result - chance(own, *other)))
}

fn problems(course: &Course) -> impl Iterator<Item = (&Unit, &str, u32, &[String])> {
    course.units().filter_map(|unit| match &unit.kind {
        UnitKind::Problem { family, difficulty, concepts } => {
            Some((unit, family.as_str(), *difficulty, concepts.as_slice()))
        }
        _ => None,
    })
}

/// Every problem, in the course's order.
pub fn standings<'c>(course: &'c Course, progress: &Progress) -> Vec<Standing<'c>> {
    let own = rating(course, progress);
    let of = |(unit, family, difficulty, concepts): (&'c Unit, &'c str, u32, &'c [String])| Standing {
        unit,
        family,
        difficulty,
        concepts,
        is_solved: progress.exercise(unit, crate::MAIN).is_some_and(|noted| noted.passed.is_some()),
        chance: chance(own, rating_of(difficulty)),
    };
    problems(course).map(of).collect()
}

/// The problem to try next: of those that are open the one whose chance is nearest to [`WANTED`], and of equal ones that of the
/// family that was practised least.
pub fn next<'c>(course: &'c Course, progress: &Progress) -> Option<Standing<'c>> {
    let all = standings(course, progress);
    let mut solved: BTreeMap<&str, u32> = BTreeMap::new();
    for standing in all.iter().filter(|standing| standing.is_solved) {
        *solved.entry(standing.family).or_default() += 1;
    }
    let weight = |standing: &Standing<'_>| (standing.chance - WANTED).abs();
    let often = |standing: &Standing<'_>| solved.get(standing.family).copied().unwrap_or(0);
    let open = all.into_iter().filter(|standing| !standing.is_solved && standing.unit.is_written());
    open.min_by(|one, other| weight(one).total_cmp(&weight(other)).then(often(one).cmp(&often(other))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::Date;

    #[test]
    fn ratings_follow_results() {
        let course = Course::embedded();
        let mut progress = Progress::default();
        assert_eq!(rating(&course, &progress), START);
        let first = next(&course, &progress).expect("a problem").unit;
        progress.passed(first, crate::MAIN, Date(20_000));
        let alone = rating(&course, &progress);
        assert!(alone > START, "{alone}");
        assert!(next(&course, &progress).is_none_or(|standing| standing.unit.id != first.id));
        let of = |progress: &mut Progress, seen: bool, hints: u32| {
            let noted = progress.days.entry(first.id.clone()).or_default().exercises.entry(crate::MAIN.to_owned());
            let noted = noted.or_default();
            (noted.solution_seen, noted.hints_shown) = (seen, hints);
        };
        of(&mut progress, false, 3);
        let helped = rating(&course, &progress);
        assert!(helped < alone, "{helped}");
        of(&mut progress, true, 3);
        assert!(rating(&course, &progress) < START);
    }

    #[test]
    fn chances_fall_with_difficulty() {
        assert!((chance(1000.0, 1000.0) - 0.5).abs() < 1e-12);
        let chances: Vec<f64> = (1..=3).map(|difficulty| chance(START, rating_of(difficulty))).collect();
        assert!(chances[0] > 0.6 && chances[0] > chances[1] && chances[1] > chances[2], "{chances:?}");
    }
}
