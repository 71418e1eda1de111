//! Tokens to tree: the cursor, and the directives of a module. Errors are collected; after one the parser resumes at
//! the next statement.

use super::lexer::{Kind, MAX_BYTES, Token, Tokens, tokens};
use super::tree::{Loc, Place, Tree};
use std::collections::HashMap;

/// A syntax error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntaxError {
    pub message: String,
    /// One-based line of the PTX text.
    pub line: u32,
}

/// Garbage gives many errors; the first ones tell the story.
const MAX_ERRORS: usize = 50;
/// Braces inside operands and initialisers.
pub(super) const MAX_DEPTH: u32 = 8;

pub(super) type Parsed<T> = Result<T, SyntaxError>;

/// Parses a module. With errors the tree holds what could be read.
pub fn parse(text: &str) -> (Tree<'_>, Vec<SyntaxError>) {
    if text.len() > MAX_BYTES {
        let message = format!("the text has {} bytes; at most {MAX_BYTES} are read", text.len());
        return (Tree::default(), vec![SyntaxError { message, line: 1 }]);
    }
    let tokens = tokens(text);
    let mut parser = Parser {
        text,
        tokens: &tokens,
        at: 0,
        loc: None,
        calls: Calls::default(),
        used_bytes: None,
        calling: false,
        errors: Vec::new(),
    };
    let mut tree = parser.module();
    tree.calls = std::mem::take(&mut parser.calls.chains);
    if let Some(open) = tokens.last().filter(|token| token.kind == Kind::Open) {
        // What is missing because of it would only hide it.
        let (what, end) = if open.text == "\"" { ("quoted text", "\"") } else { ("comment", "*/") };
        let message = format!("the {what} that begins here does not end: `{end}` is missing");
        parser.errors = vec![SyntaxError { message, line: open.line }];
    }
    (tree, parser.errors)
}

pub(super) struct Parser<'a, 't> {
    pub(super) text: &'a str,
    pub(super) tokens: &'t Tokens<'a>,
    pub(super) at: usize,
    pub(super) loc: Option<Loc>,
    calls: Calls,
    /// What a pragma said of the next instruction.
    pub(super) used_bytes: Option<u32>,
    /// Inside a `call`, where parentheses hold lists.
    pub(super) calling: bool,
    pub(super) errors: Vec<SyntaxError>,
}

/// Which call led to which, by what `.loc` said so far: a line names the nearest one, and a line before it named that one's.
#[derive(Default)]
struct Calls {
    outer: HashMap<Place, Option<Place>>,
    numbers: HashMap<Vec<Place>, u32>,
    chains: Vec<Vec<Place>>,
}

/// Calls of calls that are followed: each may be told of as if it led to itself.
const MAX_CALLS: usize = 32;

impl Calls {
    /// Takes a position and the call that led there; gives the number of all calls that did.
    fn enter(&mut self, at: Place, call: Option<Place>) -> Option<u32> {
        self.outer.insert(at, call);
        let mut chain = vec![call?];
        while let Some(Some(next)) = chain.last().and_then(|last| self.outer.get(last)) {
            if chain.len() == MAX_CALLS || chain.contains(next) {
                break;
            }
            chain.push(*next);
        }
        if let Some(number) = self.numbers.get(&chain) {
            return Some(*number);
        }
        let number = self.chains.len() as u32;
        self.numbers.insert(chain.clone(), number);
        self.chains.push(chain);
        Some(number)
    }
}

