//! Does the compiled kernel take what the exercise passes? Read from the PTX, which states size and kind of every
//! parameter; a mismatch found here would be a crash or nonsense on a device.

use super::CompileReport;
use super::resources::demangle;
use crate::spec::{Dtype, Param, Role, Spec, Step, TENSOR_MAP_BYTES, struct_layout};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Integer,
    Float,
    /// Raw bits or an aggregate: nothing but the size is known.
    Bits,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Taken {
    bytes: u64,
    kind: Kind,
}

/// What a learner calls the spec of an exercise.
pub const EXERCISE: &str = "exercise";

/// Checks the learner's kernel of every step. The error says what is expected, with the declaration to write, and which
/// step it is about where there are several. `what` is what the spec is called: [`EXERCISE`], or `spec` where someone wrote it
/// for a kernel of his own.
pub fn check(compiled: &CompileReport, spec: &Spec, what: &str) -> Result<(), String> {
    for step in spec.steps.iter().filter(|step| step.given.is_none()) {
        let found = check_step(&compiled.ptx, spec, step, what);
        let found = found.and_then(|()| members_differ(compiled, spec, step, what).map_or(Ok(()), Err));
        found.map_err(|message| match spec.has_steps() {
            true => format!("step \"{}\": {message}", step.name),
            false => message,
        })?;
    }
    Ok(())
}

/// The same for the course's kernels that are compiled already: an error there is the exercise's own.
pub fn check_given(compiled: &CompileReport, spec: &Spec) -> Result<(), String> {
    for step in &spec.steps {
        if let (Some(given), Some(report)) = (&step.given, compiled.of_step(step)) {
            check_step(&report.ptx, spec, step, EXERCISE)
                .map_err(|message| format!("the exercise's own kernel `{}` does not fit: {message}", given.file))?;
        }
    }
    Ok(())
}

/// The spec with the names that `ptx` has for the learner's kernels.
pub fn named(spec: &Spec, ptx: &str) -> Spec {
    let mut spec = spec.clone();
    for step in spec.steps.iter_mut().filter(|step| step.given.is_none()) {
        if let Some(name) = entry_called(ptx, &step.entry) {
            step.entry = name;
        }
    }
    spec
}

fn check_step(ptx: &str, spec: &Spec, step: &Step, what: &str) -> Result<(), String> {
    let params: Vec<&Param> = spec.args_of(step).into_iter().filter_map(|index| spec.params.get(index)).collect();
    let wanted = declaration(&step.entry, &params);
    let entries = entries(ptx);
    let Some((_, taken)) = entries.iter().find(|(name, _)| *name == step.entry) else {
        let names: Vec<String> = entries.iter().map(|(name, _)| demangle(name)).collect();
        let mangled = names.iter().any(|name| name.split(['(', '<']).next() == Some(&step.entry));
        let found = match names.as_slice() {
            [] => "it defines no kernel".to_owned(),
            _ if mangled => format!("`{}` is there, but without `extern \"C\"` its name is changed", step.entry),
            names => {
                format!("it defines {}", names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))
            }
        };
        return Err(format!("the source has no kernel named `{}`: {found}. Declare it as `{wanted}`", step.entry));
    };
    if taken.len() != params.len() {
        return Err(format!(
            "kernel `{}` takes {} parameter{}, the {what} passes {}. Declare it as `{wanted}`",
            step.entry,
            taken.len(),
            if taken.len() == 1 { "" } else { "s" },
            params.len()
        ));
    }
    for (index, (taken, param)) in taken.iter().zip(params).enumerate() {
        let passed = passed(param);
        let kinds_differ = taken.kind != Kind::Bits && passed.kind != Kind::Bits && taken.kind != passed.kind;
        if let (Param::Struct { name, fields }, true) = (param, taken.bytes != passed.bytes) {
            return Err(struct_differs(index + 1, name, *taken, fields, what));
        }
        if taken.bytes != passed.bytes || kinds_differ {
            return Err(format!(
                "parameter {} of kernel `{}` is {}; the {what} passes {}. Declare it as `{wanted}`",
                index + 1,
                step.entry,
                describe(*taken),
                c_param(param)
            ));
        }
    }
    Ok(())
}

