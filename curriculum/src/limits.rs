//! What a text of a course may not hold, because drawing it would take the window's memory, its time, or its stack: a folder
//! with a course may come from anybody.

/// Block quotes in one another.
const MOST_QUOTES: usize = 8;
/// Spaces before a line: lists in one another.
const MOST_INDENT: usize = 40;
/// Characters of a line, and of lines with none empty between them.
const MOST_LINE_CHARS: usize = 20_000;
const MOST_PARAGRAPH_CHARS: usize = 60_000;
/// Rows of a table, and brackets of one kind in one another within a line.
const MOST_ROWS: usize = 500;
const MOST_BRACKETS: usize = 40;
/// Elements of a figure, and elements in one another.
const MOST_ELEMENTS: usize = 5_000;
const MOST_NESTED: usize = 24;
const MOST_FIGURE_BYTES: usize = 512 << 10;

/// Commands of formulas that make boxes of any size, or other commands.
const FORMULA: [&str; 19] = [
    "rule",
    "kern",
    "mkern",
    "hskip",
    "mskip",
    "hspace",
    "vspace",
    "raisebox",
    "def",
    "gdef",
    "edef",
    "xdef",
    "let",
    "newcommand",
    "renewcommand",
    "includegraphics",
    "href",
    "url",
    "phantom",
];

/// The first command of a line that no formula may have.
fn command(line: &str) -> Option<&'static str> {
    let name = |rest: &str| rest.chars().take_while(char::is_ascii_alphabetic).collect::<String>();
    let names = line.match_indices('\\').map(|(at, _)| name(&line[at + 1..]));
    names.filter_map(|name| FORMULA.into_iter().find(|known| *known == name)).next()
}

/// The line at fault and what is expected there; None for what can be drawn.
pub(crate) fn of(path: &str, text: &str) -> Option<(usize, String)> {
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("md") => of_words(text),
        Some("svg") => of_figure(text),
        _ => None,
    }
}

fn of_words(text: &str) -> Option<(usize, String)> {
    let (mut paragraph, mut rows, mut is_code) = (0, 0, false);
    for (number, line) in text.lines().enumerate() {
        let wrong = |expected: String| Some((number + 1, expected));
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") {
            is_code = !is_code;
        }
        let length = line.chars().count();
        paragraph = if trimmed.is_empty() { 0 } else { paragraph + length };
        rows = if trimmed.starts_with('|') { rows + 1 } else { 0 };
        if length > MOST_LINE_CHARS || (paragraph > MOST_PARAGRAPH_CHARS && !is_code) {
            return wrong(format!("a paragraph of at most {MOST_LINE_CHARS} characters"));
        }
        if is_code {
            continue;
        }
        let quotes = trimmed.chars().take_while(|c| *c == '>' || *c == ' ').filter(|c| *c == '>').count();
        if quotes > MOST_QUOTES {
            return wrong(format!("at most {MOST_QUOTES} quotes in one another"));
        }
        if line.len() - trimmed.len() > MOST_INDENT {
            return wrong(format!("lists that are indented by at most {MOST_INDENT} spaces"));
        }
        if rows > MOST_ROWS {
            return wrong(format!("a table of at most {MOST_ROWS} rows"));
        }
        if nested(line) > MOST_BRACKETS {
            return wrong(format!("at most {MOST_BRACKETS} brackets in one another"));
        }
        // Marks of a list before a list: `- - - - …`.
        let marks = trimmed.split(' ').take_while(|word| matches!(*word, "-" | "*" | "+" | ">")).count();
        if marks > MOST_QUOTES {
            return wrong(format!("at most {MOST_QUOTES} lists in one another"));
        }
        if line.contains('$')
            && let Some(found) = command(line)
        {
            return wrong(format!("a formula without `\\{found}`"));
        }
    }
    None
}

