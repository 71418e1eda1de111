// Reads float4 and adds only x.
// rejected for: wrong_output
// leads to: Which of the row
#include "lab.cuh"
// lockstep: block = 32 * WARPS
// lockstep: grid = ceil_div(rows, WARPS)
#define WARPS 8
extern "C" __global__ void row_sums(const float* x, float* y, int rows, int columns)
{
    const int lane = threadIdx.x % 32;
    const int row = blockIdx.x * WARPS + threadIdx.x / 32;
    if (row >= rows) {
        return;
    }
    float sum = 0.0f;
    if (columns % 4 == 0) {
        for (int i = lane; i < columns / 4; i += 32) sum += reinterpret_cast<const float4*>(x + (long long)row * columns)[i].x;
    } else {
        for (int c = lane; c < columns; c += 32) sum += x[(long long)row * columns + c];
    }
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_down_sync(FULL_MASK, sum, distance);
    }
    if (lane == 0) {
        y[row] = sum;
    }
}
