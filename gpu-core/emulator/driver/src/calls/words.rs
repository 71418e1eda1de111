//! Calls that have a stream write words, or wait for them.

use crate::abi::*;
use crate::graph::{Operation, submit};
use crate::memory::words::{Batch, Params, WAIT_32, WAIT_64, WRITE_32, WRITE_64};
use crate::work;

fn one(stream: Handle, params: Params) -> Answer {
    let (context, stream) = work::stream(stream)?;
    let batch = Batch::new(vec![params])?;
    submit(&stream, &context, Operation::Words(batch)).map(drop)
}

unsafe fn several(stream: Handle, count: u32, params: *const Params, flags: u32) -> Answer {
    let (context, stream) = work::stream(stream)?;
    let batch = unsafe { Batch::read(params, count as usize, flags) }?;
    if batch.is_empty() {
        return Ok(());
    }
    submit(&stream, &context, Operation::Words(batch)).map(drop)
}

api_with_streams! {
    fn cuStreamWriteValue32(stream: Handle, address: CUdeviceptr, value: u32, flags: u32) {
        one(stream, Params::word(WRITE_32, address, u64::from(value), flags))
    }
    fn cuStreamWriteValue32_v2(stream: Handle, address: CUdeviceptr, value: u32, flags: u32) {
        one(stream, Params::word(WRITE_32, address, u64::from(value), flags))
    }
    fn cuStreamWriteValue64(stream: Handle, address: CUdeviceptr, value: u64, flags: u32) {
        one(stream, Params::word(WRITE_64, address, value, flags))
    }
    fn cuStreamWriteValue64_v2(stream: Handle, address: CUdeviceptr, value: u64, flags: u32) {
        one(stream, Params::word(WRITE_64, address, value, flags))
    }
    fn cuStreamWaitValue32(stream: Handle, address: CUdeviceptr, value: u32, flags: u32) {
        one(stream, Params::word(WAIT_32, address, u64::from(value), flags))
    }
    fn cuStreamWaitValue32_v2(stream: Handle, address: CUdeviceptr, value: u32, flags: u32) {
        one(stream, Params::word(WAIT_32, address, u64::from(value), flags))
    }
    fn cuStreamWaitValue64(stream: Handle, address: CUdeviceptr, value: u64, flags: u32) {
        one(stream, Params::word(WAIT_64, address, value, flags))
    }
    fn cuStreamWaitValue64_v2(stream: Handle, address: CUdeviceptr, value: u64, flags: u32) {
        one(stream, Params::word(WAIT_64, address, value, flags))
    }
    fn cuStreamBatchMemOp(stream: Handle, count: u32, params: *const Params, flags: u32) {
        several(stream, count, params, flags)
    }
    fn cuStreamBatchMemOp_v2(stream: Handle, count: u32, params: *const Params, flags: u32) {
        several(stream, count, params, flags)
    }
}
