//! From what was typed to what is meant: the course, a day's exercise, a kernel's text.

use super::{Failure, Places, report, usage};
use curriculum::store::{Store, TextSlot};
use curriculum::{Course, Exercise, MAIN, Status, Unit};
use gpu_core::job::Source;
use gpu_core::spec::Spec;
use std::path::Path;

/// Largest kernel text that is read. The longest hand-written kernels are a tenth of it, and it keeps a slip
/// (`--kernel video.mp4`) from filling memory.
pub const MAX_SOURCE_BYTES: u64 = 1 << 20;

/// The course: built in, or a folder's over it.
pub fn course(places: &Places) -> Result<Course, Failure> {
    match places.content.clone().or_else(|| places.settings().content) {
        Some(dir) => Course::load(&dir).map_err(usage),
        None => Ok(Course::embedded()),
    }
}

/// The exercise of a day; the day's own when `key` is None.
pub fn exercise<'c>(course: &'c Course, day: &str, key: Option<&str>) -> Result<(&'c Unit, &'c Exercise), Failure> {
    let day = course.unit(day).map_err(usage)?;
    if let Status::Planned { summary } = &day.status
        && day.exercises.is_empty()
    {
        return Err(usage(format!("{} is not written yet; it will hold: {summary}", day.address)));
    }
    let key = key.unwrap_or(MAIN);
    if let Some(found) = day.exercises.iter().find(|exercise| exercise.key == key) {
        return Ok((day, found));
    }
    let keys: Vec<&str> = day.exercises.iter().map(|exercise| exercise.key.as_str()).collect();
    Err(usage(match keys.as_slice() {
        [] => format!("{} has no exercise", day.address),
        keys => format!("{} has no exercise `{key}`; it has {}", day.address, keys.join(", ")),
    }))
}

/// Where a day keeps its experiments; their names begin with it.
const EXPERIMENTS: &str = "experiments/";

/// The experiment that a `--kernel` names.
pub fn experiment_name(named: &str) -> Option<&str> {
    named.strip_suffix(".cu").unwrap_or(named).strip_prefix(EXPERIMENTS)
}

/// A kernel's text and what to call it.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub source: Source,
    /// The path as typed, or in words: `reference of week1/day4-first-kernel`.
    pub shown: String,
    /// An experiment's own spec, where it takes other parameters than its exercise.
    pub spec: Option<Spec>,
}

/// The kernel that others are compared with, as a source.
pub fn text(text: &str) -> Source {
    Source { name: "reference.cu".into(), text: text.to_owned(), headers: Vec::new(), options: Vec::new() }
}

impl Kernel {
    fn new(name: &str, shown: String, text: String) -> Self {
        let source = Source { name: name.to_owned(), text, headers: Vec::new(), options: Vec::new() };
        Kernel { source, shown, spec: None }
    }

    /// For a report's places and snippets.
    pub fn for_report(&self) -> report::Kernel<'_> {
        report::Kernel { name: &self.source.name, shown: &self.shown, text: &self.source.text }
    }
}

/// The kernel that `--kernel` means: a file, else `scaffold`, `solution`, `reference`, `wrong/NAME` or
/// `experiments/NAME`. Without it, the learner's own text, or the scaffold where there is none yet.
pub fn kernel(places: &Places, day: &Unit, exercise: &Exercise, named: Option<&str>) -> Result<Kernel, Failure> {
    let course_file = |file: &str, text: &str| {
        let shown = format!("{}/{file}", exercise.folder);
        Kernel::new(file.rsplit('/').next().unwrap_or(file), shown, text.to_owned())
    };
    let Some(named) = named else {
        let store = Store::open_read_only(&places.data_dir());
        let history = store.text(&TextSlot::of(day, exercise), &exercise.scaffold);
        return Ok(match history.text() {
            text if text == exercise.scaffold => course_file("scaffold.cu", text),
            text => Kernel::new("kernel.cu", "kernel.cu".into(), text.to_owned()),
        });
    };
    let path = Path::new(named);
    if path.exists() {
        return file(path);
    }
    match named.strip_suffix(".cu").unwrap_or(named) {
        "scaffold" => return Ok(course_file("scaffold.cu", &exercise.scaffold)),
        "solution" => return Ok(course_file(exercise.solution_file(), exercise.solution())),
        "reference" => return Ok(course_file("reference.cu", &exercise.reference)),
        other if other.starts_with("wrong/") => {
            let file = format!("{other}.cu");
            if let Some(wrong) = exercise.wrongs.iter().find(|wrong| wrong.file == file) {
                return Ok(course_file(&wrong.file, &wrong.source));
            }
        }
        other if other.starts_with(EXPERIMENTS) => {
            let name = experiment_name(other).unwrap_or_default();
            if let Some(found) = exercise.experiments.iter().find(|experiment| experiment.name == name) {
                let kernel = course_file(&format!("{other}.cu"), &found.source);
                return Ok(Kernel { spec: found.spec.clone(), ..kernel });
            }
        }
        _ => {}
    }
    let mut words = ["scaffold", "solution", "reference"].map(str::to_owned).to_vec();
    words.extend(exercise.wrongs.iter().map(|wrong| wrong.file.trim_end_matches(".cu").to_owned()));
    words.extend(exercise.experiments.iter().map(|experiment| format!("{EXPERIMENTS}{}", experiment.name)));
    Err(usage(format!("there is no file `{named}`; --kernel takes a file or one of {}", words.join(", "))))
}

/// A kernel in a file of the learner's.
pub fn file(path: &Path) -> Result<Kernel, Failure> {
    let text = read(path)?;
    let name = path.file_name().map_or_else(|| "kernel.cu".into(), |name| name.to_string_lossy().into_owned());
    Ok(Kernel::new(&name, path.display().to_string(), text))
}

/// The text of a file; every way that it can be unreadable has its own sentence.
pub fn read(path: &Path) -> Result<String, Failure> {
    let shown = path.display();
    let data = std::fs::metadata(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => usage(format!("there is no such file: {shown}")),
        _ => usage(format!("the file cannot be read ({error}): {shown}")),
    })?;
    if data.is_dir() {
        return Err(usage(format!("this is a folder, not a file: {shown}")));
    }
    if data.len() > MAX_SOURCE_BYTES {
        return Err(usage(format!(
            "the file has {} bytes; a text may have at most {} (1 MiB): {shown}",
            data.len(),
            MAX_SOURCE_BYTES
        )));
    }
    // Bounded again while reading: a device or pipe tells no length.
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| std::io::Read::read_to_end(&mut std::io::Read::take(file, MAX_SOURCE_BYTES + 1), &mut bytes))
        .map_err(|error| usage(format!("the file cannot be read ({error}): {shown}")))?;
    if bytes.len() as u64 > MAX_SOURCE_BYTES {
        return Err(usage(format!("a text may have at most {MAX_SOURCE_BYTES} bytes (1 MiB), this has more: {shown}")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count();
        usage(format!("the file is not UTF-8 text: byte {at} (line {line}) is not; save it as UTF-8: {shown}"))
    })
}