/// The name in `ptx` of the kernel that C++ calls `name`: `scale`, `math::scale`, `scale<float, 4>`. None where there is none,
/// or several.
pub fn entry_called(ptx: &str, name: &str) -> Option<String> {
    let plain = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    let wanted = plain(name);
    let found: Vec<&str> = entries(ptx).into_iter().map(|(name, _)| name).collect();
    if let Some(exact) = found.iter().find(|entry| **entry == name) {
        return Some((*exact).to_owned());
    }
    let called = |entry: &&str| {
        let whole = demangle(entry);
        let head = before_parameters(&whole);
        // The name of an instance of a template comes with what it returns.
        let head = plain(head.strip_prefix("void ").unwrap_or(head));
        let base = if wanted.contains('<') { head.as_str() } else { head.split('<').next().unwrap_or_default() };
        base == wanted || base.strip_suffix(wanted.as_str()).is_some_and(|before| before.ends_with("::"))
    };
    let mut matching = found.iter().filter(|entry| called(entry));
    matching.next().filter(|_| matching.next().is_none()).map(|entry| (*entry).to_owned())
}

/// `void scale<Pair<int>>` of `void scale<Pair<int>>(float*)`.
fn before_parameters(whole: &str) -> &str {
    let mut depth = 0i32;
    for (at, c) in whole.char_indices() {
        match c {
            '<' => depth += 1,
            '>' => depth -= 1,
            '(' if depth == 0 && at > 0 && !whole[at..].starts_with("(anonymous") => return &whole[..at],
            _ => {}
        }
    }
    whole
}

/// Names and parameters of all entry functions.
fn entries(ptx: &str) -> Vec<(&str, Vec<Taken>)> {
    let mut found = Vec::new();
    for (at, word) in ptx.match_indices(".entry") {
        // A directive, not a part of a name or of a comment.
        let line_start = ptx[..at].rfind('\n').map_or(0, |newline| newline + 1);
        if !ptx[line_start..at].split_whitespace().all(|before| before.starts_with('.')) {
            continue;
        }
        let rest = ptx[at + word.len()..].trim_start();
        let name_end = rest.find(|c: char| c.is_whitespace() || matches!(c, '(' | '{' | ';')).unwrap_or(rest.len());
        let (name, rest) = rest.split_at(name_end);
        let list = rest.trim_start().strip_prefix('(').and_then(|list| list.split(')').next()).unwrap_or("");
        found.push((name, list.split(',').filter_map(parameter).collect()));
    }
    found
}

/// `.param .u64 .ptr .align 1 k_param_0` or `.param .align 4 .b8 k_param_1[12]`.
fn parameter(text: &str) -> Option<Taken> {
    let rest = text.trim().strip_prefix(".param")?;
    let (bytes, kind) = rest.split_whitespace().find_map(|word| {
        let word = word.strip_prefix('.')?;
        let kind = match word.chars().next()? {
            'u' | 's' => Kind::Integer,
            'f' => Kind::Float,
            'b' => Kind::Bits,
            _ => return None,
        };
        let bits: u64 = word[1..].parse().ok()?;
        Some((bits / 8, kind))
    })?;
    let count = match rest.split_once('[') {
        Some((_, count)) => count.split(']').next()?.trim().parse().ok()?,
        None => 1,
    };
    Some(Taken { bytes: bytes * count, kind: if count == 1 { kind } else { Kind::Bits } })
}

fn passed(param: &Param) -> Taken {
    match param {
        Param::Buffer { .. } => Taken { bytes: 8, kind: Kind::Integer },
        Param::Struct { fields, .. } => Taken { bytes: struct_layout(fields).0 as u64, kind: Kind::Bits },
        Param::TensorMap { .. } => Taken { bytes: TENSOR_MAP_BYTES as u64, kind: Kind::Bits },
        Param::Scalar { dtype, .. } => {
            let (bytes, kind) = match dtype {
                Dtype::F64 => (8, Kind::Float),
                Dtype::F32 => (4, Kind::Float),
                Dtype::I64 | Dtype::U64 => (8, Kind::Integer),
                Dtype::I32 | Dtype::U32 => (4, Kind::Integer),
                Dtype::I16 | Dtype::U16 => (2, Kind::Integer),
                Dtype::I8 | Dtype::U8 | Dtype::Bool => (1, Kind::Integer),
                Dtype::F16 | Dtype::Bf16 => (2, Kind::Bits),
                Dtype::E4m3 | Dtype::E5m2 => (1, Kind::Bits),
            };
            Taken { bytes, kind }
        }
    }
}

fn describe(taken: Taken) -> String {
    let kind = match taken.kind {
        Kind::Integer if taken.bytes == 8 => "a pointer or integer",
        Kind::Integer => "an integer",
        Kind::Float => "a floating-point number",
        Kind::Bits => "a value",
    };
    format!("{kind} of {} bytes", taken.bytes)
}

