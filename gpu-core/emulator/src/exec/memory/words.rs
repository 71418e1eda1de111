//! An access of one word of 4 or 8 bytes a lane: one place, a row, or places anywhere in one array, as offsets in it.

use super::access::{Addresses, Reach, Runs};
use crate::memory::space::Window;

/// How the words of an access lie.
#[derive(Clone, Copy)]
pub enum Lie<'a> {
    /// All at one place.
    One,
    /// One behind the other, of all lanes.
    Row,
    /// So many bytes behind the first place; what is there for lanes that do not run lies in the array as well.
    Apart(&'a [u32; 32]),
}

/// Where the words of an access are, all of them in one array.
pub struct Words<'a> {
    pub first: *mut u8,
    /// Address of the first place, and of the lowest and the highest word.
    pub address: u64,
    pub low: u64,
    pub high: u64,
    pub mask: u32,
    pub window: Window,
    pub region: u32,
    pub lie: Lie<'a>,
    /// Those of all lanes lie side by side in falling order, as [`Lie::Apart`].
    pub falling: bool,
}

impl<'a> Words<'a> {
    /// Words that were found lane by lane; `offsets` is room for where they are. None: they lie too far apart.
    ///
    /// # Safety
    /// `reach` must hold for all of `at`.
    #[inline(always)]
    pub unsafe fn of(reach: &Reach, at: &Addresses, offsets: &'a mut [u32; 32]) -> Option<Words<'a>> {
        let lie = if reach.stride == 0 && at.low == at.high {
            Lie::One
        } else if reach.stride == 0 && at.contiguous {
            Lie::Row
        } else {
            if at.high - at.low + 31 * reach.stride as u64 > u64::from(u32::MAX) {
                return None;
            }
            for lane in 0..32 {
                offsets[lane] = (at.at[lane] - at.low) as u32 + (lane * reach.stride) as u32;
            }
            Lie::Apart(offsets)
        };
        Some(Words {
            // SAFETY: as the caller says.
            first: unsafe { reach.lane(at.low, 0) },
            address: at.low,
            low: at.low,
            high: at.high,
            mask: at.mask,
            window: reach.window,
            region: reach.shadow,
            lie,
            falling: false,
        })
    }
}

impl Words<'_> {
    /// One place or a row as runs of all lanes.
    pub fn runs(&self, bytes: u64) -> Option<Runs> {
        let step = match self.lie {
            Lie::One => 0,
            Lie::Row => bytes,
            Lie::Apart(_) => return None,
        };
        Some(Runs { count: 1, width: 32, step, starts: [self.low; 4], low: self.low, high: self.high })
    }

    /// The address of one lane that runs.
    #[inline(always)]
    pub fn at(&self, lane: usize, bytes: u64) -> u64 {
        match self.lie {
            Lie::One => self.address,
            Lie::Row => self.address + lane as u64 * bytes,
            Lie::Apart(offsets) => self.address + u64::from(offsets[lane & 31]),
        }
    }

    /// The same lane by lane.
    #[inline(never)]
    pub fn spread(&self, bytes: u64) -> Addresses {
        Addresses {
            at: std::array::from_fn(|lane| self.at(lane, bytes)),
            mask: self.mask,
            low: self.low,
            high: self.high,
            contiguous: matches!(self.lie, Lie::Row),
        }
    }
}
