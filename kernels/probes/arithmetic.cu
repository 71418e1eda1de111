// Arithmetic rates: the second part of ceilings.cu, whose words and names hold here too.

#define FMA_CHAINS 16
#define FMA_UNROLL 16

// Multiplies and adds in registers, 16 chains a thread that do not wait for each other.
//   in     float[block]        out    float[1], not written      rounds
// block 256, grid 8 * SMS
// flop per second = 2 * 16 * 16 * rounds * 256 * grid / time
extern "C" __global__ void __launch_bounds__(256)
    fma_fp32(const float* __restrict__ in, float* __restrict__ out, int rounds)
{
    // A factor below 1 keeps the chains finite.
    const float x = 0.9f + 0.01f * sinf(in[threadIdx.x]), y = in[threadIdx.x];
    float chain[FMA_CHAINS];
#pragma unroll
    for (int i = 0; i < FMA_CHAINS; i++) {
        chain[i] = y + i;
    }
    for (int round = 0; round < rounds; round++) {
#pragma unroll
        for (int u = 0; u < FMA_UNROLL; u++) {
#pragma unroll
            for (int i = 0; i < FMA_CHAINS; i++) {
                chain[i] = fmaf(chain[i], x, y);
            }
        }
    }
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < FMA_CHAINS; i++) {
        sum += chain[i];
    }
    if (sum == NEVER) {
        *out = sum;
    }
}

#define SFU_CHAINS 8
#define SFU_UNROLL 16

// Special functions: powers of two, each of the one before.
//   in     float[256]          out    float[1], not written      rounds
// block 256, grid 8 * SMS
// results per second = 8 * 16 * 256 * rounds * grid / time
extern "C" __global__ void __launch_bounds__(256) sfu(const float* in, float* out, int rounds)
{
    float chain[SFU_CHAINS];
#pragma unroll
    for (int i = 0; i < SFU_CHAINS; i++) {
        chain[i] = in[threadIdx.x] + i;
    }
#pragma unroll 1
    for (int round = 0; round < rounds; round++) {
#pragma unroll
        for (int u = 0; u < SFU_UNROLL; u++) {
#pragma unroll
            for (int i = 0; i < SFU_CHAINS; i++) {
                // Its sign changes for nothing, and the chains stay between 0 and 1.
                asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(chain[i]) : "f"(-chain[i]));
            }
        }
    }
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < SFU_CHAINS; i++) {
        sum += chain[i];
    }
    if (sum == NEVER) {
        *out = sum;
    }
}

#if __CUDA_ARCH__ >= 800
// One warp's D = A * B + D on tensor cores, 16 x 8 x 16.
#define MMA(TYPE)                                                                                                     \
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." TYPE "." TYPE ".f32 {%0, %1, %2, %3}, "                     \
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                                                      \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                     \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

struct MmaF16
{
    static __device__ void run(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) { MMA("f16"); }
};
struct MmaBf16
{
    static __device__ void run(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) { MMA("bf16"); }
};

// Of formats of fewer bits a fragment has as many registers, and a product goes further along k.
#define MMA_OF(INSTRUCTION, SCALES)                                                                                   \
    asm volatile("mma.sync.aligned." INSTRUCTION " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "                    \
                 "{%0, %1, %2, %3}" SCALES ";"                                                                        \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                                     \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(scales))

#if __CUDA_ARCH__ >= 890
struct MmaE4m3
{
    static __device__ void run(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2])
    {
        const unsigned scales = 0;
        MMA_OF("m16n8k32.row.col.f32.e4m3.e4m3.f32", "");
    }
};
#endif
#if __CUDA_ARCH_FAMILY_SPECIFIC__ >= 1200 && __CUDA_ARCH_FAMILY_SPECIFIC__ < 1300
// All scales are 1: as powers of two (ue8m0) 127, as e4m3 0x38.
struct MmaMxfp8
{
    static __device__ void run(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2])
    {
        const unsigned scales = 0x7f7f7f7f;
        MMA_OF("kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e4m3.f32.ue8m0", ", {%10}, {0, 0}, {%10}, {0, 0}");
    }
};
struct MmaNvfp4
{
    static __device__ void run(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2])
    {
        const unsigned scales = 0x38383838;
        MMA_OF("kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3", ", {%10}, {0, 0}, {%10}, {0, 0}");
    }
};
#endif

