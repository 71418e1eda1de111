//! Kills the window with SIGKILL while a learner types, at random moments, and looks at what is left.

#[path = "../../curriculum/tests/lateness/mod.rs"]
mod lateness;
mod window_support;

use curriculum::Course;
use curriculum::store::{Store, TextSlot};
use egui::{Event, Key, Modifiers};
use egui_kittest::kittest::Queryable;
use lateness::{TURNS_OF_A_WRITE, lateness_ms};
use rand::Rng;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use window_support::{SIZE, Window, simple_script};

/// What the window promises: at most the last second is lost.
const PROMISE_MS: u64 = 1000;
const FOLDERS: usize = 2;
const KILLS_PER_FOLDER: usize = 26;
/// Begins what the typist types; nothing of the scaffold has it.
const MARK: &str = "typed:";

fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock").as_millis() as u64
}

/// Not a test of its own: the window that is killed. Types the numbers from 1 on at the end of the kernel.
#[test]
fn typist() {
    let Ok(folder) = std::env::var("LOCKSTEP_TEST_WINDOW") else { return };
    let start = Instant::now();
    // The folder may still belong to the window before, whose last writes a busy machine delays.
    while Store::open(Path::new(&folder)).is_err() {
        assert!(start.elapsed() < Duration::from_secs(20), "the folder stays in use");
        std::thread::sleep(Duration::from_millis(50));
    }
    let (mut harness, _engine) = Window::parts(folder.into(), true, SIZE, simple_script());
    while !harness.state().state.desk().is_some_and(|desk| desk.loaded) {
        harness.step();
    }
    harness.key_press_modifiers(Modifiers::COMMAND, Key::Num4);
    harness.run_steps(4);
    harness.get_by_label("Code editor").focus();
    harness.run_steps(2);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::End);
    harness.run_steps(2);
    let text = harness.state().state.desk().expect("a text").editor.text().to_owned();
    let mut number = number_of(&text);
    if number == 0 {
        harness.event(Event::Text(format!("// {MARK}")));
    }
    let mut random = rand::rng();
    let mut out = std::io::stdout();
    loop {
        number += 1;
        let typed_ms = now_ms();
        harness.event(Event::Text(format!(" {number}")));
        harness.step();
        writeln!(out, "\nTYPED {number} {typed_ms}").expect("the test listens");
        out.flush().expect("the test listens");
        std::thread::sleep(Duration::from_millis(random.random_range(0..40)));
    }
}

/// The last number that was typed.
fn number_of(text: &str) -> u64 {
    let typed = text.split_once(MARK).map_or("", |(_, typed)| typed);
    typed.split_whitespace().last().map_or(0, |number| number.parse().expect("a number"))
}

/// Types, kills, looks; gives how many milliseconds of typing were lost.
fn kill_once(folder: &Path, after: Duration) -> u64 {
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["typist", "--exact", "--nocapture", "--test-threads=1"])
        .env("LOCKSTEP_TEST_WINDOW", folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("this program again");
    let parse = |line: String| {
        let mut words = line.strip_prefix("TYPED ")?.split(' ').map(str::parse::<u64>);
        Some((words.next()?.ok()?, words.next()?.ok()?))
    };
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    // The clock starts with the first letter: before that there is nothing to lose.
    let mut typed = vec![lines.by_ref().map_while(Result::ok).find_map(parse).expect("the window typed nothing")];
    std::thread::sleep(after);
    let killed_ms = now_ms();
    child.kill().expect("a process");
    typed.extend(lines.map_while(Result::ok).filter_map(parse));
    child.wait().expect("a dead process");

    let course = Course::embedded();
    let day = course.unit("week1/day4").expect("day 4");
    let exercise = day.exercise().expect("an exercise");
    let store = Store::open(folder).expect("the folder is free");
    let text = store.text(&TextSlot::of(day, exercise), &exercise.scaffold).text().to_owned();
    assert_eq!(store.take_problems(), [], "a kill must leave nothing damaged");
    let kept = number_of(&text);
    let numbers: String = (1..=kept).map(|number| format!(" {number}")).collect();
    let expected = match kept {
        0 => text.clone(),
        _ => format!("{}// {MARK}{numbers}", exercise.scaffold),
    };
    assert_eq!(text, expected, "the text after {kept} is not what was typed");
    let first_lost = typed.iter().find(|(number, _)| *number > kept);
    first_lost.map_or(0, |(_, typed_ms)| killed_ms.saturating_sub(*typed_ms))
}

#[test]
fn a_killed_window_loses_at_most_the_last_second() {
    let kills = || {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let once = |_| kill_once(folder.path(), Duration::from_millis(rand::rng().random_range(0..1500)));
        (0..KILLS_PER_FOLDER).map(once).collect::<Vec<_>>()
    };
    let done = AtomicBool::new(false);
    let beside = tempfile::tempdir().expect("a scratch folder");
    let (mut lost, late) = std::thread::scope(|scope| {
        let canary = scope.spawn(|| lateness_ms(beside.path(), &done));
        let folders: Vec<_> = (0..FOLDERS).map(|_| scope.spawn(kills)).collect();
        let lost: Vec<_> = folders.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        done.store(true, Ordering::Relaxed);
        let lost: Vec<u64> = lost.into_iter().flat_map(|lost| lost.expect("no panic")).collect();
        (lost, canary.join().expect("no panic"))
    });
    lost.sort_unstable();
    let most = lost[lost.len() - 1];
    println!("{} kills, lost ms: median {}, most {most}, machine late by {late}", lost.len(), lost[lost.len() / 2]);
    assert!(lost.len() >= 50);
    assert!(most <= PROMISE_MS + TURNS_OF_A_WRITE * late, "machine late by {late} ms: {lost:?}");
}
