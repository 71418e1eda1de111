//! Theme tokens: the only place with colours, sizes and spacing. Everything that draws asks [`tokens`] for the
//! colours of the active theme, so light and dark cannot drift apart.

use egui::{Color32, CornerRadius, FontFamily, FontId, Margin, Stroke, TextStyle, Theme, Ui, Vec2};

/// Distances in points. A layout uses these and no other numbers.
pub mod space {
    pub const XXS: f32 = 2.0;
    pub const XS: f32 = 4.0;
    pub const S: f32 = 6.0;
    pub const M: f32 = 8.0;
    pub const L: f32 = 12.0;
    pub const XL: f32 = 16.0;
    pub const XXL: f32 = 24.0;
}

/// Font sizes in points.
pub mod font_size {
    pub const SMALL: f32 = 12.0;
    pub const CODE: f32 = 13.0;
    pub const BODY: f32 = 14.0;
    pub const HEADING: f32 = 18.0;
    pub const TITLE: f32 = 24.0;
}

/// Corner radii in points.
pub mod radius {
    pub const SMALL: u8 = 3;
    pub const MEDIUM: u8 = 6;
    pub const LARGE: u8 = 10;
}

/// Widest comfortable column of prose, in points: about 75 characters of body text.
pub const PROSE_WIDTH: f32 = 640.0;

/// Colours of CUDA source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntaxColors {
    pub text: Color32,
    pub keyword: Color32,
    pub type_name: Color32,
    pub function: Color32,
    /// `threadIdx`, `__syncthreads` and other names that CUDA provides.
    pub builtin: Color32,
    /// `__global__`, `__shared__` and other CUDA qualifiers.
    pub qualifier: Color32,
    pub number: Color32,
    pub string: Color32,
    pub comment: Color32,
    pub preprocessor: Color32,
}

/// Every colour that Lockstep draws, for one theme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tokens {
    pub dark: bool,

    // Surfaces, from the back to the front.
    pub window: Color32,
    pub panel: Color32,
    pub raised: Color32,
    /// Editors, consoles and plots.
    pub inset: Color32,
    pub hover: Color32,
    pub pressed: Color32,
    pub border: Color32,
    pub border_strong: Color32,

    // Text.
    pub text: Color32,
    pub text_muted: Color32,
    pub text_faint: Color32,
    pub link: Color32,

    // Accent: the one thing to press, the selected item.
    pub accent: Color32,
    pub on_accent: Color32,
    /// Quiet background of a selected row or tab.
    pub accent_soft: Color32,
    pub selection: Color32,

    // Outcomes; each also has a shape, so colour never stands alone.
    pub pass: Color32,
    pub pass_soft: Color32,
    pub fail: Color32,
    pub fail_soft: Color32,
    pub warn: Color32,
    pub warn_soft: Color32,
    pub info: Color32,
    pub info_soft: Color32,

    // Editor.
    pub gutter: Color32,
    pub gutter_text: Color32,
    pub current_line: Color32,
    pub find_match: Color32,
    pub find_current: Color32,
    pub bracket_match: Color32,
    pub syntax: SyntaxColors,

    // Plots. Measured and modelled values, references and ceilings never share a colour.
    pub measured: Color32,
    pub modelled: Color32,
    pub reference: Color32,
    pub ceiling: Color32,
    pub grid: Color32,
    /// Distinguishable under the three common kinds of colour blindness (after Okabe and Ito).
    pub series: [Color32; 8],

    // Lanes, threads and memory cells of the visualizations.
    pub lane_on: Color32,
    pub lane_off: Color32,
    pub lane_focus: Color32,
    /// Text on `lane_on` and `lane_focus`.
    pub on_lane: Color32,
}

const fn rgb(hex: u32) -> Color32 {
    Color32::from_rgb((hex >> 16) as u8, (hex >> 8) as u8, hex as u8)
}

