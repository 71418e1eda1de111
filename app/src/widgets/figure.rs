//! Figures of a lesson: drawings in SVG that follow the theme, with words in the window's own letters.
//!
//! A figure is an SVG with `viewBox="0 0 WIDTH HEIGHT"` in points, at most [`MOST_WIDTH`] wide so that a lesson's column
//! shows it unshrunk. Colours are named: `fill="var(--lane, #56b4e9)"`, where the colour behind the comma is what a
//! browser shows to an author ([`NAMES`] lists the names). Words are `<text x y font-size text-anchor fill>` elements
//! without children or transforms, `font-family="monospace"` for code: they are painted as other text is, so that they
//! stay sharp and need no font of the system.

use crate::theme::{self, Tokens, space};
use crate::widgets::sentence;
use egui::{Align2, Color32, FontFamily, FontId, Rect, RichText, Sense, TextureHandle, TextureOptions, Ui, pos2, vec2};
use regex::Regex;
use std::sync::LazyLock;

/// Of a view box, in points.
pub const MOST_WIDTH: f32 = 430.0;

/// Colours that a figure can name.
pub const NAMES: [&str; 10] =
    ["text", "muted", "line", "ground", "accent", "accent-soft", "lane", "on-lane", "focus", "off"];

static COLOR: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"var\(--([a-z-]+)(?:,[^)]*)?\)").expect("the expression is a constant"));

fn color(tokens: &Tokens, name: &str) -> Option<Color32> {
    Some(match name {
        "text" => tokens.text,
        "muted" => tokens.text_muted,
        "line" => tokens.border_strong,
        "ground" => tokens.raised,
        "accent" => tokens.accent,
        "accent-soft" => tokens.accent_soft,
        "lane" => tokens.lane_on,
        "on-lane" => tokens.on_lane,
        "focus" => tokens.lane_focus,
        "off" => tokens.lane_off,
        _ => return None,
    })
}

/// The name in `var(--name, …)`.
fn named(paint: &str) -> Option<&'static str> {
    let found = COLOR.captures(paint)?;
    NAMES.into_iter().find(|name| *name == &found[1])
}

/// An SVG that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawing {
    svg: String,
    size: egui::Vec2,
    words: Vec<Words>,
}

/// One `<text>`.
#[derive(Clone, Debug, PartialEq)]
struct Words {
    text: String,
    /// The end that `anchor` says, on the baseline.
    at: egui::Pos2,
    anchor: egui::Align,
    size: f32,
    code: bool,
    color: &'static str,
}

impl Drawing {
    /// Reads a figure.
    ///
    /// # Errors
    /// What in it cannot be drawn, for its author.
    pub fn read(svg: &str) -> Result<Self, String> {
        if let Some(unknown) = COLOR.captures_iter(svg).find(|found| !NAMES.contains(&&found[1])) {
            return Err(format!("there is no color `{}`; there are: {}", &unknown[1], NAMES.join(", ")));
        }
        let document = roxmltree::Document::parse(svg).map_err(|error| format!("no SVG: {error}"))?;
        let root = document.root_element();
        let bounds: Vec<f32> = root
            .attribute("viewBox")
            .unwrap_or_default()
            .split([' ', ','])
            .filter_map(|number| number.parse().ok())
            .filter(|number: &f32| number.is_finite())
            .collect();
        let &[x, y, width, height] = bounds.as_slice() else {
            return Err("its root has no viewBox=\"0 0 WIDTH HEIGHT\"".to_owned());
        };
        if x != 0.0 || y != 0.0 || !(1.0..=MOST_WIDTH).contains(&width) || !(1.0..=4.0 * MOST_WIDTH).contains(&height) {
            return Err(format!("its viewBox begins at 0 0 and is at most {MOST_WIDTH} wide"));
        }
        let texts = document.descendants().filter(|node| node.has_tag_name((SVG, "text")));
        let words = texts.map(|node| Words::read(&node)).collect::<Result<_, _>>()?;
        Ok(Self { svg: svg.to_owned(), size: vec2(width, height), words })
    }

