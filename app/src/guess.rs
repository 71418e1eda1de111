//! A spec for a kernel that came without one, guessed from its parameters: pointers are arrays, whole numbers say how long they
//! are. Every guess is written out, so that it can be corrected.

use gpu_core::compile::declared::{Kernel, Parameter};
use gpu_core::spec::{Dtype, Size, Spec, launch_directives};
use std::fmt::Write;
use std::path::Path;

/// Sizes that are no multiple of a block, for one, two and three size variables.
const ONE: [i64; 1] = [1000];
const TWO: [i64; 2] = [37, 70];
const THREE: [i64; 3] = [37, 41, 70];

/// A guessed spec, and its text.
pub struct Guessed {
    pub spec: Spec,
    pub text: String,
    /// What was guessed, a line each.
    guesses: Vec<String>,
}

impl Guessed {
    /// The sizes that it runs at, by variable.
    pub fn size(&self) -> Size {
        self.spec.check.first().cloned().unwrap_or_default()
    }

    pub fn guesses(&self) -> &[String] {
        &self.guesses
    }

    /// What to tell before the run.
    pub fn words(&self, file: &Path) -> String {
        let mut text = "No --spec, so this is guessed from the kernel's parameters:\n".to_owned();
        for guess in &self.guesses {
            text += &format!("  {guess}\n");
        }
        let stem = file.file_stem().map_or_else(|| "kernel".into(), |stem| stem.to_string_lossy());
        text + &format!(
            "Other sizes: --size. To correct the rest: `lockstep run {} --write-spec {stem}.toml`, edit that file, and run \
             with --spec {stem}.toml\n\n",
            file.display()
        )
    }
}

/// A type of the learner's, as an exercise file calls it.
fn dtype(element: &str) -> Option<&'static str> {
    Dtype::of_cpp(element).map(Dtype::name)
}

/// Vectors as their elements, and how many of them.
fn vector(element: &str) -> Option<(&'static str, u32)> {
    let digit = element.chars().last()?.to_digit(10).filter(|lanes| (1..=4).contains(lanes))?;
    let base = match &element[..element.len() - 1] {
        "float" => "f32",
        "double" => "f64",
        "int" => "i32",
        "uint" => "u32",
        "short" => "i16",
        "ushort" => "u16",
        "char" => "i8",
        "uchar" => "u8",
        _ => return None,
    };
    Some((base, digit))
}

fn is_whole(dtype: &str) -> bool {
    matches!(dtype, "i32" | "u32" | "i64" | "u64" | "i16" | "u16" | "i8" | "u8")
}

/// Whether a whole number says how many elements there are, as its name has it.
fn is_extent(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    const WHOLE: [&str; 13] =
        ["n", "m", "k", "h", "w", "rows", "cols", "columns", "width", "height", "inner", "depth", "batch"];
    const PARTS: [&str; 7] = ["size", "len", "count", "num", "elements", "total", "dim"];
    WHOLE.contains(&name.as_str()) || PARTS.iter().any(|part| name.contains(part)) || name.starts_with("n_")
}

