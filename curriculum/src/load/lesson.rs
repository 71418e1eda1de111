//! Reads `lesson.md`, `page.md` and `problem.md`: sections (a day's are five, the others' are free), pieces of the real kernel files, and places for interactive parts.
//!
//! On a line of its own a lesson may have
//! - `{{code reference.cu#index}}`: the lines between `//@ index` and `//@ end` of that file (in Python `#@`), or the
//!   whole file without `#…`; the path is relative to the unit's folder under `kernels/`, or starts with `kernels/`;
//! - `{{viz launch: what to look for}}`: a visualization by id;
//! - `{{experiment block-size}}`, `{{exercise matrix-add}}` and `{{answer mystery}}`: buttons that open them;
//! - `{{measure cpu-matmul}}`: a button that measures this machine (`app/src/measure/`);
//! - a fenced block `fill NAME`: a table to fill in and check ([`crate::fill`]);
//! - `![what it shows](index.svg)`: a figure, a file beside the lesson (`app/src/widgets/figure.rs` says what it may hold).

use crate::error::ContentError;
use crate::files::Files;
use crate::fill::FillTable;
use crate::unit::{Block, Lesson, Section, Step};

/// Where a lesson's pieces are looked up.
pub(crate) struct Source<'a> {
    pub files: &'a Files,
    /// Path of the lesson, for errors.
    pub path: &'a str,
    /// The unit's address.
    pub address: &'a str,
    pub headings: Headings<'a>,
}

/// Which sections a lesson has.
#[derive(Clone, Copy)]
pub(crate) enum Headings<'a> {
    /// The five steps, in order.
    Day,
    /// The author's own; text before the first one is a section with this title.
    Free { title: &'a str },
}

/// More would be steps that nobody can survey.
const MOST_PARTS: usize = 24;

/// Splits a lesson into its sections and resolves its inclusions; reports all errors.
pub(crate) fn parse(source: &Source<'_>, text: &str, errors: &mut Vec<ContentError>) -> Lesson {
    let mut sections: Vec<Section> = Vec::new();
    let mut fenced = false;
    // A table to fill in that is being read: its name and lines.
    let mut filled: Option<(&str, Vec<&str>)> = None;
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let error = |expected: String| ContentError::new(source.path, number, expected);
        if let Some((name, lines)) = &mut filled {
            if !line.trim_start().starts_with("```") {
                lines.push(line);
                continue;
            }
            let table = FillTable::parse(name, lines);
            filled = None;
            match (table, sections.last_mut()) {
                (Ok(table), Some(section)) => push_block(section, Block::Fill(table)),
                (Ok(_), None) => errors.push(error("a heading before the table".to_owned())),
                (Err(expected), _) => errors.push(error(expected)),
            }
            continue;
        }
        if !fenced && let Some(name) = line.strip_prefix("```fill") {
            filled = Some((name.trim(), Vec::new()));
            continue;
        }
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if !fenced && let Some(heading) = line.strip_prefix("## ") {
            match source.headings {
                Headings::Day => day_section(heading, line, &mut sections, error, errors),
                Headings::Free { .. } => errors.extend(part(heading, &mut sections).err().map(error)),
            }
            continue;
        }
        if sections.is_empty() {
            match source.headings {
                _ if line.trim().is_empty() => continue,
                Headings::Day => {
                    errors.push(error(format!("`## {}` before any text", Step::Challenge.title())));
                    break;
                }
                Headings::Free { title } => errors.extend(part(title, &mut sections).err().map(error)),
            }
        }
        let Some(section) = sections.last_mut() else { continue };
        let trimmed = line.trim();
        if !fenced && let Some(inner) = trimmed.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}")) {
            match directive(source, inner.trim()) {
                Ok(block) => push_block(section, block),
                Err(expected) => errors.push(error(expected)),
            }
            continue;
        }
        if !fenced && let Some((caption, file)) = picture(trimmed) {
            match figure(source, caption, file) {
                Ok(block) => push_block(section, block),
                Err(expected) => errors.push(error(expected)),
            }
            continue;
        }
        push_markdown(section, line);
    }
    let is_day = matches!(source.headings, Headings::Day);
    if is_day && sections.len() < Step::ALL.len() && !errors.iter().any(|e| e.path == source.path) {
        let missing: Vec<_> = Step::ALL[sections.len()..].iter().map(|s| format!("`## {}`", s.title())).collect();
        errors.push(ContentError::new(source.path, text.lines().count(), format!("also {}", missing.join(", "))));
    }
    if sections.is_empty() && !is_day && !errors.iter().any(|error| error.path == source.path) {
        errors.push(ContentError::new(source.path, 0, "some text"));
    }
    if fenced || filled.is_some() {
        errors.push(ContentError::new(source.path, text.lines().count(), "``` that closes the last code block"));
    }
    if !is_day {
        return Lesson { sections };
    }
    let mut lesson = Lesson::empty_day();
    for (slot, section) in lesson.sections.iter_mut().zip(sections) {
        *slot = section;
    }
    lesson
}

