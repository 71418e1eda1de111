//! The operation's Python, from the spec: size variables are read off the tensors' shapes, outputs and launches follow.

use gpu_core::spec::{Dtype, Expr, Param, Role, Spec};
use std::collections::BTreeSet;
use std::fmt::Write;

pub struct Tensor {
    pub name: String,
    dtype: Dtype,
    shape: Vec<Expr>,
    role: Role,
}

pub struct Op {
    pub name: String,
    /// What the operation is given, in order: inputs, and what it changes in place.
    pub inputs: Vec<Tensor>,
    /// What it returns.
    pub outputs: Vec<Tensor>,
    scratch: Vec<Tensor>,
    /// Scalars as the kernel takes them: name, type, expression.
    scalars: Vec<(String, Dtype, String)>,
    /// Size variables that no shape tells, which are arguments too.
    pub numbers: Vec<String>,
    /// Where a size variable is read: name, input, axis.
    sizes: Vec<(String, usize, usize)>,
}

/// `torch`'s name of a type.
pub fn torch_type(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::F64 => "float64",
        Dtype::F32 => "float32",
        Dtype::F16 => "float16",
        Dtype::Bf16 => "bfloat16",
        Dtype::E4m3 => "float8_e4m3fn",
        Dtype::E5m2 => "float8_e5m2",
        Dtype::I64 => "int64",
        Dtype::U64 => "uint64",
        Dtype::I32 => "int32",
        Dtype::U32 => "uint32",
        Dtype::I16 => "int16",
        Dtype::U16 => "uint16",
        Dtype::I8 => "int8",
        Dtype::U8 => "uint8",
        Dtype::Bool => "bool",
    }
}

fn ctype(dtype: Dtype) -> Option<&'static str> {
    Some(match dtype {
        Dtype::F64 => "c_double",
        Dtype::F32 => "c_float",
        Dtype::I64 => "c_int64",
        Dtype::U64 => "c_uint64",
        Dtype::I32 => "c_int32",
        Dtype::U32 => "c_uint32",
        Dtype::I16 => "c_int16",
        Dtype::U16 => "c_uint16",
        Dtype::I8 => "c_int8",
        Dtype::U8 => "c_uint8",
        Dtype::Bool => "c_bool",
        Dtype::F16 | Dtype::Bf16 | Dtype::E4m3 | Dtype::E5m2 => return None,
    })
}

fn is_float(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::F64 | Dtype::F32)
}

/// The variables of an expression: words that no parenthesis follows.
fn variables(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_alphabetic() || c == '_') {
        let word = &rest[at..];
        let end = word.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(word.len());
        // `1e-5` is a number.
        let is_exponent = at > 0 && rest.as_bytes()[at - 1].is_ascii_digit();
        if !is_exponent && !word[end..].trim_start().starts_with('(') {
            found.push(word[..end].to_owned());
        }
        rest = &word[end..];
    }
    found
}

/// A whole-number expression in Python.
fn whole(text: &str) -> String {
    text.replace('/', "//").replace("sqrt(", "math.isqrt(")
}

fn tuple(shape: &[Expr]) -> String {
    let items: Vec<String> = shape.iter().map(|extent| whole(&extent.0)).collect();
    format!("({},)", items.join(", "))
}

