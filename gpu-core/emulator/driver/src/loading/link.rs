//! Makes one PTX text of several, as a driver's linker makes one program of their machine code: names that each text
//! keeps to itself get numbers where they meet, declarations find their definitions, and what is defined twice or
//! nowhere is an error with the linker's words.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// What device code may call without anybody defining it.
const BUILTIN: &[&str] = &["vprintf", "__assertfail", "malloc", "free"];
/// `.file` numbers of one text are kept apart from those of the next by this much.
const FILES_PER_TEXT: u64 = 10_000;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Word,
    Number,
    Text,
    Mark(u8),
}

struct Token {
    kind: Kind,
    at: Range<usize>,
}

/// Cuts PTX into tokens; comments and blanks are nobody's.
fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'%' | b'.');
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        let rest = &bytes[at..];
        let kind = match bytes[at] {
            b'/' if rest.starts_with(b"//") => {
                at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
                continue;
            }
            b'/' if rest.starts_with(b"/*") => {
                at += rest.windows(2).skip(2).position(|pair| pair == b"*/").map_or(rest.len(), |end| end + 4);
                continue;
            }
            b'"' => {
                at += 1 + rest[1..].iter().position(|byte| *byte == b'"').map_or(rest.len() - 1, |end| end + 1);
                Kind::Text
            }
            byte if word(byte) => {
                // Directives may touch each other (`.reg.b16`).
                at += 1;
                while at < bytes.len() && word(bytes[at]) && !(byte == b'.' && bytes[at] == b'.') {
                    at += 1;
                }
                if byte.is_ascii_digit() { Kind::Number } else { Kind::Word }
            }
            byte if byte.is_ascii_whitespace() || !byte.is_ascii() => {
                at += 1;
                continue;
            }
            byte => {
                at += 1;
                Kind::Mark(byte)
            }
        };
        found.push(Token { kind, at: start..at });
    }
    found
}

#[derive(Clone, Copy, PartialEq)]
enum Linkage {
    Local,
    Extern,
    Strong,
    Weak,
}

/// One declaration or definition outside all functions.
struct Item {
    tokens: Range<usize>,
    linkage: Linkage,
    /// What it names; none for directives that are copied as they are.
    names: Vec<String>,
    shared: bool,
    /// A function with a body, or a variable that is not `.extern`.
    defines: bool,
}

struct Part<'a> {
    /// What the caller calls the text.
    name: &'a str,
    text: &'a str,
    tokens: Vec<Token>,
    items: Vec<Item>,
    version: (u32, u32),
    target: String,
    renamed: HashMap<String, String>,
}

