//! Which bytes of global memory a launch touched, by the shadows that its race check leaves behind.

use std::collections::HashMap;

use crate::check::race::global::GlobalRaces;
use crate::check::race::pages::{
    ATOMIC, ATOMIC_BLOCK, Entry, Half, KIND, PAGE, Page, Pages, SECTOR, SECTORS, SITE, SITES,
};
use crate::exec::image::Image;
use crate::exec::memory::access::Region;

/// Bytes of global memory that a launch read and wrote. Reads that are `volatile` or have an ordering are not in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// Sorted by address; no two overlap.
    pub pieces: Vec<TouchedPiece>,
    /// Where the kernel accesses: "line 12"; what the pieces' `reader` and `writer` count.
    pub places: Vec<String>,
    /// There was more than fits.
    pub incomplete: bool,
}

/// Neighbouring sectors of 32 bytes that were touched alike. A bit of a mask is a byte of each sector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TouchedPiece {
    /// Of the first sector, in bytes.
    pub address: u64,
    pub sectors: u64,
    pub read: u32,
    pub written: u32,
    /// Written by atomics, or by stores with an ordering.
    pub atomic: u32,
    pub reader: Option<u32>,
    pub writer: Option<u32>,
}

impl TouchedPiece {
    pub fn end(&self) -> u64 {
        self.address + self.sectors * SECTOR
    }
}

/// Most pieces that are kept, of 48 bytes each.
const MOST_PIECES: usize = 1 << 19;

/// One side of a sector: the bytes of plain accesses and of atomics, and the site of the first.
fn side(pages: &Pages, page: Page<'_>, half: Half) -> (u32, u32, u32) {
    let site_of = |stamp: u64| (stamp >> SITE) as u32 & SITES;
    let is_atomic = |stamp: u64| matches!(stamp & KIND, ATOMIC | ATOMIC_BLOCK);
    if !half.is_cells() {
        let site = site_of(half.stamp);
        return if is_atomic(half.stamp) { (0, half.mask, site) } else { (half.mask, 0, site) };
    }
    let shift = Pages::shift_of(half, u32::MAX);
    let spread = pages.spread(page, half, shift);
    let (mut plain, mut atomic, mut site) = (0, 0, 0);
    for (index, &cell) in spread.cells.iter().enumerate().take(32 >> shift).filter(|(_, cell)| **cell != 0) {
        let bytes = ((1u64 << (1 << shift)) - 1 << (index << shift)) as u32;
        *(if is_atomic(cell) { &mut atomic } else { &mut plain }) |= bytes;
        if site == 0 {
            site = site_of(cell);
        }
    }
    (plain, atomic, site)
}

impl GlobalRaces {
    /// What the launch touched of its arrays. Nobody may still be running.
    pub fn touched(&self, image: &Image, regions: &[Region]) -> Touched {
        let mut touched = Touched { incomplete: self.incomplete(), ..Touched::default() };
        let mut known: HashMap<u32, u32> = HashMap::new();
        let pages = self.pages();
        for region in regions {
            let Some(table) = pages.table(region.shadow as usize) else { continue };
            for index in 0..(region.end - region.base).div_ceil(PAGE) {
                let Some(page) = table.page(index as usize).filter(|page| page.is_filled()) else { continue };
                for number in index * SECTORS as u64..(index + 1) * SECTORS as u64 {
                    let entry: &Entry = page.entry(number);
                    if !entry.is_of(pages.generation) {
                        continue;
                    }
                    let (read, _, reader) = side(pages, page, entry.read());
                    let (others, _, other) = side(pages, page, entry.others());
                    let (written, atomic, writer) = side(pages, page, entry.write());
                    let mut place = |site: u32| {
                        let site = image.sites.get(site as usize).filter(|_| site != 0)?;
                        Some(*known.entry(site.pc).or_insert_with(|| {
                            touched.places.push(image.place(site.pc));
                            touched.places.len() as u32 - 1
                        }))
                    };
                    let piece = TouchedPiece {
                        address: region.base + number * SECTOR,
                        sectors: 1,
                        read: read | others,
                        written,
                        atomic,
                        reader: if read != 0 { place(reader) } else { place(other) },
                        writer: place(writer),
                    };
                    if piece.read | piece.written | piece.atomic == 0 {
                        continue;
                    }
                    if let Some(last) = touched.pieces.last_mut()
                        && last.end() == piece.address
                        && (TouchedPiece { address: last.address, sectors: last.sectors, ..piece }) == *last
                    {
                        last.sectors += 1;
                    } else if touched.pieces.len() < MOST_PIECES {
                        touched.pieces.push(piece);
                    } else {
                        touched.incomplete = true;
                        return touched;
                    }
                }
            }
        }
        touched
    }
}
