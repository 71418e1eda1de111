//! Kills a process that types, at random moments and without warning, and looks at what is left.

mod lateness;

use curriculum::store::{Progress, Store, StoreError, TextSlot};
use lateness::{TURNS_OF_A_WRITE, lateness_ms};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// What the course promises: at most the last second is lost.
const PROMISE_MS: u64 = 1000;
const FOLDERS: u64 = 4;
const KILLS_PER_FOLDER: u64 = 14;

fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64
}

fn slot() -> TextSlot {
    TextSlot::new("first-kernel", "main").unwrap()
}

/// The text after edit `number`: the one before with letters added, lines pasted or a piece cut out, by a fixed rule.
fn next_text(text: &str, seed: u64, number: u64) -> String {
    let mut random = StdRng::seed_from_u64(seed.wrapping_mul(1_000_003) ^ number);
    let mut body: Vec<char> = text.split_once('\n').map_or("", |(_, body)| body).chars().collect();
    let at = random.random_range(0..=body.len());
    match random.random_range(0..10) {
        0 if body.len() > 200 => {
            let end = (at + random.random_range(1..200)).min(body.len());
            body.drain(at..end);
        }
        1 => {
            let pasted = "    c[i] = a[i] + b[i]; // \u{e9}\u{4e2d}\n".repeat(random.random_range(1..20));
            body.splice(at..at, pasted.chars());
        }
        _ => body.insert(at, char::from(random.random_range(b' '..=b'~'))),
    }
    body.truncate(20_000);
    format!("// edit {number}\n{}", body.into_iter().collect::<String>())
}

/// Number of the last edit in a text.
fn number_of(text: &str) -> u64 {
    text.lines().next().and_then(|line| line.strip_prefix("// edit ")).map_or(0, |number| number.parse().unwrap())
}

/// Not a test of its own: what the killed process runs.
#[test]
fn typist() {
    let Ok(folder) = std::env::var("LOCKSTEP_TEST_TYPIST") else { return };
    let seed: u64 = std::env::var("LOCKSTEP_TEST_SEED").unwrap().parse().unwrap();
    // The folder may still belong to the process before, whose last writes a busy machine delays.
    let open = || {
        let store = Store::open(Path::new(&folder)).ok();
        if store.is_none() {
            std::thread::sleep(Duration::from_millis(100));
        }
        store
    };
    let store = (0..100).find_map(|_| open()).expect("the folder stays in use");
    let mut text = store.text(&slot(), "").text().to_owned();
    let mut random = StdRng::seed_from_u64(seed ^ now_ms());
    let mut progress = store.progress();
    let mut out = std::io::stdout();
    loop {
        let number = number_of(&text) + 1;
        text = next_text(&text, seed, number);
        store.edit(&slot(), text.as_str());
        progress.last_day = Some(format!("edit-{number}"));
        store.save_progress(&progress);
        writeln!(out, "\nTYPED {number} {}", now_ms()).unwrap();
        out.flush().unwrap();
        let pause = if random.random_range(0..20) == 0 { 300 } else { random.random_range(0..25) };
        std::thread::sleep(Duration::from_millis(pause));
    }
}

/// Types, kills, looks; gives how many milliseconds of typing were lost.
fn kill_once(folder: &Path, seed: u64, after: Duration) -> u64 {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["typist", "--exact", "--nocapture", "--test-threads=1"])
        .env("LOCKSTEP_TEST_TYPIST", folder)
        .env("LOCKSTEP_TEST_SEED", seed.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let parse = |line: String| {
        let mut words = line.strip_prefix("TYPED ")?.split(' ').map(str::parse::<u64>);
        Some((words.next()?.ok()?, words.next()?.ok()?))
    };
    // The clock starts with the first edit: before that there is nothing to lose.
    let mut typed = vec![lines.by_ref().map(Result::unwrap).find_map(parse).expect("the typist typed nothing")];
    std::thread::sleep(after);
    let killed_ms = now_ms();
    child.kill().unwrap();
    typed.extend(lines.map_while(Result::ok).filter_map(parse));
    child.wait().unwrap();

    let store = Store::open(folder).unwrap();
    let text = store.text(&slot(), "").text().to_owned();
    let progress = store.progress();
    assert_eq!(store.take_problems(), [], "a kill must leave nothing damaged");
    let kept = number_of(&text);
    // The very text of that edit and no mixture: replay the rule from the start.
    let expected = (1..=kept).fold(String::new(), |text, number| next_text(&text, seed, number));
    assert!(text == expected, "the text after edit {kept} is not what was typed");
    let noted = progress.last_day.map_or(0, |last| last.strip_prefix("edit-").unwrap().parse().unwrap());
    let first_lost = typed.iter().find(|(number, _)| *number > kept.min(noted));
    first_lost.map_or(0, |(_, typed_ms)| killed_ms.saturating_sub(*typed_ms))
}