impl<'a> Part<'a> {
    fn new(name: &'a str, text: &'a str) -> Part<'a> {
        let mut part = Part {
            name,
            text,
            tokens: tokens(text),
            items: Vec::new(),
            version: (0, 0),
            target: String::new(),
            renamed: HashMap::new(),
        };
        let mut at = 0;
        while at < part.tokens.len() {
            at = part.item(at).max(at + 1);
        }
        part
    }

    fn word(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| &self.text[token.at.clone()])
    }

    /// Behind the bracket that closes the one at `at`.
    fn behind(&self, at: usize) -> usize {
        let mut depth = 0;
        for (index, token) in self.tokens.iter().enumerate().skip(at) {
            match token.kind {
                Kind::Mark(b'(' | b'{' | b'[') => depth += 1,
                Kind::Mark(b')' | b'}' | b']') => depth -= 1,
                _ => {}
            }
            if depth <= 0 {
                return index + 1;
            }
        }
        self.tokens.len()
    }

    /// Reads what begins at a token; gives the token behind it.
    fn item(&mut self, start: usize) -> usize {
        match self.word(start) {
            ".version" => {
                let (major, minor) = self.word(start + 1).split_once('.').unwrap_or_default();
                self.version = (major.parse().unwrap_or(0), minor.parse().unwrap_or(0));
                start + 2
            }
            ".target" => {
                self.target = self.word(start + 1).to_owned();
                let mut at = start + 2;
                while self.word(at) == "," {
                    at += 2;
                }
                at
            }
            ".address_size" => start + 2,
            // Debug information of one text says nothing of the whole.
            ".section" => self.behind(start + 2),
            ".file" => {
                let mut at = start + 3;
                while self.word(at) == "," {
                    at += 2;
                }
                self.copy(start..at);
                at
            }
            ".pragma" | ".alias" => {
                let end = (start..self.tokens.len()).find(|at| self.word(*at) == ";").map_or(start, |at| at + 1);
                self.copy(start..end);
                end
            }
            _ => self.declaration(start),
        }
    }

    fn copy(&mut self, tokens: Range<usize>) {
        let tokens = tokens.start..tokens.end.min(self.tokens.len());
        let item = Item { tokens, linkage: Linkage::Local, names: Vec::new(), shared: false, defines: false };
        self.items.push(item);
    }

    fn declaration(&mut self, start: usize) -> usize {
        let (mut linkage, mut function, mut shared, mut body) = (Linkage::Local, false, false, false);
        let mut names: Vec<String> = Vec::new();
        // A variable's next name follows a comma.
        let mut wanted = true;
        let mut at = start;
        loop {
            let word = self.word(at);
            match word {
                "" => break,
                ".extern" => linkage = Linkage::Extern,
                ".visible" => linkage = Linkage::Strong,
                ".weak" | ".common" => linkage = Linkage::Weak,
                ".func" => function = true,
                ".entry" => {
                    function = true;
                    // The program asks for kernels by name, whatever their linkage says.
                    linkage = if linkage == Linkage::Weak { Linkage::Weak } else { Linkage::Strong };
                }
                ".shared" => shared = true,
                "," => wanted = !function,
                ";" => {
                    at += 1;
                    break;
                }
                "{" if function => {
                    body = true;
                    at = self.behind(at);
                    break;
                }
                "{" | "(" | "[" => {
                    at = self.behind(at);
                    continue;
                }
                "=" => wanted = false,
                _ if wanted && self.tokens[at].kind == Kind::Word && !word.starts_with('.') => {
                    names.push(word.to_owned());
                    wanted = false;
                }
                _ => {}
            }
            at += 1;
        }
        let defines = if function { body } else { linkage != Linkage::Extern };
        let tokens = start..at.min(self.tokens.len());
        self.items.push(Item { tokens, linkage, names, shared, defines });
        at
    }

    fn words(&self) -> HashSet<&'a str> {
        let words = self.tokens.iter().filter(|token| token.kind == Kind::Word);
        words.map(|token| &self.text[token.at.clone()]).collect()
    }

    /// How often a name stands in the text.
    fn mentions(&self, name: &str) -> usize {
        (0..self.tokens.len()).filter(|at| self.word(*at) == name).count()
    }

    /// Writes an item with the names and file numbers that it has in the whole.
    fn write(&self, item: &Item, files: u64, out: &mut String) {
        let Some(first) = self.tokens.get(item.tokens.start) else { return };
        let mut copied = first.at.start;
        // Numbers that stand behind these words are files.
        let mut before = "";
        for token in &self.tokens[item.tokens.clone()] {
            let word = &self.text[token.at.clone()];
            out.push_str(&self.text[copied..token.at.start]);
            copied = token.at.end;
            match (token.kind, self.renamed.get(word)) {
                (Kind::Word, Some(new)) => out.push_str(new),
                (Kind::Number, _) if matches!(before, ".file" | ".loc" | "inlined_at") => {
                    out.push_str(
                        &word.parse().map_or_else(|_| word.to_owned(), |file: u64| (file + files).to_string()),
                    );
                }
                _ => out.push_str(word),
            }
            before = word;
        }
        out.push('\n');
    }
}

/// Newer architectures behind older ones, those with features of one chip last.
fn rank(target: &str) -> (u32, bool) {
    let digits: String = target.chars().filter(char::is_ascii_digit).collect();
    (digits.parse().unwrap_or(0), target.ends_with(['a', 'f']))
}

/// Where each name that others may use is defined: text and item.
fn definitions(parts: &[Part<'_>]) -> Result<HashMap<String, (usize, usize)>, String> {
    let mut defined: HashMap<String, (usize, usize)> = HashMap::new();
    let mut errors = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        for (at, item) in part.items.iter().enumerate() {
            if !item.defines || matches!(item.linkage, Linkage::Local | Linkage::Extern) {
                continue;
            }
            for name in &item.names {
                let Some(&(other, other_at)) = defined.get(name) else {
                    defined.insert(name.clone(), (index, at));
                    continue;
                };
                match (parts[other].items[other_at].linkage, item.linkage) {
                    (Linkage::Strong, Linkage::Strong) => {
                        errors.push(format!(
                            "error   : Multiple definition of '{name}' in '{}', first defined in '{}'",
                            part.name, parts[other].name
                        ));
                    }
                    (Linkage::Weak, Linkage::Strong) => {
                        defined.insert(name.clone(), (index, at));
                    }
                    _ => {}
                }
            }
        }
    }
    if errors.is_empty() { Ok(defined) } else { Err(errors.join("\n")) }
}

