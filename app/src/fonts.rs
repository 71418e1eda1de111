//! The window's fonts: egui's, a heavier face of its prose, which egui lacks, and the icons.

use egui::{FontData, FontDefinitions, FontFamily, RichText};
use std::sync::Arc;

/// Name of the heavier face, and of the family that begins with it.
const STRONG: &str = "Ubuntu-Medium";

/// Unmodified, as Canonical published it; its licence lies beside it.
const UBUNTU_MEDIUM: &[u8] = include_bytes!("../../assets/fonts/Ubuntu-M.ttf");

/// Name of the icons' font and of their family.
const ICONS: &str = "Phosphor";

/// The icons of `icons.rs`, cut out of the set that Phosphor Icons published; its licence lies beside it.
const PHOSPHOR: &[u8] = include_bytes!("../../assets/fonts/Phosphor.ttf");

/// The family of icons, which are drawn apart from words.
pub fn icons() -> FontFamily {
    FontFamily::Name(ICONS.into())
}

/// The family of headings and of strong words. Bound to fonts by [`definitions`].
pub fn strong() -> FontFamily {
    FontFamily::Name(STRONG.into())
}

/// The three families that text is set in, for whoever adds a font to all of them.
pub fn families() -> [FontFamily; 3] {
    [FontFamily::Proportional, FontFamily::Monospace, strong()]
}

/// egui's fonts, with the monospaced one as the last resort of prose: the proportional one lacks arrows, `≤` and Greek.
pub fn definitions() -> FontDefinitions {
    let mut fonts = FontDefinitions::default();
    let code = fonts.families.get(&FontFamily::Monospace).cloned().unwrap_or_default();
    let prose = fonts.families.entry(FontFamily::Proportional).or_default();
    prose.extend(code.into_iter().filter(|name| name == "Hack"));
    // What the heavier face lacks comes from the lighter one.
    let heavier = std::iter::once(STRONG.to_owned()).chain(prose.iter().cloned()).collect();
    // egui wants a letter that stands for those that are missing.
    let drawn = std::iter::once(ICONS.to_owned()).chain(prose.iter().cloned()).collect();
    fonts.families.insert(icons(), drawn);
    fonts.families.insert(strong(), heavier);
    fonts.font_data.insert(ICONS.to_owned(), Arc::new(FontData::from_static(PHOSPHOR)));
    fonts.font_data.insert(STRONG.to_owned(), Arc::new(FontData::from_static(UBUNTU_MEDIUM)));
    fonts
}

/// Heavier letters. egui's own `strong` changes the colour alone.
pub trait Bold {
    fn bold(self) -> Self;
}

impl Bold for RichText {
    fn bold(self) -> Self {
        self.strong().family(strong())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_has_letters_and_symbols_and_the_heavier_one_is_wider() {
        let context = egui::Context::default();
        context.set_fonts(definitions());
        let mut widths = Vec::new();
        let mut output = context.run_ui(egui::RawInput::default(), |ui| {
            for family in families() {
                let font = egui::FontId::new(14.0, family.clone());
                ui.fonts_mut(|fonts| {
                    for letter in "aZ9 →≤µ√".chars() {
                        assert!(fonts.has_glyph(&font, letter), "{family} lacks {letter}");
                    }
                    let galley = fonts.layout_no_wrap("heading".to_owned(), font.clone(), egui::Color32::WHITE);
                    widths.push(galley.size().x);
                });
            }
        });
        output.textures_delta.clear();
        assert!(widths[2] > widths[0] * 1.02, "{widths:?}");
    }
}
