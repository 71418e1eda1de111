//! What an instruction of a listing does, in a phrase: PTX by its longest known beginning, SASS by its first word.

/// PTX, the longer beginnings before the shorter ones.
const PTX: &[(&str, &str)] = &[
    ("abs", "absolute value"),
    ("add.rn", "adds, rounded to the nearest"),
    ("add", "adds two values"),
    ("and", "bitwise and"),
    ("atom", "reads, changes and writes one place in memory as one step, and returns what was there"),
    ("bar.sync", "waits until all threads of the block are here (__syncthreads)"),
    ("bar.warp.sync", "waits until the named lanes of the warp are here (__syncwarp)"),
    ("barrier.cluster", "waits for all blocks of the cluster"),
    ("barrier", "waits until the threads of the barrier are here"),
    ("bfe", "takes a field of bits out of a value"),
    ("bfi", "puts a field of bits into a value"),
    ("bra", "jumps to a label; with a guard only where it holds"),
    ("brev", "reverses the bits"),
    ("call", "calls a function"),
    ("clz", "counts the zero bits at the top"),
    ("cos", "approximate cosine"),
    ("cp.async.bulk", "starts a copy that the tensor memory accelerator does by itself"),
    ("cp.async", "starts a copy from global to shared memory and goes on; it must be waited for"),
    ("cvta.to.global", "turns a generic address into one of global memory"),
    ("cvta.to.shared", "turns a generic address into one of shared memory"),
    ("cvta", "turns an address of one space into a generic one, or back"),
    ("cvt", "converts a value to another type"),
    ("div", "divides"),
    ("ex2", "approximate power of two"),
    ("exit", "ends the thread"),
    ("fence", "orders the memory accesses before it before those after it"),
    ("fma", "multiplies and adds with one rounding: a * b + c"),
    ("isspacep", "asks in which memory space an address is"),
    ("ld.const", "loads from constant memory"),
    ("ld.global.nc", "loads from global memory through the read-only path"),
    ("ld.global.v4", "loads four values at once from global memory"),
    ("ld.global.v2", "loads two values at once from global memory"),
    ("ld.global", "loads from global memory"),
    ("ld.local", "loads from the thread's own memory: a spilled register or an indexed array"),
    ("ld.param", "loads a parameter of the kernel"),
    ("ld.shared", "loads from shared memory"),
    ("ldmatrix", "loads 8 x 8 tiles from shared memory in the layout that tensor cores take"),
    ("ld", "loads from memory"),
    ("lg2", "approximate logarithm to base two"),
    ("lop3", "any bitwise operation of three values"),
    ("mad.lo", "multiplies and adds, and keeps the low half"),
    ("mad.wide", "multiplies and adds into twice the width"),
    ("mad", "multiplies and adds"),
    ("max", "the larger of two values"),
    ("mbarrier", "works on a barrier in shared memory that counts arrivals and bytes"),
    ("membar", "orders memory accesses (__threadfence)"),
    ("min", "the smaller of two values"),
    ("mma", "multiplies small matrices on a tensor core; the whole warp takes part"),
    ("mov", "copies a value, or reads a special register such as %tid.x"),
    ("mul.wide", "multiplies into twice the width, as for an address"),
    ("mul.hi", "multiplies and keeps the high half"),
    ("mul.lo", "multiplies and keeps the low half"),
    ("mul", "multiplies"),
    ("neg", "changes the sign"),
    ("not", "inverts the bits"),
    ("or", "bitwise or"),
    ("popc", "counts the bits that are one"),
    ("prefetch", "asks for a line of memory ahead of its use"),
    ("prmt", "picks bytes of two values"),
    ("rcp", "one divided by the value"),
    ("red", "changes one place in memory as one step and returns nothing"),
    ("redux", "reduces a value over the lanes of the warp"),
    ("rem", "the remainder of a division"),
    ("ret", "ends the kernel or the function"),
    ("rsqrt", "approximate one over the square root"),
    ("sad", "adds the absolute difference of two values"),
    ("selp", "takes one of two values, as a condition says"),
    ("setp", "compares two values into a condition"),
    ("set", "compares two values"),
    ("shfl", "gives a value to another lane of the warp"),
    ("shf", "shifts two joined values"),
    ("shl", "shifts left: a multiplication by a power of two"),
    ("shr", "shifts right: a division by a power of two"),
    ("sin", "approximate sine"),
    ("sqrt", "square root"),
    ("st.global.v4", "stores four values at once to global memory"),
    ("st.global.v2", "stores two values at once to global memory"),
    ("st.global", "stores to global memory"),
    ("st.local", "stores to the thread's own memory: a spilled register or an indexed array"),
    ("st.shared", "stores to shared memory"),
    ("st", "stores to memory"),
    ("sub", "subtracts"),
    ("tanh", "approximate hyperbolic tangent"),
    ("tcgen05", "works on the tensor memory and tensor cores of Blackwell"),
    ("trap", "stops the kernel with an error"),
    ("vote", "asks a condition of all lanes of the warp"),
    ("wgmma", "multiplies matrices on the tensor cores with four warps together"),
    ("xor", "bitwise exclusive or"),
];