    /// Everything but the words, `pixels` wide and high.
    ///
    /// # Errors
    /// What the renderer does not understand.
    pub fn rasterize(&self, tokens: &Tokens, pixels: [u32; 2]) -> Result<egui::ColorImage, String> {
        let colored = COLOR.replace_all(&self.svg, |found: &regex::Captures<'_>| {
            let [r, g, b, _] = color(tokens, &found[1]).unwrap_or(tokens.text).to_srgba_unmultiplied();
            format!("#{r:02x}{g:02x}{b:02x}")
        });
        let hint = egui::SizeHint::Size { width: pixels[0], height: pixels[1], maintain_aspect_ratio: false };
        egui_extras::image::load_svg_bytes_with_size(colored.as_bytes(), hint, &Default::default())
    }
}

/// The namespace, without which no viewer takes a file for an SVG.
const SVG: &str = "http://www.w3.org/2000/svg";

impl Words {
    fn read(node: &roxmltree::Node<'_, '_>) -> Result<Self, String> {
        let text = node.text().unwrap_or_default().trim().to_owned();
        let inherited = |name: &str| node.ancestors().find_map(|node| node.attribute(name));
        let number = |value: Option<&str>| value.and_then(|value| value.parse::<f32>().ok()).filter(|n| n.is_finite());
        if node.children().any(|child| child.is_element()) || inherited("transform").is_some() {
            return Err(format!("the words `{text}` have parts of their own or are turned; write one <text> for each"));
        }
        let (Some(x), Some(y)) = (number(node.attribute("x")), number(node.attribute("y"))) else {
            return Err(format!("the words `{text}` need an x and a y"));
        };
        let Some(size) = number(inherited("font-size")).filter(|size| (6.0..=40.0).contains(size)) else {
            return Err(format!("the words `{text}` need a font-size from 6 to 40"));
        };
        let Some(color) = named(inherited("fill").unwrap_or("var(--text)")) else {
            return Err(format!("the words `{text}` need a named color, as in fill=\"var(--text, #1a1f28)\""));
        };
        let anchor = match inherited("text-anchor") {
            Some("middle") => egui::Align::Center,
            Some("end") => egui::Align::Max,
            _ => egui::Align::Min,
        };
        let code = inherited("font-family").is_some_and(|family| family.contains("mono"));
        Ok(Self { text, at: pos2(x, y), anchor, size, code, color })
    }

    fn paint(&self, painter: &egui::Painter, tokens: &Tokens, origin: egui::Pos2, scale: f32) {
        let family = if self.code { FontFamily::Monospace } else { FontFamily::Proportional };
        let ink = color(tokens, self.color).unwrap_or(tokens.text);
        let galley = painter.layout_no_wrap(self.text.clone(), FontId::new(self.size * scale, family), ink);
        let baseline =
            galley.rows.first().and_then(|row| Some(row.glyphs.first()?.pos.y)).unwrap_or(self.size * scale * 0.8);
        let at = origin + self.at.to_vec2() * scale;
        let left = Align2([self.anchor, egui::Align::Min]).anchor_size(at, galley.size()).left();
        painter.galley(pos2(left, at.y - baseline), galley, ink);
    }
}

/// A figure that is shown, with its picture for the size and theme that it was shown in last.
#[derive(Default)]
pub struct Figure {
    source: String,
    drawing: Option<Result<Drawing, String>>,
    picture: Option<(PictureKey, TextureHandle)>,
}

/// Pixels, and the theme by its panel's colour.
type PictureKey = ([u32; 2], Color32);

impl Figure {
    /// Shows a figure, shrunk where the column is narrower, and below it what it shows.
    pub fn show(&mut self, ui: &mut Ui, svg: &str, caption: &str) {
        let tokens = theme::tokens(ui);
        if self.source != svg {
            *self = Self { source: svg.to_owned(), ..Self::default() };
        }
        let drawing = self.drawing.get_or_insert_with(|| Drawing::read(svg));
        ui.add_space(space::XS);
        let shown = match drawing {
            Ok(drawing) => picture_ui(ui, drawing, &mut self.picture, caption),
            Err(problem) => Err(problem.clone()),
        };
        if let Err(problem) = shown {
            ui.add(egui::Label::new(RichText::new(format!("figure: {problem}")).color(tokens.fail)).wrap());
        }
        let words = sentence::plain(caption);
        ui.add(egui::Label::new(RichText::new(words).small().color(tokens.text_muted)).wrap());
        ui.add_space(space::XS);
    }
}

