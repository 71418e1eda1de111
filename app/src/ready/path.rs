//! From what the machine has and what the learner knows to a way through the course.

use super::{Item, State};
use std::collections::BTreeMap;

/// The ways through the course.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// A day at a time, with a GPU.
    Standard,
    /// For whoever has the basics: the first days by their quizzes.
    Quick,
    /// On the emulator.
    NoGpu,
    /// With the parts for Blackwell: a DGX Spark, or another GPU of compute capability 12.
    Spark,
}

impl Path {
    pub fn title(self) -> &'static str {
        match self {
            Path::Standard => "Standard: four weeks, an hour a day",
            Path::Quick => "Quick: for the experienced",
            Path::NoGpu => "No GPU: on the emulator",
            Path::Spark => "Blackwell: with the parts for DGX Spark and similar machines",
        }
    }

    fn what(self) -> &'static str {
        match self {
            Path::Standard => {
                "Every day from week 1, day 1 on: challenge, explore, concept, code, verify. Times are measured on your \
                 GPU, and the emulator looks for mistakes."
            }
            Path::Quick => {
                "Start with the quiz and the exercise of days 1 to 4 (the Verify and Code It steps), go back to a lesson \
                 only where you get stuck, and start reading at day 5. Two weeks are realistic."
            }
            Path::NoGpu => {
                "Every day can be passed on the emulator, which runs the compiler's own output and counts what a GPU \
                 would do. It cannot measure GPU times: where a day is about time, look at counters and recorded runs."
            }
            Path::Spark => {
                "Every day from week 1 on, and in weeks 2 and 4 the parts for this architecture as well: block-scaled \
                 FP4 and FP8 on your own tensor cores."
            }
        }
    }
}

/// Right and wrong answers of the ready check's quiz by concept: right, asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    by_concept: BTreeMap<String, (usize, usize)>,
}

impl Answers {
    /// Notes a first answer.
    pub fn add(&mut self, concept: &str, right: bool) {
        let (good, all) = self.by_concept.entry(concept.to_owned()).or_default();
        *good += usize::from(right);
        *all += 1;
    }

    fn asked(&self) -> usize {
        self.by_concept.values().map(|(_, all)| all).sum()
    }

    fn right(&self) -> usize {
        self.by_concept.values().map(|(right, _)| right).sum()
    }
}

/// Answers from which on the quick way is proposed, of eight, and the share of them that must be right.
const ENOUGH_ANSWERS: usize = 6;
const QUICK_SHARE: f64 = 0.85;

/// What is proposed, with reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recommendation {
    pub path: Path,
    /// What the path means.
    pub what: &'static str,
    /// Why this one, and what to do before; one sentence each.
    pub because: Vec<String>,
}

/// What to look at for a concept that was answered wrongly.
fn advice(concept: &str) -> &'static str {
    match concept {
        "programming" => {
            "Programming: the kernels are C++ with loops, arrays and pointers, no classes and no standard library. Day 1 \
             has a table of them beside their Python, under Code It; if loops as such are new to you, spend an evening \
             with the first chapters of a tutorial before."
        }
        "indexing" => {
            "Indexing: days 1, 3 and 4 teach it from the ground up (row by row, division and remainder). Take your time \
             there, for every later kernel rests on it."
        }
        "binary numbers" => {
            "Binary numbers: not needed before week 3. Week 3, day 2 and week 4, day 1 show number formats bit by bit."
        }
        "matrices" => {
            "Matrices: day 1 defines the product with an example. Do one of 2 x 3 times 3 x 2 on paper before you go on."
        }
        _ => "Some answers were wrong: their explanations say what to look at.",
    }
}

/// Proposes a path. `items` is the ready check; `capability` that of the best GPU that can be used here, if any;
/// `answers` the quiz, as far as it was answered.
pub fn recommend(items: &[Item], capability: Option<(u32, u32)>, answers: &Answers) -> Recommendation {
    let mut because: Vec<String> = Vec::new();
    let failed: Vec<&str> = items.iter().filter(|item| item.state == State::Failed).map(|item| item.title).collect();
    if !failed.is_empty() {
        because.push(format!("Fix first: {}. Each one says how.", failed.join(", ")));
    }
    let (right, asked) = (answers.right(), answers.asked());
    let experienced = asked >= ENOUGH_ANSWERS && right as f64 >= QUICK_SHARE * asked as f64;
    let path = match capability {
        None => {
            because.push("No GPU here can run kernels, so they run on the emulator.".to_owned());
            Path::NoGpu
        }
        Some((major, minor)) if major >= 12 => {
            because.push(format!("Your GPU has compute capability {major}.{minor}, which is Blackwell."));
            Path::Spark
        }
        Some((major, minor)) => {
            because.push(format!("Your GPU has compute capability {major}.{minor}."));
            if experienced { Path::Quick } else { Path::Standard }
        }
    };
    if asked == 0 {
        because.push("You have not answered the questions yet; they set the pace.".to_owned());
    } else {
        because.push(format!("{right} of {asked} answers were right on the first try."));
    }
    if experienced && path != Path::Quick {
        because.push(format!("You know the basics. {}", Path::Quick.what()));
    }
    let wrong = answers.by_concept.iter().filter(|(_, (right, all))| right < all);
    because.extend(wrong.map(|(concept, _)| advice(concept).to_owned()));
    Recommendation { path, what: path.what(), because }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(right: usize, wrong: &[&str]) -> Answers {
        let mut answers = Answers::default();
        (0..right).for_each(|_| answers.add("programming", true));
        wrong.iter().for_each(|concept| answers.add(concept, false));
        answers
    }

    #[test]
    fn the_machine_decides_the_path_and_the_answers_the_pace() {
        let path = |capability, answers: &Answers| recommend(&[], capability, answers).path;
        let (none, good, poor) = (Answers::default(), answers(8, &[]), answers(4, &["indexing"; 4]));
        assert_eq!(path(None, &good), Path::NoGpu);
        assert_eq!(path(Some((12, 1)), &poor), Path::Spark);
        assert_eq!(path(Some((9, 0)), &none), Path::Standard);
        assert_eq!(path(Some((9, 0)), &poor), Path::Standard);
        assert_eq!(path(Some((9, 0)), &good), Path::Quick);
        // Two right answers prove nothing.
        assert_eq!(path(Some((9, 0)), &answers(2, &[])), Path::Standard);
        let pace = recommend(&[], None, &good).because.join(" ");
        assert!(pace.contains("Two weeks are realistic"), "{pace}");
    }

    #[test]
    fn repairs_come_first_and_wrong_answers_have_advice() {
        let items = [Item::failed("nvrtc", "CUDA compiler", "missing", "run `lockstep setup`")];
        let found = recommend(&items, None, &answers(6, &["matrices", "binary numbers"]));
        assert!(found.because[0].contains("Fix first: CUDA compiler"), "{found:?}");
        let text = found.because.join(" ");
        assert!(text.contains("Matrices: ") && text.contains("Binary numbers: ") && !text.contains("Indexing: "));
    }

    #[test]
    fn every_concept_of_the_quiz_has_advice() {
        let course = curriculum::Course::embedded();
        assert!(course.ready.questions.len() >= 8);
        let general = advice("anything else");
        for question in &course.ready.questions {
            assert_ne!(advice(&question.concept), general, "{}", question.concept);
        }
    }
}
