//! What keeps the accesses of one host thread to global memory in order for the others, as PTX promises it to blocks and
//! to the program beside them. ARM changes the order of any two accesses to different places, x86 that of a store and a
//! load behind it.
//!
//! `tests/order.rs` puts small programs together from these and walks through all their executions.

use std::sync::atomic::Ordering;

/// The fence behind a strong load. Also a relaxed one: what its value stands for was noted before, and is looked for next.
pub const BEHIND_LOAD: Ordering = Ordering::Acquire;

/// The fence before a strong store, and before an update that is no atomic instruction of the host: loads ask no lock.
pub const BEFORE_STORE: Ordering = Ordering::Release;

/// `fence` and `membar` beyond the block, of any kind.
pub const FENCE: Ordering = Ordering::SeqCst;

/// An update by an atomic instruction of the host.
pub const UPDATE: Ordering = Ordering::AcqRel;
