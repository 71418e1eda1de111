//! Lanes that have whole sectors to themselves and go through them word by word: fields of structures, rows of a matrix.
//! What is known of such a strip of 32 sectors is the same for all lanes but for the thread, so it is kept once, and an
//! access of the same warp to the same sectors changes it at one place. Anybody else who comes to one of the sectors ends
//! that: the strip stays as it is from then on, and each sector takes from it what it is asked for next.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::{At, GlobalRaces};
use crate::check::race::pages::*;
use crate::check::race::rules::{Effect, Mine};
use crate::exec::cx::Cx;
use crate::exec::memory::access::Reach;

const LANES: u64 = 32;
const WORDS_OF_SECTOR: usize = 8;
const CHUNK: usize = 128;
const CHUNKS: usize = 2048;
/// Strips that a worker knows of.
const KNOWN: usize = 64;
/// An access that finds its strip saves about as much as this part of what making one costs.
const PRICE: i32 = 4;
const CREDIT: i32 = 32;

// States of a strip.
const INTACT: u32 = 0;
const BUSY: u32 = 1;
const ENDED: u32 = 2;

/// What is known of 32 sectors, as of lane 0.
struct Strip {
    state: AtomicU32,
    reads: [AtomicU64; WORDS_OF_SECTOR],
    writes: [AtomicU64; WORDS_OF_SECTOR],
}

/// All zeros: intact, nothing known.
fn blank() -> Strip {
    let zeros = || [const { AtomicU64::new(0) }; WORDS_OF_SECTOR];
    Strip { state: AtomicU32::new(INTACT), reads: zeros(), writes: zeros() }
}

impl Strip {
    /// Keeps others away from it. False: it has ended.
    #[inline(always)]
    fn begin(&self) -> bool {
        loop {
            match self.state.compare_exchange_weak(INTACT, BUSY, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(ENDED) => return false,
                Err(_) => std::hint::spin_loop(),
            }
        }
    }

    #[inline(always)]
    fn end(&self, state: u32) {
        self.state.store(state, Ordering::Release);
    }

    /// From here on it stays as it is.
    fn finish(&self) {
        if self.begin() {
            self.end(ENDED);
        }
    }
}

type Chunk = Box<[Strip]>;

/// The strips of a launch, by number.
#[derive(Default)]
pub struct Strips {
    chunks: OnceLock<Box<[OnceLock<Chunk>]>>,
    count: AtomicU32,
}

impl Strips {
    fn get(&self, number: u64) -> Option<&Strip> {
        let (chunk, index) = (number as usize / CHUNK, number as usize % CHUNK);
        self.chunks.get()?.get(chunk)?.get()?.get(index)
    }

    /// None: there are too many.
    fn add(&self) -> Option<(u64, &Strip)> {
        if self.count.load(Ordering::Relaxed) as usize >= CHUNK * CHUNKS {
            return None;
        }
        let number = self.count.fetch_add(1, Ordering::Relaxed) as usize;
        let chunks = self.chunks.get_or_init(|| (0..CHUNKS).map(|_| OnceLock::new()).collect());
        let chunk = chunks.get(number / CHUNK)?.get_or_init(|| (0..CHUNK).map(|_| blank()).collect());
        Some((number as u64, &chunk[number % CHUNK]))
    }
}

/// A strip as the worker that made it knows it.
#[derive(Clone, Copy)]
struct Known {
    strip: u64,
    /// Sector of lane 0, in its allocation; bytes from lane to lane.
    number: u64,
    step: u64,
    block: u64,
    warp: u32,
    table: u32,
}

/// The strips of one worker.
pub struct OwnStrips {
    known: [Known; KNOWN],
    /// Falls with every strip that is made, rises with every access that finds one.
    credit: i32,
}

impl Default for OwnStrips {
    fn default() -> OwnStrips {
        let nothing = Known { strip: 0, number: u64::MAX, step: 0, block: 0, warp: 0, table: 0 };
        OwnStrips { known: [nothing; KNOWN], credit: CREDIT }
    }
}

#[inline(always)]
fn slot(number: u64) -> usize {
    (number ^ number >> 6) as usize % KNOWN
}

/// Whether an access of so many bytes a lane, `step` apart, may belong to a strip.
#[inline(always)]
fn suits(bytes: u64, step: u64, mine: &Mine) -> bool {
    bytes >= 4 && step >= SECTOR && step.is_multiple_of(SECTOR) && mine.effect != Effect::Atomic && !mine.cached
}

