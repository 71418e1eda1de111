//! A mutation fuzzer for the loader and for the interpreter. It needs no nightly compiler, and a run repeats by its
//! seed.
//!
//! ```text
//! cargo run --release -p ptx-emulator --example fuzz -- load --minutes 20 [--seed 1] [--finds FOLDER] [--corpus FOLDER]
//! cargo run --release -p ptx-emulator --example fuzz -- run  --minutes 20
//! cargo run --release -p ptx-emulator --example fuzz -- replay FILE
//! ```
//!
//! `load` damages whole modules as text; `run` keeps them loadable, changes what their instructions do, and launches
//! them. What is new (a message of the loader, a kind of fault at an instruction) joins the corpus, so damage adds up.
//! The cases run in a child process under a memory limit; one that panics, aborts, passes the limit or takes too long
//! is kept in the folder for finds, and another child goes on behind it.

use std::collections::{BTreeMap, HashSet};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ptx_emulator::{Checks, Launch, Memory, Module, Options, launch};

/// Address space of a child: a module's text is small, so gigabytes mean a runaway.
const MEMORY_BYTES: u64 = 4 << 30;
/// A case that takes more of the processor than this is a find; by the clock, a busy machine would make finds.
const CASE_LIMIT: Duration = Duration::from_secs(10);
/// Damaged texts kept for further damage.
const MOST_KEPT: usize = 4000;
const MOST_TEXT_BYTES: usize = 200_000;

/// xorshift64*: small, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 16) as usize % limit.max(1)
    }

    fn pick<'t, T: ?Sized>(&mut self, from: &[&'t T]) -> &'t T {
        from[self.below(from.len())]
    }
}

/// The modules that come with the tests; of the source tree, so a binary that was carried elsewhere lacks them.
fn own_modules() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ptx")
}

/// The repository's PTX and the files of another folder.
fn corpus(extra: Option<&Path>) -> Vec<String> {
    let own = own_modules();
    let mut paths: Vec<PathBuf> = [Some(own.as_path()), extra]
        .into_iter()
        .flatten()
        .filter_map(|folder| std::fs::read_dir(folder).ok())
        .flat_map(|entries| entries.flatten().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "ptx"))
        .collect();
    paths.sort();
    paths.iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect()
}

/// One module for each kernel of a text, so that a case costs little; texts that cannot be cut stay whole.
fn cut(text: &str) -> Vec<String> {
    let Some(first) = text.find(".visible .entry").or_else(|| text.find(".entry")) else {
        return vec![text.to_owned()];
    };
    let (head, rest) = text.split_at(first);
    let starts: Vec<usize> = rest.match_indices(".visible .entry").map(|found| found.0).collect();
    let pieces = starts.iter().enumerate().map(|(index, &from)| {
        let to = starts.get(index + 1).copied().unwrap_or(rest.len());
        format!("{head}{}", &rest[from..to])
    });
    let mut out: Vec<String> = pieces.filter(|piece| Module::load(piece).is_ok()).collect();
    if out.is_empty() {
        out.push(text.to_owned());
    }
    out
}

const SCRAPS: [&str; 24] = [
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "<",
    ">",
    ";",
    ":",
    "@",
    "!",
    "|",
    "-",
    "+",
    "%",
    ".",
    ",",
    "_",
    "0x",
    "0f",
    "99999999999999999999",
    "\u{e9}",
    "\0",
];

