//! The recorded runs of ladders (`assets/recorded/ladder-*.json`), reduced to what a plot shows.

use gpu_core::bench::Stats;
use serde::Deserialize;
use std::sync::LazyLock;

/// A ladder as it was measured on one machine.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub name: &'static str,
    /// `bf16` of `matmul-bf16`.
    pub short: String,
    pub machine: String,
    pub driver: String,
    pub date: String,
    pub rungs: Vec<Figure>,
    /// The fastest rival of the ladder at the same size: its name, and its rate beside the last rung.
    rival: Option<(String, f64)>,
}

/// One rung at one size.
#[derive(Clone, Debug)]
pub struct Figure {
    pub title: String,
    pub change: String,
    pub size: String,
    pub flops_per_s: f64,
    /// Its speed as a multiple of the library's in the same run.
    pub of_library: Option<f64>,
    library: Option<String>,
}

impl Recorded {
    /// The rate of the library beside the last rung that has one, or of the fastest rival.
    pub fn library_flops_per_s(&self) -> Option<f64> {
        if let Some((_, rate)) = &self.rival {
            return Some(*rate);
        }
        let beside = self.rungs.iter().rev().find(|rung| rung.of_library.is_some())?;
        Some(beside.flops_per_s / beside.of_library?)
    }

    /// Without version and number of algorithms: `cuBLASLt`.
    pub fn library_name(&self) -> &str {
        if let Some((name, _)) = &self.rival {
            return name;
        }
        let named = self.rungs.iter().rev().find_map(|rung| rung.library.as_deref());
        named.and_then(|name| name.split_whitespace().next()).unwrap_or("the library")
    }
}

#[derive(Deserialize)]
struct File {
    machine: Machine,
    rungs: Vec<Rung>,
    rivals: Option<Vec<Rival>>,
}

/// A contestant beside the last rung, at a size.
#[derive(Deserialize)]
struct Rival {
    name: String,
    rung: String,
    gflops: Option<f64>,
    ok: bool,
}

#[derive(Deserialize)]
struct Machine {
    name: String,
    driver: String,
    date: String,
}

#[derive(Deserialize)]
struct Rung {
    file: String,
    title: String,
    change: String,
    bench: Option<Bench>,
}

#[derive(Deserialize)]
struct Bench {
    points: Vec<Point>,
}

#[derive(Deserialize)]
struct Point {
    name: String,
    flops: f64,
    stats: Option<Stats>,
    library: Option<Library>,
    of_library: Option<f64>,
}

#[derive(Deserialize)]
struct Library {
    name: String,
}

static FILES: [(&str, &str); 5] = [
    ("attention", include_str!("../../../../assets/recorded/ladder-attention-h200.json")),
    ("matmul-bf16", include_str!("../../../../assets/recorded/ladder-matmul-bf16-h200.json")),
    ("matmul-fp32", include_str!("../../../../assets/recorded/ladder-matmul-fp32-h200.json")),
    ("matmul-fp8", include_str!("../../../../assets/recorded/ladder-matmul-fp8-h200.json")),
    ("matmul-tf32", include_str!("../../../../assets/recorded/ladder-matmul-tf32-h200.json")),
];

static LADDERS: LazyLock<Vec<Recorded>> =
    LazyLock::new(|| FILES.iter().filter_map(|(name, text)| read(name, text)).collect());

/// A recorded ladder by name; None where it was not recorded, or its file cannot be read.
pub fn find(name: &str) -> Option<&'static Recorded> {
    LADDERS.iter().find(|ladder| ladder.name == name)
}

fn read(name: &'static str, text: &str) -> Option<Recorded> {
    let file: File = serde_json::from_str(text).ok()?;
    let points = |rung: &Rung| rung.bench.as_ref().map_or(0, |bench| bench.points.len());
    // All rungs at one size, or their bars could not be compared: the one that most were measured at.
    let sizes: Vec<&str> = file
        .rungs
        .iter()
        .filter(|rung| points(rung) > 0)
        .flat_map(|rung| rung.bench.iter().flat_map(|bench| bench.points.iter().map(|point| point.name.as_str())))
        .collect();
    let size = *sizes.iter().max_by_key(|size| sizes.iter().filter(|other| other == size).count())?;
    let figure = |rung: &Rung| {
        let point = rung.bench.as_ref()?.points.iter().find(|point| point.name == size)?;
        Some(Figure {
            title: rung.title.clone(),
            change: rung.change.clone(),
            size: size.to_owned(),
            flops_per_s: point.flops / (point.stats.as_ref()?.median_ns * 1e-9),
            of_library: point.of_library,
            library: point.library.as_ref().map(|library| library.name.clone()),
        })
    };
    let rungs: Vec<Figure> = file.rungs.iter().filter_map(figure).collect();
    let own = file.rungs.last().map_or("", |rung| rung.file.as_str());
    let beside: Vec<(&str, f64)> = file
        .rivals
        .iter()
        .flatten()
        .filter(|rival| rival.ok && rival.name == size)
        .filter_map(|rival| Some((rival.rung.as_str(), rival.gflops?)))
        .collect();
    // They were timed in turns with the last rung, in a run of its own: what holds between runs is the ratio.
    let scale = beside.iter().find(|(name, _)| *name == own).zip(rungs.last());
    let rival = beside
        .iter()
        .filter(|(name, _)| *name != own)
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .zip(scale)
        .map(|((name, rate), ((_, own), last))| ((*name).to_owned(), rate / own * last.flops_per_s));
    let Machine { name: machine, driver, date } = file.machine;
    let short = name.rsplit('-').next().unwrap_or(name).to_owned();
    Some(Recorded { name, short, machine, driver, date, rungs, rival })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_read() {
        for (name, _) in FILES {
            let ladder = find(name).unwrap_or_else(|| panic!("{name} cannot be read"));
            assert!(!ladder.date.is_empty() && !ladder.machine.is_empty() && !ladder.rungs.is_empty(), "{name}");
        }
    }
}
