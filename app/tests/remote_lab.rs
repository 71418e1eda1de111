//! A lab behind a command line, as with `ssh host lockstep worker`, here through a local `sh -c`.
#![cfg(target_os = "linux")]

mod lab_support;

use gpu_core::job::{Emit, Event, Outcome};
use lab_support::{GOOD, TestLab, compile_job, nvrtc};
use std::time::{Duration, Instant};

const PROGRAM: &str = env!("CARGO_BIN_EXE_lockstep");

/// A lab whose remote command is what `command` makes of `lockstep worker` with a data folder of its own.
fn remote(command: impl FnOnce(String) -> String) -> TestLab {
    TestLab::with(|config| {
        let data = config.data_dir.join("remote");
        let nvrtc = nvrtc();
        let worker = format!("LOCKSTEP_NVRTC='{}' '{PROGRAM}' --data '{}' worker", nvrtc.display(), data.display());
        config.remote = Some(command(worker));
        config.remote_timeout = Duration::from_secs(20);
        // Nothing may run here.
        config.worker_command = vec!["/nonexistent".to_owned()];
    })
}

fn environment_problem(lab: &TestLab) -> String {
    let (_, outcome) = lab.compile(GOOD);
    let Outcome::Environment(why) = outcome else { panic!("{outcome:?}") };
    why
}

#[test]
fn a_remote_lab_compiles_and_tells_its_status() {
    let lab = remote(|worker| worker);
    let (report, outcome) = lab.compile(GOOD);
    assert_eq!(outcome, Outcome::Done);
    assert!(report.unwrap().ptx.contains(".entry vector_add"));
    let status = lab.lab.status();
    assert!(status.connected && status.remote.is_some() && status.nvrtc_version.is_some(), "{status:?}");
    lab.good_run_follows();
}

#[test]
fn a_remote_lab_judges_and_stops() {
    let lab = remote(|worker| worker);
    let (verdict, _, outcome) = lab.check(GOOD);
    assert_eq!(outcome, Outcome::Done);
    assert!(verdict.expect("a verdict").passed);
    let endless = GOOD.replace("c[i] = a[i] + b[i];", "for (volatile int go = 1; go;) { }");
    let (id, stop) = lab.lab.submit(lab_support::check_job(&endless));
    std::thread::sleep(Duration::from_millis(700));
    let asked = Instant::now();
    stop.stop();
    assert_eq!(lab.finish(id).1, Outcome::Stopped);
    assert!(asked.elapsed() < Duration::from_millis(1500), "{:?}", asked.elapsed());
    lab.good_check_follows();
}

#[test]
fn banners_before_the_handshake_are_skipped() {
    let lab = remote(|worker| {
        format!("printf 'Last login: Monday\\nLOCKSTEP \\367LOCKSTEP\\n'; exec {}", worker_env(&worker))
    });
    let (_, outcome) = lab.compile(GOOD);
    assert_eq!(outcome, Outcome::Done);
}

/// `exec` takes no assignments in front; `env` does.
fn worker_env(worker: &str) -> String {
    format!("env {worker}")
}

#[test]
fn a_command_that_fails_is_shown_with_what_it_said() {
    let lab = TestLab::with(|config| config.remote = Some("echo 'no such host: spark' >&2; exit 255".to_owned()));
    let why = environment_problem(&lab);
    assert!(why.contains("no such host: spark") && why.contains("exit status 255"), "{why}");
    // Tried again for the next job, and the same is said.
    assert!(environment_problem(&lab).contains("no such host"));
}

#[test]
fn garbage_and_silence_instead_of_a_worker_are_told_apart() {
    let lab = TestLab::with(|config| config.remote = Some("echo 'This account is not available.'".to_owned()));
    let why = environment_problem(&lab);
    assert!(why.contains("This account is not available"), "{why}");

    let lab = TestLab::with(|config| config.remote = Some("cat /dev/urandom".to_owned()));
    let why = environment_problem(&lab);
    assert!(why.contains("no Lockstep worker answered"), "{why}");

    let lab = TestLab::with(|config| {
        config.remote = Some("sleep 60".to_owned());
        config.remote_timeout = Duration::from_secs(1);
    });
    let started = Instant::now();
    let why = environment_problem(&lab);
    assert!(why.contains("did not answer within 1 s"), "{why}");
    assert!(started.elapsed() < Duration::from_secs(3));
}

