//! Work in its order: contexts, their streams, events, and what comes before what.

pub mod capture;
pub mod context;
pub mod event;
pub mod order;
pub mod stream;
pub mod ticket;

pub use context::{CONTEXTS, Context, current, current_handle, current_unchecked};
pub use stream::{home, resolve as stream, wait_for_all};
