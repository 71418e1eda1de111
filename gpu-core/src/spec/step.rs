//! Steps: the launches of an exercise in order, over memory that stays resident.

use super::read::{read_entry, read_expression, read_launch_keys};
use super::toml_reader::{Reader, Section, is_identifier, join};
use super::{Expr, LaunchShape, Param, Spec};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::Range;

/// The number of the turn, for expressions of steps with `repeat`: 0 and up.
pub(super) const TURN: &str = "turn";

/// One launch of an exercise, or several of the same kernel with `repeat`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// As every report calls it; no two steps have the same.
    pub name: String,
    /// The kernel's name; it is declared `extern "C"`, but in a free run.
    pub entry: String,
    /// Names of the parameters that the kernel takes, in its order; empty: all of them in the file's order.
    pub args: Vec<String>,
    pub launch: LaunchShape,
    /// The course's kernel; None: the learner's.
    pub given: Option<Given>,
    /// How many times it runs in a row.
    pub repeat: Option<Expr>,
    /// Neighbours of one group take turns.
    pub group: Option<String>,
    /// Where its launch is described in the file, for messages: `launch` or `step[2]`.
    pub at: String,
}

/// A kernel of the course, compiled apart from the learner's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    /// Path relative to the exercise's folder.
    pub file: String,
    /// Its text, see [`Spec::read_given`]; empty until that is called.
    pub text: String,
}

/// Longest kernel of a step's `given`, in bytes.
const MOST_GIVEN_BYTES: u64 = 1 << 20;

