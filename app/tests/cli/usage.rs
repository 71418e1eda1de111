//! Wrong usage and unreadable files: one clear message each, status 2.

use crate::cli_support::{Machine, end, repository};

#[test]
fn without_a_display_the_terminal_commands_are_named() {
    let ended = Machine::new().run(&[]);
    ended.fails(2, &["No display", "check", "doctor"]);
    assert_eq!(ended.stderr.lines().count(), 1, "one sentence: {}", ended.stderr);
}

#[test]
fn help_and_version_succeed_and_wrong_arguments_are_status_2() {
    let machine = Machine::new();
    machine.run(&["--help"]).shows(&["check", "doctor", "Exit status"]);
    machine.run(&["--version"]).shows(&[env!("CARGO_PKG_VERSION")]);
    machine.run(&["chekc"]).fails(2, &["check"]);
    machine.run(&["check"]).fails(2, &["DAY"]);
    machine.run(&["compile", "k.cu", "--emit", "elf"]).fails(2, &["cubin"]);
    machine.run(&["check", "1.4", "--seed", "x"]).fails(2, &["--seed"]);
    machine.run(&["worker", "--role", "cook"]).fails(2, &["cook", "compile"]);
}

#[test]
fn an_unknown_day_suggests_the_nearest() {
    let machine = Machine::new();
    machine.run(&["check", "wek1/day4"]).fails(2, &["wek1/day4", "week1/day4-first-kernel"]);
    machine.run(&["check", "zzzzzzzzzzzzzzzzzzzzzz"]).fails(2, &["lockstep list"]);
    machine.run(&["check", "week1/day4", "--exercise", "nope"]).fails(2, &["nope", "main", "matrix-add"]);
}

#[test]
fn every_unreadable_kernel_has_its_own_sentence() {
    let machine = Machine::new();
    let check = |file: &str| machine.run(&["check", "week1/day4", "--kernel", file]);
    let missing = machine.run(&["check", "week1/day4", "--kernel", "missing.cu"]);
    missing.fails(2, &["missing.cu", "reference", "wrong/out_of_bounds"]);
    machine.run(&["compile", "missing.cu"]).fails(2, &["no such file", "missing.cu"]);
    check(".").fails(2, &["folder"]);
    check(&machine.file("latin1.cu", b"// caf\xe9\nint x;\n")).fails(2, &["UTF-8", "line 1", "latin1.cu"]);
    check(&machine.file("later.cu", b"int a;\nint b;\n// \xff\n")).fails(2, &["line 3"]);
    check(&machine.file("five.cu", vec![b' '; 5_000_000])).fails(2, &["5000000", "1 MiB", "five.cu"]);
    #[cfg(unix)]
    check("/dev/zero").fails(2, &["1 MiB"]);
}

#[test]
fn a_malformed_spec_names_path_line_and_what_is_expected() {
    let machine = Machine::new();
    let kernel = machine.file("k.cu", "extern \"C\" __global__ void k(float* x) {}\n");
    for (name, spec, said) in [
        ("syntax.toml", "title = \"T\"\nentry = \n", "2"),
        ("type.toml", "title = \"T\"\nentry = 3\n", "entry"),
        ("unknown.toml", "title = \"T\"\nentry = \"k\"\ncolour = 3\n", "colour"),
        ("empty.toml", "", "title"),
    ] {
        let spec = machine.file(name, spec);
        machine.run(&["run", &kernel, "--spec", &spec]).fails(2, &[name, said]);
    }
    machine.run(&["run", &kernel, "--spec", "nowhere.toml"]).fails(2, &["nowhere.toml"]);
}

#[test]
fn unknown_devices_and_architectures_say_what_exists() {
    let machine = Machine::new();
    let kernel = machine.file("k.cu", "extern \"C\" __global__ void k(float* x) {}\n");
    machine.run(&["check", "1.4", "--device", "spark"]).fails(2, &["spark", "emulator", "--add"]);
    machine.run(&["check", "1.4", "--device", "gpu:x"]).fails(2, &["gpu:N"]);
    machine.run(&["compile", &kernel, "--arch", "pascal"]).fails(2, &["pascal", "sm_90"]);
    machine.run(&["compile", &kernel, "--arch", "sm_999"]).fails(2, &["sm_999", "sm_120"]);
    machine.run(&["compile", &kernel, "--emit", "cubin"]).fails(2, &["-o"]);
}

#[test]
fn a_missing_compiler_names_setup() {
    let machine = Machine::without_nvrtc();
    let ended = machine.run(&["check", "week1/day4", "--kernel", "reference"]);
    ended.fails(2, &["NVRTC"]);
    let doctor = machine.run(&["doctor"]);
    assert_eq!(doctor.status, 2, "{}", doctor.stdout);
    assert!(doctor.stdout.contains("FAILED") && doctor.stdout.contains("LOCKSTEP_NVRTC"), "{}", doctor.stdout);
}

#[test]
fn doctor_is_content_with_a_compiler_and_every_remark_says_what_to_do() {
    let machine = Machine::new();
    // A folder of somebody else's: Python would import from the one that a terminal is in.
    for module in ["csv", "email", "site", "importlib", "pathlib"] {
        machine.file(&format!("{module}.py"), "open('taken.txt', 'w')");
    }
    let ended = machine.run(&["doctor"]);
    assert!(!machine.path("taken.txt").exists(), "a file of the folder ran");
    ended.shows(&["Ready.", "NVRTC", "sandbox", "Python"]);
    let lines: Vec<&str> = ended.stdout.lines().collect();
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| line.starts_with("note")) {
        assert!(lines[index + 1].trim_start().starts_with("fix: "), "no remedy for: {line}");
    }
}

