//! Spaced review as pure functions: a missed question comes back days later, a known one ever more rarely.

use serde::{Deserialize, Serialize};

/// Days until a question returns, by box. A miss puts it into the first box; every right answer moves it one on.
/// Roughly doubling, so that a week-1 question is seen again in weeks 1, 2 and 4 of the course and then rests.
pub const INTERVAL_DAYS: [i64; 6] = [1, 3, 7, 16, 35, 90];

/// Box of a question that was right the first time: it need not be drilled.
const KNOWN_BOX: u8 = 2;

/// A calendar day as days since 1970-01-01. Shown and stored as `2026-11-21`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Card {
    /// Index into [`INTERVAL_DAYS`].
    #[serde(rename = "box")]
    pub level: u8,
    pub due: Date,
    /// Answers so far, and how many of them were wrong.
    pub seen: u32,
    pub missed: u32,
}

/// The card after an answer on `today`. None is a question that was never answered.
pub fn answered(card: Option<&Card>, correct: bool, today: Date) -> Card {
    let last = INTERVAL_DAYS.len() as u8 - 1;
    let (level, seen, missed) = match card {
        _ if !correct => (0, card.map_or(0, |c| c.seen), card.map_or(0, |c| c.missed)),
        None => (KNOWN_BOX, 0, 0),
        // Right again before it was due (a second look at the same quiz) proves nothing about memory.
        Some(card) if today < card.due => {
            return Card { seen: card.seen + 1, ..*card };
        }
        Some(card) => (card.level.min(last).saturating_add(1).min(last), card.seen, card.missed),
    };
    Card {
        level,
        due: Date(today.0 + INTERVAL_DAYS[usize::from(level)]),
        seen: seen + 1,
        missed: missed + u32::from(!correct),
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
    fn a_miss_returns_tomorrow_and_climbs_again() {
        let today = Date(100);
        let missed = answered(None, false, today);
        assert_eq!((missed.level, missed.due, missed.seen, missed.missed), (0, Date(101), 1, 1));
        let mut card = missed;
        let mut gaps = Vec::new();
        for _ in 0..8 {
            let day = card.due;
            card = answered(Some(&card), true, day);
            gaps.push(card.due.0 - day.0);
        }
        assert_eq!(gaps, [3, 7, 16, 35, 90, 90, 90, 90]);
        let fell = answered(Some(&card), false, card.due);
        assert_eq!((fell.level, fell.missed, fell.seen), (0, 2, 10));
    }

    #[test]
    fn right_at_once_skips_the_drill_and_right_too_early_changes_nothing() {
        let card = answered(None, true, Date(10));
        assert_eq!(card.due, Date(17));
        let again = answered(Some(&card), true, Date(10));
        assert_eq!((again.due, again.level, again.seen), (card.due, card.level, 2));
        assert_eq!(answered(Some(&card), false, Date(10)).due, Date(11));
    }

    #[test]
    fn the_most_urgent_come_first() {
        let card = |due, missed| Card { level: 0, due: Date(due), seen: 3, missed };
        let cards = [("a", card(5, 0)), ("b", card(3, 0)), ("c", card(5, 2)), ("d", card(9, 9))];
        let keys = |limit| due(cards.iter().map(|(k, c)| (*k, c)), Date(5), limit);
        assert_eq!(keys(9), ["b", "c", "a"]);
        assert_eq!(keys(2), ["b", "c"]);
    }

    #[test]
    fn a_card_from_an_unknown_version_does_not_panic() {
        let card = Card { level: 200, due: Date(0), seen: u32::MAX - 1, missed: 0 };
        assert_eq!(answered(Some(&card), true, Date(1)).level, 5);
    }
}
