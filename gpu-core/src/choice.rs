//! Which architecture a kernel is compiled for: what the exercise asks for, and what the device can run.

use crate::arch::Arch;
use crate::device::{DeviceInfo, DeviceKind};
use crate::spec::Spec;

/// An exercise's architecture on a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    pub arch: Arch,
    /// Why the device cannot run it, so that the emulator serves; None where it can.
    pub beyond: Option<String>,
    /// The exercise's own branch, where the device takes another one: the emulator judges it as well.
    pub branch: Option<Arch>,
}

impl Choice {
    /// The architecture for `spec` on the device. The emulator takes the first of the exercise's branches; a GPU its own
    /// architecture, when that satisfies any of them.
    ///
    /// # Errors
    /// One sentence about an architecture that is none.
    pub fn of(info: &DeviceInfo, spec: &Spec) -> Result<Self, String> {
        let read = |text: &String| {
            Arch::parse(text).ok_or_else(|| {
                format!("the exercise asks for `{text}`, which is no architecture; write it as in sm_90a")
            })
        };
        let least = spec.requires.as_ref().map(read).transpose()?;
        let branches = spec.arch.iter().map(read).collect::<Result<Vec<Arch>, String>>()?;
        let first = branches.first().copied();
        let emulated = first.unwrap_or_else(|| Arch::for_emulator(least));
        if info.kind == DeviceKind::Emulator {
            return Ok(Choice { arch: emulated, beyond: None, branch: None });
        }
        let own = Arch::of_capability(info.capability.0, info.capability.1);
        let fits = least.is_none_or(|least| own.satisfies(least))
            && (branches.is_empty() || branches.iter().any(|branch| own.satisfies(*branch)));
        if fits {
            let branch = first.filter(|first| !own.satisfies(*first) && !branches.contains(&own));
            return Ok(Choice { arch: own, beyond: None, branch });
        }
        let wanted = match branches.as_slice() {
            [] => least.map_or_else(String::new, |least| least.to_string()),
            branches => branches.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or "),
        };
        let beyond = format!("this exercise needs {wanted}; {} is {own}", info.name);
        Ok(Choice { arch: emulated, beyond: Some(beyond), branch: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::DeviceChoice;
    use crate::emulator_device::EmulatorDevice;
    use crate::judge::tests_support::empty_spec;

    fn chosen(capability: Option<(u32, u32)>, requires: Option<&str>, arch: &[&str]) -> (String, bool) {
        let mut info = EmulatorDevice::describe();
        if let Some(capability) = capability {
            info = DeviceInfo { choice: DeviceChoice::Gpu(0), kind: DeviceKind::Gpu, capability, ..info };
        }
        let mut spec = empty_spec("k");
        spec.requires = requires.map(str::to_owned);
        spec.arch = arch.iter().map(|arch| (*arch).to_owned()).collect();
        let choice = Choice::of(&info, &spec).expect("architectures");
        (choice.arch.to_string(), choice.beyond.is_some())
    }

    #[test]
    fn a_device_takes_what_it_can_run_and_the_emulator_the_first_branch() {
        let own = |arch: &str| (arch.to_owned(), false);
        let branches = ["sm_90a", "sm_120a", "sm_80"];
        assert_eq!(chosen(None, None, &branches), own("sm_90a"));
        assert_eq!(chosen(None, None, &["sm_120a", "sm_80"]), own("sm_120a"));
        assert_eq!(chosen(Some((9, 0)), None, &branches), own("sm_90a"));
        assert_eq!(chosen(Some((12, 0)), None, &branches), own("sm_120a"));
        assert_eq!(chosen(Some((8, 9)), None, &branches), own("sm_89"), "by the branch for sm_80");
        assert_eq!(chosen(Some((7, 5)), None, &branches), ("sm_90a".to_owned(), true));
        assert_eq!(chosen(Some((9, 0)), Some("sm_120a"), &[]), ("sm_120a".to_owned(), true));
        assert_eq!(chosen(Some((9, 0)), Some("sm_80"), &[]), own("sm_90a"));
        assert_eq!(chosen(None, None, &[]), own("sm_90a"));
    }

    #[test]
    fn the_exercises_own_branch_is_judged_where_a_gpu_takes_another_one() {
        let branch = |capability: (u32, u32), arch: &[&str]| {
            let info = DeviceInfo {
                choice: DeviceChoice::Gpu(0),
                kind: DeviceKind::Gpu,
                capability,
                ..EmulatorDevice::describe()
            };
            let mut spec = empty_spec("k");
            spec.arch = arch.iter().map(|arch| (*arch).to_owned()).collect();
            Choice::of(&info, &spec).expect("architectures").branch.map(|branch| branch.to_string())
        };
        assert_eq!(branch((9, 0), &["sm_120a", "sm_80"]).as_deref(), Some("sm_120a"));
        assert_eq!(branch((12, 0), &["sm_120a", "sm_80"]), None);
        assert_eq!(branch((12, 1), &["sm_90a", "sm_80"]).as_deref(), Some("sm_90a"));
        assert_eq!(branch((12, 1), &["sm_120a", "sm_121a", "sm_80"]), None, "it has a branch of its own");
        assert_eq!(branch((7, 5), &["sm_120a", "sm_80"]), None, "the emulator serves alone");
        assert_eq!(branch((9, 0), &[]), None);
    }

    #[test]
    fn what_a_device_cannot_run_is_said_with_both_names() {
        let info = DeviceInfo {
            choice: DeviceChoice::Gpu(0),
            kind: DeviceKind::Gpu,
            name: "Old".to_owned(),
            capability: (7, 5),
            ..EmulatorDevice::describe()
        };
        let mut spec = empty_spec("k");
        spec.arch = vec!["sm_90a".to_owned(), "sm_80".to_owned()];
        let beyond = Choice::of(&info, &spec).expect("architectures").beyond;
        assert_eq!(beyond.as_deref(), Some("this exercise needs sm_90a or sm_80; Old is sm_75"));
    }
}