/// Bytes of a module's `.const` variables.
pub fn constant_bytes(text: &str) -> u64 {
    // Most texts have none, and to cut a large one into tokens takes memory.
    if !text.contains(".const") {
        return 0;
    }
    let part = Part::new("", text);
    let mut total: u64 = 0;
    for item in part.items.iter().filter(|item| item.defines) {
        let words: Vec<&str> = item.tokens.clone().map(|at| part.word(at)).take_while(|word| *word != "=").collect();
        if !words.contains(&".const") {
            continue;
        }
        let bits = words.iter().find_map(|word| {
            let digits = word.strip_prefix('.')?.trim_start_matches(|letter: char| letter.is_ascii_lowercase());
            digits.parse::<u64>().ok()
        });
        let counts = words.windows(2).filter(|pair| pair[0] == "[").filter_map(|pair| pair[1].parse::<u64>().ok());
        total = total.saturating_add(counts.fold(bits.unwrap_or(0) / 8, u64::saturating_mul));
    }
    total
}

/// Whether a name that others may use is defined twice.
///
/// # Errors
/// The linker's words for every such name.
pub fn duplicates(texts: &[(String, String)]) -> Result<(), String> {
    let parts: Vec<Part<'_>> = texts.iter().map(|(name, text)| Part::new(name, text)).collect();
    definitions(&parts).map(drop)
}

