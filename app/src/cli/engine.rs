//! The way from a command to the engine: the stop flag, the lab, the exit.

use super::Places;
use crate::ready::Item;
use std::sync::atomic::{AtomicBool, Ordering};

/// The flag that Ctrl-C and a termination signal set; installed on the first call. A second Ctrl-C ends the process at
/// once, for whoever cannot wait.
pub fn stop_on_ctrl_c() -> &'static AtomicBool {
    static STOP: AtomicBool = AtomicBool::new(false);
    static INSTALLED: std::sync::Once = std::sync::Once::new();
    INSTALLED.call_once(|| {
        let installed = ctrlc::set_handler(|| {
            if STOP.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
        });
        if let Err(error) = installed {
            super::out::remark(&format!("Ctrl-C will end the program at once, not cleanly: {error}"));
        }
    });
    &STOP
}

/// Items of the ready check that need the engine.
pub fn ready_items(_places: &Places) -> Vec<Item> {
    Vec::new()
}
