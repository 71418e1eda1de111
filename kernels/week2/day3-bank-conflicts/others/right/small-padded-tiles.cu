// Twelve padded tiles of 32 x 32 one after the other, each in a corner of the shared memory.
#include "lab.cuh"
extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns)
{
    extern __shared__ float s[];
    for (int part = 0; part < 12; ++part) {
        const int r0 = blockIdx.y * 96 + part / 4 * 32, c0 = blockIdx.x * 128 + part % 4 * 32;
        for (int r = threadIdx.y; r < 32; r += 16)
            if (r0 + r < rows && c0 + threadIdx.x < columns)
                s[33 * r + threadIdx.x] = x[(r0 + r) * columns + c0 + threadIdx.x];
        __syncthreads();
        for (int c = threadIdx.y; c < 32; c += 16)
            if (c0 + c < columns && r0 + threadIdx.x < rows)
                y[(c0 + c) * rows + r0 + threadIdx.x] = s[33 * threadIdx.x + c];
        __syncthreads();
    }
}
