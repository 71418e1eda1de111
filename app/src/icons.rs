//! Icons of one hand, from the Phosphor set. They are drawn and never spelled: what they stand beside has its words, and a
//! screen reader reads those alone.
//!
//! `assets/fonts/Phosphor.ttf` holds the icons of [`ALL`] and no others, so that 31 kB are carried and not 500;
//! `assets/fonts/subset.py` makes it anew when the list has grown.

use crate::fonts;
use egui::{Align2, Atom, Color32, FontId, Painter, Pos2, Response, Sense, Ui, vec2};

/// One icon: its name in the Phosphor set, and its place in the font.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Icon {
    pub name: &'static str,
    pub glyph: char,
}

/// Edge of an icon beside words, in points.
pub const SIZE: f32 = 16.0;

/// Draws an icon around a place.
pub fn paint(painter: &Painter, center: Pos2, size: f32, icon: Icon, color: Color32) {
    painter.text(center, Align2::CENTER_CENTER, icon.glyph, FontId::new(size, fonts::icons()), color);
}

/// An icon in front of the words of a button, in their colour.
pub fn atom(icon: Icon) -> Atom<'static> {
    Atom::paint(vec2(SIZE, SIZE), move |ui, at| {
        paint(ui.painter(), at.rect.center(), SIZE, icon, at.fallback_text_color);
    })
}

/// As [`atom`], in a colour of its own.
pub fn colored(icon: Icon, color: Color32) -> Atom<'static> {
    Atom::paint(vec2(SIZE, SIZE), move |ui, at| paint(ui.painter(), at.rect.center(), SIZE, icon, color))
}

/// The room of an icon, so that words below one another begin at one place.
pub fn room() -> Atom<'static> {
    Atom::paint(vec2(SIZE, SIZE), |_, _| {})
}

/// An icon in a row of labels.
pub fn show(ui: &mut Ui, icon: Icon, color: Color32) -> Response {
    let height = ui.text_style_height(&egui::TextStyle::Body);
    let (rect, response) = ui.allocate_exact_size(vec2(SIZE, height), Sense::hover());
    paint(ui.painter(), rect.center(), SIZE, icon, color);
    response
}

const fn icon(name: &'static str, glyph: char) -> Icon {
    Icon { name, glyph }
}

