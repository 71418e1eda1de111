//! The compile worker's own side: go to jail, load NVRTC, go to a narrower one, compile what comes.

use super::jail;
use super::messages::{FromCompiler, ToCompiler};
use super::stdio;
use super::wire::{Reader, WireError, Writer};
use crate::compile::build::{BuildFailure, build};
use crate::compile::nvrtc::Nvrtc;
use crate::compile::options::Arch;
use crate::compile::{CompileReport, Toolchain};
use crate::job::Source;
use std::path::{Path, PathBuf};

/// Serves until standard input ends.
pub fn serve() -> Result<(), WireError> {
    jail::die_with_parent();
    let mut to = Writer::start(stdio::take_output()?)?;
    let mut from = Reader::start(std::io::stdin())?;
    let ToCompiler::Start { mut toolchain, headers_dir, memory_bytes } = from.receive()? else {
        return Err(WireError::Garbage("the first message to a compile worker must start it".to_owned()));
    };
    let mut libraries: Vec<PathBuf> = toolchain.nvrtc.parent().map(Path::to_owned).into_iter().collect();
    libraries.extend(toolchain.builtins.as_deref().and_then(Path::parent).map(Path::to_owned));
    libraries.extend(toolchain.nvrtc.canonicalize().ok().and_then(|file| file.parent().map(Path::to_owned)));
    // A rule is about a folder that is there.
    let writable = headers_dir.as_deref().filter(|folder| std::fs::create_dir_all(folder).is_ok());
    jail::confine_loading(&[libraries.clone(), toolchain.include_dirs.clone()].concat(), writable);
    let nvrtc = match Nvrtc::load(&toolchain) {
        Ok(nvrtc) => nvrtc,
        Err(problem) => return to.send(&FromCompiler::Unusable(problem)),
    };
    let notes = add_bundled_headers(&nvrtc, &mut toolchain, headers_dir.as_deref());
    let readable = [toolchain.include_dirs.clone(), libraries].concat();
    // The folders may be links: Landlock rules are about what they lead to, `-I` about names. Both work.
    let jail = jail::confine(&readable, memory_bytes);
    warm_up(&nvrtc, &toolchain);
    to.send(&FromCompiler::Ready { version: nvrtc.version(), archs: nvrtc.supported_archs(), jail, notes })?;

    // Read on another thread: when the lab goes away, this process ends even in the middle of a compilation.
    let (incoming, messages) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let why = loop {
            match from.receive::<ToCompiler>() {
                Ok(message) => {
                    if incoming.send(message).is_err() {
                        break WireError::Closed;
                    }
                }
                Err(why) => break why,
            }
        };
        super::leave(&why);
    });
    while let Ok(message) = messages.recv() {
        let ToCompiler::Compile { source, arch } = message else { continue };
        let built = compile_one(&nvrtc, &toolchain, &source, &arch);
        to.send(&FromCompiler::Built(built.map(Box::new)))?;
    }
    Ok(())
}

fn compile_one(
    nvrtc: &Nvrtc,
    toolchain: &Toolchain,
    source: &Source,
    arch: &str,
) -> Result<CompileReport, BuildFailure> {
    let arch = Arch::parse(arch)
        .ok_or_else(|| BuildFailure::BadRequest(format!("`{arch}` is no architecture; write it as in sm_90a")))?;
    build(nvrtc, toolchain, source, arch)
}

/// Headers that the toolchain came without: NVRTC from 13.3 on carries all of CUDA's. The packages that `setup` fetches
/// hold `cuda_fp16.h`, but not `nv/target`, which `cooperative_groups.h` and all of `cuda::std` and CUB need. Those that
/// are there are found first. Returns notes.
fn add_bundled_headers(nvrtc: &Nvrtc, toolchain: &mut Toolchain, folder: Option<&Path>) -> Vec<String> {
    let has = |name: &str| toolchain.include_dirs.iter().any(|dir| dir.join(name).is_file());
    let missing: Vec<&str> =
        ["cuda_fp16.h", "nv/target", "cuda/std/array"].into_iter().filter(|name| !has(name)).collect();
    let Some(folder) = folder.filter(|_| !missing.is_empty()) else { return Vec::new() };
    // One folder per version: NVRTC refuses to mix them.
    let folder: PathBuf = folder.join(nvrtc.version());
    if let Err(error) = std::fs::create_dir_all(&folder) {
        return vec![format!("CUDA's headers cannot be written: {error}: {}", folder.display())];
    }
    match nvrtc.install_headers(&folder) {
        Ok(true) => {
            toolchain.include_dirs.extend([folder.clone(), folder.join("cccl")]);
            Vec::new()
        }
        Ok(false) => vec![format!(
            "this NVRTC comes without headers such as {}; `lockstep setup` installs a version that has them",
            missing[0]
        )],
        Err(problem) => vec![problem],
    }
}

/// The first compilation of a process takes some 50 ms more than the next; take them before the learner waits.
fn warm_up(nvrtc: &Nvrtc, toolchain: &Toolchain) {
    let source = Source {
        name: "warm-up.cu".to_owned(),
        text: "extern \"C\" __global__ void warm_up(float* a, int n)\n\
               { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) a[i] *= 2.0f; }\n"
            .to_owned(),
        headers: Vec::new(),
        options: Vec::new(),
    };
    let _ = build(nvrtc, toolchain, &source, Arch::for_emulator(None));
}
