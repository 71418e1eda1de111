//! What strangers send, broken at random: exercise files, ladders, quizzes, lessons, figures, state bundles, messages of
//! workers, settings, journals. Nothing may panic, hang or take memory without end; each has its error or its value.
//!
//! A second for each by default; `LOCKSTEP_FUZZ_SECONDS=900 cargo test --test fuzz -- --nocapture` looks longer and says how
//! many it tried. `LOCKSTEP_FUZZ_SEED` repeats a run. It begins from the course's own files and breaks them a few places at
//! a time, which needs no instrumented build of four hundred crates and runs in every check of a change.

use curriculum::store::{Settings, Store, TextSlot};
use curriculum::{Course, Files};
use gpu_core::device::DeviceChoice;
use gpu_core::job::{Event, Job, Outcome, Source};
use gpu_core::spec::Spec;
use gpu_core::worker::wire;
use lockstep::widgets::figure::Drawing;
use lockstep::widgets::formula::{Formulas, Style};
use lockstep::widgets::lesson_text::document::Document;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng, rngs::SmallRng};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The longest that one broken text may take, in a build that is not optimised.
const PATIENCE: Duration = Duration::from_secs(10);

/// Texts that mean something to one of the readers.
const WORDS: &str = r#"\sqrt{ \hat \left( \begin{matrix} \\[99em] \def\a{\a\a} transform="rotate(1e9)" stroke-width="1e30" opacity="0.5" stroke-dasharray="1 1" [[param]] [[step]] [[view]] [sizes] check=[ {n=0} n=18446744073709551615 =-1 =1e308 nan inf """ ''' \u{0} |---| $$ \frac{ ```cuda >>>> ---- [a](b) {{viz {{code }} <g> <svg <image> href="/etc/passwd" <!ENTITY &a; 1e999 -0 ceil_div(n,0) n**n (((((((( )))))))) =[[[[[[[[[ .. # <text> transform="scale(1e30)" d="M0" :::"#;

fn seconds() -> f64 {
    std::env::var("LOCKSTEP_FUZZ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1.0)
}

/// Breaks a text in one to four places.
fn broken(random: &mut SmallRng, text: &[u8], other: &[u8]) -> Vec<u8> {
    let words: Vec<&str> = WORDS.split(' ').collect();
    let mut bytes = text.to_vec();
    for _ in 0..random.random_range(1..=4) {
        let at = random.random_range(0..=bytes.len());
        let end = random.random_range(at..=bytes.len().min(at + 40));
        match random.random_range(0..7) {
            0 => drop(bytes.drain(at..end)),
            1 => {
                let again: Vec<u8> = bytes[at..end].repeat(random.random_range(1..200));
                bytes.splice(at..at, again);
            }
            2 | 3 => {
                let word = words.choose(random).expect("words").as_bytes();
                bytes.splice(at..end, word.iter().copied());
            }
            4 => {
                let noise: Vec<u8> = (at..end).map(|_| random.random()).collect();
                bytes.splice(at..end, noise);
            }
            5 if !other.is_empty() => {
                let from = random.random_range(0..other.len());
                let to = random.random_range(from..=other.len().min(from + 300));
                bytes.splice(at..end, other[from..to].iter().copied());
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.random_range(0..8);
                }
            }
        }
    }
    bytes.truncate(1 << 20);
    bytes
}

/// Breaks `seeds` until the time is over; says what was being read when something is too slow.
fn fuzz(name: &str, seeds: &[Vec<u8>], mut read: impl FnMut(&[u8])) {
    assert!(!seeds.is_empty(), "{name} has nothing to begin from");
    let seed = std::env::var("LOCKSTEP_FUZZ_SEED").ok().and_then(|text| text.parse().ok());
    let seed: u64 = seed.unwrap_or_else(|| rand::rng().random());
    println!("{name}: LOCKSTEP_FUZZ_SEED={seed}");
    let mut random = SmallRng::seed_from_u64(seed);
    let end = Instant::now() + Duration::from_secs_f64(seconds());
    let mut tried = 0_u64;
    while Instant::now() < end {
        let [text, other] = [(); 2].map(|()| seeds.choose(&mut random).expect("seeds"));
        let bytes = broken(&mut random, text, other);
        let kept = Keep(name, &bytes);
        let started = Instant::now();
        read(&bytes);
        let took = started.elapsed();
        assert!(took < PATIENCE, "{name} took {took:?} for {} bytes", bytes.len());
        std::mem::forget(kept);
        tried += 1;
    }
    println!("{name}: {tried} broken ones tried");
    assert!(tried > 0);
}

/// Writes what was being read into a file when that panics.
struct Keep<'a>(&'a str, &'a [u8]);

