//! `lockstep setup`: installs NVRTC, its headers and the disassembler into the data folder.

mod model;

pub use model::path as smollm2_path;

use super::{Done, Failure, Places, engine, out, usage};
use gpu_core::compile::fetch::{self, FetchError, Package};
use gpu_core::compile::locate;

#[derive(clap::Args)]
pub struct Args {
    /// Fetch a language model for `lockstep decode --model` in place of the compiler
    #[arg(long, value_name = "NAME", value_parser = ["smollm2"], conflicts_with_all = ["force", "again"])]
    model: Option<String>,
    /// Install even where a CUDA toolkit or Python package has NVRTC
    #[arg(long)]
    force: bool,
    /// Remove what was installed before and install it again
    #[arg(long)]
    again: bool,
}

pub fn run(args: &Args, places: &Places) -> Done {
    let data_dir = places.data_dir();
    if args.model.is_some() {
        return model::install(&data_dir, engine::stop_on_ctrl_c());
    }
    if args.again {
        fetch::remove(&data_dir).map_err(usage)?;
    }
    let found = locate::locate(places.settings().nvrtc.as_deref(), &data_dir);
    if let Ok(found) = &found
        && !(args.force || args.again)
        && !found.include_dirs.is_empty()
        && found.nvdisasm.is_some()
    {
        out::print(&format!("Nothing to do. NVRTC is there ({}): {}\n", found.origin, found.nvrtc.display()));
        return Ok(());
    }
    let wanted = Package::ALL;
    out::print(&format!(
        "Installing NVIDIA's CUDA compiler library, headers and disassembler (version {}, {} to download)\n\
         from the Python package index that pip is set to use, checked by SHA-256, into\n  {}\n\
         They are NVIDIA's, under the CUDA Toolkit End User License Agreement. Nothing else on this machine changes.\n",
        gpu_core::compile::wheels::VERSION,
        out::bytes(fetch::download_bytes(&data_dir, &wanted)),
        data_dir.join(locate::TOOLCHAIN_FOLDER).display()
    ));
    let stop = engine::stop_on_ctrl_c();
    let mut last = String::new();
    let mut progress = |p: fetch::Progress| {
        let percent = (100 * p.done_bytes).checked_div(p.total_bytes).unwrap_or(0);
        out::transient(&format!("{percent:>3}%  {}", p.what));
        if p.what != last {
            last.clone_from(&p.what);
            if !out::stderr_is_terminal() {
                out::remark(&format!("  {}", p.what));
            }
        }
    };
    let result = fetch::fetch(&data_dir, &wanted, &mut progress, stop);
    out::transient("");
    match result {
        Ok(toolchain) => {
            out::print(&format!("Installed: {}\n", toolchain.nvrtc.display()));
            Ok(())
        }
        Err(FetchError::Stopped) => Err(Failure::Interrupted),
        Err(error) => Err(usage(error)),
    }
}
