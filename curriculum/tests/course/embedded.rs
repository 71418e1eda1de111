//! The course that ships inside the program.

use curriculum::{Course, Files, Status};
use std::collections::BTreeSet;

#[test]
fn it_has_four_weeks_of_seven_days_each_with_words_about_itself() {
    let course = Course::embedded();
    assert_eq!(course.weeks.iter().map(|week| week.days.len()).collect::<Vec<_>>(), [7, 7, 7, 7]);
    for (week, number) in course.weeks.iter().zip(1..) {
        assert_eq!(week.number, number);
        assert!(!week.title.is_empty() && !week.project.is_empty());
        assert_eq!(
            week.days.iter().filter_map(|day| day.day().map(|(_, number)| number)).collect::<Vec<_>>(),
            (1..=7).collect::<Vec<_>>()
        );
    }
    let titles: BTreeSet<_> = course.days().map(|day| &day.title).collect();
    assert_eq!(titles.len(), 28);
    for day in course.days() {
        assert!(day.summary.len() > 40, "{}", day.address);
        if let Status::Planned { summary } = &day.status {
            assert_eq!(*summary, day.summary);
        }
    }
}

#[test]
fn a_day_is_found_by_what_people_type() {
    let course = Course::embedded();
    for asked in ["week1/day4", "week1/day4-first-kernel", "1.4", "w1d4", "first-kernel", " Week1/Day4/ "] {
        assert_eq!(course.unit(asked).map(|day| day.address.as_str()), Ok("week1/day4-first-kernel"), "{asked}");
    }
}

#[test]
fn an_unknown_day_suggests_the_nearest() {
    let course = Course::embedded();
    let near = |asked: &str| course.unit(asked).unwrap_err();
    assert_eq!(near("week1/day44").nearest[0], "week1/day4-first-kernel");
    assert_eq!(near("frist-kernel").nearest[0], "week1/day4-first-kernel");
    assert!(near("week1/day4-first-kernl").to_string().contains("did you mean `week1/day4-first-kernel`?"));
    assert!(near("zzzzzzzzzzzzzzzzzzzzzzzzz").to_string().contains("lockstep list"));
    assert!(near("").to_string().contains("``"));
}

#[test]
fn the_repository_loads_as_a_content_folder() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let course = Course::load(root).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(course.days().count(), 28);
}

#[test]
fn what_is_packed_into_the_program_is_what_lies_in_the_repository() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let (packed, found) = (Files::embedded(), Files::from_folder(root).unwrap());
    assert_eq!(packed.paths().collect::<Vec<_>>(), found.paths().collect::<Vec<_>>());
    for path in found.paths() {
        assert_eq!(packed.text(path), found.text(path), "{path}");
    }
    let script = found.paths().find(|path| path.ends_with(".py")).and_then(|path| found.text(path)).unwrap();
    assert!(curriculum::is_own_script(script) && !curriculum::is_own_script("import os"));
}

#[test]
fn a_folder_replaces_single_files_and_bad_folders_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let error = Course::load(dir.path()).unwrap_err();
    assert!(error.to_string().contains("a folder that holds `curriculum/` or `kernels/`"), "{error}");
    let day = dir.path().join("curriculum/week1/day4-first-kernel");
    std::fs::create_dir_all(&day).unwrap();
    std::fs::write(day.join("day.toml"), "title = \"Der erste Kernel\"\nsummary = \"kurz\"\n").unwrap();
    let course = Course::load(dir.path()).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(course.unit("1.4").unwrap().title, "Der erste Kernel");
    assert_eq!(course.days().count(), 28);
    std::fs::write(day.join("lesson.md"), [b'#', 0xff, b'x']).unwrap();
    let error = Course::load(dir.path()).unwrap_err();
    assert!(error.to_string().contains("lesson.md: expected UTF-8 text (byte 1 is not)"), "{error}");
}
