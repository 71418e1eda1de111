//! Link options of the shared library.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // A helper thread of a launch may begin, and end at once, after the launch is over: its code must stay where it is
    // even if the program closes the library by then.
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
        // Programs that are linked to it look for what a GPU's driver is called.
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libcuda.so.1");
    }
}
