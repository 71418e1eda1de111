//! Options of NVRTC and names of architectures.

use super::Source;
use super::Toolchain;
pub use crate::arch::Arch;

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

#[cfg(test)]
mod tests {
    use super::*;

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
