//! C++ of the host side of an exercise, for both of CUDA's interfaces.

use gpu_core::judge::Example;
use gpu_core::spec::{
    Dtype, Resolved, ResolvedBuffer, ResolvedLaunch, ResolvedMap, ResolvedParam, ResolvedScalar, Spec,
};
use std::fmt::Write as _;

/// Launches that are written out one by one.
const MOST_LAUNCHES: usize = 500;

pub struct Plan<'a> {
    pub spec: &'a Spec,
    pub example: &'a Example,
    pub title: &'a str,
}

/// `given/combine.cu` as a file beside the program.
pub fn file_name(given: &str) -> String {
    given.replace(['/', '\\'], "-")
}

/// What both programs share: files, numbers of each type, the comparison.
const COMMON: &str = include_str!("common.hpp.txt");
const DRIVER: &str = include_str!("driver.hpp.txt");

impl Plan<'_> {
    fn case(&self) -> &Resolved {
        &self.example.resolved
    }

    fn head(&self, how: &str) -> String {
        let Plan { title, .. } = self;
        format!(
            "// {title}, at {}: {how}\n// The kernel is in kernel.cu, the arrays are in data/.\n\n",
            self.case().name
        )
    }

    /// Lines that make the arrays, through `allocate` and `upload` of either interface.
    fn arrays(&self) -> String {
        let mut text = String::new();
        for buffer in self.case().buffers() {
            let ResolvedBuffer { name, role, .. } = buffer;
            let bytes = buffer.bytes().max(1);
            let _ = writeln!(text, "    auto d_{name} = allocate({bytes});");
            if role.is_given() {
                let _ = writeln!(text, "    upload(d_{name}, read_file(\"data/{name}.bin\"));");
            } else {
                let _ = writeln!(text, "    clear(d_{name}, {bytes});");
            }
        }
        for param in &self.case().params {
            match param {
                ResolvedParam::Scalar(scalar) => {
                    let _ = writeln!(text, "    {} {} = {};", c_type(scalar.dtype), scalar.name, literal(scalar));
                }
                ResolvedParam::TensorMap(map) => text += &tensor_map(self.case(), map),
                ResolvedParam::Buffer(_) => {}
            }
        }
        text
    }

    /// Lines that copy the outputs back and compare them.
    fn results(&self) -> String {
        let mut text = String::from("    bool right = true;\n");
        for buffer in self.case().buffers().filter(|buffer| buffer.role.is_judged()) {
            let (name, bytes, dtype) = (&buffer.name, buffer.bytes(), buffer.dtype);
            let compared = self.example.expected.iter().any(|output| output.name == *name);
            let call = if compared { "compare" } else { "show" };
            let _ = writeln!(
                text,
                "    right &= {call}(\"{name}\", download(d_{name}, {bytes}), {}, {});",
                dtype.bytes(),
                decoder(dtype)
            );
        }
        text + "    std::printf(right ? \"all right\\n\" : \"WRONG\\n\");\n    return right ? 0 : 1;\n}\n"
    }

    fn launches(&self) -> &[ResolvedLaunch] {
        let all = &self.case().launches;
        &all[..all.len().min(MOST_LAUNCHES)]
    }

    /// Names of what a launch's kernel is given, in its order.
    fn names(&self, launch: &ResolvedLaunch) -> Vec<String> {
        let step = &self.spec.steps[launch.step];
        if step.args.is_empty() {
            return self.case().params.iter().map(|param| name_of(param).to_owned()).collect();
        }
        step.args.clone()
    }

    fn is_buffer(&self, name: &str) -> bool {
        self.case().buffers().any(|buffer| buffer.name == name)
    }

    /// Lines that give scalars the value that they have in this turn.
    fn turn(&self, launch: &ResolvedLaunch) -> String {
        let set = |(index, bytes): &(usize, Vec<u8>)| {
            let ResolvedParam::Scalar(scalar) = &self.case().params[*index] else { return String::new() };
            let listed: Vec<String> = bytes.iter().map(u8::to_string).collect();
            format!("    set({}, {{{}}});\n", scalar.name, listed.join(", "))
        };
        launch.scalars.iter().map(set).collect()
    }
}

fn name_of(param: &ResolvedParam) -> &str {
    match param {
        ResolvedParam::Buffer(buffer) => &buffer.name,
        ResolvedParam::Scalar(scalar) => &scalar.name,
        ResolvedParam::TensorMap(map) => &map.name,
    }
}

