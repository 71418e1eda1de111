//! A ladder: one problem solved by a row of kernels, from the plainest to the fastest, each with one change against
//! the one before. `kernels/ladders/<name>/ladder.toml` says what all share (`[base]`, written like an
//! `exercise.toml`) and what each rung changes of it.

use crate::exercise::Experiment;
use gpu_core::spec::Spec;
use serde::Deserialize;

#[derive(Clone, Debug)]
pub struct Ladder {
    /// Name of its folder, for example `matmul-bf16`.
    pub name: String,
    pub title: String,
    /// One or two sentences.
    pub summary: String,
    /// In climbing order.
    pub rungs: Vec<Rung>,
    /// What Python's libraries have for the same problem.
    pub rivals: Vec<Rival>,
    /// Text of the ladder's `rivals.py`, whose functions the rivals name.
    pub rivals_source: String,
}

/// A program of another library for a ladder's problem, run by the learner's Python.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rival {
    /// As tables show it, for example `torch.sum`.
    pub name: String,
    /// The function of `rivals.py` that prepares it.
    pub call: String,
}

#[derive(Clone, Debug)]
pub struct Rung {
    /// File name, for example `03-tiled.cu`.
    pub file: String,
    pub title: String,
    /// What is different from the rung before, one sentence.
    pub change: String,
    /// Why it may be slower than the rung before, where it is.
    pub slower_because: Option<String>,
    pub source: String,
    pub spec: Spec,
}

impl Ladder {
    /// The rung that `text` names: its number from 1, its file, or the file's name without number or ending.
    pub fn rung(&self, text: &str) -> Option<&Rung> {
        let bare = text.strip_suffix(".cu").unwrap_or(text);
        let by_number = bare.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        by_number.and_then(|index| self.rungs.get(index)).or_else(|| {
            self.rungs.iter().find(|rung| {
                let stem = rung.file.strip_suffix(".cu").unwrap_or(&rung.file);
                stem == bare || stem.split_once('-').is_some_and(|(_, name)| name == bare)
            })
        })
    }
}

impl Rung {
    /// Name of the experiment that the rung is in a day that shows its ladder.
    pub fn experiment_name(&self, ladder: &str) -> String {
        format!("{ladder}-{}", self.file.strip_suffix(".cu").unwrap_or(&self.file))
    }

    pub(crate) fn experiment(&self, ladder: &str) -> Experiment {
        Experiment {
            name: self.experiment_name(ladder),
            title: self.title.clone(),
            question: self.change.clone(),
            source: self.source.clone(),
            knobs: Vec::new(),
            spec: Some(self.spec.clone()),
            files: Vec::new(),
        }
    }
}
