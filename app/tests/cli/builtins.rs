//! The table of CUDA's words against the compiler: every function is called as its signature says.

use crate::lab_support::TestLab;
use gpu_core::job::{Emit, Event, Job, Outcome, Source};
use lockstep::builtins::{Kind, all};
use std::fmt::Write as _;

/// A text with one function per row, and the name that each line is about.
fn calls() -> (String, Vec<String>) {
    let mut text = String::from("#include \"lab.cuh\"\n");
    for header in ["cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "cuda_pipeline.h"] {
        let _ = writeln!(text, "#include <{header}>");
    }
    // The type that templates and overloads are tried with.
    text.push_str("typedef unsigned T;\nextern \"C\" __global__ void nothing() {}\n");
    let mut names: Vec<String> = vec![String::new(); text.lines().count()];
    for (index, builtin) in all().iter().enumerate() {
        let name = builtin.name;
        let line = match builtin.kind {
            Kind::Function => {
                let (returns, rest) = builtin.signature.split_once(&format!("{name}(")).expect("a declaration");
                let parameters: Vec<&str> = rest
                    .trim_end_matches(')')
                    .split(',')
                    .map(|parameter| parameter.split('=').next().unwrap_or_default().trim())
                    .filter(|parameter| !parameter.is_empty() && *parameter != "...")
                    .collect();
                let arguments: Vec<&str> = parameters
                    .iter()
                    .map(|parameter| parameter.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(""))
                    .collect();
                let call = format!("{name}({})", arguments.join(", "));
                let body = match returns.trim() {
                    "void" => format!("{call};"),
                    returns => format!("{returns} result = {call}; (void)result;"),
                };
                format!("__device__ void use_{index}({}) {{ {body} }}", parameters.join(", "))
            }
            Kind::Type => format!("__device__ void use_{index}({name}* p) {{ (void)p; }}"),
            Kind::Variable => format!("__device__ void use_{index}() {{ auto v = {name}; (void)v; }}"),
            Kind::Qualifier => continue,
        };
        text.push_str(&line);
        text.push('\n');
        names.push(name.to_owned());
    }
    (text, names)
}

#[test]
fn every_function_compiles_as_the_table_declares_it() {
    let (text, names) = calls();
    assert!(names.len() > 200, "{} rows", names.len());
    let lab = TestLab::start();
    let source = Source { name: "table.cu".into(), text, headers: Vec::new(), options: Vec::new() };
    let (events, outcome) = lab.run(Job::Compile { source, arch: "sm_90a".into(), emit: Emit::default() });
    let mut wrong = Vec::new();
    for event in &events {
        if let Event::Compiled(report) = event {
            let errors = report.diagnostics.iter().filter(|d| d.severity == gpu_core::compile::Severity::Error);
            wrong.extend(errors.map(|d| {
                let name = names.get(d.line as usize - 1).map_or("", String::as_str);
                format!("{name}: {}", d.message)
            }));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(outcome, Outcome::Done);
}
