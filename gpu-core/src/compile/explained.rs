//! The compiler's commonest messages in a learner's words, each with what to do. The compiler's own follow in parentheses, so
//! that they can be searched for.

use super::declared::{self, kernels};
use super::diagnostics::Context;
use super::{Diagnostic, Severity};
use super::{operands, scopes, standins};
use crate::spec::Dtype;

/// What NVRTC says of a kernel whose parameters have a type that it does not know, and of nothing else.
const NO_KERNEL: &str = "attribute \"__global__\" does not apply here";
/// What it goes on to say then.
const ECHOES: [&str; 4] = [
    "A namespace scope variable without memory space annotations",
    "incomplete type \"void\" is not allowed",
    "expected a \";\"",
    "expected a \")\"",
];

/// Replaces what has better words.
pub fn explain(found: Vec<Diagnostic>, context: &Context<'_>) -> Vec<Diagnostic> {
    let mut kept: Vec<Diagnostic> = Vec::with_capacity(found.len());
    // The line of a kernel that was read as something else: what follows of it says nothing.
    let mut lost: Option<u32> = None;
    for mut diagnostic in found {
        let ours = diagnostic.file == context.source_name;
        if ours && diagnostic.message == NO_KERNEL {
            if let Some(words) = unknown_type(context.source_text, diagnostic.line) {
                diagnostic.message = format!("{words} (the compiler says: {NO_KERNEL})");
                lost = Some(diagnostic.line);
            }
        } else if ours && lost == Some(diagnostic.line) && is_echo(&diagnostic.message)
            || operands::is_echo(&diagnostic, kept.last())
        {
            continue;
        } else if diagnostic.severity == Severity::Error {
            let line = context.source_text.lines().nth(diagnostic.line.saturating_sub(1) as usize).unwrap_or_default();
            let said = diagnostic.message.lines().next().unwrap_or_default();
            let line = if ours { line } else { "" };
            let count =
                scopes::constant_argument(said, line, diagnostic.column).or_else(|| operands::words(said, line));
            if let Some(words) = count.or_else(|| words(said, line, context.source_text, diagnostic.line)) {
                let said = said.trim_end_matches('.');
                diagnostic.message = format!("{words} (the compiler says: {said})");
            }
        } else if ours && diagnostic.severity == Severity::Warning {
            let line = context.source_text.lines().nth(diagnostic.line.saturating_sub(1) as usize).unwrap_or_default();
            if let Some(words) = operands::warning(&diagnostic.message, line, diagnostic.column) {
                diagnostic.message = format!("{words} (the compiler says: {})", diagnostic.message);
            }
        }
        kept.push(diagnostic);
    }
    operands::one_for_a_call(without_arguments_of_libraries(kept), context.source_text, context.source_name)
}

/// Of a call of a library's or the host's function, what is said of its name alone: the arguments are not known either.
fn without_arguments_of_libraries(mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let is_call = |diagnostic: &Diagnostic| {
        diagnostic.message.contains("is a library's function")
            || diagnostic.message.contains("of the host's part of a program. Lockstep")
    };
    let lines: Vec<u32> =
        found.iter().filter(|diagnostic| is_call(diagnostic)).map(|diagnostic| diagnostic.line).collect();
    found.retain(|diagnostic| {
        is_call(diagnostic) || !lines.contains(&diagnostic.line) || !diagnostic.message.contains("is not known here")
    });
    found
}

fn is_echo(message: &str) -> bool {
    ECHOES.iter().any(|echo| message.starts_with(echo)) || message.contains("lives on the host unless it is marked")
}

/// The type in a kernel's parameter list that the compiler does not know.
fn unknown_type(text: &str, line: u32) -> Option<String> {
    let found = kernels(text);
    let kernel = found.iter().filter(|kernel| kernel.line >= line).min_by_key(|kernel| kernel.line)?;
    let strange = kernel.params.iter().find(|parameter| {
        let base = parameter.element.rsplit("::").next().unwrap_or_default();
        let defined = ["struct", "class", "typename", "using", "enum", "union", "class"]
            .iter()
            .any(|word| text.contains(&format!("{word} {base}")));
        Dtype::of_cpp(&parameter.element).is_none_or(|_| header_of(&parameter.element).is_some())
            && !defined
            && !is_vector(base)
            && base != "CUtensorMap"
    })?;
    let element = &strange.element;
    let place = if strange.name.is_empty() { String::new() } else { format!(" of `{}`", strange.name) };
    Some(match header_of(element) {
        Some(header) => format!(
            "the type `{element}`{place} is not known here, so `{}` is not read as a kernel. Put `#include {header}` at the \
             top",
            kernel.name
        ),
        None => format!(
            "the type `{element}`{place} is not known here, so `{}` is not read as a kernel. Check its spelling, or define \
             it above the kernel",
            kernel.name
        ),
    })
}