impl GlobalRaces {
    /// An access of all lanes, `step` bytes apart, by the warp that has a strip there. False: nothing was done.
    #[inline(always)]
    pub(crate) fn is_in_strip<const BYTES: u64>(
        &self,
        cx: &mut Cx<'_>,
        reach: &Reach,
        first: u64,
        step: u64,
        mine: &Mine,
    ) -> bool {
        let number = first / SECTOR;
        let own = &mut cx.worker.strips;
        let known = &mut own.known[slot(number)];
        let same = known.number == number
            && known.step == step
            && known.warp == cx.warp.index
            && known.block == cx.block.index
            && known.table == reach.shadow;
        if !same || !suits(BYTES, step, mine) {
            return false;
        }
        let Some(strip) = self.pages.strips.get(known.strip).filter(|strip| strip.begin()) else {
            known.number = u64::MAX;
            return false;
        };
        // All that is known is of the same thread: nothing can be in its way.
        let word = (first % SECTOR) as usize / 4;
        for word in word..(word + BYTES as usize / 4).min(WORDS_OF_SECTOR) {
            if mine.effect == Effect::Read {
                strip.reads[word].store(mine.stamp | READ, Ordering::Relaxed);
            } else {
                strip.writes[word].store(mine.stamp | WRITTEN, Ordering::Relaxed);
                strip.reads[word].store(0, Ordering::Relaxed);
            }
        }
        strip.end(INTACT);
        own.credit = (own.credit + 1).min(CREDIT);
        true
    }

    /// Makes a strip of the sectors that an access has just been to for the second time, if nobody else was there.
    #[inline(never)]
    pub(crate) fn make_strip(
        &self,
        cx: &mut Cx<'_>,
        at: &mut At<'_>,
        (table, first, step): (u32, u64, u64),
        mine: &Mine,
    ) {
        let number = first / SECTOR;
        let own = thread_of(mine.stamp);
        // What lane 0 alone has done, in whole words.
        let is_own = |half: Half| {
            let by_lane_0 = |word: u32| {
                let cell = half.cell(4 * word);
                cell == 0 || thread_of(cell) == own
            };
            half.mask == 0
                || !half.is_cells()
                    && half.stamp >> BLOCK == mine.block
                    && matches!(half.kind(), READ | WRITTEN)
                    && is_words(half.mask)
                    && (0..8).all(by_lane_0)
        };
        let of_lane = |half: Half, lane: u64| match half.mask {
            0 => Half::NONE,
            _ => Half { stamp: with_thread(half.stamp, thread_of(half.stamp) + lane), ..half },
        };
        let Some(page) = at.page(number) else { return };
        at.lock();
        let entry = page.entry(number);
        if !entry.is_of(self.pages.generation) || entry.others().mask != 0 {
            return;
        }
        let (read, write) = (of_lane(entry.read(), 0), of_lane(entry.write(), 0));
        if !is_own(read) || !is_own(write) {
            return;
        }
        cx.worker.strips.credit -= PRICE;
        let Some((index, strip)) = self.pages.strips.add() else { return };
        for word in 0..WORDS_OF_SECTOR {
            strip.reads[word].store(read.cell(4 * word as u32), Ordering::Relaxed);
            strip.writes[word].store(write.cell(4 * word as u32), Ordering::Relaxed);
        }
        for lane in 0..LANES {
            let number = number + lane * (step / SECTOR);
            let page = at.page(number);
            at.lock();
            let same = page.map(|page| page.entry(number)).filter(|entry| {
                entry.is_of(self.pages.generation)
                    && of_lane(entry.read(), 0) == of_lane(read, lane)
                    && of_lane(entry.write(), 0) == of_lane(write, lane)
            });
            // Those so far say the same as before, and go on saying it.
            let Some(entry) = same else { return strip.finish() };
            entry.set_strip(index, lane);
        }
        let (block, warp) = (cx.block.index, cx.warp.index);
        cx.worker.strips.known[slot(number)] = Known { strip: index, number, step, block, warp, table };
    }

    /// Whether making a strip may pay.
    #[inline(always)]
    pub(crate) fn may_make_strip<const BYTES: u64>(&self, cx: &Cx<'_>, step: u64, mine: &Mine) -> bool {
        cx.grid.options.fast.sector_strips && cx.worker.strips.credit > 0 && suits(BYTES, step, mine)
    }

    /// Gives a sector of a strip what is known of it, and ends the strip. The page must be locked.
    #[inline(never)]
    pub(crate) fn leave_strip(&self, page: Page<'_>, entry: &Entry) {
        let Some((index, lane)) = entry.strip() else { return };
        let mut halves = [Half::NONE; 2];
        if let Some(strip) = self.pages.strips.get(index) {
            strip.finish();
            for (half, cells) in halves.iter_mut().zip([&strip.reads, &strip.writes]) {
                let mut spread = Spread { cells: [0; 32], shift: 2 };
                for (to, from) in spread.cells.iter_mut().zip(cells) {
                    let cell = from.load(Ordering::Relaxed);
                    *to = if cell == 0 { 0 } else { with_thread(cell, thread_of(cell) + lane) };
                }
                *half = self.pages.gather(page, Half::NONE, &spread, [2, ONE, 0]);
            }
        }
        let [read, write] = halves;
        entry.set_read(read);
        entry.set_write(write);
    }
}
