//! Fat binaries, as `nvcc -fatbin` and the `.nv_fatbin` sections of programs hold them: PTX and machine code for several
//! architectures one after the other, each with a header and most of them compressed.

use std::borrow::Cow;
use std::io::Read;

/// How a fat binary begins.
pub const MAGIC: u32 = 0xba55_ed50;
/// How the structure begins with which a compiled program points to its fat binary.
pub const WRAPPER_MAGIC: u32 = 0x4662_43b1;

/// Magic number, version, size of this header, bytes behind it.
const HEADER_BYTES: usize = 16;
/// The fields of an entry's header that are read here end before.
const ENTRY_BYTES: usize = 64;
/// No fat binary and no text in it is trusted to be larger.
const MOST_BYTES: u64 = 1 << 30;

const LZ4: u64 = 0x2000;
const ZSTD: u64 = 0x8000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Ptx,
    Machine,
    /// Code for the linker and what compilers to come may add.
    Other,
}

/// One piece of code in a fat binary.
pub struct Entry<'a> {
    pub kind: Kind,
    /// 90 for `compute_90` and `sm_90`.
    pub architecture: u32,
    flags: u64,
    /// As it lies there, the end filled up.
    bytes: &'a [u8],
    /// Before it was compressed.
    full_bytes: u64,
}

impl Entry<'_> {
    /// The piece itself.
    ///
    /// # Errors
    /// A sentence that says what is wrong with it.
    pub fn content(&self) -> Result<Cow<'_, [u8]>, String> {
        let most = self.full_bytes;
        if self.flags & (LZ4 | ZSTD) == 0 {
            return Ok(Cow::Borrowed(self.bytes));
        }
        if most > MOST_BYTES {
            return Err(format!("a piece of {most} bytes is too large"));
        }
        if self.flags & LZ4 != 0 {
            let content = lz4_flex::block::decompress(self.bytes, most as usize);
            return content.map(Cow::Owned).map_err(|error| format!("LZ4: {error}"));
        }
        let mut content = Vec::new();
        let decoder = ruzstd::decoding::StreamingDecoder::new(self.bytes).map_err(|error| format!("zstd: {error}"))?;
        decoder.take(most).read_to_end(&mut content).map_err(|error| format!("zstd: {error}"))?;
        Ok(Cow::Owned(content))
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at.checked_add(4)?)?.try_into().ok().map(u32::from_le_bytes)
}

fn long(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at.checked_add(8)?)?.try_into().ok().map(u64::from_le_bytes)
}

/// The bytes of a fat binary in memory, as its own header tells; empty where that makes no sense.
///
/// # Safety
/// `image` points to a whole fat binary.
pub unsafe fn whole<'a>(image: *const u8) -> &'a [u8] {
    let header = unsafe { std::slice::from_raw_parts(image, HEADER_BYTES) };
    let known = word(header, 0) == Some(MAGIC);
    match long(header, 8).filter(|bytes| known && *bytes <= MOST_BYTES) {
        Some(bytes) => unsafe { std::slice::from_raw_parts(image, HEADER_BYTES + bytes as usize) },
        None => &[],
    }
}

/// The pieces of a fat binary.
///
/// # Errors
/// A sentence that says what is wrong with it.
pub fn entries(bytes: &[u8]) -> Result<Vec<Entry<'_>>, String> {
    if word(bytes, 0) != Some(MAGIC) {
        return Err("it does not begin as one".to_owned());
    }
    let header = word(bytes, 4).map_or(0, |word| (word >> 16) as usize);
    let size = long(bytes, 8).and_then(|size| usize::try_from(size).ok());
    let end =
        size.and_then(|size| header.checked_add(size)).filter(|end| header >= HEADER_BYTES && *end <= bytes.len());
    let mut rest = match end {
        Some(end) => &bytes[header..end],
        None => return Err(format!("its header says more than the {} bytes there are", bytes.len())),
    };
    let mut entries = Vec::new();
    while !rest.is_empty() {
        let (entry, bytes) = entry(rest).ok_or_else(|| format!("piece {} is cut off", entries.len() + 1))?;
        entries.push(entry);
        rest = &rest[bytes..];
    }
    Ok(entries)
}

/// The piece at the beginning, and how many bytes it takes with its header.
fn entry(bytes: &[u8]) -> Option<(Entry<'_>, usize)> {
    let header = word(bytes, 4)? as usize;
    let padded = usize::try_from(long(bytes, 8)?).ok()?;
    let end = header.checked_add(padded).filter(|end| header >= ENTRY_BYTES && *end <= bytes.len())?;
    let compressed = word(bytes, 16)? as usize;
    let flags = long(bytes, 40)?;
    // The end is filled up to a multiple of eight, which LZ4 would read on into.
    let used = if flags & (LZ4 | ZSTD) == 0 { padded } else { compressed };
    let entry = Entry {
        kind: match word(bytes, 0)? & 0xffff {
            1 => Kind::Ptx,
            2 => Kind::Machine,
            _ => Kind::Other,
        },
        architecture: word(bytes, 28)?,
        flags,
        bytes: bytes.get(header..header.checked_add(used).filter(|used| *used <= end)?)?,
        full_bytes: long(bytes, 56)?,
    };
    Some((entry, end))
}
