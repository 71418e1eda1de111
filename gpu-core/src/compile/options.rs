//! Options of NVRTC and names of architectures.

use super::Toolchain;
use crate::job::Source;

/// Part of the cache key: raise it when the options below or the shape of a report change.
pub const RECIPE_VERSION: u32 = 4;

/// Options that may come with a source, as `name` or `name=value`; a trailing `*` allows a suffix. Whatever reads or
/// writes files, or adds include folders, is absent on purpose.
const ALLOWED: [&str; 31] = [
    "-D*",
    "-U*",
    "--define-macro=*",
    "--undefine-macro=*",
    "-std=*",
    "--std=*",
    "-use_fast_math",
    "--use_fast_math",
    "-ftz=*",
    "--ftz=*",
    "-fmad=*",
    "--fmad=*",
    "-prec-div=*",
    "--prec-div=*",
    "-prec-sqrt=*",
    "--prec-sqrt=*",
    "-maxrregcount=*",
    "--maxrregcount=*",
    "--extra-device-vectorization",
    "-extra-device-vectorization",
    "--restrict",
    "-restrict",
    "--device-int128",
    "--device-float128",
    "--disable-warnings",
    "-w",
    "--diag-suppress=*",
    "--diag-error=*",
    "--diag-warn=*",
    "--ptxas-options=-O*",
    "--ptxas-options=--allow-expensive-optimizations=*",
];

/// Why an option of a source is refused; None when all are fine.
pub fn refused_option(options: &[String]) -> Option<String> {
    let refused = options.iter().find(|option| {
        !ALLOWED.iter().any(|allowed| match allowed.strip_suffix('*') {
            Some(prefix) => option.starts_with(prefix) && option.len() > prefix.len(),
            None => option == allowed,
        })
    })?;
    Some(format!(
        "the compiler option `{refused}` is not allowed here. Allowed: {}",
        ALLOWED.map(|allowed| allowed.replace('*', "…")).join(" ")
    ))
}

/// The options of one compilation: a real architecture, so that one pass yields PTX, cubin and the log of ptxas.
pub fn nvrtc_options(toolchain: &Toolchain, source: &Source, arch: &Arch) -> Vec<String> {
    let mut options = vec![
        format!("--gpu-architecture={arch}"),
        // `.loc` lines, from which faults, counters and traces get their source lines.
        "-lineinfo".to_owned(),
        // Registers, spills and shared memory, in the log.
        "--ptxas-options=-v".to_owned(),
        // Relative includes are looked up in the include folders only, not in the current folder.
        "--no-source-include".to_owned(),
    ];
    if !source.options.iter().any(|option| option.contains("-std=")) {
        options.push("-std=c++20".to_owned());
    }
    for folder in &toolchain.include_dirs {
        options.push(format!("--include-path={}", folder.display()));
    }
    // Some headers name each other by where they lie, which `--no-source-include` turns off. `crt` comes last: it has
    // files of the same names as the folder above it, and those are the ones to include.
    for inner in ["cooperative_groups", "cooperative_groups/details", "crt"] {
        for folder in toolchain.include_dirs.iter().map(|folder| folder.join(inner)).filter(|folder| folder.is_dir()) {
            options.push(format!("--include-path={}", folder.display()));
        }
    }
    // The constructors of `cuda_tf32.h` carry no `__device__`.
    let texts = std::iter::once(&source.text).chain(source.headers.iter().map(|(_, text)| text));
    if texts.into_iter().any(|text| text.contains("cuda_tf32.h")) {
        options.push("--device-as-default-execution-space".to_owned());
    }
    options.extend(source.options.iter().cloned());
    options
}

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

    #[test]
    fn options_that_touch_files_are_refused() {
        let refused = |option: &str| refused_option(&[option.to_owned()]).is_some();
        for option in ["-I/etc", "--include-path=/etc", "--pre-include=/etc/passwd", "-time=/tmp/x", "-D", "@file"] {
            assert!(refused(option), "{option}");
        }
        for option in ["-DTILE=32", "--use_fast_math", "-std=c++17", "--maxrregcount=64"] {
            assert!(!refused(option), "{option}");
        }
    }
}