// 16 products of 4 fragments of a and 4 of b, all in registers.
template <typename Mma>
__device__ void mma_rounds(const unsigned* in, float* out, int rounds)
{
    unsigned a[4][4], b[4][2];
    float d[4][4][4] = {};
    const int lane = threadIdx.x % WARP_SIZE;
#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
        for (int e = 0; e < 4; e++) {
            a[i][e] = in[(i * 6 + e) * WARP_SIZE + lane];
        }
#pragma unroll
        for (int e = 0; e < 2; e++) {
            b[i][e] = in[(i * 6 + 4 + e) * WARP_SIZE + lane];
        }
    }
#pragma unroll 1
    for (int round = 0; round < rounds; round++) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
#pragma unroll
            for (int j = 0; j < 4; j++) {
                Mma::run(d[i][j], a[i], b[j]);
            }
        }
    }
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < 64; i++) {
        sum += d[i / 16][i / 4 % 4][i % 4];
    }
    if (sum == NEVER) {
        *out = sum;
    }
}

// mma.sync on normal numbers in fp16 (mma_bf16: bf16), with sums in fp32.
//   in     fp16 or bf16[1536]  out    float[1], not written      rounds
// block 256, grid 2 * SMS
// flop per second = 16 * 4096 * rounds * 8 * grid / time
extern "C" __global__ void __launch_bounds__(256) mma_f16(const unsigned* in, float* out, int rounds)
{
    mma_rounds<MmaF16>(in, out, rounds);
}

extern "C" __global__ void __launch_bounds__(256) mma_bf16(const unsigned* in, float* out, int rounds)
{
    mma_rounds<MmaBf16>(in, out, rounds);
}

// The same in fp8, 16 x 8 x 32 at a time, and on Blackwell's smaller chips with a scale for each 32 elements (MXFP8) or in NVFP4,
// 16 x 8 x 64 at a time, with one for each 16. No such chip has run those two yet.
//   in     e4m3[3072] (NVFP4: e2m1[6144])        out    float[1], not written      rounds
// block 256, grid 2 * SMS
// flop per second = 16 * 8192 * 8 * rounds * grid / time; NVFP4 twice that
#if __CUDA_ARCH__ >= 890
extern "C" __global__ void __launch_bounds__(256) mma_e4m3(const unsigned* in, float* out, int rounds)
{
    mma_rounds<MmaE4m3>(in, out, rounds);
}
#endif
#if __CUDA_ARCH_FAMILY_SPECIFIC__ >= 1200 && __CUDA_ARCH_FAMILY_SPECIFIC__ < 1300
extern "C" __global__ void __launch_bounds__(256) mma_mxfp8(const unsigned* in, float* out, int rounds)
{
    mma_rounds<MmaMxfp8>(in, out, rounds);
}

extern "C" __global__ void __launch_bounds__(256) mma_nvfp4(const unsigned* in, float* out, int rounds)
{
    mma_rounds<MmaNvfp4>(in, out, rounds);
}
#endif

__device__ void load_fragment(unsigned (&r)[4], unsigned address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(address) : "memory");
}

