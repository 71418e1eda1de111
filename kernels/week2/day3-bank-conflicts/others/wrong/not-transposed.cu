// Stores to where the element came from.
// rejected for: out_of_bounds
// leads to: y[(column0 + c) * rows + row0 + r]
#include "lab.cuh"
__device__ int place(int r, int c) { return 128 * r + (c ^ (r % 32)); }
extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns)
{
    extern __shared__ float tile[];
    const int row0 = blockIdx.y * 96, column0 = blockIdx.x * 128;
    for (int r = threadIdx.y; r < 96; r += 16) {
        for (int c = threadIdx.x; c < 128; c += 32) {
            if (row0 + r < rows && column0 + c < columns) {
                tile[place(r, c)] = x[(row0 + r) * columns + column0 + c];
            }
        }
    }
    __syncthreads();
    for (int c = threadIdx.y; c < 128; c += 16) {
        for (int r = threadIdx.x; r < 96; r += 32) {
            if (row0 + r < rows && column0 + c < columns) {
                y[(row0 + r) * rows + column0 + c] = tile[place(r, c)];
            }
        }
    }
}
