//! Architectures by name.

/// A real architecture, as in `sm_90a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arch {
    /// Major times ten plus minor: 90 for 9.0, 121 for 12.1.
    pub number: u32,
    /// `a` (this chip only), `f` (this family) or none.
    pub suffix: Option<char>,
}

impl Arch {
    /// Reads `sm_90a`; `compute_90a` and `90a` are understood too. None for anything else.
    pub fn parse(text: &str) -> Option<Arch> {
        let text = text.trim();
        let rest = text.strip_prefix("sm_").or_else(|| text.strip_prefix("compute_")).unwrap_or(text);
        let (digits, suffix) = match rest.chars().last()? {
            suffix @ ('a' | 'f') => (&rest[..rest.len() - 1], Some(suffix)),
            _ => (rest, None),
        };
        if !(2..=3).contains(&digits.len()) || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        Some(Arch { number: digits.parse().ok()?, suffix })
    }

    /// The architecture of a GPU with everything that it can do: from 9.0 on the `a` variant.
    pub fn of_capability(major: u32, minor: u32) -> Arch {
        let number = major * 10 + minor;
        Arch { number, suffix: (number >= 90).then_some('a') }
    }

    /// Whether it has what only one chip, or one family, has.
    pub fn is_specific(self) -> bool {
        self.suffix.is_some()
    }

    /// Whether code that needs at least `required` can be compiled for this one. A suffix of `required` asks for
    /// exactly that chip (`a`) or that family (`f`).
    pub fn satisfies(self, required: Arch) -> bool {
        match required.suffix {
            Some('a') => self == required,
            Some(_) => {
                self.suffix.is_some() && self.number / 10 == required.number / 10 && self.number >= required.number
            }
            None => self.number >= required.number,
        }
    }

    /// The least architecture up to which the emulator goes by default when an exercise needs `required`.
    pub fn for_emulator(required: Option<Arch>) -> Arch {
        const DEFAULT: Arch = Arch { number: 90, suffix: Some('a') };
        match required {
            Some(required) if !DEFAULT.satisfies(required) => {
                Arch { number: required.number, suffix: required.suffix.or(Some('a')) }
            }
            _ => DEFAULT,
        }
    }
}

impl std::fmt::Display for Arch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "sm_{}", self.number)?;
        self.suffix.map_or(Ok(()), |suffix| write!(f, "{suffix}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arch(text: &str) -> Arch {
        Arch::parse(text).expect(text)
    }

    #[test]
    fn reads_and_writes_architectures() {
        for text in ["sm_75", "sm_90", "sm_90a", "sm_120f", "sm_121a"] {
            assert_eq!(arch(text).to_string(), text);
        }
        assert_eq!(arch("compute_90a"), arch("90a"));
        for text in ["", "sm_", "sm_9", "sm_90b", "sm_1234", "sm_a", "é", "sm_9é", "a", "sm_90aa"] {
            assert_eq!(Arch::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_suffix_ties_to_a_chip_or_a_family() {
        assert!(arch("sm_90a").satisfies(arch("sm_80")));
        assert!(!arch("sm_90a").satisfies(arch("sm_100")));
        assert!(!arch("sm_121a").satisfies(arch("sm_90a")), "wgmma exists on 9.0 alone");
        assert!(arch("sm_121a").satisfies(arch("sm_120f")));
        assert!(!arch("sm_90a").satisfies(arch("sm_120f")));
    }

    #[test]
    fn the_emulator_takes_what_an_exercise_needs() {
        assert_eq!(Arch::for_emulator(None), arch("sm_90a"));
        assert_eq!(Arch::for_emulator(Some(arch("sm_80"))), arch("sm_90a"));
        assert_eq!(Arch::for_emulator(Some(arch("sm_120a"))), arch("sm_120a"));
        assert_eq!(Arch::for_emulator(Some(arch("sm_100"))), arch("sm_100a"));
        assert_eq!(Arch::of_capability(12, 1), arch("sm_121a"));
        assert_eq!(Arch::of_capability(8, 9), arch("sm_89"));
    }
}
