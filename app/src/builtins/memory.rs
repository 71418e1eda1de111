//! Loads and stores with cache hints, address spaces, asynchronous copies.

use super::{Family, Kind};

pub(super) const FAMILIES: &[Family] = &[
    Family {
        kind: Kind::Function,
        section: "Read-Only Data Cache Load Function",
        header: "",
        rows: &[(
            "__ldg",
            "T __ldg(const T* address)",
            "Loads through the read-only cache; nothing may write there while the kernel runs.",
        )],
    },
    Family {
        kind: Kind::Function,
        section: "Load Functions Using Cache Hints",
        header: "",
        rows: &[
            ("__ldca", "T __ldca(const T* address)", "Loads and keeps in all caches: the default."),
            ("__ldcg", "T __ldcg(const T* address)", "Loads through L2, past L1: for data that other blocks write."),
            ("__ldcs", "T __ldcs(const T* address)", "Loads what is read once: the first to leave the caches."),
            (
                "__ldlu",
                "T __ldlu(const T* address)",
                "Loads for the last time: the cache line need not be written back.",
            ),
            ("__ldcv", "T __ldcv(const T* address)", "Loads anew, whatever the caches hold."),
        ],
    },
    Family {
        kind: Kind::Function,
        section: "Store Functions Using Cache Hints",
        header: "",
        rows: &[
            ("__stwb", "void __stwb(T* address, T value)", "Stores and keeps in all caches: the default."),
            ("__stcg", "void __stcg(T* address, T value)", "Stores to L2, past L1."),
            (
                "__stcs",
                "void __stcs(T* address, T value)",
                "Stores what is not read again soon: the first to leave the caches.",
            ),
            ("__stwt", "void __stwt(T* address, T value)", "Stores through L2 to memory."),
        ],
    },
    Family {
        kind: Kind::Function,
        section: "Address Space Predicate Functions",
        header: "",
        rows: &[
            ("__isGlobal", "unsigned __isGlobal(const void* pointer)", "1 when the pointer leads into global memory."),
            ("__isShared", "unsigned __isShared(const void* pointer)", "1 when the pointer leads into shared memory."),
            (
                "__isConstant",
                "unsigned __isConstant(const void* pointer)",
                "1 when the pointer leads into constant memory.",
            ),
            (
                "__isLocal",
                "unsigned __isLocal(const void* pointer)",
                "1 when the pointer leads into the thread's local memory.",
            ),
        ],
    },
    Family {
        kind: Kind::Function,
        section: "Address Space Conversion Functions",
        header: "",
        rows: &[
            (
                "__cvta_generic_to_global",
                "size_t __cvta_generic_to_global(const void* pointer)",
                "The address as inline PTX of .global wants it.",
            ),
            (
                "__cvta_generic_to_shared",
                "size_t __cvta_generic_to_shared(const void* pointer)",
                "The address as inline PTX of .shared wants it: cp.async, ldmatrix, mbarrier.",
            ),
            (
                "__cvta_generic_to_constant",
                "size_t __cvta_generic_to_constant(const void* pointer)",
                "The address as inline PTX of .const wants it.",
            ),
            (
                "__cvta_generic_to_local",
                "size_t __cvta_generic_to_local(const void* pointer)",
                "The address as inline PTX of .local wants it.",
            ),
            (
                "__cvta_global_to_generic",
                "void* __cvta_global_to_generic(size_t address)",
                "A pointer from an address of .global.",
            ),
            (
                "__cvta_shared_to_generic",
                "void* __cvta_shared_to_generic(size_t address)",
                "A pointer from an address of .shared.",
            ),
        ],
    },
    Family {
        kind: Kind::Function,
        section: "Pipeline Primitives Interface",
        header: "cuda_pipeline.h",
        rows: &[
            (
                "__pipeline_memcpy_async",
                "void __pipeline_memcpy_async(void* dst_shared, const void* src_global, size_t bytes)",
                "Starts a copy of 4, 8 or 16 constant bytes from global to shared memory without passing registers.",
            ),
            (
                "__pipeline_commit",
                "void __pipeline_commit()",
                "Closes the group of copies that this thread has started.",
            ),
            (
                "__pipeline_wait_prior",
                "void __pipeline_wait_prior(size_t count)",
                "Waits until at most count (a constant) of this thread's newest groups are under way.",
            ),
        ],
    },
];
