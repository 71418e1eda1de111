//! Spaced review as pure functions: a question comes back when its answer is about to be forgotten, by [`fsrs`].

pub mod fsrs;

use fsrs::Memory;
use serde::{Deserialize, Serialize};

/// A calendar day as days since 1970-01-01. Shown and stored as `2026-11-21`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(pub i64);

impl Date {
    /// The UTC day of a Unix time in seconds.
    pub fn from_unix(seconds: u64) -> Self {
        Self((seconds / 86_400) as i64)
    }

    /// Year, month and day of the Gregorian calendar.
    pub fn civil(self) -> (i64, u32, u32) {
        // Counts from 1 March, so that the leap day is a year's last: eras of 400 years are all alike.
        let z = self.0 + 719_468;
        let era = z.div_euclid(146_097);
        let day_of_era = z.rem_euclid(146_097);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let day = (day_of_year - (153 * shifted_month + 2) / 5 + 1) as u32;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 } as u32;
        (year_of_era + era * 400 + i64::from(month <= 2), month, day)
    }

    pub fn from_civil(year: i64, month: u32, day: u32) -> Option<Self> {
        if !(1..=12).contains(&month) || !(1..=31).contains(&day) || !(0..=9999).contains(&year) {
            return None;
        }
        let shifted_year = year - i64::from(month <= 2);
        let era = shifted_year.div_euclid(400);
        let year_of_era = shifted_year.rem_euclid(400);
        let shifted_month = i64::from((month + 9) % 12);
        let day_of_year = (153 * shifted_month + 2) / 5 + i64::from(day) - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        let date = Self(era * 146_097 + day_of_era - 719_468);
        // 31 April and 29 February of a common year run over into the next month.
        (date.civil() == (year, month, day)).then_some(date)
    }
}

impl std::fmt::Display for Date {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (year, month, day) = self.civil();
        write!(f, "{year:04}-{month:02}-{day:02}")
    }
}

impl std::str::FromStr for Date {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts = text.splitn(3, '-');
        let mut part = || parts.next().and_then(|part| part.parse::<u32>().ok());
        let date = (|| Self::from_civil(i64::from(part()?), part()?, part()?))();
        date.ok_or_else(|| format!("a date such as 2026-11-21 (found `{text}`)"))
    }
}

impl Serialize for Date {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// What is remembered of one question between reviews.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Card {
    pub due: Date,
    /// Answers so far, and how many of them were wrong.
    pub seen: u32,
    pub missed: u32,
    /// Of [`Memory`]; none in files of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stability: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    difficulty: Option<f64>,
    /// Day of the last answer that counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last: Option<Date>,
    /// Earlier versions had six boxes with fixed days. Still written, so that they can read the file.
    #[serde(rename = "box", default, skip_serializing_if = "Option::is_none")]
    level: Option<u8>,
}

/// Days that the boxes of earlier versions rested.
const BOX_DAYS: [i64; 6] = [1, 3, 7, 16, 35, 90];

impl Card {
    /// What is remembered, and the day of the answer that it is counted from.
    pub fn memory(&self) -> (Memory, Date) {
        let days = BOX_DAYS[usize::from(self.level.unwrap_or(0)).min(BOX_DAYS.len() - 1)];
        let first = Memory::first(self.missed == 0);
        let memory = Memory {
            stability: self.stability.unwrap_or(days as f64),
            difficulty: self.difficulty.unwrap_or(first.difficulty),
        };
        (memory.sound(), self.last.unwrap_or(Date(self.due.0.saturating_sub(days))))
    }

    /// The chance of a right answer on a day.
    pub fn chance(&self, today: Date) -> f64 {
        let (memory, last) = self.memory();
        memory.chance(today.0.saturating_sub(last.0) as f64)
    }
}

/// The card after an answer on `today`. None is a question that was never answered.
pub fn answered(card: Option<&Card>, correct: bool, today: Date) -> Card {
    let (seen, missed) = card.map_or((0, 0), |card| (card.seen, card.missed));
    let (seen, missed) = (seen.saturating_add(1), missed.saturating_add(u32::from(!correct)));
    let memory = match card {
        None => Memory::first(correct),
        // Right again before it was due (a second look at the same quiz) proves nothing about memory.
        Some(card) if correct && today < card.due => return Card { seen, ..*card },
        Some(card) => {
            let (memory, last) = card.memory();
            memory.answered(correct, today.0.saturating_sub(last.0) as f64)
        }
    };
    let rest = if correct { memory.interval_days() } else { 1 };
    Card {
        due: Date(today.0.saturating_add(rest)),
        seen,
        missed,
        stability: Some(memory.stability),
        difficulty: Some(memory.difficulty),
        last: Some(today),
        level: Some(BOX_DAYS.iter().filter(|days| **days <= rest).count().saturating_sub(1) as u8),
    }
}

