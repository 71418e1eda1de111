//! Hardware counters through Nsight Compute, when it is installed and permitted.
//!
//! `ncu --csv` prints one row per launch and metric. Lines that are not part of the table (`==PROF==`, the program's
//! own output) are skipped, columns are found by name, thousands separators are stripped, and `n/a` is no value.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use thiserror::Error;

/// Metrics of one launch by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LaunchMetrics {
    pub kernel: String,
    pub values: BTreeMap<String, f64>,
}

/// Why there are no hardware counters.
#[derive(Debug, Error)]
pub enum NcuError {
    #[error("Nsight Compute (ncu) was not found: install it or put it on PATH; the emulator's counters need none")]
    NotFound,
    #[error(
        "the driver lets administrators only read GPU counters (ERR_NVGPUCTRPERM): ask one to set NVreg_RestrictProfilingToAdminUsers=0, or use the emulator's counters"
    )]
    NotPermitted,
    #[error("ncu failed: {0}")]
    Failed(String),
    #[error("ncu printed no table: {0}")]
    NoTable(String),
}

/// Where Nsight Compute is: `PATH`, then the places that its installers use.
pub fn find() -> Option<PathBuf> {
    let name = if cfg!(windows) { "ncu.exe" } else { "ncu" };
    let on_path = std::env::var_os("PATH")
        .into_iter()
        .flat_map(|path| std::env::split_paths(&path).collect::<Vec<_>>())
        .map(|folder| folder.join(name));
    let installed = ["/usr/local/cuda/bin", "/opt/cuda/bin"].into_iter().map(|folder| PathBuf::from(folder).join(name));
    let versions = std::fs::read_dir("/opt/nvidia/nsight-compute").into_iter().flatten().flatten();
    let own = versions.map(|entry| entry.path().join(name));
    on_path.chain(installed).chain(own).find(|path| path.is_file())
}

/// Runs `program` under ncu and returns the metrics of its launches in launch order.
///
/// # Errors
/// When ncu is missing, not permitted, fails, or prints no table; each says what to do.
pub fn profile(program: &[OsString], metrics: &[&str], kernels: Option<&str>) -> Result<Vec<LaunchMetrics>, NcuError> {
    let ncu = find().ok_or(NcuError::NotFound)?;
    let mut command = Command::new(ncu);
    command.args(["--csv", "--print-units", "base", "--clock-control", "none", "--target-processes", "all"]);
    command.arg("--metrics").arg(metrics.join(","));
    if let Some(pattern) = kernels {
        command.arg("--kernel-name").arg(format!("regex:{pattern}"));
    }
    let output = command.args(program).output().map_err(|error| NcuError::Failed(error.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if text.contains("ERR_NVGPUCTRPERM") {
        return Err(NcuError::NotPermitted);
    }
    let launches = parse(&text);
    if !launches.is_empty() {
        return Ok(launches);
    }
    let said = format!("{text}{}", String::from_utf8_lossy(&output.stderr));
    let last: Vec<&str> = said.lines().rev().take(3).collect();
    let last = last.into_iter().rev().collect::<Vec<_>>().join("; ");
    Err(if output.status.success() { NcuError::NoTable(last) } else { NcuError::Failed(last) })
}

/// Reads the table of `ncu --csv`.
pub fn parse(text: &str) -> Vec<LaunchMetrics> {
    let mut rows = text.lines().filter(|line| line.starts_with('"')).map(split);
    let Some(header) = rows.next() else { return Vec::new() };
    let column = |name: &str| header.iter().position(|title| title == name);
    let (Some(id), Some(kernel), Some(metric), Some(value)) =
        (column("ID"), column("Kernel Name"), column("Metric Name"), column("Metric Value"))
    else {
        return Vec::new();
    };
    let mut launches: BTreeMap<u64, LaunchMetrics> = BTreeMap::new();
    for row in rows {
        let Some(number) = row.get(id).and_then(|field| field.parse().ok()) else { continue };
        let (Some(name), Some(key), Some(figure)) = (row.get(kernel), row.get(metric), row.get(value)) else {
            continue;
        };
        let launch = launches.entry(number).or_default();
        launch.kernel.clone_from(name);
        if let Ok(figure) = figure.replace(',', "").parse() {
            launch.values.insert(key.clone(), figure);
        }
    }
    launches.into_values().collect()
}

/// Splits a line of quoted fields; a doubled quote stands for one.
fn split(line: &str) -> Vec<String> {
    let mut fields = Vec::new();
    let mut field = String::new();
    let mut quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '"' if quoted && chars.peek() == Some(&'"') => {
                field.push('"');
                chars.next();
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(std::mem::take(&mut field)),
            other => field.push(other),
        }
    }
    fields.push(field);
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = "==WARNING== Note: Running with unmodified GPU clocks.\n==PROF== Connected to process 423\nits own output, with \"quotes\"\n\"ID\",\"Process ID\",\"Kernel Name\",\"Metric Name\",\"Metric Unit\",\"Metric Value\"\n\"0\",\"423\",\"copy\",\"lts__t_sectors.sum\",\"sector\",\"1,234\"\n\"0\",\"423\",\"copy\",\"dram__bytes.sum\",\"byte\",\"n/a\"\n\"1\",\"423\",\"add(float, int)\",\"lts__t_sectors.sum\",\"sector\",\"5.5\"\n==PROF== Disconnected\n";

    #[test]
    fn reads_launches_in_order() {
        let launches = parse(SAMPLE);
        assert_eq!(launches.len(), 2);
        assert_eq!(launches[0].kernel, "copy");
        assert_eq!(launches[0].values.get("lts__t_sectors.sum"), Some(&1234.0));
        assert_eq!(launches[0].values.get("dram__bytes.sum"), None, "n/a is no value");
        assert_eq!(launches[1].kernel, "add(float, int)");
    }

    #[test]
    fn columns_are_found_by_name_and_garbage_is_no_panic() {
        assert_eq!(parse(""), Vec::new());
        assert_eq!(parse("\"ID\",\"Kernel Name\"\n\"0\",\"x\"\n"), Vec::new());
        assert_eq!(
            parse("\"ID\",\"Metric Value\",\"Metric Name\",\"Kernel Name\"\n\"0\"\n\"x\",\"1\",\"m\",\"k\"\n"),
            Vec::new()
        );
        let moved =
            parse("\"ID\",\"Metric Value\",\"Metric Name\",\"Kernel Name\"\n\"7\",\"2\",\"m\",\"k \"\"q\"\"\"\n");
        assert_eq!(moved[0].kernel, "k \"q\"");
        assert_eq!(moved[0].values.get("m"), Some(&2.0));
    }
}
