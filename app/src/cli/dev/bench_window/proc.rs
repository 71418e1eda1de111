//! What a process uses, as Linux tells it in `/proc`; elsewhere all of it is 0.

use std::collections::HashMap;

/// Fields of `/proc/PID/stat` behind the name; `process` is a number or `self`.
fn fields(process: &str) -> Vec<f64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name in brackets may hold anything.
    let after = text.rsplit_once(')').map_or("", |(_, after)| after);
    // The state is a letter.
    after.split_whitespace().skip(1).map_while(|field| field.parse().ok()).collect()
}

/// Seconds of processor time that a process has used.
pub fn processor_s(process: &str) -> f64 {
    // Hundredths of a second on every Linux (USER_HZ).
    fields(process).iter().skip(10).take(2).sum::<f64>() / 100.0
}

/// Megabytes of memory in use.
pub fn resident_mb(process: &str) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.split_whitespace().next().and_then(|kb| kb.parse::<f64>().ok()).unwrap_or_default() / 1e3
}

/// A process and all that it started, itself first.
pub fn family(process: u32) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for number in numbers {
        if let Some(parent) = fields(&number.to_string()).first() {
            children.entry(*parent as u32).or_default().push(number);
        }
    }
    let mut found = vec![process];
    let mut at = 0;
    while let Some(member) = found.get(at).copied() {
        found.extend(children.get(&member).into_iter().flatten());
        at += 1;
    }
    found.iter().map(u32::to_string).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn a_process_and_its_child_are_a_family_that_uses_something() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().expect("sleep starts");
        let family = family(std::process::id());
        child.kill().expect("it ends");
        child.wait().expect("it ended");
        assert_eq!(family[0], std::process::id().to_string());
        assert!(family.contains(&child.id().to_string()), "{family:?}");
        assert!(resident_mb("self") > 1.0);
        let before = processor_s("self");
        while processor_s("self") < before + 0.02 {}
    }
}
