//! What is wrong with a kernel beyond bounds: races, uninitialised values, copies not waited for.

pub mod ahead;
pub mod arrivals;
pub mod audit;
pub mod cluster;
pub mod copies;
mod copies_out;
mod copy_reports;
mod early;
pub mod followed;
pub mod frozen;
pub mod gates;
pub mod history;
pub mod intervals;
mod later;
#[cfg(target_arch = "x86_64")]
mod lays;
#[cfg(target_arch = "x86_64")]
mod mapped;
pub mod marks;
pub mod own;
mod passed;
mod patience;
mod products;
pub mod proxy;
pub mod race;
pub mod race_global;
mod race_memory;
pub mod race_pages;
mod race_rules;
pub mod race_words;
pub mod repeats;
mod same;
pub mod shadow;
#[cfg(target_arch = "x86_64")]
mod shadow_rows;
mod shadow_runs;
mod shuffled;
mod stale;
pub mod stored;
pub mod stuck;
pub mod sync;
pub mod taint;
pub mod touched;
pub mod undefined;
mod undefined_bits;
pub mod unfenced;
mod updates;
pub mod wgmma;
