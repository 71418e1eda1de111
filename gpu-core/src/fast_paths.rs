//! The emulator with some of its fast paths and without, side by side: what a run comes to must be the same, and what it takes
//! says what each fast path is worth.

use crate::compile::CompileReport;
use crate::device::{Argument, Device, DeviceInfo, Report, RunError, Sequence};
use crate::emulator_device::EmulatorDevice;
use ptx_emulator::{Fast, FaultKind, Options};
use std::any::Any;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How much longer than usual a run without fast paths may take.
const SLOWER: u32 = 30;

/// One choice of fast paths.
pub struct Way {
    pub name: String,
    device: EmulatorDevice,
    /// Core time of this thread in launches, by rounds.
    pub spent: Vec<Duration>,
}

/// A device that runs everything in several ways by one host thread, and gives what the first of them came to.
pub struct SideBySide {
    pub ways: Vec<Way>,
    rounds: usize,
    /// Runs so far: each begins with another way, lest one always finds the caches warm.
    runs: usize,
    /// What was not the same, with the way's name.
    pub differences: Vec<String>,
}

impl SideBySide {
    /// The first way is what the others are compared with. With more `rounds`, each run is made so often in all ways.
    pub fn new(ways: &[(String, Fast)], rounds: usize) -> Self {
        let rounds = rounds.max(1);
        let way = |(name, fast): &(String, Fast)| Way {
            name: name.clone(),
            device: EmulatorDevice::with(Options { fast: *fast, workers: 1, ..Options::default() }),
            spent: vec![Duration::ZERO; rounds],
        };
        Self { ways: ways.iter().map(way).collect(), rounds, runs: 0, differences: Vec::new() }
    }

    /// Runs in all ways, in rounds, and compares.
    fn each(
        &mut self,
        arguments: &mut [Argument],
        run: &mut dyn FnMut(&mut EmulatorDevice, &mut [Argument]) -> Came,
        rounds: usize,
    ) -> Came {
        let mut came: Vec<Option<(Came, Vec<Argument>)>> = self.ways.iter().map(|_| None).collect();
        for round in 0..rounds {
            for step in 0..self.ways.len() {
                let at = (self.runs + step) % self.ways.len();
                let way = &mut self.ways[at];
                let mut own = arguments.to_vec();
                way.device.take_spent();
                let report = run(&mut way.device, &mut own);
                way.spent[round] += way.device.take_spent();
                came[at] = Some((report, own));
            }
            self.runs += 1;
        }
        let mut came = came.into_iter().flatten();
        // The order of the ways.
        let Some((report, own)) = came.next() else { return Ok(None) };
        for (way, (other, others)) in self.ways[1..].iter().zip(came) {
            if let Some(difference) = difference(&report, &own, &other, &others) {
                self.differences.push(format!("{}: {difference}", way.name));
            }
        }
        arguments.clone_from_slice(&own);
        report
    }
}

impl Device for SideBySide {
    fn info(&self) -> &DeviceInfo {
        self.ways[0].device.info()
    }

    fn load(&mut self, compiled: &CompileReport) -> Result<(), RunError> {
        self.ways.iter_mut().try_for_each(|way| way.device.load(compiled))
    }

    fn run(
        &mut self,
        sequence: &Sequence<'_>,
        arguments: &mut [Argument],
        stop: &AtomicBool,
    ) -> Result<Report, RunError> {
        let sequence = &Sequence { time_limit: sequence.time_limit * SLOWER, ..sequence.clone() };
        let mut run = |device: &mut EmulatorDevice, own: &mut [Argument]| device.run(sequence, own, stop).map(Some);
        let missing = || RunError::Environment("no way to run was asked for".to_owned());
        let rounds = self.rounds;
        self.each(arguments, &mut run, rounds)?.ok_or_else(missing)
    }

