//! Routines for accesses to shared memory some of which may be unwritten: they look at the bits of what an access goes to, or
//! set them.
//!
//! `rax`: the pattern; `rcx`: the place of the first lane, which is kept; `rdi`: the bits. Others than `rdx`, `rsi` and `r8`
//! to `r11` are kept. Loads: the zero flag says that all of it is written.

use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, dynasm};

use super::emit::Emitter;
use crate::exec::memory::pattern::{Eights, places};

/// By the bytes of a lane, 1 to 16.
const SIZES: usize = 5;

/// Those that the code of a function calls.
#[derive(Default)]
pub struct Routines {
    loads: [Option<DynamicLabel>; SIZES],
    stores: [Option<DynamicLabel>; SIZES],
}

impl Emitter<'_> {
    /// The routine for accesses of so many bytes a lane.
    pub fn routine(&mut self, bytes: u64, store: bool) -> DynamicLabel {
        let size = bytes.ilog2() as usize;
        let routines = if store { &mut self.routines.stores } else { &mut self.routines.loads };
        match routines[size] {
            Some(known) => known,
            None => {
                let label = self.ops.new_dynamic_label();
                routines[size] = Some(label);
                label
            }
        }
    }

    pub fn emit_routines(&mut self) {
        for size in 0..SIZES {
            if let Some(label) = self.routines.loads[size] {
                dynasm!(self.ops; .arch x64; .align 16; =>label);
                self.are_written(1 << size);
            }
            if let Some(label) = self.routines.stores[size] {
                dynasm!(self.ops; .arch x64; .align 16; =>label);
                self.note_written(1 << size);
            }
        }
    }

    fn are_written(&mut self, bytes: u64) {
        let [same, other, missing, lane] = std::array::from_fn(|_| self.ops.new_dynamic_label());
        dynasm!(self.ops; .arch x64
            ; movzx edx, BYTE [rax + places::EIGHTS]
            ; cmp edx, Eights::Same as i32
            ; je =>same
            ; ja =>other
        );
        for part in 0..4 {
            dynasm!(self.ops; .arch x64; movsxd rdx, DWORD [rax + places::OFFSETS + 32 * part]);
            self.test(8 * bytes, missing);
        }
        dynasm!(self.ops; .arch x64; xor edx, edx; ret; =>same);
        for part in 0..4 {
            dynasm!(self.ops; .arch x64; movsxd rdx, DWORD [rax + places::OFFSETS + 32 * part]);
            self.test(bytes, missing);
        }
        dynasm!(self.ops; .arch x64; xor edx, edx; ret; =>other; xor esi, esi; =>lane);
        dynasm!(self.ops; .arch x64; movsxd rdx, DWORD [rax + places::OFFSETS + 4 * rsi]);
        self.test(bytes, missing);
        dynasm!(self.ops; .arch x64
            ; inc esi
            ; cmp esi, 32
            ; jne =>lane
            ; ret
            ; =>missing
            ; or edx, 1
            ; ret
        );
    }

    /// Goes to `missing` unless so many bits are set from that on which is as far behind the first lane's as `rdx` says.
    fn test(&mut self, bits: u64, missing: DynamicLabel) {
        dynasm!(self.ops; .arch x64; add rdx, rcx; mov r8, rdx; shr r8, 3);
        if bits.is_multiple_of(64) {
            for word in 0..(bits / 64) as i32 {
                dynasm!(self.ops; .arch x64; cmp QWORD [rdi + r8 + 8 * word], -1; jne =>missing);
            }
            return;
        }
        // Accesses are aligned: no more than 7 bits before these in 8 bytes that hold all of them.
        dynasm!(self.ops; .arch x64
            ; mov r9, [rdi + r8]
            ; and edx, 7
            ; shrx r9, r9, rdx
            ; not r9
        );
        match bits {
            1 => dynasm!(self.ops; .arch x64; test r9b, 1),
            2 => dynasm!(self.ops; .arch x64; test r9b, 3),
            4 => dynasm!(self.ops; .arch x64; test r9b, 0xf),
            8 => dynasm!(self.ops; .arch x64; test r9b, r9b),
            16 => dynasm!(self.ops; .arch x64; test r9w, r9w),
            _ => dynasm!(self.ops; .arch x64; test r9d, r9d),
        }
        dynasm!(self.ops; .arch x64; jnz =>missing);
    }

    fn note_written(&mut self, bytes: u64) {
        let [apart, lane] = std::array::from_fn(|_| self.ops.new_dynamic_label());
        dynasm!(self.ops; .arch x64; cmp BYTE [rax + places::EIGHTS], Eights::Row as i8; jne =>apart);
        for part in 0..4 {
            dynasm!(self.ops; .arch x64; movsxd rdx, DWORD [rax + places::OFFSETS + 32 * part]);
            self.set(8 * bytes);
        }
        dynasm!(self.ops; .arch x64; ret; =>apart; xor esi, esi; =>lane);
        dynasm!(self.ops; .arch x64; movsxd rdx, DWORD [rax + 4 * rsi + places::OFFSETS]);
        self.set(bytes);
        dynasm!(self.ops; .arch x64; inc esi; cmp esi, 32; jne =>lane; ret);
    }

    /// Sets so many bits from that on which is as far behind the first lane's as `rdx` says.
    fn set(&mut self, bits: u64) {
        dynasm!(self.ops; .arch x64; add rdx, rcx; mov r8, rdx; shr r8, 3);
        if bits.is_multiple_of(64) {
            for word in 0..(bits / 64) as i32 {
                dynasm!(self.ops; .arch x64; mov QWORD [rdi + r8 + 8 * word], -1);
            }
            return;
        }
        dynasm!(self.ops; .arch x64
            ; and edx, 7
            ; mov r9, QWORD (1i64 << bits) - 1
            ; shlx r9, r9, rdx
            ; or [rdi + r8], r9
        );
    }
}