/// Begins the next of a day's five sections.
fn day_section(
    heading: &str,
    line: &str,
    sections: &mut Vec<Section>,
    error: impl Fn(String) -> ContentError,
    errors: &mut Vec<ContentError>,
) {
    let Some(step) = Step::ALL.get(sections.len()).copied() else {
        errors.push(error(format!("no sixth section (found `{line}`); use `###` inside a section")));
        return;
    };
    let title = section_title(heading, step).unwrap_or_else(|| {
        errors.push(error(format!(
            "the section `## {}` here (found `{line}`); a translated heading ends with `{{#{}}}`",
            step.title(),
            step.id()
        )));
        heading.to_owned()
    });
    sections.push(Section::new(step, step.id(), &title));
}

/// Begins a section with a heading of the author's own, `Part 1: one thread` or `Teil 1 {#part-1-one-thread}`.
fn part(heading: &str, sections: &mut Vec<Section>) -> Result<(), String> {
    let heading = heading.trim();
    let (title, id) = match heading.strip_suffix('}').and_then(|rest| rest.rsplit_once("{#")) {
        Some((title, id)) => (title.trim(), id.to_owned()),
        None => (heading, slug(heading)),
    };
    if title.is_empty() || !crate::names::is_slug(&id) {
        return Err(format!(
            "a heading with words of the Latin alphabet, or one that ends with `{{#name}}` (found `{heading}`)"
        ));
    }
    if sections.len() == MOST_PARTS {
        return Err(format!("at most {MOST_PARTS} sections; use `###` inside a section"));
    }
    if sections.iter().any(|section| section.id == id) {
        return Err(format!("a heading that no other section has (found `{title}` again)"));
    }
    sections.push(Section::new(Step::Part(sections.len() as u8), &id, title));
    Ok(())
}

