// 16 x 8 sums of 16 products each, by one warp: lane by lane, or by one instruction.
#include "mma.cuh"

#define TENSOR 0

__device__ inline float widen(uint16_t bits) { return __uint_as_float(static_cast<uint32_t>(bits) << 16); }
__device__ inline uint32_t pair(const uint16_t* from) { return from[0] | static_cast<uint32_t>(from[1]) << 16; }

extern "C" __global__ void one_instruction(const uint16_t* a, const uint16_t* b, float* c)
{
    const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    float d[4] = {};
#if TENSOR
    const uint32_t from_a[4] = {pair(a + g * 16 + 2 * t), pair(a + (g + 8) * 16 + 2 * t), pair(a + g * 16 + 2 * t + 8),
                                pair(a + (g + 8) * 16 + 2 * t + 8)};
    mma_bf16(d, from_a, pair(b + g * 16 + 2 * t), pair(b + g * 16 + 2 * t + 8));
#else
    // The same four results in each lane: two neighbors in row g, two in row g + 8.
#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
        for (int x = 0; x < 16; x++) d[i] += widen(a[(g + i / 2 * 8) * 16 + x]) * widen(b[(2 * t + i % 2) * 16 + x]);
    }
#endif
    c[g * 8 + 2 * t] = d[0];
    c[g * 8 + 2 * t + 1] = d[1];
    c[(g + 8) * 8 + 2 * t] = d[2];
    c[(g + 8) * 8 + 2 * t + 1] = d[3];
}
