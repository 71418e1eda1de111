//! Calls that copy in two and three dimensions.

use super::copies::copy;
use crate::abi::*;
use crate::memory::boxes::{Copy2d, Copy3d};
use crate::work;

/// `CUDA_MEMCPY3D_PEER`: where the others have reserved words, contexts stand, which all see the same memory.
unsafe fn peer(request: *const Copy3d, stream: Handle, wait: bool) -> Answer {
    copy(unsafe { request.as_ref() }.ok_or(INVALID_VALUE)?.block()?, stream, wait)
}

api_with_streams! {
    fn cuMemcpy2D_v2(request: *const Copy2d) {
        copy(request.as_ref().ok_or(INVALID_VALUE)?.block()?, 0, true)
    }
    fn cuMemcpy2DUnaligned_v2(request: *const Copy2d) {
        copy(request.as_ref().ok_or(INVALID_VALUE)?.block()?, 0, true)
    }
    fn cuMemcpy2DAsync_v2(request: *const Copy2d, stream: Handle) {
        copy(request.as_ref().ok_or(INVALID_VALUE)?.block()?, stream, false)
    }
    fn cuMemcpy3D_v2(request: *const Copy3d) {
        copy(request.as_ref().ok_or(INVALID_VALUE)?.block()?, 0, true)
    }
    fn cuMemcpy3DAsync_v2(request: *const Copy3d, stream: Handle) {
        copy(request.as_ref().ok_or(INVALID_VALUE)?.block()?, stream, false)
    }
    fn cuMemcpy3DPeer(request: *const Copy3d) {
        peer(request, 0, true)
    }
    fn cuMemcpy3DPeerAsync(request: *const Copy3d, stream: Handle) {
        work::stream(stream)?;
        peer(request, stream, false)
    }
}
