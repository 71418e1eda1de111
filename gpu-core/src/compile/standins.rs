//! Standard headers for kernels that were pasted from a program: NVRTC has no standard library, and the host's headers hold
//! nothing that a kernel could use.

use super::declared::without_directives;
use super::tokens::{Kind, tokens};
use crate::compile::Source;

/// What the headers of [`STANDARD`] all hold.
const TEXT: &str = include_str!("standins/standard.h");

/// Name under which [`TEXT`] is included before everything else.
pub const BEFORE: &str = "lockstep_standard.h";

/// Headers of the C and C++ libraries of which a kernel may use a part.
pub const STANDARD: [&str; 26] = [
    "stdio.h",
    "cstdio",
    "math.h",
    "cmath",
    "float.h",
    "cfloat",
    "stdint.h",
    "cstdint",
    "inttypes.h",
    "cinttypes",
    "limits.h",
    "climits",
    "limits",
    "assert.h",
    "cassert",
    "stdlib.h",
    "cstdlib",
    "stddef.h",
    "cstddef",
    "string.h",
    "cstring",
    "stdbool.h",
    "type_traits",
    "algorithm",
    "utility",
    "numeric",
];

/// Headers for the host's part of a program. In a kernel they are empty.
pub const HOST: [&str; 44] = [
    "iostream",
    "fstream",
    "sstream",
    "iomanip",
    "string",
    "string_view",
    "vector",
    "array",
    "map",
    "set",
    "unordered_map",
    "unordered_set",
    "list",
    "deque",
    "queue",
    "stack",
    "memory",
    "functional",
    "random",
    "chrono",
    "thread",
    "mutex",
    "atomic",
    "exception",
    "stdexcept",
    "ctime",
    "time.h",
    "sys/time.h",
    "unistd.h",
    "iterator",
    "tuple",
    "optional",
    "numbers",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "cuda.h",
    "device_launch_parameters.h",
    "device_functions.h",
    "driver_types.h",
    "helper_cuda.h",
    "helper_functions.h",
    "cublas_v2.h",
    "cuda_profiler_api.h",
    "nvToolsExt.h",
];

/// Headers that cannot be had here, and what to do instead.
pub const ABSENT: [(&str, &str); 12] = [
    (
        "curand_kernel.h",
        "cuRAND's header for kernels comes with the CUDA toolkit, not with the compiler package that Lockstep uses. Pass random \
         numbers in as an input array, or use a small generator of your own, for example \
         `x ^= x << 13; x ^= x >> 17; x ^= x << 5;` on an `unsigned x` that is not 0",
    ),
    (
        "curand.h",
        "cuRAND fills arrays from the host, and only kernels run here. Let an input of the spec hold the random numbers: `fill = { kind = \"normal\" }`",
    ),
    (
        "cuda_tile.h",
        "tile kernels are another way to program a GPU: they are compiled to Tile IR, and Lockstep runs PTX. Write a kernel of threads, or use `<mma.h>` for tiles of matrices",
    ),
    ("cuda/buffer", "this header is for the host's part of a program. A kernel gets plain pointers"),
    ("cuda/memory_pool", "this header is for the host's part of a program. A kernel gets plain pointers"),
    ("cuda/memory_resource", "this header is for the host's part of a program. A kernel gets plain pointers"),
    ("cuda/stream", "streams belong to the host's part of a program, and only kernels run here"),
    ("cuda/stream_ref", "streams belong to the host's part of a program, and only kernels run here"),
    (
        "thrust/device_vector.h",
        "Thrust's containers belong to the host's part of a program. A kernel gets plain pointers",
    ),
    (
        "thrust/host_vector.h",
        "Thrust's containers belong to the host's part of a program. A kernel gets plain pointers",
    ),
    (
        "cub/cub.cuh",
        "this header includes the algorithms for the whole device, which the host starts. Include the part that you use, such as `<cub/block/block_reduce.cuh>` or `<cub/warp/warp_scan.cuh>`",
    ),
    ("torch/extension.h", "PyTorch's headers are for the host's part of a program. Give the kernel plain pointers"),
];

/// Words that come from headers which a program has without asking: nvcc includes them before every file.
const WORDS: [&str; 41] = [
    "INFINITY",
    "NAN",
    "HUGE_VALF",
    "FLT_MAX",
    "FLT_MIN",
    "FLT_EPSILON",
    "DBL_MAX",
    "DBL_MIN",
    "DBL_EPSILON",
    "CHAR_BIT",
    "INT_MAX",
    "INT_MIN",
    "UINT_MAX",
    "SHRT_MAX",
    "SHRT_MIN",
    "USHRT_MAX",
    "LLONG_MAX",
    "LLONG_MIN",
    "ULLONG_MAX",
    "SIZE_MAX",
    "INT32_MAX",
    "UINT32_MAX",
    "M_PI",
    "M_PI_2",
    "M_E",
    "M_LN2",
    "M_LOG2E",
    "M_SQRT2",
    "M_SQRT1_2",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "uintptr_t",
    "uint",
    "ushort",
    "uchar",
];

