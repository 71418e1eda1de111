//! The map of generic addresses. Windows have zero low 32 bits, so that cutting a generic shared address to
//! 32 bits gives the shared address, as on hardware.

/// Global variables of modules: one 4 GiB slice per module from here.
pub const MODULE_BASE: u64 = 0x0100_0000_0000_0000 >> 8;
pub const MODULE_SLICE: u64 = 1 << 32;
/// Those that the host shares, one slice for each of some thousand modules: where programs have addresses.
pub const MANAGED_BASE: u64 = 0x1000_0000_0000;
pub const MANAGED_SLICES: u64 = 4096;
/// Functions: what `mov` of a function name gives.
pub const CODE_BASE: u64 = 0x6000_0000_0000;
/// Kernel parameters.
pub const PARAM_BASE: u64 = 0x7d00_0000_0000;
/// Stack of each thread.
pub const LOCAL_BASE: u64 = 0x7e00_0000_0000;
/// Shared memory. Bits 24 and up of the low half: 0 for the own block, rank + 1 for a block of the cluster.
pub const SHARED_BASE: u64 = 0x7f00_0000_0000;
pub const WINDOW: u64 = 1 << 32;

/// Gap between `__shared__` variables, so that running off one array is not silently another's element. A multiple
/// of 1024 keeps banks and swizzle patterns where they would be.
pub const SHARED_GAP: u32 = 1024;

/// State space as an instruction names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    Generic,
    Global,
    Const,
    Shared,
    Local,
    /// Kernel parameters.
    Param,
}

/// The window a generic address lies in; Global when in none of the others.
pub fn window_of(address: u64) -> Window {
    match address & !(WINDOW - 1) {
        SHARED_BASE => Window::Shared,
        LOCAL_BASE => Window::Local,
        PARAM_BASE => Window::Param,
        _ => Window::Global,
    }
}

/// First generic address of a window (0 for global and const, whose addresses are generic already).
pub fn window_base(window: Window) -> u64 {
    match window {
        Window::Shared => SHARED_BASE,
        Window::Local => LOCAL_BASE,
        Window::Param => PARAM_BASE,
        Window::Generic | Window::Global | Window::Const => 0,
    }
}
