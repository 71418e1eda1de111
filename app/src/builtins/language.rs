//! Variables, qualifiers, vector types and what belongs to the language itself.

use super::{Family, Kind};

pub(super) const FAMILIES: &[Family] = &[
    Family {
        kind: Kind::Variable,
        section: "Built-in Variables",
        header: "",
        rows: &[
            ("threadIdx", "const uint3 threadIdx", "This thread's index in its block: x, y and z, each from 0."),
            ("blockIdx", "const uint3 blockIdx", "This block's index in the grid: x, y and z, each from 0."),
            ("blockDim", "const dim3 blockDim", "Threads of a block along x, y and z."),
            ("gridDim", "const dim3 gridDim", "Blocks of the grid along x, y and z."),
            ("warpSize", "const int warpSize", "Threads of a warp: 32 on every GPU so far."),
        ],
    },
    Family {
        kind: Kind::Qualifier,
        section: "Function Execution Space Specifiers",
        header: "",
        rows: &[
            (
                "__global__",
                "__global__ void kernel(…)",
                "A kernel: runs on the GPU, launched from outside; returns void.",
            ),
            (
                "__device__",
                "__device__ T function(…)",
                "Runs on the GPU, called from the GPU; before a variable: lives in global memory.",
            ),
            ("__host__", "__host__ T function(…)", "Runs on the CPU; with __device__ it is compiled for both."),
            ("__noinline__", "__noinline__ T function(…)", "Asks that the function be called and not pasted in."),
            ("__forceinline__", "__forceinline__ T function(…)", "Has the function pasted in wherever it is called."),
            ("__inline_hint__", "__inline_hint__ T function(…)", "Makes it likelier that the function is pasted in."),
        ],
    },
    Family {
        kind: Kind::Qualifier,
        section: "Variable Memory Space Specifiers",
        header: "",
        rows: &[
            (
                "__shared__",
                "__shared__ T name[size]",
                "Memory of the block, on the multiprocessor; all its threads see it, its content is undefined at first.",
            ),
            (
                "__constant__",
                "__constant__ T name[size]",
                "Read-only memory of at most 64 KB with a cache that serves one address per warp at a time.",
            ),
            ("__managed__", "__managed__ T name", "A variable that both CPU and GPU may name."),
            (
                "__grid_constant__",
                "const __grid_constant__ T parameter",
                "A kernel parameter that is never copied; its address may be taken (TMA descriptors).",
            ),
            (
                "__restrict__",
                "const T* __restrict__ pointer",
                "Promises that nothing else writes to what this points at, so that loads may be moved and cached.",
            ),
            ("__align__", "__align__(bytes) T", "Aligns a type or variable, as vector loads and TMA need it."),
        ],
    },
    Family {
        kind: Kind::Qualifier,
        section: "Launch Bounds",
        header: "",
        rows: &[
            (
                "__launch_bounds__",
                "__launch_bounds__(maxThreadsPerBlock, minBlocksPerMultiprocessor)",
                "Tells the compiler the largest block, so that it can give each thread as many registers as fit.",
            ),
            ("__maxnreg__", "__maxnreg__(registers)", "Caps the registers of a thread of this kernel."),
            (
                "__cluster_dims__",
                "__cluster_dims__(x, y, z)",
                "Blocks of a thread block cluster, fixed at compile time.",
            ),
        ],
    },
    Family {
        kind: Kind::Type,
        section: "Built-in Vector Types",
        header: "",
        rows: &[
            ("dim3", "struct dim3 { unsigned x, y, z; }", "Three sizes; those not given are 1."),
            ("char2", "struct char2 { signed char x, y; }", "Two chars, aligned to 2 bytes."),
            ("char4", "struct char4 { signed char x, y, z, w; }", "Four chars, aligned to 4 bytes."),
            ("uchar2", "struct uchar2 { unsigned char x, y; }", "Two bytes, aligned to 2."),
            ("uchar4", "struct uchar4 { unsigned char x, y, z, w; }", "Four bytes, aligned to 4: one load of a pixel."),
            ("short2", "struct short2 { short x, y; }", "Two shorts, aligned to 4 bytes."),
            ("short4", "struct short4 { short x, y, z, w; }", "Four shorts, aligned to 8 bytes."),
            ("ushort2", "struct ushort2 { unsigned short x, y; }", "Two unsigned shorts, aligned to 4 bytes."),
            ("ushort4", "struct ushort4 { unsigned short x, y, z, w; }", "Four unsigned shorts, aligned to 8 bytes."),
            ("int2", "struct int2 { int x, y; }", "Two ints, aligned to 8 bytes: one 64-bit load."),
            ("int3", "struct int3 { int x, y, z; }", "Three ints, aligned to 4 bytes: three loads."),
            ("int4", "struct int4 { int x, y, z, w; }", "Four ints, aligned to 16 bytes: one 128-bit load."),
            ("uint2", "struct uint2 { unsigned x, y; }", "Two unsigned ints, aligned to 8 bytes: one 64-bit load."),
            (
                "uint3",
                "struct uint3 { unsigned x, y, z; }",
                "Three unsigned ints, aligned to 4 bytes: the type of threadIdx.",
            ),
            (
                "uint4",
                "struct uint4 { unsigned x, y, z, w; }",
                "Four unsigned ints, aligned to 16 bytes: one 128-bit load.",
            ),
            ("longlong2", "struct longlong2 { long long x, y; }", "Two 64-bit integers, aligned to 16 bytes."),
            ("float2", "struct float2 { float x, y; }", "Two floats, aligned to 8 bytes: one 64-bit load."),
            ("float3", "struct float3 { float x, y, z; }", "Three floats, aligned to 4 bytes: three loads."),
            ("float4", "struct float4 { float x, y, z, w; }", "Four floats, aligned to 16 bytes: one 128-bit load."),
            ("double2", "struct double2 { double x, y; }", "Two doubles, aligned to 16 bytes: one 128-bit load."),
        ],
    },
    Family {
        kind: Kind::Function,
        section: "Built-in Vector Types",
        header: "",
        rows: &[
            (
                "make_char4",
                "char4 make_char4(signed char x, signed char y, signed char z, signed char w)",
                "Makes a char4.",
            ),
            (
                "make_uchar4",
                "uchar4 make_uchar4(unsigned char x, unsigned char y, unsigned char z, unsigned char w)",
                "Makes a uchar4.",
            ),
            ("make_int2", "int2 make_int2(int x, int y)", "Makes an int2."),
            ("make_int3", "int3 make_int3(int x, int y, int z)", "Makes an int3."),
            ("make_int4", "int4 make_int4(int x, int y, int z, int w)", "Makes an int4."),
            ("make_uint2", "uint2 make_uint2(unsigned x, unsigned y)", "Makes a uint2."),
            ("make_uint4", "uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)", "Makes a uint4."),
            ("make_float2", "float2 make_float2(float x, float y)", "Makes a float2."),
            ("make_float3", "float3 make_float3(float x, float y, float z)", "Makes a float3."),
            ("make_float4", "float4 make_float4(float x, float y, float z, float w)", "Makes a float4."),
            ("make_double2", "double2 make_double2(double x, double y)", "Makes a double2."),
        ],
    },
    Family {
        kind: Kind::Function,
        section: "Synchronization Functions",
        header: "",
        rows: &[
            (
                "__syncthreads",
                "void __syncthreads()",
                "Waits until every thread of the block is here; what they wrote to shared and global memory is then seen by all.",
            ),
            (
                "__syncthreads_count",
                "int __syncthreads_count(int predicate)",
                "As __syncthreads, and says for how many threads of the block the predicate holds.",
            ),
            (
                "__syncthreads_and",
                "int __syncthreads_and(int predicate)",
                "As __syncthreads, and says whether the predicate holds for all threads of the block.",
            ),
            (
                "__syncthreads_or",
                "int __syncthreads_or(int predicate)",
                "As __syncthreads, and says whether the predicate holds for any thread of the block.",
            ),
            (
                "__syncwarp",
                "void __syncwarp(unsigned mask = 0xffffffff)",
                "Waits until all lanes of the mask are here, and orders their memory accesses.",
            ),
        ],
    },
    Family {
        kind: Kind::Function,
        section: "Memory Fence Functions",
        header: "",
        rows: &[
            (
                "__threadfence_block",
                "void __threadfence_block()",
                "What this thread wrote before is seen by its block before what it writes after; it waits for nobody.",
            ),
            ("__threadfence", "void __threadfence()", "As __threadfence_block, for all threads of the GPU."),
            (
                "__threadfence_system",
                "void __threadfence_system()",
                "As __threadfence, also for the CPU and other GPUs.",
            ),
        ],
    },
    Family {
        kind: Kind::Function,
        section: "Time Function",
        header: "",
        rows: &[
            ("clock", "clock_t clock()", "The multiprocessor's cycle counter, its low 32 bits or more."),
            ("clock64", "long long clock64()", "The multiprocessor's 64-bit cycle counter."),
        ],
    },
    Family {
        kind: Kind::Function,
        section: "Formatted Output",
        header: "",
        rows: &[(
            "printf",
            "int printf(const char* format, ...)",
            "Prints from the kernel when it has ended; returns the number of arguments. Slow: for looking, not for results.",
        )],
    },
    Family {
        kind: Kind::Function,
        section: "Assertion",
        header: "",
        rows: &[("assert", "void assert(int expression)", "Stops the kernel with a message when the expression is 0.")],
    },
    Family {
        kind: Kind::Function,
        section: "Trap function",
        header: "",
        rows: &[("__trap", "void __trap()", "Aborts the kernel; the context is lost with it.")],
    },
    Family {
        kind: Kind::Function,
        section: "Breakpoint Function",
        header: "",
        rows: &[("__brkpt", "void __brkpt()", "Stops at a breakpoint in a debugger.")],
    },
    Family {
        kind: Kind::Function,
        section: "Nanosleep Function",
        header: "",
        rows: &[(
            "__nanosleep",
            "void __nanosleep(unsigned ns)",
            "Suspends the thread for about that many nanoseconds, at most a millisecond: for back-off in a spin.",
        )],
    },
    Family {
        kind: Kind::Function,
        section: "Compiler Optimization Hint Functions",
        header: "",
        rows: &[
            (
                "__builtin_assume",
                "void __builtin_assume(bool expression)",
                "Lets the compiler take the expression for true; wrong results if it is not.",
            ),
            (
                "__builtin_assume_aligned",
                "void* __builtin_assume_aligned(const void* pointer, size_t bytes)",
                "Promises that the pointer is a multiple of so many bytes, as wide loads need.",
            ),
            (
                "__builtin_expect",
                "long __builtin_expect(long expression, long expected)",
                "Says which value is likely, for the layout of branches.",
            ),
            ("__builtin_unreachable", "void __builtin_unreachable()", "Promises that this place is never reached."),
        ],
    },
    Family {
        kind: Kind::Qualifier,
        section: "#pragma unroll",
        header: "",
        rows: &[(
            "unroll",
            "#pragma unroll 4",
            "Before a loop: writes its body out that many times; without a number completely, if the count is known.",
        )],
    },
    Family {
        kind: Kind::Function,
        section: "The course's header",
        header: "lab.cuh",
        rows: &[
            (
                "ceil_div",
                "T ceil_div(T count, T size)",
                "count / size, rounded up: how many blocks of size cover count.",
            ),
            ("round_up", "T round_up(T count, T size)", "The least multiple of size that is not less than count."),
            ("least", "T least(T a, T b)", "The lesser of two."),
            ("greatest", "T greatest(T a, T b)", "The greater of two."),
        ],
    },
    Family {
        kind: Kind::Variable,
        section: "The course's header",
        header: "lab.cuh",
        rows: &[
            ("WARP_SIZE", "constexpr int WARP_SIZE = 32", "Threads of a warp, as a constant."),
            ("FULL_MASK", "constexpr unsigned FULL_MASK = 0xffffffff", "All 32 lanes, for the mask of warp functions."),
            ("INFINITY", "float INFINITY", "Positive infinity: where a search for the least begins."),
            ("FLT_MAX", "float FLT_MAX", "The greatest finite float, about 3.4e38."),
        ],
    },
];