/// The declaration that fits, for example `extern "C" __global__ void add(const float* a, float* b, int n)`.
fn declaration(entry: &str, params: &[&Param]) -> String {
    let params: Vec<String> = params.iter().map(|param| c_param(param)).collect();
    format!("extern \"C\" __global__ void {entry}({})", params.join(", "))
}

pub(super) fn c_param(param: &Param) -> String {
    match param {
        Param::Buffer { name, dtype, role: Role::In, .. } => format!("const {}* {name}", c_type(*dtype)),
        Param::Buffer { name, dtype, .. } => format!("{}* {name}", c_type(*dtype)),
        Param::Scalar { name, dtype, .. } => format!("{} {name}", c_type(*dtype)),
        Param::Struct { name, fields } => {
            let members: Vec<&str> = fields.iter().map(|(dtype, _)| c_type(*dtype)).collect();
            format!("/* a struct of {} */ {} {name}", members.join(", "), struct_name(name))
        }
        Param::TensorMap { name, .. } => format!("const __grid_constant__ CUtensorMap {name}"),
    }
}

/// A type's name for a parameter: `Params` for `params`.
fn struct_name(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(|| "P".to_owned(), |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}

/// Where the members of a struct begin, in bytes.
fn offsets(fields: &[(Dtype, String)]) -> Vec<usize> {
    let mut end = 0_usize;
    let mut next = |bytes: usize| {
        let at = end.next_multiple_of(bytes);
        end = at + bytes;
        at
    };
    fields.iter().map(|(dtype, _)| next(dtype.bytes())).collect()
}

/// The members of a struct as the source has them, against those that are passed: sizes may agree and types differ.
fn members_differ(compiled: &CompileReport, spec: &Spec, step: &Step, what: &str) -> Option<String> {
    let params: Vec<&Param> = spec.args_of(step).into_iter().filter_map(|index| spec.params.get(index)).collect();
    let name = demangle(&step.entry);
    let kernel =
        compiled.declared.iter().find(|kernel| kernel.is_called(name.split(['(', '<']).next().unwrap_or(&name)))?;
    if kernel.params.len() != params.len() {
        return None;
    }
    kernel.params.iter().zip(params).enumerate().find_map(|(index, (own, param))| {
        let Param::Struct { name, fields } = param else { return None };
        let known = compiled.structs.iter().find(|known| known.name == own.element)?;
        let members: Option<Vec<Dtype>> = known.members.iter().map(|member| Dtype::of_cpp(&member.element)).collect();
        let members = members?;
        let alike = |one: Dtype, other: Dtype| one.bytes() == other.bytes() && one.is_float() == other.is_float();
        let same = members.len() == fields.len() && members.iter().zip(fields).all(|(own, (dtype, _))| alike(*own, *dtype));
        if same {
            return None;
        }
        let own: Vec<String> =
            known.members.iter().map(|member| format!("{} {}", member.element, member.name)).collect();
        let passed: Vec<&str> = fields.iter().map(|(dtype, _)| c_type(*dtype)).collect();
        Some(format!(
            "parameter {}, `{name}`, is a `{}` with the members {} in the kernel, and the {what} passes {}: give both the same members in \
             the same order",
            index + 1,
            known.name,
            own.join(", "),
            passed.join(", ")
        ))
    })
}

/// A structure by value of another size than the members that are passed: both layouts, and how to bring them together.
fn struct_differs(number: usize, name: &str, taken: Taken, fields: &[(Dtype, String)], what: &str) -> String {
    let (bytes, offsets) = (struct_layout(fields).0, offsets(fields));
    let members = |separator: &str, one: &dyn Fn(usize, Dtype) -> String| {
        let all = fields.iter().enumerate().map(|(index, (dtype, _))| one(index, *dtype));
        all.collect::<Vec<_>>().join(separator)
    };
    let placed = members(", ", &|index, dtype| format!("{} at {}", c_type(dtype), offsets[index]));
    let declared = members(" ", &|index, dtype| format!("{} m{index};", c_type(dtype)));
    let is =
        if taken.kind == Kind::Bits { format!("has {} bytes", taken.bytes) } else { format!("is {}", describe(taken)) };
    format!(
        "parameter {number}, `{name}`, {is} in the kernel, and the members in the {what} make {bytes} ({placed}). Declare these members \
         in this order in the kernel, as in `struct {} {{ {declared} }};`, or write the kernel's own members in the {what}'s `fields`",
        struct_name(name)
    )
}

pub(super) fn c_type(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::F64 => "double",
        Dtype::F32 => "float",
        Dtype::F16 => "__half",
        Dtype::Bf16 => "__nv_bfloat16",
        Dtype::E4m3 => "__nv_fp8_e4m3",
        Dtype::E5m2 => "__nv_fp8_e5m2",
        Dtype::I64 => "long long",
        Dtype::U64 => "unsigned long long",
        Dtype::I32 => "int",
        Dtype::U32 => "unsigned int",
        Dtype::I16 => "short",
        Dtype::U16 => "unsigned short",
        Dtype::I8 => "signed char",
        Dtype::U8 => "unsigned char",
        Dtype::Bool => "bool",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::tests_support::empty_spec;
    use crate::spec::Expr;

    fn spec() -> Spec {
        let buffer = |name: &str, role| Param::Buffer {
            name: name.into(),
            dtype: Dtype::F32,
            shape: vec![Expr("n".into())],
            role,
            fill: None,
            max_bytes: None,
        };
        let params = vec![
            buffer("a", Role::In),
            buffer("b", Role::Out),
            Param::Scalar { name: "n".into(), dtype: Dtype::I32, value: "n".into() },
        ];
        Spec { params, ..empty_spec("scale") }
    }

    fn check(ptx: &str, spec: &Spec) -> Result<(), String> {
        super::check(&CompileReport { ptx: ptx.to_owned(), ..CompileReport::default() }, spec, EXERCISE)
    }

    fn ptx(name: &str, params: &str) -> String {
        format!("//\n\t// .globl\t{name}\n\n.visible .entry {name}(\n{params}\n)\n{{\nret;\n}}\n")
    }

    #[test]
    fn both_dialects_of_nvrtc_are_read() {
        let old =
            ptx("scale", "\t.param .u64 scale_param_0,\n\t.param .u64 scale_param_1,\n\t.param .u32 scale_param_2");
        let new = ptx(
            "scale",
            "\t.param .u64 .ptr .align 1 scale_param_0,\n\t.param .b64 scale_param_1,\n\t.param .b32 scale_param_2",
        );
        assert_eq!(check(&old, &spec()), Ok(()));
        assert_eq!(check(&new, &spec()), Ok(()));
        let aggregate = parameter("\t.param .align 4 .b8 k_param_1[12]");
        assert_eq!(aggregate, Some(Taken { bytes: 12, kind: Kind::Bits }));
    }

    #[test]
    fn mangled_kernels_are_found_by_their_cpp_names() {
        let text = ["plain", "_Z5scalePKfPfi", "_ZN4math5twiceEPf", "_Z2tkIfLi2EEvPT_S0_", "_Z2tkIdLi2EEvPT_S0_"]
            .map(|name| ptx(name, ""))
            .concat();
        for (name, entry) in [
            ("plain", Some("plain")),
            ("scale", Some("_Z5scalePKfPfi")),
            ("math::twice", Some("_ZN4math5twiceEPf")),
            ("twice", Some("_ZN4math5twiceEPf")),
            ("tk<float, 2>", Some("_Z2tkIfLi2EEvPT_S0_")),
            ("tk<float,2>", Some("_Z2tkIfLi2EEvPT_S0_")),
            ("tk", None),
            ("wice", None),
        ] {
            assert_eq!(entry_called(&text, name).as_deref(), entry, "{name}");
        }
    }

    #[test]
    fn every_mismatch_names_the_declaration_to_write() {
        let cases = [
            (ptx("other", ""), "it defines `other`"),
            (ptx("_Z5scalePKfPfi", ""), "without `extern \"C\"`"),
            (String::new(), "it defines no kernel"),
            (ptx("scale", ".param .u64 p0"), "takes 1 parameter,"),
            (ptx("scale", ".param .u64 p0,\n.param .u64 p1,\n.param .f32 p2"), "a floating-point number of 4 bytes"),
            (ptx("scale", ".param .u64 p0,\n.param .u64 p1,\n.param .u64 p2"), "parameter 3"),
        ];
        for (text, part) in cases {
            let message = check(&text, &spec()).expect_err(part);
            assert!(message.contains(part), "{message}");
            let declaration = "extern \"C\" __global__ void scale(const float* a, float* b, int n)";
            assert!(message.contains(declaration), "{message}");
        }
    }
}
