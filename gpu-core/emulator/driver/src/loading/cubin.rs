//! What machine code tells of its kernels. It cannot run here, but a program that offers a cubin and, being refused,
//! the PTX of the same kernels, gets their true register counts.

use std::collections::HashMap;
use std::sync::Mutex;

use ptx_emulator::Module;

use crate::process::lock;

/// Registers by kernel of the cubin that was refused last.
static LAST: Mutex<Option<HashMap<String, u32>>> = Mutex::new(None);

/// A cubin is trusted to be this small: its own header says how long it is.
const MOST_BYTES: u64 = 1 << 30;
const HEADER_BYTES: usize = 64;
const SECTION_BYTES: usize = 64;

/// Remembers the register counts of a cubin.
pub fn remember(cubin: &[u8]) {
    *lock(&LAST) = registers(cubin);
}

/// The register counts of the last cubin, if it has every kernel of this module.
pub fn remembered(module: &Module) -> HashMap<String, u32> {
    let known = lock(&LAST).take().unwrap_or_default();
    let same = module.kernels().iter().all(|kernel| known.contains_key(&kernel.name));
    if same { known } else { HashMap::new() }
}

/// The bytes of an ELF file in memory, as far as its section table reaches; empty when the header makes no sense.
///
/// # Safety
/// `image` points to a whole ELF file.
pub unsafe fn whole<'a>(image: *const u8) -> &'a [u8] {
    let header = unsafe { std::slice::from_raw_parts(image, HEADER_BYTES) };
    let end = word(header, 40)
        .zip(half(header, 60))
        .and_then(|(table, count)| table.checked_add(u64::from(count) * SECTION_BYTES as u64))
        .filter(|end| *end <= MOST_BYTES);
    let table = end.map_or(&[][..], |end| unsafe { std::slice::from_raw_parts(image, end as usize) });
    // Sections may lie behind the table.
    let last = sections(table).map(|section| section.offset.saturating_add(section.bytes)).max().unwrap_or(0);
    let end = last.max(table.len() as u64);
    if end > MOST_BYTES { &[] } else { unsafe { std::slice::from_raw_parts(image, end as usize) } }
}

fn word(data: &[u8], at: usize) -> Option<u64> {
    data.get(at..at.checked_add(8)?)?.try_into().ok().map(u64::from_le_bytes)
}

fn quarter(data: &[u8], at: usize) -> Option<u32> {
    data.get(at..at.checked_add(4)?)?.try_into().ok().map(u32::from_le_bytes)
}

fn half(data: &[u8], at: usize) -> Option<u16> {
    data.get(at..at.checked_add(2)?)?.try_into().ok().map(u16::from_le_bytes)
}

/// One entry of an ELF file's section table.
struct Section {
    name: u32,
    offset: u64,
    bytes: u64,
}

const NO_CONTENT: u32 = 8;

fn sections(elf: &[u8]) -> impl Iterator<Item = Section> {
    let table = word(elf, 40).unwrap_or(0) as usize;
    let count = half(elf, 60).map_or(0, usize::from);
    (0..count).filter_map(move |index| {
        let at = table.checked_add(index * SECTION_BYTES)?;
        let bytes = if quarter(elf, at.checked_add(4)?)? == NO_CONTENT { 0 } else { word(elf, at.checked_add(32)?)? };
        Some(Section { name: quarter(elf, at)?, offset: word(elf, at.checked_add(24)?)?, bytes })
    })
}

fn text(data: &[u8]) -> Option<&str> {
    let end = data.iter().position(|byte| *byte == 0)?;
    std::str::from_utf8(&data[..end]).ok()
}

/// `EIFMT_SVAL`: the value follows the record's head, which gives its size.
const FORMAT_SIZED: u8 = 4;
/// `EIATTR_REGCOUNT`: symbol and registers of one function.
const ATTRIBUTE_REGISTERS: u8 = 0x2f;
const SYMBOL_BYTES: usize = 24;

/// Registers of every function, from the attributes in the section `.nv.info`.
fn registers(elf: &[u8]) -> Option<HashMap<String, u32>> {
    let content =
        |section: &Section| elf.get(section.offset as usize..section.offset.checked_add(section.bytes)? as usize);
    let names = content(&sections(elf).nth(usize::from(half(elf, 62)?))?)?;
    let named = |wanted: &str| {
        let section = sections(elf)
            .find(|section| names.get(section.name as usize..).and_then(text).is_some_and(|name| name == wanted));
        section.as_ref().and_then(content)
    };
    let (symbols, strings, info) = (named(".symtab")?, named(".strtab")?, named(".nv.info")?);
    let mut found = HashMap::new();
    let mut at = 0;
    while let Some(&[format, attribute, low, high]) = info.get(at..at + 4) {
        at += 4;
        if format != FORMAT_SIZED {
            continue;
        }
        if attribute == ATTRIBUTE_REGISTERS
            && let (Some(symbol), Some(count)) = (quarter(info, at), quarter(info, at + 4))
        {
            let name = quarter(symbols, (symbol as usize).saturating_mul(SYMBOL_BYTES));
            if let Some(name) = name.and_then(|name| strings.get(name as usize..)).and_then(text) {
                found.insert(name.to_owned(), count);
            }
        }
        at += usize::from(u16::from_le_bytes([low, high]));
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn garbage_tells_nothing() {
        for bytes in [0, 4, 64, 200] {
            let mut elf = vec![0xffu8; bytes];
            elf.splice(0..bytes.min(4), b"\x7fELF"[..bytes.min(4)].iter().copied());
            assert!(registers(&elf).is_none_or(|found| found.is_empty()));
        }
    }
}
