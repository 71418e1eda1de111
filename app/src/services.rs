//! Work that may block, on threads of its own: the learner's files, dialogs, the compiler's installation. Each piece
//! sends its finding as an [`Update`] and wakes the window.

use crate::effect::{Learner, OpenedProfile, Update};
use crate::elsewhere::Elsewhere;
use crate::file_dialogs::Picker;
use crate::kept::Kept;
use crate::scripts;
use crate::scripts::ScriptKey;
use crate::state::Compiler;
use crate::widgets::code_editor::Change;
use curriculum::Course;
use curriculum::store::{Offered, Problem, RunRecord, Store, TextSlot};
use gpu_core::bench::ceilings;
use gpu_core::compile::{fetch, locate};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

/// Undo steps that are brought back from the journal: a session's worth, read in the background.
const MAX_PAST: usize = 500;

/// A kernel of more bytes than this is not imported: no kernel is, and the compiler would refuse it.
const MAX_IMPORT_BYTES: u64 = 2 << 20;

/// Starts background work and collects what it finds.
pub struct Services {
    sender: Sender<Update>,
    receiver: Receiver<Update>,
    context: egui::Context,
    stop_install: Arc<AtomicBool>,
    stop_script: Arc<AtomicBool>,
    pub elsewhere: Elsewhere,
    pub store: Arc<Store>,
    pub data_dir: PathBuf,
    pub picker: Picker,
    /// What the window was told last of what is not on disk.
    unsaved: std::cell::RefCell<Option<Problem>>,
}

impl Services {
    pub fn new(context: egui::Context, store: Arc<Store>, data_dir: PathBuf, picker: Picker) -> Self {
        let (sender, receiver) = channel();
        let (way, wake) = (sender.clone(), context.clone());
        let elsewhere = Elsewhere::new(move || {
            let (sender, context) = (way.clone(), wake.clone());
            Box::new(move |update| {
                let _ = sender.send(update);
                context.request_repaint();
            })
        });
        let (stop_install, stop_script) = (Arc::default(), Arc::default());
        Self {
            sender,
            receiver,
            context,
            stop_install,
            stop_script,
            elsewhere,
            store,
            data_dir,
            picker,
            unsaved: std::cell::RefCell::default(),
        }
    }

    pub fn context(&self) -> &egui::Context {
        &self.context
    }

    /// All findings that have arrived. Never blocks.
    pub fn poll(&self) -> Vec<Update> {
        let mut updates: Vec<Update> = self.receiver.try_iter().collect();
        updates.extend(self.store.take_problems().into_iter().map(|problem| Update::Problem(problem.to_string())));
        let unsaved = self.store.unsaved();
        if unsaved.is_some() {
            // Nothing else would wake the window when the disk takes the texts again.
            self.context.request_repaint_after(std::time::Duration::from_secs(1));
        }
        if unsaved != *self.unsaved.borrow() {
            updates.push(Update::Unsaved(unsaved.as_ref().map(ToString::to_string)));
            self.unsaved.replace(unsaved);
        }
        updates
    }

