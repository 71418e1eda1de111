//! A learner's session in the real window under a real X server, with the keyboard alone: the program as it is
//! installed, its own workers, NVRTC and the emulator. What happened is read from the data folder and from pictures of
//! the screen, which stay in `target/tmp/session` to be looked at.
//!
//! Needs Xvfb, xdotool and ImageMagick's `import`; where one is missing the test says so and proves nothing.

mod lab_support;

use curriculum::Course;
use curriculum::store::{RunKind, RunRecord, Settings, Store, TextSlot, ThemeChoice};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Longest wait for anything: a busy machine compiles for seconds.
const PATIENCE: Duration = Duration::from_secs(240);

/// Time for some frames: what was pressed is on the screen.
const FRAMES: Duration = Duration::from_millis(900);

/// Typed letter by letter; the editor indents by itself, so no line begins with a space.
const KERNEL: &str = "#include \"lab.cuh\"\nextern \"C\" __global__ void vector_add(const float* a, const float* b, \
                      float* c, int n) {\nint i = blockIdx.x * blockDim.x + threadIdx.x;\nif (i < n) c[i] = a[i] + \
                      b[i];\n}\n";

const TOOLS: [(&str, &str); 3] = [("Xvfb", "-help"), ("xdotool", "version"), ("import", "-version")];