/// The text of a file that a spec names. Whoever wrote that may have put a device or a pipe there: only a regular file is
/// opened, and no more of it is read than a kernel has.
///
/// # Errors
/// Why it cannot be read.
pub fn given_text(path: &std::path::Path) -> Result<String, String> {
    use std::io::Read;
    let words = |error: std::io::Error| error.to_string();
    if !std::fs::metadata(path).map_err(words)?.is_file() {
        return Err("it is no regular file".to_owned());
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).map_err(words)?.take(MOST_GIVEN_BYTES + 1).read_to_end(&mut bytes).map_err(words)?;
    if bytes.len() as u64 > MOST_GIVEN_BYTES {
        return Err(format!("it has more than {MOST_GIVEN_BYTES} bytes (1 MiB)"));
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
}

impl Spec {
    /// The first step that launches a kernel of the learner's.
    pub fn own_step(&self) -> Option<&Step> {
        self.steps.iter().find(|step| step.given.is_none())
    }

    /// The learner's kernel, the first of them where there are several.
    pub fn entry(&self) -> &str {
        self.own_step().or(self.steps.first()).map_or("", |step| &step.entry)
    }

    /// Whether reports must say which step they are about.
    pub fn has_steps(&self) -> bool {
        self.steps.len() > 1 || self.steps.iter().any(|step| step.repeat.is_some())
    }

    /// Fills in the texts of the course's kernels, each file read once.
    ///
    /// # Errors
    /// What `read` says, with the file's name.
    pub fn read_given(&mut self, mut read: impl FnMut(&str) -> Result<String, String>) -> Result<(), String> {
        let mut known: Vec<Given> = Vec::new();
        for given in self.steps.iter_mut().filter_map(|step| step.given.as_mut()) {
            given.text = match known.iter().find(|other| other.file == given.file) {
                Some(other) => other.text.clone(),
                None => read(&given.file).map_err(|error| format!("{}: {error}", given.file))?,
            };
            known.push(given.clone());
        }
        Ok(())
    }

    /// The course's kernels that steps launch, each file once.
    pub fn given(&self) -> Vec<&Given> {
        let mut found: Vec<&Given> = Vec::new();
        for given in self.steps.iter().filter_map(|step| step.given.as_ref()) {
            if !found.iter().any(|other| other.file == given.file) {
                found.push(given);
            }
        }
        found
    }

    /// The parameters that a step's kernel takes: their places in [`params`](Self::params), in the kernel's order.
    pub fn args_of(&self, step: &Step) -> Vec<usize> {
        if step.args.is_empty() {
            return (0..self.params.len()).collect();
        }
        let place = |name: &String| self.params.iter().position(|param| param.name() == name);
        step.args.iter().filter_map(place).collect()
    }
}

/// Reads `[[step]]`, or the short form that `entry` and `[launch]` are.
pub(super) fn read_steps(r: &mut Reader<'_>, root: &mut Section<'_>) -> Option<Vec<Step>> {
    if !root.has("step") {
        let entry = read_entry(r, root);
        let launch = r.section(root, "launch", true).and_then(|mut section| {
            let launch = read_launch_keys(r, &mut section);
            r.finish(section);
            launch
        });
        // So that a key `step` is known where a misspelt one is reported.
        let _ = r.item(root, "step", None);
        let (entry, launch) = (entry?, launch?);
        let at = "launch".to_owned();
        let (args, name) = (Vec::new(), entry.clone());
        return Some(vec![Step { name, entry, args, launch, given: None, repeat: None, group: None, at }]);
    }
    for key in ["entry", "launch"] {
        if let Some(item) = r.item(root, key, None) {
            let expected = format!("no key `{key}` beside `[[step]]`: each step has its own");
            r.problem(key, item.span(), expected, item.describe());
        }
    }
    let sections = r.sections(root, "step");
    if sections.is_empty() {
        r.problem("step", 0..0, "at least one `[[step]]`", "none");
        return None;
    }
    let mut names = BTreeSet::new();
    let mut steps = Vec::new();
    let mut complete = true;
    for section in sections {
        let (at, span) = (section.at.clone(), section.span.clone());
        let Some(step) = read_step(r, section) else {
            complete = false;
            continue;
        };
        if !names.insert(step.name.clone()) {
            r.problem(&at, span.clone(), "a `name` that no other step has", format!("`{}` again", step.name));
        }
        check_group(r, &at, span, &steps, &step);
        steps.push(step);
    }
    if complete && steps.iter().all(|step| step.given.is_some()) {
        r.problem("step", 0..0, "at least one step without `given`, for the learner to write", "none");
    }
    complete.then_some(steps)
}

fn read_step(r: &mut Reader<'_>, mut section: Section<'_>) -> Option<Step> {
    let at = section.at.clone();
    let entry = read_entry(r, &mut section);
    let name = match r.item(&mut section, "name", None) {
        Some(item) => r.as_string(item, &join(&at, "name")),
        None => entry.clone(),
    };
    if name.as_deref().is_some_and(|name| name.trim().is_empty()) {
        r.problem(&join(&at, "name"), section.span.clone(), "a name to show", "nothing");
    }
    let what = "an array of parameters' names, in the kernel's order";
    let mut args = Vec::new();
    if r.item(&mut section, "args", None).is_some() {
        for (item, at) in r.array(&mut section, "args", Some(what)).unwrap_or_default() {
            args.extend(r.as_string(item, &at));
        }
        if args.is_empty() {
            r.problem(&join(&at, "args"), section.span.clone(), what, "none (leave `args` out for all parameters)");
        }
    }
    let launch = read_launch_keys(r, &mut section);
    let given = match r.item(&mut section, "given", None) {
        Some(_) => Some(r.shared_file_name(&mut section, "given", ".cu")?),
        None => None,
    };
    let repeat = match r.item(&mut section, "repeat", None) {
        Some(item) => Some(read_expression(r, item, &join(&at, "repeat"))?),
        None => None,
    };
    let group = match r.item(&mut section, "group", None) {
        Some(item) => Some(r.as_string(item, &join(&at, "group"))?),
        None => None,
    };
    if group.as_deref().is_some_and(|group| !is_identifier(group)) {
        r.problem(&join(&at, "group"), section.span.clone(), "a name such as \"token\"", format!("{group:?}"));
    }
    if given.is_some() && launch.as_ref().is_some_and(|launch| launch.learner_may_change) {
        let expected = "no `learner_may_change` in a step with `given`: the learner does not write that kernel";
        r.problem(&at, section.span.clone(), expected, "learner_may_change = true");
    }
    if group.is_some() && repeat.is_none() {
        r.problem(&at, section.span.clone(), "a key `repeat` beside `group`: how many turns there are", "none");
    }
    r.finish(section);
    let given = given.map(|file| Given { file, text: String::new() });
    Some(Step { name: name?, entry: entry?, args, launch: launch?, given, repeat, group, at })
}

/// Steps that take turns follow one another and have equally many.
fn check_group(r: &mut Reader<'_>, at: &str, span: Range<usize>, before: &[Step], step: &Step) {
    let Some(group) = &step.group else { return };
    let Some(index) = before.iter().rposition(|other| other.group.as_ref() == Some(group)) else { return };
    if index + 1 != before.len() {
        let found = format!("`{}` between them", before[index + 1].name);
        r.problem(&join(at, "group"), span, format!("the steps of group `{group}` one after the other"), found);
    } else if before[index].repeat != step.repeat {
        let words = |step: &Step| step.repeat.as_ref().map_or("none", |repeat| repeat.0.as_str()).to_owned();
        let expected = format!("the `repeat` of the other steps of group `{group}`, {}", words(&before[index]));
        r.problem(&join(at, "repeat"), span, expected, words(step));
    }
}

/// What can be said only when steps and parameters are both known.
pub(super) fn check_args(r: &mut Reader<'_>, spec: &Spec, place: impl Fn(&str) -> Option<Range<usize>>) {
    let names: Vec<&str> = spec.params.iter().map(Param::name).collect();
    for (index, step) in spec.steps.iter().enumerate() {
        for (position, arg) in step.args.iter().enumerate() {
            if !names.contains(&arg.as_str()) {
                let key = format!("step[{index}].args[{position}]");
                let span = place(&key).unwrap_or(0..0);
                r.problem(
                    &key,
                    span,
                    format!("the name of a `[[param]]` ({})", names.join(", ")),
                    format!("\"{arg}\""),
                );
            }
        }
    }
    for (index, param) in spec.params.iter().enumerate() {
        let taken = |step: &Step| step.args.is_empty() || step.args.iter().any(|arg| arg == param.name());
        if !spec.steps.iter().any(taken) {
            let key = format!("param[{index}]");
            let span = place(&key).unwrap_or(0..0);
            r.problem(&key, span, "a step whose `args` name it", format!("none that takes `{}`", param.name()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::given_text;

    #[test]
    fn only_a_regular_file_of_a_kernels_size_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("k.cu");
        std::fs::write(&path, "x").expect("a file");
        assert_eq!(given_text(&path).as_deref(), Ok("x"));
        std::fs::write(&path, vec![b' '; 2 << 20]).expect("a file");
        assert!(given_text(&path).is_err_and(|why| why.contains("1 MiB")));
        assert!(given_text(folder.path()).is_err() && given_text(&folder.path().join("none")).is_err());
        #[cfg(unix)]
        {
            let link = folder.path().join("zero.cu");
            std::os::unix::fs::symlink("/dev/zero", &link).expect("a link");
            assert!(given_text(&link).is_err_and(|why| why.contains("regular")));
        }
    }
}