/// The dark theme.
pub static DARK: Tokens = Tokens {
    dark: true,
    window: rgb(0x14171c),
    panel: rgb(0x1a1e25),
    raised: rgb(0x232933),
    inset: rgb(0x101318),
    hover: rgb(0x2b323e),
    pressed: rgb(0x343d4b),
    border: rgb(0x2d3440),
    border_strong: rgb(0x6b7687),
    text: rgb(0xe8ebf0),
    text_muted: rgb(0xb3bbc7),
    text_faint: rgb(0x99a3b3),
    link: rgb(0x82b4ff),
    accent: rgb(0x6ea8ff),
    on_accent: rgb(0x0b1320),
    accent_soft: rgb(0x223555),
    selection: rgb(0x2a4470),
    pass: rgb(0x5ccf9a),
    pass_soft: rgb(0x163528),
    fail: rgb(0xff8f85),
    fail_soft: rgb(0x44211f),
    warn: rgb(0xf0bd55),
    warn_soft: rgb(0x3d2f12),
    info: rgb(0x86bdff),
    info_soft: rgb(0x1b2f49),
    gutter: rgb(0x14181e),
    gutter_text: rgb(0x8a94a4),
    current_line: rgb(0x191e26),
    find_match: rgb(0x4a3f14),
    find_current: rgb(0x604a08),
    bracket_match: rgb(0x33445f),
    syntax: SyntaxColors {
        text: rgb(0xe3e7ee),
        keyword: rgb(0xcb9cf2),
        type_name: rgb(0x79d3c4),
        function: rgb(0x8fb7ff),
        builtin: rgb(0xffc078),
        qualifier: rgb(0xff9aa8),
        number: rgb(0xf3b18b),
        string: rgb(0xb8d98b),
        comment: rgb(0x909cad),
        preprocessor: rgb(0xe89cbe),
    },
    measured: rgb(0x6ea8ff),
    modelled: rgb(0xd6a3f5),
    reference: rgb(0xf0bd55),
    ceiling: rgb(0x99a3b3),
    grid: rgb(0x2d3440),
    series: [
        rgb(0x56b4e9),
        rgb(0xe69f00),
        rgb(0x2fc79a),
        rgb(0xf0e442),
        rgb(0xf07f45),
        rgb(0xd98cb8),
        rgb(0x8f9bff),
        rgb(0xc8cdd6),
    ],
    lane_on: rgb(0x56b4e9),
    lane_off: rgb(0x2b323e),
    lane_focus: rgb(0xf0bd55),
    on_lane: rgb(0x0b1320),
};

/// The light theme.
pub static LIGHT: Tokens = Tokens {
    dark: false,
    window: rgb(0xeceff3),
    panel: rgb(0xf7f8fa),
    raised: rgb(0xffffff),
    inset: rgb(0xffffff),
    hover: rgb(0xe4e8ee),
    pressed: rgb(0xd6dce5),
    border: rgb(0xd5dae2),
    border_strong: rgb(0x7c8797),
    text: rgb(0x1a1f28),
    text_muted: rgb(0x4a5462),
    text_faint: rgb(0x5a6473),
    link: rgb(0x0b57c2),
    accent: rgb(0x1459c7),
    on_accent: rgb(0xffffff),
    accent_soft: rgb(0xdbe7fb),
    selection: rgb(0xbcd4fa),
    pass: rgb(0x0f6b3f),
    pass_soft: rgb(0xdcf3e6),
    fail: rgb(0xb22530),
    fail_soft: rgb(0xfbe4e2),
    warn: rgb(0x7a4f00),
    warn_soft: rgb(0xfaefd3),
    info: rgb(0x0b57a8),
    info_soft: rgb(0xdfedfb),
    gutter: rgb(0xf4f6f9),
    gutter_text: rgb(0x626c7b),
    current_line: rgb(0xf3f6fb),
    find_match: rgb(0xfdf0b8),
    find_current: rgb(0xffd25e),
    bracket_match: rgb(0xd3e2f9),
    syntax: SyntaxColors {
        text: rgb(0x1a1f28),
        keyword: rgb(0x7430a8),
        type_name: rgb(0x0a625c),
        function: rgb(0x1b4fb0),
        builtin: rgb(0x8a4300),
        qualifier: rgb(0xa81d3c),
        number: rgb(0x97370f),
        string: rgb(0x2f6412),
        comment: rgb(0x5a6473),
        preprocessor: rgb(0x98265d),
    },
    measured: rgb(0x1459c7),
    modelled: rgb(0x7430a8),
    reference: rgb(0x8a5a00),
    ceiling: rgb(0x5a6473),
    grid: rgb(0xdfe3e9),
    series: [
        rgb(0x0072b2),
        rgb(0xc4790d),
        rgb(0x0a8361),
        rgb(0x806c00),
        rgb(0xd85b32),
        rgb(0xa8437f),
        rgb(0x4450c4),
        rgb(0x4a5462),
    ],
    lane_on: rgb(0x56b4e9),
    lane_off: rgb(0xe1e5eb),
    lane_focus: rgb(0xf2b632),
    on_lane: rgb(0x0b1320),
};