fn is_vector(base: &str) -> bool {
    let element = base.trim_end_matches(|c: char| c.is_ascii_digit());
    element.len() < base.len()
        && matches!(
            element,
            "char"
                | "uchar"
                | "short"
                | "ushort"
                | "int"
                | "uint"
                | "long"
                | "ulong"
                | "longlong"
                | "ulonglong"
                | "float"
                | "double"
                | "dim"
        )
}

/// The header that a type comes from.
fn header_of(element: &str) -> Option<&'static str> {
    let base = element.rsplit("::").next().unwrap_or(element);
    Some(match base {
        "__half" | "half" | "__half2" | "half2" => "<cuda_fp16.h>",
        "__nv_bfloat16" | "nv_bfloat16" | "__nv_bfloat162" => "<cuda_bf16.h>",
        "__nv_fp8_e4m3" | "__nv_fp8_e5m2" => "<cuda_fp8.h>",
        "__nv_fp4_e2m1" => "<cuda_fp4.h>",
        "cuComplex" | "cuFloatComplex" | "cuDoubleComplex" => "<cuComplex.h>",
        "int8_t" | "int16_t" | "int32_t" | "int64_t" | "uint8_t" | "uint16_t" | "uint32_t" | "uint64_t"
        | "uintptr_t" => "<cstdint>",
        "CUtensorMap" => "\"lab.cuh\"",
        _ => return None,
    })
}

/// Quoted parts of a message: `"a" has no member "b"` gives a and b.
fn quoted(message: &str) -> Vec<&str> {
    message.split('"').skip(1).step_by(2).collect()
}