/// Guesses. `given` are sizes from the command line; they take the place of the usual ones.
///
/// # Errors
/// One sentence for a parameter that has no counterpart in a spec.
pub fn guess(kernel: &Kernel, source: &str, entry: Option<&str>, given: &Size) -> Result<Guessed, String> {
    let entry = entry.filter(|entry| entry.contains('<')).unwrap_or(&kernel.name);
    if !kernel.template.is_empty() && !entry.contains('<') {
        return Err(format!(
            "`{}` is a template with the parameters {}: choose them with --entry, as in --entry '{}<…>'",
            kernel.name,
            kernel.template.join(", "),
            kernel.name
        ));
    }
    if !kernel.is_void {
        return Err(format!(
            "line {}: a `__global__` function returns nothing: write `__global__ void {}(…)`, and store the result in an array that it \
             is given",
            kernel.line, kernel.name
        ));
    }
    if kernel.params.iter().all(|parameter| parameter.is_const || !parameter.is_pointer) && !kernel.params.is_empty() {
        return Err(format!(
            "line {}: `{}` can store nothing: it is given no array, or only `const` ones. Give it one to write to, such as `float* y`",
            kernel.line, kernel.name
        ));
    }
    let types = template_types(kernel, entry);
    let element = |parameter: &Parameter| {
        types
            .iter()
            .find(|(name, _)| *name == parameter.element)
            .map_or(parameter.element.clone(), |(_, is)| is.clone())
    };
    let name = |index: usize, parameter: &Parameter| match parameter.name.as_str() {
        "" => format!("p{index}"),
        name => name.to_owned(),
    };
    let scalars: Vec<(usize, &Parameter)> =
        kernel.params.iter().enumerate().filter(|(_, parameter)| !parameter.is_pointer).collect();
    let whole: Vec<String> = scalars
        .iter()
        .filter(|(_, parameter)| dtype(&element(parameter)).is_some_and(is_whole))
        .map(|(index, parameter)| name(*index, parameter))
        .collect();
    let mut extents: Vec<String> = whole.iter().filter(|name| is_extent(name)).cloned().collect();
    if extents.is_empty() {
        extents.extend(whole.first().cloned());
    }
    // Without any, the launch decides, and arrays are as long as it has threads.
    let variables = if extents.is_empty() { vec!["n".to_owned()] } else { extents.clone() };
    let usual: &[i64] = match variables.len() {
        1 => &ONE,
        2 => &TWO,
        _ => &THREE,
    };
    let mut guesses = Vec::new();
    let mut text = format!("title = \"{}\"\nentry = \"{entry}\"\n", kernel.name);
    let pointers = kernel.params.iter().filter(|parameter| parameter.is_pointer).count();
    let mut arrays = 0;
    for (index, parameter) in kernel.params.iter().enumerate() {
        let (name, element) = (name(index, parameter), element(parameter));
        let line = parameter.line;
        if parameter.is_pointer {
            let (dtype, lanes) = match (dtype(&element), vector(&element)) {
                (Some(dtype), _) => (dtype, 1),
                (None, Some(vector)) => vector,
                (None, None) => {
                    return Err(format!(
                        "line {line}: `{name}` points to `{element}`, and what that is cannot be guessed: describe the kernel with --spec"
                    ));
                }
            };
            let mut shape = shape(&variables, arrays, pointers);
            if lanes > 1 {
                shape.push(lanes.to_string());
            }
            let role = if parameter.is_const {
                "in"
            } else if writes_only(source, &name) {
                "out"
            } else {
                "inout"
            };
            let what = match role {
                "in" => "is read (const)",
                "out" => "is written",
                _ => "is read and written",
            };
            guesses.push(format!("`{name}` has {} elements of {dtype} and {what}", shape.join(" x ")));
            let shape: Vec<String> = shape.iter().map(|extent| format!("\"{extent}\"")).collect();
            let _ = write!(
                text,
                "\n[[param]]\nname = \"{name}\"\ndtype = \"{dtype}\"\nshape = [{}]\nrole = \"{role}\"\n",
                shape.join(", ")
            );
            arrays += 1;
            continue;
        }
        let Some(dtype) = dtype(&element) else {
            return Err(format!(
                "line {line}: `{name}` is a `{element}`, and what that holds cannot be guessed: describe the kernel with --spec"
            ));
        };
        let value = if extents.contains(&name) {
            name.clone()
        } else if dtype == "bool" {
            "1".to_owned()
        } else if is_whole(dtype) {
            guesses.push(format!("`{name}` is {}", variables[variables.len() - 1]));
            variables[variables.len() - 1].clone()
        } else {
            let value = if name.to_ascii_lowercase().contains("eps") { "1e-5" } else { "1.5" };
            guesses.push(format!("`{name}` is {value}"));
            value.to_owned()
        };
        let _ = write!(text, "\n[[param]]\nname = \"{name}\"\ndtype = \"{dtype}\"\nvalue = \"{value}\"\n");
    }
    if kernel.params.is_empty() {
        return Err(format!(
            "`{}` takes no parameters, so nothing can be passed to it or come back: give it an array to write to",
            kernel.name
        ));
    }
    let uses =
        |axis: &str| ["threadIdx", "blockIdx"].iter().any(|variable| source.contains(&format!("{variable}.{axis}")));
    let last = &variables[variables.len() - 1];
    let (grid, block) = match (uses("y") && variables.len() > 1, &variables[..]) {
        (true, [first, ..]) => {
            (format!("\"ceil_div({last}, block_x)\", \"ceil_div({first}, block_y)\""), "16, 16".to_owned())
        }
        (_, all) => (format!("\"ceil_div({}, block_x)\"", all.join(" * ")), "256".to_owned()),
    };
    // What a comment of the kernel says of its launch comes instead.
    let said = launch_directives(source, &[]).unwrap_or_default();
    let line_of = |key: &str| said.iter().find(|directive| directive.key == key).map(|directive| directive.line);
    let of_block = match line_of("block") {
        Some(line) => format!("the block is that of line {line} (`// lockstep: block = …`)"),
        None => format!("the block has {} threads", block.replace(", ", " x ")),
    };
    let of_grid = match line_of("grid") {
        Some(line) => format!("the grid that of line {line}"),
        None => format!("the grid has as many blocks as cover {}", variables.join(" x ")),
    };
    guesses.push(format!("{of_block}, and {of_grid}"));
    let _ = write!(text, "\n[launch]\ngrid = [{grid}]\nblock = [{block}]\nlearner_may_change = true\n");
    let mut size: Vec<String> = Vec::new();
    let mut shown: Vec<String> = Vec::new();
    for (index, variable) in variables.iter().enumerate() {
        let value = given.get(variable).copied().unwrap_or(usual[index.min(usual.len() - 1)]);
        size.push(format!("{variable} = {value}"));
        shown.push(format!("{variable} = {value}"));
    }
    guesses.insert(0, format!("the size is {}", shown.join(", ")));
    let _ = write!(text, "\n[sizes]\ncheck = [{{ {} }}]\n", size.join(", "));
    let spec = Spec::parse(&text, "the guessed spec").map_err(|error| error.to_string())?;
    Ok(Guessed { spec, text, guesses })
}

