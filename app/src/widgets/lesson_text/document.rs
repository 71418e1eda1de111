//! Markdown to blocks: what a lesson says, with nothing about how it looks.
//!
//! CommonMark with tables, task lists, strike-through, `$formulas$`, GitHub's alerts (`> [!TIP]`), heading ids and
//! `<details><summary>` folds. Other HTML is shown as written, so that an author sees it.

use pulldown_cmark::{Alignment, BlockQuoteKind, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use std::sync::Arc;

/// Containers in one another: more are drawn as if they were not there. Drawing goes down with them.
const MOST_NESTED: usize = 20;
/// Parts of a text, a tenth of which is more than the longest lesson has.
const MOST_EVENTS: usize = 100_000;
/// Bytes of one paragraph, of one block of code, and rows of a table. The checks of a course's files (`curriculum/src/limits.rs`)
/// say where one is too long; they know no Markdown, and words come from quizzes too.
const MOST_PARAGRAPH_BYTES: usize = 64_000;
const MOST_CODE_BYTES: usize = 256_000;
const MOST_ROWS: usize = 500;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    pub blocks: Vec<Block>,
    /// Targets that [`TextStyle::link`] counts into.
    pub links: Vec<String>,
    /// How many [`Text`]s there are; their ids are below this.
    pub texts: usize,
}

