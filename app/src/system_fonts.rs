//! Letters that no built-in font has, such as those of Chinese and Japanese: a learner's comments, or a translated
//! course. A font of the system is looked for at the first such letter, so that nobody else pays for it.
//!
//! By name in the folders where systems keep fonts. egui's own provider asks fontconfig and its like, which brings
//! twenty crates and speaks to a library that a small Linux lacks; a comment needs one font.

use crate::fonts;
use egui::FontData;
use egui::epaint::text::{FallbackRequest, FontInsert, FontPriority, FontProvider, InsertFontFamily};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Files that hold the letters of East Asia, the widespread first; all that a system ships have thousands of them.
const FILES: [&str; 14] = [
    "NotoSansCJK-Regular.ttc",
    "NotoSansCJKsc-Regular.otf",
    "NotoSansSC-Regular.otf",
    "SourceHanSans-Regular.ttc",
    "wqy-microhei.ttc",
    "wqy-zenhei.ttc",
    "DroidSansFallbackFull.ttf",
    "DroidSansFallback.ttf",
    "msyh.ttc",
    "YuGothR.ttc",
    "malgun.ttf",
    "simsun.ttc",
    "PingFang.ttc",
    "Hiragino Sans GB.ttc",
];

/// A font is no larger; another file is none.
const MAX_BYTES: u64 = 64 << 20;

/// Folders below a folder of fonts that are looked into.
const DEPTH: usize = 4;

/// Asked when a letter has no font.
struct OnDemand {
    context: egui::Context,
    asked: AtomicBool,
}

impl FontProvider for OnDemand {
    /// None, and a font is looked for on a thread: disks take their time. The letter is a box until it is there;
    /// everything is then drawn anew.
    fn font_for(&self, _request: &FallbackRequest<'_>) -> Option<FontInsert> {
        if !self.asked.swap(true, Ordering::Relaxed) {
            let context = self.context.clone();
            // Without a further thread, or without such a font, the letter stays a box.
            let _ = std::thread::Builder::new().name("system fonts".to_owned()).spawn(move || {
                if let Some(font) = find(&folders()).and_then(|path| std::fs::read(path).ok()) {
                    context.add_font(insert(font));
                }
            });
        }
        None
    }
}

/// Lets the window find a font of the system when it needs one.
pub fn install(ctx: &egui::Context) {
    ctx.set_font_providers(vec![std::sync::Arc::new(OnDemand { context: ctx.clone(), asked: AtomicBool::new(false) })]);
}

/// After all other fonts, in prose, strong or not, and in code.
fn insert(bytes: Vec<u8>) -> FontInsert {
    let last = |family| InsertFontFamily { family, priority: FontPriority::Lowest };
    FontInsert::new("the system's", FontData::from_owned(bytes), fonts::families().map(last).into())
}

fn folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        ["/usr/share/fonts", "/usr/local/share/fonts", "/System/Library/Fonts", "C:\\Windows\\Fonts"]
            .map(PathBuf::from)
            .into();
    let dirs = directories::UserDirs::new();
    folders.extend(dirs.as_ref().and_then(directories::UserDirs::font_dir).map(Path::to_owned));
    // Windows itself, where Lockstep runs in its Linux.
    folders.push("/mnt/c/Windows/Fonts".into());
    folders
}

/// The first of [`FILES`] that is somewhere in these folders.
fn find(folders: &[PathBuf]) -> Option<PathBuf> {
    let mut best: Option<(usize, PathBuf)> = None;
    let mut left: Vec<(PathBuf, usize)> = folders.iter().rev().map(|folder| (folder.clone(), 0)).collect();
    while let Some((folder, depth)) = left.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            let rank = name.to_str().and_then(|name| FILES.iter().position(|file| file.eq_ignore_ascii_case(name)));
            let better = rank.filter(|rank| best.as_ref().is_none_or(|(known, _)| rank < known));
            if let Some(rank) = better
                && path.metadata().is_ok_and(|file| file.is_file() && file.len() <= MAX_BYTES)
            {
                best = Some((rank, path));
            } else if depth < DEPTH && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                left.push((path, depth + 1));
            }
        }
    }
    best.map(|(_, path)| path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widespread_font_is_found_wherever_it_lies() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(find(&[folder.path().to_owned(), "/nowhere".into()]), None);
        let deep = folder.path().join("truetype/wqy");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::write(deep.join("WQY-MICROHEI.ttc"), "font").unwrap();
        assert_eq!(find(&[folder.path().to_owned()]), Some(deep.join("WQY-MICROHEI.ttc")));
        std::fs::write(folder.path().join("NotoSansCJK-Regular.ttc"), "font").unwrap();
        assert_eq!(find(&[folder.path().to_owned()]), Some(folder.path().join("NotoSansCJK-Regular.ttc")));
    }
}