pub const ARROW_ELBOW_DOWN_LEFT: Icon = icon("arrow-elbow-down-left", '\u{e044}');
pub const GRADUATION_CAP: Icon = icon("graduation-cap", '\u{e62c}');
pub const ARROW_CLOCKWISE: Icon = icon("arrow-clockwise", '\u{e036}');
pub const ARROW_COUNTER_CLOCKWISE: Icon = icon("arrow-counter-clockwise", '\u{e038}');
pub const ARROW_DOWN: Icon = icon("arrow-down", '\u{e03e}');
pub const ARROW_SQUARE_OUT: Icon = icon("arrow-square-out", '\u{e5de}');
pub const ARROW_U_UP_LEFT: Icon = icon("arrow-u-up-left", '\u{e08a}');
pub const ARROW_U_UP_RIGHT: Icon = icon("arrow-u-up-right", '\u{e08c}');
pub const ARROW_UP: Icon = icon("arrow-up", '\u{e08e}');
pub const ARROWS_CLOCKWISE: Icon = icon("arrows-clockwise", '\u{e094}');
pub const ARROWS_HORIZONTAL: Icon = icon("arrows-horizontal", '\u{eb06}');
pub const ARROWS_IN_LINE_HORIZONTAL: Icon = icon("arrows-in-line-horizontal", '\u{e530}');
pub const ARROWS_MERGE: Icon = icon("arrows-merge", '\u{ed3e}');
pub const ARROWS_OUT: Icon = icon("arrows-out", '\u{e0a2}');
pub const ARROWS_VERTICAL: Icon = icon("arrows-vertical", '\u{eb04}');
pub const BINOCULARS: Icon = icon("binoculars", '\u{ea64}');
pub const BOOK_BOOKMARK: Icon = icon("book-bookmark", '\u{e0e4}');
pub const BOOK_OPEN_TEXT: Icon = icon("book-open-text", '\u{e8f2}');
pub const BOOKS: Icon = icon("books", '\u{e758}');
pub const BOMB: Icon = icon("bomb", '\u{ee0a}');
pub const BRACKETS_CURLY: Icon = icon("brackets-curly", '\u{e860}');
pub const CALENDAR_CHECK: Icon = icon("calendar-check", '\u{e712}');
pub const CARET_LEFT: Icon = icon("caret-left", '\u{e138}');
pub const CARET_RIGHT: Icon = icon("caret-right", '\u{e13a}');
pub const CHART_LINE: Icon = icon("chart-line", '\u{e154}');
pub const CHART_LINE_UP: Icon = icon("chart-line-up", '\u{e156}');
pub const CHAT_SLASH: Icon = icon("chat-slash", '\u{e15e}');
pub const CHECK: Icon = icon("check", '\u{e182}');
pub const CHECK_CIRCLE: Icon = icon("check-circle", '\u{e184}');
pub const CLIPBOARD_TEXT: Icon = icon("clipboard-text", '\u{e198}');
pub const CLOCK_COUNTER_CLOCKWISE: Icon = icon("clock-counter-clockwise", '\u{e1a0}');
pub const CODE: Icon = icon("code", '\u{e1bc}');
pub const COLUMNS: Icon = icon("columns", '\u{e546}');
pub const COMMAND: Icon = icon("command", '\u{e1c4}');
pub const COMPASS: Icon = icon("compass", '\u{e1c8}');
pub const COPY: Icon = icon("copy", '\u{e1ca}');
pub const CPU: Icon = icon("cpu", '\u{e610}');
pub const CUBE: Icon = icon("cube", '\u{e1da}');
pub const DESKTOP: Icon = icon("desktop", '\u{e560}');
pub const DICE_FIVE: Icon = icon("dice-five", '\u{e1ee}');
pub const ERASER: Icon = icon("eraser", '\u{e21e}');
pub const EXPORT: Icon = icon("export", '\u{eaf0}');
pub const EYE_SLASH: Icon = icon("eye-slash", '\u{e224}');
pub const FILE_ARROW_DOWN: Icon = icon("file-arrow-down", '\u{e232}');
pub const FILE_ARROW_UP: Icon = icon("file-arrow-up", '\u{e61e}');
pub const FILE_CODE: Icon = icon("file-code", '\u{e914}');
pub const FILE_CSV: Icon = icon("file-csv", '\u{eb1c}');
pub const FILE_PNG: Icon = icon("file-png", '\u{eb18}');
pub const FILE_SVG: Icon = icon("file-svg", '\u{ed08}');
pub const FLASK: Icon = icon("flask", '\u{e79e}');
pub const FLOPPY_DISK: Icon = icon("floppy-disk", '\u{e248}');
pub const FOOTPRINTS: Icon = icon("footprints", '\u{ea88}');
pub const FRAME_CORNERS: Icon = icon("frame-corners", '\u{e626}');
pub const GAUGE: Icon = icon("gauge", '\u{e628}');
pub const GAVEL: Icon = icon("gavel", '\u{ea32}');
pub const GEAR: Icon = icon("gear", '\u{e270}');
pub const GIT_BRANCH: Icon = icon("git-branch", '\u{e278}');
pub const GIT_DIFF: Icon = icon("git-diff", '\u{e27c}');
pub const GRID_NINE: Icon = icon("grid-nine", '\u{ec8c}');
pub const HASH_STRAIGHT: Icon = icon("hash-straight", '\u{e2a4}');
pub const HEARTBEAT: Icon = icon("heartbeat", '\u{e2ac}');
pub const HOURGLASS_MEDIUM: Icon = icon("hourglass-medium", '\u{e2b8}');
pub const IMAGES: Icon = icon("images", '\u{e836}');
pub const INFINITY: Icon = icon("infinity", '\u{e634}');
pub const INFO: Icon = icon("info", '\u{e2ce}');
pub const KEYBOARD: Icon = icon("keyboard", '\u{e2d8}');
pub const LAYOUT: Icon = icon("layout", '\u{e6d6}');
pub const LIGHTBULB: Icon = icon("lightbulb", '\u{e2dc}');
pub const LIGHTNING: Icon = icon("lightning", '\u{e2de}');
pub const LIST_CHECKS: Icon = icon("list-checks", '\u{eadc}');
pub const LOCK: Icon = icon("lock", '\u{e2fa}');
pub const MAGNIFYING_GLASS: Icon = icon("magnifying-glass", '\u{e30c}');
pub const MAGNIFYING_GLASS_MINUS: Icon = icon("magnifying-glass-minus", '\u{e30e}');
pub const MAGNIFYING_GLASS_PLUS: Icon = icon("magnifying-glass-plus", '\u{e310}');
pub const MAP_TRIFOLD: Icon = icon("map-trifold", '\u{e31a}');
pub const MOON: Icon = icon("moon", '\u{e330}');
pub const NOT_EQUALS: Icon = icon("not-equals", '\u{eda6}');
pub const PACKAGE: Icon = icon("package", '\u{e390}');
pub const PAINT_BRUSH: Icon = icon("paint-brush", '\u{e6f0}');
pub const PALETTE: Icon = icon("palette", '\u{e6c8}');
pub const PENCIL_LINE: Icon = icon("pencil-line", '\u{e3b2}');
pub const PERSON_SIMPLE_RUN: Icon = icon("person-simple-run", '\u{e730}');
pub const PLAY: Icon = icon("play", '\u{e3d0}');
pub const PRINTER: Icon = icon("printer", '\u{e3dc}');
pub const PROJECTOR_SCREEN: Icon = icon("projector-screen", '\u{e658}');
pub const PROHIBIT: Icon = icon("prohibit", '\u{e3de}');
pub const PUSH_PIN: Icon = icon("push-pin", '\u{e3e2}');
pub const QUESTION: Icon = icon("question", '\u{e3e8}');
pub const ROCKET_LAUNCH: Icon = icon("rocket-launch", '\u{e3fe}');
pub const RULER: Icon = icon("ruler", '\u{e6b8}');
pub const SCROLL: Icon = icon("scroll", '\u{eb7a}');
pub const SEAL_CHECK: Icon = icon("seal-check", '\u{e606}');
pub const SHAPES: Icon = icon("shapes", '\u{ec5e}');
pub const SIDEBAR_SIMPLE: Icon = icon("sidebar-simple", '\u{ec24}');
pub const SIGN_OUT: Icon = icon("sign-out", '\u{e42a}');
pub const STACK: Icon = icon("stack", '\u{e466}');
pub const STOP: Icon = icon("stop", '\u{e46c}');
pub const SWAP: Icon = icon("swap", '\u{e83c}');
pub const SUN: Icon = icon("sun", '\u{e472}');
pub const TARGET: Icon = icon("target", '\u{e47c}');
pub const TERMINAL_WINDOW: Icon = icon("terminal-window", '\u{eae8}');
pub const TEXT_AA: Icon = icon("text-aa", '\u{e6ee}');
pub const TEXT_INDENT: Icon = icon("text-indent", '\u{ea1e}');
pub const TIMER: Icon = icon("timer", '\u{e492}');
pub const TRASH: Icon = icon("trash", '\u{e4a6}');
pub const TROPHY: Icon = icon("trophy", '\u{e67e}');
pub const USERS: Icon = icon("users", '\u{e4d6}');
pub const WARNING: Icon = icon("warning", '\u{e4e0}');
pub const WRENCH: Icon = icon("wrench", '\u{e5d4}');
pub const X: Icon = icon("x", '\u{e4f6}');
pub const X_CIRCLE: Icon = icon("x-circle", '\u{e4f8}');

