// A warp a row, two passes.
#include "lab.cuh"
// lockstep: block = 32
// lockstep: grid = rows
extern "C" __global__ void log_sum_exp(const float* x, float* y, int n) {
    const float* row = x + (size_t)blockIdx.x * n;
    float most = -INFINITY;
    for (int i = threadIdx.x; i < n; i += 32) most = fmaxf(most, row[i]);
    for (int d = 16; d; d /= 2) most = fmaxf(most, __shfl_xor_sync(FULL_MASK, most, d));
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += 32) sum += expf(row[i] - most);
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(FULL_MASK, sum, d);
    if (threadIdx.x == 0) y[blockIdx.x] = most + logf(sum);
}
