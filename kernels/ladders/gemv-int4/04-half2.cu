// Against the rung before: a lane loads 16 bytes of a row, 32 codes. Two codes at a time become fp16 by one lop3 (1024 + code
// + 8) and one subtraction, and are multiplied by two elements of x at a time. Only two products are added in fp16, then fp32.
#include "lab.cuh"
#include <cuda_fp16.h>

// lockstep: block = 32 * WARPS
// lockstep: grid = ceil_div(n, WARPS * ROWS)
#define WARPS 2
#define ROWS 16
#define GROUP 128

// Codes 0 and 4 of a word with 8 added to each code.
__device__ __forceinline__ half2 two_codes(unsigned word)
{
    unsigned biased;
    asm("lop3.b32 %0, %1, 0x000f000f, 0x64006400, 0xea;" : "=r"(biased) : "r"(word));
    const unsigned offset = 0x64086408u;
    return __hsub2(reinterpret_cast<const half2&>(biased), reinterpret_cast<const half2&>(offset));
}

__device__ __forceinline__ float both(half2 pair)
{
    const float2 value = __half22float2(pair);
    return value.x + value.y;
}

extern "C" __global__ void __launch_bounds__(32 * WARPS)
    gemv_int4(const half* __restrict__ x, const unsigned char* __restrict__ w_codes, const half* __restrict__ w_scales,
              float* __restrict__ y, int n, int k)
{
    const int lane = threadIdx.x % 32;
    const int row0 = (blockIdx.x * WARPS + threadIdx.x / 32) * ROWS;
    const int groups = ceil_div(k, GROUP);
    float sum[ROWS] = {};

    for (int i = lane; i < k / 32; i += 32) {
        unsigned paired[16];  // x in the order in which the codes come out: (0, 4), (1, 5), (2, 6), (3, 7)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const uint4 eight = reinterpret_cast<const uint4*>(x)[4 * i + j];
            paired[4 * j] = __byte_perm(eight.x, eight.z, 0x5410);
            paired[4 * j + 1] = __byte_perm(eight.x, eight.z, 0x7632);
            paired[4 * j + 2] = __byte_perm(eight.y, eight.w, 0x5410);
            paired[4 * j + 3] = __byte_perm(eight.y, eight.w, 0x7632);
        }
        const half2* pair = reinterpret_cast<const half2*>(paired);
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            if (row0 + r < n) {
                const uint4 codes = reinterpret_cast<const uint4*>(w_codes + (long long)(row0 + r) * (k / 2))[i];
                const unsigned words[4] = {codes.x, codes.y, codes.z, codes.w};
                float part = 0.0f;
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    const unsigned word = words[j] ^ 0x88888888u;
                    part += both(__hfma2(two_codes(word >> 4), pair[4 * j + 1], __hmul2(two_codes(word), pair[4 * j])));
                    part += both(__hfma2(two_codes(word >> 12), pair[4 * j + 3], __hmul2(two_codes(word >> 8), pair[4 * j + 2])));
                }
                sum[r] += part * __half2float(w_scales[(long long)(row0 + r) * groups + 32 * i / GROUP]);
            }
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        for (int distance = 16; distance > 0; distance /= 2) {
            sum[r] += __shfl_down_sync(FULL_MASK, sum[r], distance);
        }
        if (lane == 0 && row0 + r < n) {
            y[row0 + r] = sum[r];
        }
    }
}
