// Tiles of 64 x 64 in dynamic shared memory.
#include "lab.cuh"
// lockstep: block = 64, 4
// lockstep: grid = ceil_div(columns, 64), ceil_div(rows, 64)
// lockstep: dynamic_shared_bytes = 4 * 64 * 65
extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns)
{
    extern __shared__ float t[];
    for (int i = threadIdx.y; i < 64; i += 4) {
        const int r = blockIdx.y * 64 + i, c = blockIdx.x * 64 + threadIdx.x;
        t[65 * i + threadIdx.x] = r < rows && c < columns ? x[r * columns + c] : 0.0f;
    }
    __syncthreads();
    for (int i = threadIdx.y; i < 64; i += 4) {
        const int r = blockIdx.x * 64 + i, c = blockIdx.y * 64 + threadIdx.x;
        if (r < columns && c < rows) y[r * rows + c] = t[65 * threadIdx.x + i];
    }
}