// The same with what a matrix product must fetch for it: 8 warps of 64 x 64 sums each, which read the fragments of the
// next 16 elements of a row from shared memory while they multiply those of these.
//   in     bf16[24576]: 128 rows of a and 256 of b, 64 elements of each      out    float[1], not written      rounds
// block 256, grid SMS, dynamic shared memory 49152 bytes
// flop per second = 4 * 32 * 4096 * rounds * 8 * grid / time
extern "C" __global__ void __launch_bounds__(256, 1) mma_bf16_fed(const uint4* in, float* out, int rounds)
{
    extern __shared__ __align__(1024) unsigned char tiles[];
    for (int i = threadIdx.x; i < 3072; i += 256) reinterpret_cast<uint4*>(tiles)[i] = in[i];
    __syncthreads();
    const int warp = threadIdx.x / WARP_SIZE, lane = threadIdx.x % WARP_SIZE;
    const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(tiles));
    const unsigned a_row = base + (warp % 2 * 64 + lane % 16) * 128;
    const unsigned b_row = base + (128 + warp / 2 * 64 + lane / 16 * 8 + lane % 8) * 128;
    unsigned a[2][4][4], b[2][4][4];
    float d[4][8][4] = {}, sum = 0.0f;
    auto fetch = [&](int buffer, int step) {
#pragma unroll
        for (int i = 0; i < 4; i++) { // pieces of 16 bytes in the order that has no bank conflicts
            load_fragment(a[buffer][i], a_row + i * 2048 + (((step * 2 + lane / 16) ^ (lane % 8)) << 4));
            load_fragment(b[buffer][i], b_row + i * 2048 + (((step * 2 + lane / 8 % 2) ^ (lane % 8)) << 4));
        }
    };
    fetch(0, 0);
#pragma unroll 1
    for (int step = 0; step < 4 * rounds; step += 2) {
#pragma unroll
        for (int i = 0; i < 64; i++) {
            if (i % 32 == 0) fetch(1 - i / 32, (step + i / 32 + 1) % 4);
            const unsigned(&pair)[4] = b[i / 32][i % 8 / 2];
            const unsigned half[2] = {pair[i % 2 * 2], pair[i % 2 * 2 + 1]};
            MmaBf16::run(d[i / 8 % 4][i % 8], a[i / 32][i / 8 % 4], half);
        }
    }
#pragma unroll
    for (int i = 0; i < 128; i++) sum += d[i / 32][i / 4 % 8][i % 4];
    if (sum == NEVER) *out = sum;
}
#endif

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
// The main loop of a Hopper matrix product without its copies: two warpgroups, each 64 x 256 sums, and four stages of
// operands in shared memory, rows of 128 bytes in the 128-byte swizzle.
#define WGMMA_STAGES 4
#define WGMMA_STAGE_BYTES ((128 + 256) * 128)

__device__ void wgmma_bf16_k16(float (&s)[128], unsigned long long a, unsigned long long b)
{
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
        "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
        "%128, %129, 1, 1, 1, 0, 0;"
        :
          "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3]), "+f"(s[4]), "+f"(s[5]), "+f"(s[6]),
          "+f"(s[7]), "+f"(s[8]), "+f"(s[9]), "+f"(s[10]), "+f"(s[11]), "+f"(s[12]), "+f"(s[13]),
          "+f"(s[14]), "+f"(s[15]), "+f"(s[16]), "+f"(s[17]), "+f"(s[18]), "+f"(s[19]), "+f"(s[20]),
          "+f"(s[21]), "+f"(s[22]), "+f"(s[23]), "+f"(s[24]), "+f"(s[25]), "+f"(s[26]), "+f"(s[27]),
          "+f"(s[28]), "+f"(s[29]), "+f"(s[30]), "+f"(s[31]), "+f"(s[32]), "+f"(s[33]), "+f"(s[34]),
          "+f"(s[35]), "+f"(s[36]), "+f"(s[37]), "+f"(s[38]), "+f"(s[39]), "+f"(s[40]), "+f"(s[41]),
          "+f"(s[42]), "+f"(s[43]), "+f"(s[44]), "+f"(s[45]), "+f"(s[46]), "+f"(s[47]), "+f"(s[48]),
          "+f"(s[49]), "+f"(s[50]), "+f"(s[51]), "+f"(s[52]), "+f"(s[53]), "+f"(s[54]), "+f"(s[55]),
          "+f"(s[56]), "+f"(s[57]), "+f"(s[58]), "+f"(s[59]), "+f"(s[60]), "+f"(s[61]), "+f"(s[62]),
          "+f"(s[63]), "+f"(s[64]), "+f"(s[65]), "+f"(s[66]), "+f"(s[67]), "+f"(s[68]), "+f"(s[69]),
          "+f"(s[70]), "+f"(s[71]), "+f"(s[72]), "+f"(s[73]), "+f"(s[74]), "+f"(s[75]), "+f"(s[76]),
          "+f"(s[77]), "+f"(s[78]), "+f"(s[79]), "+f"(s[80]), "+f"(s[81]), "+f"(s[82]), "+f"(s[83]),
          "+f"(s[84]), "+f"(s[85]), "+f"(s[86]), "+f"(s[87]), "+f"(s[88]), "+f"(s[89]), "+f"(s[90]),
          "+f"(s[91]), "+f"(s[92]), "+f"(s[93]), "+f"(s[94]), "+f"(s[95]), "+f"(s[96]), "+f"(s[97]),
          "+f"(s[98]), "+f"(s[99]), "+f"(s[100]), "+f"(s[101]), "+f"(s[102]), "+f"(s[103]), "+f"(s[104]),
          "+f"(s[105]), "+f"(s[106]), "+f"(s[107]), "+f"(s[108]), "+f"(s[109]), "+f"(s[110]), "+f"(s[111]),
          "+f"(s[112]), "+f"(s[113]), "+f"(s[114]), "+f"(s[115]), "+f"(s[116]), "+f"(s[117]), "+f"(s[118]),
          "+f"(s[119]), "+f"(s[120]), "+f"(s[121]), "+f"(s[122]), "+f"(s[123]), "+f"(s[124]), "+f"(s[125]),
          "+f"(s[126]), "+f"(s[127])
        : "l"(a), "l"(b));
}

