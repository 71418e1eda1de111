// A barrier for one of two buffers only.
// rejected for: race
// leads to: nothing decides who comes first
#include "lab.cuh"
// lockstep: block = 256
// lockstep: grid = 2
extern "C" __global__ void aos_to_soa(const float *points, float *soa, int n)
{
    __shared__ float s[2][768];
    int b = 0;
    for (int first = blockIdx.x * 256; first < n; first += gridDim.x * 256, b ^= 1) {
        for (int i = threadIdx.x; i < 768 && 3 * first + i < 3 * n; i += 256) s[b][i] = points[3 * first + i];
        if (b == 0) __syncthreads();
        if (first + threadIdx.x < n)
            for (int f = 0; f < 3; f++) soa[f * n + first + threadIdx.x] = s[b][3 * threadIdx.x + f];
    }
}
