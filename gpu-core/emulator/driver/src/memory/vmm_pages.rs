//! Pages of the operating system behind virtual memory management: files without names, and addresses without memory.
//! Linux has both; elsewhere the calls are refused.

#[cfg(target_os = "linux")]
mod system {
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
    use std::ptr::null_mut;

    use crate::abi::*;

    /// Memory that can be mapped at several addresses.
    pub struct Pages(OwnedFd);

    impl Pages {
        pub fn new(bytes: usize) -> Result<Pages, CUresult> {
            // SAFETY: the name is a string; the descriptor is ours alone.
            let file = unsafe { libc::memfd_create(c"lockstep-cuda".as_ptr(), libc::MFD_CLOEXEC) };
            if file < 0 {
                return Err(OUT_OF_MEMORY);
            }
            // SAFETY: the call above opened it.
            let file = unsafe { OwnedFd::from_raw_fd(file) };
            // SAFETY: an open file may be made longer.
            let grown = unsafe { libc::ftruncate(file.as_raw_fd(), bytes as libc::off_t) };
            if grown == 0 { Ok(Pages(file)) } else { Err(OUT_OF_MEMORY) }
        }

        /// Memory that another process, or this one, gave away as a file; with its size.
        pub fn of_file(file: i32) -> Result<(Pages, usize), CUresult> {
            // SAFETY: duplicating a number that is no descriptor fails.
            let own = unsafe { libc::fcntl(file, libc::F_DUPFD_CLOEXEC, 0) };
            if own < 0 {
                return Err(INVALID_VALUE);
            }
            // SAFETY: the call above opened it.
            let own = unsafe { OwnedFd::from_raw_fd(own) };
            // SAFETY: zeros are a valid `stat`, which the call fills.
            let mut about: libc::stat = unsafe { std::mem::zeroed() };
            // SAFETY: the descriptor is open and the structure is there.
            if unsafe { libc::fstat(own.as_raw_fd(), &mut about) } != 0 {
                return Err(INVALID_VALUE);
            }
            Ok((Pages(own), usize::try_from(about.st_size).unwrap_or(0)))
        }

        /// A descriptor of its own for the caller.
        pub fn file(&self) -> Result<i32, CUresult> {
            // SAFETY: the descriptor is open.
            let copy = unsafe { libc::dup(self.0.as_raw_fd()) };
            if copy < 0 { Err(OPERATING_SYSTEM) } else { Ok(copy) }
        }

        /// Puts the memory at reserved addresses.
        pub fn map(&self, start: usize, bytes: usize) -> Answer {
            let (access, how) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_FIXED);
            // SAFETY: the caller reserved these addresses, so nothing else is there.
            let at = unsafe { libc::mmap(start as *mut _, bytes, access, how, self.0.as_raw_fd(), 0) };
            if at == libc::MAP_FAILED { Err(OUT_OF_MEMORY) } else { Ok(()) }
        }
    }

    const NOTHING: i32 = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;

    /// Addresses that nobody else will get; `align` is a power of two and a multiple of a page.
    pub fn reserve(bytes: usize, align: usize) -> Result<usize, CUresult> {
        let room = bytes.checked_add(align).ok_or(OUT_OF_MEMORY)?;
        // SAFETY: the system chooses addresses where nothing is.
        let at = unsafe { libc::mmap(null_mut(), room, libc::PROT_NONE, NOTHING, -1, 0) };
        if at == libc::MAP_FAILED {
            return Err(OUT_OF_MEMORY);
        }
        let start = (at as usize).next_multiple_of(align);
        give_back(at as usize, start - at as usize);
        give_back(start + bytes, at as usize + room - start - bytes);
        Ok(start)
    }

    /// Zeros at addresses that the caller chooses; refused where something is.
    pub fn place(start: usize, bytes: usize) -> Answer {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let how = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        // SAFETY: nothing is replaced.
        let at = unsafe { libc::mmap(start as *mut _, bytes, access, how, -1, 0) };
        if at as usize == start {
            return Ok(());
        }
        if at != libc::MAP_FAILED {
            give_back(at as usize, bytes);
        }
        Err(OUT_OF_MEMORY)
    }

    pub fn give_back(start: usize, bytes: usize) {
        if bytes > 0 {
            // SAFETY: the range is part of a reservation.
            unsafe { libc::munmap(start as *mut _, bytes) };
        }
    }

    /// Takes memory away from its addresses, which stay reserved.
    pub fn forget(start: usize, bytes: usize) {
        // SAFETY: the range is a mapping inside a reservation.
        unsafe { libc::mmap(start as *mut _, bytes, libc::PROT_NONE, NOTHING | libc::MAP_FIXED, -1, 0) };
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use crate::abi::*;

    /// No other system's way is built.
    pub struct Pages;

    impl Pages {
        pub fn new(_bytes: usize) -> Result<Pages, CUresult> {
            Err(NOT_SUPPORTED)
        }

        pub fn of_file(_file: i32) -> Result<(Pages, usize), CUresult> {
            Err(NOT_SUPPORTED)
        }

        pub fn file(&self) -> Result<i32, CUresult> {
            Err(NOT_SUPPORTED)
        }

        pub fn map(&self, _start: usize, _bytes: usize) -> Answer {
            Err(NOT_SUPPORTED)
        }
    }

    pub fn reserve(_bytes: usize, _align: usize) -> Result<usize, CUresult> {
        Err(NOT_SUPPORTED)
    }

    pub fn place(_start: usize, _bytes: usize) -> Answer {
        Err(NOT_SUPPORTED)
    }

    pub fn give_back(_start: usize, _bytes: usize) {}

    pub fn forget(_start: usize, _bytes: usize) {}
}

pub use system::{Pages, forget, give_back, place, reserve};