/// How deep brackets and braces of a line lie in one another.
fn nested(line: &str) -> usize {
    let (mut depth, mut most) = (0_usize, 0);
    for c in line.chars() {
        match c {
            '[' | '{' | '(' => depth += 1,
            ']' | '}' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        most = most.max(depth);
    }
    most
}

/// Elements that a figure may have: shapes and words, nothing that reads files or filters pixels.
const ELEMENTS: [&str; 13] =
    ["svg", "g", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text", "title", "desc", "?xml"];

fn of_figure(text: &str) -> Option<(usize, String)> {
    if text.len() > MOST_FIGURE_BYTES {
        return Some((0, format!("a figure of at most {} KiB", MOST_FIGURE_BYTES >> 10)));
    }
    let (mut depth, mut elements) = (0_usize, 0);
    for (at, _) in text.match_indices('<') {
        let rest = &text[at + 1..];
        let wrong = |expected: String| Some((text[..at].matches('\n').count() + 1, expected));
        if rest.starts_with("!--") {
            continue;
        }
        if rest.starts_with('!') {
            return wrong("a figure without a DTD or CDATA".to_owned());
        }
        if rest.starts_with('/') {
            depth = depth.saturating_sub(1);
            continue;
        }
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || "?:_-".contains(*c)).collect();
        if !ELEMENTS.contains(&name.as_str()) {
            return wrong(format!("one of the elements {} (found <{name}>)", ELEMENTS[..12].join(", ")));
        }
        elements += 1;
        let tag = rest.split('>').next().unwrap_or_default();
        if !tag.ends_with('/') && !name.starts_with('?') {
            depth += 1;
        }
        if depth > MOST_NESTED || elements > MOST_ELEMENTS {
            return wrong(format!("at most {MOST_ELEMENTS} elements, {MOST_NESTED} in one another"));
        }
        for forbidden in ["href", "url(", "style=", "filter", "@import"] {
            if tag.contains(forbidden) {
                return wrong(format!("an element without `{forbidden}`"));
            }
        }
        if let Some(dashes) = tag.split("stroke-dasharray=").nth(1) {
            let dashes = dashes.trim_start_matches(['"', '\'']).split(['"', '\'']).next().unwrap_or_default();
            if dashes.split([' ', ',']).filter_map(|dash| dash.parse::<f32>().ok()).sum::<f32>() < 1.0
                && dashes != "none"
            {
                return wrong("dashes of at least a point in all".to_owned());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_a_window_down_is_refused() {
        let lines = "a\n".repeat(3);
        for (text, says) in [
            (format!("{lines}{}", ">".repeat(100_000)), "paragraph"),
            (format!("{lines}{} deep", "> ".repeat(40)), "quotes"),
            (format!("{lines}{}x", " ".repeat(400)), "indented"),
            (format!("{lines}{}", "| a | b |\n".repeat(2000)), "table"),
            (format!("{lines}{}", "[".repeat(5000)), "brackets"),
            (format!("{lines}{}x", "- ".repeat(300)), "lists"),
            (format!("{lines}{}", "word ".repeat(700_000)), "paragraph"),
            (format!("{lines}a $\\rule{{1000000em}}{{1em}}$"), "formula"),
        ] {
            let (line, expected) = of("curriculum/week1/day1/lesson.md", &text).expect(says);
            assert!(line == 4 || says == "table", "{line}: {expected}");
            assert!(expected.contains(says), "{expected}");
        }
        for svg in [
            "<svg><image href=\"/etc/passwd\"/></svg>".to_owned(),
            "<svg><rect filter=\"url(#blur)\"/></svg>".to_owned(),
            "<!DOCTYPE svg [<!ENTITY a \"b\">]><svg/>".to_owned(),
            format!("<svg>{}", "<g>".repeat(100_000)),
            format!("<svg>{}", "<rect/>".repeat(100_000)),
            "<svg><line stroke-dasharray=\"0.0001 0.0001\"/></svg>".to_owned(),
        ] {
            assert!(of("a/b.svg", &svg).is_some(), "{}", &svg[..60.min(svg.len())]);
        }
    }

    #[test]
    fn the_course_itself_stays_inside() {
        let files = crate::Files::embedded();
        let wrong: Vec<_> =
            files.paths().filter_map(|path| Some((path.to_owned(), of(path, files.text(path)?)?))).collect();
        assert_eq!(wrong, []);
    }
}
