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

/// Bytes of a formula.
const MOST_FORMULA_BYTES: usize = 2_000;

/// Why a formula is not drawn, as a sentence's end; None for one that can be.
pub fn of_formula(tex: &str) -> Option<String> {
    if tex.len() > MOST_FORMULA_BYTES {
        return Some(format!("a formula has at most {MOST_FORMULA_BYTES} bytes"));
    }
    if nested(tex) > MOST_BRACKETS {
        return Some(format!("a formula has at most {MOST_BRACKETS} brackets in one another"));
    }
    command(tex).map(|found| format!("a formula has no `\\{found}`"))
}

/// The first command of a line that no formula may have.
fn command(line: &str) -> Option<&'static str> {
    let name = |rest: &str| rest.chars().take_while(char::is_ascii_alphabetic).collect::<String>();
    let names = line.match_indices('\\').map(|(at, _)| name(&line[at + 1..]));
    names.filter_map(|name| FORMULA.into_iter().find(|known| *known == name)).next()
}

/// Of a course's file, by its path's ending: the line at fault and what is expected there; None for what can be drawn.
pub fn of(path: &str, text: &str) -> Option<(usize, String)> {
    match path.rsplit_once('.').map(|(_, extension)| extension) {
        Some("md") => of_words(text),
        Some("svg") => of_figure(text),
        _ => None,
    }
}

fn of_words(text: &str) -> Option<(usize, String)> {
    let (mut paragraph, mut rows, mut is_code, mut is_formula) = (0, 0, false, false);
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
        // A formula of its own may go over several lines.
        is_formula ^= line.matches("$$").count() % 2 == 1;
        if (is_formula || line.contains('$'))
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
    let (mut depth, mut elements, mut from) = (0_usize, 0, 0);
    while let Some(at) = text[from..].find('<').map(|at| from + at) {
        let rest = &text[at + 1..];
        let wrong = |expected: String| Some((text[..at].matches('\n').count() + 1, expected));
        if rest.starts_with("!--") {
            let Some(end) = rest.find("-->") else { return wrong("an end `-->` of this comment".to_owned()) };
            from = at + 1 + end;
            continue;
        }
        if rest.starts_with('!') {
            return wrong("a figure without a DTD or CDATA".to_owned());
        }
        let Some((name, attributes, length)) = tag(rest) else {
            return wrong("an element with attributes such as width=\"10\"".to_owned());
        };
        from = at + 1 + length;
        if name.starts_with('/') {
            depth = depth.saturating_sub(1);
            continue;
        }
        if !ELEMENTS.contains(&name) {
            return wrong(format!("one of the elements {} (found <{name}>)", ELEMENTS[..12].join(", ")));
        }
        elements += 1;
        if !name.starts_with('?') && !rest[..length].ends_with('/') {
            depth += 1;
        }
        if depth > MOST_NESTED || elements > MOST_ELEMENTS {
            return wrong(format!("at most {MOST_ELEMENTS} elements, {MOST_NESTED} in one another"));
        }
        for (attribute, value) in attributes {
            if !ATTRIBUTES.contains(&attribute) || value.contains("url(") || value.contains('&') {
                return wrong(format!("an element without `{attribute}=\"{value}\"`"));
            }
            let dashes = || value.split([' ', ',']).filter_map(|dash| dash.parse::<f32>().ok()).sum::<f32>();
            if attribute == "stroke-dasharray" && value != "none" && !(1.0..=1e6).contains(&dashes()) {
                return wrong("dashes of at least a point in all".to_owned());
            }
        }
    }
    None
}

/// Attributes that draw: none that reads, filters, masks or repeats.
const ATTRIBUTES: [&str; 46] = [
    "xmlns",
    "viewBox",
    "version",
    "encoding",
    "standalone",
    "id",
    "class",
    "role",
    "aria-label",
    "xml:space",
    "xml:lang",
    "preserveAspectRatio",
    "width",
    "height",
    "x",
    "y",
    "x1",
    "y1",
    "x2",
    "y2",
    "cx",
    "cy",
    "r",
    "rx",
    "ry",
    "d",
    "points",
    "transform",
    "fill",
    "fill-opacity",
    "fill-rule",
    "opacity",
    "stroke",
    "stroke-width",
    "stroke-opacity",
    "stroke-dasharray",
    "stroke-dashoffset",
    "stroke-linecap",
    "stroke-linejoin",
    "stroke-miterlimit",
    "font-family",
    "font-size",
    "font-style",
    "font-weight",
    "text-anchor",
    "dominant-baseline",
];

/// Names and values.
type Attributes<'a> = Vec<(&'a str, &'a str)>;

/// Of a tag, behind its `<`: its name, its attributes, and how many bytes there are before its `>`. None: it has another form.
fn tag(text: &str) -> Option<(&str, Attributes<'_>, usize)> {
    let name_end = text.find(|c: char| c.is_whitespace() || c == '>' || (c == '/' && !text.starts_with('/')))?;
    let name_end = if text.starts_with('/') { text.find('>')? } else { name_end };
    let (name, mut rest) = text.split_at(name_end);
    let mut attributes = Vec::new();
    loop {
        rest = rest.trim_start();
        let end = rest.trim_start_matches(['/', '?']);
        if end.starts_with('>') {
            let before = text.len() - end.len();
            return Some((name.trim_end(), attributes, before));
        }
        let (attribute, value) = rest.split_once('=')?;
        let value = value.trim_start();
        let quote = value.chars().next().filter(|quote| ['"', '\''].contains(quote))?;
        let (value, behind) = value[1..].split_once(quote)?;
        attributes.push((attribute.trim_end(), value));
        rest = behind;
    }
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
            ("a\n\n$$\n\\rule{1000000em}{1em}\n$$".to_owned(), "formula"),
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
            "<svg><line stroke-dasharray =\"0.0001 0.0001\"/></svg>".to_owned(),
            "<svg><line stroke-dasharray='nan'/></svg>".to_owned(),
            "<svg><rect id=\">\" filter=\"blur(1000000)\"/></svg>".to_owned(),
            "<svg><rect style =\"f&#105;lter:blur(1000000px)\"/></svg>".to_owned(),
            "<svg><rect width=10/></svg>".to_owned(),
            "<svg><rect width=\"10".to_owned(),
            format!("<svg>{}", "<g id=\"/>\">".repeat(1000)),
            format!("<svg>{}", "<g><!--</g>-->".repeat(1000)),
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