impl Op {
    /// # Errors
    /// What of the spec has no counterpart.
    pub fn of(spec: &Spec) -> Result<Self, String> {
        let name = spec.steps[0].entry.clone();
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(format!("the kernel's name `{name}` is not a plain name"));
        }
        let mut op = Op {
            name,
            inputs: Vec::new(),
            outputs: Vec::new(),
            scratch: Vec::new(),
            scalars: Vec::new(),
            numbers: Vec::new(),
            sizes: Vec::new(),
        };
        for step in &spec.steps {
            let what = [
                (step.given.is_some(), "a step of the course's own"),
                (step.repeat.is_some(), "a repeated step"),
                (!step.launch.cluster.is_empty(), "a launch in clusters"),
                (step.launch.cooperative, "a cooperative launch"),
            ];
            if let Some((_, what)) = what.into_iter().find(|(is, _)| *is) {
                return Err(format!("it has {what}"));
            }
        }
        for param in &spec.params {
            match param {
                Param::Buffer { name, dtype, shape, role, .. } => {
                    let tensor = Tensor { name: name.clone(), dtype: *dtype, shape: shape.clone(), role: *role };
                    match role {
                        Role::In | Role::InOut => op.inputs.push(tensor),
                        Role::Out | Role::Zeroed => op.outputs.push(tensor),
                        Role::Scratch => op.scratch.push(tensor),
                    }
                }
                Param::Scalar { name, dtype, value } => {
                    ctype(*dtype).ok_or_else(|| format!("`{name}` is a scalar of the type {}", dtype.name()))?;
                    op.scalars.push((name.clone(), *dtype, value.clone()));
                }
                Param::TensorMap { .. } => return Err("it takes a tensor map".to_owned()),
                Param::Struct { .. } => return Err("it takes a struct".to_owned()),
            }
        }
        if op.inputs.iter().any(|input| input.role == Role::InOut) {
            return Err("it changes an argument in place".to_owned());
        }
        if op.inputs.is_empty() || op.outputs.is_empty() {
            return Err("it has no input, or no output".to_owned());
        }
        op.find_sizes(spec);
        Ok(op)
    }

    fn find_sizes(&mut self, spec: &Spec) {
        let known = |sizes: &[(String, usize, usize)], name: &str| sizes.iter().any(|(known, ..)| known == name);
        for (index, input) in self.inputs.iter().enumerate() {
            for (axis, extent) in input.shape.iter().enumerate() {
                let is_name = variables(&extent.0) == [extent.0.trim()];
                if is_name && !known(&self.sizes, extent.0.trim()) {
                    self.sizes.push((extent.0.trim().to_owned(), index, axis));
                }
            }
        }
        let tensors = [&self.inputs, &self.outputs, &self.scratch];
        let shapes = tensors.into_iter().flatten().flat_map(|tensor| &tensor.shape);
        let launches = spec.steps.iter().flat_map(|step| {
            step.launch.grid.iter().chain(&step.launch.block).chain([&step.launch.dynamic_shared_bytes])
        });
        let mut needed: BTreeSet<String> = shapes.chain(launches).flat_map(|expr| variables(&expr.0)).collect();
        needed.extend(self.scalars.iter().flat_map(|(_, _, value)| variables(value)));
        let of_launch = |name: &str| name.starts_with("block_") || name.starts_with("grid_");
        self.numbers = needed.into_iter().filter(|name| !known(&self.sizes, name) && !of_launch(name)).collect();
    }

    fn parameters(&self) -> String {
        let tensors = self.inputs.iter().map(|input| format!("{}: torch.Tensor", input.name));
        let numbers = self.numbers.iter().map(|name| format!("{name}: int"));
        tensors.chain(numbers).collect::<Vec<_>>().join(", ")
    }

    fn names(&self) -> String {
        let tensors = self.inputs.iter().map(|input| input.name.clone());
        tensors.chain(self.numbers.iter().cloned()).collect::<Vec<_>>().join(", ")
    }

    /// A call, for people.
    pub fn call(&self) -> String {
        let results: Vec<&str> = self.outputs.iter().map(|output| output.name.as_str()).collect();
        format!("{} = lockstep_{}.{}({})", results.join(", "), self.name, self.name, self.names())
    }

    /// A function that reads the size variables off the shapes and checks all tensors.
    fn sizes_function(&self) -> String {
        let first = &self.inputs[0].name;
        let mut text = format!("def _sizes({}):\n", self.names());
        for input in &self.inputs {
            let name = &input.name;
            let types = match input.dtype {
                // As plain bytes too: PyTorch can do little with the types themselves.
                Dtype::E4m3 | Dtype::E5m2 => format!("(torch.{}, torch.uint8)", torch_type(input.dtype)),
                _ => format!("(torch.{},)", torch_type(input.dtype)),
            };
            let _ = writeln!(
                text,
                "    require({name}.dtype in {types}, f\"{name} is {{{name}.dtype}}, expected torch.{}\")",
                torch_type(input.dtype)
            );
            let rank = input.shape.len();
            let _ = writeln!(
                text,
                "    require({name}.dim() == {rank}, f\"{name} has {{{name}.dim()}} dimensions, expected {rank}\")"
            );
            if name != first {
                let _ = writeln!(
                    text,
                    "    require({name}.device == {first}.device, f\"{name} is on {{{name}.device}}, {first} on {{{first}.device}}\")"
                );
            }
        }
        for (name, input, axis) in &self.sizes {
            let _ = writeln!(text, "    {name} = {}.shape[{axis}]", self.inputs[*input].name);
        }
        for input in &self.inputs {
            let shown: Vec<&str> = input.shape.iter().map(|extent| extent.0.as_str()).collect();
            let _ = writeln!(
                text,
                "    require(tuple({0}.shape) == {1}, f\"{0} has the shape {{tuple({0}.shape)}}, expected [{2}]\")",
                input.name,
                tuple(&input.shape),
                shown.join(", ")
            );
        }
        let _ = write!(text, "    return {}\n\n\n", self.known());
        text
    }

    /// All size variables that shapes tell, as a tuple.
    fn known(&self) -> String {
        self.sizes.iter().map(|(name, ..)| format!("{name}, ")).collect::<String>().trim_end().to_owned()
    }

    /// The line that asks for them.
    fn size_lines(&self) -> String {
        match self.sizes.is_empty() {
            true => format!("    _sizes({})\n", self.names()),
            false => format!("    {} = _sizes({})\n", self.known(), self.names()),
        }
    }

    fn made(&self, tensors: &[Tensor]) -> String {
        let mut text = String::new();
        for tensor in tensors {
            let how = if tensor.role == Role::Out { "empty" } else { "zeros" };
            let _ = writeln!(
                text,
                "    {} = torch.{how}({}, dtype=torch.{}, device={}.device)",
                tensor.name,
                tuple(&tensor.shape),
                torch_type(tensor.dtype),
                self.inputs[0].name
            );
        }
        text
    }

    fn results(&self) -> (String, String) {
        let names: Vec<&str> = self.outputs.iter().map(|output| output.name.as_str()).collect();
        match names.as_slice() {
            [one] => ("torch.Tensor".to_owned(), (*one).to_owned()),
            all => (format!("tuple[{}]", vec!["torch.Tensor"; all.len()].join(", ")), all.join(", ")),
        }
    }

    /// `_op.py`.
    pub fn python(&self, spec: &Spec) -> String {
        let (types, results) = self.results();
        let mut text = format!(
            "\"\"\"{}: the operation, its launch and its fake.\"\"\"\n\nimport ctypes\nimport math  # noqa: F401 (shapes and scalars may need it)\n\n\
             import torch\n\nfrom ._launch import ceil_div, launch, require, round_up  # noqa: F401\n\n\n{}\
             @torch.library.custom_op(\"lockstep::{}\", mutates_args=(), device_types=\"cuda\")\n\
             def {}({}) -> {types}:\n",
            spec.title,
            self.sizes_function(),
            self.name,
            self.name,
            self.parameters()
        );
        text += &self.size_lines();
        for input in &self.inputs {
            let _ = writeln!(text, "    {0} = {0}.contiguous()", input.name);
        }
        text += &self.made(&self.outputs);
        text += &self.made(&self.scratch);
        for step in &spec.steps {
            let three = |exprs: &[Expr]| {
                let mut all: Vec<String> = exprs.iter().map(|expr| whole(&expr.0)).collect();
                all.resize(3, "1".to_owned());
                all.join(", ")
            };
            let arguments: Vec<String> = match step.args.is_empty() {
                true => spec.params.iter().map(|param| self.argument(param.name())).collect(),
                false => step.args.iter().map(|name| self.argument(name)).collect(),
            };
            let _ = write!(
                text,
                "    block_x, block_y, block_z = {}\n    grid_x, grid_y, grid_z = {}\n    launch(\n        {}.device, \"{}\", \
                 (grid_x, grid_y, grid_z), (block_x, block_y, block_z), {},\n        [{}],\n    )\n",
                three(&step.launch.block),
                three(&step.launch.grid),
                self.inputs[0].name,
                step.entry,
                whole(&step.launch.dynamic_shared_bytes.0),
                arguments.join(", ")
            );
        }
        let _ = write!(
            text,
            "    return {results}\n\n\n@{}.register_fake\ndef _({}):\n{}{}    return {results}\n",
            self.name,
            self.names(),
            self.size_lines(),
            self.made(&self.outputs)
        );
        text
    }

    fn argument(&self, name: &str) -> String {
        match self.scalars.iter().find(|(scalar, ..)| scalar == name) {
            Some((_, dtype, value)) => {
                let value = if is_float(*dtype) { value.replace("sqrt(", "math.sqrt(") } else { whole(value) };
                format!("ctypes.{}({value})", ctype(*dtype).unwrap_or("c_int32"))
            }
            None => name.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_words_that_are_no_functions() {
        assert_eq!(variables("batch * ceil_div(n_1, 4) + 1e3"), ["batch", "n_1"]);
        assert!(variables("1.0 / sqrt(128)").is_empty());
    }

    #[test]
    fn exercises_of_the_course_become_operations_or_say_why_not() {
        let course = curriculum::Course::embedded();
        let mut made = 0;
        for exercise in course.days().flat_map(|day| &day.exercises) {
            match Op::of(&exercise.spec) {
                Ok(op) => {
                    made += 1;
                    let python = op.python(&exercise.spec);
                    assert!(python.contains("register_fake") && !python.contains("Expr"), "{python}");
                }
                Err(why) => assert!(why.starts_with("it ") || why.contains('`'), "{}: {why}", exercise.folder),
            }
        }
        assert!(made > 20, "{made}");
    }
}