__device__ void wgmma_e4m3_k32(float (&s)[128], unsigned long long a, unsigned long long b)
{
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n256k32.f32.e4m3.e4m3 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
        "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
        "%128, %129, 1, 1, 1;"
        :
          "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3]), "+f"(s[4]), "+f"(s[5]), "+f"(s[6]),
          "+f"(s[7]), "+f"(s[8]), "+f"(s[9]), "+f"(s[10]), "+f"(s[11]), "+f"(s[12]), "+f"(s[13]),
          "+f"(s[14]), "+f"(s[15]), "+f"(s[16]), "+f"(s[17]), "+f"(s[18]), "+f"(s[19]), "+f"(s[20]),
          "+f"(s[21]), "+f"(s[22]), "+f"(s[23]), "+f"(s[24]), "+f"(s[25]), "+f"(s[26]), "+f"(s[27]),
          "+f"(s[28]), "+f"(s[29]), "+f"(s[30]), "+f"(s[31]), "+f"(s[32]), "+f"(s[33]), "+f"(s[34]),
          "+f"(s[35]), "+f"(s[36]), "+f"(s[37]), "+f"(s[38]), "+f"(s[39]), "+f"(s[40]), "+f"(s[41]),
          "+f"(s[42]), "+f"(s[43]), "+f"(s[44]), "+f"(s[45]), "+f"(s[46]), "+f"(s[47]), "+f"(s[48]),
          "+f"(s[49]), "+f"(s[50]), "+f"(s[51]), "+f"(s[52]), "+f"(s[53]), "+f"(s[54]), "+f"(s[55]),
          "+f"(s[56]), "+f"(s[57]), "+f"(s[58]), "+f"(s[59]), "+f"(s[60]), "+f"(s[61]), "+f"(s[62]),
          "+f"(s[63]), "+f"(s[64]), "+f"(s[65]), "+f"(s[66]), "+f"(s[67]), "+f"(s[68]), "+f"(s[69]),
          "+f"(s[70]), "+f"(s[71]), "+f"(s[72]), "+f"(s[73]), "+f"(s[74]), "+f"(s[75]), "+f"(s[76]),
          "+f"(s[77]), "+f"(s[78]), "+f"(s[79]), "+f"(s[80]), "+f"(s[81]), "+f"(s[82]), "+f"(s[83]),
          "+f"(s[84]), "+f"(s[85]), "+f"(s[86]), "+f"(s[87]), "+f"(s[88]), "+f"(s[89]), "+f"(s[90]),
          "+f"(s[91]), "+f"(s[92]), "+f"(s[93]), "+f"(s[94]), "+f"(s[95]), "+f"(s[96]), "+f"(s[97]),
          "+f"(s[98]), "+f"(s[99]), "+f"(s[100]), "+f"(s[101]), "+f"(s[102]), "+f"(s[103]), "+f"(s[104]),
          "+f"(s[105]), "+f"(s[106]), "+f"(s[107]), "+f"(s[108]), "+f"(s[109]), "+f"(s[110]), "+f"(s[111]),
          "+f"(s[112]), "+f"(s[113]), "+f"(s[114]), "+f"(s[115]), "+f"(s[116]), "+f"(s[117]), "+f"(s[118]),
          "+f"(s[119]), "+f"(s[120]), "+f"(s[121]), "+f"(s[122]), "+f"(s[123]), "+f"(s[124]), "+f"(s[125]),
          "+f"(s[126]), "+f"(s[127])
        : "l"(a), "l"(b));
}

