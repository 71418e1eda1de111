//! Exercise file to [`Spec`]: one function a section, every problem collected.

use super::fill::read_fill;
use super::read_extras::{read_milestone, read_sizes};
use super::read_outputs::{judged_names, read_outputs, read_views};
use super::step::{check_args, read_steps};
use super::tensor_map::read_map;
use super::toml_reader::{self, Item, Reader, Section, SpecError, SpecProblem, is_identifier, join, line_and_column};
use super::{CeilingKind, Cost, Dtype, Expr, LaunchShape, Param, Parsed, Role, Size, Spec, Step, Tolerance};
use crate::arch::Arch;
use crate::oracle;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

/// NVRTC options that an exercise may set: they change arithmetic or macros, never where files are read.
const OPTIONS: [&str; 10] = [
    "--use_fast_math",
    "--ftz=",
    "--prec-sqrt=",
    "--prec-div=",
    "--fmad=",
    "--maxrregcount=",
    "--extra-device-vectorization",
    "--restrict",
    "--std=",
    "-D",
];

impl Spec {
    /// Reads an exercise file.
    ///
    /// # Errors
    /// Every problem with path, line, what is expected and what was found.
    pub fn load(path: &Path) -> Result<Spec, SpecError> {
        let shown = path.display().to_string();
        let fail = |line, column, expected: &str, found: String| {
            let problem = SpecProblem { line, column, key: String::new(), expected: expected.to_owned(), found };
            SpecError { path: shown.clone(), problems: vec![problem] }
        };
        let bytes = std::fs::read(path).map_err(|error| fail(0, 0, "a readable exercise file", error.to_string()))?;
        let text = std::str::from_utf8(&bytes).map_err(|error| {
            let valid = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default();
            let (line, column) = line_and_column(valid, valid.len());
            fail(line, column, "UTF-8 text", format!("the byte {:#04x}", bytes[error.valid_up_to()]))
        })?;
        let mut spec = Self::parse(text, &shown)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        spec.read_given(|file| super::step::given_text(&folder.join(file))).map_err(|missing| {
            let line = text.lines().position(|line| line.trim_start().starts_with("given")).unwrap_or(0);
            fail(line as u32 + 1, 1, "a readable file for a step's `given`", missing)
        })?;
        Ok(spec)
    }

    /// Reads the text of an exercise file; `path` is only shown.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn parse(text: &str, path: &str) -> Result<Spec, SpecError> {
        toml_reader::parse(text, path, read_spec)
    }
}

fn read_spec(r: &mut Reader<'_>, mut root: Section<'_>) -> Option<Spec> {
    let title = r.string(&mut root, "title", true);
    let oracle = read_oracle(r, &mut root);
    let requires = read_requires(r, &mut root);
    let arch = read_arch(r, &mut root);
    let options = read_options(r, &mut root);
    let written_once = r.boolean(&mut root, "written_once").unwrap_or(false);
    let mut may_be_empty = Vec::new();
    let params = read_params(r, &mut root, &mut may_be_empty);
    let views = read_views(r, &mut root, params.as_deref().unwrap_or_default());
    let judged = judged_names(params.as_deref().unwrap_or_default(), &views);
    let outputs = read_outputs(r, &mut root, &judged, &views);
    let steps = read_steps(r, &mut root);
    // A size that no buffer and no launch is made of, such as a switch, may be 0.
    let shaping = shaping(params.as_deref().unwrap_or_default(), steps.as_deref().unwrap_or_default());
    let least = |name: &str| i64::from(may_be_empty.is_empty() && shaping.contains(name));
    let sizes = r.section(&mut root, "sizes", true).and_then(|section| read_sizes(r, section, &least));
    // With a rule for each output nothing is left for a tolerance to say.
    let has_rule = |name: &String| {
        let is_exact = views.iter().any(|view| view.name == *name && view.is_exact);
        is_exact || outputs.iter().any(|rule| rule.of == *name)
    };
    let wants_tolerance = oracle.as_ref().is_some_and(Option::is_some) && !judged.iter().all(has_rule);
    let tolerance = read_tolerance(r, &mut root, wants_tolerance);
    let cost = read_cost(r, &mut root);
    let milestones = r.sections(&mut root, "milestone").into_iter().filter_map(|s| read_milestone(r, s)).collect();
    r.leave(&mut root, &super::LEFT_TO_THE_COURSE);
    let places = Places::of(&root);
    r.finish(root);
    let (sizes, spans) = sizes?;
    let spec = Spec {
        title: title?,
        steps: steps?,
        params: params?,
        oracle: oracle?,
        tolerance: tolerance?,
        outputs,
        views,
        may_be_empty,
        check: sizes.check,
        emulator_check: sizes.emulator_check,
        bench: sizes.bench,
        emulator_bench: sizes.emulator_bench,
        cost: cost?,
        milestones,
        requires: requires?,
        arch,
        written_once,
        options,
    };
    // Only a file that reads well is worth evaluating; otherwise one slip would be reported many times.
    if r.is_clean() {
        check_args(r, &spec, |key| places.find(key));
    }
    if r.is_clean() {
        check_sizes(r, &spec, &spans, &places);
    }
    Some(spec)
}

