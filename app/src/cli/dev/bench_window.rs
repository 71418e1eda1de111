//! `lockstep dev bench-window`: what the window costs. Start to first frame, processor time of a frame in the busiest
//! layout, processor time and repaints while idle, memory after every day, size of the program.
//!
//! Each start is a process of its own with a fresh data folder. Frames are timed without a window, so that a software
//! rasterizer does not count: drawing by egui and its tessellation, which is what the program itself does.

mod proc;
mod rivals;

use super::probe::{Next, Probe};
use crate::app::{self, App};
use crate::cli::{Done, Failure, Places, out, usage};
use crate::command::{Action, Command};
use crate::lab::Scripted;
use crate::state::Pane;
use curriculum::store::{RunKind, RunPoint, RunRecord, Store};
use curriculum::{Block, Course};
use eframe::egui;
use gpu_core::bench::Stats;
use std::io::{BufRead, BufReader, Write as _};
use std::process::{Child, Command as Process, Stdio};
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub struct Args {
    /// Starts of the window for each renderer
    #[arg(long, value_name = "N", default_value_t = 9)]
    starts: u32,
    /// Frames timed in the busiest layout
    #[arg(long, value_name = "N", default_value_t = 600)]
    frames: u32,
    /// Lines of the file in the editor
    #[arg(long, value_name = "N", default_value_t = 2_000)]
    lines: usize,
    /// Seconds of idleness
    #[arg(long, value_name = "S", default_value_t = 5)]
    idle_s: u64,
    /// Another program to start as often and to leave idle as long, as NAME=COMMAND; its time, and then ours too, is
    /// until the window is mapped (needs xdotool)
    #[arg(long, value_name = "NAME=COMMAND")]
    rival: Vec<String>,
    /// Also egui's own demo app, built for this in the same profile (needs the source, cargo and xdotool)
    #[arg(long)]
    egui_demo: bool,
    /// What a child process of this command does
    #[arg(long, hide = true, value_enum)]
    child: Option<Role>,
    #[arg(long, hide = true, value_enum, default_value_t = Renderer::Glow)]
    renderer: Renderer,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Role {
    FirstFrame,
    Idle,
    EveryDay,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Renderer {
    Glow,
    Wgpu,
}

impl Renderer {
    fn name(self) -> &'static str {
        match self {
            Renderer::Glow => "glow",
            Renderer::Wgpu => "wgpu",
        }
    }
}

/// Longest wait for a child.
const PATIENCE: Duration = Duration::from_secs(120);

/// How much there is in the busiest layout, beside the file.
const FORMULAS: usize = 20;
const POINTS: u32 = 10_000;

pub fn run(args: &Args, places: &Places) -> Done {
    match args.child {
        Some(role) => child(role, args, places),
        None => measure(args),
    }
}

fn measure(args: &Args) -> Done {
    let exe = std::env::current_exe().map_err(|error| usage(format!("this program cannot be found ({error})")))?;
    let size = std::fs::metadata(&exe).map_or(0, |file| file.len());
    let build =
        if cfg!(debug_assertions) { "debug build: for real figures use `cargo run --release`" } else { "release" };
    out::print(&format!("program: {:.1} MB ({build})\n", size as f64 / 1e6));
    let mut rivals = args.rival.clone();
    frames(args.frames, args.lines);
    if args.egui_demo {
        let demo = rivals::build_egui_demo(&exe)?;
        rivals::egui_demo_frames(&demo, args.frames);
        rivals.push(format!("egui_demo='{}'", demo.display()));
    }
    if let Err(why) = crate::ready::display_connection() {
        out::print(&format!("window: not measured, because {why}\n"));
        return Ok(());
    }
    for renderer in [Renderer::Glow, Renderer::Wgpu] {
        let mut starts = Vec::new();
        for _ in 0..args.starts.max(1) {
            match start(renderer, Role::FirstFrame, args.idle_s) {
                Ok((first, _)) => starts.push(first.as_secs_f64() * 1e3),
                Err(why) => {
                    out::print(&format!("start to first frame, {}: not measured, because {why}\n", renderer.name()));
                    break;
                }
            }
        }
        if let Some([median, worst]) = spread(&mut starts, [0.5, 1.0]) {
            let name = renderer.name();
            let count = starts.len();
            out::print(&format!(
                "start to first frame, {name}: median {median:.0} ms, worst {worst:.0} ms ({count} starts)\n"
            ));
        }
    }
    rivals::measure(&rivals, &exe, args.starts, Duration::from_secs(args.idle_s))?;
    for (role, name) in [(Role::Idle, "idle"), (Role::EveryDay, "after visiting every day")] {
        match start(Renderer::Glow, role, args.idle_s) {
            Ok((_, report)) => out::print(&format!("{name}: {report}\n")),
            Err(why) => out::print(&format!("{name}: not measured, because {why}\n")),
        }
    }
    Ok(())
}

/// Starts a child; the time until it says that the first frame is out, and what it says last.
fn start(renderer: Renderer, role: Role, idle_s: u64) -> Result<(Duration, String), String> {
    let exe = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = tempfile::tempdir().map_err(|error| format!("there is no place for a data folder ({error})"))?;
    let role = match role {
        Role::FirstFrame => "first-frame",
        Role::Idle => "idle",
        Role::EveryDay => "every-day",
    };
    let began = Instant::now();
    let mut process = Process::new(exe);
    process.args(["dev", "bench-window", "--child", role, "--renderer", renderer.name()]);
    process.args(["--idle-s", &idle_s.to_string(), "--data"]).arg(folder.path());
    let process = process.stdout(Stdio::piped()).stderr(Stdio::null()).stdin(Stdio::null());
    let mut child = Ended(process.spawn().map_err(|error| format!("it cannot be started ({error})"))?);
    let Some(output) = child.0.stdout.take() else { return Err("its output is lost".to_owned()) };
    let mut lines = BufReader::new(output).lines();
    let mut line = || lines.next().and_then(Result::ok).ok_or("the window did not open");
    line()?;
    let first = began.elapsed();
    let report = line().unwrap_or_default();
    Ok((first, report))
}

/// A child that does not outlive the measurement.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let began = Instant::now();
        while matches!(self.0.try_wait(), Ok(None)) && began.elapsed() < Duration::from_secs(3) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Values at shares of the sorted list.
fn spread<const N: usize>(values: &mut [f64], shares: [f64; N]) -> Option<[f64; N]> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some(shares.map(|share| values[(last as f64 * share).round() as usize]))
}