/// SASS by its first word.
const SASS: &[(&str, &str)] = &[
    ("ATOMG", "atomic operation on global memory that returns the old value"),
    ("ATOMS", "atomic operation on shared memory"),
    ("BAR", "waits until all threads of the block are here"),
    ("BRA", "jumps"),
    ("BSSY", "notes where lanes that part will meet again"),
    ("BSYNC", "waits for the lanes that parted"),
    ("CALL", "calls a function"),
    ("CS2R", "reads a special register, or sets two registers to zero"),
    ("DADD", "adds doubles"),
    ("DFMA", "multiplies and adds doubles with one rounding"),
    ("DMUL", "multiplies doubles"),
    ("DEPBAR", "waits for loads that are under way"),
    ("EXIT", "ends the thread"),
    ("F2F", "converts between float types"),
    ("F2I", "converts a float to an integer"),
    ("FADD", "adds floats"),
    ("FFMA", "multiplies and adds floats with one rounding"),
    ("FMNMX", "the smaller or larger of two floats"),
    ("FMUL", "multiplies floats"),
    ("FSEL", "takes one of two floats, as a condition says"),
    ("FSETP", "compares floats into a condition"),
    ("HADD2", "adds two pairs of halves"),
    ("HFMA2", "multiplies and adds two pairs of halves; also used to set a constant"),
    ("HMMA", "multiplies small matrices of halves on a tensor core"),
    ("HMUL2", "multiplies two pairs of halves"),
    ("I2F", "converts an integer to a float"),
    ("IADD3", "adds three integers"),
    ("IMAD", "multiplies and adds integers; also used to copy a register"),
    ("IMMA", "multiplies small matrices of integers on a tensor core"),
    ("IMNMX", "the smaller or larger of two integers"),
    ("ISETP", "compares integers into a condition"),
    ("LDC", "loads from constant memory, where the kernel's parameters are"),
    ("LDCU", "loads from constant memory into a register of the warp"),
    ("LDG", "loads from global memory"),
    ("LDGSTS", "copies from global to shared memory without waiting (cp.async)"),
    ("LDL", "loads from the thread's own memory: a spilled register or an indexed array"),
    ("LDS", "loads from shared memory"),
    ("LDSM", "loads tiles from shared memory for a tensor core (ldmatrix)"),
    ("LEA", "shifts and adds, as for an address"),
    ("LOP3", "any bitwise operation of three values"),
    ("MEMBAR", "orders memory accesses"),
    ("MOV", "copies a register or sets a constant"),
    ("MUFU", "special function unit: 1/x, square root, power, sine"),
    ("NOP", "does nothing"),
    ("PLOP3", "combines conditions"),
    ("POPC", "counts the bits that are one"),
    ("PRMT", "picks bytes of two values"),
    ("QGMMA", "multiplies matrices of 8-bit floats with four warps together"),
    ("HGMMA", "multiplies matrices of halves with four warps together (wgmma)"),
    ("R2UR", "copies a register into one of the whole warp"),
    ("RED", "atomic operation on global memory that returns nothing"),
    ("REDUX", "reduces a value over the lanes of the warp"),
    ("RET", "returns from a function"),
    ("S2R", "reads a special register such as the thread's index"),
    ("S2UR", "reads a special register such as the block's index, once for the warp"),
    ("SEL", "takes one of two values, as a condition says"),
    ("SHF", "shifts"),
    ("SHFL", "gives a value to another lane of the warp"),
    ("STG", "stores to global memory"),
    ("STL", "stores to the thread's own memory: a spilled register or an indexed array"),
    ("STS", "stores to shared memory"),
    ("SYNCS", "works on a barrier in shared memory"),
    ("UIADD3", "adds integers once for the whole warp"),
    ("UIMAD", "multiplies and adds integers once for the whole warp"),
    ("ULDC", "loads from constant memory once for the whole warp"),
    ("ULEA", "shifts and adds once for the whole warp"),
    ("UMOV", "copies a value once for the whole warp"),
    ("USHF", "shifts once for the whole warp"),
    ("UTMALDG", "starts a bulk copy by the tensor memory accelerator"),
    ("VOTE", "asks a condition of all lanes of the warp"),
    ("WARPSYNC", "waits until the named lanes of the warp are here"),
];

/// What the instruction of a listing's row does; None for what is none, or is not known.
pub fn of(row: &str) -> Option<(&str, &'static str)> {
    let is_address = |word: &str| word.len() >= 4 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let word = row.split_whitespace().find(|word| !word.starts_with('@') && !is_address(word))?;
    let word = word.trim_end_matches([';', ',']);
    let first = word.split('.').next()?;
    let known = if first.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()) {
        SASS.iter().find(|(name, _)| *name == first)
    } else {
        let begins = |name: &str| word.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        PTX.iter().filter(|(name, _)| begins(name)).max_by_key(|(name, _)| name.len())
    };
    known.map(|(_, words)| (word, *words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_both_listings_are_explained() {
        let words = |row: &str| of(row).map(|(_, words)| words);
        assert_eq!(
            words("\tld.global.v4.f32 \t{%f1, %f2, %f3, %f4}, [%rd4];"),
            Some("loads four values at once from global memory")
        );
        assert_eq!(words("\t@%p1 bra \t$L__BB0_2;"), Some("jumps to a label; with a guard only where it holds"));
        assert_eq!(words("00a0  @!P0 LDG.E R2, desc[UR4][R2.64] ;"), Some("loads from global memory"));
        assert_eq!(words("setp.ge.s32 %p1, %r1, %r2;"), Some("compares two values into a condition"));
        assert_eq!(words("never.heard.of;"), None);
        assert_eq!(words(""), None);
    }

    #[test]
    fn the_opcodes_that_our_kernels_use_are_known() {
        for opcode in [
            "ld.param",
            "mov",
            "mad.lo",
            "setp",
            "bra",
            "cvta.to.global",
            "mul.wide",
            "add",
            "fma.rn",
            "st.global",
            "ret",
            "bar.sync",
        ] {
            assert!(of(&format!("{opcode}.u32 %r1;")).is_some(), "{opcode}");
        }
    }
}
