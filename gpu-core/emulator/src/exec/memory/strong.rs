//! Volatile, relaxed, acquiring and releasing loads and stores of vectors, which move in one piece.

/// Whether the host would move what a lane accesses in several steps.
pub const fn is_in_parts<E>(vector: usize) -> bool {
    vector > 1 || size_of::<E>() > 8
}

/// Sixteen bytes that the host moves in one piece: x86-64 processors with AVX do so from and to aligned places, and those of
/// ARM since version 8.4.
#[cfg(target_arch = "x86_64")]
type Sixteen = std::arch::x86_64::__m128i;
#[cfg(not(target_arch = "x86_64"))]
type Sixteen = u128;

/// Copies a lane's vector as hardware does, which moves it in one piece: PTX promises that of its elements alone, but programs
/// keep a value and its state side by side. Of more than 16 bytes, each 16.
///
/// # Safety
/// Both are valid for so many bytes; memory that lies otherwise than its addresses say is copied as it comes.
#[inline(always)]
pub unsafe fn copy_whole(from: *const u8, to: *mut u8, bytes: usize) {
    // SAFETY: as the caller promises. Volatile, so that it stays one access.
    unsafe {
        match bytes {
            _ if !(from as usize | to as usize).is_multiple_of(bytes.min(16)) => from.copy_to_nonoverlapping(to, bytes),
            2 => to.cast::<u16>().write_volatile(from.cast::<u16>().read_volatile()),
            4 => to.cast::<u32>().write_volatile(from.cast::<u32>().read_volatile()),
            8 => to.cast::<u64>().write_volatile(from.cast::<u64>().read_volatile()),
            _ => (0..bytes / 16).for_each(|part| {
                let piece = from.cast::<Sixteen>().add(part).read_volatile();
                to.cast::<Sixteen>().add(part).write_volatile(piece);
            }),
        }
    }
}
