//! Picks the window, a terminal command or the worker.

fn main() -> std::process::ExitCode {
    lockstep::cli::main()
}