/// Variables of which buffers and launches are made.
fn shaping(params: &[Param], steps: &[Step]) -> BTreeSet<String> {
    let of_param = |param: &Param| match param {
        Param::Buffer { shape, max_bytes, .. } => shape.iter().chain(max_bytes).cloned().collect(),
        _ => Vec::new(),
    };
    let of_step = |step: &Step| {
        let LaunchShape { grid, block, cluster, dynamic_shared_bytes, .. } = &step.launch;
        let lists = grid.iter().chain(block).chain(cluster).chain([dynamic_shared_bytes]).chain(&step.repeat);
        lists.cloned().collect::<Vec<Expr>>()
    };
    let all = params.iter().flat_map(of_param).chain(steps.iter().flat_map(of_step));
    all.filter_map(|expression| Some(expression.parse().ok()?.variables())).flatten().collect()
}

/// Evaluates the spec at each of its sizes, so that a mistake shows when the file is read, not in a lesson.
fn check_sizes(r: &mut Reader<'_>, spec: &Spec, spans: &[(String, Range<usize>, Size)], places: &Places) {
    let mut reported = BTreeSet::new();
    for (at, span, size) in spans {
        match spec.resolve(size) {
            Err((key, message)) => {
                if reported.insert(key.clone()) {
                    let span = places.find(&key).unwrap_or_else(|| span.clone());
                    r.problem(&key, span, format!("a value that works at {at} ({})", super::size_name(size)), message);
                }
            }
            Ok(resolved) => {
                if let Some(over) = resolved.over_workspace()
                    && reported.insert("max_bytes".to_owned())
                {
                    let index = spec.params.iter().position(|param| param.name() == over.name).unwrap_or(0);
                    let key = format!("param[{index}].max_bytes");
                    let expected = format!("at least the {} bytes of `shape` at {}", over.bytes(), resolved.name);
                    let found = over.max_bytes.unwrap_or(0).to_string();
                    r.problem(&key, places.find(&key).unwrap_or(0..0), expected, found);
                }
                let Some(oracle) = spec.oracle.as_deref().and_then(oracle::find) else { continue };
                if let Err(message) = oracle.check(&resolved.signature())
                    && reported.insert("oracle".to_owned())
                {
                    let span = places.find("oracle").unwrap_or(0..0);
                    r.problem("oracle", span, "parameters that fit", format!("at {}: {message}", resolved.name));
                }
            }
        }
    }
}

/// Where the values stand that are judged only when sizes are known.
struct Places(Vec<(String, Range<usize>)>);

impl Places {
    fn of(root: &Section<'_>) -> Self {
        let mut places = Vec::new();
        for (key, _, item) in root.entries() {
            collect_places(item, key, 0, &mut places);
        }
        Places(places)
    }

    /// The place of `key`, or of the nearest key that holds it.
    fn find(&self, key: &str) -> Option<Range<usize>> {
        let holding = self.0.iter().filter(|(place, _)| key.starts_with(place.as_str()));
        holding.max_by_key(|(place, _)| place.len()).map(|(_, span)| span.clone())
    }
}

fn collect_places(item: Item<'_>, at: &str, depth: u32, places: &mut Vec<(String, Range<usize>)>) {
    places.push((at.to_owned(), item.span()));
    if depth < 4 {
        for (key, child) in item.children(at) {
            collect_places(child, &key, depth + 1, places);
        }
    }
}

