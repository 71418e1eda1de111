//! What an exercise holds: the CUDA half of a unit.

use crate::hints::Hints;
use gpu_core::spec::Spec;

/// Key of the exercise in the day's own folder.
pub const MAIN: &str = "main";

/// A kernel to write: the CUDA half of a unit.
#[derive(Clone, Debug)]
pub struct Exercise {
    /// `main` for the day's own exercise, else the sub-folder's name (`matrix-add`).
    pub key: String,
    /// Folder from the course's root, for example `kernels/week1/day4-first-kernel`.
    pub folder: String,
    pub spec: Spec,
    /// `exercise.toml` as written.
    pub spec_text: String,
    /// What the learner starts from: compiles, and fails the check.
    pub scaffold: String,
    /// What benchmarks compare with: as fast as we can make it.
    pub reference: String,
    /// `solution.cu`, where the reference is not the plain answer: see [`Exercise::solution`].
    pub plain_solution: Option<String>,
    /// Kernels that must be rejected, each for its declared reason.
    pub wrongs: Vec<WrongKernel>,
    pub experiments: Vec<Experiment>,
    pub scripts: Vec<Script>,
    pub hints: Hints,
    /// The ladder whose rivals a benchmark may time beside the kernel.
    pub rivals: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongKernel {
    /// Relative to the exercise's folder, for example `wrong/out_of_bounds.cu`.
    pub file: String,
    pub source: String,
    /// What it must be rejected for (a fault kind, `wrong_output`, `never_written`, …).
    pub fault: String,
    pub why: String,
}

/// A macro that an experiment varies, defined with `-D NAME=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knob {
    pub name: String,
    pub values: Vec<i64>,
    pub default: i64,
    /// What turning it shows.
    pub label: String,
}

/// A kernel to play with: correct or instructive, with values to turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// File name without `.cu`.
    pub name: String,
    pub title: String,
    /// What running it answers.
    pub question: String,
    pub source: String,
    /// Whole-number macros of the source; [`Experiment::with`] turns them.
    pub knobs: Vec<Knob>,
    /// Its own spec where it takes other parameters than the exercise.
    pub spec: Option<Spec>,
    /// Its own files, relative to the exercise's folder.
    pub files: Vec<String>,
}

/// A Python step beside the kernel, never required to pass a day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// File name, for example `04_triton_vector_add.py`.
    pub file: String,
    /// First line of the module's docstring.
    pub title: String,
    pub source: String,
    /// Distributions that it imports, from its inline script metadata (PEP 723).
    pub packages: Vec<String>,
}

impl Exercise {
    /// The answer that a learner is shown: the scaffold with its marked places filled in.
    pub fn solution(&self) -> &str {
        self.plain_solution.as_deref().unwrap_or(&self.reference)
    }

    /// The file of [`Self::solution`].
    pub fn solution_file(&self) -> &'static str {
        if self.plain_solution.is_some() { "solution.cu" } else { "reference.cu" }
    }
}

/// The line `#define NAME value`: its zero-based number and the value.
pub(crate) fn define_line<'a>(source: &'a str, name: &str) -> Option<(usize, &'a str)> {
    source.lines().enumerate().find_map(|(number, line)| {
        let mut words = line.split_whitespace();
        let is_it = words.next() == Some("#define") && words.next() == Some(name);
        is_it.then(|| words.next()).flatten().map(|value| (number, value))
    })
}

impl Experiment {
    /// The source with knobs turned, by rewriting their `#define` lines; knobs that are not named keep their value.
    ///
    /// # Errors
    /// No such knob, or a value that it does not offer: says which exist.
    pub fn with(&self, settings: &[(String, i64)]) -> Result<String, String> {
        let mut lines: Vec<String> = self.source.lines().map(str::to_owned).collect();
        for (name, value) in settings {
            let Some(knob) = self.knobs.iter().find(|knob| knob.name == *name) else {
                let known: Vec<_> = self.knobs.iter().map(|knob| knob.name.as_str()).collect();
                return Err(format!("experiment {} has no knob `{name}`; it has: {}", self.name, known.join(", ")));
            };
            if !knob.values.contains(value) {
                let known: Vec<_> = knob.values.iter().map(ToString::to_string).collect();
                return Err(format!("knob {name} takes {} (found {value})", known.join(", ")));
            }
            if let Some((number, _)) = define_line(&self.source, name) {
                lines[number] = format!("#define {name} {value}");
            }
        }
        Ok(lines.join("\n") + "\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "#define STRIDE 1\n#define STRIDED 1\nint a = STRIDE;\n";

    fn experiment() -> Experiment {
        let knob = Knob { name: "STRIDE".into(), values: vec![1, 2, 32], default: 1, label: String::new() };
        Experiment {
            name: "stride".into(),
            title: String::new(),
            question: String::new(),
            source: TEXT.into(),
            knobs: vec![knob],
            spec: None,
            files: Vec::new(),
        }
    }

    #[test]
    fn knobs_change_their_definition_only() {
        let experiment = experiment();
        let set = |name: &str, value: i64| experiment.with(&[(name.to_owned(), value)]);
        assert_eq!(set("STRIDE", 32).unwrap(), TEXT.replacen("STRIDE 1", "STRIDE 32", 1));
        assert_eq!(experiment.with(&[]).unwrap(), TEXT);
        assert!(set("STRIDE", 3).unwrap_err().contains("1, 2, 32"));
        assert!(set("DEPTH", 3).unwrap_err().contains("it has: STRIDE"));
    }
}
