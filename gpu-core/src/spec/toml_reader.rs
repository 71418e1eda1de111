//! Reads TOML with positions: every problem is collected with its line, what is expected and what was found,
//! and keys that nobody asked for are reported with the nearest known one.

use std::fmt;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// Larger files are refused: an exercise is a page or two.
const MAX_FILE_BYTES: usize = 1 << 20;

/// Reads the text of a TOML file; `path` is only shown. `read` gets the file's own table and collects problems.
///
/// # Errors
/// Every problem, in line order; no TOML at all is one of them.
pub fn parse<T>(
    text: &str,
    path: &str,
    read: impl FnOnce(&mut Reader<'_>, Section<'_>) -> Option<T>,
) -> Result<T, SpecError> {
    let mut reader = Reader::new(text);
    if text.len() > MAX_FILE_BYTES {
        reader.problem("", 0..0, format!("a file of at most {MAX_FILE_BYTES} bytes"), format!("{} bytes", text.len()));
        return Err(reader.into_error(path));
    }
    let table = match DeTable::parse(text) {
        Ok(table) => table,
        Err(error) => {
            let span = error.span().unwrap_or(0..0);
            let rest = text.get(span.start..).unwrap_or_default();
            let found: String = rest.lines().next().unwrap_or_default().chars().take(40).collect();
            let found = if found.is_empty() { "the end of the line".to_owned() } else { format!("`{found}`") };
            reader.problem("", span, format!("valid TOML ({})", error.message().trim()), found);
            return Err(reader.into_error(path));
        }
    };
    let read = read(&mut reader, Section::root(&table));
    match read {
        Some(read) if reader.is_clean() => Ok(read),
        _ => Err(reader.into_error(path)),
    }
}

/// One thing that is wrong with an exercise file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecProblem {
    /// One-based.
    pub line: u32,
    /// One-based, in characters.
    pub column: u32,
    /// Where in the file's structure, for example `param[2].shape[0]`; empty for the file itself.
    pub key: String,
    pub expected: String,
    pub found: String,
}

impl fmt::Display for SpecProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        write!(f, "expected {}, found {}", self.expected, self.found)
    }
}

/// All that is wrong with an exercise file, in line order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError {
    pub path: String,
    pub problems: Vec<SpecProblem>,
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{}:{}:{}: {problem}", self.path, problem.line, problem.column)?;
        }
        Ok(())
    }
}

impl std::error::Error for SpecError {}

/// Collects problems while the sections of a file are read.
pub struct Reader<'t> {
    text: &'t str,
    problems: Vec<SpecProblem>,
}

/// A table with the key that leads to it and the keys that were asked for.
pub struct Section<'d> {
    pub at: String,
    pub span: Range<usize>,
    table: &'d DeTable<'d>,
    known: Vec<&'static str>,
}

type Value<'d> = Spanned<DeValue<'d>>;

/// A value with the key that leads to it.
#[derive(Clone, Copy)]
pub struct Item<'d> {
    value: &'d Value<'d>,
}

impl<'t> Reader<'t> {
    pub fn new(text: &'t str) -> Self {
        Self { text, problems: Vec::new() }
    }

    pub fn problem(&mut self, key: &str, span: Range<usize>, expected: impl Into<String>, found: impl Into<String>) {
        let (line, column) = line_and_column(self.text, span.start);
        let (key, expected, found) = (key.to_owned(), expected.into(), found.into());
        self.problems.push(SpecProblem { line, column, key, expected, found });
    }

    pub fn is_clean(&self) -> bool {
        self.problems.is_empty()
    }

    pub fn into_error(mut self, path: &str) -> SpecError {
        self.problems.sort_by_key(|problem| (problem.line, problem.column));
        SpecError { path: path.to_owned(), problems: self.problems }
    }

    /// The table under `key`, or a problem when there is something else or (if `required`) nothing.
    pub fn section<'d>(&mut self, parent: &mut Section<'d>, key: &'static str, required: bool) -> Option<Section<'d>> {
        let item = self.item(parent, key, required.then_some("a table"))?;
        self.as_section(item, &join(&parent.at, key))
    }

    /// Every table of the array of tables under `key`; none when it is absent.
    pub fn sections<'d>(&mut self, parent: &mut Section<'d>, key: &'static str) -> Vec<Section<'d>> {
        let Some(item) = self.item(parent, key, None) else { return Vec::new() };
        let at = join(&parent.at, key);
        let DeValue::Array(array) = item.value.get_ref() else {
            self.problem(&at, item.value.span(), format!("an array of tables (`[[{at}]]`)"), describe(item.value));
            return Vec::new();
        };
        self.items(array, &at).into_iter().filter_map(|(item, at)| self.as_section(item, &at)).collect()
    }