/// `Part 1: One thread` as `part-1-one-thread`.
fn slug(heading: &str) -> String {
    let lower = heading.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

/// The heading's own words, if it is the section of this step.
fn section_title(heading: &str, step: Step) -> Option<String> {
    let heading = heading.trim();
    if heading == step.title() {
        return Some(heading.to_owned());
    }
    let words = heading.strip_suffix(&format!("{{#{}}}", step.id()))?.trim();
    (!words.is_empty()).then(|| words.to_owned())
}

fn push_markdown(section: &mut Section, line: &str) {
    for text in [&mut section.markdown, last_text(&mut section.blocks)] {
        // Blank lines at the start of a piece would only show as empty space.
        if text.is_empty() && line.trim().is_empty() {
            continue;
        }
        text.push_str(line);
        text.push('\n');
    }
}

/// The text that Markdown lines go to.
fn last_text(blocks: &mut Vec<Block>) -> &mut String {
    if !matches!(blocks.last(), Some(Block::Markdown(_))) {
        blocks.push(Block::Markdown(String::new()));
    }
    match blocks.last_mut() {
        Some(Block::Markdown(text)) => text,
        _ => unreachable!("pushed above"),
    }
}

fn push_block(section: &mut Section, block: Block) {
    let stand_in = match &block {
        Block::Markdown(text) => {
            for line in text.lines() {
                push_markdown(section, line);
            }
            return;
        }
        Block::Figure { caption, .. } => format!("*[Figure]* {caption}"),
        Block::Visualization { id, caption } if caption.is_empty() => format!("*[Interactive: {id}]*"),
        Block::Visualization { id, caption } => format!("*[Interactive: {id}]* {caption}"),
        Block::Experiment { name } => format!("*[Experiment: {name}]*"),
        Block::Ladder { name } => format!("*[Ladder: {name}]*"),
        Block::Exercise { key } => format!("*[Exercise: {key}]*"),
        Block::Answer { key } => format!("*[Questions: {key}]*"),
        Block::Measure { name } => format!("*[Measure: {name}]*"),
        Block::Fill(table) => table.markdown(),
    };
    section.markdown.push_str(&stand_in);
    section.markdown.push('\n');
    // Where two interactive parts follow each other only blank lines lie between.
    if matches!(section.blocks.last(), Some(Block::Markdown(text)) if text.trim().is_empty()) {
        section.blocks.pop();
    }
    section.blocks.push(block);
}

fn directive(source: &Source<'_>, inner: &str) -> Result<Block, String> {
    let (name, argument) = inner.split_once(' ').unwrap_or((inner, ""));
    let argument = argument.trim();
    if argument.is_empty() {
        return Err(format!(
            "`{{{{{name} …}}}}` with an argument; known: code, viz, experiment, exercise, answer, ladder, measure"
        ));
    }
    match name {
        "code" => code(source, argument).map(Block::Markdown),
        "viz" => {
            let (id, caption) = argument.split_once(':').unwrap_or((argument, ""));
            if !crate::names::is_slug(id.trim()) {
                return Err(format!("a visualization's id such as `launch` (found `{id}`)"));
            }
            Ok(Block::Visualization { id: id.trim().to_owned(), caption: caption.trim().to_owned() })
        }
        "experiment" => Ok(Block::Experiment { name: argument.to_owned() }),
        "ladder" => Ok(Block::Ladder { name: argument.to_owned() }),
        "exercise" => Ok(Block::Exercise { key: argument.to_owned() }),
        "answer" => Ok(Block::Answer { key: argument.to_owned() }),
        "measure" => Ok(Block::Measure { name: argument.to_owned() }),
        _ => Err(format!("code, viz, experiment, exercise, answer, ladder or measure (found `{{{{{name} …}}}}`)")),
    }
}

/// Words and file of a picture that is alone on its line; one from the web stays a link.
fn picture(line: &str) -> Option<(&str, &str)> {
    let (caption, file) = line.strip_prefix("![")?.strip_suffix(')')?.split_once("](")?;
    (!file.contains("://")).then_some((caption.trim(), file.trim()))
}

fn figure(source: &Source<'_>, caption: &str, file: &str) -> Result<Block, String> {
    if caption.is_empty() {
        return Err(format!("`![what it shows]({file})`: who cannot see the figure reads its words"));
    }
    let folder = source.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let path = format!("{folder}/{file}");
    match source.files.text(&path) {
        Some(svg) if file.ends_with(".svg") => {
            Ok(Block::Figure { file: file.to_owned(), svg: svg.to_owned(), caption: caption.to_owned() })
        }
        _ => Err(format!("an SVG file beside the lesson; there is no {path}")),
    }
}

/// A fenced code block with a piece of a real file.
fn code(source: &Source<'_>, argument: &str) -> Result<String, String> {
    let (path, anchor) = match argument.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor)),
        None => (argument, None),
    };
    let path =
        if path.starts_with("kernels/") { path.to_owned() } else { format!("kernels/{}/{path}", source.address) };
    let Some(text) = source.files.text(&path) else {
        return Err(format!("the path of an existing file; there is no {path}"));
    };
    let piece = match anchor {
        None => without_anchors(text),
        Some(anchor) => anchored(text, anchor).ok_or_else(|| {
            let known = anchors(text);
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            format!("an anchor that {path} has (`//@ {anchor}` … `//@ end`); its anchors: {known}")
        })?,
    };
    let language = match path.rsplit('.').next() {
        Some("cu" | "cuh") => "cuda",
        Some("py") => "python",
        Some("toml") => "toml",
        _ => "text",
    };
    Ok(format!("```{language}\n{}\n```", dedent(&piece)))
}

