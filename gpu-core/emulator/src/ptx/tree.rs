//! What the parser makes of PTX text. Names are slices of the text; nothing is resolved yet.

use std::cell::{Ref, RefCell};

/// A whole module.
#[derive(Debug, Default)]
pub struct Tree<'a> {
    pub version: &'a str,
    pub target: &'a str,
    pub variables: Vec<Variable<'a>>,
    pub functions: Vec<Function<'a>>,
    /// `.file` index and name.
    pub files: Vec<(u32, &'a str)>,
    /// `.alias name, target`.
    pub aliases: Vec<(&'a str, &'a str)>,
    /// Calls that were replaced by the bodies of functions, innermost first: what [`Loc::calls`] counts.
    pub calls: Vec<Vec<Place>>,
}

/// File index, line and column.
pub type Place = (u32, u32, u32);

/// A type without its dot: `f32`, `b64`, `pred`.
pub type TypeName<'a> = &'a str;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VarSpace {
    Global,
    Const,
    Shared,
    Local,
    Param,
    /// A parameter or result of a device function that is a register.
    Reg,
}

/// One element of an initialiser.
#[derive(Clone, Debug, PartialEq)]
pub enum Init<'a> {
    /// Integer, already negated where a minus stood before it.
    Int(u64),
    F32(u32),
    F64(u64),
    /// Address of a symbol plus an offset; `generic` as written, and a byte selected by `0xff00(sym)`.
    Symbol {
        name: &'a str,
        offset: i64,
        generic: bool,
        mask: Option<u64>,
    },
}

/// A variable of any state space but registers.
#[derive(Clone, Debug)]
pub struct Variable<'a> {
    pub space: VarSpace,
    pub name: &'a str,
    pub ty: TypeName<'a>,
    pub align: u32,
    /// Element count (vector width times dimensions); None for `name[]`.
    pub count: Option<u64>,
    pub init: Vec<Init<'a>>,
    /// `.extern`: dynamic shared memory when shared.
    pub external: bool,
    /// `.visible`, `.weak` or `.common`: other modules may see it.
    pub visible: bool,
    /// `.param .ptr`.
    pub pointer: bool,
    /// `.attribute(.managed)`: the host reaches it at the same address.
    pub managed: bool,
    pub line: u32,
}

/// A kernel (`.entry`) or device function (`.func`).
#[derive(Debug)]
pub struct Function<'a> {
    pub name: &'a str,
    pub entry: bool,
    /// `.extern`.
    pub external: bool,
    pub results: Vec<Variable<'a>>,
    pub params: Vec<Variable<'a>>,
    /// None for a declaration.
    pub body: Option<Body<'a>>,
    /// Performance directives with their numbers: `maxntid`, `reqntid`, `minnctapersm`, `reqnctapercluster`, ...
    pub limits: Vec<(&'a str, Vec<u32>)>,
}

/// A function's statements. Who decodes them takes them, lest a large module be there twice.
#[derive(Debug)]
pub struct Body<'a>(RefCell<Vec<Statement<'a>>>);

impl<'a> Body<'a> {
    pub fn new(statements: Vec<Statement<'a>>) -> Body<'a> {
        Body(RefCell::new(statements))
    }

    pub fn statements(&self) -> Ref<'_, Vec<Statement<'a>>> {
        self.0.borrow()
    }

    pub fn take(&self) -> Vec<Statement<'a>> {
        self.0.take()
    }
}

#[derive(Debug)]
pub enum Statement<'a> {
    Open,
    Close,
    Label(&'a str),
    /// One name, or `prefix<count>`.
    Register {
        ty: TypeName<'a>,
        vector: u32,
        name: &'a str,
        count: Option<u32>,
        line: u32,
    },
    Variable(Variable<'a>),
    /// `.branchtargets` and `.calltargets`.
    Targets {
        label: &'a str,
        names: Vec<&'a str>,
    },
    /// `.callprototype`: its label. What is called is known when it is called.
    Prototype(&'a str),
    Instruction(Instruction<'a>),
}

/// Source position of `.loc`: file index, line, column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Loc {
    pub file: u32,
    pub line: u32,
    pub column: u32,
    /// The calls that led there, where the compiler replaced them by the functions' bodies: an index into [`Tree::calls`].
    pub calls: Option<u32>,
}

#[derive(Clone, Debug)]
pub struct Instruction<'a> {
    /// Guard predicate and whether it is negated.
    pub guard: Option<(&'a str, bool)>,
    /// `ld.global.v4.f32`, as written.
    pub opcode: &'a str,
    pub operands: Vec<Operand<'a>>,
    pub loc: Option<Loc>,
    pub line: u32,
    /// From guard to semicolon, as written.
    pub text: &'a str,
    /// Bytes of what it loads that are used, where a pragma before it says so: a bit for each.
    pub used_bytes: Option<u32>,
}

impl<'a> Instruction<'a> {
    /// The opcode's dotted parts.
    pub fn parts(&self) -> impl Iterator<Item = &'a str> {
        self.opcode.split('.')
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Operand<'a> {
    /// Register, special register, symbol, label or enumerated name.
    Name(&'a str),
    /// `name + offset`.
    NameOffset(&'a str, i64),
    /// `array[index]`: the place of an element, without brackets around it.
    Element(&'a str, Box<Operand<'a>>),
    /// `!%p`.
    Not(&'a str),
    /// `-%r`, which video multiplications alone have; a minus before a number is folded in.
    Negated(&'a str),
    Int(u64),
    F32(u32),
    F64(u64),
    /// `_`.
    Sink,
    /// `%r1|%p1`.
    Pair(Box<Operand<'a>>, Box<Operand<'a>>),
    /// `{a, b}`.
    Vector(Vec<Operand<'a>>),
    /// `(a, b)` of calls.
    List(Vec<Operand<'a>>),
    /// `[base + offset]`, and what follows a comma inside the brackets (tensor coordinates).
    Address {
        base: Box<Operand<'a>>,
        offset: i64,
        more: Vec<Operand<'a>>,
    },
}