#[test]
fn a_data_folder_that_cannot_be_written_is_told() {
    let machine = Machine::new();
    let file = machine.file("a-file", "");
    let mut command = machine.command(&["doctor"]);
    command.env("LOCKSTEP_DATA", file);
    let ended = end(command);
    assert_eq!(ended.status, 2);
    assert!(ended.stdout.contains("LOCKSTEP_DATA"), "{}", ended.stdout);
}

/// Where no path can be told to a worker, that is said; a program that lies there still finds itself.
#[cfg(target_os = "linux")]
#[test]
fn names_that_are_no_text_are_told() {
    use std::os::unix::ffi::OsStrExt;
    let machine = Machine::new();
    let odd = machine.path("").join(std::ffi::OsStr::from_bytes(b"odd\xff"));
    std::fs::create_dir_all(&odd).unwrap();
    let kernel = machine.file("k.cu", "extern \"C\" __global__ void k(float* a) { a[threadIdx.x] = 1.0f; }\n");
    let mut command = machine.command(&["compile", &kernel]);
    command.env("LOCKSTEP_DATA", odd.join("data"));
    end(command).fails(2, &["not UTF-8", "LOCKSTEP_DATA"]);
    let program = odd.join("lockstep");
    std::fs::hard_link(env!("CARGO_BIN_EXE_lockstep"), &program)
        .or_else(|_| std::fs::copy(env!("CARGO_BIN_EXE_lockstep"), &program).map(drop))
        .unwrap();
    let known = machine.command(&["compile", &kernel]);
    let mut command = std::process::Command::new(&program);
    command.args(known.get_args()).envs(known.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.stdin(std::process::Stdio::null());
    end(command).shows(&["compiled for"]);
}

#[test]
fn a_worker_whose_input_breaks_ends_with_a_reason() {
    use std::io::Write;
    let machine = Machine::new();
    for role in [&["worker"][..], &["worker", "--role", "device"], &["worker", "--role", "compile"]] {
        let broken: [&[u8]; 4] = [&[5, 0, 0, 0, 1], &[255; 4], &[3, 0, 0, 0, 255, 255, 255], &[]];
        for (broken, status) in broken.into_iter().zip([1, 1, 1, 0]) {
            let mut bytes = Vec::new();
            gpu_core::worker::wire::Writer::start(&mut bytes).unwrap();
            bytes.extend_from_slice(broken);
            let mut command = machine.command(role);
            command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null());
            let mut child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
            child.stdin.take().unwrap().write_all(&bytes).unwrap();
            let ended = child.wait_with_output().unwrap();
            let said = String::from_utf8_lossy(&ended.stderr).into_owned();
            assert_eq!(ended.status.code(), Some(status), "{role:?} {broken:?}: {said}");
            assert_eq!(said.contains("lockstep worker: "), status == 1, "{role:?} {broken:?}: {said}");
        }
    }
}

#[test]
fn list_shows_every_day_and_a_closed_pipe_is_no_error() {
    let machine = Machine::new();
    let ended = machine.run(&["list"]);
    ended.shows(&["Week 4", "week1/day4-first-kernel"]);
    assert_eq!(ended.stdout.matches("  week").count(), 28, "{}", ended.stdout);
    #[cfg(unix)]
    {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &format!("'{}' list | head -n 1", env!("CARGO_BIN_EXE_lockstep"))]);
        end(shell).shows(&["Week 1"]);
    }
}

#[test]
fn content_of_a_folder_replaces_the_built_in_course() {
    let machine = Machine::new();
    let original = std::fs::read_to_string(repository().join("curriculum/week1/week.toml")).unwrap();
    let changed = original.replacen("title = \"", "title = \"Adapted: ", 1);
    machine.file("mine/curriculum/week1/week.toml", changed);
    machine.run(&["list", "--content", "mine"]).shows(&["Adapted: "]);
    machine.run(&["list", "--content", "nowhere"]).fails(2, &["nowhere"]);
    machine.file("broken/curriculum/week1/week.toml", "title = \n");
    machine.run(&["list", "--content", "broken"]).fails(2, &["curriculum/week1/week.toml:1"]);
}

#[test]
fn remote_machines_are_remembered_and_forgotten() {
    let machine = Machine::new();
    machine.run(&["devices", "--add", "gpu", "true"]).fails(2, &["cannot be a remote device's name"]);
    machine.run(&["devices", "--add", "spark", " "]).fails(2, &["lockstep worker"]);
    machine.run(&["devices", "--add", "spark", "ssh \u{1b}[2J spark"]).fails(2, &["control characters"]);
    machine.run(&["devices", "--remove", "spark"]).fails(2, &["spark"]);
    assert_eq!(machine.run(&["devices", "--add", "spark", "ssh spark lockstep worker"]).status, 0);
    machine.run(&["devices"]).shows(&["spark", "ssh spark lockstep worker"]);
    assert_eq!(machine.run(&["devices", "--remove", "spark"]).status, 0);
    assert!(!machine.run(&["devices"]).stdout.contains("spark"));
}

/// What did not arrive is no success.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let machine = Machine::new();
    for arguments in [&["list"][..], &["list", "--json"], &["doctor"], &["--help"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = machine.command(arguments);
        command.stdout(full);
        let output = command.stderr(std::process::Stdio::piped()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains("could not be written"), "{arguments:?}: {said}");
    }
}