// Where a matrix begins in shared memory, in units of 16 bytes, with groups of 8 rows 1024 bytes apart and the 128-byte
// swizzle.
__device__ unsigned long long wgmma_matrix(unsigned address)
{
    return (address & 0x3ffffull) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

struct WgmmaBf16
{
    static __device__ void run(float (&s)[128], unsigned long long a, unsigned long long b) { wgmma_bf16_k16(s, a, b); }
};
struct WgmmaE4m3
{
    static __device__ void run(float (&s)[128], unsigned long long a, unsigned long long b) { wgmma_e4m3_k32(s, a, b); }
};

template <typename Wgmma>
__device__ void wgmma_rounds(const uint4* in, float* out, int rounds)
{
    extern __shared__ __align__(1024) unsigned char operands[];
    for (int i = threadIdx.x; i < WGMMA_STAGES * WGMMA_STAGE_BYTES / 16; i += blockDim.x) {
        reinterpret_cast<uint4*>(operands)[i] = in[i];
    }
    // wgmma reads through another proxy than the stores above wrote through.
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();

    float sum[128];
#pragma unroll
    for (int i = 0; i < 128; i++) {
        sum[i] = 0.0f;
    }
    const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(operands));
    const int warpgroup = threadIdx.x / 128;
#pragma unroll 1
    for (int round = 0; round < rounds; round++) {
        const unsigned stage = base + round % WGMMA_STAGES * WGMMA_STAGE_BYTES;
        const unsigned long long a = wgmma_matrix(stage + warpgroup * 64 * 128), b = wgmma_matrix(stage + 128 * 128);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
        for (int step = 0; step < 4; step++) {
            Wgmma::run(sum, a + 2 * step, b + 2 * step);  // 32 bytes further along the rows
        }
        // While one warpgroup waits the other one's products run.
        asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    float total = 0.0f;
#pragma unroll
    for (int i = 0; i < 128; i++) {
        total += sum[i];
    }
    if (total == NEVER) {
        *out = total;
    }
}

// wgmma on normal numbers in bf16, from shared memory, with sums in fp32.
//   in     bf16[98304]         out    float[1], not written      rounds
// block 256, grid SMS, dynamic shared memory 196608 bytes
// flop per second = 4 * 2 * 64 * 256 * 16 * 2 * rounds * grid / time
extern "C" __global__ void __launch_bounds__(256, 1) wgmma_bf16(const uint4* in, float* out, int rounds)
{
    wgmma_rounds<WgmmaBf16>(in, out, rounds);
}

// The same in fp8 (e4m3).
//   in     e4m3[196608]        out    float[1], not written      rounds
// block 256, grid SMS, dynamic shared memory 196608 bytes
// flop per second = 4 * 2 * 64 * 256 * 32 * 2 * rounds * grid / time
extern "C" __global__ void __launch_bounds__(256, 1) wgmma_e4m3(const uint4* in, float* out, int rounds)
{
    wgmma_rounds<WgmmaE4m3>(in, out, rounds);
}
#endif
