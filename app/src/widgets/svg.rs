//! What a painter drew, as SVG: plots leave the window as pictures that stay sharp at any size.

use egui::epaint::{ClippedShape, ColorMode, PathStroke, TextShape};
use egui::layers::ShapeIdx;
use egui::{Color32, LayerId, Pos2, Rect, Shape, Stroke, StrokeKind, Ui};
use std::fmt::Write as _;

/// Where a recording began.
pub struct Recording {
    layer: LayerId,
    from: ShapeIdx,
}

impl Recording {
    /// From here on, what is drawn in this layer belongs to the picture.
    pub fn begin(ui: &Ui) -> Self {
        Self { layer: ui.layer_id(), from: ui.painter().add(Shape::Noop) }
    }

    /// Everything drawn since, cut to `area`, on a ground of one colour.
    pub fn end(&self, ui: &Ui, area: Rect, ground: Color32) -> String {
        let shapes: Vec<ClippedShape> = ui.ctx().graphics(|graphics| {
            let Some(list) = graphics.get(self.layer) else { return Vec::new() };
            list.all_entries().skip(self.from.0 + 1).cloned().collect()
        });
        document(&shapes, area, ground)
    }
}

/// An SVG document of shapes; each keeps its clip rectangle.
pub fn document(shapes: &[ClippedShape], area: Rect, ground: Color32) -> String {
    let mut out = String::new();
    let (w, h) = (area.width(), area.height());
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w:.0}\" height=\"{h:.0}\" viewBox=\"{:.1} {:.1} {w:.1} {h:.1}\">",
        area.left(),
        area.top()
    );
    let _ = writeln!(out, "<rect {} fill=\"{}\"/>", place(area), color(ground));
    let mut clips = 0;
    for ClippedShape { clip_rect, shape, .. } in shapes {
        let clip = clip_rect.intersect(area);
        if !clip.is_positive() || !shape.visual_bounding_rect().intersects(clip) {
            continue;
        }
        let mut body = String::new();
        write_shape(&mut body, shape);
        if body.is_empty() {
            continue;
        }
        if clip.contains_rect(shape.visual_bounding_rect()) {
            out.push_str(&body);
        } else {
            clips += 1;
            let _ = writeln!(out, "<clipPath id=\"c{clips}\"><rect {}/></clipPath>", place(clip));
            let _ = writeln!(out, "<g clip-path=\"url(#c{clips})\">\n{body}</g>");
        }
    }
    out.push_str("</svg>\n");
    out
}

fn write_shape(out: &mut String, shape: &Shape) {
    match shape {
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| write_shape(out, shape)),
        Shape::Circle(circle) => {
            let _ = writeln!(
                out,
                "<circle cx=\"{:.2}\" cy=\"{:.2}\" r=\"{:.2}\" {}/>",
                circle.center.x,
                circle.center.y,
                circle.radius,
                paint(circle.fill, circle.stroke)
            );
        }
        Shape::LineSegment { points: [a, b], stroke } => {
            let _ = writeln!(
                out,
                "<line x1=\"{:.2}\" y1=\"{:.2}\" x2=\"{:.2}\" y2=\"{:.2}\" {}/>",
                a.x,
                a.y,
                b.x,
                b.y,
                paint(Color32::TRANSPARENT, *stroke)
            );
        }
        Shape::Path(path) => {
            let points: Vec<String> = path.points.iter().map(|p| format!("{:.2},{:.2}", p.x, p.y)).collect();
            let name = if path.closed { "polygon" } else { "polyline" };
            let paint = paint(path.fill, solid(&path.stroke));
            let _ = writeln!(out, "<{name} points=\"{}\" {paint}/>", points.join(" "));
        }
        Shape::Rect(rect) => {
            let inset = match rect.stroke_kind {
                StrokeKind::Inside => rect.stroke.width / 2.0,
                StrokeKind::Middle => 0.0,
                StrokeKind::Outside => -rect.stroke.width / 2.0,
            };
            let _ = writeln!(
                out,
                "<rect {} rx=\"{}\" {}/>",
                place(rect.rect.shrink(inset)),
                rect.corner_radius.nw,
                paint(rect.fill, rect.stroke)
            );
        }
        Shape::Text(text) => write_text(out, text),
        // Plots are made of none of these.
        Shape::Noop
        | Shape::Ellipse(_)
        | Shape::Band(_)
        | Shape::Mesh(_)
        | Shape::QuadraticBezier(_)
        | Shape::CubicBezier(_)
        | Shape::Callback(_) => {}
    }
}