/// The name on an anchor line (`//@ index`, `#@ index`), `end` included.
fn anchor_name(line: &str) -> Option<&str> {
    let line = line.trim();
    let rest = line.strip_prefix("//@").or_else(|| line.strip_prefix("#@"))?;
    Some(rest.trim())
}

fn anchors(text: &str) -> Vec<&str> {
    text.lines().filter_map(anchor_name).filter(|name| *name != "end").collect()
}

/// The lines of an anchor; anchors may repeat, and then the pieces are joined by a line that says so.
fn anchored(text: &str, anchor: &str) -> Option<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut open = false;
    for line in text.lines() {
        match anchor_name(line) {
            Some(name) if name == anchor => {
                open = true;
                pieces.push(String::new());
            }
            Some("end") => open = false,
            Some(_) => {}
            None if open => {
                let piece = pieces.last_mut()?;
                piece.push_str(line);
                piece.push('\n');
            }
            None => {}
        }
    }
    (!pieces.is_empty()).then(|| pieces.join("    // …\n"))
}

/// A source as the learner sees it: anchor lines are for the lesson only.
pub(crate) fn without_anchors(text: &str) -> String {
    let mut clean: String =
        text.lines().filter(|line| anchor_name(line).is_none()).flat_map(|line| [line, "\n"]).collect();
    if !text.ends_with('\n') {
        clean.pop();
    }
    clean
}