/// Damage to text: words and bytes are replaced, removed, repeated, swapped and spliced.
fn damage(text: &str, other: &str, random: &mut Random) -> String {
    let mut words: Vec<&str> = text.split_inclusive([' ', '\n', ',', '\t', ';']).collect();
    let others: Vec<&str> = other.split_inclusive([' ', '\n', ',', '\t', ';']).collect();
    for _ in 0..1 + random.below(6) {
        let at = random.below(words.len());
        if words.is_empty() {
            break;
        }
        match random.below(9) {
            0 => words[at] = words[random.below(words.len())],
            1 => words[at] = random.pick(&others),
            2 => drop(words.remove(at)),
            3 => words.insert(at, random.pick(&SCRAPS)),
            4 => words[at] = random.pick(&SCRAPS),
            5 => {
                let next = (at + 1) % words.len();
                words.swap(at, next);
            }
            6 if random.below(20) == 0 => words.truncate(at + 1),
            7 => {
                // A stretch of another text.
                let from = random.below(others.len());
                let to = (from + 1 + random.below(40)).min(others.len());
                words.splice(at..at, others[from..to].iter().copied());
            }
            _ => {
                // A stretch again.
                let to = (at + 1 + random.below(20)).min(words.len());
                let again: Vec<&str> = words[at..to].to_vec();
                words.splice(at..at, again);
            }
        }
    }
    let mut out = words.concat();
    if random.below(4) == 0 && !out.is_empty() {
        let mut bytes = out.into_bytes();
        for _ in 0..1 + random.below(3) {
            let at = random.below(bytes.len());
            bytes[at] = (bytes[at] & 0x60) | (random.next() as u8 & 0x1f);
        }
        out = String::from_utf8_lossy(&bytes).into_owned();
    }
    out
}

/// Opcodes by their first part, to exchange one form for another.
fn opcodes(texts: &[String]) -> BTreeMap<String, Vec<String>> {
    let mut out: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in texts.iter().flat_map(|text| text.lines()) {
        let line = line.trim_start();
        let line = if line.starts_with('@') { line.split_once(' ').map_or("", |(_, rest)| rest) } else { line };
        if let Some(opcode) = line.split([' ', '\t', ';']).next()
            && opcode.starts_with(|c: char| c.is_ascii_lowercase())
        {
            let family = out.entry(opcode.split('.').next().unwrap_or_default().to_owned()).or_default();
            if !family.iter().any(|known| known == opcode) {
                family.push(opcode.to_owned());
            }
        }
    }
    out
}

/// Changes that mostly keep a module loadable: numbers, registers of the same kind, forms of an instruction, order.
fn alter(text: &str, forms: &BTreeMap<String, Vec<String>>, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let code: Vec<usize> = (0..lines.len())
        .filter(|&at| lines[at].trim_end().ends_with(';') && !lines[at].trim_start().starts_with('.'))
        .collect();
    if code.is_empty() {
        return text.to_owned();
    }
    for _ in 0..1 + random.below(4) {
        let at = code[random.below(code.len())];
        let other = lines[code[random.below(code.len())]].clone();
        match random.below(8) {
            0 => lines[at].clear(),
            1 => lines[at] = other,
            2 => lines[at] = format!("{} {other}", lines[at]),
            3 | 4 => lines[at] = renumber(&lines[at], random),
            5 => {
                let body = lines[at].trim_start().to_owned();
                let opcode = body.split([' ', '\t', ';']).next().unwrap_or_default();
                if let Some(family) = forms.get(opcode.split('.').next().unwrap_or_default()) {
                    lines[at] = body.replacen(opcode, &family[random.below(family.len())], 1);
                }
            }
            6 => {
                // A guard, or none.
                let body = lines[at].trim_start().to_owned();
                lines[at] = match body.strip_prefix('@').and_then(|rest| rest.split_once([' ', '\t'])) {
                    Some((_, rest)) => rest.to_owned(),
                    None => format!("@{}%p1 {body}", if random.below(2) == 0 { "!" } else { "" }),
                };
            }
            _ => {
                let next = code[random.below(code.len())];
                lines.swap(at, next);
            }
        }
    }
    lines.join("\n")
}

/// Replaces one number of a line: register numbers by their neighbours, others by awkward values.
fn renumber(line: &str, random: &mut Random) -> String {
    let bytes = line.as_bytes();
    let starts: Vec<usize> =
        (1..bytes.len()).filter(|&at| bytes[at].is_ascii_digit() && !bytes[at - 1].is_ascii_digit()).collect();
    if starts.is_empty() {
        return line.to_owned();
    }
    let from = starts[random.below(starts.len())];
    let to = (from..bytes.len()).find(|&at| !bytes[at].is_ascii_digit()).unwrap_or(bytes.len());
    let value: u64 = line[from..to].parse().unwrap_or(0);
    let register = bytes[from - 1].is_ascii_lowercase();
    let new = if register {
        1 + random.below(value as usize + 4) as u64
    } else {
        let awkward =
            [0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 33, 63, 64, 127, 128, 255, 1024, 65535, 1 << 20, 0x7fff_ffff];
        awkward[random.below(awkward.len())]
    };
    format!("{}{new}{}", &line[..from], &line[to..])
}

