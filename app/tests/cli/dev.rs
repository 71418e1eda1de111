//! `lockstep dev`: a day from the template, and what its author is told.

use crate::cli_support::{Machine, repository};
use std::path::Path;

/// A copy of the course in the machine's folder.
fn course(machine: &Machine) {
    for half in ["curriculum", "kernels"] {
        copy(&repository().join(half), &machine.path("course").join(half));
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else {
            std::fs::copy(&path, to.join(name)).unwrap();
        }
    }
}

#[test]
fn a_new_day_loads_at_once_and_check_names_what_is_unwritten() {
    let machine = Machine::new();
    course(&machine);
    let new_day = |address: &str| machine.run(&["dev", "new-day", address, "--content", "course"]);
    new_day("week1/day9-own-work").shows(&["made ", "kernels/week1/day9-own-work/reference.cu"]);
    // A second time nothing is touched.
    let again = new_day("week1/day9-own-work");
    again.shows(&["kept "]);
    assert!(!again.stdout.contains("made "), "{}", again.stdout);
    machine.run(&["list", "--content", "course"]).shows(&["week1/day9-own-work", "Own work"]);

    let ended = machine.run(&["dev", "check", "week1/day9", "--content", "course"]);
    assert_eq!(ended.status, 1, "{}{}", ended.stdout, ended.stderr);
    for file in ["day.toml", "lesson.md", "quiz.toml", "notes.toml"] {
        let path = format!("curriculum/week1/day9-own-work/{file}:");
        assert!(ended.stdout.contains(&path), "{path} is not named: {}", ended.stdout);
    }
    // Its kernels work as they are: nothing to say about them.
    assert!(!ended.stdout.contains(".cu: "), "{}", ended.stdout);
}

#[test]
fn a_new_lab_page_and_problem_load_at_once_too() {
    let machine = Machine::new();
    course(&machine);
    for (command, typed, address, file) in [
        ("new-lab", "own-question", "labs/own-question", "lab.toml"),
        ("new-page", "reference/own-words", "reference/own-words", "page.toml"),
        ("new-problem", "sparse/own-rows", "practice/sparse/own-rows", "problem.toml"),
    ] {
        let made = format!("made   curriculum/{address}/{file}");
        machine.run(&["dev", command, typed, "--content", "course"]).shows(&[&made]);
        machine.run(&["list", "--content", "course"]).shows(&[address]);
        let ended = machine.run(&["dev", "check", address, "--content", "course"]);
        assert_eq!(ended.status, 1, "{}{}", ended.stdout, ended.stderr);
        assert!(ended.stdout.contains(&format!("curriculum/{address}/{file}: ")), "{}", ended.stdout);
        assert!(!ended.stdout.contains(".cu: "), "{}", ended.stdout);
    }
    machine
        .run(&["check", "practice/sparse/own-rows", "--kernel", "reference", "--content", "course"])
        .shows(&["PASS"]);
    machine.run(&["dev", "new-problem", "rows/x", "--content", "course"]).fails(2, &["elementwise, reductions,"]);
    machine.run(&["dev", "new-lab", "Own", "--content", "course"]).fails(2, &["labs/reduction"]);
}

