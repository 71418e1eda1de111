// hopper.cuh: Hopper's warpgroup products (sm_90a only): wgmma, and registers that move between warpgroups.
//
// wgmma has no built-in functions in CUDA C++. The PTX manual describes it under "Asynchronous Warpgroup Level Matrix
// Multiply-Accumulate". Included as `#include "hopper.cuh"`, which brings tma.cuh and mma.cuh.
#pragma once
#include "tma.cuh"

// Warps 4g to 4g+3 change how many registers each of their threads may use; a multiple of 8. A block is given 65536 / threads
// at launch; a warpgroup that only copies gives most of its share back, and one that multiplies takes it.
template <int COUNT>
__device__ inline void give_back_registers()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
}

template <int COUNT>
__device__ inline void take_registers()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
}

// ---------------------------------------------------------------- wgmma
// D[64 x N] += A[64 x 32 bytes] * B[N x 32 bytes]^T, both operands in shared memory with K along the 128-byte rows that a
// tensor copy with the 128-byte swizzle writes. Issued by 128 threads together, done later.

// Where an operand lies: address / 16; 1024 bytes between groups of 8 rows (in units of 16, bits 32 to 45); 128-byte swizzle
// (1 in bits 62 and 63). The offset along the row (bits 16 to 29) plays no part with this swizzle. The next 32 bytes of K are
// 2 units further.
__device__ inline uint64_t operand(uint32_t address)
{
    return static_cast<uint64_t>((address & 0x3ffff) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 62);
}

// Registers written before (the accumulator) may be used by wgmma after this.
__device__ inline void wgmma_fence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ inline void wgmma_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// Until all but the newest KEEP groups are done.
template <int KEEP>
__device__ inline void wgmma_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(KEEP) : "memory");
}

// Four steps of 32 bytes: a whole 128-byte row of K (64 elements of bf16, 128 of e4m3). With `add` 0 the first step overwrites
// the accumulator instead of adding to it. Thread t of the warpgroup holds rows 16 * (t / 32) + t % 32 / 4 (and 8 more) and
// columns 8 * j + 2 * (t % 4) (and 1 more): d[4 * j], d[4 * j + 1] of the upper row, d[4 * j + 2], d[4 * j + 3] of the lower.
// One asm statement for all four, because a statement with 130 operands is what compiling costs.
#define LIST_32 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define OPERANDS_32 \
    "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), \
    "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), \
    "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), \
    "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
#define LIST_48 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define OPERANDS_48 \
    "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), \
    "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), \
    "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), \
    "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), \
    "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), \
    "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47])
#define LIST_64 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define OPERANDS_64 \
    "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), \
    "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), \
    "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), \
    "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), \
    "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), \
    "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), \
    "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), \
    "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
#define LIST_96 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define OPERANDS_96 \
    "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), \
    "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), \
    "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), \
    "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), \
    "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), \
    "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), \
    "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), \
    "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), \
    "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), \
    "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), \
    "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), \
    "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95])
#define LIST_128 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, " \
    "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define OPERANDS_128 \
    "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), \
    "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), \
    "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), \
    "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), \
    "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), \
    "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), \
    "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]), \
    "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63]), \
    "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71]), \
    "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), \
    "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]), "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), \
    "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]), \
    "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]), \
    "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111]), \
    "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]), "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]), \
    "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])

