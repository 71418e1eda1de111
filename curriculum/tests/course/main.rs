//! The course that ships, its checks, and the learner's files.

mod check;
mod embedded;
mod recorded;
mod states;
mod store;
