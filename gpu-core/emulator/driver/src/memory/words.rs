//! Words of memory that a stream writes, or waits for.

use std::time::Duration;

use super::copy::{Place, known_place};
use crate::abi::*;
use crate::process::{driver, lock};
use crate::work::order;

/// `CUstreamBatchMemOpParams`: 48 bytes, of which waits and writes use these.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Params {
    operation: u32,
    pad: u32,
    address: CUdeviceptr,
    value: u64,
    flags: u32,
    pad2: u32,
    alias: CUdeviceptr,
    rest: u64,
}

/// Values of `CUstreamBatchMemOpType`.
pub const WAIT_32: u32 = 1;
pub const WRITE_32: u32 = 2;
const FLUSH: u32 = 3;
pub const WAIT_64: u32 = 4;
pub const WRITE_64: u32 = 5;
const BARRIER: u32 = 6;
/// `CU_STREAM_WAIT_VALUE_FLUSH`, which orders what other devices wrote.
const WAIT_FLUSH: u32 = 1 << 30;
/// `CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER`.
const NO_BARRIER: u32 = 1;
const MOST_OPERATIONS: usize = 256;
/// How long a waiting stream lets others go on before it looks again.
const LOOK_AGAIN: Duration = Duration::from_micros(100);

/// One operation whose arguments were looked at.
#[derive(Clone, Copy)]
enum Step {
    Write { to: Place, value: u64, bytes: usize },
    Wait { at: Place, value: u64, bytes: usize, compare: u32 },
    Nothing,
}

impl Params {
    fn step(&self) -> Result<Step, CUresult> {
        let bytes = if matches!(self.operation, WAIT_64 | WRITE_64) { 8 } else { 4 };
        if matches!(self.operation, FLUSH | BARRIER) {
            return Ok(Step::Nothing);
        }
        let place = known_place(self.address, bytes)?;
        if !self.address.is_multiple_of(bytes as u64) {
            return Err(INVALID_VALUE);
        }
        let value = if bytes == 4 { self.value & u64::from(u32::MAX) } else { self.value };
        match self.operation {
            WRITE_32 | WRITE_64 if self.flags & !NO_BARRIER == 0 => Ok(Step::Write { to: place, value, bytes }),
            WAIT_32 | WAIT_64 if self.flags & !WAIT_FLUSH <= 3 => {
                Ok(Step::Wait { at: place, value, bytes, compare: self.flags & !WAIT_FLUSH })
            }
            _ => Err(INVALID_VALUE),
        }
    }

    pub fn word(operation: u32, address: CUdeviceptr, value: u64, flags: u32) -> Params {
        Params { operation, pad: 0, address, value, flags, pad2: 0, alias: 0, rest: 0 }
    }
}

fn read(at: Place, bytes: usize) -> Result<u64, CUresult> {
    let mut word = [0u8; 8];
    match at {
        Place::Device(address) => {
            lock(&driver().memory).read(address, &mut word[..bytes]).map_err(|_| ILLEGAL_ADDRESS)?;
        }
        Place::Host(address) => unsafe {
            // Another thread of the program may write it meanwhile.
            let value = if bytes == 4 {
                u64::from((address as *const u32).read_volatile())
            } else {
                (address as *const u64).read_volatile()
            };
            return Ok(value);
        },
    }
    Ok(u64::from_le_bytes(word))
}

impl Step {
    fn run(&self) -> Answer {
        match *self {
            Step::Nothing => Ok(()),
            Step::Write { to: Place::Device(address), value, bytes } => {
                lock(&driver().memory).write(address, &value.to_le_bytes()[..bytes]).map_err(|_| ILLEGAL_ADDRESS)
            }
            Step::Write { to: Place::Host(address), value, bytes } => {
                unsafe {
                    if bytes == 4 {
                        (address as *mut u32).write_volatile(value as u32);
                    } else {
                        (address as *mut u64).write_volatile(value);
                    }
                }
                Ok(())
            }
            Step::Wait { at, value, bytes, compare } => loop {
                let found = read(at, bytes)?;
                let ended = match compare {
                    // Greater or equal, counted around the end of the numbers.
                    0 if bytes == 4 => (found as u32).wrapping_sub(value as u32).cast_signed() >= 0,
                    0 => found.wrapping_sub(value).cast_signed() >= 0,
                    1 => found == value,
                    2 => found & value != 0,
                    _ if bytes == 4 => !(found | value) & u64::from(u32::MAX) != 0,
                    _ => !(found | value) != 0,
                };
                if ended || driver().failure.happened() {
                    return Ok(());
                }
                std::thread::sleep(LOOK_AGAIN);
            },
        }
    }
}

/// Operations that are done one after the other.
#[derive(Clone)]
pub struct Batch {
    params: Vec<Params>,
    steps: Vec<Step>,
}

impl Batch {
    /// Reads a caller's list.
    ///
    /// # Safety
    /// `params` is NULL or has `count` elements.
    pub unsafe fn read(params: *const Params, count: usize, flags: u32) -> Result<Batch, CUresult> {
        if count > MOST_OPERATIONS || flags != 0 || count > 0 && params.is_null() {
            return Err(INVALID_VALUE);
        }
        let params = (0..count).map(|index| unsafe { params.add(index).read() }).collect();
        Batch::new(params)
    }

    pub fn new(params: Vec<Params>) -> Result<Batch, CUresult> {
        let steps: Vec<Step> = params.iter().map(Params::step).collect::<Result<_, _>>()?;
        if steps.iter().any(|step| matches!(step, Step::Wait { .. })) {
            order::give_up();
        }
        Ok(Batch { params, steps })
    }

    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// As the program gave it.
    pub fn params(&self) -> &[Params] {
        &self.params
    }

    pub fn run(&self) -> Result<f64, CUresult> {
        self.steps.iter().try_for_each(Step::run)?;
        Ok(0.0)
    }
}
