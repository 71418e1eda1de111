//! The worker's ends of its pipes.
//!
//! Protocol frames own the original standard output. Standard output is pointed elsewhere, because libraries print there:
//! `printf` in a CUDA kernel does, and would destroy the frames.

use std::fs::File;
use std::io;

/// The protocol's output. From now on whatever prints to standard output goes to standard error.
pub fn take_output() -> io::Result<File> {
    let frames = system::duplicate_output()?;
    system::point_output_at_errors()?;
    Ok(frames)
}

/// As [`take_output`], but what is printed can be read from the second file.
pub fn take_output_and_capture() -> io::Result<(File, io::PipeReader)> {
    let frames = system::duplicate_output()?;
    let (printed, write_end) = io::pipe()?;
    system::point_output_at(write_end)?;
    Ok((frames, printed))
}

/// Hands on what the C library still holds of printed text.
pub fn flush_c_output() {
    // SAFETY: null means all open streams.
    unsafe {
        libc::fflush(std::ptr::null_mut());
    }
}

#[cfg(unix)]
mod system {
    use std::fs::File;
    use std::io;
    use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

    pub fn duplicate_output() -> io::Result<File> {
        // Close-on-exec, so that no grandchild keeps the pipe open.
        Ok(io::stdout().as_fd().try_clone_to_owned()?.into())
    }

    pub fn point_output_at_errors() -> io::Result<()> {
        point(io::stderr().as_fd())
    }

    pub fn point_output_at(file: impl AsFd) -> io::Result<()> {
        point(file.as_fd())
    }

    fn point(file: BorrowedFd<'_>) -> io::Result<()> {
        // SAFETY: plain system call; the result is checked.
        match unsafe { libc::dup2(file.as_raw_fd(), libc::STDOUT_FILENO) } {
            -1 => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }
}

#[cfg(windows)]
mod system {
    use std::fs::File;
    use std::io;
    use std::os::windows::io::{AsHandle, IntoRawHandle, OwnedHandle};
    use windows_sys::Win32::System::Console::{STD_OUTPUT_HANDLE, SetStdHandle};

    /// What the C library calls standard output.
    const OUTPUT: libc::c_int = 1;

    pub fn duplicate_output() -> io::Result<File> {
        // Not inherited, so that no grandchild keeps the pipe open.
        Ok(io::stdout().as_handle().try_clone_to_owned()?.into())
    }

    pub fn point_output_at_errors() -> io::Result<()> {
        point(io::stderr().as_handle().try_clone_to_owned()?)
    }

    pub fn point_output_at(file: impl Into<OwnedHandle>) -> io::Result<()> {
        point(file.into())
    }

    /// There are two standard outputs: the C library's descriptor, and the system's handle, which Rust asks for, and every
    /// library that brings its own C library when it is loaded.
    fn point(handle: OwnedHandle) -> io::Result<()> {
        let handle = handle.into_raw_handle();
        // SAFETY: plain calls, whose results are checked. The descriptor takes the handle over. Its copy under the number of
        // standard output is never closed, nor is therefore the handle that it gives.
        unsafe {
            let descriptor = libc::open_osfhandle(handle as isize, 0);
            if descriptor == -1 {
                return Err(io::Error::last_os_error());
            }
            let moved = libc::dup2(descriptor, OUTPUT);
            libc::close(descriptor);
            if moved == -1 || SetStdHandle(STD_OUTPUT_HANDLE, libc::get_osfhandle(OUTPUT) as _) == 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::process::Command;

    const CHILD: &str = "LOCKSTEP_TEST_TAKES_OUTPUT";
    const FRAMES: &[u8] = b"<frames\r\n\n>";

    unsafe extern "C" {
        fn puts(text: *const std::ffi::c_char) -> std::ffi::c_int;
    }

    /// The only test that runs in the child: takes standard output, prints in every way, and writes frames.
    #[test]
    fn child() {
        let Some(way) = std::env::var_os(CHILD) else { return };
        let print = || {
            // SAFETY: a string that ends in zero.
            unsafe { puts(c"by the C library".as_ptr()) };
            flush_c_output();
            std::io::stdout().write_all(b"by Rust\n").unwrap();
            let shell = if cfg!(windows) { ["cmd", "/c"] } else { ["sh", "-c"] };
            let ended = Command::new(shell[0]).args([shell[1], "echo by a child"]).status().unwrap();
            assert!(ended.success());
        };
        let mut frames = if way == "capture" {
            let (frames, mut printed) = take_output_and_capture().unwrap();
            print();
            let mut text = vec![0; 1000];
            let mut length = 0;
            while !text[..length].windows(7).any(|part| part == b"a child") {
                length += printed.read(&mut text[length..]).unwrap();
            }
            std::io::stderr().write_all(&text[..length]).unwrap();
            frames
        } else {
            let frames = take_output().unwrap();
            print();
            frames
        };
        frames.write_all(FRAMES).unwrap();
        frames.flush().unwrap();
        std::process::exit(0);
    }

    #[test]
    fn frames_alone_come_out_whatever_prints() {
        for way in ["capture", "errors"] {
            let program = std::env::current_exe().unwrap();
            let output = Command::new(program)
                .args(["--exact", "worker::stdio::tests::child", "--nocapture", "--test-threads=1"])
                .env(CHILD, way)
                .output()
                .unwrap();
            let (out, errors) = (&output.stdout, String::from_utf8_lossy(&output.stderr));
            assert!(output.status.success(), "{way}: {errors}");
            assert!(out.ends_with(FRAMES), "{way}: {}", String::from_utf8_lossy(out));
            let printed = ["by the C library", "by Rust", "by a child"];
            for text in printed {
                assert!(errors.contains(text), "{way}: {text} is not in {errors}");
                assert!(!String::from_utf8_lossy(out).contains(text), "{way}: {text} is among the frames");
            }
        }
    }
}