/// What the template's parameters are in `scale<float, 4>`.
fn template_types(kernel: &Kernel, entry: &str) -> Vec<(String, String)> {
    let arguments = entry.split_once('<').map_or("", |(_, rest)| rest.trim_end_matches('>'));
    let parameters = kernel.template.iter().filter_map(|parameter| {
        let mut words = parameter.split(['=']).next().unwrap_or_default().split_whitespace();
        let kind = words.next()?;
        Some((matches!(kind, "typename" | "class"), words.next()?.to_owned()))
    });
    let pairs = parameters.zip(arguments.split(',').map(|argument| argument.trim().to_owned()));
    pairs.filter(|((is_type, _), _)| *is_type).map(|((_, name), argument)| (name, argument)).collect()
}

/// The shape of the array number `index` of `all`. Three extents and three arrays are a matrix product's, in the order m, n, k
/// or as the names say; else each array has all of them.
fn shape(variables: &[String], index: usize, all: usize) -> Vec<String> {
    let find =
        |names: &[&str]| variables.iter().find(|name| names.contains(&name.to_ascii_lowercase().as_str())).cloned();
    if variables.len() == 3 && all == 3 {
        let rows = find(&["m", "rows", "height"]);
        let columns = find(&["n", "cols", "columns", "width"]);
        let inner = find(&["k", "inner", "depth"]);
        if let (Some(rows), Some(columns), Some(inner)) = (rows, columns, inner) {
            return match index {
                0 => vec![rows, inner],
                1 => vec![inner, columns],
                _ => vec![rows, columns],
            };
        }
    }
    variables.to_vec()
}

