//! Confines a script that is about to be started: a Python program that need not be ours, run by an interpreter that is the
//! user's own. It has no network; without a GPU it reads Python, its packages, the system's libraries and what it is given, and
//! writes one scratch folder.
//!
//! Unlike the workers it needs threads, children and devices, so the rules are others than theirs. They are prepared here;
//! between `fork` and `exec` there are plain system calls alone.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Whether [`confine_script`] keeps a script from files on this system, and from the network.
///
/// Not where there is an NVIDIA GPU: under Landlock's rules for files CUDA finds none (driver 580, whatever may be read; without
/// them it works). There a script is kept from the network and held to limits, and no more.
pub fn confines_scripts() -> bool {
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    return super::jail::is_there() && !linux::has_gpu();
    #[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
    false
}

/// Has `command` run confined: of files it reads `readable` and the system's own, and writes below `scratch`, which is its
/// working and home folder too. Where [`confines_scripts`] says no, of this there is the
/// folder, what the system has against the network, and limits.
///
/// # Errors
/// The rules cannot be made, in a sentence. What the system refuses later makes the command fail to start.
pub fn confine_script(command: &mut Command, readable: &[PathBuf], scratch: &Path) -> Result<(), String> {
    command.current_dir(scratch);
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    linux::confine(command, readable, scratch)?;
    let _ = readable;
    Ok(())
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod linux {
    use super::super::jail::set_limit;
    use super::super::seccomp::{NEVER, always, program};
    use landlock::{
        ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr,
        Scope, path_beneath_rules,
    };
    use seccompiler::{BpfProgram, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule, apply_filter};
    use std::io;
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::os::unix::process::CommandExt;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    /// Programs, libraries and compilers of the system, which Triton and Numba call; what these read of `/etc`. None of it
    /// is a person's.
    const SYSTEM: [&str; 32] = [
        "/usr",
        "/lib",
        "/lib32",
        "/lib64",
        "/bin",
        "/sbin",
        "/opt/cuda",
        "/opt/nvidia",
        "/nix/store",
        "/gnu/store",
        "/run/current-system/sw",
        "/run/opengl-driver",
        "/etc/alternatives",
        "/etc/debian_version",
        "/etc/group",
        "/etc/ld.so.cache",
        "/etc/ld.so.conf",
        "/etc/ld.so.conf.d",
        "/etc/ld.so.preload",
        "/etc/localtime",
        "/etc/lsb-release",
        "/etc/mime.types",
        "/etc/nsswitch.conf",
        "/etc/nvidia",
        "/etc/OpenCL",
        "/etc/os-release",
        "/etc/passwd",
        "/etc/python3",
        "/etc/redhat-release",
        "/etc/timezone",
        "/proc",
        "/sys",
    ];
    /// Devices that hold nobody's data.
    const DEVICES: [&str; 7] =
        ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/dxg"];
    /// Variables that a script may see, whole names or beginnings: where Python, CUDA and their threads are set up. Others
    /// hold keys and the addresses of agents.
    const VARIABLES: [&str; 9] =
        ["PATH", "LANG", "LANGUAGE", "TZ", "USER", "LOGNAME", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "NO_COLOR"];
    const VARIABLES_BEGIN: [&str; 14] = [
        "LC_",
        "PYTHON",
        "CUDA_",
        "NVIDIA_",
        "CUPY_",
        "NUMBA_",
        "TRITON_",
        "TORCH",
        "OMP_",
        "MKL_",
        "OPENBLAS_",
        "KMP_",
        "CONDA_",
        "PYTORCH_",
    ];
    /// A file that a script writes, at most.
    const FILE_BYTES: u64 = 4 << 30;
    /// Private memory of a script is limited to the machine's, and never to less than CUDA and PyTorch map without using it.
    const LEAST_MEMORY_BYTES: u64 = 16 << 30;

    pub fn confine(command: &mut Command, readable: &[PathBuf], scratch: &Path) -> Result<(), String> {
        let failed = |why: &dyn std::fmt::Display| format!("the script's sandbox cannot be made: {why}");
        let rules = match super::confines_scripts() {
            false => None,
            true => {
                let rules = rules(readable, scratch).map_err(|error| failed(&error))?;
                Some(rules.ok_or_else(|| failed(&"this kernel has no Landlock"))?)
            }
        };
        let filters = filters().map_err(|error| failed(&error))?;
        let memory = memory_bytes().max(LEAST_MEMORY_BYTES);
        let own = |name: &str| {
            VARIABLES.contains(&name) || VARIABLES_BEGIN.iter().any(|beginning| name.starts_with(beginning))
        };
        let kept: Vec<_> = std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(own)).collect();
        let changed: Vec<_> =
            command.get_envs().map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned))).collect();
        command.env_clear().envs(kept).envs(["HOME", "TMPDIR"].map(|name| (name, scratch)));
        for (name, value) in changed {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        // SAFETY: between `fork` and `exec` only system calls are made, over what was prepared above: nothing allocates, and
        // no lock is taken.
        unsafe { command.pre_exec(move || enter(rules.as_ref(), &filters, memory)) };
        Ok(())
    }

    /// Goes to jail, in the child.
    fn enter(rules: Option<&OwnedFd>, filters: &[BpfProgram; 2], memory: u64) -> io::Result<()> {
        super::super::jail::die_with_parent();
        super::super::jail::no_core_dumps();
        set_limit(libc::RLIMIT_FSIZE, FILE_BYTES);
        set_limit(libc::RLIMIT_DATA, memory);
        first_to_go();
        give_up_capabilities();
        // SAFETY: system calls with integers and an open descriptor.
        let restricted = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && rules.is_none_or(|rules| libc::syscall(libc::SYS_landlock_restrict_self, rules.as_raw_fd(), 0) == 0)
        };
        if !restricted {
            return Err(io::Error::last_os_error());
        }
        for filter in filters {
            apply_filter(filter).map_err(|_| io::Error::last_os_error())?;
        }
        Ok(())
    }

    /// When memory runs out the script ends, and not the window.
    fn first_to_go() {
        let (path, most) = (c"/proc/self/oom_score_adj", b"1000");
        // SAFETY: a string that ends in zero, and a buffer of the length given. Failure changes nothing.
        unsafe {
            let file = libc::open(path.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
            if file >= 0 {
                libc::write(file, most.as_ptr().cast(), most.len());
                libc::close(file);
            }
        }
    }

    /// Root's rights go past rules: with them a script reads the environment of other processes. As nothing gains rights later,
    /// they do not come back.
    fn give_up_capabilities() {
        const VERSION_3: u32 = 0x2008_0522;
        let (header, none) = ([VERSION_3, 0], [0_u32; 6]);
        // SAFETY: the header names this process, the data has the size of this version. Failure leaves what there was.
        unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), none.as_ptr()) };
    }

    fn rules(readable: &[PathBuf], scratch: &Path) -> Result<Option<OwnedFd>, landlock::RulesetError> {
        // Of these rights the kernel takes those that it knows.
        const KNOWN: ABI = ABI::V6;
        let all = AccessFs::from_all(KNOWN);
        let read: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::ReadDir | AccessFs::Execute;
        let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev | AccessFs::ReadDir;
        let libraries = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        // Where clusters keep their toolkits.
        let toolkits = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
        let libraries: Vec<PathBuf> =
            std::env::split_paths(&libraries).chain(toolkits).filter(|path| path.is_absolute()).collect();
        let made = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(all)?
            .handle_access(AccessNet::from_all(KNOWN))?
            .scope(Scope::from_all(KNOWN))?
            .create()?
            .add_rules(path_beneath_rules(SYSTEM, read))?
            .add_rules(path_beneath_rules(libraries, read))?
            .add_rules(path_beneath_rules(readable, read))?
            .add_rules(path_beneath_rules(DEVICES, device))?
            .add_rules(path_beneath_rules([scratch], all))?;
        Ok(made.into())
    }

    /// Whether there are device files of NVIDIA's, or of its boards.
    pub fn has_gpu() -> bool {
        let entries = std::fs::read_dir("/dev").into_iter().flatten().flatten();
        let theirs = |name: &str| ["nvidia", "nvhost", "nvmap", "nvgpu"].iter().any(|part| name.starts_with(part));
        entries.into_iter().any(|entry| entry.file_name().to_str().is_some_and(theirs))
    }

    /// What Landlock does not cover, or older kernels' Landlock does not: the network by any protocol, other programs' sockets
    /// (a session bus starts programs outside of any jail), other processes, the system; and, answered as if it were done, what
    /// would change files that cannot be opened, or leave the group that ends together.
    fn filters() -> Result<[BpfProgram; 2], seccompiler::BackendError> {
        let mut denied = always(&NEVER);
        denied.extend(always(&[libc::SYS_truncate]));
        // Of sockets those within this machine: CUDA listens on one, and Netlink says which interfaces there are.
        let other =
            |family: libc::c_int| SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family as u64);
        let elsewhere = SeccompRule::new(vec![other(libc::AF_UNIX)?, other(libc::AF_NETLINK)?])?;
        denied.push((libc::SYS_socket, vec![elsewhere]));
        let mut ignored = always(&[
            libc::SYS_setsid,
            libc::SYS_setpgid,
            libc::SYS_fchmod,
            libc::SYS_fchmodat,
            // `fchmodat2`, which the libraries do not know by name yet.
            452,
            libc::SYS_fchown,
            libc::SYS_fchownat,
            libc::SYS_setxattr,
            libc::SYS_lsetxattr,
            libc::SYS_fsetxattr,
            libc::SYS_removexattr,
            libc::SYS_lremovexattr,
            libc::SYS_fremovexattr,
        ]);
        ignored.extend(always(OLD_CALLS));
        Ok([program(denied, libc::EACCES)?, program(ignored, 0)?])
    }

    /// Calls that newer processors' systems never had.
    #[cfg(target_arch = "x86_64")]
    const OLD_CALLS: &[libc::c_long] = &[libc::SYS_chmod, libc::SYS_chown, libc::SYS_lchown];
    #[cfg(not(target_arch = "x86_64"))]
    const OLD_CALLS: &[libc::c_long] = &[];

    /// Of the machine; 0 when unknown.
    fn memory_bytes() -> u64 {
        let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let kib = text.lines().find_map(|line| line.strip_prefix("MemTotal:")?.split_whitespace().next()?.parse().ok());
        kib.unwrap_or(0_u64).saturating_mul(1024)
    }
}
