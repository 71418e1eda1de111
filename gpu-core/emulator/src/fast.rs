//! The fast paths, and the reference mode: what the interpreter does when all of them are off.
//!
//! Each fast path does what the plain interpreter does, with less work where the shape of an access, a value or a kernel is
//! known. Off, an instruction runs for its lanes one after the other, each access is looked up, counted and checked by its
//! 32 addresses, and every check remembers everything: slow, and as the PTX manual reads. Results, counters and faults must
//! be the same either way; `tests/reference_mode.rs` and `lockstep dev fast-paths` hold all of them to that.

use std::sync::OnceLock;

macro_rules! fast_paths {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Which fast paths are taken. `vector_forms` and `matrix_lanes` are chosen when a module is loaded
        /// ([`Module::load_with`](crate::Module::load_with)), all others at each launch
        /// ([`Options::fast`](crate::Options::fast)).
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct Fast {
            $($(#[$doc])* pub $name: bool,)*
        }

        impl Fast {
            /// Every fast path.
            pub const ALL: Fast = Fast { $($name: true,)* };
            /// The reference mode: the plain interpreter.
            pub const NONE: Fast = Fast { $($name: false,)* };
            /// What the switches are called, in the order in which they are declared.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name),)*];

            /// The same with one switch set; None where none is called so.
            #[must_use]
            pub fn with(mut self, name: &str, on: bool) -> Option<Fast> {
                match name {
                    $(stringify!($name) => self.$name = on,)*
                    _ => return None,
                }
                Some(self)
            }
        }
    };
}

fast_paths! {
    // How an instruction is done, chosen when a module is loaded.
    /// Forms of instructions for AVX2 and AVX-512. Off: one lane after the other.
    vector_forms,
    /// Products of matrices in the lanes where their results belong (`num/mma/lanewise.rs`). Off: by tiles.
    matrix_lanes,

    // Which instruction is next.
    /// Basic blocks, or parts of them, run without a look in between. Off: each instruction by itself, no machine code, and
    /// taint is moved by each instruction.
    basic_blocks,
    /// Basic blocks of which machine code is made (`jit/`).
    machine_code,
    /// Machine code that goes on to the next basic block by itself (`jit/chain.rs`).
    block_chaining,
    /// Machine code for branches whose lanes diverge and reconverge soon (`jit/hammock.rs`).
    predicated_regions,
    /// A warp that waits or has ended gives way to the next one inside the interpreter loop (`Cx::next_turn`).
    direct_turns,
    /// What a launch fixes is computed once (`analysis/launch_constants.rs`).
    launch_constants,

    // Where an access goes.
    /// Addresses in a few runs are found, counted and checked by these (`exec/memory/quick.rs`). Off: `shape_cache` learns nothing.
    runs,
    /// Inline cache of an access's shape: runs (`exec/memory/pattern.rs`).
    shape_cache,
    /// Inline cache of an access's shape: lanes in no runs (`exec/memory/lay.rs`).
    layout_cache,
    /// Lanes that arrive at one mbarrier do it together (`isa/mbarrier_run.rs`); those that wait there always do.
    grouped_arrivals,

    // What need not be watched for races.
    /// Arrays that a kernel only reads, or only updates by atomics (mod-ref: `analysis/mod_ref.rs`).
    mod_ref,
    /// Arrays of which each thread has parts of its own (`analysis/thread_private/`).
    thread_private,
    /// Shared memory in which no two threads meet between two barriers (`analysis/barrier_intervals.rs`).
    barrier_intervals,
    /// Rows and columns of shared memory are settled by vectors (`Cx::settles_row`).
    shadow_rows,
    /// Lanes that share a sector of global memory are checked as one (`check/race/global/groups.rs`).
    sector_groups,
}

impl Fast {
    /// All but those of a list with commas between; `all` for the reference mode.
    ///
    /// # Errors
    /// Names what none is called, and what there are.
    pub fn without(names: &str) -> Result<Fast, String> {
        let mut fast = Fast::ALL;
        for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            fast = match name {
                "all" => Fast::NONE,
                name => fast.with(name, false).ok_or_else(|| {
                    format!("no fast path is called `{name}`; there are: all, {}", Fast::NAMES.join(", "))
                })?,
            };
        }
        Ok(fast)
    }
}

impl Default for Fast {
    /// All of them, but those that the variable `LOCKSTEP_EMULATOR_WITHOUT` names: so any test, program or lesson can be run
    /// without some of them, or (`all`) in the reference mode. What it says wrongly is told once, and ignored.
    fn default() -> Fast {
        static CHOSEN: OnceLock<Fast> = OnceLock::new();
        *CHOSEN.get_or_init(|| {
            let names = std::env::var("LOCKSTEP_EMULATOR_WITHOUT").unwrap_or_default();
            Fast::without(&names).unwrap_or_else(|error| {
                eprintln!("LOCKSTEP_EMULATOR_WITHOUT: {error}");
                Fast::ALL
            })
        })
    }
}