/// A child: the real window, which says on standard output when its first frame is out, and then does its part.
fn child(role: Role, args: &Args, places: &Places) -> Done {
    let renderer = match args.renderer {
        Renderer::Glow => eframe::Renderer::Glow,
        Renderer::Wgpu => eframe::Renderer::Wgpu,
    };
    let data_dir = places.data_dir();
    let idle = Duration::from_secs(args.idle_s);
    let opened = app::open_with(
        renderer,
        Box::new(move |cc| {
            let options =
                app::WindowOptions { data_dir: Some(data_dir), day: Some("week1/day4".into()), ..Default::default() };
            let app = App::open(&cc.egui_ctx, options);
            Ok(Box::new(Probe::new(app, plan(role, idle))))
        }),
    );
    opened.map_err(|error| Failure::Usage(format!("the window cannot be opened: {error}")))
}

fn plan(role: Role, idle: Duration) -> super::probe::Plan {
    let mut idle_from: Option<(Instant, f64, u64)> = None;
    let mut settled = Instant::now();
    let mut days: Option<Vec<String>> = None;
    Box::new(move |app, ctx, frames| {
        // The second frame begins when the first is on the screen.
        if frames == 2 {
            say("first frame");
            if role == Role::FirstFrame {
                return Next::Close;
            }
        }
        if frames < 2 {
            return Next::Frame;
        }
        match role {
            Role::FirstFrame => Next::Close,
            Role::Idle => {
                // Loading, compiling and the search for devices come to an end first.
                if idle_from.is_none() {
                    if frames == 2 {
                        settled = Instant::now();
                    }
                    if settled.elapsed() < Duration::from_secs(4) {
                        ctx.request_repaint_after(Duration::from_secs(5).saturating_sub(settled.elapsed()));
                        return Next::Wait;
                    }
                    idle_from = Some((Instant::now(), proc::processor_s("self"), frames));
                    ctx.request_repaint_after(idle);
                    return Next::Wait;
                }
                let Some((from, used_s, seen)) = idle_from else { return Next::Wait };
                if from.elapsed() < idle {
                    return Next::Wait;
                }
                let share = 100.0 * (proc::processor_s("self") - used_s) / from.elapsed().as_secs_f64();
                let repaints = frames - seen - 1;
                say(&format!("{share:.2} % of a core, {repaints} repaints in {:.1} s", from.elapsed().as_secs_f64()));
                Next::Close
            }
            Role::EveryDay => {
                let all = app.state.course.days().map(|day| day.id.clone()).collect();
                let left = days.get_or_insert(all);
                if frames % 6 == 0 {
                    match left.pop() {
                        Some(day) => app.command(Command::OpenDay(day)),
                        None => {
                            say(&format!("{:.0} MB resident", proc::resident_mb("self")));
                            return Next::Close;
                        }
                    }
                } else {
                    let steps = [Action::StepExplore, Action::StepConcept, Action::StepCodeIt, Action::StepVerify];
                    app.command(Command::Do(steps[frames as usize % steps.len()]));
                }
                Next::Frame
            }
        }
    })
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}").and_then(|()| out.flush());
}