/// Better words for a message, by what it says and the line that it is about.
fn words(said: &str, line: &str, text: &str, number: u32) -> Option<String> {
    let parts = quoted(said);
    let first = parts.first().copied().unwrap_or_default();
    let second = parts.get(1).copied().unwrap_or_default();
    if said.contains("open source file") {
        return Some(missing_header(first));
    }
    if said.starts_with("device-side kernel launch") {
        return Some(
            "`<<<…>>>` launches a kernel from the host, and this is inside of one. Lockstep launches the kernel itself; to \
             call another function from it, mark that `__device__` and write `name(arguments)`"
                .to_owned(),
        );
    }
    if said.starts_with("identifier \"") {
        return scopes::ended(text, first, number).or_else(|| undefined(first, line, text));
    }
    if said.starts_with("namespace \"std\" has no member") {
        return Some(of_std(second));
    }
    if said.ends_with("has already been declared in the current scope") {
        let is_parameter =
            kernels(text).iter().any(|kernel| kernel.params.iter().any(|parameter| parameter.name == first));
        return Some(if is_parameter {
            format!(
                "`{first}` is a parameter already, and a variable of the same name hides it. Give the variable another name"
            )
        } else {
            format!("`{first}` is declared a second time. Leave the type away to assign to it, or choose another name")
        });
    }
    if said.starts_with("name followed by \"::\"") {
        return line.contains("cooperative_groups").then(|| {
            "cooperative groups come with a header. Put `#include <cooperative_groups.h>` at the top".to_owned()
        });
    }
    if said == "expected a \";\"" {
        return Some(format!(
            "a semicolon is missing: either here, or at the end of the line before ({}), which is where it is usually forgotten",
            number.saturating_sub(1)
        ));
    }
    if said == "expected a \"}\"" {
        return Some(
            "a `{` is never closed. Count the braces of the kernel and its loops: there is one `}` too few".to_owned(),
        );
    }
    if said == "expected a declaration" {
        return Some(
            "nothing is open any more here: there is one `}` too many above, or a statement outside of the kernel"
                .to_owned(),
        );
    }
    if said == "expected a statement" && line.contains("else") {
        return Some("an `else` needs an `if` right before it. Two statements after an `if` need braces: `if (…) { …; …; } else …`".to_owned());
    }
    if said == "expected a \"(\"" {
        return Some(
            "a condition stands in parentheses in C++: `if (n > 1)`, `while (n > 1)`, `for (int i = 0; i < n; i++)`"
                .to_owned(),
        );
    }
    if said == "expected a \")\"" {
        return Some("a `(` is never closed on this line".to_owned());
    }
    if said == "expected a \"{\"" {
        return Some("the body of a function stands in braces, also when it is one statement".to_owned());
    }
    if said == "expected an expression" {
        return Some("something is missing or too much here: an operator without its second operand, a comma where `;` belongs, or a `)` too many".to_owned());
    }
    if said.contains("has no member") {
        return Some(no_member(first, second));
    }
    if said.starts_with("no operator \"[]\"") {
        let what = if line.contains("threadIdx") || line.contains("blockIdx") {
            "`threadIdx` and its kin have three parts: write `threadIdx.x`"
        } else {
            "what stands before the `[` is no array. The parts of a `float4` are `.x`, `.y`, `.z` and `.w`"
        };
        return Some(what.to_owned());
    }
    if said.starts_with("expression must have pointer-to-object type") {
        return Some(
            "what stands before the `[` is one number, not an array. A matrix in a plain array is indexed once: \
             `a[row * columns + column]`"
                .to_owned(),
        );
    }
    if said.starts_with("expression must have class type but it has type") {
        return Some("what stands before the dot is a pointer. Name the element first: `a[i].x`".to_owned());
    }
    if said.starts_with("argument of type") && second == "const char *" {
        return Some(
            "the first argument of `printf` is a text with the places of the others: `printf(\"%d %f\\n\", i, x)`"
                .to_owned(),
        );
    }
    if said.starts_with("a __global__ function must have a void return type") {
        return Some(
            "a kernel returns nothing: write `__global__ void`, and store the result in an array that it is given"
                .to_owned(),
        );
    }
    if said.starts_with("return value type does not match") {
        return Some("a kernel returns nothing. Store the result in an array that it is given, and write `return;` alone to end a thread early".to_owned());
    }
    if said.starts_with("expression must be a modifiable lvalue") {
        return Some(
            "this cannot be written: it is `const`, or no variable at all. Inputs are `const`; write to the output"
                .to_owned(),
        );
    }
    if said.starts_with("expression must have a constant value") {
        let what = if line.contains("__shared__") { "shared array" } else { "array in a kernel" };
        let more = if line.contains("__shared__") {
            ", or `extern __shared__ float tile[];` with a size that the launch gives"
        } else {
            ""
        };
        return Some(format!(
            "the length of an {what} must be known when it is compiled, and a parameter is not: use a number or a `constexpr int`{more}"
        )
        .replace("an shared", "a shared"));
    }
    if said.starts_with("initializer not allowed for __shared__") {
        return Some("shared memory cannot have a first value where it is declared. Let the threads write it, then `__syncthreads()`".to_owned());
    }
    if said.starts_with("expression must have integral") {
        return Some(if line.contains('%') {
            "`%` and the bit operators are for whole numbers. For floats there is `fmodf(x, y)`".to_owned()
        } else {
            "this operator is for whole numbers: `<<`, `>>`, `&`, `|`, `^`, `~` and `%` take no floats or pointers"
                .to_owned()
        });
    }
    if said.starts_with("too few arguments") || said.starts_with("too many arguments") {
        let what = if said.contains("few") { "fewer" } else { "more" };
        return Some(format!(
            "this call passes {what} arguments than the function has parameters: compare it with the function's first line"
        ));
    }
    if said.starts_with("no instance of overloaded function \"atomic") {
        return Some(format!(
            "`{first}` takes the address of one element and a value of the same type: `{first}(&total[0], x)`. It exists for \
             int, unsigned, unsigned long long, float and double, and partly for half types"
        ));
    }
    if said.starts_with("a value of type")
        && (said.contains("cannot be used to initialize") || said.contains("cannot be assigned"))
    {
        let element = |text: &str| text.ends_with('*');
        return Some(match (element(first), element(second)) {
            (true, false) => format!("`{first}` is an array's address and `{second}` is one number: index it, `a[i]`"),
            (false, true) => format!(
                "`{second}` holds an address and `{first}` is a number: take the address of an element, `&a[i]` or `a + i`"
            ),
            _ => format!(
                "`{first}` and `{second}` are different types: an array keeps the type that the kernel was given, and its elements are converted one by one, `int(a[i])`"
            ),
        });
    }
    if said.starts_with("function \"") && said.contains("has already been defined") {
        return Some(format!("`{first}` is defined twice. Remove one, or rename it"));
    }
    if said.starts_with("texture is not a template") {
        return Some("texture references were removed in CUDA 12. Read the array itself: `a[i]` through a `const float*` uses the same caches".to_owned());
    }
    if said.starts_with("attribute \"__shared__\" does not apply here") {
        return Some("`__shared__` belongs before an array inside of the kernel, not before a parameter".to_owned());
    }
    if said.starts_with("explicitly marked as a __host__") || said.contains("explicitly marked as a __host__ function")
    {
        return Some(
            "`__host__` is for the host's part of a program. Mark a function that kernels call `__device__`".to_owned(),
        );
    }
    None
}

