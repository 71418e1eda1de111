//! Kernels that other people would write are judged rightly (`lockstep dev others` says how), and what fits a small case
//! by chance is not said.
#![cfg(target_os = "linux")]

use crate::cli_support::Machine;
use crate::lab_support::{TestLab, source};
use curriculum::{Course, Exercise};
use gpu_core::device::{Argument, DeviceChoice};
use gpu_core::job::{Event, Job};
use std::path::{Path, PathBuf};

/// The checkout whose kernels are judged: this one, or that of `LOCKSTEP_REPOSITORY`.
fn repository() -> PathBuf {
    std::env::var_os("LOCKSTEP_REPOSITORY")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned(), PathBuf::from)
}

/// `LOCKSTEP_OTHERS=week1/day5` judges those of one unit, or of all below a folder; otherwise each top folder is judged by
/// itself, since all together take longer than a command that hangs.
#[test]
fn kernels_that_other_people_would_write_are_judged_rightly() {
    let root = repository();
    let named = std::env::var("LOCKSTEP_OTHERS").ok().map(|unit| vec![unit]);
    let units = named.unwrap_or_else(|| tops_with_others(&root.join("kernels")));
    assert!(!units.is_empty());
    for unit in units {
        let ended = Machine::new().run(&["dev", "others", "--content", root.to_str().unwrap(), &unit]);
        assert!(ended.status == 0 && ended.stdout.ends_with("problems: 0\n"), "{}{}", ended.stdout, ended.stderr);
        println!("{}", ended.stdout);
    }
}

/// Top folders of `kernels` that hold kernels of other people.
fn tops_with_others(kernels: &Path) -> Vec<String> {
    fn holds(folder: &Path) -> bool {
        let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        entries.filter(|path| path.is_dir()).any(|path| path.ends_with("others") || holds(&path))
    }
    let entries = std::fs::read_dir(kernels).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut tops: Vec<String> = entries
        .filter(|path| path.is_dir() && holds(path))
        .map(|path| path.file_name().expect("a name").to_string_lossy().into_owned())
        .collect();
    tops.sort();
    tops
}

/// Of every sum of the second case (2 x 3 times 3 x 4) the last product is the largest one, and positive, with these inputs.
fn last_is_largest(exercise: &Exercise, seed: u64) -> bool {
    let size = &exercise.spec.emulator_sizes()[1];
    let resolved = exercise.spec.resolve(size).expect("the course's own");
    let buffers: Vec<Vec<f64>> = gpu_core::judge::arguments(&resolved, seed)
        .iter()
        .filter_map(|argument| match argument {
            Argument::Buffer(buffer) => Some(buffer.dtype.decode_all(&buffer.bytes)),
            _ => None,
        })
        .collect();
    let [rows, inner, columns] = ["rows", "inner", "columns"].map(|name| size[name] as usize);
    let product = |row: usize, k: usize, column: usize| buffers[0][row * inner + k] * buffers[1][k * columns + column];
    (0..rows * columns).all(|index| {
        let (row, column) = (index / columns, index % columns);
        let last = product(row, inner - 1, column);
        last > 0.0 && (0..inner - 1).all(|k| product(row, k, column) < last)
    })
}

#[test]
fn what_fits_a_small_case_by_chance_is_not_said() {
    let course = Course::load(&repository()).unwrap_or_else(|errors| panic!("{errors}"));
    let folder = "kernels/week1/day1-cpu-baseline";
    let exercise = course.units().flat_map(|unit| &unit.exercises).find(|exercise| exercise.folder == folder);
    let exercise = exercise.expect("day 1's exercise");
    let seed = (0..).find(|seed| last_is_largest(exercise, *seed)).expect("some seed");
    let path = repository().join(folder).join("others/wrong/largest-product.cu");
    let job = Job::Check {
        source: source(&std::fs::read_to_string(path).unwrap()),
        spec: Box::new(exercise.spec.clone()),
        device: DeviceChoice::Emulator,
        arch: None,
        seed: Some(seed),
        trace: None,
    };
    let (events, outcome) = TestLab::start().run(job);
    let verdict = events.into_iter().find_map(|event| match event {
        Event::Verdict(verdict) => Some(*verdict),
        _ => None,
    });
    let Some(verdict) = verdict else { panic!("seed {seed}: {outcome:?}") };
    let hint = exercise.hints.for_keys(&verdict.hints).map_or_else(String::new, |hint| hint.steps.join("\n"));
    let read = format!("{}\n{hint}", verdict.summary);
    assert!(read.contains("largest of its products"), "seed {seed}: {read}");
    assert!(!read.contains("last product alone") && !verdict.hints.iter().any(|key| key == "cut_sums"), "{read}");
}
