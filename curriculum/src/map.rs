//! What leads to what: each unit's `after`, as levels to draw and as sentences about what is wrong with it.

use crate::course::Course;
use crate::unit::{Unit, UnitKind};
use std::collections::{BTreeMap, BTreeSet};

/// Units that `unit` builds on directly. What cannot be found is left out: see [`problems`].
pub fn after<'c>(course: &'c Course, unit: &Unit) -> Vec<&'c Unit> {
    unit.after.iter().filter_map(|address| course.unit(address).ok()).collect()
}

/// Units that build directly on `unit`, in the course's order.
pub fn leads_to<'c>(course: &'c Course, unit: &Unit) -> Vec<&'c Unit> {
    let builds = |other: &&Unit| after(course, other).iter().any(|before| before.id == unit.id);
    course.units().filter(builds).collect()
}

/// Everything that `unit` builds on, directly or not, in the course's order.
pub fn all_before<'c>(course: &'c Course, unit: &Unit) -> Vec<&'c Unit> {
    let mut found: BTreeSet<&str> = BTreeSet::new();
    let mut open: Vec<&Unit> = after(course, unit);
    while let Some(before) = open.pop() {
        if before.id != unit.id && found.insert(&before.id) {
            open.extend(after(course, before));
        }
    }
    course.units().filter(|unit| found.contains(unit.id.as_str())).collect()
}

/// What a unit is about: concepts of its problem or its quiz, each once, in order.
pub fn concepts(unit: &Unit) -> Vec<&str> {
    let own: &[String] = match &unit.kind {
        UnitKind::Problem { concepts, .. } => concepts,
        _ => &[],
    };
    let asked = unit.quiz.questions.iter().map(|question| question.concept.as_str());
    let mut found: Vec<&str> = Vec::new();
    for concept in own.iter().map(String::as_str).chain(asked) {
        if !found.contains(&concept) {
            found.push(concept);
        }
    }
    found
}

/// Days and labs by how many units lie before them on the longest way: those of one level can be done in any order.
pub fn levels(course: &Course) -> Vec<Vec<&Unit>> {
    let mut depths: BTreeMap<&str, usize> = BTreeMap::new();
    let units: Vec<&Unit> = course.units().filter(|unit| is_drawn(unit)).collect();
    // Each round settles at least one more level; a circle, which `problems` tells of, must not go on for ever.
    for _ in 0..units.len() {
        let mut changed = false;
        for unit in &units {
            let before = after(course, unit).into_iter().filter_map(|before| depths.get(before.id.as_str()));
            let depth = before.max().map_or(0, |depth| depth + 1).min(units.len());
            changed |= depths.insert(&unit.id, depth) != Some(depth);
        }
        if !changed {
            break;
        }
    }
    let mut levels: Vec<Vec<&Unit>> = Vec::new();
    for unit in units {
        let depth = depths.get(unit.id.as_str()).copied().unwrap_or(0);
        levels.resize(levels.len().max(depth + 1), Vec::new());
        levels[depth].push(unit);
    }
    levels.retain(|level| !level.is_empty());
    levels
}

/// Problems and pages hang on the days and would hide them.
fn is_drawn(unit: &Unit) -> bool {
    matches!(unit.kind, UnitKind::Day { .. } | UnitKind::Lab { .. })
}

/// What is wrong with `after`, with the unit that says it: an address that does not exist, a circle, a unit that nothing leads
/// to although it is not the first, a day after one that comes later.
pub fn problems(course: &Course) -> Vec<(&Unit, String)> {
    let mut found = Vec::new();
    let first = course.units().find(|unit| unit.day().is_some()).map(|unit| unit.id.as_str());
    for unit in course.units() {
        for address in &unit.after {
            match course.unit(address) {
                Err(_) => found.push((unit, format!("`after` names `{address}`, which is no unit"))),
                Ok(before) if before.day().is_some() && unit.day().is_some() && before.day() >= unit.day() => {
                    found.push((unit, format!("`after` names `{address}`, which comes later in the course")));
                }
                Ok(before)
                    if before.id == unit.id || all_before(course, before).iter().any(|own| own.id == unit.id) =>
                {
                    found
                        .push((unit, format!("`after` names `{address}`, which builds on this unit itself: a circle")));
                }
                Ok(_) => {}
            }
        }
        let is_page = matches!(unit.kind, UnitKind::Page { .. });
        if unit.after.is_empty() && !is_page && Some(unit.id.as_str()) != first {
            found.push((unit, "`after` is missing: name the units that this one builds on".to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Status;

    fn addresses(units: &[&Unit]) -> Vec<String> {
        units.iter().map(|unit| unit.address.clone()).collect()
    }

    #[test]
    fn the_course_has_neither_circles_nor_holes() {
        let course = Course::embedded();
        let found: Vec<String> =
            problems(&course).into_iter().map(|(unit, what)| format!("{}: {what}", unit.address)).collect();
        assert!(found.is_empty(), "{found:#?}");
        let levels = levels(&course);
        assert!(levels.len() > 10 && levels[0].len() == 1, "{}", levels.len());
        let drawn: usize = levels.iter().map(Vec::len).sum();
        assert_eq!(drawn, course.days().count() + course.labs.len());
        // What a unit builds on is above it.
        let level_of = |unit: &Unit| levels.iter().position(|level| level.iter().any(|other| other.id == unit.id));
        for unit in course.days() {
            assert!(after(&course, unit).iter().all(|before| level_of(before) < level_of(unit)), "{}", unit.address);
        }
    }

    #[test]
    fn both_directions_agree() {
        let course = Course::embedded();
        let last = course.unit("week4/day7").unwrap();
        let before = all_before(&course, last);
        assert!(before.iter().any(|unit| unit.address.starts_with("week1/day1")) && before.len() > 15);
        let first = course.unit("week1/day4").unwrap();
        let next = addresses(&leads_to(&course, first));
        assert!(next.iter().any(|address| address.starts_with("week1/day5")), "{next:?}");
        assert!(next.iter().any(|address| address == "practice/elementwise/clamp"), "{next:?}");
        assert!(!concepts(first).is_empty());
    }

    #[test]
    fn each_kind_of_mistake_is_told() {
        let mut course = Course::embedded();
        assert_eq!(course.weeks[0].days[0].status, Status::Written);
        course.weeks[0].days[0].after = vec!["week1/day3".into()];
        course.weeks[0].days[1].after = Vec::new();
        course.weeks[0].days[3].after = vec!["week9/day1".into()];
        course.labs[0].after = vec![course.labs[0].address.clone()];
        let told: Vec<String> = problems(&course).into_iter().map(|(_, what)| what).collect();
        for part in ["comes later", "is missing", "`week9/day1`, which is no unit", "a circle"] {
            assert!(told.iter().any(|what| what.contains(part)), "{part}: {told:#?}");
        }
        assert!(levels(&course).iter().map(Vec::len).sum::<usize>() > 20);
    }
}