/// `main.cu`.
///
/// # Errors
/// What only the driver's interface can do without further libraries.
pub fn runtime(plan: &Plan<'_>) -> Result<String, String> {
    let other = |what: &str| Err(format!("{what} takes CUDA's driver API: add --api driver"));
    if plan.case().params.iter().any(|param| matches!(param, ResolvedParam::TensorMap(_))) {
        return other("a tensor map");
    }
    if plan.launches().iter().any(|launch| launch.geometry.cluster != [1; 3]) {
        return other("a launch in clusters");
    }
    let mut text = plan.head("compile it with nvcc");
    text += COMMON;
    text += include_str!("runtime.hpp.txt");
    text += "\n#include \"kernel.cu\"\n";
    let mut given: Vec<String> =
        plan.spec.steps.iter().filter_map(|step| Some(file_name(&step.given.as_ref()?.file))).collect();
    given.dedup();
    given.iter().for_each(|file| text += &format!("#include \"{file}\"\n"));
    text += "\nint main()\n{\n";
    text += &plan.arrays();
    for launch in plan.launches() {
        let step = &plan.spec.steps[launch.step];
        let geometry = launch.geometry;
        let [grid, block] = [geometry.grid, geometry.block].map(|[x, y, z]| format!("dim3({x}, {y}, {z})"));
        let argument = |name: String| if plan.is_buffer(&name) { format!("Pointer{{d_{name}}}") } else { name };
        let arguments: Vec<String> = plan.names(launch).into_iter().map(argument).collect();
        text += &plan.turn(launch);
        let (entry, shared, arguments) = (&step.entry, geometry.dynamic_shared_bytes, arguments.join(", "));
        if shared > 48 << 10 {
            let _ = writeln!(
                text,
                "    CHECK(cudaFuncSetAttribute({entry}, cudaFuncAttributeMaxDynamicSharedMemorySize, {shared}));"
            );
        }
        if geometry.cooperative {
            let _ = writeln!(
                text,
                "    launch_together(reinterpret_cast<const void *>({entry}), {grid}, {block}, {shared}, {arguments});"
            );
        } else {
            let shared = if shared == 0 { String::new() } else { format!(", {shared}") };
            let _ = writeln!(text, "    {entry}<<<{grid}, {block}{shared}>>>({arguments});");
        }
        text += "    CHECK(cudaGetLastError());  // was the launch accepted?\n";
    }
    text += "    CHECK(cudaDeviceSynchronize());  // did the kernels end well?\n";
    Ok(text + &plan.results())
}

/// `main.cpp`.
pub fn driver(plan: &Plan<'_>) -> String {
    let mut text = plan.head("any C++ compiler builds it, no toolkit is needed");
    text += COMMON;
    text += DRIVER;
    text += "\nint main()\n{\n    start();\n";
    let mut modules: Vec<String> =
        plan.spec.steps.iter().map(|step| module_of(step.given.as_ref().map(|given| given.file.as_str()))).collect();
    modules.sort();
    modules.dedup();
    for module in &modules {
        let _ = writeln!(text, "    auto {} = load(\"{module}.ptx\");", variable(module));
    }
    text += &plan.arrays();
    for launch in plan.launches() {
        let step = &plan.spec.steps[launch.step];
        let geometry = launch.geometry;
        let module = module_of(step.given.as_ref().map(|given| given.file.as_str()));
        let argument = |name: String| match plan.is_buffer(&name) {
            true => format!("&d_{name}"),
            false => format!("&{name}"),
        };
        let arguments: Vec<String> = plan.names(launch).into_iter().map(argument).collect();
        let list = |numbers: [u32; 3]| format!("{{{}, {}, {}}}", numbers[0], numbers[1], numbers[2]);
        text += &plan.turn(launch);
        let _ = writeln!(
            text,
            "    launch({}, \"{}\", {}, {}, {}, {}, {}, {{{}}});",
            variable(&module),
            step.entry,
            list(geometry.grid),
            list(geometry.block),
            list(geometry.cluster),
            geometry.dynamic_shared_bytes,
            geometry.cooperative,
            arguments.join(", ")
        );
    }
    text += "    wait();\n";
    text + &plan.results()
}

fn module_of(given: Option<&str>) -> String {
    given.map_or_else(|| "kernel".to_owned(), |file| file_name(file).replace(".cu", ""))
}

fn variable(module: &str) -> String {
    format!("module_{}", module.replace(|c: char| !c.is_ascii_alphanumeric(), "_"))
}

fn tensor_map(case: &Resolved, map: &ResolvedMap) -> String {
    let ResolvedParam::Buffer(buffer) = &case.params[map.buffer] else { return String::new() };
    let list = |numbers: &mut dyn Iterator<Item = u64>| numbers.map(|n| n.to_string()).collect::<Vec<_>>().join(", ");
    format!(
        "    alignas(64) TensorMap {} = tensor_map({}, d_{}, {{{}}}, {{{}}}, {{{}}}, {}, {});\n",
        map.name,
        map.element() as u32,
        buffer.name,
        list(&mut map.sizes.iter().copied()),
        list(&mut map.strides_bytes.iter().copied()),
        list(&mut map.tile.iter().map(|n| u64::from(*n))),
        map.swizzle as u32,
        u32::from(map.nan_fill)
    )
}