fn missing_header(name: &str) -> String {
    if let Some((_, why)) = standins::ABSENT.iter().find(|(absent, _)| *absent == name) {
        return format!("`{name}` cannot be included: {why}");
    }
    if name.starts_with("thrust/") || name.starts_with("cub/device") {
        return format!(
            "`{name}` is for the host's part of a program, which starts kernels of its own; only your kernel runs here"
        );
    }
    format!(
        "there is no header `{name}` here: a kernel may include the course's headers (`lab.cuh`, `mma.cuh`, `tma.cuh`, \
         `hopper.cuh`, `product.cuh`), CUDA's own (such as `cuda_fp16.h`) and the common C ones (`cstdint`, `cmath`). Copy what \
         you need of `{name}` into the file"
    )
}

fn undefined(name: &str, line: &str, text: &str) -> Option<String> {
    if let Some(new) = name.strip_prefix("__shfl").filter(|rest| !rest.ends_with("_sync")) {
        return Some(format!(
            "`{name}` was removed with Volta, where lanes of a warp run on their own. Write `__shfl{new}_sync(0xffffffff, …)`: \
             the first argument names the lanes that take part"
        ));
    }
    if let "__ballot" | "__any" | "__all" = name {
        return Some(format!(
            "`{name}` was removed with Volta. Write `{name}_sync(0xffffffff, …)`: the first argument names the lanes that take part"
        ));
    }
    if name.starts_with("cublas")
        || name.starts_with("cudnn")
        || name.starts_with("cusparse")
        || name.starts_with("cufft")
    {
        return Some(format!(
            "`{name}` is a library's function, which a program calls on the host. In a kernel there are no libraries: write the loop yourself"
        ));
    }
    if name.strip_prefix("cuda").is_some_and(|rest| rest.starts_with(char::is_uppercase)) {
        return Some(format!(
            "`{name}` is a function of the host's part of a program. Lockstep allocates, copies, launches and waits itself: leave it out"
        ));
    }
    let close: &[(&str, &str)] = &[
        ("threadidx", "threadIdx"),
        ("threadId", "threadIdx"),
        ("ThreadIdx", "threadIdx"),
        ("blockidx", "blockIdx"),
        ("blockId", "blockIdx"),
        ("blockdim", "blockDim"),
        ("griddim", "gridDim"),
        ("__syncthread", "__syncthreads"),
        ("syncthreads", "__syncthreads"),
        ("_syncthreads", "__syncthreads"),
        ("__sync_threads", "__syncthreads"),
        ("syncwarp", "__syncwarp"),
        ("atomicadd", "atomicAdd"),
        ("True", "true"),
        ("False", "false"),
        ("None", "nullptr"),
    ];
    if let Some((_, right)) = close.iter().find(|(wrong, _)| *wrong == name) {
        return Some(format!("`{name}` is written `{right}`"));
    }
    if matches!(name, "WARP_SIZE" | "FULL_MASK" | "ceil_div" | "round_up") {
        return Some(format!("`{name}` is the course's. Put `#include \"lab.cuh\"` at the top"));
    }
    if let Some(header) = header_of(name) {
        return Some(format!("`{name}` comes with a header. Put `#include {header}` at the top"));
    }
    if name.starts_with("__half")
        || name.starts_with("__float2half")
        || name.starts_with("__hadd")
        || name.starts_with("__hmul")
    {
        return Some(format!("`{name}` comes with a header. Put `#include <cuda_fp16.h>` at the top"));
    }
    if matches!(name, "i" | "idx" | "tid" | "index" | "row" | "col" | "column" | "x" | "y") && line.contains(name) {
        return Some(format!(
            "`{name}` is used before anything says what it is. Declare it: `int {name} = blockIdx.x * blockDim.x + threadIdx.x;`"
        ));
    }
    // The same letters in another case.
    let all = declared::without_directives(text);
    let other = all.iter().find(|token| token.text != name && token.text.eq_ignore_ascii_case(name));
    Some(match other {
        Some(other) => format!("`{name}` is not known here, but `{}` is: C++ tells capitals apart", other.text),
        None => format!(
            "`{name}` is not known here: check its spelling, and that it is declared above, in this block or an outer one"
        ),
    })
}