    fn run_again(
        &mut self,
        sequence: &Sequence<'_>,
        arguments: &mut [Argument],
        stop: &AtomicBool,
    ) -> Result<Option<Report>, RunError> {
        let sequence = &Sequence { time_limit: sequence.time_limit * SLOWER, ..sequence.clone() };
        let mut run = |device: &mut EmulatorDevice, own: &mut [Argument]| device.run_again(sequence, own, stop);
        // What was kept is there once.
        self.each(arguments, &mut run, 1)
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

/// What a run came to.
type Came = Result<Option<Report>, RunError>;

/// What two runs did not have alike, as one line; None for nothing.
fn difference(usual: &Came, own: &[Argument], other: &Came, others: &[Argument]) -> Option<String> {
    let (usual, other) = match (usual, other) {
        (Ok(Some(usual)), Ok(Some(other))) => (usual, other),
        (usual, other) => {
            let (usual, other) = (format!("{usual:?}"), format!("{other:?}"));
            return (usual != other).then(|| format!("one ended with {usual}, the other with {other}"));
        }
    };
    let by_time = |report: &Report| {
        let kinds = [FaultKind::Stopped, FaultKind::TimeBudget, FaultKind::StepBudget];
        report.faults.iter().any(|fault| kinds.contains(&fault.kind))
    };
    if by_time(usual) || by_time(other) {
        return None;
    }
    if usual.faults != other.faults || usual.completed != other.completed || usual.console != other.console {
        return Some(first_line(
            &(&usual.faults, usual.completed, &usual.console),
            &(&other.faults, other.completed, &other.console),
        ));
    }
    // What ends a launch is noticed by other warps a little later on the fast paths.
    if !usual.completed {
        return None;
    }
    if (&usual.each, &usual.lines) != (&other.each, &other.lines) {
        return Some(first_line(&(&usual.each, &usual.lines), &(&other.each, &other.lines)));
    }
    if (&usual.corruptions, &usual.unwritten) != (&other.corruptions, &other.unwritten) {
        return Some("other bytes were written".to_owned());
    }
    own.iter().zip(others).find_map(|arguments| match arguments {
        (Argument::Buffer(usual), Argument::Buffer(other)) => {
            let at = usual.bytes.iter().zip(&other.bytes).position(|(a, b)| a != b)?;
            Some(format!("byte {at} of `{}` is {:#x} and {:#x}", usual.name, usual.bytes[at], other.bytes[at]))
        }
        _ => None,
    })
}

/// The first line in which two differ.
fn first_line(usual: &impl std::fmt::Debug, other: &impl std::fmt::Debug) -> String {
    let (usual, other) = (format!("{usual:#?}"), format!("{other:#?}"));
    let mut lines = usual.lines().zip(other.lines());
    match lines.find(|(usual, other)| usual != other) {
        Some((usual, other)) => format!("{} and {}", usual.trim(), other.trim()),
        None => "one says more".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{Buffer, Launch};
    use crate::spec::{Dtype, Geometry, Role};

    const PTX: &str = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n\
        .reg .b32 %t; .reg .b64 %a, %o; ld.param.u64 %a, [out]; mov.u32 %t, %tid.x;\n\
        mul.wide.u32 %o, %t, 4; add.s64 %a, %a, %o; st.global.u32 [%a], %t; ret;\n}\n";

    #[test]
    fn runs_in_all_ways_and_says_what_differs() {
        let ways = [("usual".to_owned(), Fast::ALL), ("reference".to_owned(), Fast::NONE)];
        let mut both = SideBySide::new(&ways, 2);
        both.load(&CompileReport { ptx: PTX.to_owned(), ..CompileReport::default() }).expect("runs here");
        let launch = Launch::new("k", Geometry::new([1, 1, 1], [64, 1, 1]));
        let sequence = Sequence::of(launch, Duration::from_secs(5));
        let out = Buffer { name: "out".to_owned(), role: Role::Out, dtype: Dtype::U32, bytes: vec![0; 256] };
        let mut arguments = [Argument::Buffer(out)];
        let report = both.run(&sequence, &mut arguments, &AtomicBool::new(false)).expect("runs");
        assert!(report.completed && both.differences.is_empty(), "{:?}", both.differences);
        let Argument::Buffer(out) = &arguments[0] else { unreachable!("a buffer stays one") };
        assert_eq!(out.bytes[4 * 63], 63);
        assert!(both.ways.iter().all(|way| way.spent.iter().all(|spent| *spent > Duration::ZERO)));
        let ran: Came = Ok(Some(report.clone()));
        let less: Came = Ok(Some(Report { completed: false, ..report }));
        assert!(difference(&ran, &arguments, &less, &arguments).is_some_and(|said| said.contains("true")));
        let mut other = arguments.clone();
        let Argument::Buffer(buffer) = &mut other[0] else { unreachable!("as above") };
        buffer.bytes[9] = 1;
        assert!(difference(&ran, &arguments, &ran, &other).is_some_and(|said| said.contains("byte 9 of `out`")));
    }
}
