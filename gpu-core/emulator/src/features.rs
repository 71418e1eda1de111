//! Vector instructions that this machine has, and whether the module at hand may use them.

use std::cell::Cell;

use crate::fast::Fast;

/// Whether the AVX2 forms can be used on this machine.
#[cfg(target_arch = "x86_64")]
pub fn wide() -> bool {
    use std::sync::OnceLock;
    static WIDE: OnceLock<bool> = OnceLock::new();
    *WIDE.get_or_init(|| {
        is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt")
    })
}

/// Whether the machine has AVX-512 as well.
pub fn widest() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        use std::sync::OnceLock;
        static WIDEST: OnceLock<bool> = OnceLock::new();
        *WIDEST.get_or_init(|| {
            wide()
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512cd")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
        })
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

thread_local! {
    /// What the module that this thread decodes may use.
    static CHOSEN: Cell<Fast> = const { Cell::new(Fast::ALL) };
}

/// Decodes a module in the forms that `fast` says.
pub fn in_forms<T>(fast: Fast, decode: impl FnOnce() -> T) -> T {
    struct Back(Fast);
    impl Drop for Back {
        fn drop(&mut self) {
            CHOSEN.set(self.0);
        }
    }
    let _back = Back(CHOSEN.replace(fast));
    decode()
}

/// The forms that the module at hand may use.
pub fn chosen() -> Fast {
    CHOSEN.get()
}
