//! The worker's ends of its pipes.
//!
//! Protocol frames own the original standard output. Descriptor 1 is pointed elsewhere, because libraries print there:
//! `printf` in a CUDA kernel does, and would destroy the frames.

use std::fs::File;
use std::io;

/// The protocol's output. From now on whatever prints to standard output goes to standard error.
#[cfg(unix)]
pub fn take_output() -> io::Result<File> {
    let frames = duplicate(1)?;
    point(2, 1)?;
    Ok(frames)
}

/// As [`take_output`], but what is printed can be read from the second file.
#[cfg(unix)]
pub fn take_output_and_capture() -> io::Result<(File, Option<File>)> {
    use std::os::fd::FromRawFd;
    let frames = duplicate(1)?;
    let mut ends = [0; 2];
    // SAFETY: the array has room for the two descriptors.
    if unsafe { libc::pipe(ends.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    point(ends[1], 1)?;
    // SAFETY: both descriptors were just made and are owned by nobody else; the write end lives on as descriptor 1.
    let (printed, write_end) = unsafe { (File::from_raw_fd(ends[0]), File::from_raw_fd(ends[1])) };
    drop(write_end);
    Ok((frames, Some(printed)))
}

/// Hands on what the C library still holds of printed text.
pub fn flush_c_output() {
    #[cfg(unix)]
    // SAFETY: null means all open streams.
    unsafe {
        libc::fflush(std::ptr::null_mut());
    }
}

#[cfg(unix)]
fn duplicate(descriptor: i32) -> io::Result<File> {
    use std::os::fd::FromRawFd;
    // Close-on-exec, so that no grandchild keeps the pipe open.
    // SAFETY: plain system call; the result is checked.
    let copy = unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 3) };
    if copy < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a fresh descriptor that nobody else owns.
    Ok(unsafe { File::from_raw_fd(copy) })
}

#[cfg(unix)]
fn point(from: i32, to: i32) -> io::Result<()> {
    // SAFETY: plain system call; the result is checked.
    match unsafe { libc::dup2(from, to) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Elsewhere standard output is used as it is: what a kernel prints on a GPU there would break the connection, so
/// kernels that print are run on the emulator.
#[cfg(not(unix))]
pub fn take_output() -> io::Result<io::Stdout> {
    Ok(io::stdout())
}

#[cfg(not(unix))]
pub fn take_output_and_capture() -> io::Result<(io::Stdout, Option<File>)> {
    Ok((io::stdout(), None))
}
