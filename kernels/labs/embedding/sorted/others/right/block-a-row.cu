// A block for each row, with two sums in turn.
#include "lab.cuh"
// lockstep: gather_gradient.grid = vocabulary
// lockstep: gather_gradient.block = 64
extern "C" __global__ void gather_gradient(const float* g, const int* offsets, const int* from, float* gradient, int vocabulary, int d)
{
    const int row = blockIdx.x, begin = offsets[row], end = offsets[row + 1];
    for (int c = threadIdx.x; c < d; c += blockDim.x) {
        float a = 0.0f, b = 0.0f;
        int k = begin;
        for (; k + 1 < end; k += 2) { a += g[(size_t)from[k] * d + c]; b += g[(size_t)from[k + 1] * d + c]; }
        if (k < end) a += g[(size_t)from[k] * d + c];
        gradient[(size_t)row * d + c] = a + b;
    }
}
