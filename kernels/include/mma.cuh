// mma.cuh: tensor cores of Ampere and later (sm_80 up) under readable names: cp.async, ldmatrix, mma.sync, conversions.
//
// Each function is one PTX instruction that CUDA C++ has no built-in function for; <mma.h> hides the layout of a fragment, which is
// what a fast kernel has to know. Included as `#include "mma.cuh"`.
#pragma once
#include "lab.cuh"

// A shared-memory pointer as the 32-bit address that PTX wants.
__device__ inline uint32_t shared_address(const void* pointer)
{
    return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// Where 16-byte piece `piece` (0 to 7) of row `row` lies in a tile of 128-byte rows, in bytes from the tile's start. Row r keeps
// its pieces in the order p ^ (r % 8), so that the same piece of 8 rows in a row covers all 32 banks: ldmatrix reads it without
// a conflict. The copy engine of Hopper calls this the 128-byte swizzle; the tile has to start at a multiple of 1024.
__device__ inline uint32_t swizzled(int row, int piece)
{
    return row * 128 + ((piece ^ (row & 7)) << 4);
}

// ---------------------------------------------------------------- copies

// 16 bytes from global to shared memory, past the registers and L1; only the first `bytes` are read, the rest become zeros.
__device__ inline void copy_async(uint32_t destination, const void* source, int bytes)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(destination), "l"(source), "r"(bytes) : "memory");
}

__device__ inline void copy_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// Until all but the newest KEEP groups of this thread's copies have landed.
template <int KEEP>
__device__ inline void copy_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(KEEP) : "memory");
}

// Copies `count` rows of 128 bytes, from row `first` and element `x` of a row-major matrix of rows x width, into a swizzled tile,
// element by element and zeros outside. The slow way, for rows that no 16-byte access can start at: width is odd, say.
// Called by `threads` threads, numbered by `thread`.
template <typename T>
__device__ inline void copy_rows(uint32_t tile, const T* matrix, int first, int count, int x, int rows, int width, int thread, int threads)
{
    constexpr int SIZE = sizeof(T), EACH = 16 / SIZE;
    for (int i = thread; i < count * 8; i += threads) {
        int row = i / 8, column = x + i % 8 * EACH;
        uint32_t words[4] = {0, 0, 0, 0};
        if (first + row < rows) {
            const T* from = matrix + static_cast<int64_t>(first + row) * width;
#pragma unroll
            for (int e = 0; e < EACH; ++e) {
                uint32_t value = column + e < width ? from[column + e] : 0;
                words[e * SIZE / 4] |= value << (8 * (e * SIZE % 4));
            }
        }
        asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(tile + swizzled(row, i % 8)), "r"(words[0]), "r"(words[1]),
                     "r"(words[2]), "r"(words[3])
                     : "memory");
    }
}

// ---------------------------------------------------------------- fragments

// Two floats as bf16, `low` in the low half.
__device__ inline uint32_t pack_bf16(float low, float high)
{
    uint32_t packed;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
    return packed;
}

// Two neighboring float results (x even) to row-major c, m x n, where they lie inside. One 8-byte store where rows allow it.
__device__ inline void store_pair(float* c, int row, int x, int m, int n, float low, float high)
{
    if (row >= m || x >= n) return;
    float* to = c + static_cast<int64_t>(row) * n + x;
    if (n % 2 == 0) {
        *reinterpret_cast<float2*>(to) = make_float2(low, high);
    } else {
        to[0] = low;
        if (x + 1 < n) to[1] = high;
    }
}

// Two neighboring bf16 results (x even) to row-major c, m x n, where they lie inside. One 4-byte store where rows allow it.
__device__ inline void store_rounded(uint16_t* c, int row, int x, int m, int n, uint32_t pair)
{
    if (row >= m || x >= n) return;
    uint16_t* to = c + static_cast<int64_t>(row) * n + x;
    if (n % 2 == 0) {
        *reinterpret_cast<uint32_t*>(to) = pair;
    } else {
        to[0] = static_cast<uint16_t>(pair);
        if (x + 1 < n) to[1] = static_cast<uint16_t>(pair >> 16);
    }
}

__device__ inline void store_pair(uint16_t* c, int row, int x, int m, int n, float low, float high)
{
    store_rounded(c, row, x, m, n, pack_bf16(low, high));
}

// Four 8x8 matrices of 16-bit elements; lane l gives the address of row l % 8 of matrix l / 8, and holds of each matrix
// row l / 4, columns 2 * (l % 4) and one more.
__device__ inline void load_matrices(uint32_t (&r)[4], uint32_t address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
}

// The same way back (sm_90 up).
__device__ inline void store_matrices(uint32_t address, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(a), "r"(b), "r"(c), "r"(d)
                 : "memory");
}

// D[16 x 8] += A[16 x 16] * B[16 x 8], bf16 with fp32 sums, by one warp. With g = lane / 4 and t = lane % 4, each pair in one
// register: a[0] is A[g][2t, 2t+1], a[1] row g + 8, a[2] columns + 8, a[3] both; b0 is B[2t, 2t+1][g], b1 rows + 8;
// d[0], d[1] are D[g][2t, 2t+1], d[2], d[3] row g + 8.
__device__ inline void mma_bf16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// The same with 8 of K in tf32: a float a register, of which the tensor core reads the upper 19 bits; what is below the 10 of the
// fraction counts as zero. Four floats are 16 bytes of a row, where bf16 has 16 bytes too: load_matrices brings what is wanted here.
__device__ inline void mma_tf32(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// A float rounded to tf32, ties away from zero; its lowest 13 bits are 0.
__device__ inline uint32_t round_tf32(uint32_t value)
{
    uint32_t rounded;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(__uint_as_float(value)));
    return rounded;
}

// The same with 32 of K in e4m3 (sm_89 up): four elements a register, 16 bytes of a row where bf16 has 16 bytes too.
__device__ inline void mma_e4m3(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// The same with 64 of K in NVFP4 (sm_120a, sm_121a): eight e2m1 elements a register, and an e4m3 scale for each 16 of them, four to
// a register. Lane 4g gives the scales of row g of A, lane 4g + 1 those of row g + 8, and lane 4g + 2 those of column g of B.
__device__ inline void mma_nvfp4(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1, uint32_t a_scales, uint32_t b_scales)
{
    asm volatile("mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, {%10}, {0, 0}, {%11}, {0, 2};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(a_scales), "r"(b_scales));
}