fn picture_ui(
    ui: &mut Ui,
    drawing: &Drawing,
    picture: &mut Option<(PictureKey, TextureHandle)>,
    caption: &str,
) -> Result<(), String> {
    let tokens = theme::tokens(ui);
    let scale = (ui.available_width() / drawing.size.x).clamp(0.1, 1.0);
    let (rect, response) = ui.allocate_exact_size(drawing.size * scale, Sense::hover());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, caption));
    if !ui.is_rect_visible(rect) {
        return Ok(());
    }
    // Whole pixels, so that lines stay sharp.
    let per_point = ui.pixels_per_point();
    let pixels = [rect.width(), rect.height()].map(|side| (side * per_point).round().max(1.0) as u32);
    let key = (pixels, tokens.panel);
    if picture.as_ref().is_none_or(|(known, _)| *known != key) {
        let image = drawing.rasterize(tokens, pixels)?;
        *picture = Some((key, ui.ctx().load_texture("figure", image, TextureOptions::LINEAR)));
    }
    let painter = ui.painter();
    let corner = pos2((rect.left() * per_point).round() / per_point, (rect.top() * per_point).round() / per_point);
    if let Some((_, texture)) = picture {
        let place = Rect::from_min_size(corner, vec2(pixels[0] as f32, pixels[1] as f32) / per_point);
        let whole = Rect::from_min_size(egui::Pos2::ZERO, vec2(1.0, 1.0));
        // The colours are in the picture.
        painter.image(texture.id(), place, whole, Color32::WHITE);
    }
    for words in &drawing.words {
        words.paint(painter, tokens, corner, scale);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn svg(inside: &str) -> String {
        format!("<svg xmlns=\"{SVG}\" viewBox=\"0 0 40 20\">{inside}</svg>")
    }

    #[test]
    fn words_and_colours_are_read_and_drawn_in_the_theme() {
        let text = svg("<rect width=\"40\" height=\"20\" fill=\"var(--lane, #123456)\"/>\
                        <g font-size=\"12\" text-anchor=\"middle\"><text x=\"20\" y=\"14\" \
                        fill=\"var(--on-lane)\">a[i]</text></g>");
        let drawing = Drawing::read(&text).expect("a figure");
        let words = &drawing.words[0];
        assert_eq!((words.text.as_str(), words.at, words.size), ("a[i]", pos2(20.0, 14.0), 12.0));
        assert_eq!((words.anchor, words.color, words.code), (egui::Align::Center, "on-lane", false));
        for tokens in [&theme::LIGHT, &theme::DARK] {
            let image = drawing.rasterize(tokens, [80, 40]).expect("a picture");
            assert_eq!(image.size, [80, 40]);
            assert_eq!(image.pixels[80 * 20 + 40], tokens.lane_on);
        }
    }

    #[test]
    fn what_cannot_be_drawn_is_said() {
        for (wrong, expected) in [
            ("<svg/>".to_owned(), "viewBox"),
            ("a".to_owned(), "no SVG"),
            (svg("<text x=\"1\" y=\"1\">a</text>"), "font-size"),
            (svg("<text font-size=\"9\" y=\"1\">a</text>"), "an x and a y"),
            (svg("<text font-size=\"9\" x=\"1\" y=\"1\" fill=\"red\">a</text>"), "named color"),
            (svg("<text font-size=\"9\" x=\"1\" y=\"1\">a<tspan>b</tspan></text>"), "one <text> for each"),
            (svg("<g transform=\"scale(2)\"><text font-size=\"9\" x=\"1\" y=\"1\">a</text></g>"), "turned"),
            (svg("<rect fill=\"var(--pink)\"/>"), "no color `pink`"),
            (svg("").replace("0 0 40 20", "0 0 4000 20"), "at most"),
        ] {
            let problem = Drawing::read(&wrong).expect_err(&wrong);
            assert!(problem.contains(expected), "{wrong}: {problem}");
        }
    }

    #[test]
    fn every_figure_of_the_course_can_be_drawn() {
        let course = curriculum::Course::embedded();
        let mut figures = 0;
        for block in course.days().flat_map(|day| &day.lesson.sections).flat_map(|section| &section.blocks) {
            let curriculum::Block::Figure { file, svg, .. } = block else { continue };
            let drawing = Drawing::read(svg).unwrap_or_else(|problem| panic!("{file}: {problem}"));
            assert!(drawing.rasterize(&theme::LIGHT, [100, 50]).is_ok(), "{file}");
            figures += 1;
        }
        assert!(figures > 0, "the course has no figure to try");
    }
}