/// Names and digits do not make a message new.
fn shape(message: &str) -> String {
    let outside: String = message.split('`').step_by(2).collect();
    outside.chars().filter(|c| !c.is_ascii_digit()).take(120).collect()
}

/// Loads, and gives what was learnt.
fn load_case(text: &str) -> Vec<String> {
    match Module::load(text) {
        Ok(module) => vec![format!("loads {} kernels", module.kernels().len().min(3))],
        Err(error) => error.problems.iter().take(8).map(|problem| shape(&problem.message)).collect(),
    }
}

/// Loads and launches, and gives what was learnt; None when it does not load.
fn run_case(text: &str, seed: u64) -> Option<Vec<String>> {
    let module = Module::load(text).ok()?;
    let random = &mut Random(seed | 1);
    let kernel = module.kernels().get(random.below(module.kernels().len()))?.clone();
    let mut memory = Memory::new(64 << 20);
    let buffers: Vec<u64> = [64u64, 4096, 65536]
        .iter()
        .filter_map(|bytes| {
            let address = memory.alloc("buffer", *bytes).ok()?;
            let data: Vec<u8> = (0..*bytes).map(|i| (i % 7) as u8).collect();
            memory.write(address, &data).ok()?;
            Some(address)
        })
        .collect();
    let shapes = [[1, 1, 1], [32, 1, 1], [33, 1, 1], [64, 2, 1], [128, 1, 1], [5, 3, 2], [256, 1, 1]];
    let grids = [[1, 1, 1], [2, 1, 1], [3, 2, 1], [4, 1, 1]];
    let mut job = Launch::new(&kernel.name, grids[random.below(4)], shapes[random.below(7)]);
    job.dynamic_shared_bytes = [0, 0, 16, 1024, 48 << 10][random.below(5)];
    job.cooperative = random.below(8) == 0;
    for param in &kernel.params {
        job.params.resize(param.offset as usize, 0);
        let value = match (param.bytes, random.below(6)) {
            (8, 0) => random.next(),
            (8, _) if !buffers.is_empty() => buffers[random.below(buffers.len())],
            (_, 0) => random.next(),
            _ => random.below(300) as u64,
        };
        let bytes = value.to_le_bytes();
        job.params.extend((0..param.bytes as usize).map(|at| bytes[at % 8]));
    }
    job.params.resize(kernel.param_bytes as usize, 0);
    let options = Options {
        checks: if random.below(4) == 0 { Checks::NONE } else { Checks::ALL },
        counters: random.below(2) == 0,
        line_counters: random.below(2) == 0,
        max_warp_instructions: Some(30_000),
        time_limit: Some(Duration::from_secs(2)),
        workers: 1 + random.below(2),
        deterministic: random.below(4) == 0,
        ..Options::default()
    };
    let outcome = launch(&module, &mut memory, &job, &options, &AtomicBool::new(false));
    // The launch survives a thread that panicked, and says so.
    assert!(!outcome.notes.iter().any(|note| note.contains("internal error")), "{:?}", outcome.notes);
    let faults = outcome.faults.iter().map(|fault| {
        let opcode = fault.instruction.split_whitespace().find(|word| !word.starts_with('@')).unwrap_or_default();
        format!("{:?} {opcode} {}", fault.kind, shape(&fault.message).chars().take(30).collect::<String>())
    });
    Some(faults.chain([format!("completed {}", outcome.completed)]).collect())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    Load,
    Run,
}

struct Settings {
    target: Target,
    minutes: f64,
    seed: u64,
    finds: PathBuf,
    extra: Option<PathBuf>,
}

