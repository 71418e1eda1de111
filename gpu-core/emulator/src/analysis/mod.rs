//! What is found out about a kernel before it runs, or when it is launched: control flow, which memory it may write, what each thread has to itself.

pub mod barrier_intervals;
pub mod data;
pub mod deciders;
pub mod fetched;
pub mod flow;
pub mod hoisted;
pub mod launch_constants;
pub mod mod_ref;
pub mod thread_private;