pub(super) fn read_identifier(
    r: &mut Reader<'_>,
    section: &mut Section<'_>,
    key: &'static str,
    what: &str,
) -> Option<String> {
    r.identifier(section, key, what)
}

/// A kernel as C++ calls it: `scale`, or for a free run `math::scale` and `scale<float, 4>`.
pub(super) fn read_entry(r: &mut Reader<'_>, section: &mut Section<'_>) -> Option<String> {
    const WHAT: &str = "the kernel's name as in C++";
    let item = r.item(section, "entry", Some(WHAT))?;
    let at = join(&section.at, "entry");
    let text = r.as_string(item, &at)?;
    let head = text.split('<').next().unwrap_or_default();
    let is_instance = text.len() == head.len()
        || (text.ends_with('>')
            && text[head.len()..].chars().all(|c| c.is_ascii_alphanumeric() || "_:<>, *-".contains(c)));
    if head.split("::").all(is_identifier) && is_instance {
        return Some(text);
    }
    r.problem(&at, item.span(), WHAT, item.describe());
    None
}

/// Outer None: a problem; inner None: no oracle, a free run.
fn read_oracle(r: &mut Reader<'_>, root: &mut Section<'_>) -> Option<Option<String>> {
    let Some(item) = r.item(root, "oracle", None) else { return Some(None) };
    let choices: Vec<(&'static str, ())> = oracle::ORACLES.iter().map(|oracle| (oracle.name, ())).collect();
    r.choice(item, "oracle", "the name of an oracle", &choices)?;
    Some(item.as_str().map(str::to_owned))
}

fn read_requires(r: &mut Reader<'_>, root: &mut Section<'_>) -> Option<Option<String>> {
    let Some(item) = r.item(root, "requires", None) else { return Some(None) };
    let text = r.as_string(item, "requires")?;
    if is_architecture(&text) {
        return Some(Some(text));
    }
    r.problem("requires", item.span(), "an architecture such as \"sm_90\"", item.describe());
    None
}

fn is_architecture(text: &str) -> bool {
    text.starts_with("sm_") && Arch::parse(text).is_some()
}

/// The architectures that the kernel has branches for.
fn read_arch(r: &mut Reader<'_>, root: &mut Section<'_>) -> Vec<String> {
    let what = "architectures such as [\"sm_90a\", \"sm_80\"], the best first";
    let mut found: Vec<String> = Vec::new();
    if r.item(root, "arch", None).is_none() {
        return found;
    }
    let items = r.array(root, "arch", Some(what)).unwrap_or_default();
    if items.is_empty() && r.is_clean() {
        r.problem("arch", 0..0, what, "an array of 0");
    }
    for (item, at) in items {
        let Some(text) = r.as_string(item, &at) else { continue };
        if !is_architecture(&text) {
            r.problem(&at, item.span(), "an architecture such as \"sm_90a\"", item.describe());
        } else if found.contains(&text) {
            r.problem(&at, item.span(), "an architecture that is not in the list yet", format!("\"{text}\" again"));
        }
        found.push(text);
    }
    found
}

fn read_options(r: &mut Reader<'_>, root: &mut Section<'_>) -> Vec<String> {
    let mut options = Vec::new();
    for (item, at) in r.array(root, "options", None).unwrap_or_default() {
        let Some(text) = r.as_string(item, &at) else { continue };
        if option_is_allowed(&text) {
            options.push(text);
        } else {
            r.problem(&at, item.span(), format!("an NVRTC option out of {}", OPTIONS.join(" ")), item.describe());
        }
    }
    options
}

fn option_is_allowed(option: &str) -> bool {
    OPTIONS.iter().any(|allowed| {
        if *allowed == "-D" {
            let (name, value) = option.strip_prefix("-D").map_or(("", ""), |d| d.split_once('=').unwrap_or((d, "")));
            is_identifier(name) && !value.contains(char::is_whitespace)
        } else if allowed.ends_with('=') {
            option
                .strip_prefix(allowed)
                .is_some_and(|value| !value.is_empty() && value.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'+'))
        } else {
            option == *allowed
        }
    })
}