/// The dark theme for a projector, which lifts black and washes colours out: black below, white above, no greys between.
pub static DARK_CONTRAST: Tokens = Tokens {
    window: rgb(0x000000),
    panel: rgb(0x050505),
    raised: rgb(0x161616),
    inset: rgb(0x000000),
    border: rgb(0x7a7a7a),
    border_strong: rgb(0xc4c4c4),
    text: rgb(0xffffff),
    text_muted: rgb(0xe6e6e6),
    text_faint: rgb(0xd2d2d2),
    gutter: rgb(0x000000),
    gutter_text: rgb(0xc8c8c8),
    current_line: rgb(0x161616),
    syntax: SyntaxColors { text: rgb(0xffffff), comment: rgb(0xc2cad4), ..DARK.syntax },
    ceiling: rgb(0xd2d2d2),
    grid: rgb(0x4a4a4a),
    ..DARK
};

/// The light theme for a projector.
pub static LIGHT_CONTRAST: Tokens = Tokens {
    window: rgb(0xf0f0f0),
    panel: rgb(0xfefefe),
    raised: rgb(0xffffff),
    inset: rgb(0xffffff),
    border: rgb(0x767676),
    border_strong: rgb(0x3c3c3c),
    text: rgb(0x000000),
    text_muted: rgb(0x1e1e1e),
    text_faint: rgb(0x303030),
    link: rgb(0x003c9e),
    accent: rgb(0x003c9e),
    pass: rgb(0x00522c),
    fail: rgb(0x980e0b),
    warn: rgb(0x4f490a),
    info: rgb(0x003f80),
    gutter: rgb(0xf4f4f4),
    gutter_text: rgb(0x3a3a3a),
    current_line: rgb(0xf0f0f0),
    syntax: SyntaxColors {
        text: rgb(0x000000),
        keyword: rgb(0x5a1b8a),
        type_name: rgb(0x034a45),
        function: rgb(0x0e3a8c),
        builtin: rgb(0x6b3200),
        qualifier: rgb(0x86102c),
        number: rgb(0x752608),
        string: rgb(0x204c08),
        comment: rgb(0x3a4450),
        preprocessor: rgb(0x7a1748),
    },
    measured: rgb(0x003c9e),
    modelled: rgb(0x5a1b8a),
    reference: rgb(0x6b4500),
    ceiling: rgb(0x303030),
    grid: rgb(0xc4c4c4),
    ..LIGHT
};

/// How much larger everything is in projector mode.
pub const PROJECTOR_SCALE: f32 = 1.25;

/// Puts the themes for a projector in place of the usual ones, or back.
pub fn set_contrast(ctx: &egui::Context, high: bool) {
    let themes = if high { [&DARK_CONTRAST, &LIGHT_CONTRAST] } else { [&DARK, &LIGHT] };
    for (theme, tokens) in [Theme::Dark, Theme::Light].into_iter().zip(themes) {
        ctx.style_mut_of(theme, |style| apply_to_visuals(style, tokens));
    }
}

/// Lets things move by themselves, or not.
pub fn set_motion(ctx: &egui::Context, moves: bool) {
    ctx.all_styles_mut(|style| {
        style.animation_time = if moves { egui::Style::default().animation_time } else { 0.0 };
        style.scroll_animation =
            if moves { egui::style::ScrollAnimation::default() } else { egui::style::ScrollAnimation::none() };
    });
}

/// False where the learner asked that nothing move by itself.
pub fn moves(ui: &Ui) -> bool {
    ui.style().animation_time > 0.0
}

/// Whether the theme is one for a projector.
pub fn is_high_contrast(ui: &Ui) -> bool {
    let t = tokens(ui);
    std::ptr::eq(t, &raw const DARK_CONTRAST) || std::ptr::eq(t, &raw const LIGHT_CONTRAST)
}

/// The tokens of the theme that `ui` is drawn in.
pub fn tokens(ui: &Ui) -> &'static Tokens {
    of_visuals(ui.visuals())
}

/// The tokens that visuals were made from: a theme's panel colour is its own.
pub fn of_visuals(visuals: &egui::Visuals) -> &'static Tokens {
    let [plain, strong] = if visuals.dark_mode { [&DARK, &DARK_CONTRAST] } else { [&LIGHT, &LIGHT_CONTRAST] };
    if visuals.panel_fill == strong.panel { strong } else { plain }
}

/// The tokens of the dark or the light theme.
pub fn for_dark(dark: bool) -> &'static Tokens {
    if dark { &DARK } else { &LIGHT }
}

/// The monospaced font of code in a lesson.
pub fn code_font() -> FontId {
    FontId::new(font_size::CODE, FontFamily::Monospace)
}

