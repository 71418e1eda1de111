//! Lesson text: Markdown with tables, code, formulas and links, drawn from a cache.
//!
//! Written here and not taken from a viewer crate because inline formulas must share the text's baseline, code must
//! look as it does in the editor and offer to be opened there, and a long lesson must cost well under a millisecond a
//! frame: it is parsed once, laid out once for a width, and only what is in view is painted.

pub mod document;

mod blocks;
mod flow;
mod glossary;

pub use blocks::code_job;
pub use glossary::Glossary;

use crate::theme;
use crate::widgets::formula::Formulas;
use document::Document;
use egui::Ui;
use flow::Flow;
use std::collections::HashMap;

/// What the reader wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LessonAction {
    /// A link's target as written: `https://…`, `week1/day5`, `glossary:warp`, `#heading`.
    OpenLink(String),
    /// Code that was put on the clipboard; for a toast.
    CopyCode(String),
    /// Code to put into a scratch tab of the editor.
    OpenInEditor { language: String, text: String },
}

/// A parsed lesson with its layout. Keep one for each text that is shown, for as long as it is shown.
#[derive(Default)]
pub struct LessonCache {
    source: String,
    document: Document,
    /// What links to words explain, by number.
    meanings: Vec<Option<String>>,
    formulas: Formulas,
    flows: Vec<Option<Flow>>,
    /// Column widths of tables by [`document::Block::Table`]'s id.
    columns: HashMap<usize, Vec<f32>>,
    laid_for: Option<LaidFor>,
}

/// Layout is good for as long as these are the same.
#[derive(Clone, Copy, PartialEq)]
struct LaidFor {
    width: f32,
    pixels_per_point: f32,
    /// The theme, by its panel's colour.
    ground: egui::Color32,
}

/// Shows a Markdown text over the available width, at most as wide as prose reads well.
pub fn show(ui: &mut Ui, cache: &mut LessonCache, markdown: &str) -> Vec<LessonAction> {
    page_ui(ui, cache, markdown, true, &Glossary::default())
}

/// The same with words that are explained where the mouse rests on them. A cache is for one glossary.
pub fn show_explained(ui: &mut Ui, cache: &mut LessonCache, markdown: &str, glossary: &Glossary) -> Vec<LessonAction> {
    page_ui(ui, cache, markdown, true, glossary)
}

/// Shows a Markdown text as the face of a control, such as a choice of a quiz: it cannot be selected, and the control
/// itself tells screen readers what it says.
pub fn show_inside_control(ui: &mut Ui, cache: &mut LessonCache, markdown: &str) {
    page_ui(ui, cache, markdown, false, &Glossary::default());
}

fn page_ui(
    ui: &mut Ui,
    cache: &mut LessonCache,
    markdown: &str,
    readable: bool,
    glossary: &Glossary,
) -> Vec<LessonAction> {
    let width = ui.available_width().clamp(40.0, theme::PROSE_WIDTH);
    let laid_for = LaidFor { width, pixels_per_point: ui.ctx().pixels_per_point(), ground: theme::tokens(ui).panel };
    if cache.source != markdown || cache.laid_for.is_none() {
        markdown.clone_into(&mut cache.source);
        cache.document = Document::parse(markdown);
        glossary.explain(&mut cache.document);
        cache.meanings = cache.document.links.iter().map(|link| glossary.meaning(link)).collect();
        cache.laid_for = None;
    }
    if cache.laid_for != Some(laid_for) {
        cache.columns.clear();
        cache.flows.clear();
        cache.flows.resize_with(cache.document.texts, || None);
        cache.laid_for = Some(laid_for);
    }
    let LessonCache { document, meanings, formulas, flows, columns, .. } = cache;
    let mut page =
        blocks::Page { links: &document.links, meanings, formulas, flows, columns, readable, actions: Vec::new() };
    let salt = ui.scope_id().with(markdown.len());
    ui.push_id(salt, |ui| page.blocks_ui(ui, &document.blocks, width));
    page.actions
}
