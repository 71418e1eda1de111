// Four sums a lane, so a number of the list is read once for 128 columns.
#include "lab.cuh"
extern "C" __global__ void gather_gradient(const float* g, const int* offsets, const int* from, float* gradient, int vocabulary, int d)
{
    const int lane = threadIdx.x % 32, row = blockIdx.x * 4 + threadIdx.x / 32;
    if (row >= vocabulary) return;
    for (int first = 0; first < d; first += 128) {
        float sum[4] = {};
        for (int k = offsets[row]; k < offsets[row + 1]; k++) {
            const float* at = g + (long long)from[k] * d;
#pragma unroll
            for (int j = 0; j < 4; j++) if (first + 32 * j + lane < d) sum[j] += at[first + 32 * j + lane];
        }
#pragma unroll
        for (int j = 0; j < 4; j++) if (first + 32 * j + lane < d) gradient[(long long)row * d + first + 32 * j + lane] = sum[j];
    }
}
