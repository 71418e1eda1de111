//! Races between pieces of work - launches, copies, fills - of different streams, looked for when checks are on.
//!
//! Every piece knows what comes before it: what its stream did, the events that it waits for, and what the host had waited
//! for when it submitted it. Two pieces of which neither comes before the other must not touch the same bytes, unless both
//! only read them or both use atomics. Here they run one after the other, so that a result would hardly ever be wrong.
//!
//! Where the order cannot be told the two are left alone: behind words that streams wait for (`cuStreamWaitValue32`), and
//! where one kernel publishes by atomics and the other one listens with `volatile` or acquiring loads.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use ptx_emulator::{Touched, TouchedPiece};

use crate::process::{self, lock, ranges};

/// What is done before something: of each stream, how many pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock(HashMap<u64, u64>);

impl Clock {
    pub fn join(&mut self, other: &Clock) {
        for (stream, count) in &other.0 {
            let known = self.0.entry(*stream).or_default();
            *known = (*known).max(*count);
        }
    }

    fn knows(&self, (stream, count): (u64, u64)) -> bool {
        self.0.get(&stream).is_some_and(|known| *known >= count)
    }
}

/// A piece of work in the order of things.
#[derive(Clone, Debug)]
pub struct Moment {
    /// Its stream, and its number there.
    own: (u64, u64),
    /// The stream in words.
    stream: String,
    before: Arc<Clock>,
    /// In a graph: its node, behind the nodes of which that one is a part.
    nodes: Vec<u64>,
    /// The nodes of its graph that come before it.
    ancestors: HashSet<u64>,
}

impl Moment {
    fn is_before(&self, later: &Moment) -> bool {
        if self.own == later.own {
            return self.nodes == later.nodes || self.nodes.iter().any(|node| later.ancestors.contains(node));
        }
        later.before.knows(self.own)
    }

    /// What is known once it is done.
    pub fn after(&self) -> Arc<Clock> {
        let mut after = (*self.before).clone();
        after.0.insert(self.own.0, self.own.1);
        Arc::new(after)
    }
}

/// A piece that has run, and what it touched.
struct Past {
    moment: Moment,
    name: String,
    touched: Touched,
    /// It writes by atomics or ordered stores, which others may wait for.
    publishes: bool,
    /// It may wait for such writes.
    listens: bool,
}

#[derive(Default)]
struct Book {
    /// What the program has waited for. One for all its threads: what one of them knows, another may have been told.
    host: Clock,
    /// Submitted and not done.
    pending: HashMap<(u64, u64), Arc<Clock>>,
    past: VecDeque<Past>,
}

/// Work that is remembered, in pieces of 48 bytes each.
const MOST_PAST: usize = 1024;
const MOST_PIECES: usize = 1 << 20;

/// There is something that work could be unordered with: a second stream or a graph.
static NEEDED: AtomicBool = AtomicBool::new(false);
/// The program orders work in a way that cannot be followed.
static UNCLEAR: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// What this thread, a stream's, is doing.
    static NOW: RefCell<Option<Moment>> = const { RefCell::new(None) };
}

/// What this thread is doing; nothing, for one that is ending.
fn now() -> Option<Moment> {
    NOW.try_with(|now| now.borrow().clone()).ok().flatten()
}

fn book() -> &'static Mutex<Book> {
    static BOOK: OnceLock<Mutex<Book>> = OnceLock::new();
    BOOK.get_or_init(Mutex::default)
}

/// Called when the program makes a second stream or a graph.
pub fn need() {
    NEEDED.store(true, Ordering::Relaxed);
}

/// Called when the program orders work by words in memory.
pub fn give_up() {
    UNCLEAR.store(true, Ordering::Relaxed);
}

fn watching() -> bool {
    NEEDED.load(Ordering::Relaxed) && !UNCLEAR.load(Ordering::Relaxed) && process::checked()
}

/// A piece is submitted, behind all that `waits` say.
pub fn submit(own: (u64, u64), stream: impl FnOnce() -> String, waits: &[Option<Arc<Clock>>]) -> Option<Moment> {
    if !watching() {
        return None;
    }
    let mut book = lock(book());
    let mut before = book.host.clone();
    waits.iter().flatten().for_each(|clock| before.join(clock));
    let before = Arc::new(before);
    book.pending.insert(own, before.clone());
    Some(Moment { own, stream: stream(), before, nodes: Vec::new(), ancestors: HashSet::new() })
}

