//! `lockstep bench --ceilings`: what this machine can do at most, measured now and kept for every plot and milestone.

use super::engine::{self, DeviceArgs};
use super::{Done, Places, json, out, usage};
use gpu_core::device::DeviceChoice;
use gpu_core::job::{Job, Outcome};

pub fn run(device: &DeviceArgs, as_json: bool, places: &Places) -> Done {
    let target = device.target(places)?;
    if target.choice == DeviceChoice::Emulator {
        return Err(usage("ceilings are measured on a GPU: add `--device gpu`; the emulator has counters, no time"));
    }
    let answer = engine::submit(places, &target, Job::Ceilings { device: target.choice.clone() }, !as_json)?;
    let (Outcome::Done, Some(measured)) = (&answer.outcome, &answer.ceilings) else {
        return Err(engine::failure(&answer));
    };
    if as_json {
        out::json(&json::envelope("ceilings", json::ceilings(measured)));
        return Ok(());
    }
    let rows: Vec<Vec<String>> = measured
        .figures()
        .into_iter()
        .map(|figure| vec![figure.name.clone(), figure.text(), figure.how.clone()])
        .collect();
    let style = out::Style::stdout();
    out::print(&format!(
        "{}  driver {}, {}\n{}",
        style.bold(&measured.device),
        measured.driver,
        measured.date,
        out::table(&[out::Align::Left, out::Align::Right, out::Align::Left], &rows)
    ));
    for note in &measured.notes {
        out::print(&format!("  {note}\n"));
    }
    Ok(())
}
