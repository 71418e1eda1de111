//! What a line cost in the last run, for the gutter.

/// Why a line deserves a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trouble {
    /// Sectors are moved of which little is used.
    Sectors,
    /// Lanes of a warp ask one bank for different words.
    Banks,
    /// Registers were spilled, or a local array is indexed.
    Local,
}

impl Trouble {
    /// A shape of its own, so that colour never stands alone.
    pub fn symbol(self) -> &'static str {
        match self {
            Trouble::Sectors => "▤",
            Trouble::Banks => "▥",
            Trouble::Local => "▽",
        }
    }
}

/// One line's share of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    /// One-based.
    pub line: u32,
    /// Of all warp instructions, 0 to 1.
    pub share: f32,
    pub trouble: Option<Trouble>,
    /// The figures in words, for hovering and screen readers.
    pub text: String,
}