    fn spawn(&self, name: &str, work: impl FnOnce(&dyn Fn(Update)) + Send + 'static) {
        let (sender, context) = (self.sender.clone(), self.context.clone());
        let started = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            work(&|update| {
                // The window may have closed meanwhile; then nobody waits for this.
                let _ = sender.send(update);
                context.request_repaint();
            });
        });
        if let Err(error) = started {
            let problem = format!("The system allows no further thread ({error}); close other programs and try again");
            let _ = self.sender.send(Update::Problem(problem));
        }
    }

    pub fn load(&self, slot: TextSlot, scaffold: String) {
        let store = self.store.clone();
        self.spawn("load text", move |send| {
            let history = store.text(&slot, &scaffold);
            let text = history.text().to_owned();
            let mut earlier = history.clone();
            let mut past = Vec::new();
            let mut newer = text.clone();
            while past.len() < MAX_PAST
                && let Some((older, _)) = earlier.undo()
            {
                past.extend(Change::between(older, &newer));
                older.clone_into(&mut newer);
            }
            past.reverse();
            let runs = store.runs(&slot);
            let kept = store.last_run(&slot).and_then(|bytes| Kept::decode(&bytes)).map(Box::new);
            send(Update::Loaded { slot, text, past, runs, kept });
        });
    }

    /// What the last run found, to be there after a restart.
    pub fn keep_run(&self, slot: TextSlot, kept: Kept) {
        let store = self.store.clone();
        self.spawn("keep a run", move |_| {
            if let Some(bytes) = kept.encode() {
                store.save_last_run(&slot, bytes);
            }
        });
    }

    pub fn add_run(&self, slot: TextSlot, run: RunRecord, source: String) {
        let store = self.store.clone();
        // It looks whether the text is kept already, and a disk may be slow.
        self.spawn("note a run", move |_| store.add_run(&slot, &run, &source));
    }

    pub fn load_run(&self, slot: TextSlot, run: RunRecord, number: u32) {
        let store = self.store.clone();
        self.spawn("load a run", move |send| {
            let missing = || format!("The text of run {number} is no longer in the data folder");
            send(Update::Imported(
                store.run_source(&slot, &run).map(|text| (format!("Run {number}"), text)).ok_or_else(missing),
            ));
        });
    }

    pub fn read_run(&self, slot: TextSlot, run: RunRecord) {
        let store = self.store.clone();
        self.spawn("read a run", move |send| {
            let text = store.run_source(&slot, &run);
            send(Update::RunText { slot, sum: run.source, text });
        });
    }

    /// nvdisasm alone: it may not be handed on, so it is fetched when somebody wants to see SASS.
    pub fn install_disassembler(&self) {
        let data_dir = self.data_dir.clone();
        let stop = self.stop_install.clone();
        stop.store(false, Ordering::Relaxed);
        self.spawn("install nvdisasm", move |send| {
            let came = match fetch::fetch(&data_dir, &[fetch::Package::Nvdisasm], &mut |_| {}, &stop) {
                // It is looked for beside any NVRTC, also one that is not in the data folder.
                Ok(_) | Err(fetch::FetchError::NotFoundAfterwards(_)) => Ok(()),
                Err(error) => Err(error.to_string()),
            };
            send(Update::Disassembler(came));
        });
    }

    /// The kernel as a file of its own below the data folder: one that an editor may keep open while the store replaces
    /// its own copy.
    pub fn open_elsewhere(&mut self, slot: TextSlot, text: String, editor: Option<String>) {
        let folder = self.data_dir.join("open");
        let path = folder.join(slot.day()).join(format!("{}.cu", slot.exercise()));
        self.elsewhere.open(slot, path, text, editor);
    }

    pub fn import_kernel(&self, path: PathBuf) {
        self.spawn("import", move |send| send(Update::Imported(read_kernel(&path))));
    }

    /// clang-format of this machine, in the course's style.
    pub fn format(&self, slot: TextSlot, version: u64, text: String, tab_width: u32) {
        self.spawn("clang-format", move |send| {
            let result = crate::clang_format::format(&text, tab_width);
            send(Update::Formatted { slot, version, result });
        });
    }

    pub fn pick_import(&self) {
        let picker = self.picker.clone();
        self.spawn("import", move |send| {
            let kinds = [("CUDA C++", ["cu", "cuh", "cpp", "h"].as_slice()), ("All files", &["*"])];
            match picker.to_open("Import a kernel", &kinds) {
                Ok(Some(path)) => send(Update::Imported(read_kernel(&path))),
                Ok(None) => {}
                Err(problem) => send(Update::Imported(Err(problem))),
            }
        });
    }

    pub fn pick_export(&self, name: String, text: String) {
        let picker = self.picker.clone();
        self.spawn("export", move |send| {
            send(Update::Exported(save(&picker, "Export the kernel", "kernel", &name, text.as_bytes())));
        });
    }

    pub fn run_script(&self, key: ScriptKey, source: String, python: Option<PathBuf>) {
        let stop = self.stop_script.clone();
        stop.store(false, Ordering::Relaxed);
        self.spawn("Python rung", move |send| {
            let mut each = |line| send(Update::ScriptLine(key.clone(), line));
            let script = scripts::Script { file: &key.file, source: &source, arguments: &[], reads: &[] };
            let ended = scripts::run(python.as_deref(), script, &stop, &mut each);
            send(Update::ScriptEnded(key.clone(), ended));
        });
    }

    pub fn run_program(&self, key: ScriptKey) {
        let stop = self.stop_script.clone();
        stop.store(false, Ordering::Relaxed);
        self.spawn("measure", move |send| {
            let mut each = |line| send(Update::ScriptLine(key.clone(), line));
            let ended = scripts::run_program(&key.file, &stop, &mut each);
            send(Update::ScriptEnded(key.clone(), ended));
        });
    }

    pub fn decode(&self, key: ScriptKey, request: scripts::Decoding) {
        let stop = self.stop_script.clone();
        stop.store(false, Ordering::Relaxed);
        self.spawn("decode", move |send| {
            let mut each = |line| send(Update::ScriptLine(key.clone(), line));
            let ended = scripts::run_decoding(&request, &stop, &mut each);
            send(Update::ScriptEnded(key.clone(), ended));
        });
    }

    pub fn profile(&self, slot: TextSlot, request: crate::profiled::Request) {
        let stop = self.stop_script.clone();
        stop.store(false, Ordering::Relaxed);
        self.spawn("profile", move |send| {
            let result = crate::profiled::run(&request, &stop).map(Box::new);
            send(Update::Profiled { slot, result });
        });
    }

    pub fn stop_script(&self) {
        self.stop_script.store(true, Ordering::Relaxed);
    }

    pub fn look_for_compiler(&self, setting: Option<PathBuf>) {
        let data_dir = self.data_dir.clone();
        self.spawn("look for the compiler", move |send| {
            send(Update::Compiler(find_compiler(setting.as_deref(), &data_dir)));
        });
    }

    pub fn install_compiler(&self) {
        let data_dir = self.data_dir.clone();
        let stop = self.stop_install.clone();
        stop.store(false, Ordering::Relaxed);
        self.spawn("install the compiler", move |send| {
            let packages = fetch::Package::ALL;
            let mut progress = |at: fetch::Progress| {
                send(Update::Compiler(Compiler::Installing {
                    what: at.what,
                    done_bytes: at.done_bytes,
                    total_bytes: at.total_bytes,
                }));
            };
            let compiler = match fetch::fetch(&data_dir, &packages, &mut progress, &stop) {
                Ok(found) => Compiler::Found { origin: found.origin },
                Err(error) => Compiler::InstallFailed {
                    message: error.to_string(),
                    download_bytes: fetch::download_bytes(&data_dir, &packages),
                },
            };
            send(Update::Compiler(compiler));
        });
    }

    pub fn load_ceilings(&self, devices: Vec<(String, Option<String>)>) {
        let data_dir = self.data_dir.clone();
        self.spawn("load the ceilings", move |send| {
            let load = |(name, driver): &(String, Option<String>)| ceilings::load(&data_dir, name, driver.as_deref());
            send(Update::Ceilings(devices.iter().filter_map(load).collect()));
        });
    }

    pub fn look_around(&self, nvrtc: Option<PathBuf>) {
        let data_dir = self.data_dir.clone();
        self.spawn("ready check", move |send| send(Update::Ready(crate::ready::machine(&data_dir, nvrtc.as_deref()))));
    }

    pub fn build_index(&self, course: Arc<Course>) {
        self.spawn("search index", move |send| {
            send(Update::Index(Arc::new(curriculum::search::Index::new(&course))));
        });
    }

    pub fn export_state(&self) {
        let (store, picker) = (self.store.clone(), self.picker.clone());
        self.spawn("export everything", move |send| {
            let picked = picker.to_save("Export everything", "lockstep-state.json");
            send(Update::StateExported(picked.map(|path| export_to(&store, path)).transpose()));
        });
    }

    pub fn import_state(&self) {
        let (store, picker) = (self.store.clone(), self.picker.clone());
        self.spawn("import everything", move |send| {
            let picked = picker.to_open("Import everything", &[("Lockstep state", &["json"])]);
            send(Update::StateImported(match picked {
                Ok(Some(path)) => {
                    import_from(&store, &path).map(|(learner, offered)| Some((Box::new(learner), offered)))
                }
                Ok(None) => Ok(None),
                Err(problem) => Err(problem),
            }));
        });
    }

    pub fn save_page(&self, name: String, text: String) {
        let picker = self.picker.clone();
        self.spawn("save a page", move |send| {
            send(Update::Exported(save(&picker, "Save the page", "page", &name, text.as_bytes())));
        });
    }

    /// Takes the whole window's picture, of which `area` (in pixels) is written.
    pub fn save_picture(&self, name: String, area: egui::Rect) -> impl FnOnce(Arc<egui::ColorImage>) + Send + 'static {
        let (sender, context, picker) = (self.sender.clone(), self.context.clone(), self.picker.clone());
        move |image| {
            // Called on the window's thread; the dialog may stay open for long.
            let work = move || {
                let saved =
                    png_of(&image, area).and_then(|bytes| save(&picker, "Save the picture", "picture", &name, &bytes));
                let _ = sender.send(Update::Exported(saved));
                context.request_repaint();
            };
            // Without a further thread there is no picture; the next piece of work says why.
            let _ = std::thread::Builder::new().name("save a picture".to_owned()).spawn(work);
        }
    }

    pub fn list_profiles(&self) {
        let data_dir = self.data_dir.clone();
        self.spawn("profiles", move |send| send(Update::Profiles(crate::paths::profiles(&data_dir))));
    }

    pub fn open_profile(&self, name: Option<String>) {
        let (data_dir, old) = (self.data_dir.clone(), self.store.clone());
        self.spawn("open a profile", move |send| {
            old.flush(std::time::Duration::from_secs(5));
            drop(old);
            let folder = crate::paths::profile_dir(&data_dir, name.as_deref());
            send(match Store::open(&folder) {
                Ok(store) => {
                    crate::paths::remember_profile(&data_dir, name.as_deref());
                    let learner = Learner::read(&store);
                    Update::ProfileOpened(name, Box::new(OpenedProfile { store: Arc::new(store), learner }))
                }
                Err(error) => Update::Problem(format!("The profile cannot be opened: {error}")),
            });
        });
    }

    pub fn stop_install(&self) {
        self.stop_install.store(true, Ordering::Relaxed);
    }

    pub fn load_course(&self, folder: Option<PathBuf>) {
        self.spawn("load the course", move |send| {
            let course = match &folder {
                Some(folder) => Course::load(folder).map_err(|errors| errors.to_string()),
                None => Ok(Course::embedded()),
            };
            send(Update::Course(course.map(Arc::new)));
        });
    }
}