/// Keys of the cards that are due, the longest overdue and the most often missed first, at most `limit`.
pub fn due<'a>(cards: impl IntoIterator<Item = (&'a str, &'a Card)>, today: Date, limit: usize) -> Vec<&'a str> {
    let mut found: Vec<_> = cards.into_iter().filter(|(_, card)| card.due <= today).collect();
    found.sort_by_key(|(key, card)| (card.due, std::cmp::Reverse(card.missed), *key));
    found.into_iter().take(limit).map(|(key, _)| key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_go_there_and_back() {
        for (days, text) in [(0, "1970-01-01"), (19_782, "2024-02-29"), (20_778, "2026-11-21"), (-1, "1969-12-31")] {
            assert_eq!(Date(days).to_string(), text);
            assert_eq!(text.parse(), Ok(Date(days)));
        }
        for days in -800_000 / 7..800_000 / 7 {
            let date = Date(days * 7);
            let (year, month, day) = date.civil();
            assert_eq!(Date::from_civil(year, month, day), (0..=9999).contains(&year).then_some(date));
        }
        for bad in ["2026-02-29", "2026-13-01", "2026-04-31", "yesterday", "", "2026-1"] {
            assert!(bad.parse::<Date>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_miss_returns_tomorrow_and_the_gaps_grow() {
        let today = Date(100);
        let missed = answered(None, false, today);
        assert_eq!((missed.due, missed.seen, missed.missed), (Date(101), 1, 1));
        let mut card = missed;
        let mut gaps = Vec::new();
        for _ in 0..8 {
            let day = card.due;
            card = answered(Some(&card), true, day);
            gaps.push(card.due.0 - day.0);
        }
        assert!(gaps.is_sorted() && gaps[0] == 3 && gaps[3] > 14 && gaps[7] == 365, "{gaps:?}");
        assert!((card.chance(card.due) - 0.9).abs() < 0.1 || gaps[7] == 365);
        let fell = answered(Some(&card), false, card.due);
        assert_eq!((fell.due.0 - card.due.0, fell.missed, fell.seen), (1, 2, 10));
        assert!(fell.memory().0.stability < card.memory().0.stability);
    }

    #[test]
    fn right_at_once_rests_longer_and_right_too_early_changes_nothing() {
        let card = answered(None, true, Date(10));
        assert_eq!(card.due, Date(13));
        let again = answered(Some(&card), true, Date(10));
        assert_eq!((again.due, again.memory(), again.seen), (card.due, card.memory(), 2));
        assert_eq!(answered(Some(&card), false, Date(10)).due, Date(11));
        assert!((card.chance(Date(13)) - 0.9).abs() < 0.01 && card.chance(Date(60)) < 0.6);
    }

    #[test]
    fn the_most_urgent_come_first() {
        let card = |due, missed| Card { due: Date(due), seen: 3, missed, ..Card::default() };
        let cards = [("a", card(5, 0)), ("b", card(3, 0)), ("c", card(5, 2)), ("d", card(9, 9))];
        let keys = |limit| due(cards.iter().map(|(k, c)| (*k, c)), Date(5), limit);
        assert_eq!(keys(9), ["b", "c", "a"]);
        assert_eq!(keys(2), ["b", "c"]);
    }

    #[test]
    fn cards_of_earlier_versions_go_on_from_their_box() {
        let card = |level| Card { level: Some(level), due: Date(116), seen: 4, missed: 1, ..Card::default() };
        let (memory, last) = card(3).memory();
        assert_eq!((memory.stability, last), (16.0, Date(100)));
        assert!((card(3).chance(Date(116)) - 0.9).abs() < 1e-9);
        let next = answered(Some(&card(3)), true, Date(116));
        assert!(next.due.0 - 116 == 39 && next.level == Some(4), "{next:?}");
        // One of a version to come does not panic.
        let odd = Card { level: Some(200), due: Date(i64::MIN), seen: u32::MAX, missed: u32::MAX, ..Card::default() };
        assert!(answered(Some(&odd), false, Date(1)).due == Date(2));
    }
}