impl<'a> Parser<'a, '_> {
    pub(super) fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.at)
    }

    pub(super) fn line(&self) -> u32 {
        self.peek().or(self.tokens.last()).map_or(1, |token| token.line)
    }

    pub(super) fn word(&self) -> Option<&'a str> {
        self.peek().filter(|token| token.kind == Kind::Word).map(|token| token.text)
    }

    pub(super) fn is(&self, punct: u8) -> bool {
        self.peek().is_some_and(|token| token.kind == Kind::Punct(punct))
    }

    pub(super) fn take(&mut self, punct: u8) -> bool {
        let found = self.is(punct);
        self.at += usize::from(found);
        found
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = self.word() == Some(word);
        self.at += usize::from(found);
        found
    }

    pub(super) fn error<T>(&self, expected: &str) -> Parsed<T> {
        let found = self.peek().map_or("the end of the text".to_owned(), |token| {
            let shown: String = token.text.chars().take(40).collect();
            format!("`{shown}`")
        });
        Err(SyntaxError { message: format!("expected {expected}, found {found}"), line: self.line() })
    }

    pub(super) fn expect(&mut self, punct: u8) -> Parsed<()> {
        if self.take(punct) { Ok(()) } else { self.error(&format!("`{}`", punct as char)) }
    }

    pub(super) fn name(&mut self) -> Parsed<&'a str> {
        match self.word() {
            Some(word) => {
                self.at += 1;
                Ok(word)
            }
            None => self.error("a name"),
        }
    }

    /// Keeps an error and moves past the statement it stands in.
    pub(super) fn recover(&mut self, error: SyntaxError) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(error);
        }
        while let Some(token) = self.peek() {
            match token.kind {
                Kind::Punct(b';') => {
                    self.at += 1;
                    return;
                }
                Kind::Punct(b'}') => return,
                _ => self.at += 1,
            }
        }
    }

    /// A possibly negative integer.
    pub(super) fn integer(&mut self) -> Parsed<i64> {
        let mut negative = false;
        loop {
            if self.take(b'-') {
                negative = !negative;
            } else if !self.take(b'+') {
                break;
            }
        }
        match self.peek().map(|token| token.kind) {
            Some(Kind::Int(value)) => {
                self.at += 1;
                Ok(if negative { (value as i64).wrapping_neg() } else { value as i64 })
            }
            _ => self.error("an integer"),
        }
    }

    pub(super) fn module(&mut self) -> Tree<'a> {
        let mut tree = Tree::default();
        while self.peek().is_some() {
            let before = self.at;
            if let Err(error) = self.item(&mut tree) {
                self.recover(error);
                self.take(b'}');
            }
            if self.at == before {
                self.at += 1;
            }
        }
        tree
    }

    pub(super) fn item(&mut self, tree: &mut Tree<'a>) -> Parsed<()> {
        let Some(word) = self.word() else {
            if self.take(b';') {
                return Ok(());
            }
            return self.error("a directive such as `.entry` or `.global`");
        };
        match word {
            ".version" => {
                self.at += 1;
                if let Some(token) = self.peek() {
                    tree.version = token.text;
                    self.at += 1;
                }
            }
            ".target" => {
                self.at += 1;
                tree.target = self.name()?;
                while self.take(b',') {
                    self.name()?;
                }
            }
            ".address_size" => {
                self.at += 1;
                let line = self.line();
                if self.integer()? != 64 {
                    return Err(SyntaxError {
                        message: "only `.address_size 64` is supported; compile for 64-bit addresses".to_owned(),
                        line,
                    });
                }
            }
            ".file" => {
                self.at += 1;
                let index = self.integer()?;
                match self.peek() {
                    Some(token) if token.kind == Kind::Str => {
                        self.at += 1;
                        tree.files.push((index as u32, token.text));
                    }
                    _ => return self.error("a file name in quotes"),
                }
                while self.take(b',') {
                    self.integer()?;
                }
            }
            ".loc" => self.location()?,
            ".section" => self.section()?,
            ".pragma" => self.pragma()?,
            ".alias" => {
                self.at += 1;
                let name = self.name()?;
                self.expect(b',')?;
                tree.aliases.push((name, self.name()?));
                self.expect(b';')?;
            }
            _ if word.starts_with('.') => self.declaration(tree)?,
            _ => return self.error("a directive such as `.entry` or `.global`"),
        }
        Ok(())
    }

    pub(super) fn section(&mut self) -> Parsed<()> {
        self.at += 1;
        self.name()?;
        self.expect(b'{')?;
        let mut depth = 1;
        while depth > 0 {
            match self.peek() {
                None => return self.error("`}` that ends `.section`"),
                Some(token) => match token.kind {
                    Kind::Punct(b'{') => depth += 1,
                    Kind::Punct(b'}') => depth -= 1,
                    _ => {}
                },
            }
            self.at += 1;
        }
        Ok(())
    }

    pub(super) fn pragma(&mut self) -> Parsed<()> {
        self.at += 1;
        while let Some(token) = self.peek().filter(|token| token.kind == Kind::Str) {
            if let Some(mask) = token.text.trim().strip_prefix("used_bytes_mask") {
                let mask = mask.trim();
                let number = mask.strip_prefix("0x").map_or(mask.parse(), |digits| u32::from_str_radix(digits, 16));
                self.used_bytes = number.ok();
            }
            self.at += 1;
            self.take(b',');
        }
        self.expect(b';')
    }

    /// `.loc 1 20 5, function_name $L__info_string0, inlined_at 1 33 3`
    pub(super) fn location(&mut self) -> Parsed<()> {
        self.at += 1;
        let (file, line, column) = (self.integer()?, self.integer()?, self.integer()?);
        // NVRTC writes line 0 for code that it made itself: the position before stays the best one.
        let mut inlined_at = None;
        while self.take(b',') {
            if self.take_word("function_name") {
                self.name()?;
                if self.take(b'+') {
                    self.integer()?;
                }
            } else if self.take_word("inlined_at") {
                inlined_at = Some((self.integer()? as u32, self.integer()? as u32, self.integer()? as u32));
            } else {
                return self.error("`function_name` or `inlined_at`");
            }
        }
        let (file, line, column) = (file as u32, line as u32, column as u32);
        let calls = self.calls.enter((file, line, column), inlined_at);
        if line > 0 {
            self.loc = Some(Loc { file, line, column, calls });
        }
        Ok(())
    }

    pub(super) fn declaration(&mut self, tree: &mut Tree<'a>) -> Parsed<()> {
        let (mut external, mut visible) = (false, false);
        loop {
            match self.word() {
                Some(".extern") => external = true,
                Some(".visible" | ".weak" | ".common") => visible = true,
                _ => break,
            }
            self.at += 1;
        }
        match self.word() {
            Some(".entry" | ".func") => {
                let mut function = self.function()?;
                function.external = external;
                tree.functions.push(function);
            }
            Some(".global" | ".const" | ".shared") => {
                let first = tree.variables.len();
                self.variables(external, &mut tree.variables)?;
                tree.variables[first..].iter_mut().for_each(|variable| variable.visible = visible);
            }
            _ => return self.error("`.entry`, `.func`, `.global`, `.const` or `.shared`"),
        }
        Ok(())
    }
}
