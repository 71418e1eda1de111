//! LaTeX formulas as pictures: parsed and laid out once, drawn at the exact pixel size of the screen, coloured like the
//! text around them. The only module that knows RaTeX, which is young.

use egui::{Color32, Pos2, Rect, TextureHandle, TextureOptions, Vec2, pos2, vec2};
use ratex_types::display_item::DisplayList;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Where the formula stands, which decides how high its fractions and limits are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Style {
    /// Within a line of text.
    Inline,
    /// On a line of its own.
    Display,
}

/// Extent of a formula in em (multiples of the font size), measured from the baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    pub width_em: f32,
    /// Above the baseline.
    pub height_em: f32,
    /// Below the baseline, positive downwards.
    pub depth_em: f32,
}

/// What is wrong with a formula's LaTeX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormulaError {
    pub message: String,
    /// Bytes of the LaTeX text that the message is about, where the parser knows.
    pub range: Option<Range<usize>>,
}

impl std::fmt::Display for FormulaError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.range {
            Some(range) => write!(f, "formula, character {}: {}", range.start + 1, self.message),
            None => write!(f, "formula: {}", self.message),
        }
    }
}

impl std::error::Error for FormulaError {}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    tex: Arc<str>,
    style: Style,
}

/// A picture depends on all of these; floats by their bits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct PictureKey {
    formula: Key,
    font_px: u32,
    color: Color32,
}

struct Picture {
    texture: TextureHandle,
    size_px: [usize; 2],
    /// From the picture's left and top edge to the formula's origin: its left end on the baseline. Whole pixels.
    origin_px: [i32; 2],
}

/// Formulas met so far. Laying one out costs about 0.1 ms and rasterizing about 0.5 ms, so both are done once; a picture
/// is made when it is first painted, that is when its line is scrolled into view.
#[derive(Default)]
pub struct Formulas {
    laid: HashMap<Key, Result<Arc<DisplayList>, FormulaError>>,
    pictures: HashMap<PictureKey, Option<Picture>>,
    /// Of all pictures.
    pixels: usize,
}

/// Pictures kept before all are dropped and made anew as needed: several times what a lesson holds, and the way out for
/// those of a scale or theme that is no longer shown.
const PICTURES_KEPT: usize = 600;

/// Pixels of all pictures that are kept: a hundred million bytes' worth of textures.
const PIXELS_KEPT: usize = 25_000_000;

/// The largest formula that is drawn, in em. A line length that somebody writes into a matrix makes one of any size.
const MOST_WIDTH_EM: f64 = 200.0;
const MOST_HEIGHT_EM: f64 = 80.0;

/// White space around a picture for anti-aliased edges, in pixels.
const MARGIN_PX: f64 = 1.0;

impl Formulas {
    /// Lays out a formula.
    ///
    /// # Errors
    /// The LaTeX is not understood: what and where.
    pub fn measure(&mut self, tex: &str, style: Style) -> Result<Extent, FormulaError> {
        let list = self.laid(&Key { tex: tex.into(), style })?;
        Ok(Extent { width_em: list.width as f32, height_em: list.height as f32, depth_em: list.depth as f32 })
    }

    fn laid(&mut self, key: &Key) -> Result<Arc<DisplayList>, FormulaError> {
        if let Some(known) = self.laid.get(key) {
            return known.clone();
        }
        let result = lay_out(&key.tex, key.style).map(Arc::new);
        self.laid.insert(key.clone(), result.clone());
        result
    }