/// The course's own ask for real headers where there are some.
fn is_course(name: &str) -> bool {
    super::includes::COURSE_HEADERS.iter().any(|(course, _)| *course == name)
}

/// `source` with a text for each standard or host header that it includes.
pub fn add(source: &mut Source) {
    let named: Vec<String> = std::iter::once(&source.text)
        .chain(source.headers.iter().filter(|(name, _)| !is_course(name)).map(|(_, text)| text))
        .flat_map(|text| included(text))
        .map(|(name, _)| name)
        .collect();
    let mut give = |name: &str, text: String| {
        if named.iter().any(|found| found == name) && !source.headers.iter().any(|(header, _)| header == name) {
            source.headers.push((name.to_owned(), text));
        }
    };
    for name in STANDARD {
        give(name, TEXT.to_owned());
    }
    for name in HOST {
        // `cuda.h` declares what a tensor copy takes.
        let map = "struct __align__(64) CUtensorMap_st { unsigned long long opaque[16]; };\ntypedef struct CUtensorMap_st CUtensorMap;\n";
        let lab = named.iter().any(|found| found == "lab.cuh");
        give(name, if name == "cuda.h" && !lab { format!("#pragma once\n{map}") } else { "#pragma once\n".to_owned() });
    }
}

/// Names that a text includes, with their lines; macros are not looked into.
pub fn included(text: &str) -> Vec<(String, u32)> {
    let mut found = Vec::new();
    let all: Vec<_> = tokens(text).into_iter().filter(|token| token.kind != Kind::Space).collect();
    for (at, token) in all.iter().enumerate() {
        let is_include =
            token.first_on_line && token.text == "#" && all.get(at + 1).is_some_and(|next| next.plain() == "include");
        let Some(operand) = all.get(at + 2).filter(|_| is_include) else { continue };
        let rest = text[operand.at..].lines().next().unwrap_or_default();
        let name = match rest.chars().next() {
            Some('"') => rest[1..].split('"').next(),
            Some('<') => rest[1..].split('>').next(),
            _ => None,
        };
        let line = 1 + text[..token.at].matches('\n').count();
        found.extend(name.map(|name| (name.to_owned(), u32::try_from(line).unwrap_or(u32::MAX))));
    }
    found
}

/// Whether a text uses what a program gets without asking and a kernel here does not.
pub fn uses_standard(text: &str) -> bool {
    let all = without_directives(text);
    all.iter().enumerate().any(|(at, token)| {
        let of_std = token.text == "std" && all.get(at + 1).is_some_and(|next| next.text == "::");
        token.kind == Kind::Word && (of_std || WORDS.contains(&token.text))
    })
}

/// `source` with [`TEXT`] before it; lines keep their numbers.
pub fn put_before(source: &mut Source) {
    if !source.headers.iter().any(|(name, _)| name == BEFORE) {
        source.headers.push((BEFORE.to_owned(), TEXT.to_owned()));
        source.options.push(format!("--pre-include={BEFORE}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source { name: "kernel.cu".into(), text: text.into(), headers: Vec::new(), options: Vec::new() }
    }

    #[test]
    fn only_headers_that_are_named_come_along_and_no_list_names_one_twice() {
        let mut one = source(
            "#include <cstdint>\n#include \"vector\"\n// #include <cmath>\nconst char* s = \"#include <map>\";\n",
        );
        add(&mut one);
        let names: Vec<&str> = one.headers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["cstdint", "vector"]);
        let mut all: Vec<&str> =
            STANDARD.iter().chain(&HOST).chain(ABSENT.iter().map(|(name, _)| name)).copied().collect();
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[0] != pair[1]), "{all:?}");
    }

    #[test]
    fn what_a_program_has_without_asking_is_recognised() {
        for text in ["x = INFINITY;", "uint8_t a;", "std::min(a, b)", "f(M_PI)"] {
            assert!(uses_standard(text), "{text}");
        }
        for text in ["", "// INFINITY", "#define X INFINITY", "\"M_PI\"", "int standard;"] {
            assert!(!uses_standard(text), "{text}");
        }
    }
}
