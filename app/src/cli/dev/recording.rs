//! `lockstep dev recording`: the window at work as an animated picture for the README: a kernel is typed, checked, found
//! wrong, mended and passed. Needs a display (Xvfb will do) and the CUDA compiler.

use super::probe::{Next, Plan};
use super::screenshots::{self, DAY};
use crate::app::App;
use crate::cli::{Done, Failure, Places, out};
use crate::command::{Action, Command};
use crate::state::Compiler;
use eframe::egui;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub struct Args {
    /// The file to write
    #[arg(long, value_name = "FILE", default_value = "assets/screenshots/recording.gif")]
    out: PathBuf,
}

/// One frame of the recording.
struct Beat {
    commands: Vec<Command>,
    /// Waits for the run to end before the picture is taken.
    runs: bool,
    /// How long the picture stays.
    shown: Duration,
}

/// Longest wait for a run.
const PATIENCE: Duration = Duration::from_secs(120);
/// Time for what moves and loads: while typing, and once a run is over.
const SETTLES: Duration = Duration::from_millis(120);
const SETTLES_AFTER_A_RUN: Duration = Duration::from_millis(2500);
/// Characters that come with one frame.
const TYPED: usize = 12;

pub fn run(args: &Args, places: &Places) -> Done {
    let frames = Arc::new(std::sync::Mutex::new(Vec::new()));
    screenshots::open(places, plan(frames.clone()))?;
    let frames = std::mem::take(&mut *frames.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
    write_gif(&args.out, &frames).map_err(|error| {
        Failure::Usage(format!("the recording cannot be written ({error}): {}", args.out.display()))
    })?;
    out::print(&format!("{} ({} frames)\n", args.out.display(), frames.len()));
    Ok(())
}

/// What happens: the kernel with one thread too many is typed and checked, then mended and checked.
fn beats(app: &App) -> Vec<Beat> {
    let right = app.state.exercise().map(|exercise| exercise.solution().to_owned()).unwrap_or_default();
    let wrong = right.replacen("if (i < n)", "if (i <= n)", 1);
    let beat = |commands: Vec<Command>, ms: u64| Beat { commands, runs: false, shown: Duration::from_millis(ms) };
    let check =
        |ms: u64| Beat { commands: vec![Command::Do(Action::Check)], runs: true, shown: Duration::from_millis(ms) };
    let body = wrong.find("__global__").unwrap_or(0);
    let ends = wrong[body..].char_indices().map(|(at, _)| body + at).step_by(TYPED).chain([wrong.len()]);
    let mut all: Vec<Beat> = ends.map(|end| beat(typed(&wrong[..end]), 90)).collect();
    all.push(check(3000));
    all.push(beat(vec![Command::OpenInEditor(right)], 1200));
    all.push(check(4000));
    all
}

/// A text with the caret at its end.
fn typed(text: &str) -> Vec<Command> {
    let (line, column) = (text.lines().count().max(1), text.lines().last().map_or(0, |last| last.chars().count()));
    vec![Command::OpenInEditor(text.to_owned()), Command::GoToLine { line: line as u32, column: column as u32 + 1 }]
}

type Frames = Arc<std::sync::Mutex<Vec<(Arc<egui::ColorImage>, Duration)>>>;

fn plan(frames: Frames) -> Plan {
    let mut todo: Option<std::vec::IntoIter<Beat>> = None;
    let mut now: Option<Beat> = None;
    let mut begun = Instant::now();
    let mut calm: Option<Instant> = None;
    let mut asked = false;
    let (send, pictures) = std::sync::mpsc::channel::<Arc<egui::ColorImage>>();
    Box::new(move |app, ctx, _| {
        let Some(beats) = &mut todo else {
            let loaded = app.state.desk().is_some_and(|desk| desk.loaded && !desk.compiled.is_pending());
            if loaded && !matches!(app.state.compiler, Compiler::Looking) {
                app.command(Command::OpenDay(DAY.to_owned()));
                app.command(Command::Do(Action::LayoutCode));
                app.command(Command::Do(Action::StepCodeIt));
                todo = Some(beats(app).into_iter());
            }
            return Next::Frame;
        };
        if let (Ok(image), true, Some(beat)) = (pictures.try_recv(), asked, &now) {
            frames.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((image, beat.shown));
            now = None;
        }
        let Some(beat) = &mut now else {
            now = beats.next();
            let Some(beat) = &mut now else { return Next::Close };
            beat.commands.drain(..).for_each(|command| app.command(command));
            (begun, calm, asked) = (Instant::now(), None, false);
            return Next::Frame;
        };
        let busy = app.state.is_running() || app.state.desk().is_some_and(|desk| desk.compiled.is_pending());
        if beat.runs && busy && begun.elapsed() < PATIENCE {
            calm = None;
            return Next::Frame;
        }
        let settles = if beat.runs { SETTLES_AFTER_A_RUN } else { SETTLES };
        if !asked && calm.get_or_insert_with(Instant::now).elapsed() > settles {
            for id in app.state.toasts.iter().map(|toast| toast.id).collect::<Vec<_>>() {
                app.command(Command::DismissToast(id));
            }
            asked = true;
            screenshots::take(ctx, &send);
        }
        Next::Frame
    })
}

fn write_gif(path: &Path, frames: &[(Arc<egui::ColorImage>, Duration)]) -> Result<(), String> {
    let [width, height] = frames.first().ok_or("no picture was taken")?.0.size;
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let size = |length: usize| u16::try_from(length).map_err(|error| text(&error));
    let file = std::fs::File::create(path).map_err(|error| text(&error))?;
    let file = std::io::BufWriter::new(file);
    let mut encoder = gif::Encoder::new(file, size(width)?, size(height)?, &[]).map_err(|error| text(&error))?;
    encoder.set_repeat(gif::Repeat::Infinite).map_err(|error| text(&error))?;
    let mut before: Option<&egui::ColorImage> = None;
    for (image, shown) in frames.iter().filter(|(image, _)| image.size == [width, height]) {
        let [left, top, right, bottom] = before.map_or([0, 0, width, height], |before| changed(before, image));
        let rows = (top..bottom).flat_map(|y| &image.pixels[y * width + left..y * width + right]);
        let bytes: Vec<u8> = rows.flat_map(|pixel| [pixel.r(), pixel.g(), pixel.b()]).collect();
        // Of 1 (best) to 30: a window has few colours.
        let mut frame = gif::Frame::from_rgb_speed(size(right - left)?, size(bottom - top)?, &bytes, 10);
        (frame.left, frame.top) = (size(left)?, size(top)?);
        frame.delay = u16::try_from(shown.as_millis() / 10).unwrap_or(u16::MAX);
        encoder.write_frame(&frame).map_err(|error| text(&error))?;
        before = Some(image);
    }
    Ok(())
}

/// Left, top, right and bottom of what differs between two pictures of one size; a pixel where nothing does.
fn changed(before: &egui::ColorImage, now: &egui::ColorImage) -> [usize; 4] {
    let width = now.size[0];
    let mut edges = [usize::MAX, usize::MAX, 0, 0];
    for (at, _) in before.pixels.iter().zip(&now.pixels).enumerate().filter(|(_, (before, now))| before != now) {
        let (x, y) = (at % width, at / width);
        edges = [edges[0].min(x), edges[1].min(y), edges[2].max(x + 1), edges[3].max(y + 1)];
    }
    if edges[2] == 0 { [0, 0, 1, 1] } else { edges }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_holds_each_picture_and_how_long_it_stays() {
        let picture = |mark: usize| {
            let mut image = egui::ColorImage::filled([40, 20], egui::Color32::WHITE);
            image.pixels[mark] = egui::Color32::RED;
            Arc::new(image)
        };
        assert_eq!(changed(&picture(45), &picture(86)), [5, 1, 7, 3]);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("recording.gif");
        let shown = |ms: u64| Duration::from_millis(ms);
        write_gif(&path, &[(picture(45), shown(90)), (picture(86), shown(3000)), (picture(86), shown(10))])
            .expect("written");
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut decoder = options.read_info(std::fs::File::open(&path).expect("there")).expect("a GIF");
        assert_eq!((decoder.width(), decoder.height()), (40, 20));
        let mut frames = Vec::new();
        while let Some(frame) = decoder.read_next_frame().expect("sound") {
            frames.push(((frame.left, frame.top, frame.width, frame.height), frame.delay));
        }
        assert_eq!(frames, [((0, 0, 40, 20), 9), ((5, 1, 2, 2), 300), ((0, 0, 1, 1), 1)]);
        assert!(write_gif(&path, &[]).is_err());
    }
}