/// The monospaced font of editor and console, in the size that the learner chose.
pub fn editor_font(ui: &Ui) -> FontId {
    TextStyle::Monospace.resolve(ui.style())
}

/// Sets the size of source and console, in points.
pub fn set_code_points(ctx: &egui::Context, points: f32) {
    ctx.all_styles_mut(|style| {
        style.text_styles.insert(TextStyle::Monospace, FontId::new(points, FontFamily::Monospace));
    });
}

/// Makes both themes known to egui. Called once when the window is created.
pub fn install(ctx: &egui::Context) {
    ctx.set_fonts(crate::fonts::definitions());
    for (theme, tokens) in [(Theme::Dark, &DARK), (Theme::Light, &LIGHT)] {
        ctx.style_mut_of(theme, |style| apply_to_style(style, tokens));
    }
}

fn apply_to_style(style: &mut egui::Style, t: &Tokens) {
    style.text_styles = [
        (TextStyle::Small, FontId::new(font_size::SMALL, FontFamily::Proportional)),
        (TextStyle::Body, FontId::new(font_size::BODY, FontFamily::Proportional)),
        (TextStyle::Button, FontId::new(font_size::BODY, FontFamily::Proportional)),
        (TextStyle::Heading, FontId::new(font_size::HEADING, FontFamily::Proportional)),
        (TextStyle::Monospace, code_font()),
    ]
    .into();

    let s = &mut style.spacing;
    s.item_spacing = Vec2::new(space::M, space::S);
    s.button_padding = Vec2::new(space::M, space::XS);
    s.window_margin = Margin::same(space::L as i8);
    s.menu_margin = Margin::same(space::S as i8);
    s.interact_size.y = 26.0;
    s.scroll = egui::style::ScrollStyle::thin();
    apply_to_visuals(style, t);
}

fn apply_to_visuals(style: &mut egui::Style, t: &Tokens) {
    let v = &mut style.visuals;
    v.dark_mode = t.dark;
    v.override_text_color = None;
    v.weak_text_color = Some(t.text_muted);
    v.hyperlink_color = t.link;
    v.faint_bg_color = t.raised;
    v.extreme_bg_color = t.inset;
    v.text_edit_bg_color = Some(t.inset);
    v.code_bg_color = t.raised;
    v.warn_fg_color = t.warn;
    v.error_fg_color = t.fail;
    v.window_fill = t.raised;
    v.window_stroke = Stroke::new(1.0, t.border);
    v.panel_fill = t.panel;
    v.window_corner_radius = CornerRadius::same(radius::LARGE);
    v.menu_corner_radius = CornerRadius::same(radius::MEDIUM);
    v.selection.bg_fill = t.selection;
    v.selection.stroke = Stroke::new(1.0, t.text);
    v.text_cursor.stroke = Stroke::new(2.0, t.accent);
    v.striped = false;
    // Disabled text keeps most of its contrast: it must stay readable.
    v.disabled_alpha = 0.65;

    let widget = |fill: Color32, stroke: Color32, text: Color32| egui::style::WidgetVisuals {
        bg_fill: fill,
        weak_bg_fill: fill,
        bg_stroke: Stroke::new(1.0, stroke),
        corner_radius: CornerRadius::same(radius::MEDIUM),
        fg_stroke: Stroke::new(1.0, text),
        expansion: 0.0,
    };
    v.widgets.noninteractive = widget(t.panel, t.border, t.text);
    // A step above every surface: on a raised one a raised button would be words alone.
    v.widgets.inactive = widget(t.hover, t.border, t.text);
    // Rails of sliders and boxes to tick: seen on every surface, also on white.
    v.widgets.inactive.bg_fill = t.pressed;
    v.widgets.hovered = widget(t.pressed, t.border_strong, t.text);
    v.widgets.active = widget(t.pressed, t.accent, t.text);
    v.widgets.open = widget(t.hover, t.border_strong, t.text);
}

/// The quiet background of a line of the kernel and of what it was compiled to; neighbours differ.
pub fn line_tint(t: &Tokens, line: u32) -> Color32 {
    t.series[line as usize % t.series.len()].gamma_multiply(if t.dark { 0.22 } else { 0.16 })
}

/// WCAG 2.2 contrast ratio of two opaque colours, 1 to 21.
pub fn contrast(a: Color32, b: Color32) -> f32 {
    let luminance = |c: Color32| {
        let channel = |v: u8| {
            let v = f32::from(v) / 255.0;
            if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(c.r()) + 0.7152 * channel(c.g()) + 0.0722 * channel(c.b())
    };
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[cfg(test)]
mod tests;
