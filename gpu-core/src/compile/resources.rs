//! What ptxas says of each kernel under `-v`, and what only the cubin says.

use super::KernelResources;

/// Reads registers, shared memory, stack, spills and barriers per kernel, in log order.
pub fn parse(log: &str, cubin: &[u8]) -> Vec<KernelResources> {
    let mut kernels: Vec<KernelResources> = Vec::new();
    let mut mangled: Vec<&str> = Vec::new();
    // Whether the properties that follow are of the kernel itself or of a function that it calls.
    let mut in_entry = false;
    for line in log.lines() {
        let Some(text) = line.strip_prefix("ptxas") else { continue };
        if let Some(name) = quoted_after(text, "Compiling entry function '") {
            kernels.push(KernelResources { name: demangle(name), ..KernelResources::default() });
            mangled.push(name);
            in_entry = true;
        } else if let Some((_, name)) = text.split_once("Function properties for ") {
            in_entry = mangled.last() == Some(&name.trim().trim_matches('\''));
        } else if let Some(kernel) = kernels.last_mut().filter(|_| in_entry) {
            if text.contains("bytes stack frame") {
                kernel.stack_bytes = number_before(text, " bytes stack frame");
                kernel.spill_store_bytes = number_before(text, " bytes spill stores");
                kernel.spill_load_bytes = number_before(text, " bytes spill loads");
            } else if text.contains(" registers") && text.contains("Used ") {
                kernel.registers = number_before(text, " registers");
                kernel.barriers = number_before(text, " barriers");
                kernel.static_shared_bytes = number_before(text, " bytes smem");
                kernel.stack_bytes = kernel.stack_bytes.max(number_before(text, " bytes cumulative stack size"));
            }
        }
    }
    let constants = constant_sections(cubin).unwrap_or_default();
    for (kernel, mangled) in kernels.iter_mut().zip(&mangled) {
        let of_kernel = |section: &&(String, u64)| section.0.split_once('.').is_none_or(|(_, owner)| owner == *mangled);
        let bytes: u64 = constants.iter().filter(of_kernel).map(|section| section.1).sum();
        kernel.constant_bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    }
    kernels
}

/// The C++ name as written, `k<64>(float*)` for `_Z1kILi64EEvPf`; the name itself when it is not mangled.
pub fn demangle(name: &str) -> String {
    // Bounded: a mangled name can expand exponentially through back references.
    const MAX_BYTES: usize = 1000;
    if !name.starts_with("_Z") || name.len() > MAX_BYTES {
        return name.to_owned();
    }
    let options = cpp_demangle::DemangleOptions::new().no_return_type();
    let Ok(symbol) = cpp_demangle::Symbol::new(name) else { return name.to_owned() };
    match symbol.demangle(&options) {
        Ok(text) if text.len() <= MAX_BYTES => text,
        _ => name.to_owned(),
    }
}

fn quoted_after<'a>(text: &'a str, before: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(before)?;
    rest.split_once('\'').map(|(name, _)| name)
}

/// The decimal number that ends right before `unit`; 0 when there is none.
fn number_before(text: &str, unit: &str) -> u32 {
    let Some((before, _)) = text.split_once(unit) else { return 0 };
    let digits = before.bytes().rev().take_while(u8::is_ascii_digit).count();
    before[before.len() - digits..].parse().unwrap_or(u32::MAX)
}

/// Sizes of the constant banks: (`0.kernel` or `3`, bytes). From sm_90 on ptxas no longer prints them, so they are
/// read from the section headers of the cubin (ELF64, little endian). None when it is not one.
fn constant_sections(cubin: &[u8]) -> Option<Vec<(String, u64)>> {
    let bytes = |at: usize, count: usize| cubin.get(at..at.checked_add(count)?);
    let u16_at = |at| Some(u16::from_le_bytes(bytes(at, 2)?.try_into().ok()?) as usize);
    let u32_at = |at| Some(u32::from_le_bytes(bytes(at, 4)?.try_into().ok()?) as usize);
    let u64_at = |at| usize::try_from(u64::from_le_bytes(bytes(at, 8)?.try_into().ok()?)).ok();
    if bytes(0, 5)? != b"\x7fELF\x02" {
        return None;
    }
    let (table, entry_bytes, count, names) = (u64_at(0x28)?, u16_at(0x3a)?, u16_at(0x3c)?, u16_at(0x3e)?);
    let header = |index: usize| table.checked_add(index.checked_mul(entry_bytes)?);
    let names_at = u64_at(header(names)?.checked_add(0x18)?)?;
    let mut found = Vec::new();
    for index in 0..count {
        let at = header(index)?;
        let name_at = names_at.checked_add(u32_at(at)?)?;
        let name = cubin.get(name_at..)?.split(|&byte| byte == 0).next()?;
        if let Some(bank) = name.strip_prefix(b".nv.constant") {
            found.push((String::from_utf8_lossy(bank).into_owned(), u64_at(at.checked_add(0x20)?)? as u64));
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    // As NVRTC 13.5 prints it.
    const LOG: &str = "\
ptxas warning : Stack size for entry function '_Z1kILi64EEvPf' cannot be statically determined
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'zz' for 'sm_90a'
ptxas info    : Function properties for zz
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
ptxas info    : Compile time = 6.451 ms
ptxas info    : Compiling entry function '_Z1kILi64EEvPf' for 'sm_90a'
ptxas info    : Function properties for _Z1kILi64EEvPf
ptxas         .     400 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 424 bytes cumulative stack size, 256 bytes smem
ptxas info    : Compile time = 8.341 ms
ptxas info    : Function properties for _Z3fibi
ptxas         .     24 bytes stack frame, 20 bytes spill stores, 20 bytes spill loads
";

    #[test]
    fn reads_every_kernel_and_no_helper() {
        let kernels = parse(LOG, &[]);
        assert_eq!(kernels.len(), 2);
        assert_eq!(kernels[0], KernelResources { name: "zz".into(), registers: 8, ..Default::default() });
        assert_eq!(
            kernels[1],
            KernelResources {
                name: "k<64>(float*)".into(),
                registers: 40,
                static_shared_bytes: 256,
                stack_bytes: 424,
                spill_store_bytes: 12,
                spill_load_bytes: 16,
                constant_bytes: 0,
                barriers: 1,
            }
        );
    }

    #[test]
    fn broken_logs_and_cubins_never_panic() {
        for log in
            ["ptxas", "ptxas Compiling entry function 'é", "ptxas Used  registers", "ptxas Function properties for"]
        {
            parse(log, b"\x7fELF\x02");
        }
        assert_eq!(number_before("99999999999 bytes smem", " bytes smem"), u32::MAX);
        let mut elf = vec![0xff_u8; 200];
        elf[..5].copy_from_slice(b"\x7fELF\x02");
        assert!(constant_sections(&elf).is_none());
    }

    #[test]
    fn demangles_what_is_mangled() {
        assert_eq!(demangle("k"), "k");
        assert_eq!(demangle("_Z"), "_Z");
        assert_eq!(demangle("_ZN1a1bEi"), "a::b(int)");
    }
}