    pub fn as_section<'d>(&mut self, item: Item<'d>, at: &str) -> Option<Section<'d>> {
        match item.value.get_ref() {
            DeValue::Table(table) => {
                Some(Section { at: at.to_owned(), span: item.value.span(), table, known: Vec::new() })
            }
            _ => {
                self.problem(at, item.value.span(), "a table", describe(item.value));
                None
            }
        }
    }

    fn items<'d>(&mut self, array: &'d DeArray<'d>, at: &str) -> Vec<(Item<'d>, String)> {
        array.iter().enumerate().map(|(index, value)| (Item { value }, format!("{at}[{index}]"))).collect()
    }

    /// The value under `key`; a problem naming what is `expected` when it is absent and that is given.
    pub fn item<'d>(
        &mut self,
        section: &mut Section<'d>,
        key: &'static str,
        expected: Option<&str>,
    ) -> Option<Item<'d>> {
        section.known.push(key);
        let value = section.table.get(key);
        if let (None, Some(expected)) = (value, expected) {
            self.problem(&section.at, section.span.clone(), format!("a key `{key}` with {expected}"), "none");
        }
        value.map(|value| Item { value })
    }

    pub fn string(&mut self, section: &mut Section<'_>, key: &'static str, required: bool) -> Option<String> {
        let item = self.item(section, key, required.then_some("a string"))?;
        let at = join(&section.at, key);
        self.as_string(item, &at)
    }

    pub fn as_string(&mut self, item: Item<'_>, at: &str) -> Option<String> {
        let text = item.value.get_ref().as_str().map(str::to_owned);
        if text.is_none() {
            self.problem(at, item.value.span(), "a string", describe(item.value));
        }
        text
    }

    /// A whole number or a string; numbers become their text, so that `256` and `"256"` are the same expression.
    pub fn as_expression(&mut self, item: Item<'_>, at: &str) -> Option<String> {
        match item.value.get_ref() {
            DeValue::String(text) => Some(text.to_string()),
            DeValue::Integer(_) => self.as_integer(item, at).map(|value| value.to_string()),
            DeValue::Float(float) => Some(float.as_str().to_owned()),
            _ => {
                self.problem(at, item.value.span(), "a number or a string with an expression", describe(item.value));
                None
            }
        }
    }

    pub fn as_integer(&mut self, item: Item<'_>, at: &str) -> Option<i64> {
        let value = item.value.get_ref().as_integer();
        let number = value.and_then(|digits| i64::from_str_radix(digits.as_str(), digits.radix()).ok());
        if number.is_none() {
            self.problem(at, item.value.span(), "a whole number of 64 bits", describe(item.value));
        }
        number
    }

    pub fn float(&mut self, section: &mut Section<'_>, key: &'static str, required: bool) -> Option<f64> {
        let item = self.item(section, key, required.then_some("a number"))?;
        self.as_float(item, &join(&section.at, key))
    }

    pub fn as_float(&mut self, item: Item<'_>, at: &str) -> Option<f64> {
        let number = match item.value.get_ref() {
            DeValue::Float(float) => float.as_str().parse::<f64>().ok(),
            DeValue::Integer(_) => self.as_integer(item, at).map(|value| value as f64),
            _ => None,
        };
        match number {
            Some(number) if number.is_finite() => Some(number),
            _ => {
                self.problem(at, item.value.span(), "a finite number", describe(item.value));
                None
            }
        }
    }

    pub fn boolean(&mut self, section: &mut Section<'_>, key: &'static str) -> Option<bool> {
        let item = self.item(section, key, None)?;
        let value = item.value.get_ref().as_bool();
        if value.is_none() {
            self.problem(&join(&section.at, key), item.value.span(), "true or false", describe(item.value));
        }
        value
    }

    /// The array under `key`, each element with its own key.
    pub fn array<'d>(
        &mut self,
        section: &mut Section<'d>,
        key: &'static str,
        expected: Option<&str>,
    ) -> Option<Vec<(Item<'d>, String)>> {
        let item = self.item(section, key, expected)?;
        let at = join(&section.at, key);
        match item.value.get_ref() {
            DeValue::Array(array) => Some(self.items(array, &at)),
            _ => {
                self.problem(&at, item.value.span(), expected.unwrap_or("an array"), describe(item.value));
                None
            }
        }
    }

    /// One of `choices` by name.
    pub fn choice<T: Copy>(
        &mut self,
        item: Item<'_>,
        at: &str,
        what: &str,
        choices: &[(&'static str, T)],
    ) -> Option<T> {
        let text = item.value.get_ref().as_str();
        let found = text.and_then(|text| choices.iter().find(|(name, _)| *name == text));
        if found.is_none() {
            let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
            self.problem(at, item.value.span(), format!("{what} ({})", names.join(", ")), describe(item.value));
        }
        found.map(|(_, value)| *value)
    }

    /// A C identifier.
    pub fn identifier(&mut self, section: &mut Section<'_>, key: &'static str, what: &str) -> Option<String> {
        let item = self.item(section, key, Some(what))?;
        let at = join(&section.at, key);
        let text = self.as_string(item, &at)?;
        if is_identifier(&text) {
            return Some(text);
        }
        self.problem(&at, item.span(), what, item.describe());
        None
    }

    /// A path below the file's own folder, with the ending `suffix`.
    pub fn file_name(&mut self, section: &mut Section<'_>, key: &'static str, suffix: &str) -> Option<String> {
        let expected = format!("a relative path to a {suffix} file in the exercise's folder");
        self.path(section, key, suffix, expected, &[])
    }

    /// As [`file_name`](Self::file_name), or below the folder above it, which who knows the folders has to look at.
    pub fn shared_file_name(&mut self, section: &mut Section<'_>, key: &'static str, suffix: &str) -> Option<String> {
        let expected =
            format!("a relative path to a {suffix} file in the exercise's folder, or in its unit's by `../`");
        self.path(section, key, suffix, expected, &["../"])
    }

    fn path(
        &mut self,
        section: &mut Section<'_>,
        key: &'static str,
        suffix: &str,
        expected: String,
        before: &[&str],
    ) -> Option<String> {
        let item = self.item(section, key, Some(&expected))?;
        let at = join(&section.at, key);
        let text = self.as_string(item, &at)?;
        let below = before.iter().find_map(|before| text.strip_prefix(before)).unwrap_or(&text);
        let plain =
            below.split('/').all(|part| !part.is_empty() && part != "." && part != ".." && !part.contains(['\\', ':']));
        if plain && text.ends_with(suffix) {
            return Some(text);
        }
        self.problem(&at, item.span(), expected, item.describe());
        None
    }

    /// Takes note of keys that somebody else reads.
    pub fn leave(&mut self, section: &mut Section<'_>, keys: &[&'static str]) {
        section.known.extend(keys);
    }

    /// Reports every key of the section that was never asked for.
    pub fn finish(&mut self, section: Section<'_>) {
        for key in section.table.keys() {
            let name = key.get_ref().as_ref();
            if section.known.contains(&name) {
                continue;
            }
            let expected = match nearest(name, section.known.iter().copied()) {
                Some(near) => format!("a known key (did you mean `{near}`?)"),
                None => format!("one of the keys {}", section.known.join(", ")),
            };
            self.problem(&section.at, key.span(), expected, format!("`{name}`"));
        }
    }
}

