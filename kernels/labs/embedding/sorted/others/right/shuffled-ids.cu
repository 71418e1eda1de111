// A warp fetches 32 numbers of the list and passes them round by shuffles.
#include "lab.cuh"
extern "C" __global__ void gather_gradient(const float* g, const int* offsets, const int* from, float* gradient, int vocabulary, int d)
{
    const int lane = threadIdx.x % 32, row = blockIdx.x * 4 + threadIdx.x / 32;
    if (row >= vocabulary) return;
    const int begin = offsets[row], end = offsets[row + 1];
    for (int base = 0; base < d; base += 32) {
        const int c = base + lane;
        float sum = 0.0f;
        for (int k = begin; k < end; k += 32) {
            const int mine = k + lane < end ? from[k + lane] : 0;
            const int many = min(32, end - k);
            for (int j = 0; j < many; j++) {
                const int bag = __shfl_sync(FULL_MASK, mine, j);
                if (c < d) sum += g[(long long)bag * d + c];
            }
        }
        if (c < d) gradient[(long long)row * d + c] = sum;
    }
}
