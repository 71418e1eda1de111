//! An access of one word of 4 or 8 bytes a lane: one place, a row, or places anywhere in one array, as offsets in it.

use super::access::{Addresses, Reach};
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
    /// The first place.
    pub first: *mut u8,
    pub mask: u32,
    pub window: Window,
    pub region: u32,
    pub lie: Lie<'a>,
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
            mask: at.mask,
            window: reach.window,
            region: reach.shadow,
            lie,
        })
    }
}
