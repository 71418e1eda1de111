//! What CUDA C++ knows without being told: one table of words with signature, one line of documentation and the
//! manual's section. Completion, hover text and colours of the editor all read it.
//!
//! Section names are those of the CUDA C++ Programming Guide, or of the CUDA Math API where the row says so: unlike
//! section numbers they stay from one edition to the next. A test compiles a call of every function as it is written
//! here (`app/tests/builtins.rs`).

mod atomics;
mod half;
mod language;
mod math;
mod memory;
mod warp;

use std::collections::HashMap;
use std::sync::LazyLock;

/// What kind of word it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Variable,
    Function,
    Type,
    /// `__global__`, `__shared__` and the like.
    Qualifier,
}

impl Kind {
    /// One letter for lists, so that a kind is told by more than its colour.
    pub fn letter(self) -> &'static str {
        match self {
            Kind::Variable => "v",
            Kind::Function => "f",
            Kind::Type => "t",
            Kind::Qualifier => "q",
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Kind::Variable => "variable",
            Kind::Function => "function",
            Kind::Type => "type",
            Kind::Qualifier => "qualifier",
        }
    }
}

/// One word of CUDA C++.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Builtin {
    pub name: &'static str,
    pub kind: Kind,
    /// As it is declared. `T` stands for the types that the documentation names.
    pub signature: &'static str,
    /// One line.
    pub doc: &'static str,
    /// Section of the manual.
    pub section: &'static str,
    /// Header that declares it; empty when none is needed.
    pub header: &'static str,
}

impl Builtin {
    /// Where to read more, as one line.
    pub fn place(&self) -> String {
        let include = if self.header.is_empty() { String::new() } else { format!(" · #include <{}>", self.header) };
        format!("{}{include}", self.section)
    }
}

/// Rows of one section: (name, signature, documentation).
struct Family {
    kind: Kind,
    section: &'static str,
    header: &'static str,
    rows: &'static [(&'static str, &'static str, &'static str)],
}

static ALL: LazyLock<Vec<Builtin>> = LazyLock::new(|| {
    let families =
        [language::FAMILIES, warp::FAMILIES, atomics::FAMILIES, memory::FAMILIES, math::FAMILIES, half::FAMILIES];
    let rows = families.into_iter().flatten().flat_map(|family| {
        family.rows.iter().map(|(name, signature, doc)| Builtin {
            name,
            kind: family.kind,
            signature,
            doc,
            section: family.section,
            header: family.header,
        })
    });
    rows.collect()
});

static BY_NAME: LazyLock<HashMap<&'static str, &'static Builtin>> =
    LazyLock::new(|| all().iter().map(|builtin| (builtin.name, builtin)).collect());

/// The whole table.
pub fn all() -> &'static [Builtin] {
    &ALL
}

/// The word's row.
pub fn find(word: &str) -> Option<&'static Builtin> {
    BY_NAME.get(word).copied()
}

/// Members of a built-in variable or vector type, for completion after a dot.
pub fn members(of: &str) -> &'static [&'static str] {
    match of {
        "threadIdx" | "blockIdx" | "blockDim" | "gridDim" => &["x", "y", "z"],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_row_is_complete_and_its_name_its_own() {
        let mut names = HashSet::new();
        for builtin in all() {
            let Builtin { name, signature, doc, section, .. } = builtin;
            assert!(names.insert(name), "{name} is listed twice");
            assert!(signature.contains(name), "{name}: its signature is of something else: {signature}");
            assert!(!doc.is_empty() && !doc.contains('\n') && doc.ends_with('.'), "{name}: one sentence is wanted");
            assert!(doc.len() <= 180, "{name}: {} bytes are no line: {doc}", doc.len());
            assert!(!section.is_empty(), "{name} has no section");
            assert_eq!(find(name), Some(builtin));
        }
        assert!(names.len() > 200, "{} words", names.len());
    }

    #[test]
    fn the_words_of_every_kernel_are_there() {
        for (word, kind) in [
            ("threadIdx", Kind::Variable),
            ("__syncthreads", Kind::Function),
            ("__shfl_down_sync", Kind::Function),
            ("atomicAdd", Kind::Function),
            ("__ldg", Kind::Function),
            ("float4", Kind::Type),
            ("__hfma2", Kind::Function),
            ("__shared__", Kind::Qualifier),
        ] {
            assert_eq!(find(word).map(|builtin| builtin.kind), Some(kind), "{word}");
        }
        assert_eq!(find("my_helper"), None);
    }
}