/// A row of text is one element; its first letter's format holds for all of it.
fn write_text(out: &mut String, text: &TextShape) {
    let format = text.galley.job.sections.first().map(|section| section.format.clone()).unwrap_or_default();
    let own = text.override_text_color.unwrap_or(format.color);
    let ink = if own == Color32::PLACEHOLDER { text.fallback_color } else { own };
    let family = match format.font_id.family {
        egui::FontFamily::Monospace => "ui-monospace, monospace",
        _ => "system-ui, sans-serif",
    };
    for row in &text.galley.rows {
        let letters: String = row.row.glyphs.iter().map(|glyph| glyph.chr).collect();
        let Some(first) = row.row.glyphs.first().filter(|_| !letters.trim().is_empty()) else { continue };
        let at: Pos2 = text.pos + row.pos.to_vec2() + first.pos.to_vec2();
        let turn = if text.angle == 0.0 {
            String::new()
        } else {
            let degrees = text.angle.to_degrees();
            format!(" transform=\"rotate({degrees:.2} {:.2} {:.2})\"", text.pos.x, text.pos.y)
        };
        let _ = writeln!(
            out,
            "<text x=\"{:.2}\" y=\"{:.2}\" font-family=\"{family}\" font-size=\"{:.1}\" textLength=\"{:.1}\" fill=\"{}\"{turn}>{}</text>",
            at.x,
            at.y,
            format.font_id.size,
            row.row.size.x.max(1.0),
            color(ink),
            escaped(&letters)
        );
    }
}

fn solid(stroke: &PathStroke) -> Stroke {
    match &stroke.color {
        ColorMode::Solid(color) => Stroke::new(stroke.width, *color),
        ColorMode::UV(_) => Stroke::NONE,
    }
}

fn place(rect: Rect) -> String {
    format!(
        "x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{:.2}\"",
        rect.left(),
        rect.top(),
        rect.width().max(0.0),
        rect.height().max(0.0)
    )
}

fn paint(fill: Color32, stroke: Stroke) -> String {
    let fill = if fill.a() == 0 { "none".to_owned() } else { color(fill) };
    if stroke.width <= 0.0 || stroke.color.a() == 0 {
        return format!("fill=\"{fill}\"");
    }
    format!("fill=\"{fill}\" stroke=\"{}\" stroke-width=\"{:.2}\"", color(stroke.color), stroke.width)
}

fn color(color: Color32) -> String {
    let [r, g, b, a] = color.to_srgba_unmultiplied();
    if a == 255 { format!("#{r:02x}{g:02x}{b:02x}") } else { format!("rgba({r},{g},{b},{:.3})", f32::from(a) / 255.0) }
}

/// Text as it stands in XML and HTML.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::{pos2, vec2};

    #[test]
    fn shapes_become_elements_and_what_is_outside_is_cut() {
        let area = Rect::from_min_size(pos2(10.0, 20.0), vec2(100.0, 50.0));
        let red = crate::theme::DARK.fail;
        let inside = Shape::circle_filled(pos2(30.0, 30.0), 4.0, red);
        let across = Shape::line_segment([pos2(0.0, 30.0), pos2(200.0, 30.0)], Stroke::new(2.0, red));
        let outside = Shape::circle_filled(pos2(500.0, 30.0), 4.0, red);
        let clipped = |shape| ClippedShape { clip_rect: area, shape, transform_after_tessellation: Default::default() };
        let text = document(&[inside, across, outside].map(clipped), area, crate::theme::DARK.inset);
        assert!(text.starts_with("<svg xmlns") && text.trim_end().ends_with("</svg>"), "{text}");
        assert!(text.contains("viewBox=\"10.0 20.0 100.0 50.0\""), "{text}");
        assert_eq!(text.matches("<circle").count(), 1, "{text}");
        assert!(text.contains("clip-path=\"url(#c1)\"") && text.contains("#ff8f85"), "{text}");
    }

    #[test]
    fn text_keeps_its_words_size_and_colour() {
        let ctx = egui::Context::default();
        let mut svg = String::new();
        let mut output = ctx.run_ui(egui::RawInput::default(), |ui| {
            let recording = Recording::begin(ui);
            let font = egui::FontId::monospace(13.0);
            ui.painter().text(pos2(20.0, 20.0), egui::Align2::LEFT_TOP, "a < b & c", font, crate::theme::DARK.pass);
            svg = recording.end(ui, Rect::from_min_size(Pos2::ZERO, vec2(200.0, 100.0)), crate::theme::DARK.inset);
        });
        output.textures_delta.clear();
        assert!(svg.contains(">a &lt; b &amp; c</text>") && svg.contains("font-size=\"13.0\""), "{svg}");
        assert!(svg.contains("#5ccf9a") && svg.contains("monospace"), "{svg}");
    }
}
