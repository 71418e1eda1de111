//! Confines the process that calls it: a compile worker reads hostile text, an emulator's worker runs hostile code, and both
//! need almost nothing.
//!
//! Not a defence against machine code of an attacker; against what a compiler can be told to do: read files, eat
//! memory, write dumps. Time is limited from outside, by a kill.

use std::path::{Path, PathBuf};

/// Ends this process when the one that started it dies, however it dies. Standard input closing does the same on every
/// system; this also covers a worker that is stuck.
pub fn die_with_parent() {
    #[cfg(target_os = "linux")]
    // SAFETY: plain system call with integer arguments.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
    }
}

/// Limits the address space, in bytes; on Windows what of it is backed by memory.
pub fn limit_memory(bytes: u64) {
    #[cfg(unix)]
    set_limit(libc::RLIMIT_AS, bytes);
    // Failure leaves the limit of time, as on a system without job objects.
    #[cfg(windows)]
    let _ = super::windows_job::limit_own_memory(bytes);
}

/// No core dumps: they hold the learner's text, and a dump of gigabytes takes a minute.
pub fn no_core_dumps() {
    #[cfg(unix)]
    set_limit(libc::RLIMIT_CORE, 0);
}

/// Whether this system can keep a compiler from files. Asked of the kernel each time, which takes microseconds.
pub fn is_there() -> bool {
    #[cfg(target_os = "linux")]
    {
        const VERSION: libc::c_long = 1;
        // SAFETY: with this flag the call looks at no memory and answers with the version of Landlock, or an error.
        let version = unsafe {
            libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<libc::c_void>(), 0_usize, VERSION)
        };
        version > 0
    }
    #[cfg(not(target_os = "linux"))]
    false
}

/// Where a library's own libraries lie.
const SYSTEM_LIBRARIES: [&str; 6] = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache"];
/// Where the system says how many cores this process may use, which is asked before each launch.
const CORES: [&str; 4] = ["/proc/self/cgroup", "/proc/self/mountinfo", "/sys/fs/cgroup", "/sys/devices/system/cpu"];

/// Before a library that somebody chose is loaded, whose code then runs: `readable` and the system's libraries can be read,
/// `writable` written, and nothing else; no network, no other program. [`confine`] takes more away.
pub fn confine_loading(readable: &[PathBuf], writable: Option<&Path>) {
    let system = SYSTEM_LIBRARIES.iter().map(PathBuf::from);
    let readable: Vec<PathBuf> = readable.iter().cloned().chain(system).collect();
    landlock(&readable, writable);
    no_programs_no_network();
}

/// Confines the worker of an emulator: it needs no file, no network and no program. What is in force, as for [`confine`].
pub fn confine_emulator(memory_bytes: u64) -> String {
    no_core_dumps();
    limit_memory(memory_bytes);
    let readable = CORES.map(PathBuf::from);
    let says = landlock(&readable, None);
    no_programs_no_network();
    says
}

/// Confines this thread and all that it starts later: only `readable` can be read, nothing written, no network; memory,
/// files and dumps are limited. Says what is in force. Never fails: a system without a jail still has the limits of
/// time and the check of includes.
pub fn confine(readable: &[PathBuf], memory_bytes: u64) -> String {
    #[cfg(unix)]
    {
        const OPEN_FILES: u64 = 64;
        set_limit(libc::RLIMIT_FSIZE, 0);
        set_limit(libc::RLIMIT_NOFILE, OPEN_FILES);
        // Writing past the size limit is then an error and not the end of the process.
        // SAFETY: ignoring a signal installs no handler code.
        unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    }
    no_core_dumps();
    limit_memory(memory_bytes);
    landlock(readable, None)
}

#[cfg(target_os = "linux")]
fn landlock(readable: &[PathBuf], writable: Option<&Path>) -> String {
    use landlock::{
        ABI, Access, AccessFs, AccessNet, BitFlags, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
        path_beneath_rules,
    };
    // Best effort: of these rights the kernel takes those that it knows.
    const KNOWN: ABI = ABI::V6;
    let read: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::ReadDir;
    let enforce = || {
        Ruleset::default()
            .handle_access(AccessFs::from_all(KNOWN))?
            .handle_access(AccessNet::from_all(KNOWN))?
            .scope(Scope::from_all(KNOWN))?
            .create()?
            .add_rules(path_beneath_rules(readable, read))?
            .add_rules(path_beneath_rules(writable, AccessFs::from_all(KNOWN)))?
            .restrict_self()
    };
    match enforce().map(|status| status.ruleset) {
        Ok(RulesetStatus::FullyEnforced) => "Landlock".to_owned(),
        Ok(RulesetStatus::PartiallyEnforced) => "Landlock (in part: an older kernel)".to_owned(),
        Ok(RulesetStatus::NotEnforced) => {
            "none: this kernel has no Landlock; includes are checked by text only".to_owned()
        }
        Err(error) => format!("none: Landlock failed ({error}); includes are checked by text only"),
    }
}

#[cfg(not(target_os = "linux"))]
fn landlock(readable: &[PathBuf], writable: Option<&Path>) -> String {
    let _ = (readable, writable);
    "none on this system; includes are checked by text only".to_owned()
}

/// Takes the system calls away that start programs, open sockets, look into other processes or change the system: what
/// Landlock does not cover, on kernels without it too. Costs nothing that could be measured: no call on the way of a kernel's
/// run is looked at twice. Failure leaves what there was.
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn no_programs_no_network() {
    use super::seccomp::{NEVER, always, program};
    const PROGRAMS_AND_SOCKETS: [libc::c_long; 7] = [
        libc::SYS_execve,
        libc::SYS_execveat,
        libc::SYS_socket,
        libc::SYS_socketpair,
        libc::SYS_bind,
        libc::SYS_listen,
        libc::SYS_pidfd_open,
    ];
    let calls = [always(&NEVER), always(&PROGRAMS_AND_SOCKETS)].concat();
    if let Ok(program) = program(calls, libc::EPERM) {
        let _ = seccompiler::apply_filter_all_threads(&program);
    }
}

#[cfg(not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))))]
fn no_programs_no_network() {}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(super) type Resource = libc::__rlimit_resource_t;
#[cfg(all(unix, not(all(target_os = "linux", target_env = "gnu"))))]
pub(super) type Resource = libc::c_int;

#[cfg(unix)]
pub(super) fn set_limit(resource: Resource, value: u64) {
    let limit = libc::rlimit { rlim_cur: value as libc::rlim_t, rlim_max: value as libc::rlim_t };
    // SAFETY: the pointer leads to a valid rlimit. Failure (a lower hard limit is in force) leaves a stricter limit.
    unsafe { libc::setrlimit(resource, &limit) };
}
