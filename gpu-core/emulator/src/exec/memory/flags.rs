//! Flags of a memory instruction, beside its window in `Op::e`.

/// Orderings beyond [`STRONG`](super::transfer::STRONG).
pub const ACQUIRE: u32 = 1 << 17;
pub const RELEASE: u32 = 1 << 18;
pub const VOLATILE: u32 = 1 << 19;
/// The scope of the ordering is the block.
pub const CTA: u32 = 1 << 20;
/// Through the cache for what the kernel only reads, which its stores do not reach.
pub const NC: u32 = 1 << 21;
/// A volatile load of a value that nothing is decided by ([`crate::analysis::data`]).
pub const DATA: u32 = 1 << 22;
/// A load of what goes into a result, plain or of data ([`crate::analysis::fetched`]); a relaxed one, which is in no race, has
/// this without [`DATA`]: what it gets may be unfinished all the same.
pub const FETCH: u32 = 1 << 23;