/// Removes the indentation that all lines share, and blank lines at both ends.
fn dedent(text: &str) -> String {
    let lines: Vec<&str> = text.trim_matches('\n').lines().collect();
    let indent = lines
        .iter()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start_matches(' ').len())
        .min()
        .unwrap_or(0);
    let lines: Vec<&str> = lines.iter().map(|line| line.get(indent..).unwrap_or("")).collect();
    lines.join("\n").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: &str =
        "extern \"C\" __global__ void k()\n{\n    //@ index\n    int i = 0;\n    //@ end\n    i++;\n}\n";

    fn read(lesson: &str) -> (Lesson, Vec<ContentError>) {
        let files = Files::from_texts([
            ("kernels/week1/day1-x/reference.cu", KERNEL),
            ("curriculum/week1/day1-x/index.svg", "<svg/>"),
        ]);
        let mut errors = Vec::new();
        let source = Source {
            files: &files,
            path: "curriculum/week1/day1-x/lesson.md",
            address: "week1/day1-x",
            headings: Headings::Day,
        };
        let lesson = parse(&source, lesson, &mut errors);
        (lesson, errors)
    }

    fn whole(challenge: &str) -> String {
        format!("## Challenge\n{challenge}\n## Explore\nb\n## Concept\nc\n## Code It\nd\n## Verify\ne\n")
    }

    #[test]
    fn five_sections_in_order() {
        let (lesson, errors) = read(&whole("a\n```\n## not a heading\n```"));
        assert_eq!(errors, []);
        assert_eq!(lesson.sections[0].markdown, "a\n```\n## not a heading\n```\n");
        assert_eq!(lesson.section(Step::Verify).unwrap().markdown, "e\n");
    }

    #[test]
    fn a_translation_keeps_the_step() {
        let (lesson, errors) = read(&whole("a").replace("## Explore", "## Entdecken {#explore}"));
        assert_eq!(errors, []);
        assert_eq!(lesson.section(Step::Explore).unwrap().title, "Entdecken");
    }

    #[test]
    fn missing_and_wrong_sections_are_told_with_their_line() {
        let (_, errors) = read("## Challenge\na\n## Concept\n");
        assert_eq!((errors[0].line, errors.len()), (3, 1));
        assert!(errors[0].expected.contains("## Explore"), "{}", errors[0]);
        let (_, errors) = read("## Challenge\na\n");
        assert!(errors[0].expected.contains("`## Verify`"), "{}", errors[0]);
        let (_, errors) = read("hello\n## Challenge\n");
        assert_eq!(errors[0].line, 1);
    }

    #[test]
    fn code_is_taken_from_the_real_file() {
        let (lesson, errors) = read(&whole("see\n\n{{code reference.cu#index}}\n\nend"));
        assert_eq!(errors, []);
        assert_eq!(lesson.sections[0].markdown, "see\n\n```cuda\nint i = 0;\n```\n\nend\n");
        let (lesson, _) = read(&whole("{{code reference.cu}}"));
        assert!(!lesson.sections[0].markdown.contains("//@"));
    }

    #[test]
    fn a_missing_file_or_anchor_is_an_error_that_lists_what_exists() {
        let (_, errors) = read(&whole("{{code reference.cu#indx}}"));
        assert!(errors[0].expected.contains("its anchors: index"), "{}", errors[0]);
        assert_eq!(errors[0].line, 2);
        let (_, errors) = read(&whole("{{code nothing.cu}}"));
        assert!(errors[0].expected.contains("kernels/week1/day1-x/nothing.cu"), "{}", errors[0]);
        let (_, errors) = read(&whole("{{picture x}}"));
        assert_eq!(errors.len(), 1);
    }

    #[test]
    fn a_figure_is_a_file_beside_the_lesson() {
        let (lesson, errors) = read(&whole("a\n\n![The grid.](index.svg)\n\nb ![c](d.svg) e"));
        assert_eq!(errors, []);
        let section = &lesson.sections[0];
        let figure = Block::Figure { file: "index.svg".into(), svg: "<svg/>".into(), caption: "The grid.".into() };
        assert_eq!((section.blocks.len(), &section.blocks[1]), (3, &figure));
        assert!(section.markdown.contains("*[Figure]* The grid."));
        for (wrong, expected) in
            [("![](index.svg)", "what it shows"), ("![x](grid.svg)", "there is no curriculum/week1")]
        {
            let (_, errors) = read(&whole(wrong));
            assert_eq!((errors.len(), errors[0].line), (1, 2));
            assert!(errors[0].expected.contains(expected), "{}", errors[0]);
        }
        let (lesson, errors) = read(&whole("![far](https://example.org/a.png)"));
        assert!(errors.is_empty() && lesson.sections[0].blocks.len() == 1);
    }

    #[test]
    fn interactive_parts_are_blocks_and_stay_readable_as_text() {
        let (lesson, errors) = read(&whole("a\n\n{{viz launch: Look at the edge.}}\n\nb"));
        assert_eq!(errors, []);
        let section = &lesson.sections[0];
        assert_eq!(section.blocks.len(), 3);
        assert_eq!(
            section.blocks[1],
            Block::Visualization { id: "launch".into(), caption: "Look at the edge.".into() }
        );
        assert!(section.markdown.contains("*[Interactive: launch]* Look at the edge."));
    }

    fn free(text: &str) -> (Lesson, Vec<ContentError>) {
        let files = Files::from_texts([("kernels/labs/x/reference.cu", KERNEL)]);
        let mut errors = Vec::new();
        let headings = Headings::Free { title: "A lab" };
        let source = Source { files: &files, path: "curriculum/labs/x/lesson.md", address: "labs/x", headings };
        let lesson = parse(&source, text, &mut errors);
        (lesson, errors)
    }

    #[test]
    fn other_units_have_headings_of_their_own() {
        let (lesson, errors) =
            free("Before.\n\n## Part 1: One thread\n{{exercise one}}\n## Zwei {#two}\n{{answer why}}\n");
        assert_eq!(errors, []);
        let ids: Vec<(&str, &str)> = lesson.sections.iter().map(|s| (s.id.as_str(), s.title.as_str())).collect();
        assert_eq!(ids, [("a-lab", "A lab"), ("part-1-one-thread", "Part 1: One thread"), ("two", "Zwei")]);
        assert_eq!(lesson.sections[2].exercise_keys().collect::<Vec<_>>(), ["why"]);
        assert_eq!(lesson.section(Step::Part(1)).unwrap().id, "part-1-one-thread");
        for (wrong, line, expected) in
            [("## A\n## A\n", 2, "`A` again"), ("\n## 〇\n", 2, "ends with `{#name}`"), ("\n", 0, "some text")]
        {
            let (_, errors) = free(wrong);
            assert!(errors.len() == 1 && errors[0].line == line && errors[0].expected.contains(expected), "{errors:?}");
        }
        let (_, errors) = free(&(0..25).map(|n| format!("## S{n}\n")).collect::<String>());
        assert!(errors[0].expected.contains("at most 24 sections"), "{errors:?}");
    }
}