/// A child's work: cases until the time is up. Before each, its text is written down for the parent.
fn child(settings: &Settings) -> ExitCode {
    limit_memory();
    let case = settings.finds.join("case.ptx");
    let started = Instant::now();
    let end = started + Duration::from_secs_f64(settings.minutes * 60.0);
    let texts = corpus(settings.extra.as_deref());
    let mut kept: Vec<String> = match settings.target {
        Target::Load => texts.iter().flat_map(|text| [vec![text.clone()], cut(text)].concat()).collect(),
        Target::Run => texts.iter().flat_map(|text| cut(text)).collect(),
    };
    let (forms, originals) = (opcodes(&texts), kept.len());
    let mut random = Random(settings.seed | 1);
    let mut seen: HashSet<String> = HashSet::new();
    let clock = Arc::new(AtomicU64::new(0));
    watch(clock.clone(), started);
    let (mut executions, mut loaded) = (0u64, 0u64);
    while Instant::now() < end {
        let from = kept[random.below(kept.len())].clone();
        let seed = random.next();
        let text = match settings.target {
            Target::Run => alter(&from, &forms, &mut random),
            Target::Load => {
                let other = &kept[random.below(kept.len())];
                if random.below(4) == 0 { alter(&from, &forms, &mut random) } else { damage(&from, other, &mut random) }
            }
        };
        if text.len() > MOST_TEXT_BYTES {
            continue;
        }
        let written = std::fs::write(&case, format!("{text}\n// seed {seed}\n"));
        if let Err(error) = written {
            eprintln!("cannot write the case: {error}: {}", case.display());
            return ExitCode::FAILURE;
        }
        clock.store(processor_ms(started) + 1, Ordering::Relaxed);
        let learnt = catch_unwind(AssertUnwindSafe(|| match settings.target {
            Target::Load => Some(load_case(&text)),
            Target::Run => run_case(&text, seed),
        }));
        clock.store(0, Ordering::Relaxed);
        let Ok(learnt) = learnt else { return ExitCode::from(PANICKED) };
        executions += 1;
        loaded += u64::from(learnt.is_some());
        let new = learnt.into_iter().flatten().filter(|what| seen.insert(what.clone())).count();
        if new > 0 && kept.len() < originals + MOST_KEPT {
            kept.push(text);
        }
        if executions.is_multiple_of(64) {
            println!("{executions} {loaded} {}", seen.len());
        }
    }
    println!("{executions} {loaded} {}", seen.len());
    ExitCode::SUCCESS
}

const PANICKED: u8 = 101;
const TOO_LONG: i32 = 102;

/// Ends the process when one case takes too long.
fn watch(clock: Arc<AtomicU64>, started: Instant) {
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(Duration::from_millis(200));
            let since = clock.load(Ordering::Relaxed);
            if since != 0 && processor_ms(started).saturating_sub(since) > CASE_LIMIT.as_millis() as u64 {
                std::process::exit(TOO_LONG);
            }
        }
    });
}

/// Milliseconds of processor time that this process used.
#[cfg(unix)]
fn processor_ms(_: Instant) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure lives through the call, which fills it.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1000 + time.tv_nsec as u64 / 1_000_000
}

#[cfg(not(unix))]
fn processor_ms(started: Instant) -> u64 {
    started.elapsed().as_millis() as u64
}

#[cfg(unix)]
fn limit_memory() {
    let limit = libc::rlimit { rlim_cur: MEMORY_BYTES, rlim_max: MEMORY_BYTES };
    // SAFETY: the structure lives through the call, which changes only this process's limit.
    if unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) } != 0 {
        eprintln!("no memory limit: {}", std::io::Error::last_os_error());
    }
}

#[cfg(not(unix))]
fn limit_memory() {}