    /// Paints a formula with its left end at `origin`, which lies on the baseline; `font_size` in points. A formula with
    /// an error paints nothing: [`Formulas::measure`] has told the caller.
    pub fn paint(
        &mut self,
        painter: &egui::Painter,
        origin: Pos2,
        tex: &str,
        style: Style,
        font_size: f32,
        color: Color32,
    ) {
        let per_point = painter.pixels_per_point();
        let font_px = font_size * per_point;
        let formula = Key { tex: tex.into(), style };
        let key = PictureKey { formula: formula.clone(), font_px: font_px.to_bits(), color };
        if !self.pictures.contains_key(&key) {
            if self.pictures.len() >= PICTURES_KEPT || self.pixels >= PIXELS_KEPT {
                self.pictures.clear();
                self.pixels = 0;
            }
            let picture = self.laid(&formula).ok().and_then(|list| rasterize(painter.ctx(), &list, font_px, color));
            self.pixels += picture.as_ref().map_or(0, |picture| picture.size_px[0] * picture.size_px[1]);
            self.pictures.insert(key.clone(), picture);
        }
        let Some(Some(picture)) = self.pictures.get(&key) else { return };
        // Snapped to whole pixels: one texel is one pixel, so that strokes stay sharp.
        let left = (origin.x * per_point).round() - picture.origin_px[0] as f32;
        let top = (origin.y * per_point).round() - picture.origin_px[1] as f32;
        let size = vec2(picture.size_px[0] as f32, picture.size_px[1] as f32);
        let rect = Rect::from_min_size(pos2(left / per_point, top / per_point), size / per_point);
        let whole = Rect::from_min_size(Pos2::ZERO, Vec2::splat(1.0));
        // The colour is in the picture, where \color commands can differ from it.
        painter.image(picture.texture.id(), rect, whole, Color32::WHITE);
    }
}

fn lay_out(tex: &str, style: Style) -> Result<DisplayList, FormulaError> {
    if let Some(message) = curriculum::of_formula(tex) {
        return Err(FormulaError { message, range: None });
    }
    // A formula that trips an assertion in the layout engine must not take the lesson with it.
    let outcome = std::panic::catch_unwind(|| {
        let nodes = ratex_parser::parse(tex).map_err(|error| FormulaError {
            message: error.message,
            range: error.loc.map(|at| at.start.min(tex.len())..at.end.min(tex.len())),
        })?;
        let math_style = match style {
            Style::Inline => ratex_types::MathStyle::Text,
            Style::Display => ratex_types::MathStyle::Display,
        };
        let options = ratex_layout::LayoutOptions::default().with_style(math_style);
        let root = ratex_layout::layout(&nodes, &options);
        ratex_layout::validate_layout(&root).map_err(|message| FormulaError { message, range: None })?;
        let list = ratex_layout::to_display_list(&root);
        let fits = |em: f64, most: f64| em.is_finite() && em.abs() <= most;
        if fits(list.width, MOST_WIDTH_EM) && fits(list.height, MOST_HEIGHT_EM) && fits(list.depth, MOST_HEIGHT_EM) {
            return Ok(list);
        }
        let message = format!("a formula is at most {MOST_WIDTH_EM} em wide and {MOST_HEIGHT_EM} em high");
        Err(FormulaError { message, range: None })
    });
    outcome.unwrap_or_else(|_| Err(FormulaError { message: "could not be laid out".to_owned(), range: None }))
}

fn rasterize(ctx: &egui::Context, list: &DisplayList, font_px: f32, color: Color32) -> Option<Picture> {
    let em = f64::from(font_px);
    // Without this a formula of a very large font would ask for a texture beyond what GPUs take.
    let limit = ctx.input(|input| input.max_texture_side) as f64;
    let baseline = (list.height * em + MARGIN_PX).ceil();
    let width = (list.width * em + 2.0 * MARGIN_PX).ceil().clamp(1.0, limit);
    let height = (baseline + list.depth * em + MARGIN_PX).ceil().clamp(1.0, limit);
    let options = ratex_svg::SvgOptions { font_size: em, padding: MARGIN_PX, embed_glyphs: true, ..Default::default() };
    let [r, g, b, a] = color.to_srgba_unmultiplied();
    let mut list = list.clone();
    recolor(&mut list, |c| {
        if c == ratex_types::Color::BLACK {
            let part = |byte: u8| f32::from(byte) / 255.0;
            ratex_types::Color::new(part(r), part(g), part(b), part(a))
        } else {
            c
        }
    });
    let svg = ratex_svg::render_to_svg_with_color_syntax(&list, &options, ratex_svg::SvgColorSyntax::Rgb);
    // The view box is moved and widened to whole pixels with the baseline on a pixel's edge.
    let above = baseline - (list.height * em + MARGIN_PX);
    let body = &svg[svg.find('>')? + 1..];
    let svg = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 {} {width} {height}" width="{width}" height="{height}">{body}"#,
        -above
    );
    let hint = egui::SizeHint::Size { width: width as u32, height: height as u32, maintain_aspect_ratio: false };
    let image = egui_extras::image::load_svg_bytes_with_size(svg.as_bytes(), hint, &Default::default()).ok()?;
    let size_px = image.size;
    let texture = ctx.load_texture("formula", image, TextureOptions::LINEAR);
    Some(Picture { texture, size_px, origin_px: [MARGIN_PX as i32, baseline as i32] })
}

