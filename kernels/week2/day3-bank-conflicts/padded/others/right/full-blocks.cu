// 32 x 32 threads, no loop, a flat tile.
#include "lab.cuh"
// lockstep: block = 32, 32
extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns)
{
    __shared__ float t[32 * 33];
    const int tx = threadIdx.x, ty = threadIdx.y, bx = blockIdx.x * 32, by = blockIdx.y * 32;
    if (by + ty < rows && bx + tx < columns) t[ty * 33 + tx] = x[(size_t)(by + ty) * columns + bx + tx];
    __syncthreads();
    if (bx + ty < columns && by + tx < rows) y[(size_t)(bx + ty) * rows + by + tx] = t[tx * 33 + ty];
}
