//! Contrast of every pair that is drawn, and what colour-blind eyes see of colours with a meaning.

use super::*;

/// WCAG 2.2, 1.4.3: text at least 4.5 to 1 on every surface that it is drawn on.
#[test]
fn text_is_readable_on_every_surface() {
    let mut failures = Vec::new();
    for (name, t) in
        [("dark", &DARK), ("light", &LIGHT), ("dark projector", &DARK_CONTRAST), ("light projector", &LIGHT_CONTRAST)]
    {
        let mut need = |what: &str, text: Color32, surface_name: &str, surface: Color32, least: f32| {
            let ratio = contrast(text, surface);
            if ratio < least {
                failures.push(format!("{name}: {what} on {surface_name} is {ratio:.2}, needs {least}"));
            }
        };
        let surfaces = [("window", t.window), ("panel", t.panel), ("raised", t.raised), ("inset", t.inset)];
        let texts = [
            ("text", t.text),
            ("text_muted", t.text_muted),
            ("text_faint", t.text_faint),
            ("link", t.link),
            ("accent", t.accent),
            ("pass", t.pass),
            ("fail", t.fail),
            ("warn", t.warn),
            ("info", t.info),
            ("reference", t.reference),
            ("modelled", t.modelled),
            ("ceiling", t.ceiling),
        ];
        for (surface_name, surface) in surfaces {
            for (what, text) in texts {
                need(what, text, surface_name, surface, 4.5);
            }
            // WCAG 1.4.11: graphics and outlines of controls need 3 to 1.
            need("border_strong", t.border_strong, surface_name, surface, 3.0);
        }
        for (state, surface) in [("hover", t.hover), ("pressed", t.pressed), ("accent_soft", t.accent_soft)] {
            need("text", t.text, state, surface, 4.5);
            need("text_muted", t.text_muted, state, surface, 4.5);
        }
        for (what, text, soft) in [
            ("pass", t.pass, t.pass_soft),
            ("fail", t.fail, t.fail_soft),
            ("warn", t.warn, t.warn_soft),
            ("info", t.info, t.info_soft),
        ] {
            need(what, text, "its soft background", soft, 4.5);
            need("text", t.text, what, soft, 4.5);
            need("text_muted", t.text_muted, what, soft, 4.5);
        }
        need("on_accent", t.on_accent, "accent", t.accent, 4.5);
        need("gutter_text", t.gutter_text, "gutter", t.gutter, 4.5);
        need("on_lane", t.on_lane, "lane_on", t.lane_on, 4.5);
        need("on_lane", t.on_lane, "lane_focus", t.lane_focus, 4.5);
        need("text", t.text, "lane_off", t.lane_off, 4.5);
        let s = t.syntax;
        let code_surfaces = [
            ("inset", t.inset),
            ("current_line", t.current_line),
            ("selection", t.selection),
            ("find_match", t.find_match),
            ("find_current", t.find_current),
            ("raised", t.raised),
        ];
        for (surface_name, surface) in code_surfaces {
            // A comment or keyword inside a selection stays legible as large text does (3 to 1).
            let least = if matches!(surface_name, "selection" | "find_match" | "find_current") { 3.0 } else { 4.5 };
            for (what, text) in [
                ("code", s.text),
                ("keyword", s.keyword),
                ("type", s.type_name),
                ("function", s.function),
                ("builtin", s.builtin),
                ("qualifier", s.qualifier),
                ("number", s.number),
                ("string", s.string),
                ("comment", s.comment),
                ("preprocessor", s.preprocessor),
            ] {
                need(what, text, surface_name, surface, least);
            }
        }
        for (i, series) in t.series.iter().enumerate() {
            need(&format!("series {i}"), *series, "inset", t.inset, 3.0);
            need(&format!("series {i}"), *series, "panel", t.panel, 3.0);
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// What a projector theme is for: text at 7 to 1 (WCAG 1.4.6), borders that can be seen.
#[test]
fn projector_themes_have_the_higher_contrast() {
    for t in [&DARK_CONTRAST, &LIGHT_CONTRAST] {
        for surface in [t.window, t.panel, t.raised, t.inset] {
            for text in [t.text, t.text_muted, t.text_faint, t.link, t.accent, t.pass, t.fail, t.warn] {
                assert!(contrast(text, surface) >= 7.0, "{text:?} on {surface:?}: {}", contrast(text, surface));
            }
            assert!(contrast(t.border, surface) >= 3.0, "border on {surface:?}");
        }
        assert_eq!(of_visuals(&visuals(t)).panel, t.panel, "the tokens are found by their visuals");
    }
    for t in [&DARK, &LIGHT] {
        assert_eq!(of_visuals(&visuals(t)).panel, t.panel);
    }
}

fn visuals(t: &Tokens) -> egui::Visuals {
    let mut style = egui::Style::default();
    apply_to_style(&mut style, t);
    style.visuals
}

/// Red, green and blue of light, 0 to 1.
fn linear(color: Color32) -> [f64; 3] {
    [color.r(), color.g(), color.b()].map(|v| {
        let v = f64::from(v) / 255.0;
        if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
    })
}

/// What a dichromat sees, in linear light: Machado, Oliveira and Fernandes 2009, severity 1.0.
fn simulated(color: Color32, kind: &[[f64; 3]; 3]) -> [f64; 3] {
    let light = linear(color);
    std::array::from_fn(|row| (0..3).map(|i| kind[row][i] * light[i]).sum::<f64>().clamp(0.0, 1.0))
}

const KINDS: [(&str, [[f64; 3]; 3]); 3] = [
    ("protanopia", [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    (
        "deuteranopia",
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    ),
    ("tritanopia", [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
];

/// CIE L*a*b* under D65, in which a distance of 2.3 is just noticeable side by side.
fn lab([r, g, b]: [f64; 3]) -> [f64; 3] {
    let x = (0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047;
    let y = 0.2126729 * r + 0.7151522 * g + 0.0721750 * b;
    let z = (0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883;
    let [x, y, z] = [x, y, z].map(|t| if t > 0.008856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 });
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    let (a, b) = (lab(a), lab(b));
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

#[test]
fn the_simulation_agrees_with_its_definition() {
    for (name, kind) in &KINDS {
        for row in kind {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-5, "{name}: white stays white");
        }
        let grey = Color32::from_gray(128);
        assert!(distance(simulated(grey, kind), linear(grey)) < 0.1, "{name}: grey stays grey");
    }
    // The classic pair: red and green of one lightness, told apart only by tritanopes and trichromats.
    let (red, green) = (rgb(0xd03030), rgb(0x707000));
    let seen: Vec<f64> = KINDS.iter().map(|(_, kind)| distance(simulated(red, kind), simulated(green, kind))).collect();
    assert!(seen[0] < 30.0 && seen[1] < 30.0 && seen[2] > 50.0, "{seen:?}");
}

/// Colours that mean different things in one picture are told apart by all three common kinds of colour blindness.
#[test]
fn colours_with_a_meaning_differ_for_the_colour_blind() {
    let mut failures = Vec::new();
    for (theme, t) in
        [("dark", &DARK), ("light", &LIGHT), ("dark projector", &DARK_CONTRAST), ("light projector", &LIGHT_CONTRAST)]
    {
        let series: Vec<(String, Color32)> =
            t.series.iter().enumerate().map(|(i, color)| (format!("series {i}"), *color)).collect();
        let groups: [Vec<(String, Color32)>; 4] = [
            series,
            vec![("pass".into(), t.pass), ("fail".into(), t.fail), ("warn".into(), t.warn)],
            vec![("measured".into(), t.measured), ("reference".into(), t.reference), ("ceiling".into(), t.ceiling)],
            vec![("lane_on".into(), t.lane_on), ("lane_off".into(), t.lane_off), ("lane_focus".into(), t.lane_focus)],
        ];
        for (kind, matrix) in &KINDS {
            for group in &groups {
                for (i, (a_name, a)) in group.iter().enumerate() {
                    for (b_name, b) in &group[i + 1..] {
                        let seen = distance(simulated(*a, matrix), simulated(*b, matrix));
                        if seen < LEAST_DISTANCE {
                            failures.push(format!("{theme}, {kind}: {a_name} and {b_name} differ by {seen:.1}"));
                        }
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Four times what is just noticeable: enough for a line or a dot beside another.
const LEAST_DISTANCE: f64 = 9.0;

#[test]
fn contrast_matches_the_published_extremes() {
    assert!((contrast(Color32::BLACK, Color32::WHITE) - 21.0).abs() < 1e-3);
    assert!((contrast(Color32::WHITE, Color32::WHITE) - 1.0).abs() < 1e-6);
}
