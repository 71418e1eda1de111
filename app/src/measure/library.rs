//! The same product through cuBLAS on the first GPU, with the data on the device, with copies in every iteration, and
//! with copies that overlap the product.

use super::goals::{LIBRARY_GOALS, ceiling};
use super::{Program, Request, size_name};
use crate::scripts::{Engine, Figure, Span};
use gpu_core::bench::ceilings;
use gpu_core::compile::locate;
use gpu_core::library::transfers::{self, Transfers, Way};

pub(super) static MATMUL: Program = Program {
    name: "library-matmul",
    title: "Matrix product in cuBLAS on this GPU",
    what: "n = 1024 and 4096, with the data on the GPU, with copies in every iteration, and overlapped: some seconds, with a GPU.",
    sizes: &[1024, 4096],
    goals: LIBRARY_GOALS,
    run,
};

fn run(request: &Request<'_>, each: &mut dyn FnMut(Figure)) -> Result<(), String> {
    let (gpu, device) = transfers::open_gpu().map_err(|error| error.to_string())?;
    let compiler = locate::locate(None, request.data_dir).ok().map(|found| found.nvrtc);
    let file = locate::cublas_lt(compiler.as_deref(), request.data_dir).ok_or_else(|| {
        format!(
            "cuBLASLt was not found; install it with `pip install nvidia-cublas`, or set {} to its file",
            locate::CUBLAS_VARIABLE
        )
    })?;
    for n in request.sizes {
        let mut found = |transfers: Transfers| each(figure(&device, &transfers));
        transfers::measure(&gpu, &file, *n, request.stop, &mut found).map_err(|error| error.to_string())?;
    }
    // Measured by `lockstep bench --ceilings`, or by the first benchmark on this GPU.
    let devices = gpu_core::devices::list();
    let known = devices.iter().filter(|info| device.starts_with(&info.name));
    let known = known.filter_map(|info| ceilings::load(request.data_dir, &info.name, info.driver_version.as_deref()));
    if let Some(measured) = known.into_iter().next() {
        for n in request.sizes {
            each(ceiling(*n, device.clone(), measured.fp32_flops / 1e9));
        }
    }
    Ok(())
}

fn figure(device: &str, transfers: &Transfers) -> Figure {
    let rung = match transfers.way {
        Way::Stays => "cuBLAS, data stays",
        Way::EachTimePinned => "cuBLAS, copies each time, pinned",
        Way::EachTime => "cuBLAS, copies each time",
        Way::Overlapped => "cuBLAS, copies overlapped",
    };
    let engine = |engine| match engine {
        transfers::Engine::CopyIn => Engine::CopyIn,
        transfers::Engine::Compute => Engine::Compute,
        transfers::Engine::CopyOut => Engine::CopyOut,
    };
    let spans = transfers.pieces.iter().map(|piece| Span {
        engine: engine(piece.engine),
        iteration: piece.iteration,
        piece: piece.strip,
        start_us: piece.start_ns / 1e3,
        end_us: piece.end_ns / 1e3,
    });
    Figure {
        name: size_name(transfers.n),
        rung: rung.to_owned(),
        device: format!("{device}, {}", transfers.library),
        median_ms: Some(transfers.median_ns / 1e6),
        gflops: Some(2.0 * (transfers.n as f64).powi(3) / transfers.median_ns),
        spans: spans.collect(),
        ok: transfers.ok,
        ..Figure::default()
    }
}
