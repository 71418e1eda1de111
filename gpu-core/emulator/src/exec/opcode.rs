//! What the text of an instruction says of it.

/// The opcode of an instruction's text, behind its guard.
pub fn opcode(text: &str) -> &str {
    text.split(' ').find(|word| !word.starts_with('@')).unwrap_or_default()
}

/// Whether an instruction only puts bits elsewhere, as code for bit fields does.
pub fn is_bitwise(opcode: &str) -> bool {
    let name = opcode.split('.').next().unwrap_or_default();
    matches!(name, "and" | "or" | "xor" | "not" | "lop3" | "shl" | "shr" | "shf" | "bfi" | "bfe" | "prmt" | "cvt")
}

/// Whether it takes bits from one place to another; from memory only where that lies in the frame: see `isa/memory.rs`.
pub fn is_move(opcode: &str) -> bool {
    ["mov", "ld.param", "st.param"].iter().any(|name| opcode.starts_with(name))
}
