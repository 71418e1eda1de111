//! `settings.toml`: what the learner chose. One bad value costs that value only.

use super::disk::Problem;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ThemeChoice {
    /// As the desktop has it.
    #[default]
    System,
    Light,
    Dark,
}

/// A device elsewhere, reached through a command that speaks the worker protocol on standard input and output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remote {
    pub name: String,
    /// For example `ssh spark lockstep worker`; given to the system's shell.
    pub command: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub theme: ThemeChoice,
    /// Zoom of the window, 0.5 to 4.
    pub scale: f32,
    /// Font size of the editor in points, 8 to 40.
    pub editor_points: f32,
    /// Folder that holds libnvrtc; None searches.
    pub nvrtc: Option<PathBuf>,
    /// Folder whose course files replace the built-in ones.
    pub content: Option<PathBuf>,
    pub remotes: Vec<Remote>,
    /// Device picked last, by name.
    pub device: Option<String>,
    /// Python interpreter for the rungs; None takes `python3`.
    pub python: Option<PathBuf>,
    /// Large type and high contrast, for a lecture.
    pub projector: bool,
    /// A bracket or quote that is typed brings its partner.
    pub close_brackets: bool,
    /// Long lines are broken at the edge of the editor.
    pub wrap_lines: bool,
    /// Columns that Tab indents by, 1 to 8.
    pub tab_width: u32,
    /// Nothing moves by itself.
    pub reduced_motion: bool,
    /// The tour was taken or declined.
    pub tour_seen: bool,
    /// Command that opens a file in the learner's own editor, such as `code`; None takes the system's choice.
    pub editor: Option<String>,
    /// Entries of a newer version of the app, and values that made no sense; kept as they are.
    pub other: toml::Table,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            theme: ThemeChoice::default(),
            scale: 1.0,
            editor_points: 14.0,
            nvrtc: None,
            content: None,
            remotes: Vec::new(),
            device: None,
            python: None,
            projector: false,
            close_brackets: true,
            wrap_lines: false,
            tab_width: 4,
            reduced_motion: false,
            tour_seen: false,
            editor: None,
            other: toml::Table::new(),
        }
    }
}

impl Settings {
    /// Reads settings; what makes no sense keeps its default and is reported with the path.
    pub(crate) fn parse(text: &str, path: &Path, problems: &mut Vec<Problem>) -> Option<Self> {
        let mut table: toml::Table = toml::from_str(text).ok()?;
        let mut settings = Self::default();
        {
            let mut reader = Reader { table: &mut table, path, problems };
            reader.read("theme", "`system`, `light` or `dark`", |_| true, &mut settings.theme);
            reader.read("scale", "a number from 0.5 to 4", |s| (0.5..=4.0).contains(s), &mut settings.scale);
            reader.read(
                "editor_points",
                "a number from 8 to 40",
                |p| (8.0..=40.0).contains(p),
                &mut settings.editor_points,
            );
            reader.read("nvrtc", "a folder", |_| true, &mut settings.nvrtc);
            reader.read("content", "a folder", |_| true, &mut settings.content);
            reader.read("remotes", "a list of { name, command }", |_| true, &mut settings.remotes);
            reader.read("device", "a device's name", |_| true, &mut settings.device);
            reader.read("editor", "a command", |_| true, &mut settings.editor);
            reader.read("python", "a program", |_| true, &mut settings.python);
            reader.read("projector", "true or false", |_| true, &mut settings.projector);
            reader.read("close_brackets", "true or false", |_| true, &mut settings.close_brackets);
            reader.read("wrap_lines", "true or false", |_| true, &mut settings.wrap_lines);
            reader.read("tab_width", "a number from 1 to 8", |w| (1..=8).contains(w), &mut settings.tab_width);
            reader.read("reduced_motion", "true or false", |_| true, &mut settings.reduced_motion);
            reader.read("tour_seen", "true or false", |_| true, &mut settings.tour_seen);
        }
        settings.other = table;
        Some(settings)
    }

    /// Takes one setting of another machine that was offered. True if it made sense.
    pub fn take(&mut self, offered: &super::Offered) -> bool {
        let mut table: toml::Table = toml::from_str(&self.to_text()).unwrap_or_default();
        table.insert(offered.setting.clone(), offered.value.clone());
        let mut problems = Vec::new();
        let text = toml::to_string(&table).unwrap_or_default();
        let taken = Self::parse(&text, Path::new("settings.toml"), &mut problems).filter(|_| problems.is_empty());
        let sound = taken.is_some();
        *self = taken.unwrap_or_else(|| self.clone());
        sound
    }