/// Links texts, each with the name that it goes by in messages.
///
/// # Errors
/// The linker's words for what is defined twice, or used and defined nowhere.
pub fn link(texts: &[(String, String)]) -> Result<String, String> {
    let mut parts: Vec<Part<'_>> = texts.iter().map(|(name, text)| Part::new(name, text)).collect();
    let defined = definitions(&parts)?;
    // What a text keeps to itself must not meet another's name.
    let words: Vec<HashSet<&str>> = parts.iter().map(Part::words).collect();
    for (index, part) in parts.iter_mut().enumerate() {
        let own = part.items.iter().filter(|item| item.linkage == Linkage::Local && item.defines);
        let own: Vec<String> = own.flat_map(|item| item.names.clone()).collect();
        for name in own {
            if words.iter().enumerate().any(|(other, words)| other != index && words.contains(name.as_str())) {
                let new = format!("{name}${index}");
                part.renamed.insert(name, new);
            }
        }
    }
    let version = parts.iter().map(|part| part.version).max().unwrap_or_default();
    let target = parts.iter().map(|part| part.target.as_str()).max_by_key(|target| rank(target)).unwrap_or_default();
    let mut errors = Vec::new();
    let mut out = format!(".version {}.{}\n.target {target}\n.address_size 64\n", version.0, version.1);
    for (index, part) in parts.iter().enumerate() {
        for (at, item) in part.items.iter().enumerate() {
            let elsewhere = |name: &String| defined.get(name).is_some_and(|place| *place != (index, at));
            let keep = match item.linkage {
                Linkage::Extern => {
                    let unknown = item.names.iter().find(|name| {
                        !elsewhere(name) && !item.shared && !BUILTIN.contains(&name.as_str()) && part.mentions(name) > 1
                    });
                    if let Some(name) = unknown {
                        errors.push(format!("error   : Undefined reference to '{name}' in '{}'", part.name));
                    }
                    // What nobody uses need not be there; a builtin's declaration is what makes it known.
                    item.shared || item.names.iter().any(|name| BUILTIN.contains(&name.as_str()) && !elsewhere(name))
                }
                // Another definition of the same weak name was taken, or this only announces what comes.
                Linkage::Weak | Linkage::Strong => {
                    item.names.iter().all(|name| !elsewhere(name)) || item.names.is_empty()
                }
                Linkage::Local => true,
            };
            if keep {
                part.write(item, index as u64 * FILES_PER_TEXT, &mut out);
            }
        }
    }
    if errors.is_empty() { Ok(out) } else { Err(errors.join("\n")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_emulator::Module;

    const HEAD: &str = ".version 7.8\n.target sm_80\n.address_size 64\n";
    const CALLER: &str = ".extern .func (.param .b32 r) twice(.param .b32 x);\n.extern .global .align 4 .u32 shared_var;\n\
        .visible .entry k(.param .u64 p) {\n .reg .u64 %rd<2>;\n .reg .u32 %r<4>;\n ld.param.u64 %rd1, [p];\n\
        mov.u32 %r1, 21;\n { .param .b32 q; .param .b32 z; st.param.b32 [q], %r1;\n call (z), twice, (q);\n\
        ld.param.b32 %r2, [z]; }\n ld.global.u32 %r3, [shared_var];\n st.global.u32 [%rd1], %r2;\n ret;\n}\n";
    const CALLEE: &str = ".visible .global .align 4 .u32 shared_var = 100;\n\
        .visible .func (.param .b32 r) twice(.param .b32 x) {\n .reg .u32 %r<2>;\n ld.param.u32 %r1, [x];\n\
        st.param.b32 [r], %r1;\n ret;\n}\n";

    fn texts(bodies: &[&str]) -> Vec<(String, String)> {
        bodies.iter().enumerate().map(|(index, body)| (format!("t{index}"), format!("{HEAD}{body}"))).collect()
    }

    fn linked(bodies: &[&str]) -> Result<String, String> {
        let text = link(&texts(bodies))?;
        assert!(Module::load(&text).is_ok(), "{:?} in\n{text}", Module::load(&text).err());
        Ok(text)
    }

    #[test]
    fn declarations_find_their_definitions_in_any_order() {
        for bodies in [[CALLER, CALLEE], [CALLEE, CALLER]] {
            let text = linked(&bodies).expect("it links");
            assert!(!text.contains(".extern"), "{text}");
        }
    }

    #[test]
    fn what_is_missing_or_there_twice_is_named() {
        let missing = link(&texts(&[CALLER])).expect_err("nobody defines it");
        assert!(missing.contains("Undefined reference to 'twice' in 't0'"), "{missing}");
        let twice = link(&texts(&[CALLER, CALLEE, CALLEE])).expect_err("it is there twice");
        assert!(twice.contains("Multiple definition of 'shared_var' in 't2', first defined in 't1'"), "{twice}");
    }

    #[test]
    fn a_strong_definition_replaces_a_weak_one() {
        let weak =
            CALLEE.replace(".visible .func", ".weak .func").replace("shared_var", "other").replace("[x]", "[x+0]");
        for bodies in [[CALLER, CALLEE, &weak], [CALLER, &weak, CALLEE]] {
            let text = linked(&bodies).expect("it links");
            assert!(!text.contains("[x+0]"), "{text}");
        }
        let only_weak = linked(&[CALLER, &weak, &weak.replace("other", "shared_var")]).expect("it links");
        assert_eq!(only_weak.matches("[x+0]").count(), 1, "{only_weak}");
    }

    #[test]
    fn names_of_one_text_do_not_meet_those_of_another() {
        let own = ".global .align 4 .u32 hidden = NUMBER;\n.visible .entry kNUMBER() {\n .reg .u32 %r<2>;\n\
            .loc 1 5 2\n ld.global.u32 %r1, [hidden];\n ret;\n}\n.file 1 \"a.cu\"\n";
        let text = linked(&[&own.replace("NUMBER", "1"), &own.replace("NUMBER", "2")]).expect("it links");
        assert!(text.contains("[hidden$0]") && text.contains("hidden$1 = 2"), "{text}");
        assert!(text.contains(".file 10001 \"a.cu\"") && text.contains(".loc 10001 5 2"), "{text}");
    }

    #[test]
    fn the_newest_version_and_target_are_taken() {
        let mut texts = texts(&[CALLER, CALLEE]);
        texts[1].1 = texts[1].1.replace(".version 7.8", ".version 8.10").replace("sm_80", "sm_90a");
        let text = link(&texts).expect("it links");
        assert!(text.starts_with(".version 8.10\n.target sm_90a\n"), "{text}");
    }

    #[test]
    fn constants_are_counted() {
        let text = format!("{HEAD}.const .align 4 .u32 a[4] = {{1, 2}};\n.visible .const .f64 b;\n.global .u32 c;\n");
        assert_eq!(constant_bytes(&text), 24);
        assert_eq!(constant_bytes(HEAD), 0);
    }

    #[test]
    fn text_that_makes_no_sense_ends() {
        for text in ["", "{", ".func", ".global .u32", "\"", "/*", ".section a {", ".target a,", ".file", "((("] {
            let _ = link(&[("a".to_owned(), text.to_owned()), ("b".to_owned(), text.to_owned())]);
        }
    }
}
