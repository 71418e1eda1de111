//! A log that forgets detail, not facts: its recent entries stay as they were, older ones of the same key become one.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

/// Entries by position. Merged ones keep the position of their first, so whoever knew a part of the log knows at least
/// that part.
#[derive(Debug)]
pub struct History<T> {
    entries: Vec<(u64, T)>,
    next: u64,
    /// Folds when it has grown to this: twice what the last folding left, so that folding costs a constant an entry.
    fold_at: usize,
}

/// Recent entries that are never merged.
const RECENT: usize = 32;

impl<T> Default for History<T> {
    fn default() -> History<T> {
        History { entries: Vec::new(), next: 0, fold_at: 2 * RECENT }
    }
}

impl<T> History<T> {
    /// Entries ever added: positions go from 0 to here.
    #[allow(clippy::len_without_is_empty, reason = "it numbers what comes next; nobody asks whether that is the first")]
    pub fn len(&self) -> u64 {
        self.next
    }

    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.entries.last_mut().map(|entry| &mut entry.1)
    }

    pub fn push<K: Eq + Hash>(&mut self, entry: T, key: impl Fn(&T) -> K, merge: impl Fn(&mut T, &T)) {
        self.entries.push((self.next, entry));
        self.next += 1;
        if self.entries.len() >= self.fold_at {
            let recent = self.entries.split_off(self.entries.len() - RECENT);
            let mut kept: Vec<(u64, T)> = Vec::new();
            let mut places: HashMap<K, usize> = HashMap::new();
            for (position, entry) in self.entries.drain(..) {
                match places.get(&key(&entry)) {
                    Some(&at) => merge(&mut kept[at].1, &entry),
                    None => {
                        places.insert(key(&entry), kept.len());
                        kept.push((position, entry));
                    }
                }
            }
            kept.extend(recent);
            self.fold_at = 2 * kept.len().max(RECENT);
            self.entries = kept;
        }
    }

    /// The last entry at one of the positions.
    pub fn last_in(&self, positions: Range<u64>) -> Option<(u64, &T)> {
        let after = self.entries.partition_point(|entry| entry.0 < positions.end);
        let (position, entry) = self.entries.get(after.checked_sub(1)?)?;
        (*position >= positions.start).then_some((*position, entry))
    }

    /// The entries at some positions, in order.
    pub fn within(&self, positions: Range<u64>) -> impl DoubleEndedIterator<Item = &T> {
        let at = |position: u64| self.entries.partition_point(|entry| entry.0 < position);
        let (from, to) = (at(positions.start), at(positions.end));
        self.entries[from..to.max(from)].iter().map(|entry| &entry.1)
    }
}
