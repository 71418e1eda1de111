// Asks cooperative groups for block and rank, keeps the floats in one buffer, and lets the block do the rest one by one.
#include "lab.cuh"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// lockstep: block = 256
// lockstep: grid = ceil_div(n, 16 * block_x)
extern "C" __global__ void saxpy(const float *__restrict__ x, const float *__restrict__ y,
                                 float *__restrict__ out, float alpha, int n)
{
    auto block = cg::this_thread_block();
    const unsigned size = block.size(), rank = block.thread_rank();
    const long long first = (long long)block.group_index().x * size * 16, last = min((long long)n, first + size * 16);
    const long long vectors = (last - first) / 4;
    float buffer[2][16];
    for (int i = 0; i < 4; i++) {
        long long v = rank + (long long)i * size;
        if (v < vectors) {
            *(float4 *)&buffer[0][4 * i] = ((const float4 *)(x + first))[v];
            *(float4 *)&buffer[1][4 * i] = ((const float4 *)(y + first))[v];
        }
    }
    for (int i = 0; i < 4; i++) {
        long long v = rank + (long long)i * size;
        if (v < vectors) {
            for (int j = 0; j < 4; j++) buffer[0][4 * i + j] = __fmaf_rn(alpha, buffer[0][4 * i + j], buffer[1][4 * i + j]);
            ((float4 *)(out + first))[v] = *(float4 *)&buffer[0][4 * i];
        }
    }
    for (long long i = first + vectors * 4 + rank; i < last; i += size) out[i] = alpha * x[i] + y[i];
}