fn read_params(r: &mut Reader<'_>, root: &mut Section<'_>, may_be_empty: &mut Vec<String>) -> Option<Vec<Param>> {
    let sections = r.sections(root, "param");
    if sections.is_empty() {
        r.problem("", 0..0, "at least one `[[param]]`, in the order of the kernel's parameters", "none");
        return None;
    }
    let mut names = BTreeSet::new();
    let mut params = Vec::new();
    let mut complete = true;
    for section in sections {
        let (at, span) = (section.at.clone(), section.span.clone());
        let Some(param) = read_param(r, section, may_be_empty) else {
            complete = false;
            continue;
        };
        if !names.insert(param.name().to_owned()) {
            r.problem(&at, span, "a name that no other parameter has", format!("`{}` again", param.name()));
        }
        params.push(param);
    }
    let writes = |param: &Param| matches!(param, Param::Buffer { role, .. } if role.is_judged());
    if complete && !params.iter().any(writes) {
        r.problem("param", 0..0, "at least one buffer with role \"out\", \"inout\" or \"zeroed\"", "none");
    }
    complete.then_some(params)
}

fn read_param(r: &mut Reader<'_>, mut section: Section<'_>, may_be_empty: &mut Vec<String>) -> Option<Param> {
    let name = read_identifier(r, &mut section, "name", "the parameter's name, a C identifier");
    if let Some(item) = r.item(&mut section, "tensor_map", None) {
        let map = read_map(r, item, &join(&section.at, "tensor_map"));
        r.finish(section);
        return Some(Param::TensorMap { name: name?, map: map? });
    }
    if let Some(list) = r.array(&mut section, "fields", None) {
        let mut fields = Vec::new();
        for (item, at) in list {
            let text = r.as_string(item, &at)?;
            let pair = text.split_once('=').map(|(dtype, value)| (dtype.trim(), value.trim()));
            let dtype = pair.and_then(|(name, _)| Dtype::ALL.iter().find(|(known, _)| *known == name));
            match (dtype, pair) {
                (Some((_, dtype)), Some((_, value))) if Parsed::new(value).is_ok() => {
                    fields.push((*dtype, value.to_owned()));
                }
                _ => r.problem(
                    &at,
                    item.span(),
                    "a member of the struct, as in \"f32 = 1.5\" or \"i32 = n\"",
                    item.describe(),
                ),
            }
        }
        r.finish(section);
        return Some(Param::Struct { name: name?, fields });
    }
    let dtype = r
        .item(&mut section, "dtype", Some("an element type"))
        .and_then(|item| r.choice(item, &join(&section.at, "dtype"), "an element type", &Dtype::ALL));
    let at = join(&section.at, "value");
    if let Some(item) = r.item(&mut section, "value", None) {
        let value = r.as_expression(item, &at);
        if let Some(Err(error)) = value.as_deref().map(Parsed::new) {
            r.problem(&at, item.span(), "an expression of the size variables", error.0);
        }
        r.finish(section);
        return Some(Param::Scalar { name: name?, dtype: dtype?, value: value? });
    }
    let what = "1 to 4 extents for a buffer (or a key `value` for a scalar)";
    let shape = read_expressions(r, &mut section, "shape", what, 4);
    let role = match r.item(&mut section, "role", None) {
        None => Some(Role::In),
        Some(item) => {
            let roles = [
                ("in", Role::In),
                ("out", Role::Out),
                ("inout", Role::InOut),
                ("zeroed", Role::Zeroed),
                ("scratch", Role::Scratch),
            ];
            r.choice(item, &join(&section.at, "role"), "a role", &roles)
        }
    };
    let max_bytes = match r.item(&mut section, "max_bytes", None) {
        None => None,
        Some(item) => {
            let at = join(&section.at, "max_bytes");
            if role.is_some_and(|role| role != Role::Scratch) {
                let expected = "no `max_bytes`: it bounds the size that the learner gives scratch memory";
                r.problem(&at, item.span(), expected, format!("{} for another role", item.describe()));
            }
            Some(read_expression(r, item, &at)?)
        }
    };
    let fill = read_fill(r, &mut section);
    if r.boolean(&mut section, "may_be_empty").unwrap_or(false) {
        may_be_empty.extend(name.clone());
    }
    if let (Some(role), Some(Some(_))) = (role, &fill)
        && !role.is_given()
    {
        let span = section.span.clone();
        let expected = "no `fill`: an output is poisoned before the run, zeroed and scratch memory holds zeros";
        r.problem(&section.at, span, expected, "a fill");
    }
    r.finish(section);
    Some(Param::Buffer { name: name?, dtype: dtype?, shape: shape?, role: role?, fill: fill?, max_bytes })
}