/// Does a piece of work.
pub fn during<T>(moment: Option<Moment>, work: impl FnOnce() -> T) -> T {
    let Some(moment) = moment else { return work() };
    let own = moment.own;
    let outer = NOW.replace(Some(moment));
    let done = work();
    NOW.set(outer);
    lock(book()).pending.remove(&own);
    done
}

/// Nodes of one launch of a graph.
#[derive(Default)]
pub struct Nodes(HashMap<usize, (u64, HashSet<u64>)>);

impl Nodes {
    /// Does the work of a node behind its dependencies.
    pub fn during<T>(&mut self, node: usize, dependencies: &[usize], work: impl FnOnce() -> T) -> T {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let Some(outer) = now() else { return work() };
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let mut ancestors = HashSet::new();
        for (earlier, theirs) in dependencies.iter().filter_map(|dependency| self.0.get(dependency)) {
            ancestors.insert(*earlier);
            ancestors.extend(theirs);
        }
        let mut inner = outer.clone();
        inner.nodes.push(id);
        inner.ancestors.extend(&ancestors);
        self.0.insert(node, (id, ancestors));
        NOW.set(Some(inner));
        let done = work();
        NOW.set(Some(outer));
        done
    }
}

/// The program has waited for something.
pub fn host_saw(clock: Option<&Arc<Clock>>) {
    if let Some(clock) = clock {
        lock(book()).host.join(clock);
    }
}

/// This thread's piece tells the program something.
pub fn tell_host() {
    if let Some(moment) = now() {
        host_saw(Some(&moment.after()));
    }
}

/// Whether what this thread's piece touches should be known.
pub fn wants() -> bool {
    NOW.try_with(|now| now.borrow().is_some()).unwrap_or(false)
}

/// Who is to blame for the order of two pieces, in words.
fn describe(
    past: &Past,
    name: &str,
    moment: &Moment,
    (theirs, mine, address): (&TouchedPiece, &TouchedPiece, u64),
    touched: &Touched,
) -> String {
    let bit = 1u32 << ((address - mine.address) % 32);
    let at = |places: &[String], place: Option<u32>| {
        place.and_then(|place| places.get(place as usize)).map_or(String::new(), |place| format!(" at {place}"))
    };
    let does = |piece: &TouchedPiece, places: &[String], verbs: [&str; 3]| {
        if piece.written & bit != 0 {
            format!("{}{}", verbs[0], at(places, piece.writer))
        } else if piece.atomic & bit != 0 {
            format!("{}{}", verbs[1], at(places, piece.writer))
        } else {
            format!("{}{}", verbs[2], at(places, piece.reader))
        }
    };
    let place = match ranges::device_range(address) {
        Some((base, range)) => {
            format!("byte {} of the {} bytes allocated at {base:#x}", address - base, range.bytes)
        }
        None => format!("the byte at {address:#x}"),
    };
    let (first, second) = (&past.name, name);
    let remedy = if past.moment.own == moment.own {
        "give the graph an edge from one to the other".to_owned()
    } else {
        format!(
            "record an event behind {first} and let {} wait for it (cuStreamWaitEvent), or use one stream for both",
            moment.stream
        )
    };
    format!(
        "Race between {first} on {} and {second} on {}: {second} {} {place}, which {first} {}, and nothing puts the two in \
         order; {remedy}",
        past.moment.stream,
        moment.stream,
        does(mine, &touched.places, ["writes", "updates", "reads"]),
        does(theirs, &past.touched.places, ["writes", "updates", "reads"]),
    )
}

/// The first byte that two pieces of work touch in ways that need an order.
fn clash<'a>(one: &'a Touched, two: &'a Touched) -> Option<(&'a TouchedPiece, &'a TouchedPiece, u64)> {
    let (mut a, mut b) = (one.pieces.iter().peekable(), two.pieces.iter().peekable());
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        let (low, high) = (x.address.max(y.address), x.end().min(y.end()));
        if low < high {
            // Of one array, so their sectors begin at the same places.
            let plain = x.written & (y.read | y.written | y.atomic) | y.written & (x.read | x.atomic);
            let bits = plain | x.atomic & y.read | y.atomic & x.read;
            if bits != 0 {
                return Some((x, y, low + u64::from(bits.trailing_zeros())));
            }
        }
        if x.end() <= y.end() {
            a.next();
        } else {
            b.next();
        }
    }
    None
}

