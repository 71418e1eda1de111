//! `lockstep exec`: programs that know only the CUDA driver API find the emulator's driver with nothing set up.

#![cfg(target_os = "linux")]

use crate::cli_support::Machine;

#[test]
fn a_program_finds_the_emulated_device() {
    let machine = Machine::without_nvrtc();
    let library = machine.run(&["exec", "--print-library"]);
    library.shows(&["liblockstep_cuda.so"]);
    // Lockstep itself is such a program: it lists the GPUs of the driver that it finds.
    let program = env!("CARGO_BIN_EXE_lockstep");
    machine.run(&["exec", "--arch", "sm_86", "--", program, "devices"]).shows(&["Lockstep emulator (sm_86)"]);
    machine.run(&["exec", "--", program, "devices"]).shows(&["Lockstep emulator (sm_90)"]);
    // What was made for the program is gone with it.
    let left = std::fs::read_dir(machine.path("data/driver")).map_or(0, Iterator::count);
    assert_eq!(left, 0);
}

#[test]
fn the_programs_status_is_handed_on() {
    let machine = Machine::without_nvrtc();
    machine.run(&["exec", "--", "sh", "-c", "echo out; exit 0"]).shows(&["out"]);
    machine.run(&["exec", "--", "sh", "-c", "exit 7"]).fails(7, &[]);
    machine.run(&["exec", "--", "/nowhere/program"]).fails(2, &["/nowhere/program"]);
    machine.run(&["exec"]).fails(2, &["name a program"]);
}
