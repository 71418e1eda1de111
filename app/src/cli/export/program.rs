//! `lockstep export program`: the host side that Lockstep does for a learner, as a folder that builds without Lockstep.

use super::super::content::Kernel;
use super::super::engine::{self, Target};
use super::super::{Done, Failure, Places, open, out, usage};
use super::{Subject, SubjectArgs, host, write};
use gpu_core::compile::includes::COURSE_HEADERS;
use gpu_core::device::Argument;
use gpu_core::job::{Emit, Job, Source};
use gpu_core::judge::{self, Example};
use gpu_core::spec::Spec;
use std::path::Path;

/// Most bytes of all arrays: the program reads them from files.
const MOST_BYTES: u64 = 64 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Api {
    /// `main.cu` for nvcc: cudaMalloc, cudaMemcpy, `<<<grid, block>>>`
    Runtime,
    /// `main.cpp` for any C++ compiler: the driver is loaded at run time, the kernel is PTX
    Driver,
}

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    subject: SubjectArgs,
    /// Which of CUDA's two interfaces the program uses
    #[arg(long, value_enum, default_value = "runtime")]
    api: Api,
    /// Architecture of the PTX of a driver program
    #[arg(long, value_name = "sm_XX", default_value = "sm_90")]
    arch: String,
}

pub fn run(args: &Args, places: &Places) -> Done {
    let subject = &args.subject.load(places)?;
    let Subject { kernel, spec, folder, .. } = subject;
    let example = example_of(spec)?;
    let plan = host::Plan { spec, example: &example, title: &spec.title };
    let (name, text) = match args.api {
        Api::Runtime => ("main.cu", host::runtime(&plan).map_err(usage)?),
        Api::Driver => ("main.cpp", host::driver(&plan)),
    };
    write(&folder.join(name), text.as_bytes())?;
    sources(subject, folder)?;
    if args.api == Api::Driver {
        modules(kernel, spec, &engine::arch(&args.arch)?, places, folder)?;
    }
    data(&example, folder)?;
    let build = host::build(args.api == Api::Runtime, spec);
    write(&folder.join("README.md"), host::readme(&plan, &build).as_bytes())?;
    out::print(&format!("{} is written. Build and run it there:\n\n{build}", folder.display()));
    Ok(())
}

/// The largest size of a check whose arrays are small enough for files.
fn example_of(spec: &Spec) -> Result<Example, Failure> {
    const SEED: u64 = 1;
    let sizes = spec.emulator_check.iter().chain(&spec.check);
    let fits = |size: &&_| spec.resolve(size).is_ok_and(|case| case.buffer_bytes() <= MOST_BYTES);
    let mut known: Vec<_> = sizes.filter(fits).collect();
    known.sort_by_key(|size| spec.resolve(size).map_or(0, |case| case.buffer_bytes()));
    let size = known.last().ok_or_else(|| usage("no size of this exercise fits into files of 64 MB"))?;
    judge::example(spec, size, SEED).map_err(usage)
}

/// The kernels' texts and the course's headers, for nvcc and for the reader.
fn sources(subject: &Subject, folder: &Path) -> Done {
    let named = open::first_line(&subject.unit, &subject.exercise);
    write(&folder.join("kernel.cu"), format!("{named}{}", subject.kernel.source.text).as_bytes())?;
    for given in subject.spec.steps.iter().filter_map(|step| step.given.as_ref()) {
        write(&folder.join(host::file_name(&given.file)), given.text.as_bytes())?;
    }
    for (name, text) in COURSE_HEADERS {
        write(&folder.join("include").join(name), text.as_bytes())?;
    }
    Ok(())
}

/// PTX of the kernel and of each given one, under the text's name.
fn modules(kernel: &Kernel, spec: &Spec, arch: &str, places: &Places, folder: &Path) -> Done {
    let own = Source { options: spec.options.clone(), ..kernel.source.clone() };
    let mut texts = vec![("kernel.cu".to_owned(), own.clone())];
    for given in spec.steps.iter().filter_map(|step| step.given.as_ref()) {
        let source = Source { name: given.file.clone(), text: given.text.clone(), ..own.clone() };
        texts.push((host::file_name(&given.file), source));
    }
    texts.dedup_by(|one, other| one.0 == other.0);
    for (name, source) in texts {
        let job = Job::Compile { source, arch: arch.to_owned(), emit: Emit { sass: false } };
        let answer = engine::submit(places, &Target::local_emulator(), job, false)?;
        let Some(report) = answer.compiled.as_ref().filter(|report| report.succeeded) else {
            return Err(Failure::Rejected(format!("{name} does not compile; `lockstep compile` shows why")));
        };
        write(&folder.join(name.replace(".cu", ".ptx")), report.ptx.as_bytes())?;
    }
    Ok(())
}

/// What goes into the arrays, and what should come out, as raw little-endian numbers.
fn data(example: &Example, folder: &Path) -> Done {
    let folder = folder.join("data");
    for argument in &example.arguments {
        if let Argument::Buffer(buffer) = argument
            && buffer.role.is_given()
        {
            write(&folder.join(format!("{}.bin", buffer.name)), &buffer.bytes)?;
        }
    }
    let doubles = |values: &[f64]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    for output in &example.expected {
        write(&folder.join(format!("{}.expected.bin", output.name)), &doubles(&output.values))?;
        write(&folder.join(format!("{}.limit.bin", output.name)), &doubles(&output.limits))?;
    }
    Ok(())
}
