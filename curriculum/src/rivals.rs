//! Which programs of other libraries a benchmark of an exercise may be timed beside: those of a ladder, on the same arrays.

use crate::error::ContentError;
use crate::exercise::Exercise;
use crate::ladder::Ladder;
use gpu_core::spec::{Dtype, Milestone, Param, Role, Spec};

/// Holds `rivals`, and what milestones ask of them, against the ladders that there are.
pub(crate) fn check(ladders: &[Ladder], exercise: &Exercise, errors: &mut Vec<ContentError>) {
    let text = &exercise.spec_text;
    let line = |parts: &[&str]| {
        let found = text.lines().position(|line| parts.iter().all(|part| line.contains(part)));
        found.map_or(0, |index| index + 1)
    };
    let mut problem = |line, expected: String| {
        errors.push(ContentError::new(format!("{}/exercise.toml", exercise.folder), line, expected));
    };
    let mut asked = exercise.spec.milestones.iter().flat_map(Milestone::rivals);
    let Some(name) = &exercise.rivals else {
        if asked.next().is_some() {
            let wanted = "a key `rivals` with the ladder whose rivals `share_of_rival` means (found none)";
            problem(line(&["share_of_rival"]), wanted.to_owned());
        }
        return;
    };
    let own = line(&["rivals", "="]);
    let Some(ladder) = ladders.iter().find(|ladder| ladder.name == *name && !ladder.rivals.is_empty()) else {
        let with = ladders.iter().filter(|ladder| !ladder.rivals.is_empty());
        let names: Vec<&str> = with.map(|ladder| ladder.name.as_str()).collect();
        problem(own, format!("one of the ladders with rivals for `rivals`: {} (found `{name}`)", names.join(", ")));
        return;
    };
    if let Some(why) = untimed(&exercise.spec) {
        problem(own, format!("no `rivals` here: {why}"));
    }
    let known: Vec<&str> = ladder.rivals.iter().map(|rival| rival.call.as_str()).collect();
    for key in asked.flatten().filter(|key| !known.contains(key)) {
        let expected = format!("one of the rivals {} of the ladder {name} for `share_of_rival`", known.join(", "));
        problem(line(&["share_of_rival", key]), format!("{expected} (found `{key}`)"));
    }
    let has = arrays(&exercise.spec);
    // Every rung has its rivals: the arrays of one of them are enough.
    let wanted = ladder.rungs.iter().map(|rung| arrays(&rung.spec));
    let lacks: Vec<_> = wanted.map(|wanted| wanted.into_iter().find(|array| !has.contains(array))).collect();
    if let (true, Some(Some((array, dtype)))) = (lacks.iter().all(Option::is_some), lacks.first()) {
        let dtype = dtype.name();
        problem(own, format!("an array `{array}` of {dtype}, which the rivals of the ladder {name} work on"));
    }
}

/// Why a kernel of this spec cannot be timed beside rivals, which are timed in turns with it on arrays that nobody sets anew.
fn untimed(spec: &Spec) -> Option<String> {
    if let Some(step) = spec.steps.iter().find(|step| step.given.is_some()) {
        return Some(format!(
            "the step `{}` is a given kernel, and rivals are timed beside the learner's own kernels alone",
            step.name
        ));
    }
    spec.params.iter().find_map(|param| match param {
        Param::Buffer { name, role: Role::InOut | Role::Zeroed, .. } => {
            Some(format!("`{name}` is set anew before each launch, and rivals are timed in many launches in a row"))
        }
        _ => None,
    })
}

/// What rivals read and write: all arrays but scratch memory.
fn arrays(spec: &Spec) -> Vec<(&str, Dtype)> {
    let mut found = Vec::new();
    for param in &spec.params {
        if let Param::Buffer { name, dtype, role, .. } = param
            && *role != Role::Scratch
        {
            found.push((name.as_str(), *dtype));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Course;

    fn problems(key: Option<&str>, bounds: &[&str]) -> Vec<String> {
        let course = Course::embedded();
        let mut exercise = course.unit("week3/day3").expect("the day").exercises[0].clone();
        exercise.rivals = key.map(str::to_owned);
        exercise.spec_text = format!("title = \"T\"\nrivals = \"{}\"\n", key.unwrap_or_default());
        exercise.spec.milestones.truncate(1);
        exercise.spec.milestones[0].at_least = bounds.iter().map(|name| ((*name).to_owned(), 1.0)).collect();
        bounds.iter().for_each(|name| exercise.spec_text += &format!("[[milestone]]\n{name} = 1.0\n"));
        let mut errors = Vec::new();
        check(&course.ladders, &exercise, &mut errors);
        errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_cannot_be_timed_is_told_at_load() {
        let course = Course::embedded();
        let reduction = course.unit("labs/reduction").expect("the lab").exercises[0].clone();
        assert!(reduction.spec.steps.iter().any(|step| step.given.is_some()), "it has a given step");
        let told = |exercise: &Exercise| {
            let mut errors = Vec::new();
            check(&course.ladders, exercise, &mut errors);
            errors.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(told(&reduction), Vec::<String>::new());
        let spec_text = format!("rivals = \"sum\"\n{}", reduction.spec_text);
        let mut named = Exercise { rivals: Some("sum".to_owned()), spec_text, ..reduction };
        let found = told(&named);
        assert!(
            found.len() == 1 && found[0].contains("exercise.toml:1: expected no `rivals` here: the step `"),
            "{found:?}"
        );
        named.spec.steps.retain(|step| step.given.is_none());
        assert_eq!(told(&named), Vec::<String>::new());
    }

    #[test]
    fn rivals_are_those_of_the_ladder_that_is_named() {
        let none: Vec<String> = Vec::new();
        assert_eq!(problems(Some("softmax"), &["share_of_rival.compiled", "share_of_rival"]), none);
        assert_eq!(problems(None, &["share_of_library"]), none, "the library is no rival of a ladder");
        let found = problems(Some("softmax"), &["share_of_library", "share_of_rival.cub"]);
        assert!(
            found.len() == 1
                && found[0]
                    .contains("exercise.toml:6: expected one of the rivals eager, compiled of the ladder softmax")
                && found[0].contains("(found `cub`)"),
            "{found:?}"
        );
        let found = problems(None, &["share_of_rival"]);
        assert!(found[0].contains("exercise.toml:4: expected a key `rivals` with the ladder"), "{found:?}");
        let found = problems(Some("softmx"), &[]);
        assert!(found[0].contains("exercise.toml:2: expected one of the ladders with rivals"), "{found:?}");
        assert!(problems(Some("transpose"), &[])[0].contains("(found `transpose`)"), "it has no rivals");
        let found = problems(Some("vector-add"), &[]);
        assert!(found[0].contains("exercise.toml:2: expected an array `a` of f32, which the rivals"), "{found:?}");
    }
}
