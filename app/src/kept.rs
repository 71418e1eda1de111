//! What is there again after a restart: what the last run of a text found, and where the window was.

use crate::dock::Saved;
use gpu_core::bench::BenchReport;
use gpu_core::emulator::{Fault, Trace};
use gpu_core::verdict::{Captured, Verdict};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Larger than this it is kept without its trace.
const MOST_BYTES: usize = 6 << 20;

/// Places of texts that are remembered, the newest ones.
const MOST_PLACES: usize = 200;

/// The last run of a text. Written in a form that only the same version reads.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Kept {
    pub(crate) version: String,
    pub verdict: Option<Verdict>,
    pub bench: Option<BenchReport>,
    /// The text that they are of.
    pub text: String,
    /// The benchmark is newer than the verdict.
    pub bench_is_last: bool,
    pub console: String,
    pub traced: Option<Traced>,
}

/// What the last judged check recorded. Later runs have texts of their own, and need not have come to a verdict.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Traced {
    /// None where the last size was not reached.
    pub trace: Option<Trace>,
    /// The numbers of the case that was traced.
    pub captured: Option<Captured>,
    pub source: String,
    /// A fault that ended the run that was traced: what would have come later is missing.
    pub ended_by: Option<Fault>,
}

impl Kept {
    /// None when it cannot be written down.
    pub fn encode(mut self) -> Option<Vec<u8>> {
        env!("CARGO_PKG_VERSION").clone_into(&mut self.version);
        if let Some(verdict) = &mut self.verdict {
            // They are in `traced`.
            (verdict.trace, verdict.captured) = (None, None);
        }
        let bytes = postcard::to_stdvec(&self).ok()?;
        if bytes.len() <= MOST_BYTES {
            return Some(bytes);
        }
        self.traced = None;
        postcard::to_stdvec(&self).ok().filter(|bytes| bytes.len() <= MOST_BYTES)
    }

    /// None where it is of another version, or damaged: then nothing is known of the last run.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        // The version comes first, so that nothing of another one is taken apart.
        let (version, _) = postcard::take_from_bytes::<String>(bytes).ok()?;
        (version == env!("CARGO_PKG_VERSION")).then(|| postcard::from_bytes(bytes).ok())?
    }
}

/// Where the window was: carets, how far texts were scrolled, the picture.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Places {
    #[serde(default)]
    pub picture: Option<String>,
    /// Anchor and cursor by text.
    #[serde(default)]
    pub carets: BTreeMap<String, (usize, usize)>,
    /// Zero-based first lines of folded hints, by text.
    #[serde(default)]
    pub folds: BTreeMap<String, Vec<usize>>,
    /// How far down, in points, by text.
    #[serde(default)]
    pub scrolls: BTreeMap<String, f32>,
}

impl Places {
    /// Forgets what is too much to keep.
    pub fn trim(&mut self) {
        while self.carets.len() > MOST_PLACES {
            self.carets.pop_first();
        }
        self.folds.retain(|_, lines| !lines.is_empty());
        while self.folds.len() > MOST_PLACES {
            self.folds.pop_first();
        }
        while self.scrolls.len() > MOST_PLACES {
            self.scrolls.pop_first();
        }
        self.scrolls.retain(|_, down| down.is_finite() && *down > 0.0);
    }
}

/// `window.json`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct WindowFile {
    #[serde(flatten)]
    pub dock: Saved,
    #[serde(default)]
    pub places: Places,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_run_is_read_by_its_own_version_alone() {
        let kept = Kept { text: "kernel".to_owned(), console: "said".to_owned(), ..Kept::default() };
        let bytes = kept.encode().unwrap();
        let read = Kept::decode(&bytes).unwrap();
        assert_eq!((read.text.as_str(), read.console.as_str()), ("kernel", "said"));
        let mut other = bytes.clone();
        other[1] ^= 1;
        assert!(Kept::decode(&other).is_none() && Kept::decode(&bytes[..4]).is_none() && Kept::decode(&[]).is_none());
    }

    #[test]
    fn a_window_file_of_an_earlier_version_is_read() {
        let old: WindowFile = serde_json::from_str(r#"{"layout":"code","screens":{}}"#).unwrap();
        assert_eq!(old.places, Places::default());
        let mut places = Places { picture: Some("launch".to_owned()), ..Places::default() };
        places.scrolls.insert("a".to_owned(), 12.0);
        places.scrolls.insert("b".to_owned(), f32::NAN);
        places.trim();
        let text = serde_json::to_string(&WindowFile { places: places.clone(), ..old }).unwrap();
        assert_eq!(serde_json::from_str::<WindowFile>(&text).unwrap().places, places);
    }
}