fn is_installed(tool: &str, asked: &str) -> bool {
    Command::new(tool).arg(asked).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// A process that does not outlive the test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

struct Session {
    program: Ended,
    display: String,
    data: tempfile::TempDir,
    pictures: PathBuf,
    slot: TextSlot,
    _server: Ended,
}

impl Session {
    /// The first start on a machine, at this size of screen.
    fn open(screen: &str, scale: &str) -> Self {
        // The server picks a free number and says it when it listens.
        let mut server = Ended(
            Command::new("Xvfb")
                .args(["-displayfd", "1", "-noreset", "-nolisten", "tcp", "-screen", "0", &format!("{screen}x24")])
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .expect("Xvfb starts"),
        );
        let mut number = String::new();
        let said = server.0.stdout.take().expect("its output");
        BufReader::new(said).read_line(&mut number).expect("Xvfb says its number");
        let display = format!(":{}", number.trim());
        let data = tempfile::tempdir().expect("a scratch folder");
        let program = Command::new(env!("CARGO_BIN_EXE_lockstep"))
            .env("DISPLAY", &display)
            .env("LOCKSTEP_DATA", data.path())
            .env("LOCKSTEP_NVRTC", lab_support::nvrtc())
            .env("WINIT_X11_SCALE_FACTOR", scale)
            .env_remove("WAYLAND_DISPLAY")
            .stdout(Stdio::null())
            .spawn()
            .expect("the program starts");
        let pictures = Path::new(env!("CARGO_TARGET_TMPDIR")).join("session");
        std::fs::create_dir_all(&pictures).expect("a folder for the pictures");
        let day = Course::embedded().unit("week1/day4").expect("day 4").id.clone();
        let slot = TextSlot::new(&day, curriculum::MAIN).expect("a name");
        let session = Self { program: Ended(program), display, data, pictures, slot, _server: server };
        session.until("the window", || session.tool(&["search", "--onlyvisible", "--name", "Lockstep"]).is_some());
        let window = session.tool(&["search", "--onlyvisible", "--name", "Lockstep"]).expect("a window");
        let window = window.lines().next().expect("its number").to_owned();
        std::thread::sleep(FRAMES);
        session.tool(&["windowfocus", &window]).expect("the window takes the keyboard");
        std::thread::sleep(FRAMES);
        session
    }

    /// xdotool; None when it failed.
    fn tool(&self, args: &[&str]) -> Option<String> {
        let output = Command::new("xdotool").args(args).env("DISPLAY", &self.display).output().expect("xdotool runs");
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn until(&self, what: &str, holds: impl Fn() -> bool) {
        let began = Instant::now();
        while !holds() {
            if began.elapsed() > PATIENCE {
                self.picture("never-came");
                panic!("never came: {what}; the kernel is\n{}\n(pictures: {})", self.kernel(), self.pictures.display());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn keys(&self, keys: &[&str]) {
        for key in keys {
            self.tool(&["key", "--clearmodifiers", key]).unwrap_or_else(|| panic!("the key {key} is pressed"));
            std::thread::sleep(Duration::from_millis(250));
        }
        std::thread::sleep(FRAMES);
    }

    /// Letter by letter; xdotool's own line end is not the key that people press.
    fn text(&self, text: &str) {
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                self.tool(&["key", "Return"]).expect("the line ends");
            }
            if !line.is_empty() {
                self.tool(&["type", "--delay", "25", "--", line]).expect("the text is typed");
            }
        }
        std::thread::sleep(FRAMES);
    }

    fn store(&self) -> Store {
        Store::open_read_only(self.data.path())
    }

    fn kernel(&self) -> String {
        self.store().text(&self.slot, "").text().to_owned()
    }

    fn settings(&self) -> Settings {
        self.store().settings()
    }

    /// The day that the window shows.
    fn last_day(&self) -> String {
        self.store().progress().last_day.unwrap_or_default()
    }

    fn runs(&self, kind: RunKind) -> Vec<RunRecord> {
        self.store().runs(&self.slot).into_iter().filter(|run| run.kind == kind).collect()
    }

    /// A picture of the whole screen; gives its size and how light it is, 0 to 1.
    fn picture(&self, name: &str) -> (u32, u32, f64) {
        let path = self.pictures.join(format!("{name}.png"));
        let done = Command::new("import")
            .args(["-window", "root", "-depth", "8"])
            .arg(format!("png24:{}", path.display()))
            .env("DISPLAY", &self.display)
            .status();
        assert!(done.is_ok_and(|status| status.success()), "no picture {name}");
        let file = std::fs::File::open(&path).expect("the picture");
        let mut reader = png::Decoder::new(BufReader::new(file)).read_info().expect("a PNG");
        let mut bytes = vec![0; reader.output_buffer_size().expect("a size")];
        let info = reader.next_frame(&mut bytes).expect("its pixels");
        let sum: f64 = bytes.iter().map(|byte| f64::from(*byte)).sum();
        (info.width, info.height, sum / bytes.len() as f64 / 255.0)
    }
}

#[test]
fn a_session_with_the_keyboard_alone() {
    if let Some((missing, _)) = TOOLS.iter().find(|(tool, asked)| !is_installed(tool, asked)) {
        println!("not run: {missing} is not installed");
        return;
    }
    let mut session = Session::open("1280x800", "1");
    session.picture("01-first-start");
    // The tour stands over the first start; Escape ends it. A key pressed before that is the tour's.
    session.keys(&["Escape"]);
    session.until("day 4", || {
        if session.last_day() != session.slot.day() {
            session.keys(&["alt+Next"]);
        }
        session.last_day() == session.slot.day()
    });
    session.keys(&["ctrl+4"]);
    session.picture("02-day4");

    // The editor is reached by the name of its command's key, and the kernel typed into it.
    session.keys(&["F10", "ctrl+g"]);
    session.text("1");
    session.keys(&["Return", "ctrl+a"]);
    session.text(KERNEL);
    session.picture("03-typed");
    session.until("the kernel on disk", || session.kernel().split_whitespace().eq(KERNEL.split_whitespace()));

    session.keys(&["ctrl+Return"]);
    session.until("the verdict", || session.runs(RunKind::Check).iter().any(|run| run.passed));
    std::thread::sleep(FRAMES);
    session.picture("04-checked");

    session.keys(&["ctrl+b"]);
    session.until("the benchmark", || session.runs(RunKind::Bench).iter().any(|run| !run.points.is_empty()));
    session.keys(&["ctrl+shift+t"]);
    session.picture("05-plot");

    // What the plot shows is read as a table: copied, put into the editor, and taken back.
    session.keys(&["ctrl+k", "c", "ctrl+g"]);
    session.text("1");
    session.keys(&["Return", "ctrl+a", "ctrl+v"]);
    session.until("the table", || session.kernel().starts_with("run,"));
    let table = session.kernel();
    let bench = session.runs(RunKind::Bench).pop().expect("a benchmark");
    let point = bench.points.last().expect("a size");
    let counters = point.counters.expect("what the emulator counted");
    assert!(table.contains(&point.name), "{table}");
    assert!(table.contains(&counters.warp_instructions.to_string()), "{table}");
    session.keys(&["ctrl+z"]);
    session.until("the kernel again", || session.kernel().split_whitespace().eq(KERNEL.split_whitespace()));

    session.keys(&["ctrl+k", "d"]);
    session.until("the dark theme", || session.settings().theme == ThemeChoice::Dark);
    let (width, height, dark) = session.picture("06-dark");
    assert_eq!((width, height), (1280, 800));
    // By name, as somebody does who knows no key.
    session.keys(&["ctrl+shift+p"]);
    session.text("light");
    session.picture("07-palette");
    session.keys(&["Return"]);
    session.until("the light theme", || session.settings().theme == ThemeChoice::Light);
    let (.., light) = session.picture("08-light");
    assert!(dark < 0.35 && light > 0.7, "{dark:.2} and {light:.2} of white");

    session.keys(&["ctrl+q"]);
    let began = Instant::now();
    let status = loop {
        if let Some(status) = session.program.0.try_wait().expect("the program") {
            break status;
        }
        assert!(began.elapsed() < PATIENCE, "it does not quit");
        std::thread::sleep(Duration::from_millis(50));
    };
    assert!(status.success(), "{status}");
    assert!(session.kernel().split_whitespace().eq(KERNEL.split_whitespace()), "nothing typed is lost");
    assert!(session.settings().tour_seen);
}