/// Whether the text only ever assigns to elements of `name`: `name[…] = …` and nothing else.
fn writes_only(source: &str, name: &str) -> bool {
    let mut seen = false;
    for (at, _) in source.match_indices(name) {
        let part = |c: Option<char>| c.is_some_and(|c| c == '_' || c.is_ascii_alphanumeric());
        let rest = &source[at + name.len()..];
        if part(source[..at].chars().next_back()) || part(rest.chars().next()) {
            continue;
        }
        let Some(inside) = rest.trim_start().strip_prefix('[') else {
            // Its declaration, or a pointer that goes elsewhere.
            if rest.trim_start().starts_with([',', ')']) && source[..at].trim_end().ends_with(['*', '_']) {
                continue;
            }
            return false;
        };
        let mut depth = 1;
        let close = inside.char_indices().find(|(_, c)| {
            match c {
                '[' => depth += 1,
                ']' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let Some((close, _)) = close else { return false };
        let after = inside[close + 1..].trim_start();
        if !after.starts_with('=') || after.starts_with("==") {
            return false;
        }
        seen = true;
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpu_core::compile::declared::kernels;

    fn guessed(source: &str, entry: Option<&str>) -> Result<Guessed, String> {
        guess(&kernels(source)[0], source, entry, &Size::new())
    }

    #[test]
    fn one_length_makes_vectors() {
        let source = "extern \"C\" __global__ void add(const float* a, const float* b, float* c, int n)\n\
                      { int i = threadIdx.x; if (i < n) c[i] = a[i] + b[i]; }";
        let found = guessed(source, None).unwrap();
        assert_eq!(found.spec.entry(), "add");
        assert!(
            found.text.contains("name = \"c\"\ndtype = \"f32\"\nshape = [\"n\"]\nrole = \"out\""),
            "{}",
            found.text
        );
        assert!(found.text.contains("check = [{ n = 1000 }]"), "{}", found.text);
    }

    #[test]
    fn a_product_has_its_shapes_and_a_plane_its_grid() {
        let source = "__global__ void mm(const float* a, const float* b, float* c, int m, int n, int k)\n\
                      { int y = threadIdx.y; c[y] += a[y] * b[y]; }";
        let found = guessed(source, None).unwrap();
        assert!(found.text.contains("shape = [\"k\", \"n\"]"), "{}", found.text);
        assert!(found.text.contains("role = \"inout\"") && found.text.contains("block = [16, 16]"), "{}", found.text);
    }

    #[test]
    fn what_cannot_store_and_what_returns_are_told_so() {
        let Err(why) = guessed("__global__ int square(const int* x, int n) { return x[0]; }", None) else { panic!() };
        assert!(why.contains("line 1") && why.contains("returns nothing"), "{why}");
        let Err(why) = guessed("__global__ void square(const int* x, int n) { }", None) else { panic!() };
        assert!(why.contains("can store nothing"), "{why}");
        let found = guessed("// lockstep: block = 64\n__global__ void k(int* y, int n) { y[threadIdx.x] = n; }", None);
        let found = found.unwrap_or_else(|why| panic!("{why}"));
        assert!(found.guesses.iter().any(|guess| guess.contains("the block is that of line 1")), "{:?}", found.guesses);
    }

    #[test]
    fn templates_need_their_arguments_and_structs_a_spec() {
        let source = "template <typename T, int N> __global__ void scale(T* x, T s) { x[0] *= s; }";
        let Err(why) = guessed(source, None) else { panic!() };
        assert!(why.contains("typename T, int N") && why.contains("--entry"), "{why}");
        let found = guessed(source, Some("scale<double, 4>")).unwrap();
        assert!(found.text.contains("dtype = \"f64\"") && found.spec.entry() == "scale<double, 4>", "{}", found.text);
        let Err(why) = guessed("__global__ void k(float* x, Params p) {}", None) else { panic!() };
        assert!(why.contains("`Params`") && why.contains("--spec"), "{why}");
    }
}
