//! Tokens to tree. Errors are collected; after one the parser resumes at the next statement.

use super::lexer::{Kind, Token, tokens};
use super::tree::{Function, Init, Instruction, Loc, Operand, Statement, Tree, VarSpace, Variable};

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
const MAX_DEPTH: u32 = 8;
/// Scopes inside a body.
const MAX_SCOPES: u32 = 256;

type Parsed<T> = Result<T, SyntaxError>;

/// Parses a module. With errors the tree holds what could be read.
pub fn parse(text: &str) -> (Tree<'_>, Vec<SyntaxError>) {
    let tokens = tokens(text);
    let mut parser = Parser { text, tokens: &tokens, at: 0, loc: None, errors: Vec::new() };
    let tree = parser.module();
    (tree, parser.errors)
}

struct Parser<'a, 't> {
    text: &'a str,
    tokens: &'t [Token<'a>],
    at: usize,
    loc: Option<Loc>,
    errors: Vec<SyntaxError>,
}

impl<'a> Parser<'a, '_> {
    fn peek(&self) -> Option<Token<'a>> {
        self.tokens.get(self.at).copied()
    }

    fn line(&self) -> u32 {
        self.peek().or(self.tokens.last().copied()).map_or(1, |token| token.line)
    }

    fn word(&self) -> Option<&'a str> {
        self.peek().filter(|token| token.kind == Kind::Word).map(|token| token.text)
    }

    fn is(&self, punct: u8) -> bool {
        self.peek().is_some_and(|token| token.kind == Kind::Punct(punct))
    }

    fn take(&mut self, punct: u8) -> bool {
        let found = self.is(punct);
        self.at += usize::from(found);
        found
    }

    fn take_word(&mut self, word: &str) -> bool {
        let found = self.word() == Some(word);
        self.at += usize::from(found);
        found
    }

    fn error<T>(&self, expected: &str) -> Parsed<T> {
        let found = self.peek().map_or("the end of the text".to_owned(), |token| {
            let shown: String = token.text.chars().take(40).collect();
            format!("`{shown}`")
        });
        Err(SyntaxError { message: format!("expected {expected}, found {found}"), line: self.line() })
    }

    fn expect(&mut self, punct: u8) -> Parsed<()> {
        if self.take(punct) { Ok(()) } else { self.error(&format!("`{}`", punct as char)) }
    }

    fn name(&mut self) -> Parsed<&'a str> {
        match self.word() {
            Some(word) => {
                self.at += 1;
                Ok(word)
            }
            None => self.error("a name"),
        }
    }

    /// Keeps an error and moves past the statement it stands in.
    fn recover(&mut self, error: SyntaxError) {
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
    fn integer(&mut self) -> Parsed<i64> {
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

    fn module(&mut self) -> Tree<'a> {
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

    fn item(&mut self, tree: &mut Tree<'a>) -> Parsed<()> {
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

    fn section(&mut self) -> Parsed<()> {
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

    fn pragma(&mut self) -> Parsed<()> {
        self.at += 1;
        while self.peek().is_some_and(|token| token.kind == Kind::Str) {
            self.at += 1;
            self.take(b',');
        }
        self.expect(b';')
    }

    /// `.loc 1 20 5, function_name $L__info_string0, inlined_at 1 33 3`
    fn location(&mut self) -> Parsed<()> {
        self.at += 1;
        let (file, line, column) = (self.integer()?, self.integer()?, self.integer()?);
        // NVRTC writes line 0 for code that it made itself: the position before stays the best one.
        if line > 0 {
            self.loc = Some(Loc { file: file as u32, line: line as u32, column: column as u32 });
        }
        while self.take(b',') {
            if self.take_word("function_name") {
                self.name()?;
                if self.take(b'+') {
                    self.integer()?;
                }
            } else if self.take_word("inlined_at") {
                for _ in 0..3 {
                    self.integer()?;
                }
            } else {
                return self.error("`function_name` or `inlined_at`");
            }
        }
        Ok(())
    }

    fn declaration(&mut self, tree: &mut Tree<'a>) -> Parsed<()> {
        let mut external = false;
        loop {
            match self.word() {
                Some(".extern") => external = true,
                Some(".visible" | ".weak" | ".common") => {}
                _ => break,
            }
            self.at += 1;
        }
        match self.word() {
            Some(".entry" | ".func") => {
                let function = self.function()?;
                tree.functions.push(function);
            }
            Some(".global" | ".const" | ".shared") => self.variables(external, &mut tree.variables)?,
            _ => return self.error("`.entry`, `.func`, `.global`, `.const` or `.shared`"),
        }
        Ok(())
    }

    fn function(&mut self) -> Parsed<Function<'a>> {
        let entry = self.word() == Some(".entry");
        self.at += 1;
        // `.attribute(...)` and `.noreturn` may stand before the name.
        self.skip_attribute()?;
        let results = if self.is(b'(') { self.formals()? } else { Vec::new() };
        let name = self.name()?;
        let params = if self.is(b'(') { self.formals()? } else { Vec::new() };
        let mut limits = Vec::new();
        while let Some(word) = self.word().filter(|word| word.starts_with('.')) {
            if word == ".pragma" {
                self.pragma()?;
                continue;
            }
            if word == ".loc" {
                self.location()?;
                continue;
            }
            self.at += 1;
            let mut numbers = Vec::new();
            while let Some(Kind::Int(value)) = self.peek().map(|token| token.kind) {
                numbers.push(u32::try_from(value).unwrap_or(u32::MAX));
                self.at += 1;
                if !self.take(b',') {
                    break;
                }
            }
            limits.push((&word[1..], numbers));
        }
        let body = if self.take(b';') {
            None
        } else if self.take(b'{') {
            self.loc = None;
            Some(self.body())
        } else {
            return self.error("`{` or `;`");
        };
        Ok(Function { name, entry, results, params, body, limits })
    }

    fn skip_attribute(&mut self) -> Parsed<()> {
        while self.take_word(".attribute") || self.take_word(".noreturn") {
            if self.take(b'(') {
                while !self.take(b')') {
                    if self.peek().is_none() {
                        return self.error("`)`");
                    }
                    self.at += 1;
                }
            }
        }
        Ok(())
    }

    fn formals(&mut self) -> Parsed<Vec<Variable<'a>>> {
        self.expect(b'(')?;
        let mut out = Vec::new();
        while !self.take(b')') {
            self.variable_list(false, &mut out, true)?;
            if !self.take(b',') && !self.is(b')') {
                return self.error("`,` or `)`");
            }
        }
        Ok(out)
    }

    fn variables(&mut self, external: bool, out: &mut Vec<Variable<'a>>) -> Parsed<()> {
        self.variable_list(external, out, false)?;
        self.expect(b';')
    }

    /// `.space attributes .type name[dims] = init, name ...`; one name when `single`.
    fn variable_list(&mut self, external: bool, out: &mut Vec<Variable<'a>>, single: bool) -> Parsed<()> {
        let line = self.line();
        let space = match self.word() {
            Some(".global") => VarSpace::Global,
            Some(".const") => VarSpace::Const,
            Some(".local") => VarSpace::Local,
            Some(".param" | ".reg") => VarSpace::Param,
            Some(word) if word == ".shared" || word.starts_with(".shared::") => VarSpace::Shared,
            _ => return self.error("a state space"),
        };
        self.at += 1;
        let (mut align, mut vector, mut ty, mut pointer) = (0, 1, "", false);
        while let Some(word) = self.word().filter(|word| word.starts_with('.')) {
            match word {
                ".align" => {
                    self.at += 1;
                    let value = self.integer()?;
                    let valid = u32::try_from(value).ok().filter(|v| v.is_power_of_two() && *v <= 1 << 16);
                    // `.ptr .align 16` speaks of what is pointed to.
                    match valid {
                        Some(value) if !pointer => align = value,
                        Some(_) => {}
                        None => return self.error("an alignment that is a power of two"),
                    }
                    continue;
                }
                ".attribute" => {
                    self.skip_attribute()?;
                    continue;
                }
                ".ptr" => pointer = true,
                ".v2" => vector = 2,
                ".v4" => vector = 4,
                ".v8" => vector = 8,
                // Spaces that `.ptr` may name.
                ".global" | ".const" | ".shared" | ".local" | ".generic" | ".managed" | ".unified" => {}
                _ if ty.is_empty() => ty = &word[1..],
                _ => return self.error("a name"),
            }
            self.at += 1;
        }
        if ty.is_empty() {
            return self.error("a type");
        }
        loop {
            let name = self.name()?;
            // `name<4>` declares name0 to name3; only registers use it, so a count here is refused.
            let mut count = Some(u64::from(vector as u32));
            while self.take(b'[') {
                if self.take(b']') {
                    count = None;
                    continue;
                }
                let size = self.integer()?;
                count = match (count, u64::try_from(size)) {
                    (Some(count), Ok(size)) => match count.checked_mul(size) {
                        Some(count) => Some(count),
                        None => return self.error("an array size below 2^64"),
                    },
                    (None, Ok(_)) => None,
                    _ => return self.error("an array size of 0 or more"),
                };
                self.expect(b']')?;
            }
            let mut init = Vec::new();
            if self.take(b'=') {
                self.initialiser(&mut init, 0)?;
                if count.is_none() {
                    count = Some(init.len() as u64);
                }
            }
            out.push(Variable { space, name, ty, align, count, init, external, pointer, line });
            if single || !self.take(b',') {
                return Ok(());
            }
        }
    }

    fn initialiser(&mut self, out: &mut Vec<Init<'a>>, depth: u32) -> Parsed<()> {
        if depth > MAX_DEPTH {
            return self.error("fewer nested braces");
        }
        if self.take(b'{') {
            while !self.take(b'}') {
                self.initialiser(out, depth + 1)?;
                if !self.take(b',') && !self.is(b'}') {
                    return self.error("`,` or `}`");
                }
            }
            return Ok(());
        }
        out.push(self.init_value()?);
        Ok(())
    }

    fn init_value(&mut self) -> Parsed<Init<'a>> {
        let negative = self.take(b'-');
        let Some(token) = self.peek() else { return self.error("a value") };
        self.at += 1;
        Ok(match token.kind {
            Kind::Int(value) if self.is(b'(') && !negative => {
                // `0xff00(symbol)`: one byte of an address.
                self.at += 1;
                let inner = self.init_value()?;
                self.expect(b')')?;
                match inner {
                    Init::Symbol { name, offset, generic, .. } => {
                        Init::Symbol { name, offset, generic, mask: Some(value) }
                    }
                    _ => return self.error("a symbol inside the mask"),
                }
            }
            Kind::Int(value) => Init::Int(if negative { value.wrapping_neg() } else { value }),
            Kind::F32(bits) => Init::F32(bits ^ (u32::from(negative) << 31)),
            Kind::F64(bits) => Init::F64(bits ^ (u64::from(negative) << 63)),
            Kind::Word if token.text == "generic" && self.is(b'(') => {
                self.at += 1;
                let name = self.name()?;
                let mut offset = if self.is(b'+') || self.is(b'-') { self.integer()? } else { 0 };
                self.expect(b')')?;
                if self.is(b'+') || self.is(b'-') {
                    offset = offset.wrapping_add(self.integer()?);
                }
                Init::Symbol { name, offset, generic: true, mask: None }
            }
            Kind::Word => {
                let offset = if self.is(b'+') || self.is(b'-') { self.integer()? } else { 0 };
                Init::Symbol { name: token.text, offset, generic: false, mask: None }
            }
            _ => {
                self.at -= 1;
                return self.error("a value");
            }
        })
    }

    /// Statements up to the brace that closes the function.
    fn body(&mut self) -> Vec<Statement<'a>> {
        let mut out = Vec::new();
        let mut depth = 0;
        loop {
            if self.peek().is_none() {
                self.errors
                    .push(SyntaxError { message: "a function body is not closed".to_owned(), line: self.line() });
                return out;
            }
            if self.take(b'}') {
                if depth == 0 {
                    return out;
                }
                depth -= 1;
                out.push(Statement::Close);
                continue;
            }
            if self.take(b'{') {
                depth += 1;
                if depth > MAX_SCOPES {
                    let error = SyntaxError { message: "scopes nested too deep".to_owned(), line: self.line() };
                    self.errors.push(error);
                    self.at = self.tokens.len();
                    return out;
                }
                out.push(Statement::Open);
                continue;
            }
            let before = self.at;
            if let Err(error) = self.statement(&mut out) {
                self.recover(error);
                if self.at == before && !self.is(b'}') {
                    self.at += 1;
                }
            }
        }
    }

    fn statement(&mut self, out: &mut Vec<Statement<'a>>) -> Parsed<()> {
        if self.take(b';') {
            return Ok(());
        }
        let Some(word) = self.word() else {
            if self.is(b'@') {
                return self.instruction(out);
            }
            return self.error("an instruction");
        };
        match word {
            ".loc" => self.location(),
            ".pragma" => self.pragma(),
            ".reg" => self.registers(out),
            ".section" => self.section(),
            ".file" => self.error("`.file` outside functions"),
            ".local" | ".shared" | ".param" | ".global" | ".const" => {
                let mut list = Vec::new();
                self.variables(false, &mut list)?;
                out.extend(list.into_iter().map(Statement::Variable));
                Ok(())
            }
            ".extern" => {
                self.at += 1;
                let mut list = Vec::new();
                self.variables(true, &mut list)?;
                out.extend(list.into_iter().map(Statement::Variable));
                Ok(())
            }
            _ if self.tokens.get(self.at + 1).is_some_and(|next| next.kind == Kind::Punct(b':')) => {
                self.at += 2;
                self.labelled(word, out)
            }
            _ if word.starts_with('.') => self.error("an instruction"),
            _ => self.instruction(out),
        }
    }

    fn labelled(&mut self, label: &'a str, out: &mut Vec<Statement<'a>>) -> Parsed<()> {
        if self.take_word(".callprototype") {
            if self.is(b'(') {
                self.formals()?;
            }
            self.name()?;
            if self.is(b'(') {
                self.formals()?;
            }
            while !self.take(b';') {
                if self.peek().is_none() {
                    return self.error("`;`");
                }
                self.at += 1;
            }
            out.push(Statement::Prototype(label));
        } else if self.take_word(".branchtargets") || self.take_word(".calltargets") {
            let mut names = vec![self.name()?];
            while self.take(b',') {
                names.push(self.name()?);
            }
            self.expect(b';')?;
            out.push(Statement::Targets { label, names });
        } else {
            out.push(Statement::Label(label));
        }
        Ok(())
    }

    fn registers(&mut self, out: &mut Vec<Statement<'a>>) -> Parsed<()> {
        let line = self.line();
        self.at += 1;
        let (mut ty, mut vector) = ("", 1);
        while let Some(word) = self.word().filter(|word| word.starts_with('.')) {
            match word {
                ".v2" => vector = 2,
                ".v4" => vector = 4,
                _ => ty = &word[1..],
            }
            self.at += 1;
        }
        loop {
            let name = self.name()?;
            let count = if self.take(b'<') {
                let count = self.integer()?;
                self.expect(b'>')?;
                match u32::try_from(count).ok().filter(|count| *count <= 1 << 20) {
                    Some(count) => Some(count),
                    None => {
                        return Err(SyntaxError { message: format!("{count} registers are too many"), line });
                    }
                }
            } else {
                None
            };
            out.push(Statement::Register { ty, vector, name, count, line });
            if !self.take(b',') {
                return self.expect(b';');
            }
        }
    }

    fn instruction(&mut self, out: &mut Vec<Statement<'a>>) -> Parsed<()> {
        let first = self.at;
        let line = self.line();
        let guard = if self.take(b'@') {
            let negated = self.take(b'!');
            Some((self.name()?, negated))
        } else {
            None
        };
        let opcode = self.name()?;
        let mut operands = Vec::new();
        if !self.is(b';') {
            loop {
                operands.push(self.operand(0)?);
                if !self.take(b',') {
                    break;
                }
            }
        }
        if !self.is(b';') {
            return self.error("`,` or `;`");
        }
        let end = self.tokens[self.at].start;
        self.at += 1;
        let text = self.text[self.tokens[first].start..end].trim_end();
        out.push(Statement::Instruction(Instruction { guard, opcode, operands, loc: self.loc, line, text }));
        Ok(())
    }

    fn operand_list(&mut self, close: u8, depth: u32) -> Parsed<Vec<Operand<'a>>> {
        let mut out = Vec::new();
        while !self.take(close) {
            out.push(self.operand(depth + 1)?);
            if !self.take(b',') && !self.is(close) {
                return self.error(&format!("`,` or `{}`", close as char));
            }
        }
        Ok(out)
    }

    fn operand(&mut self, depth: u32) -> Parsed<Operand<'a>> {
        if depth > MAX_DEPTH {
            return self.error("fewer nested braces");
        }
        let Some(token) = self.peek() else { return self.error("an operand") };
        self.at += 1;
        let operand = match token.kind {
            Kind::Punct(b'{') => Operand::Vector(self.operand_list(b'}', depth)?),
            Kind::Punct(b'(') => Operand::List(self.operand_list(b')', depth)?),
            Kind::Punct(b'[') => {
                let base = Box::new(self.operand(depth + 1)?);
                let (base, offset) = match *base {
                    Operand::NameOffset(name, offset) => (Box::new(Operand::Name(name)), offset),
                    _ => (base, if self.is(b'+') || self.is(b'-') { self.integer()? } else { 0 }),
                };
                let mut more = Vec::new();
                while self.take(b',') {
                    more.push(self.operand(depth + 1)?);
                }
                self.expect(b']')?;
                Operand::Address { base, offset, more }
            }
            Kind::Punct(b'!') => Operand::Not(self.name()?),
            Kind::Punct(b'-') => match self.operand(depth + 1)? {
                Operand::Int(value) => Operand::Int(value.wrapping_neg()),
                Operand::F32(bits) => Operand::F32(bits ^ (1 << 31)),
                Operand::F64(bits) => Operand::F64(bits ^ (1 << 63)),
                _ => return self.error("a number after `-`"),
            },
            Kind::Int(value) => Operand::Int(value),
            Kind::F32(bits) => Operand::F32(bits),
            Kind::F64(bits) => Operand::F64(bits),
            Kind::Word if token.text == "_" => Operand::Sink,
            Kind::Word if self.is(b'+') || self.is(b'-') => Operand::NameOffset(token.text, self.integer()?),
            Kind::Word => Operand::Name(token.text),
            _ => {
                self.at -= 1;
                return self.error("an operand");
            }
        };
        if self.is(b'|') && depth <= MAX_DEPTH {
            self.at += 1;
            let second = self.operand(depth + 1)?;
            return Ok(Operand::Pair(Box::new(operand), Box::new(second)));
        }
        Ok(operand)
    }
}
