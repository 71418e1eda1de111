//! `lockstep dev screenshots`: pictures of the main screens for the README, taken of the real window with real results.
//! Needs a display (Xvfb will do) and the CUDA compiler.

use super::probe::{Next, Plan, Probe};
use crate::app::{self, App};
use crate::cli::{Done, Failure, Places, out};
use crate::command::{Action, Command};
use crate::state::{Compiler, Pane};
use curriculum::store::{Settings, Store, ThemeChoice};
use eframe::egui;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

#[derive(clap::Args)]
pub struct Args {
    /// Folder for the pictures
    #[arg(long, value_name = "DIR", default_value = "assets/screenshots")]
    out: PathBuf,
}

/// One picture.
struct Scene {
    /// File name without its ending.
    name: &'static str,
    dark: bool,
    /// Done once, in this order.
    commands: fn(&App) -> Vec<Command>,
    /// Waits for the run to end before the picture is taken.
    runs: bool,
}

/// Day 4, which every README reader understands.
pub(super) const DAY: &str = "first-kernel";

const SCENES: [Scene; 4] = [
    Scene {
        name: "read",
        dark: false,
        commands: |_| {
            vec![
                Command::OpenDay(DAY.to_owned()),
                Command::Do(Action::LayoutRead),
                Command::Do(Action::StepExplore),
                Command::ShowPane(Pane::Visualization),
            ]
        },
        runs: false,
    },
    Scene {
        name: "day4",
        dark: true,
        commands: |app| {
            let text = app.state.exercise().map(|exercise| exercise.solution().to_owned()).unwrap_or_default();
            // The classic mistake: one thread too many.
            let text = text.replacen("if (i < n)", "if (i <= n)", 1);
            vec![
                Command::Do(Action::LayoutCode),
                Command::Do(Action::StepCodeIt),
                Command::OpenInEditor(text),
                Command::Do(Action::Check),
            ]
        },
        runs: true,
    },
    Scene {
        name: "profile",
        dark: true,
        commands: |app| {
            let text = app.state.exercise().map(|exercise| exercise.solution().to_owned()).unwrap_or_default();
            vec![
                Command::OpenInEditor(text),
                Command::Do(Action::LayoutProfile),
                Command::Do(Action::Check),
                Command::ShowPane(Pane::Counters),
            ]
        },
        runs: true,
    },
    Scene {
        name: "progress",
        dark: false,
        commands: |_| vec![Command::Do(Action::LayoutRead), Command::Do(Action::ShowProgress)],
        runs: false,
    },
];

/// Longest wait for a run or a picture.
const PATIENCE: Duration = Duration::from_secs(120);

/// Time for what compiles and loads beside the run.
const CALM: Duration = Duration::from_millis(2500);

pub fn run(args: &Args, places: &Places) -> Done {
    std::fs::create_dir_all(&args.out)
        .map_err(|error| Failure::Usage(format!("the folder cannot be made ({error}): {}", args.out.display())))?;
    open(places, plan(args.out.clone()))
}

/// Opens the real window with a data folder of its own, at the day that is shown, and lets a plan drive it.
pub(super) fn open(places: &Places, plan: Plan) -> Done {
    let folder =
        tempfile::tempdir().map_err(|error| Failure::Usage(format!("no place for a data folder ({error})")))?;
    let data_dir = folder.path().to_owned();
    // The window's own data folder has no compiler: the one that this machine has.
    let nvrtc = places.settings().nvrtc;
    let found = gpu_core::compile::locate::locate(nvrtc.as_deref(), &places.data_dir());
    let nvrtc = found.map_err(|error| Failure::Usage(error.to_string()))?.nvrtc;
    {
        let store = Store::open(&data_dir).map_err(|error| Failure::Usage(error.to_string()))?;
        store.save_settings(&Settings { nvrtc: Some(nvrtc), ..store.settings() });
    }
    let opened = app::open_with(
        eframe::Renderer::Glow,
        Box::new(move |cc| {
            let options =
                app::WindowOptions { data_dir: Some(data_dir), day: Some("week1/day4".into()), ..Default::default() };
            Ok(Box::new(Probe::new(App::open(&cc.egui_ctx, options), plan)))
        }),
    );
    opened.map_err(|error| Failure::Usage(format!("the window cannot be opened: {error}")))
}

fn plan(target: PathBuf) -> Plan {
    let mut scene = 0;
    let mut begun: Option<Instant> = None;
    let mut calm: Option<Instant> = None;
    let mut asked = false;
    let (send, pictures) = std::sync::mpsc::channel::<Arc<egui::ColorImage>>();
    Box::new(move |app, ctx, _| {
        let Some(next) = SCENES.get(scene) else { return Next::Close };
        let taken = pictures.try_recv().ok();
        if let Some(image) = taken.filter(|_| asked) {
            let path = target.join(format!("{}.png", next.name));
            match write_png(&path, &image) {
                Ok(()) => out::print(&format!("{}\n", path.display())),
                Err(error) => out::error(&format!("the picture cannot be written ({error}): {}", path.display())),
            }
            (scene, begun, calm, asked) = (scene + 1, None, None, false);
            return Next::Frame;
        }
        let Some(since) = begun else {
            let ready = app.state.desk().is_some_and(|desk| desk.loaded)
                && matches!(app.state.compiler, Compiler::Found { .. })
                && app.state.desk().is_some_and(|desk| !desk.compiled.is_pending());
            if ready {
                app.state.settings.theme = if next.dark { ThemeChoice::Dark } else { ThemeChoice::Light };
                app.apply_look(ctx);
                for command in (next.commands)(app) {
                    app.command(command);
                }
                begun = Some(Instant::now());
            }
            return Next::Frame;
        };
        let busy = app.state.is_running() || app.state.desk().is_some_and(|desk| desk.compiled.is_pending());
        if busy && since.elapsed() < PATIENCE && next.runs {
            calm = None;
            return Next::Frame;
        }
        let quiet = *calm.get_or_insert_with(Instant::now);
        if quiet.elapsed() > CALM && !asked {
            for id in app.state.toasts.iter().map(|toast| toast.id).collect::<Vec<_>>() {
                app.command(Command::DismissToast(id));
            }
            asked = true;
            take(ctx, &send);
        }
        Next::Frame
    })
}

/// Asks for a picture of the window, which is sent when it is there.
pub(super) fn take(ctx: &egui::Context, send: &Sender<Arc<egui::ColorImage>>) {
    let (send, ctx_of) = (send.clone(), ctx.clone());
    ctx.send_viewport_cmd(egui::ViewportCommand::Screenshot(egui::ScreenshotCallback::new(move |image| {
        // The window may be gone by then.
        let _ = send.send(image);
        ctx_of.request_repaint();
    })));
}

/// Writes a picture as PNG.
fn write_png(path: &Path, image: &egui::ColorImage) -> Result<(), String> {
    let file = std::fs::File::create(path).map_err(|error| error.to_string())?;
    let [width, height] = image.size;
    let mut encoder = png::Encoder::new(std::io::BufWriter::new(file), width as u32, height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    let bytes: Vec<u8> = image.pixels.iter().flat_map(|pixel| [pixel.r(), pixel.g(), pixel.b()]).collect();
    let mut writer = encoder.write_header().map_err(|error| error.to_string())?;
    writer.write_image_data(&bytes).map_err(|error| error.to_string())
}
