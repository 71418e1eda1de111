//! Job objects of Windows: processes that end together, and how much memory each may take.

use std::io;
use std::mem::size_of;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE, JOB_OBJECT_LIMIT_PROCESS_MEMORY,
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION, JobObjectExtendedLimitInformation, SetInformationJobObject,
    TerminateJobObject,
};
use windows_sys::Win32::System::ProcessStatus::{K32GetProcessMemoryInfo, PROCESS_MEMORY_COUNTERS};
use windows_sys::Win32::System::Threading::GetCurrentProcess;

/// A worker and what it starts. Closing it, also by our own end, ends them all.
pub struct Job(OwnedHandle);

impl Job {
    /// A job of this child alone.
    pub fn of(child: &std::process::Child) -> io::Result<Job> {
        let job = Job::new(JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE, 0)?;
        job.add(child.as_raw_handle())?;
        Ok(job)
    }

    fn new(flags: u32, memory_bytes: u64) -> io::Result<Job> {
        // SAFETY: neither attributes nor a name are asked for.
        let job = unsafe { CreateJobObjectW(std::ptr::null(), std::ptr::null()) };
        if job.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a fresh handle that nobody else owns.
        let job = Job(unsafe { OwnedHandle::from_raw_handle(job) });
        let mut limits = JOBOBJECT_EXTENDED_LIMIT_INFORMATION::default();
        limits.BasicLimitInformation.LimitFlags = flags;
        limits.ProcessMemoryLimit = usize::try_from(memory_bytes).unwrap_or(usize::MAX);
        // SAFETY: the pointer leads to the structure of this class, of the size given.
        succeeded(unsafe {
            SetInformationJobObject(
                job.0.as_raw_handle(),
                JobObjectExtendedLimitInformation,
                (&raw const limits).cast(),
                size_of::<JOBOBJECT_EXTENDED_LIMIT_INFORMATION>() as u32,
            )
        })?;
        Ok(job)
    }

    fn add(&self, process: HANDLE) -> io::Result<()> {
        // SAFETY: both are open handles.
        succeeded(unsafe { AssignProcessToJobObject(self.0.as_raw_handle(), process) })
    }

    /// Ends all its processes.
    pub fn end(&self) {
        // An error means that they have ended already.
        // SAFETY: an open handle.
        unsafe { TerminateJobObject(self.0.as_raw_handle(), 1) };
    }
}

/// Limits what memory this process may commit, for good.
pub fn limit_own_memory(bytes: u64) -> io::Result<()> {
    let job = Job::new(JOB_OBJECT_LIMIT_PROCESS_MEMORY, bytes)?;
    // SAFETY: this gives a constant that stands for this process.
    job.add(unsafe { GetCurrentProcess() })
    // The job lasts as long as there is a process in it.
}

/// Most memory that a child has had committed, also after its end; 0 when unknown.
pub fn peak_memory_bytes(child: &std::process::Child) -> u64 {
    let mut counters = PROCESS_MEMORY_COUNTERS::default();
    let size = size_of::<PROCESS_MEMORY_COUNTERS>() as u32;
    // SAFETY: an open handle, and a structure of the size given.
    match unsafe { K32GetProcessMemoryInfo(child.as_raw_handle(), &mut counters, size) } {
        0 => 0,
        _ => counters.PeakPagefileUsage as u64,
    }
}

fn succeeded(answer: i32) -> io::Result<()> {
    if answer == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
