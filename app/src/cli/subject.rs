//! What `check` and `bench` have in common: an exercise of the course, a kernel for it, and where it runs.

use super::content::Kernel;
use super::engine::{Answer, DeviceArgs, Target};
use super::{Failure, Places, content, json, out};
use curriculum::{Course, Exercise, Unit};
use gpu_core::spec::Spec;
use serde_json::Value;

#[derive(clap::Args)]
pub struct SubjectArgs {
    /// A file, or `scaffold`, `solution`, `reference`, `wrong/NAME`, `experiments/NAME` [default: your own text, else
    /// the scaffold]
    #[arg(long, value_name = "FILE")]
    pub kernel: Option<String>,
    /// An exercise of the day other than its main one
    #[arg(long, value_name = "NAME")]
    exercise: Option<String>,
    #[command(flatten)]
    pub device: DeviceArgs,
}

pub struct Subject<'c> {
    pub day: &'c Unit,
    pub exercise: &'c Exercise,
    pub kernel: Kernel,
    pub target: Target,
    /// The device as typed.
    device: &'c str,
}

impl<'c> Subject<'c> {
    pub fn find(course: &'c Course, day: &str, args: &'c SubjectArgs, places: &Places) -> Result<Self, Failure> {
        let (day, mut exercise) = content::exercise(course, day, args.exercise.as_deref())?;
        // An experiment tells which exercise it is of.
        let experiment =
            args.kernel.as_deref().and_then(content::experiment_name).and_then(|name| day.experiment(name));
        if let (None, Some((its, _))) = (&args.exercise, experiment) {
            exercise = its;
        }
        let kernel = content::kernel(places, day, exercise, args.kernel.as_deref())?;
        let target = args.device.target(places)?;
        Ok(Subject { day, exercise, kernel, target, device: &args.device.device })
    }

    /// What the kernel is judged by.
    pub fn spec(&self) -> &Spec {
        self.kernel.spec.as_ref().unwrap_or(&self.exercise.spec)
    }

    /// The same as a file's text, for a program that reads it again; None for an experiment of other parameters.
    pub fn spec_text(&self) -> Option<&str> {
        self.kernel.spec.is_none().then_some(self.exercise.spec_text.as_str())
    }

    /// What is about to run, for people.
    pub fn heading(&self, style: out::Style) -> String {
        format!(
            "{}  {}\nkernel  {}\ndevice  {}\n\n",
            style.bold(&self.day.address),
            self.spec().title,
            self.kernel.shown,
            self.target.shown
        )
    }

    /// The fields that both commands' `--json` has.
    pub fn fields(&self, answer: &Answer) -> Value {
        serde_json::json!({
            "day": self.day.address,
            "exercise": self.exercise.key,
            "kernel": self.kernel.shown,
            "device": self.device,
            "outcome": json::outcome(&answer.outcome),
            "message": answer.message(),
            "compiled": answer.compiled.as_ref().map(json::compiled),
            "console": answer.console,
            "verdict": answer.verdict.as_ref().map(json::verdict),
        })
    }
}
