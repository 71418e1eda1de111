//! The lists of an exercise file that say how outputs are stored and judged.

use super::output::read_output;
use super::toml_reader::{Reader, Section, join};
use super::view::read_view;
use super::{Metric, OutputRule, Param, Role, View};
use std::collections::BTreeSet;

pub(super) fn read_views(r: &mut Reader<'_>, root: &mut Section<'_>, params: &[Param]) -> Vec<View> {
    let mut views: Vec<View> = Vec::new();
    let mut taken = BTreeSet::new();
    for section in r.sections(root, "view") {
        let (at, span) = (section.at.clone(), section.span.clone());
        let Some(view) = read_view(r, section, params) else { continue };
        let is_param = |name: &str| params.iter().any(|param| param.name() == name);
        let is_known = views.iter().any(|other| other.name == view.name);
        if is_known || (is_param(&view.name) && view.name != view.codes) {
            let expected = "a name that no parameter and no other view has";
            r.problem(&join(&at, "name"), span.clone(), expected, format!("`{}` again", view.name));
        }
        for part in view.parts() {
            if !taken.insert(part.clone()) {
                r.problem(&at, span.clone(), "buffers that are in no other view", format!("`{part}` again"));
            }
        }
        views.push(view);
    }
    views
}

/// Names of what is judged: outputs that are in no view, and views of outputs.
pub(super) fn judged_names(params: &[Param], views: &[View]) -> Vec<String> {
    let role = |wanted: &str| {
        params.iter().find_map(|param| match param {
            Param::Buffer { name, role, .. } if name == wanted => Some(*role),
            _ => None,
        })
    };
    let is_judged = |name: &str| role(name).is_some_and(Role::is_judged);
    let mut names = Vec::new();
    for param in params {
        match views.iter().find(|view| view.parts().any(|part| part == param.name())) {
            None if is_judged(param.name()) => names.push(param.name().to_owned()),
            Some(view) if view.codes == param.name() && is_judged(param.name()) => names.push(view.name.clone()),
            _ => {}
        }
    }
    names
}

pub(super) fn read_outputs(
    r: &mut Reader<'_>,
    root: &mut Section<'_>,
    judged: &[String],
    views: &[View],
) -> Vec<OutputRule> {
    let mut rules: Vec<OutputRule> = Vec::new();
    for section in r.sections(root, "output") {
        let (at, span) = (section.at.clone(), section.span.clone());
        let Some(rule) = read_output(r, section, judged) else { continue };
        if rules.iter().any(|other| other.of == rule.of) {
            r.problem(&at, span.clone(), "one rule for each output", format!("`{}` again", rule.of));
        }
        let is_exact = views.iter().any(|view| view.name == rule.of && view.is_exact);
        if is_exact && rule.metric != Metric::Exact {
            let expected = "metric = \"exact\", since the view is compared bit by bit";
            r.problem(&join(&at, "metric"), span, expected, format!("\"{}\"", rule.metric.name()));
        }
        rules.push(rule);
    }
    rules
}