/// Replaces the default black by the text's colour, so that `\color` commands keep theirs.
fn recolor(list: &mut DisplayList, map: impl Fn(ratex_types::Color) -> ratex_types::Color) {
    use ratex_types::display_item::DisplayItem;
    for item in &mut list.items {
        match item {
            DisplayItem::GlyphPath { color, .. }
            | DisplayItem::Line { color, .. }
            | DisplayItem::Rect { color, .. }
            | DisplayItem::Path { color, .. } => *color = map(*color),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_have_an_extent() {
        let mut formulas = Formulas::default();
        let x = formulas.measure("x", Style::Inline).expect("x");
        let fraction = formulas.measure(r"\frac{2n^3}{t}", Style::Inline).expect("fraction");
        let display = formulas.measure(r"\frac{2n^3}{t}", Style::Display).expect("fraction");
        assert!(x.width_em > 0.3 && x.width_em < 1.0, "{x:?}");
        assert!(fraction.depth_em > 0.2 && fraction.height_em > x.height_em, "{fraction:?}");
        assert!(display.height_em > fraction.height_em, "{display:?}");
    }

    #[test]
    fn errors_say_where() {
        let mut formulas = Formulas::default();
        for bad in [r"\frac{1}{", r"a + \nosuchcommand", r"x^{2", r"\begin{matrix} a", "}"] {
            let error = formulas.measure(bad, Style::Inline).expect_err(bad);
            assert!(!error.message.is_empty(), "{bad}");
        }
        let error = formulas.measure(r"a + \nosuchcommand", Style::Inline).expect_err("unknown command");
        assert_eq!(error.range.expect("a place").start, 4);
    }

    #[test]
    fn hostile_formulas_end() {
        let mut formulas = Formulas::default();
        for bad in ["{".repeat(50_000), r"\sqrt{".repeat(5_000), r"\def\a{\a\a}\a".to_owned(), String::new()] {
            let _ = formulas.measure(&bad, Style::Display);
        }
        // Without braces there is nothing to count.
        for one in
            [r"\sqrt", r"\hat", r"\frac", r"x^", r"\left(", r"\overline", r"\mathrm", r"\text", r"\begin{matrix}"]
        {
            let _ = formulas.measure(&one.repeat(2_000 / one.len()), Style::Display);
        }
        for large in [r"\begin{matrix} a \\[1000000em] b \end{matrix}", r"\rule{1000000em}{1em}"] {
            assert!(formulas.measure(large, Style::Display).is_err(), "{large}");
        }
    }

    /// Speed; run with `--ignored --nocapture`.
    #[test]
    #[ignore = "a measurement"]
    fn time_of_a_formula() {
        let ctx = egui::Context::default();
        let tex = r"\mathrm{softmax}(x)_i = \frac{e^{x_i - m}}{\sum_j e^{x_j - m}}";
        let list = lay_out(tex, Style::Display).expect("formula");
        for _ in 0..3 {
            let clock = std::time::Instant::now();
            let _ = lay_out(tex, Style::Display);
            let laid = clock.elapsed();
            let clock = std::time::Instant::now();
            assert!(rasterize(&ctx, &list, 14.0, Color32::BLACK).is_some());
            println!("layout {laid:?}, picture {:?}", clock.elapsed());
        }
    }
}
