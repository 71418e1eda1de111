//! Calls that copy from and to arrays.

use super::copies::copy;
use crate::abi::*;
use crate::memory::arrays::Array;
use crate::memory::copy::{Block, Place, known_place};

fn line(array: Handle, offset: usize, bytes: usize) -> Result<Place, CUresult> {
    Array::find(array)?.line(offset, bytes)
}

fn host(address: u64, bytes: usize) -> Result<Place, CUresult> {
    if address == 0 && bytes > 0 { Err(INVALID_VALUE) } else { Ok(Place::unified(address)) }
}

fn move_line(to: Place, from: Place, bytes: usize, stream: Handle, wait: bool) -> Answer {
    copy(Block::line(to, from, bytes), stream, wait)
}

api_with_streams! {
    fn cuMemcpyHtoA_v2(array: Handle, offset: usize, from: u64, bytes: usize) {
        move_line(line(array, offset, bytes)?, host(from, bytes)?, bytes, 0, true)
    }
    fn cuMemcpyAtoH_v2(to: u64, array: Handle, offset: usize, bytes: usize) {
        move_line(host(to, bytes)?, line(array, offset, bytes)?, bytes, 0, true)
    }
    fn cuMemcpyHtoAAsync_v2(array: Handle, offset: usize, from: u64, bytes: usize, stream: Handle) {
        move_line(line(array, offset, bytes)?, host(from, bytes)?, bytes, stream, false)
    }
    fn cuMemcpyAtoHAsync_v2(to: u64, array: Handle, offset: usize, bytes: usize, stream: Handle) {
        move_line(host(to, bytes)?, line(array, offset, bytes)?, bytes, stream, false)
    }
    fn cuMemcpyDtoA_v2(array: Handle, offset: usize, from: CUdeviceptr, bytes: usize) {
        move_line(line(array, offset, bytes)?, known_place(from, bytes)?, bytes, 0, true)
    }
    fn cuMemcpyAtoD_v2(to: CUdeviceptr, array: Handle, offset: usize, bytes: usize) {
        move_line(known_place(to, bytes)?, line(array, offset, bytes)?, bytes, 0, true)
    }
    fn cuMemcpyAtoA_v2(to: Handle, to_offset: usize, from: Handle, from_offset: usize, bytes: usize) {
        move_line(line(to, to_offset, bytes)?, line(from, from_offset, bytes)?, bytes, 0, true)
    }
}