    pub(crate) fn to_text(&self) -> String {
        let Self { theme, scale, editor_points, nvrtc, content, remotes, device, python, editor, .. } = self;
        // What could not be read is kept, unless the learner has set that entry since.
        let mut table = self.other.clone();
        let mut put = |name: &str, value: Option<toml::Value>| {
            if let Some(value) = value {
                table.insert(name.to_owned(), value);
            }
        };
        let default = Self::default();
        put("theme", toml::Value::try_from(theme).ok().filter(|_| *theme != default.theme));
        put("scale", Some(short(*scale)).filter(|_| *scale != default.scale));
        put("editor_points", Some(short(*editor_points)).filter(|_| *editor_points != default.editor_points));
        for (name, path) in [("nvrtc", nvrtc), ("content", content), ("python", python)] {
            put(name, path.as_ref().map(|path| path.display().to_string().into()));
        }
        put("remotes", toml::Value::try_from(remotes).ok().filter(|_| !remotes.is_empty()));
        let switches =
            [("projector", self.projector), ("reduced_motion", self.reduced_motion), ("tour_seen", self.tour_seen)];
        for (name, on) in switches {
            put(name, Some(on.into()).filter(|_| on));
        }
        put("close_brackets", Some(false.into()).filter(|_| !self.close_brackets));
        put("wrap_lines", Some(true.into()).filter(|_| self.wrap_lines));
        put("tab_width", Some(i64::from(self.tab_width).into()).filter(|_| self.tab_width != default.tab_width));
        put("device", device.clone().map(Into::into));
        put("editor", editor.clone().map(Into::into));
        toml::to_string(&table).unwrap_or_default()
    }
}

/// 1.1 and not 1.100000023841858.
fn short(number: f32) -> toml::Value {
    toml::Value::Float((f64::from(number) * 1000.0).round() / 1000.0)
}

struct Reader<'a> {
    table: &'a mut toml::Table,
    path: &'a Path,
    problems: &'a mut Vec<Problem>,
}

impl Reader<'_> {
    fn read<T: DeserializeOwned>(&mut self, name: &str, expected: &str, sound: fn(&T) -> bool, into: &mut T) {
        let Some(value) = self.table.get(name) else { return };
        // TOML knows `1` from `1.0`; people do not.
        let value = value.as_integer().map_or_else(|| value.clone(), |whole| toml::Value::Float(whole as f64));
        match value.clone().try_into::<T>().ok().filter(sound) {
            Some(read) => {
                *into = read;
                self.table.remove(name);
            }
            None => self.problems.push(Problem {
                message: format!("`{name}` is expected to be {expected} (found {value}); the default is used"),
                path: self.path.to_owned(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> (Option<Settings>, Vec<String>) {
        let mut problems = Vec::new();
        let settings = Settings::parse(text, Path::new("settings.toml"), &mut problems);
        (settings, problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn settings_go_there_and_back() {
        let settings = Settings {
            theme: ThemeChoice::Dark,
            scale: 1.1,
            projector: true,
            close_brackets: false,
            wrap_lines: true,
            nvrtc: Some("/opt/cuda/lib".into()),
            remotes: vec![Remote { name: "spark".into(), command: "ssh spark lockstep worker".into() }],
            ..Settings::default()
        };
        let text = settings.to_text();
        assert!(text.contains("scale = 1.1\n"), "{text}");
        assert_eq!(parse(&text), (Some(settings), Vec::new()));
        assert_eq!(parse(&Settings::default().to_text()).0, Some(Settings::default()));
    }

    #[test]
    fn one_bad_value_costs_that_value_only_and_stays_in_the_file() {
        let (settings, problems) =
            parse("theme = \"pink\"\nscale = 99\nnvrtc = 3\nnew_thing = true\ndevice = \"emulator\"\n");
        let settings = settings.unwrap();
        assert_eq!(
            (settings.theme, settings.scale, settings.device.as_deref()),
            (ThemeChoice::System, 1.0, Some("emulator"))
        );
        assert_eq!(problems.len(), 3, "{problems:?}");
        assert!(problems[0].contains("`system`, `light` or `dark`"), "{}", problems[0]);
        let text = settings.to_text();
        for kept in ["theme = \"pink\"", "scale = 99", "new_thing = true"] {
            assert!(text.contains(kept), "{text}");
        }
        assert_eq!(parse("scale = 2").0.unwrap().scale, 2.0);
    }

    #[test]
    fn no_toml_is_no_settings() {
        assert_eq!(parse("theme = ").0, None);
    }
}