/// Asks for a place and writes there; None when the learner thinks better of it.
fn save(picker: &Picker, title: &str, what: &str, name: &str, bytes: &[u8]) -> Result<Option<PathBuf>, String> {
    let Some(path) = picker.to_save(title, name) else { return Ok(None) };
    match std::fs::write(&path, bytes) {
        Ok(()) => Ok(Some(path)),
        Err(error) => Err(format!("The {what} cannot be written ({error}): {}", path.display())),
    }
}

/// A part of the window's picture as PNG. `area` is in pixels; what lies outside of the window is left out.
pub fn png_of(image: &egui::ColorImage, area: egui::Rect) -> Result<Vec<u8>, String> {
    let whole = egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(image.size[0] as f32, image.size[1] as f32));
    let area = area.intersect(whole);
    let (left, top) = (area.left().round() as usize, area.top().round() as usize);
    let (right, bottom) = (area.right().round() as usize, area.bottom().round() as usize);
    if !area.is_positive() || right <= left || bottom <= top {
        return Err("The plot is not in sight; make its pane larger and save it again".to_owned());
    }
    let rows = image.pixels.chunks_exact(image.size[0]).skip(top).take(bottom - top);
    let pixels = rows.flat_map(|row| &row[left..right]).flat_map(|pixel| [pixel.r(), pixel.g(), pixel.b()]);
    let pixels: Vec<u8> = pixels.collect();
    let problem = |error: png::EncodingError| format!("The picture cannot be made ({error})");
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, (right - left) as u32, (bottom - top) as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().map_err(problem)?;
    writer.write_image_data(&pixels).map_err(problem)?;
    writer.finish().map_err(problem)?;
    Ok(bytes)
}