/// Times frames of the busiest layout without a window: while still, and while a key is typed in each.
fn frames(count: u32, lines: usize) {
    let Ok(folder) = tempfile::tempdir() else { return };
    let Ok(store) = Store::open(folder.path()) else { return };
    let ctx = egui::Context::default();
    let engine = Box::new(Scripted::new(|_| None));
    let mut app = App::with_parts(&ctx, busy_course(), store, folder.path().to_owned(), engine);
    app.open_first(Some("week1/day4"));
    let mut time = 0.0;
    let mut frame = |app: &mut App, events: Vec<egui::Event>| {
        time += 1.0 / 60.0;
        let screen = egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(1920.0, 1080.0));
        let input = egui::RawInput { screen_rect: Some(screen), time: Some(time), events, ..Default::default() };
        let began = Instant::now();
        let mut output = ctx.run_ui(input, |ui| app.frame(ui));
        // No renderer takes them; egui insists that they are dropped on purpose.
        output.textures_delta.clear();
        let shapes = ctx.tessellate(output.shapes, output.pixels_per_point);
        std::hint::black_box(&shapes);
        began.elapsed().as_secs_f64() * 1e3
    };
    let began = Instant::now();
    while !app.state.desk().is_some_and(|desk| desk.loaded) && began.elapsed() < PATIENCE {
        frame(&mut app, Vec::new());
        std::thread::sleep(Duration::from_millis(2));
    }
    fill(&mut app, lines);
    for _ in 0..30 {
        frame(&mut app, Vec::new());
    }
    let report = |name: &str, mut times: Vec<f64>| {
        if let Some([median, p99, worst]) = spread(&mut times, [0.5, 0.99, 1.0]) {
            out::print(&format!(
                "frame, {name}: median {median:.2} ms, p99 {p99:.2} ms, worst {worst:.2} ms of processor time ({} frames; \
                 {lines} lines, {FORMULAS} formulas, {POINTS} points)\n",
                times.len()
            ));
        }
    };
    let moved = |i: u32| egui::Event::PointerMoved(egui::pos2(400.0 + (i % 900) as f32, 500.0 + (i % 400) as f32));
    report("mouse moving", (0..count).map(|i| frame(&mut app, vec![moved(i)])).collect());
    app.command(Command::FocusPane(Pane::Editor));
    frame(&mut app, Vec::new());
    let typed = |i: u32| egui::Event::Text(char::from(b'a' + (i % 26) as u8).to_string());
    report("typing", (0..count).map(|i| frame(&mut app, vec![typed(i)])).collect());
}

/// Course, lesson, editor and plot side by side, each with much in it.
fn fill(app: &mut App, lines: usize) {
    let line = "    c[i] = a[i] * 2.0f + b[i]; // one of many lines of a kernel\n";
    app.command(Command::Do(Action::LayoutCode));
    app.command(Command::Do(Action::ToggleCourse));
    app.command(Command::OpenInEditor(line.repeat(lines)));
    app.command(Command::GoToLine { line: lines as u32 / 2, column: 5 });
    app.command(Command::ShowPane(Pane::Timing));
    let runs = (0..POINTS).map(timed_run);
    if let Some(desk) = app.state.desk.clone().and_then(|slot| app.state.desks.get_mut(&slot)) {
        desk.runs.extend(runs);
    }
}

fn timed_run(number: u32) -> RunRecord {
    let ns = 3_000.0 + 2_000.0 * f64::from(number * 7919 % 1000) / 1000.0;
    let stats = Stats { samples: 100, median_ns: ns, p20_ns: 0.97 * ns, p80_ns: 1.05 * ns, min_ns: 0.95 * ns };
    RunRecord {
        when_unix_s: u64::from(number),
        kind: RunKind::Bench,
        device: "made up".into(),
        passed: true,
        summary: String::new(),
        hints: Vec::new(),
        points: vec![RunPoint {
            name: "n = 1048576".into(),
            stats: Some(stats),
            counters: None,
            share_of_ceiling: Some(2_500.0 / ns),
            bytes: 12_582_912.0,
            flops: 1_048_576.0,
        }],
        source: String::new(),
        version: String::new(),
    }
}

/// The course with a first lesson of many formulas.
fn busy_course() -> Course {
    let mut course = Course::embedded();
    let formula = r"The sum is $S_k = \sum_{i=0}^{n-1} \frac{x_i^2}{\sqrt{1 + \lambda_k}}$ for every $k$.";
    let text: String = (0..FORMULAS.div_ceil(2)).map(|_| format!("{formula}\n\n")).collect();
    let day = course.weeks.iter_mut().flat_map(|week| &mut week.days).find(|day| day.id == "first-kernel");
    if let Some(day) = day {
        day.lesson.sections[0].blocks.insert(0, Block::Markdown(text));
    }
    course
}
