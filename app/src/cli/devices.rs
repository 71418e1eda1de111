//! `lockstep devices`: what kernels can run on, here and elsewhere.

use super::engine::{self, Target};
use super::{Done, Failure, Places, json, out, usage};
use curriculum::store::{Remote, Store};
use gpu_core::device::{DeviceChoice, DeviceInfo};
use gpu_core::job::{Job, Outcome};
use std::time::Duration;

#[derive(clap::Args)]
pub struct Args {
    /// List the devices of this remote machine
    #[arg(long, value_name = "NAME", conflicts_with_all = ["add", "remove"])]
    remote: Option<String>,
    /// Remember a remote machine: a name and the command that starts `lockstep worker` there
    #[arg(long, num_args = 2, value_names = ["NAME", "COMMAND"], conflicts_with = "remove")]
    add: Option<Vec<String>>,
    /// Forget a remote machine
    #[arg(long, value_name = "NAME")]
    remove: Option<String>,
    /// Print one JSON object (app/JSON.md, "devices")
    #[arg(long)]
    pub json: bool,
}

pub fn run(args: &Args, places: &Places) -> Done {
    if let Some([name, command]) = args.add.as_deref() {
        return change(places, |remotes| {
            check_remote(name, command)?;
            remotes.retain(|remote| remote.name != *name);
            remotes.push(Remote { name: name.clone(), command: command.clone() });
            Ok(format!("Remembered. Try it: lockstep devices --remote {name}"))
        });
    }
    if let Some(name) = &args.remove {
        return change(places, |remotes| {
            let before = remotes.len();
            remotes.retain(|remote| remote.name != *name);
            if remotes.len() == before { Err(engine::unknown_remote(name, remotes)) } else { Ok("Forgotten.".into()) }
        });
    }
    let remotes = places.settings().remotes;
    let target = match &args.remote {
        Some(name) => Target::remote(name, &remotes)?,
        None => Target::local_emulator(),
    };
    let answer = engine::submit(places, &target, Job::Devices, false)?;
    if answer.outcome != Outcome::Done {
        return Err(engine::failure(&answer));
    }
    let list = answer.devices.ok_or_else(|| Failure::Usage("the engine listed no devices".into()))?;
    if args.json {
        out::json(&json::devices(&list, &remotes));
    } else {
        out::print(&text(&list, &remotes));
    }
    Ok(())
}

/// Changes the list of remote machines in the settings.
fn change(places: &Places, edit: impl FnOnce(&mut Vec<Remote>) -> Result<String, Failure>) -> Done {
    let store = Store::open(&places.data_dir()).map_err(usage)?;
    let mut settings = store.settings();
    let message = edit(&mut settings.remotes)?;
    store.save_settings(&settings);
    let written = store.flush(Duration::from_secs(10));
    if let Some(problem) = store.take_problems().first() {
        return Err(usage(problem));
    }
    if !written {
        return Err(usage("the settings were not written within ten seconds; is the disk busy or full?"));
    }
    out::remark(&message);
    Ok(())
}

/// Refuses names that could be mistaken for another device, and empty commands.
fn check_remote(name: &str, command: &str) -> Done {
    let fits = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    if !fits || matches!(name, "emulator" | "gpu") {
        return Err(usage(format!(
            "`{name}` cannot be a remote device's name: use letters, digits, `-`, `_` and `.`, and neither `emulator` nor \
             `gpu`"
        )));
    }
    if command.chars().any(char::is_control) {
        return Err(usage("the command has control characters in it, which no command line needs; type it again"));
    }
    if command.trim().is_empty() {
        return Err(usage(
            "a remote device needs the command that starts its worker, such as `ssh HOST lockstep worker`",
        ));
    }
    Ok(())
}

fn text(list: &[DeviceInfo], remotes: &[Remote]) -> String {
    use out::Align::Left;
    let mut rows = Vec::new();
    for device in list {
        let id = match device.choice {
            DeviceChoice::Emulator => "emulator".to_owned(),
            DeviceChoice::Gpu(index) => format!("gpu:{index}"),
        };
        let mut facts = vec![device.arch.clone()];
        facts.extend(device.multiprocessors.map(|count| format!("{count} SMs")));
        facts.extend(device.memory_bytes.map(out::bytes));
        facts.extend(device.driver_version.as_ref().map(|version| format!("driver {version}")));
        rows.push(vec![id, device.name.clone(), facts.join(", ")]);
    }
    for Remote { name, command } in remotes {
        rows.push(vec![name.clone(), "remote".into(), command.clone()]);
    }
    out::table(&[Left, Left, Left], &rows)
}