impl<'d> Section<'d> {
    pub fn root(table: &'d Spanned<DeTable<'d>>) -> Self {
        Section { at: String::new(), span: 0..0, table: table.get_ref(), known: Vec::new() }
    }

    /// Whether `key` is there at all.
    pub fn has(&self, key: &str) -> bool {
        self.table.get(key).is_some()
    }

    /// All keys and values, for tables whose keys are the author's own names.
    pub fn entries(&self) -> impl Iterator<Item = (&'d str, Range<usize>, Item<'d>)> + use<'d> {
        let table = self.table;
        table.iter().map(|(key, value)| (key.get_ref().as_ref(), key.span(), Item { value }))
    }
}

impl<'d> Item<'d> {
    pub fn span(&self) -> Range<usize> {
        self.value.span()
    }

    pub fn is_table(&self) -> bool {
        matches!(self.value.get_ref(), DeValue::Table(_))
    }

    pub fn as_str(&self) -> Option<&'d str> {
        self.value.get_ref().as_str()
    }

    /// Elements of an array or values of a table, each with its key below `at`.
    pub fn children(&self, at: &str) -> Vec<(String, Item<'d>)> {
        match self.value.get_ref() {
            DeValue::Array(array) => {
                array.iter().enumerate().map(|(index, value)| (format!("{at}[{index}]"), Item { value })).collect()
            }
            DeValue::Table(table) => {
                table.iter().map(|(key, value)| (join(at, key.get_ref()), Item { value })).collect()
            }
            _ => Vec::new(),
        }
    }

    /// What stands there, for messages.
    pub fn describe(&self) -> String {
        describe(self.value)
    }
}

/// `key` below `at`.
pub fn join(at: &str, key: &str) -> String {
    if at.is_empty() { key.to_owned() } else { format!("{at}.{key}") }
}

fn describe(value: &Value<'_>) -> String {
    match value.get_ref() {
        DeValue::String(text) => format!("\"{}\"", text.chars().take(60).collect::<String>()),
        DeValue::Integer(digits) => digits.as_str().to_owned(),
        DeValue::Float(float) => float.as_str().to_owned(),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(date) => format!("the date {date}"),
        DeValue::Array(array) => format!("an array of {}", array.len()),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

pub fn is_identifier(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|c| c.is_ascii_alphabetic() || c == b'_')
        && bytes.all(|c| c.is_ascii_alphanumeric() || c == b'_')
}

/// One-based line and column of a place in the text.
pub fn line_and_column(text: &str, offset: usize) -> (u32, u32) {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let column = String::from_utf8_lossy(&before[line_start..]).chars().count() + 1;
    (line as u32, column as u32)
}

/// The known name that differs least, when it is near enough to be a slip of the pen.
pub fn nearest<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    known
        .map(|candidate| (edit_distance(name, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len() / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().take(100).enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