fn parent(settings: &Settings, name: &str) -> ExitCode {
    if let Err(error) = std::fs::create_dir_all(&settings.finds) {
        eprintln!("cannot make the folder for finds: {error}: {}", settings.finds.display());
        return ExitCode::FAILURE;
    }
    // A child without modules to damage ends at once, and each would be counted as a find.
    if corpus(settings.extra.as_deref()).is_empty() {
        eprintln!(
            "there is no module (*.ptx) to damage, neither in {} nor in a folder named by --corpus",
            own_modules().display()
        );
        return ExitCode::FAILURE;
    }
    let Ok(exe) = std::env::current_exe() else { return ExitCode::FAILURE };
    let (started, mut executions, mut loaded, mut most_seen, mut finds) = (Instant::now(), 0u64, 0u64, 0u64, 0u32);
    let mut seed = settings.seed;
    loop {
        let left = settings.minutes - started.elapsed().as_secs_f64() / 60.0;
        if left <= 0.0 {
            break;
        }
        let mut command = Command::new(&exe);
        command.args([name, "--child", "--minutes", &left.to_string(), "--seed", &seed.to_string(), "--finds"]);
        command.arg(&settings.finds).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(extra) = &settings.extra {
            command.arg("--corpus").arg(extra);
        }
        let output = match command.output() {
            Ok(output) => output,
            Err(error) => {
                eprintln!("cannot start a child: {error}");
                return ExitCode::FAILURE;
            }
        };
        let text = String::from_utf8_lossy(&output.stdout);
        let counts: Vec<u64> = text.lines().next_back().unwrap_or_default().split(' ').flat_map(str::parse).collect();
        if let [ran, ready, seen] = counts[..] {
            (executions, loaded, most_seen) = (executions + ran, loaded + ready, most_seen.max(seen));
        }
        if output.status.success() {
            break;
        }
        finds += 1;
        let said = String::from_utf8_lossy(&output.stderr);
        let why = match output.status.code() {
            Some(code) if code == i32::from(PANICKED) => "panicked",
            Some(TOO_LONG) => "took too long",
            _ => "ended the process (abort, or past the memory limit)",
        };
        let kept = settings.finds.join(format!("{name}-{seed}.ptx"));
        let _ = std::fs::rename(settings.finds.join("case.ptx"), &kept);
        let reason: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).take(3).collect();
        println!("find {finds}: {why}: {}: {}", reason.join(" "), kept.display());
        let _ = std::io::stdout().flush();
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    }
    println!(
        "{name}: {executions} executions ({loaded} loaded or judged), {most_seen} different outcomes, {finds} finds in {:.1} minutes",
        started.elapsed().as_secs_f64() / 60.0
    );
    if finds == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs one kept case in this process, where a debugger can see it.
fn replay(path: &str) -> ExitCode {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("cannot read the case: {error}: {path}");
            return ExitCode::FAILURE;
        }
    };
    let seed = text.lines().next_back().and_then(|line| line.strip_prefix("// seed ")?.parse().ok()).unwrap_or(1);
    println!("{:#?}", load_case(&text));
    println!("{:#?}", run_case(&text, seed));
    ExitCode::SUCCESS
}

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let name = words.next().unwrap_or_default();
    let target = match name.as_str() {
        "load" => Target::Load,
        "run" => Target::Run,
        "replay" => return replay(&words.next().unwrap_or_default()),
        _ => {
            eprintln!(
                "usage: fuzz load|run [--minutes N] [--seed N] [--finds FOLDER] [--corpus FOLDER], or fuzz replay FILE"
            );
            return ExitCode::FAILURE;
        }
    };
    let finds = std::env::temp_dir().join("ptx-emulator-fuzz");
    let mut settings = Settings { target, minutes: 1.0, seed: 1, finds, extra: None };
    let mut is_child = false;
    while let Some(word) = words.next() {
        if word == "--child" {
            is_child = true;
            continue;
        }
        let value = words.next().unwrap_or_default();
        match word.as_str() {
            "--minutes" => settings.minutes = value.parse().unwrap_or(settings.minutes),
            "--seed" => settings.seed = value.parse().unwrap_or(settings.seed),
            "--finds" => settings.finds = value.into(),
            "--corpus" => settings.extra = Some(value.into()),
            _ => {
                eprintln!("unknown option {word}");
                return ExitCode::FAILURE;
            }
        }
    }
    if is_child { child(&settings) } else { parent(&settings, &name) }
}