impl Drop for Keep<'_> {
    fn drop(&mut self) {
        let path = std::env::temp_dir().join(format!("lockstep-fuzz-{}", self.0));
        if std::fs::write(&path, self.1).is_ok() {
            println!("what was read: {}", path.display());
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The course's files whose path holds `part` and ends in `end`.
fn seeds(part: &str, end: &str) -> Vec<Vec<u8>> {
    let files = Files::embedded();
    let fits = |path: &&str| path.contains(part) && path.ends_with(end);
    files.paths().filter(fits).filter_map(|path| files.text(path)).map(|text| text.as_bytes().to_vec()).collect()
}

#[test]
fn exercise_files() {
    fuzz("spec", &seeds("kernels/", "exercise.toml"), |bytes| {
        if let Ok(spec) = Spec::parse(&text(bytes), "exercise.toml") {
            for size in spec.emulator_check.iter().chain(&spec.check).take(8) {
                let _ = spec.resolve(size);
            }
        }
    });
}

/// A course of one day and one ladder, a file of which is broken.
fn course_with(name: &str, end: &str) {
    const PARTS: [&str; 4] = ["week1/week.toml", "week1/day4-first-kernel/", "course.toml", "kernels/ladders/sum/"];
    let files = Files::embedded();
    let own: Vec<(String, String)> = files
        .paths()
        .filter(|path| PARTS.iter().any(|part| path.contains(part)))
        .filter_map(|path| Some((path.to_owned(), files.text(path)?.to_owned())))
        .collect();
    let place = own.iter().position(|(path, _)| path.ends_with(end)).unwrap_or_else(|| panic!("no {end}"));
    let part = if end == "ladder.toml" { "ladders/" } else { "curriculum/" };
    fuzz(name, &seeds(part, end), |bytes| {
        let mut own = own.clone();
        own[place].1 = text(bytes);
        let files = Files::from_texts(own);
        if let Ok(course) = Course::from_files(&files) {
            for unit in course.units() {
                let _ = curriculum::check::unit(&files, unit, None);
            }
        }
    });
}

#[test]
fn quizzes() {
    course_with("quiz", "quiz.toml");
}

#[test]
fn ladders() {
    course_with("ladder", "ladder.toml");
}

#[test]
fn notes() {
    course_with("notes", "notes.toml");
}

#[test]
fn lessons() {
    course_with("lesson", "lesson.md");
    fuzz("markdown", &seeds("curriculum/", ".md"), |bytes| {
        Document::parse(&text(bytes));
    });
}

#[test]
fn figures() {
    fuzz("figure", &seeds("curriculum/", ".svg"), |bytes| {
        let svg = text(bytes);
        // What the loader lets pass is drawn.
        if curriculum::beyond_limits("figure.svg", &svg).is_none()
            && let Ok(drawing) = Drawing::read(&svg)
        {
            let _ = drawing.rasterize(&lockstep::theme::LIGHT, [430, 300]);
        }
    });
}

#[test]
fn formulas() {
    let inside = |text: &str| -> Vec<Vec<u8>> {
        let parts = text.split('$').skip(1).step_by(2).filter(|tex| !tex.is_empty());
        parts.map(|tex| tex.as_bytes().to_vec()).collect()
    };
    let known: Vec<Vec<u8>> = seeds("curriculum/", "lesson.md").iter().flat_map(|file| inside(&text(file))).collect();
    fuzz("formula", &known, |bytes| {
        let _ = Formulas::default().measure(&text(bytes), Style::Display);
    });
}

#[test]
fn frames() {
    let mut hello = Vec::new();
    let mut writer = wire::Writer::start(&mut hello).expect("memory");
    writer.send(&Event::Console("text of a kernel\n".to_owned())).expect("memory");
    writer.send(&Event::Progress { what: "compiling".to_owned(), done: 1, total: 2 }).expect("memory");
    writer.send(&Event::Finished(Outcome::Crashed("why".to_owned()))).expect("memory");
    let mut jobs = Vec::new();
    let mut writer = wire::Writer::start(&mut jobs).expect("memory");
    let source = Source { name: "k.cu".to_owned(), text: "x".to_owned(), headers: Vec::new(), options: Vec::new() };
    for text in seeds("kernels/", "exercise.toml").iter().take(8) {
        let spec = Box::new(Spec::parse(&self::text(text), "exercise.toml").expect("the course's own"));
        let (device, source) = (DeviceChoice::Emulator, source.clone());
        let job = Job::Check { source, spec, device, arch: None, seed: Some(1), trace: None };
        writer.send(&job).expect("memory");
    }
    fuzz("frames", &[hello, jobs], |bytes| {
        let Ok(mut reader) = wire::Reader::start(bytes) else { return };
        while reader.receive::<Event>().is_ok() {}
        let Ok(mut reader) = wire::Reader::start(bytes) else { return };
        while reader.receive::<Job>().is_ok() {}
    });
}

/// A data folder with a text, a journal, progress and settings in it.
fn used_folder(root: &Path) -> TextSlot {
    let slot = TextSlot::new("week1-day4", "main").expect("a slot");
    let store = Store::open(root).expect("a data folder");
    store.text(&slot, "a\nb\n");
    for text in ["a\nc\n", "a\nc\nd\n", "c\nd\n"] {
        store.edit(&slot, text);
        assert!(store.flush(Duration::from_secs(20)));
    }
    store.save_settings(&Settings::default());
    assert!(store.flush(Duration::from_secs(20)));
    slot
}

fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("lockstep-fuzz-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

#[test]
fn settings_and_journals() {
    let folder = scratch("store");
    let slot = used_folder(&folder);
    let journal = folder.join("days/week1-day4/main/journal.jsonl");
    let settings = folder.join("settings.toml");
    let [old_journal, old_settings] = [&journal, &settings].map(|path| std::fs::read(path).expect("written"));
    fuzz("journal", &[old_journal], |bytes| {
        std::fs::write(&journal, bytes).expect("a file");
        let store = Store::open_read_only(&folder);
        let mut history = store.text(&slot, "a\nb\n");
        while history.undo().is_some() {}
    });
    fuzz("settings", &[old_settings], |bytes| {
        std::fs::write(&settings, bytes).expect("a file");
        let _ = Store::open_read_only(&folder).settings();
    });
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn bundles() {
    let (from, into) = (scratch("from"), scratch("into"));
    used_folder(&from);
    let bundle = from.join("state.json");
    Store::open(&from).expect("the folder").export(&bundle).expect("a bundle");
    let whole = std::fs::read(&bundle).expect("written");
    fuzz("bundle", &[whole], |bytes| {
        std::fs::write(&bundle, bytes).expect("a file");
        let store = Store::open(&into).expect("a folder");
        let _ = store.import(&bundle);
    });
    let _ = [from, into].map(std::fs::remove_dir_all);
}
