//! Calls that give a stream something to do, or have it recorded; and those that end a context with all that is in it.

pub mod arrays;
pub mod batches;
pub mod boxes;
pub mod capture;
pub mod contexts;
pub mod copies;
pub mod events;
pub mod launches;
pub mod old_launch;
pub mod ordered_memory;
pub mod streams;
pub mod words;
