//! What runs come to in a plot. Ten thousand of them are megabytes, which no frame should walk through: it is found once
//! for each choice of size and quantity.

use super::{Measure, TimedRun, amount};
use egui::{Color32, Rect};
use gpu_core::bench::{BenchPoint, Timing};
use gpu_core::emulator::{Counters, Traffic};
use std::cell::{OnceCell, RefCell};
use std::ops::Deref;
use std::rc::Rc;

/// Runs of a text as plots take them, oldest first.
#[derive(Default)]
pub struct Runs {
    all: Vec<TimedRun>,
    cases: OnceCell<Vec<String>>,
    shown: RefCell<Option<Rc<Shown>>>,
}

impl From<Vec<TimedRun>> for Runs {
    fn from(all: Vec<TimedRun>) -> Self {
        Self { all, ..Self::default() }
    }
}

impl Deref for Runs {
    type Target = [TimedRun];

    fn deref(&self) -> &[TimedRun] {
        &self.all
    }
}

impl Runs {
    /// Names of the sizes, in the order in which they came.
    pub(super) fn cases(&self) -> &[String] {
        self.cases.get_or_init(|| {
            let mut cases: Vec<String> = Vec::new();
            for run in &self.all {
                if !cases.contains(&run.point.name) {
                    cases.push(run.point.name.clone());
                }
            }
            cases
        })
    }

    /// The runs of one size by a quantity: the wanted one where they have it.
    pub(super) fn shown(&self, case: &str, wanted: Option<Measure>) -> Rc<Shown> {
        let mut shown = self.shown.borrow_mut();
        match &*shown {
            Some(same) if same.case == case && same.wanted == wanted => same.clone(),
            _ => shown.insert(Rc::new(Shown::new(self, case, wanted))).clone(),
        }
    }
}

/// What one run contributes to the plot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Drawn {
    /// Low, middle and high; for times p20, median and p80.
    Measured {
        low: f64,
        middle: f64,
        high: f64,
    },
    Modelled {
        low: f64,
        high: f64,
    },
    /// An exact count.
    Counted(f64),
    /// Counted on the emulator, so it has no place on a time axis.
    NoTime,
    Rejected,
}

/// One size's runs, by one quantity.
pub(super) struct Shown {
    case: String,
    wanted: Option<Measure>,
    pub measure: Measure,
    timed: bool,
    counted: bool,
    /// Where each run stands among all runs, its number, and what it contributes.
    pub drawn: Vec<(usize, u32, Drawn)>,
    /// The ends of what is drawn.
    pub low: f64,
    pub high: f64,
    /// Level of the reference kernel, from the newest run that has it.
    pub reference: Option<f64>,
    pub ceiling: Option<f64>,
    /// The fewest sectors that the bytes of the newest counted run need, where sectors are shown.
    pub least: Option<f64>,
    /// The newest run that was timed: it tells what another program's time means on the axis.
    pub newest_timed: Option<usize>,
    /// The newest run that is drawn.
    pub newest: Option<usize>,
    /// Kinds of [`Drawn`] that there are.
    kinds: [bool; Drawn::KINDS],
    /// What many runs were painted as last, and where that was.
    pub columns: RefCell<Option<(Place, Rc<[Column]>)>>,
}

/// Where a plot is and what it spans; what is painted in it depends on nothing else.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    pub frame: Rect,
    pub low: [f64; 2],
    pub high: [f64; 2],
    pub log: bool,
    /// The theme, by one of its colours.
    pub color: Color32,
}

/// Runs that fall on the same pixels, from the lowest to the highest.
pub(super) type Column = (Rect, Color32);

impl Shown {
    fn new(all: &[TimedRun], case: &str, wanted: Option<Measure>) -> Self {
        let runs: Vec<(usize, &TimedRun)> = all.iter().enumerate().filter(|(_, run)| run.point.name == case).collect();
        let timed = runs.iter().any(|(_, run)| run.point.timing.is_some() || run.point.stats.is_some());
        let counted = runs.iter().any(|(_, run)| run.point.counters.is_some());
        let fits = |measure: &Measure| if measure.is_timed() { timed } else { counted };
        let fallback = if timed { Measure::Share } else { Measure::LoadSectors };
        let measure = wanted.filter(fits).unwrap_or(fallback);
        let drawn: Vec<_> = runs.iter().map(|(at, run)| (*at, run.number, drawn(run, measure))).collect();
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for (_, _, drawn) in &drawn {
            if let Some((from, to)) = drawn.ends() {
                (low, high) = (low.min(from), high.max(to));
            }
        }
        let newest = |has: &dyn Fn(&BenchPoint) -> Option<f64>| {
            runs.iter().rev().find_map(|(at, run)| has(&run.point).map(|ns| (*at, ns)))
        };
        let newest_of = |ns: &dyn Fn(&BenchPoint) -> Option<f64>| {
            newest(ns).and_then(|(at, ns)| level(&all[at].point, measure, ns))
        };
        let reference = newest_of(&|point| Some(point.reference?.median_ns));
        let ceiling = newest_of(&ceiling_ns);
        let traffic = |counters: &Counters| match measure {
            Measure::LoadSectors => Some(counters.global_load),
            Measure::StoreSectors => Some(counters.global_store),
            _ => None,
        };
        let counted_point = runs.iter().rev().find_map(|(_, run)| run.point.counters.as_ref());
        let least = counted_point.and_then(traffic).and_then(|traffic| fewest_sectors(&traffic));
        let newest_timed = newest(&|point| Some(point.stats?.median_ns)).map(|(at, _)| at);
        let newest = drawn.iter().rfind(|(.., drawn)| drawn.ends().is_some()).or(drawn.last()).map(|(at, ..)| *at);
        let mut kinds = [false; Drawn::KINDS];
        drawn.iter().for_each(|(.., drawn)| kinds[drawn.kind()] = true);
        Self {
            case: case.to_owned(),
            wanted,
            measure,
            timed,
            counted,
            drawn,
            low,
            high,
            reference,
            ceiling,
            least,
            newest_timed,
            newest,
            kinds,
            columns: RefCell::default(),
        }
    }

