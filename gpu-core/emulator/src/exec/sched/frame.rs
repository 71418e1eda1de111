//! Registers and stack of a call.

use crate::exec::image::{FunctionImage, PoolRow};

/// The registers of a frame.
#[derive(Debug, Default)]
pub struct Bank {
    pub rows: Vec<PoolRow>,
    /// The kernel's values of the launch ([`FunctionImage::of_launch`]) are in them.
    pub ready: bool,
}

/// Registers of frames that are gone, for the next ones. All warps of a worker share them: a warp that runs to its end
/// leaves its own in the nearest cache to the next one.
pub type Registers = Vec<Bank>;

/// Registers that a frame of `function` has room in.
pub fn take_bank(function: &FunctionImage, spare: &mut Registers) -> Bank {
    let rows = (function.frame_bytes as usize).div_ceil(size_of::<PoolRow>()).max(1);
    let mut bank = spare.pop().unwrap_or_default();
    if bank.rows.len() < rows {
        bank.rows.resize(rows, PoolRow([0; 32]));
    }
    bank
}

/// Registers and stack of one call.
#[derive(Debug)]
pub struct Frame {
    pub function: u32,
    pub registers: Bank,
    pub return_pc: u32,
    pub call: u32,
    pub parent: u32,
    /// Lanes that have not returned.
    pub live: u32,
    /// First byte of its stack.
    pub local_base: u32,
    pub local_top: u32,
    pub depth: u32,
}

/// Calls nested deeper than this are a stack overflow.
pub const MAX_DEPTH: u32 = 4096;
