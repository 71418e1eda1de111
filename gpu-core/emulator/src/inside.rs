//! What `tests/units` looks at beyond the interface, and nobody else should. Tests inside this crate would have it compiled
//! a second time, which takes minutes.

pub mod build {
    /// Offsets of the arguments through which function `function` of a module may write, of those of them that see more
    /// than atomics, and of those that are read or updated for a block alone; None: it may write anywhere.
    pub fn written_arguments(module: &crate::Module, function: usize) -> Option<[Vec<u32>; 3]> {
        let found = module.image.written_arguments(function)?;
        let lists = [&found.arguments, &found.stored, &found.seen];
        Some(lists.map(|list| list.iter().map(|argument| argument.0).collect()))
    }
}
pub mod check {
    pub use crate::analysis::thread_private as own;
    pub use crate::check::race::{history, pages as race_pages, sync};
    pub use crate::check::undef::marks;

    /// Whether the last launch of a kernel was found to be one in which no two threads of a block meet in shared memory between
    /// two barriers, and if so how many bytes of it no thread can access.
    pub fn separate(module: &crate::Module, kernel: &str) -> Option<u32> {
        let function = module.image.functions.iter().find(|function| function.name == kernel)?;
        function.separate.last().map(|found| found.untouched.iter().map(|word| word.count_ones()).sum())
    }

    /// Names of the arrays of which every thread has parts of its own.
    pub fn own_arrays(
        module: &crate::Module,
        memory: &mut crate::Memory,
        launch: &crate::Launch,
        options: &crate::Options,
    ) -> Vec<String> {
        let function = module.image.functions.iter().position(|function| function.name == launch.kernel);
        let mut arrays = crate::exec::memory::arrays::Arrays::of(memory, options);
        arrays.find_use(&module.image, function.expect("a kernel of the module"), launch, options);
        arrays.regions.iter().filter(|region| region.is_owned()).map(|region| region.name.clone()).collect()
    }
}
pub mod exec {
    pub use crate::exec::lanes::{BASE, widest};
    #[cfg(target_arch = "x86_64")]
    pub use crate::exec::lanes::{WIDE, WIDEST, wide};
    pub use crate::exec::memory::address::AddressWord;
    #[cfg(target_arch = "x86_64")]
    pub use crate::exec::memory::{deal, deal_wide};
    pub use crate::exec::op::Slot;
    pub use crate::exec::sched::crew;
    pub use crate::exec::sched::warp::Poison;

    /// What machine code can be made of the instructions of a module.
    pub fn templates(module: &crate::Module) -> Vec<String> {
        module.image.code.iter().map(|op| format!("{:?}", op.native)).collect()
    }
}
/// Whether the code asks for what differs from run to run: time.
pub fn asks_for_time(module: &crate::Module) -> bool {
    module.image.texts.iter().any(|text| text.contains("%clock") || text.contains("%globaltimer"))
}
pub mod isa {
    pub use crate::decode::emit::Arch;
    #[cfg(target_arch = "x86_64")]
    pub use crate::isa::half_lanes;
    pub use crate::isa::{find, legal, legal_memory, printf};
}
#[cfg(target_arch = "x86_64")]
pub mod num {
    pub use crate::num::mma::dot::{Products, WIDTH, sum_products_portable};
    pub use crate::num::mma::dot_avx2::sum_products;
}
pub mod memory {
    pub use crate::memory::{Memory, POISON, WIDE_GAP};
}
pub mod tensor {
    pub use crate::tensor::*;
}
pub mod tensor_rows {
    pub use crate::tensor::rows::*;
}