/// One flowing text with a number of its own, by which its layout is cached.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Text {
    pub id: usize,
    pub pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    Plain { text: String, style: TextStyle },
    Formula { tex: Arc<str> },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextStyle {
    pub strong: bool,
    pub emphasis: bool,
    pub code: bool,
    pub strike: bool,
    pub link: Option<usize>,
    /// The link is a word of the glossary: explained on hover.
    pub word: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlertKind {
    Note,
    Tip,
    Important,
    Warning,
    Caution,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    Left,
    Center,
    Right,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// `- [x]`: whether it is ticked.
    pub task: Option<bool>,
    pub blocks: Vec<Block>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    Heading {
        level: u8,
        id: Option<String>,
        text: Text,
    },
    Paragraph(Text),
    Formula {
        tex: Arc<str>,
    },
    /// `language` is the first word after the fence, lower case; `info` the rest of that line.
    Code {
        id: usize,
        language: String,
        info: String,
        text: String,
    },
    List {
        start: Option<u64>,
        items: Vec<Item>,
    },
    Quote {
        alert: Option<AlertKind>,
        blocks: Vec<Block>,
    },
    Table {
        id: usize,
        columns: Vec<Column>,
        head: Vec<Text>,
        rows: Vec<Vec<Text>>,
    },
    Fold {
        id: usize,
        summary: String,
        blocks: Vec<Block>,
    },
    Rule,
}

impl Document {
    pub fn parse(markdown: &str) -> Self {
        let options = Options::ENABLE_TABLES
            | Options::ENABLE_TASKLISTS
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_MATH
            | Options::ENABLE_GFM
            | Options::ENABLE_HEADING_ATTRIBUTES;
        let mut builder = Builder::default();
        let mut events = Parser::new_ext(markdown, options);
        events.by_ref().take(MOST_EVENTS).for_each(|event| builder.event(event));
        let is_cut = events.next().is_some();
        if is_cut {
            // What was read of a table is worth showing.
            builder.event(Event::End(TagEnd::Table));
        }
        builder.finish(is_cut)
    }
}

impl Text {
    /// The words without any style, formulas as LaTeX: for search and for screen readers.
    pub fn plain(&self) -> String {
        self.pieces
            .iter()
            .map(|piece| match piece {
                Piece::Plain { text, .. } => text.as_str(),
                Piece::Formula { tex } => tex,
            })
            .collect()
    }
}

/// What is open at the moment, outermost first; each collects the blocks inside it.
enum Open {
    Document,
    Quote(Option<AlertKind>),
    List { start: Option<u64>, items: Vec<Item> },
    Item { task: Option<bool> },
    Fold { id: usize, summary: String },
}

#[derive(Default)]
struct Table {
    columns: Vec<Column>,
    head: Vec<Text>,
    rows: Vec<Vec<Text>>,
    row: Vec<Text>,
}

struct Builder {
    open: Vec<(Open, Vec<Block>)>,
    /// Containers that were one too many, and end before the others do.
    skipped: usize,
    /// Bytes of the paragraph at hand.
    bytes: usize,
    links: Vec<String>,
    ids: usize,
    pieces: Vec<Piece>,
    style: TextStyle,
    /// Nesting of strong and emphasis, which may repeat.
    strong: u32,
    emphasis: u32,
    code: Option<(String, String, String)>,
    html: Option<String>,
    table: Option<Table>,
    heading: Option<(u8, Option<String>)>,
}

impl Default for Builder {
    fn default() -> Self {
        Self {
            open: vec![(Open::Document, Vec::new())],
            skipped: 0,
            bytes: 0,
            links: Vec::new(),
            ids: 0,
            pieces: Vec::new(),
            style: TextStyle::default(),
            strong: 0,
            emphasis: 0,
            code: None,
            html: None,
            table: None,
            heading: None,
        }
    }
}

impl Builder {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match (&mut self.code, &mut self.html) {
                (Some((_, _, code)), _) => push_within(code, &text, MOST_CODE_BYTES),
                (None, Some(html)) => push_within(html, &text, MOST_PARAGRAPH_BYTES),
                (None, None) => self.text(&text, self.style),
            },
            Event::Code(text) => self.text(&text, TextStyle { code: true, ..self.style }),
            Event::InlineMath(tex) => self.formula(&tex),
            Event::DisplayMath(tex) if self.table.is_some() || self.heading.is_some() => self.formula(&tex),
            Event::DisplayMath(tex) => {
                self.flush_paragraph();
                self.push(Block::Formula { tex: tex.trim().into() });
            }
            Event::Html(html) => match &mut self.html {
                Some(open) => push_within(open, &html, MOST_PARAGRAPH_BYTES),
                None => self.html_block(&html),
            },
            Event::InlineHtml(html) => match &*html {
                "<br>" | "<br/>" | "<br />" => self.text("\n", self.style),
                "<kbd>" => self.style.code = true,
                "</kbd>" => self.style.code = false,
                other => self.text(other, self.style),
            },
            Event::SoftBreak => self.text(" ", self.style),
            Event::HardBreak => self.text("\n", self.style),
            Event::Rule => self.push(Block::Rule),
            Event::TaskListMarker(done) => {
                if let Some((Open::Item { task }, _)) = self.open.last_mut() {
                    *task = Some(done);
                }
            }
            Event::FootnoteReference(name) => self.text(&format!("[{name}]"), self.style),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, id, .. } => {
                self.flush_paragraph();
                self.heading = Some((heading_level(level), id.map(|id| id.to_string())));
            }
            Tag::BlockQuote(kind) => self.begin(Open::Quote(kind.map(alert))),
            Tag::CodeBlock(kind) => {
                self.flush_paragraph();
                let fence = match &kind {
                    CodeBlockKind::Fenced(info) => info.trim(),
                    CodeBlockKind::Indented => "",
                };
                let (language, info) = fence.split_once(char::is_whitespace).unwrap_or((fence, ""));
                self.code = Some((language.to_ascii_lowercase(), info.trim().to_owned(), String::new()));
            }
            Tag::HtmlBlock => {
                self.flush_paragraph();
                self.html = Some(String::new());
            }
            Tag::List(start) => self.begin(Open::List { start, items: Vec::new() }),
            Tag::Item => self.begin(Open::Item { task: None }),
            Tag::Table(columns) => {
                self.flush_paragraph();
                let columns = columns.into_iter().map(column).collect();
                self.table = Some(Table { columns, ..Table::default() });
            }
            Tag::Emphasis => self.emphasis += 1,
            Tag::Strong => self.strong += 1,
            Tag::Strikethrough => self.style.strike = true,
            Tag::Link { dest_url, .. } => {
                self.style.link = Some(self.links.len());
                self.links.push(dest_url.to_string());
            }
            // Figures of the course are blocks of their own (`curriculum/src/load/lesson.rs`). What is left lies on the web
            // and is shown by its description, the text between start and end, as a link: nothing is fetched unasked.
            Tag::Image { dest_url, .. } => {
                self.style.link = Some(self.links.len());
                self.links.push(dest_url.to_string());
            }
            _ => {}
        }
        self.style.strong = self.strong > 0;
        self.style.emphasis = self.emphasis > 0;
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => self.flush_paragraph(),
            TagEnd::Heading(_) => {
                let text = self.take_text();
                if let Some((level, id)) = self.heading.take() {
                    self.push(Block::Heading { level, id, text });
                }
            }
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item => self.close(),
            TagEnd::CodeBlock => {
                if let Some((language, info, mut text)) = self.code.take() {
                    text.truncate(text.trim_end_matches('\n').len());
                    let id = self.next_id();
                    self.push(Block::Code { id, language, info, text });
                }
            }
            TagEnd::HtmlBlock => {
                if let Some(html) = self.html.take() {
                    self.html_block(&html);
                }
            }
            TagEnd::TableCell => {
                let text = self.take_text();
                if let Some(table) = &mut self.table {
                    table.row.push(text);
                }
            }
            TagEnd::TableHead => {
                if let Some(table) = &mut self.table {
                    table.head = std::mem::take(&mut table.row);
                }
            }
            TagEnd::TableRow => {
                if let Some(table) = &mut self.table {
                    let row = std::mem::take(&mut table.row);
                    if table.rows.len() < MOST_ROWS {
                        table.rows.push(row);
                    }
                }
            }
            TagEnd::Table => {
                if let Some(Table { columns, head, rows, .. }) = self.table.take() {
                    let id = self.next_id();
                    self.push(Block::Table { id, columns, head, rows });
                }
            }
            TagEnd::Emphasis => self.emphasis = self.emphasis.saturating_sub(1),
            TagEnd::Strong => self.strong = self.strong.saturating_sub(1),
            TagEnd::Strikethrough => self.style.strike = false,
            TagEnd::Link | TagEnd::Image => self.style.link = None,
            _ => {}
        }
        self.style.strong = self.strong > 0;
        self.style.emphasis = self.emphasis > 0;
    }

    fn begin(&mut self, what: Open) {
        self.flush_paragraph();
        if self.open.len() >= MOST_NESTED {
            self.skipped += 1;
            return;
        }
        self.open.push((what, Vec::new()));
    }

    /// Ends the innermost open container, whatever it is: pulldown-cmark's events are balanced, and a fold that was
    /// never closed ends with what holds it.
    fn close(&mut self) {
        self.flush_paragraph();
        if self.skipped > 0 {
            self.skipped -= 1;
            return;
        }
        if self.open.len() < 2 {
            return;
        }
        let Some((what, blocks)) = self.open.pop() else { return };
        match what {
            Open::Document => {}
            Open::Quote(alert) => self.push(Block::Quote { alert, blocks }),
            Open::List { start, items } => self.push(Block::List { start, items }),
            Open::Item { task } => {
                if let Some((Open::List { items, .. }, _)) = self.open.last_mut() {
                    items.push(Item { task, blocks });
                }
            }
            Open::Fold { id, summary } => {
                self.push(Block::Fold { id, summary, blocks });
                // The event that led here belongs to the container around the fold.
                self.close();
            }
        }
    }

    fn html_block(&mut self, html: &str) {
        let html = html.trim();
        let mut rest = html;
        if let Some(after) = rest.strip_prefix("<details>").or_else(|| rest.strip_prefix("<details open>")) {
            rest = after.trim_start();
            let (summary, after) = match rest.strip_prefix("<summary>").and_then(|r| r.split_once("</summary>")) {
                Some((summary, after)) => (summary.trim().to_owned(), after.trim()),
                None => ("More".to_owned(), rest),
            };
            rest = after;
            // Nothing says that a fold ends, so none is counted as skipped.
            if self.open.len() < MOST_NESTED {
                let id = self.next_id();
                self.begin(Open::Fold { id, summary });
            }
        }
        let ends = rest.ends_with("</details>");
        let inner = rest.strip_suffix("</details>").unwrap_or(rest).trim();
        let is_comment = inner.starts_with("<!--") && inner.ends_with("-->");
        if !inner.is_empty() && !is_comment {
            self.text(inner, TextStyle::default());
            self.flush_paragraph();
        }
        if ends && matches!(self.open.last(), Some((Open::Fold { .. }, _))) {
            self.flush_paragraph();
            if let Some((Open::Fold { id, summary }, blocks)) = self.open.pop() {
                self.push(Block::Fold { id, summary, blocks });
            }
        }
    }

    fn formula(&mut self, tex: &str) {
        self.bytes += tex.len();
        if self.bytes <= MOST_PARAGRAPH_BYTES {
            self.pieces.push(Piece::Formula { tex: tex.into() });
        }
    }

    fn text(&mut self, text: &str, style: TextStyle) {
        let left = MOST_PARAGRAPH_BYTES.saturating_sub(self.bytes);
        self.bytes += text.len();
        let text = &text[..text.floor_char_boundary(left)];
        match self.pieces.last_mut() {
            Some(Piece::Plain { text: last, style: same }) if *same == style => last.push_str(text),
            _ => self.pieces.push(Piece::Plain { text: text.to_owned(), style }),
        }
    }

    fn take_text(&mut self) -> Text {
        self.bytes = 0;
        Text { id: self.next_id(), pieces: std::mem::take(&mut self.pieces) }
    }

    /// Tight list items have text with no paragraph around it; this ends it too.
    fn flush_paragraph(&mut self) {
        let blank = self.pieces.iter().all(|p| matches!(p, Piece::Plain { text, .. } if text.trim().is_empty()));
        if blank {
            self.pieces.clear();
            self.bytes = 0;
            return;
        }
        let text = self.take_text();
        self.push(Block::Paragraph(text));
    }

    fn push(&mut self, block: Block) {
        if !self.pieces.is_empty() && !matches!(block, Block::Paragraph(_)) {
            self.flush_paragraph();
        }
        if let Some((_, blocks)) = self.open.last_mut() {
            blocks.push(block);
        }
    }

    fn next_id(&mut self) -> usize {
        self.ids += 1;
        self.ids - 1
    }

    fn finish(mut self, is_cut: bool) -> Document {
        while self.skipped > 0 || self.open.len() > 1 {
            self.close();
        }
        self.flush_paragraph();
        if is_cut {
            self.text("The text is too long: the rest is not shown.", TextStyle::default());
            self.flush_paragraph();
        }
        let blocks = self.open.pop().map(|(_, blocks)| blocks).unwrap_or_default();
        Document { blocks, links: self.links, texts: self.ids }
    }
}

/// Adds what there is room for.
fn push_within(text: &mut String, more: &str, most: usize) {
    let left = most.saturating_sub(text.len());
    text.push_str(&more[..more.floor_char_boundary(left)]);
}

fn heading_level(level: HeadingLevel) -> u8 {
    level as u8
}

fn alert(kind: BlockQuoteKind) -> AlertKind {
    match kind {
        BlockQuoteKind::Note => AlertKind::Note,
        BlockQuoteKind::Tip => AlertKind::Tip,
        BlockQuoteKind::Important => AlertKind::Important,
        BlockQuoteKind::Warning => AlertKind::Warning,
        BlockQuoteKind::Caution => AlertKind::Caution,
    }
}

fn column(alignment: Alignment) -> Column {
    match alignment {
        Alignment::None | Alignment::Left => Column::Left,
        Alignment::Center => Column::Center,
        Alignment::Right => Column::Right,
    }
}

#[cfg(test)]
mod tests;