#define WGMMA_STEP(SHAPE_TYPES, LIST, A, B, ADD) "wgmma.mma_async.sync.aligned." SHAPE_TYPES " {" LIST "}, " A ", " B ", " ADD
#define WGMMA_ROW(NAME, COUNT, SHAPE_TYPES, TAIL, P, A, B)                                                               \
    __device__ inline void NAME(float (&d)[COUNT], uint64_t a, uint64_t b, int add)                                      \
    {                                                                                                                    \
        asm volatile("{\n\t.reg .pred first, yes;\n\t.reg .b64 a, b;\n\t"                                                \
                     "setp.ne.b32 first, " P ", 0;\n\tsetp.eq.b32 yes, 0, 0;\n\t"                                        \
                     WGMMA_STEP(SHAPE_TYPES, LIST_##COUNT, A, B, "first") TAIL                                           \
                     "add.s64 a, " A ", 2;\n\tadd.s64 b, " B ", 2;\n\t"                                                  \
                     WGMMA_STEP(SHAPE_TYPES, LIST_##COUNT, "a", "b", "yes") TAIL                                         \
                     "add.s64 a, " A ", 4;\n\tadd.s64 b, " B ", 4;\n\t"                                                  \
                     WGMMA_STEP(SHAPE_TYPES, LIST_##COUNT, "a", "b", "yes") TAIL                                         \
                     "add.s64 a, " A ", 6;\n\tadd.s64 b, " B ", 6;\n\t"                                                  \
                     WGMMA_STEP(SHAPE_TYPES, LIST_##COUNT, "a", "b", "yes") TAIL "}"                                     \
                     : OPERANDS_##COUNT                                                                                  \
                     : "l"(a), "l"(b), "r"(add));                                                                        \
    }
// bf16: TAIL says that A and B are taken as they are, not negated, and that K runs along the rows of both (no transposition).
#define BF16_TAIL ", 1, 1, 0, 0;\n\t"
#define E4M3_TAIL ", 1, 1;\n\t"
WGMMA_ROW(wgmma_bf16, 32, "m64n64k16.f32.bf16.bf16", BF16_TAIL, "%34", "%32", "%33")
WGMMA_ROW(wgmma_bf16, 48, "m64n96k16.f32.bf16.bf16", BF16_TAIL, "%50", "%48", "%49")
WGMMA_ROW(wgmma_bf16, 64, "m64n128k16.f32.bf16.bf16", BF16_TAIL, "%66", "%64", "%65")
WGMMA_ROW(wgmma_bf16, 96, "m64n192k16.f32.bf16.bf16", BF16_TAIL, "%98", "%96", "%97")
WGMMA_ROW(wgmma_bf16, 128, "m64n256k16.f32.bf16.bf16", BF16_TAIL, "%130", "%128", "%129")
WGMMA_ROW(wgmma_e4m3, 32, "m64n64k32.f32.e4m3.e4m3", E4M3_TAIL, "%34", "%32", "%33")
WGMMA_ROW(wgmma_e4m3, 48, "m64n96k32.f32.e4m3.e4m3", E4M3_TAIL, "%50", "%48", "%49")
WGMMA_ROW(wgmma_e4m3, 64, "m64n128k32.f32.e4m3.e4m3", E4M3_TAIL, "%66", "%64", "%65")
WGMMA_ROW(wgmma_e4m3, 96, "m64n192k32.f32.e4m3.e4m3", E4M3_TAIL, "%98", "%96", "%97")
WGMMA_ROW(wgmma_e4m3, 128, "m64n256k32.f32.e4m3.e4m3", E4M3_TAIL, "%130", "%128", "%129")

// The 64 x 2 * COUNT results of one warpgroup, straight from registers to c (m x n) at (row, column). A warp's store covers 8 rows
// of 16 bytes: half-used sectors, which is what the rung with the copy engine's store improves on.
template <int COUNT>
__device__ inline void store_slab(const float (&d)[COUNT], uint16_t* c, int row, int column, int m, int n)
{
    int thread = threadIdx.x % 128;
    row += thread / 32 * 16 + thread % 32 / 4;
    column += thread % 4 * 2;
#pragma unroll
    for (int i = 0; i < COUNT; i += 4) {
        store_pair(c, row, column + i * 2, m, n, d[i], d[i + 1]);
        store_pair(c, row + 8, column + i * 2, m, n, d[i + 2], d[i + 3]);
    }
}
