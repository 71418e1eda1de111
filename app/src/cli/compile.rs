//! `lockstep compile`: one file through NVRTC, with no exercise and no device.

use super::engine::{self, Target};
use super::{Done, Failure, Places, content, json, out, usage};
use gpu_core::compile::CompileReport;
use gpu_core::job::{Emit, Job, Outcome};
use serde_json::json as object;
use std::path::PathBuf;

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Product {
    Ptx,
    Cubin,
    Sass,
}

#[derive(clap::Args)]
pub struct Args {
    /// CUDA C++ source
    file: PathBuf,
    /// Architecture, for example sm_90a, sm_120a
    #[arg(long, value_name = "sm_XX", default_value = "sm_90")]
    arch: String,
    /// What to write beside diagnostics and resources
    #[arg(long, value_enum)]
    emit: Option<Product>,
    /// Where to write it [default: standard output; a cubin needs a file]
    #[arg(short, long, value_name = "FILE", requires = "emit")]
    output: Option<PathBuf>,
    /// Print one JSON object (app/JSON.md, "compile")
    #[arg(long)]
    pub json: bool,
}

pub fn run(args: &Args, places: &Places) -> Done {
    if args.emit == Some(Product::Cubin) && args.output.is_none() {
        return Err(usage("a cubin is not text: name a file with -o"));
    }
    let kernel = content::file(&args.file)?;
    let arch = engine::arch(&args.arch)?;
    let emit = Emit { sass: args.emit == Some(Product::Sass) };
    let job = Job::Compile { source: kernel.source.clone(), arch, emit };
    let answer = engine::submit(places, &Target::local_emulator(), job, !args.json)?;
    let report = answer.compiled.as_ref().filter(|report| report.succeeded);
    let product = match (args.emit, report) {
        (Some(product), Some(report)) => Some(bytes_of(product, report)?),
        _ => None,
    };
    if let (Some(path), Some(bytes)) = (&args.output, &product) {
        std::fs::write(path, bytes).map_err(|error| usage(format!("cannot write ({error}): {}", path.display())))?;
    }
    let inline = product.filter(|_| args.output.is_none()).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    if args.json {
        out::json(&json::envelope(
            "compile",
            object!({
                "kernel": kernel.shown,
                "outcome": json::outcome(&answer.outcome),
                "message": answer.message(),
                "compiled": answer.compiled.as_ref().map(json::compiled),
                "emitted": args.emit.map(|product| match product {
                    Product::Ptx => "ptx",
                    Product::Cubin => "cubin",
                    Product::Sass => "sass",
                }),
                "output": args.output.as_ref().map(|path| path.display().to_string()),
                "text": inline,
            }),
        ));
    } else {
        // With a product on standard output, what is for people goes to standard error.
        let style = if inline.is_some() { out::Style::stderr() } else { out::Style::stdout() };
        let text = answer.compile_text(&kernel.for_report(), style);
        match inline {
            Some(product) => {
                out::remark(text.trim_end());
                out::print(&product);
            }
            None => out::print(&text),
        }
    }
    match &answer.outcome {
        Outcome::Done => Ok(()),
        Outcome::CompileErrors(_) => Err(Failure::Kernel),
        _ => Err(engine::failure(&answer)),
    }
}

fn bytes_of(product: Product, report: &CompileReport) -> Result<Vec<u8>, Failure> {
    match product {
        Product::Ptx => Ok(report.ptx.clone().into_bytes()),
        Product::Cubin => Ok(report.cubin.clone()),
        Product::Sass => report.sass.clone().map(String::into_bytes).ok_or_else(|| {
            usage("no disassembler was found, so there is no SASS: run `lockstep setup --force` to install nvdisasm")
        }),
    }
}