fn c_type(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::F32 => "float",
        Dtype::F64 => "double",
        Dtype::I64 => "long long",
        Dtype::U64 => "unsigned long long",
        Dtype::U32 => "unsigned int",
        Dtype::I16 => "short",
        Dtype::U16 | Dtype::F16 | Dtype::Bf16 => "unsigned short",
        Dtype::I8 => "signed char",
        Dtype::U8 | Dtype::E4m3 | Dtype::E5m2 => "unsigned char",
        Dtype::Bool => "bool",
        Dtype::I32 => "int",
    }
}

fn literal(scalar: &ResolvedScalar) -> String {
    match scalar.dtype {
        Dtype::F32 if scalar.value.is_finite() => format!("{:e}f", scalar.value as f32),
        Dtype::F64 if scalar.value.is_finite() => format!("{:e}", scalar.value),
        Dtype::F32 | Dtype::F64 if scalar.value.is_nan() => "NAN".to_owned(),
        Dtype::F32 | Dtype::F64 if scalar.value < 0.0 => "-INFINITY".to_owned(),
        Dtype::F32 | Dtype::F64 => "INFINITY".to_owned(),
        Dtype::I64 | Dtype::U64 => format!("{}{}", scalar.value, if scalar.dtype == Dtype::I64 { "ll" } else { "ull" }),
        Dtype::Bool => (scalar.value != 0.0).to_string(),
        Dtype::F16 | Dtype::Bf16 => {
            format!("{}", scalar.bytes.iter().rev().fold(0_u32, |all, byte| all << 8 | u32::from(*byte)))
        }
        _ => format!("{}", scalar.value),
    }
}

/// The function of `common.hpp.txt` that reads one number.
fn decoder(dtype: Dtype) -> String {
    match dtype {
        Dtype::F16 => "from_small<5, 10>".to_owned(),
        Dtype::Bf16 => "from_small<8, 7>".to_owned(),
        Dtype::E4m3 => "from_e4m3".to_owned(),
        Dtype::E5m2 => "from_small<5, 2>".to_owned(),
        _ => format!("from<{}>", c_type(dtype)),
    }
}

/// Command lines, for a terminal in the folder.
pub fn build(is_runtime: bool, spec: &Spec) -> String {
    if !is_runtime {
        return "    c++ -O2 -o program main.cpp -ldl\n    ./program                      # on a GPU\n    lockstep exec -- ./program     # on the emulator\n".to_owned();
    }
    let options: Vec<&str> = spec.options.iter().map(String::as_str).collect();
    let options = if options.is_empty() { String::new() } else { format!(" {}", options.join(" ")) };
    format!("    nvcc -O3 -arch=native -I include{options} -o program main.cu\n    ./program\n")
}

pub fn readme(plan: &Plan<'_>, build: &str) -> String {
    let Plan { title, .. } = plan;
    let outputs = plan.example.expected.iter().map(|output| format!("`{}`", output.name)).collect::<Vec<_>>();
    let compared = match outputs.as_slice() {
        [] => "It prints what the outputs begin with.".to_owned(),
        some => format!("It compares {} with numbers that were computed in float64.", some.join(", ")),
    };
    format!(
        "# {title}\n\nThe kernel of `kernel.cu` with a host program of its own, at {}. {compared}\n\n```sh\n{build}```\n\n\
         `data/` holds what goes into the arrays, and what should come out: raw little-endian numbers, expected values and \
         limits as doubles. `include/` holds the course's headers.\n",
        plan.case().name
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use curriculum::Course;
    use gpu_core::judge;

    /// Every exercise of the course has a program in one of the two forms, and most in both.
    #[test]
    fn every_exercise_can_leave() {
        let course = Course::embedded();
        let (mut runtimes, mut all) = (0, 0);
        for exercise in course.units().flat_map(|unit| &unit.exercises).take(40) {
            let size = exercise.spec.check.first().expect("a size");
            let example =
                judge::example(&exercise.spec, size, 1).unwrap_or_else(|why| panic!("{}: {why}", exercise.spec.title));
            let plan = Plan { spec: &exercise.spec, example: &example, title: &exercise.spec.title };
            let text = driver(&plan);
            all += 1;
            runtimes += usize::from(runtime(&plan).is_ok());
            for buffer in example.resolved.buffers() {
                assert!(text.contains(&format!("d_{} = allocate", buffer.name)), "{}", exercise.spec.title);
            }
            assert!(text.matches("    launch(").count() >= 1, "{}", exercise.spec.title);
        }
        assert!(runtimes * 3 > all * 2, "{runtimes} of {all}");
    }
}