/// Every icon.
pub const ALL: [Icon; 111] = [
    ARROW_ELBOW_DOWN_LEFT,
    GRADUATION_CAP,
    ARROW_CLOCKWISE,
    ARROW_COUNTER_CLOCKWISE,
    ARROW_DOWN,
    ARROW_SQUARE_OUT,
    ARROW_U_UP_LEFT,
    ARROW_U_UP_RIGHT,
    ARROW_UP,
    ARROWS_CLOCKWISE,
    ARROWS_HORIZONTAL,
    ARROWS_IN_LINE_HORIZONTAL,
    ARROWS_MERGE,
    ARROWS_OUT,
    ARROWS_VERTICAL,
    BINOCULARS,
    BOOK_BOOKMARK,
    BOOK_OPEN_TEXT,
    BOOKS,
    BOMB,
    BRACKETS_CURLY,
    CALENDAR_CHECK,
    CARET_LEFT,
    CARET_RIGHT,
    CHART_LINE,
    CHART_LINE_UP,
    CHAT_SLASH,
    CHECK,
    CHECK_CIRCLE,
    CLIPBOARD_TEXT,
    CLOCK_COUNTER_CLOCKWISE,
    CODE,
    COLUMNS,
    COMMAND,
    COMPASS,
    COPY,
    CPU,
    CUBE,
    DESKTOP,
    DICE_FIVE,
    ERASER,
    EXPORT,
    EYE_SLASH,
    FILE_ARROW_DOWN,
    FILE_ARROW_UP,
    FILE_CODE,
    FILE_CSV,
    FILE_PNG,
    FILE_SVG,
    FLASK,
    FLOPPY_DISK,
    FOOTPRINTS,
    FRAME_CORNERS,
    GAUGE,
    GAVEL,
    GEAR,
    GIT_BRANCH,
    GIT_DIFF,
    GRID_NINE,
    HASH_STRAIGHT,
    HEARTBEAT,
    HOURGLASS_MEDIUM,
    IMAGES,
    INFINITY,
    INFO,
    KEYBOARD,
    LAYOUT,
    LIGHTBULB,
    LIGHTNING,
    LIST_CHECKS,
    LOCK,
    MAGNIFYING_GLASS,
    MAGNIFYING_GLASS_MINUS,
    MAGNIFYING_GLASS_PLUS,
    MAP_TRIFOLD,
    MOON,
    NOT_EQUALS,
    PACKAGE,
    PAINT_BRUSH,
    PALETTE,
    PENCIL_LINE,
    PERSON_SIMPLE_RUN,
    PLAY,
    PRINTER,
    PROJECTOR_SCREEN,
    PROHIBIT,
    PUSH_PIN,
    QUESTION,
    ROCKET_LAUNCH,
    RULER,
    SCROLL,
    SEAL_CHECK,
    SHAPES,
    SIDEBAR_SIMPLE,
    SIGN_OUT,
    STACK,
    STOP,
    SWAP,
    SUN,
    TARGET,
    TERMINAL_WINDOW,
    TEXT_AA,
    TEXT_INDENT,
    TIMER,
    TRASH,
    TROPHY,
    USERS,
    WARNING,
    WRENCH,
    X,
    X_CIRCLE,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_font_has_every_icon_and_no_two_are_one() {
        let context = egui::Context::default();
        context.set_fonts(fonts::definitions());
        let mut output = context.run_ui(egui::RawInput::default(), |ui| {
            let font = FontId::new(SIZE, fonts::icons());
            for (index, icon) in ALL.iter().enumerate() {
                assert!(ui.fonts_mut(|fonts| fonts.has_glyph(&font, icon.glyph)), "{} is not in the font", icon.name);
                assert!(ALL[..index].iter().all(|other| other != icon), "{} is there twice", icon.name);
            }
        });
        output.textures_delta.clear();
    }
}