#[test]
fn a_worker_of_another_version_is_named_as_such() {
    // The magic, then protocol 0 and a zero fingerprint.
    let hello = r"\367LOCKSTEP\r\n\032\0\0\0\0\0\0\0\0\0\0\0\0";
    let lab = TestLab::with(|config| config.remote = Some(format!("printf '{hello}'; sleep 5")));
    let why = environment_problem(&lab);
    assert!(why.contains("different version of Lockstep"), "{why}");
}

#[test]
fn a_lost_connection_ends_the_job_and_the_next_one_reconnects() {
    let lab = remote(|worker| worker);
    let (_, outcome) = lab.compile(GOOD);
    assert_eq!(outcome, Outcome::Done);
    let slow = "extern \"C\" __global__ void k(float* a)\n{\n    #pragma unroll\n    for (int i = 0; i < 4096; ++i)\n\
                \x20       a[i] = a[(i * 7) % 4096] * a[i + 1] + sinf(a[i]);\n}\n";
    let (id, _) = lab.lab.submit(compile_job(slow, "sm_90a", Emit::default()));
    std::thread::sleep(Duration::from_millis(500));
    let worker = lab.lab.status().workers[0].pid;
    let supervisor = parent_of(worker);
    // SAFETY: plain system call on a process that this test started.
    unsafe { libc::kill(supervisor, libc::SIGKILL) };
    let (events, outcome) = lab.finish(id);
    assert!(matches!(outcome, Outcome::Environment(_)), "{outcome:?}");
    assert!(!events.iter().any(|event| matches!(event, Event::Compiled(_))));
    // No orphan is left behind, also when it was in the middle of a compilation.
    let started = Instant::now();
    while std::path::Path::new(&format!("/proc/{worker}")).exists() {
        assert!(started.elapsed() < Duration::from_secs(5), "worker {worker} outlived its lab");
        std::thread::sleep(Duration::from_millis(10));
    }
    let (_, outcome) = lab.compile(GOOD);
    assert_eq!(outcome, Outcome::Done);
}

fn parent_of(pid: u32) -> i32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("the worker runs");
    // `pid (name) state parent …`; the name may contain blanks.
    let after = stat.rsplit_once(')').expect("a name").1;
    after.split_whitespace().nth(1).expect("a parent").parse().expect("a number")
}

#[test]
fn a_worker_that_hears_garbage_says_so_and_ends() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    // A full handshake, then a frame that promises 4 GB.
    let mut forged = b"\xf7LOCKSTEP\r\n\x1a".to_vec();
    let honest = hello();
    forged.extend(&honest[forged.len()..]);
    forged.extend([0xff; 4]);
    for role in [&["worker"][..], &["worker", "--role", "compile"], &["worker", "--role", "device"]] {
        for input in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0; 300_000], &forged] {
            let folder = tempfile::tempdir().unwrap();
            let mut worker = Command::new(PROGRAM)
                .args(["--data".as_ref(), folder.path().as_os_str()])
                .args(role)
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            // It may stop reading before the end.
            let _ = worker.stdin.take().unwrap().write_all(input);
            let output = worker.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!said.contains("panicked"), "{role:?}: {said}");
        }
    }
}

/// What a worker of this build says first.
fn hello() -> Vec<u8> {
    use std::io::Read;
    use std::process::{Command, Stdio};
    let mut worker = Command::new(PROGRAM)
        .args(["worker", "--role", "device"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut hello = vec![0; 24];
    worker.stdout.take().unwrap().read_exact(&mut hello).unwrap();
    drop(worker.stdin.take());
    worker.wait().unwrap();
    hello
}
