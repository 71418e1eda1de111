//! Filters of system calls, for what Landlock does not cover, or older kernels' Landlock does not.

use seccompiler::{BackendError, BpfProgram, SeccompAction, SeccompFilter, SeccompRule, TargetArch};

/// System calls, each with the arguments that it is answered for; none for all.
pub type Calls = Vec<(libc::c_long, Vec<SeccompRule>)>;

/// What none of our children needs: other programs' sockets, other processes, the system.
pub const NEVER: [libc::c_long; 23] = [
    libc::SYS_connect,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
];

/// The bit that marks the calls of the 32-bit way in that x86-64 has.
const X32: libc::c_long = 0x4000_0000;
/// Calls that have numbers of their own there.
const OWN_NUMBERS: [(libc::c_long, libc::c_long); 6] = [
    (libc::SYS_execve, 520),
    (libc::SYS_ptrace, 521),
    (libc::SYS_kexec_load, 528),
    (libc::SYS_process_vm_readv, 539),
    (libc::SYS_process_vm_writev, 540),
    (libc::SYS_execveat, 545),
];

pub fn always(calls: &[libc::c_long]) -> Calls {
    calls.iter().map(|call| (*call, Vec::new())).collect()
}

/// A filter that answers these calls with an error, or with 0 and nothing done. All others go through.
pub fn program(mut calls: Calls, answer: libc::c_int) -> Result<BpfProgram, BackendError> {
    if cfg!(target_arch = "x86_64") {
        let number = |call| OWN_NUMBERS.iter().find(|(known, _)| *known == call).map_or(call, |(_, own)| *own);
        let again: Calls = calls.iter().map(|(call, rules)| (number(*call) | X32, rules.clone())).collect();
        calls.extend(again);
    }
    let arch = if cfg!(target_arch = "x86_64") { TargetArch::x86_64 } else { TargetArch::aarch64 };
    let rules = calls.into_iter().collect();
    SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(answer as u32), arch)?.try_into()
}