fn of_std(name: &str) -> String {
    match name {
        "cout" | "cerr" | "endl" | "printf" => {
            format!("`std::{name}` is for the host. A kernel prints with `printf(\"%d\\n\", i)`")
        }
        "vector" | "string" | "map" | "unordered_map" | "set" | "list" | "array" => {
            format!(
                "`std::{name}` is for the host. A kernel works on plain arrays: pointers that it is given, `__shared__ float tile[256]`, or `float own[4]`"
            )
        }
        _ => format!(
            "`std::{name}` is not there in a kernel. Most functions are without `std::`; for the rest see CUDA's own `cuda::std` (`#include <cuda/std/…>`)"
        ),
    }
}

fn no_member(class: &str, member: &str) -> String {
    let lanes: &[&str] = &["x", "y", "z", "w"];
    let count = class.chars().last().and_then(|c| c.to_digit(10)).unwrap_or(0) as usize;
    if class == "uint3" || class == "dim3" {
        return format!(
            "`threadIdx`, `blockIdx`, `blockDim` and `gridDim` have the parts `.x`, `.y` and `.z`, and no `.{member}`"
        );
    }
    if (1..=4).contains(&count) && is_vector(class) {
        let known: Vec<String> = lanes[..count].iter().map(|lane| format!("`.{lane}`")).collect();
        return format!("a `{class}` has the parts {}, and no `.{member}`", known.join(", "));
    }
    format!("`{class}` has no `{member}`: check its spelling where `{class}` is declared")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(message: &str, line: &str) -> String {
        let context = Context { source_name: "kernel.cu", source_text: line, ptx: "" };
        let found = Diagnostic {
            severity: Severity::Error,
            file: "kernel.cu".into(),
            line: 1,
            column: 1,
            message: message.into(),
        };
        explain(vec![found], &context)[0].message.clone()
    }

    /// As NVRTC 13.5 says them.
    #[test]
    fn the_commonest_messages_say_what_to_do() {
        for (message, line, words) in [
            ("cannot open source file \"helper.h\"", "", "Copy what you need"),
            ("cannot open source file \"curand_kernel.h\"", "", "generator of your own"),
            (
                "device-side kernel launch could not be processed as the required runtime APIs are not declared",
                "s<<<1, 1>>>();",
                "mark that `__device__`",
            ),
            ("identifier \"__shfl_down\" is undefined", "", "`__shfl_down_sync(0xffffffff, …)`"),
            ("identifier \"__ballot\" is undefined", "", "`__ballot_sync("),
            ("identifier \"cublasSgemm\" is undefined", "", "write the loop yourself"),
            ("identifier \"cudaMalloc\" is undefined", "", "leave it out"),
            ("identifier \"threadidx\" is undefined", "", "`threadIdx`"),
            ("identifier \"__syncthread\" is undefined", "", "`__syncthreads`"),
            ("identifier \"WARP_SIZE\" is undefined", "", "lab.cuh"),
            ("identifier \"i\" is undefined", "a[i] = 1;", "`int i = blockIdx.x"),
            ("identifier \"Count\" is undefined", "__global__ void k(int count) { Count = 1; }", "`count`"),
            ("namespace \"std\" has no member \"cout\"", "", "printf"),
            ("namespace \"std\" has no member \"vector\"", "", "plain arrays"),
            (
                "\"s\" has already been declared in the current scope",
                "__global__ void k(float* s) { float s; }",
                "is a parameter",
            ),
            ("\"i\" has already been declared in the current scope", "int i; int i;", "second time"),
            (
                "name followed by \"::\" must be a class or namespace name",
                "cooperative_groups::this_grid()",
                "<cooperative_groups.h>",
            ),
            ("expected a \";\"", "", "semicolon"),
            ("expected a \"}\"", "", "never closed"),
            ("expected a declaration", "", "one `}` too many"),
            ("expected a statement", "else s = 1;", "needs an `if`"),
            ("expected a \"(\"", "if n > 1", "parentheses"),
            ("class \"float4\" has no member \"r\"", "", "`.x`, `.y`, `.z`, `.w`"),
            ("class \"uint3\" has no member \"w\"", "", "`threadIdx`"),
            ("no operator \"[]\" matches these operands", "s[threadIdx]", "threadIdx.x"),
            ("expression must have pointer-to-object type but it has type \"float\"", "", "a[row * columns + column]"),
            ("expression must have class type but it has type \"float4 *\"", "", "a[i].x"),
            ("argument of type \"float\" is incompatible with parameter of type \"const char *\"", "", "printf(\""),
            ("a __global__ function must have a void return type", "", "__global__ void"),
            ("return value type does not match the function type", "", "returns nothing"),
            ("expression must be a modifiable lvalue", "", "`const`"),
            ("expression must have a constant value", "__shared__ float a[n];", "extern __shared__"),
            ("initializer not allowed for __shared__ variable ", "", "__syncthreads()"),
            ("expression must have integral or unscoped enum type", "s % 2", "fmodf"),
            ("too few arguments in function call", "", "fewer"),
            ("no instance of overloaded function \"atomicAdd\" matches the argument list", "", "atomicAdd(&"),
            ("a value of type \"float *\" cannot be used to initialize an entity of type \"int\"", "", "index it"),
            ("function \"k\" has already been defined (previous definition at line 1)", "", "defined twice"),
            ("texture is not a template", "", "CUDA 12"),
            ("attribute \"__shared__\" does not apply here", "", "inside of the kernel"),
        ] {
            let found = explained(message, line);
            assert!(found.contains(words) && found.contains("the compiler says"), "{message}: {found}");
        }
        assert_eq!(explained("something new", ""), "something new");
    }

    #[test]
    fn of_a_librarys_call_its_name_is_told() {
        let context = Context { source_name: "kernel.cu", source_text: "cublasSgemm(handle);\nx = y;\n", ptx: "" };
        let error = |line: u32, name: &str| Diagnostic {
            severity: Severity::Error,
            file: "kernel.cu".into(),
            line,
            column: 1,
            message: format!("identifier \"{name}\" is undefined"),
        };
        let found = explain(vec![error(1, "handle"), error(1, "cublasSgemm"), error(2, "y")], &context);
        let lines: Vec<u32> = found.iter().map(|found| found.line).collect();
        assert!(lines == [1, 2] && found[0].message.contains("library"), "{found:?}");
    }

    #[test]
    fn an_unknown_type_of_a_parameter_is_named_once() {
        let text = "extern \"C\" __global__ void k(__half* a, int n) {}\n";
        let context = Context { source_name: "kernel.cu", source_text: text, ptx: "" };
        let error = |message: &str| Diagnostic {
            severity: Severity::Error,
            file: "kernel.cu".into(),
            line: 1,
            column: 1,
            message: message.into(),
        };
        let found =
            explain(vec![error(NO_KERNEL), error(ECHOES[0]), error(ECHOES[1]), error("expected a \"}\"")], &context);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].message.contains("`__half` of `a`") && found[0].message.contains("<cuda_fp16.h>"),
            "{found:?}"
        );
    }
}
