// Walks over chunks in a loop without a barrier before the next load.
// rejected for: race
// leads to: nothing decides who comes first
#include "lab.cuh"
// lockstep: block = 256
// lockstep: grid = min(4, ceil_div(n, 256))
extern "C" __global__ void aos_to_soa(const float* points, float* soa, int n)
{
    __shared__ float c[768];
    for (int first = blockIdx.x * 256; first < n; first += gridDim.x * 256) {
        for (int k = threadIdx.x; k < 768 && 3 * first + k < 3 * n; k += 256) c[k] = points[3 * first + k];
        __syncthreads();
        const int p = first + threadIdx.x;
        if (p < n)
            for (int f = 0; f < 3; f++) soa[f * n + p] = c[3 * threadIdx.x + f];
    }
}