#[test]
fn others_are_held_to_what_they_declare_and_known_answers_are_not_sought_again() {
    let machine = Machine::new();
    course(&machine);
    let unit = "practice/elementwise/clamp";
    let others = || machine.run(&["dev", "others", unit, "--content", "course"]);
    let folder = format!("course/kernels/{unit}/others");
    let count = |side: &str| std::fs::read_dir(machine.path(&folder).join(side)).unwrap().count();
    let all = format!("({} now", count("right") + count("wrong"));
    others().shows(&[&format!("{all}, 0 known)"), "problems: 0"]);
    let read = |name: &str| std::fs::read_to_string(machine.path(&folder).join(name)).unwrap();
    let reference = read("right/grid-stride.cu");
    machine.file(&format!("{folder}/right/grid-stride.cu"), format!("// does not reach: No warp splits\n{reference}"));
    machine.file(&format!("{folder}/right/two-ifs.cu"), read("right/two-ifs.cu").replace("No warp splits", "No such"));
    let swapped = read("wrong/swapped.cu");
    machine.file(&format!("{folder}/wrong/swapped.cu"), swapped.replace("for: wrong_output", "for: race"));
    machine.file(&format!("{folder}/wrong/only-above.cu"), read("wrong/only-above.cu").replace("below low", "no such"));
    let ended = others();
    for said in [
        "grid-stride.cu: it must not reach `No warp splits`",
        "two-ifs.cu: there is no milestone `No such`; there are: Loads without a gap, No warp splits",
        "swapped.cu: it must be rejected for race, not wrong_output",
        "only-above.cu: `no such` is not in what a learner reads",
        "known)",
        "problems: 4",
    ] {
        assert!(ended.stdout.contains(said), "`{said}` is missing: {}", ended.stdout);
    }
    assert!(!ended.stdout.contains(&all), "what did not change is known: {}", ended.stdout);
    // The kernel that declared it is gone, so nothing tests the milestone any more.
    let checked = machine.run(&["dev", "check", unit, "--content", "course"]);
    assert!(!checked.stdout.contains("No warp splits"), "{}", checked.stdout);
    std::fs::remove_file(machine.path(&folder).join("right/a-chunk-each.cu")).unwrap();
    let checked = machine.run(&["dev", "check", unit, "--content", "course"]);
    assert!(checked.stdout.contains("milestone `Loads without a gap`: no kernel"), "{}", checked.stdout);
}

#[test]
fn a_ladder_is_checked_by_itself() {
    let machine = Machine::new();
    course(&machine);
    let check = |asked: &str| machine.run(&["dev", "check", asked, "--content", "course"]);
    check("ladders/vector-add").shows(&["units checked: 0, kernels: 2 (2 judged now", "problems: 0"]);
    check("kernels/ladders/vector-add/").shows(&["kernels: 2 (0 judged now, 2 known)"]);
    check("ladders/vector")
        .fails(2, &["there is no ladder `ladders/vector`; there are: attention-blackwell, attention, "]);
}

#[test]
fn odd_addresses_are_refused() {
    let machine = Machine::new();
    course(&machine);
    for bad in
        ["day1-x", "week1/day1", "week0/day1-x", "week1/day1-X", "week1/day1-x/y", "../week1/day1-x", "week1/day1-"]
    {
        machine.run(&["dev", "new-day", bad, "--content", "course"]).fails(2, &["week2/day3-bank-conflicts"]);
    }
    machine.run(&["dev", "new-day", "week99/day1-x", "--content", "course"]).fails(2, &["week99"]);
    machine.run(&["dev", "new-day", "week1/day9-x"]).fails(2, &["--content"]);
}

#[test]
fn check_finds_kernels_that_are_on_the_wrong_side() {
    let machine = Machine::new();
    course(&machine);
    let day = "course/kernels/week1/day4-first-kernel";
    let read = |name: &str| std::fs::read_to_string(machine.path(day).join(name)).unwrap();
    let (reference, out_of_bounds) = (read("reference.cu"), read("wrong/out_of_bounds.cu"));
    machine.file(&format!("{day}/scaffold.cu"), &reference);
    let broken = reference.replace("a[i] + b[i]", "a[i] - b[i]");
    assert_ne!(broken, reference, "the reference has another form now: adapt this test");
    machine.file(&format!("{day}/reference.cu"), broken);
    machine.file(&format!("{day}/wrong/race.cu"), &reference);
    machine.file(&format!("{day}/wrong/never_written.cu"), &out_of_bounds);
    machine.file(&format!("{day}/stray.bin"), b"\x00");
    let ended = machine.run(&["dev", "check", "week1/day4", "--content", "course"]);
    assert_eq!(ended.status, 1, "{}{}", ended.stdout, ended.stderr);
    for said in [
        "scaffold.cu: it passes",
        "reference.cu: it must pass",
        "wrong/race.cu: it passes; it must be rejected for race",
        "wrong/never_written.cu: it must be rejected for never_written, not: ",
        "stray.bin",
    ] {
        assert!(ended.stdout.contains(said), "`{said}` is missing: {}", ended.stdout);
    }
}

#[test]
fn the_course_is_sound() {
    Machine::new().run(&["dev", "check", "--content", repository().to_str().unwrap()]).shows(&["problems: 0"]);
}