    /// Whether these runs have a quantity.
    pub fn fits(&self, measure: Measure) -> bool {
        if measure.is_timed() { self.timed } else { self.counted }
    }

    /// Whether any run is drawn in the way of `like`.
    pub fn has(&self, like: Drawn) -> bool {
        self.kinds[like.kind()]
    }
}

impl Drawn {
    const KINDS: usize = 5;
    /// One of each kind, whatever its values.
    pub const MEASURED: Drawn = Drawn::Measured { low: 0.0, middle: 0.0, high: 0.0 };
    pub const MODELLED: Drawn = Drawn::Modelled { low: 0.0, high: 0.0 };
    pub const COUNTED: Drawn = Drawn::Counted(0.0);

    fn kind(&self) -> usize {
        match self {
            Drawn::Measured { .. } => 0,
            Drawn::Modelled { .. } => 1,
            Drawn::Counted(_) => 2,
            Drawn::NoTime => 3,
            Drawn::Rejected => 4,
        }
    }

    /// Its lowest and highest value, where it has any.
    fn ends(&self) -> Option<(f64, f64)> {
        match *self {
            Drawn::Measured { low, high, .. } | Drawn::Modelled { low, high } => Some((low, high)),
            Drawn::Counted(value) => Some((value, value)),
            Drawn::NoTime | Drawn::Rejected => None,
        }
    }
}

pub(super) fn drawn(run: &TimedRun, measure: Measure) -> Drawn {
    let point = &run.point;
    if let Some(counters) = point.counters.as_ref().filter(|_| !measure.is_timed()) {
        let each = |t: &gpu_core::emulator::Traffic| t.sectors as f64 / (t.requests.max(1)) as f64;
        return Drawn::Counted(match measure {
            Measure::LoadSectors => each(&counters.global_load),
            Measure::StoreSectors => each(&counters.global_store),
            Measure::BankConflicts => {
                (counters.shared_load.bank_conflicts + counters.shared_store.bank_conflicts) as f64
            }
            Measure::WarpInstructions => counters.warp_instructions as f64,
            _ => counters.global_load.bytes as f64,
        });
    }
    if !measure.is_timed() {
        return Drawn::NoTime;
    }
    if point.rejected.is_some() {
        return Drawn::Rejected;
    }
    // Nanoseconds to the measure; a shorter time is a higher share or rate.
    let convert = |ns: f64| match measure {
        Measure::Share => ceiling_ns(point).map(|ceiling| 100.0 * ceiling / ns),
        Measure::Rate => Some(amount(point) / ns * 1e9),
        _ => Some(ns),
    };
    let ordered = |a: f64, b: f64| Some((convert(a)?, convert(b)?)).map(|(a, b)| (a.min(b), a.max(b)));
    let found = match (&point.timing, &point.stats) {
        (Some(Timing::Modelled { low_ns, high_ns, .. }), _) => {
            ordered(*low_ns, *high_ns).map(|(low, high)| Drawn::Modelled { low, high })
        }
        (_, Some(stats)) => ordered(stats.p20_ns, stats.p80_ns)
            .and_then(|(low, high)| Some(Drawn::Measured { low, middle: convert(stats.median_ns)?, high })),
        _ => None,
    };
    found.unwrap_or(Drawn::NoTime)
}

/// The time that the measured ceiling allows for this point.
fn ceiling_ns(point: &BenchPoint) -> Option<f64> {
    Some(point.stats?.median_ns * point.share_of_ceiling?)
}

/// Sectors of a request that hold its bytes and nothing else.
fn fewest_sectors(traffic: &Traffic) -> Option<f64> {
    const SECTOR_BYTES: f64 = 32.0;
    let requests = traffic.requests as f64;
    (traffic.requests > 0).then(|| (traffic.bytes as f64 / SECTOR_BYTES / requests).max(1.0))
}

/// Where a time stands on the axis of a quantity, for work as in `point`.
pub(super) fn level(point: &BenchPoint, measure: Measure, ns: f64) -> Option<f64> {
    match measure {
        Measure::Share => Some(100.0 * ceiling_ns(point)? / ns),
        Measure::Time => Some(ns),
        Measure::Rate => Some(amount(point) / ns * 1e9),
        _ => None,
    }
}
