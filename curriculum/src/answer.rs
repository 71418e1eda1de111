//! Answer exercises: questions about kernels whose source stays shut until they are answered, each with figures of a
//! real run to point at. `kernels/<unit>/<key>/answer.toml`.

use crate::quiz::{Evidence, QUANTITIES, Quantity, evaluate, measure_quantity, quantity};
use gpu_core::spec::Spec;

/// Questions about several kernels.
#[derive(Clone, Debug, PartialEq)]
pub struct AnswerExercise {
    /// Name of its folder.
    pub key: String,
    /// Folder from the course's root.
    pub folder: String,
    pub title: String,
    /// How many of the mysteries a learner gets at a time.
    pub draw: usize,
    pub mysteries: Vec<Mystery>,
}

/// One kernel whose source is shut.
#[derive(Clone, Debug, PartialEq)]
pub struct Mystery {
    pub id: String,
    /// As the learner is told, `Kernel A`.
    pub name: String,
    /// Relative to the exercise's folder.
    pub file: String,
    /// Shown after answering.
    pub source: String,
    pub spec: Spec,
    pub questions: Vec<MysteryQuestion>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct MysteryQuestion {
    pub ask: String,
    pub kind: Asked,
    /// Why the accepted answers are right; empty where `explain` says all.
    pub why: String,
    /// Read after answering.
    pub explain: String,
    /// Comparisons over quantities that must hold of a run on the emulator.
    pub proof: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// One of several answers.
    Choice { choices: Vec<String>, answer: String },
    /// One of the run's figures, by name: each of these is right.
    Evidence { accepted: Vec<String> },
}

impl AnswerExercise {
    /// The mysteries of one go, in an order of its own: the same seed draws the same.
    pub fn drawn(&self, seed: u64) -> Vec<&Mystery> {
        let mut left: Vec<&Mystery> = self.mysteries.iter().collect();
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d;
        let mut drawn = Vec::new();
        while drawn.len() < self.draw && !left.is_empty() {
            // xorshift: any spread will do, and it must not change with a library.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            drawn.push(left.remove((state % left.len() as u64) as usize));
        }
        drawn
    }

    pub fn mystery(&self, id: &str) -> Option<&Mystery> {
        self.mysteries.iter().find(|mystery| mystery.id == id)
    }
}

impl MysteryQuestion {
    /// Whether what was chosen, or pointed at, is right.
    pub fn is_right(&self, given: &str) -> bool {
        match &self.kind {
            Asked::Choice { answer, .. } => answer == given.trim(),
            Asked::Evidence { accepted } => accepted.iter().any(|name| name == given.trim()),
        }
    }

    /// What does not hold of a run: proofs that are false, evidence that the run does not give.
    pub fn unproven(&self, evidence: &Evidence<'_>) -> Vec<String> {
        let mut found: Vec<String> = self.proof.iter().filter_map(|proof| holds(proof, evidence).err()).collect();
        if let Asked::Evidence { accepted } = &self.kind {
            let missing = |name: &&String| measure_quantity(name, evidence).is_none();
            found.extend(accepted.iter().filter(missing).map(|name| format!("the run does not give `{name}`")));
        }
        found
    }
}

/// The figures of a run that a learner can point at.
pub fn figures(evidence: &Evidence<'_>) -> Vec<(&'static Quantity, f64)> {
    QUANTITIES.iter().filter_map(|quantity| Some((quantity, quantity.measure(evidence)?))).collect()
}

/// `load_sectors_per_request > 16`: a comparison of two sums over quantities.
///
/// # Errors
/// It is malformed, a quantity is not there, or it is false: says with which values.
fn holds(proof: &str, evidence: &Evidence<'_>) -> Result<(), String> {
    let (left, sign, right) = sides(proof)?;
    let value = |side: &str| evaluate(&filled(side, evidence)?).map_err(|error| format!("`{proof}`: expected {error}"));
    let (left, right) = (value(left)?, value(right)?);
    let holds = match sign {
        "<" => left < right,
        "<=" => left <= right,
        ">" => left > right,
        ">=" => left >= right,
        _ => (left - right).abs() <= 1e-9 * left.abs().max(right.abs()),
    };
    if holds { Ok(()) } else { Err(format!("`{proof}` is false: {left} {sign} {right}")) }
}

fn sides(proof: &str) -> Result<(&str, &'static str, &str), String> {
    // The longer ones first.
    let sign = ["<=", ">=", "==", "<", ">"].into_iter().find(|sign| proof.contains(sign));
    let split = sign.and_then(|sign| Some((sign, proof.split_once(sign)?)));
    let (sign, (left, right)) =
        split.ok_or_else(|| format!("`{proof}`: expected a comparison with <, <=, >, >= or =="))?;
    Ok((left, sign, right))
}

/// The side with its quantities as numbers.
fn filled(side: &str, evidence: &Evidence<'_>) -> Result<String, String> {
    let mut text = String::new();
    for word in words(side) {
        match word {
            name if is_name(name) && !FUNCTIONS.contains(&name) => {
                let known = quantity(name).ok_or_else(|| unknown(name))?;
                let value = known.measure(evidence).ok_or_else(|| format!("the run does not give `{name}`"))?;
                // No exponent: sums do not know one.
                text += &format!("({value})");
            }
            other => text += other,
        }
    }
    Ok(text)
}

/// What [`evaluate`] calls by name.
const FUNCTIONS: [&str; 5] = ["ceil_div", "floor", "ceil", "min", "max"];

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// Names apart from all else.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let in_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let end = if first.is_ascii_alphabetic() {
            rest.find(|c| !in_name(c)).unwrap_or(rest.len())
        } else if first.is_ascii_digit() {
            rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        words.push(&rest[..end]);
        rest = &rest[end..];
    }
    words
}

pub(crate) fn unknown(name: &str) -> String {
    let known: Vec<&str> = QUANTITIES.iter().map(|quantity| quantity.name).collect();
    format!("there is no quantity `{name}`; there are: {}", known.join(", "))
}

/// A proof compares two sums over quantities that there are.
///
/// # Errors
/// Says what is wrong with it.
pub(crate) fn check_names(proof: &str) -> Result<(), String> {
    let (left, _, right) = sides(proof)?;
    let mut names = words(left).into_iter().chain(words(right)).filter(|word| is_name(word));
    match names.find(|name| quantity(name).is_none() && !FUNCTIONS.contains(name)) {
        Some(name) => Err(unknown(name)),
        None => Ok(()),
    }
}
