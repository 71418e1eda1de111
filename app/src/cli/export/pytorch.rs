//! `lockstep export pytorch`: a package whose operation launches the learner's kernel, with its fake, tests and benchmark. It
//! needs PyTorch and a driver, no toolkit: the kernel goes along as cubins.

mod op;

use super::super::content::Kernel;
use super::super::engine::{self, Target};
use super::super::{Done, Failure, Places, out, usage};
use super::{Subject, SubjectArgs, write};
use gpu_core::compile::options::Arch;
use gpu_core::device::Argument;
use gpu_core::job::{Emit, Job, Source};
use gpu_core::judge;
use gpu_core::spec::{Size, Spec};
use op::Op;
use serde_json::{Value, json};
use std::path::Path;

/// Cubins of a kernel whose exercise names no architectures: each runs on what has its major version.
const ARCHS: [&str; 4] = ["sm_80", "sm_90", "sm_100", "sm_120"];
/// Most bytes of one test's arrays, and how many tests there are.
const MOST_BYTES: u64 = 4 << 20;
const MOST_CASES: usize = 3;

const LAUNCH: &str = include_str!("pytorch/launch.py");
const TEST: &str = include_str!("pytorch/test_op.py");
const BENCHMARK: &str = include_str!("pytorch/benchmark.py");
/// Of kernels that have the parameters of the small model's attention.
const EXAMPLES: [(&str, &str); 3] = [
    ("transformers_attention.py", include_str!("pytorch/transformers_attention.py")),
    ("vllm_backend.py", include_str!("pytorch/vllm_backend.py")),
    ("sglang_backend.py", include_str!("pytorch/sglang_backend.py")),
];

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: SubjectArgs,
    /// Architectures to compile for [default: the exercise's, else sm_80, sm_90, sm_100 and sm_120]
    #[arg(long, value_name = "sm_XX,…", value_delimiter = ',')]
    arch: Vec<String>,
}

pub fn run(args: &Args, places: &Places) -> Done {
    let Subject { unit, kernel, spec, folder, .. } = &args.subject.load(places)?;
    let op = Op::of(spec).map_err(|why| usage(format!("{unit} cannot be an operation yet: {why}")))?;
    let package = format!("lockstep_{}", op.name);
    let archs = archs(args, spec)?;
    let cubins = cubins(kernel, spec, &archs, places)?;

    let inside = folder.join("src").join(&package);
    let named: serde_json::Map<String, Value> =
        cubins.iter().map(|(arch, _)| (arch.clone(), json!(format!("{}.{arch}.cubin", op.name)))).collect();
    let manifest = json!({ "entries": spec.steps.iter().map(|step| &step.entry).collect::<Vec<_>>(), "cubins": named });
    for (arch, cubin) in &cubins {
        write(&inside.join(format!("{}.{arch}.cubin", op.name)), cubin)?;
    }
    write(&inside.join("manifest.json"), format!("{manifest:#}\n").as_bytes())?;
    write(&inside.join("kernel.cu"), kernel.source.text.as_bytes())?;
    write(&inside.join("_launch.py"), LAUNCH.as_bytes())?;
    write(&inside.join("_op.py"), op.python(spec).as_bytes())?;
    let init =
        format!("\"\"\"{}\"\"\"\n\nfrom ._op import {name}\n\n__all__ = [\"{name}\"]\n", spec.title, name = op.name);
    write(&inside.join("__init__.py"), init.as_bytes())?;
    write(&folder.join("pyproject.toml"), pyproject(&package, &spec.title).as_bytes())?;
    cases(&op, spec, &folder.join("tests"))?;
    let filled = |text: &str| text.replace("PACKAGE", &package).replace("NAME", &op.name);
    write(&folder.join("tests/test_op.py"), filled(TEST).as_bytes())?;
    write(&folder.join("benchmarks/benchmark.py"), filled(BENCHMARK).as_bytes())?;
    let is_decode = op.name == "decode_paged";
    if is_decode {
        for (name, text) in EXAMPLES {
            write(&folder.join("examples").join(name), filled(text).as_bytes())?;
        }
    }
    write(&folder.join("README.md"), readme(&op, &package, kernel, &archs, is_decode).as_bytes())?;
    out::print(&format!(
        "{shown} is written, with cubins for {}. Install and test it:\n\n  pip install {shown}\n  python -m pytest {shown}/tests\n",
        archs.join(", "),
        shown = folder.display()
    ));
    Ok(())
}

fn archs(args: &Args, spec: &Spec) -> Result<Vec<String>, Failure> {
    if !args.arch.is_empty() {
        return args.arch.iter().map(|text| engine::arch(text)).collect();
    }
    if !spec.arch.is_empty() {
        return Ok(spec.arch.clone());
    }
    let least = spec.requires.as_deref().and_then(Arch::parse).map_or(0, |arch| arch.number);
    Ok(ARCHS
        .iter()
        .filter(|text| Arch::parse(text).is_some_and(|arch| arch.number >= least))
        .map(|a| (*a).to_owned())
        .collect())
}