/// Writes everything; says how many files and where.
pub fn export_to(store: &Store, path: PathBuf) -> Result<(usize, PathBuf), String> {
    store.export(&path).map(|count| (count, path)).map_err(|error| error.to_string())
}

/// Takes everything over and reads it anew.
pub fn import_from(store: &Store, path: &Path) -> Result<(Learner, Vec<Offered>), String> {
    let imported = store.import(path).map_err(|error| format!("the file {error}"))?;
    Ok((Learner::read(store), imported.offered))
}

fn find_compiler(setting: Option<&Path>, data_dir: &Path) -> Compiler {
    match locate::locate(setting, data_dir) {
        Ok(found) => Compiler::Found { origin: found.origin },
        Err(missing) => Compiler::Missing {
            message: match missing.setting {
                Some(problem) => problem,
                None => "NVRTC, NVIDIA's compiler library for CUDA C++, was not found on this machine.".to_owned(),
            },
            download_bytes: fetch::download_bytes(data_dir, &fetch::Package::ALL),
        },
    }
}

fn read_kernel(path: &Path) -> Result<(String, String), String> {
    let shown = path.display();
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let told = std::fs::metadata(path).map_err(|error| format!("The file cannot be read ({error}): {shown}"))?;
    if !told.is_file() {
        return Err(format!("This is not a regular file, so it cannot be imported: {shown}"));
    }
    let size = told.len();
    if size > MAX_IMPORT_BYTES {
        let megabytes = size as f64 / 1e6;
        return Err(format!("The file has {megabytes:.1} MB; a kernel has at most 2 MB: {shown}"));
    }
    let bytes = std::fs::read(path).map_err(|error| format!("The file cannot be read ({error}): {shown}"))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok((name, text)),
        Err(error) => {
            let line = 1 + error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count();
            Err(format!("Line {line} is not UTF-8 text; save the file as UTF-8 and import it again: {shown}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_name_what_is_wrong_with_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        };
        let fine = read_kernel(&path("a.cu", "é\n".as_bytes())).unwrap();
        assert_eq!(fine, ("a.cu".to_owned(), "é\n".to_owned()));
        let error = read_kernel(&path("latin.cu", b"int x;\n// \xe9\n")).unwrap_err();
        assert!(error.contains("Line 2") && error.contains("latin.cu"), "{error}");
        let error = read_kernel(&path("big.cu", &vec![b' '; 5_000_000])).unwrap_err();
        assert!(error.contains("5.0 MB"), "{error}");
        assert!(read_kernel(&folder.path().join("none.cu")).unwrap_err().contains("cannot be read"));
    }

    #[test]
    fn a_picture_holds_the_area_and_what_is_outside_of_the_window_is_left_out() {
        let mut image = egui::ColorImage::filled([8, 6], egui::Color32::BLACK);
        image.pixels[2 * 8 + 3] = egui::Color32::WHITE;
        let area = |x: f32, y: f32| egui::Rect::from_min_size(egui::pos2(x, y), egui::vec2(20.0, 2.0));
        let bytes = png_of(&image, area(3.0, 2.0)).expect("a picture");
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("a PNG");
        let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
        let info = reader.next_frame(&mut pixels).expect("its pixels");
        assert_eq!((info.width, info.height), (5, 2));
        assert_eq!(pixels[..6], [255, 255, 255, 0, 0, 0]);
        assert!(png_of(&image, area(30.0, 2.0)).unwrap_err().contains("not in sight"));
    }
}