#[test]
fn a_kill_at_any_moment_loses_at_most_the_last_second() {
    let done = AtomicBool::new(false);
    let beside = tempfile::tempdir().unwrap();
    let (lost, late) = std::thread::scope(|scope| {
        let canary = scope.spawn(|| lateness_ms(beside.path(), &done));
        let threads: Vec<_> = (0..FOLDERS)
            .map(|seed| {
                scope.spawn(move || {
                    let dir = tempfile::tempdir().unwrap();
                    let mut random = StdRng::seed_from_u64(now_ms() ^ seed);
                    let once = |_| {
                        let after = Duration::from_millis(random.random_range(0..1500));
                        kill_once(dir.path(), seed, after)
                    };
                    (0..KILLS_PER_FOLDER).map(once).collect::<Vec<_>>()
                })
            })
            .collect();
        let lost = threads.into_iter().map(std::thread::ScopedJoinHandle::join).collect::<Vec<_>>();
        done.store(true, Ordering::Relaxed);
        let lost = lost.into_iter().flat_map(|lost: std::thread::Result<Vec<u64>>| lost.unwrap()).collect::<Vec<_>>();
        (lost, canary.join().unwrap())
    });
    let mut sorted = lost;
    sorted.sort_unstable();
    let most = sorted[sorted.len() - 1];
    println!(
        "{} kills, lost ms: median {}, most {most}, machine late by {late}",
        sorted.len(),
        sorted[sorted.len() / 2]
    );
    assert!(sorted.len() >= 50);
    assert!(most <= PROMISE_MS + TURNS_OF_A_WRITE * late, "machine late by {late} ms: {sorted:?}");
}

#[test]
fn a_second_instance_is_told_and_may_look() {
    let dir = tempfile::tempdir().unwrap();
    let first = Store::open(dir.path()).unwrap();
    first.edit(&slot(), "mine");
    assert!(first.flush(Duration::from_secs(5)));
    let Err(error) = Store::open(dir.path()) else { panic!("two writers") };
    assert!(matches!(&error, StoreError::InUse { .. }));
    assert!(error.to_string().contains("LOCKSTEP_DATA"), "{error}");
    #[cfg(unix)]
    assert!(error.to_string().contains(&format!("process {}", std::process::id())), "{error}");
    let second = Store::open_read_only(dir.path());
    assert_eq!(second.text(&slot(), "").text(), "mine");
    second.edit(&slot(), "clobbered");
    second.save_progress(&Progress { last_day: Some("x".into()), ..Progress::default() });
    drop(second);
    assert_eq!(first.text(&slot(), "").text(), "mine");
    assert_eq!(first.progress(), Progress::default());
    drop(first);
    // The other tests of this program start processes, and a child holds every lock between its fork and its exec.
    let opens = |_| Store::open(dir.path()).is_ok() || (std::thread::sleep(Duration::from_millis(20)), false).1;
    assert!((0..100).any(opens));
}

#[test]
fn an_edit_returns_at_once_even_for_a_large_text() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let text = "x".repeat(5 << 20);
    let start = Instant::now();
    for i in 0..20 {
        store.edit(&slot(), format!("{i}{text}"));
    }
    let each = start.elapsed() / 20;
    assert!(each < Duration::from_millis(50), "{each:?}");
    assert!(store.flush(Duration::from_secs(30)));
    drop(store);
    assert_eq!(Store::open(dir.path()).unwrap().text(&slot(), "").text(), format!("19{text}"));
}
