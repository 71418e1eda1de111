// Tensor cores with nothing to wait for: every warp multiplies the same fragments again and again, from registers.
// y is a copy of x, so that there is something to check.
#include "mma.cuh"

#define ZEROS 0 // 1: multiply zeros in place of the random numbers

extern "C" __global__ void __launch_bounds__(256) power(const uint16_t* x, uint16_t* y, int rounds)
{
    const uint32_t* from = reinterpret_cast<const uint32_t*>(x) + (blockIdx.x * 256 + threadIdx.x) * 6;
    uint32_t* to = reinterpret_cast<uint32_t*>(y) + (blockIdx.x * 256 + threadIdx.x) * 6;
    uint32_t words[6], a[4];
#pragma unroll
    for (int i = 0; i < 6; i++) words[i] = from[i];
    const uint32_t mask = ZEROS ? 0u : 0xffffffffu;
#pragma unroll
    for (int i = 0; i < 4; i++) a[i] = words[i] & mask;

    float d[8][4] = {}; // eight independent products, so that none waits for the one before
    for (int round = 0; round < rounds; round++) {
#pragma unroll
        for (int j = 0; j < 8; j++) mma_bf16(d[j], a, words[4] & mask, words[5] & mask);
    }
    float sum = 0.0f;
#pragma unroll
    for (int j = 0; j < 8; j++) sum += d[j][0] + d[j][1] + d[j][2] + d[j][3];
    if (sum == 12345.678f) words[0] = 0; // never, but the compiler cannot know it
#pragma unroll
    for (int i = 0; i < 6; i++) to[i] = words[i];
}
