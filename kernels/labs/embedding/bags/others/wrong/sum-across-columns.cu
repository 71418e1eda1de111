// The sum is not set back.
// rejected for: wrong_output
// leads to: set to zero for each
#include "lab.cuh"
// lockstep: pool_bags.block = 32, 4
// lockstep: pool_bags.grid = ceil_div(bags, 4)
// A warp a bag.
extern "C" __global__ void pool_bags(const float* __restrict__ table, const int* __restrict__ offsets, const int* __restrict__ ids, float* __restrict__ y, int bags, int d)
{
    const int bag = blockIdx.x * 4 + threadIdx.y;
    if (bag >= bags) return;
    const int begin = offsets[bag], end = offsets[bag + 1];
    float sum = 0;
    for (int c = threadIdx.x; c < d; c += 32) {
        for (int i = begin; i < end; ++i) sum += __ldg(table + (size_t)ids[i] * d + c);
        y[(size_t)bag * d + c] = sum;
    }
}
