//! Whether blocks that only poll memory can ever do anything else.
//!
//! A group that polls the same place with the same registers, while nobody writes memory, does so for ever. Of the
//! registers only those count that can reach a decision: a loop that also counts its turns is as stuck as one that does
//! not, but one that gives up after so many turns is not stuck.

use std::hash::Hasher;

use crate::analysis::deciders::deciders;
use crate::exec::image::{FunctionImage, Image};
use crate::exec::op::Slot;
use crate::exec::sched::block::Block;
use crate::exec::sched::warp::{Frame, Split, Wait};

/// Bytes of a frame: from, to.
pub type Range = (u32, u32);

/// The parts of a frame that can reach a guard, an index of a jump or an argument of a call; all of it for functions that
/// are called, whose results their callers may decide by.
pub fn deciding_registers(image: &Image, function: &FunctionImage) -> Vec<Range> {
    if !function.entry {
        return vec![(0, function.frame_bytes)];
    }
    let code = image.code_of(function);
    let deciding = deciders(&image.code[code.clone()], &image.infos[code.clone()]);
    // A register ends where the next one begins.
    let infos = image.infos[code].iter();
    let mut begins: Vec<u32> = infos
        .flat_map(|info| info.reads.iter().chain(&info.writes))
        .filter(|slot| !slot.is_pool())
        .map(|slot| slot.0)
        .collect();
    begins.push(function.frame_bytes);
    begins.sort_unstable();
    begins.dedup();
    let pairs = begins.windows(2).filter(|pair| deciding.contains(&Slot(pair[0])));
    pairs.map(|pair| (pair[0], pair[1])).collect()
}

/// A number that is the same again when no group of these blocks has moved on.
pub fn fingerprint<'b>(image: &Image, blocks: impl Iterator<Item = &'b Block>) -> u64 {
    let mut sum = 0u64;
    for block in blocks {
        for warp in block.warps.iter().flatten() {
            for split in &warp.splits {
                // Groups of a warp change places when they take turns.
                sum = sum.wrapping_add(group(image, block, warp.index, split, warp.frames.get(split.frame as usize)));
            }
        }
    }
    sum
}

fn group(image: &Image, block: &Block, warp: u32, split: &Split, frame: Option<&Option<Frame>>) -> u64 {
    let mut hash = std::hash::DefaultHasher::new();
    hash.write_u64(block.index);
    hash.write_u32(warp);
    hash.write_u32(split.pc);
    hash.write_u32(split.mask);
    match split.wait {
        Wait::Ready => {}
        Wait::Barrier { id, generation } => hash.write_u64(generation << 5 | u64::from(id) << 1 | 1),
        other => hash.write(format!("{other:?}").as_bytes()),
    }
    if let Some(Some(frame)) = frame {
        // SAFETY: rows are plain numbers, and so many bytes.
        let bytes = unsafe {
            std::slice::from_raw_parts(
                frame.registers.rows.as_ptr().cast::<u8>(),
                size_of_val(&frame.registers.rows[..]),
            )
        };
        for (from, to) in image.deciding_registers(frame.function as usize) {
            hash.write(bytes.get(*from as usize..*to as usize).unwrap_or_default());
        }
    }
    hash.finish()
}

/// The last fingerprints of one worker's blocks since memory changed. Loops of several polls give way at different ones
/// from turn to turn, so any of the last few may come again.
#[derive(Debug, Default)]
pub struct Recent {
    known: [u64; 8],
    count: usize,
}

impl Recent {
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Whether it is there already; it is now.
    pub fn repeats(&mut self, fingerprint: u64) -> bool {
        let known = self.known[..self.count.min(self.known.len())].contains(&fingerprint);
        self.known[self.count % self.known.len()] = fingerprint;
        self.count += 1;
        known
    }
}