pub(super) fn read_expressions(
    r: &mut Reader<'_>,
    section: &mut Section<'_>,
    key: &'static str,
    what: &str,
    most: usize,
) -> Option<Vec<Expr>> {
    let items = r.array(section, key, Some(what))?;
    if items.is_empty() || items.len() > most {
        r.problem(&join(&section.at, key), section.span.clone(), what, format!("an array of {}", items.len()));
        return None;
    }
    items.into_iter().map(|(item, at)| read_expression(r, item, &at)).collect()
}

pub(super) fn read_expression(r: &mut Reader<'_>, item: Item<'_>, at: &str) -> Option<Expr> {
    let text = r.as_expression(item, at)?;
    match Parsed::new(&text) {
        Ok(_) => Some(Expr(text)),
        Err(error) => {
            r.problem(at, item.span(), "an expression of the size variables", error.0);
            None
        }
    }
}

/// The keys of a launch, in `[launch]` or among those of a step.
pub(super) fn read_launch_keys(r: &mut Reader<'_>, section: &mut Section<'_>) -> Option<LaunchShape> {
    let grid = read_expressions(r, section, "grid", "1 to 3 expressions, blocks along x, y, z", 3);
    let block = read_expressions(r, section, "block", "1 to 3 expressions, threads along x, y, z", 3);
    // Asked for in any case, so that the key is known.
    let cluster = match r.item(section, "cluster", None) {
        Some(_) => read_expressions(r, section, "cluster", "1 to 3 expressions, blocks of a cluster", 3),
        None => Some(Vec::new()),
    };
    let at = join(&section.at, "dynamic_shared_bytes");
    let shared = match r.item(section, "dynamic_shared_bytes", None) {
        None => Some(Expr::from("0")),
        Some(item) => read_expression(r, item, &at),
    };
    let cooperative = r.boolean(section, "cooperative").unwrap_or(false);
    let learner_may_change = r.boolean(section, "learner_may_change").unwrap_or(false);
    Some(LaunchShape {
        grid: grid?,
        block: block?,
        cluster: cluster?,
        dynamic_shared_bytes: shared?,
        cooperative,
        learner_may_change,
    })
}

fn read_tolerance(r: &mut Reader<'_>, root: &mut Section<'_>, required: bool) -> Option<Tolerance> {
    let none = Tolerance { absolute: 0.0, relative: 0.0, reason: String::new() };
    if !required && !root.has("tolerance") {
        return Some(none);
    }
    let mut section = r.section(root, "tolerance", true)?;
    let absolute = r.float(&mut section, "absolute", true)?;
    let relative = r.float(&mut section, "relative", true)?;
    let reason = r.string(&mut section, "reason", true)?;
    if absolute < 0.0 || relative < 0.0 {
        r.problem("tolerance", section.span.clone(), "tolerances of at least 0", "a negative one");
    }
    if reason.trim().is_empty() {
        r.problem("tolerance.reason", section.span.clone(), "why this much error is right", "nothing");
    }
    r.finish(section);
    Some(Tolerance { absolute, relative, reason })
}

fn read_cost(r: &mut Reader<'_>, root: &mut Section<'_>) -> Option<Cost> {
    if !root.has("cost") {
        return Some(Cost { flops: Expr::from("0"), bytes: Expr::from("0"), ceiling: CeilingKind::Auto });
    }
    let mut section = r.section(root, "cost", true)?;
    let flops = r.item(&mut section, "flops", Some("floating-point operations"))?;
    let bytes = r.item(&mut section, "bytes", Some("the least bytes of global memory moved"))?;
    let (flops, bytes) = (read_expression(r, flops, "cost.flops")?, read_expression(r, bytes, "cost.bytes")?);
    let ceiling = match r.item(&mut section, "ceiling", None) {
        None => CeilingKind::Auto,
        Some(item) => r.choice(item, "cost.ceiling", "a ceiling", &CeilingKind::ALL)?,
    };
    r.finish(section);
    Some(Cost { flops, bytes, ceiling })
}