/// This thread's piece has touched memory. Gives what is wrong with that, if something is.
pub fn settle(name: String, touched: Touched, listens: bool) -> Option<String> {
    let moment = now()?;
    let publishes = touched.pieces.iter().any(|piece| piece.atomic != 0);
    let to_host = |piece: &TouchedPiece| piece.atomic != 0 && ranges::host_range(piece.address as usize).is_some();
    let tells_host = publishes && touched.pieces.iter().any(to_host);
    let mut book = lock(book());
    let mut wrong = None;
    for past in &book.past {
        if past.moment.is_before(&moment) || past.publishes && listens || past.listens && publishes {
            continue;
        }
        if let Some((theirs, mine, address)) = clash(&past.touched, &touched) {
            wrong = Some(describe(past, &name, &moment, (theirs, mine, address), &touched));
            break;
        }
    }
    if tells_host {
        book.host.join(&moment.after());
    }
    book.past.push_back(Past { moment, name, touched, publishes, listens });
    book.forget();
    wrong
}

impl Book {
    /// Drops what everything to come is ordered behind, and the oldest where there is too much.
    fn forget(&mut self) {
        if self.past.len().is_multiple_of(32) {
            let Book { host, pending, past } = self;
            past.retain(|past| {
                let known = |clock: &Clock| clock.knows(past.moment.own);
                !known(host) || pending.iter().any(|(own, clock)| *own == past.moment.own || !known(clock))
            });
        }
        let mut pieces: usize = self.past.iter().map(|past| past.touched.pieces.len()).sum();
        while self.past.len() > MOST_PAST || pieces > MOST_PIECES {
            let Some(oldest) = self.past.pop_front() else { return };
            pieces -= oldest.touched.pieces.len();
        }
    }
}

/// Bytes that a copy, a fill or a free touches.
#[derive(Default)]
pub struct Ranges(Touched);

impl Ranges {
    /// Adds `bytes` from `address`, which lie in one allocation that begins at `base`.
    pub fn add(&mut self, base: u64, address: u64, bytes: u64, writes: bool) {
        const SECTOR: u64 = 32;
        let end = address + bytes;
        let mut at = address;
        while at < end {
            let start = at - (at - base) % SECTOR;
            let inner = (end - start) / SECTOR;
            // Whole sectors at once; the first and the last may be parts.
            let (sectors, stop) =
                if at == start && inner > 0 { (inner, start + inner * SECTOR) } else { (1, (start + SECTOR).min(end)) };
            let high = (stop - start).min(SECTOR) as u32;
            let mask = (u32::MAX >> (32 - high)) & (u32::MAX << (at - start));
            let (read, written) = if writes { (0, mask) } else { (mask, 0) };
            self.0.pieces.push(TouchedPiece { address: start, sectors, read, written, ..TouchedPiece::default() });
            at = stop;
        }
    }

    /// As [`settle`]; the piece fails where something is wrong.
    pub fn settle(mut self, name: &str) -> crate::abi::Answer {
        self.0.pieces.sort_by_key(|piece| piece.address);
        match settle(name.to_owned(), self.0, false) {
            Some(wrong) => {
                crate::abi::explain(wrong);
                Err(crate::abi::LAUNCH_FAILED)
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(list: &[(u64, u64, bool)]) -> Touched {
        let mut ranges = Ranges::default();
        for (address, bytes, writes) in list {
            ranges.add(0x1000, *address, *bytes, *writes);
        }
        ranges.0
    }

    #[test]
    fn neighbours_do_not_clash_and_overlaps_do() {
        let first = ranges(&[(0x1000, 100, true)]);
        assert_eq!(clash(&first, &ranges(&[(0x1064, 100, true)])), None);
        assert_eq!(clash(&first, &ranges(&[(0x1063, 1, false)])).map(|hit| hit.2), Some(0x1063));
        assert_eq!(clash(&ranges(&[(0x1000, 64, false)]), &ranges(&[(0x1010, 64, false)])), None);
        let apart = ranges(&[(0x1000, 4, true), (0x1100, 4, true), (0x1200, 4, true)]);
        assert_eq!(clash(&apart, &ranges(&[(0x1080, 0x100, false)])).map(|hit| hit.2), Some(0x1100));
    }

    #[test]
    fn clocks_know_what_they_were_told() {
        let moment = |own, before: &Clock| Moment {
            own,
            stream: String::new(),
            before: Arc::new(before.clone()),
            nodes: Vec::new(),
            ancestors: HashSet::new(),
        };
        let first = moment((1, 1), &Clock::default());
        let second = moment((2, 1), &Clock::default());
        assert!(!first.is_before(&second) && !second.is_before(&first));
        let third = moment((2, 2), &first.after());
        assert!(first.is_before(&third) && !third.is_before(&first));
        let mut both = (*first.after()).clone();
        both.join(&third.after());
        assert!(second.is_before(&moment((3, 1), &both)), "an earlier one of a stream is known with a later one");
    }
}
