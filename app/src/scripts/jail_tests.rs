//! What a script can and cannot do, tried by scripts. Where the system has no jail there is nothing to try.

use super::*;
use gpu_core::worker::confines_scripts;

/// What a script said, and how it ended.
fn said(source: &str, arguments: &[String]) -> (Vec<String>, Result<(), String>) {
    let mut lines = Vec::new();
    let script = Script { file: "tries.py", source, arguments, reads: &[] };
    let ended = run(None, script, &AtomicBool::new(false), &mut |line| match line {
        Line::Said(text) => lines.push(text),
        Line::Figure(figure) => lines.push(format!("{figure:?}")),
    });
    (lines, ended)
}

/// Tries each line and says what came of it.
const TRY: &str = "import sys
def tried(what, do):
    try: print(what, 'done', do())
    except OSError as error: print(what, type(error).__name__)
";

#[test]
fn a_script_reaches_no_file_of_its_user_and_no_network() {
    if !confines_scripts() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let secret = folder.path().join("id_ed25519");
    std::fs::write(&secret, "a key").expect("a file");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    #[cfg(unix)]
    let _bus = std::os::unix::net::UnixListener::bind(folder.path().join("bus")).expect("a socket");
    let source = format!(
        "{TRY}
import os, socket, subprocess
there, port = sys.argv[1], int(sys.argv[2])
secret = os.path.join(there, 'id_ed25519')
tried('read', lambda: open(secret).read())
tried('list', lambda: os.listdir(there))
tried('write', lambda: open(os.path.join(there, 'new'), 'w'))
tried('change', lambda: open(secret, 'a'))
tried('cut', lambda: os.truncate(secret, 0))
tried('remove', lambda: os.remove(secret))
tried('move', lambda: os.rename(secret, os.path.join(os.environ['HOME'], 'x')))
tried('link', lambda: os.link(secret, os.path.join(os.environ['HOME'], 'y')))
tried('child', lambda: subprocess.run(['cat', secret], stderr=subprocess.DEVNULL, check=False).returncode)
tried('tcp', lambda: socket.create_connection(('127.0.0.1', port), 2))
tried('udp', lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM))
tried('bus', lambda: socket.socket(socket.AF_UNIX).connect(os.path.join(there, 'bus')))
tried('parent', lambda: open(f'/proc/{{os.getppid()}}/environ').read())
os.chmod(secret, 0)
print('environment', [name for name in ('LOCKSTEP_DATA', 'SSH_AUTH_SOCK', 'CARGO_PKG_NAME') if name in os.environ])
"
    );
    let (lines, ended) = said(&source, &[folder.path().display().to_string(), port.to_string()]);
    assert_eq!(ended, Ok(()), "{lines:?}");
    let wanted = [
        "read PermissionError",
        "list PermissionError",
        "write PermissionError",
        "change PermissionError",
        "cut PermissionError",
        "remove PermissionError",
        "move PermissionError",
        "link PermissionError",
        "child done 1",
        "tcp PermissionError",
        "udp PermissionError",
        "bus PermissionError",
        "parent PermissionError",
        "environment []",
    ];
    // A move or a link from one folder to another may be refused as one between file systems.
    let lines: Vec<String> = lines.iter().map(|line| line.replace(" OSError", " PermissionError")).collect();
    assert_eq!(lines, wanted);
    assert_eq!(std::fs::read_to_string(&secret).expect("it is there and may be read"), "a key");
    assert!(!folder.path().join("new").exists());
}

#[test]
fn a_script_has_what_it_needs() {
    // NumPy where it is installed, and what NumPy, Numba and Triton stand on.
    let source = "
import ctypes, importlib.util, json, os, pathlib, platform, subprocess, sys, tempfile, threading
for name in ('numpy', 'numba'):
    if importlib.util.find_spec(name) is not None: __import__(name)
pathlib.Path('here').write_text('x')
(pathlib.Path.home() / '.cache').mkdir()
with tempfile.TemporaryDirectory() as folder:
    file = pathlib.Path(folder, 'file')
    file.write_text('x')
    file.chmod(0o644)
ctypes.CDLL(None).getpid()
threading.Thread(target=platform.platform).start()
assert os.cpu_count() and open(os.devnull, 'rb').read() == b''
child = [sys.executable, '-c', 'import json, random; print(6 * 7)']
print(subprocess.run(child, capture_output=True, text=True, check=True).stdout.strip())
";
    assert_eq!(said(source, &[]), (vec!["42".to_owned()], Ok(())));
}

/// Who leaves the group is still in it, and ends with the script; output that is closed is no way to run on.
#[cfg(target_os = "linux")]
#[test]
fn nothing_outlives_a_script() {
    let runs = |line: &str| {
        let stat = std::fs::read_to_string(format!("/proc/{line}/stat")).unwrap_or_default();
        // A process that ended may wait to be asked about.
        stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(" Z"))
    };
    let source = "
import os, sys, time
child = os.fork()
if child == 0:
    try: os.setsid()
    except OSError: pass
    time.sleep(600)
print(child)
";
    if confines_scripts() {
        let (lines, ended) = said(source, &[]);
        assert_eq!(ended, Ok(()));
        std::thread::sleep(Duration::from_millis(300));
        assert!(!runs(&lines[0]), "it runs on");
    }
    let (stop, started) = (AtomicBool::new(false), Instant::now());
    let source = "import os, time\nprint('go', flush=True)\nos.close(1)\nos.close(2)\ntime.sleep(600)\n";
    let script = Script { file: "silent.py", source, arguments: &[], reads: &[] };
    let ended = run(None, script, &stop, &mut |_| stop.store(true, Ordering::Relaxed));
    assert_eq!(ended.unwrap_err(), "stopped");
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[test]
fn what_a_script_prints_is_bounded() {
    let source = "
import json
print('x' * 100_000)
print(json.dumps({'name': 'n' * 100_000, 'rung': 'r', 'device': 'd', 'median_ms': 1, 'ok': True}))
for _ in range(40): print('y' * 1_000_000)
";
    let (lines, ended) = said(source, &[]);
    assert_eq!(ended, Ok(()));
    assert!(lines.iter().all(|line| line.len() < SHOWN_BYTES + 600), "a line is too long");
    assert!(lines.len() < 25 && lines.last().is_some_and(|line| line.contains("the rest is not shown")));
}
