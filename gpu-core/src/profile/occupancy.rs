//! How many warps of a kernel a multiprocessor can hold at once.

/// Registers of a multiprocessor; a warp takes them 256 at a time, and warps by fours.
const REGISTERS: u32 = 65_536;
const REGISTER_UNIT: u32 = 256;
const WARP_UNIT: u32 = 4;
/// A block takes shared memory 128 bytes at a time, and the system 1 KiB of its own.
const SHARED_UNIT: u32 = 128;
const SHARED_RESERVED: u32 = 1024;

/// Most warps, blocks and bytes of shared memory of a multiprocessor, by compute capability (CUDA C++ Programming Guide,
/// "Technical Specifications per Compute Capability").
fn limits(capability: u32) -> Option<(u32, u32, u32)> {
    Some(match capability {
        80 => (64, 32, 164 << 10),
        86 => (48, 16, 100 << 10),
        87 => (48, 16, 164 << 10),
        89 => (48, 24, 100 << 10),
        90 | 100 | 103 => (64, 32, 228 << 10),
        120 | 121 => (48, 24, 100 << 10),
        _ => return None,
    })
}

/// Warps that fit at once as a share of the most; None for an architecture that is not known, and 0 where not even one
/// block fits.
pub fn share(arch: &str, threads_a_block: u32, registers: u32, shared_bytes: u32) -> Option<f64> {
    let digits: String = arch.chars().filter(char::is_ascii_digit).collect();
    let (most_warps, most_blocks, most_shared) = limits(digits.parse().ok()?)?;
    let warps = threads_a_block.div_ceil(32).max(1);
    let of_registers = match (registers * 32).next_multiple_of(REGISTER_UNIT) {
        0 => most_blocks,
        each => REGISTERS / each / WARP_UNIT * WARP_UNIT / warps,
    };
    let of_shared = most_shared / (shared_bytes + SHARED_RESERVED).next_multiple_of(SHARED_UNIT);
    let blocks = most_blocks.min(most_warps / warps).min(of_registers).min(of_shared);
    Some(f64::from(blocks * warps) / f64::from(most_warps))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scarcest_resource_decides() {
        assert_eq!(share("sm_90a", 256, 32, 0), Some(1.0));
        // 64 registers: 32 warps of 64.
        assert_eq!(share("sm_90a", 256, 64, 0), Some(0.5));
        // One block of 200 KiB.
        assert_eq!(share("sm_90a", 256, 32, 200 << 10), Some(8.0 / 64.0));
        // 32 blocks of one warp.
        assert_eq!(share("sm_90", 32, 16, 0), Some(0.5));
        assert_eq!(share("sm_120a", 1024, 32, 0), Some(32.0 / 48.0), "a second block of 32 warps does not fit");
        assert_eq!(share("sm_75", 32, 16, 0), None);
    }
}