/// The kernel, compiled for each architecture.
fn cubins(kernel: &Kernel, spec: &Spec, archs: &[String], places: &Places) -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let source = Source { options: spec.options.clone(), ..kernel.source.clone() };
    let lab = engine::start(places, &Target::local_emulator());
    let mut all = Vec::new();
    for arch in archs {
        let job = Job::Compile { source: source.clone(), arch: arch.clone(), emit: Emit { sass: false } };
        let answer = engine::run_in(&lab, job, false)?;
        let cubin = answer.compiled.as_ref().filter(|report| report.succeeded).map(|report| report.cubin.clone());
        match cubin.filter(|cubin| !cubin.is_empty()) {
            Some(cubin) => all.push((arch.clone(), cubin)),
            None if answer.compiled.is_some() => {
                return Err(Failure::Rejected(format!(
                    "{} does not compile for {arch}; `lockstep compile --arch {arch}` shows why",
                    kernel.shown
                )));
            }
            None => return Err(engine::failure(&answer)),
        }
    }
    Ok(all)
}

/// Sizes that the emulator checks, with inputs and float64 results, as files beside the test.
fn cases(op: &Op, spec: &Spec, folder: &Path) -> Done {
    const SEED: u64 = 1;
    let fits = |size: &&Size| spec.resolve(size).is_ok_and(|case| case.buffer_bytes() <= MOST_BYTES);
    let sizes: Vec<&Size> = spec.emulator_sizes().iter().filter(fits).collect();
    let mut told = Vec::new();
    for (index, size) in sizes.iter().rev().take(MOST_CASES).rev().enumerate() {
        let example = judge::example(spec, size, SEED).map_err(usage)?;
        if example.expected.len() != op.outputs.len() {
            return Err(usage("its outputs are codes, or judged as a whole: such operations cannot be exported yet"));
        }
        let mut tensors = serde_json::Map::new();
        let mut expected = serde_json::Map::new();
        for (buffer, argument) in example.resolved.buffers().zip(example.arguments.iter().filter_map(|one| match one {
            Argument::Buffer(buffer) => Some(buffer),
            _ => None,
        })) {
            let about =
                |file: String| json!({ "file": file, "dtype": op::torch_type(buffer.dtype), "shape": buffer.shape });
            if op.inputs.iter().any(|input| input.name == buffer.name) {
                let file = format!("{index}-{}.bin", buffer.name);
                write(&folder.join("data").join(&file), &argument.bytes)?;
                tensors.insert(buffer.name.clone(), about(file));
            }
            if let Some(output) = example.expected.iter().find(|output| output.name == buffer.name) {
                let doubles = |values: &[f64]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
                let [values, limits] = ["values", "limits"].map(|what| format!("{index}-{}.{what}.bin", buffer.name));
                write(&folder.join("data").join(&values), &doubles(&output.values))?;
                // A tolerance of nothing would divide by it in the report.
                let least: Vec<f64> = output.limits.iter().map(|limit| limit.max(f64::MIN_POSITIVE)).collect();
                write(&folder.join("data").join(&limits), &doubles(&least))?;
                let mut entry = about(values.clone());
                entry["values"] = json!(values);
                entry["limits"] = json!(limits);
                expected.insert(buffer.name.clone(), entry);
            }
        }
        let names = op.inputs.iter().map(|input| json!(input.name));
        let numbers = op.numbers.iter().map(|name| json!(size.get(name).copied().unwrap_or(1)));
        told.push(json!({
            "name": gpu_core::spec::size_name(size),
            "arguments": names.chain(numbers).collect::<Vec<_>>(),
            "tensors": tensors,
            "expected": expected,
        }));
    }
    if told.is_empty() {
        return Err(usage("no size of this exercise is small enough for a test's files"));
    }
    write(&folder.join("data/cases.json"), format!("{:#}\n", Value::Array(told)).as_bytes())
}

fn pyproject(package: &str, title: &str) -> String {
    format!(
        "[build-system]\nrequires = [\"setuptools>=68\"]\nbuild-backend = \"setuptools.build_meta\"\n\n\
         [project]\nname = \"{}\"\nversion = \"0.1.0\"\ndescription = {title:?}\nrequires-python = \">=3.10\"\n\
         dependencies = [\"torch>=2.4\"]\n\n[project.optional-dependencies]\ntest = [\"pytest\", \"numpy\"]\n\n\
         [tool.setuptools.packages.find]\nwhere = [\"src\"]\n\n\
         [tool.setuptools.package-data]\n{package} = [\"*.cubin\", \"*.json\", \"*.cu\"]\n",
        package.replace('_', "-")
    )
}

fn readme(op: &Op, package: &str, kernel: &Kernel, archs: &[String], has_examples: bool) -> String {
    let mut text = format!(
        "# {package}\n\nA PyTorch operation around `{}`, written by `lockstep export pytorch`.\n\n\
         ```sh\npip install .\npython -m pytest tests\npython benchmarks/benchmark.py\n```\n\n\
         ```python\nimport {package}\n{}\n```\n\n\
         | File | What it is |\n|---|---|\n\
         | `src/{package}/_op.py` | the operation: shapes, launch, fake |\n\
         | `src/{package}/_launch.py` | loads a cubin by the driver and launches on PyTorch's stream |\n\
         | `src/{package}/*.cubin` | the kernel for {} |\n\
         | `src/{package}/kernel.cu` | its source |\n\
         | `tests/` | against float64 results, `opcheck`, `torch.compile`, a CUDA graph, another stream; without a GPU the fake alone |\n\
         | `benchmarks/` | random data, L2 flushed, medians and spread |\n",
        kernel.shown,
        op.call(),
        archs.join(", ")
    );
    if has_examples {
        text += "| `examples/` | where transformers, vLLM 0.33 and SGLang 0.5.23 take it. The first is a working registration; the \
                 other two are outlines from those projects' sources, not run |\n";
    }
    text + "\nTensors must be on one GPU; they are made contiguous where they are not. Arguments of the type e4m3 are \
            `torch.float8_e4m3fn`.\n"
}
